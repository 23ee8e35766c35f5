"""Leave-one-out scores of naive Bayes of counts, in closed form: a row takes only its own entries with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.families.counts.distributions import (
    ROUNDING,
    Alpha,
    Bernoulli,
    Complement,
    Distribution,
    Multinomial,
    Solution,
    complements,
)
from discrim.families.rule import LinearRule
from discrim.families.sparse_scores import entries, over_rows, score_sparse
from discrim.statistics import ClassCounts
from discrim.typing import Floats

if TYPE_CHECKING:
    from discrim.families.counts.recipe import CountsRecipe

# Whole numbers whose logarithms are kept: most counts are small.
LOOKED_UP = 1 << 17


def leave_one_out_scores(
    recipe: CountsRecipe, block: Block, statistic: ClassCounts, alpha: Alpha, solution: Solution | None = None
) -> Floats:
    """Scores n x K with the classes' priors, each row by the model without it; -inf for a class that is gone."""
    prior = left_out_priors(recipe, block, statistic)
    # What a class that is gone would have scored does not matter.
    scores = counts_scores(recipe.distribution, block, statistic, alpha, solution)
    return np.where(np.isneginf(prior), -np.inf, scores + prior)


def left_out_priors(recipe: CountsRecipe, block: Block, statistic: ClassCounts) -> Floats:
    """What the classes' priors add to the scores of each row without it, n x K."""
    gone = np.ones(len(block)) if block.weight is None else block.weight
    left = _log_priors_left(block.codes, statistic.weight, gone, np.asarray(recipe.class_alpha, dtype=np.float64))
    learned = recipe.fit_prior and recipe.class_prior is None
    prior = recipe.score_prior(left if learned else recipe.log_prior(statistic.weight))
    return np.where(np.isneginf(left), -np.inf, prior)


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
    start = _begin(family, block, s, family.solve(s, alpha) if solution is None else solution)
    if isinstance(family, Multinomial):
        return _multinomial(start, block, s, alpha)
    if isinstance(family, Bernoulli):
        return _bernoulli(family, start, block, s, alpha)
    return _complement(family, start, block, s, alpha)


def _log_priors_left(codes: NDArray[np.int32], weight: Floats, gone: Floats, added: Floats) -> Floats:
    """log P(class) n x K without each row, from n_k + added_k; -inf where no row of the class is left."""
    n, size = len(codes), len(weight)
    counted = np.broadcast_to(weight + added, (n, size)).copy()
    own = np.arange(n), codes
    left = weight[codes] - gone
    counted[own] -= gone
    counted[own] = np.where(left <= ROUNDING * weight[codes], 0.0, counted[own])
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(counted) - np.log(counted.sum(axis=1, keepdims=True)))


def _multinomial(start: _Start, block: Block, s: ClassCounts, alpha: Alpha) -> Floats:
    scores, own, gone, size = start
    prior = np.broadcast_to(np.asarray(alpha, dtype=np.float64), s.count.shape[1:]).sum()
    total = np.maximum(s.count.sum(axis=1)[block.codes] - gone * size, 0.0) + prior
    logs = _held_out(block, s.count, alpha, None)[:, 0]
    scores[own] = logs - size * np.log(total)
    return scores


def _bernoulli(family: Bernoulli, start: _Start, block: Block, s: ClassCounts, alpha: Alpha) -> Floats:
    scores, own, gone, _ = start
    a, b = family.pair(alpha)
    absent = s.weight[:, None] - s.count
    absent[np.abs(absent) <= ROUNDING * s.count] = 0.0
    logs = _held_out(block, s.count, a, family.threshold) - _held_out(block, absent, b, family.threshold)
    # All columns as if they were absent from the row: the same for rows of one class and weight.
    pairs, which = np.unique(np.column_stack([block.codes, gone]), axis=0, return_inverse=True)
    base = np.array([_absent_from_all(absent[int(g)], s.weight[int(g)], w, a, b) for g, w in pairs])
    scores[own] = logs[:, 0] + base[which.ravel()]
    return scores


def _absent_from_all(absent: Floats, weight: float, gone: float, a: Alpha, b: Alpha) -> float:
    """sum_j log P(x_j = 0), without the columns that every other row has: these are present in the row itself."""
    left = absent - gone
    left[np.abs(left) <= ROUNDING * absent] = 0.0
    total = np.broadcast_to(np.maximum(weight - gone, 0.0) + (a + b), left.shape)
    chance = np.where(left < 0, 1.0, np.maximum(left, 0.0) + b)
    return float(np.log(chance).sum() - np.log(total).sum())


def _complement(family: Complement, start: _Start, block: Block, s: ClassCounts, alpha: Alpha) -> Floats:
    scores, own, gone, size = start
    kept = scores[own]
    count = complements(s.count)
    prior = np.broadcast_to(np.asarray(alpha, dtype=np.float64), s.count.shape[1:]).sum()
    # Classes of one column side by side: the kernel asks for all of them at once.
    near = np.ascontiguousarray(count.T).T
    whole = count.sum(axis=1)
    total = np.maximum(whole - (gone * size)[:, None], 0.0) + prior
    scores = size[:, None] * np.log(total) - _held_out(block, near, alpha, None, own=False)
    if family.norm:
        logs = np.log(count + alpha)
        before = np.empty_like(scores)
        # Which columns the row has: every stored entry counts as one.
        score_sparse(LinearRule(logs, np.zeros(len(logs)), np.zeros(logs.shape[1]), 0.0), block.x, 0, before)
        after = _held_out(block, near, alpha, None, own=False, plain=True)
        p = s.count.shape[1]
        scores /= p * np.log(total) - (logs.sum(axis=1) - before + after)
    scores[own] = kept
    return np.asarray(scores)


# Scores with the row itself, the places of the rows' own classes, the weights and the sums of the rows.
_Start = tuple[Floats, Any, Floats, Floats]


def _begin(family: Distribution, block: Block, s: ClassCounts, solution: Solution) -> _Start:
    n = len(block)
    scores = np.empty((n, len(s.weight)))
    origin = np.zeros(s.count.shape[1])
    score_sparse(LinearRule(solution.coef, solution.constant, origin, family.threshold), block.x, 0, scores)
    gone = np.ones(n) if block.weight is None else block.weight
    x: Any = block.x
    return scores, (np.arange(n), block.codes), gone, np.asarray(x.sum(axis=1), dtype=np.float64).ravel()


def _held_out(
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
