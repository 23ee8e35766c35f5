"""Several neighbouring penalties at once: their points share every pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from discrim import kernels
from discrim.families.logistic.elastic_net_gram import SWEEPS, GramFollower, Penalty
from discrim.families.logistic.objective import Objective
from discrim.kernels.logistic.reference_coordinate import SEVERAL
from discrim.statistics.likelihood import CURVATURE
from discrim.typing import Floats

# Coefficients above which a curvature for each of several penalties takes too much room.
MOST = 400
# Passes after which a penalty that is still on its way is solved by itself.
PATIENCE = 12
# Passes that a penalty may take on average before the next ones get a new curvature.
FEW = 4.0
# No step is trusted to gain more than this, whatever the last one did.
LEAST_GAIN = 0.01
EVERY = np.arange(SEVERAL)


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
            for passes in found.iterations:
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
        assert isinstance(follower.objective, Objective)
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
        """All go to their targets, in one pass; False where the value of one rises, and then nobody moves."""
        losses, gradients = self.objective.slopes(self.target)
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
        return Minima(self.target[ended], losses[ended].tolist(), [self.passes[lane] for lane in ended])

    def _penalties(self, thetas: Floats) -> Floats:
        size = np.abs(thetas)
        with np.errstate(over="ignore"):
            return np.asarray(np.vecdot(self.lasso + 0.5 * self.ridge * size, size))


def _after(left: float, before: float) -> float:
    """What remains of ``left`` after its step, if that gains as much as the one ``before`` it did."""
    known = 0.0 < before < np.inf
    return left * (min(max(left / before, LEAST_GAIN), 1.0) if known else 1.0)
