"""The first look: who is there, where the columns lie, and rows to start from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim.engines import RowPasses
from discrim.families.first_look import look
from discrim.sources import Attached, open_rows, scan


def parquet_of(x, y, path, **columns):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({**{f"x{j}": x[:, j] for j in range(x.shape[1])}, "y": y, **columns}), path)
    return path


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 3)) * [1, 1e-6, 1e6] + [1e8, 0, 1]
    return x, rng.permutation(np.arange(5000) % 3)


def test_few_rows_are_all_taken(data):
    x, y = data
    view = look(RowPasses(open_rows(x[:100], y[:100])), 100)
    assert view.everything
    assert view.sample.x is not None
    assert_allclose(view.mean, x[:100].mean(axis=0), rtol=1e-12)
    assert_allclose(view.deviation, x[:100].std(axis=0), rtol=1e-6)
    assert view.n_rows == 100
    assert view.classes.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "lie", [np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2], lambda a: a[:, ::-1][:, ::-1]]
)
def test_however_the_rows_lie_in_memory_the_sample_is_the_same(data, lie):
    x, y = data
    expected, found = look(RowPasses(open_rows(x, y)), 200).sample, look(RowPasses(open_rows(lie(x), y)), 200).sample
    assert_array_equal(found.x, expected.x)
    assert_array_equal(found.codes, expected.codes)


def test_a_sample_in_memory_comes_from_all_over(data):
    x, y = data
    view = look(RowPasses(open_rows(x, y)), 200)
    assert not view.everything
    assert len(view.sample) == 200
    rows = np.array([int(np.flatnonzero(x[:, 1] == value)[0]) for value in view.sample.x[:, 1]])
    # Every twentieth of the rows has its part in the sample.
    assert np.bincount(rows // 250, minlength=20).min() >= 5
    assert_array_equal(view.sample.x, x[rows])
    assert_array_equal(view.sample.codes, y[rows])
    assert np.all(np.abs(view.mean - x.mean(axis=0)) < 0.3 * x.std(axis=0))


def test_weights_offsets_and_shares_stay_with_their_rows(data):
    x, y = data
    number = np.arange(5000.0)
    rows = Attached(open_rows(x, y, number + 1), np.array([0, 1]), number, number / 5000)
    sample = look(RowPasses(rows), 100).sample
    assert_array_equal(sample.weight, sample.offset + 1)
    assert_array_equal(sample.share, sample.offset / 5000)
    assert_array_equal(x[sample.offset.astype(int)], sample.x)


def test_sparse_columns_are_measured_from_zero():
    x = np.random.default_rng(0).normal(size=(400, 5)) * (np.random.default_rng(1).random((400, 5)) < 0.3)
    y = np.arange(400) % 2
    view = look(RowPasses(open_rows(sparse.csr_array(x), y)), 400)
    assert_array_equal(view.mean, np.zeros(5))
    assert_allclose(view.deviation, np.sqrt((x**2).mean(axis=0)))
    some = look(RowPasses(open_rows(sparse.csr_array(x), y)), 50)
    assert 45 <= some.sample.x.shape[0] <= 50


def test_a_scan_is_measured_exactly_in_one_pass(data, tmp_path):
    x, y = data
    w = np.random.default_rng(1).uniform(0.5, 2, 5000)
    path = parquet_of(x, y, tmp_path / "t.parquet", w=w)
    view = look(RowPasses(scan(path, target="y", weight="w", batch_rows=300)), 400)
    mean = w @ x / w.sum()
    assert_allclose(view.mean, mean, rtol=1e-12)
    assert_allclose(view.deviation, np.sqrt(w @ (x - mean) ** 2 / w.sum()), rtol=1e-6)
    assert (view.n_rows, len(view.sample), view.everything) == (5000, 400, False)
    rows = [int(np.flatnonzero(x[:, 1] == value)[0]) for value in view.sample.x[:, 1]]
    assert len(set(rows)) == 400
    assert_array_equal(view.sample.weight, w[rows])
    assert_array_equal(view.classes[view.sample.codes], y[rows])
    # Every tenth of the file has its part in the sample.
    assert np.bincount(np.array(rows) // 500, minlength=10).min() > 15


def test_a_sample_of_a_scan_is_the_same_every_time(data, tmp_path):
    path = parquet_of(*data, tmp_path / "t.parquet")
    first, second = (look(RowPasses(scan(path, target="y", batch_rows=300)), 50) for _ in range(2))
    assert_array_equal(first.sample.x, second.sample.x)
    assert_array_equal(first.mean, second.mean)


def test_classes_that_come_late_in_a_scan_are_seen(data, tmp_path):
    x, _ = data
    y = np.array(["b"] * 4990 + ["a"] * 5 + ["c"] * 5)
    view = look(RowPasses(scan(parquet_of(x, y, tmp_path / "t.parquet"), target="y", batch_rows=1000)), 100)
    assert view.classes.tolist() == ["a", "b", "c"]
    assert view.sample.classes.tolist() == ["a", "b", "c"]


def test_fewer_rows_than_wanted_in_a_scan_are_all_there(data, tmp_path):
    x, y = data
    view = look(RowPasses(scan(parquet_of(x[:90], y[:90], tmp_path / "t.parquet"), target="y", batch_rows=40)), 100)
    assert view.everything
    assert_array_equal(np.sort(view.sample.x[:, 0]), np.sort(x[:90, 0]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 100, 2000])
@pytest.mark.filterwarnings("error")
def test_few_columns_and_many_are_measured_alike(data, n, dtype):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(n, 40)) * 3 + 50).astype(dtype)
    y = np.arange(n) % 2
    few, many = look(RowPasses(open_rows(x[: n // 4 + 1], y[: n // 4 + 1])), n), look(RowPasses(open_rows(x, y)), n)
    for view, rows in ((few, x[: n // 4 + 1]), (many, x)):
        assert_allclose(view.mean, rows.mean(axis=0, dtype=float), rtol=1e-12)
        assert_allclose(view.deviation, rows.std(axis=0, dtype=float), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.filterwarnings("error")
def test_numbers_that_have_no_deviation_are_told_without_a_warning(value):
    x = np.arange(20.0).reshape(10, 2)
    x[3, 1] = value
    view = look(RowPasses(open_rows(x, np.arange(10) % 2)), 10)
    assert np.isfinite(view.deviation[0])
    assert not np.isfinite(view.deviation[1])
