"""One smooth logistic fit: coordinates, dependent columns, a start from a part of the rows, Newton or quasi-Newton."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.errors import DataError
from discrim.families.first_look import Overview, look
from discrim.families.logistic.firth import firth
from discrim.families.logistic.merged import merge_columns
from discrim.families.logistic.minimise import ENOUGH, Route, minimise
from discrim.families.logistic.objective import (
    FEW,
    NEARBY,
    NEARBY_ENTRIES,
    Coordinates,
    Objective,
    Solution,
    newton,
)
from discrim.families.logistic.quasi_newton import Part, Smooth
from discrim.families.logistic.rank import column_rank, looks_independent, row_space
from discrim.families.logistic.separation import (
    Separation,
    default_free,
    find_separation,
    may_be_separated,
    no_separation,
)
from discrim.families.logistic.unbiased import flac, flic
from discrim.families.recipe import Passes
from discrim.parallel import SINGLE, one_blas_thread
from discrim.statistics.likelihood import BLOCKS, CURVATURE
from discrim.typing import Floats, Mask

# A part of the rows is worth fitting first where X has this many values.
START_VALUES = 400_000
# Rows a column whose curvature is good enough to start from.
A_COLUMN = 12
# Values whose squares, summed over many columns, are still finite.
HUGE = 1e150
# Coefficients whose curvature is still worth having for standard errors and the proof that classes overlap.
MOST_CURVED = 4000
# Coefficients whose curvature is worth having for the steps, and rows whose products with each other are.
CURVED_SIZE, MOST_PRODUCTS = 2000, 3000
# Nanoseconds, of which only the ratios matter (``benchmarks/paths.py``): a value, dense or sparse, and a row of a pass,
# for each class; a multiplication of a curvature, of a product of matrices, of a factorisation, of eigenvectors; the
# calls of a Newton and of a quasi-Newton step, and a step within one call.
VALUE, ENTRY, ROW, SQUARE, PRODUCT, FACTOR, EIGEN = 0.8, 4.0, 20.0, 0.09, 0.05, 0.05, 0.7
CALL, STEP, STEP_INSIDE = 3e4, 1e5, 5e3
# What all digits of the minimum may cost: in times of the cheapest way, or so much.
DIGITS, SHORT = 2.0, 1e6
# A pass over a file takes so many times as long as over memory.
FROM_FILE = 5.0

BiasReduction = Literal["firth", "flic", "flac"]
# What follows Firth's estimate.
UNBIASED = {"flic": flic, "flac": flac}

# Is called with theta and its coordinates after every step.
Watch = Callable[[Floats, Coordinates], None]


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
    bias_reduction: BiasReduction | None = None
    aliased: Literal["drop", "minimum-norm"] = "drop"
    start: Floats | None = None
    watch: Watch | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.zeros(0))

    @property
    def softmax(self) -> bool:
        return len(self.classes) > 2

    @property
    def firth(self) -> bool:
        """Does the fit begin with Firth's estimate?"""
        return self.bias_reduction is not None


