"""Names that a package reads, and values that an object makes, when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


def read_later(package: str, where: Mapping[str, str], packages: Sequence[str] = ()) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names ``where`` are found in these modules; ``packages`` are its own."""

    def get(name: str) -> Any:
        if name in packages:
            return import_module(f"{package}.{name}")
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(where[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


class cached_property(Generic[T]):  # noqa: N801 - named as the one it stands for
    """A property that is made once for each object, without a lock.

    The lock of ``functools.cached_property`` before Python 3.12 is one for all objects: a child process that is forked
    while another thread has it would wait for ever. Two threads that ask at once make the same value twice.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, thing: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, thing: object, owner: type) -> T: ...
    def __get__(self, thing: object | None, owner: type) -> cached_property[T] | T:
        if thing is None:
            return self
        value = thing.__dict__[self.name] = self.make(thing)
        return value
