"""Digits are kept where the data make it hard: collinear columns, offsets, units, many columns."""

import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets
from sklearn.base import clone

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)
from discrim.errors import CollinearWarning, SingularClassError


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def gaps(scores):
    """Differences between classes: a determinant is the same in all of them and drops out."""
    return scores - scores.mean(axis=1, keepdims=True)


def three_classes(n=300):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 3
    return rng.normal(size=n) + y, rng.normal(size=n) + np.array([0.0, 2.0, -1.0])[y], rng.normal(size=n) + 0.5 * y, y


INVARIANT = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="eigen", normalization="unbiased"),
    QuadraticDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(0.0, 1.0),
    BayesianQuadraticDiscriminantAnalysis(0, 0),
    BayesianLinearDiscriminantAnalysis(0, 0),
    QuadraticDiscriminantAnalysis(predict_method="predictive"),
    LinearDiscriminantAnalysis(predict_method="debiased"),
    LeastSquaresClassifier(),
    RidgeClassifier(alpha=0.0, methods="all"),
]
SCALE_INVARIANT = [
    *INVARIANT,
    LinearDiscriminantAnalysis(shrinkage="auto"),
    LinearDiscriminantAnalysis(shrinkage=0.2, target="diagonal"),
    QuadraticDiscriminantAnalysis(shrinkage=0.2, target="diagonal"),
    RegularizedDiscriminantAnalysis(0.5, 0.3, target="diagonal"),
    BayesianQuadraticDiscriminantAnalysis(),
    BayesianLinearDiscriminantAnalysis(nu="evidence"),
    LeastSquaresClassifier(basis="quadratic"),
    GaussianNB(smoothing="column", methods="all"),
]
each_invariant = pytest.mark.parametrize("model", INVARIANT, ids=str)
each_scale_invariant = pytest.mark.parametrize("model", SCALE_INVARIANT, ids=str)


@each_invariant
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_nearly_collinear_columns_keep_six_digits(model, offset):
    """x2 = x1 + 1e-8 z says what z says; z is taken back from x2 as the machine has rounded it."""
    x1, z, x3, y = three_classes()
    x1 = x1 + offset
    x2 = x1 + 1e-8 * z
    X, plain = np.column_stack([x1, x2, x3]), np.column_stack([x1, 1e8 * (x2 - x1), x3])
    found, expected = clone(model).fit(X, y), clone(model).fit(plain, y)
    assert_allclose(found.predict_proba(X), expected.predict_proba(plain), atol=1e-6)
    scores = gaps(expected.decision_function(plain))
    assert_allclose(gaps(found.decision_function(X)), scores, atol=1e-6 * np.abs(scores).max())


@pytest.mark.parametrize("alpha", [1.0, 1e-6, 1e-12, 1e-15])
def test_ridge_of_nearly_collinear_columns_is_that_of_exact_arithmetic(alpha):
    x1, z, x3, y = three_classes(60)
    X = np.column_stack([x1, x1 + 1e-8 * z, x3])
    fitted = exact_ridge(X, y == 0, alpha)
    model = RidgeClassifier(alpha=alpha, methods="all").fit(X, y)
    assert_allclose(model.decision_function(X)[:, 0], fitted, atol=1e-6)


