"""What flexible models would gain: boosted trees on the same folds, as a reference that is never chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.trials import Tried
from discrim.errors import ParameterError
from discrim.evaluation.cross_validation import CrossValidation, put_predictions
from discrim.evaluation.resampling import HeldOut
from discrim.typing import Floats

REFERENCE = "Boosted trees"
# Seconds of one processor beyond which the reference is not worth its price.
MOST_SECONDS = 20.0
# scikit-learn's trees: how many, and their leaves at most; levels of a category that they tell apart.
TREES, LEAVES, LEAST_LEAF, MOST_LEVELS = 100, 31, 20, 255
# Seconds a leaf; a leaf and column; a value of X.
PER_LEAF, PER_COLUMN, PER_VALUE = 6e-5, 3e-7, 1e-8


def check_reference(reference: Any) -> bool:
    """Is there to be one?"""
    if reference is None:
        return False
    if not isinstance(reference, str) or reference != "boosting":
        raise ParameterError.bad_value("reference", reference, "'boosting' or None")
    return True


def try_reference(rows: ComparedRows, again: Sequence[ComparedRows] = ()) -> Tried | str:
    """scikit-learn's ``HistGradientBoostingClassifier`` with its defaults, on the folds of all models; or why not.

    Categories are given to it as such and gaps as gaps, which it takes as they are; so nothing is prepared.
    """
    if rows.numbers is None or not rows.dense:
        return "the table is sparse" if rows.numbers is not None else "the columns are not numeric"
    seconds = reference_seconds(rows) * (1 + len(again))
    if seconds > MOST_SECONDS:
        fits = (1 + len(again)) * len(rows.folds.parts)
        return (
            f"{fits} fits of {TREES} trees would take about {seconds:,.0f} s of one processor, and it is "
            "only a reference"
        )
    found = list[Tried]()
    for dealt in (rows, *again):
        tried = _try_on(dealt)
        if isinstance(tried, str):
            return tried
        found.append(tried)
    return replace(found[0], again=tuple(found[1:]), total_time=sum(tried.total_time for tried in found))


def _try_on(rows: ComparedRows) -> Tried | str:
    # Takes a third of a second to import.
    from sklearn.ensemble import HistGradientBoostingClassifier

    start = perf_counter()
    x, categorical = columns_for_trees(rows)
    model = HistGradientBoostingClassifier(categorical_features=categorical, random_state=0)
    held = HeldOut(rows.n, len(rows.classes))

    def fit(f: int) -> Any:
        train = rows.folds.train(f)
        if len(np.unique(rows.codes[train])) < 2:
            return None
        weight = None if rows.weight is None else rows.weight[train]
        # The threads of a fit wait for each other, longer than they work where the machine is busy. Folds are fitted
        # one by one because scikit-learn changes the filters of warnings, which are those of all threads.
        with threadpool_limits(1, "openmp"):
            return model.__class__(**model.get_params()).fit(x[train], rows.labels[train], weight)

    fitted = [fit(f) for f in range(len(rows.folds.parts))]
    if any(one is None for one in fitted):
        return "a training part has rows of one class only"
    for f, one in enumerate(fitted):
        test = rows.folds.test(f)
        put_predictions(held, one, x[test], test, rows.classes)
    taken = perf_counter() - start
    result = CrossValidation.of(rows.data, rows.folds, held)
    note = "scikit-learn's HistGradientBoostingClassifier with its defaults; a reference that is never chosen"
    return Tried(REFERENCE, note, result, None, model, None, taken / len(fitted), taken)


def reference_seconds(rows: ComparedRows) -> float:
    """What all folds take on one processor, by a formula with fixed constants: the same call has the same table."""
    n, p, folds = rows.n, rows.width, len(rows.folds.parts)
    leaves = min(LEAVES, max(n // LEAST_LEAF, 2))
    tree = leaves * (PER_LEAF + PER_COLUMN * p) + PER_VALUE * n * p
    return folds * TREES * (1 if len(rows.classes) == 2 else len(rows.classes)) * tree


def columns_for_trees(rows: ComparedRows) -> tuple[Floats, NDArray[np.bool_]]:
    """The columns with a code for each level of a category, NaN where a value is missing; and which are categories.

    A category of more levels than trees can tell apart is ordered by its codes.
    """
    each = list(each_column(rows))
    return np.column_stack([column for _, column, _ in each]), np.array([few for _, _, few in each])


def each_column(rows: ComparedRows) -> Iterator[tuple[str, Floats, bool]]:
    """The same column by column, with its name first, so that no copy of all of them is made."""
    x, starts, j = np.asarray(rows.data.x, dtype=np.float64), dict(rows.columns.categories), 0
    while j < x.shape[1]:
        stop, name = starts.get(j, j + 1), rows.columns.names[j]
        if j in starts:
            yield name.rsplit("[", 1)[0], _codes(x[:, j:stop]), stop - j < MOST_LEVELS
        else:
            yield name, x[:, j], False
        j = stop


def _codes(indicators: Floats) -> Floats:
    """0 for the level without an indicator, NaN for a gap."""
    code = np.where(indicators.any(axis=1), 1.0 + np.nan_to_num(indicators).argmax(axis=1), 0.0)
    code[np.isnan(indicators).any(axis=1)] = np.nan
    return code
