"""Class weights and means of several parts taken together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ForgetError, name_list
from discrim.statistics.align import places, spread_out, union_of_classes
from discrim.statistics.depth import Depth

Floats = NDArray[np.float64]

# Weights and variances this small, relative to what was there before, are rounding.
ROUNDING = 1e-11


class HasMeans(Protocol):
    """What every statistic with class means has."""

    @property
    def classes(self) -> NDArray[Any]: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def rows(self) -> NDArray[np.int64]: ...
    @property
    def mean(self) -> Floats: ...
    @property
    def depth(self) -> Depth: ...


@dataclass(frozen=True)
class Together:
    """The parts' classes, weights and means joined; ``gaps[b]`` is part b's mean minus the joint one."""

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    at: list[NDArray[np.intp]]
    weights: Floats
    gaps: Floats


def join(parts: Sequence[HasMeans]) -> Together:
    """Weights add up, and the joint mean is the weighted mean of the means."""
    same_shape(parts)
    classes = union_of_classes([part.classes for part in parts])
    size = len(classes)
    at = [places(part.classes, classes) for part in parts]
    weights = np.stack([spread_out(part.weight, a, size) for part, a in zip(parts, at, strict=True)])
    means = np.stack([spread_out(part.mean, a, size) for part, a in zip(parts, at, strict=True)])
    rows = np.stack([spread_out(part.rows, a, size) for part, a in zip(parts, at, strict=True)]).sum(axis=0)
    weight = weights.sum(axis=0)
    share = weights / np.where(weight > 0, weight, 1.0)
    # The mean is a correction to the heaviest part's mean, so that a common offset costs no digits.
    base = means[weights.argmax(axis=0), np.arange(size)]
    mean = base + np.einsum("bk,bkj->kj", share, np.where(weights[:, :, None] > 0, means - base, 0.0))
    gaps = np.where(weights[:, :, None] > 0, means - mean, 0.0)
    return Together(classes, weight, rows, mean, at, weights, gaps)


@dataclass(frozen=True)
class Apart:
    """What is left of weights and means; ``gap`` is the remaining mean minus the removed one.

    The scatter of what was removed from ``gap`` is ``factor_k gap_k gap_k'``; ``noise`` (K x p) is what the
    rounding of the means brings into the root of a class's scatter.
    """

    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    at: NDArray[np.intp]
    gap: Floats
    factor: Floats
    noise: Floats


def take_away(whole: HasMeans, part: HasMeans) -> Apart:
    """The inverse of ``join``; refuses rows that cannot have been there."""
    same_shape([whole, part])
    unknown = part.classes[~np.isin(part.classes, whole.classes)]
    if len(unknown):
        raise ForgetError(f"Cannot forget rows of class {name_list(unknown)}: the statistic has no such class.")
    at, size = places(part.classes, whole.classes), len(whole.classes)
    gone, gone_rows = spread_out(part.weight, at, size), spread_out(part.rows, at, size)
    weight, rows = whole.weight - gone, whole.rows - gone_rows
    weight[(rows == 0) & (np.abs(weight) <= ROUNDING * whole.weight)] = 0.0
    lacking = (rows < 0) | (weight < 0) | ((rows > 0) & (weight == 0) & (gone > 0)) | ((rows == 0) & (weight > 0))
    if lacking.any():
        k = int(np.argmax(lacking))
        raise ForgetError(
            f"Cannot forget {gone_rows[k]} rows (weight {gone[k]:g}) of class '{whole.classes[k]}': "
            f"only {whole.rows[k]} rows (weight {whole.weight[k]:g}) were seen."
        )
    gone_mean = spread_out(part.mean, at, size)
    mean = whole.mean + (gone / np.where(weight > 0, weight, 1.0))[:, None] * (whole.mean - gone_mean)
    mean[weight == 0] = 0.0
    gap = np.where((weight * gone > 0)[:, None], mean - gone_mean, 0.0)
    factor = weight * gone / np.where(whole.weight > 0, whole.weight, 1.0)
    # A mean is known to eps |mu|, the remaining one to n_k / (what is left of n_k) times as much.
    amplified = whole.weight / np.sqrt(np.where(weight > 0, weight, np.maximum(whole.weight, 1.0)))
    noise = np.finfo(float).eps * amplified[:, None] * np.abs(whole.mean)
    return Apart(weight, rows, mean, at, gap, factor, noise)


def grand_mean(weight: Floats, mean: Floats) -> Floats:
    """The mean of all rows (p), as a correction to that of the heaviest class, so that an offset costs no digits."""
    base = mean[int(np.argmax(weight))]
    with np.errstate(invalid="ignore"):  # what is not finite is looked for by the caller
        gaps = np.where(weight[:, None] > 0, mean - base, 0.0)
        return np.asarray(base + weight @ gaps / max(float(weight.sum()), np.finfo(float).tiny))


def same_shape(parts: Sequence[HasMeans]) -> None:
    depths = sorted({str(part.depth) for part in parts})
    if len(depths) > 1:
        raise DataError(f"Statistics of different depths cannot be combined: {', '.join(depths)}.")
    widths = sorted({part.mean.shape[1] for part in parts})
    if len(widths) > 1:
        raise DataError(f"Statistics of {widths[0]} and of {widths[-1]} columns cannot be combined.")
