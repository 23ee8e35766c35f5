"""R's brglm2 says the same: Firth's estimates, which stay finite where maximum likelihood is infinite.

The numbers are in firth.json. The ends of profile intervals are roots of the penalised likelihood ratio, found in
R by brute force.
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
from discrim.datasets import load_challenger, load_endometrial, load_iris
from discrim.errors import SeparationWarning

pytest.importorskip("pandas", reason="the columns of the cases have names")

NUMBERS = json.loads((Path(__file__).parent / "firth.json").read_text())
CASES = ["case_a", "endometrial", "challenger", "challenger_grouped", "iris_petal", "iris"]
each_case = pytest.mark.parametrize("name", CASES)


def case_a():
    """Ten rows of x = 0 with both labels, ten of x = 1 with label 1 only."""
    import pandas as pd

    return pd.DataFrame({"x": np.repeat([0.0, 1.0], 10)}), np.array([0, 1] * 5 + [1] * 10)


@cache
def data(name):
    """Columns, labels or successes, and what fit takes besides."""
    if name == "case_a":
        return *case_a(), {}
    if name == "endometrial":
        return load_endometrial().frame()[["NV", "PI", "EH"]], load_endometrial().target, {}
    if name.startswith("iris"):
        table = load_iris().frame().iloc[:100]
        return table[NUMBERS[name]["names"][1:]], table["target"].to_numpy(), {}
    table = load_challenger().frame().astype(float)
    X = table[NUMBERS[name]["names"][1:]]
    if name == "challenger_grouped":
        return X, table["n_distress"].to_numpy(), {"trials": table["n_orings"].to_numpy()}
    return X, table["target"].to_numpy(), {}


@cache
def fitted(name, **parameters):
    X, y, fit = data(name)
    return LogisticRegression(C=np.inf, **parameters).fit(X, y, **fit)


@pytest.fixture
def expected(name):
    return NUMBERS[name]


@pytest.fixture
def model(name):
    return fitted(name, bias_reduction="firth")


@each_case
@pytest.mark.parametrize("column", ["coef", "std_error"])
def test_estimates_and_standard_errors_are_those_of_brglm2(name, model, expected, column):
    summary = model.summary()
    assert list(summary.names) == expected["names"]
    scale = np.array(expected["std_error"])
    for wanted in (expected[column], expected["by_brglm2"][column]):
        assert_allclose(getattr(summary, column) / scale, wanted / scale, rtol=0, atol=1e-7)


@each_case
def test_the_attributes_hold_the_reduced_estimates(name, model, expected):
    found = np.concatenate([model.intercept_, model.coef_[0]])
    scale = np.array(expected["std_error"])
    assert_allclose(found / scale, expected["coef"] / scale, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in CASES if "profile" in NUMBERS[name]])
def test_profile_intervals_are_roots_of_the_penalised_likelihood_ratio(name, model, expected):
    scale = np.array(expected["std_error"])[:, None]
    found = model.confint(method="profile")
    assert_allclose(found / scale, np.array(expected["profile"]) / scale, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in CASES if "lrt" in NUMBERS[name]])
def test_each_term_is_tested_by_the_penalised_likelihood_ratio(name, model, expected):
    found = model.drop1()
    assert list(found.index[1:]) == expected["names"][1:]
    assert_allclose(found["LRT"][1:], expected["lrt"][1:], rtol=1e-7)
    assert_allclose(found["Pr(>Chi)"][1:], expected["p_value"][1:], rtol=1e-5)


def test_case_a_has_the_slope_log_21():
    summary = fitted("case_a", bias_reduction="firth").summary()
    assert summary.coef[1] == pytest.approx(np.log(21), rel=1e-9)
    assert (round(summary.coef[1], 4), round(summary.std_error[1], 4)) == (3.0445, 1.6446)


def test_endometrial_estimates_are_the_published_ones():
    summary = fitted("endometrial", bias_reduction="firth").summary()
    assert np.round(summary.coef, 5).tolist() == [3.77456, 2.92927, -0.03475, -2.60416]
    assert np.round(summary.std_error, 5).tolist() == [1.48869, 1.55076, 0.03958, 0.77602]


def test_maximum_likelihood_of_case_a_is_reported_as_infinite():
    with pytest.warns(SeparationWarning, match="x"):
        model = LogisticRegression(C=np.inf).fit(*case_a())
    assert model.separation_.separated
    assert not model.separation_.complete
    assert list(model.separation_.columns) == ["x"]
    assert model.summary().coef[1] == np.inf
    assert model.summary().coef[0] == pytest.approx(0.0, abs=1e-6)


@pytest.fixture
def endless():
    """Maximum likelihood for the endometrial data, where the coefficient of NV is infinite."""
    X, y, _ = data("endometrial")
    with pytest.warns(SeparationWarning, match="NV"):
        return LogisticRegression(C=np.inf).fit(X, y)


def test_maximum_likelihood_of_the_endometrial_data_is_infinite_in_one_column_only(endless):
    summary, expected = endless.summary(), NUMBERS["endometrial_ml"]
    assert list(endless.separation_.columns) == ["NV"]
    assert not endless.separation_.complete
    assert summary.coef[1] == np.inf
    assert not np.isfinite(summary.std_error[1])
    # With NV = 1 fitted for certain the other columns have the estimates of the rows with NV = 0.
    assert_allclose(np.delete(summary.coef, 1), expected["coef"], rtol=1e-7)
    assert_allclose(np.delete(summary.std_error, 1), expected["std_error"], rtol=1e-7)
    assert summary.deviance == pytest.approx(expected["deviance"], rel=1e-9)
    assert (summary.df_residual, summary.aic) == (75, pytest.approx(expected["deviance"] + 8, rel=1e-9))


def test_profile_intervals_hold_where_an_estimate_is_infinite(endless):
    expected = NUMBERS["endometrial_ml"]
    found = np.asarray(endless.confint(method="profile"))
    assert_allclose(found[1], [expected["nv_falls_to"], np.inf], rtol=1e-6)
    assert_allclose(np.delete(found, 1, axis=0), expected["profile"], rtol=1e-6)


def test_likelihood_ratio_tests_hold_where_an_estimate_is_infinite(endless):
    expected = NUMBERS["endometrial_ml"]["drop1"]
    found = endless.drop1().to_frame().iloc[1:]
    assert list(found.index) == expected["term"]
    assert found["Df"].tolist() == [1, 1, 1]
    assert_allclose(found["LRT"], expected["lrt"], rtol=1e-6)
    assert_allclose(found["Pr(>Chi)"], stats.chi2.sf(expected["lrt"], 1), rtol=1e-5)


def test_rows_that_are_fitted_for_certain_have_no_residual_and_the_others_that_of_the_rest(endless):
    X, y, _ = data("endometrial")
    certain = X["NV"].to_numpy() == 1
    rest = LogisticRegression(C=np.inf).fit(X.loc[~certain, ["PI", "EH"]], y[~certain])
    for kind in ("deviance", "pearson"):
        assert_allclose(endless.residuals(kind)[certain], 0.0, atol=1e-3)
        assert_allclose(endless.residuals(kind)[~certain], rest.residuals(kind), rtol=1e-6)
    assert_allclose(endless.leverage()[~certain], rest.leverage(), rtol=1e-6)
