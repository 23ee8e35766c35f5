"""Rows of mixed columns: numbers as they are, and categories with the levels that a block happens to have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block, Coded, Mixed, rows_per_block
from discrim.errors import DataError, name_list
from discrim.sources.design import (
    ArrayTable,
    Table,
    mixed_types,
    one_column,
    refuse_duplicates,
    refuse_lacking,
    refuse_width,
)
from discrim.sources.labels import code_reals
from discrim.sources.rows import Labels
from discrim.sources.scan import Scan
from discrim.sources.text_columns import read_as_fitted

Kind = Literal["number", "boolean", "text"]
Check = Callable[[Mixed], Mixed]

# Up to this number the categories of an array are counted in a table of their own.
MOST_CODES = 1 << 12


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns in order; ``levelled`` says which are read as levels, whatever they hold."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levelled: tuple[bool, ...]
    named: bool

    @property
    def names_in(self) -> list[str]:
        return list(self.names)

    @property
    def names_out(self) -> list[str]:
        return list(self.names)

    @property
    def n_in(self) -> int:
        return len(self.names)

    @property
    def n_out(self) -> int:
        return len(self.names)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    @property
    def numeric(self) -> list[str]:
        """Names of the columns that are read as numbers."""
        return [name for name, level in zip(self.names, self.levelled, strict=True) if not level]

    @property
    def categorical(self) -> list[str]:
        """Names of the columns that are read as levels."""
        return [name for name, level in zip(self.names, self.levelled, strict=True) if level]

    def reading(self, levelled: Sequence[bool]) -> Schema:
        """The same with these columns read as levels."""
        return replace(self, levelled=tuple(levelled))

    def renamed(self, names: Sequence[str]) -> Schema:
        """The same under other names, for a table whose columns are matched by position."""
        refuse_width(len(names), len(self.names))
        return replace(self, names=tuple(names))


class MixedRows:
    """``Rows`` whose blocks have ``Mixed`` columns: of an array, a table, or a scan.

    Levels need not be known before the first row is read, so that one pass is enough for any source. What is read goes
    through ``check``, which raises for values that a model cannot take.
    """

    whole = None

    def __init__(
        self, origin: Table | Scan, labels: Labels | None, schema: Schema | None = None, check: Check | None = None
    ) -> None:
        self._origin = origin
        self._labels = labels
        self._check = check
        self._head: Table = origin.head if isinstance(origin, Scan) else origin
        names = origin.features if isinstance(origin, Scan) else origin.names
        refuse_duplicates(names)
        self.design: Any = _schema_of(self._head, names) if schema is None else self._matched(schema, names)

    @property
    def n_rows(self) -> int | None:
        return self._origin.n_rows

    @property
    def classes(self) -> NDArray[Any] | None:
        return None if self._labels is None else self._labels.classes

    @property
    def labelled(self) -> bool:
        return self._origin.labelled if isinstance(self._origin, Scan) else self.classes is not None

    @property
    def rereadable(self) -> bool:
        return not isinstance(self._origin, Scan) or self._origin.rereadable

    def reading(self, levelled: Sequence[bool], check: Check | None = None) -> MixedRows:
        """The same rows with these columns read as levels."""
        return MixedRows(self._origin, self._labels, self.design.reading(levelled), check)

    def blocks(self) -> Iterator[Block]:
        return (piece() for piece in self.pieces())

    def pieces(self) -> Iterator[Callable[[], Block]]:
        """The blocks as calls that make them, so that another thread can turn what was read into codes."""
        step = rows_per_block(len(self.design.names))
        for table in self._tables():
            for start in range(0, table.n_rows, step):
                yield partial(self._read, table, start, min(start + step, table.n_rows))

    def _read(self, table: Table, start: int, stop: int) -> Block:
        """Rows start to stop of a table of this source."""
        numbers = _numbers(table, self.design.numeric, start, stop)
        x: Any = Mixed(numbers, _all_levels(table, self.design.categorical, start, stop))
        x = x if self._check is None else self._check(x)
        if isinstance(self._origin, Scan):
            return Block(x, *self._origin.labels(table, start, stop))
        assert self._labels is not None
        return self._labels.block(x, start, stop)

    def _tables(self) -> Iterator[Table]:
        if isinstance(self._origin, Scan):
            return self._origin.tables()
        return iter([self._origin])

    def _matched(self, schema: Schema, names: Sequence[str]) -> Schema:
        if isinstance(self._head, ArrayTable) or not schema.named:
            texts = [name for name, kind in zip(schema.names, schema.kinds, strict=True) if kind == "text"]
            if texts and isinstance(self._head, ArrayTable):
                raise DataError(
                    f"The model was fitted with the text columns {name_list(texts)}. "
                    "Pass a table with these columns, not an array."
                )
            return schema.renamed(names)
        refuse_lacking(schema.names, self._head.names)
        if not isinstance(self._origin, Scan):
            self._origin = read_as_fitted(self._origin, schema.numeric)
        return schema


def code_numbers(values: NDArray[Any]) -> Coded:
    """The distinct numbers, as float64, and codes; whole numbers in a short range are not sorted."""
    missing = np.isnan(values) if values.dtype.kind == "f" else None
    if missing is not None and missing.any():
        known, ranks = code_numbers(values[~missing])
        codes = np.full(len(values), -1, dtype=np.int32)
        codes[~missing] = ranks
        return known, codes
    if not values.size:
        return np.empty(0), np.empty(0, dtype=np.int32)
    distinct, codes = code_reals(values)
    return distinct.astype(np.float64), codes


def _schema_of(head: Table, names: Sequence[str]) -> Schema:
    kinds = tuple(_kind(head, name) for name in names)
    return Schema(tuple(names), kinds, tuple(kind == "text" for kind in kinds), not isinstance(head, ArrayTable))


def _kind(table: Table, name: str) -> Kind:
    if table.kind(name) == "text":
        return "text"
    if isinstance(table, ArrayTable):
        return "boolean" if table.x.dtype.kind == "b" else "number"
    values = table.labels(name, 0, table.n_rows)
    written = str(getattr(values, "type", None) or values.dtype)
    if written == "object":
        from pandas.api.types import infer_dtype

        written = infer_dtype(values, skipna=True)
    return "boolean" if written.lower().startswith("bool") else "number"


def _numbers(table: Table, names: Sequence[str], start: int, stop: int) -> NDArray[Any]:
    if not names:
        return np.empty((stop - start, 0))
    for name in names:
        if _holds_text(table, name):
            raise DataError(f"Column '{name}' was numeric when the model was fitted and is text now.")
    return table.numbers(names, start, stop, np.float64)


def _all_levels(table: Table, names: Sequence[str], start: int, stop: int) -> tuple[Coded, ...]:
    if not isinstance(table, ArrayTable) or not names:
        return tuple(_levels(table, name, start, stop) for name in names)
    x = table.raw(names, start, stop)
    codes, lo, hi, whole = kernels.read_codes(x)
    # Small whole numbers are their own codes; levels between them may not occur.
    small = whole & (lo >= 0) & (hi >= lo) & (hi < MOST_CODES)
    return tuple((np.arange(hi[j] + 1.0), codes[j]) if small[j] else code_numbers(x[:, j]) for j in range(len(names)))


def _levels(table: Table, name: str, start: int, stop: int) -> Coded:
    holds_text = _holds_text(table, name)
    if holds_text is None:
        return np.empty(0), np.full(stop - start, -1, dtype=np.int32)
    if not holds_text:
        return code_numbers(one_column(table, name, start, stop))
    values, codes = table.texts(name, start, stop)
    present = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(values)))
    distinct = _array_of(name, [values[k] for k in present.tolist()])
    order = np.argsort(distinct, kind="stable")
    # The last entry is looked up by code -1: a missing value.
    rank = np.full(len(values) + 1, -1, dtype=np.int32)
    rank[present[order]] = np.arange(len(order), dtype=np.int32)
    return distinct[order], rank[np.maximum(codes, -1)]


def _array_of(name: str, values: list[Any]) -> NDArray[Any]:
    """Levels as text or as float64; anything else has no order that all parts of a source would agree on."""
    if not values:
        return np.empty(0)
    if all(isinstance(value, str) for value in values):
        return np.array(values)
    if all(isinstance(value, (int, float, np.number, np.bool_)) for value in values):
        return np.array(values, dtype=np.float64)
    raise mixed_types(name, values, "category of ")


def _holds_text(table: Table, name: str) -> bool | None:
    """None for a column of a pandas frame without any value, which shows no type."""
    try:
        return table.kind(name) == "text"
    except DataError:
        values = table.labels(name, 0, table.n_rows)
        if str(getattr(values, "dtype", "")) == "object" and values.isna().all():
            return None
        raise
