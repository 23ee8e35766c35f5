"""A logistic fit as inference wants to be told about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from discrim.engines.objective import Objective, codes_in
from discrim.inference.fitted import Fitted
from discrim.models.logistic_fit import Problem, SmoothFit
from discrim.solvers.elastic_net_gram import elastic_net
from discrim.solvers.newton import newton
from discrim.solvers.separation import Separation
from discrim.sources import Design
from discrim.statistics.likelihood import LOSS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Named:
    """Whether the classes are separated, in the user's names.

    ``complete``: every row is strictly on its side. ``columns``: those whose coefficients are infinite. ``direction``:
    like the coefficients, intercept first (a row a class for more than two), the way in which they go to infinity.
    ``classes``: those that are kept apart.
    """

    separated: bool
    complete: bool
    columns: list[str]
    direction: Floats
    classes: list[Any]


def named_separation(found: Separation | None, names: Sequence[str], classes: NDArray[Any]) -> Named:
    """The solver's answer with the names of columns and classes."""
    if found is None or not found.separated:
        shape = (len(names),) if len(classes) == 2 else (len(classes), len(names))
        return Named(False, False, [], np.zeros(shape), [])
    columns = [names[j] for j in found.columns]
    return Named(True, found.complete, columns, found.direction, classes[found.classes].tolist())


def fitted_from(fit: SmoothFit, problem: Problem, design: Design, reference: int) -> Fitted:
    """All that summaries, intervals and tests are made of."""
    objective, free, solution = fit.objective, fit.free, fit.solution
    whole = fit.whole if fit.whole is not None else objective
    softmax_without_penalty = objective.softmax and problem.penalty.name == "none"
    if softmax_without_penalty and reference != 0:
        free = free.copy()
        free[[0, reference]] = free[[reference, 0]]
        theta = solution.theta - solution.theta[reference]
        solution = newton(objective, theta, free=free)
    lasso = problem.penalty.lasso
    solver = partial(_solve_sparse, lasso=lasso, ridge=fit.ridge) if lasso else None
    weights = _class_weights(whole)
    separated = fit.separation is not None and fit.separation.separated
    return Fitted(
        objective=objective,
        coordinates=objective.coordinates,
        solution=solution,
        free=free,
        aliased=fit.aliased,
        ridge=fit.ridge,
        names=design.names_out,
        terms=_terms(design),
        classes=problem.classes,
        rows=solution.at.rows if not separated else _rows(whole),
        weight=float(weights.sum()),
        null_loss=_null_loss(whole, weights),
        saturated_loss=_saturated_loss(whole),
        loglik_constant=_loglik_constant(whole),
        reference=reference,
        penalty="firth" if problem.firth else problem.penalty.name,
        separation=fit.separation,
        infinite=None if fit.separation is None or not separated else fit.separation.infinite.astype(float),
        solver=solver,
    )


def _solve_sparse(objective: Any, start: Floats, *, free: Any, lasso: float, ridge: Floats) -> Any:
    coordinates = objective.coordinates
    scaled = np.full(start.shape, lasso)
    scaled[..., int(coordinates.intercept) :] /= coordinates.scale
    if coordinates.intercept:
        scaled[..., 0] = 0.0
    return elastic_net(objective, start, lasso=scaled, ridge=ridge, free=free)


def _terms(design: Design) -> list[tuple[str, list[int]]]:
    terms, at = [], 0
    for column in design.columns:
        terms.append((column.name, list(range(at, at + column.n_out))))
        at += column.n_out
    return [(name, places) for name, places in terms if places]


def _class_weights(objective: Objective) -> Floats:
    """Sums of the weights; a group counts for both outcomes."""
    totals = np.zeros(len(objective.classes))
    for block in objective.rows.blocks():
        if block.share is not None:
            w = np.ones(len(block)) if block.weight is None else block.weight
            totals += [w @ (1.0 - block.share), w @ block.share]
        else:
            codes = codes_in(block, objective.classes)
            totals += np.bincount(codes, weights=block.weight, minlength=len(totals))
    return totals


def _rows(objective: Objective) -> int:
    return sum(len(b) if b.weight is None else int(np.count_nonzero(b.weight)) for b in objective.rows.blocks())


def _null_loss(objective: Objective, weights: Floats) -> float:
    """Minus the log-likelihood of the intercept alone, or of nothing where there is none."""
    has_offset = any(block.offset is not None for block in objective.rows.blocks())
    if not has_offset:
        if objective.coordinates.intercept:
            return float(-xlogy(weights, weights / weights.sum()).sum())
        return float(weights.sum() * np.log(len(weights)))
    nothing = np.zeros(objective.shape)
    if not objective.coordinates.intercept:
        return objective.at(nothing, depth=LOSS).loss
    free = np.zeros(objective.shape, bool)
    free[0] = True
    return newton(objective, nothing, free=free).loss


def _saturated_loss(objective: Objective) -> float:
    total = 0.0
    for block in objective.rows.blocks():
        if block.share is not None:
            w = np.ones(len(block)) if block.weight is None else block.weight
            total -= float(w @ (xlogy(block.share, block.share) + xlogy(1.0 - block.share, 1.0 - block.share)))
    return total


def _loglik_constant(objective: Objective) -> float:
    """Logarithms of the binomial coefficients of the groups."""
    total = 0.0
    for block in objective.rows.blocks():
        if block.share is not None and block.weight is not None:
            n, y = block.weight, block.weight * block.share
            total += float((gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)).sum())
    return total
