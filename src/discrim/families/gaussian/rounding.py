"""Columns whose values are so large that their rounding hides how they vary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discrim.errors import PrecisionWarning, name_list
from discrim.families.gaussian.covariance import last_place
from discrim.families.gaussian.naive import CONSTANT
from discrim.families.recipe import Remark, Shape
from discrim.statistics import ClassFactors, ClassMoments, Depth
from discrim.typing import Floats


def rounded_columns(statistic: ClassMoments | ClassFactors, shape: Shape) -> Remark | None:
    """Name the columns that vary within a class, but by no more than one unit in the last place of their values."""
    squares = statistic.squares
    divisor = statistic.weight[:, None] if statistic.depth is not Depth.POOLED else np.array(statistic.total_weight)
    deviation = np.sqrt(np.maximum(squares, 0.0) / np.where(divisor > 0, divisor, 1.0))
    return rounded_deviations(statistic.mean, deviation, shape.columns.names_out, shape.eps)


def rounded_deviations(mean: Floats, deviation: Floats, names: Sequence[str], eps: float) -> Remark | None:
    """The same from means (K x p) and deviations (K x p, or 1 x p of all classes together)."""
    unit = last_place(mean, eps)
    if len(deviation) < len(unit):
        unit = unit.max(axis=0, keepdims=True)
    lost = np.flatnonzero(((deviation > CONSTANT * unit) & (deviation <= unit)).any(axis=0)).tolist()
    if not lost:
        return None
    size = float(np.abs(mean[:, lost[0]]).max())
    return Remark(_message([names[j] for j in lost], size, eps), PrecisionWarning)


def _message(names: Sequence[str], size: float, eps: float) -> str:
    one, digits = len(names) == 1, int(-np.log10(eps))
    return (
        f"{'Column' if one else 'Columns'} {name_list(names)} {'varies' if one else 'vary'} within a class by no more "
        f"than the last of the {digits} digits that values near {size:.3g} have here, so most of what "
        f"{'it says is' if one else 'they say is'} rounding. Subtract a constant before the values are rounded"
        f"{', or keep them in double precision' if digits < 10 else ''}."
    )
