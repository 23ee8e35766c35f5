"""How the error falls with the number of rows, and how much a model flatters itself on those that it saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.engines.progress import Progress
from discrim.errors import DataError, ParameterError
from discrim.evaluation.cross_validation import RefitTrial, cross_validate
from discrim.evaluation.resampling import Trial, report
from discrim.families.recipe import Remark, Shape, checked_sum
from discrim.families.rule import Output, score_rows
from discrim.models.shell import recipe_of
from discrim.sources import Scan
from discrim.statistics.folds import fold_numbers
from discrim.typing import Floats, Index


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Errors by the number of training rows ``sizes``: mean over folds, and its ``std_error``.

    ``train_error`` is on the rows that were learned from, ``test_error`` on the fold that was held out;
    ``optimism`` is the second minus the first. NaN where so few rows cannot be fitted. ``route`` says how it was done:
    'statistics' (every row reduced once a fold, whatever the number of sizes) or 'refits'.
    """

    sizes: NDArray[np.intp]
    train_error: Floats
    test_error: Floats
    train_std_error: Floats
    test_std_error: Floats
    route: str

    @property
    def optimism(self) -> Floats:
        return self.test_error - self.train_error

    def plot(self, **options: Any) -> Any:
        """The errors by number of rows, as matplotlib axes: ``discrim.plots.learning_curve`` with its options."""
        from discrim import plots

        return plots.learning_curve(self, **options)


@dataclass(frozen=True)
class Optimism:
    """Error on the training rows, out of fold, and the difference: how much the first flatters the model."""

    train_error: float
    test_error: float

    @property
    def optimism(self) -> float:
        return self.test_error - self.train_error


def optimism(model: Any, X: Any, y: Any = None, cv: Any = 10) -> Optimism:
    """Training error against cross-validated error."""
    held_out = cross_validate(model, X, y, cv=cv).error
    rows = RefitTrial.of(model, X, y)
    everything = np.arange(len(rows.block))
    return Optimism(rows.error(rows.fit(everything), everything), held_out)


def learning_curve(
    model: Any, X: Any, y: Any = None, *, sizes: Any = 8, cv: Any = 10, random_state: int = 0
) -> LearningCurve:
    """Train on more and more rows of each fold's training part, and test on the fold.

    ``sizes`` is a list of numbers of rows or of shares (all at most 1), or how many sizes to take, evenly on the
    logarithmic scale. The smaller training parts lie within the larger ones, and are drawn in a random order that
    takes the classes in turn. Models of a mergeable statistic only add the rows that are new.
    """
    recipe = recipe_of(model)
    adds_up = recipe is not None and not recipe.needs_rows and (y is not None or isinstance(X, Scan))
    rows = Trial.of(recipe, model, X, y) if recipe is not None and adds_up else RefitTrial.of(model, X, y)
    codes = rows.block.codes
    folds = fold_numbers(cv, codes)
    counts = _counts(sizes, min(len(folds.train(f)) for f in range(len(folds.parts))), len(rows.block.classes))
    rng = np.random.default_rng(random_state)
    errors, remarks = np.full((len(folds.parts), len(counts), 2), np.nan), dict[str, Remark]()
    with Progress("learning curve", len(folds.parts) * len(counts), "fits") as progress:
        for f in range(len(folds.parts)):
            train = _in_turn(folds.train(f), codes, rng)
            parts = [(train[:stop], folds.test(f)) for stop in counts]
            found = _grown(rows, parts, remarks) if isinstance(rows, Trial) else _refitted(rows, parts)
            for i, both in enumerate(found):
                errors[f, i] = both
                progress.add(1)
    report(remarks)
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    route = "statistics" if adds_up else "refits"
    return LearningCurve(np.array(counts), mean[:, 0], mean[:, 1], spread[:, 0], spread[:, 1], route)


# Growing training parts, each with the rows to test it on; and the errors on both.
Parts = list[tuple[Index, Index]]
Errors = Iterator[tuple[float, float]]


def _grown(trial: Trial, parts: Parts, remarks: dict[str, Remark]) -> Errors:
    """By the sums of growing training parts: only rows that are new are read."""
    block, design = trial.block, trial.shape.columns
    reduction = trial.recipe.reduction(Shape(design, block.classes, len(parts[-1][0])))
    state, start = None, 0
    for train, test in parts:
        part = reduction.of(block.take(train[start:]).present())
        state, start = part if state is None else reduction.merge([state, part]), len(train)
        known = np.flatnonzero(np.isin(block.classes, state.classes))
        checked_sum(state)
        try:
            solved = trial.recipe.among(known, len(block.classes)).solve(state, Shape(design, state.classes))
        except (DataError, ParameterError):  # too few rows
            yield np.nan, np.nan
            continue
        remarks.update({remark.text: remark for remark in solved.remarks})
        best = [known[score_rows(solved.rule, block.x[rows], Output.BEST)[0]] for rows in (train, test)]
        yield float(np.mean(best[0] != block.codes[train])), float(np.mean(best[1] != block.codes[test]))


def _refitted(rows: RefitTrial, parts: Parts) -> Errors:
    for train, test in parts:
        try:
            fitted = rows.fit(train)
        except ValueError:
            yield np.nan, np.nan
        else:
            yield rows.error(fitted, train), rows.error(fitted, test)


def _counts(sizes: Any, most: int, classes: int) -> list[int]:
    if isinstance(sizes, (int, np.integer)):
        least = min(max(2 * classes, 10), most)
        values = np.geomspace(least, most, max(int(sizes), 1))
    else:
        values = np.asarray(sizes, dtype=np.float64)
        if values.ndim != 1 or not len(values) or not (values > 0).all():
            raise ParameterError.bad_value("sizes", sizes, "a number, or a list of positive numbers or shares")
        values = values * most if values.max() <= 1 else values
    counts = sorted({round(value) for value in values} - {0})
    if not counts or counts[-1] > most:
        raise DataError(f"The largest training part has {most} rows; 'sizes' asks for {max(counts, default=0)}.")
    return counts


def _in_turn(train: Index, codes: NDArray[Any], rng: np.random.Generator) -> Index:
    """The rows in random order, such that every beginning has its share of every class."""
    shuffled = rng.permutation(train)
    labels = codes[shuffled]
    place = np.empty(len(shuffled))
    for k in np.unique(labels):
        of = np.flatnonzero(labels == k)
        place[of] = (np.arange(len(of)) + rng.random()) / len(of)
    return np.asarray(shuffled[np.argsort(place, kind="stable")])
