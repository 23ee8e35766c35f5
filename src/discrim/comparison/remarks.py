"""What was done to the rows of a comparison, as sentences."""

from __future__ import annotations

from collections.abc import Iterable

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.prepared import PreparedClassifier
from discrim.comparison.trials import Tried
from discrim.errors import name_list, plural

MOST_COLUMNS = 5
# Models that leave a missing value out of their sums instead of having it filled in.
TAKES_GAPS = ("Mixed NB",)


def remarks_of(rows: ComparedRows, trials: Iterable[Tried]) -> list[str]:
    """Columns that were left out, values that were filled in, models in standardised columns, and folds."""
    done = [tried for tried in trials if tried.result is not None]
    return [*rows.left_out.values(), *_filled(rows, done), *_standardised(done), *rows.remarks]


def _filled(rows: ComparedRows, done: list[Tried]) -> list[str]:
    if not rows.missing:
        return []
    counts = [f"'{name}' ({count:,} of {rows.n:,})" for name, count in rows.missing.items()]
    further = len(counts) - MOST_COLUMNS
    more = f" and {plural(further, 'further column')}" if further > 0 else ""
    text = (
        f"Missing values in {', '.join(counts[:MOST_COLUMNS])}{more} were filled in inside the folds, by the mean of "
        "the column or its most frequent level"
    )
    if rows.columns.flags:
        text += f"; further columns mark them ({name_list(rows.columns.flag_names, most=MOST_COLUMNS)})"
    plain = [tried.name for tried in done if tried.name in TAKES_GAPS]
    return [f"{text}.", *(f"{name} takes them as they are." for name in plain)]


def _standardised(done: list[Tried]) -> list[str]:
    names = [t.name for t in done if isinstance(t.model, PreparedClassifier) and t.model.standardise]
    if not names:
        return []
    one = len(names) == 1
    who = names[0] if one else f"{', '.join(names[:-1])} and {names[-1]}"
    return [f"{who} {'works' if one else 'work'} in standardised columns, so that units do not matter."]
