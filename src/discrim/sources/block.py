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
        x = self.x[start:stop] if isinstance(self.x, np.ndarray) else _sparse_rows(self.x, start, stop)
        return Block(x, self.codes[start:stop], self.classes, *extra)

    def __len__(self) -> int:
        return int(self.codes.shape[0])


def _sparse_rows(x: sparse.csr_array, start: int, stop: int) -> sparse.csr_array:
    """Rows start to stop as views; SciPy's own slices are copies, and its constructor copies short views."""
    stop = min(stop, x.shape[0])
    first = x.indptr[start : stop + 1]
    entries = slice(int(first[0]), int(first[-1]))
    part: Any = sparse.csr_array((stop - start, x.shape[1]), dtype=x.dtype)
    part.data, part.indices, part.indptr = x.data[entries], x.indices[entries], first - first[0]
    rows: sparse.csr_array = part
    return rows
