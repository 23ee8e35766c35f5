"""Leave-one-out in closed form: what each row is scored by the model without it, from the statistic of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.gaussian.covariance import ILL_CONDITIONED
from discrim.families.gaussian.leave_one_out import lda_scores, log_priors_without, qda_scores, rho_of
from discrim.families.gaussian.leave_one_out_regularized import rda_scores
from discrim.families.gaussian.leave_one_out_student import (
    FixedPrior,
    log_priors_left,
    separate_scores,
    shared_scores,
)
from discrim.families.gaussian.naive import smooth, total_variances
from discrim.families.gaussian.regularized import Grid, Moments, class_covariances
from discrim.families.recipe import LeftOut, Shape, Solved
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.moments import grand_mean
from discrim.typing import Codes, Floats

# A row without which less than this share of a variance is left is refitted: what the closed form has then to subtract
# takes the digits with it.
LEAST_LEFT = 1e-5


def held_out_lda(recipe: Any, solved: Solved, shape: Shape) -> LeftOut | None:
    """LDA by rank-one changes of the pooled scatter; with shrinkage as regularised discriminant analysis."""
    if recipe.predict_method == "predictive":
        return _geisser(recipe, solved, shared=True)
    if recipe.setting == (0.0, 1.0):
        s = solved.statistic
        if not isinstance(s, ClassMoments) or s.rows.sum() <= s.n_features + len(s.classes):
            return None
        s = s.pooled()
        if is_ill(s.scatter):
            return None
        priors = recipe.fixed_priors(s.weight)
        return lambda block: lda_scores(
            block.dense(), block.codes, s.weight, s.mean, s.scatter, priors, recipe.normalization
        )
    return held_out_regularised(recipe, solved, shape, needs_two=False)


def held_out_qda(recipe: Any, solved: Solved, shape: Shape) -> LeftOut | None:
    """QDA by rank-one changes of the scatter of the row's own class."""
    if recipe.predict_method == "predictive":
        return _geisser(recipe, solved, shared=False)
    s = solved.statistic
    if _leaves_one_class(s):
        return None
    if recipe.setting == (1.0, 1.0):
        if not isinstance(s, ClassMoments) or s.rows.min() <= s.n_features + 1:
            return None
        if any(is_ill(scatter) for scatter in s.scatter):
            return None
        priors = recipe.fixed_priors(s.weight)
        return lambda block: qda_scores(block.dense(), block.codes, _moments(s), priors, recipe.normalization)
    return held_out_regularised(recipe, solved, shape)


def held_out_regularised(recipe: Any, solved: Solved, shape: Shape, *, needs_two: bool = True) -> LeftOut | None:
    """Any (alpha, gamma) by at most 2K eigendecompositions; ``needs_two`` where a model of one class is an error."""
    setting, target = recipe.setting, recipe.target
    if setting is None or (setting[1] < 1 and target == "diagonal"):
        return None
    alpha, gamma = setting
    s = solved.statistic
    if needs_two and _leaves_one_class(s):
        return None
    if gamma == 1:
        if not isinstance(s, ClassMoments):
            return None
        sigma = class_covariances(s.weight, s.scatter, alpha, recipe.normalization)
        if any(is_ill(matrix) for matrix in sigma):
            return None

    def scores(block: Block) -> Floats:
        of = ClassMoments.of(block, Depth.FULL)
        grid = Grid(np.array([alpha]), np.array([gamma]), target, recipe.normalization, shape.spanned_from)
        priors = recipe.fixed_priors(of.weight)
        return np.asarray(next(rda_scores(block.dense(), block.codes, _moments(of), grid, priors))[0])

    return scores


