"""What a scan says when it cannot go on."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from discrim.errors import DataError, MissingDependencyError, ParameterError
from discrim.sources import scan

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def trips(tmp_path):
    path = tmp_path / "trips.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "paid": [0, 1, 0], "kind": ["u", "v", "u"]}), path)
    return path


def test_a_file_that_is_not_there_is_named_with_those_that_are(trips, tmp_path):
    with pytest.raises(DataError, match=r"There is no file '.*trip.parquet'.*holds 'trips.parquet'"):
        scan(tmp_path / "trip.parquet")
    with pytest.raises(DataError, match=r"the folder '.*nowhere' does not exist"):
        scan(tmp_path / "nowhere" / "trips.parquet")
    with pytest.raises(DataError, match=r"No file matches the pattern '.*x-\*.parquet'"):
        scan(str(tmp_path / "x-*.parquet"))


def test_a_folder_without_data_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(DataError, match=r"holds no data file .* It has 'notes.txt'"):
        scan(tmp_path)


def test_an_unknown_file_type_is_named_with_the_known_ones(tmp_path):
    (tmp_path / "data.xlsx").write_text("nothing")
    with pytest.raises(DataError, match=r"data.xlsx' is of an unknown file type. Known are .parquet"):
        scan(tmp_path / "data.xlsx")


def test_files_of_two_kinds_are_refused(trips, tmp_path):
    (tmp_path / "more.csv").write_text("a,paid\n1,0\n")
    with pytest.raises(DataError, match="different kinds: 'csv', 'parquet'"):
        scan(tmp_path)


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet", "empty.feather"])
def test_an_empty_file_is_named(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=f"The file '.*{name}' is empty"):
        scan(tmp_path / name)


@pytest.mark.parametrize("name", ["broken.parquet", "broken.feather"])
def test_a_file_that_is_not_what_it_is_called_is_named(name, tmp_path):
    (tmp_path / name).write_bytes(b"this is no table at all, whatever its name may say")
    with pytest.raises(DataError, match=f"{name}' cannot be read as"):
        scan(tmp_path / name)


def test_a_file_with_columns_but_no_rows_is_refused(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "none.parquet")
    with pytest.raises(DataError, match="There are no rows in the file"):
        scan(tmp_path / "none.parquet")
    (tmp_path / "none.csv").write_text("a,b\n")
    with pytest.raises(DataError, match=r"There are no rows in the file|Column 'a' has no value"):
        list(scan(tmp_path / "none.csv").blocks())


@pytest.mark.parametrize("where", ["target", "weight", "features"])
def test_a_column_that_is_not_there_is_named_with_a_close_one(where, trips):
    asked = {"target": "payed", "weight": "payed", "features": ["payed"]}[where]
    with pytest.raises(DataError, match=r"no column 'payed' in '.*'. Did you mean 'paid'\? It has 'a', 'paid'"):
        scan(trips, **{where: asked})


def test_a_second_file_must_have_the_columns_of_the_first(trips, tmp_path):
    pq.write_table(pa.table({"a": [1.0], "kind": ["u"]}), tmp_path / "more.parquet")
    with pytest.raises(DataError, match=r"no column 'paid' in '.*more.parquet'"):
        scan([trips, tmp_path / "more.parquet"], target="paid")


def test_a_second_file_must_have_the_types_of_the_first(trips, tmp_path):
    pq.write_table(pa.table({"a": ["x"], "paid": [1], "kind": ["u"]}), tmp_path / "more.parquet")
    text = r"Column 'a' holds text in '.*more.parquet', but numbers in '.*trips.parquet'"
    with pytest.raises(DataError, match=text):
        scan([trips, tmp_path / "more.parquet"], target="paid")


@pytest.mark.parametrize(
    "values", [[1, None, 2, None, None], ["a", None, "b", None, None], [1.0, None, 2.0, None, None]]
)
def test_missing_labels_are_counted_over_the_whole_scan(values, tmp_path):
    table = pa.table({"a": np.arange(5.0), "paid": values})
    pq.write_table(table, tmp_path / "gaps.parquet")
    rows = scan(tmp_path / "gaps.parquet", target="paid", batch_rows=2)
    with pytest.raises(DataError, match="labels in column 'paid' contain NaN or null: 3 of 5 are missing"):
        list(rows.blocks())


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.0, None, 1.0], "weight column 'w' has 1 NaN"),
        ([1.0, -1.0, -2.0], "weight column 'w' has 2 negative among 3 values"),
        (["x", "y", "z"], "weight column 'w' holds text"),
    ],
)
def test_weights_that_cannot_count_are_named_with_their_column(values, text):
    with pytest.raises(DataError, match=text):
        list(scan(pa.table({"a": [1.0, 2.0, 3.0], "w": values}), weight="w").blocks())


def test_continuous_labels_are_refused():
    with pytest.raises(DataError, match="Unknown label type: continuous"):
        list(scan(pa.table({"a": [1.0, 2.0], "y": [0.5, 1.5]}), target="y").blocks())


def test_a_value_that_breaks_the_type_of_a_csv_column_is_an_error_of_ours(tmp_path):
    pytest.importorskip("polars")
    lines = ["a,b", *(f"{k},1" for k in range(20_000)), "oops,1"]
    (tmp_path / "late.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"late.csv' cannot be read: .*oops"):
        list(scan(tmp_path / "late.csv").blocks())


def test_a_source_that_changes_between_readings_is_noticed(tmp_path):
    path = tmp_path / "growing.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    rows = scan(path, target="y")
    list(rows.blocks())
    path.write_text("a,y\n1,0\n2,1\n3,1\n")
    with pytest.raises(DataError, match=r"The file 'growing.csv' gave 3 rows now and 2 before"):
        list(rows.blocks())


@pytest.mark.parametrize("data", [np.zeros((2, 2)), 3, None, [], {"a": [1]}])
def test_an_object_that_is_no_table_is_refused(data):
    with pytest.raises(DataError, match=re.escape(f"Cannot scan an object of type {type(data).__name__}")):
        scan(data)


def test_an_arrow_stream_of_single_values_is_refused():
    with pytest.raises(DataError, match="does not hold a table"):
        scan(pa.chunked_array([[1, 2]]))


def test_parameters_are_checked(trips):
    with pytest.raises(ParameterError, match="'batch_rows' parameter is 0"):
        scan(trips, batch_rows=0)
    with pytest.raises(ParameterError, match="'features' parameter is 'a'; it must be a list"):
        scan(trips, features="a")
    with pytest.raises(ParameterError, match="without the target 'paid'"):
        scan(trips, target="paid", features=["a", "paid"])
    with pytest.raises(DataError, match="has no column to learn from"):
        scan(pa.table({"paid": [1]}), target="paid")
    with pytest.raises(DataError, match="occur more than once: 'a'"):
        scan(trips, features=["a", "a"])


def test_a_missing_package_is_named_with_its_extra(trips, monkeypatch):
    monkeypatch.setattr(sys.modules["discrim.sources.design"], "installed", lambda package: False)
    with pytest.raises(MissingDependencyError, match=r"'pyarrow'.*pip install 'discrim\[app\]'"):
        scan(trips)
    monkeypatch.setattr(sys.modules["discrim.sources.csv_files"], "installed", lambda package: False)
    (trips.parent / "a.csv").write_text("a\n1\n")
    with pytest.raises(MissingDependencyError, match="Reading CSV files needs the package 'pyarrow'"):
        scan(trips.parent / "a.csv")


def test_a_single_column_with_a_separator_in_its_quoted_name_is_read(tmp_path):
    (tmp_path / "one.csv").write_text('"price; EUR"\n1\n2\n')
    assert list(scan(tmp_path / "one.csv").features) == ["price; EUR"]


def test_a_file_with_a_header_alone_has_no_rows(tmp_path):
    (tmp_path / "head.csv").write_text("a,y\n")
    with pytest.raises(DataError, match=r"There are no rows in the file 'head.csv'"):
        list(scan(tmp_path / "head.csv", target="y").blocks())
