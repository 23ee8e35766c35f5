"""Coefficients and their covariance in the user's units, whatever the solver's coordinates are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim.errors import DataError, ParameterError
from discrim.families.logistic.positive import inverse_root
from discrim.inference.covariance import standard_errors


def vcov(fitted):
    return standard_errors(fitted, "model").vcov


def design(x):
    return np.column_stack([np.ones(len(x)), x])


def information(x, coef, weight=1.0):
    """X'WX of a binary model, by the textbook."""
    eta = design(x) @ coef
    mu = 1 / (1 + np.exp(-eta))
    return design(x).T @ ((weight * mu * (1 - mu))[:, None] * design(x))


def assert_inverse(a, b):
    scale = np.sqrt(np.diag(b))
    assert_allclose((a * np.outer(scale, scale)) @ (b / np.outer(scale, scale)), np.eye(len(a)), atol=1e-7)


def score(x, y, coef, weight=1.0):
    mu = 1 / (1 + np.exp(-design(x) @ coef))
    return design(x).T @ (weight * (y - mu))


def test_the_covariance_is_the_inverse_information_at_the_estimate(fit, binary):
    x, y = binary
    fitted = fit(x, y)
    assert_allclose(score(x, y == "yes", fitted.coef) / np.abs(design(x)).sum(axis=0), 0, atol=1e-12)
    assert_inverse(vcov(fitted), information(x, fitted.coef))
    assert_allclose(fitted.std_error**2, np.diag(vcov(fitted)), rtol=1e-12)


def test_weights_multiply_the_information(fit, binary):
    x, y = binary
    weight = np.random.default_rng(0).uniform(0, 3, len(x))
    fitted = fit(x, y, weight=weight)
    assert_inverse(vcov(fitted), information(x, fitted.coef, weight))


def test_columns_rescaled_and_shifted_by_a_million_carry_their_covariance_along(fit):
    rng = np.random.default_rng(5)
    # Quarters near a million are exact, so that the two designs differ by a shift and nothing else.
    x = rng.integers(-8, 9, size=(120, 2)) / 4.0
    y = rng.random(120) < 1 / (1 + np.exp(-x[:, 0]))
    near, far = fit(x, y), fit(x * 1e6 + 1e6, y)
    T = np.array([[1.0, -1.0, -1.0], [0.0, 1e-6, 0.0], [0.0, 0.0, 1e-6]])
    assert_allclose(far.coef, T @ near.coef, rtol=1e-9)
    assert_allclose(vcov(far), T @ vcov(near) @ T.T, rtol=1e-9)


def test_the_second_class_as_reference_turns_the_signs(fit, binary):
    first, second = fit(*binary, reference=0), fit(*binary, reference=1)
    assert_allclose(second.coef, -first.coef)
    assert_allclose(vcov(second), vcov(first))


def test_three_classes_are_reported_against_any_reference(fit, three):
    against_a, against_b = fit(*three, reference=0), fit(*three, reference=1)
    assert against_b.labels == ["a:(Intercept)", "a:x0", "a:x1", "c:(Intercept)", "c:x0", "c:x1"]
    eye, zero = np.eye(3), np.zeros((3, 3))
    T = np.block([[-eye, zero], [-eye, eye]])
    assert_allclose(against_b.coef, T @ against_a.coef, rtol=1e-7)
    assert_allclose(vcov(against_b), T @ vcov(against_a) @ T.T, rtol=1e-6)


def test_contrasts_with_a_penalty_need_no_class_to_be_held(fit, three):
    """The covariance H^-1 I H^-1 of the differences, with H^-1 any generalised inverse, by dense algebra."""
    x, y = three
    fitted = fit(x, y, alpha=2.0, reference=2)
    z = design(x)
    beta = np.linalg.lstsq(np.eye(3), fitted.coordinates.to_user(fitted.theta), rcond=None)[0]
    mu = np.exp(z @ beta.T)
    mu /= mu.sum(axis=1, keepdims=True)
    W = mu[:, :, None] * np.eye(3) - mu[:, :, None] * mu[:, None, :]
    info = np.einsum("ni,nkl,nj->kilj", z, W, z).reshape(9, 9)
    H = info + 2.0 * np.kron(np.eye(3), np.diag([0.0, 1.0, 1.0]))
    D = np.kron([[1, 0, -1], [0, 1, -1]], np.eye(3))
    inverse = np.linalg.pinv(H)
    assert_allclose(vcov(fitted), D @ inverse @ info @ inverse @ D.T, rtol=1e-6)
    assert_allclose(fitted.parameters, np.trace(inverse @ info), rtol=1e-8)


def test_without_an_intercept_none_is_reported(fit, binary):
    x, y = binary
    x = x - x.mean(axis=0)
    fitted = fit(x, y, intercept=False)
    assert fitted.labels == ["x0", "x1", "x2"]
    mu = 1 / (1 + np.exp(-x @ fitted.coef))
    assert_inverse(vcov(fitted), x.T @ ((mu * (1 - mu))[:, None] * x))


def test_an_aliased_column_is_nan_and_the_others_are_as_without_it(fit, binary):
    x, y = binary
    fitted = fit(np.column_stack([x, x[:, 0] + 2 * x[:, 1]]), y, aliased=[3])
    alone = fit(x, y)
    assert np.isnan(fitted.coef[4])
    assert np.isnan(vcov(fitted)[4]).all()
    assert_allclose(fitted.coef[:4], alone.coef, rtol=1e-8)
    assert_allclose(vcov(fitted)[:4, :4], vcov(alone), rtol=1e-7)
    assert fitted.parameters == 4


def test_infinite_estimates_have_a_sign_and_no_standard_error(fit):
    rng = np.random.default_rng(0)
    x = np.column_stack([np.repeat([0.0, 1.0], 30), rng.normal(size=60)])
    y = (x[:, 0] == 1) | (rng.random(60) < 1 / (1 + np.exp(-x[:, 1])))
    fitted = fit(x, y, infinite=np.array([0.0, 1.0, 0.0]))
    assert fitted.coef[1] == np.inf
    assert np.isnan(fitted.std_error[1])
    # In the limit the separated rows say nothing about the others: these are as fitted on the rest.
    rest = fit(x[:30, 1:], y[:30])
    assert_allclose(fitted.coef[[0, 2]], rest.coef, rtol=1e-4)
    assert_allclose(fitted.std_error[[0, 2]], rest.std_error, rtol=1e-4)


def test_a_pickled_fit_reports_the_same_and_asks_for_the_rows(fit, binary):
    fitted = fit(*binary)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(vcov(copy), vcov(fitted))
    with pytest.raises(DataError, match=r"drop1\(\) needs the rows .* Fit it again"):
        copy.problem("drop1()")


def test_after_a_penalty_likelihoods_are_not_compared(fit, binary):
    with pytest.raises(ParameterError, match=r"step\(\) compares .* penalty 'l2'. Fit it with C=np.inf"):
        fit(*binary, alpha=1.0).need_likelihood("step()")


@pytest.mark.parametrize("rank", [4, 3])
def test_the_root_of_an_inverse_is_one_for_singular_matrices_too(rank):
    a = np.random.default_rng(rank).normal(size=(rank, 4)) * [1.0, 1e4, 1e-4, 1.0]
    matrix = a.T @ a
    root = inverse_root(matrix)
    assert root.shape == (4, rank)
    scale = np.sqrt(np.diag(matrix))
    assert_allclose((matrix @ root @ root.T @ matrix) / np.outer(scale, scale), matrix / np.outer(scale, scale),
                    atol=1e-9)  # fmt: skip
