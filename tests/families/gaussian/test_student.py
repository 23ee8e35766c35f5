"""The predictive density is the Gaussian density averaged over the posterior: by quadrature and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import invgamma, invwishart, multivariate_normal, norm

from discrim import BayesianLinearDiscriminantAnalysis, BayesianQuadraticDiscriminantAnalysis

BQ, BL = BayesianQuadraticDiscriminantAnalysis, BayesianLinearDiscriminantAnalysis


def two_classes(p, sizes=(4, 9), seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], sizes)
    return rng.normal(size=(len(y), p)) @ rng.normal(size=(p, p)) + y[:, None], y


@pytest.mark.parametrize("kind", [BQ, BL])
@pytest.mark.parametrize("nu", [0.5, 3.0])
def test_the_density_of_one_column_is_an_integral_over_its_variance(kind, nu):
    X, y = two_classes(1)
    psi, new = 0.8, np.array([[-2.0], [0.1], [5.0]])
    found = kind(psi, nu, target="identity").fit(X, y).log_density(new)
    scatters = [np.square(X[y == k] - X[y == k].mean()).sum() for k in (0, 1)]
    for k in (0, 1):
        own, scatter, m = X[y == k], scatters[k], (y == k).sum() - 1
        if kind is BL:
            scatter, m = sum(scatters), len(y) - 2
        variance = invgamma((nu + m) / 2, scale=(psi + scatter) / 2)
        for i, x in enumerate(new[:, 0]):

            def joint(v, x=x, own=own, variance=variance):
                # The mean is N(own mean, v / n) given the variance, and a new row is N(mean, v).
                return norm.pdf(x, own.mean(), np.sqrt(v * (1 + 1 / len(own)))) * variance.pdf(v)

            expected = integrate.quad(joint, 0, np.inf, epsabs=1e-13, limit=200)[0]
            assert np.exp(found[i, k]) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("kind", [BQ, BL])
def test_the_density_of_two_columns_is_a_mean_over_drawn_covariances_and_means(kind):
    X, y = two_classes(2, (5, 12))
    model = kind(1.5, 4.0, target="identity").fit(X, y)
    new = np.array([[0.5, 0.0], [2.0, -1.0]])
    found, rng = np.exp(model.log_density(new)), np.random.default_rng(3)
    for k in (0, 1):
        posterior = model.posterior(k)
        sigmas = invwishart(posterior.nu, posterior.scale).rvs(20_000, random_state=rng)
        roots = np.linalg.cholesky(sigmas / posterior.weight)
        means = posterior.mean + np.einsum("sij,sj->si", roots, rng.normal(size=(20_000, 2)))
        inverse, log_det = np.linalg.inv(sigmas), np.linalg.slogdet(sigmas)[1]
        for i, x in enumerate(new):
            d = x - means
            drawn = np.exp(-0.5 * (np.einsum("si,sij,sj->s", d, inverse, d) + log_det)) / (2 * np.pi)
            assert abs(drawn.mean() - found[i, k]) < 4 * drawn.std() / np.sqrt(len(drawn))


def test_the_densities_integrate_to_one():
    X, y = two_classes(1, (2, 6))
    model = BQ(0.5, 2.0, target="identity").fit(X, y)
    for k in (0, 1):
        total = integrate.quad(lambda x, k=k: np.exp(model.log_density([[x]])[0, k]), -np.inf, np.inf)[0]
        assert total == pytest.approx(1.0, abs=1e-7)


def test_many_rows_make_it_the_gaussian_density():
    X, y = two_classes(2, (40_000, 60_000))
    model, new = BQ().fit(X, y), X[:5]
    for k in (0, 1):
        own = X[y == k]
        expected = multivariate_normal(own.mean(axis=0), np.cov(own.T)).logpdf(new)
        np.testing.assert_allclose(model.log_density(new)[:, k], expected, atol=1e-3)
