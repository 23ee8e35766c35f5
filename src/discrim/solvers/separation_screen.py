"""A test that most fits pass without a look at the rows: these classes overlap."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from discrim.engines.margins import largest_form
from discrim.engines.objective import Objective
from discrim.solvers.separation import default_free
from discrim.statistics.likelihood import Likelihood
from discrim.typing import Floats, Mask

# The part of a sum of n terms of size one that rounding may have changed, over n.
ROUNDING = 1e-14


def may_be_separated(objective: Objective, at: Likelihood, *, free: Mask | None = None) -> bool:
    """False only where the classes certainly overlap, told by the sums ``at`` some theta (any, best near the optimum).

    Let g and H be gradient and Hessian of the loss over the free entries, and lambda^2 = g'H^-1 g, twice the gap of
    Newton's method. Claim: if the rows are separated, then lambda^2 max_a a'H^-1 a >= 1, with the maximum over all
    margin vectors a (z_i, or z_i in the place of class y and -z_i in that of another class).

    Proof. Let d be a direction with margins m_a = a'd >= 0, not all zero. For a row of weight w and the probabilities
    p_k of the classes that are not its own, with margins m_k, the loss falls along d by w sum_k p_k m_k; the sum over
    the rows is -g'd. Its curvature along d is w times the variance of the margins under p, at most
    w sum_k p_k m_k^2. So d'Hd <= max m (-g'd). By Cauchy and Schwarz -g'd <= lambda (d'Hd)^1/2 and
    max m <= (max_a a'H^-1 a)^1/2 (d'Hd)^1/2. Together d'Hd <= lambda (max_a a'H^-1 a)^1/2 d'Hd, and d'Hd > 0 where H
    has an inverse. Groups with both outcomes have margin zero and add nothing; offsets only change p.

    No a'H^-1 a is above one over the row's own curvature along a, since that is a part of H. The smallest curvature of
    a row, which came with the sums, so decides most fits without a pass; where it does not, one pass finds the maximum
    itself. Rounding of g is allowed for.
    """
    free = default_free(objective) if free is None else free
    index = np.flatnonzero(free.ravel())
    if not len(index):
        return False
    inverse = _inverse(at.hessian[np.ix_(index, index)]) if at.finite else None
    if inverse is None:
        return True
    gradient = at.gradient.ravel()[index]
    decrement = float(np.sqrt(max(float(gradient @ inverse @ gradient), 0.0)))
    if at.least > 0 and _overlap(decrement, 1.0 / at.least, at.weight):
        return False
    padded = np.zeros(at.hessian.shape)
    padded[np.ix_(index, index)] = inverse
    return not _overlap(decrement, largest_form(objective, padded), at.weight)


def _overlap(decrement: float, form: float, weight: float) -> bool:
    return bool(decrement * np.sqrt(form) + ROUNDING * weight * form < 0.5)


def _inverse(hessian: Floats) -> Floats | None:
    """None where columns depend on each other as far as the digits tell."""
    scale = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))
    if not scale.all():
        return None
    lower, info = lapack.dpotrf(hessian / scale[:, None] / scale, lower=1, clean=1)
    if info != 0 or np.diagonal(lower).min() <= 1e-7:
        return None
    root, _ = lapack.dtrtri(lower, lower=1)
    return np.asarray((root.T @ root) / scale[:, None] / scale)
