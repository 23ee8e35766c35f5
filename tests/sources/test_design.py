"""Categories become treatment-coded columns with remembered levels."""

from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pytest

from discrim.errors import DataError
from discrim.sources import Column, Design, find_non_finite, open_mixed, open_rows

pa = pytest.importorskip("pyarrow")

TABLE = {
    "size": [1.5, 2.5, 3.5, 4.5],
    "fruit": ["pear", "apple", "fig", "pear"],
    "ripe": [True, False, True, True],
}
CODED = np.array([[1.5, 0, 1, 1], [2.5, 0, 0, 0], [3.5, 1, 0, 1], [4.5, 0, 1, 1]])


def _arrow(columns):
    return pa.table(columns)


def _arrow_dictionary(columns):
    return pa.table({k: pa.array(v).dictionary_encode() if k == "fruit" else v for k, v in columns.items()})


def _pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def _pandas_category(columns):
    frame = _pandas(columns)
    fruit = frame["fruit"].astype("category")
    return frame.assign(fruit=fruit.cat.set_categories([*fruit.cat.categories[::-1], "unused"]))


def _polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def _polars_categorical(columns):
    pl = pytest.importorskip("polars")
    return _polars(columns).with_columns(pl.col("fruit").cast(pl.Categorical))


def _polars_enum(columns):
    pl = pytest.importorskip("polars")
    kinds = [*dict.fromkeys(v for v in columns["fruit"] if v is not None), "unused"]
    return _polars(columns).with_columns(pl.col("fruit").cast(pl.Enum(kinds)))


FRAMES = [_arrow, _arrow_dictionary, _pandas, _pandas_category, _polars, _polars_categorical, _polars_enum]


@pytest.fixture(params=FRAMES, ids=lambda make: make.__name__.strip("_"))
def frame(request):
    return request.param


def test_categories_are_treatment_coded_in_every_container(frame, gather):
    rows = open_rows(frame(TABLE))
    assert rows.design.names_in == ["size", "fruit", "ripe"]
    assert rows.design.names_out == ["size", "fruit[fig]", "fruit[pear]", "ripe"]
    assert rows.design.n_out == 4
    assert rows.design.columns[1] == Column("fruit", ("apple", "fig", "pear"))
    np.testing.assert_array_equal(gather(rows)[0], CODED)


def test_levels_are_remembered_for_rows_that_lack_some(frame, gather):
    design = open_rows(_arrow(TABLE)).design
    few = {name: values[:1] for name, values in TABLE.items()}
    np.testing.assert_array_equal(gather(open_rows(frame(few), design=design))[0], CODED[:1])


def test_unseen_levels_are_named_with_their_column(frame):
    design = open_rows(_arrow(TABLE)).design
    other = TABLE | {"fruit": ["kiwi", "apple", "lime", "kiwi"]}
    text = "Column 'fruit' holds 2 levels that the model has not seen: 'kiwi', 'lime'. It knows 'apple', 'fig'"
    with pytest.raises(DataError, match=text) as error:
        list(open_rows(frame(other), design=design).blocks())
    assert "fit again" in str(error.value)


def test_a_missing_category_is_counted_as_a_missing_number_is(frame):
    gaps = TABLE | {"fruit": ["pear", None, "fig", None]}
    assert "column 'fruit' has 2 NaN" in str(find_non_finite(open_rows(frame(gaps))))


def test_a_column_may_not_change_between_number_and_text():
    design = open_rows(_arrow(TABLE)).design
    with pytest.raises(DataError, match="Column 'size' was numeric when the model was fitted and is text now"):
        list(open_rows(_arrow(TABLE | {"size": list("abcd")}), design=design).blocks())
    with pytest.raises(DataError, match=r"Column 'fruit' was categorical .* and is numeric now"):
        list(open_rows(_arrow(TABLE | {"fruit": [1, 2, 3, 4]}), design=design).blocks())


def test_an_array_cannot_stand_for_a_table_with_categories():
    with pytest.raises(DataError, match="fitted with the categorical columns 'fruit'"):
        open_rows(np.zeros((2, 3)), design=open_rows(_arrow(TABLE)).design)


