"""More columns than rows: standardised rows in as many columns as they span, for models that a rotation suits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discrim.block import Block
from discrim.comparison.compared_rows import ComparedRows
from discrim.evaluation.held_out import HeldOut
from discrim.evaluation.resampling import MOST_NUMBERS, Trial, report
from discrim.families.recipe import Recipe, Remark, Shape, Turned, rotated
from discrim.parallel import blas_threads
from discrim.typing import Floats, Index

# Rows up to which the coordinates of all training parts are kept for the next model.
KEPT_ROWS = 300


def is_wide(rows: ComparedRows) -> bool:
    return rows.dense and rows.n <= rows.width


def spanned(rows: ComparedRows, train: Index, *, indicators: bool = True) -> Floats:
    """All rows, standardised as the rows ``train`` say, in at most n columns; distances are the same. O(n^2 p)."""
    assert rows.numbers is not None
    key = train.tobytes() + bytes([indicators])
    if key in rows.spans:
        return rows.spans[key]
    z = rotated(rows.prepared_by(train, standardise=True, indicators=indicators).apply(rows.numbers.x))
    if rows.n <= KEPT_ROWS:
        rows.spans[key] = z
    return z


def standardised(recipe: Recipe[Any], rows: ComparedRows, folds: Iterable[int]) -> HeldOut | None:
    """Some folds, by models on columns that are standardised by their training rows, from statistics alone.

    None where there are more columns than training rows, or the statistics take too much memory.
    """
    assert rows.block is not None
    fewest = rows.n - int(np.bincount(rows.fold_of.number).max())
    shape = Shape(rows.design, rows.classes, fewest)
    reduction = recipe.reduction(shape)
    too_large = len(rows.fold_of.parts) * reduction.numbers(shape) > MOST_NUMBERS
    if not rows.fold_of.complementary or recipe.needs_rows or fewest <= rows.width or too_large:
        return None
    held, wanted, remarks = HeldOut(rows.n, len(rows.classes)), set(folds), dict[str, Remark]()
    trial = Trial(recipe, rows.block, shape, rows.statistics)
    with blas_threads(rows.width):
        for f, state in enumerate(trial.training(rows.fold_of, reduction)):
            if f not in wanted:
                continue
            train, test = rows.fold_of.train(f), rows.fold_of.test(f)
            units = state.units()
            fold = trial.solved(state.in_units(*units), train, units)
            remarks.update({remark.text: remark for remark in fold.solved.remarks})
            trial.put(held, fold.solved, fold.known, test, units)
    report(remarks)
    return held


def run_wide(recipe: Recipe[Any] | None, rows: ComparedRows, folds: Iterable[int], held: HeldOut) -> bool:
    """The answers for these folds of a model that a rotation leaves as it is; False where it has to be refitted."""
    if recipe is None or not is_wide(rows) or not recipe.rotation_invariant:
        return False
    marks = "own covariances" not in recipe.assumptions
    for f in folds:
        z = spanned(rows, rows.fold_of.train(f), indicators=marks)
        shape = Shape(Turned(z.shape[1]), rows.classes, rows.n, spanned_from=rows.prepared_width(indicators=marks))
        block = Block(z, rows.codes, rows.classes, rows.weight)
        Trial(recipe, block, shape).refit(rows.fold_of, [f], held)
    return True
