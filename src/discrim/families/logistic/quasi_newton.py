"""L-BFGS that starts from a curvature which is already nearly right: gradients only, few passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from discrim.families.logistic.objective import (
    HasLikelihood,
    Solution,
    move,
    penalised,
    scaled_cholesky,
    solve_factored,
)
from discrim.statistics.likelihood import GRADIENT, Likelihood
from discrim.typing import Floats

# Pairs of steps and gradient changes that are remembered, and coefficients in all of them.
MEMORY, MOST_KEPT = 20, 8_000_000
# As objective.CLOSE, but the gap is an estimate by a curvature that is only nearly right.
CLOSER = 1e-13


@dataclass(frozen=True)
class Enough:
    """Where to end: what the value can still fall is below ``gap``, or no slope is above ``flat`` (like theta).

    Both for each unit of weight. Until then ``watch`` is called with theta after every step.
    """

    gap: float = CLOSER
    flat: Floats | None = None
    watch: Callable[[Floats], None] | None = None


def quasi_newton(
    objective: HasLikelihood,
    start: Floats,
    *,
    inverse: Callable[[Floats], Floats],
    ridge: Floats | float = 0.0,
    free: NDArray[np.bool_] | None = None,
    at: Likelihood | None = None,
    enough: Enough | None = None,
    most: int = 1000,
) -> Solution:
    """The minimum of loss + sum ridge theta^2 / 2 over the ``free`` entries of theta.

    ``at`` are the sums at the start where they are known already.
    ``inverse`` applies the inverse of a matrix like the curvature (of the free entries, ridge included). The better
    it is, the fewer passes: with the curvature of a random part of the rows five to fifteen. Cost a pass: 2 n size.
    """
    theta, ridge = start.astype(float), np.broadcast_to(np.asarray(ridge, float), start.shape)
    index = np.arange(theta.size) if free is None else np.flatnonzero(free.ravel())
    at = objective.at(theta, depth=GRADIENT) if at is None else at
    value = penalised(at.loss, theta, ridge)
    gradient = (at.gradient + ridge * theta).ravel()[index]
    memory = Memory(inverse, gradient)
    gap, iterations, converged = np.inf, 0, False
    enough = Enough() if enough is None else enough
    flat = None if enough.flat is None else enough.flat.ravel()[index]
    for iterations in range(most + 1):
        direction = memory.direction()
        gap = -0.5 * float(gradient @ direction)
        converged = gap <= enough.gap * at.weight or (
            flat is not None and bool(np.all(np.abs(gradient) <= at.weight * flat))
        )
        step = np.zeros(theta.size)
        step[index] = direction
        if converged:
            # The last step is taken on trust, as Newton's is: it can hardly be wrong by as much as it brings.
            theta, value = theta + step.reshape(theta.shape), value - gap
        if enough.watch is not None and iterations:
            enough.watch(theta)
        if converged or iterations == most:
            break
        moved = move(objective, theta, step.reshape(theta.shape), value, gap, ridge, GRADIENT)
        if moved is None:
            if not memory.count:
                converged = gap <= 1e-7 * max(abs(value), 1.0)
                break
            memory = Memory(inverse, gradient)
            continue
        new, at = moved
        gradient = (at.gradient + ridge * new).ravel()[index]
        memory.moved((new - theta).ravel()[index], gradient)
        theta, value = new, penalised(at.loss, new, ridge)
    loss = value - 0.5 * float(np.sum(ridge * theta * theta))
    return Solution(theta, value, loss, at, iterations, converged, gap)


def cholesky_inverse(matrix: Floats) -> Callable[[Floats], Floats] | None:
    """Applies M^-1; None where M is not positive definite."""
    found = scaled_cholesky(matrix, 1e-6)
    return None if found is None else partial(solve_factored, *found)


class Memory:
    """What the last steps have shown of the curvature, and the gradient now.

    L-BFGS in its compact form: with the steps S, the changes Y of the gradient on them, H the ``inverse`` times a
    length, and R the upper triangle of S Y', the direction is -(H g + S'u - (HY)'v) with v = R^-1 S g and
    u = R^-T ((diag R + Y H Y') v - Y H g). Cost: two products with S and two with HY a step, and one ``inverse``.
    """

    def __init__(self, inverse: Callable[[Floats], Floats], gradient: Floats) -> None:
        self.inverse, self.gradient = inverse, gradient
        self.most = max(5, min(MEMORY, MOST_KEPT // max(len(gradient), 1)))
        # The steps are in a ring: the newest takes the place of the oldest.
        self.count, self.newest, self.length = 0, -1, 1.0
        self.s = np.empty((self.most, len(gradient)))
        self.hy = np.empty_like(self.s)
        self.sy, self.yhy = np.zeros((2, self.most, self.most))
        self.sg, self.hyg = np.zeros((2, self.most))

    def moved(self, step: Floats, gradient: Floats) -> None:
        """After a step to where the gradient is this."""
        change = gradient - self.gradient
        self.gradient = gradient
        bend, used = float(step @ change), slice(self.count)
        remembered = bend > 1e-12 * np.sqrt((step @ step) * (change @ change))
        if remembered:
            t = self.newest = (self.newest + 1) % self.most
            self.count = max(self.count, t + 1)
            used = slice(self.count)
            self.s[t], self.hy[t] = step, self.inverse(change)
        along, across = self.s[used] @ change, self.hy[used] @ change
        self.sg[used] += along
        self.hyg[used] += across
        if remembered:
            self.sy[used, t], self.yhy[used, t], self.yhy[t, used] = along, across, across
            self.sg[t], self.hyg[t] = self.s[t] @ gradient, self.hy[t] @ gradient
            # How much flatter the way was than the first curvature had it.
            self.length = bend / float(across[t])

    def direction(self) -> Floats:
        """Minus the product of the inverse curvature with the gradient."""
        plain = self.inverse(self.gradient)
        if not self.count:
            return -plain
        order = np.arange(self.newest + 1 - self.count, self.newest + 1) % self.count
        r = np.triu(self.sy[np.ix_(order, order)])
        bends = np.diag(np.diagonal(r)) + self.length * self.yhy[np.ix_(order, order)]
        v = lapack.dtrtrs(r, self.sg[order])[0]
        u = lapack.dtrtrs(r, bends @ v - self.length * self.hyg[order], trans=1)[0]
        back = np.empty((2, self.count))
        back[:, order] = u, self.length * v
        return np.asarray(back[1] @ self.hy[: self.count] - back[0] @ self.s[: self.count] - self.length * plain)
