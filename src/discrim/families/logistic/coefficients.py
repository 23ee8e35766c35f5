"""From coefficients to a rule, whether they come from a fit or were written by somebody."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.families.logistic.objective import Coordinates
from discrim.families.rule import LinearRule
from discrim.typing import Floats


def user_coefficients(theta: Floats, coordinates: Coordinates, *, softmax: bool, penalised: bool) -> Floats:
    """[intercept, slopes] in the user's units: one row for two classes, K for softmax.

    Only differences between classes matter: of all coefficients with the same differences those are told that sum to
    zero. A penalty has chosen the slopes already.
    """
    user = np.atleast_2d(coordinates.to_user(theta))
    if softmax:
        user[:, 0] -= user[:, 0].mean()
        if not penalised:
            user[:, 1:] -= user[:, 1:].mean(axis=0)
    return user


def fitted_rule(user: Floats, theta: Floats, coordinates: Coordinates) -> LinearRule:
    """The rule about ``coordinates.shift``, which keeps the digits that an intercept far from the rows would lose."""
    slopes, shift = user[:, 1:], coordinates.shift
    if len(user) > 1:
        return LinearRule(np.ascontiguousarray(slopes), user[:, 0] + slopes @ shift, shift)
    constant = theta.ravel()[0] if coordinates.intercept else 0.0
    both = np.zeros((2, slopes.shape[1]))
    both[1] = slopes[0]
    return LinearRule(both, np.array([0.0, constant]), shift)


def as_one(coef: Any, intercept: Any) -> Floats:
    """``coef_`` (dense or sparse) and ``intercept_`` (numbers or one number) as one array, intercept first."""
    slopes = np.atleast_2d(np.asarray(coef if isinstance(coef, np.ndarray) else coef.toarray(), dtype=float))
    told = np.empty((len(slopes), slopes.shape[1] + 1))
    told[:, 0], told[:, 1:] = np.ravel(np.asarray(intercept, dtype=float)), slopes
    return told


def written_rule(told: Floats) -> LinearRule:
    """The rule of coefficients as ``as_one`` gives them."""
    both = np.vstack([np.zeros_like(told), told]) if len(told) == 1 else told
    return LinearRule(np.ascontiguousarray(both[:, 1:]), both[:, 0].copy(), np.zeros(told.shape[1] - 1))
