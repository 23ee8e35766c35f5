"""Rows that are too many to be held in memory: folds of a hash, and settings and errors that are right for them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Reference
from sklearn.model_selection import PredefinedSplit
from sklearn.tree import DecisionTreeClassifier

import discrim
from discrim.engines import keyed
from discrim.engines.keyed import fold_of, keys_of
from discrim.errors import DataError, ParameterError
from discrim.evaluation import folds_of_scan

pytest.importorskip("pyarrow")

N, FOLDS = 6000, 4
RNG = np.random.default_rng(23)
X = RNG.normal(size=(N, 4)) @ RNG.normal(size=(4, 4))
Y = np.array(["a", "b", "c"])[np.digitize(X @ [0.5, -0.4, 0.3, 0.0] + RNG.logistic(size=N), [-0.5, 1.0])]
FRAME = pd.DataFrame(X, columns=list("pqrs")).assign(w=RNG.integers(1, 4, N).astype(float), y=Y, two=Y == "b")
FOLD = fold_of(keys_of(0, 0, N), FOLDS)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=1300)
    return path


@pytest.fixture(autouse=True)
def small_memory(monkeypatch):
    from discrim.families.logistic import recipe

    monkeypatch.setattr(keyed, "LARGE", 1000)
    monkeypatch.setattr(recipe, "SAMPLE_VALUES", 400)


@pytest.fixture(autouse=True)
def rows_stay(monkeypatch, small_memory):
    """No model may gather the rows."""

    def gathered(*_, **__):
        raise AssertionError("the rows were gathered")

    for module in ("threads", "keyed"):
        monkeypatch.setattr(f"discrim.engines.{module}.RowPasses.block", gathered)
    monkeypatch.setattr("discrim.evaluation.resampling.in_memory", gathered)
    monkeypatch.setattr("discrim.models.logistic.cv.in_memory", gathered)


def scanned(path, target="y", **settings):
    return discrim.scan(path, target=target, features=list("pqrs"), batch_rows=700, **settings)


MODELS = [
    discrim.LinearDiscriminantAnalysis(),
    discrim.QuadraticDiscriminantAnalysis(),
    discrim.GaussianNB(),
    discrim.RidgeClassifier(),
    discrim.NearestCentroid(metric="euclidean"),
    discrim.LogisticRegression(C=0.1, tol=0),
    discrim.LogisticRegression(C=0.1, tol=0, class_weight="balanced"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("weight", [None, "w"])
def test_the_error_of_all_rows_is_that_of_refitting_without_each_fold(model, weight, path):
    found = discrim.cross_validate(model, scanned(path, weight=weight), cv=FOLDS)
    w = None if weight is None else FRAME[weight].to_numpy()
    wrong, loss = np.zeros(N), np.zeros(N)
    for f in range(FOLDS):
        train, test = f != FOLD, f == FOLD
        other = clone(model).fit(X[train], Y[train], None if w is None else w[train])
        wrong[test] = other.predict(X[test]) != Y[test]
        if hasattr(other, "predict_proba"):
            posterior = other.predict_proba(X[test])
            loss[test] = -np.log(posterior[np.arange(test.sum()), np.searchsorted(other.classes_, Y[test])])
            assert_allclose(found.posterior[found.folds == f], posterior, atol=1e-7)
    assert found.n_rows == N
    assert_array_equal(found.y, Y)
    assert_array_equal(found.folds, FOLD)
    assert found.error == pytest.approx(np.average(wrong, weights=w), abs=1e-12)
    if hasattr(other, "predict_proba"):
        assert found.log_loss == pytest.approx(np.average(loss, weights=w), rel=1e-7)
    assert "6,000 rows" in repr(found)


def test_only_some_posteriors_are_kept_of_many_rows(path, monkeypatch):
    whole = discrim.cross_validate(discrim.GaussianNB(), scanned(path), cv=FOLDS)
    monkeypatch.setattr(folds_of_scan, "SAMPLE_ROWS", 500)
    found = discrim.cross_validate(discrim.GaussianNB(), scanned(path), cv=FOLDS)
    keys = keys_of(0, 0, N)
    drawn = np.sort(np.argpartition(keys, 500)[:500])
    assert_array_equal(found.posterior, whole.posterior[drawn])
    assert_array_equal(found.y, Y[drawn])
    assert (found.error, found.log_loss, found.n_rows) == (whole.error, whole.log_loss, N)


def test_a_class_that_a_fold_has_alone_counts_alike_for_every_model(tmp_path, monkeypatch):
    labels = Y.astype(object)
    labels[[np.flatnonzero(FOLD == 1)[5]]] = "z"
    FRAME.assign(y=labels).to_parquet(tmp_path / "rare.parquet")
    monkeypatch.setattr(folds_of_scan, "SAMPLE_ROWS", 5999)
    found = discrim.cross_validate(discrim.GaussianNB(), scanned(tmp_path / "rare.parquet"), cv=FOLDS)
    loss = np.zeros(N)
    for f in range(FOLDS):
        train, test = f != FOLD, f == FOLD
        fitted = clone(discrim.GaussianNB()).fit(X[train], labels[train].astype(str))
        known = {label: k for k, label in enumerate(fitted.classes_)}
        own = [known.get(label, -1) for label in labels[test]]
        p = np.column_stack([fitted.predict_proba(X[test]), np.full(test.sum(), 1.0 / (N + 1))])
        loss[test] = -np.log(p[np.arange(test.sum()), own])
    assert found.log_loss == pytest.approx(loss.mean(), rel=1e-7)
    assert found.unseen.sum() == np.isin("z", found.y)


TUNED = [
    discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv", cv=FOLDS),
    discrim.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="cv", cv=FOLDS),
    discrim.NearestCentroid(shrink_threshold="cv", cv=FOLDS),
    discrim.LassoClassifier(alpha="cv", cv=FOLDS),
]


@pytest.mark.parametrize("model", TUNED, ids=repr)
def test_settings_are_those_of_the_same_folds_in_memory(model, path, monkeypatch):
    found = clone(model).fit(scanned(path))
    monkeypatch.undo()
    rows = FRAME[list("pqrs")]
    whole = clone(model).set_params(cv=PredefinedSplit(FOLD)).fit(rows, Y)
    for name, value in whole.cv_results_.items():
        if not isinstance(value, str):
            assert_allclose(found.cv_results_[name], value, rtol=1e-7, atol=1e-9, err_msg=name)
    ask = "decision_function" if hasattr(whole, "decision_function") else "predict_proba"
    assert_allclose(getattr(found, ask)(rows), getattr(whole, ask)(rows), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("target", "scoring"), [("two", "accuracy"), ("two", "neg_log_loss"), ("y", "neg_log_loss")])
@pytest.mark.parametrize(
    "given", [{"l1_ratios": (0,)}, {"l1_ratios": (0.5, 1.0), "solver": "saga"}], ids=["ridge", "lasso"]
)
def test_penalties_are_chosen_as_from_the_same_folds_in_memory(target, scoring, given, path, monkeypatch):
    settings = {"Cs": [1e-3, 1e-1, 10.0], "tol": 1e-8, "max_iter": 5000, "use_legacy_attributes": False, **given}
    model = discrim.LogisticRegressionCV(scoring=scoring, **settings)
    found = clone(model).set_params(cv=FOLDS).fit(scanned(path, target))
    monkeypatch.undo()
    whole = clone(model).set_params(cv=PredefinedSplit(FOLD)).fit(X, FRAME[target])
    assert_allclose(found.scores_, whole.scores_, rtol=1e-5)
    assert_allclose(found.coefs_paths_, whole.coefs_paths_, rtol=1e-3, atol=1e-4)
    assert (found.C_, found.l1_ratio_) == (whole.C_, whole.l1_ratio_)
    assert_allclose(found.coef_, whole.coef_, rtol=1e-4, atol=1e-5)


def test_class_weights_are_those_of_all_rows(path):
    model = discrim.LogisticRegressionCV(
        Cs=[0.01], l1_ratios=(0,), cv=FOLDS, class_weight="balanced", scoring="accuracy", use_legacy_attributes=False
    )
    found = model.fit(scanned(path, "two"))
    weight = np.where(FRAME["two"], N / (2 * FRAME["two"].sum()), N / (2 * (~FRAME["two"]).sum()))
    other = Reference(C=0.01, tol=1e-10).fit(X[FOLD != 0], FRAME["two"][FOLD != 0], weight[FOLD != 0])
    assert_allclose(found.coefs_paths_[0, 0, 0, 0, :-1], other.coef_[0], atol=1e-5)


def test_dask_frames_are_judged_and_tuned_where_they_lie():
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'discrim[dask]'")
    rows = discrim.scan(dd.from_pandas(FRAME, npartitions=5), target="y", features=list("pqrs"))
    found = discrim.cross_validate(discrim.LinearDiscriminantAnalysis(), rows, cv=FOLDS)
    assert found.n_rows == N
    wrong = discrim.LinearDiscriminantAnalysis().fit(X, Y).predict(X) != Y
    assert found.error == pytest.approx(wrong.mean(), abs=0.005)
    model = discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv", cv=FOLDS).fit(rows)
    plain = discrim.RegularizedDiscriminantAnalysis(alpha=model.alpha_, gamma=model.gamma_).fit(X, Y)
    assert_allclose(model.predict_proba(FRAME[list("pqrs")]), plain.predict_proba(X), atol=1e-9)


def test_what_cannot_be_done_is_refused_in_words(path):
    lda = discrim.LinearDiscriminantAnalysis()
    for model, cv, words in [
        (lda, "loo", "too large to be held in memory"),
        (DecisionTreeClassifier(), 3, "use compare"),
        (discrim.MixedNB(), 3, "mixed columns"),
    ]:
        with pytest.raises(ParameterError, match=words):
            discrim.cross_validate(model, scanned(path), cv=cv)
    with pytest.raises(ParameterError, match="leave groups out"):
        discrim.cross_validate(lda, scanned(path), cv=3, groups=np.zeros(N))
    with pytest.raises(ParameterError, match="a number of folds"):
        discrim.RegularizedDiscriminantAnalysis(alpha="loo", gamma="loo").fit(scanned(path))
    for settings, words in [({"cv": PredefinedSplit(FOLD)}, "a number of folds"), ({"scoring": "roc_auc"}, "accuracy")]:
        model = discrim.LogisticRegressionCV(
            **{"l1_ratios": (0,), "scoring": "accuracy", "use_legacy_attributes": False, **settings}
        )
        with pytest.raises(ParameterError, match=words):
            model.fit(scanned(path))
    with pytest.raises(DataError, match="folds have no row"):
        discrim.cross_validate(lda, scanned(path), cv=20_000)
