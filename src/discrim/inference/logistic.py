"""A logistic fit as summaries, intervals and tests need it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from discrim.block import Block
from discrim.families.logistic.elastic_net_gram import GramFollower
from discrim.families.logistic.fit import SmoothFit
from discrim.families.logistic.objective import Coordinates, Objective, codes_in, newton
from discrim.inference.fitted import Fitted
from discrim.sources import Design
from discrim.statistics.likelihood import LOSS
from discrim.typing import Floats

# Numbers of a basis beyond which a saved model does without it.
LARGE = 500_000


def is_wide(coordinates: Coordinates) -> bool:
    """Do the coordinates hold a basis (p x r) of the space of few rows, too large to be saved?"""
    if coordinates.turned is None:
        return False
    p, r = coordinates.turned.shape
    return bool(p * r > LARGE and p > 2 * r)


def fitted_from(fit: SmoothFit, design: Design, reference: int) -> Fitted:
    """All that summaries, intervals and tests are made of."""
    problem, objective, free, solution = fit.problem, fit.objective, fit.free, fit.solution
    if objective.softmax and problem.penalty.name == "none" and reference != 0:
        # The same solution against another class: likelihood, information and Firth's prior do not change.
        free = free.copy()
        free[[0, reference]] = free[[reference, 0]]
        solution = replace(solution, theta=solution.theta - solution.theta[reference])
    lasso = problem.penalty.lasso
    solver = partial(_solve_sparse, lasso=lasso, ridge=fit.ridge) if lasso else None
    counts = _counts(fit)
    separated = fit.separation is not None and fit.separation.separated
    return Fitted(
        objective=objective,
        coordinates=objective.coordinates,
        solution=solution,
        free=free,
        aliased=fit.aliased,
        ridge=fit.ridge,
        names=design.names_out,
        terms=terms_of(design),
        classes=problem.classes,
        rows=counts.rows,
        weight=float(counts.class_weights.sum()),
        null_loss=_null_loss(objective, counts),
        saturated_loss=counts.saturated_loss,
        loglik_constant=counts.loglik_constant,
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
    return GramFollower(objective, start, free=free).minimum(scaled, ridge)


def terms_of(design: Design) -> list[tuple[str, list[int]]]:
    terms, at = [], 0
    for column in design.columns:
        terms.append((column.name, list(range(at, at + column.n_out))))
        at += column.n_out
    return [(name, places) for name, places in terms if places]


@dataclass
class _Counts:
    """What one more look at the labels gives."""

    class_weights: Floats
    rows: int = 0
    saturated_loss: float = 0.0
    loglik_constant: float = 0.0
    offset: bool = False

    def add(self, block: Block, codes: NDArray[np.int32]) -> None:
        self.rows += len(block) if block.weight is None else int(np.count_nonzero(block.weight))
        self.offset |= block.offset is not None
        if block.share is None:
            self.class_weights += _count(codes, block.weight, len(self.class_weights))
            return
        share, n = block.share, np.ones(len(block)) if block.weight is None else block.weight
        self.class_weights += [n @ (1.0 - share), n @ share]
        self.saturated_loss -= float(n @ (xlogy(share, share) + xlogy(1.0 - share, 1.0 - share)))
        y = n * share
        self.loglik_constant += float((gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)).sum())


def _count(codes: NDArray[np.int32], weight: Floats | None, classes: int) -> Floats:
    if weight is None and classes == 2:
        second = np.count_nonzero(codes)
        return np.array([len(codes) - second, second], float)
    return np.bincount(codes, weights=weight, minlength=classes).astype(float)


def _counts(fit: SmoothFit) -> _Counts:
    """Of the labels, or as a first look at a scan has counted them."""
    if fit.class_weights is not None:
        return _Counts(fit.class_weights, fit.solution.at.rows, offset=fit.offset)
    counts = _Counts(np.zeros(len(fit.objective.classes)))
    for block in fit.objective.rows.blocks():
        counts.add(block, codes_in(block, fit.objective.classes))
    return counts


def _null_loss(objective: Objective, counts: _Counts) -> float:
    """Minus the log-likelihood of the intercept alone, or of nothing where there is none."""
    weights = counts.class_weights
    if not counts.offset:
        if objective.coordinates.intercept:
            return float(-xlogy(weights, weights / weights.sum()).sum())
        return float(weights.sum() * np.log(len(weights)))
    nothing = np.zeros(objective.shape)
    if not objective.coordinates.intercept:
        return objective.at(nothing, depth=LOSS).loss
    free = np.zeros(objective.shape, bool)
    free[0] = True
    return newton(objective, nothing, free=free).loss
