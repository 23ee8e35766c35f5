"""Chicago, lecture 4: naive Bayes of binary features is linear, and of any columns an additive model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import MixedNB


@pytest.fixture
def binary():
    rng = np.random.default_rng(4)
    y = rng.choice([-1, 1], 400)
    return rng.random((400, 6)) < np.where(y[:, None] == 1, 0.6, 0.3), y


def test_the_log_odds_of_binary_features_are_linear_with_the_slopes_of_the_lecture(binary):
    """alpha_k = log p_k1 (1 - p_k,-1) / ((1 - p_k1) p_k,-1), a = sum log (1 - p_k1) / (1 - p_k,-1) + log prior odds."""
    X, y = binary
    model = MixedNB(alpha=0.0).fit(X, y)
    q, p = X[y == -1].mean(axis=0), X[y == 1].mean(axis=0)
    slopes = np.log(p * (1 - q) / ((1 - p) * q))
    a = np.log((1 - p) / (1 - q)).sum() + np.log((y == 1).sum() / (y == -1).sum())
    assert_allclose(model.decision_function(X), X @ slopes + a, rtol=1e-9, atol=1e-12)


def test_the_decision_is_the_sign_of_a_sum_of_functions_of_single_columns(binary):
    X, y = binary
    measured = np.column_stack([X, np.random.default_rng(5).normal(y, 2.0)])
    model = MixedNB(likelihoods=dict.fromkeys(range(6), "bernoulli")).fit(measured, y)
    terms = model.contributions(measured)
    f = terms[:, 1] - terms[:, 0]
    constant = model.class_log_prior_[1] - model.class_log_prior_[0]
    assert_allclose(f.sum(axis=1) + constant, model.decision_function(measured), rtol=1e-9, atol=1e-12)
    assert (np.sign(f.sum(axis=1) + constant) == model.predict(measured)).all()
    # A term depends on its own column alone.
    shuffled = measured.copy()
    shuffled[:, :6] = shuffled[::-1, :6]
    assert_allclose(model.contributions(shuffled)[:, :, 6], terms[:, :, 6])
