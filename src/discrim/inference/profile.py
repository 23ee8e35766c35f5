"""The profile of a likelihood: how much is lost when one coefficient is held, and all others fitted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discrim.families.logistic.newton import HasLikelihood, solve_positive
from discrim.inference.fitted import Fitted
from discrim.statistics.likelihood import CURVATURE, GRADIENT, LOSS, Likelihood
from discrim.typing import Floats, Mask

# Distance from the optimum at which the curvature tells a profile's loss to ten digits.
CLOSE = 1e-8
# How near the root of the profile has to come to z.
TOLERANCE = 1e-8
MOST_POINTS = 40
# A root of the profile that no test would notice.
NOTHING = 0.01


class Turned:
    """An objective of phi, of which entry m is the wanted combination c'theta and all others are theta's own.

    theta = T phi, where T is 1 but for its row m. To hold c'theta is then to hold one entry.
    """

    def __init__(self, objective: HasLikelihood, c: Floats) -> None:
        self.objective = objective
        # The entry that moves c'theta most has the best-conditioned T.
        self.m = int(np.argmax(np.abs(c)))
        flat = c.ravel()
        self.row = -flat / flat[self.m]
        self.row[self.m] = 1.0 / flat[self.m]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.objective.shape

    def theta(self, phi: Floats) -> Floats:
        theta = phi.flatten()
        theta[self.m] = self.row @ theta
        return theta.reshape(phi.shape)

    def phi(self, theta: Floats) -> Floats:
        phi = theta.flatten()
        rest = self.row @ phi - self.row[self.m] * phi[self.m]
        phi[self.m] = (phi[self.m] - rest) / self.row[self.m]
        return phi.reshape(theta.shape)

    def at(
        self, phi: Floats, *, depth: int = GRADIENT, along: Floats | None = None, steps: Sequence[float] = ()
    ) -> Likelihood:
        direction = None if along is None else self.theta(along)
        at = self.objective.at(self.theta(phi), depth=depth, along=direction, steps=steps)
        if depth == LOSS:
            return at
        gradient = at.gradient.ravel()
        gradient = (gradient + self._change * gradient[self.m]).reshape(phi.shape)
        hessian = self.turn(at.hessian) if depth >= CURVATURE else at.hessian
        return replace(at, gradient=gradient, hessian=hessian)

    def turn(self, hessian: Floats) -> Floats:
        """T'H T."""
        right = hessian + np.outer(hessian[:, self.m], self._change)
        return np.asarray(right + np.outer(self._change, right[self.m]))

    @property
    def _change(self) -> Floats:
        """The row m of T - 1."""
        change: Floats = self.row.copy()
        change[self.m] -= 1.0
        return change


class Profile:
    """r(b) = sqrt(2 (value at the best fit with coefficient i held at b - smallest value)).

    Each fit begins where the last one points. The coefficient is one entry m of theta times a ``factor``, or, as the
    intercept of columns that the solver centres, a combination of several: then the objective is turned first.
    """

    def __init__(self, fitted: Fitted, i: int) -> None:
        self.fitted = fitted
        self.best = fitted.solution.value
        objective, theta, c = fitted.problem("A profile interval"), fitted.theta, fitted.functional(i)
        self.problem: HasLikelihood = objective
        hessian = fitted.information
        if np.count_nonzero(c) > 1 and fitted.penalty == "firth":
            # Its correction needs the rows, not turned sums: it gets them with nothing subtracted.
            plain = replace(objective.coordinates, shift=np.zeros_like(objective.coordinates.shift))
            theta, c = plain.from_user(objective.coordinates.to_user(theta)), fitted.functional(i, plain)
            self.problem = objective.with_coordinates(plain)
            hessian = self.problem.at(theta, depth=CURVATURE).hessian
        self.m = int(np.argmax(np.abs(c)))
        self.factor = float(c.flat[self.m])
        self.unit = abs(self.factor)
        if np.count_nonzero(c) > 1:
            turned = Turned(objective, c)
            self.problem, theta, hessian, self.factor = turned, turned.phi(theta), turned.turn(hessian), 1.0
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
        solution = self.fitted.solve(self.problem, start, self.free, estimated=self.fitted.free, close=CLOSE)
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

    Divided differences, of the points nearest to z.
    """
    nodes = sorted(points[1:] if slope is not None else points, key=lambda point: abs(point[0] - z))[:4]
    nodes = [*points[:1] * 2, *nodes] if slope is not None else nodes
    r, table = np.array([node[0] for node in nodes]), np.array([node[1] for node in nodes])
    coefficients = [table[0]]
    with np.errstate(divide="ignore", invalid="ignore"):
        for order in range(1, len(nodes)):
            table = np.diff(table) / (r[order:] - r[:-order])
            if order == 1 and slope is not None:
                table[0] = slope
            coefficients.append(table[0])
        b = 0.0
        for coefficient, node in zip(coefficients[::-1], r[::-1], strict=True):
            b = b * (z - node) + coefficient
    return float(b)


def _guarded(guess: float, inside: float, outside: float, reach: float) -> float:
    """The guess where it lies between the ends; else their middle, or a step outwards where there is no end yet."""
    farthest = outside if np.isfinite(outside) else inside + reach
    low, high = min(inside, farthest), max(inside, farthest)
    if low < guess < high:
        return guess
    return 0.5 * (inside + outside) if np.isfinite(outside) else inside + 0.5 * reach
