"""Categories: codes of numbers, counts by class and tables of log probabilities, kernel and reference alike."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from discrim import kernels
from discrim.families.rule import by_column
from discrim.kernels.counts import reference

BACKENDS = pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])


@BACKENDS
def test_small_whole_numbers_are_their_own_codes_and_what_is_none_is_told(backend):
    x = np.array([[0.0, 2.5, -1.0, 3e9, np.nan], [7.0, 1.0, 4.0, 2.0, np.nan], [np.nan, 0.0, np.inf, 1.0, np.nan]])
    codes, lo, hi, whole = backend.read_codes(x)
    assert codes.tolist() == [[0, 2, -1, -1, -1], [7, 1, 4, 2, -1], [-1, 0, -1, 1, -1]]
    assert lo.tolist() == [0, 0, -1, 1, np.inf]
    assert hi.tolist() == [7, 2.5, np.inf, 3e9, -np.inf]
    assert whole.tolist() == [True, False, True, True, True]
    assert codes.dtype == np.int32


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (511, 2), (1300, 5)])
def test_the_kernel_reads_what_the_reference_reads_in_any_memory_order(dtype, shape):
    x = np.random.default_rng(0).integers(-1, 9, shape).astype(dtype)
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x[::-1]):
        for found, expected in zip(kernels.read_codes(given), reference.read_codes(given), strict=True):
            assert_array_equal(found, expected)


@BACKENDS
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_sums_of_weights_and_missing_codes_are_in_none(backend, weighted):
    rng = np.random.default_rng(0)
    classes, codes = rng.integers(0, 3, 1000).astype(np.int32), rng.integers(-1, 4, 1000).astype(np.int32)
    weight = rng.integers(0, 9, 1000) / 4.0 if weighted else None
    w = np.ones(1000) if weight is None else weight
    expected = [[w[(classes == k) & (codes == c)].sum() for c in range(5)] for k in range(4)]
    both = np.column_stack([codes, np.full(1000, -1, np.int32), codes[::-1]])
    expected_back = [[w[(classes == k) & (codes[::-1] == c)].sum() for c in range(4)] for k in range(4)]
    found = backend.count_codes(classes, both, weight, 4, np.array([5, 0, 4]))
    assert_array_equal(found, np.hstack([expected, expected_back]))


@BACKENDS
def test_rows_of_the_table_are_added_by_code_and_the_last_where_it_is_too_large(backend):
    table = np.array([[1.0, 10.0], [2.0, 20.0], [0.5, 0.25], [100.0, 300.0]])
    scores = np.ones((2, 4))
    codes = np.array([[1, 0], [-1, -1], [0, -5], [7, 0]], np.int32)
    backend.add_levels(table, np.array([2, 0]), codes, scores)
    assert scores.tolist() == [[103.0, 1.0, 2.0, 101.5], [321.0, 1.0, 11.0, 301.25]]


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 7, 8, 9, 16, 40])
@pytest.mark.parametrize("rows", [0, 1, 33, 700])
def test_the_kernel_adds_what_the_reference_adds_to_the_last_bit(classes, rows):
    rng = np.random.default_rng(classes)
    sizes = np.array([3, 1, 12, 0])
    table = by_column(rng.standard_normal((classes, sizes.sum() + 4)))
    codes = rng.integers(-1, 14, (rows, 4)).astype(np.int32)
    found, expected = np.zeros((2, classes, rows))
    kernels.add_levels(table, sizes, codes, found)
    reference.add_levels(table, sizes, codes, expected)
    assert_array_equal(found, expected)


@BACKENDS
def test_codes_beyond_their_number_are_refused(backend):
    codes = np.array([0, 2], np.int32)
    with pytest.raises(ValueError, match="not below its number"):
        backend.count_codes(codes, codes[:, None], None, 3, np.array([2]))


@BACKENDS
def test_negative_classes_are_refused(backend):
    codes = np.zeros(3, np.int32)
    for wrong in ([-1, 0, 0], [0, 0, -(2**31)], [0, 3, 0]):
        with pytest.raises(ValueError, match="a class is negative, or not below its number"):
            backend.count_codes(np.array(wrong, np.int32), codes[:, None], None, 3, np.array([1]))
    with pytest.raises(ValueError, match="negative number of classes or levels"):
        backend.count_codes(codes[:0], codes[:0, None], None, -1, np.array([2]))
    with pytest.raises(ValueError, match="negative number of classes or levels"):
        backend.count_codes(codes[:0], codes[:0, None], None, 1, np.array([-2]))


@BACKENDS
def test_arrays_that_do_not_fit_together_are_refused(backend):
    codes, one = np.zeros(3, np.int32), np.array([1])
    with pytest.raises(ValueError, match="differ in length"):
        backend.count_codes(codes, codes[:2, None], None, 1, one)
    with pytest.raises(ValueError, match="weights and codes differ"):
        backend.count_codes(codes, codes[:, None], np.ones(2), 1, one)
    with pytest.raises(ValueError, match="one number of levels a column"):
        backend.count_codes(codes, codes[:, None], None, 1, np.array([1, 1]))
    with pytest.raises(ValueError, match="classes x rows"):
        backend.add_levels(np.zeros((2, 1)), one, codes[:, None], np.zeros((1, 2)))
    with pytest.raises(ValueError, match="classes x rows"):
        backend.add_levels(np.zeros((2, 1)), one, codes[:, None], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="one number of levels a column"):
        backend.add_levels(np.zeros((2, 1)), np.array([1, 1]), codes[:, None], np.zeros((1, 3)))
    with pytest.raises(ValueError, match="1, 2, 4 or a multiple of 8"):
        backend.add_levels(np.zeros((2, 3)), one, codes[:, None], np.zeros((1, 3)))
    with pytest.raises(ValueError, match="one more a column"):
        backend.add_levels(np.zeros((1, 1)), one, codes[:, None], np.zeros((1, 3)))
    with pytest.raises(ValueError, match="negative number of classes or levels"):
        backend.add_levels(np.zeros((0, 1)), -one, codes[:, None], np.zeros((1, 3)))


@BACKENDS
@pytest.mark.parametrize(
    "rows", [[[1, 2.5], (3, np.float64(-4))], ([0], [2**53]), [[float("nan"), float("-inf"), -(2**53)]]], ids=str
)
def test_lists_of_plain_numbers_are_read_as_they_would_be_one_by_one(backend, rows):
    found = backend.read_lists(rows)
    assert found.dtype == np.float64
    assert_array_equal(found, np.array(rows, dtype=float))


@BACKENDS
@pytest.mark.parametrize(
    "rows",
    [
        [], (), [[]], [[], []], [1, 2], None, "ab", [[1], [2, 3]], [[1, 2], [3]], [["1"]], ["12", "34"], [[True, 1]],
        [[None]], [[2**53 + 1]], [[-(2**70)]], [[1j]], [[np.float32(1)]], [np.ones(2)], [[[1.0]]], [{1: 2}],
        [[1.0], None],
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_list_of_plain_numbers_is_left_alone(backend, rows):
    assert backend.read_lists(rows) is None
