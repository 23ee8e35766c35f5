"""Jeffreys' prior does not know a reference class: Firth's answers are contrasts of one solution."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from discrim import LogisticRegression


def firth(X, y, reference, weight=None):
    return LogisticRegression(C=np.inf, bias_reduction="firth", reference=reference).fit(X, y, weight)


def minus_penalised(X, y, weight):
    """-l - log det I / 2 of theta without its first class, which is 0, written out."""
    z, classes = np.column_stack([np.ones(len(X)), X]), int(y.max()) + 1

    def value(free):
        eta = z @ np.vstack([np.zeros(z.shape[1]), free.reshape(classes - 1, -1)]).T
        log_p = eta - np.logaddexp.reduce(eta, axis=1, keepdims=True)
        p = np.exp(log_p)[:, 1:]
        spread = np.einsum("ik,kl->ikl", p, np.eye(classes - 1)) - np.einsum("ik,il->ikl", p, p)
        information = np.einsum("i,ikl,ia,ib->kalb", weight, spread, z, z).reshape(len(free), -1)
        return -weight @ log_p[np.arange(len(y)), y] - 0.5 * np.linalg.slogdet(information)[1]

    return value


def case(seed, classes=3, rows=9, columns=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), np.arange(rows) % classes


@pytest.mark.parametrize("reference", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_every_reference_has_the_maximum_of_the_penalised_likelihood(seed, reference, weighted):
    X, y = case(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    value = minus_penalised(X, y, weight)
    best = minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    found = firth(X, y, reference, weight if weighted else None).summary().coef.reshape(2, 2)
    theta = np.insert(found, reference, 0.0, axis=0)
    theta = theta - theta[0]
    assert value(theta[1:].ravel()) <= best.fun + 1e-10
    assert_allclose(theta[1:].ravel(), best.x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reference", [1, 2, 3])
def test_standard_errors_are_those_of_contrasts_of_the_first_reference(reference):
    X, y = case(5, classes=4, rows=16, columns=2)
    size, first, other = 3, firth(X, y, 0), firth(X, y, reference)
    D = np.eye(4)
    D[:, reference] -= 1
    D = np.kron(np.delete(D, reference, axis=0)[:, 1:], np.eye(size))
    assert_allclose(other.summary().coef, D @ first.summary().coef, rtol=1e-8, atol=1e-9)
    assert_allclose(other.vcov, D @ first.vcov @ D.T, rtol=1e-7, atol=1e-9)
    for name in ("loglik", "penalized_loglik", "deviance", "aic"):
        assert_allclose(getattr(other.summary(), name), getattr(first.summary(), name), rtol=1e-10)


def test_separated_classes_stay_finite_against_every_reference():
    X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
    found = [firth(X, y, k).summary() for k in range(3)]
    assert max(np.abs(summary.coef).max() for summary in found) < 60
    assert_allclose(found[1].coef[:2], -found[0].coef[:2], rtol=1e-6)
    assert_allclose(found[2].coef[:2], -found[0].coef[2:], rtol=1e-6)
    assert_allclose(found[2].std_error[:2], found[0].std_error[2:], rtol=1e-6)


def test_profile_intervals_turn_round_with_the_reference():
    X, y = case(2, rows=12)
    a, b = (firth(X, y, k).confint(method="profile") for k in (0, 1))
    assert_allclose(a[:2], -b[:2, ::-1], rtol=1e-5)


def test_columns_that_others_determine_are_left_out_against_every_reference():
    X, y = case(3, rows=15, columns=2)
    twice = np.column_stack([X, X[:, :1] + X[:, 1:]])
    for k in range(3):
        found, expected = firth(twice, y, k).summary(), firth(X, y, k).summary()
        known = ~np.isnan(found.coef)
        assert known.tolist() == [True, True, True, False] * 2
        assert_allclose(found.coef[known], expected.coef, rtol=1e-6, atol=1e-8)
        assert_allclose(found.std_error[known], expected.std_error, rtol=1e-6)


@pytest.mark.parametrize("reference", [0, 1])
def test_two_classes_with_offset_and_trials_turn_their_sign_with_the_reference(reference):
    rng = np.random.default_rng(0)
    X, trials, offset = rng.normal(size=(8, 1)), np.array([3, 1, 4, 2, 5, 1, 2, 3]), rng.normal(size=8)
    y = np.array([0, 0, 1, 1, 4, 1, 2, 3])
    model = LogisticRegression(C=np.inf, bias_reduction="firth", reference=reference)
    found = model.fit(X, y, offset=offset, trials=trials).summary()
    plain = LogisticRegression(C=np.inf, bias_reduction="firth").fit(X, y, offset=offset, trials=trials).summary()
    assert_allclose(found.coef, plain.coef * (1 - 2 * reference))
    assert_allclose(found.std_error, plain.std_error)


def test_profile_intervals_of_nearly_dependent_columns_are_those_of_their_difference():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = (x @ [1.0, -0.5, 0.2] + rng.logistic(size=200) > 0).astype(int)
    near = np.column_stack([x[:, :2], x[:, 0] + 1e-5 * x[:, 2]])
    model = {"C": np.inf, "bias_reduction": "firth"}
    found, expected = (np.asarray(LogisticRegression(**model).fit(X, y).confint(method="profile")) for X in (near, x))
    assert_allclose(found[[0, 2]], expected[[0, 2]], rtol=1e-5)
    assert_allclose(found[3] * 1e-5, expected[3], rtol=1e-5)
