"""L-BFGS in one call, where rows are few: the steps and the answers are those of one call a step."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import LogisticRegression, kernels
from discrim.engines import RowPasses
from discrim.families.logistic.objective import Coordinates, Enough, Objective
from discrim.families.logistic.positive import inverses_of
from discrim.families.logistic.quasi_newton import Inverse, Smooth, _inverse_of, quasi_newton
from discrim.kernels.logistic import reference_likelihood
from discrim.sources import Attached, open_rows
from discrim.statistics.likelihood import BLOCKS, CURVATURE

pytestmark = pytest.mark.skipif(
    kernels.quasi_newton is reference_likelihood.quasi_newton, reason="without compiled kernels there is no such call"
)


class StepByStep(Objective):
    """The same objective, which is asked once a step."""

    def quasi_newton_steps(self, *_):
        return None


def rows_of(kind, classes, n=300, p=7):
    rng = np.random.default_rng([n, p, classes])
    x = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) + 0.3
    y = (x @ rng.normal(size=(p, classes)) / 2 + rng.gumbel(size=(n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    if kind == "sparse":
        x = sparse.csr_matrix(np.where(rng.random((n, p)) < 0.3, x, 0.0))
    elif kind == "float32":
        x = x.astype(np.float32)
    elif kind == "Fortran":
        x = np.asfortranarray(x)
    weight = rng.uniform(0, 2, n) * (rng.random(n) > 0.1) if kind == "weighted" else None
    if kind == "offset" and classes == 2:
        return RowPasses(Attached(open_rows(x, y), np.arange(2), offset=rng.normal(size=n)))
    return RowPasses(open_rows(x, y, weight))


def both(kind="plain", classes=4, intercept=True):
    rows, p = rows_of(kind, classes), 7
    shift = np.zeros(p) if kind == "sparse" or not intercept else np.full(p, 0.3)
    where = Coordinates(shift, np.geomspace(0.5, 3.0, p), intercept)
    return [kind(rows, np.arange(classes), where, softmax=classes > 2) for kind in (Objective, StepByStep)]


def ridge_of(objective, ridge=0.5):
    found = np.full(objective.shape, ridge)
    found[..., : int(objective.coordinates.intercept)] = 0.0
    return found


def assert_same(found, expected):
    assert (found.iterations, found.converged) == (expected.iterations, expected.converged)
    assert_allclose(found.theta, expected.theta, rtol=1e-7, atol=1e-9)
    assert_allclose(found.value, expected.value, rtol=1e-12)
    assert_allclose(found.loss, expected.loss, rtol=1e-12)
    assert_allclose(found.gap, expected.gap, rtol=1e-4, atol=1e-15)
    assert_allclose(found.at.loss, expected.at.loss, rtol=1e-10)
    assert_allclose(found.at.gradient, expected.at.gradient, rtol=1e-5, atol=1e-7)
    assert (found.at.weight, found.at.rows) == (expected.at.weight, expected.at.rows)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 4, 9])
@pytest.mark.parametrize("kind", ["plain", "sparse", "weighted", "offset", "float32", "Fortran"])
@pytest.mark.parametrize("most", [4, 60])
def test_the_steps_are_those_of_one_call_each(kind, classes, intercept, most):
    objectives = both(kind, classes, intercept)
    ridge = ridge_of(objectives[0])
    inverse = Inverse(np.full(ridge.shape, 1.0 / 80.0) * np.linspace(0.5, 2.0, ridge.shape[-1]))
    flat = np.full(ridge.shape, 1e-6)
    enough = Enough(1e-13, flat, least=0.0)
    fits = [
        quasi_newton(each, np.zeros(ridge.shape), inverse=inverse, ridge=ridge, enough=enough, most=most)
        for each in objectives
    ]
    assert_same(*fits)
    assert objectives[0].passes == objectives[1].passes
    assert fits[0].iterations == most or fits[0].converged


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_with_the_curvature_of_every_class_too(classes, intercept, ridge):
    objectives = both(classes=classes, intercept=intercept)
    ridge = ridge_of(objectives[0], ridge)
    start = np.zeros(ridge.shape)
    at = objectives[1].at(start, depth=BLOCKS if classes > 2 else CURVATURE)
    problem = Smooth(ridge, np.ones(ridge.shape, bool), start)
    inverse = _inverse_of(at.hessian if classes > 2 else at.hessian[None], problem, 1.0)
    assert isinstance(inverse, Inverse)
    assert_same(*(quasi_newton(each, start, inverse=inverse, ridge=ridge, at=at, most=8) for each in objectives))
    assert objectives[0].passes == objectives[1].passes - 1


def test_a_curvature_that_promises_steps_far_too_long_is_survived_in_the_same_way():
    objectives = both(classes=2)
    inverse, ridge = Inverse(np.full(objectives[0].shape, 1e3)), ridge_of(objectives[0])
    assert_same(*(quasi_newton(each, np.zeros(8), inverse=inverse, ridge=ridge, most=6) for each in objectives))
    assert objectives[0].passes > 8
    assert objectives[0].passes == objectives[1].passes


def test_all_but_certain_rows_do_not_end_it_by_their_small_slopes():
    objectives = both(classes=4)
    start = np.zeros(objectives[0].shape)
    # The first steps promise far more than a hundredth of the value.
    enough = Enough(1e-13, np.full(start.shape, np.inf))
    fits = [
        quasi_newton(each, start, inverse=Inverse(np.full(start.shape, 1e-2)), enough=enough) for each in objectives
    ]
    assert_same(*fits)
    assert fits[0].iterations > 1
    assert fits[0].gap <= 1e-2 * fits[0].value


def test_what_has_no_place_in_the_inverse_keeps_its_value():
    x = np.random.default_rng(0).normal(size=(50, 3))
    codes = (x[:, 0] + x[:, 1] > 0.2).astype(np.int32)
    codes[:8] = 1 - codes[:8]
    theta = np.array([0.0, 0.0, 0.7, 0.0])
    start = (theta, np.ones(4), np.array([0.1, 0.1, 0.0, 0.1]))
    rule = (np.array([1e-3, 1e-3, np.inf, 1e-3]), 0.0, 0.0, 200, 10)
    found, *_, converged, sums = kernels.quasi_newton(x, (codes, None, None, None), np.zeros(3), start, rule, None)
    assert converged
    assert found[2] == 0.7
    slopes = sums[1] + found
    assert np.abs(slopes[[0, 1, 3]]).max() < 2e-3
    assert abs(slopes[2]) > 0.1


@pytest.mark.parametrize(
    ("start", "rule", "known"),
    [
        ((np.zeros(4), np.zeros(3), np.zeros(4)), (None, 0.0, 0.0, 5, 5), None),
        ((np.zeros(4), np.zeros(4), np.zeros(5)), (None, 0.0, 0.0, 5, 5), None),
        ((np.zeros(5), np.zeros(5), np.zeros(5)), (None, 0.0, 0.0, 5, 5), None),
        ((np.zeros(4), np.zeros(4), np.zeros(4)), (np.zeros(3), 0.0, 0.0, 5, 5), None),
        ((np.zeros(4), np.zeros(4), np.zeros(4)), (None, 0.0, 0.0, 5, 0), None),
        ((np.zeros(4), np.zeros(4), np.zeros(4)), (None, 0.0, 0.0, 5, 5), (0.0, np.zeros(3))),
    ],
)
def test_arrays_that_do_not_fit_are_refused(start, rule, known):
    with pytest.raises(ValueError, match=r"differ|size|neither|at least"):
        kernels.quasi_newton(
            np.zeros((6, 3)), (np.zeros(6, np.int32), None, None, None), np.zeros(3), start, rule, known
        )


def test_columns_of_sparse_rows_are_looked_at_before_they_are_read():
    x = (np.ones(2), np.array([0, 7], np.int32), np.array([0, 1, 2], np.int32))
    start, rule = (np.zeros(4), np.zeros(4), np.ones(4)), (None, 0.0, 0.0, 5, 5)
    with pytest.raises(ValueError, match="outside"):
        kernels.quasi_newton(x, (np.array([0, 1], np.int32), None, None, None), np.zeros(3), start, rule, None)


def test_several_inverses_at_once_and_none_where_one_is_missing():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 6, 6)) * 10.0 ** np.arange(-3, 3)[:, None]
    matrices = roots @ roots.transpose(0, 2, 1)
    found = inverses_of(matrices, 1e-9)
    assert_allclose(found @ matrices, np.broadcast_to(np.eye(6), (3, 6, 6)), atol=1e-6)
    assert_array_equal(found, found.transpose(0, 2, 1))
    matrices[1, 2] = matrices[1, :, 2] = 0.0
    assert inverses_of(matrices, 1e-9) is None


def test_few_rows_of_many_classes_end_after_few_steps():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 10))
    y = (x @ rng.normal(size=(10, 8)) * 2 + rng.gumbel(size=(600, 8))).argmax(axis=1)
    found = LogisticRegression().fit(x, y)
    assert found.solver_ == "quasi-newton"
    assert found.n_iter_[0] <= 14


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_and_repeated_rows_give_the_same_digits(classes):
    rng = np.random.default_rng(0)
    x, y, times = rng.random((90, 240)), rng.integers(0, classes, 90), rng.integers(0, 5, 90)
    weighted = LogisticRegression().fit(x, y, times)
    repeated = LogisticRegression().fit(x.repeat(times, axis=0), y.repeat(times))
    assert weighted.solver_ == repeated.solver_
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9, atol=1e-11)
    assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-9, atol=1e-11)
