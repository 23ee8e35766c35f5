"""Categories in NumPy: numbers read as codes, codes counted by class, and tables looked up by code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.kernels.reference_checks import all_inside, require
from discrim.typing import Codes, Floats

LARGEST = np.iinfo(np.int32).max


def read_codes(x: NDArray[Any]) -> tuple[Codes, Floats, Floats, NDArray[np.bool_]]:
    """Each column of float64, int64 or int32 cut to whole numbers, p x n; -1 where it is NaN, negative or too large.

    Then the least and the largest value of each column (inf and -inf where there is none), and whether those that
    have a code are whole.
    """
    values = x.T.astype(np.float64)
    known = ~np.isnan(values)
    lo = np.where(known, values, np.inf).min(axis=1, initial=np.inf)
    hi = np.where(known, values, -np.inf).max(axis=1, initial=-np.inf)
    coded = known & (values >= 0) & (values <= LARGEST)
    codes = np.full(values.shape, -1, dtype=np.int32)
    codes[coded] = values[coded].astype(np.int32)
    return codes, lo, hi, (~coded | (codes == values)).all(axis=1)


def count_codes(classes: Codes, codes: Codes, weight: Floats | None, n_classes: int, n_levels: int) -> Floats:
    """The weight of the rows of each class that have each code, n_classes x n_levels; a code below zero is missing."""
    require(len(classes) == len(codes), "classes and codes differ in length")
    require(weight is None or len(weight) == len(codes), "weights and codes differ in length")
    require(n_classes >= 0 and n_levels >= 0, "there is a negative number of classes or levels")
    require(all_inside(classes, n_classes), "a class is negative, or not below its number")
    require(bool(codes.max(initial=-1) < n_levels), "a code is not below its number")
    known = codes >= 0
    key = classes[known].astype(np.int64) * n_levels + codes[known]
    count = np.bincount(key, None if weight is None else weight[known], n_classes * n_levels)
    return count.astype(np.float64).reshape(n_classes, n_levels)


def add_levels(table: Floats, codes: Codes, scores: Floats) -> None:
    """Add column ``codes[i]`` of the table to column i of the scores, the last one where the code is below zero."""
    require(scores.shape == (len(table), len(codes)), "scores must be classes x rows")
    require(table.shape[1] > 0 and bool(codes.max(initial=-1) < table.shape[1]), "a code is not below its number")
    scores += np.take(table, np.where(codes < 0, table.shape[1] - 1, codes), axis=1)


def code_integers(y: NDArray[np.int64], lo: int, size: int) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Which of lo, lo + 1, ... occur in y, and each label's rank among those."""
    require(size >= 0, "the stated range is negative")
    require(not len(y) or (int(y.min()) >= lo and int(y.max()) - lo < size), "a label lies outside the stated range")
    present = np.bincount(y - lo, minlength=size) > 0
    ranks = (np.cumsum(present) - 1).astype(np.int32)
    return present, ranks[y - lo]
