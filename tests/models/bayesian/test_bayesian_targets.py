"""Bayesian quadratic discriminants whose prior has a scale for every class, and the choice between that and one."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from scipy.stats import multivariate_t
from sklearn.base import clone

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    cross_validate,
    merge,
)
from discrim.errors import CollinearWarning, DataError, ParameterError

BQ, BL = BayesianQuadraticDiscriminantAnalysis, BayesianLinearDiscriminantAnalysis
SIZES = (5, 30, 11)


def classes_of(sizes, p, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(y), p)) @ rng.normal(size=(p, p)) * (1 + y[:, None])
    return X + rng.normal(size=(len(sizes), p))[y], y


def by_definition(X, y, Psi, nu, new):
    """log densities of the Student-t of every class with its Psi_k, from dense matrices."""
    densities = []
    for k, prior in enumerate(Psi):
        own = X[y == k]
        n, d = len(own), own - own.mean(axis=0)
        df = nu + n - X.shape[1]
        densities.append(multivariate_t(own.mean(axis=0), (prior + d.T @ d) * (1 + 1 / n) / df, df).logpdf(new))
    return np.transpose(densities)


def own_variances(X, y):
    return np.array([X[y == k].var(axis=0) for k in np.unique(y)])


@pytest.mark.parametrize("p", [3, 60], ids=["long", "wide"])
def test_each_class_has_its_own_prior(p):
    X, y = classes_of(SIZES, p)
    new = classes_of((4, 4), p, seed=1)[0]
    model = BQ(2.0, target="class-diagonal").fit(X, y)
    Psi = np.array([2.0 * np.diag(variances) for variances in own_variances(X, y)])
    densities = by_definition(X, y, Psi, p + 2, new)
    assert_allclose(model.log_density(new), densities, rtol=1e-10)
    assert_allclose(
        model.predict_proba(new), softmax(densities + np.log(np.array(SIZES) / 46), axis=1), rtol=1e-8, atol=1e-10
    )
    scatter = (X[y == 0] - X[y == 0].mean(axis=0)).T @ (X[y == 0] - X[y == 0].mean(axis=0))
    assert_allclose(model.posterior(0).scale, Psi[0] + scatter, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("few", [1, 2])
def test_a_class_without_variance_or_of_few_rows_takes_the_pooled_one(few):
    X, y = classes_of((8, 9, few), 3)
    X[y == 1, 2] = 4.0
    variances, pooled = own_variances(X, y), np.zeros(3)
    for k in range(3):
        pooled += ((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) / len(y)
    variances[1, 2], variances[2] = pooled[2], pooled
    model = BQ(0.7, target="class-diagonal").fit(X, y)
    expected = by_definition(X, y, np.array([0.7 * np.diag(v) for v in variances]), 5, X)
    assert_allclose(model.log_density(X), expected, rtol=1e-9)


@pytest.mark.parametrize("target", ["class-diagonal", "auto"])
@pytest.mark.parametrize("way", ["evidence", "loo"])
def test_units_of_the_columns_do_not_matter(target, way):
    X, y = classes_of(SIZES, 4)
    other = X * [1e-6, 1.0, 1e4, 1e9] + [1e-3, 0.0, 1e5, 0.0]
    one, two = BQ(way, target=target).fit(X, y), BQ(way, target=target).fit(other, y)
    assert two.target_ == one.target_
    assert two.psi_ == pytest.approx(one.psi_, rel=1e-6)
    assert_allclose(two.predict_proba(other), one.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_psi_has_the_largest_criterion():
    X, y = classes_of((9, 14), 3)
    model = BQ(target="class-diagonal").fit(X, y)
    around = [BQ(f * model.psi_, target="class-diagonal").fit(X, y).log_evidence_ for f in (0.9, 1.1)]
    assert model.log_evidence_ > max(around)


@pytest.mark.parametrize("way", ["evidence", "loo"])
def test_auto_takes_classes_scales_where_they_differ_and_else_one(way):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    noise = rng.normal(size=(40, 12))
    scales = np.where(y[:, None] == 0, np.linspace(1, 9, 12), np.linspace(9, 1, 12))
    for X, target in ((noise, "diagonal"), (noise * scales, "class-diagonal")):
        auto, named = BQ(way, target="auto").fit(X, y), BQ(way, target=target).fit(X, y)
        assert auto.target_ == target
        assert auto.psi_ == named.psi_
        assert_array_equal(auto.predict_proba(X), named.predict_proba(X))
    assert "class-diagonal" in str(auto.summary())


@pytest.mark.parametrize("way", ["evidence", "loo"])
@pytest.mark.parametrize("n", [2, 6, 20])
def test_auto_is_not_misled_by_variances_of_few_rows(way, n):
    """All classes have the same variances; fitting those of each would be fitting noise."""
    y = np.arange(3 * n) % 3
    draws = (np.random.default_rng([n, seed]).normal(size=(3 * n, 20)) for seed in range(5))
    assert {BQ(way, target="auto").fit(X, y).target_ for X in draws} == {"diagonal"}


def test_auto_compares_evidence_less_the_number_of_variances():
    gaps = []
    for seed in range(12):
        X, y = classes_of((12, 15), 3, seed)
        X *= np.where(y[:, None] == 0, [1.0, 1.0, 1.0 + 0.2 * seed], 1.0)
        one, each = (BQ(target=target).fit(X, y).log_evidence_ for target in ("diagonal", "class-diagonal"))
        gaps.append(each - one - 3)
        assert BQ(target="auto").fit(X, y).target_ == ("class-diagonal" if gaps[-1] > 0 else "diagonal")
    assert min(gaps) < 0 < max(gaps)


@pytest.mark.parametrize("target", ["class-diagonal", "auto"])
@pytest.mark.parametrize("p", [4, 50], ids=["long", "wide"])
def test_parts_are_one_fit(target, p):
    X, y = classes_of((14, 20), p)
    first, second = slice(None, None, 2), slice(1, None, 2)
    whole = BQ(target=target).fit(X, y)
    parts = [BQ(target=target).fit(X[part], y[part]) for part in (first, second)]
    more = clone(whole).fit(np.vstack([X, X[:3] + 1]), np.append(y, y[:3]))
    weighted = clone(whole).fit(np.vstack([X, X[:3]]), np.append(y, y[:3]), np.append(np.ones(34), np.zeros(3)))
    for model in (
        merge(*parts), parts[0].partial_fit(X[second], y[second]), more.forget(X[:3] + 1, y[:3]), weighted,
        BQ.from_statistic(whole.statistic_, target=target),
    ):  # fmt: skip
        assert model.target_ == whole.target_
        assert model.psi_ == pytest.approx(whole.psi_, rel=1e-7)
        assert_allclose(model.log_density(X), whole.log_density(X), rtol=1e-8)


def test_parts_keep_the_target_that_leave_one_out_chose():
    X, y = classes_of((30, 30), 3)
    X[y == 1] *= [30.0, 1.0, 1.0]
    model = BQ("loo", target="auto").fit(X[::2], y[::2])
    psi = model.psi_
    assert model.target_ == "class-diagonal"
    model.partial_fit(X[1::2], y[1::2])
    expected = BQ(psi, target="class-diagonal").fit(X, y)
    assert_allclose(model.log_density(X), expected.log_density(X), rtol=1e-9)
    with pytest.raises(DataError, match="'loo' needs the rows themselves"):
        model.set_params(target="identity").partial_fit(X, y).predict(X)


@pytest.mark.parametrize("settings", [{}, {"psi": 1.0, "target": "class-diagonal"}, {"psi": "loo"}])
def test_folds_are_those_of_refitting(settings):
    X, y = classes_of((12, 15), 3)
    model, at = BQ(**{"target": "auto", **settings}), np.arange(27)
    found = cross_validate(model, X, y, cv="loo")
    refits = [clone(model).fit(X[at != i], y[at != i]).predict_proba(X[i : i + 1])[0] for i in at]
    assert_allclose(found.posterior, refits, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("way", ["evidence", "loo"])
@pytest.mark.parametrize("target", ["class-diagonal", "auto"])
@pytest.mark.parametrize("p", [4, 50], ids=["long", "wide"])
def test_hostile_rows_are_predicted_as_plain_ones(way, target, p):
    X, y = classes_of((15, 15, 1, 2), p)
    X[np.abs(X) < 0.5] = 0.0
    model = BQ(way, target=target)
    expected = clone(model).fit(X, y).predict_proba(X)
    assert np.isfinite(expected).all()
    sparse_rows = sparse.csr_array(X)
    assert_allclose(clone(model).fit(sparse_rows, y).predict_proba(sparse_rows), expected, atol=1e-8)
    for scale in (1e-120, 1e120):
        assert_allclose(clone(model).fit(scale * X, y).predict_proba(scale * X), expected, atol=1e-8)
    wider = np.column_stack([X, np.full(33, 7.0), 3.0 * y])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollinearWarning)
        assert_allclose(clone(model).fit(wider, y).predict_proba(wider), expected, atol=1e-8)


@pytest.mark.parametrize("target", ["class-diagonal", "auto"])
def test_a_declared_class_without_rows_changes_nothing(target):
    X, y = classes_of((15, 15), 3)
    model, plain = BQ(target=target).partial_fit(X, y, classes=[0, 1, 2]), BQ(target=target).fit(X, y)
    assert_allclose(model.predict_proba(X)[:, :2], plain.predict_proba(X), rtol=1e-10)
    assert (model.target_, model.log_evidence_) == (plain.target_, pytest.approx(plain.log_evidence_))


def test_what_cannot_be_is_said():
    X, y = classes_of((20, 20), 3)
    with pytest.raises(ParameterError, match=r"'auto' is chosen together with psi or nu.*'diagonal', 'class-diagonal'"):
        BQ(1.0, target="auto").fit(X, y)
    for target in ("class-diagonal", "auto"):
        with pytest.raises(ParameterError, match="it must be one of 'diagonal', 'identity'"):
            BL(target=target).fit(X, y)
    assert BQ([1.0, 2.0, 3.0], target="auto").fit(X, y).target_ == "given"
