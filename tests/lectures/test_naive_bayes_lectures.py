"""Naive Bayes of the Chicago and Oxford lectures: the toy example, the text model, the linear rule and its constant."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import BernoulliNB, MultinomialNB


def test_maximum_likelihood_predicts_that_what_was_never_seen_never_happens():
    X, y = np.array([[0], [0], [0], [1], [0]]), np.array([1, 1, 1, 2, 2])
    never = BernoulliNB(alpha=0.0).fit(X, y)
    assert_array_equal(never.predict_proba([[1]]), [[0.0, 1.0]])
    bayes = BernoulliNB(beta=(1, 1)).fit(X, y)
    # P(x = 1 | class 1) = (1 + 0) / (2 + 3), P(x = 1 | class 2) = (1 + 1) / (2 + 2)
    weights = np.array([3 / 5 * 1 / 5, 2 / 5 * 2 / 4])
    assert_allclose(bayes.predict_proba([[1]]), [weights / weights.sum()])


def test_three_of_twenty_under_beta_2_2_predict_5_of_24():
    X = (np.arange(20) < 3).astype(float)[:, None]
    model = BernoulliNB(beta=(2, 2)).fit(X, np.zeros(20))
    posterior = model.posterior(0, 0)
    assert (posterior.a, posterior.b) == (5, 19)
    assert_allclose(np.exp(model.feature_log_prob_), [[5 / 24]])
    assert_allclose(posterior.variance, 5 * 19 / (24**2 * 25))


def test_bayesian_text_classification_uses_predictive_probabilities_of_words_and_classes():
    X = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]])
    y = np.array(["physics", "physics", "spam"])
    a, b, alpha = 0.5, 2.0, 3.0
    model = BernoulliNB(beta=(a, b), class_alpha=alpha).fit(X, y)
    assert_allclose(np.exp(model.class_log_prior_), [(alpha + 2) / (2 * alpha + 3), (alpha + 1) / (2 * alpha + 3)])
    assert_allclose(np.exp(model.feature_log_prob_[0]), (a + np.array([2, 1, 0])) / (a + b + 2))
    x = np.array([1, 0, 1])
    p = np.exp(model.feature_log_prob_)
    joint = np.exp(model.class_log_prior_) * np.prod(np.where(x, p, 1 - p), axis=1)
    assert_allclose(model.predict_proba([x]), [joint / joint.sum()])


def test_a_dirichlet_vector_on_words_is_alpha():
    X, y = np.array([[3, 0], [1, 2]]), np.array([0, 1])
    model = MultinomialNB(alpha=[1.0, 4.0]).fit(X, y)
    assert_allclose(np.exp(model.feature_log_prob_), [[4 / 8, 4 / 8], [2 / 8, 6 / 8]])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_rule_is_linear_with_the_coefficients_of_the_lecture(container):
    rng = np.random.default_rng(0)
    X, y = (rng.random((50, 6)) < 0.4).astype(float), rng.integers(0, 2, 50)
    model = BernoulliNB(methods="all").fit(container(X), y)
    p = (X[y == 0].sum(axis=0) + 1) / ((y == 0).sum() + 2), (X[y == 1].sum(axis=0) + 1) / ((y == 1).sum() + 2)
    alpha = np.log(p[1] * (1 - p[0]) / ((1 - p[1]) * p[0]))
    a = np.log((1 - p[1]) / (1 - p[0])).sum() + np.log(y.mean() / (1 - y.mean()))
    assert_allclose(model.coef_, [alpha], rtol=1e-12)
    assert_allclose(model.intercept_, [a], rtol=1e-12)
    assert_allclose(model.decision_function(container(X)), X @ alpha + a, rtol=1e-10, atol=1e-12)
    assert_array_equal(model.predict(container(X)), X @ alpha + a > 0)


def test_for_more_classes_there_is_one_row_of_coefficients_each():
    rng = np.random.default_rng(1)
    X, y = (rng.random((60, 5)) < 0.4).astype(float), rng.integers(0, 3, 60)
    model = BernoulliNB().fit(X, y)
    assert_allclose(X @ model.coef_.T + model.intercept_, model.predict_joint_log_proba(X), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_tuned_constant_makes_the_fewest_training_errors(weighted):
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(5, 60))
        X, y = (rng.random((n, 4)) < 0.4).astype(float), np.append([0, 1], rng.integers(0, 2, n - 2))
        w = rng.integers(1, 5, n) / 2.0 if weighted else np.ones(n)
        plain = BernoulliNB().fit(X, y, w)
        tuned = BernoulliNB(tune_intercept=True).fit(X, y, w)
        assert_allclose(tuned.coef_, plain.coef_)
        direction = np.round(X @ plain.coef_[0], 9)
        cuts = np.unique(direction)
        cuts = np.concatenate([[cuts[0] - 1], (cuts[1:] + cuts[:-1]) / 2, [cuts[-1] + 1]])
        least = min(w @ ((direction > cut) != y) for cut in cuts)
        assert_allclose(w @ (tuned.predict(X) != y), least)
        if np.isclose(w @ (plain.predict(X) != y), least):
            assert_array_equal(tuned.intercept_, plain.intercept_)
