"""Columns of strings that are read as numbers; what is no number counts as missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError
from discrim.sources.table import Kind, Table, UnusableColumnError
from discrim.sources.text_values import are_mostly_numbers_or_marks, as_number

Counted = tuple[list[Any], NDArray[np.intp]]


class ParsedTable:
    """A ``Table`` some of whose columns of strings are read as numbers."""

    def __init__(self, table: Table, parsed: Collection[str]) -> None:
        self._table = table
        self._parsed = frozenset(parsed)
        self.names = table.names
        self.n_rows = table.n_rows
        self.index_names = table.index_names

    def kind(self, name: str) -> Kind:
        return "number" if name in self._parsed else self._table.kind(name)

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
        return self._table.texts(name, start, stop)

    def labels(self, name: str, start: int, stop: int) -> Any:
        if name not in self._parsed:
            return self._table.labels(name, start, stop)
        values, codes = self._table.texts(name, start, stop)
        read = [as_number(value) for value in values]
        # The last entry is looked up by code -1: a missing value.
        return np.array([*(np.nan if number is None else number for number in read), np.nan])[np.maximum(codes, -1)]


def read_as_fitted(table: Table, numeric: Sequence[str]) -> Table:
    """The table with strings read as numbers where a model knows numbers, unless they are something else altogether."""
    parsed = [name for name in numeric if _holds_numbers(table, name)]
    return ParsedTable(table, parsed) if parsed else table


def counted_texts(table: Table, name: str, n: int) -> Counted | None:
    """Values of a column of strings, or of strings among numbers, and how often each is met; None for other columns."""
    try:
        if table.kind(name) != "text":
            return None
    except UnusableColumnError as error:
        # A pandas column may have strings among numbers.
        if not error.mixed:
            return None
    except DataError:
        return None
    try:
        values, codes = table.texts(name, 0, n)
    except TypeError:
        return None
    times = np.bincount(codes[codes >= 0], minlength=len(values))
    met = np.flatnonzero(times)
    return [values[k] for k in met.tolist()], times[met]


def _holds_numbers(table: Table, name: str) -> bool:
    found = counted_texts(table, name, table.n_rows)
    return found is not None and are_mostly_numbers_or_marks(*found)
