"""Gradient descent, step by step: the rate, momentum, penalties, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discrim.errors import plural
from discrim.families.online.criterion import Criterion, Ground, RowSums, Sums
from discrim.families.sequence import Visits, Watch
from discrim.store.fields import Array, Whole
from discrim.store.kinds import stored
from discrim.typing import Floats

End = Literal["converged", "unfinished", "diverged", "stuck", "wrong"]
# Takes the step (or epoch), the weights, the objective and the number of rows on the wrong side.
Note = Callable[[int, Floats, float, int], None]

# The objective has diverged where it is this many times its first value plus one.
TOO_LARGE = 1e6
# Part of the foreseen decrease that a step of the line search must bring, and how often it is halved.
ENOUGH = 1e-4
HALVINGS = 60
ROUNDING = 1e-14
# Steps without a better value after which a loss with a kink counts as minimised, and the part that counts as better.
STALE_STEPS = 100
BETTER = 1e-4
# Epochs of mini-batches without a better loss after which there is an end.
STALE_EPOCHS = 5


@dataclass(frozen=True)
class Schedule:
    """eta_t = first / (1 + (t - 1) / period)^power for step t = 1, 2, ..."""

    first: float
    power: float = 0.0
    period: float = 1.0

    def at(self, t: int) -> float:
        return float(self.first / (1.0 + (t - 1) / self.period) ** self.power)

    @classmethod
    def of(cls, rate: str, eta0: float | None, ground: Ground, criterion: Criterion, batch: int | None) -> Schedule:
        """The rates for such rows; without ``eta0`` from 1 / L on, L a bound of the curvature of the mean loss.

        A loss with kinks has no such bound; there steps begin with 3 / sqrt(mean |z|^2) and fall with the root of their
        number: no slope is longer than mean |z|, so that weights of a useful size are soon reached.
        """
        curvature = criterion.curvature
        steepest = ground.bend if batch is None else ground.bend + (ground.longest - ground.bend) / batch
        steep = np.sqrt(ground.length) / 3.0 if curvature is None else curvature * steepest
        first = float(1.0 / max(steep, np.finfo(float).tiny)) if eta0 is None else eta0
        if rate == "inverse":
            return cls(first, 1.0)
        if rate == "optimal" and curvature is None:
            return cls(first, 0.5)
        if rate == "optimal" and batch is not None:
            return cls(first, 1.0, max(ground.n_rows / batch, 1.0))
        return cls(first)


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


@stored("descent", theta=Array("f q"), velocity=Array("f q"), steps=Whole(), epochs=Whole())
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

    def point(self, options: DescentOptions) -> Floats:
        """Where the gradient is taken: with Nesterov's momentum, ahead of the weights."""
        return self.theta + options.momentum * self.velocity if options.nesterov else self.theta

    def advance(self, options: DescentOptions, point: Floats, gradient: Floats, eta: float) -> Floats:
        """Make a step, and return what the gradient alone has changed."""
        new = options.step(point, gradient, eta)
        change = point - new
        if options.momentum and not options.nesterov:
            new = new + options.momentum * self.velocity
        self.velocity, self.theta = new - self.theta, new
        self.steps += 1
        return change


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

    def remark(self, *, steps: int, unit: str, rate: float, tol: float) -> str:
        """Why it stopped; empty where it converged."""
        done = plural(steps, unit)
        if self.end == "converged":
            return ""
        if self.end == "diverged":
            rose = f"from {self.first:.3g} to {self.worst:.3g}" if np.isfinite(self.worst) else "beyond all bounds"
            return (
                f"Gradient descent diverged: the loss rose {rose} within {done}, at the rate {rate:.3g}. The best "
                "weights so far are kept. Use a smaller eta0, learning_rate='optimal', or scale=True where columns "
                "differ in size."
            )
        if self.end == "wrong":
            return (
                f"After {done} some rows are still wrong, and it gets no better: there may be no hyperplane that has "
                "them all right. The weights with the fewest wrong rows are kept."
            )
        if self.end == "stuck":
            return (
                f"After {done} no step lowers the loss any more, though its slope is {self.slope:.2g} and tol is "
                f"{tol:g}: a kink of the loss, or rounding. learning_rate='optimal' gets along with kinks."
            )
        slope = f"; the largest slope is {self.slope:.2g} and tol is {tol:g}" if np.isfinite(self.slope) else ""
        return f"Gradient descent stopped after {done} before it had converged{slope}. Increase max_iter, or tol."


