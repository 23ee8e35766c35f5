"""Statistics of different blocks need not know the same classes: bring them to one list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError


def union_of_classes(lists: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The sorted union of sorted lists of labels."""
    first = lists[0]
    if all(len(other) == len(first) and bool(np.all(other == first)) for other in lists[1:]):
        return first
    # Joined as they are, numbers and strings would silently all become strings.
    texts = {labels.dtype.kind == "U" for labels in lists if labels.dtype.kind != "O"}
    try:
        joined = np.unique(np.concatenate(lists)) if len(texts) <= 1 else None
    except TypeError:
        joined = None
    if joined is None:
        kinds = sorted({type(label).__name__ for labels in lists for label in labels.tolist()})
        raise DataError(
            f"The class labels are of types that cannot be put in one order ({', '.join(kinds)}). "
            "Convert the labels of all parts to one type."
        )
    return joined


def places(classes: NDArray[Any], within: NDArray[Any]) -> NDArray[np.intp]:
    """Where each label of ``classes`` stands in the sorted list ``within`` that holds them all."""
    return np.searchsorted(within, classes)


def spread_out(values: NDArray[Any], at: NDArray[np.intp], size: int) -> NDArray[Any]:
    """Rows of ``values`` moved to the places ``at`` of a longer array of zeros."""
    result = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    result[at] = values
    return result
