"""Held-out fits of a linear smoother: least squares and ridge, leave-one-out and by folds.

Fitted values are H Y with a hat matrix H that does not depend on Y. The fit without some rows T then has
the residuals (I - H_TT)^-1 (Y_T - fit_T) on them, exactly, for least squares and for a ridge penalty
that stays as it is when rows leave, with the intercept inside H.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.solvers.regularized import Array

# Below this, 1 - h is rounding: without the row the coefficients are not determined.
_LEVERAGE_LEFT = 1e-12


def linear_smoother_loo(y: Array, fitted: Array, leverage: Array) -> Array:
    """What the fit without row i predicts for row i: fit_i - h_i e_i/(1 - h_i), e = y - fit; (n, K).

    ``leverage`` h is the diagonal of H, 1/n of the intercept included. A row with h_i = 1 decides a
    coefficient alone and is NaN. O(n K).
    """
    left = 1.0 - leverage
    ratio = leverage / np.where(left > _LEVERAGE_LEFT, left, np.nan)
    held_out: Array = fitted - ratio[:, None] * (y - fitted)
    return held_out


def linear_smoother_folds(y: Array, fitted: Array, factor: Array, fold_of_row: NDArray[Any]) -> Array:
    """What the fit without fold T predicts for the rows of T: Y_T - (I - H_TT)^-1 (Y_T - fit_T); (n, K).

    ``factor`` U (n, r) has H = U U': for ridge the intercept column 1/sqrt(n) and the centred X times
    the inverse root of X'X + lambda I. With m rows in the fold the smaller of two systems is solved,
    I - U_T U_T' (m x m) or, by Woodbury, I - U_T'U_T (r x r). A fold without which the coefficients are
    not determined is NaN. O(n r min(m, r)) and a solve per fold.
    """
    held_out = np.empty_like(fitted)
    order = np.argsort(fold_of_row, kind="stable")
    _, starts = np.unique(fold_of_row[order], return_index=True)
    for rows in np.split(order, starts[1:]):
        residual = y[rows] - fitted[rows]
        held_out[rows] = y[rows] - _without_own_fold(factor[rows], residual)
    return held_out


def _without_own_fold(u: Array, residual: Array) -> Array:
    """(I - U U')^-1 residual."""
    small = u.T @ u if u.shape[0] > u.shape[1] else u @ u.T
    values, vectors = np.linalg.eigh(np.eye(len(small)) - small)
    if values.min(initial=1.0) <= _LEVERAGE_LEFT:
        return np.full(residual.shape, np.nan)
    right = u.T @ residual if u.shape[0] > u.shape[1] else residual
    solved: Array = vectors @ ((vectors.T @ right) / values[:, None])
    return residual + u @ solved if u.shape[0] > u.shape[1] else solved
