"""The minimum of one smooth objective, by the way that was chosen, from a start that a part of the rows gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from discrim.families.logistic.objective import (
    CLOSE,
    CLOSE_IN_FILES,
    CLOSER,
    PENALISED_CLOSE,
    HasLikelihood,
    Solution,
    newton,
)
from discrim.families.logistic.positive import solve_positive
from discrim.families.logistic.quasi_newton import Part, Smooth, descend
from discrim.statistics.likelihood import CURVATURE, GRADIENT, Likelihood
from discrim.typing import Floats

# Coefficients from which on the curvature is that of a part of the rows, not of all.
ONCE_SIZE = 160
# Enough for a start: the sample's own error is larger, and the last step squares this.
ROUGH = 3e-4
# Rows a coefficient of a part whose curvature is as good for the first step as that of all rows: what this leaves, a
# Newton step brings below CLOSE.
TALL = 2000
# What the value may fall, for each unit of weight, by a step that is not checked.
NEAR = 1e-2
# Newton steps after which a part of the rows that has no optimum yet is taken to be separated.
ENOUGH = 12
# Loss of a row, on the average, below which the part says more of itself than of the others.
SEPARATED = 1e-4

Route = Literal["newton", "quasi-newton", "limited-memory", "row-space"]


def minimise(problem: Smooth, objective: HasLikelihood, parts: Sequence[Part], route: Route, most: int) -> Solution:
    """``parts`` are random parts of the rows, each within the next; none for few rows."""
    start = problem.start
    if route == "newton":
        first, costly = 0, getattr(objective, "costly", False)
        for part in parts:
            less = problem.for_part(part.share)
            close = CLOSE_IN_FILES if costly else ROUGH
            rough = newton(part.objective, start, ridge=less.ridge, free=less.free, close=close, most=ENOUGH)
            if not _is_trusted(rough):
                continue
            start = rough.theta
            if part is parts[-1] and most > 1 and _gives_curvature(rough, objective):
                start, first = _step_by_part(replace(problem, start=start), objective, part), 1
                if problem.watch is not None:
                    problem.watch(start)
        if parts and costly and most > 1 and start is not problem.start:
            start, first = _step_with_part(replace(problem, start=start), objective, parts[-1]), 1
            if problem.watch is not None:
                problem.watch(start)
        ridge, free, left = problem.ridge, problem.free, most - first
        found = newton(
            objective,
            start,
            ridge=ridge,
            free=free,
            close=_close(problem, costly=costly),
            most=left,
            watch=problem.watch,
        )
        return replace(found, iterations=found.iterations + first) if first else found
    curved_by = Part(objective, 1.0)
    for part in parts:
        less = replace(problem.for_part(part.share), start=start)
        rough = descend(less, part.objective, Part(part.objective, 1.0), close=ROUGH, most=4 * ENOUGH)
        start = rough.theta if _is_trusted(rough) else start
        if problem.free.ndim == 2 or problem.free.size > ONCE_SIZE:
            curved_by = part
    near = start is not problem.start
    return descend(replace(problem, start=start), objective, curved_by, close=CLOSER, most=most, near=near)


def _close(problem: Smooth, *, costly: bool) -> float:
    """The gap from which on Newton's last step is taken on trust; ``costly`` are passes over a file.

    Without a penalty the deviance is reported, and the last step should change none of its digits.
    """
    if problem.digits:
        return CLOSE
    return CLOSE_IN_FILES if costly else PENALISED_CLOSE if problem.ridge.any() else CLOSE


def _gives_curvature(rough: Solution, objective: HasLikelihood) -> bool:
    """Is a part with this optimum so large that one step by its curvature comes as near as by that of all rows?

    Both leave an error of size / rows. A pass over a file costs the same with curvature or without.
    """
    enough = rough.at.rows >= TALL * rough.theta.size
    return enough and rough.theta.ndim == 1 and not getattr(objective, "costly", True)


def _step_by_part(problem: Smooth, objective: HasLikelihood, part: Part) -> Floats:
    """From the start, the optimum of ``part``, by its curvature and the gradient of all rows."""
    start, index = problem.start, np.flatnonzero(problem.free)
    some, every = part.objective.at(start, depth=CURVATURE), objective.at(start, depth=GRADIENT)
    curvature = some.hessian * (every.weight / some.weight) + np.diag(problem.ridge)
    gradient = every.gradient + problem.ridge * start
    step = solve_positive(curvature[np.ix_(index, index)], gradient[index])
    theta = start.copy()
    if 0.5 * float(gradient[index] @ step) <= NEAR * every.weight:
        theta[index] -= step
    return theta


class _Corrected:
    """The sums of a part of the rows, to which those of all rows at one theta are fitted up to the curvature."""

    def __init__(self, part: HasLikelihood, at: Floats, every: Likelihood) -> None:
        self.part, self.theta = part, at
        some = part.at(at, depth=CURVATURE)
        self.times = every.weight / some.weight
        self.loss = every.loss - self.times * some.loss
        self.gradient = every.gradient - self.times * some.gradient
        self.hessian = every.hessian - self.times * some.hessian

    def at(
        self, theta: Floats, *, depth: int = GRADIENT, along: Floats | None = None, steps: Sequence[float] = ()
    ) -> Likelihood:
        some = self.part.at(theta, depth=depth, along=along, steps=steps)

        def more(away: Floats) -> float:
            flat = away.ravel()
            return float(self.loss + self.gradient.ravel() @ flat + 0.5 * flat @ self.hessian @ flat)

        away, losses = theta - self.theta, self.times * some.losses
        if along is not None:
            losses = losses + np.array([more(away + s * along) for s in steps])
        gradient, hessian = some.gradient, some.hessian
        if depth >= GRADIENT:
            gradient = self.times * gradient + self.gradient + (self.hessian @ away.ravel()).reshape(away.shape)
        if depth >= CURVATURE:
            hessian = self.times * hessian + self.hessian
        return replace(
            some,
            loss=self.times * some.loss + more(away),
            gradient=gradient,
            hessian=hessian,
            losses=losses,
            weight=self.times * some.weight,
        )


def _step_with_part(problem: Smooth, objective: HasLikelihood, part: Part) -> Floats:
    """From the start, by gradient and curvature of all rows, and by what the part says beyond them.

    A Newton step leaves the square of its length, this one the square times the error of the part: of 200,000 rows out
    of millions one pass over a file less.
    """
    every = objective.at(problem.start, depth=CURVATURE)
    corrected = _Corrected(part.objective, problem.start, every)
    found = newton(
        corrected, problem.start, ridge=problem.ridge, free=problem.free, close=CLOSE_IN_FILES**2, most=ENOUGH
    )
    return found.theta if np.isfinite(found.theta).all() and found.value <= _value(every, problem) else problem.start


def _value(at: Likelihood, problem: Smooth) -> float:
    return at.loss + 0.5 * float(np.sum(problem.ridge * problem.start**2))


def _is_trusted(rough: Solution) -> bool:
    """A part of the rows may be separated where all of them are not; its optimum is then at infinity."""
    return rough.converged and rough.loss > SEPARATED * rough.at.weight
