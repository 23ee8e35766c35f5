"""The pull of Jeffreys' prior: the gradient of half the log determinant of the information, summed over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from discrim.block import Block
from discrim.engines.objective import Objective
from discrim.engines.solver_rows import class_forms, solver_rows
from discrim.engines.threads import reduce_blocks
from discrim.parallel import one_blas_thread
from discrim.typing import Floats


def jeffreys_gradient(objective: Objective, theta: Floats, inverse: Floats) -> Floats:
    """The gradient of log det I(theta) / 2, shaped as theta: one pass.

    ``inverse`` is the inverse of the information of those entries that the determinant is taken over, and zero
    elsewhere (square in theta's size). With p_i the fitted probability and h_i = w_i p_i (1 - p_i) z_i' I^-1 z_i the
    leverage, the binary gradient is sum_i h_i (1/2 - p_i) z_i. For K classes let Q be the K x K matrix of
    z' (I^-1)_kl z and s_j = (e_j - p)'Q(e_j - p): the part of class m is sum_i w_i p_m (s_m - sum_j p_j s_j) z_i / 2,
    for that contracts the third cumulants of the multinomial with Q.

    Cost: n size^2 multiplications, size counting all classes.
    """
    objective.passes += 1
    of = partial(_softmax if objective.softmax else _binary, objective, theta, inverse)
    with one_blas_thread():
        return reduce_blocks(objective.rows, of, _added)


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


def _added(parts: Sequence[Floats]) -> Floats:
    return np.asarray(np.sum(parts, axis=0))
