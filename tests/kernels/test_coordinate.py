"""The kernels of the lasso and the elastic net against their NumPy reference, and the reference against the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import kernels
from discrim.kernels.logistic import reference_columns, reference_coordinate

BOTH = pytest.mark.parametrize("kernels", [kernels, reference_coordinate], ids=["kernel", "reference"])


def quadratic(q, seed=0):
    """A positive curvature, a point, its gradient, and penalties of which some are zero."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(2 * q, q)) @ (np.eye(q) + 0.5 * rng.normal(size=(q, q)) / np.sqrt(q))
    lasso = rng.uniform(0.5, 6.0, q) * (rng.random(q) > 0.2)
    return root.T @ root, rng.normal(size=q), 5 * rng.normal(size=q), lasso, rng.uniform(0.0, 1.0, q)


def subgradient(slope, theta, lasso):
    """How far zero is from the subdifferential, coordinate by coordinate."""
    return np.where(theta != 0, np.abs(slope + lasso * np.sign(theta)), np.maximum(np.abs(slope) - lasso, 0.0))


@BOTH
@pytest.mark.parametrize("q", [1, 2, 7, 8, 9, 33])
def test_the_descent_on_a_gram_matrix_ends_where_no_coordinate_can_improve(kernels, q):
    hessian, point, gradient, lasso, ridge = quadratic(q, seed=q)
    theta = np.zeros(q)
    left, _, converged = kernels.gram_descent(hessian, point, gradient, theta, lasso, ridge, None, 1e-26, 10_000)
    slope = gradient + hessian @ (theta - point) + ridge * theta
    assert converged
    assert subgradient(slope, theta, lasso).max() < 1e-9 * np.abs(gradient).max()
    step = theta - point
    assert left == pytest.approx(0.5 * step @ hessian @ step + 0.5 * ridge @ step**2, rel=1e-9)


@BOTH
def test_coordinates_that_are_fixed_or_without_curvature_keep_their_values(kernels):
    hessian, point, gradient, lasso, ridge = quadratic(6)
    hessian[4] = hessian[:, 4] = ridge[4] = 0.0
    theta, fixed = np.arange(6.0), np.array([0, 1, 0, 0, 0, 1], dtype=np.uint8)
    kernels.gram_descent(hessian, point, gradient, theta, lasso, ridge, fixed, 1e-26, 10_000)
    assert_array_equal(theta[[1, 4, 5]], [1.0, 4.0, 5.0])
    slope = gradient + hessian @ (theta - point) + ridge * theta
    assert subgradient(slope, theta, lasso)[[0, 2, 3]].max() < 1e-9


@BOTH
def test_twin_coordinates_share_a_coefficient_and_do_not_stop_the_descent(kernels):
    hessian, point, gradient, lasso, ridge = quadratic(4)
    twice = np.kron(np.ones((2, 2)), hessian)
    theta, double = np.zeros(8), (np.tile(values, 2) for values in (point, gradient, lasso, 0 * ridge))
    at, slope, penalty, none = double
    assert kernels.gram_descent(twice, at, slope, theta, penalty, none, None, 1e-24, 100_000)[2]
    assert subgradient(slope + twice @ (theta - at), theta, penalty).max() < 1e-7


