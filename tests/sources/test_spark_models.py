"""What is made of fits on Spark: the same from its partitions as from the rows in memory."""

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
from discrim.models.text_classifier import TextClassifier
from discrim.text import documents

pytestmark = pytest.mark.slow

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'discrim[spark]'")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17: apt-get install openjdk-17-jre-headless", allow_module_level=True)

rng = np.random.default_rng(12)
N = 1500
X = rng.normal(size=(N, 3)) * [1.0, 100.0, 1e-3]
Y = np.where(X[:, 0] + 0.01 * X[:, 1] + rng.logistic(size=N) > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(job=rng.choice(["cook", "clerk"], N), y=Y)
COLUMNS = ["a", "b", "c", "job"]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]")
    for name, value in {
        "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
    }.items():  # fmt: skip
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    del os.environ["PYSPARK_PYTHON"]
    if before is not None:
        os.environ["PYSPARK_PYTHON"] = before


@pytest.fixture
def rows(spark):
    return discrim.scan(spark.createDataFrame(FRAME).coalesce(1).repartition(4), features=COLUMNS, target="y")


@pytest.fixture
def whole():
    return discrim.scan(FRAME, features=COLUMNS, target="y")


@pytest.fixture(autouse=True)
def few_in_memory(monkeypatch):
    """As if the rows were too many to be gathered."""
    from discrim.families.logistic import recipe

    monkeypatch.setattr(recipe, "SAMPLE_VALUES", 400)


def test_models_of_left_out_folds_are_judged_by_all_their_rows(rows, whole, monkeypatch):
    """Folds are other ones than in memory, since a partition has them by itself, but each row is held out once."""
    for model in (discrim.LinearDiscriminantAnalysis(), discrim.GaussianNB(), discrim.LogisticRegression(tol=0)):
        columns = ["a", "b", "c"]
        apart = discrim.cross_validate(model, rows.with_features(columns), cv=5)
        here = discrim.cross_validate(model, whole.with_features(columns), cv=5)
        assert apart.error == pytest.approx(here.error, abs=0.02)


def test_compared_models_are_those_of_all_rows(rows):
    found = discrim.compare(rows, models=["LDA", "QDA", "Mixed NB", "Logistic"], cv=4, reference=None)
    table = FRAME[COLUMNS]
    for name in ("LDA", "QDA", "Mixed NB"):
        model = found.trials[name].model
        plain = clone(getattr(model, "model_", model)).fit(table, Y)
        assert_allclose(model.predict_proba(table), plain.predict_proba(table), rtol=1e-7)
        assert found.table.loc[name, "error"] < 0.35
    model = found.trials["Logistic"].model
    assert (model.predict(table) == Y).mean() > 0.7


def test_a_path_of_penalties_is_that_of_the_rows_in_memory(rows, whole):
    for ratio in (1.0, 0.5):
        apart = discrim.logistic_path(rows, l1_ratio=ratio, n_lambdas=8, gap=1e-12)
        here = discrim.logistic_path(whole, l1_ratio=ratio, n_lambdas=8, gap=1e-12)
        assert_allclose(apart.lambdas, here.lambdas, rtol=1e-9)
        assert_allclose(apart.coef, here.coef, rtol=1e-6, atol=1e-8)
        assert_array_equal(apart.df, here.df)
    for model in (discrim.LogisticRegression(C=0.05, l1_ratio=1.0, tol=1e-10), discrim.LassoClassifier(alpha=0.05)):
        assert_allclose(clone(model).fit(rows).coef_, clone(model).fit(whole).coef_, rtol=1e-7, atol=1e-9)


def test_inference_is_that_of_the_rows_in_memory(rows, whole):
    model = discrim.LogisticRegression(C=np.inf, tol=0)
    apart, here = clone(model).fit(rows), clone(model).fit(whole)
    assert str(apart.summary()) == str(here.summary())
    assert_allclose(np.asarray(apart.drop1(), dtype=float), np.asarray(here.drop1(), dtype=float), rtol=1e-7)
    assert_allclose(apart.confint(), here.confint(), rtol=1e-7)
    assert_allclose(apart.confint(method="profile"), here.confint(method="profile"), rtol=1e-5)
    for of in (discrim.LinearDiscriminantAnalysis, discrim.LeastSquaresClassifier):
        assert str(of().fit(rows).summary()) == str(of().fit(whole).summary())


