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
from discrim.families.logistic.objective import (
    CLOSE,
    Coordinates,
    HasLikelihood,
    Objective,
    Solution,
    newton,
    solve_positive,
)
from discrim.families.logistic.quasi_newton import CLOSER, Enough, cholesky_inverse, quasi_newton
from discrim.families.logistic.rank import column_rank, looks_independent, row_space
from discrim.families.logistic.separation import (
    Separation,
    default_free,
    find_separation,
    may_be_separated,
    no_separation,
)
from discrim.families.recipe import Passes
from discrim.parallel import one_blas_thread
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, Likelihood
from discrim.typing import Floats, Mask

# A part of the rows is worth fitting first where X has this many values.
START_VALUES = 400_000
# Passes of a quasi-Newton fit without a curvature, for the choice of the way.
PASSES = 40
# An eigendecomposition of n x n takes as long as so many times n^3 multiplications of a product.
EIGEN = 10
# Rows a column whose curvature is good enough to start from.
A_COLUMN = 12
# Values whose squares, summed over many columns, are still finite.
HUGE = 1e150
# Coefficients whose curvature is still worth having for standard errors and the proof that classes overlap.
MOST_CURVED = 4000
# Coefficients up to which every pass with curvature costs less than the passes that it saves. Up to the second number
# one of all rows does; and every one where the last is of further use.
NEWTON_SIZE, ONCE_SIZE = 64, 160
# Coefficients up to which a part of the rows gives the curvature that a quasi-Newton solver starts from.
CURVED_SIZE = 2000
# Multiplications of a curvature that are no reason to avoid it; more of them where the last one is of further use.
CHEAP, CHEAP_USED = 4e7, 3e8
# Enough for a start: the sample's own error is larger, and the last step squares this.
ROUGH = 3e-4
# Rows a coefficient of a part whose curvature is as good for the first step as that of all rows: what this leaves, a
# Newton step brings below CLOSE.
TALL = 2000
# What the value may fall, for each unit of weight, by a step that is not checked.
NEAR = 1e-2
# Newton steps after which a part of the rows that has no optimum yet is taken to be separated.
ENOUGH = 12
# As CLOSE where only the coefficients are wanted: the last step squares this.
PENALISED_CLOSE = 1e-9
# Multiplications of a curvature that take as long as one of a pass, which waits for memory.
DENSER = 5
# Passes that may be tried before a curvature which costs as much.
TRIED = 8
# Quasi-Newton steps after which the curvature is looked at again.
STEPS = 20
# Loss of a row, on the average, below which the part says more of itself than of the others.
SEPARATED = 1e-4

Route = Literal["newton", "quasi-newton"]
# Is called with theta and its coordinates after every step.
Watch = Callable[[Floats, Coordinates], None]
# Solvers that name a route; the others leave the choice.
ROUTES: dict[str, Route] = {"newton": "newton", "newton-cholesky": "newton", "quasi-newton": "quasi-newton"}


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


def fits_row_space(rows: Passes, problem: Problem, fits: int = 1) -> bool:
    """Fewer rows than columns and a ridge alone: the slopes lie in the space that the rows span.

    Worth its products of all rows, and the eigenvectors of the result, where these cost less than so many ``fits``.
    """
    whole, width = rows.whole, rows.shape.width
    if whole is None or problem.penalty.name != "l2" or problem.penalty.constant or len(whole) > width:
        return False
    n, classes = len(whole), len(problem.classes) if problem.softmax else 1
    squares = n * n * width / 2 + EIGEN * n**3
    return squares <= fits * DENSER * PASSES * 2 * whole.stored * classes


def check_finite(rows: Passes, view: Overview) -> None:
    """The error that names the columns with NaN or infinity, where the first look met them."""
    # A mean that is not finite leaves no finite deviation from it.
    if not np.isfinite(view.deviation).all():
        raise rows.fault() or DataError("The squares of X overflow. Scale the columns.")


def sample_rows(rows: Passes, size: int, route: Route, *, softmax: bool) -> int:
    """Enough rows that one Newton step from their optimum lands close; all rows where they are few."""
    shape = rows.shape
    n = shape.n_rows if shape.n_rows is not None else 2_000_000
    if n * shape.width < START_VALUES:
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
        seen = problem.watch
        watch = None if seen is None else lambda theta: seen(theta, coordinates)
        smooth = Smooth(ridge, free, start, flat_for(problem, objective), _squares(view, coordinates), watch)
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


def flat_for(problem: Problem, objective: Objective) -> Floats | None:
    """``tol`` is about slopes in the user's units; None where it asks for all digits."""
    c = objective.coordinates
    if not problem.tol or problem.penalty.name == "none":
        return None
    one = np.full(c.size, problem.tol)
    one[int(c.intercept) :] /= c.scale if c.turned is None else 1.0
    return np.broadcast_to(one, objective.shape)


