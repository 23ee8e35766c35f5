"""The within-class covariance, as a matrix or as rows, shrunk and sphered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from discrim.errors import DataError
from discrim.solvers.shrinkage import nonlinear_eigenvalues
from discrim.solvers.sphering import (
    LowRankSphering,
    SpectralSphering,
    Sphering,
    sphere_factor,
    sphere_low_rank,
    sphere_matrix,
)
from discrim.statistics import ClassFactors, ClassMoments, Depth
from discrim.typing import Floats


@dataclass(frozen=True)
class Within:
    """Sigma = ``matrix`` (p x p), or A'A for ``rows`` A where p x p is too large or too inexact.

    ``noise`` is the deviation of each column that rounding alone could cause.
    """

    matrix: Floats | None
    rows: Floats | None
    noise: Floats
    eps: float

    @property
    def diagonal(self) -> Floats:
        if self.matrix is not None:
            return np.diagonal(self.matrix)
        assert self.rows is not None
        return np.asarray(np.einsum("ij,ij->j", self.rows, self.rows))

    def times(self, v: Floats) -> Floats:
        """Sigma v."""
        if self.matrix is not None:
            return np.asarray(self.matrix @ v)
        assert self.rows is not None
        return np.asarray(self.rows.T @ (self.rows @ v))

    def of_columns(self, columns: NDArray[np.bool_]) -> Within:
        """The same for some of the columns."""
        matrix = None if self.matrix is None else self.matrix[np.ix_(columns, columns)]
        rows = None if self.rows is None else self.rows[:, columns]
        return Within(matrix, rows, self.noise[columns], self.eps)

    def scaled(self, factor: Floats) -> Within:
        """The same for columns times these factors."""
        matrix = None if self.matrix is None else factor[:, None] * self.matrix * factor
        rows = None if self.rows is None else self.rows * factor
        return Within(matrix, rows, self.noise * factor, self.eps)

    def dense(self) -> Floats:
        """Sigma written out."""
        if self.matrix is not None:
            return self.matrix
        assert self.rows is not None
        return np.asarray(self.rows.T @ self.rows)

    def sphere(self, *, tol: float, reread: bool, raw: bool = False) -> Sphering:
        """Sphering of Sigma as it is; directions without variance, or a scaled deviation up to tol, are left out.

        Of a singular Sigma this inverts what the scaled columns span. With ``raw`` it is the pseudo-inverse of Sigma
        itself, which depends on the units; how many directions are without variance does not.
        """
        if self.matrix is not None and tol == 0:
            found = sphere_matrix(self.matrix, self.noise, may_reread=reread)
        else:
            rows = self.rows if self.matrix is None else square_root(self.matrix)
            assert rows is not None
            found = sphere_factor(rows, self.noise, self.eps, tol)
        return self._raw(found) if raw and found.rank < len(self.noise) else found

    def _raw(self, scaled: Sphering) -> Sphering:
        """The pseudo-inverse of a Sigma with the rank of ``scaled``. Cost p^3, or r^2 p for r rows."""
        if self.matrix is not None:
            values, vectors = np.linalg.eigh(self.matrix)
            deviations, directions = np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1]
            least = np.sqrt(len(values) * np.finfo(float).eps)
        else:
            assert self.rows is not None
            _, deviations, rows = np.linalg.svd(self.rows, full_matrices=False)
            directions, least = rows.T, max(self.rows.shape) * np.finfo(float).eps
        kept = min(scaled.rank, int((deviations > least * deviations.max(initial=0.0)).sum()))
        log_det = 2.0 * float(np.log(deviations[:kept]).sum())
        return SpectralSphering(
            np.ones(len(self.noise)), directions[:, :kept], deviations[:kept], log_det, scaled.dependent
        )

    def sphere_added(self, factor: float, added: Floats, *, reread: bool) -> Sphering:
        """Sphering of factor * Sigma + diag(added)."""
        if self.matrix is not None:
            sigma = factor * self.matrix
            sigma.flat[:: len(sigma) + 1] += added
            return sphere_matrix(sigma, self.noise, may_reread=reread)
        assert self.rows is not None
        # A column without any variance is left out, as an infinite one would be.
        return sphere_low_rank(np.where(added > 0, added, np.inf), np.sqrt(factor) * self.rows)

    def sphere_nonlinear(self, degrees: float) -> Sphering:
        """Sphering after analytical nonlinear shrinkage of the eigenvalues."""
        p = len(self.noise)
        if self.matrix is not None:
            values, vectors = np.linalg.eigh(self.matrix)
        else:
            assert self.rows is not None
            _, singular, vt = np.linalg.svd(self.rows, full_matrices=False)
            keep = singular > singular[0] * 1e-10
            values, vectors = singular[keep] ** 2, vt[keep].T
        shrunk, null = nonlinear_eigenvalues(np.maximum(values, 0.0), p, degrees)
        if not shrunk.all() or (null == 0 and len(values) < p):
            return _sphere_span(vectors[:, shrunk > 0], shrunk[shrunk > 0])
        base = null if len(values) < p else 1.0
        gain = np.sqrt(base / shrunk) - 1.0
        log_det = float(np.log(shrunk).sum() + (p - len(values)) * np.log(base))
        return LowRankSphering(np.full(p, np.sqrt(base)), vectors, gain, log_det, np.zeros(0, np.intp))


def square_root(matrix: Floats) -> Floats:
    """Rows A with A'A = matrix; columns are scaled first, so that none drowns another."""
    deviation = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    scale = np.where(deviation > 0, deviation, 1.0)
    values, vectors = np.linalg.eigh(matrix / scale[:, None] / scale[None, :])
    return np.asarray((np.sqrt(np.maximum(values, 0.0)) * vectors).T * scale)


