"""L-BFGS that starts from a curvature which is already nearly right: gradients only, few passes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

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

# A step, how the gradient changed on it, and the product of both.
Pair = tuple[Floats, Floats, float]

# Pairs of steps and gradient changes that are remembered.
MEMORY = 20
# Coefficients that may be remembered in all.
ROOM = 20_000_000
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
    pairs: deque[Pair] = deque(maxlen=max(5, min(MEMORY, ROOM // max(theta.size, 1))))
    gap, iterations, converged, length = np.inf, 0, False, 1.0
    enough = Enough() if enough is None else enough
    flat = None if enough.flat is None else enough.flat.ravel()[index]
    for iterations in range(most + 1):
        direction = -two_loops(gradient, pairs, inverse, length)
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
            if not pairs:
                converged = gap <= 1e-7 * max(abs(value), 1.0)
                break
            pairs.clear()
            length = 1.0
            continue
        new, at = moved
        change = (at.gradient + ridge * new).ravel()[index] - gradient
        moved_by = (new - theta).ravel()[index]
        bend = float(moved_by @ change)
        if bend > 1e-12 * np.sqrt((moved_by @ moved_by) * (change @ change)):
            pairs.append((moved_by, change, bend))
            # How much flatter the way was than the first curvature had it.
            length = bend / float(change @ inverse(change))
        theta, gradient, value = new, gradient + change, penalised(at.loss, new, ridge)
    loss = value - 0.5 * float(np.sum(ridge * theta * theta))
    return Solution(theta, value, loss, at, iterations, converged, gap)


def cholesky_inverse(matrix: Floats) -> Callable[[Floats], Floats] | None:
    """Applies M^-1; None where M is not positive definite."""
    found = scaled_cholesky(matrix, 1e-6)
    return None if found is None else partial(solve_factored, *found)


def two_loops(gradient: Floats, pairs: deque[Pair], inverse: Callable[[Floats], Floats], length: float = 1.0) -> Floats:
    """The product of the inverse curvature, as the pairs correct it, with the gradient."""
    rest, shares = gradient.copy(), []
    for step, change, bend in reversed(pairs):
        share = (step @ rest) / bend
        rest -= share * change
        shares.append(share)
    result = length * inverse(rest)
    for (step, change, bend), share in zip(pairs, reversed(shares), strict=True):
        result += (share - (change @ result) / bend) * step
    return result
