"""Firth's estimate with unbiased probabilities: FLIC and FLAC of Puhr, Heinze, Nold, Lusa and Geroldinger (2017).

Firth's correction draws probabilities towards one half: where one class is rare, its predicted probabilities are too
large on average. Both forms give them the mean of the observed share again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from discrim.block import Block
from discrim.families.logistic.objective import Objective, Solution, newton, solver_rows
from discrim.families.logistic.positive import inverse_of, scaled_cholesky
from discrim.statistics.likelihood import CURVATURE, GRADIENT, LOSS, Likelihood, merge_likelihoods
from discrim.typing import Floats, Mask


def flic(objective: Objective, found: Solution, free: Mask) -> Solution:
    """Firth's slopes with the intercept of maximum likelihood: sum_i w_i (y_i - p_i) = 0, for every class.

    The sums of the answer are those at its theta, so that standard errors follow from the information there. Cost: a
    few passes.
    """
    intercepts = np.zeros(free.shape, bool)
    intercepts[..., 0] = free[..., 0]
    moved = newton(objective, found.theta, free=intercepts)
    at = objective.at(moved.theta, depth=CURVATURE)
    steps, converged = found.iterations + moved.iterations, found.converged and moved.converged
    return Solution(moved.theta, at.loss, at.loss, at, steps, converged, moved.gap, exact=True)


def flac(objective: Objective, found: Solution, free: Mask) -> Solution:
    """Maximum likelihood on the rows and on those that Firth's correction stands for, kept apart by a further column.

    Firth's estimate is that of maximum likelihood where each row comes a second time with the weight h_i and half a
    success in one trial; h_i is its leverage at that estimate. A column that is 1 in these and 0 in the others, whose
    coefficient is then dropped, makes the probabilities of the rows themselves unbiased. The ``hessian`` of the answer
    is the information on theta that is left when this coefficient is estimated too. Two classes. Cost: a few passes.
    """
    index = np.flatnonzero(free)
    inverse = np.zeros((len(free), len(free)))
    factored = scaled_cholesky(found.at.hessian[np.ix_(index, index)])
    if factored is not None:
        inverse[np.ix_(index, index)] = inverse_of(*factored)
    both = WithPseudoRows(objective, found.theta, inverse)
    moved = newton(both, np.append(found.theta, 0.0), free=np.append(free, True))
    theta = moved.theta[:-1]
    own, at = objective.at(theta, depth=LOSS).loss, both.at(moved.theta, depth=CURVATURE)
    across = at.hessian[:-1, -1]
    left = at.hessian[:-1, :-1] - np.outer(across, across) / at.hessian[-1, -1]
    sums = replace(at, loss=own, gradient=at.gradient[:-1], hessian=left, weight=found.at.weight, rows=found.at.rows)
    steps, converged = found.iterations + moved.iterations, found.converged and moved.converged
    return Solution(theta, own, own, sums, steps, converged, moved.gap, exact=True)


@dataclass(frozen=True, eq=False)
class WithPseudoRows:
    """The likelihood of (theta, gamma): of the rows, and of pseudo-rows with predictors z'theta + gamma.

    The pseudo-row of a row has half a success in one trial and its leverage h = w p (1 - p) z' ``inverse`` z at
    ``firth`` as its weight.
    """

    rows: Objective
    firth: Floats
    inverse: Floats

    def at(
        self, theta: Floats, *, depth: int = GRADIENT, along: Floats | None = None, steps: Sequence[float] = ()
    ) -> Likelihood:
        """The sums at (theta, gamma), and the losses at further points along a direction: two passes."""
        own = self.rows.at(theta[:-1], depth=depth, along=None if along is None else along[:-1], steps=steps)
        pseudo = self.rows.reduce(lambda block: self._of(theta, along, steps, block), merge_likelihoods)
        size = len(theta)
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        if own.gradient.size:
            gradient[:-1] = own.gradient
        if own.hessian.size:
            hessian[:-1, :-1] = own.hessian
        return Likelihood(
            own.loss + pseudo.loss, gradient + pseudo.gradient, hessian + pseudo.hessian,
            own.losses + pseudo.losses, own.weight + pseudo.weight, own.rows,
        )  # fmt: skip

    def _of(self, theta: Floats, along: Floats | None, steps: Sequence[float], block: Block) -> Likelihood:
        size, objective = len(theta), self.rows
        loss, weight, losses = 0.0, 0.0, np.zeros(len(steps))
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        for part, z in solver_rows(block, objective.classes, objective.coordinates, 2 * size):
            offset = 0.0 if part.offset is None else part.offset
            before = z @ self.firth + offset
            h = expit(before) * expit(-before) * np.einsum("ij,ij->i", z @ self.inverse, z)
            h = h if part.weight is None else h * part.weight
            z = np.column_stack([z, np.ones(len(z))])
            eta = z @ theta + offset
            p = expit(eta)
            loss += float(h @ _even_loss(eta))
            weight += float(h.sum())
            gradient += (h * (p - 0.5)) @ z
            hessian += (z.T * (h * p * expit(-eta))) @ z
            if along is not None:
                step = z @ along
                losses += [h @ _even_loss(eta + length * step) for length in steps]
        return Likelihood(loss, gradient, hessian, losses, weight, 0)


def _even_loss(eta: Floats) -> Floats:
    """Of half a success in one trial: -(log p + log(1 - p)) / 2."""
    return np.asarray(np.logaddexp(0.0, eta) - 0.5 * eta)
