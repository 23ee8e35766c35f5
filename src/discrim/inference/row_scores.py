"""What a logistic fit says of single rows, and the sums of their squared scores, of which sandwich errors are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from discrim.block import Block
from discrim.families.logistic.objective import Objective, solver_rows
from discrim.families.logistic.recipe import Reweighted
from discrim.families.recipe import Passes
from discrim.typing import Floats


class Predicted(NamedTuple):
    """What a fit says of n rows: linear predictors, mu, 1 - mu and the response y, all n x K, and n weights.

    For two classes K is 1, the second class. Both mu and 1 - mu are kept, so that rows that are all but certain keep
    the digits of what they miss.
    """

    eta: Floats
    mu: Floats
    other: Floats
    y: Floats
    w: Floats

    @property
    def gap(self) -> Floats:
        """y - mu."""
        return np.asarray(self.y * self.other - (1.0 - self.y) * self.mu)

    @property
    def curvature(self) -> Floats:
        """W = w (diag(mu) - mu mu'), n x K x K."""
        k = np.arange(self.mu.shape[1])
        inner = -self.mu[:, :, None] * self.mu[:, None, :]
        inner[:, k, k] = self.mu * self.other
        return np.asarray(self.w[:, None, None] * inner)


def predicted(eta: Floats, block: Block, codes: NDArray[np.int32]) -> Predicted:
    """The rows of a block at their predictors without offsets (n x K, or n x 1), with their codes among the classes."""
    eta = eta if block.offset is None else eta + block.offset[:, None]
    w = np.ones(len(block)) if block.weight is None else block.weight
    if eta.shape[1] == 1:
        y = (codes == 1).astype(float) if block.share is None else block.share
        return Predicted(eta, expit(eta), expit(-eta), y[:, None], w)
    mu = np.asarray(softmax(eta, axis=1))
    return Predicted(eta, mu, 1.0 - mu, np.eye(eta.shape[1])[codes], w)


def weights_are_counts(rows: Passes) -> bool:
    """Could every weight be a number of equal rows? Class weights other than 1 never are; no weights are.

    Cost: a look at the weights, which stops at the first fraction; of a scan with weights one read.
    """
    if isinstance(rows, Reweighted):
        return bool(np.all(rows.factors == 1.0)) and weights_are_counts(rows.inner)
    for block in rows.blocks():
        if block.weight is None:
            return True
        if not (block.weight == np.rint(block.weight)).all():
            return False
    return True


def score_products(objective: Objective, theta: Floats, power: int | None = None) -> Floats:
    """sum_i m_i g_i g_i' with g_i = (y_i - p_i) z_i for every class: square in theta's size, one pass.

    With weights w_i = n_i f_i of counts n_i and class weights f_i, m_i = n_i f_i^2; where they are fractions, or rows
    are groups of trials, which may depend on each other, m_i = w_i^2. Of other rows ``power`` gives m_i = w_i^power.
    Cost: n size^2 multiplications.
    """
    rows, total = objective.rows, np.zeros((theta.size, theta.size))
    counted = weights_are_counts(rows.inner if isinstance(rows, Reweighted) else rows)
    factors = rows.factors if isinstance(rows, Reweighted) else np.ones(len(objective.classes))
    for block in rows.blocks():
        for part, scores in _scores(objective, theta, block):
            if part.weight is not None:
                equal = power == 1 if power else counted
                of = factors[part.codes] if power is None else 1.0
                scores *= (np.sqrt(part.weight * of) if equal and part.share is None else part.weight)[:, None]
            total += scores.T @ scores
    return total


def score_sums(objective: Objective, theta: Floats, codes: NDArray[np.intp], groups: int) -> Floats:
    """sum over the rows of each group of w_i g_i: groups x size. ``codes`` are those of all rows, in their order."""
    total, start = np.zeros((groups, theta.size)), 0
    for block in objective.rows.blocks():
        of = codes[start : start + len(block)]
        start += len(block)
        kept = of if block.weight is None else of[block.weight > 0]
        at = 0
        for part, scores in _scores(objective, theta, block):
            if part.weight is not None:
                scores *= part.weight[:, None]
            np.add.at(total, kept[at : at + len(part)], scores)
            at += len(part)
    return total


def _scores(objective: Objective, theta: Floats, block: Block) -> Iterator[tuple[Block, Floats]]:
    """Parts of the block and g_i of their rows, without weights; rows of weight zero are left out."""
    for part, z in solver_rows(block, objective.classes, objective.coordinates, 2 * theta.size):
        gap = predicted(z @ np.atleast_2d(theta).T, part, part.codes).gap
        yield part, (gap[:, :, None] * z[:, None, :]).reshape(len(z), theta.size)
