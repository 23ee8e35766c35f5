"""Every container gives the same rows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from discrim.errors import DataError
from discrim.sources import Design, find_non_finite, open_rows


def test_every_container_gives_the_rows_of_the_array(container, values, gather):
    x, labels, weight = gather(open_rows(container(values)))
    np.testing.assert_array_equal(x, values)
    assert x.dtype in (np.float64, np.float32)
    np.testing.assert_array_equal(labels, 0)
    assert weight is None


def test_labels_and_weights_go_with_their_rows(container, values, gather):
    data = container(values)
    if hasattr(data, "collect"):
        pytest.skip("a lazy frame names its labels in scan")
    y = np.where(values[:, 0] > 0, "yes", "no")
    w = np.arange(40.0)
    rows = open_rows(data, y, w)
    x, labels, weight = gather(rows)
    np.testing.assert_array_equal(x, values)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(weight, w)
    assert rows.labelled
    assert rows.n_rows == 40
    assert rows.classes.tolist() == ["no", "yes"]


def test_rows_can_be_read_twice(container, values, gather):
    rows = open_rows(container(values))
    np.testing.assert_array_equal(gather(rows)[0], gather(rows)[0])


def test_the_design_of_one_container_reads_all_others(container, values, gather):
    design = Design.unnamed(3, np.float64)
    np.testing.assert_array_equal(gather(open_rows(container(values), design=design))[0], values)


def test_a_large_array_of_integers_is_matched_by_place(gather):
    pd = pytest.importorskip("pandas")
    design = open_rows(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})).design
    numbers = np.arange(1_000_002).reshape(-1, 2)
    np.testing.assert_array_equal(gather(open_rows(numbers, design=design))[0], numbers)


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, lambda x: x[::2, ::-1]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floating_point_arrays_are_not_copied(make, dtype, values):
    x = make(values.astype(dtype))
    whole = open_rows(x).whole
    assert np.shares_memory(whole.x, x)
    assert whole.x.strides == x.strides
    assert whole.x.dtype == dtype


def test_sparse_rows_share_their_numbers_and_stay_float32(values):
    x = sparse.csr_array(values.astype(np.float32))
    rows = open_rows(x)
    assert np.shares_memory(rows.whole.x.data, x.data)
    assert rows.design.dtype == np.float32


def test_sparse_entries_stored_in_parts_are_added_up_in_a_copy():
    x = sparse.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert open_rows(x).whole.x.data.tolist() == [3.0]
    assert x.data.tolist() == [1.0, 2.0]


def test_large_integer_arrays_are_converted_block_by_block(gather):
    x = np.arange(1_200_000).reshape(-1, 3)
    rows = open_rows(x)
    assert rows.whole is None
    assert max(len(block) for block in rows.blocks()) < len(x)
    np.testing.assert_array_equal(gather(rows)[0], x)


def test_large_frames_come_in_column_major_blocks_without_a_whole(gather):
    pl = pytest.importorskip("polars")
    x = np.arange(2_000_000, dtype=np.float64).reshape(-1, 4)
    rows = open_rows(pl.DataFrame(x, schema=list("abcd")))
    assert rows.whole is None
    blocks = list(rows.blocks())
    assert len(blocks) > 1
    assert all(block.x.flags.f_contiguous for block in blocks)
    np.testing.assert_array_equal(gather(rows)[0], x)


def test_a_pandas_frame_made_of_one_array_is_read_as_views():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.zeros((500_000, 4)))
    block = next(open_rows(frame).blocks())
    assert np.shares_memory(block.x, frame.to_numpy())


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_float32_only_if_all_its_numbers_are(package):
    pa = pytest.importorskip("pyarrow")
    single = pa.table({"a": np.ones(3, np.float32), "c": ["u", "v", "u"]})
    double = single.append_column("b", pa.array([1, 2, 3]))
    convert = {"pandas": pa.Table.to_pandas, "polars": _to_polars, "pyarrow": lambda table: table}[package]
    assert next(open_rows(convert(single)).blocks()).x.dtype == np.float32
    assert next(open_rows(convert(double)).blocks()).x.dtype == np.float64


def test_columns_of_a_frame_are_found_by_name(values, gather):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    design = open_rows(frame).design
    shuffled = frame[["c", "a", "b"]].assign(extra=0)
    np.testing.assert_array_equal(gather(open_rows(shuffled, design=design))[0], values)
    with pytest.raises(DataError, match=r"X lacks 'b', which the model was fitted on. It has 'a', 'c'"):
        open_rows(frame[["a", "c"]], design=design)


def test_an_array_of_another_width_is_refused(values):
    design = open_rows(values).design
    with pytest.raises(ValueError, match="X has 2 features, but the model is expecting 3 features as input"):
        open_rows(values[:, :2], design=design)


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros(3),
        np.float64(1.0),
        [1.0, 2.0],
        [[1.0, "a"]],
        np.array([["a", "b"]]),
        np.array([[1j, 2.0]]),
        sparse.csr_array((0, 3)),
        [[1.0], [1.0, 2.0]],
        np.zeros((2, 2, 2)),
        np.array([[{"a": 1}, 2]], dtype=object),
    ],
    ids=str,
)
def test_unusable_arrays_get_the_words_of_scikit_learn(bad):
    from sklearn.utils import check_array

    with pytest.raises((ValueError, TypeError)) as theirs:
        check_array(bad, dtype=[np.float64, np.float32], accept_sparse=True)
    with pytest.raises(type(theirs.value)) as ours:
        open_rows(bad)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_an_empty_frame_gets_the_words_of_scikit_learn(package):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array([], pa.float64()), "b": pa.array([], pa.float64())})
    frame = {"pandas": pa.Table.to_pandas, "polars": _to_polars, "pyarrow": lambda t: t}[package](table)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1"):
        open_rows(frame)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_single_column_is_not_a_table(package):
    module = pytest.importorskip(package)
    column = module.array([1.0, 2.0]) if package == "pyarrow" else module.Series([1.0, 2.0])
    with pytest.raises(ValueError, match=r"Expected (2D array|a 2-dimensional container)"):
        open_rows(column)


def test_rows_and_labels_must_be_as_many(values):
    with pytest.raises(ValueError, match=r"Found input variables with inconsistent numbers of samples: \[40, 39\]"):
        open_rows(values, np.zeros(39, dtype=int))


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_columns_of_the_same_name_are_refused(package):
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    with pytest.raises(DataError, match="occur more than once: 'a'"):
        open_rows(table.to_pandas() if package == "pandas" else table)


def test_missing_and_infinite_values_are_counted_by_column(values):
    x = values.copy()
    x[:5, 0] = np.nan
    x[3, 2] = np.inf
    error = find_non_finite(open_rows(x, sample_weight=np.r_[0.0, np.ones(39)]))
    assert "column 'x0' has 5 NaN; column 'x2' has 1 infinite" in str(error)
    assert find_non_finite(open_rows(values)) is None


def test_nulls_are_counted_in_every_container_that_has_them():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1, None, 3], "b": [True, None, None], "c": ["u", None, "v"], "d": [None, None, None]})
    for frame in (table, _to_polars(table)):
        text = str(find_non_finite(open_rows(frame)))
        assert "'a' has 1 NaN; column 'b' has 2 NaN; column 'c' has 1 NaN; column 'd' has 3 NaN" in text


def test_nulls_of_pandas_are_counted():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None, 3], dtype="Int64"),
            "b": [1.0, None, 2.0],
            "c": ["u", None, "v"],
            "d": [1, 2, 3],
        }
    )
    text = str(find_non_finite(open_rows(frame)))
    assert "'a' has 1 NaN; column 'b' has 1 NaN; column 'c' has 1 NaN" in text


def test_non_finite_sparse_entries_are_counted_by_column():
    x = sparse.csr_array(np.array([[0.0, np.nan], [np.inf, np.nan]]))
    assert "'x1' has 2 NaN; column 'x0' has 1 infinite" in str(find_non_finite(open_rows(x)))


def test_masked_entries_are_missing_values():
    x = np.ma.masked_array(np.ones((3, 2)), mask=[[0, 1], [0, 0], [0, 1]])
    assert "'x1' has 2 NaN" in str(find_non_finite(open_rows(x)))


def test_a_scan_brings_its_own_labels(values):
    pl = pytest.importorskip("polars")
    with pytest.raises(DataError, match="brings its own labels and weights"):
        open_rows(pl.DataFrame(values).lazy(), np.zeros(40))


def test_importing_the_sources_imports_no_table_package():
    # scikit-learn itself loads some of them where they are installed.
    script = (
        "import sys, sklearn.base; before = set(sys.modules); import discrim.sources;"
        "new = set(sys.modules) - before;"
        "sys.exit(','.join(m for m in ('pandas','polars','pyarrow','duckdb') if m in new) or None)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _to_polars(table):
    return pytest.importorskip("polars").DataFrame(table)
