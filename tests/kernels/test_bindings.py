"""What cannot be read safely is refused, in the same words by the kernels and by the references."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from discrim import kernels
from discrim.kernels import (
    reference_columns,
    reference_counts,
    reference_labels,
    reference_likelihood,
)
from discrim.kernels.gaussian import reference
from discrim.kernels.online import reference as reference_online
from discrim.kernels.online.reference import MEMORY

REFERENCE = SimpleNamespace(
    **{
        name: getattr(module, name)
        for module in (reference_columns, reference_online, reference_counts, reference_labels, reference)
        for name in dir(module)
        if not name.startswith("_")
    }
)
BACKENDS = pytest.mark.parametrize("backend", [kernels, REFERENCE], ids=["kernel", "reference"])
TYPES = pytest.mark.parametrize(
    ("dtype", "index"), [(d, i) for d in (np.float64, np.float32) for i in (np.int32, np.int64)], ids=str
)
NATIVE = pytest.mark.skipif(kernels.BACKEND != "native", reason="the compiled kernels are not built")
OUTSIDE = (6, 7, -1, -(2**31), 2**31 - 1)


def columns(dtype=np.float64, index=np.int32):
    """Six rows and four columns, compressed by column."""
    x = sparse.csc_array(np.random.default_rng(0).poisson(0.8, (6, 4)).astype(dtype))
    return x.data, x.indices.astype(index), x.indptr.astype(index)


def descend(backend, parts, working=(0, 1, 2, 3), n=6, **changed):
    q = len(working)
    given = {
        "y": np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0])[:n],
        "w": None,
        "eta": np.zeros(n),
        "theta": np.zeros(q),
        "constant": np.zeros(1),
        "working": np.array(working, dtype=np.int64),
        "lasso": np.full(q, 0.1),
        "ridge": np.zeros(q),
    }
    return backend.sparse_descent(*parts, *(given | changed).values(), True, 1e-9, 20)


def slopes(backend, parts, begin=0, end=4, n=6):
    out = np.zeros(len(parts[2]) - 1)
    backend.sparse_slopes(*parts, np.arange(float(n)), begin, end, out)
    return out


@BACKENDS
@TYPES
@pytest.mark.parametrize("call", [descend, slopes])
def test_a_row_outside_the_matrix_is_refused(backend, dtype, index, call):
    call(backend, columns(dtype, index))
    for wrong in OUTSIDE:
        for place in (0, -1):
            value, row, first = columns(dtype, index)
            row[place] = wrong
            with pytest.raises(ValueError, match="a row lies outside the matrix"):
                call(backend, (value, row, first))


@BACKENDS
@pytest.mark.parametrize("call", [descend, slopes])
def test_column_pointers_that_fall_or_leave_the_values_are_refused(backend, call):
    value, row, first = columns()
    for wrong in (first[::-1].copy(), first + np.int32(1), first - np.int32(1), np.array([0, 9, 3, 3, 5], np.int32)):
        with pytest.raises(ValueError, match="pointers must not fall, nor leave the values"):
            call(backend, (value, row, wrong))
    with pytest.raises(ValueError, match="values and row numbers differ in length"):
        call(backend, (value[:-1].copy(), row, first))


@BACKENDS
def test_only_the_columns_that_are_read_must_be_right(backend):
    value, row, first = columns()
    row[-1] = 6
    expected = slopes(backend, columns(), 0, 3)
    assert_array_equal(slopes(backend, (value, row, first), 0, 3), expected)
    descend(backend, (value, row, first), (0, 2))


@BACKENDS
def test_columns_and_lengths_that_do_not_exist_are_refused(backend):
    for begin, end in ((-1, 2), (0, 5), (2**40, 2**40 + 1)):
        with pytest.raises(ValueError, match="there is no such column"):
            slopes(backend, columns(), begin, end)
    for working in ((4,), (-1,), (0, 2**40)):
        with pytest.raises(ValueError, match="there is no such column"):
            descend(backend, columns(), working)
    for name in ("eta", "theta", "lasso", "ridge", "w"):
        with pytest.raises(ValueError, match=r"differ in length|wrong size"):
            descend(backend, columns(), **{name: np.zeros(9)})


def online(p=4, update=0):
    memory = np.zeros((1, len(MEMORY)))
    memory[:, [reference_online.T, reference_online.SCALE, reference_online.AVERAGE_B, reference_online.FINITE]] = 1.0
    memory[:, reference_online.ETA] = 0.1
    settings = ((update, 1, 0, 0), np.array([0.01, 0.3, 0.05, 0.4, 0.1, 3000.0, 1.0, 0.0, 0.0]), False)
    return settings, (np.zeros((1, p)), None, None, memory, np.array([1], np.int32), np.ones(1), np.ones(1))


@BACKENDS
@TYPES
def test_a_column_outside_the_matrix_is_refused_in_every_visit(backend, dtype, index):
    column, first = np.array([0, 1, 3, 2], index), np.array([0, 2, 3, 4], index)
    given, value = (None, np.array([0, 1, 1], np.int32), None), np.ones(4, dtype)
    settings, state = online()
    backend.learn_sparse((value, column, first), given, settings, state)
    for wrong in (4, 5, -1, -(2**31), 2**31 - 1):
        column[2] = wrong
        settings, state = online()
        with pytest.raises(ValueError, match="a column lies outside the matrix"):
            backend.learn_sparse((value, column, first), given, settings, state)
        assert np.isfinite(state[0]).all()


@BACKENDS
def test_a_place_that_is_not_a_whole_number_is_a_clean_error(backend):
    settings, state = online()
    stream = backend.Stream(settings, state)
    for wrong in (1.0, "1", None, np.float64(2.0)):
        with pytest.raises(TypeError, match="the place of a feature is not a whole number"):
            stream.learn({"a": 1.0}, {"a": wrong}, 1, 1.0)
        with pytest.raises(TypeError, match="the place of a feature is not a whole number"):
            stream.scores({"a": 1.0}, {"a": wrong}, False)
    for outside in (-1, 4, 2**40, -(2**70), 2**70):
        assert stream.learn({"a": 1.0}, {"a": outside}, 1, 1.0) == 1
        assert stream.scores({"a": 1.0}, {"a": outside}, False) is None
    assert not state[0].any()
    assert stream.learn({"a": 1.0}, {"a": np.int64(2)}, 1, 1.0) == 0
    assert state[0][0].tolist()[2] > 0


@BACKENDS
def test_labels_far_outside_the_stated_range_are_refused(backend):
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    for y, lo in (([most, least], least), ([most], -1), ([least], 1), ([3], 4), ([7], 4)):
        with pytest.raises(ValueError, match="outside the stated range"):
            backend.code_integers(np.array(y), int(lo), 3)
    with pytest.raises(ValueError, match="the stated range is negative"):
        backend.code_integers(np.array([1]), 0, -1)
    present, codes = backend.code_integers(np.array([most, most - 2]), int(most) - 2, 3)
    assert (present.tolist(), codes.tolist()) == ([True, False, True], [1, 0])


def misaligned(array):
    """The same numbers, one byte off."""
    room = np.empty(array.nbytes + 1, np.uint8)
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    moved = room[1:].view(array.dtype).reshape(array.shape, order=order)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def everywhere_misaligned(call, *arrays):
    """The same answer, bit for bit, whichever of the arrays lies one byte off."""
    expected = call(*arrays)
    for place in range(len(arrays)):
        found = call(*(misaligned(array) if i == place else array for i, array in enumerate(arrays)))
        for ours, theirs in zip(found, expected, strict=True):
            assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_that_lie_at_odd_addresses_are_copied_first(dtype, order):
    rng = np.random.default_rng(0)
    x, weight, theta = (
        np.asarray(rng.normal(size=(40, 5)).astype(dtype), order=order),
        rng.random(40),
        rng.normal(size=6),
    )
    codes, shift, none = (np.arange(40) % 2).astype(np.int32), np.zeros(5), np.empty(0)
    rows = sparse.csr_array(np.abs(x))
    parts = (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))
    everywhere_misaligned(lambda x, c, w: kernels.class_moments(x, c, w, 2, 1), x, codes, weight)
    everywhere_misaligned(lambda x, c, w: kernels.class_sums(x, c, w, 2, None), x, codes, weight)
    everywhere_misaligned(
        lambda x, c, w, s, t: kernels.binary_likelihood(x, (c, None, w, None), s, t, None, none, 2),
        *(x, codes, weight, shift, theta),
    )
    everywhere_misaligned(lambda *rows: kernels.sparse_class_sums(rows, 5, codes, None, 2, None), *parts)
    everywhere_misaligned(
        lambda *rows: kernels.sparse_likelihood(rows, (codes, None, None, None), theta, None, none, 1), *parts
    )
    everywhere_misaligned(kernels.placements, np.sort(weight), np.sort(theta))

    def learned(*rows):
        settings, state = online(5)
        kernels.learn_sparse(rows, (None, codes, None), settings, state)
        return state[0]

    everywhere_misaligned(learned, *parts)


def test_a_field_of_packed_records_is_refused_or_read_right():
    records = np.zeros(40, dtype=[("flag", "i1"), ("x", "f8", 3)])
    records["x"] = np.random.default_rng(0).normal(size=(40, 3))
    codes = (np.arange(40) % 2).astype(np.int32)
    expected = kernels.class_moments(records["x"].copy(), codes, None, 2, 1)
    try:
        found = kernels.class_moments(records["x"], codes, None, 2, 1)
    except TypeError:
        return
    for ours, theirs in zip(found, expected, strict=True):
        assert_array_equal(ours, theirs)


@NATIVE
def test_what_is_written_to_must_be_aligned():
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.residuals(np.zeros(3), None, np.zeros(3), misaligned(np.zeros(3)))


@pytest.mark.parametrize("kernels", [kernels, SimpleNamespace(**vars(reference_counts))], ids=["kernel", "reference"])
def test_negative_sizes_are_refused(kernels):
    x, codes = np.zeros((0, 2)), np.zeros(0, np.int32)
    with pytest.raises(ValueError, match="negative number of classes"):
        kernels.class_sums(x, codes, None, -1, None)
    with pytest.raises(ValueError, match="negative number of columns"):
        kernels.sparse_class_sums((x[:, 0], codes, np.zeros(1, np.int32)), -2, codes, None, 2, None)


@pytest.mark.parametrize("kernels", [kernels, reference_likelihood], ids=["kernel", "reference"])
def test_steps_without_a_direction_have_no_losses(kernels):
    x, codes = np.ones((5, 2)), np.array([0, 1, 0, 1, 1], np.int32)
    rows = sparse.csr_array(x)
    parts = (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))
    response, steps = (codes, None, None, None), np.array([0.5, 1.0])
    assert not kernels.binary_likelihood(x, response, np.zeros(2), np.zeros(3), None, steps, 0)[3].any()
    assert not kernels.softmax_likelihood(x, response, np.zeros(2), np.zeros((3, 3)), None, steps, 0)[3].any()
    assert not kernels.sparse_likelihood(parts, response, np.zeros(3), None, steps, 0)[3].any()
