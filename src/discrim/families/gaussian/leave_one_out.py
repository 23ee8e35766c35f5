"""Leave-one-out scores of Gaussian and Student-t classes, in closed form from the moments of all rows.

Rows have weight 1. Taking row x out of class g, with d = x - mu_g and rho = n_g/(n_g - 1), changes

    mu_g to mu_g - d/(n_g - 1), so that x - mu_g becomes rho d,   and S_g to S_g - rho d d',

and the rank-one change passes to inverse and determinant by Sherman-Morrison and the determinant lemma: with
A = S + psi I (psi is zero but for a prior), E = d'A^-1 d and f = 1 - rho E

    distance of the own class: rho^2 E/f,   log|A|: + log f,
    distance of another class that shares A: E_k + rho ((x - mu_k)'A^-1 d)^2/f   with E_k = (x - mu_k)'A^-1 (x - mu_k).

Scores are those of the rule that never saw the row, up to a constant of the row. A class that would vanish scores -inf
for its only row. NaN marks a matrix that is singular or undefined without the row: f is zero to rounding, or no degree
of freedom is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.block import Block
from discrim.families.gaussian.covariance import ILL_CONDITIONED, Normalization
from discrim.families.gaussian.student import predictive
from discrim.kernels.gaussian.reference import inverse_factor
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Codes, Floats


def gaussian_scores(s: ClassMoments, priors: Floats | None, normalization: Normalization, block: Block) -> Floats:
    """Scores (n, K) of QDA without each row, or of LDA where the scatter of ``s`` is pooled.

    With A = S and the divisor nu of the remaining rows, log pi_k - (nu D_k + log|A_k| - p log nu)/2.
    O(K p^3 + n K p^2), or O(p^3 + n p (p + K)) where it is pooled.
    """
    x, codes = block.dense(), block.codes
    own, pooled = divisors_or_nan(s.weight - np.eye(len(s.weight)), normalization)
    nu = (pooled[:, None] if s.depth is Depth.POOLED else own)[codes]
    distances, log_dets = _without_each(x, codes, s, 0.0)
    logs = log_priors_without(s.weight, priors)[codes]
    return with_vanished(logs - 0.5 * (nu * distances + log_dets - x.shape[1] * np.log(nu)), logs)


def student_scores(s: ClassMoments, logs: Floats, psi: float, nu: float, n_columns: int, block: Block) -> Floats:
    """The same for the predictive densities under Sigma ~ IW(nu, psi I); ``logs`` row g: log priors without a row of g.

    Rows may have been rotated from ``n_columns`` columns into fewer.
    """
    x, codes, left = block.dense(), block.codes, s.weight - np.eye(len(s.weight))
    each = np.where(left > 0.0, left - 1.0, 0.0)
    df = nu + 1.0 - n_columns + (each.sum(axis=1, keepdims=True) if s.depth is Depth.POOLED else left - 1.0)
    terms = predictive(left, np.where(df > 0.0, df, np.nan), n_columns)
    distances, log_dets = _without_each(x, codes, s, psi)
    scores = terms.constant[codes] - 0.5 * log_dets
    scores -= np.broadcast_to(terms.power, left.shape)[codes] * np.log1p(terms.rate[codes] * distances)
    return with_vanished(scores + np.where(np.isneginf(logs), 0.0, logs)[codes], logs[codes])


def _without_each(x: Floats, codes: Codes, s: ClassMoments, psi: float) -> tuple[Floats, Floats]:
    """Distances and log|A_k| without each row, (n, K); where A is pooled log|A| is (n, 1), up to a constant."""
    rho, ridge = rho_of(s.weight), psi * np.eye(x.shape[1])
    if s.depth is Depth.POOLED:
        return _from_shared(x, codes, s, rho[codes], s.scatter + ridge)
    distances, log_dets = np.empty((len(codes), len(rho))), np.empty((len(codes), len(rho)))
    for k, (mean, scatter) in enumerate(zip(s.mean, s.scatter, strict=True)):
        whitener, log_dets[:, k], least = _whitener(scatter + ridge)
        distances[:, k] = np.square((x - mean) @ whitener.T).sum(axis=1)
        own = codes == k
        f = 1.0 - rho[k] * distances[own, k]
        f = np.where(f > least, f, np.nan)
        distances[own, k] *= rho[k] ** 2 / f
        log_dets[own, k] += np.log(f)
    return distances, log_dets


def _from_shared(x: Floats, codes: Codes, s: ClassMoments, rho: Floats, matrix: Floats) -> tuple[Floats, Floats]:
    """The products with other classes follow from the centroids alone."""
    row = np.arange(len(codes))
    whitener, _, least = _whitener(matrix)
    y, centroids = (x - s.mean[codes]) @ whitener.T, (s.mean - s.mean.mean(axis=0)) @ whitener.T
    gaps = np.square(centroids[:, None] - centroids).sum(axis=2)
    along = y @ centroids.T
    along = along[row, codes][:, None] - along
    own = np.square(y).sum(axis=1)
    f = 1.0 - rho * own
    f = np.where(f > least, f, np.nan)
    distances = own[:, None] + 2.0 * along + gaps[codes]
    distances += (rho / f)[:, None] * np.square(own[:, None] + along)
    distances[row, codes] = rho**2 * own / f
    return distances, np.log(f)[:, None]


def _whitener(matrix: Floats) -> tuple[Floats, float, float]:
    """W with W'W = A^-1, log|A|, and the f up to which it is rounding; NaN where A is singular.

    A is brought to unit diagonal first: the scales of columns cost no digits.
    """
    variance = np.diagonal(matrix)
    scale = np.sqrt(np.where(variance > 0.0, variance, 1.0))
    inverse, log_det, rcond = inverse_factor(matrix / np.outer(scale, scale))
    if not rcond > tolerance(len(scale)):
        return np.full_like(matrix, np.nan), np.nan, np.nan
    return inverse / scale, log_det + 2.0 * float(np.log(scale).sum()), float(least_left(len(scale), rcond))


def is_ill(scatter: Any) -> bool:
    """Is a scaled scatter (p x p, or several) too close to singular for a formula that uses its squares?"""
    scale = np.sqrt(np.diagonal(scatter, axis1=-2, axis2=-1))
    if not (scale > 0).all():
        return True
    values = np.linalg.eigvalsh(scatter / scale[..., :, None] / scale[..., None, :])
    return bool((values[..., 0] <= ILL_CONDITIONED * values[..., -1]).any())


def leaves_one_class(s: Any) -> bool:
    """Would a single class be left without the only row of another?"""
    return bool(len(s.classes) - (s.rows == 1).any() < 2)


def with_vanished(scores: Floats, logs: Floats) -> Floats:
    """A class without rows (or prior) is -inf whatever its matrix would be."""
    scores[np.isneginf(logs)] = -np.inf
    return scores


def rho_of(weight: Floats) -> Floats:
    """n_g/(n_g - 1), and 0 for a class of one row, whose removal leaves S as it is."""
    several = weight > 1.0
    return np.where(several, weight / np.where(several, weight - 1.0, 1.0), 0.0)


def log_priors_without(weight: Floats, priors: Floats | None = None, alpha: float = 0.0) -> Floats:
    """Row g: the log priors of the classes when a row of class g has left, (K, K).

    Given priors stay; estimated ones become (alpha + n_k - 1{k=g})/(alpha K + n - 1). A class without rows has -inf.
    """
    left = weight - np.eye(len(weight))
    total = max(float(weight.sum()) - 1.0, 1.0) + alpha * len(weight)
    pi = (left + alpha) / total if priors is None else np.broadcast_to(priors, left.shape)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.where(left > 0.0, pi, 0.0))
    return logs


def divisors_or_nan(weight: Floats, normalization: Normalization) -> tuple[Floats, Floats]:
    """Divisors of S_k (..., K) and S (...) for class weights (..., K); NaN where no degrees of freedom are left."""
    own, pooled = weight, weight.sum(axis=-1)
    if normalization == "unbiased":
        own, pooled = weight - 1.0, pooled - np.count_nonzero(weight > 0.0, axis=-1)
    return np.where(own > 0.0, own, np.nan), np.where(pooled > 0.0, pooled, np.nan)


def tolerance(p: int) -> float:
    """The ratio of smallest to largest eigenvalue that is only rounding."""
    return 8.0 * p * float(np.finfo(np.float64).eps)


def least_left(p: int, reciprocal_condition: Any) -> Any:
    """Up to this, 1 - rho d'A^-1 d is rounding error, which grows with the condition of A."""
    return np.clip(tolerance(p) / reciprocal_condition, 1e-12, 1e-3)
