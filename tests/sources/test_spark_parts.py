"""Spark frames: the same models as from the rows in memory, with the rows left on the executors."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import discrim
from discrim.errors import DataError

pytestmark = pytest.mark.slow

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'discrim[spark]'")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17: apt-get install openjdk-17-jre-headless", allow_module_level=True)

rng = np.random.default_rng(12)
N = 2000
X = rng.normal(size=(N, 3)) * [1.0, 100.0, 1e-3]
Y = np.where(X[:, 0] + 0.01 * X[:, 1] + rng.logistic(size=N) > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b.c", "d e"]).assign(job=rng.choice(["cook", "clerk"], N), y=Y)
COLUMNS = ["a", "b.c", "d e", "job"]


@pytest.fixture(scope="module", params=["classic", "connect"])
def spark(request):
    from pyspark.sql import SparkSession

    local = "local[2,4]"
    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if request.param == "connect":
        pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
        builder = SparkSession.builder.remote(local)
    else:
        builder = SparkSession.builder.master(local)
    session = (
        builder.config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1").getOrCreate()
    )  # fmt: skip
    yield session
    session.stop()
    del os.environ["PYSPARK_PYTHON"]
    if before is not None:
        os.environ["PYSPARK_PYTHON"] = before


@pytest.fixture
def frame(spark):
    return spark.createDataFrame(FRAME).repartition(5)


MODELS = [
    discrim.LinearDiscriminantAnalysis(),
    discrim.QuadraticDiscriminantAnalysis(),
    discrim.GaussianNB(),
    discrim.RidgeClassifier(),
    discrim.LogisticRegression(tol=0),
    discrim.MixedNB(),
]


def test_partitions_give_the_models_of_the_whole_frame(frame, monkeypatch):
    from discrim.families.logistic import recipe

    monkeypatch.setattr(recipe, "SAMPLE_VALUES", 400)  # as if the rows were too many to be gathered
    for model in MODELS:
        apart = clone(model).fit(discrim.scan(frame, features=COLUMNS, target="y"))
        whole = clone(model).fit(discrim.scan(FRAME, features=COLUMNS, target="y"))
        ask = "decision_function" if hasattr(whole, "decision_function") else "predict_log_proba"
        assert_allclose(
            getattr(apart, ask)(FRAME[COLUMNS]), getattr(whole, ask)(FRAME[COLUMNS]), rtol=1e-7, atol=1e-7,
            err_msg=repr(model),
        )  # fmt: skip


def test_large_states_are_merged_by_executors(frame, monkeypatch):
    from discrim.sources import design, spark_parts

    monkeypatch.setattr(design, "WIDE", 0)
    arrived, whole = [], spark_parts._collected
    monkeypatch.setattr(spark_parts, "_collected", lambda sent: arrived.append(whole(sent)) or arrived[-1])
    monkeypatch.setattr(spark_parts, "PARTITIONS", 5)
    found = discrim.LinearDiscriminantAnalysis().fit(discrim.scan(frame, features=["a", "b.c"], target="y"))
    assert_allclose(found.coef_, discrim.LinearDiscriminantAnalysis().fit(X[:, :2], Y).coef_, rtol=1e-9)
    assert len(arrived[-1]) == 2
    gaps = frame.selectExpr("a", "case when a > 1 then null else y end as y")
    with pytest.raises(DataError, match=r"'y'.*missing|missing.*'y'"):
        discrim.GaussianNB().fit(discrim.scan(gaps, target="y"))


def test_many_states_are_merged_by_executors_before_they_are_too_many_to_send(spark, monkeypatch):
    """Each of 40 states is small; together they are more than the driver takes."""
    from discrim.sources import spark_parts

    frame = spark.createDataFrame(FRAME).repartition(40)
    monkeypatch.setattr(spark_parts, "ALL_SENT", 1000)
    monkeypatch.setattr(spark_parts, "PARTITIONS", 40)
    arrived, whole = [], spark_parts._collected
    monkeypatch.setattr(spark_parts, "_collected", lambda sent: arrived.append(whole(sent)) or arrived[-1])
    found = discrim.LinearDiscriminantAnalysis().fit(discrim.scan(frame, features=["a", "b.c"], target="y"))
    assert_allclose(found.coef_, discrim.LinearDiscriminantAnalysis().fit(X[:, :2], Y).coef_, rtol=1e-9)
    assert len(arrived[-1]) == 3


def dying_once(marker):
    """A function that kills the process that reads the first rows, when they are tried first; it travels by value."""

    def passed_on(batches):
        import os
        import signal
        from pathlib import Path

        for batch in batches:
            if batch.num_rows and not Path(marker).exists():
                Path(marker).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    return passed_on


def test_a_worker_that_is_killed_in_mid_fit_changes_nothing(frame, tmp_path):
    whole = discrim.scan(FRAME[["a", "y"]], target="y")
    for model in (discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression(tol=0)):
        marker = tmp_path / type(model).__name__
        dying = frame.select("a", "y").mapInArrow(dying_once(str(marker)), "a double, y string")
        found = clone(model).fit(discrim.scan(dying, target="y"))
        assert marker.exists()
        assert_allclose(found.coef_, clone(model).fit(whole).coef_, rtol=1e-9)


def test_a_part_of_a_file_that_always_fails_is_named(spark, tmp_path):
    FRAME[["a", "y"]].assign(a=FRAME["a"].where(np.arange(N) != 1234)).to_parquet(tmp_path / "rows.parquet")
    rows = discrim.scan(spark.read.parquet(str(tmp_path / "rows.parquet")), target="y")
    with pytest.raises(DataError, match="'a'"):
        discrim.LinearDiscriminantAnalysis().fit(rows)
    FRAME[["a", "y"]].assign(y=FRAME["y"].where(np.arange(N) != 1234)).to_parquet(tmp_path / "other.parquet")
    path = tmp_path / "other.parquet"
    with pytest.raises(DataError, match="'y'") as caught:
        discrim.LinearDiscriminantAnalysis().fit(discrim.scan(spark.read.parquet(str(path)), target="y"))
    assert caught.value.__notes__ == [f"In rows 1 to 2,000 of '{path}'."]


def test_answers_are_columns(frame):
    for target in ("y", "n"):
        rows = FRAME.assign(n=(FRAME["y"] == "yes").astype(int))
        model = discrim.LinearDiscriminantAnalysis().fit(rows[COLUMNS], rows[target])
        found = model.transform_spark(frame).toPandas()
        assert list(found.columns) == [*COLUMNS, "y", "prediction", *(f"probability_{c}" for c in model.classes_)]
        assert_array_equal(found["prediction"], model.predict(found[COLUMNS]))
        assert_allclose(found.iloc[:, -2:], model.predict_proba(found[COLUMNS]))


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), np.array(["2020-01-01", "2021-01-01"], "M8[ns]"),
        np.array([1, 2], np.int8), np.array([False, True]), np.array([1.0, 2.0], np.float32),
    ],
    ids=str,
)  # fmt: skip
def test_answers_have_the_type_of_the_classes(frame, classes):
    model = discrim.LinearDiscriminantAnalysis().fit(FRAME[["a", "b.c"]], classes[(FRAME["y"] == "yes").astype(int)])
    found = [row.prediction for row in model.transform_spark(frame).select("prediction").limit(20).collect()]
    assert {pd.Timestamp(x) if classes.dtype.kind == "M" else x for x in found} <= set(
        map(pd.Timestamp, classes) if classes.dtype.kind == "M" else classes.tolist()
    )


def test_models_travel_as_the_bytes_of_their_files(frame, monkeypatch):
    """No model is pickled on its way to the executors."""
    model = discrim.QuadraticDiscriminantAnalysis().fit(FRAME[["a", "b.c"]], Y)
    monkeypatch.setattr(type(model), "__reduce_ex__", lambda *_: pytest.fail("the model was pickled"))
    found = model.transform_spark(frame).toPandas()
    assert_array_equal(found["prediction"], model.predict(found[["a", "b.c"]]))


def test_what_is_wrong_is_said_in_words(frame):
    model = discrim.LinearDiscriminantAnalysis().fit(FRAME[COLUMNS], Y)
    with pytest.raises(DataError, match="no column 'a'"):
        model.transform_spark(frame.drop("a"))
    with pytest.raises(DataError, match="'prediction' already"):
        model.transform_spark(frame.withColumnRenamed("y", "prediction"))
    with pytest.raises(DataError, match="no rows"):
        discrim.GaussianNB().fit(discrim.scan(frame.where("a > 1e9"), features=["a"], target="y"))
    for call in (model.predict, model.fit):
        with pytest.raises(DataError, match=r"X is a Spark frame. Learn from scan\(frame, target"):
            call(frame)
    with pytest.raises(DataError, match="transform_spark takes a Spark frame, and this is a DataFrame"):
        model.transform_spark(FRAME)
    stream = frame.sparkSession.readStream.format("rate").load()
    with pytest.raises(DataError, match="is a stream"):
        discrim.scan(stream, target="value")
    gaps = frame.selectExpr("a", "case when a > 1 then null else y end as y")
    with pytest.raises(DataError, match=r"'y'.*missing|missing.*'y'"):
        discrim.GaussianNB().fit(discrim.scan(gaps, target="y"))
