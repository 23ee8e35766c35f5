"""The covariance Sigma within the classes, and its sphering: W with W'Sigma W = I and WW' its (pseudo-)inverse.

Sigma is a matrix, or rows A with A'A = Sigma where p x p is too large or too inexact. Columns are scaled to unit
variance first, so that the units of measurement decide nothing.

A sphering holds W in a form that never needs to be written out. The ways to it, for r rows A, with the multiplications
that they take after one read of the data, and the numbers that they keep:

| way | needs | multiplications | numbers |
|---|---|---|---|
| ``TriangularSphering`` of a matrix | p < r, a reciprocal condition above ``ILL_CONDITIONED`` | p^3 / 3 | p^2 |
| ``RowSphering`` of rows | r < p, rows independent, the same condition of AA' | r^2 p / 2 + r^3 / 6 | r p |
| ``WoodburySphering`` | r < p, a diagonal is added, and not too small beside A'A | r^2 p / 2 + r^3 / 6 | r p |
| ``TriangularSphering`` of rows | p <= r, columns independent | r p^2 + p^3 / 3 | p^2 |
| ``LowRankSphering`` | a small diagonal is added | some 10 r^2 p | r p |
| ``RowSphering`` of singular vectors | nothing | some 10 r p min(r, p) | p min(r, p) |

The first in the table that can be taken is taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr

from discrim import kernels
from discrim.errors import DataError
from discrim.families.gaussian.shrinkage import nonlinear_eigenvalues, scaled_products
from discrim.kernels.gaussian import reference
from discrim.statistics import ClassFactors, ClassMoments, Depth
from discrim.typing import Floats

Target = Literal["identity", "diagonal"]
Normalization = Literal["mle", "unbiased"]

# Below this reciprocal condition the scatter has lost too many digits and R-factors take over.
ILL_CONDITIONED = 1e-10
# Relative size of eigenvalues of a scaled scatter that are only rounding.
SQUARED_NOISE = 1e-11
# Eigenvalues of A'A above this make its rounding felt beside an identity, so A itself is decomposed.
LARGE = 1e6
# Deviations below this part of the last place of the values are what the sums leave of a constant column.
CONSTANT = 2.0**-5
# By so much the first column counts as longer than the last where dependent columns are named.
EARLIER = 1e-6
# Columns up to which a kernel of our own costs less than a call of the linear algebra library.
FEW = 32
NOTHING = np.zeros(0, np.intp)
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


class IllConditionedError(Exception):
    """The scaled matrix is too close to singular to be solved from its squares."""


class Sphering(ABC):
    """``log_det`` is the logarithm of the (pseudo-)determinant of Sigma."""

    log_det: float

    @property
    @abstractmethod
    def rank(self) -> int:
        """The rank of Sigma."""

    @property
    def dependent(self) -> NDArray[np.intp]:
        """Columns that the others determine (one choice of them), found when asked for."""
        return NOTHING

    @abstractmethod
    def forward(self, d: Floats) -> Floats:
        """W'd for the columns of d."""

    @abstractmethod
    def backward(self, z: Floats) -> Floats:
        """Wz for the columns of z."""

    def both(self, d: Floats) -> tuple[Floats, Floats]:
        """W'd and Sigma^-1 d for the columns of d."""
        z = self.forward(d)
        return z, self.backward(z)


@dataclass(frozen=True)
class TriangularSphering(Sphering):
    """W = D^-1 L^-T with D the standard deviations and LL' the correlations; ``inverse`` is L^-1.

    The inverse is written out: a product with it is many times faster on small matrices than a solve.
    """

    scale: Floats
    inverse: Floats
    log_det: float

    @property
    def rank(self) -> int:
        return len(self.scale)

    def forward(self, d: Floats) -> Floats:
        return np.asarray(self.inverse @ (d / self.scale[:, None]))

    def backward(self, z: Floats) -> Floats:
        return np.asarray((self.inverse.T @ z) / self.scale[:, None])


