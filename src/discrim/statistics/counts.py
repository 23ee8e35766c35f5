"""Class counts: how often each column, or each level of each column, was met in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.errors import DataError, ForgetError, NegativeCountError, name_list
from discrim.statistics.align import places, spread_out, union_of_classes
from discrim.statistics.means import ROUNDING
from discrim.statistics.one_form import OneForm
from discrim.statistics.packing import pack, unpack
from discrim.typing import Floats, Index

Levels = tuple[NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The statistic of naive Bayes for counts.

    For each class k: ``weight`` n_k = sum w_i, ``rows`` the number of rows, and ``count`` N_kj = sum w_i x_ij.
    With ``levels`` the columns of ``count`` are the levels of the first feature, then those of the second, and so
    on, and N_kj is the weight of the rows that have the level; a missing value is in none. Nothing is smoothed.

    Laws: ``merge`` equals the statistic of all rows together, is commutative and associative, and ``subtract``
    undoes it. Parts may know different classes and different levels. Cost of ``of``: one read of what is stored.
    """

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    count: Floats
    levels: Levels | None = None

    summed: ClassVar[str] = "sums"

    @classmethod
    def of(cls, block: Block, threshold: float | None = None, *, signed: bool = True) -> ClassCounts:
        """The sums of the columns of one block, or with a ``threshold`` of the indicators x_ij > threshold.

        Unless ``signed``, an entry below zero is an error.
        """
        x, codes, weight, size = block.x, block.codes, block.weight, len(block.classes)
        if isinstance(x, np.ndarray):
            total, rows, count, least = kernels.class_sums(x, codes, weight, size, threshold)
        else:
            entries = x.data, x.indices, x.indptr
            total, rows, count, least = kernels.sparse_class_sums(entries, x.shape[1], codes, weight, size, threshold)
        if least < 0 and not signed:
            raise NegativeCountError("A count is negative.")
        return cls(block.classes, total, rows, count)

    @property
    def n_features(self) -> int:
        return self.count.shape[1] if self.levels is None else len(self.levels)

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def finite(self) -> bool:
        """False when NaN or infinity was among the rows."""
        return bool(np.isfinite(self.count).all())

    def of_feature(self, j: int) -> Floats:
        """N_k of the levels of feature j, K x L_j."""
        assert self.levels is not None
        start = sum(len(levels) for levels in self.levels[:j])
        return self.count[:, start : start + len(self.levels[j])]

    def merge(self, other: ClassCounts) -> ClassCounts:
        """The statistic of both sets of rows."""
        return merge_counts([self, other])

    def subtract(self, other: ClassCounts) -> ClassCounts:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there.

        A level that no row is left of is forgotten, and so is a class.
        """
        _check_widths([self, other])
        unknown = other.classes[~np.isin(other.classes, self.classes)]
        if len(unknown):
            raise ForgetError(f"Cannot forget rows of class {name_list(unknown)}: the statistic has no such class.")
        gone = other.including(self.classes).with_levels(_joint_levels([self, other]))
        whole = self.with_levels(gone.levels)
        weight, count = whole.weight - gone.weight, whole.count - gone.count
        rows = whole.rows - gone.rows
        weight[(rows == 0) & (np.abs(weight) <= ROUNDING * whole.weight)] = 0.0
        lacking = (rows < 0) | (weight < 0) | ((rows == 0) & (weight > 0))
        lacking |= _left_over(count, whole, rows).any(axis=1)
        left = replace(whole, weight=weight, rows=rows, count=count)
        if self.levels:
            # A row has one level of a feature, or none where the value is missing.
            counted = np.column_stack([left.of_feature(j).sum(axis=1) for j in range(self.n_features)])
            lacking |= (counted > (weight + ROUNDING * whole.weight)[:, None]).any(axis=1)
        if lacking.any():
            k = int(np.argmax(lacking))
            raise _too_often(whole, gone) or ForgetError.never_seen(*_gone_from(gone, k))
        return left.select(rows > 0)

    def check_indicators(self, left: ClassCounts) -> None:
        """Raise where a column of zeros and ones would be ``left`` with more ones than there are rows."""
        place = np.searchsorted(self.classes, left.classes)
        slack = ROUNDING * self.weight[place]
        over = left.count > (left.weight + slack)[:, None]
        # Numbers that were no zeros and ones to begin with are for others to refuse.
        over &= self.count[place] <= (self.weight[place] + slack)[:, None]
        if over.any():
            k, j = (int(i) for i in np.argwhere(over)[0])
            zeros = self.weight[place[k]] - self.count[place[k], j]
            raise self.never_seen(
                left, k, f"Column {{column}} was 0 in rows of weight {zeros:g} there; they have more.", j
            )

    def never_seen(self, left: ClassCounts, k: int, fact: str, column: int) -> ForgetError:
        """What to say where class k of what is ``left`` gives away that rows were never seen."""
        before = int(np.searchsorted(self.classes, left.classes[k]))
        gone = int(self.rows[before] - left.rows[k]), float(self.weight[before] - left.weight[k])
        return ForgetError.of_column(str(ForgetError.never_seen(left.classes[k], gone, fact)), column)

    def including(self, classes: NDArray[Any]) -> ClassCounts:
        """The same with further classes of weight zero."""
        joint = union_of_classes([self.classes, classes])
        if len(joint) == len(self.classes):
            return self
        at, size = places(self.classes, joint), len(joint)
        weight, rows, count = (spread_out(values, at, size) for values in (self.weight, self.rows, self.count))
        return ClassCounts(joint, weight, rows, count, self.levels)

    def with_levels(self, levels: Levels | None) -> ClassCounts:
        """The same with further levels that no row has."""
        if levels is None or self.levels is None or _same(self.levels, levels):
            return self
        parts = [
            spread_out(self.of_feature(j).T, places(own, wanted), len(wanted)).T
            for j, (own, wanted) in enumerate(zip(self.levels, levels, strict=True))
        ]
        return replace(self, count=np.ascontiguousarray(np.hstack(parts)), levels=levels)

    def relabel(self, sides: Index, labels: Sequence[Any]) -> ClassCounts:
        """The statistic of the same rows when class k is called ``labels[sides[k]]``; sides[k] = -1 leaves it out."""
        kept = np.flatnonzero(sides >= 0)
        classes, side = np.unique(np.asarray(labels)[sides[kept]], return_inverse=True)
        weight: Floats = np.bincount(side, self.weight[kept]).astype(np.float64)
        rows = np.bincount(side, self.rows[kept]).astype(np.int64)
        count = np.stack([self.count[kept[side == k]].sum(axis=0) for k in range(len(classes))])
        joint = ClassCounts(classes, weight, rows, count, self.levels)
        return joint if self.levels is None else joint.select(np.ones(len(classes), dtype=bool))

    def to_bytes(self) -> bytes:
        arrays: dict[str, NDArray[Any]] = {"weight": self.weight, "rows": self.rows, "count": self.count}
        return pack("counts", None, arrays, self.classes, self.levels)

    @classmethod
    def from_bytes(cls, buffer: bytes) -> ClassCounts:
        stored = unpack(buffer, "counts")
        return cls(classes=stored.classes, levels=stored.levels, **stored.arrays)

    def select(self, keep: NDArray[np.bool_]) -> ClassCounts:
        """The classes ``keep``, and the levels that any row of them has."""
        kept = replace(
            self, classes=self.classes[keep], weight=self.weight[keep], rows=self.rows[keep], count=self.count[keep]
        )
        if not self.levels:
            return kept
        alive = [kept.of_feature(j).any(axis=0) for j in range(len(self.levels))]
        levels = tuple(known[here] for known, here in zip(self.levels, alive, strict=True))
        return replace(kept, count=kept.count[:, np.concatenate(alive)], levels=levels)


@dataclass(frozen=True)
class CountsOf(OneForm):
    """The reduction to ``ClassCounts`` of columns, or of the indicators x_ij > ``threshold``.

    Unless ``signed``, an entry below zero is an error that names the ``model`` and the column.
    """

    threshold: float | None = None
    signed: bool = True
    model: str = field(default="", compare=False)
    columns: Any = field(default=None, compare=False)

    def of(self, block: Block) -> ClassCounts:
        try:
            return ClassCounts.of(block, self.threshold, signed=self.signed)
        except NegativeCountError:
            raise self._negative(block.x) from None

    def merge(self, states: Sequence[ClassCounts]) -> ClassCounts:
        return merge_counts(states)

    def numbers(self, shape: Any) -> int:
        """How many counts there are."""
        return int(shape.width) * (2 if shape.classes is None else len(shape.classes))

    def _negative(self, x: Any) -> DataError:
        found = np.unique(np.nonzero(x < 0)[1] if isinstance(x, np.ndarray) else x.indices[x.data < 0])
        return DataError(
            f"Negative values in data passed to {self.model} (input X): column '{self.columns.names_out[found[0]]}' is "
            f"the first of {len(found)}. Counts are zero or more; for other numbers use GaussianNB."
        )


def merge_counts(parts: Sequence[ClassCounts]) -> ClassCounts:
    """The statistic of all parts' rows: everything adds up."""
    if len(parts) == 1:
        return parts[0]
    _check_widths(parts)
    classes, levels = union_of_classes([part.classes for part in parts]), _joint_levels(parts)
    spread = [part.including(classes).with_levels(levels) for part in parts]
    first, second, *others = spread
    weight, rows, count = first.weight + second.weight, first.rows + second.rows, first.count + second.count
    for part in others:
        weight += part.weight
        rows += part.rows
        count += part.count
    return ClassCounts(classes, weight, rows, count, levels)


