"""Sphering: from a covariance matrix Sigma to W with W'Sigma W = I and WW' its (pseudo-)inverse.

Columns are scaled to unit variance first, so that the units of measurement decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr

from discrim.typing import Floats

# Below this reciprocal condition the scatter has lost too many digits and R-factors take over.
ILL_CONDITIONED = 1e-10
# Relative size of eigenvalues of a scaled scatter that are only rounding.
SQUARED_NOISE = 1e-11
# Eigenvalues of A'A above this make its rounding felt beside an identity, so A itself is decomposed.
LARGE = 1e6
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


class IllConditionedError(Exception):
    """The scaled matrix is too close to singular to be solved from its squares."""


class Sphering(Protocol):
    """W in a form that never needs to be written out."""

    @property
    def log_det(self) -> float:
        """Logarithm of the (pseudo-)determinant of Sigma."""

    @property
    def rank(self) -> int: ...

    @property
    def dependent(self) -> NDArray[np.intp]:
        """Columns that the others determine (one choice of them)."""

    def forward(self, d: Floats) -> Floats:
        """W'd for the columns of d."""

    def backward(self, z: Floats) -> Floats:
        """Wz for the columns of z."""


@dataclass(frozen=True)
class TriangularSphering:
    """W = D^-1 L^-T with D the standard deviations and LL' the correlations; ``inverse`` is L^-1.

    The inverse is written out: a product with it is many times faster on small matrices than a solve.
    """

    scale: Floats
    inverse: Floats
    log_det: float
    dependent: NDArray[np.intp]

    @property
    def rank(self) -> int:
        return len(self.scale)

    def forward(self, d: Floats) -> Floats:
        return np.asarray(self.inverse @ (d / self.scale[:, None]))

    def backward(self, z: Floats) -> Floats:
        return np.asarray((self.inverse.T @ z) / self.scale[:, None])


@dataclass(frozen=True)
class SpectralSphering:
    """W = D^-1 V diag(1/s) over the directions V that carry variance s^2."""

    scale: Floats
    directions: Floats
    deviations: Floats
    log_det: float
    dependent: NDArray[np.intp]

    @property
    def rank(self) -> int:
        return len(self.deviations)

    def forward(self, d: Floats) -> Floats:
        return np.asarray((self.directions.T @ (d / self.scale[:, None])) / self.deviations[:, None])

    def backward(self, z: Floats) -> Floats:
        return np.asarray((self.directions @ (z / self.deviations[:, None])) / self.scale[:, None])


@dataclass(frozen=True)
class LowRankSphering:
    """Sigma = H + A'A with H a positive diagonal and A of few rows: W = H^-1/2 (I + V diag(g) V').

    ``kept`` is 1 + g, which may be so small that the sum has lost its digits.
    """

    root: Floats
    directions: Floats
    gain: Floats
    log_det: float
    dependent: NDArray[np.intp]
    kept: Floats | None = None

    @property
    def rank(self) -> int:
        return len(self.root)

    def forward(self, d: Floats) -> Floats:
        return self._turned(d / self.root[:, None])

    def backward(self, z: Floats) -> Floats:
        return np.asarray(self._turned(z) / self.root[:, None])

    def _turned(self, u: Floats) -> Floats:
        """(I + V diag(g) V')u."""
        along = self.directions.T @ u
        if self.kept is None:
            return np.asarray(u + self.directions @ (self.gain[:, None] * along))
        # What is nearly taken away is taken away in full, twice because of rounding, and what stays is put back.
        rest = u - self.directions @ along
        rest -= self.directions @ (self.directions.T @ rest)
        return np.asarray(rest + self.directions @ (self.kept[:, None] * along))


def sphere_matrix(sigma: Floats, noise: Floats, *, may_reread: bool) -> Sphering:
    """Sphering of a covariance matrix; ``noise`` is the rounding of each column's deviation.

    Raises IllConditionedError where R-factors would do better and the rows can be read again; otherwise
    directions that are only rounding are left out. Cost p^3 / 3.
    """
    deviation = np.sqrt(np.maximum(np.diagonal(sigma), 0.0))
    alive = deviation > noise
    scale = np.where(alive, deviation, 1.0)
    correlation = sigma / scale[:, None] / scale[None, :]
    if alive.all() and len(scale):
        inverse, log_det, rcond = inverse_factor(correlation)
        if rcond > ILL_CONDITIONED:
            log_det += 2.0 * float(np.log(scale).sum())
            return TriangularSphering(scale, inverse, log_det, np.zeros(0, np.intp))
        if may_reread:
            raise IllConditionedError
    index = np.flatnonzero(alive)
    values, vectors = np.linalg.eigh(correlation[np.ix_(index, index)])
    if may_reread and len(values) and values[0] < ILL_CONDITIONED * max(values[-1], 1.0):
        raise IllConditionedError
    keep = values > SQUARED_NOISE * max(len(index), 1)
    directions = np.zeros((len(scale), int(keep.sum())))
    directions[index] = vectors[:, keep][:, ::-1]
    deviations = np.sqrt(values[keep])[::-1]
    root = np.zeros((len(index), len(scale)))
    root[:, index] = (np.sqrt(np.maximum(values, 0.0)) * vectors).T
    return _spectral(scale, alive, directions, deviations, root)


