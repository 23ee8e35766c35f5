"""Columns whose values are so large that their rounding hides how they vary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discrim.errors import PrecisionWarning, name_list, warn
from discrim.solvers.naive import CONSTANT
from discrim.solvers.sphering import last_place
from discrim.sources import Design
from discrim.statistics import ClassFactors, ClassMoments, Depth
from discrim.typing import Floats


def warn_of_rounding(statistic: ClassMoments | ClassFactors, design: Design, eps: float) -> None:
    """Name the columns that vary within a class, but by no more than one unit in the last place of their values."""
    mean, squares = statistic.mean, statistic.squares
    if not squares.size:
        return
    # Nearly always nothing is anywhere near, and no column has to be looked at.
    flat = mean.ravel()
    with np.errstate(over="ignore"):  # means near the largest number have no bound, and are looked at
        bound = statistic.total_weight * eps**2 * float(flat.dot(flat))
    if float(squares.min()) > bound:
        return
    divisor = statistic.weight[:, None] if statistic.depth is not Depth.POOLED else np.array(statistic.total_weight)
    deviation = np.sqrt(np.maximum(squares, 0.0) / np.where(divisor > 0, divisor, 1.0))
    warn_of_deviations(mean, deviation, design.names_out, eps)


def warn_of_deviations(mean: Floats, deviation: Floats, names: Sequence[str], eps: float) -> None:
    """The same from means (K x p) and deviations (K x p, or 1 x p of all classes together)."""
    unit = last_place(mean, eps)
    if len(deviation) < len(unit):
        unit = unit.max(axis=0, keepdims=True)
    lost = np.flatnonzero(((deviation > CONSTANT * unit) & (deviation <= unit)).any(axis=0)).tolist()
    if lost:
        size = float(np.abs(mean[:, lost[0]]).max())
        warn(_message([names[j] for j in lost], size, eps), PrecisionWarning)


def _message(names: Sequence[str], size: float, eps: float) -> str:
    one, digits = len(names) == 1, int(-np.log10(eps))
    return (
        f"{'Column' if one else 'Columns'} {name_list(names)} {'varies' if one else 'vary'} within a class by no more "
        f"than the last of the {digits} digits that values near {size:.3g} have here, so most of what "
        f"{'it says is' if one else 'they say is'} rounding. Subtract a constant before the values are rounded"
        f"{', or keep them in double precision' if digits < 10 else ''}."
    )
