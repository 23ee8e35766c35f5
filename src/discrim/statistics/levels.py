"""How often each level of each categorical column was met in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discrim import kernels
from discrim.block import Block
from discrim.errors import DataError
from discrim.statistics.counts import ClassCounts, merge_counts
from discrim.statistics.one_form import OneForm
from discrim.typing import Floats


def count_levels(block: Block) -> ClassCounts:
    """The counts of the levels that rows of positive weight have; a missing value is in none.

    Cost: one table of K x (levels) a column, and one read of its codes.
    """
    x: Any = block.x
    size = len(block.classes)
    w = block.weight
    weight: Floats = np.bincount(block.codes, w, size).astype(np.float64)
    rows = np.bincount(block.codes if w is None else block.codes[w > 0], minlength=size)
    parts, levels = [], []
    for values, codes in x.levels:
        count = kernels.count_codes(block.codes, codes, w, size, len(values))
        alive = count.any(axis=0)
        parts.append(count[:, alive])
        levels.append(values[alive])
    joined = np.hstack(parts) if parts else np.empty((size, 0))
    return ClassCounts(block.classes, weight, rows, np.ascontiguousarray(joined), tuple(levels))


@dataclass(frozen=True)
class LevelsOf(OneForm):
    """The reduction to counts of levels; ``columns`` have the names that errors need."""

    columns: Any = field(default=None, compare=False)

    def of(self, block: Block) -> ClassCounts:
        return count_levels(block)

    def merge(self, states: Sequence[ClassCounts]) -> ClassCounts:
        known = zip(*(part.levels or () for part in states), strict=True)
        for name, levels in zip(self.columns.names_out, known, strict=True):
            if len({values.dtype.kind == "U" for values in levels if len(values)}) > 1:
                raise DataError(f"Column '{name}' holds text in some rows and numbers in others.")
        return merge_counts(states)

    def numbers(self, shape: Any) -> int:
        """How many counts there are at least; nobody knows how many levels there are."""
        return 2 * int(shape.width) * (2 if shape.classes is None else len(shape.classes))
