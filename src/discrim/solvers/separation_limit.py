"""What is left of a separated likelihood when it has gone to infinity: finite estimates of the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from discrim.engines.margins import of_length_one, softmax_vectors
from discrim.engines.objective import Coordinates, Objective, codes_in
from discrim.engines.solver_rows import solver_rows
from discrim.solvers.newton import Solution, newton
from discrim.solvers.separation import Separation, default_free, vanishes
from discrim.sources import Block
from discrim.statistics.likelihood import CURVATURE, GRADIENT, Likelihood, merge_likelihoods

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class LimitEstimates:
    """Maximum likelihood with infinity allowed.

    ``coef`` are the user's coefficients (intercept first, a row a class for softmax): infinite with the sign of
    ``infinite``, NaN where they are ``undetermined``. ``solution`` is the fit of what remains, the likelihood
    ``objective``, over the ``free`` entries of theta. Entries that are free no more are zero there, which changes no
    finite coefficient: with its row r in the map from theta to the user's coefficients, r'theta is the estimate and
    r'H^-1 r, over the free entries, its variance. ``solution.loss`` is the infimum of the loss.
    """

    coef: Floats
    infinite: NDArray[np.int8]
    undetermined: Mask
    solution: Solution
    free: Mask
    objective: Objective


def limit_estimates(
    objective: Objective, separation: Separation, *, free: Mask | None = None, start: Floats | None = None
) -> LimitEstimates:
    """The estimates along which the likelihood tends to its supremum.

    On the way to infinity a row's classes that the direction puts strictly behind its own lose all probability, so
    that the row drops out, or, with more than two classes, is a choice among those that are left. The directions of
    ``separation.span`` then change nothing any more: as many entries of theta as it has dimensions are held at zero,
    those that the span fixes best. The rest has a finite maximum. Cost: that of Newton's method.
    """
    free = default_free(objective) if free is None else free
    span = separation.span[free.ravel()]
    _, _, order = qr(span.T, mode="economic", pivoting=True)
    left = free.copy()
    left.flat[np.flatnonzero(free.ravel())[order[: span.shape[1]]]] = False
    first = np.zeros(objective.shape) if start is None else np.where(free & ~left, 0.0, start)
    limit = LimitObjective(objective, free, separation.span)
    solution = newton(limit, first, free=left)
    coef = objective.coordinates.to_user(solution.theta)
    coef = np.where(separation.infinite != 0, np.copysign(np.inf, separation.infinite), coef)
    coef = np.where(separation.undetermined, np.nan, coef)
    return LimitEstimates(coef, separation.infinite, separation.undetermined, solution, left, limit)


class LimitObjective(Objective):
    """A likelihood from which the classes of a row that are strictly behind its own are gone.

    ``span`` holds the directions of infinity, flat theta by dimensions; a class is behind where its margin vector is
    not zero on them.
    """

    def __init__(self, objective: Objective, free: Mask, span: Floats) -> None:
        super().__init__(objective.rows, objective.classes, objective.coordinates, softmax=objective.softmax)
        self.free, self.span = free, span[free.ravel()]

    def with_coordinates(self, coordinates: Coordinates) -> Objective:
        raise NotImplementedError("The directions of infinity are those of one set of coordinates.")

    def _of(self, theta: Floats, along: Floats | None, steps: Floats, depth: int, block: Block) -> Likelihood:
        level = self._level(block)
        if not self.softmax:
            weight = np.ones(len(block)) if block.weight is None else block.weight
            return super()._of(theta, along, steps, depth, replace(block, weight=np.where(level[:, 1], weight, 0.0)))
        patterns, which = np.unique(level, axis=0, return_inverse=True)
        parts = [_zero(theta, len(steps), depth)]
        for i, pattern in enumerate(patterns):
            if pattern.sum() > 1:
                rows = _taken(block, np.flatnonzero(which.ravel() == i))
                parts.append(self._among(np.flatnonzero(pattern), theta, along, steps, depth, rows))
        return merge_likelihoods(parts)

    def _level(self, block: Block) -> Mask:
        """Which classes of a row are still in the race (rows x classes); none of a row of weight zero."""
        counting = np.arange(len(block)) if block.weight is None else np.flatnonzero(block.weight > 0)
        level = np.zeros((len(block), len(self.classes)), dtype=bool)
        parts = []
        numbers = (len(self.classes) - 1) * self.free.size + 1
        for part, z in solver_rows(block, self.classes, self.coordinates, numbers):
            if not self.softmax:
                same = vanishes(of_length_one(z[:, self.free]), self.span)
                parts.append(np.column_stack([same, same]))
                continue
            still = np.ones((len(z), len(self.classes)), dtype=bool)
            # The vectors come class by class, without the rows of that class.
            still.T[np.arange(len(self.classes))[:, None] != part.codes] = vanishes(
                softmax_vectors(z, part.codes, self.free), self.span
            )
            parts.append(still)
        level[counting] = np.concatenate(parts)
        return level

    def _among(
        self, kept: NDArray[np.intp], theta: Floats, along: Floats | None, steps: Floats, depth: int, block: Block
    ) -> Likelihood:
        """The sums of rows that choose among some of the classes, in their places among all."""
        classes = self.classes[kept]
        codes = np.searchsorted(kept, codes_in(block, self.classes)).astype(np.int32)
        fewer = Objective(self.rows, classes, self.coordinates, softmax=True)
        some = None if along is None else np.ascontiguousarray(along[kept])
        sums = fewer._of(
            np.ascontiguousarray(theta[kept]), some, steps, depth, replace(block, codes=codes, classes=classes)
        )
        whole = _zero(theta, len(steps), depth)
        if depth >= GRADIENT:
            whole.gradient[kept] = sums.gradient
        if depth >= CURVATURE:
            size = theta.shape[1]
            places = (kept[:, None] * size + np.arange(size)).ravel()
            whole.hessian[np.ix_(places, places)] = sums.hessian
        return replace(sums, gradient=whole.gradient, hessian=whole.hessian)


def _zero(theta: Floats, steps: int, depth: int) -> Likelihood:
    gradient = np.zeros(theta.shape if depth >= GRADIENT else (0, 0))
    hessian = np.zeros((theta.size, theta.size) if depth >= CURVATURE else (0, 0))
    return Likelihood(0.0, gradient, hessian, np.zeros(steps), 0.0, 0)


def _taken(block: Block, index: NDArray[np.intp]) -> Block:
    extra = (None if values is None else values[index] for values in (block.weight, block.offset, block.share))
    return Block(block.x[index], block.codes[index], block.classes, *extra)
