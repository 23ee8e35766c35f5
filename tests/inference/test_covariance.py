"""Dispersion, kinds of weights, and what is said where standard errors do not hold."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression
from discrim.errors import ParameterError

sm = pytest.importorskip("statsmodels.api", reason="statsmodels is where the numbers come from")


def grouped(seed=0, n=40, spread=0.0):
    """Successes out of trials, whose log-odds vary by ``spread`` beyond the columns."""
    rng = np.random.default_rng(seed)
    X, trials = rng.normal(size=(n, 2)), rng.integers(5, 40, n)
    eta = 0.5 * X[:, 0] - 0.3 + spread * rng.normal(size=n)
    return X, rng.binomial(trials, 1 / (1 + np.exp(-eta))), trials


def plain(n=150, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.logistic(size=n) > 0).astype(int), rng


# R 4.2.2, of ten groups with x = 1:10:
# summary(glm(cbind(y, trials - y) ~ x, quasibinomial, epsilon = 1e-15, maxit = 100))
TRIALS = np.array([12, 15, 10, 20, 18, 14, 16, 22, 11, 19])
SUCCESSES = np.array([1, 5, 0, 9, 3, 8, 4, 17, 5, 16])
QUASI = {"std_error": [0.778930291344285, 0.117862142033049], "p_value": [0.0211187974781809, 0.0230556110597917]}


def test_the_dispersion_of_trials_is_that_of_r():
    model = LogisticRegression(C=np.inf).fit(np.arange(1.0, 11.0)[:, None], SUCCESSES, trials=TRIALS)
    found = model.summary(cov_type="quasi")
    assert_allclose(found.std_error, QUASI["std_error"], rtol=1e-8)
    assert_allclose(found.p_value, QUASI["p_value"], rtol=1e-7)
    assert_allclose((found.pearson, found.dispersion), (23.1703036026656, 2.89628795049264), rtol=1e-8)
    assert_allclose(found.vcov, 2.89628795049264 * model.vcov("model"), rtol=1e-8)
    half = 2.30600413520417 * found.std_error  # qt(0.975, 8)
    assert_allclose(model.confint(cov_type="quasi"), np.column_stack([found.coef - half, found.coef + half]), rtol=1e-8)
    assert "t value" in str(found)


def test_only_overdispersed_trials_get_the_remark():
    remark = "differ more than binomial counts would"
    for spread, expected in ((0.8, True), (0.0, False)):
        X, y, trials = grouped(spread=spread)
        model = LogisticRegression(C=np.inf).fit(X, y, trials=trials)
        text = " ".join(str(model.summary()).split())
        assert (remark in text) == expected
        assert "Pearson's chi-squared" in text
        assert remark not in " ".join(str(model.summary(cov_type="HC0")).split())
        assert pickle.loads(pickle.dumps(model)).summary().dispersion == model.summary().dispersion
    X, y, _ = plain()
    assert "Dispersion" not in str(LogisticRegression(C=np.inf).fit(X, y).summary())


def test_rows_of_trials_are_units_of_hc1_and_of_the_groups():
    X, y, trials = grouped()
    model = LogisticRegression(C=np.inf).fit(X, y, trials=trials)
    first = model.vcov("HC0")
    assert_allclose(model.vcov("HC1"), first * 40 / 37, rtol=1e-12)
    # Every row a group of its own.
    assert_allclose(model.vcov("cluster", groups=np.arange(40)), first * (40 / 39) * (39 / 37), rtol=1e-9)


def test_weights_that_are_precisions_have_the_dispersion():
    X, y, rng = plain()
    weight = rng.uniform(0.5, 3.0, len(y))
    expected = sm.GLM(y, sm.add_constant(X), sm.families.Binomial(), var_weights=weight).fit(tol=1e-14, scale="X2")
    for factor in (1.0, 10.0):
        model = LogisticRegression(C=np.inf).fit(X, y, factor * weight)
        assert_allclose(model.summary(weights="precision").std_error, expected.bse, rtol=1e-7)
    assert "weights are precisions" in " ".join(str(model.summary(weights="precision")).split())


def test_weights_that_are_frequencies_or_importances_are_taken_at_their_word():
    X, y, rng = plain()
    counts = rng.integers(1, 4, len(y)).astype(float)
    whole, half = (LogisticRegression(C=np.inf).fit(X, y, w) for w in (counts, counts / 2))
    # Halves of counts are fractions, but may be declared to be counts.
    assert half.summary().cov_type == "HC0"
    declared = half.summary(weights="frequency")
    assert declared.cov_type == "model"
    assert_allclose(declared.std_error, np.sqrt(2) * whole.summary().std_error, rtol=1e-9)
    assert_allclose(half.vcov("HC0", weights="frequency"), 2 * whole.vcov("HC0"), rtol=1e-7)
    # Whole weights may be importances: then they are those of fractions.
    found = whole.summary(weights="importance")
    assert found.cov_type == "HC0"
    assert_allclose(found.std_error, half.summary().std_error, rtol=1e-7)
    assert_allclose(whole.odds_ratios(weights="importance")["lower"], half.odds_ratios()["lower"], rtol=1e-7)


def test_a_covariance_of_another_kind_is_asked_by_a_call():
    X, y, _ = plain()
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert isinstance(model.vcov, np.ndarray)
    assert model.vcov.names == model.summary().names
    assert_allclose(model.vcov(), model.vcov)
    assert_allclose(np.sqrt(np.diag(model.vcov("HC1"))), model.summary("HC1").std_error, rtol=1e-12)
    part = model.vcov[:2, :2]
    with pytest.raises(ParameterError, match="covariance matrix of a model"):
        part()
    assert type(pickle.loads(pickle.dumps(model.vcov))) is np.ndarray


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"cov_type": "HC9"}, "'quasi', 'HC0'"),
        ({"weights": "counts"}, "'frequency', 'precision' or 'importance'"),
        ({"cov_type": "cluster"}, "groups"),
    ],
)
def test_kinds_that_do_not_exist_are_named(options, text):
    X, y, _ = plain()
    with pytest.raises(ParameterError, match=text):
        LogisticRegression(C=np.inf).fit(X, y).summary(**options)


def test_more_parameters_than_rows_have_no_dispersion():
    _, y, trials = grouped(n=4)
    model = LogisticRegression(C=np.inf).fit(np.eye(4)[:, 1:], y, trials=trials)
    with pytest.raises(ParameterError, match="4 rows for 4 parameters"):
        model.summary(cov_type="quasi")
    assert np.isnan(model.summary().dispersion)


def test_after_a_choice_of_columns_everything_says_that_p_values_do_not_hold():
    X, y, _ = plain()
    chosen = LogisticRegression(C=np.inf).fit(X, y).step()
    plainly = LogisticRegression(C=np.inf).fit(X, y)
    for shown in (chosen.summary(), chosen.confint(), chosen.odds_ratios(), chosen.confint(method="profile")):
        assert "step() chose the terms by AIC on the same rows" in " ".join(str(shown).split())
    assert "Signif. codes" not in str(chosen.summary())
    assert "*" not in str(chosen.summary())
    assert "step()" in chosen.summary().to_html()
    assert "Signif. codes" in str(plainly.summary())
    copied = pickle.loads(pickle.dumps(chosen))
    assert "step() chose" in str(copied.summary())
    # Fitted again on other rows there was no choice.
    assert "step()" not in str(chosen.fit(X, y).summary())


def test_under_an_l2_penalty_tables_say_it_and_have_no_stars():
    X, y, _ = plain()
    model = LogisticRegression(C=1.0).fit(X, y)
    for shown in (model.summary(), model.confint(), model.odds_ratios(), model.summary("HC0")):
        assert "do not hold for the true coefficients" in " ".join(str(shown).split())
    assert "***" not in str(model.summary())