@dataclass(frozen=True)
class RowSphering(Sphering):
    """W = D^-1 B'(BB')^-1 for independent rows B = AD^-1 of Sigma = A'A; LL' = BB'.

    A are the data's rows, fewer than columns, or diag(s)V'D with the directions V that have a variance s^2 worth the
    name. Columns of infinite D are left out.
    """

    scale: Floats
    rows: Floats
    lower: Floats

    @property
    def log_det(self) -> float:  # type: ignore[override]
        kept = np.isfinite(self.scale)
        return 2.0 * float(np.log(np.diagonal(self.lower)).sum() + np.log(self.scale[kept]).sum())

    @property
    def rank(self) -> int:
        return len(self.rows)

    @property
    def dependent(self) -> NDArray[np.intp]:
        scaled = self.rows / self.scale
        size = np.sqrt(np.einsum("ij,ij->j", scaled, scaled))
        # Of columns that say the same the first is kept: which is longer by rounding differs between processors.
        size *= np.linspace(1.0, 1.0 + EARLIER, len(size))
        _, order = qr(scaled / np.where(size > 0, size, 1.0), mode="r", pivoting=True, check_finite=False)
        return np.sort(np.asarray(order[self.rank :], dtype=np.intp))

    def forward(self, d: Floats) -> Floats:
        return divided(self.lower, self.rows @ (d / (self.scale**2)[:, None]))

    def backward(self, z: Floats) -> Floats:
        return np.asarray((self.rows.T @ divided(self.lower, z)) / (self.scale**2)[:, None])


@dataclass(frozen=True)
class WoodburySphering(Sphering):
    """Sigma = f (H + A'A) with H a positive diagonal: W = (fH)^-1/2 (I + B'B)^-1 (I, B'), B = AH^-1/2, LL' = I + BB'.

    A are ``rows``, each times its ``factor``: a number for a row is less to keep than another matrix. W has a
    column more for every row of A than it needs; WW' is the inverse of Sigma nevertheless.
    """

    root: Floats
    rows: Floats
    lower: Floats
    log_det: float
    unit: float
    factor: Floats | float = 1.0

    @property
    def rank(self) -> int:
        return len(self.root)

    def forward(self, d: Floats) -> Floats:
        return self.both(d)[0]

    def backward(self, z: Floats) -> Floats:
        p = self.rank
        u = z[:p] + (self.rows.T @ (self._factors * z[p:])) / self.root[:, None]
        return np.asarray(self._solved(u)[0] / self.unit / self.root[:, None])

    def both(self, d: Floats) -> tuple[Floats, Floats]:
        inside, along = self._solved(d / self.unit / self.root[:, None])
        return np.vstack([inside, along]), inside / self.unit / self.root[:, None]

    @property
    def _factors(self) -> Floats | float:
        return self.factor if isinstance(self.factor, float) else self.factor[:, None]

    def _solved(self, u: Floats) -> tuple[Floats, Floats]:
        """v = (I + B'B)^-1 u, and Bv."""
        along = divided(self.lower, self._factors * (self.rows @ (u / self.root[:, None])))
        return u - (self.rows.T @ (self._factors * along)) / self.root[:, None], along


@dataclass(frozen=True)
class LowRankSphering(Sphering):
    """Sigma = H + A'A with H a positive diagonal and A of few rows: W = H^-1/2 (I + V diag(g) V').

    ``kept`` is 1 + g, which may be so small that the sum has lost its digits.
    """

    root: Floats
    directions: Floats
    gain: Floats
    log_det: float
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


