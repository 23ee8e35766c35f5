"""Tuning inside the folds: a fold's setting comes from models that saw neither it nor the rows that judge them.

The folds are put into at most ten groups. For two groups g and h a model is fitted to the rows of all others and
judged on g and on h. The setting for the folds in g is the one of least loss on its partners h, by models that did
not see g: nothing of g has a say in it. The same model serves h, so that half as many are needed. With many rows a
group has one partner, with few all others. The setting for the fit of all rows is the one of least loss over all.

Penalties weigh all columns alike, so that units would decide. They are tried in standardised columns, by the mean and
standard deviation of the rows that the model is fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.spanned import is_wide, spanned
from discrim.errors import ParameterError
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
    """The numbers of the ``settings`` that were chosen: one ``by_fold``, and the one for all rows.

    They are settings for ``standardised`` columns, or for columns as they are.
    """

    settings: tuple[Setting, ...]
    by_fold: NDArray[np.intp]
    overall: int
    standardised: bool

    def best(self, f: int | None = None) -> Setting:
        """The setting for fold f, or for all rows."""
        return self.settings[self.overall if f is None else int(self.by_fold[f])]


def can_be_grouped(rows: ComparedRows) -> bool:
    """Are there three folds at least, which cover all rows?"""
    return rows.fold_of.complementary and len(rows.fold_of.parts) >= 3


def group_folds(rows: ComparedRows) -> Groups:
    folds = len(rows.fold_of.parts)
    count = min(folds, MOST_GROUPS)
    of_fold = np.arange(folds) % count if not rows.fold_of.one_at_a_time else rows.dealer.deal(count).astype(np.intp)
    of_row = of_fold[rows.fold_of.number]
    partners = int(np.ceil(ENOUGH_ROWS / max(int(np.bincount(of_row).min()), 1)))
    return Groups(of_fold, of_row, _pairs(count, min(partners, count - 1)))


def _pairs(count: int, partners: int) -> tuple[Pair, ...]:
    """Every group with this many others (one more where they cannot be matched): its neighbours in a ring."""
    if partners % 2 and count % 2:
        partners += 1
    steps = list(range(1, partners // 2 + 1))
    if partners % 2:
        steps.append(count // 2)
    found = {tuple(sorted((g, (g + step) % count))) for g in range(count) for step in steps}
    return tuple((a, b) for a, b in sorted(found))


def choose(groups: Groups, settings: tuple[Setting, ...], losses: list[PairLosses], *, standardised: bool) -> Tuned:
    """``losses`` as the pairs: sums over rows on the first and on the second group of each pair."""
    inner = np.zeros((2, groups.count, len(settings)))
    for (g, h), pair in zip(groups.pairs, losses, strict=True):
        for kind, loss in enumerate(pair):
            # The model that saw neither is judged on h for the sake of g, and on g for that of h.
            inner[kind, g] += loss[1]
            inner[kind, h] += loss[0]
    by_group = np.array([_least(*inner[:, g]) for g in range(groups.count)])
    return Tuned(settings, by_group[groups.of_fold], _least(*inner.sum(axis=1)), standardised)


def _least(loss: Floats, tie: Floats) -> int:
    """The first setting of least loss, of equal ones that of the least second loss."""
    usable = np.where(np.isfinite(loss), loss, np.inf)
    near = usable <= usable.min() + 1e-9 * (1.0 + abs(usable.min()))
    return int(np.argmin(np.where(near & np.isfinite(tie), tie, np.inf)))


def tune_grid(recipe: Recipe[Any], rows: ComparedRows, groups: Groups, by_error: bool) -> Tuned:
    """The settings of a recipe's grid, all of them from one statistic a pair.

    Columns are standardised where the answer would depend on their units.
    """
    # Counts of words are in one unit, and dividing by it would blow up the rare ones.
    standardise = (recipe.needs_units and rows.words is None) or rows.block is None
    # As the models of the folds get their columns: those with a covariance for each class have no marks of gaps.
    how = _Columns(standardise, indicators="own covariances" not in recipe.assumptions)
    grid = recipe.grid(_whole(recipe, rows, groups, how))
    if grid is None:
        raise ParameterError("it is to be tuned by the grid of its recipe, and there is no such grid")
    why_not = grid.impossible(Shape(rows.design, rows.classes, rows.n))
    if why_not:
        raise ParameterError(why_not)
    trying = _by_statistics if grid.by_statistic else _by_rows
    losses = trying(grid, rows, groups, how)
    with one_blas_thread():
        found = run(losses, len(groups.pairs))
    if by_error and not grid.by_statistic and grid.criterion == "error":
        found = [(error, loss) for loss, error in found]
    return choose(groups, tuple(grid.settings), found, standardised=standardise)


class _Columns(NamedTuple):
    """How columns are prepared: standardised or not, and with marks of gaps or without."""

    standardise: bool
    indicators: bool


def _by_rows(grid: Grid, rows: ComparedRows, groups: Groups, how: _Columns) -> Callable[[int], PairLosses]:
    """Log losses and errors of a pair, from the scores of its rows."""
    states = None if how.standardise else _group_states(rows, groups, grid.reduction)
    w, size = np.ones(rows.n) if rows.weight is None else rows.weight, len(grid.settings)

    def losses(i: int) -> PairLosses:
        g, h = groups.pairs[i]
        test = np.flatnonzero((groups.of_row == g) | (groups.of_row == h))
        if states is not None:
            assert rows.block is not None
            state = grid.reduction.merge([part for k, part in enumerate(states) if k not in (g, h)])
            judged, shape = rows.block.take(test), Shape(rows.design, rows.classes)
        else:
            train = np.flatnonzero((groups.of_row != g) & (groups.of_row != h))
            (fitted, judged), shape = _prepared(grid, rows, how, [train, test])
            state = grid.reduction.of(fitted)
        side = np.stack([w[test] * (groups.of_row[test] == group) for group in (g, h)], axis=1)
        error, loss = np.zeros((2, size)), np.zeros((2, size))
        for settings, part, wrong, log_loss in grid.losses(state, shape, judged):
            error[:, settings] += (wrong @ side[part]).T
            loss[:, settings] += (log_loss @ side[part]).T
        return loss, error

    return losses


def _by_statistics(grid: Grid, rows: ComparedRows, groups: Groups, how: _Columns) -> Callable[[int], PairLosses]:
    """The losses of a pair from the statistics of its groups; nothing decides between equals."""
    fast = _in_groups(rows, rotates=grid.rotation_invariant)
    states = _group_states(rows, groups, grid.reduction) if fast else None

    def losses(i: int) -> PairLosses:
        g, h = groups.pairs[i]
        if states is not None:
            state = grid.reduction.merge([part for k, part in enumerate(states) if k not in (g, h)])
            parts, shape = [states[g], states[h]], Shape(rows.design, rows.classes)
            if how.standardise:
                units = state.units()
                state, *parts = (part.in_units(*units) for part in (state, *parts))
        else:
            each = [np.flatnonzero((groups.of_row != g) & (groups.of_row != h))]
            each += [np.flatnonzero(groups.of_row == k) for k in (g, h)]
            blocks, shape = _prepared(grid, rows, how, each)
            state, *parts = map(grid.reduction.of, blocks)
        both = grid.mean_losses(state, shape, parts).T * np.array([[part.weight.sum()] for part in parts])
        return both, np.zeros_like(both)

    return losses


def _whole(recipe: Recipe[Any], rows: ComparedRows, groups: Groups, how: _Columns) -> Any:
    """The statistic of all rows."""
    shape = Shape(rows.design, rows.classes, rows.n)
    if not how.standardise:
        assert rows.block is not None
        return recipe.reduction(shape).of(rows.block)
    if recipe.one_pass and _in_groups(rows, rotates=recipe.rotation_invariant):
        reduction = recipe.reduction(Shape(rows.design, rows.classes))
        whole = reduction.merge(_group_states(rows, groups, reduction))
        return whole.in_units(*whole.units())
    every = np.arange(rows.n)
    z = _standardised(rows, every, rotate=False, indicators=how.indicators)
    return recipe.reduction(shape).of(_block(rows, every, z))


def _in_groups(rows: ComparedRows, *, rotates: bool) -> bool:
    """Do statistics of groups serve all pairs? Of incomplete rows, or few rows of many columns, they do not."""
    return rows.block is not None and (rows.n > rows.width or not rotates)


def _prepared(grid: Grid, rows: ComparedRows, how: _Columns, parts: list[Index]) -> tuple[list[Block], Shape]:
    """These rows, standardised as the first part says; turned into few columns where that may and can be."""
    z = _standardised(rows, parts[0], rotate=grid.rotation_invariant, indicators=how.indicators)
    shape = Shape(Turned(z.shape[1]), rows.classes, spanned_from=rows.prepared_width(indicators=how.indicators))
    return [_block(rows, part, z[part]) for part in parts], shape


def _standardised(rows: ComparedRows, train: Index, *, rotate: bool, indicators: bool) -> Any:
    """All rows; sparse ones stay so."""
    if rotate and is_wide(rows):
        return spanned(rows, train, indicators=indicators)
    assert rows.numbers is not None
    return rows.prepared_by(train, standardise=True, indicators=indicators).apply(rows.numbers.x)


def _group_states(rows: ComparedRows, groups: Groups, reduction: Reduction[State]) -> list[State]:
    assert rows.block is not None
    if rows.statistics is not None:
        parts = rows.statistics.held_out(reduction)
        return [reduction.merge([parts[f] for f in np.flatnonzero(groups.of_fold == g)]) for g in range(groups.count)]
    return [reduction.of(rows.block.take(np.flatnonzero(groups.of_row == g))) for g in range(groups.count)]


def _block(rows: ComparedRows, index: Index, z: Any) -> Block:
    """The rows ``index``, whose columns are z."""
    weight = None if rows.weight is None else rows.weight[index]
    return Block(z, rows.codes[index], rows.classes, weight)
