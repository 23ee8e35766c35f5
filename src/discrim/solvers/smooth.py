"""The smooth problem, unpenalised or with a ridge: a start from a part of the rows, then Newton or quasi-Newton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discrim.solvers.newton import CLOSE, HasLikelihood, Solution, newton
from discrim.solvers.quasi_newton import CLOSER, cholesky_inverse, quasi_newton
from discrim.statistics.likelihood import BLOCKS, CURVATURE, LOSS

Floats = NDArray[np.float64]
Route = Literal["newton", "quasi-newton"]

# Coefficients up to which a pass with curvature costs less than the passes that it saves.
NEWTON_SIZE = 160
# Coefficients up to which a part of the rows gives the curvature that a quasi-Newton solver starts from.
CURVED_SIZE = 2000
# Multiplications of a curvature that are no reason to avoid it.
CHEAP = 3e8
# Enough for a start: the sample's own error is far larger.
ROUGH = 1e-5
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

    ``flat``, like theta: with more columns than a curvature can be had of, slopes up to this, for each unit of weight,
    count as none.
    """

    ridge: Floats
    free: NDArray[np.bool_]
    start: Floats
    flat: Floats | None = None

    def for_part(self, share: float) -> Smooth:
        """The same problem for a part of the rows with this share of the weight."""
        return Smooth(self.ridge * share, self.free, self.start, self.flat)


def choose_route(size: int, rows: int | None = None) -> Route:
    """By the number of coefficients, and what a curvature of so many rows (None: unknown) costs."""
    cheap = rows is not None and size <= CURVED_SIZE and rows * size**2 <= CHEAP
    return "newton" if size <= NEWTON_SIZE or cheap else "quasi-newton"


def minimise(
    problem: Smooth, objective: HasLikelihood, sample: HasLikelihood | None, share: float, route: Route, most: int
) -> Solution:
    """``sample`` is the objective of a random part of the rows, with ``share`` of their weight; None for few rows."""
    start = problem.start
    part = problem if sample is None else problem.for_part(share)
    if route == "newton":
        if sample is not None:
            rough = newton(sample, start, ridge=part.ridge, free=part.free, close=ROUGH, most=ENOUGH)
            start = rough.theta if _is_trusted(rough) else start
        # Without a penalty standard errors are told, which belong to the point before the last step.
        close = PENALISED_CLOSE if problem.ridge.any() else CLOSE
        return newton(objective, start, ridge=problem.ridge, free=problem.free, close=close, most=most)
    if sample is not None:
        rough = _descend(part, sample, sample, 1.0, close=ROUGH, most=4 * ENOUGH)
        start = rough.theta if _is_trusted(rough) else start
    close = CLOSER if problem.free.shape[-1] <= CURVED_SIZE else WIDE_CLOSE
    return _descend(replace(problem, start=start), objective, sample or objective, share, close=close, most=most)


def _descend(
    problem: Smooth, objective: HasLikelihood, told_by: HasLikelihood, share: float, *, close: float, most: int
) -> Solution:
    """Quasi-Newton, with the curvature taken anew where many steps have left the old one behind.

    ``told_by`` are the rows that tell the curvature, with ``share`` of the weight of all.
    """
    theta, steps, turn = problem.start, 0, STEPS
    while True:
        part = Smooth(problem.ridge * share, problem.free, theta)
        found = quasi_newton(
            objective,
            theta,
            inverse=_inverse(part, told_by, share),
            ridge=problem.ridge,
            free=problem.free,
            close=close,
            flat=problem.flat if problem.free.shape[-1] > CURVED_SIZE else None,
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


def _inverse(problem: Smooth, objective: HasLikelihood, share: float) -> Callable[[Floats], Floats]:
    """The inverse curvature at the start, of all rows as this part of them tells it; class by class for K classes."""
    size = problem.free.shape[-1]
    blocks = problem.free.ndim == 2
    if size <= CURVED_SIZE:
        at = objective.at(problem.start, depth=BLOCKS if blocks else CURVATURE)
        hessians = at.hessian if blocks else at.hessian[None]
        rows = zip(hessians, np.atleast_2d(problem.ridge), np.atleast_2d(problem.free), strict=True)
        inverses = [_inverse_of(hessian, ridge, free, share) for hessian, ridge, free in rows]
        found = [inverse for inverse in inverses if inverse is not None]
        if len(found) == len(inverses):
            return _balanced(found) if blocks else found[0]
    else:
        at = objective.at(problem.start, depth=LOSS)
    # mu (1 - mu) of a row: that of classes of equal shares, and less where they are told apart.
    even = 1.0 / max(len(problem.free), 2) if blocks else 0.5
    spread = min(even * (1.0 - even) * at.weight, 2.0 * even * at.loss)
    guess = (spread + problem.ridge[problem.free]) / share
    return lambda right: right / guess


def _balanced(inverses: list[Callable[[Floats], Floats]]) -> Callable[[Floats], Floats]:
    """Class by class, within the directions that sum to zero over the classes: only there has softmax a curvature.

    All classes have the same free entries. Steps that sum to zero keep the sum of the coefficients where it is.
    """

    def apply(right: Floats) -> Floats:
        rows = right.reshape(len(inverses), -1)
        rows = rows - rows.mean(axis=0)
        rows = np.stack([inverse(row) for inverse, row in zip(inverses, rows, strict=True)])
        # Between classes of equal share the curvature is K / (K - 1) times that of each class by itself.
        return np.asarray(rows - rows.mean(axis=0)).ravel() * (1.0 - 1.0 / len(inverses))

    return apply


def _inverse_of(
    hessian: Floats, ridge: Floats, free: NDArray[np.bool_], share: float
) -> Callable[[Floats], Floats] | None:
    index = np.flatnonzero(free)
    matrix = hessian[np.ix_(index, index)]
    # A little more than the part tells: directions that it has not seen must not look free.
    matrix[np.diag_indices_from(matrix)] += ridge[index] + 1e-3 * np.diagonal(matrix)
    return cholesky_inverse(matrix / share) if len(index) else (lambda right: right)
