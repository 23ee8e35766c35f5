"""Standard errors that hold where weights are no counts, rows depend on each other, or the model is wrong."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression, scan
from discrim.errors import DataError, ParameterError, WeightsWarning

sm = pytest.importorskip("statsmodels.api", reason="statsmodels is where the numbers come from")


def rows(seed=0, n=160, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 30.0] + [0.0, 100.0]
    eta = np.column_stack([np.zeros(n), *(X @ [0.7 * k, 0.02] - 2.0 for k in range(1, classes))])
    return X, (eta + rng.gumbel(size=eta.shape)).argmax(axis=1), rng


def fit(X, y, weight=None, **more):
    parameters = {name: more.pop(name) for name in ("class_weight", "reference", "C", "l1_ratio") if name in more}
    return LogisticRegression(**{"C": np.inf, **parameters}).fit(X, y, weight, **more)


def by_hand(X, y, weight, squared, classes=2):
    """H^-1 M H^-1 written out for the log-odds against the first class; M with these squared weights."""
    model = fit(X, y, weight)
    z = np.column_stack([np.ones(len(X)), X])
    theta = np.vstack([np.zeros(z.shape[1]), model.summary().coef.reshape(classes - 1, -1)])
    p = np.exp(z @ theta.T)
    p = (p / p.sum(axis=1, keepdims=True))[:, 1:]
    score = ((np.eye(classes)[y][:, 1:] - p)[:, :, None] * z[:, None, :]).reshape(len(X), -1)
    spread = np.einsum("ik,kl->ikl", p, np.eye(classes - 1)) - np.einsum("ik,il->ikl", p, p)
    hessian = np.einsum("i,ikl,ia,ib->kalb", weight, spread, z, z).reshape(score.shape[1], -1)
    inverse = np.linalg.inv(hessian)
    return inverse @ (score.T * squared) @ score @ inverse


def assert_covariance(found, expected):
    """Equal in units of the standard errors, so that covariances near zero do not ask for more digits than others."""
    scale = np.sqrt(np.diag(expected))
    assert_allclose(found / np.outer(scale, scale), expected / np.outer(scale, scale), atol=1e-7)


@pytest.mark.parametrize("kind", ["HC0", "HC1"])
@pytest.mark.parametrize("offset", [False, True])
def test_without_weights_they_are_those_of_statsmodels(kind, offset):
    X, y, rng = rows()
    known = rng.normal(size=len(y)) if offset else None
    expected = sm.GLM(y, sm.add_constant(X), sm.families.Binomial(), offset=known).fit(tol=1e-13, cov_type="HC0")
    # The HC1 of statsmodels leaves out the factor n / (n - parameters) for generalised linear models; R has it.
    factor = np.sqrt(160 / 157) if kind == "HC1" else 1.0
    found = fit(X, y, offset=known).summary(cov_type=kind)
    assert_allclose(found.std_error, factor * expected.bse, rtol=1e-8)
    assert found.cov_type == kind


def test_groups_of_rows_are_those_of_statsmodels():
    X, y, rng = rows()
    groups = rng.integers(0, 25, len(y))
    expected = sm.GLM(y, sm.add_constant(X), sm.families.Binomial()).fit(
        tol=1e-13, cov_type="cluster", cov_kwds={"groups": groups}
    )
    model = fit(X, y)
    names = np.array([f"site {g}" for g in groups])
    assert_allclose(model.summary(cov_type="cluster", groups=groups).std_error, expected.bse, rtol=1e-8)
    assert_allclose(model.summary(cov_type="cluster", groups=names).std_error, expected.bse, rtol=1e-8)
    assert_allclose(model.confint(cov_type="cluster", groups=names), expected.conf_int(), rtol=1e-7)


def test_groups_of_trials_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    X, trials = rng.normal(size=(30, 2)), rng.integers(1, 9, 30)
    y = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0])))
    expected = sm.GLM(np.column_stack([y, trials - y]), sm.add_constant(X), sm.families.Binomial()).fit(
        tol=1e-13, cov_type="HC0"
    )
    assert_allclose(fit(X, y, trials=trials).summary(cov_type="HC0").std_error, expected.bse, rtol=1e-8)


@pytest.mark.parametrize("kind", ["model", "HC0", "HC1", "auto"])
@pytest.mark.parametrize("classes", [2, 3])
def test_counts_are_the_rows_written_out(kind, classes):
    X, y, rng = rows(2, classes=classes)
    counts = rng.integers(0, 4, len(y))
    found = fit(X, y, counts).summary(cov_type=kind)
    written = fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).summary(cov_type=kind)
    assert_allclose(found.std_error, written.std_error, rtol=1e-7)
    assert found.cov_type == written.cov_type == ("model" if kind == "auto" else kind)


@pytest.mark.parametrize("classes", [2, 3])
def test_fractions_have_the_sandwich_by_default(classes):
    X, y, rng = rows(3, classes=classes)
    weight = rng.uniform(0.2, 4.0, len(y))
    model = fit(X, y, weight)
    assert_covariance(model.vcov, by_hand(X, y, weight, weight**2, classes))
    assert_allclose(model.summary().std_error, np.sqrt(np.diag(model.vcov)), rtol=1e-12)
    assert model.summary().cov_type == "HC0"


def test_how_large_the_importance_is_on_average_does_not_matter():
    X, y, rng = rows(4)
    weight = rng.uniform(0.2, 4.0, len(y))
    a, b = (fit(X, y, factor * weight).summary() for factor in (1.0, 100.0))
    assert_allclose(a.std_error, b.std_error, rtol=1e-7)
    assert_allclose(100 * b.std_error**2, 100 * a.std_error**2, rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("counted", [False, True])
def test_class_weights_are_importance_even_where_they_are_whole(classes, counted):
    X, y, rng = rows(5, classes=classes)
    counts = rng.integers(1, 4, len(y)) if counted else np.ones(len(y))
    factor = np.array([1.0, 2.0, 5.0])[:classes][y]
    model = fit(X, y, counts if counted else None, class_weight=dict(enumerate([1, 2, 5][:classes])))
    expected = by_hand(X, y, counts * factor, counts * factor**2, classes)
    assert_covariance(model.vcov, expected)
    assert model.summary().cov_type == "HC0"


def test_class_weights_of_one_are_no_weights():
    X, y, _ = rows(6)
    assert fit(X, y, class_weight={0: 1.0, 1: 1.0}).summary().cov_type == "model"


@pytest.mark.parametrize("reference", [0, 1, 2])
def test_contrasts_with_another_reference_have_the_same_covariance(reference):
    X, y, rng = rows(7, classes=3)
    weight = rng.uniform(0.5, 2.0, len(y))
    first, other = fit(X, y, weight), fit(X, y, weight, reference=reference)
    D = np.eye(3)
    D[:, reference] -= 1
    D = np.kron(np.delete(D, reference, axis=0)[:, 1:], np.eye(3))
    assert_covariance(other.vcov, D @ first.vcov @ D.T)


def test_the_heading_and_the_facts_name_the_kind():
    X, y, rng = rows(8)
    balanced, plain = fit(X, y, class_weight="balanced"), fit(X, y)
    assert "Coefficients, sandwich standard errors (HC0):" in str(balanced.summary())
    assert "because weights are class weights or fractions" in " ".join(str(balanced.summary()).split())
    assert "Coefficients:" in str(balanced.summary(cov_type="model"))
    assert "sandwich" not in str(plain.summary())
    assert "sandwich standard errors (HC1)" in str(plain.summary(cov_type="HC1"))
    text = str(plain.summary(cov_type="cluster", groups=rng.integers(0, 9, len(y))))
    assert "sandwich standard errors (cluster)" in text
    assert "sandwich" in balanced.summary()._repr_html_()


def test_intervals_and_odds_ratios_follow_the_same_choice():
    X, y, rng = rows(9)
    model = fit(X, y, rng.uniform(0.5, 2.0, len(y)))
    for kind in ("auto", "model", "HC0", "HC1"):
        errors = model.summary(cov_type=kind).std_error
        ends = np.asarray(model.confint(cov_type=kind))
        assert_allclose((ends[:, 1] - ends[:, 0]) / 2 / 1.959963984540054, errors, rtol=1e-10)
        assert_allclose(np.asarray(model.odds_ratios(cov_type=kind).values)[:, 1:], np.exp(ends), rtol=1e-12)


def test_a_penalised_fit_puts_its_curvature_around_the_scores():
    X, y, _ = rows(10)
    model = fit(X, y, class_weight="balanced", C=0.5)
    summary = model.summary()
    assert summary.cov_type == "HC0"
    assert "leave out the bias" in " ".join(str(summary).split())
    weight = len(y) / (2 * np.bincount(y))[y]
    z = np.column_stack([np.ones(len(X)), X])
    p = 1 / (1 + np.exp(-z @ summary.coef))
    inverse = np.linalg.inv((z.T * (weight * p * (1 - p))) @ z + np.diag([0, 2.0, 2.0]))
    middle = (z.T * (weight * (y - p)) ** 2) @ z
    assert_covariance(model.vcov, inverse @ middle @ inverse)


def test_likelihood_ratios_warn_that_they_take_weights_for_counts():
    X, y, _ = rows(11)
    model = fit(X, y, class_weight="balanced")
    for ask in (model.drop1, lambda: model.confint(method="profile"), lambda: model.anova(["x0"]), model.step):
        with pytest.warns(WeightsWarning, match="treats weights as numbers of equal rows"):
            ask()
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightsWarning)
        fit(X, y, np.repeat([1, 2], 80)).drop1()


def test_a_saved_model_reports_the_same():
    X, y, rng = rows(12)
    model = fit(X, y, class_weight="balanced")
    copy = pickle.loads(pickle.dumps(model))
    assert_allclose(copy.summary().std_error, model.summary().std_error, rtol=1e-12)
    assert copy.summary().cov_type == "HC0"
    with pytest.raises(DataError, match="needs the rows"):
        copy.summary(cov_type="cluster", groups=rng.integers(0, 5, len(y)))


def test_a_scan_with_weights_has_the_standard_errors_of_its_rows(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y, rng = rows(13)
    for weight, kind in ((rng.uniform(0.5, 2.0, len(y)), "HC0"), (rng.integers(1, 4, len(y)).astype(float), "model")):
        pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y, "w": weight}), tmp_path / "rows.parquet")
        found = fit(scan(tmp_path / "rows.parquet", target="y", features=["a", "b"], weight="w"), None).summary()
        assert found.cov_type == kind
        assert_allclose(found.std_error, fit(X, y, weight).summary().std_error, rtol=1e-6)


def test_rows_of_weight_zero_do_not_matter():
    X, y, rng = rows(14)
    weight = rng.uniform(0.5, 2.0, len(y)) * (rng.uniform(size=len(y)) < 0.8)
    groups, kept = rng.integers(0, 12, len(y)), weight > 0
    whole, part = fit(X, y, weight), fit(X[kept], y[kept], weight[kept])
    for kind in ("HC0", "HC1"):
        assert_allclose(whole.summary(cov_type=kind).std_error, part.summary(cov_type=kind).std_error, rtol=1e-7)
    a, b = whole.summary(cov_type="cluster", groups=groups), part.summary(cov_type="cluster", groups=groups[kept])
    assert_allclose(a.std_error, b.std_error, rtol=1e-7)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"cov_type": "HC3"}, "'cov_type' parameter is 'HC3'; it must be 'auto', 'model'"),
        ({"cov_type": "cluster"}, "'groups' parameter is not given"),
        ({"cov_type": "HC0", "groups": [1, 2]}, "'groups' parameter is given, with cov_type='HC0'"),
        ({"cov_type": "cluster", "groups": [1, 2]}, "it must be 160 labels, one a row"),
        ({"cov_type": "cluster", "groups": [None] + ["a"] * 159}, "lacks 1 label, the first in row 0"),
        ({"cov_type": "cluster", "groups": ["a"] * 160}, "two groups at least"),
    ],
)
def test_what_cannot_be_asked_is_said(arguments, match):
    X, y, _ = rows()
    model = fit(X, y)
    for ask in (model.summary, model.confint, model.odds_ratios):
        with pytest.raises(ParameterError, match=match):
            ask(**arguments)


def test_profile_intervals_have_no_kind_of_standard_errors():
    X, y, _ = rows()
    with pytest.raises(ParameterError, match="left out with method='profile'"):
        fit(X, y).confint(method="profile", cov_type="HC0")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["balanced", "fractions"])
def test_a_true_null_hypothesis_is_rejected_about_as_often_as_stated(how):
    """600 data sets without any effect: 5% of 600 is 30, with a standard deviation of 5.3."""
    rng, rejected, by_model = np.random.default_rng(0), 0, 0
    for _ in range(600):
        X = rng.normal(size=(600, 1))
        y = (rng.uniform(size=600) < 0.1).astype(int)
        weight = None if how == "balanced" else 2.5 * rng.uniform(0.5, 2.0, 600)
        model = fit(X, y, weight, class_weight="balanced" if weight is None else None)
        rejected += model.summary().p_value[1] < 0.05
        by_model += model.summary(cov_type="model").p_value[1] < 0.05
    assert 15 <= rejected <= 55
    assert by_model > 100


def test_few_groups_are_remarked_on():
    X, y, _ = rows(14)
    few, many = (fit(X, y).summary(cov_type="cluster", groups=np.arange(len(y)) % g) for g in (12, 60))
    assert "With 12 groups they are too small on average" in " ".join(str(few).split())
    assert "too small" not in str(many)