def sphere_matrix(sigma: Floats, noise: Floats, *, may_reread: bool, least: float = ILL_CONDITIONED) -> Sphering:
    """Sphering of a covariance matrix; ``noise`` is the rounding of each column's deviation.

    Raises IllConditionedError where R-factors would do better and the rows can be read again; otherwise, up to the
    reciprocal condition ``least``, directions that are only rounding are left out. Cost p^3 / 3.
    """
    sphered = kernels.sphere if len(noise) <= FEW else reference.sphere
    scale, inverse, log_det, rcond = sphered(sigma, noise)
    if rcond > least:
        return TriangularSphering(scale, inverse, log_det)
    alive = np.isfinite(scale)
    if may_reread and alive.all() and len(scale):
        raise IllConditionedError
    correlation = sigma / scale[:, None] / scale[None, :]
    index = np.flatnonzero(alive)
    values, vectors = np.linalg.eigh(correlation[np.ix_(index, index)])
    if may_reread and len(values) and values[0] < ILL_CONDITIONED * max(values[-1], 1.0):
        raise IllConditionedError
    keep = values > SQUARED_NOISE * max(len(index), 1)
    directions = np.zeros((int(keep.sum()), len(scale)))
    directions[:, index] = vectors[:, keep].T
    return _spectral(scale, directions, np.sqrt(values[keep]))


def sphere_factor(factor: Floats, noise: Floats, eps: float, tol: float) -> Sphering:
    """Sphering of Sigma = R'R from R itself: directions above rounding (and ``tol``) are kept."""
    deviation = np.sqrt(np.einsum("ij,ij->j", factor, factor))
    alive = deviation > noise
    scale = np.where(alive, deviation, np.inf)
    # Rounding of the numbers is a random matrix of this size, with a largest singular value as in Marchenko and Pastur.
    spread = 0.5 * (1.0 + np.sqrt(factor.shape[1] / max(factor.shape[0], 1)))
    rounding = spread * float((noise / scale)[alive].max(initial=0.0))
    least = max(8.0 * eps * np.sqrt(max(factor.shape)) + rounding, tol)
    if 0 < factor.shape[0] < factor.shape[1]:
        lower, rcond, norm = row_products(factor, scale, 0.0)
        if rcond > ILL_CONDITIONED and rcond * norm > least**2:
            return RowSphering(scale, factor, lower)
    scaled = factor / scale
    if alive.all() and 0 < len(scale) <= len(scaled):
        # A triangle keeps the digits of every column; singular vectors only those of the largest.
        triangle = np.triu(scaled[: len(scale)])
        if len(scaled) > len(scale) or (triangle != scaled).any():
            triangle = np.asarray(np.linalg.qr(scaled, mode="r"))
        inverse, info = lapack.dtrtri(triangle.T, lower=1)
        # The inverse of a norm of the inverse is a lower bound of the singular values, which may be enough.
        enough = info == 0 and least * float(np.linalg.norm(inverse)) < 1.0
        if enough or (np.linalg.svd(triangle, compute_uv=False) > least).all():
            log_det = 2.0 * float(np.log(np.abs(np.diagonal(triangle))).sum() + np.log(scale).sum())
            return TriangularSphering(scale, inverse, log_det)
    _, values, rows = np.linalg.svd(scaled, full_matrices=False)
    keep = values > least
    return _spectral(scale, np.where(alive, rows[keep], 0.0), values[keep])


def sphere_sum(diagonal: Floats, rows: Floats, share: Floats | float) -> Sphering:
    """Sphering of diag(h) + A' diag(share) A for rows A (r x p), a share each or one: nothing p x p is formed."""
    unit = float(np.max(share, initial=0.0))
    if unit == 0:
        return sphere_low_rank(diagonal, rows[:0])
    root, factor = np.sqrt(diagonal / unit), np.sqrt(share / unit) if isinstance(share, np.ndarray) else 1.0
    lower, rcond, norm = row_products(rows, root, 1.0, factor)
    if rcond == 0 or norm > LARGE:
        return sphere_low_rank(diagonal, _by_share(rows, share))
    log_det = 2.0 * float(np.log(np.diagonal(lower)).sum()) + float(np.log(diagonal).sum())
    return WoodburySphering(root, rows, lower, log_det, np.sqrt(unit), factor)


