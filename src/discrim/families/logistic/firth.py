"""Firth's bias-reduced logistic regression: the likelihood times Jeffreys' prior."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from discrim.block import Block
from discrim.errors import DataError
from discrim.families.logistic.objective import Objective, Solution, class_forms, solver_rows
from discrim.families.logistic.positive import inverse_of, scaled_cholesky, solve_positive
from discrim.families.logistic.separation import default_free
from discrim.statistics.likelihood import CURVATURE, Likelihood, add_arrays
from discrim.typing import Floats, Mask

# A step, how the gradient changed on it, and the product of both.
Pair = tuple[Floats, Floats, float]

# Half the squared distance to the optimum, in standard errors, that counts as none.
CLOSE = 1e-17
# Steps that are remembered for the curvature of the prior.
MEMORY = 8
# Steps without progress after which a gap of this size is rounding.
STALLED, ROUNDED = 5, 1e-8
# No entry of theta moves by more in one step.
LONGEST = 5.0


def firth(
    objective: Objective,
    start: Floats,
    *,
    free: Mask | None = None,
    estimated: Mask | None = None,
    most: int = 200,
) -> Solution:
    """The maximum of l(theta) + log det I(theta) / 2 over the ``free`` entries of theta; the others keep their value.

    I is the information of the ``estimated`` entries (as the free ones, if not given): a profile holds a coefficient
    but keeps it there. Aliased entries and the reference class belong to neither. The prior takes the O(1/n) bias
    away and keeps the estimates finite on separated rows. ``value`` of the answer is
    -l - log det I / 2 in the solver's coordinates, ``loss`` is -l and ``at`` holds the sums at theta itself, whose
    ``hessian`` is I.

    Method: scoring. With U the gradient of the penalised likelihood the step is I^-1 U, corrected by what the last
    steps have shown of the prior's curvature (L-BFGS that starts from I^-1), and halved until the penalised
    likelihood rises. Cost: two passes a step, of n size^2 multiplications each.
    """
    free = default_free(objective) if free is None else free
    estimated = free if estimated is None else estimated
    found = _ascend(objective, start.astype(float), free, estimated, most)
    if (found is None or not found.converged) and np.any(start[free]):
        # Far out the likelihood is flat and rounding hides the way back; the origin is never far out.
        again = _ascend(objective, np.where(free, 0.0, start), free, estimated, most)
        if found is None or (again is not None and again.value < found.value):
            found = again
    if found is None:
        raise DataError(
            "Firth's penalty needs an information matrix that has an inverse, and here it has none: some columns "
            "depend on the others or some class has no rows, and are to be left out; or a coefficient is held so far "
            "out that all fitted probabilities are 0 or 1."
        )
    return found


def _ascend(objective: Objective, theta: Floats, free: Mask, estimated: Mask, most: int) -> Solution | None:
    """Scoring steps from theta; None where there is no information to start with."""
    point = _look(objective, theta, estimated)
    if point is None:
        return None
    index = np.flatnonzero(free.ravel())
    memory: deque[Pair] = deque(maxlen=MEMORY)
    last: tuple[Floats, Floats] | None = None
    iterations, least, since = 0, np.inf, 0
    while True:
        score = (jeffreys_gradient(objective, theta, point.inverse) - point.at.gradient).ravel()[index]
        if last is not None:
            moved_by, fallen = theta.ravel()[index] - last[0], last[1] - score
            bend = float(moved_by @ fallen)
            # Only steps along which the function is concave are kept.
            if bend > 1e-10 * float(np.linalg.norm(moved_by) * np.linalg.norm(fallen)):
                memory.append((moved_by, fallen, bend))
        last = theta.ravel()[index], score
        information = point.at.hessian[np.ix_(index, index)]
        solve = partial(solve_positive, information)
        gap = 0.5 * float(score @ solve(score)) if len(index) else 0.0
        since = 0 if gap < 0.5 * least else since + 1
        least = min(least, gap)
        # Rounding may leave more than the goal where the information is nearly singular.
        converged = gap * point.at.rows <= CLOSE * point.at.weight or (since >= STALLED and gap <= ROUNDED)
        if converged or iterations >= most:
            break
        iterations += 1
        step = np.zeros(theta.shape)
        step.flat[index] = two_loops(score, memory, solve)
        moved = _move(objective, theta, step, point.value, estimated)
        if moved is None:
            # No part of the step raises the penalised likelihood: what is left is rounding.
            converged = gap <= ROUNDED
            break
        theta, point = moved
    return Solution(theta, point.value, point.at.loss, point.at, iterations, converged, gap, exact=True)


def two_loops(gradient: Floats, pairs: deque[Pair], inverse: Callable[[Floats], Floats]) -> Floats:
    """The product of the inverse curvature, as the pairs correct it, with the gradient."""
    rest, shares = gradient.copy(), []
    for step, change, bend in reversed(pairs):
        share = (step @ rest) / bend
        rest -= share * change
        shares.append(share)
    result = inverse(rest)
    for (step, change, bend), share in zip(pairs, reversed(shares), strict=True):
        result += (share - (change @ result) / bend) * step
    return result


@dataclass(frozen=True)
class _Point:
    """The sums at a theta, the inverse information (zero at what is not estimated) and minus the penalised l."""

    at: Likelihood
    inverse: Floats
    value: float


def _look(objective: Objective, theta: Floats, estimated: Mask) -> _Point | None:
    """One pass; None where the information has no inverse."""
    at = objective.at(theta, depth=CURVATURE)
    index = np.flatnonzero(estimated.ravel())
    information = at.hessian[np.ix_(index, index)]
    inverse = np.zeros(at.hessian.shape)
    if not len(index):
        return _Point(at, inverse, at.loss)
    factored = scaled_cholesky(information) if at.finite else None
    if factored is None:
        return None
    lower, scale = factored
    inverse[np.ix_(index, index)] = inverse_of(lower, scale)
    log_det = 2.0 * float(np.log(np.diagonal(lower)).sum() + np.log(scale).sum())
    return _Point(at, inverse, at.loss - 0.5 * log_det)


def _move(
    objective: Objective, theta: Floats, step: Floats, value: float, estimated: Mask
) -> tuple[Floats, _Point] | None:
    """The largest of the step, its half, its quarter ... that does not lower the penalised likelihood."""
    rounding = 1e-13 * max(abs(value), 1.0)
    # Where there is little information the steps are wild; columns of unit variance need no longer ones than this.
    step = step / max(1.0, float(np.abs(step).max()) / LONGEST)
    for halvings in range(40):
        target = theta + 0.5**halvings * step
        point = _look(objective, target, estimated)
        if point is not None and point.value <= value + rounding:
            return target, point
    return None


def jeffreys_gradient(objective: Objective, theta: Floats, inverse: Floats) -> Floats:
    """The gradient of log det I(theta) / 2, shaped as theta: one pass.

    ``inverse`` is the inverse of the information of those entries that the determinant is taken over, and zero
    elsewhere (square in theta's size). With p_i the fitted probability and h_i = w_i p_i (1 - p_i) z_i' I^-1 z_i the
    leverage, the binary gradient is sum_i h_i (1/2 - p_i) z_i. For K classes let Q be the K x K matrix of
    z' (I^-1)_kl z and s_j = (e_j - p)'Q(e_j - p): the part of class m is sum_i w_i p_m (s_m - sum_j p_j s_j) z_i / 2,
    for that contracts the third cumulants of the multinomial with Q.

    Cost: n size^2 multiplications, size counting all classes.
    """
    return objective.reduce(partial(_softmax if objective.softmax else _binary, objective, theta, inverse), add_arrays)


def _binary(objective: Objective, theta: Floats, inverse: Floats, block: Block) -> Floats:
    total = np.zeros(theta.shape)
    for part, z in solver_rows(block, objective.classes, objective.coordinates, 2 * len(theta)):
        eta = z @ theta if part.offset is None else z @ theta + part.offset
        p, q = np.exp(-np.logaddexp(0.0, -eta)), np.exp(-np.logaddexp(0.0, eta))
        leverage = p * q * np.einsum("ij,ij->i", z @ inverse, z)
        if part.weight is not None:
            leverage *= part.weight
        total += (0.5 * leverage * (q - p)) @ z
    return total


def _softmax(objective: Objective, theta: Floats, inverse: Floats, block: Block) -> Floats:
    classes, size = theta.shape
    total = np.zeros(theta.shape)
    for part, z in solver_rows(block, objective.classes, objective.coordinates, classes * (size + classes)):
        eta = z @ theta.T
        p = np.exp(eta - eta.max(axis=1, keepdims=True, initial=-np.inf))
        p /= p.sum(axis=1, keepdims=True)
        form = class_forms(z, inverse, classes)
        of_p = np.einsum("ikl,il->ik", form, p)
        s = np.einsum("ikk->ik", form) - 2.0 * of_p + np.sum(p * of_p, axis=1, keepdims=True)
        pull = 0.5 * p * (s - np.sum(p * s, axis=1, keepdims=True))
        if part.weight is not None:
            pull *= part.weight[:, None]
        total += pull.T @ z
    return total
