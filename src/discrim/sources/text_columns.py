"""Columns of strings: the levels of categories, numbers, or dates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ManyLevelsWarning, warn
from discrim.sources.design import (
    INSTEAD_OF_DATES,
    Column,
    Design,
    Table,
    UnusableColumnError,
    float_type,
    mixed_types,
    unusable_column,
)

Counted = tuple[list[Any], NDArray[np.intp]]

# Up to so many levels a category is small whatever the rows; from so many on most rows must not have one of their own.
FEW_LEVELS, MANY_LEVELS = 20, 50
# Levels of several rows each: from so many on they are worth a warning, and more are refused.
WORTH_SAYING, MOST_LEVELS = 200, 1000
# Different numbers that a column of numbers has at least; fewer are codes of a category.
FEWEST_NUMBERS = 10
# The part of the rows that are numbers, at least; where all others only mark that a value is missing, half of them.
MOSTLY, AT_LEAST = 0.9, 0.5
# How programs and people write that a value is missing.
MARKS = {
    "", "?", "-", "--", ".", "*", "#n/a", "n/a", "na", "nan", "nil", "none", "null", "missing", "unknown", "unk",
    "not available", "not known", "undefined",
}  # fmt: skip
# Those that are nothing else in a category either, where 'unknown', 'none' and '-' may be levels like others.
CLEAR_MARKS = {"", "?", "#n/a", "n/a", "nan", "null", "not available"}
# How they are written, for those who cannot ignore case and blanks.
WRITTEN_MARKS = sorted(
    {"", " ", "NaN", "N/a", *(each for mark in CLEAR_MARKS for each in (mark, mark.upper(), mark.title()))}
)
# Dates are looked for in so many values; two of them may be a category.
LOOK, FEWEST_DATES = 200, 3
# Values that show whether a column of strings has numbers.
FIRST = 1000

MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
CLOCK = r"([t ,]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([ap]m)?\s*(z|utc|[+-]\d{2}:?\d{2})?)?"
DATE = re.compile(
    rf"((?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})"
    rf"|(?P<a>\d{{1,2}})[-/.](?P<b>\d{{1,2}})[-/.](\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[- ]{MONTH}[- ,]+(\d{{4}}|\d{{2}})"
    rf"|{MONTH}\s+\d{{1,2}},?\s+\d{{4}}){CLOCK}",
    re.IGNORECASE,
)
# Numbers with a comma, and the share of the values of a column of such.
WITH_COMMA, COMMAS = re.compile(r"\s*[-+]?\d+(,\d+)+\s*"), 0.8


def design_of(tables: Iterable[Table], names: Sequence[str], texts: Sequence[str], dtype: Any, *, gaps: bool) -> Design:
    """The columns ``names``, with the levels that those of ``texts`` have in the tables; ``gaps`` as below."""
    found: dict[str, set[Any]] = {name: set() for name in texts}
    missing, n_rows = dict.fromkeys(texts, 0), 0
    for table in tables if texts else ():
        n_rows += table.n_rows
        for name in texts:
            missing[name] += _add_levels(table, name, found[name])
    empty = [name for name in texts if not found[name]]
    if empty:
        raise DataError.empty_column(*empty)
    levels = {name: _sort_levels(name, found[name], missing[name], n_rows, gaps=gaps) for name in texts}
    return Design([Column(name, levels.get(name)) for name in names], dtype)


def design_of_table(table: Table, *, gaps: bool = False) -> Design:
    """The design of a table in memory."""
    texts = [name for name in table.names if table.kind(name) == "text"]
    return design_of([table], table.names, texts, float_type(table, table.names), gaps=gaps)


def _add_levels(table: Table, name: str, found: set[Any]) -> int:
    """Add the values that occur in a text column to ``found``; the answer is how many are missing."""
    missing = 0
    for start in range(0, table.n_rows, 1 << 20):
        values, codes = table.texts(name, start, min(start + (1 << 20), table.n_rows))
        occurring = np.bincount(codes[codes >= 0], minlength=len(values))
        found.update(values[k] for k in np.flatnonzero(occurring).tolist())
        missing += int((codes < 0).sum())
    return missing


def _sort_levels(name: str, found: Iterable[Any], missing: int, n_rows: int, *, gaps: bool) -> tuple[Any, ...]:
    """The levels of a categorical column in order, as plain Python values.

    ``missing`` counts its missing values: with a single level there is no indicator that could
    carry them, so they are refused here. Where ``gaps`` are filled in later, the level gets an indicator instead,
    against the reference None, which no row has. Values that would become a column for nearly every row are refused.
    """
    levels = [level.item() if isinstance(level, np.generic) else level for level in found]
    _check_levels(name, levels, n_rows - missing)
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
        raise mixed_types(name, levels) from None


def _check_levels(name: str, levels: Sequence[Any], present: int) -> None:
    """Refuse dates, more than 50 levels of which most have a single row, and more than 1,000; warn of many."""
    if len(levels) > FEW_LEVELS and are_dates(levels):
        raise DataError(
            f"Column '{name}' holds dates as text, {len(levels):,} of them in {present:,} rows. {INSTEAD_OF_DATES}"
        )
    seen = f"Column '{name}' holds text with {len(levels):,} different values in {present:,} rows"
    if len(levels) <= FEW_LEVELS or 2 * len(levels) <= present:
        if len(levels) > MOST_LEVELS:
            raise DataError(
                f"{seen}, and each of them would become a column (at most {MOST_LEVELS:,}). Leave it out, put rare "
                "values together first, as compare does, or use MixedNB, which makes no columns of them."
            )
        if len(levels) > WORTH_SAYING:
            warn(
                f"{seen}; each of them becomes a column. Put rare values together first, as compare does, or leave it "
                "out.",
                ManyLevelsWarning,
            )
        return
    if len(levels) <= MANY_LEVELS:
        warn(f"{seen}; each of them becomes a column. Leave it out if it only names the rows.", ManyLevelsWarning)
        return
    numbers = sum(as_number(level) is not None for level in levels)
    if 2 * numbers > len(levels):
        what = f"{numbers:,} of them are numbers: convert it to numbers, with the others as missing values"
    else:
        what = "Leave it out, replace it by categories with many rows each, or learn from its words by TextClassifier"
    raise DataError(f"{seen}, and each of them would become a column. {what}.")


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


def as_number(value: Any) -> float | None:
    """The number that is written in a string; None where there is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def with_commas(values: Sequence[Any]) -> str:
    """How to read numbers that were written with commas and are strings now; empty where nearly all are no such."""
    found = [value for value in values if isinstance(value, str) and WITH_COMMA.fullmatch(value)]
    if not found or len(found) < COMMAS * len(values):
        return ""
    return (
        f" They look like numbers with commas, such as '{found[0]}': read the file with decimal=',' or thousands=','."
    )


