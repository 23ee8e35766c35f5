"""How the error falls with the number of rows, and how much a model flatters itself on those that it saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.engines.progress import Progress
from discrim.errors import DataError, ParameterError
from discrim.evaluation.cross_validation import cross_validate
from discrim.evaluation.resampling import read_block, report
from discrim.evaluation.table_rows import TableRows
from discrim.families.recipe import Recipe, Remark, Shape, Solved, checked_sum
from discrim.families.rule import Output, score_rows
from discrim.models.shell import recipe_of
from discrim.sources import Design, Scan
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
    rows = TableRows(X, y)
    everything = np.arange(rows.n)
    return Optimism(rows.error(clone(model).fit(*rows.take(everything)), everything), held_out)


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
    rows = CodedRows(*read_block(recipe, model, X, y, None)) if recipe is not None and adds_up else TableRows(X, y)
    folds = fold_numbers(cv, rows.codes)
    counts = _counts(sizes, min(len(folds.train(f)) for f in range(len(folds.parts))), len(rows.classes))
    rng = np.random.default_rng(random_state)
    errors, remarks = np.full((len(folds.parts), len(counts), 2), np.nan), dict[str, Remark]()
    with Progress("learning curve", len(folds.parts) * len(counts), "fits") as progress:
        for f in range(len(folds.parts)):
            train, test = _in_turn(folds.train(f), rows.codes, rng), folds.test(f)
            fits: Iterator[Any]
            if isinstance(rows, CodedRows):
                assert recipe is not None
                fits = rows.grown(recipe, train, counts)
            else:
                fits = _refitted(model, rows, train, counts)
            for i, fitted in enumerate(fits):
                if fitted is not None:
                    errors[f, i] = rows.error(fitted, train[: counts[i]]), rows.error(fitted, test)
                if isinstance(fitted, Solved):
                    remarks.update({remark.text: remark for remark in fitted.remarks})
                progress.add(1)
    report(remarks)
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    route = "statistics" if adds_up else "refits"
    return LearningCurve(np.array(counts), mean[:, 0], mean[:, 1], spread[:, 0], spread[:, 1], route)


class CodedRows:
    """Rows in memory as a recipe reads them."""

    def __init__(self, block: Block, design: Design) -> None:
        self.block, self.design = block, design
        self.classes, self.codes = block.classes, block.codes

    def grown(self, recipe: Recipe[Any], train: Index, counts: Sequence[int]) -> Iterator[Solved | None]:
        """What follows from more and more of the rows ``train``: only those that are new are read."""
        reduction = recipe.reduction(Shape(self.design, self.classes, len(train)))
        state, start = None, 0
        for stop in counts:
            part = reduction.of(self.block.take(train[start:stop]).present())
            state, start = part if state is None else reduction.merge([state, part]), stop
            known = np.flatnonzero(np.isin(self.classes, state.classes))
            checked_sum(state)
            try:
                yield recipe.among(known, len(self.classes)).solve(state, Shape(self.design, state.classes))
            except (DataError, ParameterError):  # too few rows
                yield None

    def error(self, solved: Solved, rows: Index) -> float:
        """Share of these rows that are taken for another class."""
        best, _ = score_rows(solved.rule, self.block.x[rows], Output.BEST)
        return float(np.mean(solved.statistic.classes[best] != self.classes[self.codes[rows]]))


def _refitted(model: Any, rows: TableRows, train: Index, counts: Sequence[int]) -> Iterator[Any]:
    for stop in counts:
        try:
            yield clone(model).fit(*rows.take(train[:stop]))
        except ValueError:
            yield None


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