def _squares(view: Overview, coordinates: Coordinates) -> Floats | float:
    """Mean squares of the columns as the solver sees them, where they differ: dense ones are scaled one by one."""
    if coordinates.turned is not None or coordinates.size <= CURVED_SIZE or not sparse.issparse(view.sample.x):
        return 1.0
    squares = (view.deviation**2 + (view.mean - coordinates.shift) ** 2) / coordinates.scale**2
    return np.concatenate([np.ones(int(coordinates.intercept)), squares])


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
    """Distinguished from slow convergence by proof."""
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


@dataclass(frozen=True)
class Smooth:
    """Minimise loss + sum ridge theta^2 / 2 over the ``free`` entries, from ``start``.

    For more columns than a curvature can be had of: slopes up to ``flat``, like theta, for each unit of weight, count
    as none; ``squares`` are the mean squares of the columns, intercept included, by which each bends the loss, where
    they differ. ``watch`` is called with theta after every step on all rows.
    """

    ridge: Floats
    free: NDArray[np.bool_]
    start: Floats
    flat: Floats | None = None
    squares: Floats | float = 1.0
    watch: Callable[[Floats], None] | None = None

    def for_part(self, share: float) -> Smooth:
        """The same problem for a part of the rows with this share of the weight."""
        return replace(self, ridge=self.ridge * share, watch=None)


@dataclass(frozen=True)
class Part:
    """The objective of some rows, with this ``share`` of the weight of all."""

    objective: HasLikelihood
    share: float


def choose_route(size: int, rows: int | None = None, *, used: bool = True) -> Route:
    """By the number of coefficients, and what a curvature of so many rows (None: unknown) costs.

    ``used``: the last curvature serves further, for standard errors or for the next penalty of a path.
    """
    few, cheap = (ONCE_SIZE, CHEAP_USED) if used else (NEWTON_SIZE, CHEAP)
    affordable = rows is not None and size <= CURVED_SIZE and rows * size**2 <= cheap
    return "newton" if size <= few or affordable else "quasi-newton"


def minimise(problem: Smooth, objective: HasLikelihood, parts: Sequence[Part], route: Route, most: int) -> Solution:
    """``parts`` are random parts of the rows, each within the next; none for few rows."""
    start = problem.start
    if route == "newton":
        first = 0
        for part in parts:
            less = problem.for_part(part.share)
            rough = newton(part.objective, start, ridge=less.ridge, free=less.free, close=ROUGH, most=ENOUGH)
            if not _is_trusted(rough):
                continue
            start = rough.theta
            if part is parts[-1] and most > 1 and _gives_curvature(rough, objective):
                start, first = _step_by_part(replace(problem, start=start), objective, part), 1
                if problem.watch is not None:
                    problem.watch(start)
        # Without a penalty the deviance is reported, and the last step should change none of its digits.
        close = PENALISED_CLOSE if problem.ridge.any() else CLOSE
        ridge, free, left = problem.ridge, problem.free, most - first
        found = newton(objective, start, ridge=ridge, free=free, close=close, most=left, watch=problem.watch)
        return replace(found, iterations=found.iterations + first)
    curved_by = Part(objective, 1.0)
    for part in parts:
        less = replace(problem.for_part(part.share), start=start)
        rough = _descend(less, part.objective, Part(part.objective, 1.0), close=ROUGH, most=4 * ENOUGH)
        start = rough.theta if _is_trusted(rough) else start
        if problem.free.ndim == 2 or problem.free.size > ONCE_SIZE:
            curved_by = part
    return _descend(replace(problem, start=start), objective, curved_by, close=CLOSER, most=most)


def _gives_curvature(rough: Solution, objective: HasLikelihood) -> bool:
    """Is a part with this optimum so large that one step by its curvature comes as near as by that of all rows?

    Both leave an error of size / rows. A pass over a file costs the same with curvature or without.
    """
    theta = rough.theta
    return theta.ndim == 1 and rough.at.rows >= TALL * theta.size and not getattr(objective, "costly", True)


def _step_by_part(problem: Smooth, objective: HasLikelihood, part: Part) -> Floats:
    """From the start, the optimum of ``part``, by its curvature and the gradient of all rows."""
    start, index = problem.start, np.flatnonzero(problem.free)
    some, every = part.objective.at(start, depth=CURVATURE), objective.at(start, depth=GRADIENT)
    curvature = some.hessian * (every.weight / some.weight) + np.diag(problem.ridge)
    gradient = every.gradient + problem.ridge * start
    step = solve_positive(curvature[np.ix_(index, index)], gradient[index])
    theta = start.copy()
    if 0.5 * float(gradient[index] @ step) <= NEAR * every.weight:
        theta[index] -= step
    return theta


