"""Loss, gradient and curvature of parts of the rows add up to those of all rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from discrim.block import Block
from discrim.engines import passes_over
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, LOSS, Likelihood, merge_likelihoods

examples = settings(max_examples=20, deadline=None)
sizes = st.integers(0, 40)
seeds = st.integers(0, 2**16)
STEPS = [0.5, 1.0]


def block_of(n, seed, classes, *, grouped=False, part=0):
    rng = np.random.default_rng([seed, part])
    codes = rng.integers(0, classes, n).astype(np.int32)
    weight = rng.uniform(0.2, 3, n) * (rng.random(n) > 0.2)
    offset, share = (rng.normal(size=n), rng.random(n)) if grouped else (None, None)
    return Block(rng.normal(size=(n, 3)) + 2, codes, np.arange(classes), weight, offset, share)


def both(a, b):
    extra = (None if x is None else np.concatenate([x, y]) for x, y in [(a.offset, b.offset), (a.share, b.share)])
    weight = np.concatenate([a.weight, b.weight])
    return Block(np.vstack([a.x, b.x]), np.concatenate([a.codes, b.codes]), a.classes, weight, *extra)


def statistic(block, seed, depth):
    """The sums at a theta that is the same for all blocks of a world."""
    rng = np.random.default_rng(seed)
    classes = len(block.classes)
    coordinates = Coordinates(rng.normal(size=3), rng.uniform(0.5, 2, 3))
    rows = passes_over(block)
    objective = Objective(rows, block.classes, coordinates, softmax=classes > 2)
    theta, along = rng.normal(size=(2, *objective.shape))
    return objective.at(theta, depth=depth, along=along, steps=STEPS)


def assert_same(found: Likelihood, expected: Likelihood):
    assert (found.rows, found.least) == (expected.rows, expected.least)
    for name in ("loss", "gradient", "hessian", "losses", "weight"):
        a, b = getattr(found, name), getattr(expected, name)
        assert np.shape(a) == np.shape(b)
        assert_allclose(a, b, rtol=1e-12, atol=1e-12 * (1 + np.abs(b).max(initial=0)))


@pytest.fixture(
    scope="session", params=[(2, LOSS), (2, GRADIENT), (2, CURVATURE), (4, GRADIENT), (4, CURVATURE), (4, BLOCKS)]
)
def shape(request):
    """Number of classes and depth."""
    return request.param


@examples
@given(seed=seeds, n=st.tuples(sizes, sizes), grouped=st.booleans())
def test_merging_two_parts_gives_the_sums_of_all_their_rows(shape, seed, n, grouped):
    classes, depth = shape
    grouped = grouped and classes == 2
    a, b = (block_of(size, seed, classes, grouped=grouped, part=part) for part, size in enumerate(n))
    assert_same(statistic(a, seed, depth).merge(statistic(b, seed, depth)), statistic(both(a, b), seed, depth))


@examples
@given(seed=seeds, n=st.tuples(sizes, sizes, sizes))
def test_merging_is_commutative_and_associative(shape, seed, n):
    classes, depth = shape
    a, b, c = (statistic(block_of(size, seed, classes, part=part), seed, depth) for part, size in enumerate(n))
    assert_same(a.merge(b), b.merge(a))
    assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert_same(merge_likelihoods([a, b, c]), a.merge(b).merge(c))


@examples
@given(seed=seeds, n=sizes)
def test_a_part_without_rows_changes_nothing(shape, seed, n):
    classes, depth = shape
    some, nothing = (statistic(block_of(size, seed, classes), seed, depth) for size in (n, 0))
    assert_same(some.merge(nothing), some)
    assert_same(nothing.merge(some), some)


@examples
@given(seed=seeds, n=st.integers(1, 40), cuts=st.lists(st.integers(0, 40), max_size=5))
def test_the_sums_do_not_depend_on_how_the_rows_are_cut(shape, seed, n, cuts):
    classes, depth = shape
    block = block_of(n, seed, classes)
    bounds = [0, *sorted(min(cut, n) for cut in cuts), n]
    parts = [statistic(block.rows(i, j), seed, depth) for i, j in pairwise(bounds)]
    assert_same(merge_likelihoods(parts), statistic(block, seed, depth))


@examples
@given(seed=seeds, n=sizes)
def test_a_row_of_weight_two_counts_as_the_row_twice(shape, seed, n):
    classes, depth = shape
    block = block_of(n, seed, classes)
    times = np.random.default_rng(seed).integers(0, 4, n)
    weighted = statistic(replace(block, weight=times.astype(float)), seed, depth)
    repeated = Block(np.repeat(block.x, times, axis=0), np.repeat(block.codes, times), block.classes)
    expected = statistic(repeated, seed, depth)
    assert (weighted.rows, expected.rows) == (np.count_nonzero(times), times.sum())
    assert_same(replace(weighted, rows=0, least=0.0), replace(expected, rows=0, least=0.0))


def test_merging_leaves_the_parts_as_they_were():
    a, b = (statistic(block_of(9, 0, 2, part=part), 0, CURVATURE) for part in (0, 1))
    before = a.gradient.copy(), a.hessian.copy()
    merge_likelihoods([a, b])
    assert_array_equal(a.gradient, before[0])
    assert_array_equal(a.hessian, before[1])


def test_sums_with_nan_or_infinity_say_so():
    fine = statistic(block_of(9, 0, 2), 0, CURVATURE)
    assert fine.finite
    for name, value in (("loss", np.nan), ("gradient", fine.gradient * np.inf), ("hessian", fine.hessian * np.nan)):
        assert not replace(fine, **{name: value}).finite
