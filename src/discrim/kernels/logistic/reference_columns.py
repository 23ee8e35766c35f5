"""Coordinate descent on columns said once more in NumPy: what the C++ must equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from discrim.kernels.reference_checks import all_inside, check_pointers, require
from discrim.typing import Floats

Index = NDArray[np.int64]
Done = tuple[float, int, int, bool]

# Spreads below this part of the weight count as this much: rows that are all but certain still resist a step.
LEAST_SPREAD = 1e-9
SWEEPS, ENOUGH = 50, 0.02


def dense_descent(
    x: Floats, y: Floats, w: Floats | None, eta: Floats, theta: Floats, constant: Floats, working: Index, *rest: Any
) -> Done:
    """Logistic regression on the columns ``working`` of x by reweighted coordinate descent, in place.

    Minimises sum w (log(1 + exp(eta)) - y eta) + sum lasso |theta| + sum ridge theta^2 / 2 over theta and, with
    ``intercept``, a constant. ``rest`` is lasso, ridge (both like theta), intercept, close, most. A round whose first
    sweep has no h d^2 above ``close`` is the last; there are at most ``most``. Returns loss, rounds, sweeps and whether
    the end was reached. Cost: n for every visit of a column.
    """
    lasso, ridge, intercept, close, most = rest
    _check_problem(x, y, w, (eta, theta, constant), (working, lasso, ridge))
    z, w = x[:, working], np.ones(len(y)) if w is None else w
    sweeps = 0
    for rounds in range(1, most + 1):
        before, mu = theta.copy(), expit(eta)
        spread = w * np.maximum(mu * expit(-eta), LEAST_SPREAD)
        value = _value(y, w, eta, theta, lasso, ridge)
        centre = (spread @ z / spread.sum() if intercept and spread.sum() > 0 else 0.0) + np.zeros(z.shape[1])
        residual = w * (y - mu)
        d0 = residual.sum() / spread.sum() if intercept and spread.sum() > 0 else 0.0
        residual = residual - d0 * spread
        h = spread @ (z - centre) ** 2
        first = largest = max(_sweep(z - centre, residual, spread, theta, h, lasso, ridge), d0 * d0 * spread.sum())
        sweeps += 1
        for _ in range(SWEEPS):
            if largest <= max(ENOUGH * first, 0.1 * close):
                break
            largest = _sweep(z - centre, residual, spread, theta, h, lasso, ridge)
            sweeps += 1
        rise, step, part = d0 + (z - centre) @ (theta - before), theta - before, 1.0
        while part > 1e-9 and _value(y, w, eta + part * rise, before + part * step, lasso, ridge) > value + 1e-11 * abs(
            value
        ):
            part *= 0.5
        theta[:], eta[:] = before + part * step, eta + part * rise
        constant += part * (d0 - centre @ step)
        if not first > close:
            return _loss(y, w, eta), rounds, sweeps, bool(np.isfinite(first))
    return _loss(y, w, eta), most, sweeps, False


def sparse_descent(value: Floats, row: NDArray[Any], first: NDArray[Any], y: Floats, *rest: Any) -> Done:
    """The same for compressed columns."""
    return dense_descent(_columns(value, row, first, len(y), rest[4]).toarray(), y, *rest)


def dense_slopes(x: Floats, r: Floats, begin: int, end: int, out: Floats) -> None:
    """out_j = sum_i x_ij r_i for the columns from begin to end."""
    require(len(x) == len(r) and x.shape[1] == len(out), "x, r and out differ in size")
    require(begin >= 0 and end <= len(out), "there is no such column")
    out[begin:end] = x[:, begin:end].T @ r


def sparse_slopes(
    value: Floats, row: NDArray[Any], first: NDArray[Any], r: Floats, begin: int, end: int, out: Floats
) -> None:
    """The same for compressed columns."""
    require(len(first) == len(out) + 1, "first and out differ in length")
    require(begin >= 0 and end <= len(out), "there is no such column")
    out[begin:end] = _columns(value, row, first, len(r), np.arange(begin, end))[:, begin:end].T @ r


def residuals(y: Floats, w: Floats | None, eta: Floats, out: Floats) -> float:
    """out = w (y - mu) with mu = 1 / (1 + exp(-eta)); the loss is returned."""
    require(
        len(eta) == len(out) == len(y) and (w is None or len(w) == len(y)), "y, weights, eta and out differ in length"
    )
    w = np.ones(len(y)) if w is None else w
    out[:] = w * (expit(-eta) * y - expit(eta) * (1.0 - y))
    return _loss(y, w, eta)


def _sweep(
    z: Floats, residual: Floats, spread: Floats, theta: Floats, h: Floats, lasso: Floats, ridge: Floats
) -> float:
    largest = 0.0
    for k in np.flatnonzero(h + ridge > 0):
        old = theta[k]
        wanted = z[:, k] @ residual + h[k] * old
        theta[k] = np.sign(wanted) * max(abs(wanted) - lasso[k], 0.0) / (h[k] + ridge[k])
        residual -= (theta[k] - old) * spread * z[:, k]
        largest = max(largest, (h[k] + ridge[k]) * (theta[k] - old) ** 2)
    return largest


def _check_problem(
    x: Floats, y: Floats, w: Floats | None, state: tuple[Floats, Floats, Floats], rest: tuple[Index, Floats, Floats]
) -> None:
    (eta, theta, constant), (working, lasso, ridge) = state, rest
    require(len(x) == len(y), "y and rows differ in length")
    require(len(lasso) == len(ridge) == len(working), "lasso, ridge and the working columns differ in length")
    require(w is None or len(w) == len(y), "weights and rows differ in length")
    require(all_inside(working, x.shape[1]), "there is no such column")
    require(len(eta) == len(y), "eta and rows differ in length")
    require(len(theta) == len(working) and len(constant) == 1, "theta has the wrong size")


def _columns(value: Floats, row: NDArray[Any], first: NDArray[Any], n: int, used: Index) -> Any:
    """The matrix, once it is sure that the entries of the columns that are ``used`` lie in it; others are left out."""
    require(len(value) == len(row), "values and row numbers differ in length")
    check_pointers(first, len(value))
    require(all_inside(used, len(first) - 1), "there is no such column")
    for j in used.tolist():
        require(all_inside(row[int(first[j]) : int(first[j + 1])], n), "a row lies outside the matrix")
    lo, hi = int(first[0]), int(first[-1])
    value, row, first = value[lo:hi], row[lo:hi], first - first[0]
    inside = (row >= 0) & (row < n)
    value, row = np.where(inside, value, 0.0), np.where(inside, row, 0)
    return sparse.csc_array((value, row, first), shape=(n, len(first) - 1))


def _loss(y: Floats, w: Floats, eta: Floats) -> float:
    return float(w @ (np.logaddexp(0.0, eta) - y * eta))


def _value(y: Floats, w: Floats, eta: Floats, theta: Floats, lasso: Floats, ridge: Floats) -> float:
    return _loss(y, w, eta) + float(lasso @ np.abs(theta) + 0.5 * ridge @ theta**2)
