"""L1 and elastic-net logistic regression: one fit, and the choice between two routes to the same answer.

``coordinate-gram``, for many rows and up to some thousand coefficients: the rows are seen through sums alone, so
that they may be anywhere (``elastic_net_gram``). ``coordinate-columns``, for many columns: the matrix is in memory,
dense or sparse, and only the columns that matter are touched (``elastic_net_columns``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.families.first_look import Overview
from discrim.families.logistic.elastic_net_columns import ColumnFollower
from discrim.families.logistic.elastic_net_gram import GAP, Fitted, GramFollower
from discrim.families.logistic.fit import (
    Problem,
    SmoothFit,
    check_finite,
    coordinates_for,
    offset_constant,
    ridge_for,
)
from discrim.families.logistic.objective import Coordinates, Objective, Solution, penalised
from discrim.families.recipe import Passes
from discrim.statistics.likelihood import Likelihood
from discrim.typing import Floats

# Solves one penalty after another; before the first it is at the model without slopes.
Follower = GramFollower | ColumnFollower

GRAM, COLUMNS = GramFollower.solver, ColumnFollower.solver
# Coefficients above which their curvature is too large to be worth it, in memory and elsewhere.
MOST, MOST_OUT_OF_CORE = 1500, 4000


def fit_sparse(rows: Passes, problem: Problem, view: Overview) -> SmoothFit:
    """The minimum of loss + lasso |beta|_1 + ridge |beta|_2^2 / 2.

    Cost: by sums a pass of n p^2 / 2 multiplications for each of three to six steps; by columns n times the columns
    that matter, and a few reads of all of them.
    """
    check_finite(rows, view)
    coordinates, penalty = coordinates_for(view, problem), problem.penalty
    width = rows.shape.width
    if problem.intercept and penalty.constant_lasso:
        follower, found = _with_penalised_intercept(rows, problem, coordinates, offset_constant(view.sample))
        # Columns about zero: a shift there and back would leave some rounding of an intercept that is exactly zero.
        coordinates = replace(coordinates, shift=np.zeros(width))
    else:
        shape = (len(problem.classes), width) if problem.softmax else (width,)
        follower = follower_for(rows, problem.classes, coordinates, constant=offset_constant(view.sample))
        found = follower.solve(np.full(shape, penalty.lasso), np.full(shape, penalty.ridge), problem.most)
    objective = Objective(rows, problem.classes, coordinates, softmax=problem.softmax)
    theta = coordinates.from_user(found.theta)
    ridge = ridge_for(penalty, coordinates, objective.shape)
    at = Likelihood(found.loss, np.zeros(0), np.zeros((0, 0)), np.zeros(0), float(view.n_rows), view.n_rows)
    sizes = np.abs(found.theta.reshape(-1, width + 1)).sum(axis=0)
    value = penalised(found.loss, theta, ridge) + penalty.lasso * sizes[1:].sum() + penalty.constant_lasso * sizes[0]
    solution = Solution(theta, float(value), found.loss, at, found.iterations, found.converged, 0.0)
    free = np.ones(objective.shape, bool)
    return SmoothFit(problem, objective, solution, free, ridge, np.zeros(width + 1, bool), follower.solver)


def _with_penalised_intercept(
    rows: Passes, problem: Problem, coordinates: Coordinates, constant: Floats | None
) -> tuple[Follower, Fitted]:
    """The intercept is the slope of one more column, of ones, in a model without an intercept (two classes)."""
    block = rows.whole if rows.whole is not None else rows.block()
    one: Any = np.ones((len(block), 1), dtype=block.x.dtype)
    x = np.hstack([block.x, one]) if isinstance(block.x, np.ndarray) else sparse.hstack([block.x, one], format="csr")
    width, penalty = rows.shape.width, problem.penalty
    scale = np.append(np.sqrt(coordinates.scale**2 + coordinates.shift**2), 1.0)
    inner = Coordinates(np.zeros(width + 1), scale, intercept=False)
    follower = follower_for(rows.over(replace(block, x=x)), problem.classes, inner, constant=constant)
    lasso = np.append(np.full(width, penalty.lasso), penalty.constant_lasso)
    ridge = np.append(np.full(width, penalty.ridge), penalty.constant)
    found = follower.solve(lasso, ridge, problem.most)
    return follower, replace(found, theta=np.append(found.theta[-1], found.theta[1:-1]))


def follower_for(
    rows: Passes,
    classes: NDArray[Any],
    coordinates: Coordinates,
    *,
    gap: float | None = None,
    route: str | None = None,
    constant: Floats | None = None,
) -> Follower:
    """A follower of the route that suits the shape of the rows, or of the one that is asked for.

    ``coordinates`` say where the columns lie and how large they are (shift zero for sparse rows), and whether there
    is an intercept; they decide about speed, not about the answer. A column of scale 0 keeps the coefficient 0.
    ``constant`` is a guess of the intercept (one a class for softmax) without slopes, which saves passes; where offsets
    are far from zero, the rows show nothing without it.
    """
    softmax, usable = len(classes) > 2, coordinates.scale > 0
    coordinates = replace(coordinates, scale=np.where(usable, coordinates.scale, 1.0))
    if (route or route_for(rows, len(classes) if softmax else 1)) == COLUMNS:
        return ColumnFollower(rows, classes, coordinates, usable, softmax=softmax, gap=gap, constant=constant)
    objective = Objective(rows, classes, coordinates, softmax=softmax)
    free, start, intercept = np.ones(objective.shape, dtype=bool), np.zeros(objective.shape), coordinates.intercept
    free[..., int(intercept) :] = usable
    if softmax and intercept:
        # The same constant added to all classes changes nothing.
        free[-1, 0] = False
    if constant is not None and intercept:
        start[..., 0] = constant
    follower = GramFollower(objective, start, free=free, gap=GAP if gap is None else gap)
    follower.solve_constants()
    return follower


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
