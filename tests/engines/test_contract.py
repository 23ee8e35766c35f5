"""One contract: a model has the same coefficients whatever its rows are kept in and wherever their sums are made."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import discrim

pytest.importorskip("pyarrow")

N = 900
RNG = np.random.default_rng(17)
NAMES = ["x0", "x1", "x2"]
# Small counts, so that every model can be fitted to them.
X = RNG.poisson([1.0, 3.0, 0.4], size=(N, 3)).astype(float)
Y = np.digitize(X @ [0.5, -0.4, 0.8] + RNG.logistic(size=N), [-0.5, 1.0])
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y)

# Models of counts read them as numbers; those that learn in order need their rows in the same order everywhere.
MODELS = {
    type(model).__name__ + ("" if i < 2 else f" {i}"): model
    for i, model in enumerate(
        [
            discrim.LinearDiscriminantAnalysis(),
            discrim.LogisticRegression(tol=0, max_iter=200),
            discrim.QuadraticDiscriminantAnalysis(),
            discrim.RegularizedDiscriminantAnalysis(alpha=0.3, gamma=0.8),
            discrim.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
            discrim.BayesianLinearDiscriminantAnalysis(),
            discrim.BayesianQuadraticDiscriminantAnalysis(),
            discrim.GaussianNB(),
            discrim.MultinomialNB(),
            discrim.ComplementNB(),
            discrim.BernoulliNB(binarize=0.5),
            discrim.CategoricalNB(),
            discrim.MixedNB(),
            discrim.NearestCentroid(),
            discrim.NearestCentroid(shrink_threshold=0.5),
            discrim.LeastSquaresClassifier(),
            discrim.RidgeClassifier(alpha=2.0),
            discrim.LassoClassifier(alpha=0.01),
            discrim.LogisticRegression(C=np.inf, tol=0, max_iter=200),
            discrim.OneVsRestClassifier(discrim.LinearDiscriminantAnalysis()),
            discrim.OneVsOneClassifier(discrim.QuadraticDiscriminantAnalysis()),
            discrim.SGDClassifier(shuffle=False, max_iter=3, tol=None),
            discrim.Perceptron(shuffle=False, max_iter=3, tol=None),
        ]
    )
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The rows as a Parquet file of several row groups, and as a text file."""
    folder = tmp_path_factory.mktemp("rows")
    FRAME.to_parquet(folder / "rows.parquet", row_group_size=250)
    FRAME.to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def expected():
    """Answers of models that were fitted to arrays in memory, by name."""
    return {name: answers(clone(model).fit(X, Y)) for name, model in MODELS.items()}


@pytest.fixture(autouse=True)
def few_in_memory(monkeypatch):
    """As if the rows were too many to be gathered, and row groups large, so that every pass goes to where they are."""
    from discrim.families.logistic import recipe
    from discrim.sources import arrow

    monkeypatch.setattr(recipe, "SAMPLE_VALUES", 300)
    monkeypatch.setattr(arrow, "VALUES_OF_PART", 1)


def answers(model):
    ask = "decision_function" if hasattr(model, "decision_function") else "predict_log_proba"
    rows = pd.DataFrame(X, columns=NAMES) if hasattr(model, "feature_names_in_") else X
    return getattr(model, ask)(rows)


def on_threads(source, files):
    if source == "array":
        return X, Y
    if source == "frame":
        return (discrim.scan(FRAME, target="y"),)
    return (discrim.scan(files / f"rows.{source}", target="y", batch_rows=200),)


def on_dask(source, files):
    import dask.array as da
    import dask.dataframe as dd

    if source == "array":
        return da.from_array(X, chunks=(250, 2)), da.from_array(Y, chunks=400)
    made = {
        "frame": lambda: dd.from_pandas(FRAME, npartitions=4),
        "parquet": lambda: dd.read_parquet(files / "rows.parquet"),
        "csv": lambda: dd.read_csv(files / "rows.csv", blocksize=4000),
    }
    return (discrim.scan(made[source](), target="y"),)


def on_spark(source, files, session):
    made = {
        "array": lambda: session.createDataFrame(np.column_stack([X, Y]), [*NAMES, "y"]),
        "frame": lambda: session.createDataFrame(FRAME),
        "parquet": lambda: session.read.parquet(str(files / "rows.parquet")),
        "csv": lambda: session.read.csv(str(files / "rows.csv"), header=True, inferSchema=True),
    }
    return (discrim.scan(made[source](), target="y"),)


def check(model, name, rows, expected):
    fitted = clone(model).fit(*rows)
    assert_array_equal(fitted.classes_, [0, 1, 2])
    assert_allclose(answers(fitted), expected[name], rtol=1e-9, atol=1e-9, err_msg=name)


SOURCES = ["array", "frame", "parquet", "csv"]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("engine", ["threads", "dask"])
def test_threads_and_the_threads_of_dask_give_the_same(engine, source, files, expected):
    pytest.importorskip("dask", reason="Dask is not installed: pip install 'discrim[dask]'")
    for name, model in MODELS.items():
        check(model, name, (on_threads if engine == "threads" else on_dask)(source, files), expected)


@pytest.mark.parametrize("source", SOURCES)
def test_two_worker_processes_give_the_same(source, files, expected, two_workers):
    with two_workers.as_current():
        for name in list(MODELS)[:2]:
            check(MODELS[name], name, on_dask(source, files), expected)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_two_worker_processes_give_the_same_for_every_model(source, files, expected, two_workers):
    with two_workers.as_current():
        for name, model in MODELS.items():
            check(model, name, on_dask(source, files), expected)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_executors_of_spark_give_the_same(kind, source, files, expected, spark_session):
    rows = on_spark(source, files, spark_session(kind))
    for name, model in MODELS.items():
        check(model, name, rows, expected)
