"""Columns that are no features, by what the first rows show, and what is said of them.

- *Row numbers.* Whole numbers that go up or down by one from row to row, in 20 rows or more, or in any number of rows
  if the column has no name, is called ``Unnamed: 0`` as pandas writes its index, or ``index`` or ``row``. They say
  where a row stands in the file, nothing about it. With gaps, as after rows were dropped: whole numbers that only rise
  or only fall in 100 rows or more, of which at least every second is present. A measurement that a table happens to be
  sorted by repeats itself or has larger gaps.
- *Identifiers.* Whole numbers in any order, nearly all different, in a column without a name, or one that is named as
  row numbers or identifiers are (``rownames``, ``id``, ``PassengerId``, ``customer_id``, ``uuid``). Without such a name
  different whole numbers may be a measurement and are kept. Columns of floating-point numbers are kept, but for whole
  ones with such a name that reach 2^53, of which different ones are read as one number.
- *Strings* of which more than half the rows have one of their own, in 20 rows or more: names, codes or sentences.
- *Dates*: columns of that type, and strings that are dates.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.errors import DataError, plural
from discrim.sources.design import Table, UnusableColumnError, as_table, one_column
from discrim.sources.reading import Reading
from discrim.sources.scan import UNNAMED, Scan
from discrim.sources.text_columns import are_dates, as_number, counted_texts, is_mostly_numbers, with_commas
from discrim.typing import Floats

# Words that the values of a text have on average; a name or a code has fewer.
TEXT_WORDS = 3.0
FREE_TEXT, NAMES, DATE, ROW_NUMBER, IDENTIFIER = "free text", "names or codes", "date", "row number", "identifier"
# Rows that are looked at, and the fewest that are evidence where the name of a column says nothing.
LOOK, FEWEST = 1 << 16, 20
# Rows after which numbers that only rise are no chance, and a glance that is enough to rule most columns out.
FEWEST_RISING, GLANCE = 100, 64
NEARLY_ALL = 0.95
# From here on whole numbers are not the floating-point numbers that they are read as.
LEAST_LONG = 2.0**53

COUNTER = re.compile(r"index|idx|column_?[01]|\.\.\.1|rows?([ ._-]?(id|names?|no|nr|num|number|index))?", re.IGNORECASE)
# What nothing but a number of the row is called, in whatever order the rows are.
ROW_NAME = re.compile(r"rows?[ ._-]?(id|names?|no|nr|num|number|index)", re.IGNORECASE)
ID_WORDS = {"id", "ids", "uuid", "guid", "identifier", "rowid", "pk"}
# Only after another word: an account number, but not a number.
LAST_WORDS = {"no", "nr", "nbr", "num", "number", "key", "code", "ref"}
JOINED_ID = re.compile(
    r"(user|customer|client|patient|subject|person|sample|record|case|order|account|student|employee|member|item|"
    r"product|object|session|device|transaction)(id|no|nr)"
)


@dataclass(frozen=True)
class Odd:
    """A column that is no feature: what it is ``taken_for``, and a sentence that says why."""

    name: str
    taken_for: str
    sentence: str

    @property
    def is_text(self) -> bool:
        """Could it be learned from by its words?"""
        return self.taken_for == FREE_TEXT


def odd_columns(X: Any) -> list[Odd]:
    """The columns of a frame, a table or a scan that are no features; none of an array, which has no names.

    Columns that a scan was asked for by name are all features.
    """
    scanned = isinstance(X, Scan)
    if scanned and X.chosen:
        return []
    table, names = _first_rows(X)
    if table is None or not table.n_rows:
        return []
    found = [_odd(table, name) for name in names]
    return [odd for odd in found if odd is not None]


def _odd(table: Table, name: str) -> Odd | None:
    try:
        kind = table.kind(name)
    except UnusableColumnError as error:
        if error.is_date:
            return Odd(name, DATE, _of_dates(name))
        if error.mixed:
            why = f"mixes the types {error.found} and is left out. To use it, convert it to one"
        else:
            why = f"holds neither numbers nor categories ({error.found}) and is left out"
        return Odd(name, "mixed types" if error.mixed else str(error.found), f"Column '{name}' {why}.")
    except DataError:
        # No value at all.
        return None
    if kind == "text":
        return _odd_text(table, name)
    why = why_no_feature(table, name) if kind == "number" else ""
    if not why:
        return None
    what = IDENTIFIER if why.startswith("identifies") else ROW_NUMBER
    return Odd(name, what, f"Column '{name}' {why} and is left out. {_kept(name)} keeps it.")


def _kept(name: str, kind: str = "number") -> str:
    return f"types={{{name!r}: {kind!r}}} (--types {shlex.quote(f'{name}={kind}')})"


def _of_dates(name: str) -> str:
    return (
        f"Column '{name}' holds dates or times and is left out. {_kept(name)} reads days since 1970; months or days "
        "of the week are categories to be made of it."
    )


def _odd_text(table: Table, name: str) -> Odd | None:
    met = counted_texts(table, name, min(table.n_rows, LOOK))
    assert met is not None
    values, present = met[0], int(met[1].sum())
    if are_dates(values):
        return Odd(name, DATE, _of_dates(name))
    if present < FEWEST or 2 * len(values) <= present or is_mostly_numbers(*met):
        return None
    is_text = sum(len(str(value).split()) for value in values) >= TEXT_WORDS * len(values)
    seen = f"has {len(values):,} different values in {present:,} rows"
    keep = "TextClassifier learns from its words" if is_text else f"{_kept(name, 'category')} keeps frequent values"
    return Odd(
        name, FREE_TEXT if is_text else NAMES, f"Column '{name}' {seen} and is left out; {keep}.{with_commas(values)}"
    )


def with_numbers(X: Any, typed: Collection[str] = ()) -> tuple[Any, dict[str, str]]:
    """The same rows with columns of strings that are nearly all numbers as numbers, and a sentence for each of them.

    For frames and tables in memory, of the same type, and for scans; arrays are as they are, and so are the columns
    whose type the user gave, ``typed``.
    """
    table, names = _first_rows(X)
    names = [name for name in names if name not in typed]
    found = {} if table is None else _numbers_in(table, names)
    if table is None or not found:
        return X, found
    return (X.with_numbers(list(found)) if isinstance(X, Scan) else Reading(frozenset(found)).apply(X)), found


def _first_rows(X: Any) -> tuple[Table | None, list[str]]:
    """The first rows of a scan, or all of a table, and the names of its columns; None where there are no such rows."""
    if isinstance(X, Scan):
        return X.first_table(FEWEST) if X.rereadable else None, X.features
    table = as_table(X)
    return table, [] if table is None else table.names


def _numbers_in(table: Table, names: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in names:
        met = counted_texts(table, name, min(table.n_rows, LOOK))
        if met is not None and int(met[1].sum()) >= FEWEST and is_mostly_numbers(*met):
            strange = {str(v): int(t) for v, t in zip(*met, strict=True) if as_number(v) is None}
            found[name] = _of_numbers(name, strange)
    return found


def _of_numbers(name: str, strange: dict[str, int]) -> str:
    if not strange:
        return f"Column '{name}' holds numbers as text and is read as numbers."
    shown = ", ".join(f"'{value}' ({plural(count, 'row')})" for value, count in list(strange.items())[:3])
    more = f" and {len(strange) - 3} further values" if len(strange) > 3 else ""
    return f"Column '{name}' holds numbers besides {shown}{more} and is read as numbers; the others count as missing."


def why_no_feature(table: Table, name: str) -> str:
    """What shows that whole numbers count or identify the rows; empty where nothing does."""
    n = min(table.n_rows, LOOK)
    unnamed = UNNAMED.fullmatch(name) is not None
    counter = unnamed or COUNTER.fullmatch(name) is not None
    identifier = unnamed or ROW_NAME.fullmatch(name) is not None or _is_identifier(name)
    whole = n >= 2 and _is_integer(table.labels(name, 0, 1))
    long = _of_many_digits(one_column(table, name, 0, n)) if identifier and n >= FEWEST else ""
    if long or not whole:
        return long
    if not identifier and not _only_rises(one_column(table, name, 0, min(n, GLANCE))):
        return ""
    values = one_column(table, name, 0, n)
    if np.isnan(values).any():
        return ""
    if (counter or n >= FEWEST) and abs(values[1] - values[0]) == 1 and np.ptp(np.diff(values)) == 0:
        return f"counts the rows ({values[0]:.0f} to {values[-1]:.0f} in {n:,} rows)"
    different = len(np.unique(values))
    if (unnamed or (identifier and n >= FEWEST)) and different >= NEARLY_ALL * n:
        return f"identifies the rows ({different:,} different whole numbers in {n:,} rows)"
    if n >= FEWEST_RISING and _only_rises(values) and abs(values[-1] - values[0]) < 2 * n:
        return f"numbers the rows with gaps ({values[0]:.0f} to {values[-1]:.0f} in {n:,} rows)"
    return ""


def _of_many_digits(values: Floats) -> str:
    """Many of these are the same floating-point number, so that different ones cannot be counted."""
    most = np.abs(values).max()
    if not (LEAST_LONG <= most < np.inf) or (values != np.floor(values)).any():
        return ""
    return f"identifies the rows (whole numbers of {len(str(int(most)))} digits, more than numbers are read with)"


def _is_identifier(name: str) -> bool:
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


def _only_rises(values: Floats) -> bool:
    """Or only falls."""
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all())
