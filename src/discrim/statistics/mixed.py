"""The statistic of columns of different kinds: each column is remembered in the part that suits it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ForgetError
from discrim.statistics.bins import ClassBins
from discrim.statistics.by_class import ByClass, OneForm, union_of_classes
from discrim.statistics.cells import CellMoments
from discrim.statistics.counts import ClassCounts, count_levels, types_of_levels
from discrim.store.fields import Incoming, Many, Texts, damaged
from discrim.store.kinds import Of, stored
from discrim.typing import Floats, Index, Mask

CATEGORICAL, KERNEL = "categorical", "kernel"
# What the mean of counts, and of zeros and ones, may be.
LARGEST_MEAN = {"poisson": np.inf, "gamma-poisson": np.inf, "bernoulli": 1.0}


@stored(
    "statistic:mixed",
    names=Texts("p", tuple),
    likelihoods=Texts("p", tuple),
    cells=Of(CellMoments, {"K": "K"}),
    counts=Of(ClassCounts, {"K": "K"}),
    bins=Many(Of(ClassBins, {"K": "K"})),
)
@dataclass(frozen=True, eq=False)
class MixedStatistic(ByClass):
    """Counts of the levels of categorical columns, cell moments of all others, bins of those with a kernel density.

    ``names`` and ``likelihoods`` describe the columns in order. ``counts`` also has the weight and rows of the
    classes; a missing value is in no count and in no cell.

    Laws: those of its parts, ``merge`` and ``subtract``.
    """

    names: tuple[str, ...]
    likelihoods: tuple[str, ...]
    cells: CellMoments
    counts: ClassCounts
    bins: tuple[ClassBins, ...] = ()
    kind: ClassVar[str] = "mixed"

    def check_stored(self, file: Incoming) -> None:  # noqa: ARG002 - letters cannot say it
        """Each column is in one of the parts."""
        levels = self.likelihoods.count(CATEGORICAL)
        parts = len(self.counts.levels or ()), self.cells.n_features, len(self.bins)
        if parts != (levels, len(self.names) - levels, self.likelihoods.count(KERNEL)):
            raise damaged("likelihoods", "does not go with the parts of the statistic")

    @classmethod
    def of(cls, block: Block, names: Sequence[str], likelihoods: Sequence[str]) -> MixedStatistic:
        """The statistic of one block."""
        x: Any = block.x
        cells = CellMoments.of(replace(block, x=x.numbers))
        numeric = [likelihood for likelihood in likelihoods if likelihood != CATEGORICAL]
        bins = tuple(
            ClassBins.of(x.numbers[:, j], block.codes, block.classes, block.weight)
            for j, likelihood in enumerate(numeric)
            if likelihood == KERNEL
        )
        return cls(tuple(names), tuple(likelihoods), cells, count_levels(block), bins)

    @property
    def classes(self) -> NDArray[Any]:  # type: ignore[override]
        return self.counts.classes

    @property
    def weight(self) -> Floats:
        return self.counts.weight

    @property
    def rows(self) -> NDArray[np.int64]:
        return self.counts.rows

    @property
    def n_features(self) -> int:
        return len(self.names)

    @property
    def finite(self) -> bool:
        """False when infinity was among the rows."""
        return self.cells.finite

    @classmethod
    def merged(cls, parts: Sequence[MixedStatistic]) -> MixedStatistic:
        """The statistic of all parts' rows."""
        if len(parts) == 1:
            return parts[0]
        parts = _comparable(parts)
        classes = union_of_classes([part.classes for part in parts])
        return replace(
            parts[0],
            cells=CellMoments.merged([part.cells for part in parts]).including(classes),
            counts=ClassCounts.merged([part.counts for part in parts]),
            bins=tuple(ClassBins.merged(column) for column in zip(*(part.bins for part in parts), strict=True)),
        )

    def subtract(self, other: MixedStatistic) -> MixedStatistic:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there."""
        one, gone = _comparable([self, other])
        try:
            counts = one.counts.subtract(gone.counts)
        except ForgetError as error:
            raise error.named(self.of_kind(categorical=True)) from None
        try:
            cells = one.cells.subtract(gone.cells).including(one.classes)
        except ForgetError as error:
            raise error.named(self.of_kind(categorical=False)) from None
        bins = [whole.subtract(part) for whole, part in zip(one.bins, gone.bins, strict=True)]
        keep = np.isin(one.classes, counts.classes)
        left = replace(one, cells=cells.select(keep), counts=counts, bins=tuple(part.select(keep) for part in bins))
        if (left.cells.rows > counts.rows[:, None]).any():
            raise ForgetError("Cannot forget these rows: columns would be left with more values than rows.")
        return left

    def check_means(self, left: MixedStatistic) -> None:
        """Raise where counts, or zeros and ones, would be left with a mean that they cannot have."""
        numeric = [(i, kind) for i, kind in enumerate(self.likelihoods) if kind != CATEGORICAL]
        for j, (i, kind) in enumerate(numeric):
            if kind not in LARGEST_MEAN:
                continue
            mean = left.cells.mean[:, j]
            slack = 1e-9 * np.maximum(1.0, np.abs(self.cells.mean[:, j]).max(initial=0.0))
            wrong = (left.cells.weight[:, j] > 0) & ((mean < -slack) | (mean > LARGEST_MEAN[kind] + slack))
            if wrong.any():
                k = int(np.argmax(wrong))
                fact = f"Column {{column}} would be left with the mean {mean[k]:g}."
                raise self.counts.never_seen(left.counts, k, fact, i).named(self.names)

    def including(self, classes: NDArray[Any]) -> MixedStatistic:
        """The same with further classes of weight zero."""
        bins = tuple(part.including(classes) for part in self.bins)
        return replace(self, cells=self.cells.including(classes), counts=self.counts.including(classes), bins=bins)

    def select(self, keep: Mask) -> MixedStatistic:
        """The classes ``keep``, which have all values that are binned."""
        bins = tuple(part.select(keep) for part in self.bins)
        return replace(self, cells=self.cells.select(keep), counts=self.counts.select(keep), bins=bins)

    def relabel(self, sides: Index, labels: Sequence[Any]) -> MixedStatistic:
        """The statistic of the same rows when class k is called ``labels[sides[k]]``; sides[k] = -1 leaves it out."""
        if self.bins:
            raise DataError("Bins of all classes say too little of some of them.")
        return replace(self, cells=self.cells.relabel(sides, labels), counts=self.counts.relabel(sides, labels))

    def of_kind(self, *, categorical: bool) -> list[str]:
        """The names of the columns of levels, or of all others."""
        kinds = zip(self.names, self.likelihoods, strict=True)
        return [name for name, kind in kinds if (kind == CATEGORICAL) is categorical]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The bytes of the parts side by side, and the columns as JSON."""
        columns = json.dumps([self.names, self.likelihoods]).encode()
        parts = {"columns": columns, "cells": self.cells.to_bytes(), "counts": self.counts.to_bytes()}
        parts |= {f"bins {i}": part.to_bytes() for i, part in enumerate(self.bins)}
        return {key: np.frombuffer(part, np.uint8) for key, part in parts.items()}

    @classmethod
    def restored(cls, fields: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MixedStatistic:  # noqa: ARG003 - as of every statistic
        parts = {key: part.tobytes() for key, part in arrays.items()}
        names, likelihoods = (tuple(texts) for texts in json.loads(parts["columns"]))
        bins = tuple(ClassBins.from_bytes(parts[f"bins {i}"]) for i in range(likelihoods.count(KERNEL)))
        cells, counts = CellMoments.from_bytes(parts["cells"]), ClassCounts.from_bytes(parts["counts"])
        return cls(names, likelihoods, cells, counts, bins)


@dataclass(frozen=True)
class MixedOf(OneForm):
    """The reduction to ``MixedStatistic`` of columns with these names and likelihoods."""

    names: tuple[str, ...]
    likelihoods: tuple[str, ...]

    def of(self, block: Block) -> MixedStatistic:
        return MixedStatistic.of(block, self.names, self.likelihoods)

    def numbers(self, shape: Any) -> int:
        """How many numbers the cells have; how many levels there are is not known."""
        return 3 * len(self.names) * (2 if shape.classes is None else len(shape.classes))

    def by_class(self) -> MixedOf | None:
        """Bins are as wide as the values of all classes ask for."""
        return None if KERNEL in self.likelihoods else self


def _comparable(parts: Sequence[MixedStatistic]) -> list[MixedStatistic]:
    """The parts, if they are of the same columns; a column without any value takes the type it has elsewhere."""
    first = parts[0]
    if any((part.names, part.likelihoods) != (first.names, first.likelihoods) for part in parts):
        raise DataError("Statistics of different columns, or with different likelihoods, cannot be combined.")
    types = types_of_levels(first.of_kind(categorical=True), [part.counts for part in parts])
    return [replace(part, counts=_retyped(part.counts, types)) for part in parts]


def _retyped(counts: ClassCounts, types: Sequence[np.dtype[Any]]) -> ClassCounts:
    levels = counts.levels or ()
    return replace(
        counts, levels=tuple(v if len(v) else v.astype(dtype) for v, dtype in zip(levels, types, strict=True))
    )