def held_out_naive(recipe: Any, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG001 - any shape will do
    """Gaussian naive Bayes: means and variances without a row, column by column."""
    if recipe.normalization != "mle":
        return None
    s = solved.statistic
    priors = recipe.fixed_priors(s.weight)

    def scores(block: Block) -> Floats:
        x = block.dense()
        found = nb_scores(x, block.codes, s.weight, s.mean, s.scatter, priors, recipe.var_smoothing)
        origin, total = grand_mean(s.weight, s.mean), len(x) * total_variances(s.weight, s.mean, s.scatter)
        rho = rho_of(s.weight)[block.codes][:, None]
        lost = rho * np.square(x - s.mean[block.codes]) > (1.0 - LEAST_LEFT) * s.scatter[block.codes]
        lost |= np.square(x - origin) > (1.0 - 1.0 / len(x)) * (1.0 - LEAST_LEFT) * total
        found[lost.any(axis=1)] = np.nan
        return found

    return scores


def is_ill(scatter: Floats) -> bool:
    """Is the scaled scatter too close to singular for a formula that uses its squares?"""
    scale = np.sqrt(np.diagonal(scatter))
    if not (scale > 0).all():
        return True
    values = np.linalg.eigvalsh(scatter / scale[:, None] / scale[None, :])
    return bool(values[0] <= ILL_CONDITIONED * values[-1])


def _geisser(recipe: Any, solved: Solved, *, shared: bool) -> LeftOut | None:
    """Prediction without a prior scale: the scatters must have digits to spare."""
    s = solved.statistic
    if not isinstance(s, ClassMoments) or (s.rows == 1).any() or not recipe.is_plain:
        return None
    s = s.pooled() if shared else s
    if any(is_ill(scatter) for scatter in s.scatter.reshape(-1, *s.scatter.shape[-2:])):
        return None
    logs = log_priors_left(s.weight, recipe.fixed_priors(s.weight), 0.0)
    of = shared_scores if shared else separate_scores
    prior = FixedPrior(0.0, 0.0, s.n_features)
    return lambda block: of(block.dense(), block.codes, _moments(s), prior, logs)


def _moments(s: ClassMoments) -> Moments:
    return Moments(s.weight, s.mean, s.scatter)


def _leaves_one_class(s: Any) -> bool:
    """Would a single class be left without the only row of another?"""
    return bool(len(s.classes) - (s.rows == 1).any() < 2)


def nb_scores(
    x: NDArray[Any],
    codes: Codes,
    weight: Floats,
    mean: Floats,
    scatter_diagonal: Floats,
    priors: Floats | None = None,
    var_smoothing: float = 1e-9,
) -> Floats:
    """Scores (n, K) of Gaussian naive Bayes without each row; ``scatter_diagonal`` is (K, p).

        score_k = log pi_k - 1/2 sum_j [log v_kj + (x_j - mu_kj)^2/v_kj],   v_kj = s_kj/n_k, smoothed

    as ``naive.smooth`` does it from the columns' total variances. Without
    row x of class g (d = x - mu_g, rho = n_g/(n_g - 1), r = x - overall mean)

        s_g becomes s_g - rho d^2, n_g becomes n_g - 1, x - mu_g becomes rho d,
        the total scatter t becomes t - n/(n - 1) r^2, and the smoothing changes with it.

    A class that would vanish scores -inf for its only row; a variance of zero gives NaN. O(n K p).
    """
    total = _variances_without(x, weight, mean, scatter_diagonal)
    rho, logs = rho_of(weight), log_priors_without(weight, priors)[codes]
    scores = np.empty(logs.shape)
    for k, n_k in enumerate(weight):
        deviation = x - mean[k]
        own = codes == k
        variance = smooth(scatter_diagonal[k] / max(n_k, 1.0) + np.zeros_like(x), total, n_k, var_smoothing)
        left = scatter_diagonal[k] - rho[k] * np.square(deviation[own])
        # One remaining row has no variance, and what cancels to rounding is a column that the rest holds
        # constant: the smoothing can be smaller than the rounding, which must not pass for variance.
        left[left <= (1e-13 if n_k > 2.0 else 1.0) * scatter_diagonal[k]] = 0.0
        variance[own] = smooth(left / max(n_k - 1.0, 1.0), total[own], n_k - 1.0, var_smoothing)
        deviation[own] *= rho[k]
        scores[:, k] = _negative_twice_log_density(deviation, variance)
    scores = logs - 0.5 * scores
    scores[np.isneginf(logs)] = -np.inf
    return scores


def _variances_without(x: NDArray[Any], weight: Floats, mean: Floats, scatter_diagonal: Floats) -> Floats:
    """The variance of every column when each row has left, n x p."""
    n = float(weight.sum())
    centre = grand_mean(weight, mean)
    total = scatter_diagonal.sum(axis=0) + weight @ np.square(mean - centre)
    left = total - n / max(n - 1.0, 1.0) * np.square(x - centre)
    # What cancels to rounding is a column that the other rows hold constant.
    return np.asarray(np.where(left > 1e-13 * total, left, 0.0) / max(n - 1.0, 1.0))


def _negative_twice_log_density(deviation: Floats, variance: Floats) -> Floats:
    # A column that is constant over all rows says nothing about the class.
    safe = np.where(variance > 0.0, variance, np.inf)
    terms = np.where(variance > 0.0, np.square(deviation) / safe + np.log(np.where(variance > 0.0, variance, 1.0)), 0.0)
    sums: Floats = terms.sum(axis=1)
    return sums
