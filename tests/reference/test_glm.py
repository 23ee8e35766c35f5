"""R's glm says the same: estimates, standard errors, deviances, tests, intervals, diagnostics, selection.

The numbers are in glm.json, the calls that made them in it and in make_glm_reference.R. Profile limits are
compared with those that R finds by a root search; ``confint`` itself interpolates by a spline, and comes within
a hundredth of a standard error of them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression
from discrim.datasets import load_challenger, load_crabs, load_iris
from discrim.inference.covariance import standard_errors

pytest.importorskip("pandas", reason="the columns of the cases have names and categories")

NUMBERS = json.loads((Path(__file__).parent / "glm.json").read_text())


@cache
def crabs():
    """The crabs with the columns that the R script adds by row number."""
    table = load_crabs().frame()
    row = np.arange(len(table))
    return table.assign(
        male=(table["sex"] == "M").astype(int),
        orange=(table["sp"] == "O").astype(int),
        site=np.array(["a", "b", "c"])[row % 3],
        count=row % 4,
        weight=0.3 + (row % 5) / 4,
        shift=table["CL"] / 20 - 1,
        both=table["FL"] + table["RW"],
    )


def of_crabs(columns, target="male", **fit):
    """Columns, labels, and what fit takes besides, given by the names of columns."""
    table = crabs()
    return table[columns.split()], table[target].to_numpy(), {name: table[fit[name]].to_numpy() for name in fit}


def of_challenger(columns, grouped=False):
    table = load_challenger().frame()
    X = table[columns.split()].astype(float)
    if grouped:
        return X, table["n_distress"].to_numpy(), {"trials": table["n_orings"].to_numpy()}
    return X, table["target"].to_numpy(), {}


def late_iris():
    table = load_iris().frame().iloc[50:]
    return table.iloc[:, :4], table["target"].to_numpy(), {}


CASES = {
    "challenger": lambda: of_challenger("temperature"),
    "challenger_pressure": lambda: of_challenger("temperature pressure"),
    "challenger_grouped": lambda: of_challenger("temperature pressure", grouped=True),
    "crabs": lambda: of_crabs("sp FL CL BD site"),
    "crabs_forms": lambda: of_crabs("RW CL CW sex site", "orange"),
    "iris": late_iris,
    "counted": lambda: of_crabs("sp FL RW", sample_weight="count"),
    "weighted": lambda: of_crabs("sp FL RW", sample_weight="weight"),
    "offset": lambda: of_crabs("sp FL RW", offset="shift"),
    "no_intercept": lambda: of_crabs("FL RW CL"),
    "no_intercept_offset": lambda: of_crabs("FL RW", offset="shift"),
    "aliased": lambda: of_crabs("FL RW both CL"),
}
each_case = pytest.mark.parametrize("name", CASES)


@cache
def fitted(name, without=()):
    """Maximum likelihood for a case, perhaps without some of its columns."""
    X, y, fit = CASES[name]()
    model = LogisticRegression(C=np.inf, fit_intercept="no_intercept" not in name)
    return model.fit(X.drop(columns=list(without)), y, **fit)


def having(key):
    return pytest.mark.parametrize("name", [name for name in CASES if key in NUMBERS["cases"][name]])


@pytest.fixture
def expected(name):
    return NUMBERS["cases"][name]


@pytest.fixture
def model(name):
    return fitted(name)


def same(found, wanted, rtol=1e-8, atol=1e-12):
    assert_allclose(found, wanted, rtol=rtol, atol=atol)


@each_case
@pytest.mark.parametrize("column", ["coef", "std_error", "statistic", "p_value"])
def test_the_coefficient_table_is_that_of_r(name, model, expected, column):
    summary = model.summary(cov_type="model")  # R takes weights for numbers of rows
    assert list(summary.names) == expected["names"]
    # The p-value of z = -6 changes by 40 times the relative change of z.
    same(getattr(summary, column), expected[column], rtol=1e-6 if column == "p_value" else 1e-8, atol=0)


@each_case
def test_the_estimates_are_the_attributes_that_predict_uses(name, model, expected):
    wanted = np.nan_to_num(expected["coef"])
    if expected["names"][0] == "(Intercept)":
        same(model.intercept_, wanted[:1])
        wanted = wanted[1:]
    else:
        assert model.intercept_.tolist() == [0.0]
    same(model.coef_, [wanted])


@each_case
def test_the_covariance_of_the_estimates_is_vcov(name, model, expected):
    kept = ~np.isnan(expected["coef"])
    found = standard_errors(model.fitted_model(), "model").vcov
    assert found.shape == (len(kept), len(kept))
    scale = np.outer(expected["std_error"], expected["std_error"])[np.ix_(kept, kept)]
    same(found[np.ix_(kept, kept)] / scale, expected["vcov"] / scale, rtol=0, atol=1e-7)
    assert np.isnan(found[~kept]).all()


@each_case
@pytest.mark.parametrize("figure", ["deviance", "null_deviance"])
def test_the_deviances_are_those_of_r(name, model, expected, figure):
    same(getattr(model.summary(), figure), expected[figure], rtol=1e-10)


@each_case
def test_the_degrees_of_freedom_are_those_of_r(name, model, expected):
    summary = model.summary()
    assert (summary.df_residual, summary.df_null) == (expected["df_residual"], expected["df_null"])


@having("aic")
@pytest.mark.parametrize("figure", ["loglik", "aic", "bic"])
def test_the_likelihood_and_its_criteria_are_those_of_r(name, model, expected, figure):
    same(getattr(model.summary(), figure), expected[figure], rtol=1e-10)


@each_case
def test_intervals_of_wald_are_confint_default(name, model, expected):
    scale = np.array(expected["std_error"])[:, None]
    same(model.confint(cov_type="model") / scale, expected["wald"] / scale, atol=1e-7)


@having("profile")
@pytest.mark.parametrize(("level", "key"), [(0.95, "profile"), (0.9, "profile90")])
def test_profile_intervals_end_where_the_deviance_has_risen_by_chi_squared(name, model, expected, level, key):
    found = model.confint(level=level, method="profile")
    scale = np.array(expected["std_error"])[:, None]
    same(found / scale, expected[key] / scale, rtol=1e-8, atol=1e-7)


@having("confint")
def test_profile_intervals_are_confint_of_r_up_to_its_interpolation(name, model, expected):
    scale = np.array(expected["std_error"])[:, None]
    same(model.confint(method="profile") / scale, expected["confint"] / scale, rtol=0, atol=0.01)


@each_case
def test_odds_ratios_are_exponentials_of_estimates_and_limits(name, model, expected):
    found = model.odds_ratios(cov_type="model")
    assert list(found.index) == expected["names"]
    same(np.log(np.asarray(found)), np.column_stack([expected["coef"], expected["wald"]]), rtol=1e-6)


@each_case
def test_leaving_out_each_term_is_drop1_of_r(name, model, expected):
    found = model.drop1().to_frame()
    wanted = expected["drop1"]
    assert list(found.index) == ["<none>", *wanted["term"]]
    same(found.loc["<none>", "Deviance"], expected["deviance"], rtol=1e-10)
    terms = found.iloc[1:]
    assert terms["Df"].tolist() == wanted["df"]
    # R stops the refits of the aliased case at a deviance that is good to 1e-8.
    same(terms["Deviance"], wanted["deviance"], rtol=1e-8)
    same(terms["LRT"], wanted["lrt"], rtol=1e-7, atol=1e-6)
    tested = np.array(wanted["df"]) > 0
    same(terms["Pr(>Chi)"][tested], np.array(wanted["p_value"])[tested], rtol=1e-6)
    assert terms["Pr(>Chi)"][~tested].isna().all()


@having("aic")
def test_leaving_out_each_term_has_the_aic_of_r(name, model, expected):
    found = model.drop1()["AIC"]
    same(found[0], expected["aic"], rtol=1e-9)
    same(found[1:], expected["drop1"]["aic"], rtol=1e-8)


@having("residuals")
@pytest.mark.parametrize("kind", ["deviance", "pearson"])
def test_residuals_are_those_of_r(name, model, expected, kind):
    # R keeps fitted probabilities 2e-16 away from 0 and 1, which leaves residuals of 2e-8 where smaller or
    # larger ones belong.
    same(model.residuals(kind), expected["residuals"][kind], rtol=1e-6, atol=1e-6)


@having("leverage")
def test_leverages_are_hatvalues(name, model, expected):
    same(model.leverage(), expected["leverage"], rtol=1e-6, atol=1e-10)


@having("cooks")
def test_cooks_distances_are_those_of_r(name, model, expected):
    same(model.cooks_distance(), expected["cooks"], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize(
    "name", ["challenger", "challenger_grouped", "crabs", "iris", "weighted", "no_intercept", "aliased"]
)
def test_probabilities_are_fitted_values(name, model, expected):
    same(model.predict_proba(CASES[name]()[0])[:, 1], expected["fitted"], rtol=1e-8, atol=1e-12)


ANOVA = {"crabs": ("CL", "BD", "site"), "challenger_grouped": ("pressure",), "offset": ("FL", "RW")}


@pytest.mark.parametrize("name", ANOVA)
def test_a_model_against_a_smaller_one_is_anova_of_r(name, model):
    wanted = NUMBERS["anova"][name]
    found = model.anova(fitted(name, without=ANOVA[name]))
    assert found["Resid. Df"].tolist() == wanted["df_residual"]
    same(found["Resid. Dev"], wanted["residual_deviance"], rtol=1e-10)
    last = found.to_frame().iloc[-1]
    assert last["Df"] == wanted["df"]
    same(last["Deviance"], wanted["deviance"], rtol=1e-8)
    same(last["Pr(>Chi)"], wanted["p_value"], rtol=1e-7)


@pytest.mark.parametrize("direction", ["both", "backward", "forward"])
@pytest.mark.parametrize("criterion", ["aic", "bic"])
@pytest.mark.parametrize("name", ["challenger_pressure", "challenger_grouped", "crabs", "crabs_forms", "iris"])
def test_selection_step_by_step_ends_where_that_of_r_ends(name, model, criterion, direction):
    wanted = NUMBERS["step"][name][f"{criterion}_{direction}"]
    summary = model.step(criterion=criterion, direction=direction).summary()
    assert set(summary.names) == set(wanted["names"])
    same(getattr(summary, criterion), wanted["criterion"], rtol=1e-9)
    order = [list(summary.names).index(label) for label in wanted["names"]]
    # R ends its refits when the deviance is still; coefficients follow to half as many digits.
    same(np.asarray(summary.coef)[order], wanted["coef"], rtol=1e-6)


@pytest.mark.parametrize("name", ["challenger", "crabs", "offset"])
def test_rows_predicted_without_themselves_are_as_refits_in_r_predict_them(name, model):
    wanted = np.array(NUMBERS["without_each_row"][name]["probability"])
    exact = model.loo_.exact(range(len(wanted)))
    same(exact.posterior[:, 1], wanted, rtol=1e-7, atol=1e-12)
    # The closed form is one Newton step from the whole fit, which is what the leverages leave to be desired.
    assert np.abs(model.loo_.posterior[:, 1] - wanted).max() < 0.05


def test_an_aliased_column_is_the_later_one_and_counts_no_degree_of_freedom():
    summary = fitted("aliased").summary()
    undefined = [label for label, value in zip(summary.names, summary.coef, strict=True) if np.isnan(value)]
    assert undefined == ["both"]
    assert summary.df_residual == 200 - 4
