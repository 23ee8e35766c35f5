"""Class weights multiply the weights of rows that stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discrim.engines import RowPasses
from discrim.families.logistic.recipe import Reweighted
from discrim.families.recipe import Sum
from discrim.sources import Attached, open_rows, scan


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(11, 2)), rng.permutation(np.arange(11) % 3), rng.uniform(1, 2, 11)


def parts(rows):
    """Labels, weights, offsets and shares of all blocks."""
    blocks = list(rows.blocks())
    labels = np.concatenate([block.classes[block.codes] for block in blocks])
    columns = [[getattr(block, name) for block in blocks] for name in ("weight", "offset", "share")]
    return labels, *(None if values[0] is None else np.concatenate(values) for values in columns)


def test_class_weights_multiply_the_weights_of_the_rows(data):
    x, y, w = data
    factors = np.array([1.0, 2.0, 5.0])
    for weight, expected in ((w, w * factors[y]), (None, factors[y])):
        rows = open_rows(x, y, weight)
        labels, found, offset, share = parts(Reweighted(RowPasses(rows), rows.classes, factors))
        assert_array_equal(labels, y)
        assert_array_equal(found, expected)
        assert offset is None
        assert share is None
        assert_array_equal(parts(rows)[1], weight)


def test_blocks_that_know_some_classes_get_the_codes_of_all(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    y = ["b"] * 4 + ["c"] * 4 + ["a", "b", "c", "a"]
    parquet.write_table(pa.table({"x": np.arange(12.0), "y": y}), tmp_path / "t.parquet")
    rows = scan(tmp_path / "t.parquet", target="y", batch_rows=4)
    classes = np.array(["a", "b", "c"])
    weighted = Reweighted(RowPasses(rows), classes, np.array([1.0, 10.0, 100.0]))
    for block in weighted.blocks():
        assert block.classes is classes
    labels, weight, _, _ = parts(weighted)
    assert labels.tolist() == y
    assert weight.tolist() == [10.0] * 4 + [100.0] * 4 + [1.0, 10.0, 100.0, 1.0]


def test_class_weights_multiply_failures_and_successes(data):
    x, _, trials = data
    share = np.linspace(0, 1, 11)
    rows = RowPasses(Attached(open_rows(x, np.ones(11, int), trials), np.array([0, 1]), None, share))
    _, weight, _, found = parts(Reweighted(rows, np.array([0, 1]), np.array([2.0, 5.0])))
    assert_allclose(weight * found, 5 * trials * share)
    assert_allclose(weight * (1 - found), 2 * trials * (1 - share))
    _, weight, _, found = parts(Reweighted(rows, np.array([0, 1]), np.array([0.0, 5.0])))
    assert weight[0] == 0
    assert np.isfinite(found).all()


def test_a_sum_over_reweighted_rows_sees_their_weights(data):
    x, y, w = data
    rows = Reweighted(RowPasses(open_rows(x, y, w)), np.arange(3), np.array([1.0, 2.0, 5.0]))
    total = rows.reduce(Sum(lambda block: float(block.weight.sum()), sum))
    assert_allclose(total, w @ np.array([1.0, 2.0, 5.0])[y])
