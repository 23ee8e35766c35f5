"""Held-out fits of a linear smoother: least squares and ridge, leaving one row out.

Fitted values are H Y with a hat matrix H that does not depend on Y. The fit without row i then has the residual
(y_i - fit_i) / (1 - h_i) there, exactly, for least squares and for a ridge penalty that stays as it is when rows
leave, with the intercept inside H. (Folds are cheaper by merging statistics.)
"""

from __future__ import annotations

import numpy as np

from discrim.typing import Floats

# Below this, 1 - h is rounding: without the row the coefficients are not determined.
_LEVERAGE_LEFT = 1e-12


def linear_smoother_loo(y: Floats, fitted: Floats, leverage: Floats) -> Floats:
    """What the fit without row i predicts for row i: fit_i - h_i e_i/(1 - h_i), e = y - fit; (n, K).

    ``leverage`` h is the diagonal of H, 1/n of the intercept included. A row with h_i = 1 decides a
    coefficient alone and is NaN. O(n K).
    """
    left = 1.0 - leverage
    ratio = leverage / np.where(left > _LEVERAGE_LEFT, left, np.nan)
    held_out: Floats = fitted - ratio[:, None] * (y - fitted)
    return held_out
