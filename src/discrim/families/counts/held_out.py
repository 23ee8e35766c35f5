"""Naive Bayes of counts on rows that are held out: leave-one-out scores in closed form, and the choice of alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.errors import DataError
from discrim.families.counts.rule import (
    ROUNDING,
    Alpha,
    Bernoulli,
    Complement,
    Distribution,
    Multinomial,
    Solution,
    complements,
    difference,
    summed,
)
from discrim.families.recipe import Chosen, Passes
from discrim.families.rule import LinearRule, Output, entries, over_rows
from discrim.families.tuning import complementary_folds
from discrim.parallel import run
from discrim.statistics import ClassCounts
from discrim.statistics.folds import of_others
from discrim.typing import Codes, Floats, Mask

if TYPE_CHECKING:
    from discrim.families.counts.recipe import CountsRecipe

# Whole numbers whose logarithms are kept: most counts are small.
LOOKED_UP = 1 << 17
# The values tried where none are given.
GRID = np.geomspace(1e-3, 10.0, 20)
# Values tried between the neighbours of the best one.
FINER = 7
# Rows that are scored at once.
ROWS = 1024
# Whole numbers up to here are distinguished by a list of all.
MOST_WHOLE = 1e7


def leave_one_out_scores(
    recipe: CountsRecipe, block: Block, statistic: ClassCounts, alpha: Alpha, solution: Solution | None = None
) -> Floats:
    """Scores n x K with the classes' priors, each row by the model without it; -inf for a class that is gone."""
    prior = _priors_left(recipe, block, statistic)
    # What a class that is gone would have scored does not matter.
    scores = counts_scores(recipe.distribution, block, statistic, alpha, solution)
    return np.where(np.isneginf(prior), -np.inf, scores + prior)


def counts_scores(
    family: Distribution, block: Block, s: ClassCounts, alpha: Alpha, solution: Solution | None = None
) -> Floats:
    """Scores n x K of every row of sparse ``block`` by the model without it, before the classes' priors.

    ``s`` is the statistic of all rows of the block, and ``solution`` what follows from it, where that is known; row i
    of class g leaves with its weight w_i. alpha is positive.

    Multinomial: N_gj becomes N_gj - w_i x_ij, all other classes stay: one logarithm for each entry of the row.
    Bernoulli: N_gj becomes N_gj - w_i x_ij and n_g becomes n_g - w_i. The absent columns are all columns less the
    present ones, so that again only the entries count, besides p logarithms for each class and weight that occurs.
    Complement: the row is in the complement of every class but its own, C_kj becomes C_kj - w_i x_ij for k != g.
    """
    solution = family.solve(s, alpha) if solution is None else solution
    scores, own = np.empty((len(block), len(s.weight))), (np.arange(len(block)), block.codes)
    rule = LinearRule(solution.coef, solution.constant, np.zeros(s.count.shape[1]), family.threshold)
    rule.fill(block.x, Output.SCORES, scores)
    if isinstance(family, Complement):
        others = _by_others(family, block, s, alpha)
        others[own] = scores[own]
        return others
    if isinstance(family, Bernoulli):
        scores[own] = _bernoulli(family, block, s, *family.pair(alpha))
    else:
        left = np.maximum(s.count.sum(axis=1)[block.codes] - _weights(block) * _sizes(block), 0.0)
        total = left + summed(alpha, s.count.shape[1])
        scores[own] = _logs_left(block, s.count, alpha, None)[:, 0] - _sizes(block) * np.log(total)
    return scores


def _bernoulli(family: Bernoulli, block: Block, s: ClassCounts, a: Alpha, b: Alpha) -> Floats:
    """The score of every row in its own class."""
    gone, absent = _weights(block), difference(s.weight[:, None], s.count)
    logs = _logs_left(block, s.count, a, family.threshold) - _logs_left(block, absent, b, family.threshold)
    # All columns as if they were absent from the row: the same for rows of one class and weight.
    pairs, which = np.unique(np.column_stack([block.codes, gone]), axis=0, return_inverse=True)
    base = np.array([_absent_from_all(absent[int(g)], s.weight[int(g)], w, a, b) for g, w in pairs])
    return np.asarray(logs[:, 0] + base[which.ravel()])


