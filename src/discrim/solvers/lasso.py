"""Least squares with an L1 penalty, from normal equations alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discrim import _kernels
from discrim.solvers.within import Within

Floats = NDArray[np.float64]

# The last sweep moves no fitted value by more than the root of this, for targets whose mean square is one.
CLOSE = 1e-22
SWEEPS = 10_000
# Columns up to which coordinate descent works on all of Sigma at once.
DIRECT = 500
# Columns that join the working set at a time, beside those that have a coefficient.
JOIN = 100


@dataclass(frozen=True)
class LassoSolution:
    """``coef`` (p x m), and whether the descent came to its end for all m targets."""

    coef: Floats
    converged: bool


def lasso(spread: Within, cross: Floats, alpha: float, start: Floats | None = None) -> LassoSolution:
    """argmin_b b'Sigma b / 2 - c'b + alpha |b|_1 for every column c of ``cross`` (p x m).

    With Sigma = X'X / n and c = X'y / n, columns centred, this is |y - X b|^2 / (2 n) + alpha |b|_1. A column whose
    variance is rounding gets no coefficient. Cost: p for each change of a coefficient with up to 500 columns; with
    more, Sigma is looked at only where coefficients are, and times a vector some ten times.
    """
    coef = np.zeros_like(cross) if start is None else start.copy()
    idle = spread.diagonal <= spread.noise**2
    every = np.flatnonzero(~idle)
    converged = True
    for k in range(cross.shape[1]):
        if len(every) <= DIRECT:
            converged &= _on(spread, cross[:, k], alpha, every, coef[:, k])
        else:
            converged &= _by_working_set(spread, cross[:, k], alpha, idle, coef[:, k])
    return LassoSolution(coef, converged)


def lasso_path(spread: Within, cross: Floats, alphas: Floats) -> tuple[Floats, bool]:
    """Coefficients (alphas x p x m) for falling alphas, each from the last."""
    coefs, converged = np.zeros((len(alphas), *cross.shape)), True
    last: Floats | None = None
    for i, alpha in enumerate(alphas):
        solution = lasso(spread, cross, float(alpha), last)
        last = coefs[i] = solution.coef
        converged &= solution.converged
    return coefs, converged


def alpha_grid(cross: Floats, count: int = 100, ratio: float = 1e-3) -> Floats:
    """Falling by equal factors from the least alpha at which all coefficients are zero to ``ratio`` of it."""
    top = float(np.abs(cross).max(initial=0.0)) or 1.0
    return np.asarray(np.geomspace(top, ratio * top, count))


def _on(spread: Within, target: Floats, alpha: float, columns: NDArray[np.intp], b: Floats) -> bool:
    """Coordinate descent over some columns, in place; the other coefficients of b are zero."""
    mask = np.zeros(len(target), bool)
    mask[columns] = True
    hessian = np.ascontiguousarray(spread.of_columns(mask).dense())
    theta, q = b[mask], int(mask.sum())
    _, _, converged = _kernels.gram_descent(
        hessian, np.zeros(q), -target[mask], theta, np.full(q, alpha), np.zeros(q), None, CLOSE, SWEEPS
    )
    b[mask] = theta
    return bool(converged)


def _by_working_set(spread: Within, target: Floats, alpha: float, idle: NDArray[np.bool_], b: Floats) -> bool:
    """Columns join where the slope is larger than alpha although they have no coefficient, the steepest first."""
    size = np.sqrt(np.maximum(spread.diagonal, np.finfo(float).tiny))
    working = np.flatnonzero(b)
    # Coefficients that were found for another alpha.
    converged = not len(working) or _on(spread, target, alpha, working, b)
    while True:
        slope = np.abs(target - spread.times(b))
        over = np.where(idle, 0.0, slope - alpha) / size
        over[working] = 0.0
        # What is over by less than rounding would only come and go.
        outside = np.flatnonzero(over > 1e-12)
        if not len(outside):
            return converged
        steepest = outside[np.argsort(over[outside])[::-1][: max(JOIN, len(working))]]
        working = np.union1d(working, steepest)
        converged = _on(spread, target, alpha, working, b)
