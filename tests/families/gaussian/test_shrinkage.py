"""Linear and nonlinear shrinkage of a covariance matrix from its moments."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal, localcontext

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage, oas

from discrim.families.gaussian.shrinkage import (
    covariance_norms,
    ledoit_wolf_intensity,
    nonlinear_eigenvalues,
    oas_intensity,
)


def centred(n, p, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)
    return x - x.mean(axis=0)


@pytest.mark.parametrize(("n", "p"), [(50, 7), (12, 40), (30, 1), (9, 9), (2, 3)])
@pytest.mark.parametrize("side", ["scatter", "gram"])
def test_linear_intensities_equal_scikit_learn_from_either_side(n, p, side):
    x = centred(n, p, seed=n + p)
    trace, frobenius2 = covariance_norms(x.T @ x if side == "scatter" else x @ x.T, n)
    fourth = float(((x**2).sum(axis=1) ** 2).sum())
    expected = ledoit_wolf_shrinkage(x, assume_centered=True)
    assert ledoit_wolf_intensity(n, p, trace, frobenius2, fourth) == pytest.approx(expected, abs=1e-13)
    expected = oas(x, assume_centered=True)[1]
    assert oas_intensity(n, p, trace, frobenius2) == pytest.approx(expected, rel=1e-12)


def test_a_matrix_that_equals_its_target_is_not_divided_by_zero():
    assert ledoit_wolf_intensity(10, 4, 4.0, 4.0, 10 * 4.0) == 0.0
    assert oas_intensity(10, 4, 4.0, 4.0) == 1.0
    assert ledoit_wolf_intensity(10, 4, 0.0, 0.0, 0.0) == 0.0


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def direct_nonlinear(lams, p, n):
    """The published formulas with 50 digits, one eigenvalue at a time; null eigenvalues come first."""
    with localcontext() as context:
        context.prec = 50
        root5, h = Decimal(5).sqrt(), (-Decimal(n).ln() / 3).exp()
        live = [Decimal(float(lam)) for lam in sorted(lams)[max(0, p - n) :]]

        def transform(x):
            log = abs((root5 - x) / (root5 + x)).ln()
            return -3 * x / (10 * PI) + 3 / (4 * root5 * PI) * (1 - x * x / 5) * log

        out = []
        for a in live:
            xs = [(a - b) / (h * b) for b in live]
            f = sum(max(1 - x * x / 5, 0) / (h * b) for x, b in zip(xs, live, strict=True))
            f = 3 / (4 * root5) * f / len(live)
            g = sum(transform(x) / (h * b) for x, b in zip(xs, live, strict=True)) / len(live)
            if p <= n:
                c = Decimal(p) / n
                out.append(a / ((PI * c * a * f) ** 2 + (1 - c - PI * c * a * g) ** 2))
            else:
                out.append(a / (PI**2 * a**2 * (f**2 + g**2)))
        if p > n:
            log = ((1 + root5 * h) / (1 - root5 * h)).ln()
            inner = 3 / (10 * h**2) + 3 / (4 * root5 * h) * (1 - 1 / (5 * h**2)) * log
            at_zero = inner / PI * sum(1 / b for b in live) / len(live)
            out = [1 / (PI * (p - n) / n * at_zero)] * (p - n) + out
        return [float(value) for value in out]


@pytest.mark.parametrize(("n", "p"), [(60, 30), (31, 30), (30, 60), (30, 31), (25, 1)])
def test_nonlinear_shrinkage_equals_the_formulas_written_out(n, p):
    x = np.random.default_rng(p).normal(size=(n, p)) * np.linspace(1, 3, p)
    lams = np.linalg.eigvalsh(x.T @ x / n)
    values, null = nonlinear_eigenvalues(lams, p, n)
    expected = direct_nonlinear(lams.tolist(), p, n)
    np.testing.assert_allclose(values, expected, rtol=1e-10)
    assert (values > 0).all()
    if p > n:
        assert null == pytest.approx(expected[0], rel=1e-9)
        from_gram, same_null = nonlinear_eigenvalues(np.linalg.eigvalsh(x @ x.T / n), p, n)
        np.testing.assert_allclose(from_gram, expected[p - n :], rtol=1e-10)
        assert same_null == pytest.approx(null, rel=1e-9)


@pytest.mark.parametrize(("n", "p"), [(80, 40), (40, 80), (5, 9)])
def test_nonlinear_shrinkage_is_scale_equivariant_and_keeps_the_order_of_its_input(n, p):
    x = centred(n, p, seed=4)
    lams = np.linalg.eigvalsh(x.T @ x / (n - 1))
    values, null = nonlinear_eigenvalues(lams, p, n - 1)
    scaled, scaled_null = nonlinear_eigenvalues(lams * 1e-6, p, n - 1)
    np.testing.assert_allclose(scaled, values * 1e-6, rtol=1e-10)
    assert scaled_null == pytest.approx(null * 1e-6, rel=1e-8)
    order = np.random.default_rng(0).permutation(p)
    np.testing.assert_allclose(nonlinear_eigenvalues(lams[order], p, n - 1)[0], values[order], rtol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(1000, 200), (400, 200)])
def test_a_population_identity_is_nearly_recovered(n, p):
    x = np.random.default_rng(11).normal(size=(n, p))
    lams = np.linalg.eigvalsh(x.T @ x / n)
    values, _ = nonlinear_eigenvalues(lams, p, n)
    assert np.abs(lams - 1).max() > 0.7
    assert np.abs(values - 1).mean() < 0.07
    assert np.mean((values - 1) ** 2) < 0.03 * np.mean((lams - 1) ** 2)


@pytest.mark.parametrize(("n", "p"), [(200, 100), (100, 200)])
def test_nonlinear_shrinkage_loses_less_than_linear_shrinkage(n, p):
    sigma = np.repeat([1.0, 10.0], [p * 3 // 5, p * 2 // 5])
    rng = np.random.default_rng(5)
    linear, nonlinear = 0.0, 0.0
    for _ in range(5):
        x = rng.normal(size=(n, p)) * np.sqrt(sigma)
        cov = x.T @ x / n
        s = ledoit_wolf_shrinkage(x, assume_centered=True)
        linear += np.sum(((1 - s) * cov + s * np.trace(cov) / p * np.eye(p) - np.diag(sigma)) ** 2)
        lams, v = np.linalg.eigh(cov)
        nonlinear += np.sum(((v * nonlinear_eigenvalues(lams, p, n)[0]) @ v.T - np.diag(sigma)) ** 2)
    assert nonlinear < 0.95 * linear


def test_dependent_columns_are_left_out_of_the_estimate():
    x = centred(40, 6, seed=1)
    lams = np.linalg.eigvalsh(x.T @ x / 39)
    inside, _ = nonlinear_eigenvalues(lams, 6, 39)
    values, null = nonlinear_eigenvalues(np.concatenate([np.zeros(3), lams]), 9, 39)
    np.testing.assert_allclose(values, np.concatenate([np.zeros(3), inside]), rtol=1e-12)
    assert null == 0.0


def test_edges_of_the_kernel_and_zero_matrices_give_no_warning():
    n = 64
    edge = 1.0 + math.sqrt(5) * n ** (-1 / 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values, _ = nonlinear_eigenvalues(np.array([1.0, edge]), 2, n)
        nothing, null = nonlinear_eigenvalues(np.zeros(4), 4, n)
        equal, _ = nonlinear_eigenvalues(np.ones(4), 4, n)
    assert np.isfinite(values).all()
    assert not nothing.any()
    assert null == 0.0
    assert (equal > 0).all()
