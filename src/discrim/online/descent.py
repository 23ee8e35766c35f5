"""Gradient descent, step by step: the rate, momentum, penalties, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discrim.online.loss_sums import LossSums, Sums
from discrim.typing import Floats

End = Literal["converged", "unfinished", "diverged", "stuck", "wrong"]
Watch = Callable[[int, Floats, float, int], None]

# The objective has diverged where it is this many times its first value plus one.
TOO_LARGE = 1e6
# Part of the foreseen decrease that a step of the line search must bring, and how often it is halved.
ENOUGH = 1e-4
HALVINGS = 60
ROUNDING = 1e-14
# Steps without a better value after which a loss with a kink counts as minimised, and the part that counts as better.
STALE_STEPS = 100
BETTER = 1e-4


@dataclass(frozen=True)
class Schedule:
    """eta_t = first / (1 + (t - 1) / period)^power for step t = 1, 2, ..."""

    first: float
    power: float = 0.0
    period: float = 1.0

    def at(self, t: int) -> float:
        return float(self.first / (1.0 + (t - 1) / self.period) ** self.power)


@dataclass(frozen=True)
class DescentOptions:
    """The objective is the mean loss + sum lasso |theta| + sum ridge theta^2 / 2, entry by entry of theta.

    ``search`` looks for each step's rate, starting from the schedule's first. ``momentum`` adds that part of the last
    step, before the gradient is taken with ``nesterov``. ``normalize`` divides each function's weights by their length
    after every step. ``careful`` halves the rate whenever the objective has risen. ``kinked`` says that the loss has
    kinks: the slope need not vanish at the minimum, and the best weights are kept instead of the last; best
    ``by_mistakes`` for the perceptron's loss, which is least where all weights are zero.
    """

    schedule: Schedule
    lasso: Floats
    ridge: Floats
    search: bool = False
    momentum: float = 0.0
    nesterov: bool = False
    normalize: bool = False
    careful: bool = False
    kinked: bool = False
    by_mistakes: bool = False
    max_iter: int = 1000
    tol: float = 1e-6

    def penalty(self, theta: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float((self.lasso * np.abs(theta)).sum() + 0.5 * (self.ridge * theta * theta).sum())

    def step(self, point: Floats, gradient: Floats, eta: float) -> Floats:
        """Down the slope of the loss, then the penalty's own step: exact for it, however large it is."""
        with np.errstate(over="ignore", invalid="ignore"):
            moved = point - eta * gradient
            shrunk = np.sign(moved) * np.maximum(np.abs(moved) - eta * self.lasso, 0.0)
            return np.asarray(shrunk / (1.0 + eta * self.ridge))

    def of_length_one(self, theta: Floats) -> Floats:
        if not self.normalize:
            return theta
        length = np.linalg.norm(theta, axis=1, keepdims=True)
        return np.asarray(theta / np.where(length > 0, length, 1.0))


@dataclass
class Walker:
    """Where the descent is: weights, the last step, and how many steps (epochs of mini-batches) were made."""

    theta: Floats
    velocity: Floats
    steps: int = 0
    epochs: int = 0

    @classmethod
    def at(cls, theta: Floats) -> Walker:
        return cls(theta, np.zeros_like(theta))


@dataclass(frozen=True)
class Descent:
    """Where it ended: ``value`` of the objective, and ``slope``, the largest entry of its (proximal) gradient.

    ``first`` is the value at the start and ``worst`` the last one seen before a divergence was noticed.
    """

    theta: Floats
    value: float
    end: End
    slope: float
    first: float
    worst: float


def descend(sums: LossSums, walker: Walker, options: DescentOptions, watch: Watch | None = None) -> Descent:
    """Steps on all rows until the slope is at most ``tol``. Cost: one pass a step, or a few with the line search."""
    run = _Run(sums, walker, options, watch)
    # What overflows on the way is a divergence, and told as such.
    with np.errstate(over="ignore", invalid="ignore"):
        end = run.search() if options.search else run.follow()
    return run.result(end)


