"""The elastic net on sums: a quadratic model of the loss, followed from one penalty to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.families.logistic.objective import Objective, Solution
from discrim.kernels.logistic.reference_coordinate import SEVERAL
from discrim.statistics.likelihood import CURVATURE, GRADIENT, LOSS, Likelihood
from discrim.typing import Floats

# How far the value per unit of weight may still fall, by the curvature, where a solver stops.
GAP = 1e-16
# Parts of a step whose losses are computed in one pass when the full step went too far.
FRACTIONS = (0.5, 0.25, 0.125, 0.03125, 0.001)
SWEEPS = 10_000
STEPS = 100
# How often a step that goes too far is cut by the last of these.
TRIES = 8
# More than any gradient: a coefficient with this penalty is zero.
PROHIBITIVE = 1e200
# How often the intercepts without slopes are sought: each time squares what is left.
SETTLING = 4
# Coefficients above which a curvature for each of several penalties takes too much memory.
MOST_TOGETHER = 400
# Passes after which a penalty that is still under way is solved by itself.
PATIENCE = 12
# Passes that a penalty may take on average before the next ones get a new curvature.
FEW = 4.0
# No step is trusted to gain more than this, whatever the last one did.
LEAST_GAIN = 0.01
EVERY = np.arange(SEVERAL)

# Rows of theta where the descents of neighbouring penalties ended, the losses there, and the passes of each.
Minima = tuple[Floats, list[float], list[int]]


@dataclass(frozen=True)
class Fitted:
    """``theta`` [intercept, slopes] in the user's units (K such rows for softmax), the loss there, and the steps."""

    theta: Floats
    loss: float
    iterations: int
    converged: bool


