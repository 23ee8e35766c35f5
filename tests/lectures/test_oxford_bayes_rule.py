"""Oxford MS1b: the Bayes rule in one dimension with known densities.

Class 1 is N(-1, 1) and class 2 is N(1, 1/9), standard deviation 1/3, with equal priors. Class 2 wins where
log 3 - 9/2 (x-1)^2 + 1/2 (x+1)^2 > 0, that is strictly between the roots (5 -+ sqrt(9 + 4 log 3))/4 of
-4 x^2 + 10 x - 4 + log 3: the interval [0.335, 2.165].

The lecture prints [-0.39, 2.15]. Its left end cannot be meant: the ends of such an interval add up to
2 (1 + 1/s^2)/(1/s^2 - 1) > 2 for every standard deviation s < 1 of class 2 and all priors, and those add
up to 1.76. At x = -0.39 the density of class 1 is over a thousand times that of class 2.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import norm

from discrim import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

HALF_WIDTH = np.sqrt(9 + 4 * np.log(3)) / 4
LEFT, RIGHT = 1.25 - HALF_WIDTH, 1.25 + HALF_WIDTH


@pytest.fixture(scope="module")
def rule():
    # Two rows at mu -+ sigma have mean mu and maximum-likelihood variance sigma^2 exactly.
    X = np.array([-1 - 1.0, -1 + 1.0, 1 - 1 / 3, 1 + 1 / 3])[:, None]
    return QuadraticDiscriminantAnalysis(normalization="mle").fit(X, [1, 1, 2, 2])


def test_class_two_wins_exactly_between_the_two_roots(rule):
    inside = np.linspace(LEFT + 1e-9, RIGHT - 1e-9, 1001)[:, None]
    outside = np.concatenate([np.linspace(-9, LEFT - 1e-9, 1001), np.linspace(RIGHT + 1e-9, 9, 1001)])[:, None]
    assert_array_equal(rule.predict(inside), 2)
    assert_array_equal(rule.predict(outside), 1)


def test_the_two_classes_are_equally_likely_at_the_roots(rule):
    assert rule.predict_proba([[LEFT], [RIGHT]]) == pytest.approx(0.5, abs=1e-12)


def test_posteriors_are_the_ratio_of_the_known_densities(rule):
    x = np.linspace(-4, 4, 81)
    first, second = norm.pdf(x, -1, 1), norm.pdf(x, 1, 1 / 3)
    np.testing.assert_allclose(rule.predict_proba(x[:, None])[:, 1], second / (first + second), rtol=1e-10)


def test_the_printed_right_end_is_the_root_and_the_printed_left_end_belongs_to_class_one(rule):
    assert pytest.approx(2.15, abs=0.02) == RIGHT
    assert pytest.approx(0.335, abs=5e-4) == LEFT
    assert rule.predict([[-0.39]]) == 1
    assert norm.pdf(-0.39, -1, 1) > 1000 * norm.pdf(-0.39, 1, 1 / 3)


def test_with_equal_deviations_the_boundary_is_zero():
    model = LinearDiscriminantAnalysis(normalization="mle").fit([[-2.0], [0.0], [0.0], [2.0]], [1, 1, 2, 2])
    assert model.predict([[0.1]]) == 2
    assert model.predict([[-0.1]]) == 1
    assert model.predict_proba([[0.0]]) == pytest.approx(0.5)
