"""``discrim fit --statistic-only``: what a site hands on in the place of its rows, and what it says of single rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.comparison.prepared import without_odd_columns
from discrim.errors import DataError, MissingValuesError, ParameterError, plural
from discrim.sources import Scan, code_labels
from discrim.sources.odd_columns import with_numbers
from discrim.text import Documents

# A cell of fewer rows may say something of one of them.
FEWEST = 5
# Cells that are named.
MOST_CELLS = 5


@dataclass(frozen=True)
class Cell:
    """Rows of one class, or those of them with one level of a column."""

    label: Any
    rows: int
    column: str | None = None
    level: Any = None

    def __str__(self) -> str:
        where = "" if self.column is None else f" with '{self.level}' in '{self.column}'"
        return f"class '{self.label}'{where} ({plural(self.rows, 'row')})"


def summed(model: Any, rows: Scan | Documents, *, note: Callable[[str], None], keep: Any = ()) -> tuple[Any, Scan]:
    """The model with the statistic of the rows, solved or not, and the rows that it learned from.

    No column is filled in or made by what these rows show, which would be other columns at another site.
    """
    name = type(model).__name__
    if isinstance(rows, Documents):
        raise ParameterError("--statistic-only is for tables; the words of other documents would be other columns.")
    if not (hasattr(model, "partial_fit") and hasattr(type(model), "from_statistic")):
        raise ParameterError(
            f"{name} does not follow from a statistic of its rows, so --statistic-only is not enough for it. "
            "LDA, QDA, naive Bayes and ridge do."
        )
    table, converted = with_numbers(rows)
    table, left_out = without_odd_columns(table, keep)
    for sentence in (*converted.values(), *(out.sentence for out in left_out.values())):
        note(sentence)
    try:
        return model.partial_fit(table), table
    except MissingValuesError as error:
        gaps = ", ".join(f"'{column}' ({plural(count, 'row')})" for column, count in list(error.missing.items())[:5])
        raise DataError(
            f"There are missing values in {gaps}. With --statistic-only they are not filled in, since every site would "
            "fill in others: do it beforehand, leave the columns out by --without, or fit 'Mixed NB', which takes them."
        ) from None


def small_cells(rows: Scan) -> list[Cell]:
    """Classes, and levels of categories within them, that are met in some rows but in fewer than ``FEWEST``."""
    classes: Counter[Any] = Counter()
    levels: dict[str, Counter[Any]] = {name: Counter() for name in rows.texts}
    for table in rows.tables():
        found, codes = code_labels(table.labels(str(rows.target), 0, table.n_rows), column=rows.target)
        classes.update(dict(zip(found.tolist(), np.bincount(codes, minlength=len(found)).tolist(), strict=True)))
        for name, counts in levels.items():
            values, places = table.texts(name, 0, table.n_rows)
            there = places >= 0
            pairs, times = np.unique(np.stack([codes[there], places[there]]), axis=1, return_counts=True)
            for (k, j), count in zip(pairs.T.tolist(), times.tolist(), strict=True):
                counts[found[k], values[j]] += count
    cells = [Cell(label, n) for label, n in classes.items() if n < FEWEST]
    for name, counts in levels.items():
        cells += [Cell(label, n, name, level) for (label, level), n in counts.items() if n < FEWEST]
    return cells


def warnings_of(cells: list[Cell], rows: int, columns: int) -> list[str]:
    """What is to be looked at before the statistic leaves its place, in sentences."""
    found = []
    if cells:
        more = f" and {len(cells) - MOST_CELLS} more" if len(cells) > MOST_CELLS else ""
        found.append(
            f"small cells, of fewer than {FEWEST} rows, may say something of one row: "
            f"{', '.join(map(str, cells[:MOST_CELLS]))}{more}. Merge rare levels and classes, or leave columns out, "
            "before the file leaves this place."
        )
    if rows <= columns:
        found.append(
            f"the statistic of {plural(rows, 'row')} in {plural(columns, 'column')} says nearly as much as the rows."
        )
    return found
