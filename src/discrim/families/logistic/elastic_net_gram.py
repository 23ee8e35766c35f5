"""The elastic net on sums: a quadratic model of the loss, followed from one penalty to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.families.logistic.newton import HasLikelihood, Solution
from discrim.statistics.likelihood import CURVATURE, GRADIENT, LOSS, Likelihood
from discrim.typing import Floats

# How far the value per unit of weight may still fall, as far as the curvature tells, where a solver stops.
GAP = 1e-16
# Parts of a step whose losses are told in one pass when the full step went too far.
FRACTIONS = (0.5, 0.25, 0.125, 0.03125, 0.001)
SWEEPS = 10_000
STEPS = 100
# How often a step that goes too far is cut by the last of these.
TRIES = 8


@dataclass(frozen=True)
class Penalty:
    """sum lasso |theta| + sum ridge theta^2 / 2, entry by entry; ``theta`` and both are flat."""

    lasso: Floats
    ridge: Floats

    def of(self, theta: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(self.lasso @ np.abs(theta) + 0.5 * (self.ridge @ (theta * theta)))


def elastic_net(
    objective: HasLikelihood,
    start: Floats,
    *,
    lasso: Floats,
    ridge: Floats,
    free: NDArray[np.bool_] | None = None,
    gap: float = GAP,
    most: int = STEPS,
) -> Solution:
    """The minimum of loss + sum lasso |theta| + sum ridge theta^2 / 2 over the ``free`` entries; the others stay.

    All arrays are like theta, in the solver's coordinates. Cost: two or three passes with curvature and a few without,
    and q for every change of one of q coefficients.
    """
    return GramFollower(objective, start, free=free, gap=gap).solve(lasso, ridge, most)


class GramFollower:
    """Minima for one penalty after another, each from the last; one pass a penalty is the aim.

    The loss is modelled at the last ``point`` that was passed over: exact gradient there, and a curvature H that may
    be older and is mended by the secants since. A pass at the model's minimum tells by how much the model misjudged
    the gradient on the way there, ``stale`` = |g - g_model| / |H step|. The model at the new point has its minimum a
    step d further; what is then left is about (stale |d|)^2 / 2, so that the step is taken on trust once that is
    small. H is computed anew when mending would take more passes than it saves.
    """

    def __init__(
        self,
        objective: HasLikelihood,
        start: Floats,
        *,
        free: NDArray[np.bool_] | None = None,
        gap: float = GAP,
    ) -> None:
        self.objective, self.gap = objective, gap
        self.fixed = None if free is None or free.all() else np.ascontiguousarray(~free.ravel(), dtype=np.uint8)
        self.answer = np.array(start, dtype=float).ravel()
        self.drift = np.zeros_like(self.answer)
        self.iterations = 0
        self.stale = self.length = 0.0
        self.fresh = True
        self.sums: Likelihood
        self.hessian: Floats
        self.gradient: Floats
        self.loss = self.weight = np.nan
        self.point = self.answer.copy()
        self._take(self.point, self._look(self.point, CURVATURE))

    def solve(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> Solution:
        """The minimum for this penalty, or where the last of ``most`` steps ended."""
        penalty = Penalty(np.ascontiguousarray(lasso, float).ravel(), np.ascontiguousarray(ridge, float).ravel())
        enough = self.gap * self.weight
        guess, left = self._descend(penalty)
        first, converged, depth = guess + self._extrapolated(guess), False, GRADIENT
        ahead, begun = first, self.iterations
        while True:
            if self.iterations - begun >= most:
                # The model's next minimum is not known to be lower.
                target = self.point
                break
            if not self._go(ahead, penalty, depth):
                # No part of the step lowers the value: what is left is rounding, or the likelihood has no minimum.
                target, converged = self.point, left <= 1e-9 * max(abs(self.loss), self.weight)
                break
            target, left = self._descend(penalty)
            if self._error(left) <= enough:
                converged = True
                break
            depth, ahead = self._next_depth(left, enough), target
        self.drift = np.where(np.sign(target) == np.sign(guess), target - guess, 0.0)
        self.answer = target
        return self._solution(target, penalty, left, converged, self.iterations - begun)

    def _solution(self, theta: Floats, penalty: Penalty, left: float, converged: bool, iterations: int) -> Solution:
        step = theta - self.point
        loss = self.loss + float(self.gradient @ step + 0.5 * step @ (self.hessian @ step))
        shaped = theta.reshape(self.objective.shape)
        return Solution(shaped, loss + penalty.of(theta), loss, self.sums, iterations, converged, self._error(left))

    def _look(self, theta: Floats, depth: int, along: Floats | None = None, steps: Sequence[float] = ()) -> Likelihood:
        shape = self.objective.shape
        direction = None if along is None else along.reshape(shape)
        return self.objective.at(theta.reshape(shape), depth=depth, along=direction, steps=steps)

    def _take(self, theta: Floats, sums: Likelihood) -> None:
        """Model the loss at theta, where these sums hold."""
        gradient = sums.gradient.ravel()
        if sums.hessian.size or not gradient.size:
            self.hessian = np.ascontiguousarray(sums.hessian)
            self.fresh = True
        else:
            self.hessian = kernels.secant(self.hessian, theta - self.point, gradient - self.gradient)
            self.fresh = False
        self.point, self.gradient = theta, gradient
        self.sums, self.loss, self.weight = sums, sums.loss, sums.weight

    def descend(
        self, penalty: Penalty, start: Floats, point: Floats, gradient: Floats, hessian: Floats
    ) -> tuple[Floats, float]:
        """The minimum of a model at ``point``, and half the squared length of the way to it from there."""
        theta, close = start.copy(), 0.01 * self.gap * self.weight
        penalties = (penalty.lasso, penalty.ridge, self.fixed)
        left, _, _ = kernels.gram_descent(hessian, point, gradient, theta, *penalties, close, SWEEPS)
        return theta, left

    def stand(self, point: Floats, loss: float, gradient: Floats, hessian: Floats, answer: Floats) -> None:
        """Model the loss at a point that others have found, with ``answer`` as the last minimum."""
        self.point, self.loss, self.gradient, self.hessian = point, loss, gradient, hessian
        self.answer, self.drift, self.fresh, self.stale = answer, np.zeros_like(answer), False, 0.3

    def arrive(self) -> None:
        """Pass over the rows at the last answer, whose last step was taken on trust."""
        self._take(self.answer, self._look(self.answer, CURVATURE))

    def _descend(self, penalty: Penalty) -> tuple[Floats, float]:
        theta, left = self.descend(penalty, self.answer, self.point, self.gradient, self.hessian)
        self.answer = theta
        return theta, left

    def _go(self, theta: Floats, penalty: Penalty, depth: int) -> bool:
        """Pass over the rows at theta, or on the way there where the value would rise; False where it rises at once."""
        self.iterations += 1
        step = theta - self.point
        before = self.loss + penalty.of(self.point)
        sums = self._look(theta, depth)
        if sums.finite and sums.loss + penalty.of(theta) <= before + 1e-11 * abs(before):
            self._note(step, sums)
            self._take(theta, sums)
            return True
        for _ in range(TRIES):
            losses = self._look(self.point, LOSS, step, FRACTIONS).losses
            values = np.array([losses[i] + penalty.of(self.point + f * step) for i, f in enumerate(FRACTIONS)])
            values[~np.isfinite(values)] = np.inf
            best = int(values.argmin())
            if values[best] < before:
                there = self.point + FRACTIONS[best] * step
                self.stale, self.length = 1.0, 0.0
                self._take(there, self._look(there, CURVATURE))
                return True
            step = step * FRACTIONS[-1]
        return False

    def _note(self, step: Floats, sums: Likelihood) -> None:
        """How wrong the model was about the gradient at the end of the step, relative to its length."""
        foreseen = self.hessian @ step
        error = sums.gradient.ravel() - self.gradient - foreseen
        diagonal = np.diagonal(self.hessian)
        known = diagonal > 0
        length = float(step @ foreseen)
        wrong = float(np.sum(error[known] ** 2 / diagonal[known]))
        self.length = max(length, 0.0)
        self.stale = max(np.sqrt(wrong / length) if length > 0 else 0.0, 0.3 * self.stale)

    def _error(self, left: float) -> float:
        """What remains of ``left`` after the step that it stands for."""
        factor = self.stale
        if self.fresh and self.length > 0:
            # A fresh curvature errs only by how it changes over the step itself.
            factor *= min(np.sqrt(2.0 * left / self.length), 1.0)
        return factor * factor * left

    def _next_depth(self, left: float, enough: float) -> int:
        """Curvature, if gradients alone would take too many passes to mend the old one."""
        if self.stale >= 0.7:
            return CURVATURE
        needed = np.log(max(left / enough, 2.0)) / (-2.0 * np.log(max(self.stale, 1e-6)))
        return CURVATURE if needed > 2.0 + self.answer.size / 100.0 else GRADIENT

    def _extrapolated(self, guess: Floats) -> Floats:
        """The correction that the last guess needed: along a grid of penalties the next needs much the same."""
        return np.where(np.sign(guess + self.drift) == np.sign(guess), self.drift, 0.0)
