"""A block: some rows of the table, ready to be reduced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True, slots=True)
class Block:
    """Rows ``x`` (n x p) of classes ``classes[codes]`` with weights ``weight`` (None is all ones).

    ``x`` is float64 or float32 in any memory order, or a SciPy sparse array;
    ``codes`` is int32; ``classes`` is sorted. ``offset`` is a known part of the rows' linear predictor, and
    ``share`` the part of a row of weight w that is of the second class, where rows stand for groups.
    """

    x: NDArray[Any] | sparse.csr_array
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    offset: NDArray[np.float64] | None = None
    share: NDArray[np.float64] | None = None

    def rows(self, start: int, stop: int) -> Block:
        """The rows start to stop as views."""
        extra = (None if values is None else values[start:stop] for values in (self.weight, self.offset, self.share))
        return Block(self.x[start:stop], self.codes[start:stop], self.classes, *extra)

    def __len__(self) -> int:
        return int(self.codes.shape[0])
