"""Values that an object computes when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


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