def _descend(problem: Smooth, objective: HasLikelihood, curved_by: Part, *, close: float, most: int) -> Solution:
    """Quasi-Newton, with the curvature taken anew where many steps have left the old one behind.

    ``curved_by`` are the rows that the curvature is taken from. Where it costs as much as many passes, so many are
    tried without it first: together they cost at most twice what the better of both would have.
    """
    theta, steps, turn = problem.start, 0, STEPS
    wide = problem.free.shape[-1] > CURVED_SIZE
    tries = 0.0 if wide or problem.flat is None else _passes_worth(problem, objective, curved_by)
    while True:
        curved = not wide and tries < TRIED
        inverse, sums = _inverse(replace(problem.for_part(curved_by.share), start=theta), curved_by, curved=curved)
        found = quasi_newton(
            objective,
            theta,
            inverse=inverse,
            ridge=problem.ridge,
            free=problem.free,
            at=sums if curved_by.objective is objective else None,
            enough=Enough(close, problem.flat, problem.watch),
            most=min(most - steps, turn if tries < TRIED else int(tries)),
        )
        steps += found.iterations
        if found.converged or steps >= most or not found.iterations:
            return replace(found, iterations=steps)
        theta, tries = found.theta, 0.0
        if wide:
            # Without a curvature it is what the steps remember that counts: they are left more and more to themselves.
            turn *= 2


def _passes_worth(problem: Smooth, objective: HasLikelihood, curved_by: Part) -> float:
    """How many passes the curvature and its inverse cost."""
    if not isinstance(objective, Objective) or not isinstance(curved_by.objective, Objective):
        return 0.0
    rows, some = objective.rows.whole, curved_by.objective.rows.whole
    if rows is None or some is None:
        return 0.0
    size = problem.free.shape[-1]
    return (len(some) * size**2 / 2 + size**3 / 3) / (DENSER * 2 * rows.stored)


def _is_trusted(rough: Solution) -> bool:
    """A part of the rows may be separated where all of them are not; its optimum is then at infinity."""
    return rough.converged and rough.loss > SEPARATED * rough.at.weight


def _inverse(
    problem: Smooth, curved_by: Part, *, curved: bool
) -> tuple[Callable[[Floats], Floats], Likelihood]:
    """The inverse curvature at the start, of all rows as this part of them shows it; class by class for K classes.

    With the sums that the part has there. Where it is not to be ``curved``, a guess of the diagonal.
    """
    share, blocks = curved_by.share, problem.free.ndim == 2
    if curved:
        at = curved_by.objective.at(problem.start, depth=BLOCKS if blocks else CURVATURE)
        hessians = at.hessian if blocks else at.hessian[None]
        rows = zip(hessians, np.atleast_2d(problem.ridge), np.atleast_2d(problem.free), strict=True)
        inverses = [_inverse_of(hessian, ridge, free, share) for hessian, ridge, free in rows]
        found = [inverse for inverse in inverses if inverse is not None]
        if len(found) == len(inverses):
            return _balanced(found) if blocks else found[0], at
    else:
        at = curved_by.objective.at(problem.start, depth=GRADIENT)
    # mu (1 - mu) of a row: that of classes of equal shares, and less where they are well separated.
    even = 1.0 / max(len(problem.free), 2) if blocks else 0.5
    spread = min(even * (1.0 - even) * at.weight, 2.0 * even * at.loss)
    guess = spread * problem.squares + problem.ridge
    if isinstance(problem.squares, np.ndarray) and problem.ridge.any():
        # Where the fit grows certain of rows with large counts, these bend the loss far less than that, and more than
        # the penalty alone: midway it is right enough for word counts as for rows of equal length.
        guess = np.sqrt(guess * np.where(problem.ridge > 0, problem.ridge, problem.ridge.max()))
    guess = (guess / share)[problem.free]
    return lambda right: right / guess, at


def _balanced(inverses: list[Callable[[Floats], Floats]]) -> Callable[[Floats], Floats]:
    """Class by class, within the directions that sum to zero over the classes: only there has softmax a curvature.

    All classes have the same free entries. Steps that sum to zero keep the sum of the coefficients where it is.
    """
    share = np.full(len(inverses), 1.0 / len(inverses))

    def apply(right: Floats) -> Floats:
        rows = right.reshape(len(inverses), -1)
        rows = rows - share @ rows
        for k, inverse in enumerate(inverses):
            rows[k] = inverse(rows[k])
        # Between classes of equal share the curvature is K / (K - 1) times that of each class by itself.
        return np.asarray((rows - share @ rows).ravel() * (1.0 - share[0]))

    return apply


def _inverse_of(
    hessian: Floats, ridge: Floats, free: NDArray[np.bool_], share: float
) -> Callable[[Floats], Floats] | None:
    index = np.flatnonzero(free)
    matrix = hessian[np.ix_(index, index)]
    # A little more than a part shows: directions that it has not seen must not look free.
    unseen = 1e-3 if share < 1.0 else 1e-9
    matrix[np.diag_indices_from(matrix)] += ridge[index] + unseen * np.diagonal(matrix)
    return cholesky_inverse(matrix / share) if len(index) else (lambda right: right)
