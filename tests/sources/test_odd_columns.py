"""Which columns are no features, in every container."""

import datetime as dt
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discrim
from discrim import LinearDiscriminantAnalysis, scan
from discrim.errors import LeftOutWarning
from discrim.sources.odd_columns import odd_columns, with_numbers

N = 200
RNG = np.random.default_rng(0)
LABELS = np.array(["u", "v"])[RNG.integers(2, size=N)]

AS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "arrow": pa.table,
    "lazy": lambda columns: scan(pl.DataFrame({**columns, "label": LABELS}).lazy(), target="label"),
    "scanned": lambda columns: scan(pa.table({**columns, "label": LABELS}), target="label"),
}


@pytest.fixture(params=list(AS))
def container(request):
    return AS[request.param]


def found_in(columns, container):
    return {odd.name: odd.sentence for odd in odd_columns(container({"x": RNG.normal(size=N), **columns}))}


NO_FEATURES = {
    "row numbers": ("number", np.arange(N), "counts the rows (0 to 199 in 200 rows)"),
    "row numbers from one": ("n", np.arange(1, N + 1), "counts the rows (1 to 200 in 200 rows)"),
    "row numbers backwards": ("n", np.arange(N)[::-1].copy(), "counts the rows (199 to 0 in 200 rows)"),
    "numbers of rows that were kept": (
        "n",
        np.sort(RNG.choice(300, N, replace=False)),
        "numbers the rows with gaps",
    ),
    "shuffled identifiers": ("PassengerId", RNG.permutation(N) + 1000, "identifies the rows (200 different whole"),
    "identifiers with gaps": ("customer_id", RNG.choice(10**6, N, replace=False), "identifies the rows"),
    "row names in any order": ("rownames", RNG.choice(300, N, replace=False), "identifies the rows (200 different"),
    "account numbers": ("account number", RNG.choice(10**9, N, replace=False), "identifies the rows"),
    "identifiers in capitals": ("ID", RNG.choice(10**6, N, replace=False), "identifies the rows"),
    "long identifiers": (
        "id",
        RNG.choice(10**6, N, replace=False).astype(np.uint64) + np.uint64(2**63),
        "identifies the rows (whole numbers of 19 digits, more than numbers are read with)",
    ),
    "longer identifiers": ("user_id", 1e22 + RNG.choice(10**6, N), "whole numbers of 23 digits"),
    "short integers": ("n", np.arange(N, dtype=np.int16), "counts the rows"),
    "names": ("name", [f"person {i}" for i in range(N)], "has 200 different values in 200 rows"),
    "codes": ("code", [f"A{i:05d}" for i in RNG.permutation(N)], "has 200 different values in 200 rows"),
    "nearly unique": ("ticket", [f"T{i // 5 * 4}{i % 3}" for i in range(N)], "different values in 200 rows"),
    "sentences": ("note", [f"seen on day {i} by two of us" for i in range(N)], "TextClassifier learns from its words"),
    "dates": ("day", [dt.date(2026, 1, 1) + dt.timedelta(i) for i in range(N)], "holds dates or times"),
    "times": ("at", [dt.datetime(2026, 1, 1, 0, i % 60) for i in range(N)], "holds dates or times"),  # noqa: DTZ001
    "dates as text": ("day", [f"2026-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)], "holds dates or times"),
    "times as text": ("at", [f"2026-01-{1 + i % 28:02d} 10:{i % 60:02d}:00" for i in range(N)], "holds dates or times"),
    "German dates": ("day", [f"{1 + i % 28}.{1 + i % 12}.2026" for i in range(N)], "holds dates or times"),
    "American dates": ("day", [f"{1 + i % 12}/{1 + i % 28}/26" for i in range(N)], "holds dates or times"),
    "dates with names of months": ("day", [f"{1 + i % 28} March 2026" for i in range(N)], "holds dates or times"),
}


@pytest.mark.parametrize("case", list(NO_FEATURES))
def test_what_is_no_feature_is_left_out_with_a_sentence(case, container):
    name, values, why = NO_FEATURES[case]
    found = found_in({name: values}, container)
    assert list(found) == [name]
    assert found[name].startswith(f"Column '{name}' ")
    assert why in found[name]
    assert "left out" in found[name]


FEATURES = {
    "counts": ("visits", RNG.poisson(3, N)),
    "whole measurements": ("weight", RNG.integers(40, 120, N)),
    "different whole measurements": ("price", RNG.choice(10**6, N, replace=False)),
    "a sorted measurement": ("income", np.sort(RNG.choice(10**6, N, replace=False))),
    "a sorted measurement that repeats": ("age", np.sort(RNG.integers(18, 90, N))),
    "floating-point numbers that count": ("time", np.arange(N, dtype=float)),
    "floating-point numbers by such a name": ("id", np.arange(N) * 1e12),
    "large measurements": ("luminosity", RNG.choice(10**6, N) * 1e20),
    "different numbers by that name": ("number", RNG.choice(10**6, N, replace=False)),
    "an identifier of groups": ("subject_id", np.arange(N) // 10),
    "a word that ends in id": ("valid", RNG.integers(2, size=N)),
    "categories": ("town", [f"town {i % 30}" for i in range(N)]),
    "codes of a category": ("zone", [str(i % 12) for i in range(N)]),
    "versions": ("version", [f"1.{i % 4}.{i % 3}" for i in range(N)]),
}


@pytest.mark.parametrize("case", list(FEATURES))
def test_what_may_be_a_feature_is_kept(case, container):
    name, values = FEATURES[case]
    assert found_in({name: values}, container) == {}


@pytest.mark.parametrize("name", ["Unnamed: 0", "", "__index_level_0__"])
@pytest.mark.parametrize("order", ["in order", "shuffled"])
def test_a_column_without_a_name_that_numbers_the_rows_is_an_index(name, order, container):
    values = np.arange(N) if order == "in order" else RNG.permutation(N)
    columns = {name: values, "x": RNG.normal(size=N)}
    if container in (AS["lazy"], AS["scanned"]):
        which = f"Column '{name}'" if name else "The column without a name"
        with pytest.warns(LeftOutWarning, match=f"{which} numbers the rows and is left out"):
            rows = container(columns)
        assert rows.features == ["x"]
        assert odd_columns(rows) == []
    else:
        assert [odd.name for odd in odd_columns(container(columns))] == [name]


def test_a_few_rows_tell_nothing_of_a_column_whose_name_says_nothing():
    frame = pd.DataFrame({"dose": np.arange(10), "who": [f"p{i}" for i in range(10)]})
    assert odd_columns(frame) == []
    assert [odd.name for odd in odd_columns(frame.rename(columns={"dose": "index"}))] == ["index"]


def test_columns_that_a_scan_was_asked_for_are_features():
    table = pa.table({"Unnamed: 0": np.arange(N), "x": RNG.normal(size=N), "label": LABELS})
    rows = scan(table, target="label", features=["Unnamed: 0", "x"])
    assert rows.features == ["Unnamed: 0", "x"]
    assert odd_columns(rows) == []


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("absent", [[], ["polars"], ["polars", "duckdb"]])
def test_the_index_that_pandas_writes_into_a_file_is_left_out_with_a_warning(suffix, absent, tmp_path, monkeypatch):

    monkeypatch.setattr(sys.modules["discrim.sources.csv_files"], "installed", lambda package: package not in absent)
    frame = pd.DataFrame({"x": RNG.normal(size=N), "label": LABELS})
    if suffix == ".csv":
        frame.to_csv(tmp_path / "t.csv")
    else:
        frame.reset_index(names="Unnamed: 0").to_parquet(tmp_path / "t.parquet", index=False)
    said = "numbers the rows and is left out. (features=.* or --features keeps it|To learn from it, give it a name)"
    with pytest.warns(LeftOutWarning, match=said):
        rows = scan(tmp_path / f"t{suffix}", target="label")
    model = LinearDiscriminantAnalysis().fit(rows)
    same = LinearDiscriminantAnalysis().fit(frame[["x"]], frame["label"])
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)


def test_a_column_without_a_name_that_measures_something_stays():
    rows = scan(pa.table({"": RNG.poisson(3, N), "x": RNG.normal(size=N), "label": LABELS}), target="label")
    assert rows.features == ["", "x"]


@pytest.mark.parametrize("word", ["unknown", "?", "n/a", "refused to say"])
def test_a_word_among_numbers_is_a_missing_number(word, container):
    ages = [str(20 + i % 60) for i in range(N)]
    ages[7] = word
    rows, said = with_numbers(container({"AGE": ages, "town": [f"town {i % 5}" for i in range(N)]}))
    assert list(said) == ["AGE"]
    assert f"'{word}' (1 row)" in said["AGE"]
    assert odd_columns(rows) == []
    from discrim.sources import open_rows

    labels = () if container in (AS["lazy"], AS["scanned"]) else (LABELS,)
    x = np.concatenate([np.asarray(block.x) for block in open_rows(rows, *labels).blocks()])
    assert x.shape == (N, 5)
    assert np.flatnonzero(np.isnan(x[:, 0])).tolist() == [7]
    assert x[8, 0] == 28


def test_features_that_were_asked_for_are_read_as_numbers_too():
    ages = [str(20 + i % 60) for i in range(N - 1)]
    rows = scan(pa.table({"AGE": ["?", *ages], "label": LABELS}), target="label", features=["AGE"])
    assert list(with_numbers(rows)[1]) == ["AGE"]


def test_columns_of_a_basis_are_numbers():
    rows = scan(pa.table({"a": RNG.normal(size=N), "label": LABELS}), target="label")
    mapped = discrim.basis.PolynomialBasis(2).fit(rows).transform(rows)
    assert odd_columns(mapped) == []
    assert with_numbers(mapped)[0] is mapped


def test_numbers_and_words_in_one_column_of_objects_are_read_alike():
    frame = pd.DataFrame({"AGE": [*range(20, 70), "unknown"], "x": RNG.normal(size=51)})
    rows, said = with_numbers(frame)
    assert list(said) == ["AGE"]
    assert np.isnan(rows["AGE"].iloc[-1])
    assert frame["AGE"].iloc[-1] == "unknown"


def test_lists_and_mixtures_of_types_are_left_out():
    frame = pd.DataFrame({"x": RNG.normal(size=40), "parts": [[1, 2]] * 40, "both": ["a", 1] * 20})
    found = {odd.name: odd.sentence for odd in odd_columns(frame)}
    assert found["parts"] == "Column 'parts' holds neither numbers nor categories (list) and is left out."
    assert found["both"].startswith("Column 'both' mixes the types int, str and is left out.")


@pytest.mark.parametrize("values", [["1", "2", "3", "x"], ["low", "high", "7", "mid"], [f"A{i}" for i in range(20)]])
def test_codes_and_words_are_no_numbers(values):
    frame = pd.DataFrame({"code": [values[i % len(values)] for i in range(N)]})
    assert with_numbers(frame)[1] == {}


def test_arrays_are_taken_as_they_are():
    x = np.column_stack([np.arange(N), RNG.normal(size=N)])
    assert odd_columns(x) == []
    assert with_numbers(x)[0] is x
