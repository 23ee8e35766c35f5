"""Regularised discriminant analysis: class covariances between LDA, QDA and a simple target.

    Sigma_k(alpha) = alpha Sigma_k + (1 - alpha) Sigma
    Sigma_k(alpha, gamma) = gamma Sigma_k(alpha) + (1 - gamma) T_k

with T_k = (tr Sigma_k(alpha)/p) I (target "identity") or diag Sigma_k(alpha) (target "diagonal").
For fixed (k, alpha) there is a basis in which the matrix and its target are both diagonal, so that one
eigendecomposition serves every gamma.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.typing import Floats

Target = Literal["identity", "diagonal"]
Normalization = Literal["mle", "unbiased"]

# Numbers held at once while scoring: small enough to stay in the second-level cache.
_BUDGET = 1 << 18


class Moments(NamedTuple):
    """What the rules need of the data; the folds of a cross-validation add a leading axis."""

    weight: Floats
    """n_k, shape (K,)."""
    mean: Floats
    """mu_k, shape (K, p)."""
    scatter: Floats
    """S_k = sum of w (x - mu_k)(x - mu_k)', shape (K, p, p)."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The settings to be scored.

    ``n_columns`` is the original number of columns p0 when the data were rotated into p <= p0
    dimensions; only the identity target survives a rotation.
    """

    alphas: Floats
    gammas: Floats
    target: Target = "identity"
    normalization: Normalization = "mle"
    n_columns: int | None = None


class Spectra(NamedTuple):
    """Class matrices in the bases where they and their targets are diagonal; leading axes (A, K).

    With B = ``basis``, B Sigma B' = diag(``values``) and B T B' = ``level`` I, and log|Sigma| is the
    sum of log ``values`` plus ``offset``. An offset of NaN marks a matrix that is not defined.
    """

    basis: Floats
    values: Floats
    level: Floats
    offset: Floats


def class_covariances(weight: Floats, scatter: Floats, alpha: float, normalization: Normalization) -> Floats:
    """Sigma_k(alpha) of every class, (K, p, p); O(K p^2).

    A matrix that the data do not define (no degrees of freedom left) is NaN; a part with factor 0 is
    never looked at, so alpha = 0 needs no class of its own to be estimable.
    """
    own, pooled = divisors(weight, normalization)
    return mix(scatter, own, pooled, alpha)


def grid_scores(
    moments: Moments, x: NDArray[Any], grid: Grid, log_priors: Floats, residual: Floats | None = None
) -> Floats:
    """Log posteriors up to a constant of each row, for every setting: shape (A, G, n, K).

        score_k = log pi_k - (D_k + log|Sigma_k|)/2,   D_k = (x - mu_k)' Sigma_k^-1 (x - mu_k)

    A class without weight scores -inf. A setting in which the matrix of some class is singular or
    undefined scores NaN throughout. Where the data were rotated into p < p0 dimensions, ``residual``
    is the squared length of what a row has outside of them.
    O(A K (p^3 + n p^2 + n p G)).
    """
    n, n_classes = x.shape[0], moments.weight.shape[0]
    out = np.empty((len(grid.alphas), n_classes, len(grid.gammas), n))
    for settings, rows, scores in score_blocks(moments, x, grid, log_priors, residual):
        out[settings, :, :, rows] = scores
    return np.moveaxis(out, 1, -1)


def score_blocks(
    moments: Moments, x: NDArray[Any], grid: Grid, log_priors: Floats, residual: Floats | None = None
) -> Iterator[tuple[slice, slice, Floats]]:
    """The scores of ``grid_scores`` piece by piece: slices of alphas and of rows, and (a, K, G, rows)."""
    n, p = x.shape
    n_classes = moments.weight.shape[0]
    per_class = max(_BUDGET // n_classes, 1)
    step = min(max(per_class // max(p * p, 1), 1), len(grid.alphas))
    n_rows = max(per_class // (step * max(p, len(grid.gammas))), 64)
    absent = moments.weight <= 0.0
    deviations = x.T - moments.mean[:, :, None]
    own, pooled = divisors(moments.weight, grid.normalization)
    for first in range(0, len(grid.alphas), step):
        settings = slice(first, first + step)
        sigma = np.stack([mix(moments.scatter, own, pooled, a) for a in grid.alphas[settings]])
        parts = [(cols, basis, *_rules(basis, grid, cols, absent)) for cols, basis in bases(sigma, grid)]
        for start in range(0, n, n_rows):
            rows = slice(start, min(start + n_rows, n))
            outside = None if residual is None else residual[rows]
            scores = np.empty((sigma.shape[0], n_classes, len(grid.gammas), rows.stop - start))
            for cols, basis, inverse, constant, tail in parts:
                scores[:, :, cols] = _distances(deviations[:, :, rows], basis, inverse, tail, outside)
                scores[:, :, cols] += (constant - 2.0 * log_priors[:, None])[..., None]
            scores *= -0.5
            scores[:, absent] = np.where(np.isnan(scores[:, absent]), np.nan, -np.inf)
            yield settings, rows, scores


def divisors(weight: Floats, normalization: Normalization) -> tuple[Floats, float]:
    """Degrees of freedom of each class and of the pooled matrix; NaN where none are left."""
    total = float(weight.sum())
    if normalization == "mle":
        own, pooled = weight, total
    else:
        own, pooled = weight - 1.0, total - float(np.count_nonzero(weight > 0.0))
    return np.where(own > 0.0, own, np.nan), pooled if pooled > 0.0 else np.nan


def mix(scatter: Floats, own: Floats, pooled: float, alpha: float) -> Floats:
    """alpha S_k/own_k + (1 - alpha) S/pooled."""
    if alpha == 0.0:
        return np.broadcast_to(scatter.sum(axis=0) / pooled, scatter.shape).copy()
    out: Floats = scatter * (alpha / own)[:, None, None]
    if alpha != 1.0:
        out += scatter.sum(axis=0) * ((1.0 - alpha) / pooled)
    return out


def identity_spectra(sigma: Floats, n_columns: int) -> Spectra:
    """Eigenvectors as rows of the basis; the level is tr/n_columns."""
    sigma, offset = _made_finite(sigma)
    values, vectors = _eigh(sigma)
    level = np.trace(sigma, axis1=-2, axis2=-1) / max(n_columns, 1)
    return Spectra(np.swapaxes(vectors, -1, -2), values, level, offset)


def diagonal_spectra(sigma: Floats) -> Spectra:
    """The same for the diagonal target, which is the identity once columns have unit variance."""
    sigma, offset = _made_finite(sigma)
    variance = np.diagonal(sigma, axis1=-2, axis2=-1)
    constant = variance <= 0.0
    scale = np.sqrt(np.where(constant, 1.0, variance))
    offset = np.where(constant.any(axis=-1), np.nan, offset + 2.0 * np.log(scale).sum(axis=-1))
    values, vectors = _eigh(sigma / (scale[..., :, None] * scale[..., None, :]))
    basis = np.swapaxes(vectors, -1, -2) / scale[..., None, :]
    return Spectra(basis, values, np.ones(offset.shape), offset)


def tolerance(p: int) -> float:
    """The ratio of smallest to largest eigenvalue that is only rounding."""
    return 8.0 * p * float(np.finfo(np.float64).eps)


def _eigh(sigma: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and vectors of stacked matrices (A, K, p, p); what all classes share is done once."""
    shared = np.asarray((sigma == sigma[:, :1]).all(axis=(1, 2, 3)))
    values, vectors = np.empty(sigma.shape[:-1]), np.empty_like(sigma)
    values[~shared], vectors[~shared] = np.linalg.eigh(sigma[~shared])
    once, vectors_once = np.linalg.eigh(sigma[shared, 0])
    values[shared], vectors[shared] = once[:, None], vectors_once[:, None]
    return values, vectors


