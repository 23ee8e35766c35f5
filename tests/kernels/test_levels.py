"""Categories: codes of numbers, counts by class and tables of log probabilities, kernel and reference alike."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from discrim import kernels
from discrim.kernels.counts import reference

BACKENDS = pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])


@BACKENDS
def test_small_whole_numbers_are_their_own_codes_and_what_is_none_is_told(backend):
    x = np.array([[0.0, 2.5, -1.0, 3e9, np.nan], [7.0, 1.0, 4.0, 2.0, np.nan], [np.nan, 0.0, np.inf, 1.0, np.nan]])
    codes, lo, hi, whole = backend.read_codes(x)
    assert codes.tolist() == [[0, 7, -1], [2, 1, 0], [-1, 4, -1], [-1, 2, 1], [-1, -1, -1]]
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
    assert_array_equal(backend.count_codes(classes, codes, weight, 4, 5), expected)


@BACKENDS
def test_tables_are_added_by_code_and_the_last_column_where_it_is_missing(backend):
    table = np.array([[1.0, 2.0, 0.5], [10.0, 20.0, 0.25]])
    scores = np.ones((2, 4))
    backend.add_levels(table, np.array([1, -1, 0, 1], np.int32), scores)
    assert scores.tolist() == [[3.0, 1.5, 2.0, 3.0], [21.0, 1.25, 11.0, 21.0]]


@BACKENDS
def test_codes_beyond_their_number_are_refused(backend):
    codes = np.array([0, 2], np.int32)
    with pytest.raises(ValueError, match="not below its number"):
        backend.count_codes(codes, codes, None, 3, 2)
    with pytest.raises(ValueError, match="not below its number"):
        backend.add_levels(np.zeros((1, 2)), codes, np.zeros((1, 2)))


@BACKENDS
def test_negative_classes_are_refused(backend):
    codes = np.zeros(3, np.int32)
    for wrong in ([-1, 0, 0], [0, 0, -(2**31)], [0, 3, 0]):
        with pytest.raises(ValueError, match="a class is negative, or not below its number"):
            backend.count_codes(np.array(wrong, np.int32), codes, None, 3, 1)
    with pytest.raises(ValueError, match="negative number of classes or levels"):
        backend.count_codes(codes[:0], codes[:0], None, -1, 2)
    with pytest.raises(ValueError, match="negative number of classes or levels"):
        backend.count_codes(codes[:0], codes[:0], None, 1, -2)


@BACKENDS
def test_arrays_that_do_not_fit_together_are_refused(backend):
    codes = np.zeros(3, np.int32)
    with pytest.raises(ValueError, match="differ in length"):
        backend.count_codes(codes, codes[:2], None, 1, 1)
    with pytest.raises(ValueError, match="weights and codes differ"):
        backend.count_codes(codes, codes, np.ones(2), 1, 1)
    with pytest.raises(ValueError, match="classes x rows"):
        backend.add_levels(np.zeros((1, 2)), codes, np.zeros((1, 2)))
