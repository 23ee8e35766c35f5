"""Quadratic rules: one covariance matrix a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discrim.families.gaussian.covariance import (
    ILL_CONDITIONED,
    IllConditionedError,
    Sphering,
    divisors,
    inverse_factor,
    sphere_factor,
    sphere_low_rank,
    square_root,
)
from discrim.families.rule import LowRankRule, ProjectedRule, QuadraticRule
from discrim.parallel import run
from discrim.statistics import ClassFactors, ClassMoments
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats

# Where the rows cannot be read again, a class matrix is used as long as it has any digits left.
LAST_DIGITS = 1e-14
# Columns from which on the classes are worth a thread each.
PARALLEL = 200


class SingularError(Exception):
    """Class ``k`` has no inverse covariance; ``dependent`` are columns that the others determine."""

    def __init__(self, k: int, dependent: NDArray[np.intp]) -> None:
        super().__init__(k)
        self.k = k
        self.dependent = dependent


@dataclass(frozen=True)
class ClassMatrices:
    """Sigma_k = factor_k M_k + diag(ridge_k), with M_k as p x p matrices, or as rows R_k with R_k'R_k = M_k."""

    mean: Floats
    factor: Floats
    ridge: Floats
    matrices: Floats | None = None
    rows: tuple[Floats, ...] | None = None


def class_matrices(
    statistic: ClassMoments | ClassFactors, normalization: str, alpha: float = 1.0
) -> tuple[Floats | None, tuple[Floats, ...] | None]:
    """alpha Sigma_k + (1 - alpha) Sigma for every class, as matrices or as rows."""
    each, total = divisors(statistic.weight, normalization)
    own = np.where(each > 0, alpha / np.where(each > 0, each, 1.0), 0.0)
    if isinstance(statistic, ClassMoments):
        matrices = own[:, None, None] * statistic.scatter
        if alpha < 1:
            matrices += (1.0 - alpha) / total * statistic.scatter.sum(axis=0)
        return matrices, None
    if alpha == 1:
        return None, tuple(np.sqrt(f) * r for f, r in zip(own, statistic.factors, strict=True))
    pooled = np.vstack(statistic.factors) * np.sqrt((1.0 - alpha) / total)
    return None, tuple(np.vstack([np.sqrt(f) * r, pooled]) for f, r in zip(own, statistic.factors, strict=True))


def class_variances(matrices: Floats | None, thin: tuple[Floats, ...] | None) -> Floats:
    """Diagonals of the class matrices, K x p."""
    if matrices is not None:
        return np.asarray(np.diagonal(matrices, axis1=1, axis2=2))
    return np.stack([np.einsum("ij,ij->j", r, r) for r in thin or ()])


def quadratic_rule(
    parts: ClassMatrices, log_priors: Floats, noise: Floats, eps: float, tol: float, *, reread: bool
) -> QuadraticRule:
    """delta_k(x) = log pi_k - log det Sigma_k / 2 - (x - mu_k)' Sigma_k^-1 (x - mu_k) / 2.

    Raises SingularError for a class that has no inverse. Cost K p^3 / 3.
    """
    classes, p = parts.mean.shape

    def invert(k: int) -> tuple[Floats, float]:
        if np.isneginf(log_priors[k]):
            return np.zeros((p, p)), 0.0
        if parts.matrices is not None:
            return _from_matrix(parts, k, noise, reread=reread)
        return _from_rows(parts, k, noise, eps, tol)

    done = run(invert, classes) if p >= PARALLEL else [invert(k) for k in range(classes)]
    factors, log_dets = np.stack([factor for factor, _ in done]), np.array([log_det for _, log_det in done])
    triangular = parts.matrices is not None
    return QuadraticRule(parts.mean, factors, log_priors - 0.5 * log_dets, triangular)


def projected_rule(statistic: ClassFactors, parts: ClassMatrices, log_priors: Floats, n_columns: int) -> ProjectedRule:
    """The same for more columns than rows: solved in the space of the rows; one ridge_k > 0 fills the rest.

    Cost n^2 p, and K n^3 / 3.
    """
    assert parts.rows is not None
    origin = grand_mean(statistic.weight, statistic.mean)
    gaps = np.sqrt(statistic.weight)[:, None] * (statistic.mean - origin)
    basis = _row_space(np.vstack([*statistic.factors, gaps]))
    ridge = parts.ridge[:, 0]
    inside = ClassMatrices(
        (parts.mean - origin) @ basis,
        parts.factor,
        np.repeat(ridge[:, None], basis.shape[1], axis=1),
        matrices=np.stack([(r @ basis).T @ (r @ basis) for r in parts.rows]),
    )
    outside = np.where(ridge > 0, ridge, 1.0)
    offsets = log_priors - 0.5 * (n_columns - basis.shape[1]) * np.log(outside)
    nothing = np.zeros(basis.shape[1])
    inner = quadratic_rule(inside, offsets, nothing, float(np.finfo(float).eps), 0.0, reread=False)
    return ProjectedRule(origin, basis, inner, 1.0 / outside)


