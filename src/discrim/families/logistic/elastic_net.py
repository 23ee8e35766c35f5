"""Elastic-net logistic regression, from lasso to ridge: one fit with L1, and paths from one penalty to the next.

``PathProblem`` is glmnet's path of lambdas; ``fold_path`` follows the penalties that a cross-validation tries.

Two routes lead to the same answer. ``coordinate-gram``, for many rows and up to some thousand coefficients: the rows
are seen through sums alone, so that they may be anywhere (``elastic_net_gram``). ``coordinate-columns``, for many
columns: the matrix is in memory, dense or sparse, and only the columns that matter are touched
(``elastic_net_columns``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from discrim.block import Block
from discrim.errors import DataError, name_list
from discrim.families.first_look import Overview, look
from discrim.families.logistic.elastic_net_columns import ColumnFollower
from discrim.families.logistic.elastic_net_gram import GAP, Fitted, GramFollower
from discrim.families.logistic.fit import (
    PenaltyTerms,
    Problem,
    SmoothFit,
    check_finite,
    choose_route,
    coordinates_for,
    fit_smooth,
    offset_constant,
    origin,
    ridge_for,
    smooth_for,
)
from discrim.families.logistic.minimise import Route, minimise
from discrim.families.logistic.objective import Coordinates, Objective, Solution, newton, penalised, user_coefficients
from discrim.families.logistic.rank import row_space
from discrim.families.recipe import Grid, Losses, OneBlock, Passes, Reduction, Shape, row_losses
from discrim.later import cached_property
from discrim.parallel import one_blas_thread
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.statistics.likelihood import Likelihood
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats

# Solves one penalty after another; before the first it is at the model without slopes.
Follower = GramFollower | ColumnFollower

GRAM, COLUMNS = GramFollower.solver, ColumnFollower.solver
# Coefficients above which their curvature is too large to be worth it, in memory and elsewhere.
MOST, MOST_OUT_OF_CORE = 1500, 4000
# As glmnet: the least l1_ratio that lambda_max is computed with, and where a grid of its own ends early.
LEAST_L1 = 1e-3
MOST_EXPLAINED, LEAST_GAIN, FEWEST = 0.999, 1e-5, 5
# The part of the largest lambda that it leaves for its own rounding, so that no slope slips through at it.
ROOM = 1e-10
# Deviations by which a mean may miss zero before it is worth a shift.
NEAR_ZERO = 0.05
# Times a power of ten near one over the variance of a column.
STRENGTHS = 10.0 ** np.arange(-3, 3)
# With a weak penalty, and up to so many coefficients, Newton's method needs less than the many steps of the other.
WEAK, NEWTON_SIZE = 10.0, 400
MOST_STEPS = 1000


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
        return ColumnFollower(rows, classes, coordinates, usable, gap=gap, constant=constant)
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


@dataclass(frozen=True)
class PathProblem:
    """Rows of ``classes``, and how large their columns count.

    A slope b_j has the penalty lambda W (l1_ratio u_j |b_j| + (1 - l1_ratio) u_j^2 b_j^2 / 2) beside the summed loss,
    with W = ``total`` weight and u_j = ``unit`` of the column: its deviation when standardised, else 1.
    """

    rows: Passes
    classes: NDArray[Any]
    moments: ClassMoments
    l1_ratio: float
    standardize: bool
    intercept: bool

    @property
    def softmax(self) -> bool:
        return len(self.classes) > 2

    @cached_property
    def _spread(self) -> tuple[Floats, Floats]:
        """Mean and deviation of the columns; 0 where a column is constant."""
        m = self.moments
        mean = grand_mean(m.weight, m.mean)
        variance = (m.scatter.sum(axis=0) + m.weight @ (m.mean - mean) ** 2) / m.total_weight
        # Rounding leaves a constant column with a deviation of some units in the last place of its value.
        floor = 1e-14 * np.abs(m.mean).max(axis=0)
        return mean, np.where(np.sqrt(variance) > floor, np.sqrt(variance), 0.0)

    @cached_property
    def unit(self) -> Floats:
        deviation = self._spread[1]
        return deviation if self.standardize else np.ones_like(deviation)

    @property
    def coordinates(self) -> Coordinates:
        """Columns about their means, in deviations; sparse ones and those without an intercept about zero.

        So are columns whose means are near zero: rows with nothing to shift are read where they are.
        """
        mean, deviation = self._spread
        mean = np.where(np.abs(mean) > NEAR_ZERO * deviation, mean, 0.0)
        whole = self.rows.whole
        fixed = not self.intercept or (whole is not None and sparse.issparse(whole.x))
        if not self.intercept:
            # Without an intercept a constant column is a column like another, unless its deviation is its unit.
            deviation = deviation if self.standardize else np.sqrt(deviation**2 + mean**2)
        return Coordinates(np.zeros_like(mean) if fixed else mean, deviation, self.intercept)

    def follower(self, *, gap: float | None = None) -> Follower:
        return follower_for(self.rows, self.classes, self.coordinates, gap=gap, constant=self._constant())

    def _constant(self) -> Floats:
        """About the intercepts of the model without slopes: exact without an offset."""
        log = np.log(self.moments.weight)
        if self.softmax:
            return np.asarray(log - log.mean())
        block = self.rows.whole
        known = 0.0 if block is None or block.offset is None else np.average(block.offset, weights=block.weight)
        return np.asarray(log[1] - log[0] - known)

    def penalty(self, lam: float) -> tuple[Floats, Floats]:
        """``lasso`` and ``ridge`` of the slopes, p or K x p."""
        lasso = lam * self.moments.total_weight * self.l1_ratio * self.unit
        ridge = lam * self.moments.total_weight * (1.0 - self.l1_ratio) * self.unit**2
        if not self.softmax:
            return lasso, ridge
        shape = (len(self.classes), len(self.unit))
        return np.broadcast_to(lasso, shape), np.broadcast_to(ridge, shape)

    def grid(self, follower: Follower, n_lambdas: int, ratio: float | None) -> Floats:
        """glmnet's lambdas: from the least one for which all slopes are zero, evenly on the log scale."""
        follower.settle()
        slopes = np.abs(follower.slopes)
        largest = np.max(slopes / np.where(self.unit > 0, self.unit, 1.0), where=self.unit > 0, initial=0.0)
        top = (1.0 + ROOM) * float(largest) / self.moments.total_weight / max(self.l1_ratio, LEAST_L1)
        if not top > 0.0:
            raise DataError(
                "Every column of X is constant, so that there is no path. Give `lambdas` to fit all the same."
            )
        rows = self.rows.shape.n_rows or int(self.moments.rows.sum())
        least = (1e-4 if rows > len(self.unit) else 1e-2) if ratio is None else ratio
        return np.asarray(top * least ** np.linspace(0.0, 1.0, n_lambdas)) if n_lambdas > 1 else np.array([top])

    def follow(self, follower: Follower, lambdas: Floats, *, early_stop: bool = False) -> list[Fitted]:
        """The minimum for each lambda in turn, from the model without slopes on."""
        null, steps = follower.loss, list[Fitted]()
        with one_blas_thread():
            for step in follower.follow(self.penalty(float(lam)) for lam in lambdas):
                steps.append(step)
                if early_stop and _enough(steps, null):
                    break
        return steps


def problem_of(rows: Passes, l1_ratio: float, *, standardize: bool, intercept: bool) -> PathProblem:
    """The problem of these rows: one pass for the moments of their columns."""
    whole, of = rows.whole, MomentsOf(Depth.DIAGONAL)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = of.of(whole) if whole is not None and sparse.issparse(whole.x) else rows.reduce(of)
    if not moments.finite:
        raise rows.fault() or DataError("The sums of squares of X overflow. Scale its columns.")
    empty = moments.classes[~(moments.weight > 0)]
    if len(empty):
        raise DataError(f"All rows of {name_list(empty)} have the weight zero. Leave these rows out.")
    if len(moments.classes) < 2:
        raise DataError(
            "logistic_path needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{name_list(moments.classes)}."
        )
    return PathProblem(rows, moments.classes, moments, l1_ratio, standardize, intercept)


def _enough(steps: list[Fitted], null: float) -> bool:
    """Where glmnet ends a grid of its own."""
    if len(steps) < FEWEST:
        return False
    last, before = (1.0 - step.loss / null for step in (steps[-1], steps[-2]))
    return last > MOST_EXPLAINED or last - before < LEAST_GAIN


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
