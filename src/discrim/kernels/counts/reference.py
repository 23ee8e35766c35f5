"""The kernels for counts, for categories and for compressed rows, in NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.kernels.gaussian.reference import LINEAR, score
from discrim.kernels.reference_checks import Compressed, all_inside, check_labels, compressed_rows, require
from discrim.typing import Codes, Floats, Index

Sums = tuple[Floats, NDArray[np.int64], Floats, float]

# What a difference leaves of two equal numbers.
ROUNDING = 1e-12
LARGEST = np.iinfo(np.int32).max


def class_sums(x: NDArray[Any], codes: Codes, weight: Floats | None, classes: int, threshold: float | None) -> Sums:
    """Weight, rows, and weighted sums of the columns (K x p) of each class; and the smallest entry, at most 0.

    With a ``threshold`` an entry counts as 1 above it and as 0 else. What is not finite makes its sum so.
    """
    return _sums(sparse.csr_array(np.asarray(x, dtype=np.float64)), codes, weight, classes, threshold)


def sparse_class_sums(
    rows: Compressed, columns: int, codes: Codes, weight: Floats | None, classes: int, threshold: float | None
) -> Sums:
    """``class_sums`` of compressed rows."""
    return _sums(compressed_rows(rows, columns), codes, weight, classes, threshold)


def sparse_class_moments(
    rows: Compressed, columns: int, codes: Codes, weight: Floats | None, classes: int
) -> tuple[Floats, NDArray[np.int64], Floats, Floats, Floats]:
    """Weight and rows of each class; means, sums of squares about them, and what the means' rounding left out, K x p.

    Zeros are counted, not visited: S = sum over stored w (x - mu)^2 + (weight of the zeros) mu^2.
    """
    x, n = compressed_rows(rows, columns), len(rows[2]) - 1
    check_labels(codes, weight, n, classes)
    w = np.ones(n) if weight is None else weight
    total = np.bincount(codes, w, classes).astype(np.float64)
    count = np.bincount(codes[w > 0], minlength=classes)
    by = np.where(total > 0, total, 1.0)[:, None]
    row_of = np.repeat(np.arange(n), np.diff(x.indptr))
    place = codes[row_of].astype(np.int64) * columns + x.indices

    def summed(values: Any) -> Floats:
        return np.bincount(place, values, classes * columns).astype(np.float64).reshape(classes, columns)

    mean = summed(w[row_of] * x.data) / by
    d = x.data - mean.ravel()[place]
    first, stored, seen = summed(w[row_of] * d), summed(w[row_of] * d * d), summed(w[row_of] > 0)
    # Where there are no zeros the two weights differ by rounding, which the mean would blow up.
    zeros = np.where(seen < count[:, None], total[:, None] - summed(w[row_of]), 0.0)
    # The mean was a sum of large numbers: what it missed is the mean of the small ones that are left.
    missed = (first - zeros * mean) / by
    scatter = np.maximum(stored + zeros * mean**2 - total[:, None] * missed**2, 0.0)
    joint = mean + missed
    moved = joint - mean
    return total, count, joint, scatter, (mean - (joint - moved)) + (missed - moved)


def sparse_score(
    rows: Compressed, table: Floats, offset: Floats, threshold: float | None, output: int, out: NDArray[Any]
) -> bool:
    """``score`` by the linear rule offset_k + sum_j x_j table_jk of compressed rows.

    ``table`` is p x K, its rows padded to 1, 2, 4 or a multiple of 8 numbers.
    """
    x = _entries(compressed_rows(rows, len(table)), threshold)
    classes, width = len(offset), table.shape[1]
    require(classes > 0, "there is no class to score")
    require(
        width >= classes and (width in {1, 2, 4} or width % 8 == 0),
        "a row of the table must be as long as there are classes, rounded up to 1, 2, 4 or a multiple of 8",
    )
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(x @ table[:, :classes])
    fine = score(sums, LINEAR, np.zeros(classes), np.eye(classes), offset, False, output, out)
    return fine and not bool(np.isnan(sums).any())


def grid_sums(rows: Compressed, which: NDArray[np.int32], logs: Floats, threshold: float | None) -> Floats:
    """sum_j x_ij logs[which_jk, m], n x K x M: the scores of many settings m whose logarithms depend on counts alone.

    ``which`` is p x K, the rows of ``logs`` are padded to a multiple of 8 numbers.
    """
    x = _entries(compressed_rows(rows, len(which)), threshold)
    require(logs.shape[1] % 8 == 0, "a row of logarithms must be a multiple of 8 long")
    require(not which.size or bool(which.min() >= 0 and which.max() < len(logs)), "a count has no logarithm")
    return np.stack([np.asarray(x @ logs[which[:, k]]) for k in range(which.shape[1])], axis=1)


def held_out_logs(
    rows: Compressed,
    labels: tuple[Codes, Floats | None],
    count: Floats,
    priors: tuple[Floats, Floats],
    threshold: float | None,
    own: bool,
    plain: bool,
) -> Floats:
    """sum_j x_ij log(N_kj - w_i x_ij + prior_j) over the entries of each row i: what counts say without the row.

    For the row's own class alone (n x 1), or for all but its own (n x K, zero there). ``plain`` leaves the factor
    x_ij out. A count that is smaller than the row's part says nothing. ``priors`` are one number or one a column, and
    the logarithms of 0 + prior, 1 + prior, ..., as far as these are at hand.
    """
    prior, logs = priors
    check_labels(*labels, len(rows[2]) - 1, len(count))
    require(len(prior) in {1, count.shape[1]}, "one prior, or one a column")
    require(len(prior) == 1 or not len(logs), "logarithms are those of one prior")
    x = _entries(compressed_rows(rows, count.shape[1]), threshold).tocoo()
    codes, weight = labels
    w = np.ones(x.shape[0]) if weight is None else weight
    i, j = x.coords
    keep = x.data != 0
    i, j, v = i[keep], j[keep], x.data[keep]
    power = np.ones_like(v) if plain else v
    added = prior if len(prior) == 1 else prior[j]
    classes = [codes[i]] if own else [np.full(len(i), k) for k in range(len(count))]
    out = np.zeros((x.shape[0], len(classes)))
    for at, k in enumerate(classes):
        there = count[k, j]
        left = there - w[i] * v
        left[np.abs(left) <= ROUNDING * there] = 0.0
        said = (left >= 0) & (own | (k != codes[i]))
        terms = np.where(said, power * np.log(np.where(said, left, 1.0) + added), 0.0)
        out[:, at] = np.bincount(i, terms, x.shape[0])
    return out


def read_codes(x: NDArray[Any]) -> tuple[Codes, Floats, Floats, NDArray[np.bool_]]:
    """Each column of float64, int64 or int32 cut to whole numbers, n x p; -1 where it is NaN, negative or too large.

    Then the least and the largest value of each column (inf and -inf where there is none), and whether those that
    have a code are whole.
    """
    values = x.astype(np.float64)
    known = ~np.isnan(values)
    lo = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    hi = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    coded = known & (values >= 0) & (values <= LARGEST)
    codes = np.full(values.shape, -1, dtype=np.int32)
    codes[coded] = values[coded].astype(np.int32)
    return codes, lo, hi, (~coded | (codes == values)).all(axis=0)


def count_codes(classes: Codes, codes: Codes, weight: Floats | None, n_classes: int, sizes: Index) -> Floats:
    """The weight of the rows of each class that have each code of each column; a code below zero is missing.

    ``codes`` is n x p. The result is n_classes x (``sizes[0]`` levels of the first column, then those of the second,
    and so on).
    """
    n, p = codes.shape
    require(len(classes) == n, "classes and codes differ in length")
    require(weight is None or len(weight) == n, "weights and codes differ in length")
    require(len(sizes) == p, "there must be one number of levels a column")
    require(n_classes >= 0 and not (np.asarray(sizes) < 0).any(), "there is a negative number of classes or levels")
    require(all_inside(classes, n_classes), "a class is negative, or not below its number")
    require(bool((codes < sizes).all()), "a code is not below its number")
    known, total = codes >= 0, int(np.sum(sizes))
    key = classes[:, None].astype(np.int64) * total + (np.cumsum(sizes) - sizes) + codes
    weights = None if weight is None else np.broadcast_to(weight[:, None], codes.shape)[known]
    return np.bincount(key[known], weights, n_classes * total).astype(np.float64).reshape(n_classes, total)


def add_levels(table: Floats, sizes: Index, codes: Codes, scores: Floats) -> None:
    """Add to scores K x n, for each column, the row of the table that belongs to the code; codes are n x p.

    Column j has ``sizes[j]`` rows and one more, for codes that are larger; a code below zero adds nothing. The rows of
    the table may be longer than there are classes: padded to 1, 2, 4 or a multiple of 8 numbers.
    """
    width = table.shape[1]
    require(scores.shape[1] == len(codes) and len(scores) <= width, "scores must be classes x rows")
    require(width in {1, 2, 4} or width % 8 == 0, "a row of the table must be 1, 2, 4 or a multiple of 8 numbers long")
    require(len(sizes) == codes.shape[1], "there must be one number of levels a column")
    require(not (np.asarray(sizes) < 0).any(), "there is a negative number of classes or levels")
    require(len(table) == sum(sizes) + len(sizes), "the table must have a row a level, and one more a column")
    start = 0
    for column, size in zip(codes.T, sizes, strict=True):
        known = column >= 0
        scores[:, known] += table[start + np.minimum(column[known], size), : len(scores)].T
        start += size + 1


def log_shares(
    count: Floats, whole: Floats | None, added: Floats, log_total: Floats, negative: bool, out: Floats
) -> None:
    """Write log(N_kj + added_j) - log_total_k of the counts (K x p), or its ``negative``.

    With a ``whole``, of what the counts leave of it: one number a class (K x 1) or one a column (1 x p); a difference
    that is rounding is zero. The logarithm of zero is zero here: its limit is for the caller.
    """
    classes, columns = count.shape
    fits = whole is None or (whole.shape[0] in {1, classes} and whole.shape[1] in {1, columns})
    require(fits, "one whole a class, or one a column")
    require(len(added) in {1, columns}, "one number is added, or one a column")
    require(len(log_total) == classes, "there must be one total a class")
    require(out.shape == count.shape, "out has the wrong shape")
    left = count
    if whole is not None:
        left = whole - count
        left = np.where(np.abs(left) <= ROUNDING * np.abs(count), 0.0, left)
    smoothed = left + added
    with np.errstate(invalid="ignore"):
        shares = np.log(np.where(smoothed == 0, 1.0, smoothed)) - log_total[:, None]
    out[:] = -shares if negative else shares


def read_lists(rows: Any) -> Floats | None:
    """Lists or tuples of Python's own floating-point and whole numbers as float64, n x p; None for anything else."""
    if type(rows) not in {list, tuple} or not rows or not {type(row) for row in rows} <= {list, tuple}:
        return None
    plain = (isinstance(v, float) or (v.__class__ is int and abs(v) <= 2**53) for row in rows for v in row)
    return np.array(rows, dtype=np.float64) if len({*map(len, rows)}) == 1 and rows[0] and all(plain) else None


def _sums(x: Any, codes: Codes, weight: Floats | None, classes: int, threshold: float | None) -> Sums:
    n = x.shape[0]
    check_labels(codes, weight, n, classes)
    least = float(np.fmin.reduce(x.data, initial=0.0))
    w = np.ones(n) if weight is None else weight
    groups = sparse.csr_array((w, (codes, np.arange(n))), shape=(classes, n))
    with np.errstate(invalid="ignore"):
        count: Any = (groups @ _entries(x, threshold)).toarray()
    rows = np.bincount(codes[w > 0], minlength=classes)
    total = np.bincount(codes, w, classes).astype(np.float64)
    return total, rows, np.asarray(count, dtype=np.float64), least


def _entries(x: Any, threshold: float | None) -> Any:
    if threshold is None:
        return x
    with np.errstate(invalid="ignore"):
        binary = (x.data > threshold) + (x.data - x.data)
    return sparse.csr_array((binary, x.indices, x.indptr), shape=x.shape)
