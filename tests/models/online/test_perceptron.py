"""The perceptron beyond scikit-learn's: classes that compete, and the mean of the weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import Perceptron, datasets
from discrim.errors import ParameterError

pytestmark = pytest.mark.every_version


def iris(classes=3):
    X, y = datasets.load_iris().xy
    y = np.unique(y, return_inverse=True)[1]
    return X[y < classes], y[y < classes]


def test_classes_that_compete_follow_the_rule_of_winner_and_own_class():
    X, y = iris()
    X = X - X.mean(axis=0)
    w, updates = np.zeros((3, 5)), 0
    for _ in range(4):
        for row, k in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
            scores = w @ row
            others = np.where(np.arange(3) == k, -np.inf, scores)
            if not scores[k] > others.max():
                w[k] += row
                w[others.argmax()] -= row
                updates += 1
    model = Perceptron(multi_class="multinomial", shuffle=False, max_iter=4, tol=None).fit(X, y)
    assert_allclose(model.coef_, w[:, :4], atol=1e-10)
    assert_allclose(model.intercept_, w[:, 4], atol=1e-10)
    assert model.n_updates_ == 2 * updates
    two = Perceptron(multi_class="multinomial", shuffle=False, max_iter=4, tol=None).fit(X[:100], y[:100])
    assert_allclose(two.coef_, Perceptron(shuffle=False, max_iter=4, tol=None).fit(X[:100], y[:100]).coef_)


def test_the_average_is_the_mean_of_all_weights():
    X, y = iris(2)
    w, way = np.zeros(5), []
    for row, sign in zip(np.column_stack([X, np.ones(100)]), 2.0 * y - 1, strict=True):
        w = w + sign * row if sign * (w @ row) <= 0 else w
        way.append(w)
    model = Perceptron(average=True, shuffle=False, max_iter=1, tol=None).fit(X, y)
    assert_allclose(np.append(model.coef_, model.intercept_), np.mean(way, axis=0), rtol=1e-10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"multi_class": "softmax"}, "The 'multi_class' parameter"),
        ({"multi_class": "multinomial", "penalty": "l1"}, "neither penalty nor early_stopping"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_named(options, words):
    with pytest.raises(ParameterError, match=words):
        Perceptron(**options).fit(*iris())


@pytest.mark.parametrize("gone", ["rule", "pocket", "normalize_weights", "normalize_rows", "trace"])
def test_the_rules_of_the_textbooks_are_another_estimator(gone):
    assert gone not in Perceptron().get_params()
    assert "RosenblattPerceptron" in Perceptron.__doc__
    with pytest.raises(TypeError, match=gone):
        Perceptron(**{gone: True})
