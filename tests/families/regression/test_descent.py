"""The lasso on normal equations: its optimality conditions, closed forms, and the two ways to it."""

import numpy as np
import pytest

from discrim.families.gaussian.covariance import Within
from discrim.families.regression import lasso as module
from discrim.families.regression.lasso import alpha_grid, lasso, lasso_path
from discrim.parallel import one_blas_thread

pytestmark = pytest.mark.every_version


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """As the models call it: products this small are slower on several threads."""
    with one_blas_thread():
        yield


def problem(n=80, p=12, seed=0, targets=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    x -= x.mean(axis=0)
    y = np.sign(x[:, :targets] + rng.normal(size=(n, targets)))
    return x, y - y.mean(axis=0)


def as_matrix(x):
    return Within(x.T @ x / len(x), np.zeros(x.shape[1]), np.finfo(float).eps)


def as_rows(x):
    return Within(x / np.sqrt(len(x)), np.zeros(x.shape[1]), np.finfo(float).eps, thin=True)


def violation(x, y, b, alpha):
    """How far each coefficient is from the condition x'(y - x b) / n = alpha sign(b), or within alpha for zero."""
    slope = x.T @ (y - x @ b) / len(x)
    return np.where(b != 0, np.abs(slope - alpha * np.sign(b)), np.maximum(np.abs(slope) - alpha, 0.0)).max()


@pytest.mark.parametrize("alpha", [0.3, 0.01, 1e-4])
@pytest.mark.parametrize("form", [as_matrix, as_rows])
def test_the_optimality_conditions_hold(form, alpha):
    x, y = problem()
    coef, converged = lasso(form(x), x.T @ y / len(x), alpha)
    assert converged
    assert violation(x, y, coef, alpha) < 1e-11


@pytest.mark.parametrize("shape", [(300, 60), (40, 200)])
@pytest.mark.parametrize("form", [as_matrix, as_rows])
def test_a_working_set_finds_what_all_columns_at_once_find(form, shape, monkeypatch):
    x, y = problem(*shape)
    at_once = lasso(form(x), x.T @ y / len(x), 0.05)[0]
    monkeypatch.setattr(module, "DIRECT", 10)
    monkeypatch.setattr(module, "JOIN", 5)
    by_parts, _ = lasso(form(x), x.T @ y / len(x), 0.05)
    np.testing.assert_allclose(by_parts, at_once, atol=1e-10)
    assert violation(x, y, by_parts, 0.05) < 1e-10


@pytest.mark.parametrize("direct", [10, 500])
def test_a_path_is_the_solutions_one_by_one(direct, monkeypatch):
    x, y = problem(60, 40)
    monkeypatch.setattr(module, "DIRECT", direct)
    cross = x.T @ y / len(x)
    alphas = alpha_grid(cross, 20)
    coef, converged = lasso_path(as_matrix(x), cross, alphas)
    assert converged
    assert (coef[0] == 0).all()
    assert (coef[1] != 0).sum() >= 1
    for i, alpha in enumerate(alphas):
        assert violation(x, y, coef[i], alpha) < 1e-10


def test_orthogonal_columns_are_thresholded_one_by_one():
    x = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 4)))[0] * np.sqrt(50)
    y = np.random.default_rng(1).normal(size=(50, 1))
    plain = x.T @ y / 50
    np.testing.assert_allclose(
        lasso(as_matrix(x), plain, 0.1)[0], np.sign(plain) * np.maximum(np.abs(plain) - 0.1, 0), atol=1e-14
    )


def test_a_column_whose_variance_is_rounding_gets_nothing():
    x, y = problem(p=3)
    noisy = np.column_stack([x, 1e-9 * x[:, 0]])
    spread = Within(noisy.T @ noisy / len(x), np.array([0, 0, 0, 1e-8]), np.finfo(float).eps)
    coef = lasso(spread, noisy.T @ y / len(x), 1e-12)[0]
    assert (coef[3] == 0).all()


def test_a_grid_for_targets_that_say_nothing_is_still_a_grid():
    grid = alpha_grid(np.zeros((3, 1)))
    assert (np.diff(grid) < 0).all()
    assert (grid > 0).all()


def speech(n=168, p=751, seed=0):
    """Groups of columns that nearly repeat each other, most with long tails, in units from 1e-21 to 1e9."""
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < 0.7).astype(float)
    sources = rng.normal(size=(n, 60))
    sources[:, :10] += 0.5 * label[:, None]
    near = 10.0 ** rng.uniform(-6, 0, size=p)
    x = sources[:, rng.integers(60, size=p)] * rng.uniform(0.5, 1.5, size=p) + near * rng.normal(size=(n, p))
    tailed = rng.random(p) < 0.6
    x[:, tailed] = np.exp(rng.uniform(0.3, 2, size=tailed.sum()) * x[:, tailed])
    x *= 10.0 ** rng.uniform(-21, 9, size=p)
    y = 2 * label[:, None] - 1
    return x - x.mean(axis=0), y - y.mean(axis=0)


@pytest.mark.parametrize("form", [as_matrix, as_rows])
def test_a_path_in_units_of_all_sizes_takes_few_sweeps_and_stays_sound_to_its_end(form, monkeypatch):
    x, y = speech()
    sweeps = []
    descent = module.kernels.gram_descent

    def counted(*arguments):
        found = descent(*arguments)
        sweeps.append(found[1])
        return found

    monkeypatch.setattr(module.kernels, "gram_descent", counted)
    cross = x.T @ y / len(x)
    alphas = np.abs(cross).max() * 10.0 ** -np.arange(0, 21, 0.25)
    coef, _ = lasso_path(form(x), cross, alphas)
    assert sum(sweeps) < 10_000
    left = np.array([np.square(y - x @ b).mean() / np.square(y).mean() for b in coef])
    assert (np.diff(left) <= 1e-9).all()
    assert left[-1] < 1e-6


@pytest.mark.parametrize("alpha", [1e8, 1.0, 1e-4])
def test_the_optimality_conditions_hold_in_units_of_all_sizes(alpha):
    x, y = speech()
    coef, converged = lasso(as_rows(x), x.T @ y / len(x), alpha)
    assert converged
    size = x.std(axis=0)
    assert violation(x / size, y, coef * size[:, None], alpha / size[:, None]) < 1e-9


def test_an_alpha_below_rounding_gives_the_coefficients_of_a_larger_one():
    x, y = speech()
    coef, converged = lasso(as_rows(x), x.T @ y / len(x), 1e-12)
    assert not converged
    assert np.square(y - x @ coef).mean() < 1e-6
