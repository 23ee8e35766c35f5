"""The laws of counts: of columns, and of levels that only some parts know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim.block import Block
from discrim.errors import DataError, ForgetError
from discrim.statistics import ClassCounts

LABELS = np.array(["a", "b", "c", "d"])


@dataclass(frozen=True)
class World:
    """Rows of counts, or of levels out of ten in each of p features; some levels are missing."""

    p: int
    levels: bool
    weighted: bool
    sparse: bool
    seed: int

    def rows(self, n, part):
        rng = np.random.default_rng([self.seed, part])
        x = rng.poisson(1.0, (n, self.p)).astype(float)
        if self.levels:
            x = rng.integers(-1, 4 + 3 * part, (n, self.p)).astype(float)
        # Quarters are exact in binary, so that sums are the same in any order.
        weight = rng.integers(0, 8, n) / 4.0 if self.weighted else np.ones(n)
        return x, rng.integers(0, 2 + part, n), weight

    def of(self, *rows):
        x, codes, weight = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        known, codes = np.unique(codes, return_inverse=True)
        block = Block(x, codes.astype(np.int32), LABELS[known], weight)
        if not self.levels:
            return ClassCounts.of(block if not self.sparse else Block(sparse.csr_array(x), *_rest(block)))
        return brute_levels(block)


def _rest(block):
    return block.codes, block.classes, block.weight


def brute_levels(block):
    levels, columns = [], []
    for j in range(block.x.shape[1]):
        here = block.x[:, j] >= 0
        levels.append(np.unique(block.x[here & (block.weight > 0), j]).astype(int))
        columns += [
            [block.weight[(block.codes == k) & (block.x[:, j] == v)].sum() for k in range(len(block.classes))]
            for v in levels[-1]
        ]
    K = len(block.classes)
    weight = np.array([block.weight[block.codes == k].sum() for k in range(K)])
    rows = np.array([((block.codes == k) & (block.weight > 0)).sum() for k in range(K)])
    count = np.array(columns, dtype=float).reshape(-1, K).T
    return ClassCounts(block.classes, weight, rows, np.ascontiguousarray(count), tuple(levels))


def assert_same(a, b):
    keep_a, keep_b = a.rows > 0, b.rows > 0
    assert_array_equal(a.classes[keep_a], b.classes[keep_b])
    for name in ("weight", "rows", "count"):
        assert_array_equal(getattr(a, name)[keep_a], getattr(b, name)[keep_b])
    assert (a.levels is None) == (b.levels is None)
    for x, y in zip(a.levels or (), b.levels or (), strict=True):
        assert_array_equal(x, y)


worlds = st.builds(
    World, p=st.integers(1, 5), levels=st.booleans(), weighted=st.booleans(), sparse=st.booleans(),
    seed=st.integers(0, 2**16),
)  # fmt: skip
sizes = st.integers(1, 40)
examples = settings(max_examples=30, deadline=None)


@examples
@given(world=worlds, n=sizes, m=sizes)
def test_merging_gives_the_counts_of_all_rows_in_either_order(world, n, m):
    a, b = world.rows(n, 0), world.rows(m, 1)
    assert_same(world.of(a).merge(world.of(b)), world.of(a, b))
    assert_same(world.of(b).merge(world.of(a)), world.of(a, b))


@examples
@given(world=worlds, n=sizes, m=sizes, o=sizes)
def test_merging_is_associative(world, n, m, o):
    a, b, c = (world.of(world.rows(size, part)) for part, size in enumerate((n, m, o)))
    assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert_same(ClassCounts.merged([a, b, c]), a.merge(b.merge(c)))


@examples
@given(world=worlds, n=sizes, m=sizes)
def test_subtracting_undoes_merging_and_forgets_levels_that_nobody_has(world, n, m):
    a, b = world.of(world.rows(n, 0)), world.of(world.rows(m, 1))
    assert_same(a.merge(b).subtract(b), a)


@examples
@given(world=worlds, n=sizes)
def test_bytes_give_the_statistic_back(world, n):
    a = world.of(world.rows(n, 0))
    again = ClassCounts.from_bytes(a.to_bytes())
    assert_same(again, a)
    assert again.to_bytes() == a.to_bytes()


def test_counts_are_weighted_sums_of_the_columns():
    x = np.array([[1.0, 0.0], [2.0, 5.0], [0.0, 1.0]])
    found = ClassCounts.of(Block(x, np.array([1, 0, 1], np.int32), np.array(["n", "y"]), np.array([2.0, 1.0, 3.0])))
    assert_allclose(found.count, [[2, 5], [2, 3]])
    assert_allclose(found.weight, [1, 5])
    assert found.rows.tolist() == [1, 2]


def test_rows_that_were_never_there_cannot_be_forgotten():
    few = ClassCounts(np.array(["a"]), np.array([2.0]), np.array([2]), np.array([[1.0, 1.0]]), (np.array([0, 1]),))
    other = ClassCounts(np.array(["a"]), np.array([1.0]), np.array([1]), np.array([[1.0]]), (np.array([7]),))
    with pytest.raises(ForgetError, match="class 'a': they are not among the rows"):
        few.subtract(other)
    with pytest.raises(ForgetError, match="class 'b'"):
        few.subtract(ClassCounts(np.array(["b"]), np.ones(1), np.ones(1, int), np.array([[1.0]]), (np.array([0]),)))


def test_counts_of_columns_and_of_levels_do_not_mix():
    columns = ClassCounts(np.array(["a"]), np.ones(1), np.ones(1, int), np.ones((1, 2)))
    levels = ClassCounts(np.array(["a"]), np.ones(1), np.ones(1, int), np.ones((1, 1)), (np.array([0]),))
    with pytest.raises(DataError, match="columns and counts of levels"):
        columns.merge(levels)
    with pytest.raises(DataError, match="of 2 and of 3 columns"):
        columns.merge(ClassCounts(np.array(["a"]), np.ones(1), np.ones(1, int), np.ones((1, 3))))


def test_counts_larger_than_those_that_were_seen_cannot_be_forgotten():
    seen = ClassCounts(np.array(["a"]), np.array([3.0]), np.array([3]), np.array([[4.0, 1.0]]))
    other = ClassCounts(np.array(["a"]), np.array([1.0]), np.array([1]), np.array([[1.0, 2.0]]))
    with pytest.raises(ForgetError, match="class 'a': they are not among the rows"):
        seen.subtract(other)
