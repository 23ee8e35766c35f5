"""LDA and QDA that average over their estimates, or free them of their bias."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    merge,
)
from discrim.errors import DataError, ParameterError

L, Q = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
both = pytest.mark.parametrize("kind", [L, Q])
others = pytest.mark.parametrize("method", ["predictive", "debiased"])
SIZES = (14, 25, 40)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], SIZES))
    X = rng.normal(size=(len(y), 3)) @ rng.normal(size=(3, 3)) + 0.7 * y[:, None]
    return X, y


@both
def test_debiased_scores_are_right_on_average(kind):
    """Over many samples the mean difference of two scores is that of the true log densities; the plug-in's is not."""
    rng = np.random.default_rng(0)
    p, sizes, new = 3, (7, 12), np.array([[1.0, -0.5, 3.0]])
    means = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, -0.5]])
    sigmas = [np.diag([1.0, 2.0, 0.5]) + 0.3] * 2
    if kind is Q:
        sigmas = [sigmas[0], 2.0 * np.eye(p)]
    truth = np.diff([multivariate_normal(m, s).logpdf(new[0]) for m, s in zip(means, sigmas, strict=True)])[0]
    y = np.repeat([0, 1], sizes)
    found = {method: [] for method in ("plug-in", "debiased")}
    roots = [np.linalg.cholesky(s) for s in sigmas]
    for _ in range(800):
        X = np.vstack([rng.normal(size=(n, p)) @ r.T + m for n, r, m in zip(sizes, roots, means, strict=True)])
        for method, scores in found.items():
            model = kind(predict_method=method, priors=[0.5, 0.5]).fit(X, y)
            scores.append(model.decision_function(new)[0])
    error = {method: (np.mean(s) - truth) / (np.std(s) / np.sqrt(len(s))) for method, s in found.items()}
    assert abs(error["debiased"]) < 3
    assert abs(error["plug-in"]) > 5


@both
@others
def test_the_rule_depends_on_the_rows_and_not_on_how_they_came(kind, method, rows):
    X, y = rows
    whole = kind(predict_method=method).fit(X, y)
    parts = kind(predict_method=method)
    for i in np.array_split(np.arange(len(y)), 5):
        parts.partial_fit(X[i], y[i])
    joined = merge(*(kind(predict_method=method).fit(X[i::2], y[i::2]) for i in (0, 1)))
    less = kind(predict_method=method).fit(X, y).forget(X[:9], y[:9])
    for name in ("predict_proba", "decision_function", "predict_log_proba"):
        expected = getattr(whole, name)(X)
        assert_allclose(getattr(parts, name)(X), expected, rtol=1e-9, atol=1e-11)
        assert_allclose(getattr(joined, name)(X), expected, rtol=1e-9, atol=1e-11)
    assert_allclose(less.predict_proba(X), kind(predict_method=method).fit(X[9:], y[9:]).predict_proba(X), rtol=1e-9)
    assert_array_equal(whole.predict(X), np.argmax(whole.decision_function(X), axis=1))
    assert "discriminant analysis" in str(whole.summary())


@pytest.mark.parametrize(
    ("kind", "bayesian"), [(L, BayesianLinearDiscriminantAnalysis), (Q, BayesianQuadraticDiscriminantAnalysis)]
)
def test_predictive_is_bayesian_without_a_prior(kind, bayesian, rows):
    X, y = rows
    found = kind(predict_method="predictive", priors=[0.2, 0.3, 0.5]).fit(X, y)
    expected = bayesian(0, 0, priors=[0.2, 0.3, 0.5]).fit(X, y)
    assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-10)


def test_coefficients_are_those_of_the_debiased_rule(rows):
    X, y = rows
    model = L(predict_method="debiased").fit(X, y)
    assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), rtol=1e-9, atol=1e-10)
    plain, predictive = L().fit(X, y), L(predict_method="predictive").fit(X, y)
    assert_array_equal(predictive.coef_, plain.coef_)
    assert_array_equal(predictive.transform(X), plain.transform(X))


@both
@others
def test_two_classes_have_one_margin(kind, method, rows):
    X, y = rows[0][rows[1] < 2], rows[1][rows[1] < 2]
    model = kind(predict_method=method).fit(X, y)
    assert_allclose(1 / (1 + np.exp(-model.decision_function(X))), model.predict_proba(X)[:, 1], rtol=1e-9)


@both
@others
def test_shrunken_covariances_are_refused(kind, method, rows):
    for settings in ({"shrinkage": 0.2}, {"shrinkage": "oas"}, {"rank": 1} if kind is L else {"reg_param": 0.1}):
        with pytest.raises(ParameterError, match=f"predict_method='{method}' needs covariances as they are"):
            kind(predict_method=method, **settings).fit(*rows)
    kind(predict_method=method, shrinkage=0.0).fit(*rows)


@others
def test_covariances_weighed_by_priors_are_refused(method, rows):
    with pytest.raises(ParameterError, match="needs the pooled covariance, and solver='eigen' weighs"):
        L(predict_method=method, solver="eigen", priors=[0.2, 0.3, 0.5]).fit(*rows)
    L(predict_method=method, solver="eigen").fit(*rows)


def test_too_few_degrees_of_freedom_are_counted_out(rows):
    X, y = rows
    few = np.concatenate([np.flatnonzero(y == k)[:n] for k, n in ((0, 5), (1, 20), (2, 20))])
    Q(predict_method="predictive").fit(X[few], y[few])
    with pytest.raises(DataError, match="more than 4 degrees of freedom for 3 columns; class '0' has 4"):
        Q(predict_method="debiased").fit(X[few], y[few])
    few = np.concatenate([np.flatnonzero(y == k)[:2] for k in range(3)])
    L(predict_method="predictive").fit(X[few], y[few])
    with pytest.raises(DataError, match="more than 4 degrees of freedom for 3 columns; the classes together have 3"):
        L(predict_method="debiased").fit(X[few], y[few])


@both
@others
def test_a_declared_class_without_rows_stays_out(kind, method, rows):
    X, y = rows
    model = kind(predict_method=method).partial_fit(X, y, classes=[0, 1, 2, 3])
    assert_allclose(model.predict_proba(X)[:, :3], kind(predict_method=method).fit(X, y).predict_proba(X), rtol=1e-10)
    assert (model.predict_proba(X)[:, 3] == 0).all()
