"""L1 and elastic net: both routes end at the optimum, which the conditions of optimality say, not a solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from discrim import kernels
from discrim.engines import RowPasses
from discrim.families.logistic.elastic_net import COLUMNS, GRAM, follower_for, route_for
from discrim.families.logistic.elastic_net_gram import GramFollower
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.recipe import OneBlock
from discrim.sources import open_rows

pytestmark = pytest.mark.every_version

ROUTES = pytest.mark.parametrize("route", [GRAM, COLUMNS])


def sample(n=300, p=12, classes=2, seed=0):
    """Columns of unequal scale and mean, of which some matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)) / np.sqrt(p))
    beta = rng.normal(size=(classes, p)) * (rng.random(p) < 0.5)
    y = (X @ beta.T + rng.gumbel(size=(n, classes))).argmax(axis=1)
    return X * np.geomspace(0.01, 100, p) + np.linspace(-5, 5, p), y


def coordinates(X, *, intercept=True):
    return Coordinates(X.mean(axis=0) if intercept else np.zeros(X.shape[1]), X.std(axis=0), intercept)


def fit(X, y, route, *, lasso, ridge, weight=None, intercept=True, gap=None):
    classes = np.unique(y)
    where = coordinates(X, intercept=intercept)
    return follower_for(RowPasses(open_rows(X, y, weight)), classes, where, gap=gap, route=route).solve(lasso, ridge)


def violation(X, y, theta, *, lasso, ridge, weight=None):
    """The largest distance of zero from the subdifferential, slopes in deviations of their columns; the intercepts'."""
    theta = np.atleast_2d(theta)
    w = np.ones(len(y)) if weight is None else weight
    eta = theta[:, 0] + X @ theta[:, 1:].T
    eta = np.column_stack([np.zeros(len(y)), eta]) if len(theta) == 1 else eta
    mu = np.exp(eta - eta.max(axis=1, keepdims=True))
    residual = w[:, None] * (mu / mu.sum(axis=1, keepdims=True) - (y[:, None] == np.unique(y)))
    residual = residual[:, -len(theta) :] if len(theta) == 1 else residual
    slope = residual.T @ X + ridge * theta[:, 1:]
    b = theta[:, 1:]
    distance = np.where(b != 0, np.abs(slope + lasso * np.sign(b)), np.maximum(np.abs(slope) - lasso, 0.0))
    return (distance / X.std(axis=0)).max() / len(y), np.abs(residual.sum(axis=0)).max() / len(y)


@ROUTES
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4, 0.0])
def test_no_coefficient_can_be_improved(route, classes, weighted, l1_ratio):
    X, y = sample(classes=classes)
    weight = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else None
    unit = X.std(axis=0) if classes == 2 else np.tile(X.std(axis=0), (classes, 1))
    penalty = {"lasso": 9.0 * l1_ratio * unit, "ridge": 9.0 * (1 - l1_ratio) * unit**2}
    found = fit(X, y, route, weight=weight, gap=1e-18, **penalty)
    assert found.converged
    slopes, intercepts = violation(X, y, found.theta, weight=weight, **penalty)
    assert slopes < 1e-7
    assert intercepts < 1e-7


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("route", [GRAM, COLUMNS])
def test_the_coefficients_are_those_of_liblinear_and_saga(route, l1_ratio):
    X, y = sample(n=200, p=6)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = LogisticRegression(C=0.1, l1_ratio=l1_ratio, solver="saga", tol=1e-12, max_iter=100_000).fit(X, y)
    lasso, ridge = np.full(6, 10 * l1_ratio), np.full(6, 10 * (1 - l1_ratio))
    found = fit(X, y, route, lasso=lasso, ridge=ridge)
    assert_allclose(found.theta, np.append(peer.intercept_, peer.coef_), atol=2e-6)


@ROUTES
def test_without_an_intercept_it_is_zero_and_the_slopes_are_those_of_liblinear(route):
    X, y = sample(n=200, p=6)
    X = X / X.std(axis=0)
    peer = LogisticRegression(C=0.1, l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-12, max_iter=100_000)
    found = fit(X, y, route, lasso=np.full(6, 10.0), ridge=np.zeros(6), intercept=False)
    assert_allclose(found.theta, np.append(0.0, peer.fit(X, y).coef_), atol=2e-6)


def test_columns_may_have_penalties_of_their_own_and_none_at_all():
    X, y = sample()
    lasso = np.where(np.arange(12) % 3 == 0, 0.0, 20.0) * X.std(axis=0)
    for route in (GRAM, COLUMNS):
        found = fit(X, y, route, lasso=lasso, ridge=np.zeros(12), gap=1e-18)
        assert max(violation(X, y, found.theta, lasso=lasso, ridge=0.0)) < 1e-7
        assert (found.theta[1:][::3] != 0).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_rows_give_what_their_dense_twin_gives(classes):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((150, 40)) < 0.2, rng.normal(size=(150, 40)), 0.0)
    y = rng.integers(0, classes, 150)
    shape = (40,) if classes == 2 else (classes, 40)
    none = Coordinates(np.zeros(40), X.std(axis=0))
    penalty, labels = (np.full(shape, 3.0), np.full(shape, 0.5)), np.arange(classes)
    dense = follower_for(RowPasses(open_rows(X, y)), labels, coordinates(X), route=COLUMNS, gap=1e-20).solve(*penalty)
    for route in (GRAM, COLUMNS):
        rows = RowPasses(open_rows(sparse.csr_array(X), y))
        thin = follower_for(rows, labels, none, route=route, gap=1e-20).solve(*penalty)
        assert_allclose(thin.theta, dense.theta, atol=1e-6)


