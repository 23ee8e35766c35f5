"""One smooth logistic fit: coordinates, a start, the route, dependent columns, separation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.errors import DataError
from discrim.families.first_look import Overview, look
from discrim.families.logistic.elastic_net import Fitted, follower_for
from discrim.families.logistic.firth import firth
from discrim.families.logistic.newton import Solution, newton, penalised
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.logistic.rank import column_rank, looks_independent, row_space
from discrim.families.logistic.separation import Separation, find_separation, may_be_separated, no_separation
from discrim.families.logistic.smooth import CURVED_SIZE, Part, Route, Smooth, choose_route, minimise
from discrim.families.recipe import Passes
from discrim.parallel import one_blas_thread
from discrim.statistics.likelihood import BLOCKS, CURVATURE, Likelihood
from discrim.typing import Floats, Mask

# A part of the rows is worth fitting first where there are this many numbers of X.
START_NUMBERS = 400_000
# Fewer rows than columns, and at most so many: the fit is done in the space of the rows.
WIDE_ROWS = 2000
# Rows a column that tell the curvature well enough to start from.
A_COLUMN = 12
# Numbers whose squares, summed over many columns, are still finite.
HUGE = 1e150
# Coefficients whose curvature is still worth having for standard errors and the proof that classes overlap.
MOST_CURVED = 4000


# Is called with theta and its coordinates after every step.
Watch = Callable[[Floats, Coordinates], None]
# Solvers that name a route; the others leave the choice.
ROUTES: dict[str, Route] = {
    "newton": "newton",
    "newton-cholesky": "newton",
    "quasi-newton": "quasi-newton",
}


@dataclass(frozen=True)
class PenaltyTerms:
    """lasso |beta|_1 + ridge |beta|_2^2 / 2.

    ``constant`` is the ridge and ``constant_lasso`` the lasso on the intercept, which only liblinear has.
    """

    lasso: float
    ridge: float
    constant: float = 0.0
    constant_lasso: float = 0.0

    @property
    def name(self) -> str:
        if self.lasso and self.ridge:
            return "elasticnet"
        return "l1" if self.lasso else "l2" if self.ridge else "none"


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be fitted. ``start`` is in the user's units, or None; ``solver`` may leave the choice.

    ``watch`` is called with theta and its coordinates after every step on all rows. ``classes`` are those of the rows,
    as soon as they are known.
    """

    penalty: PenaltyTerms
    intercept: bool = True
    most: int = 100
    tol: float = 0.0
    solver: str = "auto"
    firth: bool = False
    aliased: Literal["drop", "minimum-norm"] = "drop"
    start: Floats | None = None
    watch: Watch | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.zeros(0))

    @property
    def softmax(self) -> bool:
        return len(self.classes) > 2

    @property
    def route(self) -> Route | None:
        return ROUTES.get(self.solver)


@dataclass(frozen=True)
class SmoothFit:
    """``solution`` of ``objective`` over ``free``; ``aliased`` (1 + p) marks coefficients that are not determined.

    ``empty`` are the places of classes without weight. ``separation`` is None where nobody had to look. Where the
    classes are separated, the solver stopped on its way to infinity, when the likelihood had come as close to its
    supremum as to any other optimum.
    """

    problem: Problem
    objective: Objective
    solution: Solution
    free: Mask
    ridge: Floats
    aliased: Mask
    solver: str
    separation: Separation | None = None
    class_weights: Floats | None = None
    offset: bool = False
    empty: Sequence[int] = ()

    @property
    def theta(self) -> Floats:
        """For prediction."""
        return self.solution.theta


def fit_smooth(rows: Passes, problem: Problem, view: Overview | None = None) -> SmoothFit:
    """Maximum likelihood, or its L2-penalised or Firth's form.

    Cost: Newton three or four passes of n p^2 / 2 multiplications (K^2 times for K classes), quasi-Newton ten to
    thirty of 2 n p K; fewer rows than columns with L2: n^2 p.
    """
    shape, whole = rows.shape, rows.whole
    width = shape.width
    if whole is not None and fits_row_space(rows, problem):
        return _fit_wide(rows, whole, problem)
    size = (width + 1) * (len(problem.classes) if problem.softmax else 1)
    route = problem.route or choose_route(size, shape.n_rows, used=problem.penalty.name == "none" or whole is None)
    if view is None:
        view = look(rows, sample_rows(rows, size, route, softmax=problem.softmax))
    check_finite(rows, view)
    objective = Objective(rows, problem.classes, coordinates_for(view, problem), softmax=problem.softmax)
    views = _nested(view, objective)
    if problem.penalty.ridge or problem.penalty.constant:
        return _solve(objective, views, problem, route, np.zeros(width, bool))
    objective, aliased = _without_dependence(objective, views, problem)
    fit = _solve(objective, views, problem, route, aliased)
    return fit if problem.firth else _look_for_separation(fit)


def fits_row_space(rows: Passes, problem: Problem) -> bool:
    """Fewer rows than columns and a ridge alone: the slopes lie in the space that the rows span."""
    plain_ridge = problem.penalty.name == "l2" and not problem.penalty.constant
    return plain_ridge and rows.whole is not None and len(rows.whole) <= min(rows.shape.width, WIDE_ROWS)


