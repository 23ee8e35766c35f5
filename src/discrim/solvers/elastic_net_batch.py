"""Several neighbouring penalties at once: their points share every pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discrim import _kernels
from discrim._kernels.reference_coordinate import SEVERAL
from discrim.engines.several import PathObjective
from discrim.solvers.elastic_net_gram import SWEEPS, GramFollower, Penalty
from discrim.statistics.likelihood import CURVATURE

Floats = NDArray[np.float64]

# Coefficients above which a curvature for each of several penalties takes too much room.
MOST = 400
# Passes after which a penalty that is still on its way is solved by itself.
PATIENCE = 12
# Passes that a penalty may take on average before the next ones get a new curvature.
FEW = 4.0
# No step is trusted to gain more than this, whatever the last one did.
LEAST_GAIN = 0.01


@dataclass(frozen=True)
class Minima:
    """Where the descents of neighbouring penalties ended: ``thetas`` in rows, losses, and passes of each."""

    thetas: Floats
    losses: list[float]
    iterations: list[int]


def follow_together(follower: GramFollower, penalties: Sequence[Penalty]) -> Iterator[Minima]:
    """The minima for falling penalties, in order; ends early where they cannot be found together.

    Up to SEVERAL penalties are under way. Each starts at the minimum of the model of the one before it, wherever that
    has got to, and inherits its curvature, which the secant between them and those of its own steps mend. A pass gives
    every one its own gradient. When they take too many passes, the curvature is taken anew at the front. Cost: about
    one pass for two or three penalties.
    """
    runners = _Runners(follower, penalties)
    left, pace = len(penalties), 2.0 * FEW
    while left:
        runners.begin()
        if not runners.step():
            return
        new = [lane for lane in runners.under_way if runners.passes[lane] == 1]
        if new and pace > FEW:
            runners.renew(new)
            pace = FEW
        found = runners.refine()
        if found:
            for passes in found.iterations:
                pace += 0.25 * (passes - pace)
            left -= len(found.losses)
            yield found
        if runners.passes[runners.under_way].max(initial=0) > PATIENCE:
            return


class _Runners:
    """Penalties on their way, one a lane: a ``point`` with its exact gradient, a curvature, and a ``target``.

    The target is the minimum of the model at the point; ``left`` is half the squared length of the way there.
    ``under_way`` are the lanes in use, in the order of their penalties.
    """

    def __init__(self, follower: GramFollower, penalties: Sequence[Penalty]) -> None:
        assert isinstance(follower.objective, PathObjective)
        self.follower, self.objective, self.penalties = follower, follower.objective, penalties
        q = follower.answer.size
        self.point, self.gradient, self.target, self.lasso, self.ridge = (np.empty((SEVERAL, q)) for _ in range(5))
        self.hessian = np.empty((SEVERAL, q, q))
        self.loss, self.value, self.left = np.empty(SEVERAL), np.empty(SEVERAL), np.empty(SEVERAL)
        self.passes = np.zeros(SEVERAL, dtype=np.int64)
        # Until its first pass a runner stands where the one before it stood; the first, where the follower does.
        self.point[0], self.gradient[0], self.loss[0] = follower.point, follower.gradient, follower.loss
        self.hessian[0], self.target[0] = follower.hessian, follower.answer
        self.last = self.begun = 0
        self.under_way: list[int] = []

    def begin(self) -> None:
        """Give the next penalties to the lanes that are free."""
        free = [lane for lane in range(SEVERAL) if lane not in self.under_way]
        new = free[: len(self.penalties) - self.begun]
        if not new:
            return
        for lane, penalty in zip(new, self.penalties[self.begun :], strict=False):
            if lane != self.last:
                for values in (self.point, self.gradient, self.hessian, self.loss):
                    values[lane] = values[self.last]
            at = (self.point[lane], self.gradient[lane], self.hessian[lane])
            self.target[lane], _ = self.follower.descend(penalty, self.target[self.last], *at)
            self.lasso[lane], self.ridge[lane] = penalty.lasso, penalty.ridge
            self.last = lane
        self.value[new] = self.loss[new] + self._penalties(new, self.point[new])
        self.left[new], self.passes[new] = np.inf, 0
        self.under_way += new
        self.begun += len(new)

    def step(self) -> bool:
        """All go to their targets, in one pass; False where the value of one rises, and then nobody moves."""
        lanes = self.under_way
        targets, before = self.target[lanes], self.value[lanes]
        losses, gradients = self.objective.slopes(targets)
        values = losses + self._penalties(lanes, targets)
        if not np.isfinite(gradients).all() or not (values <= before + 1e-11 * np.abs(before)).all():
            return False
        _kernels.several_secants(
            self.hessian, np.asarray(lanes), targets - self.point[lanes], gradients - self.gradient[lanes]
        )
        self.point[lanes], self.gradient[lanes] = targets, gradients
        self.loss[lanes], self.value[lanes] = losses, values
        self.passes[lanes] += 1
        return True

    def renew(self, new: Sequence[int]) -> None:
        """The curvature at the last of these lanes, for the later half of them."""
        hessian = self.objective.at(self.point[new[-1]], depth=CURVATURE).hessian
        self.hessian[new[len(new) // 2 :]] = hessian

    def refine(self) -> Minima | None:
        """The next targets; the minima of the first penalties, where these steps will leave too little."""
        follower, before, lanes = self.follower, self.left.copy(), self.under_way
        enough, close = follower.gap * follower.weight, 0.01 * follower.gap * follower.weight
        places, penalties = (self.point, self.gradient, self.target), (self.lasso, self.ridge)
        some = np.asarray(lanes)
        _kernels.several_descents(self.hessian, some, places, penalties, follower.fixed, self.left, close, SWEEPS)
        known = (before > 0.0) & np.isfinite(before)
        gain = np.clip(np.divide(self.left, before, out=np.ones(SEVERAL), where=known), LEAST_GAIN, 1.0)
        on_its_way = (gain * self.left)[lanes] > enough
        count = int(on_its_way.argmax()) if on_its_way.any() else len(lanes)
        if not count:
            return None
        ended, self.under_way = lanes[:count], lanes[count:]
        last = ended[-1]
        at = (self.point[last].copy(), float(self.loss[last]), self.gradient[last].copy(), self.hessian[last].copy())
        follower.stand(*at, self.target[last].copy())
        step = self.target[ended] - self.point[ended]
        # `left` is half of step'(H + ridge) step.
        bend = self.left[ended] - 0.5 * np.vecdot(self.ridge[ended], step * step)
        losses = self.loss[ended] + np.vecdot(self.gradient[ended], step) + bend
        return Minima(self.target[ended], losses.tolist(), self.passes[ended].tolist())

    def _penalties(self, lanes: list[int], thetas: Floats) -> Floats:
        with np.errstate(over="ignore"):
            lasso = np.vecdot(self.lasso[lanes], np.abs(thetas))
            return np.asarray(lasso + 0.5 * np.vecdot(self.ridge[lanes], thetas * thetas))