def row_products(
    rows: Floats, scale: Floats, added: float, factor: Floats | float = 1.0
) -> tuple[Floats, float, float]:
    """L with LL' = BB' + added I for rows B = FAD^-1, its reciprocal condition, about, 0 without L, and its norm."""
    products = scaled_products(rows, scale)
    if isinstance(factor, np.ndarray):
        products *= factor[:, None] * factor
    products.flat[:: len(rows) + 1] += added
    norm = float(np.abs(products).sum(axis=0).max())
    lower, info = lapack.dpotrf(products.T, lower=1, overwrite_a=1)
    return lower, float(lapack.dpocon(lower, norm, uplo="L")[0]) if info == 0 else 0.0, norm


def _by_share(rows: Floats, share: Floats | float) -> Floats:
    """diag(share)^1/2 A."""
    root = np.sqrt(share)
    return np.asarray((root[:, None] if isinstance(root, np.ndarray) else root) * rows)


def divided(lower: Floats, b: Floats) -> Floats:
    """(LL')^-1 b."""
    return np.asarray(lapack.dpotrs(lower, b, lower=1)[0] if len(b) else b)


def sphere_low_rank(diagonal: Floats, rows: Floats) -> LowRankSphering:
    """The same by the eigenvectors of A'A, which keep the digits of a small diagonal. Cost r^2 p."""
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
    return LowRankSphering(root, directions, kept - 1.0, log_det, kept if large else None)


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
    return np.asarray(np.spacing(np.abs(mean).max(axis=0, initial=TINY)) * (eps / EPS))


def last_place(values: Floats, eps: float) -> Floats:
    """One unit in the last place of numbers of this size; at zero next to nothing."""
    return np.asarray(np.spacing(np.maximum(np.abs(values), TINY)) * (eps / EPS))


def _spectral(scale: Floats, directions: Floats, deviations: Floats) -> RowSphering:
    """From orthogonal rows ``directions`` in units of the scale, and the deviations along them."""
    rows = deviations[:, None] * directions * np.where(np.isfinite(scale), scale, 0.0)
    return RowSphering(scale, rows, np.asfortranarray(np.diag(deviations)))


