"""The Levene test of whole covariance matrices: its size with any tails, what it sees, and its sample of rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import optimize, stats

from discrim import scan
from discrim.block import Block
from discrim.inference.spread_test import PERMUTATIONS, random_rows, rows_to_test, spatial_median, spread_test
from discrim.sources import open_rows


def p_value(x, labels, weight=None):
    gaps = np.concatenate([x[labels == k] - x[labels == k].mean(axis=0) for k in np.unique(labels)])
    root = np.linalg.inv(np.linalg.cholesky(np.atleast_2d(np.cov(gaps.T)))).T
    return spread_test(Block(x, labels.astype(np.int32), np.unique(labels), weight), root)


def test_one_column_agrees_with_brown_and_forsythe():
    """The permutation p-value of their F is near that of the F distribution."""
    rng = np.random.default_rng(4)
    for scale in (1.0, 1.4, 1.7):
        labels = np.repeat([0, 1, 2], [30, 40, 50])
        x = rng.normal(size=120) * np.where(labels == 1, scale, 1.0)
        expected = stats.levene(*(x[labels == k] for k in range(3)), center="median").pvalue
        assert abs(p_value(x[:, None], labels) - expected) < 0.05


def test_the_statistic_is_that_of_the_definition():
    """Brute force: lengths and matrices about the spatial medians, permuted one by one."""
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1], [12, 18])
    z = rng.standard_t(3, size=(30, 3)) * np.where(labels, 1.5, 1.0)[:, None]
    values, order = [], np.argsort(labels, kind="stable")
    for k in (0, 1):
        own = z[labels == k]
        centre = optimize.minimize(lambda m, own=own: np.linalg.norm(own - m, axis=1).sum(), own.mean(axis=0)).x
        residuals = (own - centre) * np.sqrt(len(own) / (len(own) - 1))
        values += [(np.linalg.norm(row), np.outer(row, row) / np.linalg.norm(row)) for row in residuals]
    draws = np.vstack([labels[order], np.random.default_rng(0).permuted(np.tile(labels, (PERMUTATIONS, 1)), axis=1)])
    lengths, matrices = np.array([v[0] for v in values]), np.array([v[1] for v in values])
    found = np.array(
        [[sum((of == k).sum() * np.sum((v[of == k].mean(axis=0) - v.mean(axis=0)) ** 2) for k in (0, 1))
          for v in (lengths, matrices)] for of in draws]
    )  # fmt: skip
    as_large = (found[None, :, :] >= found[:, None, :] * (1 - 1e-9)).sum(axis=1).min(axis=1)
    expected = np.mean(as_large <= as_large[0])
    block = Block(z, labels.astype(np.int32), np.array([0, 1]))
    assert spread_test(block, np.eye(3)) == pytest.approx(expected, abs=0.004)


@pytest.mark.parametrize("draw", ["normal", "standard_t", "exponential"])
def test_its_size_is_kept_with_long_tails_and_skewness(draw):
    """Box's M rejects a third to a half of the last two."""
    rejected = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.standard_t(4, size=(60, 3)) if draw == "standard_t" else getattr(rng, draw)(size=(60, 3))
        rejected += p_value(x @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]]), np.arange(60) % 3) < 0.05
    assert rejected <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


def test_it_sees_scale_and_correlation():
    rng = np.random.default_rng(1)
    x, labels = rng.standard_t(5, size=(200, 3)), np.arange(200) % 2
    assert p_value(x, labels) > 0.05
    assert p_value(x * np.where(labels, 1.6, 1.0)[:, None], labels) <= 0.01
    turned = x.copy()
    turned[labels == 0, 1] += 1.5 * turned[labels == 0, 0]
    turned[labels == 1, 1] -= 1.5 * turned[labels == 1, 0]
    assert p_value(turned, labels) <= 0.01


def test_where_it_does_not_apply_there_is_no_p_value():
    x, labels = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    assert np.isnan(p_value(x, labels, np.arange(40) + 1.0))
    assert p_value(x, labels, np.full(40, 2.0)) == p_value(x, labels)
    assert np.isnan(p_value(x, np.r_[np.zeros(38), 1, 1].astype(int)))
    assert rows_to_test(31) == 0
    assert rows_to_test(2) == 2000


def test_a_median_among_equal_rows_is_found():
    z = np.r_[np.zeros((9, 2)), np.ones((4, 2))]
    assert np.linalg.norm(spatial_median(z)) < 1e-6


def test_the_rows_are_the_same_in_memory_and_in_a_file(tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": np.arange(9000.0), "y": np.arange(9000) // 4500})
    table.to_parquet(tmp_path / "t.parquet", row_group_size=1000)
    here = random_rows(open_rows(table[["a"]], table["y"]), 9000, 500)
    there = random_rows(open_rows(scan(tmp_path / "t.parquet", target="y")), 9000, 500)
    assert_array_equal(here.x, there.x)
    assert_array_equal(here.classes[here.codes], there.classes[there.codes])
    assert len(here) == 500