@dataclass(frozen=True)
class SmoothFit:
    """``solution`` of ``objective`` over ``free``; ``aliased`` (1 + p) marks coefficients that are not determined.

    ``empty`` are the places of classes without weight. ``separation`` is None where it was not looked for. Where the
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


@dataclass(frozen=True)
class Work:
    """What a fit costs by each way, from n ``rows`` of p columns with so many ``stored`` values.

    ``functions`` is K, or 1 for two classes. ``loose``: slopes up to ``tol`` count as none. ``used``: the curvature at
    the minimum serves further, for standard errors. ``files``: the rows are read anew in every pass.
    """

    rows: int
    width: int
    functions: int
    stored: int
    ridge: bool = True
    is_sparse: bool = False
    loose: bool = True
    used: bool = False
    files: bool = False

    @classmethod
    def of(cls, rows: Passes, problem: Problem) -> Work:
        whole, shape, penalty = rows.whole, rows.shape, problem.penalty
        n = len(whole) if whole is not None else shape.n_rows or 2_000_000
        is_sparse = whole is not None and not isinstance(whole.x, np.ndarray)
        stored = n * shape.width if whole is None or isinstance(whole.x, np.ndarray) else whole.x.nnz
        functions, ridge = len(problem.classes) if problem.softmax else 1, penalty.name == "l2" and not penalty.constant
        unpenalised = penalty.name == "none"
        return cls(n, shape.width, functions, stored, ridge, is_sparse, problem.tol > 0, unpenalised, whole is None)

    @property
    def one_pass(self) -> float:
        """Loss and gradient."""
        each = (ENTRY if self.is_sparse else VALUE) * self.stored + ROW * self.rows
        return self.functions * each * (FROM_FILE if self.files else 1.0)

    @property
    def calls(self) -> tuple[float, float]:
        """Of a Newton and a quasi-Newton step, beside its pass: of few rows all are taken in one call of a kernel."""
        newton = not self.is_sparse and self.functions == 1 and self.stored <= SINGLE and self.width < FEW
        near = self.stored * self.functions <= NEARBY_ENTRIES if self.is_sparse else self.stored <= NEARBY
        return STEP_INSIDE if newton else CALL, STEP_INSIDE if near and not self.files else STEP

    @property
    def class_curvature(self) -> float:
        """The curvature of every class by itself, of a part of the rows, and its inverse: K (m q^2 + q^3)."""
        q, part = self.width + 1, min(self.rows, self.part_rows)
        return self.functions * (2.0 * SQUARE * part * q**2 + FACTOR * q**3)

    @property
    def part_rows(self) -> int:
        """Enough rows that their curvature shows that of all."""
        return max(self.rows // 25, A_COLUMN * (4 if self.functions > 1 else 1) * self.width)

    def sample_rows(self, route: Route) -> int:
        """Enough rows that one Newton step from their optimum lands close; all rows where they are few."""
        if self.rows * self.width < START_VALUES:
            return self.rows
        size = (self.width + 1) * self.functions
        return max(self.rows // (8 if size > 64 else 16), 15 * size) if route == "newton" else self.part_rows

    def costs(self, fits: int = 1) -> dict[Route, float]:
        """Of so many ``fits`` that share their rows, by every way that is possible. With q = p + 1:

        | way            | passes                    | besides                              | memory   |
        |----------------|---------------------------|--------------------------------------|----------|
        | newton         | 3 (few rows: 6)           | n (K q)^2 and (K q)^3 for each       | (K q)^2  |
        | quasi-newton   | 10                        | K (m q^2 + q^3) twice, m of a part   | K q^2    |
        | limited-memory | 20, sparse 60; all digits | 40 K q for each                      | 20 K q   |
        |                | three times as many       |                                      |          |
        | row-space      | those of a fit of n x n   | n^2 p + n^3, once                    | n^2      |

        No way is cubic in the larger of n and p: with a penalty a curvature is for q <= n, the row space for n <= p. No
        sparse rows are made dense but for these squares, of at most 2,000 and 3,000 columns.
        """
        n, q, size = self.rows, self.width + 1, (self.width + 1) * self.functions
        found: dict[Route, float] = {}
        newton_call, call = self.calls
        if q <= CURVED_SIZE and (q <= n + 1 or self.used):
            curvature, steps = SQUARE * n * size**2, 3 if n * q > START_VALUES else 6
            if size <= CURVED_SIZE:
                found["newton"] = fits * steps * (self.one_pass + curvature + FACTOR * size**3 + newton_call)
            steps_by_part = 10 * (self.one_pass + call) + 2.0 * (self.class_curvature + STEP)
            found["quasi-newton"] = fits * steps_by_part + self.used * curvature
        if self.ridge or not found:
            passes = (60 if self.is_sparse else 20) * (1 if self.loose else 3)
            found["limited-memory"] = fits * passes * (self.one_pass + call + 20.0 * size)
        if self.ridge and n <= min(self.width, MOST_PRODUCTS) and not self.files:
            inner = min(Work(n, n, self.functions, n * n, False, loose=self.loose).costs(fits).values())
            found["row-space"] = PRODUCT * n**2 * self.width + EIGEN * n**3 + inner
        return found


def choose_route(rows: Passes, problem: Problem, fits: int = 1, work: Work | None = None) -> Route:
    """The way that the solver names, where it is possible; else the cheapest, or Newton's for at most twice that.

    Newton's last step gives all digits, which are worth a millisecond; the other ways end where ``tol`` says.
    """
    if problem.solver in {"newton", "newton-cholesky"}:
        return "newton"
    costs = (work or Work.of(rows, problem)).costs(fits)
    cheapest = min(costs, key=costs.__getitem__)
    if costs.get("newton", np.inf) <= max(DIGITS * costs[cheapest], SHORT * fits):
        cheapest = "newton"
    return next((route for route in costs if route == problem.solver), cheapest)


def fit_smooth(rows: Passes, problem: Problem, view: Overview | None = None) -> SmoothFit:
    """Maximum likelihood, or its L2-penalised or Firth's form, by the cheapest way of ``Work.costs``."""
    work = Work.of(rows, problem)
    route = choose_route(rows, problem, work=work)
    if route == "row-space" and rows.whole is not None:
        return _fit_wide(rows, rows.whole, problem)
    if route == "limited-memory" and view is None and problem.solver != route:
        found = _fit_merged(rows, problem)
        if found is not None:
            return found
    if view is None:
        view = look(rows, work.sample_rows(route))
    check_finite(rows, view)
    coordinates = coordinates_for(view, problem, plain=route == "limited-memory")
    objective = Objective(rows, problem.classes, coordinates, softmax=problem.softmax)
    views = _nested(view, objective)
    if problem.penalty.ridge or problem.penalty.constant:
        return _solve(objective, views, problem, route, np.zeros(rows.shape.width, bool))
    objective, aliased = _without_dependence(objective, views, problem)
    fit = _solve(objective, views, problem, route, aliased)
    return fit if problem.firth else _look_for_separation(fit, view)


