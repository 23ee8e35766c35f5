"""Leave-one-out scores of regularised discriminant analysis over a whole grid.

Without row x of class g (d = x - mu_g, rho = n_g/(n_g - 1)) the matrix of class k is A - c d d' with

    A = alpha S_k/nu_k + (1 - alpha) S/nu,   c = rho [1{k=g} alpha/nu_k + (1 - alpha)/nu],

where nu_k and nu are the divisors after the removal. A depends on the row only through "own class or
not", so at most 2K eigendecompositions serve an alpha; in the basis of A shrinkage is diagonal,

    Q = gamma diag(a) + (1 - gamma) t,   t = (tr A - c |d|^2)/p,

and the shrunk matrix is Q - gamma c y y' with y the rotated d.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError
from discrim.families.gaussian.leave_one_out import (
    log_priors_without,
    pooled_divisor_without,
    remaining_tolerance,
    rho_of,
)
from discrim.families.gaussian.regularized import Grid, Moments, Spectra, bases, divisors, mix, tolerance
from discrim.families.recipe import row_losses
from discrim.typing import Codes, Floats

# Numbers of one p x rows work array: a handful of them stay in the second-level cache.
_BLOCK = 1 << 14
_OWN, _OTHER, _VANISHED = 0, 1, 2


def loo_supported(grid: Grid) -> bool:
    """Whether the closed form covers the grid.

    The diagonal target changes with the removed row by a diagonal matrix, which is no rank-one change:
    only gamma = 1, where no target enters, is covered. The caller refits otherwise.
    """
    return grid.target == "identity" or bool((grid.gammas == 1.0).all())


def rda_scores(
    x: NDArray[Any], codes: Codes, moments: Moments, grid: Grid, priors: Floats | None = None
) -> Iterator[Floats]:
    """For each alpha the scores (G, n, K) of the rule without each row, with e = y'Q^-1 y,

        f = 1 - gamma c e,   log|Sigma_k| = log|Q| + log f,
        D_k = z'Q^-1 z + gamma c (z'Q^-1 y)^2/f   with z the rotated x - mu_k,   D_g = rho^2 e/f.

    Data rotated into p < p0 dimensions add (p0 - p) log((1 - gamma) t). Priors, vanishing classes and
    NaN as in ``leave_one_out``. Per alpha O(K p^3 + n K p^2 + n K p G).
    """
    for scores in _by_class(x, codes, moments, grid, priors):
        yield np.moveaxis(scores, 0, -1)


def rda_loss(
    x: NDArray[Any], codes: Codes, moments: Moments, grid: Grid, priors: Floats | None = None
) -> dict[str, Floats]:
    """The surface of leave-one-out errors and log losses, (A, G) each.

    The standard error is that of n folds of one row, sqrt(e (1 - e)/(n - 1)). A setting with a NaN
    score for any row is NaN.
    """
    error, log_loss = [], []
    for scores in _by_class(x, codes, moments, grid, priors):
        undefined = np.isnan(scores).any(axis=(0, 2))
        wrong, loss = row_losses(scores[None], codes)
        error.append(np.where(undefined, np.nan, wrong[0].mean(axis=-1)))
        log_loss.append(np.where(undefined, np.nan, loss[0].mean(axis=-1)))
    mean = np.array(error)
    std_error = np.sqrt(mean * (1.0 - mean) / max(len(codes) - 1, 1))
    return {"mean_error": mean, "std_error": std_error, "mean_log_loss": np.array(log_loss)}


class _Rows(NamedTuple):
    """Rows grouped by class, those of one-row classes last, as columns (p, n)."""

    order: NDArray[np.intp]
    codes: Codes
    x: Floats
    deviation: Floats
    """x - mu_g."""
    square: Floats
    """|x - mu_g|^2."""
    rho: Floats
    starts: NDArray[np.intp]
    """Where the rows of class k begin, (K + 1,); the last entry is where one-row classes begin."""


def _grouped(x: NDArray[Any], codes: Codes, moments: Moments) -> _Rows:
    n_classes = len(moments.weight)
    alone = moments.weight[codes] <= 1.0
    order = np.lexsort((codes, alone))
    columns = np.ascontiguousarray(x[order].T, dtype=np.float64)
    ordered = codes[order]
    deviation = columns - moments.mean[ordered].T
    starts = np.searchsorted(ordered[: len(codes) - int(alone.sum())], np.arange(n_classes + 1))
    square = np.square(deviation).sum(axis=0)
    return _Rows(order, ordered, columns, deviation, square, rho_of(moments.weight)[ordered], starts)


def _by_class(x: NDArray[Any], codes: Codes, moments: Moments, grid: Grid, priors: Floats | None) -> Iterator[Floats]:
    """Scores (K, G, n) for each alpha."""
    if not loo_supported(grid):
        raise ParameterError.bad_value("target", grid.target, "'identity' for closed-form leave-one-out")
    rows = _grouped(x, codes, moments)
    logs = log_priors_without(moments.weight, priors)[rows.codes].T
    block_size = max(_BLOCK // max(x.shape[1], 1), 64)
    for alpha in grid.alphas:
        rank_one, parts = _matrices(moments, grid, float(alpha))
        grouped = np.empty((len(logs), len(grid.gammas), len(codes)))
        for k, centre in enumerate(moments.mean):
            for kind, block in _blocks(rows.starts, len(codes), k, block_size):
                for cols, spectra in parts:
                    matrix = Spectra(*(part[kind, k] for part in spectra))
                    removal = _Removal(
                        rows.deviation[:, block],
                        rows.square[block],
                        rows.rho[block],
                        float(rank_one[kind, k]),
                        None if kind == _OWN else rows.x[:, block] - centre[:, None],
                    )
                    grouped[k][cols, block] = _scores(matrix, removal, grid.gammas[cols], grid.n_columns)
        grouped += logs[:, None, :]
        np.copyto(grouped, -np.inf, where=np.isneginf(logs)[:, None, :])
        scores = np.empty_like(grouped)
        scores[:, :, rows.order] = grouped
        yield scores


def _blocks(starts: NDArray[np.intp], n: int, k: int, block_size: int) -> Iterator[tuple[int, slice]]:
    """The rows in slices that share a matrix of class k, with the kind of that matrix."""
    for kind, first, last in (
        (_OTHER, 0, starts[k]),
        (_OWN, starts[k], starts[k + 1]),
        (_OTHER, starts[k + 1], starts[-1]),
        (_VANISHED, starts[-1], n),
    ):
        for start in range(int(first), int(last), block_size):
            yield kind, slice(start, min(start + block_size, int(last)))


def _matrices(
    moments: Moments, grid: Grid, alpha: float
) -> tuple[Floats, list[tuple[NDArray[np.intp] | slice, Spectra]]]:
    """c/rho (kind, K), and the spectra of A with leading axes (kind, K)."""
    weight, scatter = moments.weight, moments.scatter
    nu_other = divisors(weight, grid.normalization)[0]
    nu_own = np.where(nu_other > 1.0, nu_other - 1.0, np.nan)
    nu, nu_vanished = (pooled_divisor_without(weight, grid.normalization, gone) for gone in (False, True))
    kinds = [mix(scatter, nu_own, nu, alpha), mix(scatter, nu_other, nu, alpha)]
    if (weight == 1.0).any():
        kinds.append(mix(scatter, nu_other, nu_vanished, alpha))
    rank_one = np.zeros((3, len(weight)))
    rank_one[: _OTHER + 1] = (1.0 - alpha) / nu if alpha < 1.0 else 0.0
    rank_one[_OWN] += alpha / nu_own if alpha > 0.0 else 0.0
    return rank_one, bases(np.stack(kinds), grid)


class _Removal(NamedTuple):
    """Rows that are removed one at a time, as columns, from a matrix A - rate rho d d'."""

    d: Floats
    square: Floats
    rho: Floats
    rate: float
    deviation: Floats | None
    """x - mu_k; None if k is the own class, where it is rho d."""