@dataclass(frozen=True)
class Within:
    """Sigma = ``values`` (p x p), or A' diag(share) A for rows A = ``values``, ``thin`` where p x p is no way.

    A ``share`` is that of each row, or of all.

    ``noise`` is the deviation of each column that rounding alone could cause.
    """

    values: Floats
    noise: Floats
    eps: float
    thin: bool = False
    share: Floats | float = 1.0

    @property
    def diagonal(self) -> Floats:
        if not self.thin:
            return np.diagonal(self.values)
        if isinstance(self.share, np.ndarray):
            return np.asarray(np.einsum("i,ij,ij->j", self.share, self.values, self.values))
        return np.asarray(self.share * np.einsum("ij,ij->j", self.values, self.values))

    @property
    def rows(self) -> Floats:
        """Rows A with A'A = Sigma, where it is known by rows."""
        return self.values if isinstance(self.share, float) and self.share == 1 else _by_share(self.values, self.share)

    @property
    def root(self) -> Floats:
        """Rows A with A'A = Sigma. Cost p^3 where it is a matrix."""
        return self.rows if self.thin else square_root(self.values)

    def times(self, v: Floats) -> Floats:
        """Sigma v."""
        product = self.values @ v
        if not self.thin:
            return np.asarray(product)
        each = np.reshape(self.share, (-1,) + (1,) * (product.ndim - 1)) if product.ndim else self.share
        return np.asarray(self.values.T @ (each * product))

    def of_columns(self, columns: NDArray[np.bool_]) -> Within:
        """The same for some of the columns."""
        values = self.values[:, columns] if self.thin else self.values[np.ix_(columns, columns)]
        return replace(self, values=values, noise=self.noise[columns])

    def scaled(self, factor: Floats) -> Within:
        """The same for columns times these factors."""
        values = self.values * factor if self.thin else factor[:, None] * self.values * factor
        return replace(self, values=values, noise=self.noise * factor)

    def with_rows(self, rows: Floats) -> Within:
        """Sigma + B'B for these rows B."""
        values = np.vstack([self.rows, rows]) if self.thin else self.values + rows.T @ rows
        return replace(self, values=values, share=1.0)

    def plus(self, other: Within) -> Within:
        """The sum of both."""
        return self.with_rows(other.rows) if other.thin else replace(self, values=self.values + other.values)

    def dense(self, factor: float = 1.0, added: Floats | float = 0.0) -> Floats:
        """factor * Sigma + diag(added) written out."""
        sigma = factor * (self.rows.T @ self.rows if self.thin else self.values)
        sigma.flat[:: len(sigma) + 1] += added
        return np.asarray(sigma)

    def sphere(self, *, tol: float, reread: bool, raw: bool = False) -> Sphering:
        """Sphering of Sigma as it is; directions without variance, or a scaled deviation up to tol, are left out.

        Of a singular Sigma this inverts what the scaled columns span. With ``raw`` it is the pseudo-inverse of Sigma
        itself, which depends on the units; how many directions are without variance does not.
        """
        if not self.thin and tol == 0:
            found: Sphering = sphere_matrix(self.values, self.noise, may_reread=reread)
        else:
            rows = self.rows if self.thin else square_root(self.values)
            found = sphere_factor(rows, self.noise, self.eps, tol)
        return self._raw(found.rank) if raw and found.rank < len(self.noise) else found

    def _raw(self, rank: int) -> Sphering:
        """The pseudo-inverse of a Sigma of this rank. Cost p^3, or r^2 p for r rows."""
        one = np.ones(len(self.noise))
        if self.thin and 0 < rank == len(self.values):
            lower, rcond, _ = row_products(self.rows, one, 0.0)
            if rcond > ILL_CONDITIONED:
                return RowSphering(one, self.rows, lower)
        deviations, directions = self._principal()
        least = max(self.values.shape) * EPS if self.thin else np.sqrt(len(deviations) * EPS)
        kept = min(rank, int((deviations > least * deviations.max(initial=0.0)).sum()))
        return _spectral(one, directions[:kept], deviations[:kept])

    def _principal(self) -> tuple[Floats, Floats]:
        """Deviations along the principal directions, the largest first, and these as rows."""
        if self.thin:
            return np.linalg.svd(self.rows, full_matrices=False)[1:]
        values, vectors = np.linalg.eigh(self.values)
        return np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1].T

    def sphere_added(self, factor: float, added: Floats, *, reread: bool) -> Sphering:
        """Sphering of factor * Sigma + diag(added)."""
        if self.thin:
            # A column without any variance is left out, as an infinite one would be.
            return sphere_sum(np.where(added > 0, added, np.inf), self.values, factor * self.share)
        return sphere_matrix(self.dense(factor, added), self.noise, may_reread=reread)

    def sphere_nonlinear(self, degrees: float) -> Sphering:
        """Sphering after analytical nonlinear shrinkage of the eigenvalues."""
        p, (deviations, directions) = len(self.noise), self._principal()
        keep = deviations > deviations.max(initial=0.0) * 1e-10 if self.thin else slice(None)
        values, vectors = deviations[keep] ** 2, directions[keep].T
        shrunk, null = nonlinear_eigenvalues(values, p, degrees)
        if not shrunk.all() or (null == 0 and len(values) < p):
            # Outside the span of the directions there is no variance to speak of.
            return _spectral(np.ones(p), vectors[:, shrunk > 0].T, np.sqrt(shrunk[shrunk > 0]))
        base = null if len(values) < p else 1.0
        gain = np.sqrt(base / shrunk) - 1.0
        log_det = float(np.log(shrunk).sum() + (p - len(values)) * np.log(base))
        return LowRankSphering(np.full(p, np.sqrt(base)), vectors, gain, log_det)


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
    weight, hint = statistic.weight, "Scale the weights so that they count rows, or use normalization='mle'."
    if pooled and statistic.total_weight <= (weight > 0).sum():
        raise DataError(
            f"The weights sum to {statistic.total_weight:g}, not more than the number of classes, so that the unbiased "
            f"divisor n - K is not positive. {hint}"
        )
    small = np.flatnonzero((statistic.rows > 1) & (weight <= 1))
    if not pooled and len(small):
        raise DataError(
            f"The weights of class '{statistic.classes[small[0]]}' sum to {weight[small[0]]:g}, so that the unbiased "
            f"divisor n_k - 1 is not positive. {hint}"
        )


