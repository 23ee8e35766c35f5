"""Cell moments: weight, mean and centred scatter of each column in each class, where values may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ForgetError, name_list
from discrim.statistics.align import places, spread_out, union_of_classes
from discrim.statistics.depth import Depth
from discrim.statistics.lost_digits import lost_digits, scatter_error
from discrim.statistics.means import ROUNDING, join_means, mean_error, two_sum
from discrim.statistics.moments import ClassMoments
from discrim.statistics.packing import pack, unpack
from discrim.statistics.subtraction import left_of_variances, lost_error
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class CellMoments:
    """The statistic of naive Bayes for numbers, some of which are missing.

    For each class k and column j, over the rows of the class in which the column has a value:
    ``weight`` n_kj = sum w_i, ``rows`` their number, ``mean`` mu_kj and ``scatter`` S_kj = sum w_i (x_ij - mu_kj)^2.
    All are K x p, and so is ``low``, what rounding leaves out of the mean.

    Laws: ``merge`` equals the statistic of all rows together, is commutative and associative, and ``subtract``
    undoes it. Cost of ``of``: one read, and some more of the columns with missing values.
    """

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    scatter: Floats
    low: Floats | None = None

    @classmethod
    def of(cls, block: Block) -> CellMoments:
        """The statistic of the rows of one block; NaN is missing."""
        moments = ClassMoments.of(block, Depth.DIAGONAL)
        p = moments.n_features
        weight, rows = np.repeat(moments.weight[:, None], p, axis=1), np.repeat(moments.rows[:, None], p, axis=1)
        cells = cls(block.classes, weight, rows, moments.mean, moments.scatter, moments.low)
        # NaN and infinity surface in the sums of their own column, and only such columns are looked at again.
        finite = np.isfinite(moments.mean).all(axis=0) & np.isfinite(moments.scatter).all(axis=0)
        for j in np.flatnonzero(~finite).tolist():
            cells.read_again(j, block)
        return cells

    @property
    def n_features(self) -> int:
        return int(self.mean.shape[1])

    @property
    def finite(self) -> bool:
        """False when infinity was among the rows."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.scatter).all())

    def merge(self, other: CellMoments) -> CellMoments:
        """The statistic of both sets of rows."""
        return merge_cells([self, other])

    def subtract(self, other: CellMoments) -> CellMoments:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there."""
        _check_widths([self, other])
        unknown = other.classes[~np.isin(other.classes, self.classes)]
        if len(unknown):
            raise ForgetError(f"Cannot forget rows of class {name_list(unknown)}: the statistic has no such class.")
        gone = other.including(self.classes)
        weight, rows = self.weight - gone.weight, self.rows - gone.rows
        weight[(rows == 0) & (np.abs(weight) <= ROUNDING * self.weight)] = 0.0
        self._refuse_lacking(weight, rows, gone)
        mean, low, gap, noise = self._means_left(gone, weight)
        factor = weight * gone.weight / np.where(self.weight > 0, self.weight, 1.0)
        scatter = self._scatter_left(self.scatter - gone.scatter - factor * gap**2, noise, rows)
        result = replace(self, weight=weight, rows=rows, mean=mean, scatter=scatter, low=low)
        self._refuse_lost(result, noise)
        return result.only(np.asarray((rows > 0).any(axis=1)))

    def including(self, classes: NDArray[Any]) -> CellMoments:
        """The same with further classes of weight zero."""
        joint = union_of_classes([self.classes, classes])
        if len(joint) == len(self.classes):
            return self
        at, size = places(self.classes, joint), len(joint)
        arrays = (self.weight, self.rows, self.mean, self.scatter, _low(self))
        return CellMoments(joint, *(spread_out(values, at, size) for values in arrays))

    def only(self, keep: NDArray[np.bool_]) -> CellMoments:
        """The classes ``keep``."""
        weight, rows = self.weight[keep], self.rows[keep]
        return CellMoments(self.classes[keep], weight, rows, self.mean[keep], self.scatter[keep], _low(self)[keep])

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Weight, mean and variance of each column over all classes (p); zeros where nothing is known."""
        weight = self.weight.sum(axis=0)
        known = np.where(weight > 0, weight, 1.0)
        # A correction to the heaviest class's mean, so that a common offset costs no digits.
        base = np.take_along_axis(self.mean, self.weight.argmax(axis=0)[None], axis=0)[0]
        mean = base + (self.weight * np.where(self.weight > 0, self.mean - base, 0.0)).sum(axis=0) / known
        scatter = self.scatter.sum(axis=0) + (self.weight * (self.mean - mean) ** 2).sum(axis=0)
        return weight, mean, scatter / known

    def to_bytes(self) -> bytes:
        arrays: dict[str, NDArray[Any]] = {
            "weight": self.weight, "rows": self.rows, "mean": self.mean, "scatter": self.scatter, "low": _low(self),
        }  # fmt: skip
        return pack("cells", None, arrays, self.classes)

    @classmethod
    def from_bytes(cls, buffer: bytes) -> CellMoments:
        stored = unpack(buffer, "cells")
        return cls(classes=stored.classes, **stored.arrays)

    def read_again(self, j: int, block: Block) -> None:
        """Write the cells of column j from the rows that have a value in it."""
        size, w = len(block.classes), block.weight
        x = np.asarray(block.x[:, j], dtype=np.float64)
        # Rows of weight zero are left out, so that what they hold does not matter.
        known = ~np.isnan(x) if w is None else ~np.isnan(x) & (w > 0)
        x, codes = x[known], block.codes[known].astype(np.intp)
        w = np.ones(len(x)) if w is None else w[known]
        self.rows[:, j] = np.bincount(codes, minlength=size)
        weight = np.bincount(codes, w, size)
        divisor = np.where(weight > 0, weight, 1.0)
        # Centred at the first value of the class, so that an offset costs no digits: the last to be written stays.
        shift = np.zeros(size)
        shift[codes[::-1]] = x[::-1]
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
            by = np.bincount(codes, w * (x - shift[codes]), size) / divisor
            mean, low = two_sum(np.where(weight > 0, shift, 0.0), by)
            scatter = np.bincount(codes, w * np.square((x - mean[codes]) - low[codes]), size)
        self.weight[:, j], self.mean[:, j], self.scatter[:, j] = weight, mean, scatter
        if self.low is not None:
            self.low[:, j] = low

    def _refuse_lacking(self, weight: Floats, rows: NDArray[np.int64], gone: CellMoments) -> None:
        lacking = (rows < 0) | (weight < 0) | ((rows == 0) & (weight > 0))
        lacking |= (rows > 0) & (weight == 0) & (gone.weight > 0)
        if lacking.any():
            k, j = (int(i) for i in np.argwhere(lacking)[0])
            raise ForgetError.of_column(
                f"Cannot forget {gone.rows[k, j]} values (weight {gone.weight[k, j]:g}) of column {{column}} in class "
                f"'{self.classes[k]}': only {self.rows[k, j]} (weight {self.weight[k, j]:g}) were seen.",
                j,
            )

    def _means_left(self, gone: CellMoments, weight: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The means of what is left and their low parts, their distances from those of what goes, and their noise."""
        left = np.where(weight > 0, weight, 1.0)
        distance = np.where(gone.weight > 0, (self.mean - gone.mean) + (_low(self) - _low(gone)), 0.0)
        mean, low = two_sum(self.mean, _low(self) + gone.weight / left * distance)
        mean, low = np.where(weight > 0, mean, 0.0), np.where(weight > 0, low, 0.0)
        gap = np.where(weight * gone.weight > 0, self.weight / left * distance, 0.0)
        spread = np.sqrt(self.scatter / np.where(self.weight > 0, self.weight, 1.0))
        known = self.low is not None and gone.low is not None
        # What a mean is not known to, the remaining one is not known to n_kj / (what is left of n_kj) times.
        amplified = self.weight / np.sqrt(np.where(weight > 0, weight, np.maximum(self.weight, 1.0)))
        return mean, low, gap, amplified * mean_error(self.mean, spread, self.rows, known=known)

    def _scatter_left(self, scatter: Floats, noise: Floats, rows: NDArray[np.int64]) -> Floats:
        for k in np.flatnonzero((rows != self.rows).any(axis=1)):
            touched = rows[k] != self.rows[k]
            cleared = left_of_variances(scatter[k], self.scatter[k], noise[k], nothing=rows[k] <= 1)
            scatter[k] = np.where(touched, cleared, self.scatter[k])
        return scatter

    def _refuse_lost(self, left: CellMoments, noise: Floats) -> None:
        touched, known = left.rows != self.rows, np.where(left.weight > 0, left.weight, 1.0)
        error = np.where(touched, scatter_error(self.scatter, noise, self.rows), 0.0)
        mean = np.where(left.weight > 0, left.mean, np.nan)
        some = (left.weight > 0).any(axis=0)
        lost = np.zeros(touched.shape, bool)
        lost[:, some] = lost_digits(
            left.scatter[:, some], error[:, some], left.weight[:, some], left.rows[:, some],
            mean[:, some], np.where(touched, noise / np.sqrt(known), 0.0)[:, some],
        )  # fmt: skip
        if (lost & touched).any():
            k, j = (int(i) for i in np.argwhere(lost & touched)[0])
            raise lost_error(j, f" in class '{self.classes[k]}'")


def _low(cells: CellMoments) -> Floats:
    return np.zeros_like(cells.mean) if cells.low is None else cells.low


def merge_cells(parts: Sequence[CellMoments]) -> CellMoments:
    """The statistic of all parts' rows: S = sum S_part + sum n_part (mu_part - mu)^2, cell by cell."""
    if len(parts) == 1:
        return parts[0]
    _check_widths(parts)
    classes = union_of_classes([part.classes for part in parts])
    spread = [part.including(classes) for part in parts]
    weights, means = np.stack([part.weight for part in spread]), np.stack([part.mean for part in spread])
    mean, low, gaps = join_means(weights, means, np.stack([_low(part) for part in spread]))
    rows = np.sum([part.rows for part in spread], axis=0)
    with np.errstate(invalid="ignore"):  # what is not finite is looked for by the caller
        scatter = np.sum([part.scatter for part in spread], axis=0) + (weights * gaps**2).sum(axis=0)
    return CellMoments(classes, weights.sum(axis=0), rows, mean, scatter, low)


def _check_widths(parts: Sequence[CellMoments]) -> None:
    widths = sorted({part.n_features for part in parts})
    if len(widths) > 1:
        raise DataError(f"Statistics of {widths[0]} and of {widths[-1]} columns cannot be combined.")