class _Run:
    def __init__(self, sums: LossSums, walker: Walker, options: DescentOptions, watch: Watch | None) -> None:
        self.sums, self.walker, self.options, self.watch = sums, walker, options, watch
        self.slope = self.first = self.value = np.inf
        self.best, self.best_theta = np.inf, walker.theta

    def look(self, theta: Floats) -> tuple[float, Sums]:
        """The objective, and the sums of which its gradient is made."""
        sums = self.sums.at(theta)
        value = sums.loss / sums.weight + self.options.penalty(theta)
        if not np.isfinite(self.first):
            self.first = value
        return value, Sums(sums.loss, sums.gradient / sums.weight, sums.mistakes, sums.weight)

    def follow(self) -> End:
        """Steps by the schedule."""
        walker, options = self.walker, self.options
        stale, factor, before = 0, 1.0, np.inf
        for _ in range(options.max_iter):
            point = walker.theta + options.momentum * walker.velocity if options.nesterov else walker.theta
            self.value, sums = self.look(point)
            if not self._bounded(self.value, sums.gradient):
                return "diverged"
            self._note(point, self.value, sums, exact=not options.nesterov)
            if options.careful and self.value > before + 1e-12 * abs(before):
                factor *= 0.5
            before = self.value
            rank = float(sums.mistakes) if options.by_mistakes else self.value
            stale = 0 if rank < self.best - BETTER * abs(self.best) else stale + 1
            if rank < self.best:
                self.best, self.best_theta = rank, point
            self._advance(point, sums.gradient, factor * options.schedule.at(walker.steps + 1))
            if self.slope <= options.tol or (options.kinked and stale >= STALE_STEPS):
                return "wrong" if options.by_mistakes and sums.mistakes else "converged"
        return "unfinished"

    def _advance(self, point: Floats, gradient: Floats, eta: float) -> None:
        walker, options = self.walker, self.options
        new = options.step(point, gradient, eta)
        change = point - new
        if options.momentum and not options.nesterov:
            new = new + options.momentum * walker.velocity
        new = options.of_length_one(new)
        if options.normalize:
            change = walker.theta - new
        elif options.momentum:
            # At rest is only what no longer moves either.
            change = np.maximum(np.abs(change), np.abs(walker.theta - new))
        self.slope = float(np.abs(change).max(initial=0.0)) / eta
        walker.velocity, walker.theta = new - walker.theta, new
        walker.steps += 1

    def search(self) -> End:
        """Steps of Barzilai and Borwein's length, halved until the objective falls enough."""
        walker, options = self.walker, self.options
        eta = options.schedule.first
        self.value, sums = self.look(walker.theta)
        if not np.isfinite(self.value):
            return "diverged"
        for _ in range(options.max_iter):
            self._note(walker.theta, self.value, sums, exact=True)
            self.best, self.best_theta = self.value, walker.theta
            unit = options.schedule.first
            self.slope = float(np.abs(walker.theta - options.step(walker.theta, sums.gradient, unit)).max()) / unit
            if self.slope <= options.tol:
                return "converged"
            for _ in range(HALVINGS):
                new = options.step(walker.theta, sums.gradient, eta)
                move = new - walker.theta
                value, there = self.look(new)
                # Close to the minimum the decrease is less than the rounding of the values.
                if value <= self.value + ROUNDING * abs(self.value) - ENOUGH * float((move * move).sum()) / eta:
                    break
                eta *= 0.5
            else:
                return "stuck"
            bend = float((move * (there.gradient - sums.gradient)).sum())
            length = float((move * move).sum())
            eta = float(np.clip(length / bend, 0.1 * eta, 100.0 * eta)) if bend > 0 else 4.0 * eta
            walker.velocity, walker.theta, self.value, sums = move, new, value, there
            walker.steps += 1
        return "unfinished"

    def result(self, end: End) -> Descent:
        options, walker = self.options, self.walker
        worst = self.value
        if end == "diverged" or options.kinked:
            # A loss with kinks does not fall at every step. Where no row is wrong any more, the last step was the best.
            if options.kinked and end == "converged" and self.slope <= options.tol:
                self.best_theta = walker.theta
            walker.theta, walker.velocity = self.best_theta, np.zeros_like(walker.velocity)
        value, sums = self.look(walker.theta)
        if end != "diverged":
            self._note(walker.theta, value, sums, exact=True)
        return Descent(walker.theta, value, end, self.slope, self.first, worst)

    def _bounded(self, value: float, gradient: Floats) -> bool:
        return bool(np.isfinite(value) and np.isfinite(gradient).all() and value <= TOO_LARGE * (1.0 + self.first))

    def _note(self, theta: Floats, value: float, sums: Sums, *, exact: bool) -> None:
        if self.watch is None:
            return
        if not exact:
            theta = self.walker.theta
            value, sums = self.look(theta)
        self.watch(self.walker.steps, theta, value, sums.mistakes)
