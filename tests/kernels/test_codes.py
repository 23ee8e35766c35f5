"""Coding of integer labels, against ``np.unique``."""

from __future__ import annotations

import numpy as np
import pytest

from discrim import kernels
from discrim.kernels import reference_labels as reference

BACKENDS = pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])


@BACKENDS
@pytest.mark.parametrize("labels", [[5], [3, 3, 3], [-4, 7, 0, 7, -4], list(range(100, 0, -3)), []])
def test_codes_are_ranks_among_the_labels_that_occur(backend, labels):
    y = np.array(labels, dtype=np.int64)
    lo = int(y.min(initial=0))
    size = int(y.max(initial=0)) - lo + 1
    present, codes = backend.code_integers(y, lo, size)
    classes, expected = np.unique(y, return_inverse=True)
    assert (lo + np.flatnonzero(present)).tolist() == classes.tolist()
    assert codes.tolist() == expected.tolist()
    assert codes.dtype == np.int32


@BACKENDS
def test_labels_at_the_ends_of_int64_are_coded(backend):
    top = np.iinfo(np.int64).max
    present, codes = backend.code_integers(np.array([top, top - 2, top]), top - 2, 3)
    assert present.tolist() == [True, False, True]
    assert codes.tolist() == [1, 0, 1]
    bottom = np.iinfo(np.int64).min
    present, codes = backend.code_integers(np.array([bottom + 1, bottom]), bottom, 2)
    assert codes.tolist() == [1, 0]


@BACKENDS
@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_outside_the_stated_range_is_refused(backend, label):
    with pytest.raises(ValueError, match=r"outside|negative|boolean|stated"):
        backend.code_integers(np.array([0, label, 2]), 0, 3)


@BACKENDS
@pytest.mark.parametrize("width", [1, 3, 7, 8, 12, 28, 33])
@pytest.mark.parametrize("distinct", [1, 2, 40, 700])
def test_equal_rows_of_bytes_have_one_code_in_the_order_of_their_first_rows(backend, width, distinct):
    rng = np.random.default_rng([width, distinct])
    kinds = rng.integers(0, 3, size=(distinct, width), dtype=np.uint8)
    rows = kinds[rng.integers(distinct, size=1500)]
    first, codes = backend.code_rows(rows)
    seen: dict[bytes, int] = {}
    expected = [seen.setdefault(row.tobytes(), len(seen)) for row in rows]
    assert codes.tolist() == expected
    assert codes.dtype == np.int32
    assert first.tolist() == [expected.index(k) for k in range(len(seen))]


@BACKENDS
@pytest.mark.parametrize("shape", [(0, 4), (5, 0), (0, 0)])
def test_rows_without_bytes_are_all_equal(backend, shape):
    first, codes = backend.code_rows(np.empty(shape, dtype=np.uint8))
    assert first.tolist() == [0][: shape[0]]
    assert codes.tolist() == [0] * shape[0]


@BACKENDS
def test_rows_that_differ_in_one_bit_are_told_apart(backend):
    """Every place of a row takes part, whole words and what is left over."""
    rows = np.vstack([np.zeros((1, 21), dtype=np.uint8), np.repeat(np.eye(21, dtype=np.uint8), 8, axis=0)])
    rows[1:] *= np.tile(2 ** np.arange(8), 21).astype(np.uint8)[:, None]
    assert backend.code_rows(rows)[1].tolist() == list(range(169))


@BACKENDS
def test_identities_are_those_of_the_objects(backend):
    items = ["a", 1.5, None, ("a",), 7]
    assert backend.identities([*items, *items[::-1]]).tolist() == [id(item) for item in [*items, *items[::-1]]]
