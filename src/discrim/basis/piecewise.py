"""Functions of single columns with pieces that meet at knots: splines and steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from discrim.basis.base import Basis, check_choice, check_count
from discrim.errors import ParameterError, plural
from discrim.store.fields import Array, Fields, Incoming, Many, damaged
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

    learned: ClassVar[Fields] = {
        **Basis.learned, "ranges_": Array("p 2"), "knots_": Many(Array("*"), "p", list),
    }  # fmt: skip

    def __init__(
        self, knots: Any = 4, *, degree: int = 3, placement: str = "quantile", extrapolation: str = "linear"
    ) -> None:
        self.knots = knots
        self.degree = degree
        self.placement = placement
        self.extrapolation = extrapolation

    def _learn(self, x: Floats) -> None:
        check_count("degree", self.degree)
        check_choice("extrapolation", self.extrapolation, "linear", "constant", "continue")
        low, high = x.min(axis=0), x.max(axis=0)
        # A column that does not vary still needs a range to have functions on.
        high = np.where(high > low, high, low + 1.0)
        self.ranges_ = np.column_stack([low, high])
        placed = _place_knots(x, self.knots, self.placement)
        self.knots_ = [t[(t > a) & (t < b)] for t, (a, b) in zip(placed, self.ranges_, strict=True)]
        self._make_splines()

    def check_functions(self, file: Incoming) -> None:
        """Raise where knots are not inside the ranges, or are not so many."""
        check_count("degree", self.degree)
        file.bind("q", sum(len(knots) + self.degree for knots in self.knots_), "knots_")
        for knots, (low, high) in zip(self.knots_, self.ranges_, strict=True):
            if not (np.diff([low, *knots, high]) > 0).all():
                raise damaged("knots_", "is not in order within the ranges")
        self._make_splines()

    def _make_splines(self) -> None:
        self._splines = [self._spline(t, a, b) for t, (a, b) in zip(self.knots_, self.ranges_, strict=True)]

    def _spline(self, knots: Floats, low: float, high: float) -> BSpline:
        """All functions of one column at once, one coefficient vector for each."""
        ends = self.degree + 1
        t = np.concatenate([np.full(ends, low), knots, np.full(ends, high)])
        return BSpline(t, np.eye(len(t) - ends)[:, 1:], self.degree, extrapolate=True)

    def described(self) -> tuple[str, dict[str, Any]]:
        slopes = [
            [np.asarray(spline(end, 1)) for spline, end in zip(self._splines, ends, strict=True)]
            for ends in self.ranges_.T
        ]
        return "splines", {
            "knots": self.knots_,
            "ranges": self.ranges_,
            "degree": self.degree,
            "extrapolation": self.extrapolation,
            "slopes": slopes,
        }

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


class StepBasis(Basis):
    """1{x_j > t} or sign(x_j - t) for every column j and each of its thresholds t.

    A linear rule in steps is an additive one that is constant between thresholds.

    Parameters
    ----------
    knots : int, array, or a list of arrays: how many thresholds a column, or the thresholds themselves
    values : {'step', 'sign'}: 0 and 1, or -1, 0 and 1
    placement : {'quantile', 'uniform'}, where a number of thresholds is placed

    Attributes
    ----------
    knots_ : list of the thresholds of each column

    Examples
    --------
    >>> from discrim.basis import StepBasis
    >>> StepBasis(knots=[0.0, 1.0]).fit_transform([[-1.0], [0.5], [2.0]])
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])
    """

    learned: ClassVar[Fields] = {**Basis.learned, "knots_": Many(Array("*"), "p", list)}

    def __init__(self, knots: Any = 5, *, values: str = "step", placement: str = "quantile") -> None:
        self.knots = knots
        self.values = values
        self.placement = placement

    def _learn(self, x: NDArray[np.float64]) -> None:
        check_choice("values", self.values, "step", "sign")
        self.knots_ = _place_knots(x, self.knots, self.placement)

    def described(self) -> tuple[str, dict[str, Any]]:
        return "steps", {"knots": self.knots_, "values": self.values}

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        gaps = np.concatenate([x[:, [j]] - knots for j, knots in enumerate(self.knots_)], axis=1)
        # A missing value has no side; the comparison would give it one.
        steps = np.where(np.isnan(gaps), np.nan, gaps > 0) if self.values == "step" else np.sign(gaps)
        return np.asarray(steps, dtype=x.dtype)

    def names_of(self, names: Sequence[str]) -> list[str]:
        text = "{name}>{t:.6g}" if self.values == "step" else "sign({name}-{t:.6g})"
        return [text.format(name=name, t=t) for name, knots in zip(names, self.knots_, strict=True) for t in knots]


def _place_knots(x: Floats, knots: Any, placement: str) -> list[Floats]:
    """Ascending knots of every column.

    A number of knots is placed at 'quantile's or at 'uniform' distances between the least and the largest value,
    these excluded; repeated ones are taken once. An array is taken as it is, for all columns; a list of arrays has
    one for each.
    """
    check_choice("placement", placement, "quantile", "uniform")
    if isinstance(knots, (int, np.integer)) and not isinstance(knots, bool):
        if knots < 1:
            raise ParameterError.bad_value("knots", knots, "a number of at least 1, or an array")
        share = np.linspace(0, 1, int(knots) + 2)[1:-1]
        if placement == "quantile":
            return [np.unique(np.quantile(column, share)) for column in x.T]
        return [np.unique(column.min() + share * np.ptp(column)) for column in x.T]
    return _given_knots(knots, x.shape[1])


def _given_knots(knots: Any, p: int) -> list[Floats]:
    """The user's own knots, checked."""
    expected = "a number, an array of numbers, or a list with one array for each column"
    try:
        nested = len(knots) > 0 and np.ndim(knots[0]) > 0
        lists = [np.asarray(part, dtype=np.float64) for part in (knots if nested else [knots] * p)]
    except (TypeError, ValueError):
        raise ParameterError.bad_value("knots", knots, expected) from None
    if len(lists) != p:
        raise ParameterError(f"'knots' has {plural(len(lists), 'array')} for {plural(p, 'column')}; give one for each.")
    if any(part.ndim != 1 or not len(part) or not np.isfinite(part).all() for part in lists):
        raise ParameterError.bad_value("knots", knots, expected)
    return [np.unique(part) for part in lists]
