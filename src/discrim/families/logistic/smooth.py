"""The smooth problem, unpenalised or with a ridge: a start from a part of the rows, then Newton or quasi-Newton."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discrim.families.logistic.newton import CLOSE, HasLikelihood, Solution, newton, solve_positive
from discrim.families.logistic.quasi_newton import CLOSER, Enough, LearnedDiagonal, cholesky_inverse, quasi_newton
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, Likelihood
from discrim.typing import Floats

Route = Literal["newton", "quasi-newton"]

# Coefficients up to which every pass with curvature costs less than the passes that it saves. Up to the second number
# one of all rows does; and every one where the last is of further use.
NEWTON_SIZE, ONCE_SIZE = 64, 160
# Coefficients up to which a part of the rows gives the curvature that a quasi-Newton solver starts from.
CURVED_SIZE = 2000
# Multiplications of a curvature that are no reason to avoid it; more of them where the last one is of further use.
CHEAP, CHEAP_USED = 4e7, 3e8
# Enough for a start: the sample's own error is larger, and the last step squares this.
ROUGH = 3e-4
# Rows a coefficient of a part whose curvature is as good for the first step as that of all rows: what this leaves, a
# Newton step brings below newton.CLOSE.
TALL = 2000
# What the value may fall, for each unit of weight, by a step that nobody checks.
NEAR = 1e-2
# Newton steps after which a part of the rows that has no optimum yet is taken to be separated.
ENOUGH = 12
# As newton.CLOSE where only the coefficients are wanted: the last step squares this.
PENALISED_CLOSE = 1e-9
# As newton.CLOSE for so many columns that no curvature helps: each further digit takes as many passes as the last.
WIDE_CLOSE = 1e-8
# Quasi-Newton steps after which the curvature is looked at again.
STEPS = 20
# Loss of a row, on the average, below which the part tells more of itself than of the others.
SEPARATED = 1e-4


@dataclass(frozen=True)
class Smooth:
    """Minimise loss + sum ridge theta^2 / 2 over the ``free`` entries, from ``start``.

    For more columns than a curvature can be had of: slopes up to ``flat``, like theta, for each unit of weight, count
    as none; ``squares`` are the mean squares of the columns, intercept included, by which each bends the loss, where
    they differ. ``watch`` is called with theta after every step on all rows.
    """

    ridge: Floats
    free: NDArray[np.bool_]
    start: Floats
    flat: Floats | None = None
    squares: Floats | float = 1.0
    watch: Callable[[Floats], None] | None = None

    def for_part(self, share: float) -> Smooth:
        """The same problem for a part of the rows with this share of the weight."""
        return replace(self, ridge=self.ridge * share, watch=None)


@dataclass(frozen=True)
class Part:
    """The objective of some rows, with this ``share`` of the weight of all."""

    objective: HasLikelihood
    share: float


def choose_route(size: int, rows: int | None = None, *, used: bool = True) -> Route:
    """By the number of coefficients, and what a curvature of so many rows (None: unknown) costs.

    ``used``: the last curvature serves further, for standard errors or for the next penalty of a path.
    """
    few, cheap = (ONCE_SIZE, CHEAP_USED) if used else (NEWTON_SIZE, CHEAP)
    affordable = rows is not None and size <= CURVED_SIZE and rows * size**2 <= cheap
    return "newton" if size <= few or affordable else "quasi-newton"


def minimise(problem: Smooth, objective: HasLikelihood, parts: Sequence[Part], route: Route, most: int) -> Solution:
    """``parts`` are random parts of the rows, each within the next; none for few rows."""
    start = problem.start
    if route == "newton":
        first = 0
        for part in parts:
            less = problem.for_part(part.share)
            rough = newton(part.objective, start, ridge=less.ridge, free=less.free, close=ROUGH, most=ENOUGH)
            if not _is_trusted(rough):
                continue
            start = rough.theta
            if part is parts[-1] and most > 1 and _tells_curvature(rough, objective):
                start, first = _step_by_part(replace(problem, start=start), objective, part), 1
                if problem.watch is not None:
                    problem.watch(start)
        # Without a penalty the deviance is reported, and the last step should change none of its digits.
        close = PENALISED_CLOSE if problem.ridge.any() else CLOSE
        found = newton(
            objective,
            start,
            ridge=problem.ridge,
            free=problem.free,
            close=close,
            most=most - first,
            watch=problem.watch,
        )
        return replace(found, iterations=found.iterations + first)
    told_by = Part(objective, 1.0)
    for part in parts:
        less = replace(problem.for_part(part.share), start=start)
        rough = _descend(less, part.objective, Part(part.objective, 1.0), close=ROUGH, most=4 * ENOUGH)
        start = rough.theta if _is_trusted(rough) else start
        if problem.free.ndim == 2 or problem.free.size > ONCE_SIZE:
            told_by = part
    close = CLOSER if problem.free.shape[-1] <= CURVED_SIZE else WIDE_CLOSE
    return _descend(replace(problem, start=start), objective, told_by, close=close, most=most)


def _tells_curvature(rough: Solution, objective: HasLikelihood) -> bool:
    """Is a part with this optimum so large that one step by its curvature comes as near as by that of all rows?

    Both leave an error of size / rows. A pass over a file costs the same with curvature or without.
    """
    theta = rough.theta
    return theta.ndim == 1 and rough.at.rows >= TALL * theta.size and not getattr(objective, "costly", True)


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


def _descend(problem: Smooth, objective: HasLikelihood, told_by: Part, *, close: float, most: int) -> Solution:
    """Quasi-Newton, with the curvature taken anew where many steps have left the old one behind.

    ``told_by`` are the rows that tell the curvature.
    """
    theta, steps, turn = problem.start, 0, STEPS
    while True:
        inverse, sums = _inverse(replace(problem.for_part(told_by.share), start=theta), told_by)
        found = quasi_newton(
            objective,
            theta,
            inverse=inverse,
            ridge=problem.ridge,
            free=problem.free,
            at=sums if told_by.objective is objective else None,
            enough=Enough(close, problem.flat if problem.free.shape[-1] > CURVED_SIZE else None, problem.watch),
            most=min(most - steps, turn),
        )
        steps += found.iterations
        if found.converged or steps >= most or not found.iterations:
            return replace(found, iterations=steps)
        theta = found.theta
        if problem.free.shape[-1] > CURVED_SIZE:
            # Without a curvature it is what the steps remember that counts: they are left more and more to themselves.
            turn *= 2


def _is_trusted(rough: Solution) -> bool:
    """A part of the rows may be separated where all of them are not; its optimum is then at infinity."""
    return rough.converged and rough.loss > SEPARATED * rough.at.weight


def _inverse(problem: Smooth, told_by: Part) -> tuple[Callable[[Floats], Floats], Likelihood]:
    """The inverse curvature at the start, of all rows as this part of them tells it; class by class for K classes.

    With the sums that the part has there.
    """
    size, share = problem.free.shape[-1], told_by.share
    blocks = problem.free.ndim == 2
    if size <= CURVED_SIZE:
        at = told_by.objective.at(problem.start, depth=BLOCKS if blocks else CURVATURE)
        hessians = at.hessian if blocks else at.hessian[None]
        rows = zip(hessians, np.atleast_2d(problem.ridge), np.atleast_2d(problem.free), strict=True)
        inverses = [_inverse_of(hessian, ridge, free, share) for hessian, ridge, free in rows]
        found = [inverse for inverse in inverses if inverse is not None]
        if len(found) == len(inverses):
            return _balanced(found) if blocks else found[0], at
    else:
        at = told_by.objective.at(problem.start, depth=GRADIENT)
    # mu (1 - mu) of a row: that of classes of equal shares, and less where they are told apart.
    even = 1.0 / max(len(problem.free), 2) if blocks else 0.5
    spread = min(even * (1.0 - even) * at.weight, 2.0 * even * at.loss)
    guess = ((spread * problem.squares + problem.ridge) / share)[problem.free]
    if isinstance(problem.squares, np.ndarray) and problem.ridge.any():
        ridge = np.where(problem.ridge > 0, problem.ridge, problem.ridge.max())
        return LearnedDiagonal((ridge / share)[problem.free], guess), at
    return lambda right: right / guess, at


def _balanced(inverses: list[Callable[[Floats], Floats]]) -> Callable[[Floats], Floats]:
    """Class by class, within the directions that sum to zero over the classes: only there has softmax a curvature.

    All classes have the same free entries. Steps that sum to zero keep the sum of the coefficients where it is.
    """
    share = np.full(len(inverses), 1.0 / len(inverses))

    def apply(right: Floats) -> Floats:
        rows = right.reshape(len(inverses), -1)
        rows = rows - share @ rows
        for k, inverse in enumerate(inverses):
            rows[k] = inverse(rows[k])
        # Between classes of equal share the curvature is K / (K - 1) times that of each class by itself.
        return np.asarray((rows - share @ rows).ravel() * (1.0 - share[0]))

    return apply


def _inverse_of(
    hessian: Floats, ridge: Floats, free: NDArray[np.bool_], share: float
) -> Callable[[Floats], Floats] | None:
    index = np.flatnonzero(free)
    matrix = hessian[np.ix_(index, index)]
    # A little more than a part tells: directions that it has not seen must not look free.
    unseen = 1e-3 if share < 1.0 else 1e-9
    matrix[np.diag_indices_from(matrix)] += ridge[index] + unseen * np.diagonal(matrix)
    return cholesky_inverse(matrix / share) if len(index) else (lambda right: right)
