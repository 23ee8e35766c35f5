"""Several neighbouring penalties at once: their points share every pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discrim import _kernels
from discrim.engines.several import PathObjective, Slope
from discrim.solvers.elastic_net_gram import GramFollower, Penalty
from discrim.statistics.likelihood import CURVATURE

Floats = NDArray[np.float64]

# Coefficients above which a curvature for each of several penalties takes too much room.
MOST = 400
# Passes after which penalties that are still on their way are solved one by one.
ROUNDS = 12
# With as many passes for the last group, the next may keep the curvature that there is.
FEW = 4
# No step is trusted to gain more than this, whatever the last one did.
LEAST_GAIN = 0.01


@dataclass(frozen=True)
class Minimum:
    """Where one penalty's descent ended."""

    theta: Floats
    loss: float
    converged: bool
    iterations: int


@dataclass
class _Runner:
    """One penalty on its way: a point with its exact gradient, a curvature, and the model's minimum."""

    penalty: Penalty
    point: Floats
    slope: Slope
    hessian: Floats
    left: float = np.inf
    error: float = np.inf
    target: Floats | None = None

    def refine(self, follower: GramFollower) -> None:
        """The model's minimum from here, and what will be left after the step to it if it gains as the last one did."""
        start = self.point if self.target is None else self.target
        theta, left = follower.descend(self.penalty, start, self.point, self.slope.gradient, self.hessian)
        gain = min(max(left / self.left, LEAST_GAIN), 1.0) if np.isfinite(self.left) and self.left > 0 else 1.0
        self.target, self.left, self.error = theta, left, gain * left

    def arrive(self, slope: Slope) -> bool:
        """Take the step; False where the value rises."""
        assert self.target is not None
        before = self.slope.loss + self.penalty.of(self.point)
        after = slope.loss + self.penalty.of(self.target)
        if not slope.finite or after > before + 1e-11 * abs(before):
            return False
        self.hessian = _kernels.secant(self.hessian, self.target - self.point, slope.gradient - self.slope.gradient)
        self.point, self.slope = self.target, slope
        return True

    def minimum(self, rounds: int) -> Minimum:
        assert self.target is not None
        step = self.target - self.point
        loss = self.slope.loss + float(self.slope.gradient @ step + 0.5 * step @ (self.hessian @ step))
        return Minimum(self.target, loss, True, rounds)


def solve_together(follower: GramFollower, penalties: Sequence[Penalty]) -> list[Minimum]:
    """The minima for falling penalties, as many of the first as could be found together.

    All are guessed from the last minimum's model, then mended side by side: a pass gives every one its own gradient.
    The curvature is taken anew in their middle; from there to each other one it is carried on by the secants between
    neighbours. Cost: three to five passes for up to eight penalties.
    """
    objective = follower.objective
    assert isinstance(objective, PathObjective)
    runners = _start(follower, objective, penalties)
    enough = follower.gap * follower.weight
    rounds = 1
    for runner in runners:
        runner.refine(follower)
    while rounds < ROUNDS:
        behind = [runner for runner in runners if runner.error > enough]
        if not behind:
            break
        rounds += 1
        slopes = objective.slopes(np.stack([runner.target for runner in behind if runner.target is not None]))
        arrived = [runner.arrive(slope) for runner, slope in zip(behind, slopes, strict=True)]
        if not all(arrived):
            break
        for runner in behind:
            runner.refine(follower)
    follower.rounds = rounds
    found: list[Minimum] = []
    for runner in runners:
        if runner.error > enough:
            break
        found.append(runner.minimum(rounds if not found else 0))
        follower.stand(runner.point, runner.slope.loss, runner.slope.gradient, runner.hessian, found[-1].theta)
    return found


def _start(follower: GramFollower, objective: PathObjective, penalties: Sequence[Penalty]) -> list[_Runner]:
    """Guesses for all penalties with their gradients, and a curvature for each."""
    guesses, theta = [], follower.answer
    for penalty in penalties:
        theta, _ = follower.descend(penalty, theta, follower.point, follower.gradient, follower.hessian)
        guesses.append(theta)
    slopes = objective.slopes(np.stack(guesses))
    usable = next((k for k, slope in enumerate(slopes) if not slope.finite), len(slopes))
    count = len(guesses) if usable == len(slopes) else max(usable, 1)
    hessians: list[Floats] = [follower.hessian] * count
    gaps = [(guesses[k + 1] - guesses[k], slopes[k + 1].gradient - slopes[k].gradient) for k in range(count - 1)]
    middle = count // 2
    if follower.rounds > FEW:
        hessians[middle] = np.ascontiguousarray(objective.at(guesses[middle], depth=CURVATURE).hessian)
    else:
        middle = 0
        hessians[0] = _kernels.secant(
            follower.hessian, guesses[0] - follower.point, slopes[0].gradient - follower.gradient
        )
    for k in range(middle + 1, count):
        hessians[k] = _kernels.secant(hessians[k - 1], *gaps[k - 1])
    for k in range(middle - 1, -1, -1):
        hessians[k] = _kernels.secant(hessians[k + 1], *gaps[k])
    return [_Runner(penalties[k], guesses[k], slopes[k], hessians[k]) for k in range(count)]
