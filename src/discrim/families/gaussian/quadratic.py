"""Quadratic rules: one covariance matrix a class."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discrim.families.gaussian.covariance import (
    EPS,
    ILL_CONDITIONED,
    Normalization,
    Sphering,
    Target,
    TriangularSphering,
    Within,
    divisors,
    each_within,
    pooled_divisor,
    shares_over,
    sphere_factor,
    sphere_low_rank,
    sphere_matrix,
    square_root,
)
from discrim.families.gaussian.student import GaussianRule
from discrim.families.rule import LowRankRule, ProjectedRule, QuadraticRule
from discrim.kernels.gaussian.reference import inverse_factor
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
    """Sigma_k = factor_k M_k + diag(ridge_k), with the M_k in ``within``."""

    mean: Floats
    factor: Floats
    ridge: Floats
    within: tuple[Within, ...]

    @classmethod
    def plain(cls, mean: Floats, within: tuple[Within, ...]) -> ClassMatrices:
        """The M_k themselves."""
        return cls(mean, np.ones(len(mean)), np.zeros(mean.shape), within)

    @property
    def variances(self) -> Floats:
        """Diagonals of the M_k, K x p."""
        return np.stack([within.diagonal for within in self.within])

    def covariance(self, k: int) -> Floats:
        """Sigma_k written out."""
        return self.within[k].dense(self.factor[k], self.ridge[k])

    def root(self, k: int) -> Floats:
        """Rows A with A'A = factor_k M_k."""
        return np.asarray(np.sqrt(self.factor[k]) * self.within[k].root)

    def shrunk(self, kept: float, target: Target, n_columns: int) -> ClassMatrices:
        """kept M_k + (1 - kept) T_k with T_k = (tr M_k / n_columns) I, or the diagonal of M_k."""
        variances = self.variances
        if target == "identity":
            variances = np.repeat(variances.sum(axis=1, keepdims=True) / n_columns, variances.shape[1], axis=1)
        return replace(self, factor=np.full(len(variances), kept), ridge=(1.0 - kept) * variances)


def class_matrices(
    statistic: ClassMoments | ClassFactors, normalization: Normalization, eps: float, alpha: float = 1.0
) -> ClassMatrices:
    """alpha Sigma_k + (1 - alpha) Sigma for every class."""
    within = each_within(statistic, shares_over(alpha, divisors(statistic.weight, normalization)), eps)
    if alpha < 1:
        share = (1.0 - alpha) / pooled_divisor(statistic.weight, normalization)
        (pooled,) = each_within(statistic.pooled(), np.array([share]), eps)
        within = tuple(own.plus(pooled) for own in within)
    return ClassMatrices.plain(statistic.mean, within)


def class_rule(
    statistic: ClassMoments | ClassFactors,
    parts: ClassMatrices,
    log_priors: Floats,
    n_columns: int,
    tol: float = 0.0,
    *,
    shared_null: bool = False,
    reread: bool,
) -> GaussianRule:
    """The rule of these matrices, by the way that costs least; SingularError for a class that has no inverse.

    ``shared_null`` says that all classes lack the same directions, ``n_columns`` are those before rows were turned into
    the space that they span, and ``tol`` is a threshold on scaled singular values.
    """
    possible = ~np.isneginf(log_priors)
    if isinstance(statistic, ClassFactors) and statistic.rows.sum() <= statistic.n_features and parts.ridge.any():
        if (parts.ridge == parts.ridge[:, :1]).all() and (parts.ridge[possible] > 0).all():
            return projected_rule(statistic, parts, log_priors, n_columns)
        return low_rank_rule(parts, log_priors, shared_null=shared_null)
    rule = quadratic_rule(parts, log_priors, tol, reread=reread)
    outside = n_columns - statistic.n_features
    if not outside:
        return rule
    # In the directions that were left out by turning the rows there is the ridge alone.
    log_ridge = np.log(np.where(possible, parts.ridge[:, 0], 1.0))
    return replace(rule, offset=rule.offset - 0.5 * outside * log_ridge)