def check_finite(rows: Passes, view: Overview) -> None:
    """The error that names the columns with NaN or infinity, where the first look met them."""
    # A mean that is not finite leaves no finite deviation from it.
    if not np.isfinite(view.deviation).all():
        raise rows.fault() or DataError("The squares of X overflow. Scale the columns.")


def coordinates_for(view: Overview, problem: Problem, *, plain: bool = False) -> Coordinates:
    """Centred and scaled columns; only scaled where they are sparse or the intercept is missing or penalised.

    ``plain``: for steps without a curvature.
    """
    mean, deviation = np.where(np.isfinite(view.mean), view.mean, 0.0), view.deviation
    is_sparse = sparse.issparse(view.sample.x)
    if is_sparse or not problem.intercept or problem.penalty.constant:
        deviation, mean = np.sqrt(deviation**2 + view.mean**2), np.zeros_like(mean)
    if plain or (is_sparse and len(mean) > CURVED_SIZE):
        # Words, say: rare ones hardly bend the loss, and the same ridge bends all of them alike.
        deviation = np.full_like(mean, np.sqrt(np.mean(deviation**2)))
    return Coordinates(mean, np.where(np.isfinite(deviation) & (deviation > 0), deviation, 1.0), problem.intercept)


def _sample_objective(objective: Objective, view: Overview) -> Objective:
    rows = objective.rows.over(view.sample)
    return Objective(rows, objective.classes, objective.coordinates, softmax=objective.softmax)


