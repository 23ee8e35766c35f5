"""Class moments beyond the laws: sparse rows, pooling, reweighting, labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from discrim.block import Block
from discrim.errors import DataError
from discrim.statistics import ClassFactors, ClassMoments, Depth
from discrim.statistics.by_class import union_of_classes

CLASSES = np.array(["a", "b", "c"])


def sample(n=80, p=5, *, weighted=False, density=0.3, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    x = (offset + rng.normal(size=(n, p))) * (rng.random((n, p)) < density)
    weight = rng.uniform(0.1, 2.0, n) * (rng.random(n) > 0.1) if weighted else None
    return x, rng.integers(0, 3, n).astype(np.int32), weight


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-14)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=tolerance, atol=1e-13)


@pytest.mark.parametrize("depth", list(Depth))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_give_the_moments_of_the_same_rows_dense(depth, weighted, dtype):
    x, codes, weight = sample(weighted=weighted)
    x = x.astype(dtype)
    found = ClassMoments.of(Block(sparse.csr_array(x), codes, CLASSES, weight), depth)
    same(found, ClassMoments.of(Block(x, codes, CLASSES, weight), depth))


def test_sparse_columns_without_zeros_keep_their_digits_far_from_the_origin():
    x, codes, weight = sample(weighted=True, density=1.1, offset=1e8)
    found = ClassMoments.of(Block(sparse.csr_array(x), codes, CLASSES, weight), Depth.DIAGONAL)
    # The plain sum for the mean is right to a few eps of 1e8, which enters the scatter squared.
    same(found, ClassMoments.of(Block(x, codes, CLASSES, weight), Depth.DIAGONAL), tolerance=1e-11)


@pytest.mark.parametrize("type_", [ClassMoments, ClassFactors])
def test_pooling_a_full_statistic_gives_the_pooled_one(type_):
    x, codes, weight = sample(weighted=True, density=1.1)
    block = Block(x, codes, CLASSES, weight)
    found, expected = type_.of(block, Depth.FULL).pooled(), type_.of(block, Depth.POOLED)
    assert found.depth is Depth.POOLED
    if type_ is ClassFactors:
        found, expected = found.to_moments(), expected.to_moments()
    same(found, expected, tolerance=1e-11)


def test_a_diagonal_statistic_cannot_be_pooled():
    x, codes, _ = sample()
    with pytest.raises(ValueError, match="no pooled scatter"):
        ClassMoments.of(Block(x, codes, CLASSES), Depth.DIAGONAL).pooled()


@pytest.mark.parametrize(
    ("type_", "depth"),
    [(ClassMoments, Depth.DIAGONAL), (ClassMoments, Depth.FULL), (ClassFactors, Depth.FULL)],
)
def test_reweighting_classes_equals_weights_of_their_rows(type_, depth):
    x, codes, _ = sample(density=1.1)
    factors = np.array([0.5, 2.0, 3.0])
    found = type_.of(Block(x, codes, CLASSES), depth).reweighted(factors)
    expected = type_.of(Block(x, codes, CLASSES, factors[codes]), depth)
    if type_ is ClassFactors:
        found, expected = found.to_moments(), expected.to_moments()
    same(found, expected, tolerance=1e-11)


@pytest.mark.parametrize("depth", [Depth.POOLED, Depth.FULL])
def test_merged_scatter_is_exactly_symmetric(depth):
    x, codes, weight = sample(p=13, weighted=True, density=1.1)
    parts = [ClassMoments.of(Block(x, codes, CLASSES, weight).rows(i, i + 20), depth) for i in (0, 20, 40, 60)]
    merged = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    for scatter in (merged.scatter, merged.subtract(parts[1]).scatter):
        assert np.array_equal(scatter, np.swapaxes(scatter, -1, -2))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("type_", [ClassMoments, ClassFactors])
def test_a_value_that_is_not_finite_survives_a_merge(type_, value):
    x, codes, _ = sample()
    clean, x[3, 2] = type_.of(Block(x.copy(), codes, CLASSES), Depth.FULL), value
    spoilt = type_.of(Block(x, codes, CLASSES), Depth.FULL)
    assert clean.finite
    assert not spoilt.finite
    assert not clean.merge(spoilt).finite


def test_labels_of_texts_and_numbers_are_not_joined():
    expected = r"cannot be put in one order \(int, str\)\. Convert"
    with pytest.raises(DataError, match=expected):
        union_of_classes([np.array(["1", "2"]), np.array([1, 2])])
    with pytest.raises(DataError, match=expected):
        union_of_classes([np.array(["x"], dtype=object), np.array([1, 2], dtype=object)])


def test_labels_are_joined_in_their_order():
    assert union_of_classes([np.array([1, 10]), np.array([9, 10])]).tolist() == [1, 9, 10]
    assert union_of_classes([np.array(["b"]), np.array(["abc", "b"])]).tolist() == ["abc", "b"]
    assert union_of_classes([np.array([0.5]), np.array([0.25])]).tolist() == [0.25, 0.5]
