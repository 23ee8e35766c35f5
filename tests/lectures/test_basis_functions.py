"""What the lectures show with generalised discriminant functions."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from discrim import LeastSquaresClassifier, LinearDiscriminantAnalysis
from discrim.basis import PolynomialBasis, QuadraticBasis, RadialBasis

XOR = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


def test_the_exclusive_or_is_linear_in_the_product_only():
    X, y = XOR
    assert LeastSquaresClassifier().fit(X, y).score(X, y) <= 0.75
    model = make_pipeline(QuadraticBasis(interaction_only=True), LeastSquaresClassifier()).fit(X, y)
    assert model.score(X, y) == 1.0
    assert_allclose(model[-1].coef_, [[0, 0, 0.5], [0, 0, -0.5]], atol=1e-12)


def test_the_exclusive_or_is_linear_in_two_bumps():
    X, y = XOR
    model = make_pipeline(RadialBasis(X[[0, 3]], width=1.0), LeastSquaresClassifier()).fit(X, y)
    assert model.score(X, y) == 1.0


def three_in_a_row(n=300):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], n)
    return (4.0 * y + rng.normal(size=3 * n))[:, None], y


def test_a_class_between_two_others_is_masked_and_a_square_cures_it():
    X, y = three_in_a_row()
    assert (LeastSquaresClassifier().fit(X, y).predict(X) == 1).mean() < 0.02
    cured = make_pipeline(PolynomialBasis(2), LeastSquaresClassifier()).fit(X, y)
    assert cured.score(X, y) > 0.95
    assert LinearDiscriminantAnalysis().fit(X, y).score(X, y) > 0.95


def test_a_circle_is_a_straight_line_in_squares():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (400, 2))
    y = (X**2).sum(axis=1) > 2.0
    assert LinearDiscriminantAnalysis().fit(X, y).score(X, y) < 0.75
    assert make_pipeline(QuadraticBasis(), LinearDiscriminantAnalysis()).fit(X, y).score(X, y) > 0.93
