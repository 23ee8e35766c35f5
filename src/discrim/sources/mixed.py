"""Mixed columns: numbers as they are, and categories with the levels that a block happens to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Coded, Mixed, Numbered
from discrim.errors import DataError, name_list
from discrim.sources.design import ArrayTable, Column, Design, Table, mixed_types, one_column, refuse_width
from discrim.sources.labels import code_reals
from discrim.store.fields import Flag, Many, Text, Texts
from discrim.store.kinds import stored

Kind = Literal["number", "boolean", "text"]
Check = Callable[[Mixed], Mixed]

# Up to this number the categories of an array are counted in a table of their own.
MOST_CODES = 1 << 12


@stored(
    "mixed columns", names=Texts("n"), kinds=Many(Text(("number", "boolean", "text")), "n"),
    levelled=Many(Flag(), "n"), named=Flag(),
)  # fmt: skip
class Schema(Design):
    """Columns of these ``kinds``; ``levelled`` says which are read as levels, whatever they hold.

    Levels need not be known before the first row is read, so that one pass is enough for any source. What is read goes
    through ``check``, which raises for values that a model cannot take; it is of open rows, and not stored.
    """

    def __init__(
        self,
        names: Sequence[str],
        kinds: tuple[Kind, ...],
        levelled: Sequence[bool],
        *,
        named: bool,
        check: Check | None = None,
    ) -> None:
        super().__init__([Column(name) for name in names], named=named)
        self.kinds, self.levelled, self.check = kinds, tuple(levelled), check

    @classmethod
    def of(cls, head: Table, names: Sequence[str]) -> Schema:
        """Text is read as levels, all else as numbers."""
        if isinstance(head, ArrayTable):
            kinds: tuple[Kind, ...] = ("boolean" if head.x.dtype.kind == "b" else "number",) * len(names)
        else:
            kinds = tuple(_kind(head, name) for name in names)
        return cls(names, kinds, [kind == "text" for kind in kinds], named=not isinstance(head, ArrayTable))

    @property
    def numeric(self) -> list[str]:
        """Names of the columns that are read as numbers."""
        return [name for name, level in zip(self.names_in, self.levelled, strict=True) if not level]

    @property
    def categorical(self) -> list[str]:
        """Names of the columns that are read as levels."""
        if all(self.levelled):
            return self.names_in
        return [name for name, level in zip(self.names_in, self.levelled, strict=True) if level]

    def reading(self, levelled: Sequence[bool], check: Check | None = None) -> Schema:
        """The same with these columns read as levels."""
        other = self.__class__.__new__(self.__class__)
        other.__dict__.update(self.__dict__, levelled=tuple(levelled), check=check)
        return other

    def encode(self, table: Table, start: int, stop: int, dtype: type[Any] | None = None) -> Any:  # noqa: ARG002 - codes have one type
        """Rows start to stop of the table as ``Mixed`` columns."""
        numeric = [] if all(self.levelled) else self.numeric
        x = Mixed(_numbers(table, numeric, start, stop), _all_levels(table, self.categorical, start, stop))
        return x if self.check is None else self.check(x)

    def check_width(self, n_columns: int) -> None:
        refuse_width(n_columns, self.n_in)

    def check_array(self) -> None:
        """Raise where columns of text were fitted, which an array cannot have."""
        texts = [name for name, kind in zip(self.names_in, self.kinds, strict=True) if kind == "text"]
        if texts:
            raise DataError(
                f"The model was fitted with the text columns {name_list(texts)}. "
                "Pass a table with these columns, not an array."
            )

    def described(self) -> tuple[str, dict[str, Any]]:
        kinds = [str(kind) for kind in self.kinds]
        return "mixed columns", {"names": self.names_in, "kinds": kinds, "levelled": self.levelled, "named": self.named}

    def renamed(self, names: Sequence[str]) -> Schema:
        self.check_width(len(names))
        same = self.names_in == names
        return self if same else Schema(names, self.kinds, self.levelled, named=self.named, check=self.check)

    def to_stored(self) -> dict[str, Any]:
        """As files have it."""
        return {"names": self.names_in, "kinds": self.kinds, "levelled": self.levelled, "named": self.named}

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> Schema:
        """The schema that ``to_stored`` gave."""
        return cls(**values)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "check": None}


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


def _kind(table: Table, name: str) -> Kind:
    if table.kind(name) == "text":
        return "text"
    written = table.type_of(name)
    if written == "object":
        from pandas.api.types import infer_dtype

        written = infer_dtype(table.labels(name, 0, table.n_rows), skipna=True)
    return "boolean" if written.lower().startswith("bool") else "number"


def _numbers(table: Table, names: Sequence[str], start: int, stop: int) -> NDArray[Any]:
    if not names:
        return np.empty((stop - start, 0))
    for name in names:
        if _holds_text(table, name):
            raise DataError(f"Column '{name}' was numeric when the model was fitted and is text now.")
    return table.numbers(names, start, stop, np.float64)


def _all_levels(table: Table, names: Sequence[str], start: int, stop: int) -> Sequence[Coded]:
    plain = isinstance(table, ArrayTable) or all(_holds_text(table, name) is False for name in names)
    if not names or not plain:
        return tuple(_levels(table, name, start, stop) for name in names)
    x = table.raw(names, start, stop)
    codes, lo, hi, whole = kernels.read_codes(x)
    # Small whole numbers are their own codes; levels between them may not occur.
    small = whole & (lo >= 0) & (hi >= lo) & (hi < MOST_CODES)
    every = bool(small.all())
    known = Numbered(codes, (hi if every else np.where(small, hi, 0.0)).astype(np.int64) + 1)
    return known if every else tuple(known[j] if small[j] else code_numbers(x[:, j]) for j in range(len(names)))


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
