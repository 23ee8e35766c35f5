"""Leave-one-out of a linear smoother, least squares or ridge, in closed form.

Fitted values are H Y with a hat matrix H that does not depend on Y. The fit without row i then has the residual
(y_i - fit_i) / (1 - h_i) there, exactly, for least squares and for a ridge penalty that stays as it is when rows
leave, with the intercept inside H. (Folds are cheaper by merging statistics.)
"""

from __future__ import annotations

import numpy as np

from discrim.block import Block
from discrim.families.gaussian.held_out import is_ill
from discrim.families.gaussian.naive import LEAST_LEFT
from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import LeftOut
from discrim.families.regression.normal_equations import indicator_regression
from discrim.statistics import ClassMoments
from discrim.typing import Floats

# Below this, 1 - h is rounding: without the row the coefficients are not determined.
_LEVERAGE_LEFT = 1e-12


def held_out_smoother(statistic: Statistic, alpha: float) -> LeftOut | None:
    """Twice the held-out indicators, from the leverages of the fit of all rows; None where these lack digits."""
    if not isinstance(statistic, ClassMoments):
        return None
    problem = indicator_regression(statistic, float(np.finfo(float).eps))
    sigma = problem.spread.dense() + alpha / problem.weight * np.eye(statistic.n_features)
    if is_ill(sigma):
        return None
    lower = np.linalg.cholesky(sigma)

    def scores(block: Block) -> Floats:
        z = np.linalg.solve(lower, (block.dense() - problem.origin).T)
        leverage = (1.0 + np.einsum("in,in->n", z, z)) / problem.weight
        fitted = problem.level + z.T @ np.linalg.solve(lower, problem.cross)
        indicators = np.eye(len(block.classes))[block.codes]
        found = 2.0 * linear_smoother_loo(indicators, fitted, leverage)
        found[1.0 - leverage < LEAST_LEFT] = np.nan
        # The model without the only row of a class does not know the class.
        found[(indicators == 1) & (statistic.rows == 1)] = -np.inf
        return found

    return scores


def linear_smoother_loo(y: Floats, fitted: Floats, leverage: Floats) -> Floats:
    """What the fit without row i predicts for row i: fit_i - h_i e_i/(1 - h_i), e = y - fit; (n, K).

    ``leverage`` h is the diagonal of H, 1/n of the intercept included. A row with h_i = 1 decides a
    coefficient alone and is NaN. O(n K).
    """
    left = 1.0 - leverage
    ratio = leverage / np.where(left > _LEVERAGE_LEFT, left, np.nan)
    held_out: Floats = fitted - ratio[:, None] * (y - fitted)
    return held_out