def _nested(view: Overview, objective: Objective) -> list[Overview]:
    """The sample, and before it a part of it where it is large: the first steps, from nowhere, need few rows."""
    wanted = len(view.sample) // 8
    if view.everything or wanted < 15 * np.prod(objective.shape):
        return [view]
    return [look(_sample_objective(objective, view).rows, wanted), view]


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
    route = "newton" if problem.firth else route
    start = origin(objective, view.sample) if problem.start is None else coordinates.from_user(problem.start)
    if aliased.any():
        start = np.where(_free(objective, problem, "quasi-newton", aliased), start, 0.0)
    if route == "newton" and problem.softmax and problem.penalty.name == "none":
        start = start - start[:1]
    smooth = smooth_for(objective, problem, route, start, aliased)
    if problem.firth:
        solution, solver = firth(objective, start, free=smooth.free, most=problem.most), "firth"
        if problem.bias_reduction in UNBIASED:
            solution = UNBIASED[problem.bias_reduction](objective, solution, smooth.free)
    else:
        some = [] if view.everything or problem.start is not None else views
        parts = [Part(_sample_objective(objective, each), len(each.sample) / view.n_rows) for each in some]
        seen = problem.watch
        watch = None if seen is None else lambda theta: seen(theta, coordinates)
        if smooth.plain or watch is not None:
            smooth = replace(smooth, squares=_squares(view, coordinates) if smooth.plain else 1.0, watch=watch)
        patience = _patience(objective.rows, problem, route)
        solution, solver = minimise(smooth, objective, parts, route, patience), str(route)
        if patience < problem.most and not solution.converged:
            left = replace(problem, start=coordinates.to_user(solution.theta), most=problem.most - patience)
            rest = _solve(objective, views, left, "newton", aliased)
            steps = solution.iterations + rest.solution.iterations
            return replace(rest, problem=problem, solution=replace(rest.solution, iterations=steps))
    objective.forget_columns()
    dropped, weights, offset = np.concatenate([[False], aliased]), view.class_weights, view.sample.offset is not None
    return SmoothFit(problem, objective, solution, smooth.free, smooth.ridge, dropped, solver, None, weights, offset)


def smooth_for(objective: Objective, problem: Problem, route: Route, start: Floats, aliased: Mask) -> Smooth:
    """What this way minimises, from this start in the solver's units."""
    ridge = ridge_for(problem.penalty, objective.coordinates, objective.shape)
    free, plain = _free(objective, problem, route, aliased), _plain_steps(objective.rows, problem, route)
    return Smooth(ridge, free, start, _flat_for(problem, objective), plain=plain, digits=not problem.tol)


def _plain_steps(rows: Passes, problem: Problem, route: Route) -> int:
    """Steps before a curvature is taken: as many as cost the same, so that it may be known to be needed."""
    if route != "limited-memory":
        return 0
    work = Work.of(rows, problem)
    return int(work.class_curvature / work.one_pass) if "quasi-newton" in work.costs() else problem.most


def _patience(rows: Passes, problem: Problem, route: Route) -> int:
    """Steps of quasi-Newton that cost as much as Newton's method does: where they are not enough, it takes over."""
    if route != "quasi-newton" or problem.solver == route:
        return problem.most
    work = Work.of(rows, problem)
    newton_cost = work.costs().get("newton")
    return (
        problem.most if newton_cost is None else min(problem.most, int(newton_cost / (work.one_pass + work.calls[1])))
    )


def _flat_for(problem: Problem, objective: Objective) -> Floats | None:
    """The part of ``tol`` in ``Enough``."""
    c = objective.coordinates
    if not problem.tol or problem.penalty.name == "none":
        return None
    one = np.full(c.size, 0.5 * problem.tol)
    one[int(c.intercept) :] /= c.scale if c.turned is None else 1.0
    return one if one.shape == objective.shape else np.broadcast_to(one, objective.shape)


def _squares(view: Overview, coordinates: Coordinates) -> Floats | float:
    """Mean squares of the columns as the solver sees them; of those that were turned none are known."""
    if coordinates.turned is not None:
        return 1.0
    squares = (view.deviation**2 + (view.mean - coordinates.shift) ** 2) / coordinates.scale**2
    # Sparse columns, about zero, lean on the constant all together. Of the powers of p between that of a column by
    # itself (0) and that of one as long as the rows (-1), this one took the fewest steps for word counts and tf-idf.
    constant = max(len(squares), 1) ** -0.75 if sparse.issparse(view.sample.x) else 1.0
    return np.concatenate([np.full(int(coordinates.intercept), constant), squares])


def origin(objective: Objective, sample: Block) -> Floats:
    """Nothing but an intercept that takes up the offsets, which may be far from zero."""
    start, constant = np.zeros(objective.shape), offset_constant(sample)
    if constant is not None and objective.coordinates.intercept:
        start[0] = constant
    return start


