"""The statistic of the few-pass models: loss, gradient and curvature of a log-likelihood at theta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discrim.typing import Floats

# How much is asked for; BLOCKS is the curvature of every class by itself, size x size each.
LOSS, GRADIENT, CURVATURE, BLOCKS = 0, 1, 2, 3


@dataclass(frozen=True)
class Likelihood:
    """Sums over rows at one theta.

    ``loss`` is minus the log-likelihood, ``gradient`` has the shape of theta, ``hessian`` is square in theta's size
    (both empty where they were not asked for), ``losses`` are those at further points on a line. ``weight`` is the sum
    of the rows' weights, ``rows`` how many of them are positive. ``least`` is a lower bound of the curvature of every
    row, w mu (1 - mu) for two classes, 0 where it was not computed.

    Law: ``merge`` equals the statistic of all rows together.
    """

    loss: float
    gradient: Floats
    hessian: Floats
    losses: Floats
    weight: float
    rows: int
    least: float = 0.0

    @property
    def finite(self) -> bool:
        """False when NaN or infinity was among the rows, or theta is too large."""
        return bool(np.isfinite(self.loss) and np.isfinite(self.gradient).all() and np.isfinite(self.hessian).all())

    def merge(self, other: Likelihood) -> Likelihood:
        """The statistic of both sets of rows."""
        return merge_likelihoods([self, other])


def merge_likelihoods(parts: Sequence[Likelihood]) -> Likelihood:
    """All sums added, in the order of the parts."""
    if len(parts) == 1:
        return parts[0]
    return Likelihood(
        sum(part.loss for part in parts),
        add_arrays([part.gradient for part in parts]),
        add_arrays([part.hessian for part in parts]),
        add_arrays([part.losses for part in parts]),
        sum(part.weight for part in parts),
        sum(part.rows for part in parts),
        min(part.least for part in parts),
    )


def add_arrays(arrays: Sequence[Floats]) -> Floats:
    """The sum, added up in the order of the arrays."""
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total
