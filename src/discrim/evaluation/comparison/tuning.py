"""Tuning inside the folds: a fold's setting comes from models that saw neither it nor the rows that judge them.

The folds are put into at most ten groups. For two groups g and h a model is fitted to the rows of all others and
judged on g and on h. The setting for the folds in g is the one of least loss on its partners h, by models that did
not see g: nothing of g has a say in it. The same model serves h, so that half as many are needed. With many rows a
group has one partner, with few all others. The setting for the fit of all rows is the one of least loss over all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.engines import one_blas_thread, run
from discrim.evaluation.comparison.rows import ComparedRows
from discrim.models.lasso_classifier import second_of_two, squared_errors
from discrim.models.tuning import rotated
from discrim.solvers.lasso import lasso_path
from discrim.solvers.regression import Regression, indicator_regression
from discrim.solvers.regularized import Grid, Moments, Target, score_blocks
from discrim.solvers.regularized_search import estimated_log_priors, row_losses
from discrim.sources import Block
from discrim.statistics import ClassMoments, Depth, merge_moments

Floats = NDArray[np.float64]
Pair = tuple[int, int]
Setting = dict[str, Any]
# Losses of every setting on the rows of both groups of a pair: 2 x settings, first by what is chosen, then by what
# decides between equals.
PairLosses = tuple[Floats, Floats]

MOST_GROUPS = 10
# Rows that are enough to judge a setting by.
ENOUGH_ROWS = 1000
ALPHAS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
GAMMAS = np.array([0.0, 0.5, 0.8, 0.95, 1.0])
RIDGES: Floats = np.asarray(10.0 ** np.arange(-6, 2), dtype=np.float64)
LASSOS: Floats = np.asarray(10.0 ** -np.linspace(0.0, 3.5, 15), dtype=np.float64)
LASSOS_A_DECADE = 4


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
    """The numbers of the ``settings`` that were chosen: one ``by_fold``, and the one for all rows."""

    settings: tuple[Setting, ...]
    by_fold: NDArray[np.intp]
    overall: int

    def best(self, f: int | None = None) -> Setting:
        """The setting for fold f, or for all rows."""
        return self.settings[self.overall if f is None else int(self.by_fold[f])]


def can_be_grouped(rows: ComparedRows) -> bool:
    """Are there three folds at least, which cover all rows?"""
    return rows.fold_of.complementary and len(rows.fold_of.parts) >= 3


def group_folds(rows: ComparedRows) -> Groups:
    folds = len(rows.fold_of.parts)
    count = min(folds, MOST_GROUPS)
    of_fold = np.arange(folds) % count
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


def choose(groups: Groups, settings: tuple[Setting, ...], losses: list[PairLosses]) -> Tuned:
    """``losses`` as the pairs: sums over rows on the first and on the second group of each pair."""
    inner = np.zeros((2, groups.count, len(settings)))
    for (g, h), pair in zip(groups.pairs, losses, strict=True):
        for kind, loss in enumerate(pair):
            # The model that saw neither is judged on h for the sake of g, and on g for that of h.
            inner[kind, g] += loss[1]
            inner[kind, h] += loss[0]
    by_group = np.array([_least(*inner[:, g]) for g in range(groups.count)])
    return Tuned(settings, by_group[groups.of_fold], _least(*inner.sum(axis=1)))


def _least(loss: Floats, tie: Floats) -> int:
    """The first setting of least loss, of equal ones that of the least second loss."""
    usable = np.where(np.isfinite(loss), loss, np.inf)
    near = usable <= usable.min() + 1e-9 * (1.0 + abs(usable.min()))
    return int(np.argmin(np.where(near & np.isfinite(tie), tie, np.inf)))


def tune_rda(rows: ComparedRows, groups: Groups, by_error: bool) -> Tuned:
    """alpha and gamma of regularised discriminant analysis: the grid from one eigendecomposition a pair and alpha."""
    x, codes, weight = *_dense(rows), rows.weight
    shared = rows.statistics if x.shape[1] == rows.width else None
    parts = shared.held_out(Depth.FULL) if shared is not None else None
    statistics = _group_statistics(rows, groups, Depth.FULL, x, parts)
    w = np.ones(rows.n) if weight is None else weight
    rotated_to = rows.width if x.shape[1] < rows.width else None
    # Towards the variances the answer does not depend on units; a rotation, or a column without variance, forbids it.
    varies = sum(np.einsum("kjj->j", part.scatter) for part in statistics) > 0
    target: Target = "diagonal" if rotated_to is None and np.all(varies) else "identity"
    grid = Grid(ALPHAS, GAMMAS, target, n_columns=rotated_to)

    def losses(i: int) -> PairLosses:
        g, h = groups.pairs[i]
        s = _without(statistics, g, h)
        test = np.flatnonzero((groups.of_row == g) | (groups.of_row == h))
        side = np.stack([w[test] * (groups.of_row[test] == group) for group in (g, h)], axis=1)
        error, loss = np.zeros((2, len(ALPHAS), len(GAMMAS))), np.zeros((2, len(ALPHAS), len(GAMMAS)))
        moments = Moments(s.weight, s.mean, s.scatter)
        for settings, part, scores in score_blocks(moments, x[test], grid, estimated_log_priors(s.weight)):
            wrong, log_loss = row_losses(scores, codes[test][part])
            error[:, settings] += np.moveaxis(wrong @ side[part], -1, 0)
            loss[:, settings] += np.moveaxis(log_loss @ side[part], -1, 0)
        both = error.reshape(2, -1), loss.reshape(2, -1)
        return both if by_error else both[::-1]

    with one_blas_thread():
        found = run(losses, len(groups.pairs))
    settings = tuple({"alpha": float(a), "gamma": float(g), "target": target} for a in ALPHAS for g in GAMMAS)
    return choose(groups, settings, found)


def tune_ridge(rows: ComparedRows, groups: Groups, by_error: bool) -> Tuned:  # noqa: ARG001 - one criterion
    """alpha of the ridge by the squared error of held-out indicators, which the statistics tell without the rows."""
    x, _ = _dense(rows)
    # In the units of the columns: powers of ten near the sum of squares of one, a typical one or the mean.
    squares = np.square(x - x.mean(axis=0)).sum(axis=0)
    least, most = sorted((typical_size(squares), float(squares.mean()) if squares.any() else 1.0))
    wider = int(np.round(np.log10(most)) - np.round(np.log10(least)))
    alphas = float(10.0 ** np.round(np.log10(least))) * np.append(RIDGES, RIDGES[-1] * 10.0 ** np.arange(1, 1 + wider))

    def path(problem: Regression) -> Floats:
        values, vectors = np.linalg.eigh(problem.spread.dense())
        turned = vectors.T @ second_of_two(2.0 * problem.cross)
        shrunk = np.maximum(values, 0.0) + (alphas / problem.weight)[:, None]
        return np.asarray(vectors @ (turned / shrunk[:, :, None]))

    return _by_squared_error(rows, groups, x, alphas, path)


def tune_lasso(rows: ComparedRows, groups: Groups, by_error: bool) -> Tuned:  # noqa: ARG001 - one criterion
    """alpha of the lasso, by squared error in the same way."""
    assert rows.block is not None
    x = np.asarray(rows.block.x, dtype=np.float64)
    top = float(np.abs(_all_cross(rows, groups, x)).max(initial=0.0))
    # Columns that are small beside the largest need a penalty as much smaller.
    sizes = x.std(axis=0)
    wider = int(np.round(LASSOS_A_DECADE * np.log10(sizes.max() / typical_size(sizes)))) if sizes.any() else 0
    smaller = LASSOS[-1] * 10.0 ** -(np.arange(1, 1 + wider) / LASSOS_A_DECADE)
    alphas = float(10.0 ** np.ceil(np.log10(top or 1.0))) * np.append(LASSOS, smaller)
    return _by_squared_error(
        rows,
        groups,
        x,
        alphas,
        lambda problem: lasso_path(problem.spread, second_of_two(2.0 * problem.cross), alphas)[0],
    )


def typical_size(sizes: Floats) -> float:
    """The median of those that are not zero, which one large column does not move; 1 where all are."""
    positive = sizes[sizes > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def _by_squared_error(
    rows: ComparedRows, groups: Groups, x: Floats, alphas: Floats, path: Callable[[Regression], Floats]
) -> Tuned:
    statistics = _pooled(rows, groups, x)

    def losses(i: int) -> PairLosses:
        g, h = groups.pairs[i]
        problem = indicator_regression(_without(statistics, g, h), 0.0)
        coef = path(problem)
        intercept = second_of_two(2.0 * problem.level - 1.0) - np.einsum("j,ajm->am", problem.origin, coef)
        both = np.stack([squared_errors(statistics[k], coef, intercept) for k in (g, h)])
        both *= np.array([[statistics[k].total_weight] for k in (g, h)])
        return both, np.zeros_like(both)

    with one_blas_thread():
        found = run(losses, len(groups.pairs))
    return choose(groups, tuple({"alpha": float(alpha)} for alpha in alphas), found)


def _pooled(rows: ComparedRows, groups: Groups, x: Floats) -> list[ClassMoments]:
    shared = rows.statistics if x.shape[1] == rows.width else None
    return _group_statistics(rows, groups, Depth.POOLED, x, None if shared is None else shared.held_out(Depth.POOLED))


def _all_cross(rows: ComparedRows, groups: Groups, x: Floats) -> Floats:
    return 2.0 * indicator_regression(merge_moments(_pooled(rows, groups, x)), 0.0).cross


def _group_statistics(
    rows: ComparedRows, groups: Groups, depth: Depth, x: Floats, parts: list[ClassMoments] | None
) -> list[ClassMoments]:
    assert rows.block is not None
    members = [np.flatnonzero(groups.of_fold == g) for g in range(groups.count)]
    if parts is not None:
        return [merge_moments([parts[f] for f in own]) for own in members]
    each = [np.flatnonzero(groups.of_row == g) for g in range(groups.count)]
    weights = [None if rows.weight is None else rows.weight[own] for own in each]
    blocks = (Block(x[own], rows.codes[own], rows.classes, w) for own, w in zip(each, weights, strict=True))
    return [ClassMoments.of(block, depth) for block in blocks]


def _without(statistics: list[ClassMoments], g: int, h: int) -> ClassMoments:
    return merge_moments([part for k, part in enumerate(statistics) if k not in (g, h)])


def _dense(rows: ComparedRows) -> tuple[Floats, NDArray[np.int32]]:
    """The rows, in as many columns as they span where these are fewer: a rotation changes none of these models."""
    assert rows.block is not None
    x = np.asarray(rows.block.x, dtype=np.float64)
    return (rotated(x) if rows.n <= x.shape[1] else x), rows.codes
