"""Recipes on folds: in closed form, from merged statistics, or by refitting; one route for every model.

Whatever the route, the predictions are those of refitting, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, Reads
from discrim.engines import RowPasses
from discrim.errors import DataError, warn
from discrim.families.recipe import Recipe, Reduction, Remark, Shape, Solved, checked_sum, overflow, spanned
from discrim.families.rule import Output, score_rows
from discrim.later import cached_property
from discrim.models.scoring import non_finite_error
from discrim.models.shell import Classifier
from discrim.parallel import blas_threads
from discrim.sources import Column, Design, find_non_finite, in_memory, open_rows
from discrim.sources.rows import ArrayRows
from discrim.statistics.folds import Folds, of_folds, of_others
from discrim.typing import Codes, Floats, Index

Units = tuple[Floats, Floats]

# Numbers that the statistics of all folds may take together.
MOST_NUMBERS = 1 << 26


class HeldOut:
    """``posterior`` (n x K) and ``best`` (class numbers, n) of rows by models that did not see them.

    A class that was absent from a training part has the posterior zero in its rows; ``absent`` are pairs of such rows
    and the classes. ``margin`` (n) is the score of the second of two classes, where a model has scores but no
    posteriors; else NaN. ``route`` says how they were found: 'closed form', 'statistics' or 'refits'.
    """

    def __init__(self, n: int, classes: int, route: str = "refits") -> None:
        self.posterior: Floats = np.zeros((n, classes))
        self.best: Index = np.zeros(n, dtype=np.intp)
        self.has_posterior = True
        self.margin: Floats = np.full(n, np.nan)
        self.absent = list[tuple[Index, Index]]()
        self.route = route

    def put_scores(self, rows: Index, known: Index, scores: Floats) -> None:
        """The predictions of one model that knows the classes ``known``, from log posteriors up to a constant."""
        # A class a line: along lines that are much longer than there are classes NumPy is several times faster.
        by_class = np.array(scores.T, order="C")
        best = by_class.argmax(axis=0)
        by_class -= by_class.max(axis=0)
        np.exp(by_class, out=by_class)
        by_class /= by_class.sum(axis=0)
        self.put(rows, known, by_class.T, best)

    def put(self, rows: Index, known: Index, posterior: Floats | None, best: NDArray[Any]) -> None:
        """The predictions of one model that knows the classes ``known``; ``best`` are places among these."""
        self.best[rows] = known[best]
        if len(known) < self.posterior.shape[1]:
            self.absent.append((rows, np.setdiff1d(np.arange(self.posterior.shape[1]), known)))
        if posterior is None:
            self.has_posterior = False
            self.posterior[rows, self.best[rows]] = 1.0
        elif len(known) == self.posterior.shape[1]:
            self.posterior[rows] = posterior
        else:
            self.posterior[np.ix_(rows, known)] = posterior

    def unseen(self, codes: Codes) -> NDArray[np.bool_]:
        """The rows of a class that their model has not seen; ``codes`` are the classes of all rows."""
        found = np.zeros(len(self.best), dtype=bool)
        for rows, absent in self.absent:
            found[rows] |= np.isin(codes[rows], absent)
        return found


def log_losses(posterior: Floats, codes: Codes, unseen: NDArray[np.bool_]) -> Floats:
    """-log of the posterior of its class, of every row.

    A class that no row of a training part has is impossible to every model alike: of n rows it counts with 1 / (n + 1).
    The loss of a row whose class got no probability otherwise is the largest one that stays finite, so that means still
    compare.
    """
    n = len(codes)
    losses = -np.log(np.maximum(posterior[np.arange(n), codes], np.finfo(float).tiny))
    return np.where(unseen, np.log(n + 1.0), losses)


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
        return _known(self._held_out, reduction, lambda: of_folds(self._block, self._folds, reduction.of))

    def training(self, reduction: Reduction[Any]) -> list[Any]:
        """Of all rows but those of each fold."""
        return _known(self._training, reduction, lambda: of_others(self.held_out(reduction), reduction.merge))


def _known(
    known: dict[Reduction[Any], list[Any]], reduction: Reduction[Any], make: Callable[[], Iterable[Any]]
) -> list[Any]:
    """The states by this reduction, made from those of a wider one where there are such."""
    if reduction not in known:
        wider = next((states for other, states in known.items() if other.covers(reduction)), None)
        known[reduction] = list(make() if wider is None else map(reduction.narrow, wider))
    return known[reduction]


@dataclass(frozen=True, eq=False)
class Trial:
    """A recipe and the rows that it is tried on, coded and in memory; ``states`` are shared with other recipes."""

    recipe: Recipe[Any]
    block: Block
    shape: Shape
    states: FoldStates | None = None

    @classmethod
    def of(cls, recipe: Recipe[Any], model: Classifier, X: Any, y: Any, sample_weight: Any = None) -> Trial:
        """All rows as ``model`` would read them, in memory and finite.

        Categories are columns of their own, except where columns of different kinds are read.
        """
        rows = model.open_rows(X, y, sample_weight)
        block, design = in_memory(rows, recipe.reads, first_read=True), rows.design
        x: Any = block.x
        if recipe.reads == "mixed":
            if np.isinf(x.numbers).any():
                raise non_finite_error(rows) or overflow()
        else:
            if design.named or design.n_in != x.shape[1]:
                design = Design([Column(name) for name in design.names_out], x.dtype)
            with np.errstate(over="ignore"):  # counts may be larger than any sum of them
                total = x.sum()
            if not np.isfinite(total):
                error = find_non_finite(rows if rows.rereadable else open_rows(x, design=design))
                if error is not None:
                    raise error
        return cls(recipe, block, Shape(design, block.classes, len(block)))

    def run(self, folds: Folds) -> HeldOut:
        """Predictions of held-out rows by the first route that is open."""
        with blas_threads(min(self.block.x.shape)):
            return self._closed_form(folds) or self.merged(folds) or self.refit(folds, range(len(folds.parts)))

    def refit(self, folds: Folds, numbers: Iterable[int], held: HeldOut | None = None) -> HeldOut:
        """Fit again without each of these folds, and fill in the predictions for it."""
        held, remarks = held or HeldOut(len(self.block), len(self.block.classes)), dict[str, Remark]()
        for f in numbers:
            train = folds.train(f)
            recipe, shape, known = self.among(train)
            solved = recipe.fit(shape, self.passes(train))
            remarks.update({remark.text: remark for remark in solved.remarks})
            self.put(held, solved, known, folds.test(f))
        report(remarks)
        return held

    def merged(self, folds: Folds, wanted: Index | None = None, *, standardise: bool = False) -> HeldOut | None:
        """Every fold's model (or those of the folds ``wanted``) from the statistics of the others.

        Columns are as they are, or standardised by the training rows of each fold. None where there is no such route,
        or the statistics take too much memory.
        """
        if not folds.complementary or self.recipe.needs_rows:
            return None
        fewest = len(self.block) - int(np.bincount(folds.number).max())
        work = self if standardise else self._turned(fewest)
        shape = replace(work.shape, n_rows=fewest)
        reduction = self.recipe.reduction(shape)
        numbers = reduction.numbers(shape)
        # A statistic that is as large as the rows, in all their columns, saves nothing.
        no_gain = work is self and shape.wide and (standardise or numbers >= fewest * shape.width)
        if no_gain or len(folds.parts) * numbers > MOST_NUMBERS:
            return None
        held, remarks = HeldOut(len(self.block), len(self.block.classes), "statistics"), dict[str, Remark]()
        for f, state in enumerate(work.training(folds, reduction)):
            if wanted is not None and f not in wanted:
                continue
            units = state.units() if standardise else None
            moved = state if units is None else state.in_units(*units)
            recipe, fold_shape, known = work.among(folds.train(f))
            kept = checked_sum(moved).select(np.isin(np.arange(len(self.block.classes)), known))
            solved = recipe.solve(kept, fold_shape, work.passes(folds.train(f), units))
            if solved.statistic is not kept:  # the rows were read again
                held.route = "refits"
            remarks.update({remark.text: remark for remark in solved.remarks})
            work.put(held, solved, known, folds.test(f), units)
        report(remarks)
        return held

    def training(self, folds: Folds, reduction: Reduction[Any]) -> Iterable[Any]:
        """The statistic of all rows but those of each fold."""
        if self.states is not None:
            return self.states.training(reduction)
        return of_others(of_folds(self.block, folds, reduction.of), reduction.merge)

    def among(self, train: Index) -> tuple[Recipe[Any], Shape, Index]:
        """The recipe and shape for the classes that occur in these rows, and their numbers."""
        classes = self.block.classes
        known = np.flatnonzero(np.bincount(self.block.codes[train], minlength=len(classes)))
        shape = replace(self.shape, classes=classes[known], n_rows=len(train))
        return self.recipe.among(known, len(classes)), shape, known

    def put(self, held: HeldOut, solved: Solved, known: Index, test: Index, units: Units | None = None) -> None:
        """The predictions of what was solved for the rows ``test``."""
        x = self.block.x[test]
        x = x if units is None else (x - units[0]) / units[1]
        rule = solved.rule
        if not rule.has_posterior:
            held.put(test, known, None, score_rows(rule, x, Output.BEST)[0])
            return
        held.put_scores(test, known, scores_of(solved, x))
        if not rule.by_score:
            held.best[test] = known[score_rows(rule, x, Output.BEST)[0]]

    def _closed_form(self, folds: Folds) -> HeldOut | None:
        weighted = self.block.weight is not None and not self.recipe.held_out_weighted
        if not folds.one_at_a_time or weighted or self.recipe.needs_rows:
            return None
        work = self._turned(len(self.block))
        statistic = checked_sum(self.recipe.reduction(work.shape).of(work.block))
        solved = self.recipe.solve(statistic, work.shape, work.passes(None))
        left_out = self.recipe.held_out(solved, work.shape)
        if left_out is None:
            return None
        if work is self:  # else the columns that are named are not the user's
            report({remark.text: remark for remark in solved.remarks})
        scores = left_out(work.block)
        undefined, held = np.isnan(scores).any(axis=1), HeldOut(len(scores), scores.shape[1], "closed form")
        held.put_scores(np.flatnonzero(~undefined), np.arange(scores.shape[1]), scores[~undefined])
        codes = self.block.codes.astype(np.intp)
        alone = np.flatnonzero(np.bincount(codes)[codes] == 1)
        held.absent = [(alone[i : i + 1], codes[alone[i : i + 1]]) for i in range(len(alone))]
        return self.refit(folds, folds.number[undefined].tolist(), held)

    def _turned(self, fewest: int) -> Trial:
        """The same in the space that the rows span, where there are no more rows than columns and nothing is lost."""
        if fewest > self.shape.width or not self.recipe.rotation_invariant:
            return self
        block, shape = spanned(self.block, self.shape)
        return Trial(self.recipe, block, shape)

    def passes(self, train: Index | None, units: Units | None = None) -> _Training:
        return _Training(self.block, train, self.shape, self.recipe.reads, units)


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

    def __init__(self, block: Block, train: Index | None, shape: Shape, reads: Reads, units: Units | None) -> None:
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