def exact_ridge(X, label, alpha):
    """Fitted values of the normal equations, solved in fractions."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    target = [Fraction(1) if on else Fraction(-1) for on in label]
    n, p = X.shape
    mean, level = [sum(column) / n for column in zip(*rows, strict=True)], sum(target) / n
    centred = [[v - m for v, m in zip(row, mean, strict=True)] for row in rows]
    system = [
        [sum(r[i] * r[j] for r in centred) + (Fraction(alpha) if i == j else 0) for j in range(p)]
        + [sum(r[i] * (t - level) for r, t in zip(centred, target, strict=True))]
        for i in range(p)
    ]
    for i in range(p):
        system[i] = [v / system[i][i] for v in system[i]]
        for k in set(range(p)) - {i}:
            system[k] = [a - system[k][i] * b for a, b in zip(system[k], system[i], strict=True)]
    return [float(level + sum(v * row[p] for v, row in zip(r, system, strict=True))) for r in centred]


def test_exactly_collinear_columns_are_named_and_change_nothing():
    x1, z, x3, y = three_classes()
    X = np.column_stack([x1, z, x3])
    more = np.column_stack([X, x1 + z, np.full(300, 7.0)])
    expected = LinearDiscriminantAnalysis().fit(X, y)
    for model, plain in (
        (LinearDiscriminantAnalysis(), expected),
        (LeastSquaresClassifier(), LeastSquaresClassifier()),
    ):
        with pytest.warns(CollinearWarning, match=r"Columns 'x\d', 'x4' .* handled by the pseudo-inverse"):
            model.fit(more, y)
        assert_allclose(model.predict_proba(more), plain.fit(X, y).predict_proba(X), atol=1e-10)
    with pytest.raises(SingularClassError, match=r"class 0 is not full rank.*the columns 'x\d', 'x4' are constant or"):
        QuadraticDiscriminantAnalysis().fit(more, y)


# Squares of numbers about 1e8 have no digit left for their differences.
@pytest.mark.parametrize("model", [m for m in SCALE_INVARIANT if not getattr(m, "basis", None)], ids=str)
def test_an_offset_of_1e8_costs_no_more_than_it_rounds_away(model):
    x1, z, x3, y = three_classes()
    X = np.column_stack([x1, z, x3]) + 1e8
    found, expected = clone(model).fit(X, y), clone(model).fit(X - 1e8, y)
    assert_allclose(found.predict_proba(X), expected.predict_proba(X - 1e8), atol=1e-6)


@each_scale_invariant
@pytest.mark.parametrize("scale", [[1e-6, 1.0, 1e6], [1e12, 1.0, 1.0], [1e-8, 1e4, 1.0]], ids=str)
def test_units_do_not_matter(model, scale):
    x1, z, x3, y = three_classes()
    X = np.column_stack([x1, z, x3])
    found, expected = clone(model).fit(X * scale, y), clone(model).fit(X, y)
    assert_allclose(found.predict_proba(X * scale), expected.predict_proba(X), atol=1e-11)


@pytest.mark.parametrize("exponent", [-8, -3, 4, 12])
def test_naive_bayes_does_not_see_the_unit_of_a_column(exponent):
    """As in scikit-learn by default, one large column smooths all others."""
    X, y = datasets.load_iris(return_X_y=True)
    scale = np.array([10.0**exponent, 1.0, 1.0, 1.0])
    model = GaussianNB(smoothing="column", methods="all")
    found, expected = clone(model).fit(X * scale, y), clone(model).fit(X, y)
    assert_allclose(found.predict_log_proba(X * scale), expected.predict_log_proba(X), rtol=1e-12, atol=1e-13)


@each_invariant
def test_answers_are_the_same_in_other_coordinates(model):
    """x -> Ax + b with any invertible A."""
    x1, z, x3, y = three_classes()
    X = np.column_stack([x1, z, x3])
    moved = X @ np.array([[2.0, 1.0, 0.0], [0.0, -1.0, 3.0], [5.0, 0.0, 1.0]]) + [10.0, -20.0, 30.0]
    found, expected = clone(model).fit(moved, y), clone(model).fit(X, y)
    assert_allclose(found.predict_proba(moved), expected.predict_proba(X), atol=1e-11)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e-12, 1e12])
def test_many_columns_in_any_unit_are_not_called_singular(scale):
    """scikit-learn compares variances with an absolute 1e-4 and refuses these rows when they are scaled by 1e-6."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 50)), np.arange(2000) % 2
    found, expected = (QuadraticDiscriminantAnalysis().fit(X * s, y) for s in (scale, 1.0))
    assert_allclose(found.predict_proba(X * scale), expected.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("shrinkage", [None, 0.1, 0.5, 0.9, 1.0, "auto", "oas", "ledoit-wolf", "nonlinear"])
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_explained_ratios_are_shares(shrinkage, solver):
    """B is a sum of squares: no eigenvalue is negative, and the ratios sum to one."""
    X, y = datasets.load_iris(return_X_y=True)
    for priors in (None, [0.8, 0.1, 0.1]):
        model = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage, priors=priors).fit(X, y)
        ratios = model.explained_variance_ratio_
        assert (ratios >= 0).all()
        assert ratios.sum() == pytest.approx(1.0, abs=1e-14)
        assert (np.diff(ratios) <= 0).all()


def test_a_large_tol_drops_weak_directions_however_the_rows_come():
    """As scikit-learn's svd: scaled singular values up to tol count as zero."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Theirs

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 2] = X[:, 0] + 0.05 * X[:, 2]  # the weakest scaled deviation is about 0.035
    for tol, dropped in ((1e-2, False), (0.2, True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            expected = Theirs(tol=tol).fit(X, y).predict_proba(X)
            model = LinearDiscriminantAnalysis(tol=tol).fit(X, y)
            parts = LinearDiscriminantAnalysis(tol=tol)
            for i in range(0, 200, 50):
                parts.partial_fit(X[i : i + 50], y[i : i + 50])
        assert_allclose(model.predict_proba(X), expected, atol=1e-8)
        assert_allclose(parts.predict_proba(X), expected, atol=1e-8)
        quadratic = QuadraticDiscriminantAnalysis(tol=tol)
        if dropped:
            with pytest.raises(SingularClassError, match="class 0 is not full rank"):
                quadratic.fit(X, y)
        else:
            assert_array_equal(quadratic.fit(X, y).predict(X), QuadraticDiscriminantAnalysis().fit(X, y).predict(X))


def test_logarithms_of_posteriors_go_on_where_these_vanish():
    X = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    for kind in (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        RegularizedDiscriminantAnalysis,
        partial(GaussianNB, methods="all"),
    ):
        model = kind().fit(X, [0, 0, 1, 1])
        logs = model.predict_log_proba([[1e4]])
        assert np.isfinite(logs).all()
        assert logs[0, 0] < -1e4
        assert_allclose(logs[0, 0], -model.decision_function([[1e4]])[0], rtol=1e-12)


def test_single_precision_columns_far_from_zero():
    """The mean is taken in double precision: a float32 column about 1e4 keeps what it has."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(20000, 2)) + 1e4).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=20000) > 1e4).astype(int)
    single, double = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X.astype(float), y)
    assert_allclose(single.coef_, double.coef_, rtol=1e-6)
    assert_allclose(single.predict_proba(X), double.predict_proba(X.astype(float)), atol=1e-6)


def test_the_margin_of_two_classes_is_taken_in_double_precision():
    """Two scores of a million that differ by one: single precision would leave a few levels of the difference."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.arange(200) % 2
    far = (X + 1e3 * np.array([1.0, -1.0])).astype(np.float32)
    for kind in (QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis, partial(GaussianNB, methods="all")):
        single, double = kind().fit(X.astype(np.float32), y), kind().fit(X.astype(np.float32).astype(float), y)
        found = single.decision_function(far)
        assert found.dtype == np.float32
        assert_allclose(found, double.decision_function(far.astype(float)), rtol=1e-6)
    beyond = single.decision_function((X * 1e25).astype(np.float32))
    assert not np.isnan(beyond).any()
