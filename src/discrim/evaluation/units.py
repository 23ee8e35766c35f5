"""Statistics in standardised columns: mean 0 and standard deviation 1 over their rows, without a look at these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats

# A standard deviation of less than this share of the mean is rounding.
ROUNDING = 8.0 * float(np.finfo(float).eps)


def moments_in_units(s: ClassMoments) -> tuple[ClassMoments, Floats, Floats]:
    """The statistic of the same rows in standardised columns, with their centre and scale: no row is read for it."""
    n = s.total_weight
    shares = s.weight / n
    centre = shares @ s.mean
    diagonal = s.scatter if s.depth is Depth.DIAGONAL else np.diagonal(s.scatter, axis1=-2, axis2=-1)
    within = diagonal.sum(axis=0) if s.depth is not Depth.POOLED else diagonal
    scale = usable_scale(np.sqrt(within / n + shares @ np.square(s.mean - centre)), centre)
    return in_units(s, centre, scale), centre, scale


def in_units(s: ClassMoments, centre: Floats, scale: Floats) -> ClassMoments:
    """The statistic of (x - centre) / scale."""
    square = scale**2 if s.depth is Depth.DIAGONAL else scale[:, None] * scale[None, :]
    return replace(s, mean=(s.mean - centre) / scale, scatter=s.scatter / square)


def usable_scale(deviation: Floats, centre: Floats) -> Floats:
    """Standard deviations to divide by; 1 for a column that is constant but for rounding."""
    return np.where(deviation > ROUNDING * np.abs(centre), deviation, 1.0)
