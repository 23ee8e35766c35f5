"""Labels of every type are coded as np.unique would code them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

from discrim.errors import DataError
from discrim.sources import check_weights, code_labels, recode

DRAWN = np.random.default_rng(1).integers(0, 4, 500)
WORDS = np.array(["pear", "apple", "quince", "fig"])[DRAWN]

ARRAYS = {
    "int64": DRAWN,
    "int8 with negatives": (DRAWN - 2).astype(np.int8),
    "uint8": DRAWN.astype(np.uint8),
    "uint64 beyond int64": DRAWN.astype(np.uint64) + np.uint64(2**63),
    "far apart": DRAWN * 10**15,
    "extremes": np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max, 0])[DRAWN % 3],
    "big endian": DRAWN.astype(">i4"),
    "strided": np.repeat(DRAWN, 3)[::3],
    "bool": DRAWN > 1,
    "float": DRAWN.astype(float),
    "float32": DRAWN.astype(np.float32),
    "one class": np.full(9, 7),
    "text": WORDS,
    "bytes": WORDS.astype("S"),
    "many texts": np.tile(WORDS, 40),
    "many bytes": np.tile(WORDS.astype("S"), 40),
    "texts that differ at the end": np.char.add("x" * 30, np.tile(DRAWN, 40).astype(str)),
    "more texts than hashes": np.arange(70_000).astype(str),
    "objects": WORDS.astype(object),
    "object ints": DRAWN.astype(object),
    "dates": np.datetime64("2020-01-01") + DRAWN,
    "numpy strings": WORDS.astype(np.dtypes.StringDType()),
}


@pytest.mark.parametrize("name", list(ARRAYS))
def test_codes_and_classes_equal_those_of_unique(name):
    y = ARRAYS[name]
    expected, inverse = np.unique(y, return_inverse=True)
    classes, codes = code_labels(y)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)
    # np.unique keeps a foreign byte order as well
    assert classes.dtype == expected.dtype
    assert codes.dtype == np.int32


def test_lists_are_coded_as_arrays():
    classes, codes = code_labels(["b", "a", "b"])
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]


SERIES = {
    "pandas ints": ("pandas", lambda m: m.Series(DRAWN)),
    "pandas text": ("pandas", lambda m: m.Series(WORDS)),
    "pandas objects": ("pandas", lambda m: m.Series(WORDS, dtype=object)),
    "pandas category": ("pandas", lambda m: m.Series(WORDS).astype("category").cat.add_categories(["aaa"])),
    "pandas Categorical": (
        "pandas",
        lambda m: m.Categorical(WORDS, ["fig", "apple", "none", "quince", "pear"]),
    ),
    "pandas Int64": ("pandas", lambda m: m.Series(DRAWN, dtype="Int64")),
    "pandas boolean": ("pandas", lambda m: m.Series(DRAWN > 1, dtype="boolean")),
    "pandas Index": ("pandas", lambda m: m.Index(WORDS)),
    "polars ints": ("polars", lambda m: m.Series(DRAWN)),
    "polars text": ("polars", lambda m: m.Series(WORDS)),
    "polars Categorical": ("polars", lambda m: m.Series(WORDS).cast(m.Categorical)),
    "polars Enum": (
        "polars",
        lambda m: m.Series(WORDS).cast(m.Enum(["quince", "none", "pear", "fig", "apple"])),
    ),
    "polars bool": ("polars", lambda m: m.Series(DRAWN > 1)),
    "arrow ints": ("pyarrow", lambda m: m.array(DRAWN)),
    "arrow text": ("pyarrow", lambda m: m.array(WORDS)),
    "arrow large text": ("pyarrow", lambda m: m.array(WORDS, m.large_string())),
    "arrow bool": ("pyarrow", lambda m: m.array(DRAWN > 1)),
    "arrow dictionary": (
        "pyarrow",
        lambda m: m.DictionaryArray.from_arrays(DRAWN, ["pear", "apple", "quince", "fig", "none"]),
    ),
    "arrow chunks": ("pyarrow", lambda m: m.chunked_array([WORDS[:90], WORDS[90:]])),
    "arrow dictionary chunks": (
        "pyarrow",
        lambda m: m.chunked_array([m.array(WORDS[:90]).dictionary_encode(), m.array(WORDS[90:]).dictionary_encode()]),
    ),
}


@pytest.mark.parametrize("name", list(SERIES))
def test_columns_of_every_package_are_coded_as_arrays(name):
    package, make = SERIES[name]
    y = make(pytest.importorskip(package))
    expected, inverse = np.unique(np.asarray(y), return_inverse=True)
    classes, codes = code_labels(y)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)


def test_a_column_vector_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        classes, codes = code_labels(np.array([[3], [1]]))
    assert classes.tolist() == [1, 3]
    assert codes.tolist() == [1, 0]


def test_two_columns_are_refused():
    with pytest.raises(ValueError, match="y should be a 1d array"):
        code_labels(np.eye(2))


@pytest.mark.parametrize("y", [[0.5, 1.5, 2.0], np.array([0.5, 1.5, 2.0], dtype=np.float32)])
def test_continuous_labels_are_refused_with_what_to_do(y):
    with pytest.raises(ValueError, match=r"are numbers with fractions \(such as 0.5, 1.5\).* Cut them into ranges.*"):
        code_labels(y)


def test_continuous_objects_are_refused_too():
    with pytest.raises(ValueError, match="Unknown label type"):
        code_labels(np.array([0.5, 1.5, 2.5], dtype=object))


@pytest.mark.parametrize(
    "y",
    [
        np.array([1.0, np.nan, 2.0, np.nan]),
        np.array(["a", None, "b", None], dtype=object),
        np.array(["a", np.nan, "b", float("nan")], dtype=object),
        np.array(["2020-01-01", "NaT", "2020-01-02", "NaT"], dtype="M8[D]"),
        np.ma.masked_array([1, 2, 3, 4], mask=[0, 1, 0, 1]),
    ],
    ids=["float", "None", "nan objects", "dates", "masked"],
)
def test_missing_labels_are_counted(y):
    with pytest.raises(DataError, match="the labels contain NaN or null: 2 of 4 are missing"):
        code_labels(y)


@pytest.mark.parametrize(
    ("package", "make"),
    [
        ("pandas", lambda m: m.Series(["a", None, "b", None], name="paid")),
        ("pandas", lambda m: m.Series(["a", None, "b", None], name="paid", dtype="category")),
        ("pandas", lambda m: m.Series([1, None, 2, None], name="paid", dtype="Int64")),
        ("pandas", lambda m: m.Series(["a", m.NA, "b", m.NA], name="paid", dtype=object)),
        ("polars", lambda m: m.Series("paid", ["a", None, "b", None])),
        ("polars", lambda m: m.Series("paid", [1, None, 2, None])),
        ("polars", lambda m: m.Series("paid", [True, None, False, None])),
        ("polars", lambda m: m.Series("paid", ["a", None, "b", None]).cast(m.Categorical)),
    ],
)
def test_missing_labels_are_counted_in_their_column(package, make):
    with pytest.raises(DataError, match="the labels in column 'paid' contain NaN or null: 2 of 4 are missing"):
        code_labels(make(pytest.importorskip(package)))


@pytest.mark.parametrize("values", [["a", None, None], [1, None, None], [True, None, None], [1.0, None, None]])
def test_missing_labels_of_arrow_are_counted(values):
    pa = pytest.importorskip("pyarrow")
    for y in (pa.array(values), pa.array(values).dictionary_encode(), pa.chunked_array([pa.array(values)])):
        with pytest.raises(DataError, match="2 of 3 are missing"):
            code_labels(y)


def test_labels_of_two_types_are_refused():
    with pytest.raises(DataError, match="the labels mix the types 'int', 'str', which have no common order"):
        code_labels(np.array(["a", 1], dtype=object))


def test_lists_as_labels_are_refused():
    pl = pytest.importorskip("polars")
    with pytest.raises(DataError, match="which cannot be compared"):
        code_labels(pl.Series([[1], [2]]))


def test_infinite_and_complex_labels_are_refused():
    with pytest.raises(DataError, match="contain infinity in 2 rows"):
        code_labels(np.array([np.inf, 1.0, -np.inf]))
    with pytest.raises(DataError, match="complex"):
        code_labels(np.array([1j, 2.0]))


def test_no_labels_at_all_is_said_as_scikit_learn_says_it():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        code_labels(None)


@pytest.mark.parametrize("known", [np.array([0, 1, 2, 3, 9]), np.array([0.0, 1.0, 2.0, 3.0])])
def test_known_classes_keep_their_codes(known):
    codes = recode(DRAWN, known)
    np.testing.assert_array_equal(known[codes], DRAWN)
    assert codes.dtype == np.int32


def test_unseen_labels_are_named():
    with pytest.raises(DataError, match="labels hold 2 labels that the model has not seen: 'pear', 'quince'"):
        recode(WORDS, np.array(["apple", "fig"]))


def test_labels_of_another_type_than_the_known_ones_are_unseen():
    with pytest.raises(DataError, match="the model has not seen: '1', '2'"):
        recode(["1", "2"], np.array([1, 2]))


def test_weights_of_every_form_become_floats():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    for w in ([1, 2], np.array([1, 2], dtype=np.int8), pd.Series([1, 2]), pl.Series([1, 2])):
        weight = check_weights(w, 2)
        assert weight.dtype == np.float64
        assert weight.tolist() == [1.0, 2.0]
    assert check_weights(np.arange(6.0)[::3], 2).flags.c_contiguous
    assert check_weights(3, 2).tolist() == [3.0, 3.0]
    assert check_weights(None, 2) is None


@pytest.mark.parametrize(
    ("w", "text"),
    [
        ([1, -1, -2], "sample_weight has 2 negative among 3 values"),
        ([1, np.nan, 2], "sample_weight has 1 NaN among 3 values"),
        ([1, np.inf, 2], "sample_weight has 1 infinite"),
        ([np.nan, -1, 2], "1 NaN and 1 negative"),
        ([0, 0, 0], "zero in every row"),
        ([1, 2], "sample_weight has 2 entries, X has 3 rows"),
        ([[1], [2], [3]], "Sample weights must be 1D array or scalar"),
        (["a", "b", "c"], "cannot be read as numbers"),
        (-1, "3 negative"),
    ],
)
def test_weights_that_cannot_count_are_refused(w, text):
    with pytest.raises(ValueError, match=text):
        check_weights(w, 3)
