"""Newton's method on sums: every step is one pass over the rows, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from discrim.statistics.likelihood import CURVATURE, LOSS, Likelihood
from discrim.typing import Floats

# What the value can still fall, for each unit of weight, when the last step needs no pass to confirm it: the error
# after a Newton step is about the square of the one before.
CLOSE = 1e-12
# The full step is tried alone where it promises to lower the value by less than this share, or where a pass is cheap.
SMALL_STEP = 1e-2
# Parts of a step whose losses are told along with the full step's.
FRACTIONS = (0.5, 0.25, 0.125, 0.03125)


class HasLikelihood(Protocol):
    """What a solver needs of the data."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def at(
        self, theta: Floats, *, depth: int = ..., along: Floats | None = ..., steps: Sequence[float] = ...
    ) -> Likelihood: ...


@dataclass(frozen=True)
class Solution:
    """``theta`` with ``value`` = loss + sum ridge theta^2 / 2 there; ``at`` holds the sums of the last pass.

    ``gap`` is how much the value can still fall, as far as the curvature shows. Where ``exact``, the sums belong to
    theta itself; else to the point before the last step, and are good for the next step but not for standard errors.
    """

    theta: Floats
    value: float
    loss: float
    at: Likelihood
    iterations: int
    converged: bool
    gap: float
    exact: bool = False


def newton(
    objective: HasLikelihood,
    start: Floats,
    *,
    ridge: Floats | float = 0.0,
    free: NDArray[np.bool_] | None = None,
    at: Likelihood | None = None,
    close: float = CLOSE,
    most: int = 100,
    watch: Callable[[Floats], None] | None = None,
) -> Solution:
    """The minimum of loss + sum ridge theta^2 / 2 over the ``free`` entries of theta; the others keep their value.

    ``at`` are the sums at the start where they are known already; ``watch`` is called with theta after every step.
    Cost: one pass a step, with n size^2 / 2 multiplications, and size^3 / 3.
    """
    theta, ridge = start.astype(float), np.asarray(ridge, float)
    ridge = ridge if ridge.shape == start.shape else np.broadcast_to(ridge, start.shape)
    if at is None and watch is None and (free is None or free.all()):
        at_once = _full_steps(objective, theta, ridge, close, most)
        if at_once is not None:
            return at_once
    index = np.arange(theta.size) if free is None else np.flatnonzero(free.ravel())
    at = objective.at(theta, depth=CURVATURE) if at is None else at
    value = penalised(at.loss, theta, ridge)
    step, gap = _step(at, theta, ridge, index)
    iterations, converged = 0, False
    while iterations < most:
        iterations += 1
        if gap <= close * at.weight:
            theta = theta + step
            converged = True
            if watch is not None:
                watch(theta)
            break
        moved = move(objective, theta, step, value, gap, ridge, CURVATURE)
        if moved is None:
            # No part of the step lowers the value: what is left is rounding.
            converged = gap <= 1e-7 * max(abs(value), 1.0)
            break
        theta, at = moved
        if watch is not None:
            watch(theta)
        value = penalised(at.loss, theta, ridge)
        step, gap = _step(at, theta, ridge, index)
    if converged and iterations and gap <= close * at.weight:
        return _on_trust(theta, value, gap, ridge, at, iterations)
    return Solution(theta, value, at.loss, at, iterations, converged, gap, exact=True)


def _full_steps(objective: HasLikelihood, theta: Floats, ridge: Floats, close: float, most: int) -> Solution | None:
    """The same where all is so small that one call does it, and no step has to be shortened."""
    of = getattr(objective, "full_steps", None)
    found = None if of is None else of(theta, ridge, close, most)
    return None if found is None else _on_trust(found.theta, found.value, found.gap, ridge, found.at, found.steps)


def _on_trust(theta: Floats, value: float, gap: float, ridge: Floats, at: Likelihood, iterations: int) -> Solution:
    """The last step was taken without a pass: its curvature tells the loss better than another pass could."""
    value -= gap
    loss = value - 0.5 * float(np.vdot(ridge * theta, theta))
    return Solution(theta, value, loss, at, iterations, True, gap)


def penalised(loss: float, theta: Floats, ridge: Floats) -> float:
    """loss + sum ridge theta^2 / 2."""
    return loss + 0.5 * float(np.vdot(ridge * theta, theta))


def _step(at: Likelihood, theta: Floats, ridge: Floats, index: NDArray[np.intp]) -> tuple[Floats, float]:
    """The Newton step on the free entries, and by how much it should lower the value."""
    step = np.zeros(theta.size)
    if not len(index):
        return step.reshape(theta.shape), 0.0
    gradient = (at.gradient + ridge * theta).ravel()[index]
    hessian = at.hessian[np.ix_(index, index)] if len(index) < theta.size else at.hessian.copy()
    hessian.flat[:: len(index) + 1] += ridge.ravel()[index]
    step[index] = -solve_positive(hessian, gradient)
    return step.reshape(theta.shape), -0.5 * float(gradient @ step[index])


def solve_positive(matrix: Floats, right: Floats) -> Floats:
    """M^-1 b for a positive semidefinite M; where M has no inverse, on the directions that it knows."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = matrix / np.multiply.outer(scale, scale)
    lower, info = lapack.dpotrf(scaled, lower=1)
    if info == 0 and lower.diagonal().min() > 1e-7:
        return np.asarray(lapack.dpotrs(lower, right / scale, lower=1)[0]) / scale
    values, vectors = np.linalg.eigh(scaled)
    keep = values > 1e-12 * max(values[-1], 0.0)
    inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
    return np.asarray(vectors @ (inverse * (vectors.T @ (right / scale)))) / scale


def move(
    objective: HasLikelihood,
    theta: Floats,
    step: Floats,
    value: float,
    gap: float,
    ridge: Floats,
    depth: int,
) -> tuple[Floats, Likelihood] | None:
    """The full step where it lowers the value enough, else the best of its parts; None where none does.

    With the sums there, to this ``depth``. Where a pass is costly, the full step's also tries the parts.
    """
    for _ in range(12):
        target = theta + step
        parts = FRACTIONS if gap > SMALL_STEP * abs(value) and getattr(objective, "costly", True) else ()
        at = objective.at(target, depth=depth, along=-step if parts else None, steps=[1.0 - f for f in parts])
        if at.finite and penalised(at.loss, target, ridge) <= value - 1e-4 * gap:
            return target, at
        losses = at.losses if parts else objective.at(theta, depth=LOSS, along=step, steps=FRACTIONS).losses
        values = np.array([penalised(loss, theta + f * step, ridge) for loss, f in zip(losses, FRACTIONS, strict=True)])
        values[~np.isfinite(values)] = np.inf
        best = int(values.argmin())
        if values[best] < value - 1e-4 * FRACTIONS[best] * gap:
            theta = theta + FRACTIONS[best] * step
            return theta, objective.at(theta, depth=depth)
        step, gap = step / 64.0, gap / 64.0
    return None
