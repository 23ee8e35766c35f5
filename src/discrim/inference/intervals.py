"""Intervals of coefficients: Wald's, and those of the profile likelihood."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import special

from discrim.errors import ParameterError
from discrim.families.logistic.objective import Coordinates
from discrim.families.logistic.positive import solve_positive
from discrim.inference.conjugate import tails
from discrim.inference.covariance import standard_errors
from discrim.inference.fitted import NEAR, Fitted
from discrim.inference.summary import Table
from discrim.statistics.likelihood import CURVATURE
from discrim.typing import Floats, Mask

# How near the root of the profile has to come to z.
TOLERANCE = 1e-8
MOST_POINTS = 40
# A root of the profile that no test would detect.
NOTHING = 0.01


class Intervals(np.ndarray[Any, np.dtype[np.float64]]):
    """An array q x 2 of lower and upper ends that knows the ``names`` of its rows, its ``level`` and a ``remark``."""

    names: list[str]
    level: float
    remark: str

    def __new__(cls, ends: Floats, names: list[str], level: float, remark: str = "") -> Self:
        array = np.asarray(ends, dtype=np.float64).view(cls)
        array.names, array.level, array.remark = list(names), level, remark
        return array

    def __array_finalize__(self, source: Any) -> None:
        self.names, self.level = getattr(source, "names", []), getattr(source, "level", np.nan)
        self.remark = getattr(source, "remark", "")

    def __reduce__(self) -> tuple[Any, ...]:
        return Intervals, (np.asarray(self), self.names, self.level, self.remark)

    @property
    def lower(self) -> Floats:
        return np.asarray(self)[:, 0]

    @property
    def upper(self) -> Floats:
        return np.asarray(self)[:, 1]

    def table(self) -> Table:
        tail = 100 * (1 - self.level) / 2
        columns = [f"{tail:.4g} %", f"{100 - tail:.4g} %"]
        return Table(f"Intervals of level {self.level:g}", self.names, columns, np.asarray(self), remark=self.remark)

    def to_frame(self) -> Any:
        return self.table().to_frame()

    def __str__(self) -> str:
        # A part of the array, or a single number of it, is an array like any other.
        whole = self.shape == (len(self.names), 2)
        return str(self.table()) if whole else str(np.asarray(self))

    def __repr__(self) -> str:
        return str(self) if self.shape == (len(self.names), 2) else repr(np.asarray(self))


def confint(
    fitted: Fitted,
    level: float = 0.95,
    method: str = "wald",
    cov_type: str = "auto",
    groups: Any = None,
    weights: str = "auto",
) -> Intervals:
    """An interval for every reported coefficient.

    "wald": estimate -+ z std_error, of the kind ``cov_type`` (see ``standard_errors``); with a dispersion Student's t
    stands for z. "profile": all values b that a
    likelihood-ratio test does not reject, that is 2 (loss at the best fit with this coefficient held at b - loss)
    <= z^2; after Firth's correction the same with the penalised likelihood. Infinite estimates have an infinite end,
    and no interval of Wald's.

    Cost of "profile": about ten passes over the rows for each coefficient.
    """
    upper = tails(level)[1]
    if method not in ("wald", "profile"):
        raise ParameterError.bad_value("method", method, "'wald' or 'profile'")
    refuse_after_choice(fitted, "confint()")
    if method == "wald":
        errors = standard_errors(fitted, cov_type, groups, weights)
        ends = fitted.coef[:, None] + errors.quantile(upper) * errors.values[:, None] * [-1.0, 1.0]
    else:
        if cov_type not in ("auto", "model") or groups is not None or weights not in ("auto", "frequency"):
            raise ParameterError.bad_value("cov_type", cov_type, "left out with method='profile', or use 'wald'")
        fitted.need_likelihood("confint(method='profile')")
        z = float(special.ndtri(upper))
        ends = np.array([profile_interval(fitted, i, z) for i in range(len(fitted.labels))]).reshape(-1, 2)
    return Intervals(ends, fitted.labels, level, fitted.caveat)


def odds_ratios(fitted: Fitted, ends: Intervals) -> Table:
    """exp(coefficient) with the ends of its interval: by how much the odds are multiplied for one unit more."""
    with np.errstate(over="ignore"):  # beyond the largest double there is only infinity
        values = np.exp(np.column_stack([fitted.coef, np.asarray(ends)]))
    title = f"Odds ratios with intervals of level {ends.level:g}"
    columns = ["estimate", "lower", "upper"]
    return Table.of_ratios(title, fitted.labels, columns, values, fitted.caveat)


def refuse_after_choice(fitted: Fitted, purpose: str) -> None:
    """A penalty that chooses columns leaves nothing to compute intervals from."""
    if fitted.sparse_penalty:
        raise ParameterError(
            f"{purpose} has no answer after the penalty '{fitted.penalty}': it chose the columns by the same rows, and "
            "no standard error remains true after that choice. Fit with C=np.inf, or with l1_ratio=0."
        )


def coordinates_with(coordinates: Coordinates, c: Floats) -> Coordinates:
    """Coordinates of the same size in which the combination c'theta of one class's coefficients is one of them.

    The intercept is one where nothing is subtracted from the columns. A slope of columns in a basis is one in the basis
    B T, where T is the identity except in the row of the entry that moves c'theta most, and has the determinant 1.
    """
    first = int(coordinates.intercept)
    classes = c.reshape(-1, coordinates.size)
    own = classes[np.abs(classes).max(axis=1).argmax()]
    if own[:first].any() or coordinates.basis is None:
        return replace(coordinates, shift=np.zeros_like(coordinates.shift))
    slopes = own[first:]
    m = int(np.argmax(np.abs(slopes)))
    turn = np.eye(len(slopes))
    turn[m] = -slopes / slopes[m]
    turn[m, m] = 1.0
    return replace(coordinates, turned=coordinates.basis @ turn)


class Profile:
    """r(b) = sqrt(2 (value at the best fit with coefficient i held at b - smallest value)).

    Each fit begins where the last one points. The coefficient is one entry m of theta times a ``factor``, or, as the
    intercept of columns that the solver centres, a combination of several: then other coordinates are taken first.
    """

    def __init__(self, fitted: Fitted, i: int) -> None:
        self.fitted = fitted
        self.best = fitted.solution.value
        self.problem, theta, c = fitted.problem("A profile interval"), fitted.theta, fitted.functional(i)
        hessian, self.unit = fitted.information, float(np.abs(c).max(initial=0.0))
        if np.count_nonzero(c) > 1:
            coordinates = coordinates_with(fitted.coordinates, c)
            theta, c = coordinates.from_user(fitted.coordinates.to_user(theta)), fitted.functional(i, coordinates)
            self.problem = self.problem.with_coordinates(coordinates)
            hessian = self.problem.at(theta, depth=CURVATURE).hessian
        self.m = int(np.argmax(np.abs(c)))
        self.factor = float(c.flat[self.m])
        self.theta = theta
        self.free: Mask = fitted.free.copy()
        self.free.flat[self.m] = False
        self.estimate = self.factor * float(theta.flat[self.m])
        self.far = max(abs(self.estimate), 8.0 * self.unit)
        # Near an infinite estimate the curvature is next to nothing: what it says of other points is of no use.
        self.follow = not fitted.infinite_estimates
        self._slope = self._slope_of(hessian)

    def at(self, b: float) -> float:
        """r(b), at least 0."""
        start, held = self.theta.copy(), b / self.factor
        if self.follow:
            start[self.free] += self._slope * (held - start.flat[self.m])
        start.flat[self.m] = held
        solution = self.fitted.solve(self.problem, start, self.free, estimated=self.fitted.free, close=NEAR)
        self.theta = solution.theta
        if solution.at.hessian.size:
            self._slope = self._slope_of(solution.at.hessian)
        return float(np.sqrt(max(2.0 * (solution.value - self.best), 0.0)))

    def _slope_of(self, hessian: Floats) -> Floats:
        """How the other coefficients move with the one that is held: -H_ff^-1 H_fm."""
        index = np.flatnonzero(self.free)
        if not self.follow or not len(index):
            return np.zeros(len(index))
        return -solve_positive(hessian[np.ix_(index, index)], hessian[index, self.m])


def profile_interval(fitted: Fitted, i: int, z: float) -> tuple[float, float]:
    """Both ends of the set {b : r(b) <= z} for the i-th reported coefficient."""
    if not fitted.defined[i]:
        return np.nan, np.nan
    return _end(fitted, i, -1.0, z), _end(fitted, i, 1.0, z)


def _end(fitted: Fitted, i: int, side: float, z: float) -> float:
    """b on this side of the estimate with r(b) = z.

    b is a smooth, nearly linear function of r. So it is interpolated as a polynomial in r through the points that are
    known, the estimate (r = 0, slope std_error) among them, and read off at z; a bracket guards the guesses.
    """
    if fitted.endless[i] == side:
        return side * np.inf
    profile = Profile(fitted, i)
    points: list[tuple[float, float]] = []
    slope = None
    if fitted.endless[i]:
        b = 0.0 if side * profile.estimate < 0 else profile.estimate + side * profile.unit
    else:
        slope = side * float(fitted.std_error[i])
        points.append((0.0, profile.estimate))
        b = profile.estimate + z * slope
    inside, outside = profile.estimate, side * np.inf
    tolerance = TOLERANCE + 1e-14 * abs(profile.best)
    for _ in range(MOST_POINTS):
        r = profile.at(b)
        if abs(r - z) <= tolerance:
            return b
        if fitted.endless[i] and r < NOTHING and abs(b - profile.estimate) >= 2.0 * profile.far:
            # Held far on the other side, it costs nothing: other columns separate as well, whatever this one is.
            return side * np.inf
        inside, outside = (b, outside) if r < z else (inside, b)
        points.append((r, b))
        reach = max(abs(b - profile.estimate), profile.unit)
        b = _guarded(_interpolated(points, z, slope), inside, outside, 4.0 * side * reach)
    return b if np.isfinite(outside) else side * np.inf


def _interpolated(points: list[tuple[float, float]], z: float, slope: float | None) -> float:
    """b(z) of the polynomial through points (r, b), with this slope db/dr at the first of them where it is known.

    Of the others those nearest to z are taken.
    """
    from scipy.interpolate import KroghInterpolator

    known = dict(points if slope is None else points[1:])
    nodes = sorted(known, key=lambda r: abs(r - z))[:4]
    values = [known[r] for r in nodes]
    if slope is not None:
        # A node that is given twice has a value and a slope.
        nodes, values = [0.0, 0.0, *nodes], [points[0][1], slope, *values]
    return float(KroghInterpolator(nodes, values)(z))


def _guarded(guess: float, inside: float, outside: float, reach: float) -> float:
    """The guess where it lies between the ends; else their middle, or a step outwards where there is no end yet."""
    farthest = outside if np.isfinite(outside) else inside + reach
    low, high = min(inside, farthest), max(inside, farthest)
    if low < guess < high:
        return guess
    return 0.5 * (inside + outside) if np.isfinite(outside) else inside + 0.5 * reach
