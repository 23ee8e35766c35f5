"""More columns than rows: the numbers of the dense formulas, without a matrix of columns by columns."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf, oas

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
from discrim.errors import SingularClassError

N, P, K = 20, 40, 3
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(N) % K)
X = RNG.normal(size=(N, P)) * np.exp(RNG.normal(size=P)) + RNG.normal(size=P) + 0.3 * Y[:, None]
NEW = RNG.normal(size=(7, P))
SHARES = np.bincount(Y) / N
MEANS = np.array([X[k == Y].mean(axis=0) for k in range(K)])
EACH = np.array([np.cov(X[k == Y].T, bias=True) for k in range(K)])
POOLED = np.einsum("k,kij->ij", SHARES, EACH)


def identity(sigma):
    return np.trace(sigma) / P * np.eye(P)


def diagonal(sigma):
    return np.diag(np.diag(sigma))


def shrunk(sigma, s, target=identity):
    return (1 - s) * sigma + s * target(sigma)


def rda(alpha, gamma, target=identity):
    return [shrunk(alpha * sigma + (1 - alpha) * POOLED, 1 - gamma, target) for sigma in EACH]


def log_posterior(sigmas):
    """Gaussian log posteriors of NEW with explicit inverses; pseudo-inverses for matrices of low rank."""
    scores = []
    for k, sigma in enumerate(sigmas):
        values, vectors = np.linalg.eigh(sigma)
        keep = values > 1e-10 * values[-1]
        z = (NEW - MEANS[k]) @ vectors[:, keep]
        scores.append(np.log(SHARES[k]) - 0.5 * np.log(values[keep]).sum() - 0.5 * (z**2 / values[keep]).sum(axis=1))
    return special.log_softmax(np.array(scores).T, axis=1)


def of_classes(estimate):
    return [estimate(X[k == Y]) for k in range(K)]


def standardised(estimate):
    def of(x):
        scale = x.std(axis=0)
        return scale[:, None] * estimate(x / scale) * scale

    return of


def mixed(sigmas):
    return np.einsum("k,kij->ij", SHARES, np.array(sigmas))


def lw(x):
    return ledoit_wolf(x)[0]


def chen(x):
    return oas(x)[0]


GAUSSIAN = [
    (LinearDiscriminantAnalysis(shrinkage=0.3), [shrunk(POOLED, 0.3)] * K),
    (LinearDiscriminantAnalysis(shrinkage=0.3, target="diagonal"), [shrunk(POOLED, 0.3, diagonal)] * K),
    (LinearDiscriminantAnalysis(shrinkage="ledoit-wolf"), [mixed(of_classes(lw))] * K),
    (LinearDiscriminantAnalysis(shrinkage="auto"), [mixed(of_classes(standardised(lw)))] * K),
    (LinearDiscriminantAnalysis(shrinkage="oas"), [mixed(of_classes(chen))] * K),
    (LinearDiscriminantAnalysis(shrinkage=1e-4), [shrunk(POOLED, 1e-4)] * K),
    (QuadraticDiscriminantAnalysis(reg_param=0.1), [0.9 * sigma + 0.1 * np.eye(P) for sigma in EACH]),
    (QuadraticDiscriminantAnalysis(shrinkage=0.2), [shrunk(sigma, 0.2) for sigma in EACH]),
    (QuadraticDiscriminantAnalysis(shrinkage=0.2, target="diagonal"), [shrunk(sigma, 0.2, diagonal) for sigma in EACH]),
    (QuadraticDiscriminantAnalysis(shrinkage="ledoit-wolf"), of_classes(lw)),
    (QuadraticDiscriminantAnalysis(shrinkage="auto"), of_classes(standardised(lw))),
    (QuadraticDiscriminantAnalysis(shrinkage="oas"), of_classes(chen)),
    (
        QuadraticDiscriminantAnalysis(shrinkage="auto", reg_param=0.1),
        [0.9 * s + 0.1 * np.eye(P) for s in of_classes(standardised(lw))],
    ),
    (RegularizedDiscriminantAnalysis(0.3, 0.6), rda(0.3, 0.6)),
    (RegularizedDiscriminantAnalysis(0.3, 0.6, target="diagonal"), rda(0.3, 0.6, diagonal)),
    (RegularizedDiscriminantAnalysis(1.0, 0.0, target="diagonal"), rda(1.0, 0.0, diagonal)),
    (RegularizedDiscriminantAnalysis(0.0, 0.0), rda(0.0, 0.0)),
    (GaussianNB(var_smoothing=0.0, methods="all"), rda(1.0, 0.0, diagonal)),
]  # fmt: skip


@pytest.mark.parametrize(("model", "sigmas"), GAUSSIAN, ids=[str(model) for model, _ in GAUSSIAN])
def test_gaussian_models_are_those_of_the_dense_formulas(model, sigmas):
    found = clone(model).fit(X, Y)
    expected = log_posterior(sigmas)
    assert_allclose(found.predict_log_proba(NEW), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(found.predict_proba(NEW), np.exp(expected), atol=1e-9)


@pytest.mark.parametrize("model", [m for m, _ in GAUSSIAN if isinstance(m, QuadraticDiscriminantAnalysis)], ids=str)
def test_the_covariances_themselves_can_be_had(model):
    sigmas = {str(m): s for m, s in GAUSSIAN}[str(model)]
    found = clone(model).set_params(store_covariance=True).fit(X, Y)
    assert_allclose(found.covariance_, sigmas, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.4, 0.9])
def test_without_gamma_the_pooled_null_space_is_left_out(alpha):
    """For alpha < 1 all Sigma_k(alpha) have the null space of Sigma: compare inside its span.

    Which directions of the span are orthonormal is a matter of units; here columns are scaled first, so the
    dense side is computed in units of the pooled deviations. The determinants' units cancel between classes.
    """
    scale = np.sqrt(np.diag(POOLED))
    vectors = np.linalg.svd(POOLED / np.outer(scale, scale))[0][:, : N - K]
    scores = []
    for k, sigma in enumerate(rda(alpha, 1.0)):
        inside = vectors.T @ (sigma / np.outer(scale, scale)) @ vectors
        z = ((NEW - MEANS[k]) / scale) @ vectors
        distance = np.einsum("ij,jk,ik->i", z, np.linalg.inv(inside), z)
        scores.append(np.log(SHARES[k]) - 0.5 * np.linalg.slogdet(inside)[1] - 0.5 * distance)
    found = RegularizedDiscriminantAnalysis(alpha, 1.0).fit(X, Y).predict_log_proba(NEW)
    assert_allclose(found, special.log_softmax(np.array(scores).T, axis=1), rtol=1e-8, atol=1e-8)


def test_lda_without_shrinkage_is_the_pseudo_inverse_of_the_scaled_covariance():
    scale = np.sqrt(np.diag(POOLED))
    inverse = np.linalg.pinv(POOLED / np.outer(scale, scale), rcond=1e-10, hermitian=True) / np.outer(scale, scale)
    scores = NEW @ inverse @ MEANS.T - 0.5 * np.einsum("ki,ij,kj->k", MEANS, inverse, MEANS) + np.log(SHARES)
    found = LinearDiscriminantAnalysis().fit(X, Y).predict_log_proba(NEW)
    assert_allclose(found, special.log_softmax(scores, axis=1), rtol=1e-9, atol=1e-9)


class TestRegression:
    indicators = np.eye(K)[Y]
    centred = X - X.mean(axis=0)

    def test_least_squares_has_the_shortest_coefficients_in_scaled_columns(self):
        scale = self.centred.std(axis=0)
        coef = np.linalg.lstsq(self.centred / scale, self.indicators - SHARES, rcond=None)[0] / scale[:, None]
        model = LeastSquaresClassifier().fit(X, Y)
        assert_allclose(model.coef_, coef.T, atol=1e-9)
        assert_allclose(model.decision_function(X), self.indicators, atol=1e-9)  # so many columns fit anything

    @pytest.mark.parametrize("alpha", [1.0, 1e-4, 1e4])
    def test_ridge(self, alpha):
        cross = self.centred.T @ (2 * self.indicators - 1)
        coef = np.linalg.solve(self.centred.T @ self.centred + alpha * np.eye(P), cross)
        assert_allclose(RidgeClassifier(alpha=alpha, methods="all").fit(X, Y).coef_, coef.T, rtol=1e-7, atol=1e-9)

    def test_ridge_without_intercept(self):
        coef = np.linalg.solve(X.T @ X + np.eye(P), X.T @ (2 * self.indicators - 1))
        assert_allclose(RidgeClassifier(fit_intercept=False).fit(X, Y).coef_, coef.T, rtol=1e-8, atol=1e-10)

    def test_ridge_without_negative_coefficients(self):
        stacked = np.vstack([self.centred, np.eye(P)])
        found = RidgeClassifier(positive=True, methods="all").fit(X, Y).coef_
        for k in range(K):
            target = 2 * self.indicators[:, k] - 1
            expected, _ = nnls(stacked, np.concatenate([target - target.mean(), np.zeros(P)]))
            assert_allclose(found[k], expected, atol=1e-10)


SETTINGS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage=0.3),
    LinearDiscriminantAnalysis(shrinkage="auto"),
    LinearDiscriminantAnalysis(shrinkage="nonlinear"),
    LinearDiscriminantAnalysis(shrinkage=0.2, target="diagonal"),
    LinearDiscriminantAnalysis(solver="eigen", priors=[0.3, 0.7]),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    QuadraticDiscriminantAnalysis(shrinkage="auto"),
    QuadraticDiscriminantAnalysis(shrinkage=0.2, target="diagonal"),
    RegularizedDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(0.5, 0.5),
    RegularizedDiscriminantAnalysis(0.5, 0.5, target="diagonal"),
    RegularizedDiscriminantAnalysis("cv", "cv", cv=3),
    BayesianQuadraticDiscriminantAnalysis(),
    BayesianQuadraticDiscriminantAnalysis("loo", "loo", target="identity"),
    BayesianLinearDiscriminantAnalysis(),
    BayesianLinearDiscriminantAnalysis(nu="evidence", target="identity"),
    GaussianNB(methods="all"),
    LeastSquaresClassifier(),
    RidgeClassifier(methods="all"),
    RidgeClassifier(alpha=0.0, methods="all"),
    RidgeClassifier(positive=True, methods="all"),
    RidgeClassifier(class_weight="balanced", methods="all"),
]


@pytest.mark.parametrize("model", SETTINGS, ids=str)
def test_nothing_of_columns_by_columns_is_made(model):
    """30 x 3000: X has 0.7 MB, a matrix of columns by columns 72 MB."""
    rng = np.random.default_rng(0)
    wide, labels = rng.normal(size=(30, 3000)), np.arange(30) % 2
    found = clone(model)
    tracemalloc.start()
    try:
        found.fit(wide, labels)
        found.predict_proba(wide)
        found.summary()
        if isinstance(found, LinearDiscriminantAnalysis):
            found.transform(wide)
            assert found.structure_.shape == (3000, 1)
            found.fisher()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage=0.3, target="diagonal"),
        RegularizedDiscriminantAnalysis(),
        RegularizedDiscriminantAnalysis(0.5, 0.5, target="diagonal"),
        BayesianQuadraticDiscriminantAnalysis(),
        BayesianLinearDiscriminantAnalysis(),
        GaussianNB(methods="all"),
        LeastSquaresClassifier(),
        RidgeClassifier(methods="all"),
    ],
    ids=str,
)
def test_a_column_without_variance_says_nothing(model):
    """The identity target counts every column, also this one; all others give the answer without it."""
    constant, new = X.copy(), NEW.copy()
    constant[:, 3] = new[:, 3] = 7.0
    found, expected = clone(model).fit(constant, Y), clone(model).fit(np.delete(X, 3, axis=1), Y)
    assert_allclose(found.predict_proba(new), expected.predict_proba(np.delete(new, 3, axis=1)), atol=1e-9)


def test_a_constant_column_that_a_diagonal_target_cannot_fill_is_an_error():
    constant = X.copy()
    constant[:, 3] = 7.0
    with pytest.raises(SingularClassError, match=r"class 0 is not full rank.*the columns 'x3' are constant"):
        QuadraticDiscriminantAnalysis(shrinkage=0.2, target="diagonal").fit(constant, Y)
