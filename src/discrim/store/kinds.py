"""The kinds of objects that a file may hold: classes enter themselves, with the fields that a file has of them.

A file names a kind and never a class or a module. What has not entered cannot be read, so that reading runs no code
but that of the kinds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, TypeVar

from discrim.errors import ModelFileError, ParameterError
from discrim.store.fields import Field, Fields, Incoming, Outgoing, damaged, read_fields, write_fields
from discrim.store.values import Value

C = TypeVar("C", bound=type)
MODEL, FOREIGN = "model:", "scikit-learn:"


@dataclass(frozen=True)
class Kind:
    """A class under the ``name`` that files have for it.

    Its fields are those of ``stored``, or else all fields of the dataclass, as ``Value``. A class may have
    ``to_stored()``, the values by name, where they are no attributes; ``from_stored(values)``, where its constructor
    does not take them; and ``check_stored(file)``, which raises where the values do not go together, and may give
    letters of ``file`` their numbers. ``rows_held()`` is a sentence where the object is made of rows of the data, else
    empty.
    """

    name: str
    type: type

    @property
    def fields(self) -> Fields:
        own: Fields | None = vars(self.type).get("stored")
        return {each.name: Value() for each in fields(self.type) if each.init} if own is None else own

    def write(self, value: Any, out: Outgoing, at: str) -> dict[str, Any]:
        held = value.rows_held() if hasattr(value, "rows_held") else ""
        if held:
            out.rows.append(f"{at}: {held}")
        if hasattr(value, "write_stored"):
            return {"kind": self.name, **value.write_stored(out, at)}
        known = self.fields
        given = value.to_stored() if hasattr(value, "to_stored") else {name: getattr(value, name) for name in known}
        return {"kind": self.name, **write_fields(known, given, out, at)}

    def read(self, node: dict[str, Any], file: Incoming, at: str) -> Any:
        rest = {name: each for name, each in node.items() if name != "kind"}
        if hasattr(self.type, "read_stored"):
            return self.type.read_stored(rest, file, at)
        values = read_fields(self.fields, rest, file, at)
        build: Callable[..., Any] | None = getattr(self.type, "from_stored", None)
        value = self.type(**values) if build is None else build(values)
        if hasattr(value, "check_stored"):
            value.check_stored(file)
        return value


_kinds: dict[str, Kind] = {}
_names: dict[type, str] = {}


def enter_kind(name: str, kind: type) -> None:
    """Have objects of this very class stored under this name."""
    known = _kinds.get(name)
    if known is not None and _is_ours(known.type) and known.type.__qualname__ != kind.__qualname__:
        raise ParameterError(f"There is a kind '{name}' already, {known.type.__name__}. Choose another name.")
    _kinds[name], _names[kind] = Kind(name, kind), name


def stored(name: str, **known: Field[Any]) -> Callable[[C], C]:
    """A class whose objects are stored with these fields, under this name."""

    def entered(kind: C) -> C:
        setattr(kind, "stored", known)  # noqa: B010 - no class has it in its type
        enter_kind(name, kind)
        return kind

    return entered


def model_kind(kind: type) -> str:
    """The name of an estimator: as it is imported from this library, or its module and name elsewhere."""
    if not _is_ours(kind):
        return f"{MODEL}{kind.__module__}.{kind.__qualname__}"
    public = {kind.__name__} <= {*sys.modules["discrim"].__all__}
    return f"{MODEL}{kind.__name__}" if public else f"{MODEL}{kind.__module__.split('.')[1]}.{kind.__name__}"


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "discrim"


def known_kinds() -> list[Kind]:
    """All kinds that have entered, by name."""
    return [_kinds[name] for name in sorted(_kinds)]


def kind_of(value: Any) -> Kind | None:
    """The kind of an object; None where its very class has not entered."""
    own = type(value)
    if own not in _names and own.__module__.partition(".")[0] == "sklearn":
        _enter_foreign(own.__name__)
    name = _names.get(own)
    return None if name is None else _kinds[name]


def find_kind(name: Any, at: str) -> Kind:
    """The kind of this name, imported where it is an estimator among the public names."""
    if not isinstance(name, str):
        raise damaged(at, "is of no kind")
    if name not in _kinds and name.startswith(MODEL):
        _import_public(name.removeprefix(MODEL))
    if name not in _kinds and name.startswith(FOREIGN):
        _enter_foreign(name.removeprefix(FOREIGN))
    if name in _kinds:
        return _kinds[name]
    if not name.startswith(MODEL):
        raise damaged(at, f"is of the kind '{name}', which is not known here")
    raise ModelFileError(
        f"It holds a model of the kind '{name.removeprefix(MODEL)}', which is not known here. If it is one of your own "
        "classes, import the module that defines it, then load again; if it is one of discrim, update discrim."
    )


def _enter_foreign(name: str) -> None:
    """Have the class of scikit-learn that the table has under this name."""
    from discrim.store.foreign import foreign_kind

    kind = foreign_kind(name)
    if kind is not None:
        _kinds[kind.name], _names[kind.type] = kind, kind.name


def _import_public(path: str) -> None:
    """Read the module of a public name, which enters its kind; the path is looked up in the lists of public names."""
    place: Any = sys.modules["discrim"]
    *package, name = path.split(".")
    if package:
        place = getattr(place, package[0]) if len(package) == 1 and package[0] in place.__all__ else None
    if isinstance(place, ModuleType) and name in place.__all__:
        getattr(place, name)


@dataclass(frozen=True)
class Of(Field[Any]):
    """An object of this class or of one derived from it, of any kind.

    ``letters`` says which of its letters stand for the same number as a letter outside.
    """

    base: type
    letters: Mapping[str, str] | None = None

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        if kind_of(value) is not None and not isinstance(value, self.base):
            raise ModelFileError(f"'{at}' is {_a(value)}, where {self.base.__name__} is due.")
        return write_object(value, out, at)

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        shared = {} if self.letters is None else dict(self.letters)
        inner = file.inside({own: file.letters[ours] for own, ours in shared.items() if ours in file.letters})
        value = read_object(node, inner, at, self.base)
        for own, ours in shared.items():
            if own in inner.letters:
                file.bind(ours, inner.letters[own], at)
        return value


def write_object(value: Any, out: Outgoing, at: str) -> dict[str, Any]:
    """The JSON of an object of some kind."""
    kind = kind_of(value)
    if kind is None:
        raise ModelFileError(f"'{at}' is {_a(value)}. {why_not(value)}")
    return kind.write(value, out, at)


def read_object(node: Any, file: Incoming, at: str, base: type = object) -> Any:
    """The object of some kind, derived from ``base``."""
    kind = find_kind(node.get("kind") if isinstance(node, dict) else None, at)
    if not issubclass(kind.type, base):
        raise damaged(at, f"is of the kind '{kind.name}', which does not belong there")
    return kind.read(node, file, at)


def _a(value: Any) -> str:
    return f"of the type {type(value).__module__}.{type(value).__qualname__}"


def why_not(value: Any) -> str:
    """Why a file does not hold such a value, and what to do."""
    if hasattr(value, "fit"):
        name = type(value).__name__
        own = f"discrim.{name}" if name in sys.modules["discrim"].__all__ else "one of these"
        return (
            "Model files hold models of discrim, and of scikit-learn pipelines, scalers, SimpleImputer, PCA and "
            f"CalibratedClassifierCV, as reading one must not run code of elsewhere. Use {own}, or pickle the whole."
        )
    return "Model files hold numbers, texts and objects of discrim alone."