def test_following_penalties_side_by_side_ends_where_single_fits_end():
    X, y = sample(n=400)
    rows, where = RowPasses(open_rows(X, y)), coordinates(X)
    top = np.abs(follower_for(rows, np.arange(2), where).slopes / X.std(axis=0)).max()
    penalties = [(top * 0.8**k * X.std(axis=0), np.zeros(12)) for k in range(30)]
    together = list(follower_for(rows, np.arange(2), where, gap=1e-18).follow(penalties))
    alone = list(follower_for(OneBlock(rows.whole), np.arange(2), where, gap=1e-18).follow(iter(penalties)))
    assert len(together) == len(alone) == 30
    for k in (0, 1, 5, 13, 29):
        single = follower_for(rows, np.arange(2), where, gap=1e-18).solve(*penalties[k])
        assert_allclose(together[k].theta[1:] * X.std(axis=0), single.theta[1:] * X.std(axis=0), atol=1e-7)
        assert_allclose(alone[k].theta, together[k].theta, rtol=1e-6, atol=1e-7)
        assert together[k].loss == pytest.approx(single.loss, rel=1e-8)


def test_neighbouring_penalties_share_passes():
    X, y = sample(n=400)
    follower = follower_for(RowPasses(open_rows(X, y)), np.arange(2), coordinates(X))
    top = np.abs(follower.slopes / X.std(axis=0)).max()
    count = len(list(follower.follow((top * 0.9**k * X.std(axis=0), np.zeros(12)) for k in range(60))))
    assert count == 60
    assert follower.passes < 60


def test_entries_that_are_not_free_keep_their_start():
    X, y = sample()
    objective = Objective(RowPasses(open_rows(X, y)), np.arange(2), coordinates(X))
    start, free = np.zeros(13), np.ones(13, dtype=bool)
    start[3], free[3] = 0.7, False
    lasso = np.append(0.0, np.full(12, 5.0))
    found = GramFollower(objective, start, free=free).minimum(lasso, np.zeros(13))
    assert found.theta[3] == 0.7
    slope = objective.at(found.theta).gradient
    moved = np.flatnonzero(free & (found.theta != 0))
    assert_allclose(slope[moved], -lasso[moved] * np.sign(found.theta[moved]), atol=1e-5)


def test_a_step_that_goes_too_far_is_cut():
    X, y = sample(n=60, p=3)
    rows = RowPasses(open_rows(X, y))
    start = np.array([0.0, 30.0, -30.0, 30.0])
    objective = Objective(rows, np.arange(2), coordinates(X))
    penalty = np.array([0, 1.0, 1.0, 1.0]), np.zeros(4)
    found = GramFollower(objective, start).minimum(*penalty)
    from_zero = GramFollower(objective, np.zeros(4)).minimum(*penalty)
    assert found.converged
    assert_allclose(found.theta, from_zero.theta, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "classes", "route"),
    [((500, 20), 1, GRAM), ((30, 200), 1, COLUMNS), ((5000, 2000), 1, COLUMNS), ((5000, 200), 10, COLUMNS)],
)
def test_many_rows_are_summed_and_many_columns_are_visited(shape, classes, route):
    assert route_for(RowPasses(open_rows(np.zeros(shape), np.zeros(shape[0]))), classes) == route


def test_a_column_of_scale_zero_keeps_the_coefficient_zero():
    X, y = sample()
    X[:, 4] = 1.5
    for route in (GRAM, COLUMNS):
        assert fit(X, y, route, lasso=np.full(12, 0.01), ridge=np.zeros(12)).theta[5] == 0.0


@pytest.mark.skipif(kernels.BACKEND == "numpy", reason="the reference only sweeps")
def test_columns_that_determine_each_other_and_classes_nearly_apart_cost_few_sweeps(monkeypatch):
    sweeps, descent = [], kernels.gram_descent

    def counted(*args):
        done = descent(*args)
        sweeps.append(done[1])
        return done

    monkeypatch.setattr(kernels, "gram_descent", counted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    X = np.column_stack([X, X[:, :3] @ rng.normal(size=(3, 2))])
    y = (X[:, :3] + 0.3 * rng.normal(size=(120, 3))).argmax(axis=1)
    for labels in (y, np.minimum(y, 1)):
        for lasso in (1.0, 0.01, 0.0001):
            shape = (3, 12) if labels is y else (12,)
            found = fit(X, labels, GRAM, lasso=np.full(shape, lasso), ridge=np.zeros(shape))
            assert found.converged
            assert violation(X, labels, found.theta, lasso=lasso, ridge=0.0)[0] < 1e-4 * lasso
    assert max(sweeps) < 200


@ROUTES
@pytest.mark.parametrize("classes", [2, 3])
def test_it_ends_after_the_steps_it_is_given_and_says_so(route, classes):
    X, y = sample(n=300, classes=classes)
    shape = (12,) if classes == 2 else (classes, 12)
    penalty = np.broadcast_to(2.0 * X.std(axis=0), shape), np.zeros(shape)
    follower = follower_for(RowPasses(open_rows(X, y)), np.arange(classes), coordinates(X), route=route)
    nothing = follower.loss
    early = follower.solve(*penalty, 1)
    assert not early.converged
    assert early.iterations == 1
    assert early.loss < nothing
    late = follower.solve(*penalty)
    assert late.converged
    assert (
        late.loss + (penalty[0] * np.abs(late.theta[..., 1:])).sum()
        < early.loss + (penalty[0] * np.abs(early.theta[..., 1:])).sum()
    )
