"""Columns made ready for a model, by what its training rows show: gaps are filled, units taken away.

A gap in a column of numbers is filled by their mean, in a category by its most frequent level. Every column with
enough gaps gets a further column that says where they were, since that a value is missing may tell something by
itself. Standardised columns have mean 0 and standard deviation 1, so that a penalty weighs all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.sources import Design
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.moments import usable_scale
from discrim.typing import Floats

# Gaps of a column from which on a coefficient of their own can be estimated.
ENOUGH_GAPS = 5


@dataclass(frozen=True)
class Columns:
    """Of a table as numbers: ``names``, ``categories`` as (start, stop) of their indicators, and where gaps are marked.

    ``flags`` are the places of columns whose gaps get a column of their own; ``flag_names`` are the names of these.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[int, int], ...]
    flags: tuple[int, ...] = ()
    flag_names: tuple[str, ...] = ()

    @classmethod
    def of(cls, design: Design) -> Columns:
        spans, start = [], 0
        for column in design.columns:
            if column.levels is not None and column.n_out:
                spans.append((start, start + column.n_out))
            start += column.n_out
        return cls(tuple(design.names_out), tuple(spans))

    def flagging(self, x: NDArray[Any], design: Design) -> Columns:
        """The same with a mark for every column that has enough gaps; columns with the same gaps share one.

        With as many columns as rows there are none: they would double what is too much already.
        """
        if len(x) <= x.shape[1]:
            return self
        flags, names, start, seen = [], [], 0, set()
        for column in design.columns:
            gaps = np.isnan(x[:, start]) if column.n_out else np.zeros(len(x), dtype=bool)
            count = int(gaps.sum())
            if ENOUGH_GAPS <= count < len(x) and gaps.tobytes() not in seen:
                seen.add(gaps.tobytes())
                flags.append(start)
                names.append(f"{column.name} missing")
            start += column.n_out
        return replace(self, flags=tuple(flags), flag_names=tuple(names))

    def unflagged(self) -> Columns:
        """The same without marks for gaps."""
        return replace(self, flags=(), flag_names=())

    @property
    def names_out(self) -> list[str]:
        return [*self.names, *self.flag_names]


@dataclass(frozen=True, eq=False)
class Preparation:
    """What the training rows said: ``fill`` for gaps, then ``centre`` and ``scale`` (None: units stay as they are).

    Sparse rows are divided by their scale and not centred: that would make them dense, and models with an intercept do
    not depend on it.
    """

    columns: Columns
    fill: Floats
    centre: Floats | None = None
    scale: Floats | None = None

    def apply(self, x: Any) -> Any:
        """New rows, ready for the model."""
        if not isinstance(x, np.ndarray):
            if not self.columns.flags and self.centre is None and np.isfinite(x.data).all():
                return x if self.scale is None else sparse.csr_array(x * (1.0 / self.scale))
            x = x.toarray()
        z = self._filled(x)
        if self.scale is not None:
            z = z - self.centre if self.centre is not None else z.astype(np.float64)
            z /= self.scale
        return z

    def _filled(self, x: NDArray[Any]) -> NDArray[Any]:
        gaps = np.isnan(x)
        if not gaps.any():
            marks = np.zeros((len(x), len(self.columns.flags)))
            return np.hstack([x, marks]) if marks.shape[1] else x
        z = np.where(gaps, self.fill, x)
        return np.hstack([z, gaps[:, list(self.columns.flags)]]) if self.columns.flags else z


def learn_preparation(x: Any, weight: Floats | None, columns: Columns, *, standardise: bool) -> Preparation:
    """By rows of training: numbers with NaN for gaps, or sparse rows."""
    weight = None if weight is None or not weight.any() else weight
    dense = isinstance(x, np.ndarray)
    if not dense or np.isfinite(x.sum()):
        mean, deviation = _units(x, weight)
        found = Preparation(columns, _with_levels(mean, columns))
        if not standardise:
            return found
        if not columns.flags:
            scale = usable_scale(deviation, mean)
            return replace(found, centre=mean if dense else None, scale=scale)
    else:
        found = Preparation(columns, _with_levels(_known_means(x, weight), columns))
    if not standardise:
        return found
    mean, deviation = _units(found.apply(x), weight)
    return replace(found, centre=mean, scale=usable_scale(deviation, mean))


def _units(x: Any, weight: Floats | None) -> tuple[Floats, Floats]:
    """Mean and standard deviation of complete columns."""
    n = x.shape[0]
    s = ClassMoments.of(Block(x, np.zeros(n, dtype=np.int32), np.zeros(1), weight), Depth.DIAGONAL)
    return s.mean[0], np.sqrt(s.scatter[0] / s.total_weight)


def _known_means(x: NDArray[Any], weight: Floats | None) -> Floats:
    """Of the values that are there; 0 for a column without any."""
    means = np.zeros(x.shape[1])
    for j in range(x.shape[1]):
        there = ~np.isnan(x[:, j])
        w = None if weight is None or not weight[there].any() else weight[there]
        if there.any():
            means[j] = _units(x[there, j : j + 1], w)[0][0]
    return means


def _with_levels(mean: Floats, columns: Columns) -> Floats:
    """Means for numbers, and for a category the indicators of its most frequent level."""
    fill = np.asarray(mean, dtype=np.float64).copy()
    for start, stop in columns.categories:
        shares = fill[start:stop].copy()
        best = int(np.argmax([1.0 - shares.sum(), *shares]))
        fill[start:stop] = 0.0
        if best:
            fill[start + best - 1] = 1.0
    return fill