def check_finite(rows: Passes, view: Overview) -> None:
    """The error that names the columns with NaN or infinity, where the first look met them."""
    # A mean that is not finite leaves no finite deviation from it.
    if not np.isfinite(view.deviation).all():
        raise rows.fault() or DataError("The squares of X overflow. Scale the columns.")


def sample_rows(rows: Passes, size: int, route: Route, *, softmax: bool) -> int:
    """Enough rows that one Newton step from their optimum lands close; all rows where they are few."""
    shape = rows.shape
    n = shape.n_rows if shape.n_rows is not None else 2_000_000
    if n * shape.width < START_NUMBERS:
        return n
    if route == "newton":
        return max(n // (8 if size > 64 else 16), 15 * size)
    return max(n // 25, A_COLUMN * (4 if softmax else 1) * shape.width)


def coordinates_for(view: Overview, problem: Problem) -> Coordinates:
    """Centred and scaled columns; only scaled where they are sparse or the intercept is missing or penalised."""
    mean, deviation = np.where(np.isfinite(view.mean), view.mean, 0.0), view.deviation
    is_sparse = sparse.issparse(view.sample.x)
    if is_sparse or not problem.intercept or problem.penalty.constant:
        deviation, mean = np.sqrt(deviation**2 + view.mean**2), np.zeros_like(mean)
    if is_sparse and len(mean) > CURVED_SIZE:
        # Words, say: rare ones hardly bend the loss, and the same ridge bends all of them alike.
        deviation = np.full_like(mean, np.sqrt(np.mean(deviation**2)))
    return Coordinates(mean, np.where(np.isfinite(deviation) & (deviation > 0), deviation, 1.0), problem.intercept)


def _sample_objective(objective: Objective, view: Overview) -> Objective:
    return Objective(
        objective.rows.over(view.sample), objective.classes, objective.coordinates, softmax=objective.softmax
    )


def _nested(view: Overview, objective: Objective) -> list[Overview]:
    """The sample, and before it a part of it where it is large: the first steps, from nowhere, need few rows."""
    wanted = len(view.sample) // 8
    if view.everything or wanted < 15 * np.prod(objective.shape):
        return [view]
    return [look(_sample_objective(objective, view).rows, wanted), view]


def _parts(objective: Objective, views: Sequence[Overview]) -> list[Part]:
    n = views[-1].n_rows
    return [Part(_sample_objective(objective, view), len(view.sample) / n) for view in views]


def _without_dependence(objective: Objective, views: Sequence[Overview], problem: Problem) -> tuple[Objective, Mask]:
    """Columns that others determine, and coordinates that bear those that nearly are."""
    start = np.zeros(objective.shape)
    for view in views:
        # What is independent in some rows is so in all of them.
        hessian = _sample_objective(objective, view).at(start, depth=BLOCKS if problem.softmax else CURVATURE).hessian
        if looks_independent(hessian[0] if problem.softmax else hessian):
            return objective, np.zeros(objective.rows.shape.width, bool)
    rank = column_rank(objective.rows, intercept=problem.intercept, minimum_norm=problem.aliased == "minimum-norm")
    if rank.coordinates is not None:
        objective = objective.with_coordinates(rank.coordinates)
    return objective, rank.aliased


def _solve(objective: Objective, views: Sequence[Overview], problem: Problem, route: Route, aliased: Mask) -> SmoothFit:
    coordinates, view = objective.coordinates, views[-1]
    ridge = ridge_for(problem.penalty, coordinates, objective.shape)
    held = "newton" if problem.firth else route
    free = _free(objective, problem, held, aliased)
    start = origin(objective, view.sample) if problem.start is None else coordinates.from_user(problem.start)
    start = np.where(_free(objective, problem, "quasi-newton", aliased) if problem.softmax else free, start, 0.0)
    if held == "newton" and problem.softmax and problem.penalty.name == "none":
        start = start - start[:1]
    if problem.firth:
        solution, solver = firth(objective, start, free=free, most=problem.most), "firth"
    else:
        parts = [] if view.everything or problem.start is not None else _parts(objective, views)
        watch = None if problem.watch is None else partial(_seen, problem.watch, coordinates)
        smooth = Smooth(ridge, free, start, _flat(problem, objective), _squares(view, coordinates), watch)
        solution, solver = minimise(smooth, objective, parts, route, problem.most), str(route)
    return SmoothFit(
        problem,
        objective,
        solution,
        free,
        ridge,
        np.concatenate([[False], aliased]),
        solver,
        class_weights=view.class_weights,
        offset=view.sample.offset is not None,
    )


def _seen(watch: Watch, coordinates: Coordinates, theta: Floats) -> None:
    watch(theta, coordinates)


def _flat(problem: Problem, objective: Objective) -> Floats | None:
    """``tol`` is about slopes in the user's units; None where there are so few that nobody asks."""
    c = objective.coordinates
    if c.size <= CURVED_SIZE:
        return None
    one = np.full(c.size, problem.tol)
    one[int(c.intercept) :] /= c.scale if c.basis is None else 1.0
    return np.broadcast_to(one, objective.shape)


def _squares(view: Overview, coordinates: Coordinates) -> Floats | float:
    """Mean squares of the columns as the solver sees them, where they differ: dense ones are scaled one by one."""
    if coordinates.turned is not None or coordinates.size <= CURVED_SIZE or not sparse.issparse(view.sample.x):
        return 1.0
    squares = (view.deviation**2 + (view.mean - coordinates.shift) ** 2) / coordinates.scale**2
    return np.concatenate([np.ones(int(coordinates.intercept)), squares])


def origin(objective: Objective, sample: Block) -> Floats:
    """Nothing but an intercept that takes up the offsets, which may be far from zero."""
    start, level = np.zeros(objective.shape), offset_level(sample)
    if level is not None and objective.coordinates.intercept:
        start[0] = -level
    return start


def offset_level(sample: Block) -> float | None:
    """Where the offsets lie; None without any. Far from it every row is certain, and the curvature is zero."""
    return None if sample.offset is None else float(np.mean(sample.offset))


def ridge_for(penalty: PenaltyTerms, coordinates: Coordinates, shape: tuple[int, ...]) -> Floats:
    """The ridge on the solver's coefficients, like theta."""
    one = np.full(coordinates.size, penalty.constant)
    slopes = penalty.ridge / coordinates.scale**2 if coordinates.turned is None else penalty.ridge
    one[int(coordinates.intercept) :] = slopes
    return one if one.shape == shape else np.broadcast_to(one, shape).copy()


def _free(objective: Objective, problem: Problem, route: str, aliased: Mask) -> Mask:
    """Newton holds what softmax does not determine: a class without a penalty, its intercept with one."""
    free = np.ones(objective.shape, bool)
    if objective.coordinates.turned is None:
        free[..., int(problem.intercept) :] &= ~aliased
    if problem.softmax and route == "newton":
        if problem.penalty.name == "none":
            free[0] = False
        elif problem.intercept:
            free[0, 0] = False
    return free


def _fit_wide(rows: Passes, whole: Block, problem: Problem) -> SmoothFit:
    # NaN is not below anything.
    if not (whole.x.max() < HUGE and whole.x.min() > -HUGE):
        raise rows.fault() or DataError("The squares of X overflow. Scale the columns.")
    coordinates, z = row_space(whole, intercept=problem.intercept)
    unit = Coordinates(np.zeros(z.shape[1]), np.ones(z.shape[1]), problem.intercept)
    turned = replace(whole, x=z)
    inner = Objective(rows.over(turned), problem.classes, unit, softmax=problem.softmax)
    route = choose_route(int(np.prod(inner.shape)), len(whole), used=False)
    view = Overview(problem.classes, len(whole), unit.shift, unit.scale, turned)
    if problem.start is not None:
        problem = replace(problem, start=unit.to_user(coordinates.from_user(problem.start)))
    if problem.watch is not None:
        # The same coefficients, of the rows as they were given.
        outside = problem.watch
        problem = replace(problem, watch=lambda theta, _: outside(theta, coordinates))
    with one_blas_thread():
        fit = _solve(inner, [view], problem, route, np.zeros(z.shape[1], bool))
    outer = Objective(rows, problem.classes, coordinates, softmax=problem.softmax)
    return replace(fit, objective=outer, aliased=np.zeros(rows.shape.width + 1, bool), solver="svd-" + fit.solver)


def _look_for_separation(fit: SmoothFit) -> SmoothFit:
    """Told apart from slow convergence by proof."""
    objective, at = fit.objective, fit.solution.at
    if not at.hessian.size and fit.free.size > MOST_CURVED:
        return fit
    if not at.hessian.size:
        polished = newton(objective, _of_reference(fit), free=reference_free(fit), most=25)
        polished = replace(polished, iterations=fit.solution.iterations + polished.iterations)
        fit = replace(fit, solution=polished, free=reference_free(fit))
        at = polished.at
    if not may_be_separated(objective, at, free=fit.free):
        return fit
    return replace(fit, separation=find_separation(objective, free=fit.free, start=fit.solution.theta))


def separation_of(fit: SmoothFit) -> Separation:
    """Of the rows of a penalised fit: Newton's steps without the penalty prove most overlaps at a small cost.

    The linear program, which takes seconds with some hundred coefficients, is for what they leave open.
    """
    objective, free = fit.objective, reference_free(fit)
    if free.size > MOST_CURVED:
        return find_separation(objective, free=free)
    near = newton(objective, _of_reference(fit), free=free, most=25)
    if not may_be_separated(objective, near.at, free=free):
        return no_separation(objective)
    return find_separation(objective, free=free, start=near.theta)


def reference_free(fit: SmoothFit) -> Mask:
    """The entries that are determined without a penalty: all but the first class's."""
    free = fit.free.copy()
    if fit.objective.softmax:
        free[0] = False
    return free


def _of_reference(fit: SmoothFit) -> Floats:
    theta = fit.solution.theta
    return theta - theta[:1] if fit.objective.softmax else theta


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
