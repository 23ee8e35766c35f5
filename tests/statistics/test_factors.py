"""R-factors keep the digits that squaring loses, and nothing p x p where rows are few."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from discrim.block import Block
from discrim.statistics import ClassFactors, ClassMoments, Depth

ONE = np.array(["a"])


def block(x, codes=None, classes=ONE):
    return Block(x, np.zeros(len(x), np.int32) if codes is None else codes, classes)


@pytest.mark.parametrize("depth", [Depth.POOLED, Depth.FULL])
@pytest.mark.parametrize(("n", "p"), [(50, 4), (4, 50), (5, 5), (1, 3), (0, 3), (6, 0)])
def test_factors_square_to_the_moments(depth, n, p):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, n).astype(np.int32)
    b = block(3.0 + rng.normal(size=(n, p)), codes, np.array(["a", "b"]))
    found, expected = ClassFactors.of(b, depth).to_moments(), ClassMoments.of(b, depth)
    np.testing.assert_allclose(found.scatter, expected.scatter, atol=1e-12)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-14)


@pytest.mark.parametrize("depth", [Depth.POOLED, Depth.FULL])
def test_a_factor_has_no_more_rows_than_the_data_or_the_columns(depth):
    rng = np.random.default_rng(1)
    for n, p in [(200, 5), (5, 200)]:
        parts = [ClassFactors.of(block(rng.normal(size=(n, p))), depth) for _ in range(3)]
        merged = ClassFactors.merged(parts)
        assert parts[0].factors[0].shape[0] <= min(n, p)
        # The gaps between the three means add a row each.
        assert merged.factors[0].shape[0] <= min(3 * n + 3, p)


@pytest.mark.parametrize("cut", [None, 13])
def test_the_small_direction_of_nearly_collinear_columns_keeps_its_digits(cut):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 3))
    x[:, 2] = x[:, 0] + 1e-8 * x[:, 2]
    exact = [Fraction(row[2]) - Fraction(row[0]) for row in x.tolist()]
    mean = sum(exact) / len(exact)
    expected = float(sum((d - mean) ** 2 for d in exact)) ** 0.5
    parts = [x] if cut is None else [x[:cut], x[cut:]]
    statistic = ClassFactors.merged([ClassFactors.of(block(part), Depth.POOLED) for part in parts])
    direction = np.array([-1.0, 0.0, 1.0])
    # The factor is right to eps of the columns' size, which is 1e8 times this direction's.
    assert np.linalg.norm(statistic.factors[0] @ direction) == pytest.approx(expected, rel=1e-7)
    squared = statistic.to_moments().scatter
    assert np.sqrt(max(direction @ squared @ direction, 0.0)) != pytest.approx(expected, rel=1e-3)


def test_columns_of_different_scales_do_not_drown_each_other():
    rng = np.random.default_rng(3)
    scale = np.array([1e12, 1.0, 1e-6])
    z = rng.normal(size=(50, 3)) @ np.array([[1.0, 0.9, 0.8], [0, 0.1, 0.5], [0, 0, 0.1]])
    plain = ClassFactors.of(block(z), Depth.POOLED).factors[0]
    scaled = ClassFactors.of(block(z * scale), Depth.POOLED).factors[0]
    found, expected = (np.linalg.svd(r / s, compute_uv=False) for r, s in ((scaled, scale), (plain, 1.0)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sparse_rows_give_the_factors_of_the_same_rows_dense():
    x = np.random.default_rng(4).normal(size=(30, 6))
    x[np.abs(x) < 0.8] = 0
    dense = ClassFactors.of(block(x), Depth.FULL)
    thin = ClassFactors.of(Block(sparse.csr_array(x), np.zeros(30, np.int32), ONE), Depth.FULL)
    np.testing.assert_array_equal(dense.factors[0], thin.factors[0])