def inverse_factor(matrix: Floats) -> tuple[Floats, float, float]:
    """L^-1 with LL' = M, log det M, and a lower bound on M's reciprocal condition, 0 where M has no such L.

    The bound is 1 / (tr M tr M^-1), at most p^2 below the reciprocal condition itself.
    """
    if not len(matrix):
        return matrix, 0.0, 1.0
    lower, info = lapack.dpotrf(matrix, lower=1, clean=1)
    if info != 0:
        return lower, -np.inf, 0.0
    log_det = 2.0 * float(np.log(np.diagonal(lower)).sum())
    inverse, _ = lapack.dtrtri(lower, lower=1, overwrite_c=1)
    return inverse, log_det, 1.0 / float(np.trace(matrix) * np.vdot(inverse, inverse))


def sphere_factor(factor: Floats, noise: Floats, eps: float, tol: float) -> Sphering:
    """Sphering of Sigma = R'R from R itself: directions above rounding (and ``tol``) are kept.

    Cost r p min(r, p).
    """
    deviation = np.sqrt(np.einsum("ij,ij->j", factor, factor))
    alive = deviation > noise
    scale = np.where(alive, deviation, 1.0)
    scaled = np.where(alive, factor / scale, 0.0)
    # Rounding of the numbers is a random matrix of this size, with a largest singular value as in Marchenko and Pastur.
    spread = 0.5 * (1.0 + np.sqrt(factor.shape[1] / max(factor.shape[0], 1)))
    rounding = spread * float((noise / scale)[alive].max(initial=0.0))
    least = max(8.0 * eps * np.sqrt(max(factor.shape)) + rounding, tol)
    if alive.all() and 0 < factor.shape[1] <= factor.shape[0]:
        # A triangle keeps the digits of every column; singular vectors only those of the largest.
        lower = np.asarray(np.linalg.qr(scaled, mode="r")).T
        if (np.linalg.svd(lower, compute_uv=False) > least).all():
            log_det = 2.0 * float(np.log(np.abs(np.diagonal(lower))).sum() + np.log(scale).sum())
            inverse, _ = lapack.dtrtri(lower, lower=1)
            return TriangularSphering(scale, inverse, log_det, np.zeros(0, np.intp))
    _, values, rows = np.linalg.svd(scaled, full_matrices=False)
    keep = values > least
    return _spectral(scale, alive, np.where(alive, rows[keep], 0.0).T, values[keep], scaled)


def sphere_low_rank(diagonal: Floats, rows: Floats) -> LowRankSphering:
    """Sphering of diag(h) + A'A for rows A (r x p). Cost r^2 p: nothing p x p is formed."""
    root = np.sqrt(diagonal)
    scaled = rows / root
    values, directions = _squares(scaled)
    large = bool(values.max(initial=0.0) > LARGE)
    if large:
        basis, triangle = np.linalg.qr(scaled.T)
        left, singular, _ = np.linalg.svd(triangle, full_matrices=False)
        values, directions = singular**2, basis @ left
    kept = 1.0 / np.sqrt(1.0 + values)
    log_det = float(np.log(diagonal).sum() + np.log1p(values).sum())
    nothing = np.zeros(0, np.intp)
    return LowRankSphering(root, directions, kept - 1.0, log_det, nothing, kept if large else None)


def _squares(rows: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of A'A that are not zero, and their vectors, from the smaller of A'A and AA'."""
    if rows.shape[0] > rows.shape[1]:
        values, directions = np.linalg.eigh(rows.T @ rows)
        return np.maximum(values, 0.0), directions
    values, left = np.linalg.eigh(rows @ rows.T)
    keep = values > np.finfo(float).eps * max(rows.shape) * max(values[-1:].max(initial=0.0), 1e-300)
    return values[keep], (rows.T @ left[:, keep]) / np.sqrt(values[keep])


def rounding_noise(mean: Floats, eps: float) -> Floats:
    """The deviation of each column that rounding alone could cause: one unit in the last place of its class means.

    ``eps`` is that of the numbers as they were given. Sums are taken in double precision about a value of the class,
    so that they add nothing to it.
    """
    return last_place(np.abs(mean).max(axis=0, initial=0.0), eps)


def last_place(values: Floats, eps: float) -> Floats:
    """One unit in the last place of numbers of this size; at zero next to nothing."""
    return np.asarray(np.spacing(np.maximum(np.abs(values), TINY)) * (eps / EPS))


def _spectral(
    scale: Floats, alive: NDArray[np.bool_], directions: Floats, deviations: Floats, scaled: Floats
) -> SpectralSphering:
    log_det = 2.0 * float(np.log(deviations).sum() + np.log(scale[alive]).sum())
    rank = len(deviations)
    if rank == len(scale):
        dependent = np.zeros(0, np.intp)
    else:
        _, order = qr(scaled, mode="r", pivoting=True, check_finite=False)
        dependent = np.sort(np.asarray(order[rank:], dtype=np.intp))
    return SpectralSphering(scale, directions, deviations, log_det, dependent)
