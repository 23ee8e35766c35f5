"""Columns whose values are so large that their rounding hides how they vary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discrim.errors import PrecisionWarning, name_list, warn
from discrim.solvers.naive import CONSTANT
from discrim.solvers.sphering import last_place
from discrim.statistics import ClassFactors, ClassMoments, Depth

Floats = NDArray[np.float64]


def warn_of_rounding(statistic: ClassMoments | ClassFactors, names: Sequence[str], eps: float) -> None:
    """Name the columns that vary within a class, but by no more than one unit in the last place of their values."""
    warn_of_deviations(statistic.mean, _deviations(statistic), names, eps)


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


def _deviations(statistic: ClassMoments | ClassFactors) -> Floats:
    if isinstance(statistic, ClassFactors):
        squares = np.stack([np.einsum("ij,ij->j", r, r) for r in statistic.factors])
    elif statistic.depth is Depth.DIAGONAL:
        squares = statistic.scatter
    else:
        p = statistic.n_features
        squares = np.diagonal(statistic.scatter.reshape(-1, p, p), axis1=1, axis2=2)
    divisor = statistic.weight if statistic.depth is not Depth.POOLED else np.array([statistic.total_weight])
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) / np.where(divisor > 0, divisor, 1.0)[:, None]))
