"""Sparse rows, frames, files and pickles: the same model."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discrim import LogisticRegression, scan
from discrim.errors import DiscrimError

pytestmark = pytest.mark.filterwarnings("error")

FITS = {"l2": {}, "none": {"C": np.inf}, "l1": {"l1_ratio": 1.0, "C": 0.5}, "liblinear": {"solver": "liblinear"}}


def drawn(n=300, p=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.6)
    eta = X @ rng.normal(size=(p, classes))
    return X, (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("hold", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows_are_fitted_as_dense_ones(kind, classes, hold):
    if kind == "liblinear" and classes > 2:
        pytest.skip("liblinear is for two classes")
    X, y = drawn(classes=classes)
    dense, found = (LogisticRegression(**FITS[kind]).fit(rows, y) for rows in (X, hold(X)))
    assert_allclose(found.coef_, dense.coef_, atol=2e-6)
    assert_allclose(found.intercept_, dense.intercept_, atol=2e-6)
    assert_allclose(found.predict_proba(hold(X)), dense.predict_proba(X), atol=1e-6)
    if kind == "none":
        assert_allclose(found.summary().std_error, dense.summary().std_error, rtol=1e-5)


def test_wide_sparse_rows_are_fitted_as_dense_ones():
    X, y = drawn(40, 200)
    dense, found = LogisticRegression().fit(X, y), LogisticRegression().fit(sparse.csr_array(X), y)
    assert found.solver_ == dense.solver_
    assert_allclose(found.coef_, dense.coef_, atol=1e-7)


def test_a_category_is_its_indicators_and_one_term():
    pd = pytest.importorskip("pandas")
    X, y = drawn()
    site = np.array(["a", "b", "c"])[np.arange(300) % 3]
    frame = pd.DataFrame({"u": X[:, 0], "site": pd.Categorical(site), "v": X[:, 1]})
    model = LogisticRegression(C=np.inf).fit(frame, y)
    hot = np.column_stack([X[:, 0], site == "b", site == "c", X[:, 1]])
    expected = LogisticRegression(C=np.inf).fit(hot, y)
    assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    assert_allclose(model.summary().std_error, expected.summary().std_error, rtol=1e-9)
    assert list(model.drop1().index) == ["<none>", "u", "site", "v"]
    assert model.drop1()["site", "Df"] == 2
    assert_allclose(model.predict_proba(frame), expected.predict_proba(hot), rtol=1e-9)
    assert model.feature_names_in_.tolist() == ["u", "site", "v"]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ["l2", "none", "l1"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_file_is_fitted_as_its_rows_in_memory(tmp_path, suffix, kind, classes):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = drawn(600, 4, classes)
    # The last class comes late: the first blocks do not know it.
    order = np.argsort(y == classes - 1, kind="stable")
    labels = np.array(["n", "m", "k"])[y]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(target=labels, w=1.0 + np.arange(600) % 2).iloc[order]
    path = tmp_path / f"rows.{suffix}"
    frame.to_parquet(path, index=False) if suffix == "parquet" else frame.to_csv(path, index=False)
    rows = scan(path, target="target", weight="w", batch_rows=128)
    found = LogisticRegression(**FITS[kind]).fit(rows)
    expected = LogisticRegression(**FITS[kind]).fit(frame[list("abcd")], frame["target"], frame["w"])
    assert found.classes_.tolist() == sorted(set(labels))
    assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    assert_allclose(found.intercept_, expected.intercept_, atol=1e-6)
    assert_allclose(found.predict_proba(rows), expected.predict_proba(frame[list("abcd")]), atol=1e-6)
    if kind == "none":
        assert_allclose(found.summary().std_error, expected.summary().std_error, rtol=1e-6)
        assert_allclose(found.summary().deviance, expected.summary().deviance, rtol=1e-10)
        assert found.summary().names == expected.summary().names


def test_class_weights_work_with_a_file(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = drawn(400)
    pd.DataFrame(X, columns=list("abcd")).assign(target=y).to_parquet(tmp_path / "t.parquet")
    rows = scan(tmp_path / "t.parquet", target="target", batch_rows=64)
    for weight in ("balanced", {0: 2.0, 1: 0.5}):
        found = LogisticRegression(class_weight=weight).fit(rows)
        assert_allclose(found.coef_, LogisticRegression(class_weight=weight).fit(X, y).coef_, rtol=1e-6)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    "parameters", [{}, {"C": np.inf}, {"C": np.inf, "class_weight": "balanced"}, {"l1_ratio": 1.0, "C": 0.5}]
)
def test_a_column_of_a_file_is_the_offset(tmp_path, monkeypatch, parameters, small):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not small:
        monkeypatch.setattr("discrim.families.logistic.recipe.SAMPLE_VALUES", 400)
    X, y = drawn(900)
    known = 30.0 + X[:, 1] ** 2
    frame = pd.DataFrame(X, columns=list("abcd")).assign(known=known, target=y)
    frame.to_parquet(tmp_path / "t.parquet")
    rows = scan(tmp_path / "t.parquet", target="target", batch_rows=64)
    found = LogisticRegression(**parameters).fit(rows, offset="known")
    expected = LogisticRegression(**parameters).fit(X, y, offset=known)
    assert found.feature_names_in_.tolist() == list("abcd")
    assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
    assert_allclose(
        found.predict_proba(rows, offset="known"), expected.predict_proba(X, offset=known), rtol=1e-6, atol=1e-12
    )
    told, meant = found.summary(), expected.summary()
    assert_allclose([told.deviance, told.null_deviance], [meant.deviance, meant.null_deviance], rtol=1e-9)
    if parameters == {"C": np.inf}:
        assert_allclose(found.drop1()["LRT"][1:], expected.drop1()["LRT"][1:], rtol=1e-6)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"known": "a"}, "offset column 'known' holds text"),
        ({"known": [0.0, np.nan] * 30}, "offset column 'known' has 30 values that are missing, NaN or infinite"),
        ({"knows": 1.0}, "no column 'known' in .* Did you mean 'knows'"),
    ],
)
def test_a_column_that_cannot_be_an_offset_is_named(tmp_path, column, words):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = drawn(60)
    pd.DataFrame(X, columns=list("abcd")).assign(target=y, **column).to_parquet(tmp_path / "t.parquet")
    rows = scan(tmp_path / "t.parquet", target="target")
    with pytest.raises(DiscrimError, match=words):
        LogisticRegression().fit(rows, offset="known")
    with pytest.raises(DiscrimError, match="the name of one of its columns"):
        LogisticRegression().fit(rows, offset=np.zeros(60))
    with pytest.raises(DiscrimError, match="name of a column is for a scan"):
        LogisticRegression().fit(X, y, offset="known")


@pytest.mark.parametrize("kind", ["l2", "none", "l1"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_model_predicts_and_tells_what_needs_no_rows(kind, classes):
    X, y = drawn(classes=classes)
    model = LogisticRegression(**FITS[kind]).fit(X, y)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert str(again.summary()) == str(model.summary())
    saved = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(model)) < 20_000
    for question in (saved.drop1, saved.step, saved.residuals, saved.leverage, saved.cooks_distance):
        with pytest.raises(DiscrimError, match="rows" if kind == "none" else None):
            question()
    if kind == "none":
        model.drop1()


def test_a_saved_model_without_inference_still_predicts():
    X, y = drawn()
    model = LogisticRegression(inference=False).fit(X, y)
    saved = pickle.loads(pickle.dumps(model))
    assert_array_equal(saved.predict(X), model.predict(X))
    with pytest.raises(DiscrimError, match="inference=True"):
        saved.summary()


def test_it_is_cloned_tuned_and_put_into_pipelines():
    X, y = drawn()
    model = LogisticRegression(C=0.3, reference=1, aliased="minimum-norm")
    assert clone(model).get_params() == model.get_params()
    assert cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=3).min() > 0.5
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0], "l1_ratio": [0.0, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5


def test_fitting_again_leaves_nothing_of_the_first_fit():
    pd = pytest.importorskip("pandas")
    X, y = drawn()
    model = LogisticRegression(C=np.inf).fit(pd.DataFrame(X, columns=list("abcd")), y)
    model.fit(X[:, :2], y)
    assert model.summary().names == ["(Intercept)", "x0", "x1"]
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
    assert model.summary().names == ["(Intercept)", "x0", "x1"]
