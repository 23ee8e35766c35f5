"""Smooth piecewise polynomials of single columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from discrim.basis.base import Basis
from discrim.basis.knots import place_knots
from discrim.errors import ParameterError
from discrim.typing import Floats


class SplineBasis(Basis):
    """B-splines of every column: polynomials of ``degree`` that join smoothly at the knots.

    A column with m inner knots gives m + degree functions: of the m + degree + 1 B-splines between its least and its
    largest value, which sum to one, the first is left out, since models have a constant. Outside that range the
    functions go on as straight lines ('linear'), keep the value at the end ('constant'), or are those of the end
    pieces ('continue').

    Parameters
    ----------
    knots : int, array, or a list of arrays: inner knots a column
    degree : int, 3 for cubic
    placement : {'quantile', 'uniform'}
    extrapolation : {'linear', 'constant', 'continue'}

    Attributes
    ----------
    knots_ : list of the inner knots of each column
    ranges_ : p x 2, least and largest value of each column in the rows it learned from
    """

    def __init__(
        self, knots: Any = 4, *, degree: int = 3, placement: str = "quantile", extrapolation: str = "linear"
    ) -> None:
        self.knots = knots
        self.degree = degree
        self.placement = placement
        self.extrapolation = extrapolation

    def _learn(self, x: Floats) -> None:
        if not isinstance(self.degree, int) or self.degree < 1:
            raise ParameterError.bad_value("degree", self.degree, "an integer of at least 1")
        if self.extrapolation not in {"linear", "constant", "continue"}:
            raise ParameterError.bad_value("extrapolation", self.extrapolation, "'linear', 'constant' or 'continue'")
        low, high = x.min(axis=0), x.max(axis=0)
        # A column that does not vary still needs a range to have functions on.
        high = np.where(high > low, high, low + 1.0)
        self.ranges_ = np.column_stack([low, high])
        placed = place_knots(x, self.knots, self.placement)
        self.knots_ = [t[(t > a) & (t < b)] for t, (a, b) in zip(placed, self.ranges_, strict=True)]
        self._splines = [self._spline(t, a, b) for t, (a, b) in zip(self.knots_, self.ranges_, strict=True)]

    def _spline(self, knots: Floats, low: float, high: float) -> BSpline:
        """All functions of one column at once, one coefficient vector for each."""
        ends = self.degree + 1
        t = np.concatenate([np.full(ends, low), knots, np.full(ends, high)])
        return BSpline(t, np.eye(len(t) - ends)[:, 1:], self.degree, extrapolate=True)

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        parts = [self._of_column(x[:, j].astype(np.float64), j) for j in range(x.shape[1])]
        return np.concatenate(parts, axis=1).astype(x.dtype, copy=False)

    def _of_column(self, x: Floats, j: int) -> Floats:
        spline, (low, high) = self._splines[j], self.ranges_[j]
        if self.extrapolation == "continue":
            return np.asarray(spline(x))
        inside = np.clip(x, low, high)
        result = np.asarray(spline(inside))
        if self.extrapolation == "linear":
            for end, beyond in ((low, x < low), (high, x > high)):
                if beyond.any():
                    result[beyond] += (x[beyond] - end)[:, None] * spline(end, 1)
        return result

    def names_of(self, names: Sequence[str]) -> list[str]:
        sizes = [len(knots) + self.degree for knots in self.knots_]
        return [f"{name}:s{i + 1}" for name, size in zip(names, sizes, strict=True) for i in range(size)]
