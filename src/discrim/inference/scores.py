"""Sums of squared scores over the rows, of which sandwich standard errors are made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.logistic.objective import Objective, solver_rows
from discrim.families.logistic.recipe import Reweighted
from discrim.families.recipe import Passes
from discrim.typing import Floats


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


def score_products(objective: Objective, theta: Floats) -> Floats:
    """sum_i m_i g_i g_i' with g_i = (y_i - p_i) z_i for every class: square in theta's size, one pass.

    With weights w_i = n_i f_i of counts n_i and class weights f_i, m_i = n_i f_i^2; where they are fractions, or rows
    are groups of trials, which may depend on each other, m_i = w_i^2. Cost: n size^2 multiplications.
    """
    rows, total = objective.rows, np.zeros((theta.size, theta.size))
    counted = weights_are_counts(rows.inner if isinstance(rows, Reweighted) else rows)
    factors = rows.factors if isinstance(rows, Reweighted) else np.ones(len(objective.classes))
    for block in rows.blocks():
        for part, scores in _scores(objective, theta, block):
            if part.weight is not None:
                equal = counted and part.share is None
                scores *= (np.sqrt(part.weight * factors[part.codes]) if equal else part.weight)[:, None]
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
    per_row = 2 * theta.size
    for part, z in solver_rows(block, objective.classes, objective.coordinates, per_row):
        if not objective.softmax:
            eta = z @ theta if part.offset is None else z @ theta + part.offset
            y = part.codes if part.share is None else part.share
            # Both p and 1 - p, so that rows that are all but certain keep the digits of what they miss.
            p, q = np.exp(-np.logaddexp(0.0, -eta)), np.exp(-np.logaddexp(0.0, eta))
            yield part, (y * q - (1.0 - y) * p)[:, None] * z
            continue
        eta = z @ theta.T
        p = np.exp(eta - eta.max(axis=1, keepdims=True, initial=-np.inf))
        p /= p.sum(axis=1, keepdims=True)
        residual = -p
        residual[np.arange(len(p)), part.codes] += 1.0
        yield part, (residual[:, :, None] * z[:, None, :]).reshape(len(z), theta.size)