def divisors(weight: Floats, normalization: str) -> Floats:
    """What each S_k is divided by: n_k, or n_k - 1."""
    return np.where(weight > 0, weight if normalization == "mle" else weight - 1.0, 1.0)


def pooled_divisor(weight: Floats, normalization: str) -> float:
    """What S is divided by: n, or n - K."""
    return float(weight.sum()) - (0 if normalization == "mle" else np.count_nonzero(weight > 0))


def each_within(statistic: ClassMoments | ClassFactors, factor: Floats, eps: float) -> tuple[Within, ...]:
    """factor_g S_g for every scatter of the statistic: one a class, or the pooled one."""
    noise, p = rounding_noise(statistic.mean, eps), statistic.n_features
    if isinstance(statistic, ClassMoments):
        scatters = statistic.scatter.reshape(-1, p, p)
        return tuple(Within(f * s, noise, eps) for f, s in zip(factor, scatters, strict=True))
    shares = zip(factor.tolist(), statistic.factors, strict=True)
    return tuple(Within(r, noise, eps, thin=True, share=share) for share, r in shares)


def shares_over(shares: Floats | float, divisor: Floats) -> Floats:
    """shares / divisor, 0 where that is not positive."""
    return np.divide(shares, divisor, out=np.zeros(len(divisor)), where=divisor > 0)


def pooled_within(statistic: ClassMoments | ClassFactors, normalization: str, eps: float) -> Within:
    """Sigma = S / n, or S / (n - K); ``eps`` is the rounding of the numbers as they were given."""
    divisor = pooled_divisor(statistic.weight, normalization)
    (pooled,) = each_within(statistic.pooled(), np.array([1.0 / divisor]), eps)
    return pooled


def weighted_within(statistic: ClassMoments | ClassFactors, shares: Floats, normalization: str, eps: float) -> Within:
    """Sigma = sum_k shares_k Sigma_k."""
    assert statistic.depth is Depth.FULL
    factor = shares_over(shares, divisors(statistic.weight, normalization))
    if isinstance(statistic, ClassMoments):
        return reduce(Within.plus, each_within(statistic, factor, eps))
    share = np.repeat(factor, [len(r) for r in statistic.factors])
    return Within(stacked(statistic.factors), rounding_noise(statistic.mean, eps), eps, thin=True, share=share)


def stacked(parts: Sequence[Floats]) -> Floats:
    """The parts below each other; without a copy where they are one matrix already, in this order."""
    whole = parts[0].base
    if isinstance(whole, np.ndarray) and whole.flags.c_contiguous and whole.size == sum(part.size for part in parts):
        ends = whole.ctypes.data + np.cumsum([0, *(part.nbytes for part in parts)])
        one = all(part.base is whole and part.flags.c_contiguous for part in parts)
        if one and all(part.ctypes.data == end for part, end in zip(parts, ends.tolist(), strict=False) if part.size):
            return whole.reshape(-1, parts[0].shape[1])
    return np.vstack(parts)
