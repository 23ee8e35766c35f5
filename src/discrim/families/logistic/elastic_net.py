"""L1 and elastic-net logistic regression: the way in.

Two routes, one answer; all penalties and coefficients here are in the user's units.

``coordinate-gram``, for many rows and up to some thousand coefficients: the rows are seen through sums alone, so
that they may be anywhere (``elastic_net_gram``). ``coordinate-columns``, for many columns: the matrix is in memory,
dense or sparse, and only the columns that matter are touched (``elastic_net_columns``, ``elastic_net_working``).

``fit_elastic_net(rows, classes, coordinates, lasso=, ridge=)`` chooses and solves one problem;
``follower_for(...)`` chooses and gives a ``Follower``, whose ``solve`` takes one penalty after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block, join
from discrim.families.logistic.elastic_net_batch import MOST as MOST_TOGETHER
from discrim.families.logistic.elastic_net_batch import follow_together
from discrim.families.logistic.elastic_net_columns import columns_of
from discrim.families.logistic.elastic_net_gram import GAP, STEPS, GramFollower, Penalty
from discrim.families.logistic.elastic_net_working import ColumnFollower, Response
from discrim.families.logistic.newton import Solution
from discrim.families.logistic.objective import Coordinates, Objective, codes_in
from discrim.families.recipe import OneBlock, Passes
from discrim.typing import Floats

GRAM, COLUMNS = "coordinate-gram", "coordinate-columns"
# Coefficients above which their curvature is too large to be worth it, in memory and elsewhere.
MOST, MOST_OUT_OF_CORE = 1500, 4000
# More than any gradient: a coefficient with this penalty is zero.
PROHIBITIVE = 1e200
# How often the intercepts without slopes are sought: each time squares what is left.
SETTLING = 4


@dataclass(frozen=True)
class Fitted:
    """``theta`` [intercept, slopes] in the user's units (K such rows for softmax), the loss there, and how it came."""

    theta: Floats
    loss: float
    iterations: int
    converged: bool
    solver: str


