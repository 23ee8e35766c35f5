"""Recipes on folds: in closed form, from merged statistics, or by fitting anew; one route for every model.

Whatever the step, the answers are those of refitting, to rounding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, Reads
from discrim.engines import RowPasses
from discrim.errors import DataError, warn
from discrim.evaluation.held_out import HeldOut
from discrim.families.recipe import Recipe, Reduction, Remark, Shape, Solved, checked_sum, overflow, spanned
from discrim.families.rule import Output, score_rows
from discrim.later import cached_property
from discrim.models.scoring import non_finite_error
from discrim.models.shell import Classifier
from discrim.parallel import blas_threads
from discrim.sources import Column, Design, find_non_finite, in_memory, open_rows
from discrim.sources.rows import ArrayRows
from discrim.statistics.folds import Folds, of_folds, of_others
from discrim.typing import Floats, Index

Units = tuple[Floats, Floats]

# Numbers that the statistics of all folds may take together.
MOST_NUMBERS = 1 << 26


class FoldStates:
    """Statistics by fold, collected once for all recipes that are tried on the same folds.

    A reduction that covers another serves it too.
    """

    def __init__(self, block: Block, folds: Folds) -> None:
        self._block, self._folds = block, folds
        self._held_out: dict[Reduction[Any], list[Any]] = {}
        self._training: dict[Reduction[Any], list[Any]] = {}

    def held_out(self, reduction: Reduction[Any]) -> list[Any]:
        """Of the rows of each fold, all with the classes of the block."""
        if reduction not in self._held_out:
            wider = _covering(self._held_out, reduction)
            parts = of_folds(self._block, self._folds, reduction.of) if wider is None else map(reduction.narrow, wider)
            self._held_out[reduction] = list(parts)
        return self._held_out[reduction]

    def training(self, reduction: Reduction[Any]) -> list[Any]:
        """Of all rows but those of each fold."""
        if reduction not in self._training:
            wider = _covering(self._training, reduction)
            if wider is None:
                self._training[reduction] = list(of_others(self.held_out(reduction), reduction.merge))
            else:
                self._training[reduction] = [reduction.narrow(state) for state in wider]
        return self._training[reduction]


class Fold(NamedTuple):
    """The model of a training part, the classes that occur in it, and whether its rows had to be read again."""

    solved: Solved
    known: Index
    read: bool


@dataclass(frozen=True, eq=False)
class Trial:
    """A recipe and the rows that it is tried on, coded and in memory; ``states`` are shared with other recipes."""

    recipe: Recipe[Any]
    block: Block
    shape: Shape
    states: FoldStates | None = None

    @classmethod
    def of(cls, recipe: Recipe[Any], model: Classifier, X: Any, y: Any, sample_weight: Any) -> Trial:
        """The rows as ``model`` would read them."""
        block, design = read_block(recipe, model, X, y, sample_weight)
        return cls(recipe, block, Shape(design, block.classes, len(block)))

    def run(self, folds: Folds) -> tuple[HeldOut, str]:
        """Answers of held-out rows, and how they were found: 'closed form', 'statistics' or 'refits'."""
        with blas_threads(min(self.block.x.shape)):
            return self._closed_form(folds) or self._merged(folds) or self._refitted(folds)

    def refit(self, folds: Folds, numbers: Iterable[int], held: HeldOut) -> None:
        """Fit anew without each of these folds, and fill in the answers for it."""
        remarks: dict[str, Remark] = {}
        for f in numbers:
            train = folds.train(f)
            known, passes = self._classes_in(train), self.passes(train)
            shape = self._shape_of(known, len(train))
            recipe = self.recipe.among(known, len(self.block.classes))
            solved = recipe.fit(shape, passes)
            remarks.update({remark.text: remark for remark in solved.remarks})
            self.put(held, solved, known, folds.test(f))
        report(remarks)

    def training(self, folds: Folds, reduction: Reduction[Any]) -> Iterable[Any]:
        """The statistic of all rows but those of each fold."""
        if self.states is not None:
            return self.states.training(reduction)
        return of_others(of_folds(self.block, folds, reduction.of), reduction.merge)

    def solved(self, state: Any, train: Index, units: Units | None = None) -> Fold:
        """What follows from the statistic of the rows ``train``.

        The statistic may be that of columns in other ``units``, a centre and a scale for each.
        """
        known, size = self._classes_in(train), len(self.block.classes)
        state = checked_sum(state).select(np.isin(np.arange(size), known))
        passes = self.passes(train, units)
        solved = self.recipe.among(known, size).solve(state, self._shape_of(known, len(train)), passes)
        return Fold(solved, known, read=solved.statistic is not state)

    def put(self, held: HeldOut, solved: Solved, known: Index, test: Index, units: Units | None = None) -> None:
        """The answers of what was solved to the rows ``test``."""
        x = self.block.x[test]
        x = x if units is None else (x - units[0]) / units[1]
        rule = solved.rule
        if not rule.has_posterior:
            held.put(test, known, None, score_rows(rule, x, Output.BEST)[0])
            return
        held.put_scores(test, known, scores_of(solved, x))
        if not rule.by_score:
            held.best[test] = known[score_rows(rule, x, Output.BEST)[0]]

    def _closed_form(self, folds: Folds) -> tuple[HeldOut, str] | None:
        weighted = self.block.weight is not None and not self.recipe.held_out_weighted
        if not folds.one_at_a_time or weighted or self.recipe.needs_rows:
            return None
        work = self._turned(len(self.block))
        statistic = checked_sum(self.recipe.reduction(work.shape).of(work.block))
        solved = self.recipe.solve(statistic, work.shape, work.passes(None))
        left_out = self.recipe.held_out(solved, work.shape)
        if left_out is None:
            return None
        if work is self:  # else the columns that are named are nobody's
            report({remark.text: remark for remark in solved.remarks})
        scores = left_out(work.block)
        held = HeldOut.of_scores(scores)
        self.refit(folds, folds.number[np.isnan(scores).any(axis=1)].tolist(), held)
        return held, "closed form"

    def _merged(self, folds: Folds) -> tuple[HeldOut, str] | None:
        """Every fold's model from the statistics of the others; None where these take too much memory."""
        if not folds.complementary or self.recipe.needs_rows:
            return None
        fewest = len(self.block) - int(np.bincount(folds.number).max())
        work = self._turned(fewest)
        shape = replace(work.shape, n_rows=fewest)
        reduction = self.recipe.reduction(shape)
        numbers = reduction.numbers(shape)
        # A statistic that is as large as the rows, in all their columns, saves nothing.
        no_gain = work is self and shape.wide and numbers >= fewest * shape.width
        if no_gain or len(folds.parts) * numbers > MOST_NUMBERS:
            return None
        held, remarks, read = HeldOut(len(self.block), len(self.block.classes)), dict[str, Remark](), False
        for f, state in enumerate(work.training(folds, reduction)):
            fold = work.solved(state, folds.train(f))
            read |= fold.read
            remarks.update({remark.text: remark for remark in fold.solved.remarks})
            work.put(held, fold.solved, fold.known, folds.test(f))
        report(remarks)
        return held, "refits" if read else "statistics"

    def _refitted(self, folds: Folds) -> tuple[HeldOut, str]:
        held = HeldOut(len(self.block), len(self.block.classes))
        self.refit(folds, range(len(folds.parts)), held)
        return held, "refits"

    def _turned(self, fewest: int) -> Trial:
        """The same in the space that the rows span, where there are no more rows than columns and nothing is lost."""
        if fewest > self.shape.width or not self.recipe.rotation_invariant:
            return self
        block, shape = spanned(self.block, self.shape)
        return Trial(self.recipe, block, shape)

    def passes(self, train: Index | None, units: Units | None = None) -> _Training:
        return _Training(self.block, train, self.shape, self.recipe.reads, units)

    def _classes_in(self, rows: Index) -> Index:
        return np.flatnonzero(np.bincount(self.block.codes[rows], minlength=len(self.block.classes)))

    def _shape_of(self, known: Index, n_rows: int) -> Shape:
        return replace(self.shape, classes=self.block.classes[known], n_rows=n_rows)


