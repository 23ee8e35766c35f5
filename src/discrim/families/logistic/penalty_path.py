"""The fits of one fold: a path over the penalties of a grid, from the strongest to the weakest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discrim.families.first_look import look
from discrim.families.logistic.coefficients import user_coefficients
from discrim.families.logistic.elastic_net import follower_for
from discrim.families.logistic.fit import (
    WIDE_ROWS,
    PenaltyTerms,
    Problem,
    coordinates_for,
    fit_smooth,
    offset_level,
    origin,
    ridge_for,
)
from discrim.families.logistic.newton import Solution, newton
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.logistic.rank import row_space
from discrim.families.logistic.smooth import Smooth, choose_route, minimise
from discrim.families.one_block import OneBlock
from discrim.statistics.likelihood import Likelihood
from discrim.typing import Floats


@dataclass(frozen=True)
class Step:
    """One fit: ``theta`` is [intercept, slopes] in the user's units, a row a class (one row for two classes)."""

    theta: Floats
    iterations: int
    converged: bool


def fold_path(rows: OneBlock, problem: Problem, terms: Sequence[PenaltyTerms]) -> list[Step]:
    """The fit for each penalty, in the order that they came in; all of one l1_ratio. Keeps to the calling thread.

    Every fit begins at the one before. Cost: a fit for the first penalty, then one to three passes each; with few rows
    and L2 n^2 p once for all.
    """
    order = np.argsort([-(each.lasso + each.ridge) for each in terms], kind="stable")
    penalised = [terms[i] for i in order if terms[i].name != "none"]
    found: list[Step] = []
    if penalised:
        follow = _elastic_path if penalised[0].lasso else _ridge_path
        found += follow(rows, problem, penalised)
    found += [_without_penalty(rows, problem) for each in terms if each.name == "none"]
    steps = dict(zip(order.tolist(), found, strict=True))
    return [steps[i] for i in range(len(terms))]


def _ridge_path(rows: OneBlock, problem: Problem, terms: Sequence[PenaltyTerms]) -> list[Step]:
    """One objective, whose last sums are the start of the next fit."""
    rows, coordinates, outside = _as_solved(rows, problem, terms)
    objective = Objective(rows, problem.classes, coordinates, softmax=problem.softmax)
    size = int(np.prod(objective.shape))
    # In the space of few rows a pass costs little beside the steps that it saves.
    route = problem.route or choose_route(size if coordinates is outside else size // 4)
    free = np.ones(objective.shape, dtype=bool)
    if problem.softmax and problem.intercept and route == "newton":
        # The same constant added to all classes changes nothing.
        free[0, 0] = False
    theta, at, steps = origin(objective, rows.whole), None, list[Step]()
    for each in terms:
        ridge = ridge_for(each, coordinates, objective.shape)
        if route == "newton":
            found = newton(objective, theta, ridge=ridge, free=free, at=at, most=problem.most)
            at = _at_minimum(found, ridge, free)
        else:
            found = minimise(Smooth(ridge, free, theta), objective, (), route, problem.most)
        theta = found.theta
        user = user_coefficients(theta, outside, softmax=problem.softmax, penalised=True)
        steps.append(Step(user, found.iterations, found.converged))
    return steps


def _as_solved(
    rows: OneBlock, problem: Problem, terms: Sequence[PenaltyTerms]
) -> tuple[OneBlock, Coordinates, Coordinates]:
    """Rows and coordinates for the solver, and the coordinates that make its coefficients the user's.

    They differ where rows are fewer than columns: those are turned into the space that they span.
    """
    whole = rows.whole
    if len(whole) <= min(rows.shape.width, WIDE_ROWS) and not any(each.constant for each in terms):
        outside, z = row_space(whole, intercept=problem.intercept)
        unit = Coordinates(np.zeros(z.shape[1]), np.ones(z.shape[1]), problem.intercept)
        return OneBlock(replace(whole, x=z)), unit, outside
    coordinates = coordinates_for(look(rows, len(whole)), replace(problem, penalty=terms[0]))
    return rows, coordinates, coordinates


def _at_minimum(found: Solution, ridge: Floats, free: NDArray[np.bool_]) -> Likelihood | None:
    """The sums at the minimum without a pass: the last curvature, and the gradient that balances the ridge there."""
    if not found.converged:
        return None
    gradient = np.where(free, -ridge * found.theta, found.at.gradient)
    return replace(found.at, loss=found.loss, gradient=gradient)


def _elastic_path(rows: OneBlock, problem: Problem, terms: Sequence[PenaltyTerms]) -> list[Step]:
    width = rows.shape.width
    shape = (len(problem.classes), width) if problem.softmax else (width,)
    coordinates = coordinates_for(look(rows, len(rows.whole)), problem)
    level = offset_level(rows.whole)
    constant = None if level is None else np.asarray(-level)
    follower = follower_for(rows, problem.classes, coordinates, softmax=problem.softmax, constant=constant)
    found = follower.follow((np.full(shape, each.lasso), np.full(shape, each.ridge)) for each in terms)
    return [Step(np.atleast_2d(each.theta), each.iterations, each.converged) for each in found]


def _without_penalty(rows: OneBlock, problem: Problem) -> Step:
    fit = fit_smooth(rows, replace(problem, penalty=PenaltyTerms(0.0, 0.0)))
    user = user_coefficients(fit.theta, fit.objective.coordinates, softmax=problem.softmax, penalised=False)
    return Step(user, fit.solution.iterations, fit.solution.converged)
