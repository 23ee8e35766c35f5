"""Any name and any label, models that cannot be exported, and large ones."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Foreign
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import discrim as d
from discrim.basis import FunctionBasis
from discrim.errors import DiscrimError, ParameterError
from discrim.exports import export

FORMS = ("onnx", "python", "c", "duckdb", "sqlite")
NASTY = ['a"b', "x'; DROP TABLE t; --", "select", "new\nline", "naïve 数 \U0001f600", "%s {0} \\ ?? */", " ", "A"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x, codes = rng.normal(size=(80, 8)), np.repeat(np.arange(8), 10)
    return x + 2.0 * np.eye(8)[codes], codes


@pytest.mark.parametrize("form", [*FORMS, "postgres"])
def test_hostile_columns_and_labels(form, rows, forms, in_sql, check, postgres, tmp_path):
    x, codes = rows
    frame = pd.DataFrame(x, columns=NASTY)
    model = d.LinearDiscriminantAnalysis().fit(frame, np.array([*NASTY[:-1], "x" * 90])[codes])
    if form == "onnx":  # one input of all columns
        frame = frame.rename(columns={})
    run = forms[form] if form != "postgres" else lambda m, f, _: in_sql(m, f, "postgres", postgres)
    check(model, frame, run(model, frame, tmp_path))


@pytest.mark.parametrize("form", FORMS)
def test_hostile_levels(form, rows, forms, check, tmp_path):
    x, codes = rows
    frame = pd.DataFrame({"drop table": np.array(NASTY)[codes], "n": x[:, 0]})
    model = d.MixedNB().fit(frame, codes % 3)
    check(model, frame, forms[form](model, frame, tmp_path))


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("table", ['ta"ble', "select", "a.b; --", "Größe 数"])
def test_hostile_tables(table, dialect, rows, in_sql, check, postgres):
    x, codes = rows
    frame = pd.DataFrame(x[:, :3], columns=["x0", "x1", "x2"])
    model = d.LinearDiscriminantAnalysis().fit(x[:, :3], codes)
    found = in_sql(model, frame, dialect, postgres, table=table, keep='the "id"')
    check(model, frame, found, X=x[:, :3])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "labels",
    [[-(2**62), 0, 3], [4.0, -1.0, 1e6], [False, True], ["a", "A", "p_a"]],
    ids=["int", "float", "bool", "text"],
)
def test_labels_of_every_type(labels, form, rows, forms, check, tmp_path):
    x, codes = rows
    frame = pd.DataFrame(x[:, :3], columns=["x0", "x1", "x2"])
    model = d.GaussianNB().fit(x[:, :3], np.array(labels)[codes % len(labels)])
    check(model, frame, forms[form](model, frame, tmp_path), X=x[:, :3])


def test_a_toy_model_is_exported_without_a_line(rows, forms, check, tmp_path):
    path = Path(__file__).parents[1] / "families/toy.py"
    spec = importlib.util.spec_from_file_location("toy_to_export", path)
    toy = sys.modules["toy_to_export"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy)
    x, codes = rows
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(8)])
    model = toy.BallClassifier().fit(x, codes)
    for form in FORMS:
        check(model, frame, forms[form](model, frame, tmp_path), X=x)


def test_the_first_of_equal_classes_has_the_row(forms, tmp_path):
    x = np.array([[-1.0], [1.0], [-1.0], [1.0], [-1.0], [1.0]])
    model = d.LinearDiscriminantAnalysis().fit(x, [2, 2, 1, 1, 0, 0])
    frame = pd.DataFrame({"x0": [0.0, 5.0]})
    for form in FORMS:
        assert forms[form](model, frame, tmp_path)[0] == model.predict(frame.to_numpy()).tolist() == [0, 0]


class Own(d.LinearDiscriminantAnalysis):
    def predict(self, X):
        return super().predict(X)[::-1]


def refused():
    X, y = d.datasets.load_iris().xy
    two = X[50:], y[50:]
    yield "own methods", Own().fit(X, y), "Own answers by methods of its own"
    yield "scikit-learn", Foreign(max_iter=5).fit(X[50:], y[50:]), "LogisticRegression cannot be exported. Fitted class"
    yield (
        "function",
        make_pipeline(FunctionBasis(np.abs), d.LinearDiscriminantAnalysis()).fit(X, y),
        "Use another basis",
    )
    yield "scaler", make_pipeline(MinMaxScaler(), d.GaussianNB()).fit(X, y), "The step MinMaxScaler of a pipeline"
    yield "inside", d.decision.RejectingClassifier(Foreign(max_iter=5)).fit(*two), "LogisticRegression cannot be"
    several = d.RidgeClassifier().fit(X, np.column_stack([y == "setosa", X[:, 0] > 5]).astype(int))
    yield "several labels", several, "one for each label"
    rest = d.OneVsRestClassifier(d.GaussianNB()).fit(X, np.column_stack([y == "setosa", X[:, 0] > 5]).astype(int))
    yield "several labels of a scheme", rest, "one model for each label"


@pytest.mark.filterwarnings("ignore")
def test_models_that_cannot_be_exported_say_what_to_do():
    for name, model, text in refused():
        with pytest.raises(DiscrimError) as raised:
            export(model, "python")
        assert text in str(raised.value), name


def test_wrong_arguments():
    X, y = d.datasets.load_iris().xy
    model = d.LinearDiscriminantAnalysis().fit(X, y)
    for call, text in (
        (lambda: export(model, "pmml"), "'onnx', 'sql', 'c' or 'python'"),
        (lambda: model.to_sql("t", "oracle"), "'duckdb', 'postgres' or 'sqlite'"),
        (lambda: model.to_sql(""), "the name of a table"),
        (lambda: model.to_sql("a\0b"), "NUL"),
        (lambda: model.to_onnx(dtype="float16"), "'float64' or 'float32'"),
        (lambda: model.to_c(name="2x"), "a name that C allows"),
        (lambda: model.to_c(name="int"), "a name that C allows"),
    ):
        with pytest.raises(ParameterError) as raised:
            call()
        assert text in str(raised.value)
    with pytest.raises(ValueError, match="not fitted"):
        d.LinearDiscriminantAnalysis().to_python()


def test_a_table_of_a_schema():
    X, y = d.datasets.load_iris().xy
    query = d.LinearDiscriminantAnalysis().fit(X, y).to_sql(("my schema", "iris"))
    assert 'FROM "my schema"."iris"' in query


def test_ten_thousand_columns(forms, check, tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 10_000)), np.repeat(["a", "b", "c"], 20)
    model = d.NearestCentroid(priors="empirical").fit(x, y)
    frame = pd.DataFrame(x[:5], columns=[f"x{j}" for j in range(10_000)])
    for form, most in (("onnx", 1_200_000), ("python", 3_000_000), ("c", 3_000_000)):
        assert len(export(model, form)) < most
        check(model, frame, forms[form](model, frame, tmp_path), X=x[:5])
    for dialect, limit in (("postgres", "1,600"), ("sqlite", "2,000"), ("duckdb", "2,000")):
        with pytest.raises(ParameterError, match=limit):
            model.to_sql("t", dialect)
    with pytest.raises(ParameterError, match="200,000"):
        d.LinearDiscriminantAnalysis().fit(x, np.arange(60) % 30).to_sql("t")
