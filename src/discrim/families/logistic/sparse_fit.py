"""One logistic fit with an L1 or elastic-net penalty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from discrim.families.first_look import Overview
from discrim.families.logistic.elastic_net import Fitted, follower_for
from discrim.families.logistic.fit import Problem, SmoothFit, check_finite, coordinates_for, offset_level, ridge_for
from discrim.families.logistic.newton import Solution, penalised
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.recipe import Passes
from discrim.statistics.likelihood import Likelihood
from discrim.typing import Floats


def fit_sparse(rows: Passes, problem: Problem, view: Overview) -> SmoothFit:
    """The minimum of loss + lasso |beta|_1 + ridge |beta|_2^2 / 2.

    Cost: by sums a pass of n p^2 / 2 multiplications for each of three to six steps; by columns n times the columns
    that matter, and a few reads of all of them.
    """
    check_finite(rows, view)
    coordinates, penalty = coordinates_for(view, problem), problem.penalty
    width = rows.shape.width
    if problem.intercept and penalty.constant_lasso:
        found = _with_penalised_intercept(rows, problem, coordinates, offset_level(view.sample))
        # Columns about zero: a shift there and back would leave some rounding of an intercept that is exactly zero.
        coordinates = replace(coordinates, shift=np.zeros(width))
    else:
        shape = (len(problem.classes), width) if problem.softmax else (width,)
        penalties = np.full(shape, penalty.lasso), np.full(shape, penalty.ridge)
        found = _fit(rows, problem, coordinates, offset_level(view.sample), *penalties)
    objective = Objective(rows, problem.classes, coordinates, softmax=problem.softmax)
    theta = coordinates.from_user(found.theta)
    ridge = ridge_for(penalty, coordinates, objective.shape)
    nothing = np.zeros(0)
    at = Likelihood(found.loss, nothing, np.zeros((0, 0)), nothing, float(view.n_rows), view.n_rows)
    sizes = np.abs(found.theta.reshape(-1, width + 1)).sum(axis=0)
    value = penalised(found.loss, theta, ridge) + penalty.lasso * sizes[1:].sum() + penalty.constant_lasso * sizes[0]
    solution = Solution(theta, float(value), found.loss, at, found.iterations, found.converged, 0.0)
    free = np.ones(objective.shape, bool)
    return SmoothFit(problem, objective, solution, free, ridge, np.zeros(width + 1, bool), found.solver)


def _fit(
    rows: Passes, problem: Problem, coordinates: Coordinates, level: float | None, lasso: Floats, ridge: Floats
) -> Fitted:
    """``level`` is where the offsets lie, if there are any."""
    constant = None if level is None else np.asarray(-level)
    follower = follower_for(rows, problem.classes, coordinates, softmax=problem.softmax, constant=constant)
    return follower.solve(lasso, ridge, problem.most)


def _with_penalised_intercept(rows: Passes, problem: Problem, coordinates: Coordinates, level: float | None) -> Fitted:
    """The intercept is the slope of one more column, of ones, in a model without an intercept (two classes)."""
    block = rows.whole if rows.whole is not None else rows.block()
    one: Any = np.ones((len(block), 1), dtype=block.x.dtype)
    x = np.hstack([block.x, one]) if isinstance(block.x, np.ndarray) else sparse.hstack([block.x, one], format="csr")
    width, penalty = rows.shape.width, problem.penalty
    scale = np.append(np.sqrt(coordinates.scale**2 + coordinates.shift**2), 1.0)
    found = _fit(
        rows.over(replace(block, x=x)),
        problem,
        Coordinates(np.zeros(width + 1), scale, intercept=False),
        level,
        np.append(np.full(width, penalty.lasso), penalty.constant_lasso),
        np.append(np.full(width, penalty.ridge), penalty.constant),
    )
    return replace(found, theta=np.append(found.theta[-1], found.theta[1:-1]))
