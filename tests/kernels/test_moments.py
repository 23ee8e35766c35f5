"""The moments kernel against its NumPy reference, and the reference against ``np.cov``."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from discrim import kernels
from discrim.kernels.gaussian import reference
from discrim.kernels.gaussian.reference import DIAGONAL, FULL, POOLED

DEPTHS = [DIAGONAL, POOLED, FULL]
# The kernel packs columns in panels of eight and rows in blocks: sizes on, before and after the edges.
WIDTHS = [*range(1, 19), 23, 24, 25, 31, 32, 33, 40]
EPS = float(np.finfo(float).eps)


def strided(x):
    wide = np.full((2 * x.shape[0], 3 * x.shape[1]), np.nan, dtype=x.dtype)
    wide[::2, ::3] = x
    return wide[::2, ::3]


def inside_wider(x):
    """Rows that lie apart in memory, each row contiguous; what lies between must not be used."""
    wide = np.full((x.shape[0], x.shape[1] + 3), np.nan, dtype=x.dtype)
    wide[:, : x.shape[1]] = x
    return wide[:, : x.shape[1]]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": strided,
    "inside wider rows": inside_wider,
    "rows reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "columns reversed": lambda x: np.ascontiguousarray(x[:, ::-1])[:, ::-1],
    "both reversed": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
}


def sample(n, p, classes, seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    x = 3.0 + rng.normal(size=(n, p)) * rng.uniform(0.5, 4.0, p)
    codes = rng.integers(-1, classes, n).astype(np.int32)
    weight = rng.uniform(0.1, 3.0, n) * (rng.random(n) > 0.2) if weighted else None
    return x, codes, weight


def assert_same_moments(found, expected):
    """Entries of a scatter are compared on the scale of the deviations of their two columns."""
    for ours, theirs in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    np.testing.assert_allclose(found[2], expected[2], rtol=0, atol=1e-13 * (1 + np.abs(expected[2]).max(initial=0)))
    scatter = expected[3]
    assert found[3].shape == scatter.shape
    if scatter.shape == expected[2].shape:
        np.testing.assert_allclose(found[3], scatter, rtol=1e-12, atol=1e-24)
    else:
        deviation = np.sqrt(np.diagonal(scatter, axis1=-2, axis2=-1)) + 1e-12
        difference = np.abs(found[3] - scatter) / deviation[..., :, None] / deviation[..., None, :]
        assert difference.max(initial=0.0) < 1e-12


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_memory_layout_gives_the_moments_of_the_reference(layout, dtype, depth):
    for p in WIDTHS:
        x, codes, _ = sample(41, p, 3, seed=p)
        x = LAYOUTS[layout](x.astype(dtype))
        found = kernels.class_moments(x, codes, None, 3, depth)
        assert_same_moments(found, reference.class_moments(x, codes, None, 3, depth))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", range(1, 13))
def test_any_number_of_classes_gives_the_moments_of_the_reference(classes, weighted, depth):
    for n, p in [(60, 5), (60, 17)]:
        x, codes, weight = sample(n, p, classes, seed=classes, weighted=weighted)
        found = kernels.class_moments(x, codes, weight, classes, depth)
        assert_same_moments(found, reference.class_moments(x, codes, weight, classes, depth))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9])
@pytest.mark.parametrize("p", [0, 1, 8, 9])
def test_few_rows_or_no_columns_give_the_moments_of_the_reference(n, p, depth):
    x, codes, weight = sample(n, p, 2, weighted=True)
    for w in (None, weight):
        found = kernels.class_moments(x, codes, w, 2, depth)
        assert_same_moments(found, reference.class_moments(x, codes, w, 2, depth))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(("n", "p"), [(9001, 3), (2500, 40), (700, 130)])
def test_rows_of_many_inner_blocks_give_the_moments_of_the_reference(n, p, depth):
    x, codes, weight = sample(n, p, 4, weighted=True)
    codes[:5000] = np.minimum(codes[:5000], 2)  # the last class first appears in a later block
    found = kernels.class_moments(x, codes, weight, 4, depth)
    assert_same_moments(found, reference.class_moments(x, codes, weight, 4, depth))


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
def test_moments_are_those_of_numpy_cov(backend):
    x, codes, weight = sample(80, 6, 3, weighted=True)
    total, rows, mean, scatter = backend.class_moments(x, codes, weight, 3, FULL)
    pooled = backend.class_moments(x, codes, weight, 3, POOLED)[3]
    diagonal = backend.class_moments(x, codes, weight, 3, DIAGONAL)[3]
    for k in range(3):
        xk, wk = x[codes == k], weight[codes == k]
        assert total[k] == pytest.approx(wk.sum())
        assert rows[k] == np.count_nonzero(wk)
        np.testing.assert_allclose(mean[k], np.average(xk, axis=0, weights=wk), rtol=1e-13)
        expected = np.cov(xk, rowvar=False, aweights=wk, ddof=0) * wk.sum()
        np.testing.assert_allclose(scatter[k], expected, atol=1e-12 * np.abs(expected).max())
        np.testing.assert_allclose(diagonal[k], np.diagonal(expected), rtol=1e-12)
    np.testing.assert_allclose(pooled, scatter.sum(axis=0), atol=1e-12 * np.abs(pooled).max())


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("depth", DEPTHS)
def test_rows_of_weight_zero_or_negative_code_are_not_seen(backend, depth):
    x, codes, _ = sample(50, 9, 3)
    codes[40:], weight = -1, np.r_[np.ones(30), np.zeros(20)]
    x[30:] = 1e30
    found = backend.class_moments(x, codes, weight, 3, depth)
    expected = backend.class_moments(x[:30].copy(), codes[:30], None, 3, depth)
    assert_same_moments(found, expected)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_class_without_rows_is_all_zeros(backend, depth):
    x, codes, _ = sample(20, 4, 2)
    weight, rows, mean, scatter = backend.class_moments(x, np.where(codes == 1, 2, codes), None, 3, depth)
    assert weight[1] == rows[1] == 0
    assert not mean[1].any()
    assert depth == POOLED or not scatter[1].any()


@pytest.mark.parametrize("depth", [POOLED, FULL])
def test_scatter_is_exactly_symmetric(depth):
    x, codes, weight = sample(300, 19, 3, weighted=True)
    scatter = kernels.class_moments(x, codes, weight, 3, depth)[3]
    assert np.array_equal(scatter, np.swapaxes(scatter, -1, -2))


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_shows_in_its_class_and_column_without_a_warning(backend, depth, value):
    x, codes, _ = sample(40, 11, 2)
    codes = np.abs(codes)
    x[np.flatnonzero(codes == 1)[0], 9] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, _, mean, scatter = backend.class_moments(x, codes, None, 2, depth)
    assert np.isfinite(mean[0]).all()
    assert np.isfinite(np.delete(mean[1], 9)).all()
    assert not np.isfinite(mean[1, 9])
    assert not np.isfinite(scatter).all()


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
def test_offset_of_1e8_deviations_costs_no_digits_of_the_scatter(backend):
    rng = np.random.default_rng(1)
    x = 1e8 + rng.normal(size=(50, 3))
    scatter = backend.class_moments(x, np.zeros(50, np.int32), None, 1, FULL)[3][0]
    exact = [[Fraction(v) for v in row] for row in x.tolist()]
    mean = [sum(column) / 50 for column in zip(*exact, strict=True)]
    for i in range(3):
        for j in range(3):
            expected = float(sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in exact))
            assert abs(scatter[i, j] - expected) < 1e-13 * np.sqrt(scatter[i, i] * scatter[j, j])


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
def test_an_outlier_of_tiny_weight_in_front_costs_no_digits_of_the_scatter(backend):
    rng = np.random.default_rng(2)
    x, weight = rng.normal(size=(20_000, 1)), np.ones(20_000)
    x[0], weight[0] = 1e8, 1e-16
    scatter = backend.class_moments(x, np.zeros(20_000, np.int32), weight, 1, DIAGONAL)[3][0, 0]
    precise, w = x[:, 0].astype(np.longdouble), weight.astype(np.longdouble)
    expected = float((w * (precise - (w * precise).sum() / w.sum()) ** 2).sum())
    # The rest of the first 1,000 rows holds the shift within a deviation or so of the mean.
    assert scatter == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
def test_wrong_arguments_are_refused_not_read(backend):
    x, codes = np.zeros((4, 2)), np.zeros(4, np.int32)
    with pytest.raises(ValueError, match="not below the number of classes"):
        backend.class_moments(x, codes + 1, None, 1, FULL)
    with pytest.raises(ValueError, match="codes and rows differ"):
        backend.class_moments(x, codes[:3], None, 1, FULL)
    with pytest.raises(ValueError, match="weights and rows differ"):
        backend.class_moments(x, codes, np.ones(5), 1, FULL)
    with pytest.raises(ValueError, match="negative number of classes"):
        backend.class_moments(x[:0], codes[:0], None, -1, FULL)
    with pytest.raises(ValueError, match="depth"):
        backend.class_moments(x, codes, None, 1, 3)
