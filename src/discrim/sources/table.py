"""What a container with named columns must offer so that rows can be read from it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, MissingDependencyError, name_list

Kind = Literal["float32", "number", "text"]

INSTEAD_OF_DATES = (
    "Convert them to numbers, such as days since the first, or to categories, such as months, or leave the column out."
)


class Table(Protocol):
    """Columns in memory: a data frame, an Arrow table, or one batch of a file.

    Each package has one adapter with these four verbs; everything else is shared.
    """

    @property
    def names(self) -> list[str]: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def index_names(self) -> Sequence[str]:
        """Columns that number or name the rows and tell nothing about them."""
        ...

    def kind(self, name: str) -> Kind:
        """How the column is read; raises ``unusable_column`` for dates, lists and the like."""
        ...

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        """The columns as an array in column-major order; a missing value is NaN."""
        ...

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        """Distinct values (some may not occur) and codes into them; a missing value has a negative code."""
        ...

    def labels(self, name: str, start: int, stop: int) -> Any:
        """Part of a column, as something that ``code_labels`` takes."""
        ...


def float_type(table: Table, names: Sequence[str]) -> type[Any]:
    """float32 if every numeric column among ``names`` is float32, else float64."""
    kinds = [kind for name in names if (kind := table.kind(name)) != "text"]
    return np.float32 if kinds and all(kind == "float32" for kind in kinds) else np.float64


class UnusableColumnError(DataError):
    """A column of dates, lists or the like, or a mixture of types; ``found`` is its type."""

    def __init__(self, message: str, found: str = "", *, mixed: bool = False) -> None:
        super().__init__(message)
        self.found, self.mixed = found, mixed

    @property
    def is_date(self) -> bool:
        return not self.mixed and _is_time(self.found)


def unusable_column(name: str, found: object) -> UnusableColumnError:
    if _is_time(str(found)):
        text = f"Column '{name}' has the type {found}: dates or times. {INSTEAD_OF_DATES}"
    else:
        text = (
            f"Column '{name}' has the type {found}, which is neither a number nor a category. "
            "Convert it to numbers or text, or leave it out."
        )
    return UnusableColumnError(text, str(found))


def _is_time(found: str) -> bool:
    return any(word in found.lower() for word in ("date", "time", "duration", "period"))


def refuse_duplicates(names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"Column names occur more than once: {name_list(twice)}. Rename these columns.")


def text_levels(table: Table, name: str, found: set[Any]) -> int:
    """Add the values that occur in a text column to ``found``; the answer is how many are missing."""
    missing = 0
    for start in range(0, table.n_rows, 1 << 20):
        values, codes = table.texts(name, start, min(start + (1 << 20), table.n_rows))
        occurring = np.bincount(codes[codes >= 0], minlength=len(values))
        found.update(values[k] for k in np.flatnonzero(occurring).tolist())
        missing += int((codes < 0).sum())
    return missing


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
