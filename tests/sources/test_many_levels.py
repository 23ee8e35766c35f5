"""Columns in which most rows have a category of their own are refused before they are expanded."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discrim import GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, MixedNB, SGDClassifier, scan
from discrim.errors import DataError, ManyLevelsWarning

N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)
Y = np.array(["u", "v"])[RNG.integers(2, size=N)]

FITS = {
    "pandas": lambda model, columns: model.fit(pd.DataFrame(columns), Y),
    "polars": lambda model, columns: model.fit(pl.DataFrame(columns), Y),
    "arrow": lambda model, columns: model.fit(pa.table(columns), Y),
    "scan": lambda model, columns: model.fit(scan(pa.table({**columns, "label": Y}), target="label")),
}


@pytest.fixture(params=list(FITS))
def fit(request):
    return FITS[request.param]


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), GaussianNB(), LogisticRegression(), SGDClassifier()])
def test_a_column_of_names_is_refused_by_name_and_number(model, fit):
    columns = {"x": X, "name": [f"person {i}" for i in range(N)]}
    with pytest.raises(DataError, match=r"'name' holds text with 400 different values in 400 rows.*Leave it out"):
        fit(model, columns)


def test_numbers_as_text_are_to_be_converted(fit):
    columns = {"x": X, "AGE": ["unknown", *(f"{value:.6f}" for value in X[1:])]}
    with pytest.raises(DataError, match=r"Column 'AGE' .* 399 of them are numbers: convert it to numbers"):
        fit(LinearDiscriminantAnalysis(), columns)


def test_dates_as_text_are_refused_however_often_each_is_met(fit):
    columns = {"x": X, "day": [f"2026-{1 + i % 12:02d}-{1 + i % 25:02d}" for i in range(N)]}
    with pytest.raises(DataError, match=r"Column 'day' holds dates as text, .*days since the first"):
        fit(LinearDiscriminantAnalysis(), columns)


def test_dates_are_refused_with_what_to_do(fit):
    columns = {"x": X, "day": np.datetime64("2026-01-01", "ms") + np.arange(N)}
    with pytest.raises(DataError, match=r"Column 'day' .*: dates or times. Convert them to numbers, such as days"):
        fit(LinearDiscriminantAnalysis(), columns)


def test_many_levels_with_rows_in_each_are_categories(fit):
    columns = {"x": X, "town": [f"town {i % 150}" for i in range(N)]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ManyLevelsWarning)
        model = fit(GaussianNB(), columns)
    assert model.theta_.shape == (2, 150)


def test_a_small_table_of_names_is_a_matter_of_a_warning():
    frame = pd.DataFrame({"x": X[:40], "name": [f"person {i}" for i in range(40)]})
    with pytest.warns(ManyLevelsWarning, match=r"Column 'name' holds text with 40 different values in 40 rows"):
        GaussianNB().fit(frame, Y[:40])


def test_naive_bayes_of_mixed_columns_counts_them():
    frame = pd.DataFrame({"x": X, "name": [f"person {i}" for i in range(N)]})
    assert MixedNB().fit(frame, Y).predict(frame).shape == (N,)


def test_a_long_table_is_refused_before_it_is_expanded():
    frame = pd.DataFrame({"x": RNG.normal(size=100_000), "key": [f"k{i}" for i in range(100_000)]})
    with pytest.raises(DataError, match=r"Column 'key' holds text with 100,000 different values"):
        LinearDiscriminantAnalysis().fit(frame, np.arange(100_000) % 2)


def test_more_than_a_thousand_levels_are_refused_however_many_rows_each_has(fit, monkeypatch):
    codes = np.arange(3 * 1200) % 1200
    monkeypatch.setitem(globals(), "Y", np.array(["u", "v"])[np.arange(3600) % 2])
    columns = {"x": RNG.normal(size=3600), "zip": [f"{10_000 + code}x" for code in codes]}
    wanted = r"Column 'zip' holds text with 1,200 different values in 3,600 rows, and .* \(at most 1,000\).* MixedNB"
    with pytest.raises(DataError, match=wanted):
        fit(LinearDiscriminantAnalysis(), columns)
    if fit is not FITS["scan"]:
        assert fit(MixedNB(), columns).classes_.tolist() == ["u", "v"]


def test_more_than_two_hundred_levels_are_worth_a_warning(fit, monkeypatch):
    monkeypatch.setitem(globals(), "Y", np.array(["u", "v"])[np.arange(900) % 2])
    columns = {"x": RNG.normal(size=900), "town": [f"town {i % 300}" for i in range(900)]}
    with pytest.warns(
        ManyLevelsWarning, match=r"'town' holds text with 300 .* each of them becomes a column. Put rare"
    ):
        fit(GaussianNB(), columns)
