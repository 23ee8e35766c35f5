"""Names that a package reads when they are first asked for, so that importing it stays quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def read_later(package: str, where: Mapping[str, str], rooms: Sequence[str] = ()) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names ``where`` are found in these modules; ``rooms`` are its own."""

    def get(name: str) -> Any:
        if name in rooms:
            return import_module(f"{package}.{name}")
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(where[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
