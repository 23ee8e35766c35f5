"""Several neighbouring penalties at once: their points share every pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discrim import _kernels
from discrim._kernels.reference_coordinate import SEVERAL
from discrim.engines.several import PathObjective
from discrim.solvers.elastic_net_gram import GramFollower, Penalty
from discrim.statistics.likelihood import CURVATURE

Floats = NDArray[np.float64]

# Coefficients above which a curvature for each of several penalties takes too much room.
MOST = 400
# Passes after which a penalty that is still on its way is solved by itself.
PATIENCE = 12
# Passes that a penalty may take on average before the next ones get a new curvature.
FEW = 5.0
# No step is trusted to gain more than this, whatever the last one did.
LEAST_GAIN = 0.01


@dataclass(frozen=True)
class Minimum:
    """Where one penalty's descent ended."""

    theta: Floats
    loss: float
    converged: bool
    iterations: int


class _Runner:
    """One penalty on its way: a point with its exact gradient, a curvature, and the model's minimum, its target."""

    def __init__(self, penalty: Penalty, before: _Runner | GramFollower, target: Floats) -> None:
        self.penalty, self.target = penalty, target
        # Until its first pass a runner stands where the one before it stood.
        self.point: Floats = before.point
        self.loss: float = before.loss
        self.gradient: Floats = before.gradient
        self.hessian: Floats = before.hessian
        self.value = self.loss + penalty.of(self.point)
        self.left = self.error = np.inf
        self.passes = 0

    def arrive(self, loss: float, gradient: Floats, value: float) -> None:
        """Stand at the target, where these hold."""
        self.hessian = _kernels.secant(self.hessian, self.target - self.point, gradient - self.gradient)
        self.point, self.loss, self.gradient, self.value = self.target, loss, gradient, value
        self.passes += 1

    def refine(self, follower: GramFollower) -> None:
        """The next target, and what will be left there if the step gains as the last one did."""
        start = self.target
        self.target, left = follower.descend(self.penalty, start, self.point, self.gradient, self.hessian)
        gain = min(max(left / self.left, LEAST_GAIN), 1.0) if 0.0 < self.left < np.inf else 1.0
        self.left, self.error = left, gain * left

    def minimum(self) -> Minimum:
        step = self.target - self.point
        loss = self.loss + float(self.gradient @ step + 0.5 * step @ (self.hessian @ step))
        return Minimum(self.target, loss, True, self.passes)


def follow_together(follower: GramFollower, penalties: Sequence[Penalty]) -> Iterator[Minimum]:
    """The minima for falling penalties, in order; ends early where they cannot be found together.

    Up to SEVERAL penalties are under way. Each starts at the minimum of the model of the one before it, wherever that
    has got to, and inherits its curvature, which the secant between them and those of its own steps mend. A pass gives
    every one its own gradient. When they take too many passes, the curvature is taken anew at the front. Cost: about
    one pass for two or three penalties.
    """
    objective = follower.objective
    assert isinstance(objective, PathObjective)
    enough = follower.gap * follower.weight
    under_way: list[_Runner] = []
    lassos, ridges = (np.stack([getattr(each, name) for each in penalties]) for name in ("lasso", "ridge"))
    begun, pace = 0, 2.0 * FEW
    while under_way or begun < len(penalties):
        before = under_way[-1] if under_way else follower
        while len(under_way) < SEVERAL and begun < len(penalties):
            runner = _begin(follower, before, penalties[begun])
            under_way.append(runner)
            before, begun = runner, begun + 1
        now = slice(begun - len(under_way), begun)
        if not _step(objective, under_way, lassos[now], ridges[now]):
            return
        new = [runner for runner in under_way if runner.passes == 1]
        if new and pace > FEW:
            hessian = np.ascontiguousarray(objective.at(new[-1].point, depth=CURVATURE).hessian)
            for runner in new[len(new) // 2 :]:
                runner.hessian = hessian
            pace = FEW
        for runner in under_way:
            runner.refine(follower)
        while under_way and under_way[0].error <= enough:
            first = under_way.pop(0)
            pace += 0.25 * (first.passes - pace)
            follower.stand(first.point, first.loss, first.gradient, first.hessian, first.target)
            yield first.minimum()
        if under_way and under_way[0].passes > PATIENCE:
            return


def _step(objective: PathObjective, runners: Sequence[_Runner], lassos: Floats, ridges: Floats) -> bool:
    """All go to their targets, in one pass; False where the value of one rises, and then nobody moves."""
    targets = np.stack([runner.target for runner in runners])
    losses, gradients = objective.slopes(targets)
    with np.errstate(over="ignore"):
        values = losses + np.vecdot(lassos, np.abs(targets)) + 0.5 * np.vecdot(ridges, targets * targets)
    before = np.array([runner.value for runner in runners])
    if not np.isfinite(gradients).all() or not (values <= before + 1e-11 * np.abs(before)).all():
        return False
    for runner, loss, gradient, value in zip(runners, losses.tolist(), gradients, values.tolist(), strict=True):
        runner.arrive(loss, gradient, value)
    return True


def _begin(follower: GramFollower, before: _Runner | GramFollower, penalty: Penalty) -> _Runner:
    start = before.answer if isinstance(before, GramFollower) else before.target
    target, _ = follower.descend(penalty, start, before.point, before.gradient, before.hessian)
    return _Runner(penalty, before, target)