def _absent_from_all(absent: Floats, weight: float, gone: float, a: Alpha, b: Alpha) -> float:
    """sum_j log P(x_j = 0), without the columns that every other row has: these are present in the row itself."""
    left = difference(absent, gone)
    total = np.broadcast_to(np.maximum(weight - gone, 0.0) + (a + b), left.shape)
    chance = np.where(left < 0, 1.0, np.maximum(left, 0.0) + b)
    return float(np.log(chance).sum() - np.log(total).sum())


def _by_others(family: Complement, block: Block, s: ClassCounts, alpha: Alpha) -> Floats:
    """The scores of every row in the classes that it is not in, n x K."""
    count, size, p = complements(s.count), _sizes(block), s.count.shape[1]
    # Classes of one column side by side: the kernel asks for all of them at once.
    near = np.ascontiguousarray(count.T).T
    total = np.maximum(count.sum(axis=1) - (_weights(block) * size)[:, None], 0.0) + summed(alpha, p)
    scores = size[:, None] * np.log(total) - _logs_left(block, near, alpha, None, own=False)
    if family.norm:
        logs, before = np.log(count + alpha), np.empty_like(scores)
        # Which columns the row has: every stored entry counts as one.
        LinearRule(logs, np.zeros(len(logs)), np.zeros(p), 0.0).fill(block.x, Output.SCORES, before)
        after = _logs_left(block, near, alpha, None, own=False, plain=True)
        scores /= p * np.log(total) - (logs.sum(axis=1) - before + after)
    return np.asarray(scores)


def _logs_left(
    block: Block, count: Floats, alpha: Alpha, threshold: float | None, *, own: bool = True, plain: bool = False
) -> Floats:
    prior = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    most = min(int(count.max(initial=0.0)) + 1, LOOKED_UP) if len(prior) == 1 else 0
    priors = prior, np.log(np.arange(most) + prior[0]) if most else np.empty(0)

    def task(start: int, stop: int) -> Floats:
        weight = None if block.weight is None else block.weight[start:stop]
        labels = block.codes[start:stop], weight
        return kernels.held_out_logs(entries(block.x, start, stop), labels, count, priors, threshold, own, plain)

    return np.concatenate(over_rows(block.x, task))


def _weights(block: Block) -> Floats:
    return np.ones(len(block)) if block.weight is None else block.weight


def _sizes(block: Block) -> Floats:
    """The sum of every row."""
    x: Any = block.x
    return np.asarray(x.sum(axis=1), dtype=np.float64).ravel()


def _priors_left(recipe: CountsRecipe, block: Block, statistic: ClassCounts) -> Floats:
    """What the classes' priors add to the scores of each row without it, n x K; -inf where no row of a class is left.

    They are learned from n_k + class_alpha_k.
    """
    gone, weight, own = _weights(block), statistic.weight, (np.arange(len(block)), block.codes)
    counted = np.tile(weight + np.asarray(recipe.class_alpha, dtype=np.float64), (len(block), 1))
    over = weight[block.codes] - gone <= ROUNDING * weight[block.codes]
    counted[own] = np.where(over, 0.0, counted[own] - gone)
    with np.errstate(divide="ignore"):
        left = np.log(counted) - np.log(counted.sum(axis=1, keepdims=True))
    learned = recipe.fit_prior and recipe.class_prior is None
    prior = recipe.score_prior(left if learned else recipe.log_prior(weight))
    return np.where(np.isneginf(left), -np.inf, prior)


