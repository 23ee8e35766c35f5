"""The design: which columns the rows have, and how categories become numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ManyLevelsWarning, name_list, plural, warn
from discrim.sources.table import INSTEAD_OF_DATES, Table, float_type, unusable_column
from discrim.sources.text_values import are_dates, as_number

# Up to so many levels a category is small whatever the rows; from so many on most rows must not have one of their own.
FEW_LEVELS, MANY_LEVELS = 20, 50


@dataclass(frozen=True, slots=True)
class Column:
    """A numeric column, or a categorical one with its sorted ``levels``."""

    name: str
    levels: tuple[Any, ...] | None = None

    @property
    def names_out(self) -> list[str]:
        """One name per indicator ``name[level]``; the first level is the reference and has none."""
        return [self.name] if self.levels is None else [f"{self.name}[{level}]" for level in self.levels[1:]]

    @property
    def n_out(self) -> int:
        return 1 if self.levels is None else max(len(self.levels) - 1, 0)


@lru_cache(maxsize=4)
def _numbered_columns(n: int) -> tuple[Column, ...]:
    """x0, x1, ...; kept here and not in a design, which reading its names would change."""
    return tuple(Column(f"x{j}") for j in range(n))


class Design:
    """The columns that a model was fitted on, in order, and how a table is turned into numbers.

    A numeric column stays one column. A categorical column with levels ``l0 < l1 < ...`` is
    treatment coded: an indicator of ``l1``, one of ``l2``, ..., all zero for ``l0``. A missing
    category is NaN in all its indicators, so that it surfaces as a missing number does.
    """

    def __init__(self, columns: Sequence[Column], dtype: Any = np.float64, *, named: bool = True) -> None:
        self._columns: tuple[Column, ...] | None = tuple(columns)
        self.dtype = np.dtype(dtype)
        self.n_in = len(self._columns)
        self.n_out = sum(column.n_out for column in self._columns)
        self.named = named

    @classmethod
    def unnamed(cls, n: int, dtype: Any) -> Design:
        """The design of an array: numeric columns x0, x1, ..., named only when somebody asks."""
        return ArrayDesign(n, n, np.dtype(dtype))

    @property
    def columns(self) -> tuple[Column, ...]:
        return _numbered_columns(self.n_in) if self._columns is None else self._columns

    @property
    def names_in(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def names_out(self) -> list[str]:
        return [name for column in self.columns for name in column.names_out]

    @property
    def categorical(self) -> list[str]:
        """Names of the categorical columns."""
        return [] if self._columns is None else [c.name for c in self._columns if c.levels is not None]

    @property
    def numeric(self) -> list[str]:
        """Names of the numeric columns."""
        return [column.name for column in self.columns if column.levels is None]

    def encode(
        self, table: Table, start: int = 0, stop: int | None = None, dtype: type[Any] | None = None
    ) -> NDArray[Any]:
        """Rows start to stop of the table, as numbers in column-major order.

        The default ``dtype`` is float32 if every numeric column of the table is, else float64.
        """
        stop = table.n_rows if stop is None else stop
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
        if n_columns != self.n_in:
            raise ValueError(
                f"X has {plural(n_columns, 'feature')}, but the model is expecting "
                f"{plural(self.n_in, 'feature')} as input."
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Raise where a column of this design is not among ``names``."""
        present = set(names)
        lacking = [name for name in self.names_in if name not in present]
        if lacking:
            raise DataError(f"X lacks {name_list(lacking)}, which the model was fitted on. It has {name_list(names)}.")

    def renamed(self, names: Sequence[str]) -> Design:
        """The same design under other names, for a table whose columns are matched by position."""
        self.check_width(len(names))
        return Design([Column(name) for name in names], self.dtype, named=self.named)

    def to_dict(self) -> dict[str, Any]:
        """A plain description that JSON can hold."""
        columns = [{"name": c.name, "levels": None if c.levels is None else list(c.levels)} for c in self.columns]
        return {"columns": columns, "dtype": self.dtype.name, "named": self.named}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Design:
        columns = [
            Column(c["name"], None if c["levels"] is None else tuple(c["levels"])) for c in description["columns"]
        ]
        return cls(columns, description["dtype"], named=description["named"])

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


