"""What the bindings of the compiled kernels refuse, the NumPy references refuse in the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64] | None


def require(condition: bool, message: str) -> None:
    """As the bindings do it: ValueError."""
    if not condition:
        raise ValueError(message)


def all_inside(numbers: NDArray[Any], size: int) -> bool:
    """Are these numbers, if there are any, between 0 and ``size``?"""
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < size)


def check_pointers(first: NDArray[Any], entries: int) -> None:
    """Where rows begin, and the last one ends: pointers that neither fall nor leave the values."""
    require(len(first) >= 1, "there is no row pointer")
    fine = first[0] >= 0 and first[-1] <= entries and not (np.diff(first) < 0).any()
    require(bool(fine), "row pointers must not fall, nor leave the values")


def check_compressed(value: NDArray[Any], column: NDArray[Any], first: NDArray[Any], columns: int) -> None:
    """Compressed rows whose entries all lie inside ``columns``."""
    require(len(value) == len(column), "values and columns differ in length")
    check_pointers(first, len(value))
    require(all_inside(column[int(first[0]) : int(first[-1])], columns), "a column lies outside the matrix")


def check_labels(codes: NDArray[np.int32], weight: Vector, n: int, classes: int) -> None:
    """One code, and one weight if there are any, a row; every code below ``classes``."""
    require(classes >= 0, "there is a negative number of classes")
    require(len(codes) == n, "codes and rows differ in length")
    require(weight is None or len(weight) == n, "weights and rows differ in length")
    require(all_inside(codes, classes), "a code is not below the number of classes")