def choose_alpha(recipe: CountsRecipe, statistic: ClassCounts, passes: Passes) -> Chosen:
    """The alpha whose held-out predictions have the least log loss, with all that were tried and their losses."""
    block = passes.block()
    given = recipe.alphas is not None
    alphas = np.unique(np.asarray(recipe.alphas, dtype=np.float64)) if given else GRID
    if recipe.alpha == "cv":
        losses = _folds(recipe, block, alphas)
    else:
        losses = _leave_one_out(recipe, block, statistic, alphas)
        if not given:
            more = _finer(alphas, int(np.argmin(losses[0])))
            losses = np.hstack([losses, _leave_one_out(recipe, block, statistic, more)])
            alphas = np.concatenate([alphas, more])
            order = np.argsort(alphas)
            alphas, losses = alphas[order], losses[:, order]
    found = {"alphas_": alphas, f"{recipe.alpha}_log_loss_": losses[0], f"{recipe.alpha}_error_": losses[1]}
    return Chosen({"alpha": float(alphas[np.argmin(losses[0])])}, found)


def _finer(alphas: Floats, best: int) -> Floats:
    """Values between the neighbours of the best one."""
    within = np.geomspace(alphas[max(best - 1, 0)], alphas[min(best + 1, len(alphas) - 1)], FINER + 2)
    return np.setdiff1d(within[1:-1], alphas)


def _leave_one_out(recipe: CountsRecipe, block: Block, statistic: ClassCounts, alphas: Floats) -> Floats:
    """Mean log losses and errors, 2 x alphas."""
    if len(block) < 2:
        raise DataError("Leaving one row out needs at least two rows; found 1 sample.")
    # A class of one row is gone when it leaves, whatever alpha is.
    weight = _counting(block, statistic.rows[block.codes] > 1)
    family: Any = recipe.distribution
    if LeftOutScores.can_serve(family, block, statistic):
        prior = _priors_left(recipe, block, statistic)
        losses = _sums(LeftOutScores(family, block, statistic, alphas), prior, block.codes, weight)
    else:
        each = (leave_one_out_scores(recipe, block, statistic, alpha)[:, :, None] for alpha in alphas)
        losses = np.concatenate([_losses(scores, block.codes, weight) for scores in each], axis=1)
    return losses / max(float(weight.sum()), 1e-300)


def _folds(recipe: CountsRecipe, block: Block, alphas: Floats) -> Floats:
    """The same of the rows of every fold by the statistic of the others; rows are read once to count, once to score."""
    folds, family = complementary_folds(recipe.cv, block.codes), recipe.distribution
    tests = run(lambda f: block.take(folds.test(f)), len(folds.parts))
    counted = run(lambda f: ClassCounts.of(tests[f], family.threshold), len(tests))
    losses, total = np.zeros((2, len(alphas))), 0.0
    for test, s in zip(tests, of_others(counted, ClassCounts.merged), strict=True):
        # A row whose class is not in the training part is lost, whatever alpha is.
        weight = _counting(test, s.rows[test.codes] > 0)
        prior = np.where(s.rows > 0, recipe.score_prior(recipe.log_prior(s.weight)), -np.inf)
        losses += _sums(GridScores(family, test, s, alphas), np.tile(prior, (len(test), 1)), test.codes, weight)
        total += float(weight.sum())
    return losses / max(total, 1e-300)


