"""Mixed columns in parts, from files and in cross-validation: the model depends on the rows, not on how they came."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from discrim import MixedNB, cross_validate, merge, scan
from discrim.errors import DataError, ForgetError, ParameterError
from discrim.statistics import MixedStatistic

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
LIKELIHOODS = {"visits": "poisson", "income": "kernel", "age": "student-t", "code": "categorical"}


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1])
    k = np.searchsorted(["a", "b", "c"], y)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170 + 5 * k, 7),
            "age": rng.normal(40 + 3 * k, 9),
            "income": np.exp(rng.normal(8 + 0.3 * k)),
            "visits": rng.poisson(1 + k).astype(float),
            "code": rng.integers(0, 9, n).astype(float),
            "smokes": pd.array(rng.random(n) < 0.3, dtype="boolean"),
            "town": rng.choice([f"town {i}" for i in range(12)], n),
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame, y, rng.integers(1, 8, n) / 4.0


def model_of(rows=None):
    return MixedNB(likelihoods=LIKELIHOODS)


@pytest.fixture(scope="module")
def rows():
    return people()


@pytest.fixture(scope="module")
def whole(rows):
    return model_of().fit(*rows)


@pytest.mark.parametrize("cuts", [[200], [1, 7, 300], range(20, 400, 20)], ids=["two", "uneven", "twenty"])
def test_any_number_of_parts_is_one_fit(rows, whole, cuts):
    frame, y, weight = rows
    order = np.argsort(y, kind="stable")  # classes and levels come one after the other
    model = model_of()
    for i in np.split(order, list(cuts)):
        model.partial_fit(frame.iloc[i], y[i], sample_weight=weight[i])
    assert_allclose(model.predict_log_proba(frame), whole.predict_log_proba(frame), rtol=1e-9, atol=1e-10)


def test_forgetting_is_never_having_seen(rows):
    frame, y, weight = rows
    gone = (y == "c") | (frame["town"] == "town 3").fillna(False).to_numpy(bool)
    model = model_of().fit(frame, y, weight).forget(frame[gone], y[gone], weight[gone])
    rest = model_of().fit(frame[~gone], y[~gone], weight[~gone])
    assert_array_equal(model.classes_, ["a", "b"])
    assert_allclose(model.predict_log_proba(frame), rest.predict_log_proba(frame), rtol=1e-8, atol=1e-9)
    with pytest.raises(ForgetError):
        rest.forget(frame[gone], y[gone], weight[gone])
    with pytest.raises(DataError, match="Cannot forget every row the model has seen"):
        rest.forget(frame[~gone], y[~gone], weight[~gone])


@pytest.mark.parametrize("names", [["height", "age", "visits"], ["town", "code"], ["smokes"]], ids=str)
def test_forgetting_works_for_columns_of_one_kind(rows, names):
    frame, y, weight = rows
    likelihoods = {name: kind for name, kind in LIKELIHOODS.items() if name in names}
    model = MixedNB(likelihoods=likelihoods).fit(frame[names], y, weight)
    model.forget(frame[names][:50], y[:50], weight[:50])
    rest = MixedNB(likelihoods=likelihoods).fit(frame[names][50:], y[50:], weight[50:])
    assert_allclose(model.predict_log_proba(frame[names]), rest.predict_log_proba(frame[names]), rtol=1e-9, atol=1e-10)


def test_merged_models_are_one_fit_and_a_statistic_is_enough(rows, whole):
    frame, y, weight = rows
    parts = [model_of().fit(frame[i::3], y[i::3], weight[i::3]) for i in range(3)]
    merged = merge(*parts)
    assert_allclose(merged.predict_log_proba(frame), whole.predict_log_proba(frame), rtol=1e-9, atol=1e-10)
    assert merged.likelihoods_ == whole.likelihoods_
    stored = MixedStatistic.from_bytes(whole.statistic_.to_bytes())
    again = MixedNB.from_statistic(stored)
    assert again.likelihoods_ == whole.likelihoods_
    assert_array_equal(again.predict_proba(frame), whole.predict_proba(frame))
    with pytest.raises(ParameterError, match="The statistic has column 'age' as 'student-t', not as 'kernel'"):
        MixedNB.from_statistic(stored, likelihoods={"age": "kernel"})
    assert_array_equal(pickle.loads(pickle.dumps(whole)).predict_proba(frame), whole.predict_proba(frame))


def test_whole_weights_are_repeated_rows(rows):
    frame, y, weight = rows
    times = (4 * weight).astype(int)
    repeated = np.repeat(np.arange(len(y)), times)
    model = model_of().fit(frame, y, times)
    expected = model_of().fit(frame.iloc[repeated], y[repeated])
    assert_allclose(model.predict_log_proba(frame), expected.predict_log_proba(frame), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kind", ["polars", "arrow", "parquet", "csv", "lazy", "stream"])
def test_every_container_gives_the_same_model(rows, whole, kind, tmp_path):
    frame, y, weight = rows
    table = pa.Table.from_pandas(frame.assign(y=y, w=weight), preserve_index=False)
    if kind in ("polars", "arrow"):
        X = pl.from_arrow(table).drop("y", "w") if kind == "polars" else table.drop(["y", "w"])
        model = model_of().fit(X, y, weight)
        assert_array_equal(model.predict_proba(X), model.predict_proba(frame))
    else:
        path = tmp_path / f"rows.{kind}"
        pl.from_arrow(table).write_parquet(path) if kind == "parquet" else pl.from_arrow(table).write_csv(path)
        data = {
            "parquet": path,
            "csv": path,
            "lazy": pl.from_arrow(table).lazy(),
            "stream": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=50)),
        }[kind]
        model = model_of().fit(scan(data, target="y", weight="w", batch_rows=64))
    smokes = "bernoulli" if kind != "csv" or model.likelihoods_["smokes"] == "bernoulli" else "categorical"
    assert model.likelihoods_ == {**whole.likelihoods_, "smokes": smokes}
    if smokes == "bernoulli":
        assert_allclose(model.predict_log_proba(frame), whole.predict_log_proba(frame), rtol=1e-9, atol=1e-10)


def test_a_scan_is_read_once_and_predicts_block_by_block(rows, whole, tmp_path):
    frame, y, weight = rows
    path = tmp_path / "rows.parquet"
    frame.assign(y=y, w=weight).to_parquet(path)
    source = scan(path, target="y", weight="w", batch_rows=50)
    reads = []
    reader = source._reader
    source._reader = type("Counted", (), {
        "__getattr__": lambda _, name: getattr(reader, name),
        "tables": lambda _, *given: reads.append(1) or reader.tables(*given),
    })()  # fmt: skip
    model = model_of().fit(source)
    assert len(reads) == 1
    assert_array_equal(model.predict(scan(path, target="y")), whole.predict(frame))
    unlabelled = scan(path, features=list(frame.columns))
    assert_allclose(model.predict_proba(unlabelled), whole.predict_proba(frame), rtol=1e-9)
    lazy = pl.scan_parquet(path)
    assert_array_equal(model.predict(lazy), whole.predict(frame))
    for rows_without_labels in (unlabelled, lazy):
        with pytest.raises(DataError, match="The scan names no target"):
            model_of().fit(rows_without_labels)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cv", [5, "loo"])
def test_cross_validation_by_merged_statistics_is_refitting(cv, weighted):
    frame, y, weight = people(n=60)
    frame.loc[5, "town"] = "only here"
    weight = weight if weighted else None
    result = cross_validate(model_of(), frame, y, cv=cv, sample_weight=weight)
    assert result.route == "statistics"
    for f in np.unique(result.folds)[:: 1 if cv == 5 else 9]:
        test = result.folds == f
        model = model_of().fit(frame[~test], y[~test], None if weight is None else weight[~test])
        known = np.searchsorted(["a", "b", "c"], model.classes_)
        assert_allclose(result.posterior[np.ix_(test, known)], model.predict_proba(frame[test]), rtol=1e-8, atol=1e-12)


def test_cross_validation_of_a_scan_and_with_a_splitter_that_trains_on_less(rows, tmp_path):
    frame, y, _ = rows
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    one = cross_validate(model_of(), frame, y, cv=4)
    other = cross_validate(model_of(), scan(tmp_path / "rows.parquet", target="y", batch_rows=70), cv=4)
    assert_allclose(one.posterior, other.posterior, rtol=1e-9, atol=1e-12)

    class Half(StratifiedKFold):
        def split(self, X, y, groups=None):
            for train, test in super().split(X, y, groups):
                yield train[::2], test

    result = cross_validate(model_of(), frame, y, cv=Half(3))
    assert result.route == "refits"
    train, test = next(Half(3).split(frame, y))
    expected = model_of().fit(frame.iloc[train], y[train]).predict_proba(frame.iloc[test])
    assert_allclose(result.posterior[test], expected, rtol=1e-9)


def test_it_is_an_estimator_like_any_other(rows):
    frame, y, _ = rows
    search = GridSearchCV(model_of(), {"alpha": [0.1, 1.0]}, cv=3).fit(frame, y)
    assert search.best_score_ > 0.4
    assert clone(search.best_estimator_).get_params()["likelihoods"] == LIKELIHOODS


@pytest.mark.shared
def test_census_incomes_with_missing_values_beat_imputing_and_one_hot_columns():
    """Adult: scikit-learn's Gaussian model on imputed indicators gets 79.6 % of the test rows right."""
    folder = SHARED / "adult"
    if not folder.is_dir():
        pytest.skip("needs adult/train.parquet and adult/test.parquet in the folder shared/data beside the repository")
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    train, test = (pd.read_parquet(folder / f"{part}.parquet") for part in ("train", "test"))
    X, y, X_test, y_test = train.drop(columns="y"), train["y"], test.drop(columns="y"), test["y"]
    assert X.isna().any().any()
    indicators = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    columns = make_column_transformer(
        (indicators, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    peer = make_pipeline(columns, GaussianNB()).fit(X, y).score(X_test, y_test)
    # A gain of zero, as most have, is no measurement; as levels these columns say more.
    levels = dict.fromkeys(["capital_gain", "capital_loss", "hours_per_week", "age", "education_num"], "categorical")
    plain, better = (MixedNB(likelihoods=given).fit(X, y).score(X_test, y_test) for given in (None, levels))
    assert peer == pytest.approx(0.796, abs=0.002)
    assert plain == pytest.approx(0.830, abs=0.002)
    assert better == pytest.approx(0.839, abs=0.002)
    scanned = MixedNB().fit(scan(folder / "train.parquet", target="y"))
    assert scanned.score(X_test, y_test) == plain