class Run:
    """A descent of the ``walker`` over the rows of ``sums``; ``note`` is called at each step or epoch."""

    def __init__(self, sums: RowSums, walker: Walker, options: DescentOptions, note: Note | None) -> None:
        self.sums, self.walker, self.options, self.note = sums, walker, options, note
        self.slope = self.first = self.value = self.best = np.inf
        # Weights to go back to.
        self.kept = walker.theta
        # Of the mini-batches of an epoch.
        self.loss = self.weight = 0.0
        self.end: End = "unfinished"

    def descend(self) -> Descent:
        """Steps on all rows until the slope is at most ``tol``: one pass a step, or a few with the line search."""
        options, walker = self.options, self.walker
        end = self.search() if options.search else self.follow()
        worst = self.value
        if end == "diverged" or options.kinked:
            # A loss with kinks does not fall at every step. Where no row is wrong any more, the last step was the best.
            if options.kinked and end == "converged" and self.slope <= options.tol:
                self.kept = walker.theta
            walker.theta, walker.velocity = self.kept, np.zeros_like(walker.velocity)
        value, sums = self.look(walker.theta)
        if end != "diverged":
            self._note(walker.theta, value, sums, exact=True)
        return Descent(walker.theta, value, end, self.slope, self.first, worst)

    def look(self, theta: Floats) -> tuple[float, Sums]:
        """The objective, and the sums of which its gradient is made."""
        sums = self.sums.at(theta)
        value = sums.loss / sums.weight + self.options.penalty(theta)
        if not np.isfinite(self.first):
            self.first = value
        return value, sums._replace(gradient=sums.gradient / sums.weight)

    def follow(self) -> End:
        """Steps by the schedule."""
        walker, options = self.walker, self.options
        stale, factor, before = 0, 1.0, np.inf
        for _ in range(options.max_iter):
            point = walker.point(options)
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
                self.best, self.kept = rank, point
            self._advance(point, sums.gradient, factor * options.schedule.at(walker.steps + 1))
            if self.slope <= options.tol or (options.kinked and stale >= STALE_STEPS):
                return "wrong" if options.by_mistakes and sums.mistakes else "converged"
        return "unfinished"

    def _advance(self, point: Floats, gradient: Floats, eta: float) -> None:
        walker, options, before = self.walker, self.options, self.walker.theta
        change = walker.advance(options, point, gradient, eta)
        if options.normalize:
            walker.theta = options.of_length_one(walker.theta)
            change = walker.velocity = walker.theta - before
        elif options.momentum:
            # At rest is only what no longer moves either.
            change = np.maximum(np.abs(change), np.abs(walker.velocity))
        self.slope = float(np.abs(change).max(initial=0.0)) / eta

    def search(self) -> End:
        """Steps of Barzilai and Borwein's length, halved until the objective falls enough."""
        walker, options = self.walker, self.options
        eta = options.schedule.first
        self.value, sums = self.look(walker.theta)
        if not np.isfinite(self.value):
            return "diverged"
        for _ in range(options.max_iter):
            self._note(walker.theta, self.value, sums, exact=True)
            self.best, self.kept = self.value, walker.theta
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

    def note_epoch(self) -> None:
        if self.note is not None:
            value, sums = self.look(self.walker.theta)
            self.note(self.walker.epochs, self.walker.theta, value, sums.mistakes)

    def _bounded(self, value: float, gradient: Floats) -> bool:
        return bool(np.isfinite(value) and np.isfinite(gradient).all() and value <= TOO_LARGE * (1.0 + self.first))

    def _note(self, theta: Floats, value: float, sums: Sums, *, exact: bool) -> None:
        if self.note is None:
            return
        if not exact:
            theta = self.walker.theta
            value, sums = self.look(theta)
        self.note(self.walker.steps, theta, value, sums.mistakes)


@dataclass(frozen=True)
class BatchSteps:
    """The sequence: each batch makes a step by the mean slope of its rows, and the penalty's own step.

    The end is where the loss met on the way through an epoch has not become better for five epochs. ``mean_weight`` is
    that of a row. Cost: a pass an epoch, and a few array operations a step.
    """

    mean_weight: float

    def step(self, state: Run, rows: Visits, problems: Sequence[int]) -> None:  # noqa: ARG002 - there is one
        walker, options = state.walker, state.options
        point = walker.point(options)
        assert rows.order is not None
        part = state.sums.of(rows.block.take(rows.order), point)
        state.loss, state.weight = state.loss + part.loss, state.weight + part.weight
        gradient = part.gradient / (len(rows) * self.mean_weight)
        walker.advance(options, point, gradient, options.schedule.at(walker.steps + 1))

    def judge(self, state: Run, watches: Mapping[int, Watch]) -> None:
        (watch,) = watches.values()
        walker, options = state.walker, state.options
        walker.theta = options.of_length_one(walker.theta)
        walker.epochs += 1
        mean = state.loss / state.weight if state.weight > 0 else 0.0
        state.value = mean + options.penalty(walker.theta)
        state.loss = state.weight = 0.0
        if watch.epochs == 1:
            state.first = state.value
        if not np.isfinite(state.value) or state.value > TOO_LARGE * (1.0 + state.first):
            walker.theta, walker.velocity = state.kept, np.zeros_like(state.kept)
            state.end, watch.stopped = "diverged", True
            return
        state.kept = walker.theta
        better = state.value < watch.best - max(BETTER, options.tol) * abs(watch.best)
        watch.stale, watch.best = 0 if better else watch.stale + 1, min(watch.best, state.value)
        state.note_epoch()
        if watch.stale >= STALE_EPOCHS:
            state.end, watch.stopped = "converged", True
