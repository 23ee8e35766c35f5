"""The lasso on normal equations: its optimality conditions, closed forms, and the two ways to it."""

import numpy as np
import pytest

from discrim.solvers import lasso as module
from discrim.solvers.lasso import alpha_grid, lasso, lasso_path
from discrim.solvers.within import Within

pytestmark = pytest.mark.every_version


def problem(n=80, p=12, seed=0, targets=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    x -= x.mean(axis=0)
    y = np.sign(x[:, :targets] + rng.normal(size=(n, targets)))
    return x, y - y.mean(axis=0)


def as_matrix(x):
    return Within(x.T @ x / len(x), None, np.zeros(x.shape[1]), np.finfo(float).eps)


def as_rows(x):
    return Within(None, x / np.sqrt(len(x)), np.zeros(x.shape[1]), np.finfo(float).eps)


def violation(x, y, b, alpha):
    """How far each coefficient is from the condition x'(y - x b) / n = alpha sign(b), or within alpha for zero."""
    slope = x.T @ (y - x @ b) / len(x)
    return np.where(b != 0, np.abs(slope - alpha * np.sign(b)), np.maximum(np.abs(slope) - alpha, 0.0)).max()


@pytest.mark.parametrize("alpha", [0.3, 0.01, 1e-4])
@pytest.mark.parametrize("form", [as_matrix, as_rows])
def test_the_optimality_conditions_hold(form, alpha):
    x, y = problem()
    solution = lasso(form(x), x.T @ y / len(x), alpha)
    assert solution.converged
    assert violation(x, y, solution.coef, alpha) < 1e-11


@pytest.mark.parametrize("shape", [(300, 60), (40, 200)])
@pytest.mark.parametrize("form", [as_matrix, as_rows])
def test_a_working_set_finds_what_all_columns_at_once_find(form, shape, monkeypatch):
    x, y = problem(*shape)
    at_once = lasso(form(x), x.T @ y / len(x), 0.05).coef
    monkeypatch.setattr(module, "DIRECT", 10)
    monkeypatch.setattr(module, "JOIN", 5)
    by_parts = lasso(form(x), x.T @ y / len(x), 0.05)
    np.testing.assert_allclose(by_parts.coef, at_once, atol=1e-10)
    assert violation(x, y, by_parts.coef, 0.05) < 1e-10


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
        lasso(as_matrix(x), plain, 0.1).coef, np.sign(plain) * np.maximum(np.abs(plain) - 0.1, 0), atol=1e-14
    )


def test_a_column_whose_variance_is_rounding_gets_nothing():
    x, y = problem(p=3)
    noisy = np.column_stack([x, 1e-9 * x[:, 0]])
    spread = Within(noisy.T @ noisy / len(x), None, np.array([0, 0, 0, 1e-8]), np.finfo(float).eps)
    coef = lasso(spread, noisy.T @ y / len(x), 1e-12).coef
    assert (coef[3] == 0).all()


def test_a_grid_for_targets_that_say_nothing_is_still_a_grid():
    grid = alpha_grid(np.zeros((3, 1)))
    assert (np.diff(grid) < 0).all()
    assert (grid > 0).all()
