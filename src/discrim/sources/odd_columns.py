"""Columns that are no features, by what the first rows show, and what is said of them.

- Numbers of rows and identifiers: see ``row_numbers``.
- *Strings* of which more than half the rows have one of their own, in 20 rows or more: names, codes or sentences.
- *Dates*: columns of that type, and strings that are dates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discrim.errors import DataError, plural
from discrim.sources.frames import as_table, replace_columns
from discrim.sources.parsed import counted_texts
from discrim.sources.row_numbers import FEWEST, LOOK, why_no_feature
from discrim.sources.scan import Scan
from discrim.sources.table import Table, UnusableColumnError
from discrim.sources.text_values import are_dates, as_number, is_mostly_numbers

# Words that the values of a text have on average; a name or a code has fewer.
TEXT_WORDS = 3.0


@dataclass(frozen=True)
class Odd:
    """A column that is no feature, with a sentence that says why; ``is_text`` if it could be learned from by words."""

    name: str
    sentence: str
    is_text: bool = False


def odd_columns(X: Any) -> list[Odd]:
    """The columns of a frame, a table or a scan that are no features; none of an array, which has no names.

    Columns that a scan was asked for by name are all features.
    """
    if isinstance(X, Scan):
        if X.chosen or not X.rereadable:
            return []
        table, names, keep = X.first_table(FEWEST), X.features, "name it among the features"
    else:
        table, keep = as_table(X), "convert it to floating-point numbers"
        names = [] if table is None else table.names
    if table is None or not table.n_rows:
        return []
    found = [_odd(table, name, keep) for name in names]
    return [odd for odd in found if odd is not None]


def _odd(table: Table, name: str, keep: str) -> Odd | None:
    try:
        kind = table.kind(name)
    except UnusableColumnError as error:
        return _unusable(name, error)
    except DataError:
        # No value at all.
        return None
    if kind == "text":
        return _odd_text(table, name)
    why = why_no_feature(table, name) if kind == "number" else ""
    if not why:
        return None
    return Odd(name, f"Column '{name}' {why} and is left out. To keep it, {keep}.")


def _unusable(name: str, error: UnusableColumnError) -> Odd:
    if error.is_date:
        return Odd(name, _of_dates(name))
    if error.mixed:
        return Odd(
            name, f"Column '{name}' mixes the types {error.found} and is left out. To use it, convert it to one."
        )
    return Odd(name, f"Column '{name}' holds neither numbers nor categories ({error.found}) and is left out.")


def _of_dates(name: str) -> str:
    return (
        f"Column '{name}' holds dates or times and is left out. To use it, convert it to numbers, such as days since "
        "the first, or to categories, such as months."
    )


def _odd_text(table: Table, name: str) -> Odd | None:
    met = counted_texts(table, name, min(table.n_rows, LOOK))
    assert met is not None
    values, present = met[0], int(met[1].sum())
    if are_dates(values):
        return Odd(name, _of_dates(name))
    if present < FEWEST or 2 * len(values) <= present or is_mostly_numbers(*met):
        return None
    is_text = sum(len(str(value).split()) for value in values) >= TEXT_WORDS * len(values)
    seen = f"has {len(values):,} different values in {present:,} rows"
    keep = "TextClassifier learns from its words" if is_text else "to use it, make categories with many rows each"
    return Odd(name, f"Column '{name}' {seen} and is left out; {keep}.", is_text)


def with_numbers(X: Any) -> tuple[Any, dict[str, str]]:
    """The same rows with columns of strings that are nearly all numbers as numbers, and a sentence for each of them.

    For frames and tables in memory, of the same type, and for scans; arrays are as they are.
    """
    if isinstance(X, Scan):
        table = X.first_table(FEWEST) if X.rereadable else None
        found = {} if table is None else _numbers_in(table, X.features)
        return (X.with_numbers(list(found)) if found else X), found
    table = as_table(X)
    found = {} if table is None else _numbers_in(table, table.names)
    return (replace_columns(X, table, list(found)) if found and table is not None else X), found


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
