"""Equations with positive definite matrices, in which every variable is first scaled to a diagonal of ones."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from discrim.typing import Floats


def scaled_cholesky(matrix: Floats, least: float = 1e-7) -> tuple[Floats, Floats] | None:
    """L and s with M / ss' = LL', which has the diagonal 1; None where a pivot of L is at most ``least``."""
    scale = _lengths(matrix)
    lower, info = lapack.dpotrf(matrix / np.multiply.outer(scale, scale), lower=1)
    return (lower, scale) if info == 0 and lower.diagonal().min() > least else None


def _lengths(matrix: Floats) -> Floats:
    """Roots of the diagonal; 1 where that is zero."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    return np.where(scale > 0, scale, 1.0)


def inverse_of(lower: Floats, scale: Floats) -> Floats:
    """The inverse of the matrix that ``scaled_cholesky`` has factored."""
    root, _ = lapack.dtrtri(lower, lower=1)
    return np.asarray((root.T @ root) / np.multiply.outer(scale, scale))


def inverses_of(matrices: Floats, least: float) -> Floats | None:
    """Those of several matrices; None where a pivot of one of them is at most ``least``."""
    scale = np.sqrt(np.maximum(np.diagonal(matrices, axis1=1, axis2=2), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = matrices / (scale[:, :, None] * scale[:, None])
    found = np.empty_like(scaled)
    for matrix, inverse in zip(scaled, found, strict=True):
        lower, info = lapack.dpotrf(matrix, lower=1, clean=0)
        if info or lower.diagonal().min(initial=1.0) <= least:
            return None
        inverse[:] = lapack.dpotri(lower, lower=1, overwrite_c=1)[0]
    # The other half is that of the factor's matrix.
    lower_half = np.tril(found)
    both = lower_half + np.tril(found, -1).transpose(0, 2, 1)
    return np.asarray(both / (scale[:, :, None] * scale[:, None]))


def solve_factored(lower: Floats, scale: Floats, right: Floats) -> Floats:
    """M^-1 b of the matrix that ``scaled_cholesky`` has factored."""
    return np.asarray(lapack.dpotrs(lower, right / scale, lower=1)[0]) / scale


def solve_positive(matrix: Floats, right: Floats) -> Floats:
    """M^-1 b for a positive semidefinite M; where M has no inverse, on the directions that it knows."""
    found = scaled_cholesky(matrix)
    if found is not None:
        return solve_factored(*found, right)
    root = _root_of_known(matrix)
    return np.asarray(root @ (root.T @ right))


def inverse_root(matrix: Floats) -> Floats:
    """F with F F' = M^-1 for a positive definite M; of a semidefinite M, a generalised inverse.

    What a generalised inverse says about a combination of coefficients that the data determine does not depend on
    which one it is.
    """
    found = scaled_cholesky(matrix) if len(matrix) else None
    if found is None:
        return _root_of_known(matrix)
    inverse, _ = lapack.dtrtri(found[0], lower=1)
    return np.asarray(np.tril(inverse).T / found[1][:, None])


def _root_of_known(matrix: Floats) -> Floats:
    """F with F F' = M^-1 on the directions that M, scaled to a unit diagonal, knows."""
    scale = _lengths(matrix)
    values, vectors = np.linalg.eigh(matrix / np.multiply.outer(scale, scale))
    keep = values > 1e-12 * values.max(initial=0.0)
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]) / scale[:, None])