def _sums(grid: GridScores, prior: Floats, codes: Codes, weight: Floats) -> Floats:
    """Sums of log losses and of errors over all rows, 2 x alphas; few rows at a time, whose scores stay in cache."""

    def task(i: int) -> Floats:
        part = slice(i * ROWS, min((i + 1) * ROWS, len(codes)))
        scores = grid.of(part.start, part.stop) + prior[part, :, None]
        return _losses(scores, codes[part], weight[part])

    return np.asarray(sum(run(task, -(-len(codes) // ROWS))))


def _counting(block: Block, fair: Mask) -> Floats:
    """The weights of the rows that count."""
    return fair.astype(np.float64) if block.weight is None else np.where(fair, block.weight, 0.0)


def _losses(scores: Floats, codes: Codes, weight: Floats) -> Floats:
    """Weighted sums of -log posterior of the true class and of wrong predictions, for scores n x K x alphas."""
    own = scores[np.arange(len(codes)), codes]
    top = scores.max(axis=1)
    wrong = scores.argmax(axis=1) != codes[:, None]
    counts = weight > 0
    with np.errstate(invalid="ignore"):
        loss = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - own
    return np.stack([weight[counts] @ loss[counts], weight[counts] @ wrong[counts]])


class GridScores:
    """Scores of the rows of a sparse block by one statistic for every alpha, before the classes' priors.

    A count N stands for the logarithms log(N + alpha) of all alphas, which lie side by side: a row is read once.
    """

    def __init__(self, family: Distribution, block: Block, s: ClassCounts, alphas: Floats) -> None:
        x: Any = block.x
        self._family, self._x, self._size = family, x, _sizes(block)
        count, p = complements(s.count) if isinstance(family, Complement) else s.count, s.count.shape[1]
        self._present, self._absent = _Logs(count, alphas), None
        if isinstance(family, Bernoulli):
            self._absent = _Logs(np.maximum(s.weight[:, None] - s.count, 0.0), alphas)
            self._constant = self._absent.sums() - p * np.log(s.weight[:, None] + 2.0 * alphas)
        else:
            self._constant = np.log(count.sum(axis=1)[:, None] + p * alphas)
        self._divisor: Any = 1.0
        if isinstance(family, Complement):
            self._divisor = self._present.sums() - p * self._constant if family.norm else -1.0

    def of(self, start: int, stop: int) -> Floats:
        """n x K x alphas for the rows start to stop."""
        rows, threshold = entries(self._x, start, stop), self._family.threshold
        scores = self._present.of_rows(rows, threshold)
        if self._absent is not None:
            return np.asarray(scores - self._absent.of_rows(rows, threshold) + self._constant)
        scores -= self._size[start:stop, None, None] * self._constant
        return scores if isinstance(self._family, Multinomial) else np.asarray(scores / self._divisor)


class LeftOutScores(GridScores):
    """The same of every row by the statistic without it, where all counts are whole numbers and rows weigh one.

    Row i of class g leaves N_gj - x_ij for each of its entries: again a count, whose logarithms lie side by side. So
    each entry is read twice for all alphas. ``Multinomial`` and ``Bernoulli``; see ``counts_scores`` for one alpha.
    """

    def __init__(self, family: Multinomial | Bernoulli, block: Block, s: ClassCounts, alphas: Floats) -> None:
        super().__init__(family, block, s, alphas)
        x, p = self._x, s.count.shape[1]
        self._codes, own = block.codes, np.repeat(block.codes, np.diff(x.indptr))
        gone = x.data if family.threshold is None else (x.data > family.threshold).astype(np.float64)
        self._own_present, self._own_absent = _Logs((s.count[own, x.indices] - gone)[None], alphas), None
        if isinstance(family, Bernoulli):
            absent = s.weight[:, None] - s.count
            self._own_absent = _Logs((absent[own, x.indices] - gone)[None], alphas)
            # A column that every other row has is not absent from this one.
            totals = np.log(np.maximum(s.weight[:, None] - 1.0, 0.0) + 2.0 * alphas)
            self._own_constant = (_Logs(absent - 1.0, alphas).sums() - p * totals)[block.codes]
        else:
            left = np.maximum(s.count.sum(axis=1)[block.codes] - self._size, 0.0)
            self._own_constant = -self._size[:, None] * np.log(left[:, None] + p * alphas)

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
        scores = super().of(start, stop)
        own = self._own_constant[start:stop] + self._entries(self._own_present, start, stop)
        if self._own_absent is not None:
            own -= self._entries(self._own_absent, start, stop)
        scores[np.arange(stop - start), self._codes[start:stop]] = own
        return scores

    def _entries(self, logs: _Logs, start: int, stop: int) -> Floats:
        """Sums over the entries of each row, where every entry has a count of its own."""
        x = self._x
        # An entry's place among the columns is its place among the entries.
        first = x.indptr[start : stop + 1]
        columns = np.arange(first[0], first[-1], dtype=x.indptr.dtype) - first[0]
        values, which = x.data[first[0] : first[-1]], logs.which[first[0] : first[-1]]
        rows = values, columns, first - first[0]
        return np.asarray(kernels.grid_sums(rows, which, logs.logs, self._family.threshold)[:, 0, : logs.size])


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
