"""Columns that others determine, and coordinates in which badly conditioned columns are orthonormal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from discrim.engines import one_blas_thread, reduce
from discrim.engines.objective import Coordinates
from discrim.sources import Block, Rows
from discrim.statistics import ClassFactors, Depth, merge_factors

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# What is left of a column of length one, after the columns before it, when it counts as determined by them.
DEPENDENT = 1e-10
# From here on squares have lost so many digits that the columns are made orthonormal first.
FRAGILE = 1e-4


@dataclass(frozen=True)
class Rank:
    """``aliased`` columns (p) are determined by those before them. ``coordinates`` are given where those of the plain
    columns would lose digits, or where the least-norm answer was asked for.
    """

    aliased: Mask
    coordinates: Coordinates | None = None


def looks_independent(hessian: Floats) -> bool:
    """Are all columns far from being determined by the others, as this curvature tells?"""
    if not len(hessian):
        return True
    scale = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))
    if not scale.all() or not np.isfinite(scale).all():
        return False
    lower, info = lapack.dpotrf(hessian / scale[:, None] / scale, lower=1)
    return bool(info == 0 and np.diagonal(lower).min() > FRAGILE)


def column_rank(rows: Rows, *, intercept: bool, minimum_norm: bool) -> Rank:
    """One pass of a QR over the rows, which keeps the digits that squares lose. Cost 2 n p^2."""
    with one_blas_thread():
        factors = reduce(rows, partial(ClassFactors.of, depth=Depth.POOLED), merge_factors)
        mean, r = _all_rows(factors, intercept=intercept)
    weight = factors.total_weight
    length = np.linalg.norm(r, axis=0)
    # Rounding of a constant column leaves about this much of it.
    alive = length > 1e-14 * np.sqrt(weight) * np.abs(mean) * 16 if intercept else length > 0
    scale = np.where(alive, length, 1.0)
    scaled = np.where(alive, r / scale, 0.0)
    shift = mean if intercept else np.zeros_like(mean)
    if minimum_norm:
        _, values, vectors = np.linalg.svd(np.where(alive, r, 0.0), full_matrices=False)
        keep = values > 1e-11 * values.max(initial=0.0)
        basis = (vectors[keep] / values[keep, None]).T * np.sqrt(weight)
        return Rank(np.zeros(len(mean), bool), Coordinates(shift, np.ones(len(mean)), intercept, basis))
    diagonal = np.zeros(len(mean))
    upper = np.linalg.qr(scaled, mode="r")
    diagonal[: len(upper)] = np.abs(np.diagonal(upper))
    aliased = ~alive | (diagonal <= DEPENDENT)
    kept = np.flatnonzero(~aliased)
    if not len(kept) or diagonal[kept].min() > FRAGILE:
        return Rank(aliased)
    triangle = np.linalg.qr(scaled[:, kept], mode="r")
    basis = np.zeros((len(mean), len(kept)))
    basis[kept] = np.linalg.inv(triangle) * np.sqrt(weight) / scale[kept, None]
    return Rank(aliased, Coordinates(shift, np.ones(len(mean)), intercept, basis))


def _all_rows(factors: ClassFactors, *, intercept: bool) -> tuple[Floats, Floats]:
    """Mean of all rows, and a factor of their scatter about it (about zero without an intercept)."""
    weight = factors.weight
    mean = weight @ factors.mean / factors.total_weight
    origin = mean if intercept else np.zeros_like(mean)
    gaps = np.sqrt(weight)[:, None] * (factors.mean - origin)
    return mean, np.vstack([*factors.factors, gaps])


def row_space(block: Block, *, intercept: bool) -> tuple[Coordinates, Floats]:
    """Orthonormal coordinates of the space of the (centred) rows, and the rows in them. Cost n^2 p.

    A ridge on these is the same ridge on the columns.
    """
    n, p = block.x.shape
    shift = np.asarray(block.x.mean(axis=0), float).ravel() if intercept else np.zeros(p)
    if isinstance(block.x, np.ndarray):
        centred = np.asarray(block.x, float) - shift
        gram = centred @ centred.T
    else:
        cross = np.asarray(block.x @ shift)
        gram = np.asarray((block.x @ block.x.T).toarray(), float) - cross[:, None] - cross + shift @ shift
    values, vectors = np.linalg.eigh(gram)
    keep = values > max(values[-1], 0.0) * 1e-14 * max(n, 1)
    root = np.sqrt(values[keep])
    u = vectors[:, keep] / root
    basis = centred.T @ u if isinstance(block.x, np.ndarray) else block.x.T @ u - np.outer(shift, u.sum(axis=0))
    return Coordinates(shift, np.ones(p), intercept, np.asarray(basis)), vectors[:, keep] * root
