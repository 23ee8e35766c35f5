"""A path given as X is refused everywhere, with the call that reads the file."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression as Foreign

import discrim
from discrim import decision, evaluation, scan
from discrim.errors import DataError, ParameterError

Y = np.arange(20) % 2
# One reads documents, the other has known densities and learns from no rows.
OTHERS = (discrim.TextClassifier, discrim.FormulaClassifier, decision.BayesClassifier)


def estimators():
    """Every public estimator; those that wrap another get one."""
    for package in (discrim, decision):
        for name in package.__all__:
            kind = getattr(package, name)
            if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and kind not in OTHERS:
                wraps = "estimator" in inspect.signature(kind).parameters
                yield pytest.param(kind(discrim.LinearDiscriminantAnalysis()) if wraps else kind(), id=name)


@pytest.mark.parametrize("model", list(estimators()))
@pytest.mark.parametrize(
    ("arguments", "target"), [((), "..."), ((Y,), "..."), (("species",), "'species'")], ids=["alone", "labels", "name"]
)
def test_a_path_is_refused_with_the_call_that_reads_the_file(model, arguments, target):
    with pytest.raises(DataError) as refused:
        model.fit("x.csv", *arguments)
    assert f"Read the file with discrim.scan('x.csv', target={target}) instead" in str(refused.value)


@pytest.mark.parametrize("model", [discrim.LinearDiscriminantAnalysis(), discrim.SGDClassifier(), Foreign()])
@pytest.mark.parametrize("function", ["cross_validate", "learning_curve", "permutation_test"])
def test_evaluation_refuses_a_path(function, model):
    with pytest.raises(DataError, match=r"discrim\.scan\('x\.csv', target=\.\.\.\)"):
        getattr(evaluation, function)(model, "x.csv", Y)


@pytest.mark.parametrize("arguments", [(), (Y,)], ids=["alone", "labels"])
def test_compare_refuses_a_path(arguments):
    with pytest.raises(DataError, match=r"discrim\.scan\('x\.csv', target=\.\.\.\)"):
        discrim.compare("x.csv", *arguments)


def test_documents_of_a_path_are_opened_by_documents():
    with pytest.raises(DataError, match=r"a file as documents\(X, text=..., target=...\)"):
        discrim.TextClassifier().fit("x.csv", Y)


@pytest.fixture
def table():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"length": [1.0, 2.0], "width": [2.0, 1.0], "height": [0.0, 1.0], "y": [0, 1]})


def test_columns_are_left_out_of_all_others_and_of_the_features(table):
    assert scan(table, target="y", without=["width"]).features == ["length", "height"]
    assert scan(table, target="y", features=["height", "width"], without=["width"]).features == ["height"]
    assert scan(table, target="y", without=[]).features == ["length", "width", "height"]


def test_columns_to_leave_out_must_exist(table):
    with pytest.raises(DataError, match=r"There is no column 'widht' in 'pandas DataFrame'. Did you mean 'width'"):
        scan(table, target="y", without=["widht"])
    with pytest.raises(ParameterError, match="'without' parameter is 'width'; it must be a list of column names"):
        scan(table, target="y", without="width")
    with pytest.raises(DataError, match="no column to learn from besides the target and the weight and 'length', "):
        scan(table, target="y", without=["length", "width", "height"])
