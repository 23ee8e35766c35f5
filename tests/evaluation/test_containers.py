"""The container of the rows changes nothing; any scikit-learn classifier goes the ordinary way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    cross_validate,
    scan,
)
from discrim.errors import CollinearWarning, DataError, ParameterError

MODELS = [
    LinearDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(0.4, 0.7),
    BayesianQuadraticDiscriminantAnalysis(0.5, target="identity"),
    BayesianLinearDiscriminantAnalysis(0.5, target="identity"),
    GaussianNB(var_smoothing=0.1),
    LeastSquaresClassifier(),
    RidgeClassifier(methods="all"),
]
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def table(ordinary):
    """A pandas frame with a categorical column, and the labels."""
    x, y, _, _ = ordinary
    frame = pd.DataFrame(x[:, :3], columns=["a", "b", "c"])
    frame["kind"] = pd.Categorical(np.array(["red", "green", "blue"])[np.arange(len(y)) * 7 % 3])
    return frame, y


@pytest.mark.parametrize("cv", [FOLDS, "loo"])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_a_frame_with_categories_equals_refitting_on_frames(model, cv, table, brute_force, equals_refitting):
    frame, y = table
    result = cross_validate(model, frame, pd.Series(y, index=frame.index[::-1]), cv)
    assert result.route == ("statistics" if cv is FOLDS else "closed form")
    equals_refitting(result, brute_force(model, frame, y, cv))


@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.parametrize("cv", [FOLDS, "loo"])
def test_squares_of_indicators_repeat_them_and_are_refitted(cv, table, brute_force, equals_refitting):
    frame, y = table
    model = LeastSquaresClassifier(basis="quadratic")
    result = cross_validate(model, frame, y, cv)
    assert result.route == "refits"
    equals_refitting(result, brute_force(model, frame, y, cv))


def test_the_quadratic_basis_of_a_scan_equals_that_of_its_rows(table, tmp_path):
    frame, y = table
    frame = frame[["a", "b", "c"]]
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    model = LeastSquaresClassifier(basis="quadratic")
    for cv in (FOLDS, "loo"):
        expected = cross_validate(model, frame, y, cv)
        result = cross_validate(model, scan(tmp_path / "rows.csv", target="y"), cv=cv)
        np.testing.assert_allclose(result.posterior, expected.posterior, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["polars", "arrow", "csv", "parquet", "lazy", "stream"])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_every_container_gives_what_the_frame_gives(model, kind, table, tmp_path):
    frame, y = table
    frame = frame.assign(kind=frame["kind"].astype(str))
    expected = cross_validate(model, frame, y, FOLDS)
    if kind == "stream":
        frame = frame[["a", "b", "c"]]
        expected = cross_validate(model, frame, y, FOLDS)
    labelled = pl.from_pandas(frame.assign(y=y))
    if kind == "csv":
        labelled.write_csv(tmp_path / "rows.csv")
    if kind == "parquet":
        labelled.write_parquet(tmp_path / "rows.parquet", row_group_size=16)
    rows = {
        "polars": lambda: (pl.from_pandas(frame), pl.Series(y)),
        "arrow": lambda: (pa.Table.from_pandas(frame), y),
        "csv": lambda: (scan(tmp_path / "rows.csv", target="y"),),
        "parquet": lambda: (scan(tmp_path / "rows.parquet", target="y", batch_rows=16),),
        "lazy": lambda: (scan(labelled.lazy(), target="y"),),
        "stream": lambda: (scan(labelled.to_arrow().to_reader(), target="y"),),
    }[kind]()
    result = cross_validate(model, *rows, cv=FOLDS)
    np.testing.assert_allclose(result.posterior, expected.posterior, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(result.predicted, expected.predicted)
    assert result.route == "statistics"


def test_a_scan_brings_its_weights(ordinary, tmp_path):
    x, y, weight, _ = ordinary
    pl.DataFrame(x).with_columns(y=pl.Series(y), w=pl.Series(weight)).write_parquet(tmp_path / "rows.parquet")
    rows = scan(tmp_path / "rows.parquet", target="y", weight="w")
    for model in (LinearDiscriminantAnalysis(), LogisticRegression()):
        expected = cross_validate(model, x, y, 4, sample_weight=weight)
        result = cross_validate(model, rows, cv=4)
        np.testing.assert_allclose(result.posterior, expected.posterior, atol=1e-10)
        assert result.error == pytest.approx(expected.error)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_sparse_rows_equal_dense_ones(model, brute_force, equals_refitting):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 5)) * (rng.random((50, 5)) < 0.5)
    y = rng.integers(0, 3, 50)
    result = cross_validate(model, sparse.csr_array(x), y, 4)
    equals_refitting(result, brute_force(model, x, y, 4))


@pytest.mark.parametrize("kind", ["float32", "integers", "lists", "fortran"])
def test_arrays_of_any_type_equal_refitting(kind, ordinary, brute_force, equals_refitting):
    x, y, _, _ = ordinary
    rows = {
        "float32": x.astype(np.float32),
        "integers": np.round(10 * x).astype(np.int64),
        "lists": x.tolist(),
        "fortran": np.asfortranarray(x)[:, ::-1],
    }[kind]
    for cv in (5, "loo"):
        result = cross_validate(LinearDiscriminantAnalysis(), rows, y, cv)
        expected = brute_force(LinearDiscriminantAnalysis(), rows, y, cv)
        equals_refitting(result, expected, atol=1e-6 if kind == "float32" else 1e-10)


@pytest.mark.parametrize("labels", [[1.0, 2.0, 4.0], [7, -3, 100], [True, False], ["b", "a", "c"]])
def test_labels_of_any_type_are_predicted_as_they_are(labels, ordinary, brute_force, equals_refitting):
    x, y, _, _ = ordinary
    y = np.array(labels)[np.unique(y, return_inverse=True)[1] % len(labels)]
    result = cross_validate(GaussianNB(), x, y, FOLDS)
    assert result.predicted.dtype == y.dtype
    codes = np.unique(y, return_inverse=True)[1]
    posterior, predicted = brute_force(GaussianNB(), x, codes, FOLDS)
    equals_refitting(result, (posterior, np.unique(y)[predicted]))


def test_a_level_that_only_held_out_rows_have_is_no_obstacle(ordinary):
    x, y, _, _ = ordinary
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": np.where(np.arange(60) == 4, "rare", "usual")})
    with pytest.warns(CollinearWarning, match=r"kind\[usual\]"):
        result = cross_validate(LinearDiscriminantAnalysis(), frame, y, 5)
    without = cross_validate(LinearDiscriminantAnalysis(), frame[["a", "b"]], y, 5)
    np.testing.assert_allclose(result.posterior[4], without.posterior[4], atol=1e-10)


OTHERS = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    KNeighborsClassifier(5),
    TheirLDA(),
]


@pytest.mark.parametrize("model", OTHERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("as_frame", [False, True])
def test_any_other_classifier_is_refitted(model, as_frame, ordinary, brute_force, equals_refitting):
    x, y, _, _ = ordinary
    rows = pd.DataFrame(x).add_prefix("c") if as_frame else x
    result = cross_validate(model, rows, y, FOLDS)
    assert result.route == "refits"
    equals_refitting(result, brute_force(model, rows, y, FOLDS))


@pytest.mark.parametrize("model", [SVC(), LinearSVC()], ids=lambda m: type(m).__name__)
def test_a_classifier_without_posteriors_votes(model, ordinary):
    x, y, _, _ = ordinary
    result = cross_validate(model, x, y, KFold(5))
    predicted = np.empty_like(y)
    for train, test in KFold(5).split(x):
        predicted[test] = model.fit(x[train], y[train]).predict(x[test])
    np.testing.assert_array_equal(result.predicted, predicted)
    np.testing.assert_array_equal(result.posterior, predicted[:, None] == result.classes)
    assert np.isnan(result.log_loss)


def test_weights_reach_other_classifiers_or_are_refused(ordinary, brute_force, equals_refitting):
    x, y, weight, _ = ordinary
    result = cross_validate(LogisticRegression(), x, y, 5, sample_weight=weight)
    equals_refitting(result, brute_force(LogisticRegression(), x, y, 5, sample_weight=weight))
    with pytest.raises(ParameterError, match=r"KNeighborsClassifier.fit takes no sample_weight"):
        cross_validate(KNeighborsClassifier(), x, y, 5, sample_weight=weight)


def test_a_class_unknown_to_another_classifier_has_posterior_zero(ordinary):
    x, y, _, _ = ordinary
    y = y.copy()
    y[10] = "alone"
    result = cross_validate(KNeighborsClassifier(), x, y, KFold(5))
    assert result.posterior[10, 0] == 0
    assert np.isfinite(result.log_loss)


def test_a_scan_without_target_and_a_model_that_is_none(ordinary):
    x, y, _, _ = ordinary
    for model in (GaussianNB(), LogisticRegression()):
        with pytest.raises(DataError, match="names no target"):
            cross_validate(model, scan(pl.DataFrame(x)), cv=5)
        with pytest.raises(DataError, match="brings its own labels"):
            cross_validate(model, scan(pl.DataFrame(x)), y, 5)
    with pytest.raises(ParameterError, match="a scikit-learn classifier"):
        cross_validate(StandardScaler(), x, y, 5)
