"""Rows that go through the shuffle buffer come out once each, in another order, with their labels and weights."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from discrim.block import Block
from discrim.engines.orders import shuffled


def parts(n, size, weighted):
    for start in range(0, n, size):
        i = np.arange(start, min(start + size, n))
        yield Block(np.column_stack([i, 2.0 * i]), i.astype(np.int32), np.arange(n), i / 2.0 if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "size", "numbers"), [(1, 1, 2), (50, 7, 20), (50, 7, 1000), (50, 50, 6), (300, 10, 100)])
def test_every_row_comes_out_once_with_what_belongs_to_it(n, size, numbers, weighted):
    out = list(shuffled(parts(n, size, weighted), np.random.RandomState(0), numbers))
    x, codes = np.concatenate([part.x for part in out]), np.concatenate([part.codes for part in out])
    assert_array_equal(np.sort(codes), np.arange(n))
    assert_array_equal(x, np.column_stack([codes, 2.0 * codes]))
    if weighted:
        assert_array_equal(np.concatenate([part.weight for part in out]), codes / 2.0)
    if n > 10:
        assert (np.diff(codes) != 1).mean() > 0.5


def test_rows_that_came_together_go_out_far_apart():
    """A file sorted by class: after the buffer has filled, neighbours are hardly ever of one stretch of the file."""
    out = np.concatenate(
        [part.codes for part in shuffled(parts(10_000, 100, weighted=False), np.random.RandomState(0), 4000)]
    )
    moved = np.abs(out - np.arange(10_000))
    assert np.median(moved) > 500


def test_memory_is_bounded():
    held = 0
    for part in shuffled(parts(10_000, 100, weighted=False), np.random.RandomState(0), 2000):
        held = max(held, int(part.codes.max()))
        assert len(part) <= 1000
