"""solver='lsqr' with a singular covariance gives scikit-learn's answer, the pseudo-inverse in the columns' units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Peer
from sklearn.model_selection import cross_val_predict

from discrim import LinearDiscriminantAnalysis, cross_validate, scan
from discrim.decision.multiclass import OneVsRestClassifier
from discrim.errors import CollinearWarning


def noisy_blobs(n, columns, seed, classes=2):
    """One column that distinguishes the classes and others that do not, as in scikit-learn's example."""
    rng = np.random.default_rng(seed)
    x, y = make_blobs(n, n_features=1, centers=np.arange(classes)[:, None] * 4.0 - 2.0, random_state=seed)
    return np.hstack([x, rng.normal(size=(n, columns - 1)) * rng.uniform(0.2, 5.0, columns - 1)]), y


def assert_same(ours, theirs, x, rtol=1e-6):
    assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=rtol * np.abs(theirs.coef_).max())
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=rtol, atol=rtol * np.abs(theirs.intercept_).max())
    assert_array_equal(ours.predict(x), theirs.predict(x))
    assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-6)
    assert_allclose(ours.decision_function(x), theirs.decision_function(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("columns", [3, 16, 17, 19, 20, 25, 40, 75])
def test_few_rows_of_many_columns_as_in_the_example_of_scikit_learn(columns, classes, seed):
    x, y = noisy_blobs(20, columns, seed, classes)
    new, _ = noisy_blobs(200, columns, seed + 100, classes)
    options = {"solver": "lsqr", "priors": None if seed else np.arange(1, classes + 1) / sum(range(classes + 1))}
    assert_same(LinearDiscriminantAnalysis(**options).fit(x, y), Peer(**options).fit(x, y), new)


@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.parametrize("dtype", ["array", "read by file", "in parts", "weights"])
def test_many_rows_with_columns_that_repeat_each_other(dtype, tmp_path):
    pl = pytest.importorskip("polars", reason="the file is written by polars")
    x, y = noisy_blobs(300, 5, 0, 3)
    x = np.column_stack([x, 3.0 * x[:, 1], x[:, 0] + x[:, 2], np.full(300, 7.0), 1.0 * (y == 1)])
    theirs = Peer(solver="lsqr").fit(x, y)
    model = LinearDiscriminantAnalysis(solver="lsqr")
    if dtype == "array":
        model.fit(x, y)
    elif dtype == "weights":
        weight = np.random.default_rng(0).integers(0, 3, 300)
        model.fit(x, y, sample_weight=weight)
        theirs = Peer(solver="lsqr").fit(x.repeat(weight, axis=0), y.repeat(weight))
    elif dtype == "in parts":
        for i in range(3):
            model.partial_fit(x[i::3], y[i::3])
    else:
        frame = pl.DataFrame({f"x{j}": x[:, j] for j in range(x.shape[1])} | {"y": y})
        frame.write_parquet(tmp_path / "rows.parquet")
        model.fit(scan(tmp_path / "rows.parquet", target="y"))
        x = frame.drop("y")
        theirs.feature_names_in_ = np.array(x.columns, dtype=object)
    assert_same(model, theirs, x)


def test_dependent_columns_are_still_named():
    x, y = noisy_blobs(60, 3, 0)
    with pytest.warns(CollinearWarning, match=r"Columns 'x\d' have no variance within the classes beyond"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(np.column_stack([x, 2.0 * x[:, 0]]), y)


def test_a_singular_matrix_of_an_estimator_is_inverted_likewise():
    x, y = noisy_blobs(20, 30, 0)
    options = {"solver": "lsqr", "covariance_estimator": EmpiricalCovariance()}
    assert_same(LinearDiscriminantAnalysis(**options).fit(x, y), Peer(**options).fit(x, y), x)


def test_a_regular_covariance_does_not_depend_on_units():
    x, y = noisy_blobs(80, 4, 0)
    units = np.array([1e-9, 1.0, 1e6, 1e-3])
    plain, scaled = (LinearDiscriminantAnalysis(solver="lsqr").fit(x * u, y) for u in (1.0, units))
    assert_allclose(scaled.predict_proba(x * units), plain.predict_proba(x), atol=1e-9)


@pytest.mark.parametrize("shrinkage", ["auto", 0.3])
def test_shrinkage_is_as_it_was(shrinkage):
    x, y = noisy_blobs(20, 60, 0)
    options = {"solver": "lsqr", "shrinkage": shrinkage}
    assert_same(LinearDiscriminantAnalysis(**options).fit(x, y), Peer(**options).fit(x, y), x)


@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.parametrize("columns", [5, 30])
def test_folds_are_those_of_refits(columns):
    x, y = noisy_blobs(40, columns, 1)
    x = np.column_stack([x, x[:, 1]])
    model = LinearDiscriminantAnalysis(solver="lsqr")
    refitted = cross_val_predict(model, x, y, cv=4, method="predict_proba")
    assert_allclose(cross_validate(model, x, y, cv=4).posterior, refitted, atol=1e-7)


def test_leaving_one_out_equals_refitting_where_the_covariance_is_singular():
    x, y = noisy_blobs(24, 30, 2)
    found = cross_validate(LinearDiscriminantAnalysis(solver="lsqr"), x, y, cv="loo")
    for i in range(24):
        kept = np.arange(24) != i
        refitted = LinearDiscriminantAnalysis(solver="lsqr").fit(x[kept], y[kept])
        assert_allclose(found.posterior[[i]], refitted.predict_proba(x[[i]]), atol=1e-7)


def test_problems_of_a_scheme_are_solved_likewise():
    x, y = noisy_blobs(24, 40, 3, 3)
    scheme = OneVsRestClassifier(LinearDiscriminantAnalysis(solver="lsqr")).fit(x, y)
    for k, model in enumerate(scheme.estimators_):
        assert_allclose(model.coef_, Peer(solver="lsqr").fit(x, y == k).coef_, rtol=1e-6, atol=1e-9)


def test_nothing_as_large_as_the_square_of_the_columns_is_made():
    x, y = noisy_blobs(20, 20_000, 0)
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    centred = x - np.stack([x[y == k].mean(axis=0) for k in (0, 1)])[y]
    _, s, vt = np.linalg.svd(centred / np.sqrt(20), full_matrices=False)
    gap = x[y == 1].mean(axis=0) - x[y == 0].mean(axis=0)
    expected = vt[:18].T @ ((vt[:18] @ gap) / s[:18] ** 2)
    assert_allclose(model.coef_[0], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
