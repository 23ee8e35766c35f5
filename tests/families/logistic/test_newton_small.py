"""Few numbers are solved in one call: the answers are those of one call a step."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discrim import LogisticRegression, kernels
from discrim.engines import RowPasses
from discrim.families.logistic.objective import FEW, Coordinates, Objective, newton
from discrim.kernels.logistic import reference_likelihood
from discrim.parallel import SINGLE
from discrim.sources import Attached, open_rows


class StepByStep(Objective):
    """The same objective, which is asked once a step."""

    def full_steps(self, *_):
        return None


def drawn(n=300, p=4, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) + 3
    y = ((x - 3) @ rng.normal(size=p) + 2 * rng.logistic(size=n) > 0).astype(int)
    y[:2] = 0, 1
    return x, y, rng


def plain(x, y, rng):
    return RowPasses(open_rows(x, y))


def weighted(x, y, rng):
    return RowPasses(open_rows(x, y, rng.uniform(0, 2, len(y)) * (rng.random(len(y)) > 0.1)))


def with_offset(x, y, rng):
    return RowPasses(Attached(open_rows(x, y), np.arange(2), rng.normal(size=len(y))))


def in_groups(x, y, rng):
    return RowPasses(Attached(open_rows(x, y), np.arange(2), None, rng.random(len(y))))


def separated(x, y, rng):
    return RowPasses(open_rows(x, (x[:, 0] > 3).astype(int)))


def collinear(x, y, rng):
    return RowPasses(open_rows(np.column_stack([x, x[:, 0] + x[:, 1]]), y))


def one_column(x, y, rng):
    return RowPasses(open_rows(np.ascontiguousarray(x[:, :1]), y))


def single_precision(x, y, rng):
    return RowPasses(open_rows(np.asfortranarray(x, dtype=np.float32), y))


ROWS = [plain, weighted, with_offset, in_groups, separated, collinear, one_column, single_precision]


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("make", ROWS)
def test_the_solution_is_that_of_one_call_a_step(make, intercept, ridge):
    rows = make(*drawn())
    x = np.asarray(rows.whole.x, float)
    where = Coordinates(x.mean(axis=0) * intercept, x.std(axis=0), intercept)
    fast, slow = (kind(rows, np.arange(2), where) for kind in (Objective, StepByStep))
    penalty = np.full(fast.shape, ridge)
    found, expected = (newton(objective, np.zeros(fast.shape), ridge=penalty) for objective in (fast, slow))
    assert (found.converged, found.iterations) == (expected.converged, expected.iterations)
    assert_allclose(found.theta, expected.theta, rtol=1e-9, atol=1e-11)
    assert_allclose([found.value, found.loss], [expected.value, expected.loss], rtol=1e-12, atol=1e-13)
    assert_allclose(found.gap, expected.gap, rtol=1e-5, atol=1e-14)
    assert_allclose(found.at.gradient, expected.at.gradient, rtol=1e-6, atol=1e-9)
    assert_allclose(found.at.hessian, expected.at.hessian, rtol=1e-8, atol=1e-10)
    assert (found.at.weight, found.at.rows) == (expected.at.weight, expected.at.rows)
    assert_allclose(found.at.least, expected.at.least, rtol=1e-7)
    assert fast.passes == slow.passes


def test_one_call_is_made_for_few_numbers_in_memory_and_two_classes_only():
    def asked(rows, where, classes=2):
        objective = Objective(rows, np.arange(classes), where, softmax=classes > 2)
        return objective.full_steps(np.zeros(objective.shape), np.zeros(objective.shape), 1e-9, 50)

    def unit(p, basis=None):
        return Coordinates(np.zeros(p), np.ones(p), turned=basis)

    x, y, rng = drawn()
    if kernels.binary_newton is not reference_likelihood.binary_newton:
        assert asked(RowPasses(open_rows(x, y)), unit(4)).iterations > 2
    assert asked(RowPasses(open_rows(x, np.arange(len(y)) % 3)), unit(4), classes=3) is None
    assert asked(RowPasses(open_rows(x, y)), unit(4, np.eye(4))) is None
    assert asked(RowPasses(open_rows(rng.normal(size=(300, FEW)), y)), unit(FEW)) is None
    many = SINGLE // 4 + 1
    assert asked(RowPasses(open_rows(rng.normal(size=(many, 4)), np.arange(many) % 2)), unit(4)) is None


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": np.inf},
        {"C": 0.01, "fit_intercept": False},
        {"class_weight": "balanced"},
        {"solver": "liblinear", "intercept_scaling": 3.0},
        {"C": np.inf, "aliased": "minimum-norm"},
        {"max_iter": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["random", "weighted", "separated", "collinear", "one column"])
def test_a_fit_tells_the_same_either_way(kind, options, monkeypatch):
    x, y, rng = drawn()
    weight = rng.uniform(0, 2, len(y)) if kind == "weighted" else None
    x = {"collinear": np.column_stack([x, x[:, 0] + x[:, 1]]), "one column": x[:, :1]}.get(kind, x)
    y = (x[:, 0] > 3).astype(int) if kind == "separated" else y
    found, said = fitted(x, y, weight, options)
    monkeypatch.setattr(Objective, "full_steps", lambda *_: None)
    expected, words = fitted(x, y, weight, options)
    assert said == words
    assert_allclose(found.coef_, expected.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(found.intercept_, expected.intercept_, rtol=1e-7, atol=1e-9)
    assert_array_equal(found.n_iter_, expected.n_iter_)
    assert found.solver_ == expected.solver_
    assert found.separation_.separated == expected.separation_.separated
    if "C" in options:
        a, b = found.summary(), expected.summary()
        assert_allclose(a.coef, b.coef, rtol=1e-7, atol=1e-9)
        assert_allclose(a.std_error, b.std_error, rtol=1e-6)


def fitted(x, y, weight, options):
    """The model, and the words of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LogisticRegression(**options).fit(x, y, weight)
    return model, [str(each.message) for each in caught]
