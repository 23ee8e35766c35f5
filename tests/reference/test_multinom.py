"""R's nnet::multinom says the same about more than two classes: log-odds against a reference class.

multinom ends about 1e-8 from the maximum. The numbers of multinom.json are its own, moved to the maximum by
Newton steps; what it said itself is in there too, and is compared with less precision.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from discrim import LogisticRegression
from discrim.datasets import load_crabs, load_iris
from discrim.inference.covariance import standard_errors

pytest.importorskip("pandas", reason="the columns of the cases have names and categories")

NUMBERS = json.loads((Path(__file__).parent / "multinom.json").read_text())
CASES = {
    "crabs": "FL RW",
    "crabs_site": "FL RW site",
    "crabs_to_om": "FL RW",
    "weighted": "FL RW",
    "no_intercept": "FL RW",
    "iris": "sepal_length",
}
each_case = pytest.mark.parametrize("name", CASES)


@cache
def data(name):
    """Columns, labels, weights."""
    table = (load_iris() if name == "iris" else load_crabs()).frame()
    row = np.arange(len(table))
    table = table.assign(site=np.array(["a", "b", "c"])[row % 3])
    weight = 0.3 + (row % 5) / 4 if name == "weighted" else None
    return table[CASES[name].split()], table["target"].to_numpy(), weight


@cache
def fitted(name):
    X, y, weight = data(name)
    reference = "OM" if name == "crabs_to_om" else None
    model = LogisticRegression(C=np.inf, reference=reference, fit_intercept=name != "no_intercept")
    return model.fit(X, y, sample_weight=weight)


@pytest.fixture
def expected(name):
    return NUMBERS[name]


@pytest.fixture
def model(name):
    return fitted(name)


@each_case
def test_names_are_class_and_column_for_every_class_but_the_reference(name, model, expected):
    wanted = [f"{label}:{column}" for label in expected["classes"][1:] for column in expected["columns"]]
    assert list(model.summary().names) == wanted


@each_case
@pytest.mark.parametrize("column", ["coef", "std_error"])
def test_log_odds_and_standard_errors_are_those_of_the_maximum(name, model, expected, column):
    assert_allclose(getattr(model.summary(cov_type="model"), column), np.ravel(expected[column]), rtol=1e-8)


@each_case
@pytest.mark.parametrize("column", ["coef", "std_error"])
def test_log_odds_and_standard_errors_are_those_of_multinom(name, model, expected, column):
    assert_allclose(
        getattr(model.summary(cov_type="model"), column), np.ravel(expected["by_multinom"][column]), rtol=1e-6
    )


@each_case
def test_the_covariance_is_the_inverse_of_the_hessian(name, model, expected):
    scale = np.outer(np.ravel(expected["std_error"]), np.ravel(expected["std_error"]))
    assert_allclose(
        standard_errors(model.fitted_model(), "model").vcov / scale, expected["vcov"] / scale, rtol=0, atol=1e-7
    )


@each_case
@pytest.mark.parametrize("figure", ["deviance", "aic"])
def test_deviance_and_aic_are_those_of_multinom(name, model, expected, figure):
    assert getattr(model.summary(), figure) == pytest.approx(expected[figure], rel=1e-10)
    assert getattr(model.summary(), figure) == pytest.approx(expected["by_multinom"][figure], rel=1e-8)


@each_case
def test_the_attributes_differ_between_classes_by_the_log_odds(name, model, expected):
    table = np.column_stack([model.intercept_, model.coef_])
    at = [model.classes_.tolist().index(label) for label in expected["classes"]]
    found = table[at[1:]] - table[at[0]]
    wanted = np.array(expected["coef"])
    if name == "no_intercept":
        wanted = np.column_stack([np.zeros(len(wanted)), wanted])
    assert_allclose(found, wanted, rtol=1e-8, atol=1e-12)


@each_case
def test_probabilities_are_those_of_r(name, model, expected):
    X = data(name)[0].iloc[::10]
    at = [model.classes_.tolist().index(label) for label in expected["classes"]]
    assert_allclose(model.predict_proba(X)[:, at], expected["fitted"], rtol=1e-8, atol=1e-12)


def test_another_reference_class_is_another_view_of_the_same_fit():
    one, other = fitted("crabs").summary(), fitted("crabs_to_om").summary()
    assert one.deviance == pytest.approx(other.deviance, rel=1e-12)
    first, second = np.reshape(one.coef, (3, 3)), np.reshape(other.coef, (3, 3))
    assert_allclose(first[:2] - first[2], second[1:], rtol=1e-8)
    assert_allclose(-first[2], second[0], rtol=1e-8)


def test_a_term_is_tested_by_the_difference_of_deviances_that_r_finds():
    larger, smaller = NUMBERS["crabs_site"], NUMBERS["crabs"]
    lrt, df = smaller["deviance"] - larger["deviance"], larger["edf"] - smaller["edf"]
    by_model = fitted("crabs_site").anova(fitted("crabs")).to_frame().iloc[-1]
    by_term = fitted("crabs_site").drop1().to_frame().loc["site"]
    assert (by_model["Df"], by_term["Df"]) == (df, df)
    assert by_model["Deviance"] == pytest.approx(lrt, rel=1e-8)
    assert by_term["LRT"] == pytest.approx(lrt, rel=1e-8)
    assert by_term["AIC"] == pytest.approx(smaller["aic"], rel=1e-9)
    for row in (by_model, by_term):
        assert row["Pr(>Chi)"] == pytest.approx(stats.chi2.sf(lrt, df), rel=1e-7)
