"""Files and lazy tables give the same rows as the table they were made from."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pytest

from discrim.errors import DataError
from discrim.sources import find_non_finite, open_rows, scan

pa = pytest.importorskip("pyarrow")

N = 500
RNG = np.random.default_rng(3)
TABLE = pa.table(
    {
        "a": RNG.normal(size=N),
        "paid": np.array(["no", "yes", "maybe"])[RNG.integers(0, 3, N)],
        "b": RNG.integers(0, 100, N),
        "kind": np.array(["x", "y", "z"])[RNG.integers(0, 3, N)],
        "w": RNG.integers(1, 4, N).astype(float),
    }
)


def _parquet(table, path):
    from pyarrow import parquet

    parquet.write_table(table, path, row_group_size=120)


def _csv(table, path):
    from pyarrow import csv

    csv.write_csv(table, path)


def _tsv(table, path):
    from pyarrow import csv

    csv.write_csv(table, path, csv.WriteOptions(delimiter="\t"))


def _csv_gz(table, path):
    plain = path.with_suffix("")
    _csv(table, plain)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()


def _feather(table, path):
    from pyarrow import feather

    feather.write_feather(table, str(path), chunksize=90)


def _ipc_stream(table, path):
    with pa.ipc.new_stream(str(path), table.schema) as sink:
        sink.write_table(table, max_chunksize=90)


WRITERS = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".tsv": _tsv,
    ".csv.gz": _csv_gz,
    ".feather": _feather,
    ".arrows": _ipc_stream,
}


@pytest.fixture(params=list(WRITERS))
def suffix(request):
    return request.param


@pytest.fixture
def write(tmp_path):
    def write_file(name, table=TABLE):
        path = tmp_path / name
        WRITERS["".join(path.suffixes)](table, path)
        return path

    return write_file


def check_same_rows(rows, gather):
    expected = open_rows(TABLE.select(["a", "b", "kind"]), TABLE["paid"], TABLE["w"].to_numpy())
    x, labels, weight = gather(rows)
    x_expected, labels_expected, weight_expected = gather(expected)
    np.testing.assert_allclose(x, x_expected, rtol=1e-15)
    np.testing.assert_array_equal(labels, labels_expected)
    np.testing.assert_array_equal(weight, weight_expected)
    assert rows.design == expected.design
    assert rows.n_rows == N
    assert all(block.x.flags.f_contiguous for block in rows.blocks())


def test_a_file_of_any_format_gives_the_rows_of_its_table(suffix, write, gather):
    rows = scan(write(f"trips{suffix}"), target="paid", weight="w", batch_rows=64)
    assert all(len(block) <= 64 for block in rows.blocks())
    check_same_rows(rows, gather)


@pytest.mark.parametrize("how", ["pattern", "folder", "list", "text"])
def test_several_files_are_one_table(how, suffix, write, gather, tmp_path):
    paths = [write(f"trips-{k}{suffix}", TABLE.slice(200 * k, 200)) for k in range(3)]
    if how == "folder":
        (tmp_path / "_SUCCESS.csv").write_text("not data")
    data = {
        "pattern": str(tmp_path / f"trips-*{suffix}"),
        "folder": tmp_path,
        "list": paths,
        "text": [str(path) for path in paths],
    }[how]
    check_same_rows(scan(data, target="paid", weight="w"), gather)


@pytest.mark.parametrize("absent", [["polars"], ["polars", "duckdb"]])
def test_csv_is_read_without_polars_too(absent, write, gather, monkeypatch):
    path = write("trips.csv")
    monkeypatch.setattr(sys.modules["discrim.sources.csv_files"], "installed", lambda package: package not in absent)
    check_same_rows(scan(path, target="paid", weight="w"), gather)


@pytest.mark.parametrize("absent", [[], ["polars"], ["polars", "duckdb"]])
def test_empty_fields_and_na_of_a_csv_file_are_missing(absent, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["discrim.sources.csv_files"], "installed", lambda package: package not in absent)
    (tmp_path / "gaps.csv").write_text("a,b,c\n1.5,x,1\n,NA,2\nNA,y,3\n")
    text = str(find_non_finite(scan(tmp_path / "gaps.csv")))
    assert "column 'a' has 2 NaN; column 'b' has 1 NaN" in text


TABLES = {
    "polars LazyFrame": lambda: pytest.importorskip("polars").DataFrame(TABLE).lazy(),
    "polars DataFrame": lambda: pytest.importorskip("polars").DataFrame(TABLE),
    "pandas DataFrame": TABLE.to_pandas,
    "pyarrow Table": lambda: TABLE,
    "DuckDB relation": lambda: pytest.importorskip("duckdb").connect().from_arrow(TABLE),
    "Restarting stream": lambda: Restarting(TABLE),
}


class Restarting:
    """An object of some other package, which offers nothing but a fresh Arrow stream each time."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("name", list(TABLES))
