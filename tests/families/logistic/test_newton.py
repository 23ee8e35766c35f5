"""Newton's method reaches the minimum, in few passes, with some coefficients held."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from discrim.engines import RowPasses
from discrim.families.logistic.objective import Coordinates, Objective, newton, penalised
from discrim.families.logistic.positive import solve_positive
from discrim.sources import open_rows
from discrim.statistics.likelihood import CURVATURE, GRADIENT, Likelihood


def objective_of(n=200, p=4, classes=2, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    eta = x @ rng.normal(size=(p, classes)) * size
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return Objective(
        RowPasses(open_rows(x, y)), np.arange(classes), Coordinates(np.zeros(p), np.ones(p)), softmax=classes > 2
    )


def brute_force(objective, ridge, free):
    """The minimum by SciPy, from gradients only."""
    index = np.flatnonzero(free.ravel())

    def whole(part):
        theta = np.zeros(free.size)
        theta[index] = part
        return theta.reshape(free.shape)

    def f(part):
        theta = whole(part)
        at = objective.at(theta, depth=GRADIENT)
        return penalised(at.loss, theta, ridge), (at.gradient + ridge * theta).ravel()[index]

    found = minimize(f, np.zeros(len(index)), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    return whole(found.x), found.fun


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("strength", [0.0, 0.7])
def test_it_finds_the_minimum_that_scipy_finds(classes, strength):
    objective = objective_of(classes=classes)
    ridge = np.full(objective.shape, strength)
    free = np.ones(objective.shape, bool)
    if classes > 2:
        free[0] = False
    found = newton(objective, np.zeros(objective.shape), ridge=ridge, free=free)
    theta, value = brute_force(objective, ridge, free)
    assert found.converged
    assert_allclose(found.theta, theta, atol=1e-6)
    assert_allclose([found.value, penalised(found.loss, found.theta, ridge)], value, rtol=1e-12)
    gradient = (objective.at(found.theta).gradient + ridge * found.theta)[free]
    assert np.abs(gradient).max() < 1e-7 * found.at.weight


def test_the_loss_and_gap_are_told_as_they_are_at_the_end():
    objective = objective_of()
    found = newton(objective, np.zeros(5))
    assert_allclose(found.loss, objective.at(found.theta).loss, rtol=1e-13)
    assert 0 <= found.gap <= 1e-12 * 200


def test_it_takes_one_pass_a_step():
    objective = objective_of(n=500)
    found = newton(objective, np.zeros(5))
    assert found.iterations <= 8
    assert objective.passes <= found.iterations + 1
    again = newton(objective, found.theta)
    assert again.iterations == 1
    assert_allclose(again.theta, found.theta, rtol=1e-8)


def test_sums_that_are_known_at_the_start_save_a_pass():
    # So many rows that every step is a call of its own: few ones are solved in one.
    objective = objective_of(n=60_000)
    at = objective.at(np.zeros(5), depth=CURVATURE)
    before = objective.passes
    found = newton(objective, np.zeros(5), at=at)
    saved = objective.passes - before
    other = objective_of(n=60_000)
    assert_array_equal(newton(other, np.zeros(5)).theta, found.theta)
    assert other.passes == saved + 1


def test_coefficients_that_are_not_free_keep_the_value_of_the_start():
    objective = objective_of()
    start = np.array([0.0, 0.5, 0.0, -1.0, 0.0])
    free = np.array([True, False, True, False, True])
    found = newton(objective, start, free=free)
    assert_array_equal(found.theta[~free], start[~free])
    gradient = objective.at(found.theta).gradient
    assert np.abs(gradient[free]).max() < 1e-8
    assert np.abs(gradient[~free]).max() > 1


def test_with_nothing_free_the_start_is_the_answer():
    objective = objective_of()
    start = np.arange(5) / 10
    found = newton(objective, start, free=np.zeros(5, bool))
    assert found.converged
    assert_array_equal(found.theta, start)
    assert_allclose(found.loss, objective.at(start).loss, rtol=1e-14)


def test_a_far_start_is_brought_back_by_shorter_steps():
    objective = objective_of(size=0.5)
    expected = newton(objective, np.zeros(5))
    for start in (np.full(5, 30.0), np.array([0, 100.0, -100, 0, 0]), np.full(5, -8.0)):
        found = newton(objective, start)
        assert found.converged
        assert_allclose(found.theta, expected.theta, atol=1e-7)


def test_dependent_columns_do_not_stop_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 2))
    x, y = np.column_stack([x, x[:, 0]]), (x[:, 0] + rng.normal(size=100) > 0).astype(int)
    objective = Objective(RowPasses(open_rows(x, y)), np.arange(2), Coordinates(np.zeros(3), np.ones(3)))
    found = newton(objective, np.zeros(4))
    alone = newton(objective, np.zeros(4), free=np.array([True, True, True, False]))
    assert found.converged
    assert_allclose(found.loss, alone.loss, rtol=1e-12)
    assert_allclose(found.theta[1], found.theta[3])


def test_too_few_steps_are_not_called_convergence():
    found = newton(objective_of(), np.zeros(5), most=2)
    assert not found.converged
    assert found.iterations == 2
    nothing = newton(objective_of(), np.zeros(5), most=0)
    assert (nothing.converged, nothing.iterations) == (False, 0)
    assert_array_equal(nothing.theta, 0.0)


def test_separated_classes_do_not_make_it_fail():
    x = np.linspace(-1, 1, 20)[:, None]
    objective = Objective(
        RowPasses(open_rows(x, (x[:, 0] > 0).astype(int))), np.arange(2), Coordinates(np.zeros(1), np.ones(1))
    )
    found = newton(objective, np.zeros(2))
    assert np.isfinite(found.theta).all()
    assert found.loss < 1e-6


def test_a_value_that_no_step_lowers_ends_the_search():
    class Wall:
        """Claims a slope at 0 and is infinite everywhere else."""

        shape = (1,)

        def at(self, theta, *, depth=1, along=None, steps=()):
            points = [theta if along is None else theta + s * along for s in steps]
            losses = np.array([0.0 if not point.any() else np.inf for point in points])
            loss = 0.0 if not theta.any() else np.inf
            return Likelihood(loss, np.ones(1), np.eye(1), losses, 1.0, 1)

    found = newton(Wall(), np.zeros(1))
    assert not found.converged
    assert_array_equal(found.theta, 0.0)


def test_a_positive_definite_system_is_solved_whatever_its_scale():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    scale = 10.0 ** np.array([-8, -3, 0, 2, 5, 8])
    matrix, x = (root @ root.T + np.eye(6)) * scale[:, None] * scale, rng.normal(size=6) / scale
    assert_allclose(solve_positive(matrix, matrix @ x), x, rtol=1e-9)


def test_a_singular_system_is_solved_where_it_can_be():
    matrix = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    found = solve_positive(matrix, np.array([2.0, 2.0, 0.0]))
    assert_allclose(found, [1.0, 1.0, 0.0], atol=1e-12)
