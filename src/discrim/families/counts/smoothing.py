"""Choosing alpha for naive Bayes of counts: rows predicted without themselves, for all alphas from one statistic."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.families.counts.distributions import Complement, Distribution
from discrim.families.counts.leave_one_out import leave_one_out_scores, left_out_priors
from discrim.families.recipe import Chosen, Passes
from discrim.families.rule import LinearRule
from discrim.families.sparse_scores import score_sparse
from discrim.parallel import run
from discrim.statistics import ClassCounts, merge_counts
from discrim.statistics.folds import fold_numbers, of_others
from discrim.typing import Floats

if TYPE_CHECKING:
    from discrim.families.counts.recipe import CountsRecipe


from discrim import kernels
from discrim.families.counts.distributions import Bernoulli, Multinomial, complements
from discrim.families.sparse_scores import entries

# The values tried where none are given.
GRID = np.geomspace(1e-3, 10.0, 20)
# Values tried between the neighbours of the best one.
FINER = 7
# Numbers that the statistics of folds may have together, and rows that are scored at once.
MOST_NUMBERS = 1 << 24
ROWS = 1024
# Whole numbers up to here are told apart by a list of all.
MOST_WHOLE = 1e7


def choose_alpha(recipe: CountsRecipe, statistic: ClassCounts, passes: Passes) -> Chosen:
    """The alpha whose held-out predictions have the least log loss, with all that were tried and their losses."""
    block = passes.block()
    given = recipe.alphas is not None
    alphas = np.unique(np.asarray(recipe.alphas, dtype=np.float64)) if given else GRID
    if recipe.alpha == "cv":
        log_loss, error = _folds(recipe, block, alphas)
    else:
        log_loss, error = _leave_one_out(recipe, block, statistic, alphas)
        if not given:
            more = _finer(alphas, int(np.argmin(log_loss)))
            added = _leave_one_out(recipe, block, statistic, more)
            alphas = np.concatenate([alphas, more])
            order = np.argsort(alphas)
            alphas = alphas[order]
            log_loss, error = (np.concatenate(pair)[order] for pair in zip((log_loss, error), added, strict=True))
    found = {"alphas_": alphas, f"{recipe.alpha}_log_loss_": log_loss, f"{recipe.alpha}_error_": error}
    return Chosen({"alpha": float(alphas[np.argmin(log_loss)])}, found)


def _finer(alphas: Floats, best: int) -> Floats:
    """Values between the neighbours of the best one."""
    within = np.geomspace(alphas[max(best - 1, 0)], alphas[min(best + 1, len(alphas) - 1)], FINER + 2)
    return np.setdiff1d(within[1:-1], alphas)


def _leave_one_out(recipe: CountsRecipe, block: Block, statistic: ClassCounts, alphas: Floats) -> tuple[Floats, Floats]:
    if len(block) < 2:
        raise DataError("Leaving one row out needs at least two rows; found 1 sample.")
    # A class of one row is gone when it leaves, whatever alpha is.
    weight = _counting(block, statistic.rows[block.codes] > 1)
    if LeftOutScores.can_serve(recipe.distribution, block, statistic):
        losses = _left_out_at_once(recipe, block, statistic, alphas, weight)
    else:
        each = (leave_one_out_scores(recipe, block, statistic, alpha)[:, :, None] for alpha in alphas)
        losses = np.concatenate([_losses(scores, block.codes, weight) for scores in each], axis=1)
    losses /= max(float(weight.sum()), 1e-300)
    return losses[0], losses[1]


def _left_out_at_once(recipe: CountsRecipe, block: Block, s: ClassCounts, alphas: Floats, weight: Floats) -> Floats:
    """Sums of log losses and of errors over the rows, 2 x alphas; the rows are read once for all alphas."""
    family: Any = recipe.distribution
    grid, prior = LeftOutScores(family, block, s, alphas), left_out_priors(recipe, block, s)

    def task(i: int) -> Floats:
        part = slice(i * ROWS, min((i + 1) * ROWS, len(block)))
        scores = grid.of(part.start, part.stop) + prior[part, :, None]
        return _losses(scores, block.codes[part], weight[part])

    return np.asarray(sum(run(task, -(-len(block) // ROWS))))


def _folds(recipe: CountsRecipe, block: Block, alphas: Floats) -> tuple[Floats, Floats]:
    """Held-out losses of every alpha; rows are read once to count, and once an alpha to score."""
    folds = fold_numbers(recipe.cv, block.codes)
    if not folds.complementary:
        raise ParameterError(
            "The 'cv' parameter leaves some rows out of both training and test part; "
            "use a splitter that trains on all rows that it does not hold out."
        )
    tests = run(lambda f: block.take(folds.test(f)), len(folds.parts))
    threshold = recipe.distribution.threshold
    trained = of_others(run(lambda f: ClassCounts.of(tests[f], threshold), len(tests)), merge_counts)
    first = next(trained)
    # Folds are scored side by side as long as their statistics fit in memory together.
    step = max(MOST_NUMBERS // max(first.count.size, 1), 1)
    sums, total = np.zeros((2, len(alphas))), 0.0
    folds_left = zip(tests, chain([first], trained), strict=True)
    while batch := list(islice(folds_left, step)):

        def of_fold(i: int, batch: list[tuple[Block, ClassCounts]] = batch) -> tuple[Floats, float]:
            return _of_fold(recipe, *batch[i], alphas)

        for losses, weight in run(of_fold, len(batch)):
            sums += losses
            total += weight
    sums /= max(total, 1e-300)
    return sums[0], sums[1]


def _of_fold(recipe: CountsRecipe, test: Block, s: ClassCounts, alphas: Floats) -> tuple[Floats, float]:
    """Sums of losses over the rows of a fold (2 x alphas) by the statistic of the others, and their weight."""
    family = recipe.distribution
    # A row whose class is not in the training part is lost, whatever alpha is.
    weight = _counting(test, s.rows[test.codes] > 0)
    offset = np.where(s.rows > 0, recipe.score_prior(recipe.log_prior(s.weight)), -np.inf)
    if isinstance(family, Complement) and family.norm:
        losses = _one_by_one(family, s, alphas, test, offset, weight)
    else:
        losses = _all_at_once(GridScores(family, s, alphas), test, offset, weight)
    return losses, float(weight.sum())


def _all_at_once(grid: GridScores, test: Block, offset: Floats, weight: Floats) -> Floats:
    """Sums of log losses and of errors over the rows, 2 x alphas."""
    x: Any = test.x
    size = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
    losses = np.zeros((2, len(grid.alphas)))
    # Few rows at a time, so that their scores stay in cache.
    for start in range(0, len(test), ROWS):
        stop = min(start + ROWS, len(test))
        scores = grid.of(x, start, stop, size[start:stop]) + offset[:, None]
        losses += _losses(scores, test.codes[start:stop], weight[start:stop])
    return losses


def _one_by_one(
    family: Distribution, s: ClassCounts, alphas: Floats, test: Block, offset: Floats, weight: Floats
) -> Floats:
    losses = []
    for alpha in alphas:
        solution = family.solve(s, alpha)
        scores = np.empty((len(test), len(offset)))
        rule = LinearRule(solution.coef, solution.constant + offset, np.zeros(s.count.shape[1]), family.threshold)
        score_sparse(rule, test.x, 0, scores)
        losses.append(_losses(scores[:, :, None], test.codes, weight)[:, 0])
    return np.stack(losses, axis=1)


def _counting(block: Block, fair: NDArray[np.bool_]) -> Floats:
    """The weights of the rows that count."""
    return fair.astype(np.float64) if block.weight is None else np.where(fair, block.weight, 0.0)


def _losses(scores: Floats, codes: NDArray[np.int32], weight: Floats) -> Floats:
    """Weighted sums of -log posterior of the true class and of wrong predictions, for scores n x K x alphas."""
    own = scores[np.arange(len(codes)), codes]
    top = scores.max(axis=1)
    wrong = scores.argmax(axis=1) != codes[:, None]
    counts = weight > 0
    with np.errstate(invalid="ignore"):
        loss = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - own
    return np.stack([weight[counts] @ loss[counts], weight[counts] @ wrong[counts]])


class GridScores:
    """Scores of rows by one statistic for every alpha, before the classes' priors; not for ``Complement(norm=True)``.

    A count N stands for the logarithms log(N + alpha) of all alphas, which lie side by side: a row is read once.
    """

    def __init__(self, family: Distribution, s: ClassCounts, alphas: Floats) -> None:
        self.family, self.alphas, p = family, alphas, s.count.shape[1]
        count = complements(s.count) if isinstance(family, Complement) else s.count
        self._present = _Logs(count, alphas)
        self._absent: _Logs | None = None
        if isinstance(family, Bernoulli):
            self._absent = _Logs(np.maximum(s.weight[:, None] - s.count, 0.0), alphas)
            totals = np.log(s.weight[:, None] + 2.0 * alphas)
            self._constant = self._absent.sums() - p * totals
        else:
            self._constant = np.log(count.sum(axis=1)[:, None] + p * alphas)

    def of(self, x: Any, start: int, stop: int, size: Floats) -> Floats:
        """n x K x alphas for rows start to stop of sparse x, whose entries sum to ``size``."""
        rows, threshold = entries(x, start, stop), self.family.threshold
        scores = self._present.of_rows(rows, threshold)
        if self._absent is not None:
            return np.asarray(scores - self._absent.of_rows(rows, threshold) + self._constant)
        scores -= size[:, None, None] * self._constant
        return -scores if isinstance(self.family, Complement) else scores


class LeftOutScores:
    """The same of every row by the statistic without it, where all counts are whole numbers and rows weigh one.

    Row i of class g leaves N_gj - x_ij for each of its entries: again a count, whose logarithms lie side by side. So
    each entry is read twice for all alphas. ``Multinomial`` and ``Bernoulli``; see ``counts_scores`` for one alpha.
    """

    def __init__(self, family: Multinomial | Bernoulli, block: Block, s: ClassCounts, alphas: Floats) -> None:
        x: Any = block.x
        self._x, self._codes, self._p = x, block.codes, s.count.shape[1]
        self._size = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
        self.family, self.alphas = family, alphas
        self._all = GridScores(family, s, alphas)
        own = np.repeat(block.codes, np.diff(x.indptr))
        gone = x.data if family.threshold is None else (x.data > family.threshold).astype(np.float64)
        self._present = _Logs((s.count[own, x.indices] - gone)[None], alphas)
        self._total = s.count.sum(axis=1)
        self._absent: _Logs | None = None
        if isinstance(family, Bernoulli):
            absent = s.weight[:, None] - s.count
            self._absent = _Logs((absent[own, x.indices] - gone)[None], alphas)
            # A column that every other row has is not absent from this one.
            totals = np.log(np.maximum(s.weight[:, None] - 1.0, 0.0) + 2.0 * alphas)
            self._constant = _Logs(absent - 1.0, alphas).sums() - self._p * totals

    @staticmethod
    def can_serve(family: Distribution, block: Block, s: ClassCounts) -> bool:
        x: Any = block.x
        return (
            isinstance(family, Multinomial | Bernoulli)
            and block.weight is None
            and float(s.count.max(initial=0.0)) < MOST_WHOLE
            and (family.threshold is not None or bool((np.floor(x.data) == x.data).all()))
        )

    def of(self, start: int, stop: int) -> Floats:
        """n x K x alphas for the rows start to stop."""
        size, codes = self._size[start:stop], self._codes[start:stop]
        scores = self._all.of(self._x, start, stop, size)
        own = self._entries(self._present, start, stop)
        if self._absent is not None:
            own += self._constant[codes] - self._entries(self._absent, start, stop)
        else:
            left = np.maximum(self._total[codes] - size, 0.0)
            own -= size[:, None] * np.log(left[:, None] + self._p * self.alphas)
        scores[np.arange(stop - start), codes] = own
        return scores

    def _entries(self, logs: _Logs, start: int, stop: int) -> Floats:
        """Sums over the entries of each row, where every entry has a count of its own."""
        x = self._x
        # An entry's place among the columns is its place among the entries.
        first = x.indptr[start : stop + 1]
        columns = np.arange(first[0], first[-1], dtype=x.indptr.dtype) - first[0]
        values, which = x.data[first[0] : first[-1]], logs.which[first[0] : first[-1]]
        rows = values, columns, first - first[0]
        return np.asarray(kernels.grid_sums(rows, which, logs.logs, self.family.threshold)[:, 0, : logs.size])


class _Logs:
    """log(count + alpha) of the counts K x p, each count written down once; zero for counts below zero."""

    def __init__(self, count: Floats, alphas: Floats) -> None:
        values, which = _distinct(count)
        width = -(-len(alphas) // 8) * 8
        self.size = len(alphas)
        self.logs = np.zeros((len(values), width))
        known = values >= 0
        self.logs[known, : len(alphas)] = np.log(values[known, None] + alphas)
        self.which = np.ascontiguousarray(which.reshape(count.shape).T, dtype=np.int32)

    def sums(self) -> Floats:
        """Over all columns, K x alphas."""
        counted = [np.bincount(column, minlength=len(self.logs)) for column in self.which.T]
        return np.asarray(np.array(counted) @ self.logs[:, : self.size])

    def of_rows(self, rows: Any, threshold: float | None) -> Floats:
        return np.asarray(kernels.grid_sums(rows, self.which, self.logs, threshold)[:, :, : self.size])


def _distinct(count: Floats) -> tuple[Floats, NDArray[Any]]:
    """The values that occur, and which of them each count is; whole numbers need no sorting."""
    least, most = float(count.min(initial=0.0)), float(count.max(initial=0.0))
    if most - least < MOST_WHOLE and bool((np.floor(count) == count).all()):
        present, codes = kernels.code_integers(count.astype(np.int64).ravel(), int(least), int(most - least) + 1)
        return np.flatnonzero(present).astype(np.float64) + least, codes
    return np.unique(count, return_inverse=True)
