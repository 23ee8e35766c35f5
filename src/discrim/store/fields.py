"""What the fields of a stored object may hold: how each is written, and checked when it is read.

A shape is written with letters, such as "K p": within one object a letter stands for one number wherever it occurs,
and "*" for any number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ModelFileError
from discrim.store.container import NAMES, is_whole

T = TypeVar("T")

# Objects within objects.
DEEPEST = 40
INFINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}


@dataclass
class Outgoing:
    """A file that is being written: the arrays so far.

    With ``resumable`` all that learning goes on from is kept, with ``alone`` nothing else.
    """

    resumable: bool = False
    alone: bool = False
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    # Parameters that no file can have, for a warning.
    left_out: list[str] = field(default_factory=list)
    # Parts of the model that are rows of the data, as sentences.
    rows: list[str] = field(default_factory=list)

    def put(self, array: NDArray[Any], at: str) -> dict[str, Any]:
        """What stands for the array in the text; in the file it is called ``at``."""
        while at in self.arrays:
            at += "'"
        turned = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        self.arrays[at] = array.T if turned else array
        return {"array": at, "order": "F"} if turned else {"array": at}


@dataclass
class Incoming:
    """A file that is being read: its arrays, each of which belongs to one field, and the letters of one object."""

    arrays: Mapping[str, NDArray[Any]]
    used: set[str] = field(default_factory=set)
    letters: dict[str, int] = field(default_factory=dict)
    depth: int = 0

    def take(self, node: Any, at: str) -> NDArray[Any]:
        """The array that ``node`` stands for."""
        name = node.get("array") if isinstance(node, dict) else None
        known = isinstance(name, str) and name in self.arrays and name not in self.used
        if not known or node.keys() - {"array", "order"} or node.get("order", "F") != "F":
            raise damaged(at, "is no array of this file")
        assert isinstance(name, str)
        self.used.add(name)
        return self.arrays[name].T if "order" in node else self.arrays[name]

    def inside(self, letters: Mapping[str, int]) -> Incoming:
        """The same file for an object within this one, with letters of its own."""
        if self.depth >= DEEPEST:
            raise ModelFileError("It is damaged: its objects stand too deep in each other.")
        return Incoming(self.arrays, self.used, dict(letters), self.depth + 1)

    def bind(self, letter: str, size: int, at: str) -> None:
        """Give the letter its number, or raise where it has another one."""
        if letter == "*":
            return
        known = int(letter) if letter.isdigit() else self.letters.setdefault(letter, size)
        if known != size:
            raise damaged(at, f"has the size {size} where {letter} = {known} is due")


def damaged(at: str, what: str) -> ModelFileError:
    return ModelFileError(f"It is damaged: '{at}' {what}.")


class Field(Generic[T]):
    """What a field may hold."""

    def write(self, value: Any, out: Outgoing, at: str) -> Any:  # noqa: ARG002 - as those that put arrays aside
        """The JSON of the value, which stands at the place ``at``."""
        return value

    def read(self, node: Any, file: Incoming, at: str) -> T:
        """The value, or an error where the file has something else."""
        raise NotImplementedError


# The fields of an object, by name.
Fields = Mapping[str, Field[Any]]


@dataclass(frozen=True)
class Flag(Field[bool]):
    """True or false."""

    def write(self, value: Any, out: Outgoing, at: str) -> Any:  # noqa: ARG002 - as of every field
        return bool(value)

    def read(self, node: Any, file: Incoming, at: str) -> bool:  # noqa: ARG002 - as of every field
        if not isinstance(node, bool):
            raise damaged(at, "is neither true nor false")
        return node


@dataclass(frozen=True)
class Text(Field[str]):
    """A text, one of the ``options`` where there are some."""

    options: tuple[str, ...] = ()

    def write(self, value: Any, out: Outgoing, at: str) -> Any:  # noqa: ARG002 - as of every field
        return str(value)

    def read(self, node: Any, file: Incoming, at: str) -> str:  # noqa: ARG002 - as of every field
        if not isinstance(node, str) or (self.options and node not in self.options):
            raise damaged(at, f"is none of {', '.join(self.options)}" if self.options else "is no text")
        return node


@dataclass(frozen=True)
class Whole(Field[int]):
    """A whole number from ``low`` to ``high``."""

    low: int = 0
    high: int = 1 << 62

    def write(self, value: Any, out: Outgoing, at: str) -> Any:  # noqa: ARG002 - as of every field
        return int(value)

    def read(self, node: Any, file: Incoming, at: str) -> int:  # noqa: ARG002 - as of every field
        if not is_whole(node) or not self.low <= node <= self.high:
            raise damaged(at, f"is no whole number from {self.low} to {self.high}")
        return node


@dataclass(frozen=True)
class Number(Field[float]):
    """A number from ``low`` to ``high``; infinity and NaN are texts, where they are allowed."""

    low: float = -np.inf
    high: float = np.inf
    finite: bool = True

    def write(self, value: Any, out: Outgoing, at: str) -> Any:  # noqa: ARG002 - as of every field
        number = float(value)
        return number if np.isfinite(number) else str(number)

    def read(self, node: Any, file: Incoming, at: str) -> float:  # noqa: ARG002 - as of every field
        if not self.finite and isinstance(node, str) and node in INFINITE:
            return INFINITE[node]
        if type(node) not in (int, float) or not np.isfinite(float(node)) or not self.low <= node <= self.high:
            raise damaged(at, "is no number that it may be")
        return float(node)


@dataclass(frozen=True)
class Array(Field[NDArray[Any]]):
    """Numbers of this ``shape``, such as "K p", and one of these ``types``.

    ``low`` and ``high`` bound them; ``allowed`` are values beside the finite ones ("-inf", "inf", "nan").
    """

    shape: str
    types: str = "<f8"
    allowed: tuple[str, ...] = ()
    low: float = -np.inf
    high: float = np.inf

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        return out.put(np.asarray(value), at)

    def read(self, node: Any, file: Incoming, at: str) -> NDArray[Any]:
        array = file.take(node, at)
        letters = self.shape.split()
        if array.dtype.str not in self.types.split():
            raise damaged(at, f"has numbers of the type {array.dtype}")
        if array.ndim != len(letters):
            raise damaged(at, f"has {array.ndim} axes in the place of {len(letters)}")
        for letter, size in zip(letters, array.shape, strict=True):
            file.bind(letter, size, at)
        self._check_values(array, at)
        return array

    def _check_values(self, array: NDArray[Any], at: str) -> None:
        if array.dtype.kind == "b":
            if array.view(np.uint8).max(initial=0) > 1:
                raise damaged(at, "has truth values that are none")
            return
        if array.dtype.kind == "f":
            fine = np.isfinite(array)
            if not fine.all():
                for name in self.allowed:
                    fine |= np.isnan(array) if name == "nan" else array == INFINITE[name]
            if not fine.all():
                raise damaged(at, "has NaN or infinity")
        if (self.low > -np.inf and (array < self.low).any()) or (self.high < np.inf and (array > self.high).any()):
            raise damaged(at, "has numbers out of range")


@dataclass(frozen=True)
class Optional(Field[Any]):
    """Such a value, or null."""

    inner: Field[Any]

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        return None if value is None else self.inner.write(value, out, at)

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        return None if node is None else self.inner.read(node, file, at)


@dataclass(frozen=True)
class Many(Field[Any]):
    """A list of such values, ``count`` of them (a letter) where that is known; read as a ``type``."""

    inner: Field[Any]
    count: str = ""
    type: Callable[[list[Any]], Any] = tuple

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        return [self.inner.write(each, out, f"{at}.{i}") for i, each in enumerate(value)]

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        if not isinstance(node, list):
            raise damaged(at, "is no list")
        if self.count:
            file.bind(self.count, len(node), at)
        return self.type([self.inner.read(each, file, f"{at}.{i}") for i, each in enumerate(node)])


@dataclass(frozen=True)
class Texts(Field[list[str]]):
    """A list of texts, ``count`` of them (a letter) where that is known."""

    count: str = ""
    type: Callable[[list[str]], Any] = list

    def write(self, value: Any, out: Outgoing, at: str) -> Any:  # noqa: ARG002 - as of every field
        return list(map(str, value))

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        if not isinstance(node, list) or not all(isinstance(each, str) for each in node):
            raise damaged(at, "is no list of texts")
        if self.count:
            file.bind(self.count, len(node), at)
        return self.type(node)


@dataclass(frozen=True)
class By(Field[dict[str, Any]]):
    """Such values by names that ``fits`` allows."""

    inner: Field[Any]
    fits: Callable[[str], bool] = lambda _: True

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        return {name: self.inner.write(value[name], out, f"{at}.{name}") for name in value}

    def read(self, node: Any, file: Incoming, at: str) -> dict[str, Any]:
        if not isinstance(node, dict) or not all(map(self.fits, node)):
            raise damaged(at, "has names that it cannot have")
        return {name: self.inner.read(each, file, f"{at}.{name}") for name, each in node.items()}


def write_fields(fields: Fields, values: Mapping[str, Any], out: Outgoing, at: str) -> dict[str, Any]:
    """The JSON of these values, each by its field."""
    return {name: each.write(values[name], out, f"{at}.{name}") for name, each in fields.items()}


def read_fields(fields: Fields, node: Any, file: Incoming, at: str) -> dict[str, Any]:
    """The values of all ``fields``, no more and no fewer."""
    if not isinstance(node, dict) or node.keys() != fields.keys():
        names: Sequence[str] = sorted(node.keys() ^ fields.keys()) if isinstance(node, dict) else list(fields)
        raise damaged(at, f"lacks the field '{names[0]}', or has it without need" if names else "is no object")
    return {name: each.read(node[name], file, f"{at}.{name}") for name, each in fields.items()}


@dataclass(frozen=True)
class Fixed(Field[dict[str, Any]]):
    """All of these fields."""

    fields: Fields

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        return write_fields(self.fields, value, out, at)

    def read(self, node: Any, file: Incoming, at: str) -> dict[str, Any]:
        return read_fields(self.fields, node, file, at)


def is_storable(array: NDArray[Any]) -> bool:
    """Can the numbers be stored as they are?"""
    return array.dtype.newbyteorder("<") in NAMES