def test_a_single_level_needs_no_column(gather):
    rows = open_rows(pa.table({"a": [1.0, 2.0], "b": ["u", "u"]}))
    assert rows.design.names_out == ["a"]
    np.testing.assert_array_equal(gather(rows)[0], [[1.0], [2.0]])


def test_a_single_level_does_not_hide_missing_values():
    with pytest.raises(DataError, match="column 'b' has 2 NaN"):
        open_rows(pa.table({"a": [1.0, 2.0, 3.0], "b": ["u", None, None]}))


def test_categories_of_numbers_keep_their_order(gather):
    pd = pytest.importorskip("pandas")
    rows = open_rows(pd.DataFrame({"dose": pd.Categorical([10, 2, 10, 30])}))
    assert rows.design.names_out == ["dose[10]", "dose[30]"]
    np.testing.assert_array_equal(gather(rows)[0], [[1, 0], [0, 0], [1, 0], [0, 1]])


@pytest.mark.parametrize("convert", [lambda t: t, lambda t: t.to_pandas(), _polars])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], "[dD]ate|timestamp"),
        ([dt.timedelta(1), dt.timedelta(2)], "[dD]uration|timedelta"),
        ([[1, 2], [3]], "[lL]ist|mixed|ndarray"),
        ([b"a", b"b"], "[bB]inary|bytes"),
    ],
)
def test_dates_and_nested_values_are_named_with_their_type(convert, values, kind):
    with pytest.raises(DataError, match=f"Column 'odd' (has the type|mixes the types) .*({kind})"):
        open_rows(convert(pa.table({"a": [1.0, 2.0], "odd": values})))


@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]"])
@pytest.mark.parametrize("open_them", [open_rows, open_mixed])
def test_an_array_of_times_is_refused_like_a_column_of_them(open_them, kind):
    with pytest.raises(DataError, match=r"X is an array of times \((datetime|timedelta)64\[.\]\), not of numbers"):
        open_them(np.arange(6).reshape(3, 2).astype(kind))


@pytest.mark.parametrize("convert", [lambda t: t, lambda t: t.to_pandas(), _polars])
def test_decimals_are_numbers(convert, gather):
    table = pa.table({"a": [decimal.Decimal("1.25"), decimal.Decimal("2.50")]})
    np.testing.assert_array_equal(gather(open_rows(convert(table)))[0], [[1.25], [2.5]])


@pytest.mark.parametrize("convert", [lambda t: t, lambda t: t.to_pandas(), _polars])
def test_a_text_column_without_any_value_is_refused(convert):
    with pytest.raises(DataError, match="Column 'fruit' has no value in any row"):
        open_rows(convert(pa.table({"a": [1.0, 2.0], "fruit": pa.array([None, None], pa.string())})))


def test_unusual_numbers_are_numbers(gather):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    columns = [
        pd.DataFrame({"a": pd.Series([1, pd.NA], dtype=object)}),
        pd.DataFrame({"a": pd.Series([1, None], dtype="Float32")}),
        pd.DataFrame({"a": pd.Series([1, None], dtype="int64[pyarrow]")}),
        pl.DataFrame({"a": pl.Series([1, None], dtype=pl.Int128)}),
        pl.DataFrame({"a": pl.Series([True, None])}),
        pa.table({"a": pa.array(np.array([1, np.nan], np.float16))}),
    ]
    for frame in columns:
        np.testing.assert_array_equal(gather(open_rows(frame))[0], [[1.0], [np.nan]])


def test_a_null_inside_an_arrow_dictionary_is_a_missing_value():
    column = pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["u", None, "v"]))
    assert "column 'a' has 1 NaN" in str(find_non_finite(open_rows(pa.table({"a": column}))))


def test_mixed_values_in_an_object_column_are_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="Column 'a' mixes the types int, str"):
        open_rows(pd.DataFrame({"a": pd.Series([1, "b", None], dtype=object)}))


def test_names_that_are_not_text_become_text():
    pd = pytest.importorskip("pandas")
    assert open_rows(pd.DataFrame([[1.0, 2.0]], columns=[0, ("a", 1)])).design.names_in == ["0", "('a', 1)"]


def test_the_columns_of_an_array_are_numbered():
    unnamed = Design.unnamed(3, np.float64)
    assert unnamed.names_in == unnamed.names_out == ["x0", "x1", "x2"]
    assert not unnamed.named
