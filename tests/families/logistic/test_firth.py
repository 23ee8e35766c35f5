"""Firth's estimate against brglm2 of R, closed forms, and a general optimiser of the penalised likelihood."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from discrim import scan
from discrim.datasets import load_endometrial, load_iris
from discrim.engines import RowPasses, passes_over
from discrim.errors import DataError
from discrim.families.logistic.firth import firth
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.sources import open_rows

CASE_A = np.repeat([0.0, 1.0], 10)[:, None], np.r_[np.tile([0, 1], 5), np.ones(10, int)]


def objective_of(x, y, weight=None, *, intercept=True, softmax=False, **columns):
    rows = RowPasses(open_rows(x, y, weight))
    rows = passes_over(dataclasses.replace(rows.whole, **columns))
    coordinates = Coordinates(x.mean(axis=0) * intercept, x.std(axis=0), intercept)
    return Objective(rows, np.unique(y), coordinates, softmax=softmax)


def fitted(objective, **options):
    solution = firth(objective, np.zeros(objective.shape), **options)
    assert solution.converged
    return solution, objective.coordinates.to_user(solution.theta)


def standard_errors(objective, solution):
    a = objective.coordinates.matrix()
    return np.sqrt(np.diag(a @ np.linalg.inv(solution.at.hessian) @ a.T))


def minus_penalised(theta, z, y, w, offset):
    """The definition: -l - log det(sum w p (1 - p) z z') / 2."""
    eta = z @ theta + offset
    p = 1 / (1 + np.exp(-eta))
    return w @ (np.logaddexp(0, eta) - y * eta) - 0.5 * np.linalg.slogdet((z.T * (w * p * (1 - p))) @ z)[1]


class TestBinary:
    def test_a_table_of_two_by_two_is_maximum_likelihood_with_half_a_row_more_in_each_cell(self):
        objective = objective_of(*CASE_A)
        solution, coef = fitted(objective)
        assert_allclose(coef, [0.0, np.log(10.5 / 0.5)], atol=1e-9)
        assert_allclose(standard_errors(objective, solution)[1], 1.6446, atol=5e-5)

    def test_endometrial_equals_brglm2(self):
        objective = objective_of(*load_endometrial().xy)
        solution, coef = fitted(objective)
        expected = [3.774559713647105, 2.9292733531971171, -0.034751759870436362, -2.6041639252936792]
        assert_allclose(coef, expected, rtol=1e-8)
        expected = [1.4886916634356777, 1.5507637294530485, 0.039578147347763416, 0.77601764250157135]
        assert_allclose(standard_errors(objective, solution), expected, rtol=1e-8)

    def test_groups_with_offset_equal_brglm2(self):
        x = np.array([[-2, 1], [-1, 0], [0, 1], [1, 0], [2, 1], [3, 0], [-1.5, 0], [0.5, 1]])
        trials = np.array([3.0, 5, 4, 6, 2, 7, 1, 8])
        share = np.array([0, 1, 2, 4, 2, 7, 0, 8]) / trials
        offset = np.array([0.1, -0.2, 0.3, 0, 0.5, -0.4, 0.2, 0])
        objective = objective_of(x, np.arange(8) % 2, trials, share=share, offset=offset)
        solution, coef = fitted(objective)
        assert_allclose(coef, [-0.37769312967, 1.43854691930, 1.16564514946], rtol=1e-8)
        expected = [0.763786064811, 0.463400271314, 1.009057512531]
        assert_allclose(standard_errors(objective, solution), expected, rtol=1e-9)

    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("seed", range(4))
    def test_no_optimiser_finds_a_better_point(self, seed, intercept):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(25, 3)) * [1, 30, 0.01]
        y = (x @ [1, 0.05, 100] + rng.logistic(size=25) > 0).astype(int)
        w, offset = rng.uniform(0.5, 3, 25), rng.normal(size=25)
        objective = objective_of(x, y, w, intercept=intercept, offset=offset)
        solution, _ = fitted(objective)
        c = objective.coordinates
        z = (x - c.shift) / c.scale
        z = np.column_stack([np.ones(25), z]) if intercept else z
        best = minimize(minus_penalised, np.zeros(z.shape[1]), (z, y, w, offset), method="BFGS", options={"gtol": 1e-9})
        assert_allclose(solution.value, minus_penalised(solution.theta, z, y, w, offset), rtol=1e-12)
        assert solution.value <= best.fun + 1e-10
        assert_allclose(solution.theta, best.x, atol=1e-5)

    def test_a_held_coefficient_stays_in_the_determinant(self):
        x, y = load_endometrial().xy
        objective = objective_of(x, y)
        start, free = np.array([0.0, 1.5, 0.0, 0.0]), np.array([True, False, True, True])
        solution = firth(objective, start, free=free, estimated=np.ones(4, bool))
        z = np.column_stack([np.ones(79), (x - x.mean(axis=0)) / x.std(axis=0)])

        def profile(rest):
            return minus_penalised(np.insert(rest, 1, 1.5), z, y, np.ones(79), 0.0)

        best = minimize(profile, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
        assert solution.theta[1] == 1.5
        assert_allclose(solution.value, best.fun, rtol=1e-10)
        without = firth(objective, start, free=free)
        assert abs(without.value - solution.value) > 0.05

    def test_an_aliased_column_that_is_left_out_changes_nothing(self):
        x, y = load_endometrial().xy
        alone = fitted(objective_of(x, y))[0]
        free = np.array([True, True, True, True, False])
        more = fitted(objective_of(np.column_stack([x, x[:, 0] + x[:, 1]]), y), free=free)[0]
        assert_allclose(more.theta[:4], alone.theta, atol=1e-9)
        assert_allclose(more.value, alone.value, rtol=1e-12)

    def test_an_aliased_column_that_is_not_left_out_is_refused(self):
        x, y = load_endometrial().xy
        objective = objective_of(np.column_stack([x, x[:, 0] + x[:, 1]]), y)
        with pytest.raises(DataError, match="columns depend on the others"):
            firth(objective, np.zeros(5))

    def test_columns_in_other_units_have_the_same_fit(self):
        x, y = load_endometrial().xy
        factor, shift = np.array([1e6, 1e-4, 3.0]), np.array([1e5, 2.0, -40.0])
        objective = objective_of(x * factor + shift, y)
        _, coef = fitted(objective)
        assert_allclose(coef[1:] * factor, fitted(objective_of(x, y))[1][1:], rtol=1e-7)

    def test_complete_separation_has_a_finite_estimate(self):
        x = np.linspace(-1, 1, 20)[:, None]
        _, coef = fitted(objective_of(x, (x[:, 0] > 0).astype(int)))
        assert 3 < coef[1] < 50

    def test_a_start_far_out_comes_back(self):
        objective = objective_of(*load_endometrial().xy)
        far = firth(objective, np.array([2.0, 6.0, -4.0, 5.0]))
        assert_allclose(far.theta, fitted(objective)[0].theta, atol=1e-8)


class TestSoftmax:
    def test_weighted_rows_equal_brmultinom(self):
        x = np.array([0.2, 1.1, 2.3, 0.7, 1.9, 3.1, 2.2, 0.4, 1.5, 2.8, 3.3, 0.9])[:, None]
        y = np.array([0, 0, 1, 0, 2, 2, 1, 1, 0, 2, 1, 2])
        weight = np.array([1.0, 2, 1, 3, 1, 2, 1, 1, 2, 1, 1, 2])
        objective = objective_of(x, y, weight, softmax=True)
        solution, coef = fitted(objective)
        assert_allclose(coef[1], [-2.48933358542, 1.31063862270], rtol=1e-8)
        assert_allclose(coef[2], [-2.29661793307, 1.38044596979], rtol=1e-8)
        a = np.kron(np.eye(2), objective.coordinates.matrix())
        errors = np.sqrt(np.diag(a @ np.linalg.inv(solution.at.hessian[2:, 2:]) @ a.T))
        assert_allclose(errors, [1.36579320812, 0.808921413333, 1.26324028181, 0.769444910183], rtol=1e-8)

    def test_iris_with_a_separated_class_equals_brmultinom(self):
        _, coef = fitted(objective_of(*load_iris().xy, softmax=True))
        expected = [
            [2.564784013, -0.4166326886, -2.085804802, 0.9421235345, 4.17540527],
            [-17.657983176, -1.9601676355, -5.661656519, 5.6991153092, 14.14468054],
        ]
        assert_allclose(coef[1:], expected, rtol=1e-6)

    def test_two_classes_are_the_binary_model(self):
        x, y = load_endometrial().xy
        both = fitted(objective_of(x, y, softmax=True))[0]
        one = fitted(objective_of(x, y))[0]
        assert_allclose(both.theta[1], one.theta, atol=1e-8)
        assert_allclose(both.value, one.value, rtol=1e-12)

    def test_the_reference_class_does_not_matter(self):
        x, y = load_iris().xy
        objective = objective_of(x, y, softmax=True)
        free = np.ones(objective.shape, bool)
        free[2] = False
        other = fitted(objective, free=free)[0].theta
        assert_allclose(other - other[0], fitted(objective)[0].theta, atol=1e-5)


def test_rows_of_weight_zero_are_not_there():
    x, y = load_endometrial().xy
    more = np.vstack([x, np.full((3, 3), np.nan)])
    weight = np.r_[np.ones(79), np.zeros(3)]
    objective = objective_of(more, np.r_[y, 0, 1, 0], weight)
    objective = objective.with_coordinates(Coordinates(x.mean(axis=0), x.std(axis=0)))
    assert_allclose(fitted(objective)[0].theta, fitted(objective_of(x, y))[0].theta, atol=1e-9)


def test_a_scan_gives_the_same(tmp_path):
    x, y = load_endometrial().xy
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="NV,PI,EH,HG", comments="", fmt="%.17g")
    rows = RowPasses(scan(path, target="HG", batch_rows=10))
    objective = Objective(rows, np.array([0, 1]), Coordinates(x.mean(axis=0), x.std(axis=0)))
    assert_allclose(fitted(objective)[0].theta, fitted(objective_of(x, y))[0].theta, atol=1e-9)


def test_no_more_than_the_allowed_steps_are_made():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    rows = RowPasses(open_rows(x, y))
    objective = Objective(rows, np.arange(2), Coordinates(x.mean(0), x.std(0), True))
    for most in (0, 1, 2):
        found = firth(objective, np.zeros(4), most=most)
        assert found.iterations == most
        assert not found.converged
    assert firth(objective, np.zeros(4)).converged
