"""Class moments and scores in NumPy: the meaning of the C++ code, and what runs where it could not be built."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from discrim.kernels.reference_checks import require
from discrim.typing import Codes, Floats

DIAGONAL, POOLED, FULL = 0, 1, 2
LINEAR, DIAGONAL_RULE, QUADRATIC = 0, 1, 2
SCORES, BEST, POSTERIOR, LOG_POSTERIOR = 0, 1, 2, 3


def class_moments(
    x: NDArray[Any], codes: Codes, weight: Floats | None, classes: int, depth: int, low: Floats | None = None
) -> tuple[Floats, NDArray[np.int64], Floats, Floats]:
    """Weight, rows, mean and centred scatter of each class; a negative code leaves its row out.

    The scatter is sum_i w_i (x_i - mu)(x_i - mu)' of each class (depth 2), their sum over the
    classes (1), or each class's diagonal (0). Into ``low`` (K x p), where it is given, goes what rounding leaves
    out of the mean.
    """
    p = x.shape[1]
    require(depth in {DIAGONAL, POOLED, FULL}, "depth must be 0, 1 or 2")
    require(classes >= 0, "there is a negative number of classes")
    require(len(codes) == len(x), "codes and rows differ in length")
    require(weight is None or len(weight) == len(x), "weights and rows differ in length")
    require(bool(codes.max(initial=-1) < classes), "a code is not below the number of classes")
    total, rows, mean = np.zeros(classes), np.zeros(classes, np.int64), np.zeros((classes, p))
    shape = {DIAGONAL: (classes, p), POOLED: (p, p), FULL: (classes, p, p)}[depth]
    scatter = np.zeros(shape)
    for k in range(classes):
        chosen = codes == k if weight is None else (codes == k) & (weight > 0)
        xk = np.asarray(x[chosen], dtype=np.float64)
        if not len(xk):
            continue
        wk = np.ones(len(xk)) if weight is None else weight[chosen]
        total[k], rows[k] = wk.sum(), len(xk)
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for values that are not finite
            pilot = xk.mean(axis=0)
            by = wk @ (xk - pilot) / total[k]
            mean[k] = pilot + by
            if low is not None:
                moved = mean[k] - pilot
                low[k] = (pilot - (mean[k] - moved)) + (by - moved)
            d = (xk - mean[k]) * np.sqrt(wk)[:, None]
            if depth == DIAGONAL:
                scatter[k] = np.einsum("ij,ij->j", d, d)
            elif depth == POOLED:
                scatter += d.T @ d
            else:
                scatter[k] = d.T @ d
    return total, rows, mean, scatter


def sphere(sigma: Floats, noise: Floats) -> tuple[Floats, Floats, float, float]:
    """Deviations of the columns, infinite where not above the ``noise``; then ``inverse_factor`` of the correlations.

    The determinant is that of sigma; where a column has no deviation, the condition is 0.
    """
    require(sigma.shape == (len(noise), len(noise)), "the matrix must have a row and a column for each of the noise")
    deviation = np.sqrt(np.maximum(np.diagonal(sigma), 0.0))
    scale = np.where(deviation > noise, deviation, np.inf)
    if not np.isfinite(scale).all() or not len(scale):
        return scale, np.zeros_like(sigma), -np.inf, 0.0
    inverse, log_det, rcond = inverse_factor(sigma / scale[:, None] / scale[None, :])
    return scale, inverse, log_det + 2.0 * float(np.log(scale).sum()), rcond


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


def score(
    x: NDArray[Any],
    rule: int,
    centre: Floats,
    factor: Floats,
    offset: Floats,
    triangular: bool,  # noqa: ARG001 - the zeros of the triangle are in the factor
    output: int,
    out: NDArray[Any],
) -> bool:
    """Scores of the rows, as they are, as best class, or as (log) posteriors.

    linear: offset_k + factor_k'(x - centre); diagonal: offset_k - sum_j factor_kj (x_j - centre_kj)^2 / 2;
    quadratic: offset_k - |factor_k (x - centre_k)|^2 / 2. ``out`` is n x K floats, or n int64 for the best
    class. False when a row has no finite best score.
    """
    x64 = np.asarray(x, dtype=np.float64)
    _check_rule(x.shape[1], rule, centre, factor, offset)
    known = output in ({BEST} if out.ndim == 1 else {SCORES, POSTERIOR, LOG_POSTERIOR})
    require(known, "unknown output")
    wanted = (len(x),) if output == BEST else (len(x), len(offset))
    require(out.shape == wanted, f"out has the wrong {'length' if output == BEST else 'shape'}")
    with np.errstate(over="ignore", invalid="ignore"):
        scores = _scores(x64, rule, centre, factor, offset)
        top = scores.max(axis=1)
        finite = bool(np.isfinite(top).all())
        if output == BEST:
            out[:] = scores.argmax(axis=1)
        elif output == SCORES:
            out[:] = scores
        else:
            shifted = scores - top[:, None]
            parts = np.exp(shifted)
            total = parts.sum(axis=1, keepdims=True)
            out[:] = shifted - np.log(total) if output == LOG_POSTERIOR else parts / total
            if output == LOG_POSTERIOR and out.dtype == np.float32:
                # In single precision a posterior within 2^-25 of one is one, and its logarithm zero.
                out[out > -(2.0**-25)] = 0.0
    return finite


def _check_rule(p: int, rule: int, centre: Floats, factor: Floats, offset: Floats) -> None:
    require(rule in {LINEAR, DIAGONAL_RULE, QUADRATIC}, "unknown rule")
    require(len(offset) > 0, "there is no class to score")
    require(rule != QUADRATIC or factor.ndim == 3, "factor must be classes x rank x columns")
    rank = factor.shape[1] if rule == QUADRATIC else 1
    require(factor.size == len(offset) * rank * p, "factor has the wrong size")
    require(centre.size == (1 if rule == LINEAR else len(offset)) * p, "centre has the wrong size")


def _scores(x: Floats, rule: int, centre: Floats, factor: Floats, offset: Floats) -> Floats:
    if rule == LINEAR:
        return np.asarray((x - centre) @ factor.T + offset)
    quadratic = np.empty((x.shape[0], offset.shape[0]))
    for k, mu in enumerate(centre):
        if rule == DIAGONAL_RULE:
            quadratic[:, k] = (x - mu) ** 2 @ factor[k]
        else:
            z = (x - mu) @ factor[k].T
            quadratic[:, k] = np.einsum("ij,ij->i", z, z)
    return offset - 0.5 * quadratic