def _made_finite(sigma: Floats) -> tuple[Floats, Floats]:
    """Undefined matrices become the identity, for LAPACK, and are remembered by an offset of NaN."""
    undefined = np.asarray(~np.isfinite(sigma).all(axis=(-2, -1)))
    if undefined.any():
        sigma = np.where(undefined[..., None, None], np.eye(sigma.shape[-1]), sigma)
    return sigma, np.where(undefined, np.nan, 0.0)


def bases(sigma: Floats, grid: Grid) -> list[tuple[NDArray[np.intp] | slice, Spectra]]:
    """Which gammas (by position) to score in which basis of the class matrices ``sigma``."""
    if grid.target == "diagonal":
        return [(slice(None), diagonal_spectra(sigma))]
    p = sigma.shape[-1]
    spectra = identity_spectra(sigma, grid.n_columns or p)
    pure = grid.gammas == 1.0
    smallest = spectra.values.min(axis=-1, initial=np.inf)
    ill = smallest < 1e-8 * spectra.values.max(axis=-1, initial=0.0)
    if not (pure.any() and ill.any()) or (grid.n_columns or p) > p:
        return [(slice(None), spectra)]
    # At gamma = 1 no target enters, and unit variances keep the digits that unequal scales would cost.
    return [(np.flatnonzero(~pure), spectra), (np.flatnonzero(pure), diagonal_spectra(sigma))]


def _rules(
    spectra: Spectra, grid: Grid, cols: NDArray[np.intp] | slice, absent: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Inverse eigenvalues (a, K, G, p), log-determinants (a, K, G) and the variance outside (a, K, G)."""
    gammas = grid.gammas[cols]
    p = spectra.values.shape[-1]
    n_outside = (grid.n_columns or p) - p
    tail = (1.0 - gammas) * spectra.level[..., None]
    q = gammas[:, None] * spectra.values[..., None, :] + tail[..., None]
    largest = np.maximum(q.max(axis=-1, initial=0.0), tail)
    singular = q.min(axis=-1, initial=np.inf) <= tolerance(p) * largest
    if n_outside:
        singular |= tail <= tolerance(p) * largest
    q[singular] = 1.0
    tail = np.where(singular, 1.0, tail) if n_outside else tail
    logdet = np.log(q).sum(axis=-1) + spectra.offset[..., None]
    if n_outside:
        logdet += n_outside * np.log(tail)
    logdet[singular] = np.nan
    logdet[:, absent] = 0.0
    infeasible = np.isnan(logdet).any(axis=1)
    logdet[np.broadcast_to(infeasible[:, None], logdet.shape)] = np.nan
    return 1.0 / q, logdet, tail


def _distances(deviations: Floats, spectra: Spectra, inverse: Floats, tail: Floats, residual: Floats | None) -> Floats:
    """D_k of every setting, (a, K, G, n): squared rotated deviations times inverse eigenvalues."""
    rotated = spectra.basis @ deviations
    distances: Floats = inverse @ np.square(rotated, out=rotated)
    if residual is not None:
        distances += residual / tail[..., None]
    return distances
