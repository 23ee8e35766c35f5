"""Values far from zero: single precision around a million, double precision around 1e12."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import discrim
from discrim import scan
from discrim.errors import PrecisionWarning, SingularClassError

GAUSSIAN = {
    "nb": discrim.GaussianNB,
    "lda": discrim.LinearDiscriminantAnalysis,
    "lda-shrunk": lambda: discrim.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="oas"),
    "qda": discrim.QuadraticDiscriminantAnalysis,
    "rda": lambda: discrim.RegularizedDiscriminantAnalysis(alpha=0.5, gamma=0.9),
    "bayes-qda": discrim.BayesianQuadraticDiscriminantAnalysis,
    "least-squares": discrim.LeastSquaresClassifier,
    "mixed": discrim.MixedNB,
}
MODELS = {
    **GAUSSIAN,
    "ridge": lambda: discrim.RidgeClassifier(alpha=1e-6),
    "logistic": lambda: discrim.LogisticRegression(C=np.inf),
}
ORDERS = {"rows": np.ascontiguousarray, "columns": np.asfortranarray}


def rows(offset, sd, dtype=np.float64, n=600, seed=0):
    """Three classes, whose deviations differ by a factor of four, on columns at different offsets."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    x = rng.normal(size=(n, 4)) * np.array([0.5, 1.0, 2.0])[y, None] + np.eye(3, 4)[y] * 3.0
    return (offset * np.array([1.0, -1.0, 0.5, 1.0]) + sd * x).astype(dtype), y


def posterior(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


def fit_quietly(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("error", discrim.errors.DiscrimWarning)
        return model.fit(*data)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, 4e6])
def test_single_precision_is_fitted_and_predicted_as_its_copy_in_double(name, offset, order):
    X, y = rows(offset, 1.0, np.float32)
    single = fit_quietly(MODELS[name](), ORDERS[order](X), y)
    double = fit_quietly(MODELS[name](), X.astype(np.float64), y)
    assert_allclose(posterior(single, X), posterior(double, X.astype(np.float64)), atol=2e-5, rtol=2e-5)
    assert np.mean(single.predict(X) == double.predict(X.astype(float))) > 0.998


@pytest.mark.parametrize("name", GAUSSIAN)
def test_parts_with_other_means_add_up_to_the_whole_in_single_precision(name):
    X, y = rows(1e6, 1.0, np.float32)
    order = np.argsort(X[:, 2], kind="stable")
    model = GAUSSIAN[name]()
    for part in np.array_split(order, 7):
        model.partial_fit(X[part], y[part])
    double = GAUSSIAN[name]().fit(X.astype(np.float64), y)
    assert_allclose(posterior(model, X), posterior(double, X.astype(np.float64)), atol=2e-5)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_scan_of_single_precision_columns_is_fitted_as_its_copy_in_double(name, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y = rows(1e6, 1.0, np.float32)
    columns = {f"x{j}": pa.array(X[:, j], pa.float32()) for j in range(4)} | {"y": pa.array(y)}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=97)
    found = GAUSSIAN[name]().fit(scan(tmp_path / "rows.parquet", target="y"))
    double = GAUSSIAN[name]().fit(X.astype(np.float64), y)
    X64 = scan(tmp_path / "rows.parquet", features=[f"x{j}" for j in range(4)])
    assert_allclose(posterior(found, X64), posterior(double, X.astype(np.float64)), atol=2e-5)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["nb", "lda", "qda"])
def test_sparse_rows_far_from_zero_are_fitted_as_dense_ones(name, dtype, kind):
    X, y = rows(1e6, 1.0, dtype)
    found = fit_quietly(GAUSSIAN[name](), kind(X), y)
    double = fit_quietly(GAUSSIAN[name](), X.astype(np.float64), y)
    assert_allclose(posterior(found, X), posterior(double, X.astype(np.float64)), atol=2e-5)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("offset", "sd"), [(1e12, 1e-2), (1e12, 1e-3), (1e8, 1e-6), (1e6, 1.0)])
def test_double_precision_far_from_zero_classifies_as_near_it(name, offset, sd, order):
    X, y = rows(offset, sd)
    near = X - offset * np.array([1.0, -1.0, 0.5, 1.0])  # exact, as neighbours in double precision
    expected = MODELS[name]().fit(near, y).score(near, y)
    assert fit_quietly(MODELS[name](), ORDERS[order](X), y).score(X, y) >= expected - 0.02


def rows_with_a_column_of_rounding():
    X, y = rows(0.0, 1.0)
    X[:, 2] = 1e12 + 1e-4 * (np.arange(len(X)) % 2)
    return X, y


@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.parametrize("name", sorted(set(GAUSSIAN) - {"qda"}))
def test_columns_that_vary_only_in_their_last_place_are_named(name):
    with pytest.warns(PrecisionWarning, match="'x2' varies within a class by no more than the last of the 15 digits"):
        GAUSSIAN[name]().fit(*rows_with_a_column_of_rounding())


def test_a_class_covariance_of_nothing_but_rounding_is_an_error_that_names_the_column():
    with pytest.raises(SingularClassError, match="'x2'"):
        discrim.QuadraticDiscriminantAnalysis().fit(*rows_with_a_column_of_rounding())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.1, 1e6 / 3, 1e12 / 7])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_constant_column_is_constant_and_not_worth_a_word(value, dtype, container):
    X, y = rows(0.0, 1.0, dtype)
    X[:, 2] = value
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    fitted = fit_quietly(discrim.GaussianNB(), container(X), y, weight)
    without = discrim.GaussianNB().fit(X[:, [0, 1, 3]], y, weight)
    assert_allclose(fitted.predict_proba(X), without.predict_proba(X[:, [0, 1, 3]]), atol=1e-5)


def test_classes_of_different_spread_around_a_million_in_single_precision():
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    X = (1e6 + rng.normal(size=(4000, 3)) * np.where(y, 0.25, 1.0)[:, None] + 3.0 * y[:, None]).astype(np.float32)
    assert discrim.GaussianNB().fit(X, y).score(X, y) > 0.98
    assert discrim.QuadraticDiscriminantAnalysis().fit(X, y).score(X, y) > 0.98
