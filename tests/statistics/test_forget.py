"""Taking rows away: what is refused, what is dropped, and how exact the rest is."""

from __future__ import annotations

import numpy as np
import pytest

from discrim.block import Block
from discrim.errors import DataError, ForgetError
from discrim.statistics import ClassFactors, ClassMoments, Depth

KINDS = [
    (ClassMoments, Depth.DIAGONAL),
    (ClassMoments, Depth.POOLED),
    (ClassMoments, Depth.FULL),
    (ClassFactors, Depth.POOLED),
    (ClassFactors, Depth.FULL),
]
IDS = [f"{depth} {type_.__name__}" for type_, depth in KINDS]
STATISTICS = pytest.mark.parametrize(("type_", "depth"), KINDS, ids=IDS)
MATRICES = pytest.mark.parametrize(("type_", "depth"), KINDS[1:], ids=IDS[1:])


def block(x, labels, weight=None):
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    return Block(np.asarray(x, float), codes.astype(np.int32), classes, weight)


def sample(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 2.0, np.array(["a", "b"])[np.arange(n) % 2]


def scatter_of(statistic):
    return (statistic.to_moments() if isinstance(statistic, ClassFactors) else statistic).scatter


@STATISTICS
def test_rows_of_an_unknown_class_are_refused(type_, depth):
    x, y = sample()
    with pytest.raises(ForgetError, match=r"rows of class 'c': the statistic has no such class"):
        type_.of(block(x, y), depth).subtract(type_.of(block(x[:2], ["a", "c"]), depth))


@STATISTICS
def test_more_rows_than_were_seen_are_refused(type_, depth):
    x, y = sample()
    more = block(np.vstack([x, x]), np.r_[y, y])
    with pytest.raises(ForgetError, match=r"Cannot forget 40 rows \(weight 40\) of class 'a': only 20 rows"):
        type_.of(block(x, y), depth).subtract(type_.of(more, depth))


@STATISTICS
def test_more_weight_than_was_seen_is_refused(type_, depth):
    x, y = sample()
    heavy = type_.of(block(x[:4], y[:4], np.full(4, 15.0)), depth)
    with pytest.raises(ForgetError, match=r"2 rows \(weight 30\) of class 'a': only 20 rows \(weight 20\)"):
        type_.of(block(x, y), depth).subtract(heavy)


@STATISTICS
def test_all_rows_with_less_than_their_weight_are_refused(type_, depth):
    x, y = sample()
    light = type_.of(block(x, y, np.full(len(x), 0.5)), depth)
    with pytest.raises(ForgetError, match=r"20 rows \(weight 10\) of class 'a'"):
        type_.of(block(x, y), depth).subtract(light)


@STATISTICS
def test_a_row_far_from_all_that_were_seen_is_refused(type_, depth):
    x, y = sample()
    with pytest.raises(ForgetError, match="not among the rows that were seen"):
        type_.of(block(x, y), depth).subtract(type_.of(block([[100.0, 2, 2]], ["a"]), depth))


@MATRICES
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_row_that_breaks_the_correlation_is_refused_though_every_variance_stays_positive(type_, depth, offset):
    z, y = sample(p=1)
    x = np.hstack([z, z + 1e-3 * sample(p=1, seed=1)[0]]) + offset
    whole, stranger = type_.of(block(x, y), depth), block(offset + np.array([[2.5, 1.5]]), ["a"])
    with pytest.raises(ForgetError, match="not among the rows that were seen"):
        whole.subtract(type_.of(stranger, depth))


@pytest.mark.parametrize(
    ("type_", "depth"), [each for each in KINDS if each[1] is not Depth.POOLED],
    ids=[name for name in IDS if "pooled" not in name],
)  # fmt: skip
def test_other_rows_in_the_place_of_all_rows_of_a_class_are_refused(type_, depth):
    x, y = sample()
    others = type_.of(block(2.0 + 0.1 * (x[y == "a"] - 2.0), y[y == "a"]), depth)
    with pytest.raises(ForgetError, match="not among the rows that were seen"):
        type_.of(block(x, y), depth).subtract(others)


@STATISTICS
def test_a_class_of_which_nothing_is_left_is_dropped(type_, depth):
    x, y = sample()
    whole, gone = type_.of(block(x, y), depth), type_.of(block(x[y == "a"], y[y == "a"]), depth)
    left, expected = whole.subtract(gone), type_.of(block(x[y == "b"], y[y == "b"]), depth)
    assert left.classes.tolist() == ["b"]
    np.testing.assert_allclose(left.mean, expected.mean, rtol=1e-13)
    np.testing.assert_allclose(scatter_of(left), scatter_of(expected), atol=1e-12)


@STATISTICS
def test_nothing_is_left_when_all_rows_are_forgotten(type_, depth):
    statistic = type_.of(block(*sample()), depth)
    left = statistic.subtract(statistic)
    assert left.classes.tolist() == []
    assert left.total_weight == 0
    assert depth is Depth.POOLED or not scatter_of(statistic)[:0].size
    if depth is Depth.POOLED:
        assert not scatter_of(left).any()


@STATISTICS
def test_one_row_that_is_left_has_no_scatter_at_all(type_, depth):
    x, y = sample()
    keep = np.r_[0, 1]
    left = type_.of(block(x, y), depth).subtract(type_.of(block(x[2:], y[2:]), depth))
    assert left.rows.tolist() == [1, 1]
    np.testing.assert_allclose(left.mean, x[keep], rtol=1e-12)
    assert not scatter_of(left).any()


@STATISTICS
def test_a_column_that_becomes_constant_has_no_variance_left(type_, depth):
    x, y = sample()
    x[4:, 1] = 0.7
    left = type_.of(block(x, y), depth).subtract(type_.of(block(x[:4], y[:4]), depth))
    scatter = scatter_of(left)
    variance = scatter[..., 1] if depth is Depth.DIAGONAL else scatter[..., 1, 1]
    # A deviation of eps times the mean is what constants would have; the root of eps would not be.
    assert np.sqrt(variance).max() < 1e-14


@STATISTICS
def test_forgetting_again_and_again_stays_exact(type_, depth):
    rng = np.random.default_rng(3)
    x, y = sample(n=300, p=4)
    now = type_.of(block(x, y), depth)
    order = rng.permutation(len(x))
    for i in order[:200]:
        now = now.subtract(type_.of(block(x[i : i + 1], y[i : i + 1]), depth))
    rest = np.sort(order[200:])
    expected = type_.of(block(x[rest], y[rest]), depth)
    np.testing.assert_array_equal(now.rows, expected.rows)
    np.testing.assert_allclose(now.mean, expected.mean, rtol=1e-11)
    np.testing.assert_allclose(scatter_of(now), scatter_of(expected), atol=1e-10)


@pytest.mark.parametrize("depth", [Depth.POOLED, Depth.FULL])
@pytest.mark.parametrize("gap", [1e-4, 1e-8])
def test_factors_forget_rows_of_nearly_collinear_columns_and_keep_the_small_direction(depth, gap):
    rng = np.random.default_rng(4)
    z, small = rng.normal(size=(60, 2)), rng.normal(size=60)
    x = np.column_stack([z, z[:, 0] + gap * small])
    y = np.array(["a", "b"])[np.arange(60) % 2]
    left = ClassFactors.of(block(x, y), depth).subtract(ClassFactors.of(block(x[:20], y[:20]), depth)).pooled()
    groups = [np.column_stack([z[20:], small[20:]])[y[20:] == label] for label in ("a", "b")]
    scatter = sum((g - g.mean(axis=0)).T @ (g - g.mean(axis=0)) for g in groups)
    # R d for d = (-1, 0, 1) is gap times the small column: its length is known beforehand.
    found = np.linalg.norm(left.factors[0] @ np.array([-1.0, 0.0, 1.0])) / gap
    # The small column is read from doubles near 1, so to eps / gap.
    assert found == pytest.approx(np.sqrt(scatter[2, 2]), rel=1e-13 / gap)


@STATISTICS
def test_statistics_of_other_depth_or_width_are_not_combined(type_, depth):
    x, y = sample()
    statistic, narrow = type_.of(block(x, y), depth), type_.of(block(x[:, :2], y), depth)
    with pytest.raises(DataError, match="Statistics of 2 and of 3 columns cannot be combined"):
        statistic.merge(narrow)
    with pytest.raises(DataError, match="Statistics of 2 and of 3 columns cannot be combined"):
        statistic.subtract(narrow)


def test_statistics_of_different_depths_are_not_combined():
    x, y = sample()
    with pytest.raises(DataError, match="different depths cannot be combined: full, pooled"):
        ClassMoments.of(block(x, y), Depth.FULL).merge(ClassMoments.of(block(x, y), Depth.POOLED))


@STATISTICS
@pytest.mark.parametrize("seed", range(20))
def test_a_constant_column_of_weighted_rows_is_no_reason_to_refuse(type_, depth, seed):
    rng = np.random.default_rng(seed)
    x, y, w = rng.normal(size=(60, 5)), np.array(["a", "b", "c"])[np.arange(60) % 3], rng.uniform(0.5, 3.0, 60)
    x[:, 2] = 3.0
    parts = [type_.of(block(x[i::2], y[i::2], w[i::2]), depth) for i in range(2)]
    left = parts[0].merge(parts[1]).subtract(type_.of(block(x[:12], y[:12], w[:12]), depth))
    expected = type_.of(block(x[12:], y[12:], w[12:]), depth)
    np.testing.assert_allclose(scatter_of(left), scatter_of(expected), atol=1e-10)
