"""A logistic fit as inference wants to be told about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from discrim.block import Block
from discrim.engines.objective import Coordinates, Objective, codes_in
from discrim.errors import SeparationWarning, name_list, warn
from discrim.inference.fitted import Fitted
from discrim.models.logistic.fit import Problem, SmoothFit
from discrim.models.logistic.rows import weightless_message, written
from discrim.solvers.elastic_net_gram import elastic_net
from discrim.solvers.newton import newton
from discrim.solvers.separation import Separation
from discrim.sources import Design
from discrim.statistics.likelihood import LOSS
from discrim.typing import Floats

# Numbers of a basis beyond which a saved model does without it.
LARGE = 500_000


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


def separation_message(told: Named, classes: int) -> str:
    """Which of so many classes are separated, what is infinite, and what helps."""
    one = len(told.classes) == 1
    who = f"{'Class' if one else 'The classes'} {written(told.classes)} {'is' if one else 'are'}"
    how = (
        f"{'completely ' if told.complete else ''}separated{'' if len(told.classes) == classes else ' from the others'}"
    )
    single = len(told.columns) == 1
    return (
        f"{who} {how}: the {'estimate' if single else 'estimates'} of {name_list(told.columns)} "
        f"{'is' if single else 'are'} infinite, and predictions come from where the solver stopped. Use "
        "bias_reduction='firth', a finite C, or leave the columns out; see separation_."
    )


def warn_of_separation(fit: SmoothFit, empty: Sequence[int], classes: NDArray[Any], names: Sequence[str]) -> None:
    """Say which classes are without weight, the places ``empty``, and which others are separated."""
    if empty:
        warn(weightless_message(classes[list(empty)].tolist()), SeparationWarning)
    found = fit.separation
    if found is not None and found.separated and not set(found.classes.tolist()) <= set(empty):
        named = named_separation(found, ["(Intercept)", *names], classes)
        warn(separation_message(named, len(classes)), SeparationWarning)


def told_of_weightless(found: Separation | None, empty: Sequence[int], *, intercept: bool) -> Separation | None:
    """Of classes without weight only the intercept is infinite: it takes their probability to 0 with any slopes."""
    if found is None or not found.separated or not empty or not intercept:
        return found
    direction, undetermined = np.zeros(found.direction.shape), np.zeros(found.undetermined.shape, bool)
    undetermined[..., 1:] = True
    if direction.ndim == 1:
        direction[0] = -1.0 if 1 in empty else 1.0
        torn = False
    else:
        others = np.setdiff1d(np.arange(len(direction)), empty)
        among = found.direction[others] - found.direction[others[0]]
        among[np.abs(among) <= 1e-9 * np.abs(found.direction).max()] = 0.0
        torn = bool(among.any())
        direction[others], direction[list(empty), 0] = among, -1.0
        undetermined[others] = found.undetermined[others] if torn else False
    return replace(
        found,
        complete=found.complete and (torn or direction.ndim == 1),
        columns=np.flatnonzero(np.atleast_2d(direction).any(axis=0)),
        direction=direction,
        classes=found.classes if torn else np.array(empty, dtype=np.intp),
        infinite=np.sign(direction).astype(np.int8),
        undetermined=undetermined,
    )


def is_wide(coordinates: Coordinates) -> bool:
    """Do the coordinates hold a basis (p x r) of the space of few rows, too large to be saved?"""
    if coordinates.turned is None:
        return False
    p, r = coordinates.turned.shape
    return bool(p * r > LARGE and p > 2 * r)


def fitted_from(fit: SmoothFit, problem: Problem, design: Design, reference: int) -> Fitted:
    """All that summaries, intervals and tests are made of."""
    objective, free, solution = fit.objective, fit.free, fit.solution
    if objective.softmax and problem.penalty.name == "none" and reference != 0:
        # The same solution told against another class: likelihood, information and Firth's prior do not change.
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
    return elastic_net(objective, start, lasso=scaled, ridge=ridge, free=free)


def terms_of(design: Design) -> list[tuple[str, list[int]]]:
    terms, at = [], 0
    for column in design.columns:
        terms.append((column.name, list(range(at, at + column.n_out))))
        at += column.n_out
    return [(name, places) for name, places in terms if places]


@dataclass
class _Counts:
    """What one more look at the labels tells."""

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
