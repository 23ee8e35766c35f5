"""Leave-one-out scores of LDA and QDA, in closed form from the moments of all rows.

Rows have weight 1. Taking row x out of class g, with d = x - mu_g and rho = n_g/(n_g - 1), changes

    mu_g to mu_g - d/(n_g - 1), so that x - mu_g becomes rho d,   and S_g to S_g - rho d d',

and the rank-one change passes to inverse and determinant by Sherman-Morrison and the determinant
lemma. Scores are log pi_k - (D_k + log|Sigma_k|)/2 of the rule that never saw the row, up to a constant
of the row. A class that would vanish scores -inf for its only row. NaN marks a matrix that is singular
or undefined without the row: 1 - rho d'S^-1 d is zero to rounding, or no degree of freedom is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from discrim.families.gaussian.regularized import Moments, Normalization, tolerance
from discrim.typing import Codes, Floats


def lda_scores(
    x: NDArray[Any],
    codes: Codes,
    weight: Floats,
    mean: Floats,
    scatter: Floats,
    priors: Floats | None = None,
    normalization: Normalization = "mle",
) -> Floats:
    """Scores (n, K) of LDA without each row; ``scatter`` is the pooled S (p, p).

    With E_k = (x - mu_k)'S^-1(x - mu_k), f = 1 - rho E_g and nu the divisor of the remaining rows (n - 1,
    or n - 1 - K unbiased; n - K if the class of the row vanishes)

        D_k = nu [E_k + rho ((x - mu_k)'S^-1 d)^2/f]   for k other than g,
        D_g = nu rho^2 E_g/f.

    The determinant is common to the classes and left out. O(n p (p + K)): one Cholesky factor of S with
    unit diagonal, and the products with other classes from the centroids alone.
    """
    rho, logs = rho_of(weight), log_priors_without(weight, priors)
    factor = Whitener(scatter)
    y = factor(x - mean[codes])
    centroids = factor(mean - mean.mean(axis=0))
    gaps = np.square(centroids[:, :, None] - centroids[:, None, :]).sum(axis=0)
    along = y.T @ centroids
    along = along[np.arange(len(codes)), codes][:, None] - along
    own = np.square(y).sum(axis=0)
    remaining = factor.remaining(1.0 - rho[codes] * own)
    distances = own[:, None] + 2.0 * along + gaps[codes]
    distances += (rho[codes] / remaining)[:, None] * np.square(own[:, None] + along)
    distances[np.arange(len(codes)), codes] = rho[codes] ** 2 * own / remaining
    stays, vanishes = (pooled_divisor_without(weight, normalization, gone) for gone in (False, True))
    nu = np.where(weight == 1.0, vanishes, stays)[codes]
    scores: Floats = logs[codes] - 0.5 * nu[:, None] * distances
    return _with_vanished(scores, logs[codes])


def qda_scores(
    x: NDArray[Any],
    codes: Codes,
    moments: Moments,
    priors: Floats | None = None,
    normalization: Normalization = "mle",
) -> Floats:
    """Scores (n, K) of QDA without each row.

    Only the own class changes. With E = d'S_g^-1 d, f = 1 - rho E and nu = n_g - 1 (n_g - 2 unbiased)

        D_g = nu rho^2 E/f,   log|Sigma_g| = log|S_g| + log f - p log nu.

    O(K p^3 + n K p^2).
    """
    rho, logs = rho_of(moments.weight), log_priors_without(moments.weight, priors)
    lost = 0.0 if normalization == "mle" else 1.0
    scores = np.empty((len(codes), len(moments.weight)))
    p = x.shape[1]
    for k, (n_k, mean, scatter) in enumerate(zip(*moments, strict=True)):
        factor = Whitener(scatter)
        nu = _positive_or_nan(n_k - lost)
        squares = np.square(factor(x - mean)).sum(axis=0)
        scores[:, k] = nu * squares + factor.logdet - p * np.log(nu)
        own = codes == k
        remaining = factor.remaining(1.0 - rho[k] * squares[own])
        nu = _positive_or_nan(n_k - 1.0 - lost)
        scores[own, k] = nu * rho[k] ** 2 * squares[own] / remaining
        scores[own, k] += factor.logdet + np.log(remaining) - p * np.log(nu)
    return _with_vanished(logs[codes] - 0.5 * scores, logs[codes])


def rho_of(weight: Floats) -> Floats:
    """n_g/(n_g - 1), and 0 for a class of one row, whose removal leaves S as it is."""
    several = weight > 1.0
    return np.where(several, weight / np.where(several, weight - 1.0, 1.0), 0.0)


def log_priors_without(weight: Floats, priors: Floats | None = None) -> Floats:
    """Row g: the log priors of the classes when a row of class g has left, (K, K).

    Given priors stay; estimated ones become (n_k - 1{k=g})/(n - 1). A class without rows has none.
    """
    left = weight - np.eye(len(weight))
    pi = left / max(float(weight.sum()) - 1.0, 1.0) if priors is None else np.broadcast_to(priors, left.shape)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.where(left > 0.0, pi, 0.0))
    return logs


def pooled_divisor_without(weight: Floats, normalization: Normalization, vanishes: bool) -> float:
    """The divisor of S when a row has left and its class ``vanishes`` or not; NaN if it is not positive."""
    left = float(weight.sum()) - 1.0
    if normalization == "unbiased":
        left -= np.count_nonzero(weight > 0.0) - int(vanishes)
    return _positive_or_nan(left)


class Whitener:
    """v -> L^-1 v for S = L L', so that squared lengths become v'S^-1 v; NaN where S is singular.

    S is brought to unit diagonal first: the scales of columns cost no digits.
    """

    def __init__(self, scatter: Floats) -> None:
        p = scatter.shape[0]
        variance = np.diagonal(scatter)
        self.scale = np.sqrt(np.where(variance > 0.0, variance, 1.0))
        self.factor = np.full((p, p), np.nan)
        try:
            factor = np.linalg.cholesky(scatter / np.outer(self.scale, self.scale))
        except np.linalg.LinAlgError:
            factor = np.zeros((p, p))
        pivots = np.square(np.diagonal(factor))
        smallest = float(pivots.min(initial=1.0))
        self.singular = not smallest > tolerance(p)
        self.reciprocal_condition = 1.0 if self.singular else smallest
        self.logdet = np.nan
        if not self.singular:
            self.factor = factor
            self.logdet = float(np.log(pivots).sum() + 2.0 * np.log(self.scale).sum())

    def __call__(self, rows: Floats) -> Floats:
        """Rows (n, p) whitened, as columns (p, n)."""
        if self.singular:
            return np.full(rows.T.shape, np.nan)
        whitened: Floats = solve_triangular(self.factor, (rows / self.scale).T, lower=True, check_finite=False)
        return whitened

    def remaining(self, f: Floats) -> Floats:
        """f where it is more than the rounding error of 1 - rho E, NaN elsewhere."""
        least = remaining_tolerance(len(self.scale), self.reciprocal_condition)
        return np.where(f > least, f, np.nan)


def remaining_tolerance(p: int, reciprocal_condition: Any) -> Any:
    """Below this, 1 - rho d'S^-1 d is rounding error: it grows with the condition of S."""
    return np.clip(tolerance(p) / reciprocal_condition, 1e-12, 1e-3)


def _positive_or_nan(value: float) -> float:
    return value if value > 0.0 else np.nan


def _with_vanished(scores: Floats, logs: Floats) -> Floats:
    """A class without rows (or prior) is -inf whatever its matrix would be."""
    scores[np.isneginf(logs)] = -np.inf
    return scores