def _joint_levels(parts: Sequence[ClassCounts]) -> Levels | None:
    first = parts[0].levels
    if first is None:
        return None
    known = [part.levels or () for part in parts]
    if all(_same(first, other) for other in known[1:]):
        return first
    return tuple(union_of_classes(lists) for lists in zip(*known, strict=True))


def _same(a: Levels, b: Levels) -> bool:
    return a is b or all(len(x) == len(y) and bool(np.all(x == y)) for x, y in zip(a, b, strict=True))


def _gone_from(gone: ClassCounts, k: int) -> tuple[Any, tuple[int, float]]:
    return gone.classes[k], (int(gone.rows[k]), float(gone.weight[k]))


def _too_often(whole: ClassCounts, gone: ClassCounts) -> ForgetError | None:
    """The error for the first column, or level, of which more would be forgotten than was counted."""
    more = (gone.count > whole.count + ROUNDING * np.abs(whole.count)) & (whole.count >= 0)
    if not more.any():
        return None
    k, j = (int(i) for i in np.argwhere(more)[0])
    feature, counted = j, "was counted"
    if whole.levels is not None:
        feature = int(np.repeat(np.arange(len(whole.levels)), [len(levels) for levels in whole.levels])[j])
        counted = f"had the level '{np.concatenate(whole.levels)[j]}'"
    fact = f"Column {{column}} {counted} {whole.count[k, j]:g} times there; they have {gone.count[k, j]:g}."
    return ForgetError.of_column(str(ForgetError.never_seen(*_gone_from(gone, k), fact)), feature)


def _left_over(count: Floats, whole: ClassCounts, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which counts cannot be what rows have left; those that are only rounding are cleared in place."""
    tiny = np.abs(count) <= ROUNDING * np.abs(whole.count)
    count[tiny] = 0.0
    nobody: NDArray[np.bool_] = (count != 0) & (rows == 0)[:, None]
    return nobody | ((count < 0) & (whole.count >= 0))


def _check_widths(parts: Sequence[ClassCounts]) -> None:
    if len({part.levels is None for part in parts}) > 1:
        raise DataError("Counts of columns and counts of levels cannot be combined.")
    widths = sorted({part.n_features for part in parts})
    if len(widths) > 1:
        raise DataError(f"Statistics of {widths[0]} and of {widths[-1]} columns cannot be combined.")
