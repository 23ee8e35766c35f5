"""Cross-validation over a scan of more values than are held in memory: sums over all rows, and some rows to look at.

Folds are a hash of the number of a row. One-pass models of a fold follow from the statistics of the others; any other
recipe is fitted in passes that leave the fold out. A last pass scores every row by the model that did not see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, join
from discrim.engines import RowPasses
from discrim.engines.keyed import SEED, Keyed, fold_of, reduce_keyed
from discrim.errors import ParameterError
from discrim.evaluation.resampling import HeldOut, Trial, report
from discrim.families.recipe import LARGEST_LOSS, Recipe, Remark, Shape, Solved
from discrim.families.tuning import fold_statistics
from discrim.sources import Scan
from discrim.statistics.folds import of_others
from discrim.typing import Floats, Index

# Rows whose posteriors are kept.
SAMPLE_ROWS = 200_000
# What there is of every row that is kept, and what is summed over all rows.
OF_ROWS = ("folds", "keys", "posterior", "best", "unseen")
SUMS = ("wrong", "loss", "unseen_weight", "weight", "rows")


@dataclass(frozen=True, eq=False)
class Judged:
    """Sums over all rows, and the rows with the smallest keys: their ``block``, folds and predictions.

    The ``loss`` is that of rows of a class that their model has seen, ``unseen_weight`` the weight of the others.
    """

    wrong: float
    loss: float
    unseen_weight: float
    weight: float
    rows: int
    block: Block
    folds: NDArray[np.int32]
    keys: NDArray[np.uint64]
    posterior: Floats
    best: Index
    unseen: NDArray[np.bool_]
    has_posterior: bool

    def thinned(self) -> Judged:
        if len(self.keys) <= SAMPLE_ROWS:
            return self
        i = np.sort(np.argpartition(self.keys, SAMPLE_ROWS)[:SAMPLE_ROWS])
        some: dict[str, Any] = {name: getattr(self, name)[i] for name in OF_ROWS}
        return replace(self, block=self.block.take(i), **some)

    @property
    def held(self) -> HeldOut:
        """The predictions of the rows that are kept."""
        found = HeldOut(len(self.keys), self.posterior.shape[1])
        found.posterior, found.best, found.has_posterior = self.posterior, self.best, self.has_posterior
        return found


def merge_judged(parts: Sequence[Judged]) -> Judged:
    """Of all rows of the parts."""
    joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in OF_ROWS}
    sums: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in SUMS}
    has = all(part.has_posterior for part in parts)
    return Judged(**sums, block=join([part.block for part in parts]), **joined, has_posterior=has).thinned()


@dataclass(frozen=True, eq=False)
class Judge:
    """The models of every fold, which ``of`` asks about the rows of theirs; only a ``share`` of the rows is kept."""

    recipe: Recipe[Any]
    shape: Shape
    solved: Sequence[tuple[Solved, Index]]
    share: float

    def of(self, keyed: Keyed) -> Judged:
        block, number = keyed.block.among(np.asarray(self.shape.classes)), fold_of(keyed.keys, len(self.solved))
        held, trial = HeldOut(len(block), len(block.classes)), Trial(self.recipe, block, self.shape)
        for f, (solved, known) in enumerate(self.solved):
            test = np.flatnonzero(number == f)
            if len(test):
                trial.put(held, solved, known, test)
        own = np.ones(len(block)) if block.weight is None else block.weight
        with np.errstate(divide="ignore"):
            loss = np.minimum(-np.log(held.posterior[np.arange(len(block)), block.codes]), LARGEST_LOSS)
        i = np.flatnonzero(keyed.keys <= np.uint64(min(self.share * 2.0**64, 2.0**64 - 2049)))
        narrow = replace(block.take(i), x=np.empty((len(i), 0)))
        unseen = held.unseen(block.codes)
        losses = float(own @ np.where(unseen, 0.0, loss)), float(own @ unseen)
        sums = float(own @ (held.best != block.codes)), *losses, float(own.sum()), len(block)
        kept = number[i], keyed.keys[i], held.posterior[i], held.best[i], unseen[i]
        return Judged(*sums, narrow, *kept, held.has_posterior).thinned()


def judged(recipe: Recipe[Any], rows: Scan, cv: Any) -> tuple[Judged, str]:
    """What the folds say, and by which route their models were found."""
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise ParameterError.bad_value("cv", cv, "a number of folds, for a scan that is too large to be held in memory")
    if recipe.reads == "mixed":
        raise ParameterError(
            "The scan is too large to be held in memory, and a model of mixed columns is cross-validated there. Use "
            "compare, which judges it by a sample, or give some of the rows."
        )
    folds, passes, remarks = int(cv), RowPasses(rows, recipe.reads), dict[str, Remark]()
    by_statistics = recipe.one_pass and not recipe.needs_rows
    shape, solved = (_by_statistics if by_statistics else _by_passes)(recipe, passes, folds)
    for each, _ in solved:
        remarks.update({remark.text: remark for remark in each.remarks})
    report(remarks)
    n = rows.count() or rows.about
    share = 1.0 if n is None else min(1.0, 1.2 * SAMPLE_ROWS / max(n, 1) + 1e-9)
    # Of a model that has seen the rows only its rule is needed where they are.
    plain = [(replace(each, statistic=None, details=None, attributes={}), known) for each, known in solved]
    judge = Judge(recipe, shape, plain, share)
    found = reduce_keyed(rows, SEED, judge.of, merge_judged, "held-out rows")
    return found, "statistics" if by_statistics else "refits"


def _by_statistics(recipe: Recipe[Any], passes: RowPasses, folds: int) -> tuple[Shape, list[tuple[Solved, Index]]]:
    reduction = recipe.reduction(passes.shape)
    parts = fold_statistics(reduction, folds, passes)
    classes, solved = parts[0].classes, list[tuple[Solved, Index]]()
    shape = Shape(passes.shape.columns, classes)
    for f, state in enumerate(of_others(parts, reduction.merge)):
        known = np.flatnonzero(state.rows > 0)
        kept = state.select(state.rows > 0)
        other = recipe.among(known, len(classes))
        solved.append((other.solve(kept, replace(shape, classes=kept.classes), passes.outside(f, folds)), known))
    return shape, solved


def _by_passes(recipe: Recipe[Any], passes: RowPasses, folds: int) -> tuple[Shape, list[tuple[Solved, Index]]]:
    each = [recipe.fit(other.shape, other) for other in (passes.outside(f, folds) for f in range(folds))]
    labels = [solved.attributes.get("classes_", getattr(solved.statistic, "classes", None)) for solved in each]
    classes = np.unique(np.concatenate(labels))
    places = [np.searchsorted(classes, own) for own in labels]
    return Shape(passes.shape.columns, classes), list(zip(each, places, strict=True))
