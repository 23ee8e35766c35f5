"""Gradient descent on a few rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discrim.online.descent import TOO_LARGE, Descent, DescentOptions, End, Walker, Watch
from discrim.online.loss_sums import LossSums

# Epochs without a better loss after which there is an end, and the least part of it that counts as better.
STALE_EPOCHS = 5
BETTER = 1e-4


@dataclass(frozen=True)
class Batches:
    """``size`` rows a step, in the order that ``rng`` draws for every epoch; ``mean_weight`` is that of a row."""

    size: int
    rng: np.random.Generator
    mean_weight: float = 1.0


def descend_by_batches(
    sums: LossSums, walker: Walker, options: DescentOptions, batches: Batches, watch: Watch | None = None
) -> Descent:
    """Epochs of steps, each by the mean slope of ``size`` rows and the penalty's own step.

    The end is where the loss met on the way through an epoch has not become better for five epochs. Cost: a pass an
    epoch, and a few array operations a step.
    """
    first = best = np.inf
    value, stale, end = np.inf, 0, "unfinished"
    kept = walker.theta
    for epoch in range(options.max_iter):
        if watch is not None:
            _tell(sums, walker, options, watch)
        with np.errstate(over="ignore", invalid="ignore"):
            value = _epoch(sums, walker, options, batches) + options.penalty(walker.theta)
        first = min(first, value) if epoch == 0 else first
        if not np.isfinite(value) or value > TOO_LARGE * (1.0 + first):
            end, walker.theta, walker.velocity = "diverged", kept, np.zeros_like(kept)
            break
        kept = walker.theta
        stale = 0 if value < best - max(BETTER, options.tol) * abs(best) else stale + 1
        best = min(best, value)
        if stale >= STALE_EPOCHS:
            end = "converged"
            break
    if watch is not None and end != "diverged":
        _tell(sums, walker, options, watch)
    final = sums.at(walker.theta)
    left = final.loss / final.weight + options.penalty(walker.theta)
    told: End = end  # type: ignore[assignment]
    return Descent(walker.theta, left, told, np.nan, first, value)


def _epoch(sums: LossSums, walker: Walker, options: DescentOptions, batches: Batches) -> float:
    """The mean loss of the rows, each at the weights that it met."""
    loss = weight = 0.0
    for block in sums.batches(batches.size, batches.rng):
        point = walker.theta + options.momentum * walker.velocity if options.nesterov else walker.theta
        part = sums.of(block, point)
        loss, weight = loss + part.loss, weight + part.weight
        gradient = part.gradient / (len(block) * batches.mean_weight)
        new = options.step(point, gradient, options.schedule.at(walker.steps + 1))
        if options.momentum and not options.nesterov:
            new = new + options.momentum * walker.velocity
        walker.velocity, walker.theta = new - walker.theta, new
        walker.steps += 1
    walker.theta = options.of_length_one(walker.theta)
    walker.epochs += 1
    return loss / weight if weight > 0 else 0.0


def _tell(sums: LossSums, walker: Walker, options: DescentOptions, watch: Watch) -> None:
    now = sums.at(walker.theta)
    watch(walker.epochs, walker.theta, now.loss / now.weight + options.penalty(walker.theta), now.mistakes)
