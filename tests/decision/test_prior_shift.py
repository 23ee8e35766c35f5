"""Posteriors under new class shares, against models fitted with these shares, and EM against a known shift."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.optimize import minimize
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as PeerLogistic

import discrim
from discrim import GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from discrim.decision import PriorShiftClassifier, estimate_shift

MEANS = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])


def draw(n, priors, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(len(priors), size=n, p=priors)
    return rng.normal(size=(n, 2)) + MEANS[y], y


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, GaussianNB])
def test_known_priors_give_the_model_that_is_fitted_with_them(model, iris):
    X, y = iris
    priors = [0.6, 0.3, 0.1]
    shifted = PriorShiftClassifier(model(), priors).fit(X, y)
    direct = model(priors=priors).fit(X, y)
    assert_allclose(shifted.predict_proba(X), direct.predict_proba(X), rtol=0, atol=1e-12)
    assert_allclose(shifted.predict_log_proba(X), direct.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    assert_array_equal(shifted.predict(X), direct.predict(X))
    assert_allclose(shifted.training_priors_, np.full(3, 1 / 3))


def test_priors_that_a_model_was_given_are_taken_out_again(iris):
    X, y = iris
    odd = LinearDiscriminantAnalysis(priors=[0.2, 0.7, 0.1])
    shifted = PriorShiftClassifier(odd, [0.3, 0.3, 0.4]).fit(X, y)
    direct = LinearDiscriminantAnalysis(priors=[0.3, 0.3, 0.4]).fit(X, y)
    assert_allclose(shifted.predict_proba(X), direct.predict_proba(X), rtol=0, atol=1e-12)


def test_a_logistic_intercept_moves_by_the_change_of_log_odds(two_classes):
    X, y, weight = two_classes
    model = PriorShiftClassifier(LogisticRegression(), [0.5, 0.5]).fit(X, y, sample_weight=weight)
    share = np.average(y == "sick", weights=weight)
    assert_allclose(model.training_priors_, [1 - share, share])
    plain = LogisticRegression().fit(X, y, sample_weight=weight)
    logit = plain.decision_function(X) - np.log(share / (1 - share))
    assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-logit)), atol=1e-12)


@pytest.mark.parametrize("inner", [LinearDiscriminantAnalysis(), PeerLogistic(C=np.inf)], ids=str)
def test_em_recovers_a_known_shift(inner):
    X, y = draw(40_000, [1 / 3, 1 / 3, 1 / 3], seed=0)
    new, labels = draw(40_000, [0.1, 0.2, 0.7], seed=1)
    model = PriorShiftClassifier(inner).fit(X, y)
    before = model.score(new, labels)
    model.adapt(new)
    assert_allclose(model.priors_, [0.1, 0.2, 0.7], atol=0.02)
    assert model.shift_.converged
    assert model.shift_.n_iter > 1
    assert model.shift_.p_value < 1e-10
    assert model.score(new, labels) > before + 0.05


def test_em_finds_no_shift_where_there_is_none():
    """The statistic is chi-square: over many samples its p-values are spread evenly."""
    X, y = draw(60_000, [0.2, 0.3, 0.5], seed=0)
    model = PriorShiftClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    found = []
    for seed in range(1, 201):
        shift = estimate_shift(model.estimator_.predict_proba(draw(400, [0.2, 0.3, 0.5], seed)[0]), [0.2, 0.3, 0.5])
        found.append(shift.p_value)
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_em_ends_at_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), size=200)
    t, weight = np.array([0.2, 0.3, 0.5]), rng.uniform(0.5, 2, 200)
    found = estimate_shift(p, t, weight)

    def loss(q):
        return -np.average(np.log((p / t) @ q), weights=weight)

    best = minimize(
        loss,
        t,
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
        method="SLSQP",
        tol=1e-14,
    )
    assert loss(found.priors) <= best.fun + 1e-8
    assert_allclose(found.priors, best.x, atol=1e-3)
    assert found.statistic == pytest.approx(2 * weight.sum() * -loss(found.priors), rel=1e-6)
    assert found.df == 2
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 2))


def test_the_share_of_a_class_that_is_gone_goes_to_zero_without_a_warning():
    p = np.column_stack([np.full(50, 0.999), np.full(50, 0.001)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(estimate_shift(p, [0.5, 0.5]).priors, [1, 0], atol=1e-6)


def test_until_it_is_adapted_nothing_is_shifted(iris):
    X, y = iris
    model = PriorShiftClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    assert_allclose(model.predict_proba(X), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), atol=1e-12)
    assert not hasattr(model, "shift_")


def test_fitting_anew_forgets_the_shift(iris):
    X, y = iris
    model = PriorShiftClassifier(LinearDiscriminantAnalysis()).fit(X, y).adapt(X[:60])
    model.fit(X, y)
    assert not hasattr(model, "shift_")
    assert_allclose(model.priors_, np.full(3, 1 / 3))


def test_a_frozen_model_is_adapted_with_the_priors_it_was_trained_with(iris):
    X, y = iris
    fitted = LogisticRegression().fit(X, y)
    given = PriorShiftClassifier(FrozenEstimator(fitted), [0.8, 0.1, 0.1], training_priors=[1 / 3] * 3)
    given.fit(X[:60], y[:60])  # the shares of these rows are not those of the training
    whole = PriorShiftClassifier(LogisticRegression(), [0.8, 0.1, 0.1]).fit(X, y)
    assert_allclose(given.predict_proba(X), whole.predict_proba(X), atol=1e-12)


def test_the_shares_of_a_scan_are_those_of_its_labels(tmp_path, two_classes):
    import pandas as pd

    X, y, weight = two_classes
    pd.DataFrame(X, columns=list("abc")).assign(y=y, w=weight).to_parquet(tmp_path / "rows.parquet")
    scan = discrim.scan(tmp_path / "rows.parquet", target="y", weight="w")
    model = PriorShiftClassifier(LogisticRegression()).fit(scan)
    share = np.average(y == "sick", weights=weight)
    assert_allclose(model.training_priors_, [1 - share, share])
    assert_array_equal(model.adapt(scan).predict(scan).shape, (240,))


def test_a_row_that_is_surely_of_a_vanished_class_gets_the_new_shares():
    X = np.array([[0.0], [0.1], [100.0], [100.1], [50.0], [50.1]])
    model = PriorShiftClassifier(GaussianNB(), [0.0, 0.6, 0.4]).fit(X, [0, 0, 1, 1, 2, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict_proba(np.array([[0.05], [1e8]]))
    assert np.isfinite(found).all()
    assert_allclose(found.sum(axis=1), 1)
    assert found[0, 0] == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"priors": [0.5, 0.5]}, "2 priors are given for 3 classes"),
        ({"priors": "guess"}, "'priors' parameter is 'guess'"),
        ({"priors": [0.5, -0.5, 1]}, "non-negative"),
        ({"priors": [0.5, 0.25, 0.25], "training_priors": [0, 0.5, 0.5]}, "share zero in training"),
    ],
)
def test_priors_that_cannot_be_are_refused(options, text, iris):
    with pytest.raises(ValueError, match=text):
        PriorShiftClassifier(LinearDiscriminantAnalysis(), **options).fit(*iris)


def test_given_priors_are_not_adapted(iris):
    X, y = iris
    model = PriorShiftClassifier(LinearDiscriminantAnalysis(), [0.2, 0.3, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="nothing to adapt"):
        model.adapt(X)


@pytest.mark.parametrize(
    ("posterior", "text"),
    [
        ([0.2, 0.8], "must be a matrix, .* found 2"),
        ([[0.2, 0.5]], "sum to 1 in every row"),
        ([[np.nan, 0.5]], "between 0 and 1"),
        (np.empty((0, 2)), "found 0 x 2"),
        ([[0.0, 1.0]], "no posterior for any class that has a share"),
    ],
)
def test_posteriors_that_are_none_are_refused(posterior, text):
    with pytest.raises(ValueError, match=text):
        estimate_shift(posterior, [1.0, 0.0])
