"""Cell moments: weight, mean and centred scatter of each column in each class, where values may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import ForgetError
from discrim.statistics.by_class import ByClass, Depth, refuse_widths, union_of_classes
from discrim.statistics.forgetting import (
    left_of_variances,
    means_left,
    refuse_lost_digits,
    weights_left,
)
from discrim.statistics.moments import ClassMoments, join_means
from discrim.store.fields import Array
from discrim.store.kinds import stored
from discrim.store.values import Labels
from discrim.typing import Floats, Mask


@stored(
    "statistic:cells",
    classes=Labels("K"),
    weight=Array("K p", low=0.0),
    rows=Array("K p", "<i8", low=0),
    mean=Array("K p"),
    scatter=Array("K p", low=0.0),
    low=Array("K p"),
)
@dataclass(frozen=True, eq=False)
class CellMoments(ByClass):
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
    low: Floats
    kind: ClassVar[str] = "cells"
    per_class: ClassVar[Sequence[str]] = ("weight", "rows", "mean", "scatter", "low")

    @classmethod
    def of(cls, block: Block) -> CellMoments:
        """The statistic of the rows of one block; NaN is missing."""
        moments = ClassMoments.of(block, Depth.DIAGONAL)
        p = moments.n_features
        weight, rows = np.repeat(moments.weight[:, None], p, axis=1), np.repeat(moments.rows[:, None], p, axis=1)
        assert moments.low is not None
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

    @property
    def squares(self) -> Floats:
        return self.scatter

    @classmethod
    def merged(cls, parts: Sequence[CellMoments]) -> CellMoments:
        """The statistic of all parts' rows: S = sum S_part + sum n_part (mu_part - mu)^2, cell by cell."""
        if len(parts) == 1:
            return parts[0]
        refuse_widths(parts)
        classes = union_of_classes([part.classes for part in parts])
        spread = [part.including(classes) for part in parts]
        weights, means = np.stack([part.weight for part in spread]), np.stack([part.mean for part in spread])
        mean, low, gaps = join_means(weights, means, np.stack([part.low for part in spread]))
        rows = np.sum([part.rows for part in spread], axis=0)
        with np.errstate(invalid="ignore"):  # what is not finite is looked for by the caller
            scatter = np.sum([part.scatter for part in spread], axis=0) + (weights * gaps**2).sum(axis=0)
        return cls(classes, weights.sum(axis=0), rows, mean, scatter, low)

    def subtract(self, other: CellMoments) -> CellMoments:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there."""
        refuse_widths([self, other])
        gone = self.aligned(other)
        weight, rows, lacking = weights_left(self, gone)
        self._refuse_lacking(lacking, gone)
        mean, low, gap, factor, noise = means_left(self, gone, weight)
        scatter = self.scatter - gone.scatter - factor * gap**2
        touched = rows != self.rows
        for k in np.flatnonzero(touched.any(axis=1)):
            cleared = left_of_variances(scatter[k], self.scatter[k], noise[k], nothing=rows[k] <= 1)
            scatter[k] = np.where(touched[k], cleared, self.scatter[k])
        result = replace(self, weight=weight, rows=rows, mean=mean, scatter=scatter, low=low)
        refuse_lost_digits(self, result, noise)
        return result.select(np.asarray((rows > 0).any(axis=1)))

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Weight, mean and variance of each column over all classes (p); zeros where nothing is known."""
        one = self.relabel(np.zeros(len(self.classes), dtype=np.intp), [0])
        weight = one.weight[0]
        return weight, one.mean[0], one.scatter[0] / np.where(weight > 0, weight, 1.0)

    def read_again(self, j: int, block: Block) -> None:
        """Write the cells of column j from the rows that have a value in it."""
        x: Any = block.x[:, j : j + 1]
        known = ~np.isnan(x[:, 0])
        if block.weight is not None:
            # Rows of weight zero are left out, so that what they hold does not matter.
            known &= block.weight > 0
        rows = replace(block, x=x).take(np.flatnonzero(known))
        found = ClassMoments.of(rows, Depth.DIAGONAL)
        assert found.low is not None
        self.weight[:, j], self.rows[:, j] = found.weight, found.rows
        self.mean[:, j], self.low[:, j], self.scatter[:, j] = found.mean[:, 0], found.low[:, 0], found.scatter[:, 0]

    def _refuse_lacking(self, lacking: Mask, gone: CellMoments) -> None:
        if lacking.any():
            k, j = (int(i) for i in np.argwhere(lacking)[0])
            raise ForgetError.of_column(
                f"Cannot forget {gone.rows[k, j]} values (weight {gone.weight[k, j]:g}) of column {{column}} in class "
                f"'{self.classes[k]}': only {self.rows[k, j]} (weight {self.weight[k, j]:g}) were seen.",
                j,
            )
