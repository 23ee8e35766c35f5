"""Tuning inside the folds: a fold's setting comes from models that saw neither it nor the rows that judge them.

The folds are put into at most ten groups. For two groups g and h a model is fitted to the rows of all others and
judged on g and on h. The setting for the folds in g is the one of least loss on its partners h, by models that did
not see g: it does not depend on the rows of g. The same model serves h, so that half as many are needed. With many
rows a group has one partner, with few all others. The setting for the fit of all rows is the one of least loss over
all.

Penalties weigh all columns alike, so that units would decide. They are tried in standardised columns, by the mean and
standard deviation of the rows that the model is fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.prepared import Steps
from discrim.errors import DataError, ParameterError
from discrim.evaluation.resampling import MOST_NUMBERS
from discrim.families.recipe import Grid, Recipe, Reduction, Shape, Turned
from discrim.parallel import one_blas_thread, run
from discrim.typing import Floats, Index

Pair = tuple[int, int]
Setting = Mapping[str, Any]
State = TypeVar("State")
# Losses of every setting on the rows of both groups of a pair: 2 x settings, first by what is chosen, then by what
# decides between equals.
PairLosses = tuple[Floats, Floats]

MOST_GROUPS = 10
# Rows that are enough to judge a setting by.
ENOUGH_ROWS = 1000


@dataclass(frozen=True)
class Effort:
    """How much of the full work is done: groups have so many ``partners`` at most (None: as many as they need), and

    one row out of ``judged`` chooses settings, one out of ``trained`` is learned from inside the folds.
    """

    partners: int | None = None
    judged: int = 1
    trained: int = 1


FULL = Effort()


@dataclass(frozen=True, eq=False)
class Groups:
    """``of_fold`` is the group of each fold; ``pairs`` are the groups that are left out together."""

    of_fold: NDArray[np.intp]
    of_row: NDArray[np.intp]
    pairs: tuple[Pair, ...]

    @property
    def count(self) -> int:
        return int(self.of_fold.max()) + 1


@dataclass(frozen=True, eq=False)
class Tuned:
    """``by_fold`` are the numbers of the ``settings`` that were chosen for each fold, ``best`` is that for all rows.

    They are settings for columns that are prepared by these ``steps``.
    """

    settings: tuple[Setting, ...]
    by_fold: NDArray[np.intp]
    best: Setting
    steps: Steps


def group_folds(rows: ComparedRows, most: int | None = None) -> Groups:
    """``most`` limits the partners of a group."""
    folds = len(rows.folds.parts)
    count = min(folds, MOST_GROUPS)
    of_fold = np.arange(folds) % count if not rows.folds.one_at_a_time else rows.dealer.deal(count).astype(np.intp)
    of_row = of_fold[rows.folds.number]
    partners = int(np.ceil(ENOUGH_ROWS / max(int(np.bincount(of_row).min()), 1)))
    partners = min(partners, count - 1, count - 1 if most is None else most)
    return Groups(of_fold, of_row, _pairs(count, partners))


def _pairs(count: int, partners: int) -> tuple[Pair, ...]:
    """Every group with this many others (one more where they cannot be matched): its neighbours in a ring."""
    if partners % 2 and count % 2:
        partners += 1
    steps = list(range(1, partners // 2 + 1))
    if partners % 2:
        steps.append(count // 2)
    found = {tuple(sorted((g, (g + step) % count))) for g in range(count) for step in steps}
    return tuple((a, b) for a, b in sorted(found))


def _choose(groups: Groups, settings: tuple[Setting, ...], losses: list[PairLosses], steps: Steps) -> Tuned:
    """``losses`` as the pairs: sums over rows on the first and on the second group of each pair."""
    inner = np.zeros((2, groups.count, len(settings)))
    for (g, h), pair in zip(groups.pairs, losses, strict=True):
        for kind, loss in enumerate(pair):
            # The model that saw neither is judged on h for the sake of g, and on g for that of h.
            inner[kind, g] += loss[1]
            inner[kind, h] += loss[0]
    by_group = np.array([_least(*inner[:, g]) for g in range(groups.count)])
    return Tuned(settings, by_group[groups.of_fold], settings[_least(*inner.sum(axis=1))], steps)


def _least(loss: Floats, tie: Floats) -> int:
    """The first setting of least loss, of equal ones that of the least second loss."""
    usable = np.where(np.isfinite(loss), loss, np.inf)
    near = usable <= usable.min() + 1e-9 * (1.0 + abs(usable.min()))
    return int(np.argmin(np.where(near & np.isfinite(tie), tie, np.inf)))


def tune(recipe: Recipe[Any] | None, rows: ComparedRows, *, by_error: bool, effort: Effort = FULL) -> Tuned:
    """The settings of a recipe's grid, all of them from one statistic a pair.

    Columns are standardised where the answer would depend on their units.
    """
    # Passes over the rows are dear where there is no statistic, and so is judging every setting on every row.
    rows = rows if recipe is None or recipe.one_pass else rows.thinned(effort.judged)
    groups = group_folds(rows, effort.partners)
    # Rows that are fewer than the columns are rotated into the space that they span, where that may be.
    size = Shape(Turned(min(rows.width, rows.n)), rows.classes)
    if recipe is not None and groups.count * recipe.reduction(size).numbers(size) > MOST_NUMBERS:
        raise DataError(
            f"{rows.width:,} columns are too many to tune it from the statistics of {groups.count} groups of folds. "
            "Give the model with fixed parameters instead."
        )
    # Counts of words are in one unit, and dividing by it would blow up the rare ones.
    standardise = recipe is not None and ((recipe.needs_units and rows.words is None) or rows.block is None)
    steps = steps_for(recipe, rows, standardise=standardise)
    grid = None if recipe is None else recipe.grid(_statistic(recipe, rows, steps))
    if grid is None:
        raise ParameterError("it is to be tuned by the grid of its recipe, and there is no such grid")
    why_not = grid.impossible(Shape(rows.design, rows.classes, rows.n))
    if why_not:
        raise ParameterError(why_not)
    if not grid.by_statistic:
        rows = rows.thinned()
        groups = group_folds(rows, effort.partners)
    losses = _losses_of_pairs(grid, rows, groups, steps)
    with one_blas_thread():
        found = run(losses, len(groups.pairs))
    if by_error and not grid.by_statistic and grid.criterion == "error":
        found = [(error, loss) for loss, error in found]
    if not np.isfinite(np.concatenate([loss for loss, _ in found])).all(axis=0).any():
        raise ParameterError(grid.no_setting)
    return _choose(groups, tuple(grid.settings), found, steps)


def steps_for(recipe: Recipe[Any] | None, rows: ComparedRows, *, standardise: bool) -> Steps:
    """How columns are prepared for a model.

    Gaps are not marked for covariances of classes, which would be singular where a class has no gap in a column.
    """
    takes_gaps = recipe is not None and recipe.reads == "mixed" and not standardise
    marked = recipe is None or "own covariances" not in recipe.assumptions
    # Rows to come may have gaps where these have none, and levels that none of these has.
    gaps = bool(rows.missing or rows.dropped or rows.categories)
    return Steps(gaps and not takes_gaps, standardise, marked)


def _losses_of_pairs(grid: Grid, rows: ComparedRows, groups: Groups, steps: Steps) -> Callable[[int], PairLosses]:
    """The losses of a pair by its number, from the statistics of groups where these serve all pairs.

    They do not for incomplete rows, few rows of many columns, or rows that are judged one by one in new units.
    """
    few = rows.n <= rows.width and grid.rotation_invariant
    by_groups = rows.block is not None and not few if grid.by_statistic else not steps.standardise
    states = _group_states(rows, groups, grid.reduction) if by_groups else None

    def losses(i: int) -> PairLosses:
        rows.clock.at(f"tuning {i + 1}/{len(groups.pairs)}")
        g, h = groups.pairs[i]
        sides = [np.flatnonzero(groups.of_row == k) for k in (g, h)]
        judged = sides if grid.by_statistic else [np.sort(np.concatenate(sides))]
        if states is None:
            train = np.flatnonzero((groups.of_row != g) & (groups.of_row != h))
            (fitted, *blocks), shape = _prepared(grid, rows, steps, [train, *judged])
            state = grid.reduction.of(fitted)
            parts = [grid.reduction.of(block) for block in blocks] if grid.by_statistic else []
        else:
            state = grid.reduction.merge([part for k, part in enumerate(states) if k not in (g, h)])
            parts, blocks, shape = [states[g], states[h]], [], Shape(rows.design, rows.classes)
            if steps.standardise:
                units = state.units()
                state, *parts = (part.in_units(*units) for part in (state, *parts))
        if grid.by_statistic:
            both = grid.mean_losses(state, shape, parts).T * np.array([[part.weight.sum()] for part in parts])
            return both, np.zeros_like(both)  # nothing decides between equals
        block = blocks[0] if blocks else rows.data.take(judged[0])
        side = np.stack([rows.weights[judged[0]] * (groups.of_row[judged[0]] == k) for k in (g, h)], axis=1)
        error, loss = np.zeros((2, 2, len(grid.settings)))
        for settings, part, wrong, log_loss in grid.losses(state, shape, block):
            error[:, settings] += (wrong @ side[part]).T
            loss[:, settings] += (log_loss @ side[part]).T
        return loss, error

    return losses


def _statistic(recipe: Recipe[Any], rows: ComparedRows, steps: Steps) -> Any:
    """That of all rows, in few rotated columns where the answer is the same."""
    if steps.standardise and rows.wide and recipe.rotation_invariant:
        turned = rows.spanned(np.arange(rows.n), steps)
        shape = Shape(Turned(turned.shape[1]), rows.classes, rows.n, spanned_from=rows.prepared_width(steps))
        return recipe.reduction(shape).of(replace(rows.data, x=turned))
    z = rows.prepared_by(np.arange(rows.n), steps).apply(rows.data.x) if steps.standardise else rows.data.x
    # Statistics of groups will be put into new units, which R-factors cannot be.
    by_groups = steps.standardise and rows.block is not None and not recipe.rotation_invariant
    shape = Shape(rows.design, rows.classes, None if by_groups else rows.n)
    return recipe.reduction(shape).of(replace(rows.data, x=z))


def _prepared(grid: Grid, rows: ComparedRows, steps: Steps, parts: list[Index]) -> tuple[list[Block], Shape]:
    """These rows, standardised as the first part says; in few columns where they may and can be rotated."""
    steps = replace(steps, standardise=True)
    blocks = [rows.data.take(part) for part in parts]
    if grid.rotation_invariant and rows.wide:
        z, width = rows.spanned(parts[0], steps), rows.prepared_width(steps)
        blocks = [replace(block, x=z[part]) for block, part in zip(blocks, parts, strict=True)]
    else:
        ready = rows.prepared_by(parts[0], steps, blocks[0].x)
        blocks = [replace(block, x=ready.apply(block.x, own=True)) for block in blocks]
        width = blocks[0].x.shape[1]
    return blocks, Shape(Turned(blocks[0].x.shape[1]), rows.classes, spanned_from=width)


def _group_states(rows: ComparedRows, groups: Groups, reduction: Reduction[State]) -> list[State]:
    if rows.statistics is not None:
        parts = rows.statistics.held_out(reduction)
        return [reduction.merge([parts[f] for f in np.flatnonzero(groups.of_fold == g)]) for g in range(groups.count)]
    return [reduction.of(rows.data.take(np.flatnonzero(groups.of_row == g))) for g in range(groups.count)]