@dataclass(eq=False, repr=False)
class ArrayDesign(Design):
    """The design of an array: numeric columns x0, x1, ..., which have names only when somebody asks."""

    n_in: int
    n_out: int
    dtype: np.dtype[Any]
    named: bool = False
    _columns: tuple[Column, ...] | None = None


def sort_levels(name: str, found: Iterable[Any], missing: int, n_rows: int, *, gaps: bool = False) -> tuple[Any, ...]:
    """The levels of a categorical column in order, as plain Python values.

    ``missing`` counts its missing values: with a single level there is no indicator that could
    carry them, so they are refused here. Where ``gaps`` are filled in later, the level gets an indicator instead,
    against the reference None, which no row has. Values that would become a column for nearly every row are refused.
    """
    levels = [level.item() if isinstance(level, np.generic) else level for level in found]
    if not levels:
        raise DataError.empty_column(name)
    check_levels(name, levels, n_rows - missing)
    if len(levels) == 1 and missing and not gaps:
        raise DataError.non_finite({name: missing}, {})
    for level in levels:
        if not isinstance(level, str | int | float):
            raise unusable_column(name, f"category of {type(level).__name__}")
    if len(levels) == 1 and missing:
        return (None, *levels)
    try:
        return tuple(sorted(levels))
    except TypeError:
        types = sorted({type(level).__name__ for level in levels})
        raise DataError(
            f"Column '{name}' mixes the types {name_list(types)}. Convert its values to one type."
        ) from None


def check_levels(name: str, levels: Sequence[Any], present: int) -> None:
    """Refuse dates, and more than 50 levels of which most have a single row; warn of more than 20."""
    if len(levels) > FEW_LEVELS and are_dates(levels):
        raise DataError(
            f"Column '{name}' holds dates as text, {len(levels):,} of them in {present:,} rows. {INSTEAD_OF_DATES}"
        )
    if len(levels) <= FEW_LEVELS or 2 * len(levels) <= present:
        return
    seen = f"Column '{name}' holds text with {len(levels):,} different values in {present:,} rows"
    if len(levels) <= MANY_LEVELS:
        warn(f"{seen}; each of them becomes a column. Leave it out if it only names the rows.", ManyLevelsWarning)
        return
    numbers = sum(as_number(level) is not None for level in levels)
    if 2 * numbers > len(levels):
        what = f"{numbers:,} of them are numbers: convert it to numbers, with the others as missing values"
    else:
        what = "Leave it out, replace it by categories with many rows each, or learn from its words by TextClassifier"
    raise DataError(f"{seen}, and each of them would become a column. {what}.")


def _write_indicators(column: Column, table: Table, start: int, stop: int, out: NDArray[Any]) -> None:
    values, codes = table.texts(column.name, start, stop)
    place = {level: k for k, level in enumerate(column.levels or ())}
    # The last entry is looked up by code -1: a missing value.
    level_of = np.array([*(place.get(value, -2) for value in values), -1])
    codes = level_of[np.maximum(codes, -1)]
    if bool(np.any(codes == -2)):
        occurring = np.unique(np.asarray(table.texts(column.name, start, stop)[1])[codes == -2])
        raise _unseen_levels(column, sorted((values[k] for k in occurring.tolist()), key=str))
    for k in range(out.shape[1]):
        out[:, k] = codes == k + 1
    missing = codes == -1
    if bool(missing.any()):
        out[missing] = np.nan


def _unseen_levels(column: Column, strangers: Sequence[Any]) -> DataError:
    return DataError(
        f"Column '{column.name}' holds {plural(len(strangers), 'level')} that the model has not seen: "
        f"{name_list(strangers)}. It knows {name_list(level for level in column.levels or () if level is not None)}. "
        "Replace them by known levels, or fit again with rows that have them."
    )