def quadratic_rule(parts: ClassMatrices, log_priors: Floats, tol: float, *, reread: bool) -> QuadraticRule:
    """delta_k(x) = log pi_k - log det Sigma_k / 2 - (x - mu_k)' Sigma_k^-1 (x - mu_k) / 2.

    Raises SingularError for a class that has no inverse. Cost K p^3 / 3.
    """
    classes, p = parts.mean.shape

    def invert(k: int) -> tuple[Floats, float]:
        if log_priors[k] == -np.inf:
            return np.zeros((p, p)), 0.0
        sphering = _sphered(parts, k, tol, reread=reread)
        if not isinstance(sphering, TriangularSphering):
            raise SingularError(k, sphering.dependent)
        return sphering.inverse / sphering.scale, sphering.log_det

    done = run(invert, classes) if p >= PARALLEL else [invert(k) for k in range(classes)]
    log_dets = np.array([log_det for _, log_det in done])
    return QuadraticRule(parts.mean, np.array([own for own, _ in done]), log_priors - 0.5 * log_dets, triangular=True)


def projected_rule(statistic: ClassFactors, parts: ClassMatrices, log_priors: Floats, n_columns: int) -> ProjectedRule:
    """The same for more columns than rows: solved in the space of the rows; one ridge_k > 0 fills the rest.

    Cost n^2 p, and K n^3 / 3.
    """
    origin = grand_mean(statistic.weight, statistic.mean)
    gaps = np.sqrt(statistic.weight)[:, None] * (statistic.mean - origin)
    basis = _row_space(np.vstack([*statistic.factors, gaps]))
    ridge = parts.ridge[:, 0]
    nothing = np.zeros(basis.shape[1])
    inside = ClassMatrices(
        (parts.mean - origin) @ basis,
        parts.factor,
        np.repeat(ridge[:, None], basis.shape[1], axis=1),
        tuple(Within((own.rows @ basis).T @ (own.rows @ basis), nothing, EPS) for own in parts.within),
    )
    outside = np.where(ridge > 0, ridge, 1.0)
    offsets = log_priors - 0.5 * (n_columns - basis.shape[1]) * np.log(outside)
    inner = quadratic_rule(inside, offsets, 0.0, reread=False)
    return ProjectedRule(origin, basis, inner, 1.0 / outside)


def low_rank_rule(parts: ClassMatrices, log_priors: Floats, *, shared_null: bool) -> LowRankRule:
    """The same for more columns than rows and a ridge that differs from column to column.

    A column without a ridge has no variance in its class. Where all classes share such columns they are left out;
    else SingularError. Cost K n^2 p.
    """
    classes, p = parts.mean.shape
    roots, directions, gains = np.full((classes, p), np.inf), [np.zeros((p, 0))] * classes, [np.zeros(0)] * classes
    offset = log_priors.copy()
    for k in np.flatnonzero(~np.isneginf(log_priors)):
        alive = parts.ridge[k] > 0
        if not alive.all() and not shared_null:
            raise SingularError(int(k), np.flatnonzero(~alive))
        sphering = sphere_low_rank(parts.ridge[k][alive], np.sqrt(parts.factor[k]) * parts.within[k].rows[:, alive])
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
    for k, within in enumerate(parts.within):
        inside = parts.factor[k] * (w.T @ within.times(w))
        inverse, log_dets[k], rcond = inverse_factor(inside + (w.T * parts.ridge[k]) @ w)
        if rcond == 0:
            raise SingularError(k, pooled.dependent)
        factors[k] = inverse @ w.T
    return QuadraticRule(parts.mean, factors, log_priors - 0.5 * log_dets, triangular=False)


def _sphered(parts: ClassMatrices, k: int, tol: float, *, reread: bool) -> Sphering:
    within = parts.within[k]
    if not within.thin and tol == 0:
        least = ILL_CONDITIONED if reread else LAST_DIGITS
        return sphere_matrix(parts.covariance(k), within.noise, may_reread=reread, least=least)
    rows = np.sqrt(parts.factor[k]) * within.rows if within.thin else square_root(parts.covariance(k))
    if within.thin and parts.ridge[k].any():
        rows = np.vstack([rows, np.diag(np.sqrt(parts.ridge[k]))])
    return sphere_factor(rows, within.noise, within.eps, tol)


def _row_space(rows: Floats) -> Floats:
    """An orthonormal basis (p x r) of the space of the rows, by their Gram matrix."""
    values, vectors = np.linalg.eigh(rows @ rows.T)
    keep = values > max(values[-1], 0.0) * 1e-13
    basis = rows.T @ (vectors[:, keep] / np.sqrt(values[keep]))
    # One more orthonormalisation: the Gram matrix knows small directions to half the digits only.
    return np.asarray(np.linalg.qr(basis)[0])
