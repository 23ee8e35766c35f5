"""Something for every row, the same for every way to hold the rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim.block import Block
from discrim.engines import RowPasses
from discrim.families.logistic.objective import Coordinates
from discrim.inference import influence as rowwise
from discrim.inference.influence import each_row, linear_parts, take_rows, without_row
from discrim.sources import open_rows


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(23, 3)), rng.integers(0, 3, 23)


def sources(data, tmp_path):
    """The rows as one array, as sparse rows, and as blocks that are read from a file."""
    x, y = data
    yield RowPasses(open_rows(x, y))
    yield RowPasses(open_rows(sparse.csr_array(x), y))
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from discrim.sources import scan

    parquet.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}), tmp_path / "t.parquet")
    yield RowPasses(scan(tmp_path / "t.parquet", target="y", batch_rows=5))


def test_rows_come_back_in_their_order(data, tmp_path):
    for rows in sources(data, tmp_path):
        values, codes = each_row(rows, lambda block: (block.x @ [1.0, 2.0, 3.0], block.classes[block.codes]))
        assert_allclose(values, data[0] @ [1.0, 2.0, 3.0])
        assert_array_equal(codes, data[1])


def test_threads_keep_the_order(monkeypatch):
    x = np.arange(400_000.0).reshape(-1, 1)
    (values,) = each_row(RowPasses(open_rows(x, np.zeros(len(x), int))), lambda block: (2 * block.x[:, 0],))
    assert_array_equal(values, 2 * x[:, 0])


def test_blocks_are_cut_where_a_row_needs_much_memory(data, monkeypatch):
    monkeypatch.setattr(rowwise, "MOST_HELD", 100)
    sizes = []

    def of(block):
        sizes.append(len(block))
        return (block.x[:, 0],)

    (values,) = each_row(RowPasses(open_rows(*data)), of, size=20)
    assert max(sizes) == 5
    assert_array_equal(values, data[0][:, 0])


def test_chosen_rows_are_found_wherever_they_are(data, tmp_path):
    for rows in sources(data, tmp_path):
        found = take_rows(rows, [21, 0, 7, 21])
        x = [block.x if isinstance(block.x, np.ndarray) else block.x.toarray() for block in found]
        assert_allclose(np.vstack(x), data[0][[21, 0, 7, 21]])
        assert [block.classes[block.codes[0]] for block in found] == list(data[1][[21, 0, 7, 21]])


def test_a_row_that_is_left_out_has_no_weight(data, tmp_path):
    for rows in sources(data, tmp_path):
        without = without_row(rows, 7)
        weight = np.concatenate([np.ones(len(b)) if b.weight is None else b.weight for b in without.blocks()])
        assert_array_equal(np.flatnonzero(weight == 0), [7])
        assert all(block.weight is None for block in rows.blocks())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("basis", [True, False])
def test_linear_parts_are_those_of_the_users_coefficients(data, intercept, basis):
    x, y = data
    rng = np.random.default_rng(1)
    coordinates = Coordinates(
        rng.normal(size=3) * intercept, rng.uniform(1, 2, 3), intercept, rng.normal(size=(3, 2)) if basis else None
    )
    theta = rng.normal(size=(coordinates.size, 4))
    user = coordinates.to_user(theta.T)
    expected = user[:, :1].T + x @ user[:, 1:].T
    for held in (x, sparse.csr_array(x)):
        assert_allclose(linear_parts(Block(held, y, np.arange(3)), coordinates, theta), expected, atol=1e-12)
