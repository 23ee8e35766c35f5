"""The gradient of Jeffreys' prior against differences of log determinants."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from discrim.engines import RowPasses, passes_over
from discrim.families.logistic.firth import jeffreys_gradient
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.sources import open_rows
from discrim.statistics.likelihood import CURVATURE


def objective_of(classes, *, softmax, intercept=True, n=60, wrap=np.asarray, basis=None):
    rng = np.random.default_rng(classes)
    x = rng.normal(loc=[5, 0, 0], size=(n, 3))
    rows = RowPasses(open_rows(wrap(x), rng.integers(classes, size=n), rng.uniform(0, 2, n)))
    if not softmax:
        rows = passes_over(dataclasses.replace(rows.whole, offset=rng.normal(size=n)))
    coordinates = Coordinates(np.array([5.0, 0, 0]) * intercept, np.array([1.0, 2, 3]), intercept, basis)
    return Objective(rows, np.arange(classes), coordinates, softmax=softmax)


def inverse_at(objective, theta, index):
    hessian = objective.at(theta, depth=CURVATURE).hessian
    inverse = np.zeros_like(hessian)
    inverse[np.ix_(index, index)] = np.linalg.inv(hessian[np.ix_(index, index)])
    return inverse


def half_log_det(objective, theta, index):
    return 0.5 * np.linalg.slogdet(objective.at(theta, depth=CURVATURE).hessian[np.ix_(index, index)])[1]


def differences(objective, theta, index, step=1e-5):
    slopes = np.zeros(theta.size)
    for j in range(theta.size):
        move = np.zeros(theta.size)
        move[j] = step
        move = move.reshape(theta.shape)
        rise = half_log_det(objective, theta + move, index) - half_log_det(objective, theta - move, index)
        slopes[j] = rise / (2 * step)
    return slopes.reshape(theta.shape)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("classes", "softmax"), [(2, False), (2, True), (3, True), (5, True)])
def test_it_is_the_slope_of_half_the_log_determinant(classes, softmax, intercept):
    objective = objective_of(classes, softmax=softmax, intercept=intercept)
    theta = 0.5 * np.random.default_rng(1).normal(size=objective.shape)
    index = np.arange(objective.coordinates.size if softmax else 0, theta.size)
    found = jeffreys_gradient(objective, theta, inverse_at(objective, theta, index))
    assert_allclose(found, differences(objective, theta, index), atol=1e-7)


def test_entries_outside_the_determinant_still_have_a_slope():
    objective = objective_of(2, softmax=False)
    theta, index = np.array([0.3, -0.4, 0.2, 0.9]), np.array([0, 2])
    found = jeffreys_gradient(objective, theta, inverse_at(objective, theta, index))
    assert_allclose(found, differences(objective, theta, index), atol=1e-7)
    assert abs(found[1]) > 1e-3


@pytest.mark.parametrize("softmax", [False, True])
def test_sparse_rows_and_rows_in_a_basis_give_the_same(softmax):
    dense = objective_of(2, softmax=softmax)
    theta = np.random.default_rng(2).normal(size=dense.shape)
    matrix = np.eye(theta.size)
    expected = jeffreys_gradient(dense, theta, matrix)
    assert_allclose(jeffreys_gradient(objective_of(2, softmax=softmax, wrap=sparse.csr_array), theta, matrix), expected)
    basis = np.diag([1.0, 1 / 2, 1 / 3])
    assert_allclose(jeffreys_gradient(objective_of(2, softmax=softmax, basis=basis), theta, matrix), expected)


@pytest.mark.parametrize("softmax", [False, True])
def test_many_rows_in_blocks_add_up(softmax):
    few = objective_of(2, softmax=softmax)
    block = few.rows.whole
    times = 3000
    many = dataclasses.replace(
        block,
        x=np.tile(block.x, (times, 1)),
        codes=np.tile(block.codes, times),
        weight=np.tile(block.weight, times),
        offset=None if softmax else np.tile(block.offset, times),
    )
    assert many.x.size > 200_000
    objective = Objective(passes_over(many), few.classes, few.coordinates, softmax=softmax)
    theta = np.random.default_rng(3).normal(size=few.shape)
    matrix = np.eye(theta.size)
    expected = times * jeffreys_gradient(few, theta, matrix)
    assert_allclose(jeffreys_gradient(objective, theta, matrix), expected, rtol=1e-9)
