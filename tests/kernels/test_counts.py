"""The kernels for counts and compressed rows against their references, and the references against plain sums."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax, softmax

from discrim import kernels
from discrim.kernels.counts import reference
from discrim.kernels.gaussian.reference import BEST, LOG_POSTERIOR, POSTERIOR, SCORES

BACKENDS = pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
TYPES = pytest.mark.parametrize(
    ("dtype", "index"), [(d, i) for d in (np.float64, np.float32) for i in (np.int32, np.int64)], ids=str
)
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}


def case(n, p, classes, seed=0):
    """Counts with many zeros, an empty row and column, codes and weights."""
    rng = np.random.default_rng([seed, n, p, classes])
    x = rng.poisson(0.6, (n, p)) * rng.choice([1.0, 0.5, 3.0], (n, p))
    x[n // 2 :][:1] = 0.0
    x[:, p // 2 :][:, :1] = 0.0
    return x, rng.integers(0, classes, n).astype(np.int32), rng.integers(0, 8, n) / 4.0


def compressed(x, dtype=np.float64, index=np.int32):
    rows = sparse.csr_array(x.astype(dtype))
    return rows.data, rows.indices.astype(index), rows.indptr.astype(index)


def padded(coef):
    size, p = coef.shape
    width = next((w for w in (1, 2, 4) if size <= w), -(-size // 8) * 8)
    table = np.zeros((p, width))
    table[:, :size] = coef.T
    return table


@TYPES
@pytest.mark.parametrize("threshold", [None, 0.0, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_by_class_are_those_of_the_definition(dtype, index, threshold, weighted):
    for n, p, classes in [(1, 1, 1), (7, 3, 2), (50, 9, 4), (300, 40, 5)]:
        x, codes, w = case(n, p, classes)
        weight = w if weighted else None
        w = w if weighted else np.ones(n)
        counted = x if threshold is None else (x > threshold).astype(float)
        expected = np.array([(w * (codes == k)) @ counted for k in range(classes)])
        dense = [LAYOUTS[name](x.astype(dtype)) for name in LAYOUTS]
        found = [b.class_sums(a, codes, weight, classes, threshold) for b in (kernels, reference) for a in dense]
        rows = compressed(x, dtype, index)
        found += [b.sparse_class_sums(rows, p, codes, weight, classes, threshold) for b in (kernels, reference)]
        for total, number, count, least in found:
            assert_allclose(count, expected, rtol=1e-14)
            assert_allclose(total, [w[codes == k].sum() for k in range(classes)])
            assert_array_equal(number, [((codes == k) & (w > 0)).sum() for k in range(classes)])
            assert least == 0


@TYPES
@pytest.mark.parametrize("p", [6, 300_000], ids=["rows as they come", "class by class"])
@pytest.mark.parametrize(
    "odd", [[], [256.0], [255.0, 0.0], [0.5], [-3.0], [1e6, 2.25], [4e9]], ids=["counts"] + ["with others"] * 6
)
def test_whole_numbers_and_others_are_summed_alike(dtype, index, p, odd):
    rng = np.random.default_rng(3)
    x = sparse.random_array((60, p), density=4 / 6 if p < 9 else 1e-5, rng=rng, dtype=np.float64, format="csr")
    x.data = rng.integers(0, 256, x.nnz).astype(float)
    # From the middle on, so that some rows are summed the one way and some the other.
    x.data[x.nnz // 2 :][: len(odd)] = odd
    codes = rng.integers(0, 3, 60).astype(np.int32)
    rows = x.data.astype(dtype), x.indices.astype(index), x.indptr.astype(index)
    for threshold in (None, 2.0):
        expected = reference.sparse_class_sums(rows, p, codes, None, 3, threshold)
        found = kernels.sparse_class_sums(rows, p, codes, None, 3, threshold)
        for ours, theirs in zip(found, expected, strict=True):
            assert_allclose(ours, theirs, rtol=1e-15)


def test_duplicates_and_columns_out_of_order_are_summed_too():
    rows = np.array([1.0, 2, 3, 4, 5, 6]), np.array([2, 0, 2, 2, 1, 1], np.int32), np.array([0, 0, 5, 6], np.int32)
    for backend in (kernels, reference):
        count = backend.sparse_class_sums(rows, 3, np.array([0, 0, 1], np.int32), None, 2, None)[2]
        assert_array_equal(count, [[2, 5, 8], [0, 6, 0]])


@pytest.mark.slow
def test_sums_beyond_32_bits_are_exact():
    each, n = 1 << 20, 18
    rows = (
        np.full(each * n, 255.0, np.float32),
        np.zeros(each * n, np.int32),
        np.arange(0, each * n + 1, each, np.int32),
    )
    assert 255 * each * n > 2**32
    assert kernels.sparse_class_sums(rows, 1, np.zeros(n, np.int32), None, 1, None)[2] == 255 * each * n


@BACKENDS
@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_shows_in_its_own_sum(backend, threshold, bad):
    x, codes, _ = case(20, 5, 2)
    x[3, 1] = bad
    rows = compressed(x)
    for count in (
        backend.class_sums(x, codes, None, 2, threshold)[2],
        backend.sparse_class_sums(rows, 5, codes, None, 2, threshold)[2],
    ):
        assert_array_equal(np.argwhere(~np.isfinite(count)), [[codes[3], 1]])


@TYPES
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_compressed_rows_are_those_of_the_dense(dtype, index, weighted):
    for n, p, classes in [(1, 1, 1), (7, 3, 2), (50, 9, 4), (300, 40, 5)]:
        x, codes, w = case(n, p, classes)
        x += 1e8 * (np.arange(p) == 0)
        x = x.astype(dtype).astype(float)
        weight, low = (w if weighted else None), np.zeros((classes, p))
        total, rows, mean, scatter = kernels.class_moments(x, codes, weight, classes, 0, low)
        for backend in (kernels, reference):
            found = backend.sparse_class_moments(compressed(x, dtype, index), p, codes, weight, classes)
            assert_allclose(found[0], total)
            assert_array_equal(found[1], rows)
            assert_allclose(found[2] + found[4], mean + low, rtol=1e-14, atol=1e-14)
            assert_allclose(found[3], scatter, rtol=1e-9, atol=1e-9)


@BACKENDS
def test_moments_of_compressed_rows_show_what_is_not_finite_and_refuse_columns_outside(backend):
    x, codes, _ = case(20, 5, 2)
    x[3, 1] = np.nan
    values, columns, first = compressed(x)
    found = backend.sparse_class_moments((values, columns, first), 5, codes, None, 2)
    assert_array_equal(np.argwhere(~np.isfinite(found[2])), [[codes[3], 1]])
    for column in (-1, 5):
        columns[2] = column
        with pytest.raises(ValueError, match="outside"):
            backend.sparse_class_moments((values, columns, first), 5, codes, None, 2)


def shares(backend, count, whole=None, added=(0.0,), total=None, *, negative=False):
    out = np.full(count.shape, 7.0)
    total = np.zeros(len(count)) if total is None else total
    backend.log_shares(count, whole, np.array(added), total, negative, out)
    return out


@BACKENDS
def test_logarithms_of_shares_are_those_of_the_values(backend):
    rng = np.random.default_rng(0)
    for values in (rng.poisson(2.0, (3, 501)) + 1.0, rng.lognormal(0, 50, (2, 333)), rng.uniform(0.5, 1.5, (1, 999))):
        assert_allclose(shares(backend, values), np.log(values), rtol=1e-15, atol=1e-15)
        total = rng.standard_normal(len(values))
        each = rng.uniform(0.0, 2.0, values.shape[1])
        wanted = total[:, None] - np.log(values + each)
        assert_allclose(shares(backend, values, None, each, total, negative=True), wanted, rtol=1e-14, atol=1e-14)
        assert_allclose(shares(backend, np.asfortranarray(values)), np.log(values), rtol=1e-15, atol=1e-15)
    strange = np.array([[0.0, 1.0, 5e-324, np.inf, -1.0, np.nan, 2.0, 3.0, 0.0]])
    wanted = [[0.0, 0.0, np.log(5e-324), np.inf, np.nan, np.nan, np.log(2.0), np.log(3.0), 0.0]]
    assert_allclose(shares(backend, strange), wanted)
    assert_allclose(shares(backend, np.tile(strange, 30)), np.tile(wanted, 30))
    assert shares(backend, np.empty((2, 0))).shape == (2, 0)


@BACKENDS
@pytest.mark.parametrize("along", ["class", "column"])
def test_logarithms_of_what_is_left_of_a_whole_are_zero_where_it_is_rounding(backend, along):
    count = np.array([[0.1, 1.0, 3.0, 0.0, 2.0, 5.0, 6.0, 7.0, 8.0], [0.2, 4.0, 0.0, 0.0, 1.0, 5.0, 6.0, 7.0, 8.0]])
    whole = count.sum(axis=0, keepdims=True) if along == "column" else count.sum(axis=1, keepdims=True)
    count[0, 0] = whole[0, 0] * (1 + 1e-15)
    left = whole - count
    left[0, 0] = 0.0
    wanted = np.log(np.where(left == 0.0, 1.0, left))
    assert_allclose(shares(backend, count, whole), wanted, rtol=1e-14, atol=1e-14)
    assert_allclose(shares(backend, count, whole, added=(0.5,)), np.log(left + 0.5), rtol=1e-14, atol=1e-14)


@BACKENDS
def test_shares_that_do_not_fit_are_refused(backend):
    count = np.ones((2, 3))
    for whole, added, total in (
        (np.ones((3, 1)), (1.0,), np.zeros(2)),
        (np.ones((1, 2)), (1.0,), np.zeros(2)),
        (None, (1.0, 2.0), np.zeros(2)),
        (None, (1.0,), np.zeros(3)),
    ):
        with pytest.raises(ValueError, match="one"):
            shares(backend, count, whole, added, total)


@BACKENDS
def test_the_smallest_entry_is_told(backend):
    x, codes, _ = case(20, 5, 2)
    x[4, 2] = -0.25
    assert backend.class_sums(x, codes, None, 2, None)[3] == -0.25
    assert backend.sparse_class_sums(compressed(x), 5, codes, None, 2, None)[3] == -0.25


@TYPES
@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 8, 9, 17, 24, 31, 40, 67])
def test_scores_of_compressed_rows_are_those_of_dense_ones(dtype, index, classes):
    rng = np.random.default_rng(classes)
    for n, p in [(1, 1), (30, 6), (100, 50)]:
        x, _, _ = case(n, p, 2)
        coef, offset = rng.normal(size=(classes, p)), rng.normal(size=classes)
        offset[-1] = -np.inf if classes > 2 else offset[-1]
        for threshold in (None, 0.5):
            scores = (x if threshold is None else x > threshold) @ coef.T + offset
            for backend in (kernels, reference):
                rows = compressed(x, dtype, index)
                for output, expected in (
                    (SCORES, scores),
                    (POSTERIOR, softmax(scores, axis=1)),
                    (LOG_POSTERIOR, log_softmax(scores, axis=1)),
                ):
                    out = np.full((n, classes), np.nan)
                    assert backend.sparse_score(rows, padded(coef), offset, threshold, output, out)
                    assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
                best = np.full(n, -1)
                assert backend.sparse_score(rows, padded(coef), offset, threshold, BEST, best)
                assert_array_equal(best, scores.argmax(axis=1))


@BACKENDS
def test_single_precision_rows_may_be_scored_in_single_precision(backend):
    x, _, _ = case(30, 6, 2)
    coef, offset, out = np.full((2, 6), [[0.5], [-40.0]]), np.zeros(2), np.empty((30, 2), np.float32)
    assert backend.sparse_score(compressed(x, np.float32), padded(coef), offset, None, LOG_POSTERIOR, out)
    expected = log_softmax(x @ coef.T, axis=1)
    assert_allclose(out, expected, rtol=1e-6, atol=1e-7)
    assert (out[expected > -(2.0**-25)] == 0).all()


@BACKENDS
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_without_a_finite_score_is_told(backend, bad):
    x, _, _ = case(20, 5, 2)
    x[7, 3] = bad
    out = np.empty((20, 3))
    assert not backend.sparse_score(compressed(x), padded(np.ones((3, 5))), np.zeros(3), None, SCORES, out)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("offset", [[-0.3, 0.3], [0.0, 0.3], [-np.inf, 0.3], [0.1, 0.3]])
@pytest.mark.parametrize("first", [-1.0, 0.0, 0.5])
def test_one_score_of_two_classes_decides_where_the_other_follows_from_it(backend, first, offset):
    rng = np.random.default_rng(1)
    x = rng.poisson(0.4, (60, 40)).astype(float)
    x[3] = 0.0
    second = rng.integers(-4, 5, 40) / 4.0  # so that there are ties
    coef, offset = np.stack([first * second, second]), np.array(offset)
    best, scores = np.empty(60, np.int64), np.empty((60, 2))
    assert backend.sparse_score(compressed(x), padded(coef), offset, None, BEST, best)
    assert backend.sparse_score(compressed(x), padded(coef), offset, None, SCORES, scores)
    assert_array_equal(best, scores.argmax(axis=1))
    for bad in (np.nan, np.inf):
        x[7, 0] = bad
        assert not backend.sparse_score(compressed(x), padded(coef), offset, None, BEST, best)


@TYPES
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("prior", [[0.3], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]])
def test_logs_without_the_row_are_those_of_counts_made_without_it(dtype, index, own, plain, prior):
    x, codes, w = case(40, 7, 3)
    prior = np.array(prior)
    for weight in (None, w):
        gone = np.ones(40) if weight is None else weight
        count = np.array([(gone * (codes == k)) @ x for k in range(3)])
        if not own:
            count = count.sum(axis=0) - count
        expected = np.zeros((40, 1 if own else 3))
        for i in range(40):
            here = x[i] > 0
            for at, k in enumerate([codes[i]] if own else range(3)):
                if own or k != codes[i]:
                    logs = np.log(count[k] - gone[i] * x[i] + prior)
                    expected[i, at] = ((1.0 if plain else x[i]) * logs)[here].sum()
        known = np.log(np.arange(5) + prior[0]) if len(prior) == 1 else np.empty(0)
        for backend in (kernels, reference):
            for near in (count, np.asfortranarray(count)):
                rows = compressed(x, dtype, index)
                found = backend.held_out_logs(rows, (codes, weight), near, (prior, known), None, own, plain)
                assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@TYPES
def test_sums_over_a_grid_are_sums_of_the_chosen_rows(dtype, index):
    rng = np.random.default_rng(2)
    x, _, _ = case(30, 6, 2)
    which = rng.integers(0, 5, (6, 3)).astype(np.int32)
    for width in (8, 16, 24, 32, 40, 64):
        logs = rng.normal(size=(5, width))
        for threshold in (None, 0.5):
            counted = x if threshold is None else (x > threshold).astype(float)
            expected = np.einsum("ij,jkm->ikm", counted, logs[which])
            for backend in (kernels, reference):
                found = backend.grid_sums(compressed(x, dtype, index), which, logs, threshold)
                assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="a count has no logarithm"):
        kernels.grid_sums(compressed(x), which + 3, logs, None)
    with pytest.raises(ValueError, match="multiple of 8"):
        kernels.grid_sums(compressed(x), which, logs[:, :5].copy(), None)


@BACKENDS
def test_rows_that_start_late_in_the_arrays_are_read_from_there(backend):
    x, codes, _ = case(30, 6, 2)
    value, column, first = compressed(x)
    found = backend.sparse_class_sums((value, column, first[10:21]), 6, codes[10:20], None, 2, None)
    assert_allclose(found[2], backend.class_sums(x[10:20], codes[10:20], None, 2, None)[2])


@BACKENDS
def test_arrays_that_do_not_fit_are_refused(backend):
    x, codes, _ = case(10, 4, 2)
    value, column, first = compressed(x)
    call = (4, codes, None, 2, None)
    with pytest.raises(ValueError, match="a column lies outside"):
        backend.sparse_class_sums((value, np.where(column == column.max(), 4, column), first), *call)
    with pytest.raises(ValueError, match="a column lies outside"):
        backend.sparse_class_sums((value, np.where(column == column.max(), -1, column), first), *call)
    with pytest.raises(ValueError, match="row pointers"):
        backend.sparse_class_sums((value, column, first[::-1].copy()), *call)
    with pytest.raises(ValueError, match="row pointers"):
        backend.sparse_class_sums((value, column, np.append(first[:-1], len(value) + 1).astype(np.int32)), *call)
    with pytest.raises(ValueError, match="values and columns differ"):
        backend.sparse_class_sums((value[:-1], column, first), *call)


@BACKENDS
def test_codes_weights_tables_and_results_that_do_not_fit_are_refused(backend):
    x, codes, _ = case(10, 4, 2)
    rows, table = compressed(x), padded(np.ones((3, 4)))
    for wrong in (codes + 2, codes - 2):
        with pytest.raises(ValueError, match="a code is not below"):
            backend.class_sums(x, wrong.astype(np.int32), None, 2, None)
    with pytest.raises(ValueError, match="codes and rows differ"):
        backend.class_sums(x, codes[1:], None, 2, None)
    with pytest.raises(ValueError, match="weights and rows differ"):
        backend.sparse_class_sums(rows, 4, codes, np.ones(3), 2, None)
    with pytest.raises(ValueError, match="out has the wrong shape"):
        backend.sparse_score(rows, table, np.zeros(3), None, SCORES, np.empty((10, 2)))
    with pytest.raises(ValueError, match="out has the wrong length"):
        backend.sparse_score(rows, table, np.zeros(3), None, BEST, np.empty(9, np.int64))
    with pytest.raises(ValueError, match="rounded up to"):
        backend.sparse_score(rows, np.ones((4, 3)), np.zeros(3), None, SCORES, np.empty((10, 3)))
    with pytest.raises(ValueError, match="one prior"):
        backend.held_out_logs(rows, (codes, None), np.ones((2, 4)), (np.ones(3), np.empty(0)), None, True, False)