@dataclass(frozen=True)
class Penalty:
    """sum lasso |theta| + sum ridge theta^2 / 2, entry by entry; ``theta`` and both are flat."""

    lasso: Floats
    ridge: Floats

    def of(self, theta: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(self.lasso @ np.abs(theta) + 0.5 * (self.ridge @ (theta * theta)))


class GramFollower:
    """Minima for one penalty after another, each from the last; one pass a penalty is the aim.

    The loss is modelled at the last ``point`` that was passed over: exact gradient there, and a curvature H that may
    be older and is mended by the secants since. A pass at the model's minimum shows by how much the model misjudged
    the gradient on the way there, ``stale`` = |g - g_model| / |H step|. The model at the new point has its minimum a
    step d further; what is then left is about (stale |d|)^2 / 2, so that the step is taken on trust once that is
    small. H is computed anew when mending would take more passes than it saves.

    ``solve``, ``follow`` and ``slopes`` are in the user's units, all else in the solver's.
    """

    solver = "coordinate-gram"

    def __init__(
        self,
        objective: Objective,
        start: Floats,
        *,
        free: NDArray[np.bool_] | None = None,
        gap: float = GAP,
    ) -> None:
        self.objective, self.gap = objective, gap
        self.free = np.ones(objective.shape, dtype=bool) if free is None else free
        self.fixed = None if self.free.all() else np.ascontiguousarray(~self.free.ravel(), dtype=np.uint8)
        self.answer = np.array(start, dtype=float).ravel()
        self.iterations = 0
        self.stale = self.length = 0.0
        self.fresh = True
        self.sums: Likelihood
        self.hessian: Floats
        self.gradient: Floats
        self.loss = self.weight = np.nan
        self.point = self.answer.copy()
        self._take(self.point, self._look(self.point, CURVATURE))

    @property
    def passes(self) -> int:
        """How often all rows were read."""
        return self.objective.passes

    @property
    def slopes(self) -> Floats:
        """Minus the gradient of the loss for the slopes, p or K x p, at the last point."""
        coordinates, first = self.objective.coordinates, int(self.objective.coordinates.intercept)
        inner = self.gradient.reshape(self.objective.shape)[..., first:]
        return np.where(self.free[..., first:], -inner * coordinates.scale, 0.0)

    def solve_constants(self) -> None:
        """Go to the model without slopes, unless it is there already."""
        c, shape = self.objective.coordinates, self.objective.shape
        if c.intercept and np.abs(self.gradient.reshape(shape)[..., 0]).max() > 1e-12 * self.weight:
            slopes = (*shape[:-1], len(c.scale))
            self.solve(np.full(slopes, PROHIBITIVE), np.zeros(slopes))

    def settle(self) -> None:
        """Before the first penalty: know the slopes to rounding, from which the largest lambda follows."""
        for _ in range(SETTLING):
            before = self.iterations
            self.solve_constants()
            if self.iterations == before:
                return
            # The last step was taken on trust.
            self._take(self.answer, self._look(self.answer, CURVATURE))

    def solve(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> Fitted:
        """The minimum of loss + sum lasso |b| + sum ridge b^2 / 2 over slopes b (p, or K x p) and a free intercept.

        After ``most`` steps it ends where it is.
        """
        return self._in_units(self.minimum(self._inside(lasso, 1), self._inside(ridge, 2), most))

    def follow(self, penalties: Iterable[tuple[Floats, Floats]]) -> Iterator[Fitted]:
        """The minima for these falling penalties, one after another."""
        lassos, ridges = (np.stack(values) for values in zip(*penalties, strict=True))
        inside = zip(self._inside(lassos, 1), self._inside(ridges, 2), strict=True)
        left = [Penalty(lasso.ravel(), ridge.ravel()) for lasso, ridge in inside]
        together = _one_pass_serves_several(self.objective)
        while left:
            if together and len(left) > 1:
                for thetas, losses, passes in follow_together(self, tuple(left)):
                    del left[: len(losses)]
                    user = self.objective.coordinates.to_user(thetas)
                    yield from map(Fitted, user, losses, passes, [True] * len(losses))
            if left:
                first = left.pop(0)
                yield self._in_units(self.minimum(first.lasso, first.ridge))

    def _in_units(self, found: Solution) -> Fitted:
        theta = self.objective.coordinates.to_user(found.theta)
        if theta.ndim == 2 and self.objective.coordinates.intercept:
            theta[:, 0] -= theta[:, 0].mean()
        return Fitted(theta, found.loss, found.iterations, found.converged)

    def _inside(self, values: Floats, power: int) -> Floats:
        """A penalty of the solver's coefficients, which are the user's times the scale."""
        inner = values / self.objective.coordinates.scale**power
        constant = np.zeros((*inner.shape[:-1], int(self.objective.coordinates.intercept)))
        return np.concatenate([constant, inner], axis=-1)

    def minimum(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> Solution:
        """The minimum for this penalty (like theta, solver's units), or where the last of ``most`` steps ended.

        Cost: two or three passes with curvature and a few without, and q for every change of one of q coefficients.
        """
        penalty = Penalty(np.ascontiguousarray(lasso, float).ravel(), np.ascontiguousarray(ridge, float).ravel())
        enough = self.gap * self.weight
        ahead, left = self._descend(penalty)
        converged, depth, begun = False, GRADIENT, self.iterations
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

    def stand(self, point: Floats, loss: float, gradient: Floats, hessian: Floats, answer: Floats) -> None:
        """Model the loss at a point that others have found, with ``answer`` as the last minimum."""
        self.point, self.loss, self.gradient, self.hessian = point, loss, gradient, hessian
        self.answer, self.fresh, self.stale = answer, False, 0.3

    def _descend(self, penalty: Penalty) -> tuple[Floats, float]:
        """The minimum of the model, and half the squared length of the way to it from its point."""
        theta, close = self.answer.copy(), 0.01 * self.gap * self.weight
        penalties = (penalty.lasso, penalty.ridge, self.fixed)
        left, _, _ = kernels.gram_descent(self.hessian, self.point, self.gradient, theta, *penalties, close, SWEEPS)
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


def follow_together(follower: GramFollower, penalties: Sequence[Penalty]) -> Iterator[Minima]:
    """The minima for falling penalties, in order; ends early where they cannot be found together.

    Up to SEVERAL penalties are under way. Each starts at the minimum of the model of the one before it, wherever that
    has got to, and inherits its curvature, which the secant between them and those of its own steps mend. A pass gives
    every one its own gradient. When they take too many passes, the curvature is taken anew at the front. Cost: about
    one pass for two or three penalties.
    """
    runners = _Runners(follower, penalties)
    pace = 2.0 * FEW
    while runners.first < len(penalties):
        new = runners.begin()
        if not runners.step():
            return
        if new and pace > FEW:
            runners.renew(new)
            pace = FEW
        found = runners.refine()
        if found:
            for passes in found[2]:
                pace += 0.25 * (passes - pace)
            yield found
        if max((runners.passes[lane] for lane in runners.under_way), default=0) > PATIENCE:
            return


class _Runners:
    """Penalties on their way, one a lane: a ``point`` with its exact gradient, a curvature, and a ``target``.

    The target is the minimum of the model at the point; ``left`` is half the squared length of the way there.
    Penalties ``first`` to ``begun`` (without it) are under way, penalty k in lane k modulo SEVERAL. A pass costs as
    much for one lane as for all, so that every step is taken by all of them; those at rest stay where they are.
    """

    def __init__(self, follower: GramFollower, penalties: Sequence[Penalty]) -> None:
        self.follower, self.objective, self.penalties = follower, follower.objective, penalties
        q = follower.answer.size
        self.point, self.gradient, self.target, self.lasso, self.ridge = (np.zeros((SEVERAL, q)) for _ in range(5))
        self.hessian = np.zeros((SEVERAL, q, q))
        self.loss, self.value, self.left = np.zeros(SEVERAL), np.zeros(SEVERAL), np.zeros(SEVERAL)
        self.passes = [0] * SEVERAL
        # Until its first pass a runner stands where the one before it stood; the first, where the follower does.
        self.point[-1], self.gradient[-1], self.loss[-1] = follower.point, follower.gradient, follower.loss
        self.hessian[-1], self.target[-1] = follower.hessian, follower.answer
        self.first = self.begun = 0

    @property
    def under_way(self) -> list[int]:
        """The lanes in use, in the order of their penalties."""
        return [k % SEVERAL for k in range(self.first, self.begun)]

    def begin(self) -> list[int]:
        """Give the next penalties to the lanes that are free; which these are."""
        follower, close = self.follower, 0.01 * self.follower.gap * self.follower.weight
        begun, self.begun = self.begun, min(self.first + SEVERAL, len(self.penalties))
        new = [k % SEVERAL for k in range(begun, self.begun)]
        for lane, penalty in zip(new, self.penalties[begun : self.begun], strict=True):
            for values in (self.point, self.gradient, self.hessian, self.loss, self.target):
                values[lane] = values[lane - 1]
            self.lasso[lane], self.ridge[lane] = penalty.lasso, penalty.ridge
            self.left[lane], self.passes[lane] = np.inf, 0
            model = (self.hessian[lane], self.point[lane], self.gradient[lane])
            penalties = (penalty.lasso, penalty.ridge, follower.fixed)
            kernels.gram_descent(*model, self.target[lane], *penalties, close, SWEEPS)
        if new:
            self.value = self.loss + self._penalties(self.point)
        return new

    def step(self) -> bool:
        """All go to their targets, in one pass; False where the value of one rises, and then none moves."""
        losses, gradients = self.objective.several(self.target)
        values = losses + self._penalties(self.target)
        falls = values <= self.value + 1e-11 * np.abs(self.value)
        if not falls[self.under_way].all() or not np.isfinite(gradients).all():
            return False
        kernels.several_secants(self.hessian, EVERY, self.target - self.point, gradients - self.gradient)
        self.point[:], self.gradient[:] = self.target, gradients
        self.loss, self.value = losses, values
        for lane in self.under_way:
            self.passes[lane] += 1
        return True

    def renew(self, new: Sequence[int]) -> None:
        """The curvature at the last of these lanes, for the later half of them."""
        hessian = self.objective.at(self.point[new[-1]], depth=CURVATURE).hessian
        self.hessian[new[len(new) // 2 :]] = hessian

    def refine(self) -> Minima | None:
        """The next targets; the minima of the first penalties, where these steps will leave too little."""
        follower, before, lanes = self.follower, self.left.tolist(), self.under_way
        enough, close = follower.gap * follower.weight, 0.01 * follower.gap * follower.weight
        places, penalties = (self.point, self.gradient, self.target), (self.lasso, self.ridge)
        some = np.array(lanes)
        kernels.several_descents(self.hessian, some, places, penalties, follower.fixed, self.left, close, SWEEPS)
        left = self.left.tolist()
        ended = list(takewhile(lambda lane: _after(left[lane], before[lane]) <= enough, lanes))
        if not ended:
            return None
        self.first += len(ended)
        last = ended[-1]
        at = (self.point[last].copy(), float(self.loss[last]), self.gradient[last].copy(), self.hessian[last].copy())
        follower.stand(*at, self.target[last].copy())
        step = self.target - self.point
        # `left` is half of step'(H + ridge) step.
        losses = self.loss + np.vecdot(self.gradient - 0.5 * self.ridge * step, step) + self.left
        return self.target[ended], losses[ended].tolist(), [self.passes[lane] for lane in ended]

    def _penalties(self, thetas: Floats) -> Floats:
        size = np.abs(thetas)
        with np.errstate(over="ignore"):
            return np.asarray(np.vecdot(self.lasso + 0.5 * self.ridge * size, size))


def _after(left: float, before: float) -> float:
    """What remains of ``left`` after its step, if that gains as much as the one ``before`` it did."""
    known = 0.0 < before < np.inf
    return left * (min(max(left / before, LEAST_GAIN), 1.0) if known else 1.0)


def _one_pass_serves_several(objective: Objective) -> bool:
    whole, coordinates = objective.rows.whole, objective.coordinates
    dense = whole is None or isinstance(whole.x, np.ndarray)
    few = not objective.softmax and coordinates.size <= MOST_TOGETHER
    return few and dense and coordinates.turned is None
