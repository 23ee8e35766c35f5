"""Tables and designs: the columns that rows have, whatever holds them, and how categories become numbers."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, MissingDependencyError, name_list, plural
from discrim.store.fields import By, Flag, Incoming, Many, Optional, Text, Texts, Whole, damaged
from discrim.store.kinds import stored
from discrim.store.values import Value
from discrim.typing import Floats

Kind = Literal["float32", "number", "text"]

# Rows that a reader fetches at once.
BATCH_ROWS = 65536

INSTEAD_OF_DATES = (
    "Convert them to numbers, such as days since the first, or to categories, such as months, or leave the column out."
)


class Table:
    """Columns in memory: a data frame, an Arrow table, or one batch of a file.

    Each package has one adapter with these four methods; everything else is shared. ``index_names`` are columns that
    number or name the rows and say nothing about them. One that is ``sparse`` gives its columns so, all at once.
    """

    names: list[str]
    n_rows: int
    index_names: Sequence[str] = ()
    sparse: bool = False

    @property
    def n_bytes(self) -> int:
        """What it takes in memory."""
        raise NotImplementedError

    def kind(self, name: str) -> Kind:
        """How the column is read; raises ``unusable_column`` for dates, lists and the like."""
        raise NotImplementedError

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        """The columns as an array in column-major order; a missing value is NaN."""
        raise NotImplementedError

    def type_of(self, name: str) -> str:
        """The type of the column as its package writes it."""
        values = self.labels(name, 0, 0)
        return str(getattr(values, "type", None) or values.dtype)

    def raw(self, names: Sequence[str], start: int, stop: int) -> NDArray[Any]:
        """Columns of numbers in a type that codes are read from, without a copy where they are in one."""
        return self.numbers(names, start, stop, np.float64)

    def plain(self, small: int) -> NDArray[Any] | None:  # noqa: ARG002 - few packages keep columns together
        """All columns as one array, where they are floating-point numbers of one type and it is no copy of a table
        with ``small`` numbers or more.
        """
        return None

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        """Distinct values (some may not occur) and codes into them; a missing value has a negative code."""
        raise NotImplementedError

    def labels(self, name: str, start: int, stop: int) -> Any:
        """Part of a column, as something that ``code_labels`` takes."""
        raise NotImplementedError


class ArrayTable(Table):
    """A numeric array as a ``Table`` with the columns x0, x1, ..."""

    def __init__(self, x: NDArray[Any]) -> None:
        self.x, self.n_rows = x, x.shape[0]
        self.names = [f"x{j}" for j in range(x.shape[1])]

    def kind(self, name: str) -> Kind:  # noqa: ARG002 - all columns are of one type
        return "number"

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        return np.require(self._columns(names, start, stop), dtype, "A")

    def raw(self, names: Sequence[str], start: int, stop: int) -> NDArray[Any]:
        part = self._columns(names, start, stop)
        if part.dtype in (np.float64, np.int64, np.int32) and part.flags.aligned:
            return part
        return part.astype(np.float64 if part.dtype.kind == "f" else np.int64)

    def _columns(self, names: Sequence[str], start: int, stop: int) -> NDArray[Any]:
        part = self.x[start:stop]
        if list(names) == self.names:
            return part
        place = {name: j for j, name in enumerate(self.names)}
        return part[:, [place[name] for name in names]]


# States that are merged at once, and where a state of so many bytes is large.
MANY_AT_ONCE, FEW_AT_ONCE, WIDE = 16, 4, 8_000_000

# (columns, of, merge, state_bytes): these columns of every part as tables, reduced by ``of`` where they are, to None
# where a part has no rows, and the states, of so many bytes each, merged in the order of the parts.
Of = Callable[[Iterator[Table]], Any]
Merge = Callable[[list[Any]], Any]
Elsewhere = Callable[[Sequence[str], Of, Merge, int], Any]


@dataclass(frozen=True)
class Reader:
    """A source that is read table by table.

    ``heads`` has the tables without rows, which show the columns and their kinds, by the names of the files, or of the
    only other source. ``tables(columns, batch_rows)`` gives these columns, of about so many rows at a time, in order.
    Where the rows lie on other machines, ``elsewhere`` reduces them there, and merges the states in a tree, at each of
    its levels as many as ``fan_in_of`` says. Columns of arrays are not ``named``.
    Where the number of rows is not known, it may be ``about`` so many. ``files`` are those that are read, where nothing
    else is. ``tables_after(columns, batch_rows, rows)`` begins at some table within the first ``rows`` rows, and says
    how many lie before it; it saves reading what is not needed. While a fit is ``holding`` them, workers may keep rows
    for its next pass.
    """

    title: str
    heads: Mapping[str, Table]
    tables: Callable[[Sequence[str], int], Iterator[Table]]
    n_rows: int | None = None
    rereadable: bool = True
    elsewhere: Elsewhere | None = None
    named: bool = True
    about: int | None = None
    files: tuple[Path, ...] = ()
    tables_after: Callable[[Sequence[str], int, int], tuple[int, Iterator[Table]]] | None = None
    holding: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def head(self) -> Table:
        """That of the first file."""
        return next(iter(self.heads.values()))


def fan_in_of(state_bytes: int) -> int:
    """States that are merged at once: few of large ones, which then lie in the memory of one worker."""
    return FEW_AT_ONCE if state_bytes > WIDE else MANY_AT_ONCE


def as_table(data: Any) -> Table | None:
    """The adapter for a table in memory, or None where ``data`` is no table."""
    if comes_from(data, "pandas", "DataFrame"):
        from discrim.sources.pandas_table import PandasTable

        return PandasTable(data)
    if comes_from(data, "polars", "DataFrame"):
        from discrim.sources.polars_table import PolarsTable

        return PolarsTable(data)
    if comes_from(data, "pyarrow", "Table", "RecordBatch"):
        from discrim.sources.arrow import ArrowTable

        return ArrowTable(data)
    return None


def one_column(table: Table, name: str, start: int, stop: int) -> Floats:
    """A column of numbers."""
    return np.ascontiguousarray(table.numbers([name], start, stop, np.float64)[:, 0])


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


def mixed_types(name: str, values: Iterable[Any], what: str = "") -> UnusableColumnError:
    """``what`` is said before the type where there is only one."""
    found = sorted({type(value).__name__ for value in values})
    if len(found) == 1:
        return unusable_column(name, f"{what}{found[0]}")
    types = ", ".join(found)
    text = f"Column '{name}' mixes the types {types}. Convert its values to one type."
    return UnusableColumnError(text, types, mixed=True)


def _is_time(found: str) -> bool:
    return any(word in found.lower() for word in ("date", "time", "duration", "period"))


def refuse_duplicates(names: Sequence[str]) -> None:
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"Column names occur more than once: {name_list(twice)}. Rename these columns.")


def refuse_lacking(fitted: Sequence[str], names: Sequence[str]) -> None:
    """Raise where a column that a model was fitted on is not among ``names``."""
    present = set(names)
    lacking = [name for name in fitted if name not in present]
    if lacking:
        raise DataError(f"X lacks {name_list(lacking)}, which the model was fitted on. It has {name_list(names)}.")


def refuse_width(found: int, fitted: int) -> None:
    if found != fitted:
        expected = plural(fitted, "feature")
        raise ValueError(f"X has {plural(found, 'feature')}, but the model is expecting {expected} as input.")


def is_dask(thing: object) -> bool:
    """Is it a Dask collection of rows?"""
    return comes_from(thing, "dask.dataframe", "DataFrame") or comes_from(thing, "dask.array", "Array")


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
    """Raise the error that says how to install a package, unless it is installed."""
    if not installed(package):
        raise MissingDependencyError.for_package(package, purpose, "app")


@dataclass(frozen=True, slots=True)
class Column:
    """A numeric column, or a categorical one with its sorted ``levels``."""

    name: str
    levels: tuple[Any, ...] | None = None

    @property
    def names_out(self) -> list[str]:
        """One name per indicator ``name[level]``; the first level is the reference, without an indicator."""
        return [self.name] if self.levels is None else [f"{self.name}[{level}]" for level in self.levels[1:]]

    @property
    def n_out(self) -> int:
        return 1 if self.levels is None else max(len(self.levels) - 1, 0)


@lru_cache(maxsize=4)
def _numbered_columns(n: int) -> tuple[Column, ...]:
    """x0, x1, ...; kept here and not in a design, which reading its names would change."""
    return tuple(Column(f"x{j}") for j in range(n))


@stored(
    "columns", dtype=Text(("float64", "float32")), count=Whole(high=1 << 40), named=Flag(),
    names=Optional(Texts()), levels=By(Many(Value())),
)  # fmt: skip
class Design:
    """The columns that a model was fitted on, in order, and how a table is turned into numbers.

    A numeric column stays one column. A categorical column with levels ``l0 < l1 < ...`` is
    treatment coded: an indicator of ``l1``, one of ``l2``, ..., all zero for ``l0``. A missing
    category is NaN in all its indicators, so that it surfaces as a missing number does.
    """

    def __init__(self, columns: Sequence[Column], dtype: Any = np.float64, *, named: bool = True) -> None:
        self._columns = tuple(columns)
        self.dtype = np.dtype(dtype)
        self.n_in = len(self._columns)
        self.n_out = sum(column.n_out for column in self._columns)
        self.named = named

    @classmethod
    def unnamed(cls, n: int, dtype: Any) -> Design:
        """The design of an array: numeric columns x0, x1, ..., which are not made before they are needed."""
        design = cls((), dtype, named=False)
        design.n_in = design.n_out = n
        return design

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns or _numbered_columns(self.n_in)

    @property
    def names_in(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def names_out(self) -> list[str]:
        return [name for column in self.columns for name in column.names_out]

    def names_at(self, places: Iterable[int]) -> list[str]:
        """Names of these of the columns, without those of all where there are many."""
        if not self._columns:
            return [f"x{j}" for j in places]
        every = self.names_out
        return [every[j] for j in places]

    @property
    def categorical(self) -> list[str]:
        """Names of the categorical columns."""
        return [column.name for column in self._columns if column.levels is not None]

    @property
    def numeric(self) -> list[str]:
        """Names of the numeric columns."""
        return [column.name for column in self.columns if column.levels is None]

    def encode(self, table: Table, start: int, stop: int, dtype: type[Any] | None = None) -> NDArray[Any]:
        """Rows start to stop of the table, as numbers in column-major order.

        The default ``dtype`` is float32 if every numeric column of the table is, else float64.
        """
        columns = self.columns
        numeric = self.numeric
        self._check_kinds(table)
        dtype = float_type(table, numeric) if dtype is None else dtype
        if len(numeric) == len(columns):
            return table.numbers(numeric, start, stop, dtype)
        x = np.empty((stop - start, self.n_out), dtype=dtype, order="F")
        numbers = iter(table.numbers(numeric, start, stop, dtype).T if numeric else ())
        j = 0
        for column in columns:
            if column.levels is None:
                x[:, j] = next(numbers)
            else:
                _write_indicators(column, table, start, stop, x[:, j : j + column.n_out])
            j += column.n_out
        return x

    def check_width(self, n_columns: int) -> None:
        """Raise where an array without names does not have the columns of this design."""
        if self.categorical:
            raise DataError(
                f"The model was fitted with the categorical columns {name_list(self.categorical)}. "
                "Pass a table with these columns, not an array."
            )
        refuse_width(n_columns, self.n_in)

    def renamed(self, names: Sequence[str]) -> Design:
        """The same design under other names, for a table whose columns are matched by position."""
        self.check_width(len(names))
        return Design([Column(name) for name in names], self.dtype, named=self.named)

    def described(self) -> tuple[str, dict[str, Any]]:
        """A plain description: names, the levels of categories or None, and whether the rows brought the names."""
        levels = [column.levels for column in self.columns] if self.categorical else None
        return "columns", {"names": self.names_in, "levels": levels, "named": self.named}

    def to_stored(self) -> dict[str, Any]:
        """As files have it: names where there are some, and the levels by name."""
        names = [column.name for column in self._columns] if self._columns or not self.n_in else None
        levels = {column.name: column.levels for column in self._columns if column.levels is not None}
        return {"dtype": self.dtype, "count": self.n_in, "named": self.named, "names": names, "levels": levels}

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> Design:
        """The design that ``to_stored`` gave."""
        names, levels = values["names"], values["levels"]
        if names is None:
            return cls.unnamed(values["count"], values["dtype"])
        return cls([Column(name, levels.get(name)) for name in names], values["dtype"], named=values["named"])

    def check_stored(self, file: Incoming) -> None:
        """Give n and p their numbers: columns, and what they become."""
        file.bind("n", self.n_in, "count")
        file.bind("p", self.n_out, "count")
        if any(len(set(c.levels)) != len(c.levels) for c in self._columns if c.levels is not None):
            raise damaged("levels", "has a level twice")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.columns == other.columns and self.dtype == other.dtype

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Design({name_list(self.names_out)}; {self.dtype.name})"

    def _check_kinds(self, table: Table) -> None:
        for column in self.columns:
            text = table.kind(column.name) == "text"
            if text and column.levels is None:
                raise DataError(f"Column '{column.name}' was numeric when the model was fitted and is text now.")
            if not text and column.levels is not None:
                raise DataError(
                    f"Column '{column.name}' was categorical when the model was fitted and is numeric now. "
                    "Convert it to a categorical or text column."
                )


def _write_indicators(column: Column, table: Table, start: int, stop: int, out: NDArray[Any]) -> None:
    values, codes = table.texts(column.name, start, stop)
    place = {level: k for k, level in enumerate(column.levels or ())}
    # The last entry is looked up by code -1: a missing value.
    level_of = np.array([*(place.get(value, -2) for value in values), -1])
    levels = level_of[np.maximum(codes, -1)]
    unseen = levels == -2
    if unseen.any():
        strangers = sorted((values[k] for k in np.unique(np.asarray(codes)[unseen]).tolist()), key=str)
        raise DataError(
            f"Column '{column.name}' holds {plural(len(strangers), 'level')} that the model has not seen: "
            f"{name_list(strangers)}. It knows {name_list(level for level in place if level is not None)}. "
            "Replace them by known levels, or fit again with rows that have them."
        )
    for k in range(out.shape[1]):
        out[:, k] = levels == k + 1
    out[levels == -1] = np.nan
