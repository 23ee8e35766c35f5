"""Data and settings that several of these files use."""

import numpy as np
import pytest
from sklearn.base import clone

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)

# One of each kind of solution that needs the statistic only.
MODELS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage=0.3),
    LinearDiscriminantAnalysis(shrinkage=0.3, target="diagonal", normalization="unbiased"),
    LinearDiscriminantAnalysis(shrinkage="oas"),
    LinearDiscriminantAnalysis(shrinkage="nonlinear"),
    LinearDiscriminantAnalysis(solver="eigen", priors=[0.2, 0.3, 0.5]),
    QuadraticDiscriminantAnalysis(reg_param=0.2),
    QuadraticDiscriminantAnalysis(shrinkage=0.2, normalization="unbiased"),
    QuadraticDiscriminantAnalysis(shrinkage=0.2, target="diagonal"),
    QuadraticDiscriminantAnalysis(shrinkage="oas"),
    RegularizedDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(0.5, 0.5),
    RegularizedDiscriminantAnalysis(0.3, 0.4, target="diagonal", priors=[0.2, 0.3, 0.5]),
    BayesianQuadraticDiscriminantAnalysis(),
    BayesianQuadraticDiscriminantAnalysis(2.0, 45, target="identity", priors=[0.2, 0.3, 0.5]),
    BayesianQuadraticDiscriminantAnalysis(nu="evidence", class_prior_alpha=1.0),
    BayesianLinearDiscriminantAnalysis(),
    BayesianLinearDiscriminantAnalysis(0.5),
    BayesianLinearDiscriminantAnalysis(nu="evidence", target="identity"),
    GaussianNB(methods="all"),
    GaussianNB(var_smoothing=1e-3, normalization="unbiased", methods="all"),
    LeastSquaresClassifier(),
    LeastSquaresClassifier(priors=[0.2, 0.3, 0.5]),
    RidgeClassifier(methods="all"),
    RidgeClassifier(positive=True, methods="all"),
    RidgeClassifier(fit_intercept=False, methods="all"),
    RidgeClassifier(class_weight="balanced", methods="all"),
]


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    """Each model, not yet fitted."""
    return clone(request.param)


def sample(n, p, classes=3):
    """Correlated columns about three class means, rows in random order, and weights."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % classes)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 3 * rng.normal(size=p) + 0.5 * y[:, None]
    return X, y, rng.uniform(0.5, 2.0, n)


@pytest.fixture(params=[(60, 4), (18, 40)], ids=["long", "wide"])
def rows(request):
    """X, y and weights: more rows than columns, and the other way round."""
    return sample(*request.param)


@pytest.fixture
def long_rows():
    return sample(60, 4)


def largest_gap(found, expected, X):
    """The largest difference of posteriors, their logarithms and scores, relative to the largest number."""
    gaps = []
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        a, b = getattr(found, method)(X), getattr(expected, method)(X)
        assert a.shape == b.shape
        gaps.append(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
    return max(gaps)


@pytest.fixture
def gap():
    return largest_gap
