"""Columns that others determine, and coordinates in which badly conditioned columns are orthonormal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.block import Block
from discrim.families.logistic.objective import Coordinates, Span
from discrim.families.logistic.positive import scaled_cholesky
from discrim.families.recipe import Passes
from discrim.parallel import blas_threads, one_blas_thread
from discrim.statistics import ClassFactors, Depth
from discrim.statistics.factors import FactorsOf
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats, Mask

# What is left of a column of length one, after the columns before it, when it counts as determined by them.
DEPENDENT = 1e-10
# From here on squares have lost so many digits that the columns are made orthonormal first.
FRAGILE = 1e-4
# A part of the largest square below which squares are not trusted.
SQUARED = 1e-8


@dataclass(frozen=True)
class Rank:
    """``aliased`` columns (p) are determined by those before them. ``coordinates`` are given where those of the plain
    columns would lose digits, or where the least-norm answer was asked for.
    """

    aliased: Mask
    coordinates: Coordinates | None = None


def looks_independent(hessian: Floats) -> bool:
    """Are all columns far from being determined by the others, as this curvature shows?"""
    return not len(hessian) or scaled_cholesky(hessian, FRAGILE) is not None


def column_rank(rows: Passes, *, intercept: bool, minimum_norm: bool) -> Rank:
    """One pass of a QR over the rows, which keeps the digits that squares lose. Cost 2 n p^2."""
    factors: Any = rows.reduce(FactorsOf(Depth.POOLED))
    with one_blas_thread():
        mean, r = _all_rows(factors, intercept=intercept)
        r = np.asarray(np.linalg.qr(r, mode="r"))
    weight, length = factors.total_weight, np.linalg.norm(r, axis=0)
    size = np.sqrt(weight * mean**2 + length**2)
    # Rounding of a constant column leaves about this much of it.
    alive = length > 1e-14 * size * 16
    scale = np.where(alive, length, 1.0)
    scaled = np.where(alive, r / scale, 0.0)
    shift = mean if intercept else np.zeros_like(mean)
    if minimum_norm:
        basis = _least_norm_basis(scaled, scale) * np.sqrt(weight)
        return Rank(np.zeros(len(mean), bool), Coordinates(shift, np.ones(len(mean)), intercept, basis))
    with one_blas_thread():
        left, aliased = _left_over(scaled, np.finfo(rows.shape.columns.dtype).eps * size / scale)
    kept = np.flatnonzero(~aliased)
    if not len(kept) or left[kept].min() > FRAGILE:
        return Rank(aliased)
    triangle = np.linalg.qr(scaled[:, kept], mode="r")
    basis = np.zeros((len(mean), len(kept)))
    basis[kept] = np.linalg.inv(triangle) * np.sqrt(weight) / scale[kept, None]
    return Rank(aliased, Coordinates(shift, np.ones(len(mean)), intercept, basis))


def _left_over(columns: Floats, noise: Floats) -> tuple[Floats, Mask]:
    """What is left of every column after those kept before it, and whether it counts as determined by them.

    ``noise`` is the length of a column's own rounding. What is left of a column may be rounding of the columns
    that were taken out of it, which are followed along. Gram-Schmidt, each column twice; cost 2 p^3.
    """
    p = columns.shape[1]
    left, aliased = np.zeros(p), np.zeros(p, bool)
    q, rounding = np.zeros((p, p)), np.zeros(p)
    kept = 0
    for j in range(p):
        v, parts = columns[:, j].copy(), np.zeros(kept)
        for _ in range(2):
            more = q[:kept, : len(v)] @ v
            v -= more @ q[:kept, : len(v)]
            parts += more
        left[j] = np.linalg.norm(v)
        own = float(np.sqrt(noise[j] ** 2 + np.sum((parts * rounding[:kept]) ** 2)))
        aliased[j] = left[j] <= max(DEPENDENT, 4.0 * own)
        if not aliased[j]:
            q[kept, : len(v)], rounding[kept] = v / left[j], own / left[j]
            kept += 1
    return left, aliased


def _least_norm_basis(scaled: Floats, scale: Floats) -> Floats:
    """p x rank: slopes in which the columns are orthonormal, without any part that the columns do not see.

    The rank is that of columns of length one, the norm is that of the user's slopes.
    """
    _, values, vectors = np.linalg.svd(scaled)
    rank = int(np.sum(values > 1e-11 * values.max(initial=0.0)))
    basis = (vectors[:rank] / values[:rank, None]).T / scale[:, None]
    # Rounding must not tie columns together that have nothing to do with each other, least of all in small units.
    unseen, _ = np.linalg.qr(np.where(np.abs(vectors[rank:]) > 1e-13, vectors[rank:], 0.0).T / scale[:, None])
    return np.asarray(basis - unseen @ (unseen.T @ basis))


def _all_rows(factors: ClassFactors, *, intercept: bool) -> tuple[Floats, Floats]:
    """Mean of all rows, and a factor of their scatter about it (about zero without an intercept)."""
    weight = factors.weight
    mean = grand_mean(weight, factors.mean)
    origin = mean if intercept else np.zeros_like(mean)
    gaps = np.sqrt(weight)[:, None] * (factors.mean - origin)
    return mean, np.vstack([*factors.factors, gaps])


def row_space(block: Block, *, intercept: bool) -> tuple[Coordinates, Floats]:
    """Orthonormal coordinates of the space of the (centred) rows, and the rows in them. Cost n^2 p.

    A ridge on these is the same ridge on the columns.
    """
    with blas_threads(len(block)):
        return _row_space(block, intercept=intercept)


def _row_space(block: Block, *, intercept: bool) -> tuple[Coordinates, Floats]:
    n, p = block.x.shape
    shift = np.asarray(block.x.mean(axis=0), float).ravel() if intercept else np.zeros(p)
    if isinstance(block.x, np.ndarray):
        centred = np.asarray(block.x, float) - shift
        gram = centred @ centred.T
    else:
        cross = np.asarray(block.x @ shift)
        gram = np.asarray((block.x @ block.x.T).toarray(), float) - cross[:, None] - cross + shift @ shift
    values, vectors = np.linalg.eigh(gram)
    if isinstance(block.x, np.ndarray) and values[min(int(intercept), n - 1)] < SQUARED * values[-1]:
        basis, z = _precise_row_space(centred)
        return Coordinates(shift, np.ones(p), intercept, basis), z
    keep = values > max(values[-1], 0.0) * 1e-14 * max(n, 1)
    root = np.sqrt(values[keep])
    u = vectors[:, keep] / root
    z = vectors[:, keep] * root
    if isinstance(block.x, np.ndarray):
        return Coordinates(shift, np.ones(p), intercept, Span(centred, u)), z
    return Coordinates(shift, np.ones(p), intercept, block.x.T @ u - np.outer(shift, u.sum(axis=0))), z


def _precise_row_space(rows: Floats) -> tuple[Floats, Floats]:
    """The same without squares, in which short directions beside long ones would be lost. Cost 4 n^2 p."""
    q, r = np.linalg.qr(rows.T)
    u, values, vectors = np.linalg.svd(r.T)
    keep = values > 1e-15 * len(values) * values.max(initial=0.0)
    return q @ vectors[keep].T, u[:, keep] * values[keep]
