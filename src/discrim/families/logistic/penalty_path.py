"""The fits of one fold: a path over the penalties of a grid, from the strongest to the weakest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import mean_variance_axis

from discrim.block import Block
from discrim.families.first_look import look
from discrim.families.logistic.elastic_net import follower_for
from discrim.families.logistic.elastic_net_gram import Fitted
from discrim.families.logistic.fit import (
    PenaltyTerms,
    Problem,
    Route,
    choose_route,
    coordinates_for,
    fit_smooth,
    minimise,
    offset_constant,
    origin,
    ridge_for,
    smooth_for,
)
from discrim.families.logistic.objective import Coordinates, Objective, Solution, newton, user_coefficients
from discrim.families.logistic.rank import row_space
from discrim.families.recipe import Grid, Losses, OneBlock, Reduction, Shape, row_losses
from discrim.statistics.likelihood import Likelihood
from discrim.typing import Floats

# Times a power of ten near one over the variance of a column.
STRENGTHS = 10.0 ** np.arange(-3, 3)
# With a weak penalty, and up to so many coefficients, Newton's method needs less than the many steps of the other.
WEAK, NEWTON_SIZE = 10.0, 400
MOST_STEPS = 1000


def fold_path(rows: OneBlock, problem: Problem, terms: Sequence[PenaltyTerms]) -> list[Fitted]:
    """The fit for each penalty, in the order that they came in; all of one l1_ratio. Keeps to the calling thread.

    ``theta`` of a fit has a row a class (one row for two classes).

    Every fit begins at the one before. Cost: a fit for the first penalty, then one to three passes each; with few rows
    and L2 n^2 p once for all.
    """
    order = np.argsort([-(each.lasso + each.ridge) for each in terms], kind="stable")
    penalised = [terms[i] for i in order if terms[i].name != "none"]
    found: list[Fitted] = []
    if penalised:
        follow = _elastic_path if penalised[0].lasso else _ridge_path
        found += follow(rows, problem, penalised)
    found += [_without_penalty(rows, problem) for each in terms if each.name == "none"]
    steps = dict(zip(order.tolist(), found, strict=True))
    return [steps[i] for i in range(len(terms))]


def _ridge_path(rows: OneBlock, problem: Problem, terms: Sequence[PenaltyTerms]) -> list[Fitted]:
    """One objective, whose last sums are the start of the next fit."""
    problem = replace(problem, penalty=terms[0])
    rows, coordinates, outside, route = _as_solved(rows, problem, len(terms))
    objective = Objective(rows, problem.classes, coordinates, softmax=problem.softmax)
    smooth = smooth_for(objective, problem, route, origin(objective, rows.whole), np.zeros(rows.shape.width, bool))
    at, steps = None, list[Fitted]()
    for each in terms:
        smooth = replace(smooth, ridge=ridge_for(each, coordinates, objective.shape))
        if route == "newton":
            ridge, free = smooth.ridge, smooth.free
            found = newton(objective, smooth.start, ridge=ridge, free=free, at=at, most=problem.most)
            at = _at_minimum(found, ridge, free)
        else:
            found = minimise(smooth, objective, (), route, problem.most)
        smooth = replace(smooth, start=found.theta)
        user = user_coefficients(found.theta, outside, softmax=problem.softmax, penalised=True)
        steps.append(Fitted(user, found.loss, found.iterations, found.converged))
    return steps


def _as_solved(rows: OneBlock, problem: Problem, fits: int) -> tuple[OneBlock, Coordinates, Coordinates, Route]:
    """Rows and coordinates for the solver, the coordinates that make its coefficients the user's, and the way.

    They differ where rows are fewer than columns and turned into the space that they span.
    """
    whole, route = rows.whole, choose_route(rows, problem, fits)
    if route == "row-space":
        outside, z = row_space(whole, intercept=problem.intercept)
        unit = Coordinates(np.zeros(z.shape[1]), np.ones(z.shape[1]), problem.intercept)
        turned = OneBlock(replace(whole, x=z))
        return turned, unit, outside, choose_route(turned, replace(problem, solver="auto"), fits)
    coordinates = coordinates_for(look(rows, len(whole)), problem, plain=route == "limited-memory")
    return rows, coordinates, coordinates, route


def _at_minimum(found: Solution, ridge: Floats, free: NDArray[np.bool_]) -> Likelihood | None:
    """The sums at the minimum without a pass: the last curvature, and the gradient that balances the ridge there."""
    if not found.converged:
        return None
    gradient = np.where(free, -ridge * found.theta, found.at.gradient)
    return replace(found.at, loss=found.loss, gradient=gradient)


def _elastic_path(rows: OneBlock, problem: Problem, terms: Sequence[PenaltyTerms]) -> list[Fitted]:
    width = rows.shape.width
    shape = (len(problem.classes), width) if problem.softmax else (width,)
    coordinates = coordinates_for(look(rows, len(rows.whole)), problem)
    follower = follower_for(rows, problem.classes, coordinates, constant=offset_constant(rows.whole))
    found = follower.follow((np.full(shape, each.lasso), np.full(shape, each.ridge)) for each in terms)
    return [replace(each, theta=np.atleast_2d(each.theta)) for each in found]


def _without_penalty(rows: OneBlock, problem: Problem) -> Fitted:
    fit = fit_smooth(rows, replace(problem, penalty=PenaltyTerms(0.0, 0.0)))
    user = user_coefficients(fit.theta, fit.objective.coordinates, softmax=problem.softmax, penalised=False)
    return Fitted(user, fit.solution.loss, fit.solution.iterations, fit.solution.converged)


def path_scores(thetas: Floats, block: Block) -> Floats:
    """Scores of the rows by every theta (settings x K x (1 + p), K = 1 for two classes): settings x classes x rows."""
    eta = np.asarray(block.x @ thetas[..., 1:].reshape(-1, thetas.shape[-1] - 1).T).T
    eta = eta.reshape(*thetas.shape[:2], len(block)) + thetas[..., :1]
    if block.offset is not None:
        eta += block.offset
    return np.concatenate([np.zeros_like(eta), eta], axis=1) if eta.shape[1] == 1 else eta


@dataclass(frozen=True, eq=False)
class StrengthGrid(Grid):
    """Values of C, the smallest first, with the ridge alone."""

    criterion: ClassVar[Literal["error", "log loss"]] = "log loss"

    problem: Problem
    typical: float
    rows: Reduction[Block]
    size: int

    @classmethod
    def of(cls, problem: Problem, block: Block, rows: Reduction[Block]) -> StrengthGrid:
        """For rows like those of this block."""
        size = (block.x.shape[1] + 1) * (len(block.classes) if len(block.classes) > 2 else 1)
        return cls(replace(problem, most=MOST_STEPS), _typical_strength(block), rows, size)

    @property
    def settings(self) -> Sequence[Mapping[str, Any]]:
        return [self._setting(float(C)) for C in self.typical * STRENGTHS]

    @property
    def reduction(self) -> Reduction[Block]:
        return self.rows

    def losses(self, statistic: Block, shape: Shape, block: Block) -> Iterator[Losses]:  # noqa: ARG002 - as the rows
        terms = [PenaltyTerms(0.0, 1.0 / C) for C in self.typical * STRENGTHS]
        problem = replace(self.problem, penalty=terms[0], classes=statistic.classes)
        path = np.stack([step.theta for step in fold_path(OneBlock(statistic), problem, terms)])
        yield slice(0, len(path)), slice(0, len(block)), *row_losses(path_scores(path, block), block.codes)

    def _setting(self, C: float) -> Mapping[str, Any]:
        newton = WEAK * self.typical <= C and self.size <= NEWTON_SIZE
        return {"C": C, "solver": "newton" if newton else "auto", "max_iter": MOST_STEPS}


def _typical_strength(block: Block) -> float:
    """A power of ten near one over the mean variance of a column, which is 1 for columns of variance 1."""
    x = block.x
    variances = x.var(axis=0, dtype=float) if isinstance(x, np.ndarray) else mean_variance_axis(x, axis=0)[1]
    variances = variances[variances > 0]
    return float(10.0 ** -np.round(np.log10(variances.mean()))) if len(variances) else 1.0
