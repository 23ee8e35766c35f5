"""The summary of a logistic regression against statsmodels, and what it says where there is something to say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from discrim.inference.glm_summary import glm_summary


def sm():
    return pytest.importorskip("statsmodels.api")


def test_a_binary_fit_is_that_of_statsmodels(fit, binary):
    x, y = binary
    found = glm_summary(fit(x, y))
    expected = (
        sm().GLM((y == "yes").astype(float), sm().add_constant(x), family=sm().families.Binomial()).fit(tol=1e-12)
    )
    assert found.names == ["(Intercept)", "x0", "x1", "x2"]
    assert_allclose(found.coef, expected.params, rtol=1e-8)
    assert_allclose(found.std_error, expected.bse, rtol=1e-7)
    assert_allclose(found.statistic, expected.tvalues, rtol=1e-7)
    assert_allclose(found.p_value, expected.pvalues, rtol=1e-6)
    assert_allclose([found.deviance, found.null_deviance], [expected.deviance, expected.null_deviance], rtol=1e-10)
    assert_allclose([found.aic, found.loglik, found.bic], [expected.aic, expected.llf, expected.bic_llf], rtol=1e-10)
    assert (found.df_residual, found.df_null) == (expected.df_resid, expected.df_resid + 3)


def test_grouped_rows_with_offsets_are_those_of_statsmodels(fit, grouped):
    x, successes, trials, offset = grouped
    constant = float(np.log(special.binom(trials, successes)).sum())
    found = glm_summary(fit(x, successes, trials=trials, offset=offset, loglik_constant=constant))
    response = np.column_stack([successes, trials - successes])
    family = sm().families.Binomial()
    expected = sm().GLM(response, sm().add_constant(x), family=family, offset=offset).fit(tol=1e-12)
    null = sm().GLM(response, np.ones((len(x), 1)), family=family, offset=offset).fit(tol=1e-12)
    assert_allclose(found.coef, expected.params, rtol=1e-8)
    assert_allclose(found.std_error, expected.bse, rtol=1e-8)
    assert_allclose([found.deviance, found.null_deviance], [expected.deviance, null.deviance], rtol=1e-9)
    assert_allclose([found.loglik, found.aic, found.bic], [expected.llf, expected.aic, expected.bic_llf], rtol=1e-9)
    assert (found.df_residual, found.df_null) == (37, 39)


def test_three_classes_are_those_of_statsmodels(fit, three):
    x, y = three
    found = glm_summary(fit(x, y))
    expected = sm().MNLogit(np.searchsorted(["a", "b", "c"], y), sm().add_constant(x)).fit(disp=0, tol=1e-12)
    assert found.names == ["b:(Intercept)", "b:x0", "b:x1", "c:(Intercept)", "c:x0", "c:x1"]
    assert_allclose(found.coef, expected.params.T.ravel(), rtol=1e-7)
    assert_allclose(found.std_error, expected.bse.T.ravel(), rtol=1e-7)
    assert_allclose(found.p_value, expected.pvalues.T.ravel(), rtol=1e-5)
    assert_allclose([found.loglik, found.aic, found.bic], [expected.llf, expected.aic, expected.bic], rtol=1e-10)
    assert_allclose(found.null_deviance, -2 * expected.llnull, rtol=1e-8)
    # Every row has two log-odds.
    assert (found.df_residual, found.df_null) == (2 * 200 - 6, 2 * 200 - 2)


def test_the_text_is_the_one_a_reader_of_r_knows(fit, three):
    text = str(glm_summary(fit(*three)))
    assert "Null deviance:     434.29 on 398 degrees of freedom" in text
    assert "Residual deviance: 349.84 on 394 degrees of freedom" in text
    assert "Log-odds:          of class 'b', 'c' against 'a'" in text
    assert "Estimate Std. Error z value Pr(>|z|)" in text
    assert "***" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_table_converts_to_a_frame(fit, binary):
    pytest.importorskip("pandas")
    found = glm_summary(fit(*binary))
    frame = found.to_frame()
    assert list(frame.columns) == ["Estimate", "Std. Error", "z value", "Pr(>|z|)"]
    assert_allclose(frame.loc["x1", "Std. Error"], found.std_error[2])


def test_aliased_columns_are_named(fit, binary):
    x, y = binary
    found = glm_summary(fit(np.column_stack([x, x[:, 0] - x[:, 1]]), y, aliased=[3]))
    assert np.isnan([found.coef[4], found.std_error[4], found.statistic[4], found.p_value[4]]).all()
    assert found.df_residual == 146
    assert "Not defined:       1 column: 'x3'. Other columns determine it exactly" in str(found)


def test_infinite_estimates_are_shown_as_such_with_the_reason(fit):
    x = np.repeat([0.0, 1.0], 10)[:, None]
    y = np.r_[np.tile([0, 1], 5), np.ones(10, int)]
    found = glm_summary(fit(x, y, infinite=np.array([0.0, 1.0])))
    assert_allclose(found.coef, [0.0, np.inf], atol=1e-6)
    assert np.isnan([found.std_error[1], found.statistic[1], found.p_value[1]]).all()
    text = str(found)
    assert "the estimate of 'x0' is infinite, because classes are separated" in " ".join(text.split())
    assert [line.split() for line in text.splitlines() if line.startswith("x0")] == [["x0", "Inf", "NaN", "NaN", "NaN"]]


def test_a_ridge_counts_effective_parameters_and_warns_of_bias(fit, binary):
    x, y = binary
    found = glm_summary(fit(x, y, alpha=3.0))
    beta = found.coef
    z = np.column_stack([np.ones(len(x)), x])
    mu = special.expit(z @ beta)
    info = z.T @ ((mu * (1 - mu))[:, None] * z)
    H = info + np.diag([0, 3.0, 3.0, 3.0])
    sandwich = np.linalg.solve(H, np.linalg.solve(H, info).T)
    effective = np.trace(np.linalg.solve(H, info))
    assert_allclose(found.std_error, np.sqrt(np.diag(sandwich)), rtol=1e-5)
    assert_allclose(found.parameters, effective, rtol=1e-6)
    assert_allclose(found.df_residual, 150 - effective, rtol=1e-8)
    loglik = stats.bernoulli.logpmf(y == "yes", mu).sum()
    assert_allclose(found.aic, -2 * loglik + 2 * effective, rtol=1e-8)
    assert "do not hold for the true coefficients" in " ".join(str(found).split())


def test_after_an_l1_penalty_there_are_no_p_values_but_a_reason(fit, binary):
    fitted = fit(*binary, penalty="l1")
    found = glm_summary(fitted)
    assert np.isnan(found.std_error).all()
    assert np.isnan(found.p_value).all()
    text = str(found)
    assert "Pr(>|z|)" not in text
    assert "no formula for a standard error or p-value remains true after that choice" in " ".join(text.split())


def test_weights_are_shown_beside_the_rows(fit, binary):
    x, y = binary
    weight = np.r_[np.zeros(10), np.full(140, 2.0)]
    found = glm_summary(fit(x, y, weight=weight))
    assert found.facts["Rows"] == "140, of weight 280"
    assert found.df_residual == 136


def test_every_coefficient_of_an_ordinary_model_is_printed(fit):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(600, 58))
    text = str(glm_summary(fit(x, (rng.random(600) < 0.5).astype(int))))
    assert all(f"\nx{j} " in text for j in range(58))
    assert "more rows" not in text
