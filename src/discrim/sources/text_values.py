"""What strings are: numbers, dates, or neither."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Different numbers that a column of numbers has at least; fewer are codes of a category.
FEWEST_NUMBERS = 10
# The part of the rows that are numbers, at least; where all others only mark that a value is missing, half of them.
MOSTLY, AT_LEAST = 0.9, 0.5
# How programs and people write that a value is missing.
MARKS = {
    "", "?", "-", "--", ".", "*", "#n/a", "n/a", "na", "nan", "nil", "none", "null", "missing", "unknown", "unk",
    "not available", "not known", "undefined",
}  # fmt: skip
# Dates are looked for in so many values; two of them may be a category.
LOOK, FEWEST_DATES = 200, 3

MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
CLOCK = r"([t ,]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([ap]m)?\s*(z|utc|[+-]\d{2}:?\d{2})?)?"
DATE = re.compile(
    rf"((?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})"
    rf"|(?P<a>\d{{1,2}})[-/.](?P<b>\d{{1,2}})[-/.](\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[- ]{MONTH}[- ,]+(\d{{4}}|\d{{2}})"
    rf"|{MONTH}\s+\d{{1,2}},?\s+\d{{4}}){CLOCK}",
    re.IGNORECASE,
)


def as_number(value: Any) -> float | None:
    """The number that is written in a string; None where there is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


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
