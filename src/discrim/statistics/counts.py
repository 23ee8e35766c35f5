"""Class counts: how often each column, or each level of each column, was met in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block, Numbered
from discrim.errors import DataError, ForgetError, NegativeCountError
from discrim.later import cached_property
from discrim.statistics.by_class import ByClass, OneForm, refuse_widths, spread_out, union_of_classes
from discrim.statistics.forgetting import ROUNDING, weights_left
from discrim.store.fields import Array, Incoming, Many, Optional, damaged
from discrim.store.kinds import stored
from discrim.store.values import Labels, Value
from discrim.typing import Floats, Mask

Levels = tuple[NDArray[Any], ...]

FLOAT64 = np.dtype(np.float64)


@stored(
    "statistic:counts",
    classes=Labels("K"),
    weight=Array("K", low=0.0),
    rows=Array("K", "<i8", low=0),
    count=Array("K q"),
    levels=Optional(Many(Value())),
)
@dataclass(frozen=True, eq=False)
class ClassCounts(ByClass):
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

    kind: ClassVar[str] = "counts"
    per_class: ClassVar[Sequence[str]] = ("weight", "rows", "count")
    # What overflows where the statistic is not finite.
    summed: ClassVar[str] = "sums"

    def check_stored(self, file: Incoming) -> None:
        """Every level has a column of counts."""
        levels: Any = self.levels or ()
        if any(not isinstance(each, np.ndarray) or each.ndim != 1 or each.dtype.kind not in "Uf" for each in levels):
            raise damaged("levels", "is no list of levels")
        if self.levels is not None and sum(map(len, levels)) != file.letters["q"]:
            raise damaged("levels", "does not go with the counts")

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
        # A sum of finite numbers may overflow, but what is not finite always shows in it.
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.of_class.sum()) or np.isfinite(self.count).all())

    @cached_property
    def of_class(self) -> Floats:
        """All that was counted in each class."""
        return np.asarray(self.count.sum(axis=1))

    def of_feature(self, j: int) -> Floats:
        """N_k of the levels of feature j, K x L_j."""
        first, last = self._bounds[j : j + 2]
        return self.count[:, first:last]

    def by_feature(self) -> list[Floats]:
        """The same for every feature."""
        return [self.count[:, first:last] for first, last in pairwise(self._bounds)]

    @property
    def _bounds(self) -> list[int]:
        """Where the levels of each feature begin, and the last ones end."""
        return list(accumulate(map(len, self.levels or ()), initial=0))

    @classmethod
    def merged(cls, parts: Sequence[ClassCounts]) -> ClassCounts:
        """The statistic of all parts' rows: everything adds up."""
        if len(parts) == 1:
            return parts[0]
        _check_widths(parts)
        classes, levels = union_of_classes([part.classes for part in parts]), _joint_levels(parts)
        first, *others = (part.including(classes).with_levels(levels) for part in parts)
        second, *others = others
        weight, rows, count = first.weight + second.weight, first.rows + second.rows, first.count + second.count
        for part in others:
            weight += part.weight
            rows += part.rows
            count += part.count
        return cls(classes, weight, rows, count, levels)

    def subtract(self, other: ClassCounts) -> ClassCounts:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there.

        A level that no row is left of is forgotten, and so is a class.
        """
        _check_widths([self, other])
        gone = self.aligned(other).with_levels(_joint_levels([self, other]))
        whole = self.with_levels(gone.levels)
        weight, rows, lacking = weights_left(whole, gone)
        count = whole.count - gone.count
        lacking |= _left_over(count, whole, rows).any(axis=1)
        left = replace(whole, weight=weight, rows=rows, count=count)
        if self.levels:
            # A row has one level of a feature, or none where the value is missing.
            counted = np.column_stack([part.sum(axis=1) for part in left.by_feature()])
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

    def with_levels(self, levels: Levels | None) -> ClassCounts:
        """The same with further levels that no row has."""
        if levels is None or self.levels is None or _same(self.levels, levels):
            return self
        parts = [
            spread_out(part.T, np.searchsorted(wanted, own), len(wanted)).T
            for part, own, wanted in zip(self.by_feature(), self.levels, levels, strict=True)
        ]
        return replace(self, count=np.ascontiguousarray(np.hstack(parts)), levels=levels)

    def select(self, keep: Mask) -> ClassCounts:
        """The classes ``keep``, and the levels that any row of them has."""
        kept = super().select(keep)
        if not self.levels:
            return kept
        alive: Mask = np.any(kept.count, axis=0)
        if alive.all():
            return kept
        levels = tuple(known[alive[a:b]] for known, (a, b) in zip(self.levels, pairwise(self._bounds), strict=True))
        return replace(kept, count=np.ascontiguousarray(kept.count[:, alive]), levels=levels)


@dataclass(frozen=True)
class CountsOf(OneForm):
    """The reduction to ``ClassCounts`` of columns, or of the indicators x_ij > ``threshold``.

    Unless ``signed``, an entry below zero is an error that names the ``model`` and the column.
    """

    light: ClassVar[bool] = True
    looks: ClassVar[bool] = True

    threshold: float | None = None
    signed: bool = True
    model: str = field(default="", compare=False)
    columns: Any = field(default=None, compare=False)

    def of(self, block: Block) -> ClassCounts:
        try:
            return ClassCounts.of(block, self.threshold, signed=self.signed)
        except NegativeCountError:
            raise self._negative(block.x) from None

    def numbers(self, shape: Any) -> int:
        """How many counts there are."""
        return int(shape.width) * (2 if shape.classes is None else len(shape.classes))

    def _negative(self, x: Any) -> DataError:
        found = np.unique(np.nonzero(x < 0)[1] if isinstance(x, np.ndarray) else x.indices[x.data < 0])
        return DataError(
            f"Negative values in data passed to {self.model} (input X): column '{self.columns.names_out[found[0]]}' is "
            f"the first of {len(found)}. Counts are zero or more; for other numbers use GaussianNB."
        )


def count_levels(block: Block) -> ClassCounts:
    """The counts of the levels that rows of positive weight have; a missing value is in none.

    Cost: one table of K x (levels) a column, and one read of its codes.
    """
    x: Any = block.x
    size = len(block.classes)
    w = block.weight
    weight: Floats = np.bincount(block.codes, w, size).astype(np.float64)
    rows = np.bincount(block.codes if w is None else block.codes[w > 0], minlength=size)
    if isinstance(x.levels, Numbered):
        count, levels = kernels.count_codes(block.codes, x.levels.codes, w, size, x.levels.sizes), x.levels.levels
    else:
        each = [(codes[:, None], np.array([len(values)])) for values, codes in x.levels]
        counts = [kernels.count_codes(block.codes, codes, w, size, sizes) for codes, sizes in each]
        count = np.hstack(counts) if counts else np.empty((size, 0))
        levels = [values for values, _ in x.levels]
    known = ClassCounts(block.classes, weight, rows, count, tuple(levels))
    return known.select(np.ones(size, dtype=bool))


@dataclass(frozen=True)
class LevelsOf(OneForm):
    """The reduction to counts of levels; ``columns`` have the names that errors need."""

    columns: Any = field(default=None, compare=False)

    def of(self, block: Block) -> ClassCounts:
        return count_levels(block)

    def merge(self, states: Sequence[ClassCounts]) -> ClassCounts:
        types_of_levels(self.columns.names_out, states)
        return ClassCounts.merged(states)

    def numbers(self, shape: Any) -> int:
        """How many counts there are at least; how many levels there are is not known."""
        return 2 * int(shape.width) * (2 if shape.classes is None else len(shape.classes))


def types_of_levels(names: Sequence[str], parts: Sequence[ClassCounts]) -> list[np.dtype[Any]]:
    """The type of the levels of each column in all parts; text and numbers are an error."""
    if all(values.dtype == FLOAT64 for part in parts for values in part.levels or ()):
        return [FLOAT64] * len(names)
    types = []
    for name, levels in zip(names, zip(*(part.levels or () for part in parts), strict=True), strict=True):
        kinds = {values.dtype.kind == "U": values.dtype for values in levels if len(values)}
        if len(kinds) > 1:
            raise DataError(
                f"Column '{name}' holds text in some rows and numbers in others. Convert its values to one type."
            )
        types.append(next(iter(kinds.values()), FLOAT64))
    return types


def _joint_levels(parts: Sequence[ClassCounts]) -> Levels | None:
    first = parts[0].levels
    if first is None:
        return None
    known = [part.levels or () for part in parts]
    if all(_same(first, other) for other in known[1:]):
        return first
    return tuple(union_of_classes(lists) for lists in zip(*known, strict=True))


def _same(a: Levels, b: Levels) -> bool:
    if a is b:
        return True
    if list(map(len, a)) != list(map(len, b)):
        return False
    if a and all(values.dtype == FLOAT64 for values in (*a, *b)):
        # Numbers of many columns are compared at once.
        return bool((np.concatenate(a) == np.concatenate(b)).all())
    return all(bool(np.all(x == y)) for x, y in zip(a, b, strict=True))


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
    of_no_row: NDArray[np.bool_] = (count != 0) & (rows == 0)[:, None]
    return of_no_row | ((count < 0) & (whole.count >= 0))


def _check_widths(parts: Sequence[ClassCounts]) -> None:
    if len({part.levels is None for part in parts}) > 1:
        raise DataError("Counts of columns and counts of levels cannot be combined.")
    refuse_widths(parts)