@BOTH
def test_a_secant_takes_the_step_to_the_change_and_stays_symmetric_and_positive(kernels):
    hessian, step, _, _, _ = quadratic(9)
    change = hessian @ step + 0.3 * np.sin(np.arange(9.0))
    mended = kernels.secant(hessian, step, change)
    assert_allclose(mended @ step, change, rtol=1e-12, atol=1e-12 * np.abs(change).max())
    assert_allclose(mended, mended.T, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(mended).min() > 0


@BOTH
def test_a_secant_learns_nothing_from_a_step_that_falls(kernels):
    hessian, step, _, _, _ = quadratic(5)
    assert_array_equal(kernels.secant(hessian, step, -hessian @ step), hessian)


@BOTH
def test_the_descents_of_several_lanes_are_those_of_each_and_leave_the_others(kernels):
    problems = [quadratic(9, seed) for seed in range(4)]
    hessians, points, gradients, lasso, ridge = (np.stack(parts) for parts in zip(*problems, strict=True))
    thetas, left, fixed = np.ones((4, 9)), np.full(4, -1.0), np.arange(9) == 5
    fixed = fixed.astype(np.uint8)
    places, penalties = (points, gradients, thetas), (lasso, ridge)
    kernels.several_descents(hessians, np.array([3, 0]), places, penalties, fixed, left, 1e-26, 10_000)
    for lane in (0, 3):
        theta = np.ones(9)
        alone = (hessians[lane], points[lane], gradients[lane], theta, lasso[lane], ridge[lane])
        assert left[lane] == kernels.gram_descent(*alone, fixed, 1e-26, 10_000)[0]
        assert_array_equal(thetas[lane], theta)
    assert_array_equal(thetas[[1, 2]], np.ones((2, 9)))
    assert_array_equal(left[[1, 2]], [-1.0, -1.0])


@BOTH
def test_the_secants_of_several_lanes_are_those_of_each_and_leave_the_others(kernels):
    hessians, steps = (np.stack(parts) for parts in list(zip(*(quadratic(9, s) for s in range(3)), strict=True))[:2])
    changes = np.vecdot(hessians, steps[:, None]) + 0.3 * np.sin(np.arange(9.0))
    before = hessians.copy()
    kernels.several_secants(hessians, np.array([2, 0]), steps[[2, 0]], changes[[2, 0]])
    for lane in (0, 2):
        assert_array_equal(hessians[lane], kernels.secant(before[lane], steps[lane], changes[lane]))
    assert_array_equal(hessians[1], before[1])


@BOTH
def test_lanes_that_do_not_exist_are_refused(kernels):
    hessians, rows = np.zeros((2, 3, 3)), np.zeros((2, 3))
    with pytest.raises(ValueError, match="there is no such lane"):
        kernels.several_secants(hessians, np.array([2]), rows[:1], rows[:1])
    with pytest.raises(ValueError, match="there is no such lane"):
        kernels.several_descents(
            hessians, np.array([-1]), (rows, rows, rows), (rows, rows), None, np.zeros(2), 1e-9, 10
        )


def labelled(n, p, seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) + 2.0
    weight = rng.uniform(0.2, 2.0, n) * (rng.random(n) > 0.2) if weighted else None
    return x, rng.integers(0, 2, n).astype(np.int32), weight, rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_several_gradients_are_those_of_the_reference(order, dtype, weighted):
    for n, p in [(1, 1), (7, 3), (9, 8), (700, 17), (40, 50)]:
        x, codes, weight, offset = labelled(n, p, seed=n, weighted=weighted)
        x = np.asarray(x.astype(dtype), order=order)
        theta = np.random.default_rng(p).normal(size=(8, p + 1)) * np.array([0, 0.1, 1, 1, 1, 5, 50, 500])[:, None]
        args = (codes, None, weight, offset, np.full(p, 2.0), theta)
        losses, gradients = kernels.several_gradients(x, *args)
        expected = reference_coordinate.several_gradients(x, *args)
        assert_allclose(losses, expected[0], rtol=1e-12, atol=1e-12)
        assert_allclose(gradients, expected[1], rtol=1e-10, atol=1e-11 * n)


@pytest.mark.parametrize("form", ["rows", "every second row", "some columns", "columns"])
def test_rows_with_nothing_to_shift_and_columns_without_coefficients_change_nothing(form):
    for n, p in [(7, 3), (700, 17), (41, 50)]:
        x, codes, _, offset = labelled(2 * n, p + 2, seed=n)
        x, codes, offset = {
            "rows": (x, codes, offset),
            "every second row": (x[::2], codes[::2].copy(), offset[::2].copy()),
            "some columns": (x[:, 1:-1], codes, offset),
            "columns": (np.asfortranarray(x), codes, offset),
        }[form]
        p = x.shape[1]
        theta = np.random.default_rng(p).normal(size=(8, p + 1))
        theta[:, 1::3] = 0.0
        args = (codes, None, None, offset, np.zeros(p), theta)
        losses, gradients = kernels.several_gradients(x, *args)
        expected = reference_coordinate.several_gradients(x, *args)
        assert_allclose(losses, expected[0], rtol=1e-12)
        assert_allclose(gradients, expected[1], rtol=1e-10, atol=1e-11 * n)


def test_several_gradients_are_the_slopes_of_the_losses():
    x, codes, weight, offset = labelled(60, 3, weighted=True)
    share = np.random.default_rng(1).random(60)
    theta, step = np.tile([0.3, -0.2, 0.1, 0.4], (8, 1)), 1e-6
    theta[1:5] += step * np.eye(4)
    args = (x, codes, share, weight, offset, np.zeros(3))
    losses, gradients = kernels.several_gradients(*args, theta)
    assert_allclose((losses[1:5] - losses[0]) / step, gradients[0], rtol=1e-4, atol=1e-4)


def column_problem(n, p, seed=0, *, weighted=False):
    x, codes, weight, offset = labelled(n, p, seed, weighted=weighted)
    x = np.asfortranarray(np.where(np.random.default_rng(seed + 1).random(x.shape) < 0.4, x, 0.0))
    rng = np.random.default_rng(seed + 2)
    working = np.flatnonzero(rng.random(p) < 0.7).astype(np.int64)
    q = len(working)
    return x, codes.astype(float), weight, offset, working, rng.uniform(0.0, 3.0, q), rng.uniform(0.0, 1.0, q)


def descend(kernels, form, problem, *, intercept=True, close=1e-22):
    x, y, weight, offset, working, lasso, ridge = problem
    eta, theta, constant = offset.copy(), np.zeros(len(working)), np.zeros(1)
    rest = (y, weight, eta, theta, constant, working, lasso, ridge, intercept, close, 500)
    if form == "dense":
        done = kernels.dense_descent(x, *rest)
    else:
        columns = sparse.csc_array(x)
        index = np.int64 if form == "sparse long" else np.int32
        done = kernels.sparse_descent(columns.data, columns.indices.astype(index), columns.indptr.astype(index), *rest)
    return done, eta, theta, constant


@pytest.mark.parametrize("form", ["dense", "sparse", "sparse long"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_descent_on_columns_is_that_of_the_reference_and_optimal(form, intercept, weighted):
    problem = x, y, weight, offset, working, lasso, ridge = column_problem(83, 12, weighted=weighted)
    done, eta, theta, constant = descend(kernels, form, problem, intercept=intercept)
    same, _, expected, expected_constant = descend(reference_columns, form, problem, intercept=intercept)
    assert done[3]
    assert same[3]
    assert_allclose(theta, expected, atol=1e-8)
    assert_allclose(constant, expected_constant, atol=1e-8)
    assert_allclose(eta, offset + constant + x[:, working] @ theta, atol=1e-10)
    w = np.ones(len(y)) if weight is None else weight
    residual = w * (1 / (1 + np.exp(-eta)) - y)
    assert subgradient(x[:, working].T @ residual + ridge * theta, theta, lasso).max() < 1e-8
    assert not intercept or abs(residual.sum()) < 1e-8
    assert done[0] == pytest.approx(w @ (np.logaddexp(0, eta) - y * eta), rel=1e-12)


def test_an_empty_working_set_fits_the_constant_alone():
    x, y, _, _, _, _, _ = column_problem(50, 4)
    nothing = np.empty(0)
    eta, constant = np.zeros(50), np.zeros(1)
    kernels.dense_descent(
        x, y, None, eta, nothing.copy(), constant, nothing.astype(np.int64), nothing, nothing, True, 1e-20, 100
    )
    assert constant[0] == pytest.approx(np.log(y.mean() / (1 - y.mean())), rel=1e-10)


def test_slopes_are_inner_products_with_the_columns_of_the_range():
    x, _, _, r, _, _, _ = column_problem(31, 9)
    columns, out = sparse.csc_array(x), np.full(9, -1.0)
    expected = np.where((np.arange(9) >= 2) & (np.arange(9) < 7), x.T @ r, -1.0)
    kernels.dense_slopes(x, r, 2, 7, out)
    assert_allclose(out, expected, rtol=1e-12)
    out[:] = -1.0
    kernels.sparse_slopes(columns.data, columns.indices, columns.indptr, r, 2, 7, out)
    assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64])
def test_residuals_keep_their_digits_where_the_model_is_all_but_certain(n):
    eta = np.linspace(-300, 300, n)
    y, out, expected = (np.arange(n) % 2).astype(float), np.empty(n), np.empty(n)
    loss = kernels.residuals(y, None, eta, out)
    assert loss == pytest.approx(reference_columns.residuals(y, None, eta, expected), rel=1e-13)
    assert_allclose(out, expected, rtol=1e-12)


def test_a_column_that_is_not_there_is_refused():
    x, y, _, _, _, _, _ = column_problem(20, 3)
    one = np.ones(1)
    with pytest.raises(ValueError, match="no such column"):
        kernels.dense_descent(x, y, None, np.zeros(20), one, one.copy(), np.array([3]), one, one, True, 1e-9, 5)
    with pytest.raises(ValueError, match="differ in size"):
        kernels.gram_descent(np.eye(3), one, one, one.copy(), one, one, None, 1e-9, 5)