def is_mostly_numbers(values: Sequence[Any], times: NDArray[np.intp]) -> bool:
    """Do these values, each of them met so many times, look like numbers with something else among them?

    Strings that are all numbers are codes of a category, unless most rows have one of their own.
    """
    numeric = _are_numbers(values)
    count, rows = int(numeric.sum()), int(times.sum())
    if count < FEWEST_NUMBERS:
        return False
    if count == len(values):
        return 2 * count > rows
    share = float(times[numeric].sum()) / rows
    return share >= (AT_LEAST if _are_marks(values, numeric) else MOSTLY)


def is_mark(value: Any) -> bool:
    """Does a level of a category say nothing but that the value is missing?"""
    return isinstance(value, str) and value.strip().lower() in CLEAR_MARKS


def alike(values: Iterable[Any]) -> list[list[Any]]:
    """Those that differ in spaces or capitals alone, together."""
    found: dict[str, list[Any]] = {}
    for value in values:
        if isinstance(value, str):
            found.setdefault(" ".join(value.casefold().split()), []).append(value)
    return [same for same in found.values() if len(same) > 1]


def marks_of_gaps(values: Sequence[Any], times: NDArray[np.intp]) -> dict[Any, int]:
    """Levels of a category that say nothing but that the value is missing, and their rows; none if nothing else is."""
    found = {value: int(count) for value, count in zip(values, times, strict=True) if is_mark(value)}
    return found if len(found) < len(values) else {}


def are_mostly_numbers_or_marks(values: Sequence[Any], times: NDArray[np.intp]) -> bool:
    """Are half of these values numbers, or all others marks of missing values?"""
    numeric = _are_numbers(values)
    return 2 * int(times[numeric].sum()) > int(times.sum()) or _are_marks(values, numeric)


def _are_numbers(values: Sequence[Any]) -> NDArray[np.bool_]:
    return np.array([as_number(value) is not None for value in values], dtype=bool)


def _are_marks(values: Sequence[Any], numeric: NDArray[np.bool_]) -> bool:
    return all(
        is_number or str(value).strip().lower() in MARKS for value, is_number in zip(values, numeric, strict=True)
    )


def are_dates(values: Sequence[Any]) -> bool:
    """Are all of these strings dates, at least three of them?"""
    if len(values) < FEWEST_DATES:
        return False
    return all(isinstance(value, str) and _is_date(value) for value in values[:LOOK])


def _is_date(value: str) -> bool:
    found = DATE.fullmatch(value.strip())
    if found is None:
        return False
    if found["y"] is not None:
        return 1 <= int(found["m"]) <= 12 and 1 <= int(found["d"]) <= 31
    if found["a"] is not None:
        small, large = sorted((int(found["a"]), int(found["b"])))
        return 1 <= small <= 12 and large <= 31
    return True
