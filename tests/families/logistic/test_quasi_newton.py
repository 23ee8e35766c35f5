"""L-BFGS with a good first curvature reaches the minimum that Newton reaches, from gradients alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discrim.engines import RowPasses
from discrim.families.logistic.objective import Coordinates, Objective, newton, penalised
from discrim.families.logistic.quasi_newton import cholesky_inverse, quasi_newton
from discrim.sources import open_rows
from discrim.statistics.likelihood import CURVATURE


def objective_of(n=300, p=5, classes=2, scale=None):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, p)) * (np.ones(p) if scale is None else scale)
    eta = x / x.std(axis=0) @ rng.normal(size=(p, classes))
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    return Objective(
        RowPasses(open_rows(x, y)), np.arange(classes), Coordinates(np.zeros(p), np.ones(p)), softmax=classes > 2
    )


def plain(size):
    return lambda right: right / size


@pytest.mark.parametrize("classes", [2, 4])
def test_it_ends_where_newton_ends(classes):
    objective = objective_of(classes=classes)
    start = np.zeros(objective.shape)
    ridge = np.full(objective.shape, 0.5)
    expected = newton(objective, start, ridge=ridge)
    found = quasi_newton(objective, start, inverse=plain(60.0), ridge=ridge)
    assert found.converged
    assert_allclose(found.value, expected.value, rtol=1e-11)
    assert_allclose(found.theta, expected.theta, atol=1e-5)
    assert_allclose(found.value, penalised(objective.at(found.theta).loss, found.theta, ridge), rtol=1e-11)


def test_the_true_curvature_saves_passes():
    scale = np.array([1, 5, 25, 0.2, 0.04])
    objective = objective_of(scale=scale)
    blind = quasi_newton(objective, np.zeros(6), inverse=plain(60.0))
    inverse = cholesky_inverse(objective.at(np.zeros(6), depth=CURVATURE).hessian)
    seeing = quasi_newton(objective, np.zeros(6), inverse=inverse)
    assert seeing.converged
    assert seeing.iterations < 20
    assert seeing.iterations < blind.iterations / 2


def test_coefficients_that_are_not_free_keep_the_value_of_the_start():
    objective = objective_of()
    start, free = np.array([0, 1.0, 0, 0, -1.0, 0]), np.array([True, False, True, True, False, True])
    found = quasi_newton(objective, start, inverse=plain(60.0), free=free)
    expected = newton(objective, start, free=free)
    assert_array_equal(found.theta[~free], start[~free])
    assert_allclose(found.theta, expected.theta, atol=1e-5)


def test_a_curvature_that_promises_steps_far_too_long_is_survived():
    objective = objective_of()
    expected = newton(objective, np.zeros(6))
    found = quasi_newton(objective, np.zeros(6), inverse=plain(1e-3))
    assert found.converged
    assert_allclose(found.loss, expected.loss, rtol=1e-10)


def test_too_few_steps_are_not_called_convergence():
    found = quasi_newton(objective_of(), np.zeros(6), inverse=plain(60.0), most=3)
    assert (found.converged, found.iterations) == (False, 3)
    nothing = quasi_newton(objective_of(), np.zeros(6), inverse=plain(60.0), most=0)
    assert (nothing.converged, nothing.iterations) == (False, 0)


def test_at_the_minimum_there_is_nothing_to_do():
    objective = objective_of()
    best = newton(objective, np.zeros(6)).theta
    found = quasi_newton(objective, best, inverse=plain(60.0))
    assert (found.converged, found.iterations) == (True, 0)


def test_the_inverse_is_applied_whatever_the_scale_and_refused_where_there_is_none():
    rng = np.random.default_rng(1)
    root, scale = rng.normal(size=(5, 5)), 10.0 ** np.array([-9, -4, 0, 4, 9])
    matrix, x = (root @ root.T + np.eye(5)) * scale[:, None] * scale, rng.normal(size=5) / scale
    assert_allclose(cholesky_inverse(matrix)(matrix @ x), x, rtol=1e-8)
    assert cholesky_inverse(np.ones((3, 3))) is None
    assert cholesky_inverse(np.diag([1.0, -1.0])) is None
    assert cholesky_inverse(np.diag([1.0, 0.0])) is None
