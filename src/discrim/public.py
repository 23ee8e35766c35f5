"""The public names of a package: listed once, in its stub file, and imported when they are first used."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as that of typing, whose import would take longer than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


def names_in_stub(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose public names are listed in its ``__init__.pyi``.

    Each line of the stub, ``from module import name as name``, says where a name is defined. ``from module import *``
    stands for all public names of that package. Type checkers read the same file.
    """
    module = sys.modules[package]
    where: dict[str, str] = {}
    with open(f"{module.__file__}i", encoding="utf-8") as stub:  # noqa: PTH123 - pathlib is slow to import
        for statement in f"\n{stub.read()}".split("\nfrom ")[1:]:
            source, _, name, *_ = statement.replace("(", " ").split()
            where |= dict.fromkeys(import_module(source).__all__ if name == "*" else [name], source)

    def get(name: str) -> Any:
        if name not in where:
            raise _unknown(name, package, where)
        source = where[name]
        value = import_module(f"{package}.{name}") if source == package else getattr(import_module(source), name)
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted([*where, *(name for name in vars(module) if name.startswith("__"))])

    return get, names, sorted(where)


def _unknown(name: str, package: str, known: Iterable[str]) -> AttributeError | ImportError:
    """The error for a name that the package does not have, with the public names that resemble it."""
    from importlib.util import find_spec

    message = f"module {package!r} has no attribute {name!r}"
    if name.startswith("_") or find_spec(f"{package}.{name}"):  # asked by a tool, or a module that is to be imported
        return AttributeError(message)
    *others, last = similar_names(name, known) or [""]
    meant = f"{', '.join(others)} or {last}" if others else last
    hint = f"; did you mean {meant}?" if meant else ""
    if _in_from_import():
        return ImportError(f"cannot import name {name!r} from {package!r}{hint}", name=package)
    return AttributeError(message + hint)


def _in_from_import() -> bool:
    """Is the name looked up for ``from package import name``? That would replace the text of an AttributeError."""
    from inspect import stack

    return any(frame.function == "_handle_fromlist" for frame in stack(context=0)[3:4])


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names with these initials (LDA), else those that contain it, are spelt alike, or end like it (NB)."""
    from difflib import get_close_matches

    plain = {_plain(each): each for each in known}
    asked, short = _plain(name), _initials(name)
    return (
        [each for each in plain.values() if len(short) > 1 and _initials(each) in {short, f"{short}C"}]
        or [each for text, each in plain.items() if len(asked) > 2 and asked in text]
        or [plain[text] for text in get_close_matches(asked, plain, n=2)]
        or [each for each in plain.values() if len(short) > 1 and each.endswith(short)]
    )


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _initials(name: str) -> str:
    """LDA of LinearDiscriminantAnalysis, NB of naive_bayes; a name of up to four letters is taken for initials."""
    if len(name) < 5:
        return name.upper()
    return "".join(letter for letter in (name.title() if "_" in name else name) if letter.isupper())