WORDS = np.array([f"word{i}" for i in range(60)])
TEXTS = pd.DataFrame(
    {"text": [" ".join(WORDS[(rng.poisson(8, 12) * (k + 1)) % 60]) for k in range(3)] * 70, "kind": list("abc") * 70}
).assign(w=rng.integers(0, 3, 210).astype(float))


def test_words_are_counted_by_the_executors(spark):
    frame = spark.createDataFrame(TEXTS).repartition(4)
    apart = documents(frame, text="text", target="kind", weight="w")
    here = documents(TEXTS, text="text", target="kind", weight="w")
    for inner in (None, discrim.LogisticRegression(tol=0)):
        model, whole = TextClassifier(inner).fit(apart), TextClassifier(inner).fit(here)
        assert model.counts_.vocabulary_ == whole.counts_.vocabulary_
        assert_allclose(model.predict_proba(TEXTS["text"]), whole.predict_proba(TEXTS["text"]), rtol=1e-9)
        assert model.score(apart) == pytest.approx(whole.score(here))


def test_learners_average_what_the_partitions_teach(rows):
    rows = rows.with_features(["a", "b", "c"])
    # A partition comes as one table.
    tables = list(rows.tables())
    parts = [
        pd.DataFrame(t.numbers(["a", "b", "c"], 0, t.n_rows, np.float64), columns=["a", "b", "c"]).assign(
            y=np.array(t.labels("y", 0, t.n_rows))
        )
        for t in tables
    ]
    assert len(parts) == 4
    assert sum(map(len, parts)) == N
    for model in (discrim.SGDClassifier(random_state=0, average=True), discrim.Perceptron(random_state=0)):
        found = clone(model).fit(rows)
        alone = [clone(model).fit(part[["a", "b", "c"]], part["y"]) for part in parts]
        shares = [len(part) / N for part in parts]
        mean = sum(share * one.coef_ for share, one in zip(shares, alone, strict=True))
        assert_allclose(found.coef_, mean, rtol=1e-9)


def test_models_around_a_model_answer_in_columns(spark):
    table = FRAME[COLUMNS].assign(
        a=FRAME["a"].where(np.arange(N) % 7 > 0), job=FRAME["job"].where(np.arange(N) % 9 > 0)
    )
    frame = spark.createDataFrame(
        table.astype(object).where(table.notna(), None), "a double, b double, c double, job string"
    )
    best = discrim.compare(table.assign(d=1.0), Y, models=["LDA"], reference=None).best
    formula = discrim.LogisticRegression.from_formula("y ~ a * b", FRAME)
    for model, rows in ((best, frame), (formula, frame.drop("job").dropna())):
        found = model.transform_spark(rows).toPandas()
        assert_array_equal(found["prediction"], model.predict(found[list(rows.columns)]))
        assert_allclose(found.iloc[:, -2:], model.predict_proba(found[list(rows.columns)]))
    with pytest.raises(DataError, match="no column 'a'"):
        best.transform_spark(frame.drop("a"))
    array = discrim.comparison.prepared.PreparedClassifier(discrim.LinearDiscriminantAnalysis()).fit(X, Y)
    with pytest.raises(DataError, match="was fitted to an array"):
        array.transform_spark(frame)


def test_documents_are_answered_in_columns(spark):
    frame = spark.createDataFrame(TEXTS)
    named = TextClassifier().fit(documents(TEXTS, text="text", target="kind"))
    plain = TextClassifier().fit(TEXTS["text"], TEXTS["kind"])
    for model, rows in ((named, frame), (plain, frame.select("text", "w"))):
        found = model.transform_spark(rows).toPandas()
        assert_array_equal(found["prediction"], model.predict(found["text"]))
        assert_allclose(found.iloc[:, -3:], model.predict_proba(found["text"]))
    with pytest.raises(DataError, match="2 columns of text \\('text', 'kind'\\)"):
        plain.transform_spark(frame)
