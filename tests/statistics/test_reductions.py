"""Reductions to moments and R-factors: what covers what, narrower states, and classes under other names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discrim.block import Block, join
from discrim.families.recipe import Shape, Turned
from discrim.statistics import ClassFactors, Depth, FactorsOf, MomentsOf

KINDS = [
    MomentsOf(Depth.DIAGONAL), MomentsOf(Depth.POOLED), MomentsOf(Depth.POOLED, 2), MomentsOf(Depth.FULL),
    FactorsOf(Depth.POOLED), FactorsOf(Depth.POOLED, 2), FactorsOf(Depth.FULL),
]  # fmt: skip
REDUCTIONS = pytest.mark.parametrize("reduction", KINDS, ids=str)


def block(seed, n=30, classes=3, weighted=False):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(classes), rng.integers(0, classes, n - classes)].astype(np.int32)
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    return Block(rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + 100, codes, np.arange(classes), weight)


def assert_equal(one, other):
    assert one.depth is other.depth
    np.testing.assert_array_equal(one.classes, other.classes)
    np.testing.assert_allclose(one.weight, other.weight, rtol=1e-12)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)
    scatters = [s.to_moments().scatter if isinstance(s, ClassFactors) else s.scatter for s in (one, other)]
    np.testing.assert_allclose(*scatters, rtol=1e-8, atol=1e-8)


@REDUCTIONS
@given(seed=st.integers(0, 1000), classes=st.integers(2, 4), weighted=st.booleans())
def test_the_state_of_all_rows_is_that_of_its_parts_merged(reduction, seed, classes, weighted):
    parts = [block(seed + i, classes=classes, weighted=weighted) for i in range(3)]
    merged = reduction.merge([reduction.of(part) for part in parts])
    assert_equal(merged, reduction.narrow(reduction.of(join(parts))))


@REDUCTIONS
@given(seed=st.integers(0, 1000), sides=st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4))
def test_relabelled_classes_are_those_of_relabelled_rows(reduction, seed, sides):
    if not {0, 1} <= set(sides):
        return
    rows, sides = block(seed, n=40, classes=4, weighted=True), np.array(sides)
    kept = np.flatnonzero(sides[rows.codes] >= 0)
    renamed = Block(rows.x[kept], sides[rows.codes[kept]].astype(np.int32), np.array(["no", "yes"]), rows.weight[kept])
    wide = reduction.by_class()
    assert_equal(wide.of(rows).relabel(sides, ["no", "yes"]), wide.of(renamed))


@pytest.mark.parametrize("other", KINDS, ids=str)
@REDUCTIONS
def test_a_reduction_that_covers_another_has_all_that_it_needs(reduction, other):
    rows = block(3, classes=3)
    if reduction.covers(other):
        assert_equal(other.narrow(reduction.of(rows)), other.narrow(other.of(rows)))
    assert reduction.covers(reduction)
    assert hash(reduction) == hash(type(reduction)(reduction.depth, reduction.full_up_to))


def test_only_the_full_depth_covers_others_and_factors_never_cover_moments():
    assert [MomentsOf(Depth.FULL).covers(kind) for kind in KINDS] == [True] * 4 + [False] * 3
    assert [FactorsOf(Depth.FULL).covers(kind) for kind in KINDS] == [False] * 4 + [True] * 3
    assert not MomentsOf(Depth.POOLED).covers(MomentsOf(Depth.DIAGONAL))


def test_a_part_with_another_kind_or_depth_is_brought_to_what_both_have():
    two, three = block(0, classes=2), block(1, classes=3)
    few = MomentsOf(Depth.POOLED, 2)
    assert few.of(two).depth is Depth.FULL
    assert few.merge([few.of(two), few.of(three)]).depth is Depth.POOLED
    mixed = MomentsOf(Depth.FULL).merge([MomentsOf(Depth.FULL).of(two), FactorsOf(Depth.FULL).of(three)])
    assert_equal(mixed, MomentsOf(Depth.FULL).of(join([two, three])))
    again = FactorsOf(Depth.FULL).merge([FactorsOf(Depth.FULL).of(three), MomentsOf(Depth.FULL).of(two)])
    assert_equal(again, MomentsOf(Depth.FULL).of(join([three, two])))


@pytest.mark.parametrize("classes", [2, 5])
@REDUCTIONS
def test_the_size_that_is_stated_is_that_of_the_scatter_or_the_means(reduction, classes):
    rows = block(0, n=60, classes=classes)
    state = reduction.of(rows)
    stated = reduction.numbers(Shape(Turned(4), rows.classes, len(rows)))
    if isinstance(state, ClassFactors):
        assert sum(f.size for f in state.factors) <= stated
    else:
        assert stated == max(state.scatter.size, state.mean.size)
