"""Columns that are no features take no part in a comparison, and it says so."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discrim
from discrim.errors import DataError, LeftOutWarning

N = 120
MODELS = ["LDA", "Logistic", "Mixed NB"]


def columns():
    X, y = discrim.datasets.load_iris().xy
    X, y = X[50:][:N], y[50:][:N]
    x = {f"x{j}": X[:, j] for j in range(4)}
    odd = {
        "Unnamed: 0": np.arange(len(y)),
        "PassengerId": np.random.default_rng(0).permutation(len(y)) + 7,
        "name": [f"plant{i}" for i in range(len(y))],
        "day": [dt.date(2026, 1, 1) + dt.timedelta(i) for i in range(len(y))],
        "written": [f"2026-02-{1 + i % 28:02d}" for i in range(len(y))],
    }
    return x, odd, y


FORMS = {
    "pandas": lambda table, y: (pd.DataFrame(table), y),
    "polars": lambda table, y: (pl.DataFrame(table), y),
    "arrow": lambda table, y: (pa.table(table), y),
    "scan": lambda table, y: (discrim.scan(pa.table({**table, "label": y}), target="label"),),
}


@pytest.fixture(params=list(FORMS))
def form(request):
    return FORMS[request.param]


def test_row_numbers_identifiers_and_dates_are_left_out_with_a_sentence_each(form):
    x, odd, y = columns()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        rows = form({**odd, **x}, y)
    found, plain = discrim.compare(*rows, models=MODELS), discrim.compare(*form(x, y), models=MODELS)
    assert found.width == 4
    assert found.chosen == plain.chosen
    np.testing.assert_allclose(found.table["error"].to_numpy(float), plain.table["error"].to_numpy(float))
    said = " ".join(found.remarks)
    # The index is left out by the scan itself, with a warning.
    for name in list(odd)[len(rows) == 1 :]:
        assert f"Column '{name}'" in said
    assert all(" ".join(remark.split()) in " ".join(str(found).split()) for remark in found.remarks)
    assert max(map(len, str(found).splitlines())) <= 80
    # The best model takes the rows as they were given.
    np.testing.assert_array_equal(found.best.predict(rows[0]), plain.best.predict(form(x, y)[0]))


def test_the_report_names_them(tmp_path):
    x, odd, y = columns()
    found = discrim.compare(pd.DataFrame({**odd, **x}), y, models=["LDA"])
    page = found.report(tmp_path / "out.html").read_text()
    assert "Column &#x27;name&#x27; has 100 different values in 100 rows and is left out" in page


def test_a_word_among_numbers_makes_no_category(form):
    x, _, y = columns()
    x["x0"] = [f"{value}" for value in x["x0"]]
    x["x0"][3] = "unknown"
    found = discrim.compare(*form(x, y), models=["Mixed NB"])
    assert found.width in {4, 5}
    assert any("Column 'x0' holds numbers besides 'unknown' (1 row)" in remark for remark in found.remarks)
    rows = form(x, y)[0]
    assert np.mean(found.best.predict(rows) == y) > 0.9


def test_features_that_a_scan_was_asked_for_take_part():
    x, odd, y = columns()
    table = pa.table({"PassengerId": odd["PassengerId"], **x, "label": y})
    rows = discrim.scan(table, target="label", features=["PassengerId", "x3"])
    found = discrim.compare(rows, models=["LDA"])
    assert found.width == 2
    assert found.remarks == [] or not any("PassengerId" in remark for remark in found.remarks)


def test_nothing_left_is_an_error_that_names_the_columns(form):
    _, odd, y = columns()
    with pytest.raises(DataError, match=r"There is no column left to learn from. Column 'PassengerId' identifies"):
        discrim.compare(*form({"PassengerId": odd["PassengerId"]}, y))


def test_ranges_of_numbers_are_categories():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    labels = np.where(x + rng.normal(size=300) > 0, "u", "v")
    cut = pd.DataFrame({"z": rng.normal(size=300), "range": pd.cut(x, 4)})
    text = cut.assign(range=cut["range"].astype(str))
    ours, theirs = (discrim.compare(frame, labels, ["LDA", "Mixed NB"]) for frame in (cut, text))
    assert ours.table["error"].to_dict() == theirs.table["error"].to_dict()
    assert ours.best.predict(cut).tolist() == theirs.best.predict(text).tolist()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (pd.date_range("2020", periods=3), "Column 'odd' holds dates or times and is left out."),
        (pd.period_range("2020", periods=3, freq="D"), "Column 'odd' holds dates or times and is left out."),
        (pd.Index([1, "a", 2.5], dtype=object), "Column 'odd' mixes the types float, int, str and is left out."),
        (
            pd.Index([(1, 2), (3, 4), (5, 6)], tupleize_cols=False),
            "Column 'odd' holds neither numbers nor categories (category of tuple) and is left out.",
        ),
    ],
)
def test_categories_that_no_model_can_use_are_left_out(values, sentence):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    labels = np.where(x + rng.normal(size=300) > 0, "u", "v")
    odd = pd.Categorical.from_codes(rng.integers(0, 3, 300), values)
    found = discrim.compare(pd.DataFrame({"x": x, "odd": odd}), labels, ["LDA"])
    assert any(remark.startswith(sentence) for remark in found.remarks)


def test_numbers_with_commas_that_came_as_text_are_said_to_be_such():
    rng, n = np.random.default_rng(0), 240
    y = np.where(np.arange(n) % 3 == 0, "yes", "no")
    few, many = rng.integers(10, 30, n), rng.normal(size=n)
    comma = {"few": [f"{v},5" for v in few], "many": [f"{v:.4f}".replace(".", ",") for v in many]}
    remarks = discrim.compare(
        pd.DataFrame({"dose": (y == "yes") + rng.normal(size=n), **comma}), y, ["LDA"], cv=3
    ).remarks
    said = [remark for remark in remarks if "They look like numbers with commas, such as '" in remark]
    assert len(said) == 2
    assert all(remark.endswith("read the file with decimal=',' or thousands=','.") for remark in said)
