"""Do the classes scatter alike? A Levene test of whole covariance matrices, which long tails do not mislead."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.block import Block, join
from discrim.sources import Rows
from discrim.typing import Floats, Index

PERMUTATIONS = 499
# Rows that are looked at, values of their products, and columns up to which these are enough.
MOST_ROWS, MOST_VALUES, MOST_COLUMNS = 2000, 500_000, 30
# Entries that the members of classes in several permutations have at once.
HELD = 1 << 19
# Steps to a median, which need not be exact.
STEPS = 20


def rows_to_test(columns: int) -> int:
    """How many rows are enough; none of too many columns."""
    products = max(columns * (columns + 1) // 2, 1)
    return 0 if columns > MOST_COLUMNS else min(MOST_ROWS, MOST_VALUES // products)


def random_rows(rows: Rows, n: int, wanted: int) -> Block:
    """So many of n rows, the same ones wherever the rows are; all where there are no more. Cost: one read."""
    if n <= wanted:
        return join(list(rows.blocks()))
    chosen, parts, start = np.sort(np.random.default_rng(0).choice(n, wanted, replace=False)), list[Block](), 0
    for block in rows.blocks():
        here = chosen[np.searchsorted(chosen, start) : np.searchsorted(chosen, start + len(block))]
        parts.append(block.take(here - start))
        start += len(block)
    return join(parts)


def spread_test(block: Block, root: Floats) -> float:
    """The p-value of: the rows of all classes scatter alike about their medians. NaN for weighted rows, or too few.

    With z = W'(x - m_k), where m_k is the spatial median of the class and WW' the inverse of the pooled covariance
    (``root`` is W), each row has its length |z| and the matrix A = zz' / |z|, which is of that length: for one column
    both are |x - m_k|, the values of Levene's test as Brown and Forsythe (1974) have it. The lengths see that a class
    scatters more in all directions, the matrices that it does so in some. Of both the statistic is that of an analysis
    of variance, sum_k n_k |A_k - A|^2 of the class means, and the p-value that of the more striking one among
    ``PERMUTATIONS`` permutations of the rows. Nothing is squared, so that few rows far out do not decide.
    Cost: a multiplication for each permutation, row and product of two columns.
    """
    if block.weight is not None and not (block.weight == block.weight[0]).all():
        return np.nan
    x: Any = block.x
    x, codes = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64), block.codes
    size = np.bincount(codes)
    kept = np.flatnonzero(size >= 3)
    if len(kept) < 2:
        return np.nan
    parts, labels = list[Floats](), list[Index]()
    for place, k in enumerate(kept):
        z = x[codes == k] @ root
        # Deviations from an estimated centre are too short.
        parts.append((z - spatial_median(z)) * np.sqrt(size[k] / (size[k] - 1.0)))
        labels.append(np.full(int(size[k]), place))
    z = np.concatenate(parts)
    return _permuted(np.column_stack([np.linalg.norm(z, axis=1), _root_products(z)]), np.concatenate(labels))


def spatial_median(z: Floats) -> Floats:
    """The point of least sum of distances (Weiszfeld's steps from the medians of the columns)."""
    at = np.median(z, axis=0)
    nothing = 1e-9 * (1.0 + np.abs(z).max(initial=0.0))
    for _ in range(STEPS):
        pull = 1.0 / np.maximum(np.linalg.norm(z - at, axis=1), nothing)
        at = pull @ z / pull.sum()
    return np.asarray(at)


def _root_products(z: Floats) -> Floats:
    """The different entries of zz' / |z|, those off the diagonal times sqrt 2: their squares sum to |z|^2."""
    i, j = np.triu_indices(z.shape[1])
    length = np.linalg.norm(z, axis=1, keepdims=True)
    unit = np.divide(z, length, out=np.zeros_like(z), where=length > 0)
    return np.asarray(z[:, i] * unit[:, j] * np.where(i == j, 1.0, np.sqrt(2.0)))


def _permuted(values: Floats, labels: Index) -> float:
    """The p-value of the first of the values and of all others together, whichever is smaller, adjusted for both."""
    rng, size = np.random.default_rng(0), np.bincount(labels)
    values = values - values.mean(axis=0)
    at_once = max(HELD // (len(size) * len(labels)), 1)
    between = list[Floats]()
    for start in range(0, 1 + PERMUTATIONS, at_once):
        drawn = np.tile(labels, (min(at_once, 1 + PERMUTATIONS - start), 1))
        drawn[start == 0 :] = rng.permuted(drawn[start == 0 :], axis=1)
        members = (drawn[:, None, :] == np.arange(len(size))[:, None]).astype(np.float64)
        sums = (members.reshape(-1, len(labels)) @ values).reshape(len(drawn), len(size), -1)
        each = (sums**2 / size[:, None]).sum(axis=1)
        between.append(np.column_stack([each[:, 0], each[:, 1:].sum(axis=1)]))
    # How many of the permutations are at least as large as each of them.
    found = np.concatenate(between)
    as_large = len(found) - np.array([np.searchsorted(np.sort(c), c * (1.0 - 1e-12)) for c in found.T])
    least = as_large.min(axis=0)
    return float((least <= least[0]).mean())
