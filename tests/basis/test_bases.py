"""Feature maps against formulas and scikit-learn, from any container."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from discrim import LinearDiscriminantAnalysis, LogisticRegression, scan
from discrim.basis import (
    FourierBasis,
    FunctionBasis,
    JoinedBasis,
    PolynomialBasis,
    QuadraticBasis,
    RadialBasis,
    SplineBasis,
    StepBasis,
)
from discrim.errors import DataError, ParameterError


def halves(x):
    return np.column_stack([x, x[:, :1] / 2])


BASES = [
    PolynomialBasis(),
    PolynomialBasis(3, interaction_only=True),
    QuadraticBasis(),
    RadialBasis(4),
    RadialBasis(3, placement="data", per_column=True),
    StepBasis(),
    StepBasis(3, values="sign", placement="uniform"),
    SplineBasis(),
    SplineBasis(2, degree=2, extrapolation="constant", placement="uniform"),
    FourierBasis(20),
    FunctionBasis(halves),
    JoinedBasis([None, StepBasis(2)]),
]
each_basis = pytest.mark.parametrize("basis", BASES, ids=lambda basis: type(basis).__name__)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 5.0, 0.1] + [0.0, 10.0, 0.0]


@pytest.fixture(scope="module")
def y(X):
    return np.where((X[:, 0] ** 2 + X[:, 1] / 5) > 3, "out", "in")


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}")
        for basis in BASES
        if not isinstance(basis, FunctionBasis)
        for estimator, check in estimator_checks_generator(basis)
    ],
)
def test_scikit_learns_checks_pass(estimator, check):
    check(clone(estimator))


@pytest.mark.parametrize("interaction_only", [False, True])
def test_powers_and_products_are_those_of_scikit_learn(X, interaction_only):
    ours = PolynomialBasis(3, interaction_only=interaction_only).fit(X)
    theirs = PolynomialFeatures(3, interaction_only=interaction_only, include_bias=False).fit(X)
    assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    assert [n.replace(":", " ") for n in ours.get_feature_names_out()] == list(theirs.get_feature_names_out())


@pytest.mark.parametrize(("ours", "theirs"), [("linear", "linear"), ("constant", "constant"), ("continue", "continue")])
def test_splines_span_the_space_of_scikit_learns_splines(X, ours, theirs):
    x = X[:, :1]
    low, high = x.min(), x.max()
    knots = np.linspace(low, high, 6)
    reference = SplineTransformer(knots=knots[:, None], extrapolation=theirs, include_bias=True).fit(x)
    beyond = np.concatenate([x, [[low - 1.0], [high + 2.0]]])
    a = SplineBasis([knots[1:-1]], extrapolation=ours).fit(x).transform(beyond)
    b = reference.transform(beyond)
    # With the constant, ours are linear functions of theirs, and as many.
    a = np.column_stack([np.ones(len(a)), a])
    assert a.shape == b.shape
    solution = np.linalg.lstsq(a[:-2], b[:-2], rcond=None)[0]
    assert_allclose(a @ solution, b, atol=1e-8)


def test_bumps_are_gaussian_in_standardised_distances(X):
    basis = RadialBasis(5, width=0.7).fit(X)
    z, c = X / X.std(axis=0), basis.centres_ / X.std(axis=0)
    expected = np.exp(-((z[:, None] - c) ** 2).sum(axis=2) / (2 * 0.49))
    assert_allclose(basis.transform(X), expected, rtol=1e-9)


def test_a_grid_has_points_along_every_column(X):
    centres = RadialBasis(3, placement="grid").fit(X[:, :2]).centres_
    assert len(centres) == 9
    assert_allclose(centres.min(axis=0), X[:, :2].min(axis=0))
    assert_allclose(centres.max(axis=0), X[:, :2].max(axis=0))
    with pytest.raises(DataError, match="A grid of 10 points along each of 5 columns"):
        RadialBasis(10, placement="grid").fit(np.ones((4, 5)))


def test_given_centres_are_in_the_units_of_the_rows(X):
    basis = RadialBasis([[0.0, 10.0, 0.0]], width=1.0).fit(X)
    assert_allclose(basis.transform([[0.0, 10.0, 0.0]]), [[1.0]])


def test_random_fourier_features_approach_the_gaussian_kernel(X):
    basis = FourierBasis(20_000, gamma=0.3, random_state=1).fit(X)
    z = X[:30] / X.std(axis=0)
    kernel = np.exp(-0.3 * ((z[:, None] - z) ** 2).sum(axis=2))
    mapped = basis.transform(X[:30])
    assert_allclose(mapped @ mapped.T, kernel, atol=0.05)


def test_steps_stand_at_quantiles(X):
    basis = StepBasis(3).fit(X)
    assert_allclose(basis.knots_[0], np.quantile(X[:, 0], [0.25, 0.5, 0.75]))
    assert_array_equal(basis.transform(X)[:, 1], X[:, 0] > np.median(X[:, 0]))
    assert list(StepBasis([1.5]).fit(X[:, :1]).get_feature_names_out()) == ["x0>1.5"]


@each_basis
def test_a_block_and_all_rows_are_mapped_alike(basis, X):
    fitted = clone(basis).fit(X)
    whole = fitted.transform(X)
    assert_array_equal(np.vstack([fitted.of_block(X[:100]), fitted.of_block(X[100:])]), whole)
    assert whole.shape[1] == len(fitted.get_feature_names_out())
    if not isinstance(basis, FunctionBasis):
        assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), whole)


@each_basis
def test_a_scan_gives_the_model_that_the_rows_in_memory_give(basis, X, y, tmp_path):
    pd = pytest.importorskip("pandas", reason="writes the file")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    rows = scan(tmp_path / "rows.parquet", target="y", batch_rows=64)
    model = make_pipeline(clone(basis), LinearDiscriminantAnalysis(shrinkage=0.1))
    in_memory = clone(model).fit(frame, y).predict_proba(frame)
    out_of_core = clone(model).fit(rows)
    assert_allclose(out_of_core.predict_proba(rows), in_memory, atol=1e-9)
    assert_allclose(out_of_core.predict_proba(frame), in_memory, atol=1e-9)
    assert list(out_of_core[0].feature_names_in_) == ["a", "b", "c"]


def test_logistic_regression_reads_a_mapped_scan_again_and_again(X, y, tmp_path):
    pd = pytest.importorskip("pandas", reason="writes the file")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    model = make_pipeline(QuadraticBasis(), LogisticRegression(C=1.0))
    found = clone(model).fit(scan(tmp_path / "rows.parquet", target="y"))
    expected = clone(model).fit(frame, y)
    assert_allclose(found[-1].coef_, expected[-1].coef_, rtol=1e-6, atol=1e-9)
    assert found[-1].summary().names[1:3] == ["a", "b"]


def test_categories_become_indicators_first(X):
    pd = pytest.importorskip("pandas", reason="has categories")
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 10, "x", "w")})
    names = QuadraticBasis(interaction_only=True).fit(frame).get_feature_names_out()
    assert list(names) == ["a", "kind[x]", "a:kind[x]"]


def test_float32_stays_float32(X):
    for basis in BASES:
        assert clone(basis).fit_transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (PolynomialBasis(0), "'degree' parameter is 0"),
        (RadialBasis(0), "'centres' parameter is 0"),
        (RadialBasis(width=-1.0), "'width' parameter is -1.0"),
        (RadialBasis(placement="moon"), "'placement' parameter is 'moon'"),
        (RadialBasis([[1.0, 2.0]]), "3 columns need an array of m x 3"),
        (StepBasis([[0.0], [1.0]]), "'knots' has 2 arrays for 3 columns"),
        (StepBasis(["a"]), "'knots' parameter is"),
        (StepBasis(values="ramp"), "'values' parameter is 'ramp'"),
        (SplineBasis(extrapolation="wild"), "'extrapolation' parameter is 'wild'"),
        (SplineBasis(degree=0), "'degree' parameter is 0"),
        (FourierBasis(0), "'n_components' parameter is 0"),
        (FourierBasis(gamma=0.0), "'gamma' parameter is 0.0"),
        (JoinedBasis([]), "'parts' parameter is"),
        (JoinedBasis(["steps"]), "'parts' parameter is 'steps'"),
        (FunctionBasis(halves, names=["a"]), "a list of 4 names"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(basis, message, X):
    with pytest.raises(ParameterError, match=message):
        basis.fit(X)


def test_a_function_that_loses_rows_is_told(X):
    with pytest.raises(DataError, match=r"shape \(1, 3\).*for 2 rows"):
        FunctionBasis(lambda x: x[:1]).fit(X)


def test_values_that_are_missing_or_overflow_are_told_by_column(X):
    hurt = X.copy()
    hurt[3, 1] = np.nan
    with pytest.raises(DataError, match="column 'x1' has 1 NaN"):
        QuadraticBasis().fit(hurt)
    with pytest.raises(DataError, match="column 'x1' has 1 NaN"):
        StepBasis().fit(X).transform(hurt)
    with pytest.raises(DataError, match="overflow on these rows"):
        QuadraticBasis().fit(X).transform(np.full((1, 3), 1e200))


def test_a_constant_column_is_mapped_to_something_finite():
    constant = np.column_stack([np.arange(10.0), np.full(10, 7.0)])
    for basis in BASES:
        assert np.isfinite(clone(basis).fit_transform(constant)).all()