def read_block(recipe: Recipe[Any], model: Classifier, X: Any, y: Any, sample_weight: Any) -> tuple[Block, Design]:
    """All rows as ``model`` would read them, in memory and finite.

    Categories are columns of their own, but where columns of different kinds are read.
    """
    rows = model.open_rows(X, y, sample_weight)
    block, design = in_memory(rows, recipe.reads, first_read=True), rows.design
    x: Any = block.x
    if recipe.reads == "mixed":
        if np.isinf(x.numbers).any():
            raise non_finite_error(rows) or overflow()
        return block, design
    if design.named or design.n_in != x.shape[1]:
        design = Design([Column(name) for name in design.names_out], x.dtype)
    with np.errstate(over="ignore"):  # counts may be larger than any sum of them
        total = x.sum()
    if not np.isfinite(total):
        error = find_non_finite(rows if rows.rereadable else open_rows(x, design=design))
        if error is not None:
            raise error
    return block, design


def scores_of(solved: Solved, x: Any) -> NDArray[np.float64]:
    """n x K scores in double precision."""
    scores, finite = score_rows(solved.rule, x, Output.SCORES, np.float64)
    if not finite:
        raise DataError(
            "The scores of some rows overflow: X holds values too large to be squared. Scale the columns first."
        )
    return scores


def report(remarks: dict[str, Remark]) -> None:
    """Warn of everything that was found in any fold, once."""
    for remark in remarks.values():
        warn(*remark)


class _Training(RowPasses):
    """Passes over some rows of a block, which are taken when they are asked for; None is all of them."""

    def __init__(
        self, block: Block, train: Index | None, shape: Shape, reads: Reads, units: Units | None = None
    ) -> None:
        self._block, self._train, self._columns, self._reads, self._units = block, train, shape.columns, reads, units

    @property
    def again(self) -> bool:
        return True  # without a look at the rows, which most models never ask for

    @cached_property
    def rows(self) -> ArrayRows:
        # A class without rows in this part is not known to its model.
        part = self._block if self._train is None else self._block.take(self._train).present()
        if self._units is not None:
            part = replace(part, x=(part.x - self._units[0]) / self._units[1])
        columns: Any = self._columns
        return ArrayRows(columns, part, labelled=True)


def _covering(known: dict[Reduction[Any], list[Any]], reduction: Reduction[Any]) -> list[Any] | None:
    return next((states for other, states in known.items() if other.covers(reduction)), None)