def _scores(matrix: Spectra, removal: _Removal, gammas: Floats, n_columns: int | None) -> Floats:
    """-(D + log|Sigma|)/2 for every gamma and row, (G, rows)."""
    p = len(matrix.values)
    if p == 0:
        return np.zeros((len(gammas), removal.d.shape[1]))
    p0 = n_columns or p
    y = matrix.basis @ removal.d
    yy = y * y
    if removal.deviation is not None:
        z = matrix.basis @ removal.deviation
        zz, zy = z * z, z * y
    c = removal.rate * removal.rho
    # Where nothing depends on the row, Q is one column that serves all.
    level = matrix.level - c * removal.square / p0 if removal.rate else matrix.level[None]
    out = np.empty((len(gammas), y.shape[1]))
    for g, gamma in enumerate(gammas):
        tail = (1.0 - gamma) * level if gamma < 1.0 else np.zeros(1)
        inverse, logdet, condition = _diagonal(gamma * matrix.values, tail, p0)
        e = _dot(inverse, yy)
        f = 1.0 - gamma * c * e
        f = np.where(f > remaining_tolerance(p, condition), f, np.nan)
        if removal.deviation is None:
            distance = removal.rho**2 * e / f
        else:
            distance = _dot(inverse, zz) + gamma * c * np.square(_dot(inverse, zy)) / f
        out[g] = -0.5 * (distance + logdet + np.log(f) + matrix.offset)
    return out


def _diagonal(values: Floats, tail: Floats, p0: int) -> tuple[Floats, Floats, Floats]:
    """Of Q = values + tail: its inverse (p, rows), log-determinant and reciprocal condition (rows,).

    Values ascend. A Q that is singular to rounding has NaN as its determinant.
    """
    p = len(values)
    q = values[:, None] + tail
    smallest, largest = q[0], np.maximum(q[-1], tail)
    if p0 > p:
        smallest = np.minimum(smallest, tail)
    singular = smallest <= tolerance(p) * largest
    largest = np.where(singular, 1.0, largest)
    if singular.any():
        q[:, singular] = 1.0
    inverse = 1.0 / q
    # Ratios lie between 1 and 1/tolerance, so that products of 16 cannot overflow: fewer logarithms.
    products = np.multiply.reduceat(inverse * largest, np.arange(0, p, 16), axis=0)
    logdet = p * np.log(largest) - np.log(products).sum(axis=0)
    if p0 > p:
        logdet += (p0 - p) * np.log(np.where(singular, 1.0, tail))
    logdet[singular] = np.nan
    return inverse, logdet, np.where(singular, 1.0, smallest / largest)


def _dot(inverse: Floats, products: Floats) -> Floats:
    """Column sums of the product; ``inverse`` may be a single column for all rows."""
    single = inverse.shape[1] == 1
    sums: Floats = inverse[:, 0] @ products if single else np.einsum("pn,pn->n", inverse, products)
    return sums
