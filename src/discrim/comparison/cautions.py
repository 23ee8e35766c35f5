"""What to be careful about: columns that give the class away, rows that belong together, classes that are rare."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.folds import find_copies
from discrim.comparison.metrics import Metric, percent
from discrim.comparison.reference import each_column
from discrim.comparison.scores import Row, listed
from discrim.comparison.trials import Tried
from discrim.errors import name_list, plural
from discrim.sources.text_columns import alike, is_mark
from discrim.typing import Floats, Index

# A column alone has at most this error, and this share of that of guessing: nearly perfect.
NEARLY_NONE, OF_GUESSING = 0.02, 0.1
# The share of copies from which on it matters that they count as rows.
MANY_COPIES = 0.05
# Rows of a bin, and bins of a column at most.
ROWS_A_BIN, MOST_BINS = 8, 64
# Rows from which on an order, or a column of different whole numbers, is evidence of something.
ENOUGH_ROWS = 20
# Standard errors by which neighbours agree more often than by chance, to be worth a sentence.
FAR = 5.0
RARE, MOST_NAMED = 0.1, 3
SORTED = (
    "The rows are sorted by class, so that their order cannot show whether they come in batches or over time; if they "
    "do, give groups= or time=."
)
LEFT_OUT = (
    "Leaving out one row makes its class rarer among the others, so a model that hardly uses the columns does worse "
    "than guessing, and areas under the curve cannot be had; cv=10 has neither fault."
)
# Rows, and groups, below which intervals do not keep their level.
FEW_ROWS, FEW_GROUPS = 40, 20


def leaks(rows: ComparedRows, found: Mapping[str, float]) -> list[str]:
    """Sentences about the columns that were ``found`` to predict the class alone, and about telling neighbours."""
    return [*_of_columns(found), *_of_order(rows)]


def with_notes(rows: ComparedRows, found: Mapping[str, float]) -> dict[str, str]:
    """What is said of columns, and of those that were ``found`` to predict the class alone, or may be no features."""
    notes = [(name, "Another whole number in every row.") for name in _all_different(rows)]
    notes += [(name, f"Alone predicts the class with {percent(error)} errors.") for name, error in found.items()]
    why = dict(rows.why)
    for name, note in notes:
        why[name] = f"{why.get(name, '')} {note}".lstrip()
    return why


def poor_probabilities(table: list[Row], trials: Mapping[str, Tried]) -> list[str]:
    """What to say of models that err less than the baseline, with worse probabilities: too sure, or not sure enough."""
    baseline = next((row for row in table if row.role == "baseline"), None)
    if baseline is None:
        return []
    worse = [row for row in table if row.beats_baseline and row.log_loss > baseline.log_loss]
    sure = {row.name: float(trials[row.name].result.posterior.max(axis=1).mean()) for row in worse}
    flat = [row.name for row in worse if sure[row.name] < 1.0 - row.error]
    return [
        f"The probabilities of {listed(names, len(names))} are {what}: "
        f"{'its log loss is' if len(names) == 1 else 'their log losses are'} larger than that of the class frequencies "
        f"({baseline.log_loss:.3f}). Use the predicted classes, or calibrate the probabilities first."
        for what, names in (
            ("overconfident", [row.name for row in worse if row.name not in flat]),
            ("underconfident", flat),
        )
        if names
    ]


def odd_labels(rows: ComparedRows) -> list[str]:
    """Sentences about classes that may be one, and about those that look like a missing label."""
    if rows.classes.dtype.kind not in "OSU":
        return []
    labels, sizes = rows.classes.tolist(), np.bincount(rows.codes, minlength=len(rows.classes))
    named = {label: f"'{label}' ({plural(int(size), 'row')})" for label, size in zip(labels, sizes, strict=True)}
    said = [
        f"Classes {listed([named[label] for label in same])} differ in spaces or capitals alone: if they mean one, "
        "write them alike."
        for same in alike(labels)
    ]
    return said + [
        f"{named[label]} counts as a class: if it marks a missing label, leave these rows out."
        for label in labels
        if is_mark(label)
    ]


def dependences(rows: ComparedRows) -> list[str]:
    """Sentences about copies of rows, about files that are sorted, and about columns that look like numbers of rows."""
    said = [*odd_labels(rows), *_of_copies(rows), *([SORTED] if _sorted_by_class(rows) else [])]
    if isinstance(rows.given, np.ndarray) and rows.dense and rows.n >= ENOUGH_ROWS:
        counts = [f"x{j}" for j, column in enumerate(rows.data.x.T) if _counts_rows(column)]
        if counts:
            are, look = ("is", "looks") if len(counts) == 1 else ("are", "look")
            said.append(
                f"{name_list(counts, most=MOST_NAMED)} {look} like a number of the row (whole numbers, each once, "
                f"without gaps) and {are} kept, since X is an array; without names nothing is left out."
            )
    else:
        said += _of_identifiers(_all_different(rows))
    return said


def rare_classes(chosen: Row, rows: ComparedRows, metric: Metric) -> list[str]:
    """How much of a class below 10%, and below half of its share among equals, is found: errors hardly count there."""
    size = np.bincount(rows.codes, rows.weights, minlength=len(rows.classes))
    shares = size / size.sum()
    most = min(RARE, 0.5 / len(shares))
    rare = [int(k) for k in np.argsort(shares, kind="stable") if 0 < shares[k] < most]
    if not rare or len(rows.classes) > rows.n / ENOUGH_ROWS or not chosen.recall:
        return []
    found = [f"{chosen.recall[k]:.0%} of '{rows.classes[k]}' ({percent(shares[k])} of the rows)" for k in rare]
    text = f"{chosen.name} finds {listed(found, MOST_NAMED)}; its balanced error is {percent(chosen.balanced_error)}."
    if rows.positive is not None and rows.classes[rare[0]] == rows.positive:  # what is found of it is said already
        text = f"The balanced error of {chosen.name} is {percent(chosen.balanced_error)}."
    if metric in ("error", "log_loss", "brier"):
        text += " metric='balanced_error', 'auc' or a matrix of costs would count rare classes for more."
    return [text]


def of_interest(chosen: Row, tried: Tried, rows: ComparedRows) -> list[str]:
    """How much of the class of interest is found, and how many of those that are taken for it are of it."""
    if rows.positive is None:
        return []
    own = rows.labels == rows.positive
    taken = tried.result.predicted == rows.positive
    share, right, called = (float(rows.weights @ part) for part in (own, own & taken, taken))
    text = (
        f"Of '{rows.positive}', the class of interest ({percent(share / rows.weights.sum())} of the rows), "
        f"{chosen.name} finds {percent(right / share)} (recall); "
    )
    if not called:
        return [f"{text}it takes no row for it."]
    return [f"{text}of the rows that it takes for it, {percent(right / called)} are (precision)."]


def _of_groups(rows: ComparedRows) -> list[str]:
    """What counts where rows belong together."""
    if not rows.dealer.grouped or rows.dealer.units is None:
        return []
    count = int(rows.dealer.units.max()) + 1
    few = " With so few of them take intervals as rough." if count < FEW_GROUPS else ""
    return [f"Intervals and tests go by the variance between the {count:,} groups, not by rows.{few}"]


def few_rows(rows: ComparedRows) -> list[str]:
    """What the number of rows, or of groups, means for the intervals."""
    if rows.n >= FEW_ROWS:
        return _of_groups(rows)
    text = (
        f"With {plural(rows.n, 'row')} no interval here keeps its level; take them as rough. "
        "discrim.evaluation.bootstrap_error(found.best, X, y) has a steadier error."
    )
    return [*_of_groups(rows), text]


def of_leave_one_out(rows: ComparedRows) -> list[str]:
    if not rows.folds.one_at_a_time:
        return []
    return [LEFT_OUT]


def _all_different(rows: ComparedRows) -> list[str]:
    """Columns with another whole number in every row, whatever their names, that nobody asked for."""
    nameless = isinstance(rows.given, np.ndarray) or bool(getattr(rows.given, "chosen", False))
    if nameless or rows.numbers is None or not rows.dense or rows.n < ENOUGH_ROWS:
        return []
    return [name for name, column, few_levels in each_column(rows) if not few_levels and _all_differ(column)]


def _of_identifiers(names: list[str]) -> list[str]:
    if not names:
        return []
    has, it = ("has", "it identifies") if len(names) == 1 else ("have", "they identify")
    text = (
        f"{name_list(names, most=MOST_NAMED)} {has} another whole number in every row and took part: if {it} the rows, "
        f"leave out by without={names[:MOST_NAMED]} or --without."
    )
    return [text]


def predict_alone(rows: ComparedRows) -> dict[str, float]:
    """The columns that predict the class alone, with their errors, the least first."""
    if rows.numbers is None or not rows.dense or rows.n < ENOUGH_ROWS:
        return {}
    guessing = 1.0 - np.bincount(rows.codes).max() / rows.n
    most = min(NEARLY_NONE, OF_GUESSING * guessing)
    found = [(name, column_error(column, rows.codes, few)) for name, column, few in each_column(rows)]
    return {name: error for name, error in sorted(found, key=lambda pair: pair[1]) if error <= most}


def _of_columns(found: Mapping[str, float]) -> list[str]:
    if not found:
        return []
    named = [f"'{name}' ({percent(error)} errors)" for name, error in found.items()]
    if len(found) == 1:
        text = f"Column {named[0]} alone predicts the class almost without error: check that it is"
    else:
        some = listed(named[:2])
        many = f"Each of {len(found)} columns alone predicts the class almost without error"
        text = f"{many} ({some}): check that all are"
    return [f"{text} known before the class is, and not made from it."]


def column_error(column: Floats, codes: NDArray[np.int32], categorical: bool) -> float:
    """The share of rows that the other rows of the same bin, or level, put in another class.

    A number is cut into bins of about ROWS_A_BIN rows or more; gaps are a bin of their own. No row counts for itself,
    so that a column of noise, or of many levels, is not better than guessing.
    """
    n, gap = len(codes), np.isnan(column)
    if categorical:
        bins = np.where(gap, -1.0, column)
    else:
        count = int(min(MOST_BINS, max(n // ROWS_A_BIN, 2)))
        present = column[~gap]
        edges = np.unique(np.quantile(present, np.linspace(0, 1, count + 1)[1:-1])) if len(present) else np.zeros(1)
        bins = np.where(gap, -1.0, np.searchsorted(edges, column, "left"))
    bin_of = np.unique(bins, return_inverse=True)[1]
    table = np.zeros((int(bin_of.max()) + 1, int(codes.max()) + 1))
    np.add.at(table, (bin_of, codes), 1.0)
    own = table[bin_of, codes]
    others = table[bin_of]
    others[np.arange(n), codes] = -1.0
    return float(np.mean(own - 1.0 <= others.max(axis=1)))


def _of_order(rows: ComparedRows) -> list[str]:
    """By how often neighbours are of one class; a file sorted by class says nothing else."""
    if rows.n < ENOUGH_ROWS or rows.dealer.grouped or rows.dealer.times is not None or _sorted_by_class(rows):
        return []
    codes = rows.codes
    shares = np.bincount(codes) / rows.n
    chance = float(shares @ shares)
    agree = float((codes[1:] == codes[:-1]).mean())
    z = (agree - chance) / np.sqrt(chance * (1.0 - chance) / (rows.n - 1))
    if z < FAR:
        return []
    text = (
        f"Rows next to each other are of one class more often than by chance ({agree:.0%} instead of {chance:.0%}): "
        "their order predicts the class. If it is one of time or of batches, give time= or groups=, or the figures are "
        "too good."
    )
    return [text]


def _sorted_by_class(rows: ComparedRows) -> bool:
    """Files often are, which says nothing about time."""
    apart = not rows.dealer.grouped and rows.dealer.times is None and rows.n >= ENOUGH_ROWS
    return apart and int((rows.codes[1:] != rows.codes[:-1]).sum()) == len(np.unique(rows.codes)) - 1


def _of_copies(rows: ComparedRows) -> list[str]:
    """Rows that are the same in all columns, how many of them differ in their class, and what it means if none does."""
    units: Index | None = None if rows.dealer.grouped else rows.dealer.units
    if rows.dealer.grouped and rows.numbers is not None:
        units = find_copies(rows.numbers.x)
    if units is None or rows.words is not None:
        return []
    size = np.bincount(units)
    copies = rows.n - len(size)
    table = np.zeros((len(size), len(rows.classes)))
    np.add.at(table, (units, rows.codes), 1.0)
    torn = int((size - table.max(axis=1)).sum())
    kept = "" if rows.dealer.grouped else ", and copies stay in one fold"
    are = "is a copy" if copies == 1 else "are copies"
    text = f"{plural(copies, 'row')} of {rows.n:,} {are} of another in all columns{kept}"
    if torn:
        text += f"; {torn:,} of them {'has' if torn == 1 else 'have'} another class, which no model can get right"
    elif copies >= MANY_COPIES * rows.n and not rows.dealer.grouped:
        text += (
            ". All have the class of what they copy, yet intervals and tests count every row: where one thing was "
            "recorded several times, leave copies out or give groups="
        )
    return [f"{text}."]


def _counts_rows(column: Floats) -> bool:
    """Whole numbers in steps of one, each once, in any order."""
    return bool(np.ptp(column) == len(column) - 1) and _all_differ(column)


def _all_differ(column: Floats) -> bool:
    """Whole numbers, each once."""
    if not np.isfinite(column).all() or (column != np.floor(column)).any():
        return False
    return len(np.unique(column)) == len(column)
