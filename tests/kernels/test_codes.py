"""Coding of integer labels, against ``np.unique``."""

from __future__ import annotations

import numpy as np
import pytest

from discrim import kernels
from discrim.kernels.counts import reference

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
