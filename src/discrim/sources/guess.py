"""Which package does an object come from, and is it installed? Answered without importing any."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from discrim.errors import MissingDependencyError


def comes_from(thing: object, package: str, *names: str) -> bool:
    """Is ``thing`` an instance of one of the classes ``package.names``?

    An object of a package exists only if the package is imported already, so
    looking in ``sys.modules`` is enough and costs no import.
    """
    module = sys.modules.get(package)
    if module is None:
        return False
    classes = tuple(found for name in names if (found := getattr(module, name, None)) is not None)
    return isinstance(thing, classes)


def installed(package: str) -> bool:
    return package in sys.modules or find_spec(package) is not None


def need(package: str, purpose: str) -> None:
    """Raise the error that says how to install a package, unless it is there."""
    if not installed(package):
        raise MissingDependencyError.for_package(package, purpose, "app")
