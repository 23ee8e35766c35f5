"""One logistic fit with an L1 or elastic-net penalty."""

from __future__ import annotations

import numpy as np

from discrim.engines.objective import Objective
from discrim.engines.overview import Overview
from discrim.models.logistic.fit import Problem, SmoothFit, coordinates_for, ridge_for
from discrim.solvers.elastic_net import fit_elastic_net
from discrim.solvers.newton import Solution, penalised
from discrim.sources import Rows
from discrim.statistics.likelihood import Likelihood


def fit_sparse(rows: Rows, problem: Problem, view: Overview) -> SmoothFit:
    """The minimum of loss + lasso |beta|_1 + ridge |beta|_2^2 / 2.

    Cost: by sums a pass of n p^2 / 2 multiplications for each of three to six steps; by columns n times the columns
    that matter, and a few reads of all of them.
    """
    coordinates = coordinates_for(view, problem)
    objective = Objective(rows, problem.classes, coordinates, softmax=problem.softmax)
    width = rows.design.n_out
    shape = (len(problem.classes), width) if problem.softmax else (width,)
    found = fit_elastic_net(
        rows,
        problem.classes,
        coordinates,
        lasso=np.full(shape, problem.penalty.lasso),
        ridge=np.full(shape, problem.penalty.ridge),
        softmax=problem.softmax,
    )
    theta = coordinates.from_user(found.theta)
    ridge = ridge_for(problem.penalty, coordinates, objective.shape)
    nothing = np.zeros(0)
    at = Likelihood(found.loss, nothing, np.zeros((0, 0)), nothing, float(view.n_rows), view.n_rows)
    value = penalised(found.loss, theta, ridge) + problem.penalty.lasso * float(np.abs(found.theta[..., 1:]).sum())
    solution = Solution(theta, value, found.loss, at, found.iterations, found.converged, 0.0)
    free = np.ones(objective.shape, bool)
    return SmoothFit(objective, solution, free, ridge, np.zeros(width + 1, bool), found.solver)
