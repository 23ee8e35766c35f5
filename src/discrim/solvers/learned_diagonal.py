"""A diagonal guess of the curvature that learns from the steps how far the data bend the loss beside the penalty."""

from __future__ import annotations

import numpy as np

from discrim.typing import Floats

# The powers are 0, 1/4, ..., 1.
QUARTERS = 4
# What a step counts for when the next one is taken.
FADING = 0.8


class LearnedDiagonal:
    """Applies the inverse of G = r (d / r)^a, with the power a between 0 and 1 that the last steps speak for.

    r is the curvature of the penalty and d that of penalty and data together, as a model without columns would have
    it. Where the fit grows certain of rows with large counts, these bend the loss far less than d says: of word counts
    d is too much and r too little, of rows of equal length d is right.

    For a step s and the change y of the gradient on it, (s'Gs) (y'G^-1 y) is least, namely (s'y)^2, where Gs is y up
    to a factor. The power with the least product is taken, and the factor is left to whoever takes the steps.
    """

    def __init__(self, penalty: Floats, both: Floats) -> None:
        self._penalty, self._root = penalty, (both / penalty) ** (1.0 / QUARTERS)
        self._costs = np.zeros(QUARTERS + 1)
        self._take(QUARTERS // 2)

    @property
    def power(self) -> float:
        return self._quarters / QUARTERS

    def __call__(self, right: Floats) -> Floats:
        return right / self._guess

    def learn(self, step: Floats, change: Floats) -> None:
        """Look at one more step. Cost: 4 passes over the coefficients for each power."""
        along, across = self._penalty * step * step, change * change / self._penalty
        self._costs *= FADING
        for k in range(QUARTERS + 1):
            self._costs[k] += np.log(along.sum()) + np.log(across.sum())
            along *= self._root
            across /= self._root
        best = int(self._costs.argmin())
        if best != self._quarters:
            self._take(best)

    def _take(self, quarters: int) -> None:
        self._quarters, self._guess = quarters, self._penalty * self._root**quarters