def test_tables_of_every_package_can_be_scanned_again_and_again(name, gather):
    rows = scan(TABLES[name](), target="paid", weight="w", batch_rows=100)
    check_same_rows(rows, gather)
    assert repr(rows) == f"Scan({name}, target='paid', weight='w', 3 features)"
    assert rows.rereadable


def test_a_scan_says_what_it_is(write, tmp_path):
    for k in range(3):
        write(f"{k}.parquet")
    rows = scan(tmp_path, target="paid", features=["a", "b"])
    assert repr(rows) == "Scan(3 parquet files, target='paid', 2 features)"
    assert repr(scan(tmp_path / "0.parquet")) == "Scan(file '0.parquet', 5 features)"


def test_features_come_in_the_order_asked_for(write, gather):
    rows = scan(write("trips.parquet"), features=["b", "a"])
    x, labels, weight = gather(rows)
    np.testing.assert_array_equal(x, np.column_stack([TABLE["b"], TABLE["a"]]))
    assert rows.classes is None
    assert not rows.labelled
    assert set(labels) == {0}
    assert weight is None


def test_each_block_brings_its_own_sorted_classes():
    table = pa.table({"a": np.arange(6.0), "y": [5, 3, 3, 9, 9, 1]})
    blocks = list(scan(table, target="y", batch_rows=2).blocks())
    assert [block.classes.tolist() for block in blocks] == [[3, 5], [3, 9], [1, 9]]
    assert [block.codes.tolist() for block in blocks] == [[1, 0], [0, 1], [1, 0]]


def test_a_fitted_design_reads_only_its_columns(write, gather):
    design = open_rows(TABLE.select(["kind", "a"])).design
    other = TABLE.append_column("when", pa.array([0] * N, pa.timestamp("s")))
    with pytest.raises(DataError, match="Column 'when' has the type timestamp"):
        _ = scan(write("dated.parquet", other)).design
    rows = open_rows(scan(write("dated.parquet", other), target="paid"), design=design)
    np.testing.assert_array_equal(gather(rows)[0], gather(open_rows(TABLE, design=design))[0])


@pytest.mark.parametrize("other", [np.float32, np.float64])
def test_blocks_are_float32_only_if_all_files_are(other, write, gather):
    single = pa.table({"a": np.ones(3, np.float32)})
    paths = [write("0.parquet", single), write("1.parquet", pa.table({"a": np.ones(3, other)}))]
    rows = scan(paths)
    assert {block.x.dtype for block in rows.blocks()} == {np.dtype(other)}
    assert rows.design.dtype == other


def test_a_stream_is_read_once_and_then_refused(gather):
    rows = scan(TABLE.drop(["kind"]).to_reader(), target="paid")
    assert not rows.rereadable
    np.testing.assert_array_equal(gather(rows)[0][:, 1], TABLE["b"])
    with pytest.raises(DataError, match="RecordBatchReader stream can be read only once and has been read"):
        list(rows.blocks())


def test_text_columns_of_a_stream_cannot_be_coded():
    with pytest.raises(DataError, match="columns 'kind' hold text, whose levels must be known first"):
        list(scan(TABLE.to_reader(), target="paid").blocks())


def test_a_stream_with_known_levels_needs_one_reading_only(gather):
    design = open_rows(TABLE.select(["kind", "a"])).design
    rows = open_rows(scan(TABLE.to_reader()), design=design)
    np.testing.assert_array_equal(gather(rows)[0], gather(open_rows(TABLE, design=design))[0])


@pytest.mark.parametrize("write", ["to_parquet", "to_feather", "arrow"])
@pytest.mark.parametrize("name", [None, "id"])
def test_the_index_of_a_pandas_frame_is_not_learned_from(tmp_path, write, name):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9) % 2, "y": np.arange(9) % 3})
    frame = frame[frame["a"] != 4].rename_axis(name)
    table = pa.Table.from_pandas(frame)
    file = tmp_path / ("t.parquet" if write == "to_parquet" else "t.feather")
    if write == "to_parquet":
        frame.to_parquet(file)
    elif write == "to_feather":
        _feather(table, file)
    data = table if write == "arrow" else file
    index = "__index_level_0__" if name is None else name
    assert index in table.column_names
    assert scan(data, target="y").features == ["a", "b"]
    assert scan(data, target="y", features=["a", index]).features == ["a", index]
    assert scan(data, target=index).features == ["a", "b", "y"]


def test_line_breaks_inside_quotes_do_not_tear_a_large_csv_file_apart(tmp_path):
    pytest.importorskip("pyarrow", reason="reads the file")
    from discrim.sources.arrow import read_csv
    from discrim.sources.csv_files import Dialect

    path = tmp_path / "letters.csv"
    letter = '"' + "and so on,\n" * 100 + '",1\n'
    path.write_text("text,y\n" + letter * 10_000)  # more than one block of the reader
    tables = read_csv("CSV", {path: Dialect(",")}).tables(["text", "y"], 1000)
    assert sum(table.n_rows for table in tables) == 10_000
