"""Rome: Fisher's direction, the least-squares direction, and the Gaussian threshold on the projection."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.stats import norm

from discrim import LeastSquaresClassifier, LinearDiscriminantAnalysis
from discrim.datasets import load_crabs, load_iris


def iris_pair():
    X, y = load_iris().xy
    # Unequal classes: 50 versicolor, 35 virginica.
    return X[50:135], y[50:135]


def crab_sexes():
    crabs = load_crabs()
    return crabs.data, crabs.extra["sex"]


@pytest.fixture(params=[iris_pair, crab_sexes])
def case(request):
    X, y = request.param()
    first, second = np.unique(y)
    return X, y, X[y == first], X[y == second]


def unit(v):
    v = np.ravel(v)
    return v / np.linalg.norm(v)


def fisher_direction(X1, X2):
    """S_W^-1 (m2 - m1) by its definition."""
    S_W = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (X1, X2))
    return np.linalg.solve(S_W, X2.mean(axis=0) - X1.mean(axis=0))


def test_fishers_direction_is_the_within_scatter_solved_for_the_difference_of_means(case):
    X, y, X1, X2 = case
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(unit(model.fisher().direction), unit(fisher_direction(X1, X2)), atol=1e-10)


def test_no_nearby_direction_separates_better_by_fishers_criterion(case):
    X, y, X1, X2 = case

    def criterion(w):
        y1, y2 = X1 @ w, X2 @ w
        spread = ((y1 - y1.mean()) ** 2).sum() + ((y2 - y2.mean()) ** 2).sum()
        return (y2.mean() - y1.mean()) ** 2 / spread

    w = unit(LinearDiscriminantAnalysis().fit(X, y).fisher().direction)
    best = criterion(w)
    for step in np.random.default_rng(0).normal(size=(50, len(w))):
        assert criterion(w + 0.01 * step) < best


def test_the_least_squares_direction_is_the_lda_direction(case):
    X, y, _, _ = case
    lda = LinearDiscriminantAnalysis().fit(X, y)
    least_squares = LeastSquaresClassifier().fit(X, y)
    assert_allclose(unit(np.diff(least_squares.coef_, axis=0)), unit(lda.coef_), atol=1e-9)


def test_the_threshold_is_where_the_weighted_gaussians_of_the_projections_cross(case):
    X, y, X1, X2 = case
    rule = LinearDiscriminantAnalysis().fit(X, y).fisher()
    y1, y2 = X1 @ np.ravel(rule.direction), X2 @ np.ravel(rule.direction)

    def advantage(t):
        second = np.log(len(y2)) + norm.logpdf(t, y2.mean(), y2.std(ddof=1))
        return second - np.log(len(y1)) - norm.logpdf(t, y1.mean(), y1.std(ddof=1))

    expected = brentq(advantage, y1.mean(), y2.mean(), xtol=1e-14, rtol=1e-14)
    assert rule.threshold == pytest.approx(expected, rel=1e-9)
    # The lecture asks for the smallest y that class 2 wins from; between the means that is the crossing.
    grid = np.linspace(y1.mean(), y2.mean(), 2001)
    assert grid[np.argmax(advantage(grid) > 0)] == pytest.approx(expected, abs=grid[1] - grid[0])
