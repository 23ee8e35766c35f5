"""``compare`` over a scan that is not held in memory: every model learns from all rows, and is judged on others."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import discrim
from discrim import compare
from discrim.comparison import prepared, scanned
from discrim.comparison.prepared import PreparedClassifier
from discrim.engines.keyed import fold_of, keys_of
from discrim.errors import DataError, ParameterError
from discrim.models.shell import recipe_of

pytest.importorskip("pyarrow")

N, FOLDS, SAMPLE = 12_000, 4, 2000
RNG = np.random.default_rng(8)
X = RNG.normal(size=(N, 3)) * [1.0, 50.0, 0.01] + [0.0, 10.0, 0.0]
Y = np.array(["no", "yes", "maybe"])[(X[:, 0] + RNG.logistic(size=N) > 0) + (RNG.random(N) < 0.2).astype(int)]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(job=RNG.choice(["cook", "clerk", "smith"], N), y=Y)
NUMBERS = FRAME[["a", "b", "c", "y"]]
MODELS = ["Gaussian NB", "Nearest centroid", "Mixed NB", "LDA", "LDA, shrunken", "Ridge", "QDA", "RDA", "Logistic"]


@pytest.fixture(autouse=True)
def small_memory(monkeypatch):
    monkeypatch.setattr(prepared, "LARGE", 3 * N - 1)
    monkeypatch.setattr(scanned, "SAMPLE_ROWS", SAMPLE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    FRAME.to_parquet(path / "rows.parquet", row_group_size=5000)
    NUMBERS.to_parquet(path / "numbers.parquet", row_group_size=5000)
    FRAME.to_csv(path / "rows.csv", index=False)
    return path


@pytest.fixture(scope="module")
def compared(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "LARGE", 3 * N - 1)
        patch.setattr(scanned, "SAMPLE_ROWS", SAMPLE)
        return {
            name: compare(discrim.scan(folder / f"{name}.parquet", target="y", batch_rows=700), models=MODELS, cv=FOLDS)
            for name in ("rows", "numbers")
        }


def drawn():
    """The places of the rows that are judged, and the fold of every row."""
    keys = keys_of(0, 0, N)
    return np.flatnonzero(keys <= np.partition(keys, SAMPLE - 1)[SAMPLE - 1]), fold_of(keys, FOLDS)


def test_keys_are_even_and_folds_do_not_depend_on_the_sample():
    keys = keys_of(3, 0, 100_000)
    assert_array_equal(keys[40:90], keys_of(3, 40, 50))
    assert np.abs(np.histogram(keys.astype(float), 10, (0, 2.0**64))[0] - 10_000).max() < 500
    small = keys < np.uint64(2**60)
    for fold in (fold_of(keys, 7), fold_of(keys[small], 7)):
        assert (np.abs(np.bincount(fold) / len(fold) - 1 / 7) < 0.02).all()
    assert (fold_of(keys, 7) != fold_of(keys_of(4, 0, 100_000), 7)).mean() > 0.8


@pytest.mark.parametrize("name", ["LDA", "QDA", "Gaussian NB"])
def test_a_row_is_judged_by_a_model_of_all_rows_of_the_other_folds(name, compared):
    found, (judged, fold) = compared["numbers"], drawn()
    assert found.n == SAMPLE
    assert found.n_all == N
    assert_array_equal(found.folds, fold[judged])
    assert_array_equal(found[name].y, Y[judged])
    model = found.trials[name].model
    for f in range(FOLDS):
        other = clone(model).fit(X[fold != f], Y[fold != f])
        own = judged[fold[judged] == f]
        assert_allclose(found[name].posterior[fold[judged] == f], other.predict_proba(X[own]), atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("table", ["rows", "numbers"])
def test_every_model_is_fitted_to_all_rows(name, table, compared):
    """As it would be in memory, columns prepared and with the setting that was chosen."""
    frame = FRAME if table == "rows" else NUMBERS
    rows = frame.drop(columns="y")
    model = compared[table].trials[name].model
    whole = clone(model).fit(rows, Y)
    assert type(whole) is type(model)
    ask = "predict_proba" if hasattr(whole, "predict_proba") else "decision_function"
    tolerance = 1e-5 if name == "Logistic" else 1e-9
    assert_allclose(getattr(model, ask)(rows), getattr(whole, ask)(rows), rtol=tolerance, atol=tolerance)
    inner = prepared.unwrapped(model)
    assert recipe_of(inner) is not None
    assert inner.n_features_in_ == prepared.unwrapped(whole).n_features_in_
    assert list(getattr(model, "feature_names_in_", [])) == list(getattr(whole, "feature_names_in_", []))


def test_the_verdict_says_what_was_done(compared, tmp_path):
    found = compared["rows"]
    shown = " ".join(str(found).split())
    assert f"{len(MODELS)} models on 2,000 of 12,000 rows x 4 columns (5 when coded), 3 classes, 4 folds" in shown
    assert "dealt by a hash of the row number (seed 0)" in found.dealt
    assert "The 12,000 rows are not held in memory. Models of a statistic were trained on all rows" in shown
    assert found.best.predict(FRAME.drop(columns="y")).shape == (N,)
    assert found.report(tmp_path / "report.html").stat().st_size > 10_000


def test_settings_follow_from_all_rows_where_a_statistic_judges_them(compared, folder):
    """Ridge is judged by the squared error, which follows from the statistics of the folds alone."""
    again = compare(discrim.scan(folder / "numbers.parquet", target="y", batch_rows=333), models=["Ridge"], cv=FOLDS)
    assert again.trials["Ridge"].setting == compared["numbers"].trials["Ridge"].setting
    assert_allclose(again["Ridge"].posterior, compared["numbers"]["Ridge"].posterior)


def test_text_files_and_classifiers_from_elsewhere(folder):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    found = compare(discrim.scan(folder / "rows.csv", target="y"), models=["LDA", tree], cv=FOLDS)
    judged, fold = drawn()
    assert_array_equal(found["LDA"].y, Y[judged])
    codes = pd.get_dummies(FRAME["job"])[["cook", "smith"]].to_numpy()
    own = np.column_stack([X, codes])[judged]
    other = clone(tree).fit(own[fold[judged] != 0], Y[judged][fold[judged] != 0])
    agree = found["DecisionTreeClassifier"].predicted[fold[judged] == 0] == other.predict(own[fold[judged] == 0])
    assert agree.mean() > 0.99  # columns are in another order, and ties break by it
    assert "sample only" in " ".join(found.remarks)


@pytest.mark.parametrize("standardise", [True, False])
def test_columns_are_prepared_without_rows_in_memory(standardise, tmp_path, monkeypatch):
    frame = FRAME.copy()
    # Gaps depend on the class; the same ones are marked by one column.
    frame.loc[RNG.random(N) < np.where(Y == "no", 0.2, 0.1), ["a", "b"]] = np.nan
    frame.loc[RNG.random(N) < np.where(Y == "yes", 0.2, 0.1), "job"] = None
    frame.loc[np.arange(N) % 10 == 0, "c"] = np.nan  # at random
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = discrim.scan(tmp_path / "rows.parquet", target="y", batch_rows=700)
    model = PreparedClassifier(discrim.LinearDiscriminantAnalysis(), standardise=standardise)
    large = clone(model).fit(rows)
    monkeypatch.setattr(prepared, "LARGE", 1 << 26)
    small = clone(model).fit(rows)
    assert large.names_ == small.names_ == ["a", "b", "c", "job[cook]", "job[smith]", "a missing", "job missing"]
    table = frame.drop(columns="y")
    assert_allclose(large.predict_proba(table), small.predict_proba(table), atol=1e-9)
    assert_allclose(large.preparation_.fill, small.preparation_.fill, atol=1e-12)


def test_missing_values_and_columns_without_any(tmp_path):
    frame = FRAME.assign(gone=np.nan, nothing=pd.array([None] * N, dtype="string"))
    frame.loc[RNG.random(N) < 0.1, "a"] = np.nan
    frame.to_parquet(tmp_path / "rows.parquet")
    found = compare(discrim.scan(tmp_path / "rows.parquet", target="y"), models=["LDA", "Mixed NB"], cv=FOLDS)
    said = " ".join(found.remarks)
    assert "Column 'gone' has no value in any row" in said
    assert "Column 'nothing' has no value in any row" in said
    assert "As values are missing, models were tried on 2,000 rows" in said
    assert f"Missing values in 'a' ({frame['a'].isna().sum():,} of {N:,}) were filled in" in said
    assert [column.name for column in found.columns] == [*frame.columns.drop("y")]
    assert found.columns.to_frame().loc[["gone", "nothing"], "done"].tolist() == ["left out"] * 2
    assert found.best.predict(frame.drop(columns="y")[:5]).shape == (5,)
    with pytest.raises(DataError, match="'a'"):
        compare(discrim.scan(tmp_path / "rows.parquet", target="y"), models=["LDA"], missing="error")
    with pytest.raises(ParameterError, match="missing='drop' is for rows in memory"):
        compare(discrim.scan(tmp_path / "rows.parquet", target="y"), models=["LDA"], missing="drop")


def test_a_constant_column_and_a_target_of_measurements(folder, tmp_path):
    FRAME.assign(same=1.0, z=(X[:, 1] * 100).astype(int)).to_parquet(tmp_path / "rows.parquet")
    found = compare(discrim.scan(tmp_path / "rows.parquet", target="y", without=["z"]), models=["QDA"], cv=FOLDS)
    assert not found.left_out
    assert any("'same'" in remark for remark in found.remarks)
    with pytest.raises(DataError, match="looks like"):
        compare(discrim.scan(tmp_path / "rows.parquet", target="z"), models=["QDA"], cv=FOLDS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"groups": np.zeros(N)}, "`groups` has a value for each row"),
        ({"time": np.zeros(N)}, "`time` has a value for each row"),
        ({"sample_weight": np.ones(N)}, "Name its column"),
        ({"y": Y}, "names the column of its labels itself"),
        ({"repeats": 2}, "`repeats` is for rows in memory"),
        ({"cv": "loo"}, "a number of folds, for a scan"),
        ({"random_state": np.random.RandomState(0)}, "a whole number or None"),
    ],
)
def test_what_needs_rows_in_memory_is_refused(given, words, folder):
    with pytest.raises(ParameterError, match=words):
        compare(discrim.scan(folder / "numbers.parquet", target="y"), models=["LDA"], **given)


def test_dask_frames_send_statistics_and_the_sample():
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    rows = discrim.scan(dd.from_pandas(NUMBERS, npartitions=5), target="y")
    found = compare(rows, models=["LDA", "QDA", "Gaussian NB", "Logistic"], cv=FOLDS)
    assert found.n_all == N
    assert not found.left_out
    whole = clone(found.trials["LDA"].model).fit(X, Y)
    assert_allclose(found.trials["LDA"].model.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    again = compare(rows, models=["LDA"], cv=FOLDS)
    assert_array_equal(again["LDA"].posterior, found["LDA"].posterior)
    assert len(np.unique(found["LDA"].posterior[:, 0])) == SAMPLE
    assert [column.name for column in found.columns] == [name for name in NUMBERS.columns if name != "y"]


@pytest.mark.parametrize("gaps", [False, True])
def test_models_that_need_rows_get_those_of_a_dask_frame_with_their_categories(gaps):
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'discrim[dask]'")
    frame = FRAME[:1500].assign(w=RNG.integers(1, 3, 1500).astype(float))
    if gaps:
        frame["a"] = frame["a"].where(RNG.random(1500) > 0.1)
        frame["job"] = frame["job"].where(RNG.random(1500) > 0.1)
    rows = discrim.scan(dd.from_pandas(frame, npartitions=3), target="y", weight="w")
    models = ["Mixed NB", DecisionTreeClassifier(max_depth=3, random_state=0)]
    found = compare(rows, models=models, cv=FOLDS, reference=None)
    assert set(found.trials) > {"Mixed NB", "DecisionTreeClassifier"}
    held = found.trials["Mixed NB"].result.folds
    table, labels = frame.drop(columns=["y", "w"]), frame["y"].to_numpy()
    for name in ("Mixed NB", "DecisionTreeClassifier"):
        known = found.trials[name].result.posterior
        assert known.shape == (1500, 3)
        assert_array_equal(found.trials[name].model.predict(table).shape, (1500,))
    for fold in range(FOLDS):
        train, test = held != fold, held == fold
        model = discrim.MixedNB().fit(table[train], labels[train], sample_weight=frame["w"].to_numpy()[train])
        assert_allclose(found.trials["Mixed NB"].result.posterior[test], model.predict_proba(table[test]), rtol=1e-7)
