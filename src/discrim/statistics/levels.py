"""How often each level of each categorical column was met in each class."""

from __future__ import annotations

import numpy as np

from discrim import kernels
from discrim.block import MixedBlock
from discrim.statistics.counts import ClassCounts
from discrim.typing import Floats


def count_levels(block: MixedBlock) -> ClassCounts:
    """The counts of the levels that rows of positive weight have; a missing value is in none.

    Cost: one table of K x (levels) a column, and one read of its codes.
    """
    size = len(block.classes)
    w = block.weight
    weight: Floats = np.bincount(block.codes, w, size).astype(np.float64)
    rows = np.bincount(block.codes if w is None else block.codes[w > 0], minlength=size)
    parts, levels = [], []
    for values, codes in block.levels:
        count = kernels.count_codes(block.codes, codes, w, size, len(values))
        alive = count.any(axis=0)
        parts.append(count[:, alive])
        levels.append(values[alive])
    joined = np.hstack(parts) if parts else np.empty((size, 0))
    return ClassCounts(block.classes, weight, rows, np.ascontiguousarray(joined), tuple(levels))
