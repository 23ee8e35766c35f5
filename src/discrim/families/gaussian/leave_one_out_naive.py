"""Leave-one-out scores of Gaussian naive Bayes, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.families.gaussian.leave_one_out import log_priors_without, rho_of
from discrim.families.gaussian.naive import smooth
from discrim.statistics.means import grand_mean
from discrim.typing import Codes, Floats


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