class Follower(Protocol):
    """Solves one penalty after another; before the first it is at the model without slopes.

    ``slopes`` is minus the gradient of the loss for the user's slopes, p or K x p; ``loss`` belongs to the same point.
    """

    solver: str

    @property
    def passes(self) -> int: ...

    @property
    def slopes(self) -> Floats: ...

    @property
    def loss(self) -> float: ...

    def settle(self) -> None:
        """Before the first penalty: know the slopes to rounding, as whoever takes the largest lambda from them must."""

    def solve(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> Fitted:
        """The minimum of loss + sum lasso |b| + sum ridge b^2 / 2 over slopes b (p, or K x p) and a free intercept.

        After ``most`` steps it ends where it is.
        """

    def follow(self, penalties: Iterable[tuple[Floats, Floats]]) -> Iterator[Fitted]:
        """The minima for these falling penalties, one after another."""


def fit_elastic_net(
    rows: Passes,
    classes: NDArray[Any],
    coordinates: Coordinates,
    *,
    lasso: Floats,
    ridge: Floats,
    softmax: bool = False,
    gap: float | None = None,
    route: str | None = None,
) -> Fitted:
    """The minimum of loss + sum lasso |b| + sum ridge b^2 / 2; ``lasso`` and ``ridge`` are like the slopes b.

    ``coordinates`` say where the columns lie and how large they are (shift zero for sparse rows), and whether there
    is an intercept; they decide about speed, not about the answer. A column of scale 0 keeps the coefficient 0.
    """
    return follower_for(rows, classes, coordinates, softmax=softmax, gap=gap, route=route).solve(lasso, ridge)


def follower_for(
    rows: Passes,
    classes: NDArray[Any],
    coordinates: Coordinates,
    *,
    softmax: bool = False,
    gap: float | None = None,
    route: str | None = None,
    constant: Floats | None = None,
) -> Follower:
    """A follower of the route that suits the shape of the rows, or of the one that is asked for.

    ``constant`` is a guess of the intercept (one a class for softmax) without slopes, which saves passes; where offsets
    are far from zero, the rows tell nothing without it.
    """
    if route is None:
        route = route_for(rows, len(classes) if softmax else 1)
    if route == COLUMNS:
        return _Columns(rows, classes, coordinates, softmax=softmax, gap=gap, constant=constant)
    objective = Objective(rows, classes, _usable(coordinates), softmax=softmax)
    return _Gram(objective, coordinates.scale > 0, gap, constant)


def route_for(rows: Passes, classes: int) -> str:
    """Sums where there are many more rows than columns, columns elsewhere."""
    p, n = rows.shape.width, rows.shape.n_rows
    size = classes * (p + 1)
    if n is None:
        return GRAM if size <= MOST_OUT_OF_CORE else COLUMNS
    whole = rows.whole
    if whole is not None and sparse.issparse(whole.x) and p > 300:
        return COLUMNS
    return GRAM if size <= MOST and n >= 2 * p else COLUMNS


class _Gram:
    """The follower on sums, in the user's units."""

    solver = GRAM

    def __init__(
        self, objective: Objective, usable: NDArray[np.bool_], gap: float | None, constant: Floats | None
    ) -> None:
        self.objective, self.coordinates, self._usable = objective, objective.coordinates, usable
        shape, intercept = objective.shape, self.coordinates.intercept
        free = np.ones(shape, dtype=bool)
        free[..., int(intercept) :] = usable
        if objective.softmax and intercept:
            # The same constant added to all classes changes nothing.
            free[-1, 0] = False
        start = np.zeros(shape)
        if constant is not None and intercept:
            start[..., 0] = constant
        self._inner = GramFollower(objective, start, free=free, gap=GAP if gap is None else gap)
        if intercept and self._off > 1e-12 * self._inner.weight:
            self._solve_constants()

    @property
    def _off(self) -> float:
        """The largest gradient of an intercept."""
        return float(np.abs(self._inner.gradient.reshape(self.objective.shape)[..., 0]).max())

    def _solve_constants(self) -> None:
        slopes = (*self.objective.shape[:-1], len(self._usable))
        self.solve(np.full(slopes, PROHIBITIVE), np.zeros(slopes))

    def settle(self) -> None:
        for _ in range(SETTLING):
            if not self.coordinates.intercept or self._off <= 1e-12 * self._inner.weight:
                return
            self._solve_constants()
            self._inner.arrive()

    @property
    def passes(self) -> int:
        return self.objective.passes

    @property
    def loss(self) -> float:
        return float(self._inner.loss)

    @property
    def slopes(self) -> Floats:
        gradient = self._inner.gradient.reshape(self.objective.shape)
        inner = gradient[..., 1:] if self.coordinates.intercept else gradient
        return np.where(self._usable, -inner * self.coordinates.scale, 0.0)

    def solve(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> Fitted:
        return self._told(self._inner.solve(self._inside(lasso, 1), self._inside(ridge, 2), most))

    def follow(self, penalties: Iterable[tuple[Floats, Floats]]) -> Iterator[Fitted]:
        lassos, ridges = (np.stack(values) for values in zip(*penalties, strict=True))
        inside = zip(self._inside(lassos, 1), self._inside(ridges, 2), strict=True)
        left = [Penalty(lasso.ravel(), ridge.ravel()) for lasso, ridge in inside]
        together = self.objective.together and self._inner.answer.size <= MOST_TOGETHER
        while left:
            if together and len(left) > 1:
                for found in follow_together(self._inner, tuple(left)):
                    del left[: len(found.losses)]
                    thetas = self.coordinates.to_user(found.thetas)
                    for theta, loss, passes in zip(thetas, found.losses, found.iterations, strict=True):
                        yield Fitted(theta, loss, passes, True, GRAM)
            if left:
                first = left.pop(0)
                yield self._told(self._inner.solve(first.lasso, first.ridge))

    def _told(self, found: Solution) -> Fitted:
        theta = self.coordinates.to_user(found.theta)
        if theta.ndim == 2 and self.coordinates.intercept:
            theta[:, 0] -= theta[:, 0].mean()
        return Fitted(theta, found.loss, found.iterations, found.converged, GRAM)

    def _inside(self, values: Floats, power: int) -> Floats:
        """A penalty of the solver's coefficients, which are the user's times the scale."""
        inner = values / self.coordinates.scale**power
        constant = np.zeros((*inner.shape[:-1], int(self.coordinates.intercept)))
        return np.concatenate([constant, inner], axis=-1)


class _Columns:
    """The follower on columns, in the user's units."""

    solver = COLUMNS

    def __init__(
        self,
        rows: Passes,
        classes: NDArray[Any],
        coordinates: Coordinates,
        *,
        softmax: bool,
        gap: float | None,
        constant: Floats | None,
    ) -> None:
        block, alone = _whole(rows, classes), isinstance(rows, OneBlock)
        self.intercept, self._usable = coordinates.intercept, coordinates.scale > 0
        self._columns = columns_of(block.x, _usable(coordinates), alone=alone)
        response = Response(_shares(block, classes, softmax=softmax), block.weight, block.offset)
        self._inner = ColumnFollower(self._columns, response, intercept=self.intercept, gap=gap, constant=constant)

    @property
    def passes(self) -> int:
        return self._inner.passes

    @property
    def loss(self) -> float:
        return self._inner.loss

    @property
    def slopes(self) -> Floats:
        slopes = np.where(self._usable, self._inner.slopes * self._columns.scale, 0.0)
        return slopes if self._inner.softmax else slopes[0]

    def settle(self) -> None:
        """The constant is profiled out: it is at its minimum already."""

    def solve(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> Fitted:
        scale, before = self._columns.scale, self._inner.passes
        barred = np.atleast_2d(lasso) / scale
        barred[:, ~self._usable] = PROHIBITIVE
        converged = self._inner.solve(barred, np.atleast_2d(ridge) / scale**2, most)
        theta = self._columns.to_user(self._inner.constant, self._inner.theta)
        if theta.shape[0] > 1 and self.intercept:
            theta[:, 0] -= theta[:, 0].mean()
        found = theta if self._inner.softmax else theta[0]
        return Fitted(found, self._inner.loss, min(self._inner.passes - before, most), converged, COLUMNS)

    def follow(self, penalties: Iterable[tuple[Floats, Floats]]) -> Iterator[Fitted]:
        return (self.solve(lasso, ridge) for lasso, ridge in penalties)


def _usable(coordinates: Coordinates) -> Coordinates:
    """A column of scale 0 is as it is; whoever solves keeps its coefficient 0."""
    return Coordinates(
        coordinates.shift, np.where(coordinates.scale > 0, coordinates.scale, 1.0), coordinates.intercept
    )


def _shares(block: Block, classes: NDArray[Any], *, softmax: bool) -> Floats:
    codes = codes_in(block, classes)
    if softmax:
        return np.asarray(codes == np.arange(len(classes))[:, None], dtype=float)
    return np.ascontiguousarray(((codes == 1).astype(float) if block.share is None else block.share)[None])


def _whole(rows: Passes, classes: NDArray[Any]) -> Block:
    """All rows as one block."""
    if rows.whole is not None:
        return rows.whole
    block = join(list(rows.blocks()))
    return replace(block, codes=codes_in(block, classes), classes=classes)