def offset_constant(sample: Block) -> Floats | None:
    """An intercept that cancels the offsets; None without any. Far from it every row is certain, without curvature."""
    return None if sample.offset is None else np.asarray(-np.mean(sample.offset))


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
    route = choose_route(inner.rows, replace(problem, solver="auto"))
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


def _fit_merged(rows: Passes, problem: Problem) -> SmoothFit | None:
    """By quasi-Newton, of sparse rows whose columns are more than they need; None of others."""
    whole, p = rows.whole, rows.shape.width
    if whole is None or isinstance(whole.x, np.ndarray) or problem.penalty.name != "l2" or problem.penalty.constant:
        return None
    found = merge_columns(whole.x)
    if found is None:
        return None
    columns, x = found
    watch, plain = problem.watch, Coordinates(np.zeros(p), np.ones(p), problem.intercept)

    def outside(theta: Floats, coordinates: Coordinates) -> Floats:
        return plain.from_user(columns.outer(coordinates.to_user(theta)))

    inner = replace(
        problem,
        solver="limited-memory",
        start=None if problem.start is None else columns.inner(problem.start),
        watch=None if watch is None else lambda theta, at: watch(outside(theta, at), plain),
    )
    fit = fit_smooth(rows.over(replace(whole, x=x)), inner)
    coordinates, solution = fit.objective.coordinates, fit.solution
    theta = outside(solution.theta, coordinates)
    # The slopes by the columns are those by the coefficients of one row's, times what each has of them.
    slopes = columns.outer(_user_slopes(solution.at.gradient, coordinates))[..., int(not problem.intercept) :]
    outer = Objective(rows, problem.classes, plain, softmax=problem.softmax)
    return replace(
        fit,
        problem=problem,
        objective=outer,
        solution=replace(solution, theta=theta, at=replace(solution.at, gradient=slopes)),
        free=np.ones(theta.shape, bool),
        ridge=ridge_for(problem.penalty, plain, theta.shape),
        aliased=np.zeros(p + 1, bool),
    )


def _user_slopes(gradient: Floats, coordinates: Coordinates) -> Floats:
    """By the user's coefficients, intercept first, of columns that were scaled only."""
    if not coordinates.intercept:
        gradient = np.concatenate([np.zeros((*gradient.shape[:-1], 1)), gradient], axis=-1)
    return np.asarray(gradient * np.concatenate([[1.0], coordinates.scale]))


def _look_for_separation(fit: SmoothFit, view: Overview | None = None) -> SmoothFit:
    """Distinguished from slow convergence by proof."""
    if view is not None and fit.objective.costly and fit.solution.converged:
        # Classes that overlap in some rows do so in all of them, and these rows are in memory.
        some = _sample_objective(fit.objective, view)
        if not may_be_separated(some, newton(some, fit.theta, free=fit.free, most=ENOUGH).at, free=fit.free):
            return fit
    if not fit.solution.at.hessian.size:
        if fit.free.size > MOST_CURVED:
            return fit
        fit = _without_penalty(fit)
    if not may_be_separated(fit.objective, fit.solution.at, free=fit.free):
        return fit
    return replace(fit, separation=find_separation(fit.objective, free=fit.free, start=fit.solution.theta))


def separation_of(fit: SmoothFit) -> Separation:
    """Of the rows of a penalised fit: Newton's steps without the penalty prove most overlaps at a small cost.

    The linear program, which takes seconds with some hundred coefficients, is for what they leave open.
    """
    if fit.free.size > MOST_CURVED:
        free = fit.free & default_free(fit.objective)
        return find_separation(fit.objective, free=free)
    found = _look_for_separation(_without_penalty(fit)).separation
    return no_separation(fit.objective) if found is None else found


def _without_penalty(fit: SmoothFit) -> SmoothFit:
    """The fit after some Newton steps without the penalty, with the coefficients of softmax's first class at zero."""
    free, theta = fit.free & default_free(fit.objective), fit.theta
    start = theta - theta[:1] if fit.objective.softmax else theta
    found = newton(fit.objective, start, free=free, most=25)
    return replace(fit, free=free, solution=replace(found, iterations=fit.solution.iterations + found.iterations))