def check_divisors(statistic: ClassMoments | ClassFactors, normalization: str, *, pooled: bool) -> None:
    """Refuse weights so small that n_k - 1, or n - K where classes are pooled, is not positive."""
    if normalization == "mle":
        return
    weight, several = statistic.weight, statistic.rows > 1
    if pooled and statistic.total_weight <= (weight > 0).sum():
        raise DataError(
            f"The weights sum to {statistic.total_weight:g}, not more than the number of classes, so that the unbiased "
            "divisor n - K is not positive. Scale the weights so that they count rows, or use normalization='mle'."
        )
    small = np.flatnonzero(several & (weight <= 1))
    if not pooled and len(small):
        raise DataError(
            f"The weights of class '{statistic.classes[small[0]]}' sum to {weight[small[0]]:g}, so that the unbiased "
            "divisor n_k - 1 is not positive. Scale the weights so that they count rows, or use normalization='mle'."
        )


def divisors(weight: Floats, normalization: str) -> tuple[Floats, float]:
    """What S_k and S are divided by: n_k and n, or n_k - 1 and n - K."""
    present = weight > 0
    if normalization == "mle":
        return np.where(present, weight, 1.0), float(weight.sum())
    return np.where(present, weight - 1.0, 1.0), float(weight.sum() - present.sum())


def pooled_within(statistic: ClassMoments | ClassFactors, normalization: str, noise: Floats, eps: float) -> Within:
    """Sigma = S / n, or S / (n - K)."""
    divisor = divisors(statistic.weight, normalization)[1]
    pooled = statistic.pooled()
    if isinstance(pooled, ClassMoments):
        return Within(pooled.scatter / divisor, None, noise, eps)
    return Within(None, pooled.factors[0] / np.sqrt(divisor), noise, eps)


def weighted_within(
    statistic: ClassMoments | ClassFactors, shares: Floats, normalization: str, noise: Floats, eps: float
) -> Within:
    """Sigma = sum_k shares_k Sigma_k."""
    assert statistic.depth is Depth.FULL
    each = divisors(statistic.weight, normalization)[0]
    factor = np.where(each > 0, shares / np.where(each > 0, each, 1.0), 0.0)
    if isinstance(statistic, ClassMoments):
        return Within(np.einsum("k,kij->ij", factor, statistic.scatter), None, noise, eps)
    rows = np.vstack([np.sqrt(f) * r for f, r in zip(factor, statistic.factors, strict=True)])
    return Within(None, rows, noise, eps)


def _sphere_span(directions: Floats, variances: Floats) -> Sphering:
    """Sphering inside the span of orthonormal directions; outside there is no variance to speak of."""
    p = len(directions)
    deviations = np.sqrt(variances)
    log_det = float(np.log(variances).sum())
    _, order = qr((deviations * directions).T, mode="r", pivoting=True, check_finite=False)
    dependent = np.sort(np.asarray(order[len(variances) :], dtype=np.intp))
    return SpectralSphering(np.ones(p), directions, deviations, log_det, dependent)
