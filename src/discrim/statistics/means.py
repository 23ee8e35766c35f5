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
from discrim.typing import Floats

# Weights and variances this small, relative to what was there before, are rounding.
ROUNDING = 1e-11
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


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
    def low(self) -> Floats | None: ...
    @property
    def depth(self) -> Depth: ...


@dataclass(frozen=True)
class Together:
    """The parts' classes, weights and means joined; ``gaps[b]`` is part b's mean minus the joint one.

    ``mean`` + ``low`` is the joint mean to twice the digits of a double.
    """

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    low: Floats
    at: list[NDArray[np.intp]]
    weights: Floats
    gaps: Floats


def join(parts: Sequence[HasMeans]) -> Together:
    """Weights add up, and the joint mean is the weighted mean of the means."""
    same_shape(parts)
    classes = union_of_classes([part.classes for part in parts])
    at = _all_places(parts, classes)

    def together(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        if classes is not parts[0].classes:
            arrays = [spread_out(values, a, len(classes)) for values, a in zip(arrays, at, strict=True)]
        return np.array(arrays)

    weights, means = together([part.weight for part in parts]), together([part.mean for part in parts])
    lows, rows = together([low_of(part) for part in parts]), together([part.rows for part in parts]).sum(axis=0)
    mean, low, gaps = join_means(weights[:, :, None], means, lows)
    return Together(classes, weights.sum(axis=0), rows, mean, low, at, weights, gaps)


def _all_places(parts: Sequence[HasMeans], classes: NDArray[Any]) -> list[NDArray[np.intp]]:
    if classes is parts[0].classes:  # those of all parts
        return [np.arange(len(classes))] * len(parts)
    return [places(part.classes, classes) for part in parts]


def join_means(weights: Floats, means: Floats, lows: Floats) -> tuple[Floats, Floats, Floats]:
    """The weighted mean over the parts (the first axis of all), its low part, and the parts' distances from it.

    A part may have one weight for all columns.
    """
    total = weights.sum(axis=0)
    share = weights / np.where(total > 0, total, 1.0)
    # The mean is a correction to the heaviest part's mean, so that a common offset costs no digits.
    heaviest = weights.argmax(axis=0)
    if weights.shape[2] == 1:
        places = heaviest[:, 0], np.arange(len(heaviest))
        base, base_low = means[places], lows[places]
    else:
        base, base_low = (np.take_along_axis(values, heaviest[None], axis=0)[0] for values in (means, lows))
    with np.errstate(invalid="ignore"):  # what is not finite is looked for by the caller
        apart = np.where(weights > 0, (means - base) + (lows - base_low), 0.0)
        mean, low = two_sum(base, base_low + (share * apart).sum(axis=0))
        return mean, low, np.where(weights > 0, (means - mean) + (lows - low), 0.0)


@dataclass(frozen=True)
class Apart:
    """What is left of weights and means; ``gap`` is the remaining mean minus the removed one.

    The scatter of what was removed from ``gap`` is ``factor_k gap_k gap_k'``; ``noise`` (K x p) is what the
    rounding of the means brings into the root of a class's scatter.
    """

    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    low: Floats
    at: NDArray[np.intp]
    gap: Floats
    factor: Floats
    noise: Floats


def take_away(whole: HasMeans, part: HasMeans, spread: Floats) -> Apart:
    """The inverse of ``join``; refuses rows that cannot have been there.

    ``spread`` (K x p) is the deviation of the columns in the classes of the whole, or more.
    """
    same_shape([whole, part])
    gone, gone_rows, gone_mean, gone_low, at = _among(part, whole.classes)
    weight, rows = whole.weight - gone, whole.rows - gone_rows
    weight[(rows == 0) & (np.abs(weight) <= ROUNDING * whole.weight)] = 0.0
    lacking = (rows < 0) | (weight < 0) | ((rows > 0) & (weight == 0) & (gone > 0)) | ((rows == 0) & (weight > 0))
    if lacking.any():
        k = int(np.argmax(lacking))
        raise ForgetError(
            f"Cannot forget {gone_rows[k]} rows (weight {gone[k]:g}) of class '{whole.classes[k]}': "
            f"only {whole.rows[k]} rows (weight {whole.weight[k]:g}) were seen."
        )
    left, known = np.where(weight > 0, weight, 1.0), whole.low is not None and part.low is not None
    distance = (whole.mean - gone_mean) + (low_of(whole) - gone_low)
    mean, low = two_sum(whole.mean, low_of(whole) + (gone / left)[:, None] * distance)
    mean[weight == 0], low[weight == 0] = 0.0, 0.0
    gap = np.where((weight * gone > 0)[:, None], (whole.weight / left)[:, None] * distance, 0.0)
    factor = weight * gone / np.where(whole.weight > 0, whole.weight, 1.0)
    error = mean_error(whole.mean, spread, whole.rows[:, None], known=known)
    # What a mean is not known to, the remaining one is not known to n_k / (what is left of n_k) times.
    amplified = whole.weight / np.sqrt(np.where(weight > 0, weight, np.maximum(whole.weight, 1.0)))
    # Squares are summed about a pilot that is off by up to one unit in the last place, which is then taken out again:
    # of a constant column that leaves eps n (eps |mean|)^2.
    about_pilot = np.sqrt(2.0 * EPS * whole.weight)[:, None] * EPS * np.abs(whole.mean)
    return Apart(weight, rows, mean, low, at, gap, factor, amplified[:, None] * error + about_pilot)


def _among(part: HasMeans, classes: NDArray[Any]) -> tuple[Floats, NDArray[np.int64], Floats, Floats, NDArray[np.intp]]:
    """Weights, rows, means and their low parts in the order of ``classes``, and where the classes stand in it."""
    size, arrays = len(classes), (part.weight, part.rows, part.mean, low_of(part))
    if len(part.classes) == size and bool(np.all(part.classes == classes)):
        return *arrays, np.arange(size)
    unknown = part.classes[~np.isin(part.classes, classes)]
    if len(unknown):
        raise ForgetError(f"Cannot forget rows of class {name_list(unknown)}: the statistic has no such class.")
    at = places(part.classes, classes)
    weight, rows, mean, low = (spread_out(values, at, size) for values in arrays)
    return weight, rows, mean, low, at


def mean_error(mean: Floats, spread: Floats, rows: NDArray[np.int64], *, known: bool) -> Floats:
    """To what a mean is known: a part of the deviation, and of the mean itself where its ``low`` part is not known."""
    of_mean = EPS * EPS if known else EPS + EPS * EPS
    return np.asarray(EPS * (2.0 + 0.125 * np.sqrt(rows)) * spread + of_mean * np.abs(mean))


def low_of(statistic: HasMeans) -> Floats:
    """What the means lack to twice the digits of a double; zero where nobody kept it."""
    return np.zeros_like(statistic.mean) if statistic.low is None else statistic.low


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a + b rounded, and what the rounding left out, exactly."""
    total = a + b
    moved = total - a
    return total, (a - (total - moved)) + (b - moved)


def grand_mean(weight: Floats, mean: Floats) -> Floats:
    """The mean of all rows (p), as a correction to that of the heaviest class, so that an offset costs no digits."""
    k, _, by = _from_heaviest(weight, mean, None)
    return np.asarray(mean[k] + by)


def mean_and_gaps(statistic: HasMeans) -> tuple[Floats, Floats]:
    """The mean of all rows (p), and how far that of each class is from it (K x p)."""
    mean, low = statistic.mean, statistic.low
    k, apart, by = _from_heaviest(statistic.weight, mean, low)
    return mean[k] + (by if low is None else low[k] + by), apart - by


def gaps_of(weight: Floats, mean: Floats) -> Floats:
    """How far the mean of each class is from that of all rows (K x p)."""
    _, apart, by = _from_heaviest(weight, mean, None)
    return np.asarray(apart - by)


def _from_heaviest(weight: Floats, mean: Floats, low: Floats | None) -> tuple[int, Floats, Floats]:
    """The heaviest class, how far the means are from its mean (K x p), and how far that of all rows is (p)."""
    k = int(weight.argmax())
    apart = mean - mean[k]
    if low is not None:
        apart += low - low[k]
    return k, apart, weight.dot(apart) / max(float(weight.sum()), TINY)


def same_shape(parts: Sequence[HasMeans]) -> None:
    depths = sorted({str(part.depth) for part in parts})
    if len(depths) > 1:
        raise DataError(f"Statistics of different depths cannot be combined: {', '.join(depths)}.")
    widths = sorted({part.mean.shape[1] for part in parts})
    if len(widths) > 1:
        raise DataError(f"Statistics of {widths[0]} and of {widths[-1]} columns cannot be combined.")