def low_rank_rule(parts: ClassMatrices, log_priors: Floats, *, shared_null: bool) -> LowRankRule:
    """The same for more columns than rows and a ridge that differs from column to column.

    A column without a ridge has no variance in its class. Where all classes share such columns they are left out;
    else SingularError. Cost K n^2 p.
    """
    assert parts.rows is not None
    classes, p = parts.mean.shape
    roots, directions, gains = np.full((classes, p), np.inf), [np.zeros((p, 0))] * classes, [np.zeros(0)] * classes
    offset = log_priors.copy()
    for k in np.flatnonzero(~np.isneginf(log_priors)):
        alive = parts.ridge[k] > 0
        if not alive.all() and not shared_null:
            raise SingularError(int(k), np.flatnonzero(~alive))
        sphering = sphere_low_rank(parts.ridge[k][alive], np.sqrt(parts.factor[k]) * parts.rows[k][:, alive])
        roots[k, alive], gains[k] = sphering.root, sphering.gain
        directions[k] = np.zeros((p, len(sphering.gain)))
        directions[k][alive] = sphering.directions
        offset[k] -= 0.5 * sphering.log_det
    return LowRankRule(parts.mean, roots, tuple(directions), tuple(gains), offset)


def pooled_space_rule(parts: ClassMatrices, pooled: Sphering, log_priors: Floats) -> QuadraticRule:
    """The rule inside the space where the pooled covariance has variance, by the pseudo-inverse.

    For alpha < 1 every Sigma_k(alpha) is zero exactly where the pooled Sigma is, so that all classes lose the same
    directions. In the pooled-sphered coordinates W'x each class matrix is W'Sigma_k W.
    """
    w = pooled.backward(np.eye(pooled.rank))
    classes = len(parts.mean)
    factors, log_dets = np.zeros((classes, w.shape[1], w.shape[0])), np.zeros(classes)
    for k in range(classes):
        if parts.matrices is not None:
            inside = parts.factor[k] * (w.T @ parts.matrices[k] @ w)
        else:
            assert parts.rows is not None
            z = parts.rows[k] @ w
            inside = parts.factor[k] * (z.T @ z)
        inverse, log_dets[k], rcond = inverse_factor(inside + (w.T * parts.ridge[k]) @ w)
        if rcond == 0:
            raise SingularError(k, pooled.dependent)
        factors[k] = inverse @ w.T
    return QuadraticRule(parts.mean, factors, log_priors - 0.5 * log_dets, triangular=False)


def _from_matrix(parts: ClassMatrices, k: int, noise: Floats, *, reread: bool) -> tuple[Floats, float]:
    """L^-1 D^-1 with D the deviations and LL' the correlations."""
    assert parts.matrices is not None
    sigma = parts.factor[k] * parts.matrices[k]
    sigma.flat[:: len(sigma) + 1] += parts.ridge[k]
    deviation = np.sqrt(np.maximum(np.diagonal(sigma), 0.0))
    if (deviation > noise).all():
        correlation = sigma / deviation[:, None] / deviation[None, :]
        inverse, log_det, rcond = inverse_factor(correlation)
        if rcond > (ILL_CONDITIONED if reread else LAST_DIGITS):
            return inverse / deviation, log_det + 2.0 * float(np.log(deviation).sum())
        if reread:
            raise IllConditionedError
    root = square_root(sigma)
    root[:, deviation <= noise] = 0.0
    # A root of squares knows directions to half the digits only.
    raise SingularError(k, sphere_factor(root, noise, 1e-7, 0.0).dependent)


def _from_rows(parts: ClassMatrices, k: int, noise: Floats, eps: float, tol: float) -> tuple[Floats, float]:
    assert parts.rows is not None
    rows = np.sqrt(parts.factor[k]) * parts.rows[k]
    if parts.ridge[k].any():
        rows = np.vstack([rows, np.diag(np.sqrt(parts.ridge[k]))])
    sphering = sphere_factor(rows, noise, eps, tol)
    if sphering.rank < rows.shape[1]:
        raise SingularError(k, sphering.dependent)
    return sphering.backward(np.eye(sphering.rank)).T, sphering.log_det


def _row_space(rows: Floats) -> Floats:
    """An orthonormal basis (p x r) of the space of the rows, by their Gram matrix."""
    values, vectors = np.linalg.eigh(rows @ rows.T)
    keep = values > max(values[-1], 0.0) * 1e-13
    basis = rows.T @ (vectors[:, keep] / np.sqrt(values[keep]))
    # One more orthonormalisation: the Gram matrix knows small directions to half the digits only.
    return np.asarray(np.linalg.qr(basis)[0])
