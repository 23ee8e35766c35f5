"""Class bins: the distribution of one column in each class, as fine as a bounded number of bins allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ForgetError
from discrim.statistics.by_class import ByClass, spread_out, union_of_classes
from discrim.statistics.forgetting import ROUNDING
from discrim.store.fields import Array, Whole
from discrim.store.kinds import stored
from discrim.store.values import Labels
from discrim.typing import Floats

# Bins of a column that hold anything.
MOST = 512
# Below this power of two numbers are zero.
FINEST = -1074


@stored(
    "statistic:bins",
    classes=Labels("K"),
    exponent=Whole(-1100, 1100),
    place=Array("b", "<i8"),
    weight=Array("K b", low=0.0),
)
@dataclass(frozen=True, eq=False)
class ClassBins(ByClass):
    """The statistic of a kernel density estimate.

    Bin b of width 2^``exponent`` holds [b, b + 1) 2^exponent. ``place`` lists the bins that hold anything, in order,
    and ``weight`` (K x B) is what class k has in them. The width is the smallest power of two at which no more than
    MOST bins are used, which depends on the values alone: up to MOST distinct values are kept as they are.

    Laws: ``merge`` equals the statistic of all rows together, is commutative and associative. ``subtract`` undoes
    it at the width of the whole, which cannot become finer again.
    """

    classes: NDArray[Any]
    exponent: int
    place: NDArray[np.int64]
    weight: Floats
    kind: ClassVar[str] = "bins"
    per_class: ClassVar[Sequence[str]] = ("weight",)

    @classmethod
    def of(cls, values: Floats, codes: NDArray[np.int32], classes: NDArray[Any], weight: Floats | None) -> ClassBins:
        """The bins of a column; NaN is missing."""
        w = np.ones(len(values)) if weight is None else weight
        known = np.isfinite(values) & (w > 0)
        values, codes, w = values[known], codes[known], w[known]
        largest = float(np.abs(values).max(initial=0.0))
        # At this width every double up to the largest has a bin of its own.
        exponent = max(int(np.frexp(largest)[1]) - 52, FINEST) if largest else FINEST
        place, at = np.unique(np.floor(np.ldexp(values, -exponent)).astype(np.int64), return_inverse=True)
        shift = _coarsening(place)
        coarse, again = np.unique(place >> shift, return_inverse=True)
        size = len(classes)
        key = codes.astype(np.int64) * len(coarse) + again[at]
        counts: Floats = np.bincount(key, w, size * len(coarse)).reshape(size, len(coarse)).astype(np.float64)
        return cls(classes, exponent + shift, coarse, counts)

    @property
    def centres(self) -> Floats:
        """The middles of the bins."""
        return np.asarray(np.ldexp(self.place + 0.5, self.exponent))

    @classmethod
    def merged(cls, parts: Sequence[ClassBins]) -> ClassBins:
        """The statistic of all parts' rows: brought to one width, everything adds up."""
        if len(parts) == 1:
            return parts[0]
        classes = union_of_classes([part.classes for part in parts])
        exponent = max(part.exponent for part in parts)
        spread = [_at_width(part.including(classes), exponent) for part in parts]
        place = np.unique(np.concatenate([part.place for part in spread]))
        weight = np.zeros((len(classes), len(place)))
        for part in spread:
            weight[:, np.searchsorted(place, part.place)] += part.weight
        return _at_width(cls(classes, exponent, place, weight), exponent + _coarsening(place))

    def subtract(self, other: ClassBins) -> ClassBins:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there."""
        gone = self.aligned(other)
        if len(other.place) and other.exponent > self.exponent:
            raise ForgetError("Cannot forget these rows: they have more distinct values than were seen.")
        gone = _at_width(gone, self.exponent)
        if not np.isin(gone.place, self.place).all():
            raise ForgetError("Cannot forget these rows: some of their values were not seen.")
        removed = spread_out(gone.weight.T, np.searchsorted(self.place, gone.place), len(self.place)).T
        weight = self.weight - removed
        weight[np.abs(weight) <= ROUNDING * self.weight] = 0.0
        if (weight < 0).any():
            raise ForgetError("Cannot forget these rows: some of their values were not seen so often.")
        alive = weight.any(axis=0)
        return replace(self, place=self.place[alive], weight=np.ascontiguousarray(weight[:, alive]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"exponent": np.array([self.exponent]), "place": self.place, "weight": self.weight}

    @classmethod
    def restored(cls, fields: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ClassBins:
        return cls(**fields, exponent=int(arrays.pop("exponent")[0]), **arrays)


def _coarsening(place: NDArray[np.int64]) -> int:
    """How often sorted bins must be joined in pairs until no more than MOST are left."""
    shift = 0
    while len(place) and 1 + np.count_nonzero(np.diff(place >> shift)) > MOST:
        shift += 1
    return shift


def _at_width(bins: ClassBins, exponent: int) -> ClassBins:
    if exponent < bins.exponent:
        raise DataError("Bins cannot be made finer than they are.")
    if exponent == bins.exponent or not len(bins.place):
        return replace(bins, exponent=exponent)
    # Beyond 62 all that is left of a place is its sign.
    coarse = bins.place >> min(exponent - bins.exponent, 62)
    place, first = np.unique(coarse, return_index=True)
    return replace(bins, exponent=exponent, place=place, weight=np.add.reduceat(bins.weight, first, axis=1))
