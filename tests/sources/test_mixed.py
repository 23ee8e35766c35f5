"""Mixed columns from every container: numbers with NaN, levels as they turn up, codes below zero for missing."""

import datetime as dt

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from discrim import scan
from discrim.block import join
from discrim.errors import DataError
from discrim.sources import find_non_finite, open_mixed
from discrim.sources.mixed import code_numbers

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

HEIGHT = [1.5, None, 3.0, 4.0]
VISITS = [1, 2, 2, 7]
SMOKES = [True, False, None, True]
TOWN = ["Wil", None, "Bern", "Wil"]
COLUMNS = {"height": HEIGHT, "visits": VISITS, "smokes": SMOKES, "town": TOWN}


def categorical(frame):
    frame = frame.copy()
    frame["town"] = pd.Categorical(frame["town"], categories=["Zug", "Wil", "Bern"])
    return frame


CONTAINERS = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas categorical": categorical(pd.DataFrame(COLUMNS)),
    "pandas objects": pd.DataFrame(COLUMNS).astype(object),
    "polars": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS).with_columns(pl.col("town").cast(pl.Categorical)),
    "arrow": pa.table(COLUMNS),
    "arrow dictionary": pa.table({**COLUMNS, "town": pa.array(TOWN).dictionary_encode()}),
    "scan": scan(pa.table(COLUMNS)),
    "scan of a lazy frame": scan(pl.DataFrame(COLUMNS).lazy()),
}


def read(X, levelled=None, **options):
    rows = open_mixed(X, **options)
    if levelled is not None:
        rows = rows.with_design(rows.design.reading([name in levelled for name in rows.design.names_in]))
    return join(list(rows.blocks())).x


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_the_same_numbers_levels_and_kinds(name):
    X = CONTAINERS[name]
    assert open_mixed(X).design.kinds == ("number", "number", "boolean", "text")
    block = read(X)
    assert_array_equal(block.numbers, np.array([HEIGHT, VISITS, [1, 0, np.nan, 1]], dtype=float).T)
    ((levels, codes),) = block.levels
    assert levels.tolist() == ["Bern", "Wil"]
    assert codes.tolist() == [1, -1, 0, 1]


@pytest.mark.parametrize("name", CONTAINERS)
def test_numbers_and_booleans_can_be_read_as_levels_too(name):
    block = read(CONTAINERS[name], levelled={"visits", "smokes", "town"})
    assert block.numbers.shape == (4, 1)
    visits, smokes, _ = block.levels
    assert visits[0].tolist() == [1, 2, 7]
    assert visits[1].tolist() == [0, 1, 1, 2]
    assert smokes[0].tolist() == [0, 1]
    assert smokes[1].tolist() == [1, 0, -1, 1]


def test_a_file_is_read_in_blocks_that_each_know_their_own_levels(tmp_path):
    path = tmp_path / "rows.parquet"
    rng = np.random.default_rng(0)
    towns = np.repeat(["Bern", "Genf", "Thun"], 1000)
    frame = pd.DataFrame({"x": rng.normal(size=3000), "town": towns, "y": rng.integers(0, 2, 3000)})
    frame.to_parquet(path)
    rows = open_mixed(scan(path, target="y", batch_rows=500))
    blocks = list(rows.blocks())
    assert [block.x.levels[0][0].tolist() for block in blocks[:2]] == [["Bern"], ["Bern"]]
    joined = join(blocks)
    levels, codes = joined.x.levels[0]
    assert_array_equal(levels[codes], towns)
    assert_array_equal(joined.x.numbers[:, 0], frame["x"])
    assert_array_equal(joined.classes[joined.codes], frame["y"])


def test_a_stream_that_can_be_read_only_once_is_read_once():
    table = pa.table({**COLUMNS, "y": [0, 1, 0, 1]})
    rows = open_mixed(scan(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), target="y"))
    assert not rows.rereadable
    assert join(list(rows.blocks())).x.levels[0][0].tolist() == ["Bern", "Wil"]


@pytest.mark.parametrize(
    ("values", "levels", "codes"),
    [
        (np.array([3, 3, -1]), [-1, 3], [1, 1, 0]),
        (np.array([True, False]), [0, 1], [1, 0]),
        (np.array([2.0, np.nan, 0.0]), [0, 2], [1, -1, 0]),
        (np.array([0.5, 1e300, 0.5]), [0.5, 1e300], [0, 1, 0]),
        (np.array([np.nan]), [], [-1]),
        (np.array([2**62, 0]), [0, 2**62], [1, 0]),
    ],
)
def test_numbers_become_codes(values, levels, codes):
    found = code_numbers(values)
    assert found[0].tolist() == levels
    assert found[1].tolist() == codes
    assert found[0].dtype == np.float64


def test_a_fitted_schema_finds_its_columns_by_name_or_by_place():
    schema = open_mixed(CONTAINERS["pandas"]).design
    turned = CONTAINERS["pandas"][["town", "smokes", "visits", "height"]]
    block = read(turned, schema=schema)
    assert_array_equal(block.numbers[:, 0], np.array(HEIGHT, dtype=float))
    with pytest.raises(DataError, match="X lacks 'town', which the model was fitted on"):
        open_mixed(turned.drop(columns="town"), schema=schema)
    with pytest.raises(DataError, match=r"text columns 'town'.*Pass a table"):
        open_mixed(np.zeros((2, 4)), schema=schema)
    unnamed = open_mixed(np.zeros((2, 2))).design
    assert read(pd.DataFrame({"a": [1.0], "b": [2.0]}), schema=unnamed).numbers.tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match="X has 1 feature, but the model is expecting 2"):
        open_mixed(np.zeros((2, 1)), schema=unnamed)


def test_a_column_without_a_value_is_of_no_type_once_the_columns_are_known():
    frame = CONTAINERS["pandas"]
    schema = open_mixed(frame).design
    block = read(pd.DataFrame([dict.fromkeys(frame.columns)]), schema=schema)
    assert np.isnan(block.numbers).all()
    assert block.levels[0][1].tolist() == [-1]


def test_text_where_numbers_were_is_named():
    frame = CONTAINERS["pandas"]
    schema = open_mixed(frame).design
    with pytest.raises(DataError, match="'height' was numeric when the model was fitted and is text now"):
        read(frame.assign(height="tall"), schema=schema)


def test_what_is_neither_number_nor_category_is_named():
    dates = pd.DataFrame({"born": [dt.datetime(2000, 1, 1)]})  # noqa: DTZ001
    with pytest.raises(DataError, match="'born' has the type datetime64"):
        open_mixed(dates)
    with pytest.raises(DataError, match="'pair' has the type category of tuple"):
        read(pd.DataFrame({"pair": pd.Categorical([(1, 2), (3, 4)])}))


def test_infinity_is_counted_by_column():
    rows = open_mixed(pd.DataFrame({"a": [1.0, np.inf, np.nan], "b": [-np.inf, np.inf, 0.0], "c": ["x", "y", "z"]}))
    assert str(find_non_finite(rows)).startswith(
        "Input X contains infinity: column 'a' has 1 infinite; column 'b' has 2 infinite."
    )
    assert find_non_finite(open_mixed(np.array([[np.nan, 1.0]]))) is None


def test_paths_scans_with_labels_and_sparse_matrices_are_refused():
    from scipy import sparse

    with pytest.raises(DataError, match=r"Read the file with discrim.scan"):
        open_mixed("my.csv", "y")
    with pytest.raises(DataError, match="A scan brings its own labels"):
        open_mixed(CONTAINERS["scan"], [1, 2, 3, 4])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        open_mixed(sparse.csr_array(np.eye(3)))
