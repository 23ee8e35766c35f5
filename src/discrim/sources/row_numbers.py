"""Whole numbers that count or identify the rows instead of measuring something.

- *Row numbers.* Whole numbers that go up or down by one from row to row, in 20 rows or more, or in any number of rows
  if the column has no name, is called ``Unnamed: 0`` as pandas writes its index, or ``index`` or ``row``. They say
  where a row stands in the file, nothing about it. With gaps, as after rows were dropped: whole numbers that only rise
  or only fall in 100 rows or more, of which at least every second is there. A measurement that a table happens to be
  sorted by repeats itself or has larger gaps.
- *Identifiers.* Whole numbers in any order, nearly all different, in a column without a name, or one that is named as
  identifiers are (``id``, ``PassengerId``, ``customer_id``, ``uuid``). Without such a name different whole numbers may
  be a measurement and are kept.

Only columns of an integer type are looked at: converted to floating-point numbers they are kept.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.sources.table import Table

# Rows that are looked at, and fewer than tell anything of a column whose name says nothing.
LOOK, FEWEST = 1 << 16, 20
# Rows after which numbers that only rise are no chance, and a glance that is enough to rule most columns out.
FEWEST_RISING, GLANCE = 100, 64
NEARLY_ALL = 0.95

UNNAMED = re.compile(r"\s*|unnamed: \d+.*|__index_level_\d+__|level_0", re.IGNORECASE)
COUNTER = re.compile(r"index|idx|column_?[01]|\.\.\.1|rows?([ ._-]?(id|names?|no|nr|num|number|index))?", re.IGNORECASE)
ID_WORDS = {"id", "ids", "uuid", "guid", "identifier", "rowid", "pk"}
# Only after another word: an account number, but not a number.
LAST_WORDS = {"no", "nr", "nbr", "num", "number", "key", "code", "ref"}
JOINED_ID = re.compile(
    r"(user|customer|client|patient|subject|person|sample|record|case|order|account|student|employee|member|item|"
    r"product|object|session|device|transaction)(id|no|nr)"
)


def why_no_feature(table: Table, name: str) -> str:
    """What shows that whole numbers count or identify the rows; empty where nothing does."""
    n = min(table.n_rows, LOOK)
    unnamed, identifier = UNNAMED.fullmatch(name) is not None, is_identifier(name)
    counter = unnamed or COUNTER.fullmatch(name) is not None
    if n < 2 or not _is_integer(table.labels(name, 0, 1)):
        return ""
    if not (unnamed or identifier) and not _only_rises(_values(table, name, min(n, GLANCE))):
        return ""
    values = _values(table, name, n)
    if np.isnan(values).any():
        return ""
    if (counter or n >= FEWEST) and _by_one(values):
        return f"counts the rows ({values[0]:.0f} to {values[-1]:.0f} in {n:,} rows)"
    different = len(np.unique(values))
    if (unnamed or (identifier and n >= FEWEST)) and different >= NEARLY_ALL * n:
        return f"identifies the rows ({different:,} different whole numbers in {n:,} rows)"
    if n >= FEWEST_RISING and _only_rises(values) and abs(values[-1] - values[0]) < 2 * n:
        return f"numbers the rows with gaps ({values[0]:.0f} to {values[-1]:.0f} in {n:,} rows)"
    return ""


def is_index_name(name: str) -> bool:
    """Is there no name, or one that a program gave to a column without a name?"""
    return UNNAMED.fullmatch(name) is not None or name == "column0"


def numbers_the_rows(table: Table, name: str) -> bool:
    """Do these whole numbers count or identify the rows of the table?"""
    return why_no_feature(table, name) != ""


def is_identifier(name: str) -> bool:
    """Is the column named as identifiers are: ``id``, ``PassengerId``, ``customerID``, ``id_of_order``?"""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    if not words:
        return False
    if len(words) > 1 and words[-1] in LAST_WORDS:
        return True
    return words[-1] in ID_WORDS or words[0] in ID_WORDS or JOINED_ID.fullmatch(words[-1]) is not None


def _is_integer(column: Any) -> bool:
    """Has a column of any package an integer type?"""
    return str(getattr(column, "type", None) or column.dtype).lower().startswith(("int", "uint"))


def _values(table: Table, name: str, n: int) -> NDArray[np.float64]:
    return np.asarray(table.numbers([name], 0, n, np.float64))[:, 0]


def _by_one(values: NDArray[np.float64]) -> bool:
    steps = np.diff(values)
    return bool(abs(steps[0]) == 1 and (steps == steps[0]).all())


def _only_rises(values: NDArray[np.float64]) -> bool:
    """Or only falls."""
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all())
