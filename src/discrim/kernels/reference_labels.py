"""Labels as small integers, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.kernels.reference_checks import require


def code_integers(y: NDArray[np.int64], lo: int, size: int) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Which of lo, lo + 1, ... occur in y, and each label's rank among those."""
    require(size >= 0, "the stated range is negative")
    require(not len(y) or (int(y.min()) >= lo and int(y.max()) - lo < size), "a label lies outside the stated range")
    present = np.bincount(y - lo, minlength=size) > 0
    ranks = (np.cumsum(present) - 1).astype(np.int32)
    return present, ranks[y - lo]


def code_rows(rows: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The first of every kind of equal rows, n x bytes, in order; and for each row its place among these."""
    if not rows.size:
        return np.arange(min(len(rows), 1)), np.zeros(len(rows), dtype=np.int32)
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order).astype(np.int32)[inverse.ravel()]


def identities(items: list[Any]) -> NDArray[np.int64]:
    """``id`` of each."""
    return np.fromiter(map(id, items), dtype=np.int64, count=len(items))
