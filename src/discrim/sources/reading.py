"""How columns are read where that is not as they come: strings or dates as numbers, numbers as levels, rare levels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list
from discrim.sources.design import Design, Kind, Table, as_table, comes_from, refuse_lacking
from discrim.sources.text_columns import are_dates, are_mostly_numbers_or_marks, as_number, counted_texts, is_mark
from discrim.store.fields import By, Many, Texts
from discrim.store.kinds import stored
from discrim.store.values import Value

# What rare levels are called together.
RARE = "(rare)"
TYPES = ("number", "category")
DAY = np.timedelta64(1, "D")


@stored(
    "reading", numbers=Texts(), days=Texts(), categories=Texts(), levels=By(Many(Value())),
)  # fmt: skip
@dataclass(frozen=True)
class Reading:
    """Columns that are read otherwise than they come.

    ``numbers`` are strings that are read as numbers, ``days`` dates that are days since 1970, and ``categories``
    numbers whose values are levels. Of ``levels`` only these are known: another one is rare where there is a level of
    that name, unless it marks a missing value, else missing.
    """

    numbers: frozenset[str] = frozenset()
    days: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def to_stored(self) -> dict[str, Any]:
        """As files have it, in one order."""
        names = {name: sorted(getattr(self, name)) for name in ("numbers", "days", "categories")}
        return {**names, "levels": dict(sorted(self.levels.items()))}

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> Reading:
        """The reading that ``to_stored`` gave."""
        numbers, days, categories = (frozenset(values[name]) for name in ("numbers", "days", "categories"))
        return cls(numbers, days, categories, values["levels"])

    @property
    def names(self) -> set[str]:
        return {*self.numbers, *self.days, *self.categories, *self.levels}

    def __or__(self, other: Reading) -> Reading:
        return Reading(
            self.numbers | other.numbers,
            self.days | other.days,
            self.categories | other.categories,
            {**self.levels, **other.levels},
        )

    def known(self, design: Design) -> Reading:
        """The same for new rows, whose categories may have levels that the design does not know."""
        levels = {column.name: column.levels for column in design.columns if column.levels is not None}
        return replace(self, levels={**levels, **self.levels})

    def apply(self, X: Any) -> Any:
        """A frame or an Arrow table with these columns as they are read; for scans see ``Scan.read_as``."""
        table = as_table(X)
        if table is None:
            return X
        names = [name for name in table.names if name in self.names and not self._as_it_is(table, name)]
        return replace_columns(X, table, ReadTable(table, self), names) if names else X

    def _as_it_is(self, table: Table, name: str) -> bool:
        """Is this a category all of whose levels are known?"""
        if name in self.numbers or name in self.days or name in self.categories:
            return False
        met = counted_texts(table, name, table.n_rows)
        return met is None or set(met[0]) <= set(self.levels[name])


NO_READING = Reading()


class ReadTable(Table):
    """A ``Table`` some of whose columns are read in another way."""

    def __init__(self, table: Table, reading: Reading) -> None:
        self._table, self._how = table, reading
        self._parsed = reading.numbers | reading.days
        self._texts = reading.categories | set(reading.levels)
        self.names = table.names
        self.n_rows = table.n_rows
        self.index_names = table.index_names

    def kind(self, name: str) -> Kind:
        if name in self._parsed:
            return "number"
        return "text" if name in self._how.categories else self._table.kind(name)

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        plain = [name for name in names if name not in self._parsed]
        if len(plain) == len(names):
            return self._table.numbers(names, start, stop, dtype)
        x = np.empty((stop - start, len(names)), dtype=dtype, order="F")
        columns = iter(self._table.numbers(plain, start, stop, dtype).T if plain else ())
        for j, name in enumerate(names):
            x[:, j] = self.labels(name, start, stop) if name in self._parsed else next(columns)
        return x

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        if name in self._how.categories and _is_number(self._table, name):
            column = self._table.numbers([name], start, stop, np.float64)[:, 0]
            found, codes = np.unique(column, return_inverse=True)
            values: list[Any] = [_level(number) for number in found]
            codes = np.where(np.isnan(column), -1, codes)
        else:
            values, codes = self._table.texts(name, start, stop)
        if name not in self._how.levels:
            return values, codes
        known = dict(zip(self._how.levels[name], range(len(self._how.levels[name])), strict=True))
        other = known.get(RARE, -1)
        unknown = (-1 if is_mark(value) else other for value in values)
        new = (known.get(v, known.get(str(v), place)) for v, place in zip(values, unknown, strict=True))
        places = np.array([*new, -1])
        return list(known), places[np.maximum(codes, -1)]

    def labels(self, name: str, start: int, stop: int) -> Any:
        if name in self._how.days:
            return _days(name, self._table, start, stop)
        if name in self._how.numbers and _is_number(self._table, name):
            return self._table.numbers([name], start, stop, np.float64)[:, 0]
        if name in self._texts and self.kind(name) == "text":
            values, codes = self.texts(name, start, stop)
            return np.array([*values, None], dtype=object)[np.maximum(codes, -1)]
        if name not in self._how.numbers:
            return self._table.labels(name, start, stop)
        values, codes = self._table.texts(name, start, stop)
        read = [as_number(value) for value in values]
        # The last entry is looked up by code -1: a missing value.
        return np.array([*(np.nan if number is None else number for number in read), np.nan])[np.maximum(codes, -1)]


class SomeRows(Table):
    """Some rows of a ``Table``, by their places."""

    def __init__(self, table: Table, rows: NDArray[np.intp]) -> None:
        self._table, self._rows = table, rows
        self.names, self.n_rows, self.index_names = table.names, len(rows), table.index_names

    def kind(self, name: str) -> Kind:
        return self._table.kind(name)

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        return np.asfortranarray(self._table.numbers(names, 0, self._table.n_rows, dtype)[self._rows[start:stop]])

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        values, codes = self._table.texts(name, 0, self._table.n_rows)
        return values, np.asarray(codes)[self._rows[start:stop]]

    def labels(self, name: str, start: int, stop: int) -> Any:
        if self._table.kind(name) == "text":
            values, codes = self.texts(name, start, stop)
            return np.array([*values, None], dtype=object)[np.maximum(codes, -1)]
        return np.asarray(self._table.labels(name, 0, self._table.n_rows))[self._rows[start:stop]]


def reading_of(table: Table, types: Mapping[str, str], features: Collection[str]) -> Reading:
    """How columns of these types are read, by the rows of the table: each is 'number' or 'category'."""
    for name, kind in types.items():
        if kind not in TYPES:
            raise ParameterError(
                f"types (--types) makes the column {name!r} a {kind!r}; a column is read as 'number' (a date too, as "
                "days since 1970) or as 'category'."
            )
        if name not in features:
            raise ParameterError(
                f"types names the column '{name}'; the columns to learn from are {name_list(list(features), most=20)}."
            )
    numbers, days, categories = set[str](), set[str](), set[str]()
    for name, kind in types.items():
        if kind == "category":
            categories |= {name} if _is_number(table, name) else set()
            continue
        met = counted_texts(table, name, table.n_rows)
        if met is not None:
            (days if are_dates(met[0]) else numbers).add(name)
        elif not _is_number(table, name):
            days.add(name)
    return Reading(frozenset(numbers), frozenset(days), frozenset(categories))


def _is_number(table: Table, name: str) -> bool:
    try:
        return table.kind(name) != "text"
    except DataError:
        return False


def _level(number: float) -> str:
    return f"{number:.0f}" if number == np.floor(number) and abs(number) < 1e15 else f"{number:g}"


def _days(name: str, table: Table, start: int, stop: int) -> NDArray[np.float64]:
    met = _texts(table, name, start, stop)
    try:
        if met is None:
            times = np.asarray(table.labels(name, start, stop), dtype="datetime64[s]")
        else:
            times = np.array([*met[0], "NaT"], dtype="datetime64[s]")[np.maximum(met[1], -1)]
    except (TypeError, ValueError):
        raise DataError(
            f"Column '{name}' cannot be read as dates. Write them as 2026-01-31, or convert the column to numbers."
        ) from None
    days: NDArray[np.float64] = (times - np.datetime64("1970-01-01", "s")) / DAY
    return days


def _texts(table: Table, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]] | None:
    try:
        return table.texts(name, start, stop) if table.kind(name) == "text" else None
    except DataError:
        return None


def replace_columns(X: Any, table: Table, read: Table, names: Sequence[str]) -> Any:
    """The frame or Arrow table X with these columns as they are ``read``."""
    columns = {name: read.labels(name, 0, table.n_rows) for name in names}
    if comes_from(X, "pandas", "DataFrame"):
        frame = X.copy(deep=False)
        for j, name in enumerate(table.names):
            if name in columns:
                frame.isetitem(j, _typed(columns[name]))
        return frame
    if comes_from(X, "polars", "DataFrame"):
        import polars as pl

        return X.with_columns(
            *(
                pl.Series(
                    name,
                    _plain(values),
                    dtype=pl.String if _is_empty_text(values) else None,
                    nan_to_null=values.dtype != object,
                )
                for name, values in columns.items()
            )
        )
    import pyarrow as pa

    for name, values in columns.items():
        column = pa.array(_plain(values), type=pa.string() if _is_empty_text(values) else None, from_pandas=True)
        X = X.set_column(table.names.index(name), name, column)
    return X


def with_empty_columns(X: Any, design: Design) -> Any:
    """The frame or Arrow table with columns without a value of the type that the design knows; others are as they are.

    A column of a few rows may have none, and then shows no type.
    """
    table = None if isinstance(X, np.ndarray) else as_table(X)
    if table is None or not table.n_rows:
        return X
    known = {column.name: column.levels for column in design.columns}
    empty = [name for name in table.names if name in known and has_no_value(table, name)]
    return replace_columns(X, table, _Empty(table, [name for name in empty if known[name]]), empty) if empty else X


class _Empty(Table):
    """A ``Table`` whose columns have no value; those of ``texts`` are of text."""

    def __init__(self, table: Table, texts: Sequence[str]) -> None:
        self._texts, self.names, self.n_rows, self.index_names = texts, table.names, table.n_rows, table.index_names

    def labels(self, name: str, start: int, stop: int) -> Any:
        if name in self._texts:
            return np.full(stop - start, None, dtype=object)
        return np.full(stop - start, np.nan)


def has_no_value(table: Table, name: str) -> bool:
    """Is every value missing? The first row is looked at first: a column with a value there needs no more."""
    if not table.n_rows:
        return False
    try:
        text = table.kind(name) == "text"
    except DataError:
        values = table.labels(name, 0, table.n_rows)
        return str(getattr(values, "dtype", "")) == "object" and bool(values.isna().all())
    for stop in (1, table.n_rows):
        if text and (np.asarray(table.texts(name, 0, stop)[1]) >= 0).any():
            return False
        if not text and not np.isnan(table.numbers([name], 0, stop, np.float64)).all():
            return False
    return True


def _is_empty_text(values: NDArray[Any]) -> bool:
    return values.dtype == object and all(value is None for value in values)


def _typed(values: NDArray[Any]) -> Any:
    """Text for pandas: without any value it would show no type."""
    if not _is_empty_text(values):
        return values
    import pandas as pd

    return pd.Categorical(values, categories=[""])


def _plain(values: NDArray[Any]) -> Any:
    return values.tolist() if values.dtype == object else values


def read_as_fitted(table: Table, design: Design) -> Table:
    """The table with strings read as numbers where a model knows numbers, unless they are something else altogether."""
    refuse_lacking(design.names_in, table.names)
    each = ((name, counted_texts(table, name, table.n_rows)) for name in design.numeric)
    parsed = [name for name, found in each if found is not None and are_mostly_numbers_or_marks(*found)]
    return numbers_of(table, parsed) if parsed else table


def refuse_other_texts(table: Table, names: Iterable[str]) -> None:
    """Raise where strings of these columns, which a model knows as numbers, are something else altogether."""
    for name in names:
        found = counted_texts(table, name, table.n_rows)
        if found is not None and len(found[0]) and not are_mostly_numbers_or_marks(*found):
            odd = next(value for value in found[0] if as_number(value) is None and not is_mark(value))
            raise DataError(f"Column '{name}' was numeric when the model was fitted and is text now, such as '{odd}'.")


def numbers_of(table: Table, names: Iterable[str]) -> ReadTable:
    """The table with these columns of strings as numbers."""
    return ReadTable(table, Reading(frozenset(names)))


def grouped_levels(values: Sequence[Any], times: NDArray[np.intp], most: int, fewest: int) -> tuple[str, ...] | None:
    """The levels that are kept, rare ones together as the last; None where all are frequent enough or few."""
    order = np.argsort(-times, kind="stable")
    kept = [i for i in order[:most] if times[i] >= fewest]
    if len(values) - len(kept) < 2:
        return None
    return (*sorted(str(values[i]) for i in kept), RARE)
