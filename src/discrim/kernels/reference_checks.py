"""What the bindings of the compiled kernels refuse, the NumPy references refuse in the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Vector = NDArray[np.float64] | None
# Values, columns and row pointers, as a SciPy CSR array has them.
Compressed = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


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


def compressed_rows(rows: Compressed, columns: int) -> Any:
    """The matrix of compressed rows, once it is sure that their entries all lie inside ``columns``."""
    value, column, first = rows
    require(columns >= 0, "there is a negative number of columns")
    require(len(value) == len(column), "values and columns differ in length")
    check_pointers(first, len(value))
    part = slice(int(first[0]), int(first[-1]))
    require(all_inside(column[part], columns), "a column lies outside the matrix")
    entries = np.asarray(value[part], dtype=np.float64), column[part], first - first[0]
    return sparse.csr_array(entries, shape=(len(first) - 1, columns))


def check_labels(codes: NDArray[np.int32], weight: Vector, n: int, classes: int) -> None:
    """One code, and one weight if there are any, a row; every code below ``classes``."""
    require(classes >= 0, "there is a negative number of classes")
    require(len(codes) == n, "codes and rows differ in length")
    require(weight is None or len(weight) == n, "weights and rows differ in length")
    require(all_inside(codes, classes), "a code is not below the number of classes")
