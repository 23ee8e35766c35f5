"""Other people's code with our class and with scikit-learn's of the same name: the same answers.

Each client is a function of a classifier and returns what its user would see. Clients outside scikit-learn are skipped
where they are not installed.
"""

import pickle
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import discriminant_analysis, ensemble, inspection, linear_model, model_selection, naive_bayes
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import load_wine
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - makes HalvingGridSearchCV importable
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.metrics import RocCurveDisplay
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discrim

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, :6]
NAMES = np.array(["barolo", "grignolino", "barbera"])[Y]
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))

# Ours and theirs, with what makes both exact.
PAIRS = {
    "LinearDiscriminantAnalysis": (discriminant_analysis, {}),
    "QuadraticDiscriminantAnalysis": (discriminant_analysis, {}),
    "GaussianNB": (naive_bayes, {}),
    "LogisticRegression": (linear_model, {"tol": 1e-10, "max_iter": 1000, "C": 0.5}),
    "RidgeClassifier": (linear_model, {}),
}
# A value of the parameter that a search goes through.
GRIDS = {
    "LinearDiscriminantAnalysis": {"shrinkage": [0.1, 0.5, 0.9], "solver": ["lsqr"]},
    "QuadraticDiscriminantAnalysis": {"reg_param": [0.0, 0.1, 0.5]},
    "GaussianNB": {"var_smoothing": [1e-9, 1e-3, 0.1]},
    "LogisticRegression": {"C": [0.01, 1.0]},
    "RidgeClassifier": {"alpha": [0.1, 10.0]},
}


def has_posterior(model):
    return hasattr(model, "predict_proba")


def weighs(model):
    """Does scikit-learn's class of this name take weights? Ours always does."""
    return type(model).__name__ not in {"LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"}


def searched(model):
    found = model_selection.GridSearchCV(model, GRIDS[type(model).__name__], cv=4).fit(X, NAMES)
    return found.cv_results_["mean_test_score"], found.best_index_, found.predict(X)


def halved(model):
    grid = GRIDS[type(model).__name__]
    found = model_selection.HalvingGridSearchCV(model, grid, cv=3, random_state=0, min_resources=60).fit(X, Y)
    return found.cv_results_["mean_test_score"], found.predict(X)


def calibrated(model):
    return (CalibratedClassifierCV(model, cv=3).fit(X, NAMES).predict_proba(X),)


def voted(model):
    voting = "soft" if has_posterior(model) else "hard"
    both = [("a", model), ("b", naive_bayes.GaussianNB())]
    return (ensemble.VotingClassifier(both, voting=voting).fit(X, NAMES).predict(X),)


def stacked(model):
    both = [("a", model), ("b", naive_bayes.GaussianNB())]
    found = ensemble.StackingClassifier(both, final_estimator=linear_model.LogisticRegression(), cv=3).fit(X, NAMES)
    return found.predict(X), found.transform(X)


def bagged(model):
    return (ensemble.BaggingClassifier(model, n_estimators=5, random_state=0).fit(X, NAMES).predict(X),)


def boosted(model):
    if not (weighs(model) and has_posterior(model)):
        return ()
    found = ensemble.AdaBoostClassifier(model, n_estimators=4, random_state=0).fit(X, Y, sample_weight=WEIGHT)
    return (found.predict(X),)


def selected(model):
    if not hasattr(clone(model).fit(X, Y), "coef_"):
        return ()
    return RFE(model, n_features_to_select=3).fit(X, Y).ranking_, SelectFromModel(model).fit(X, Y).get_support()


def permuted(model):
    fitted = model.fit(X, NAMES)
    return (inspection.permutation_importance(fitted, X, NAMES, n_repeats=3, random_state=0).importances,)


def partially_dependent(model):
    fitted = model.fit(X, Y)
    return (inspection.partial_dependence(fitted, X, [0], grid_resolution=5).average,)


def displayed(model):
    two = Y < 2
    fitted = model.fit(X[two][:, :2], Y[two])
    shown = inspection.DecisionBoundaryDisplay.from_estimator(fitted, X[two][:, :2], grid_resolution=20)
    curve = RocCurveDisplay.from_estimator(fitted, X[two][:, :2], Y[two])
    answers = shown.response, curve.fpr, curve.tpr, curve.name == type(model).__name__
    if has_posterior(model):
        shown = CalibrationDisplay.from_estimator(fitted, X[two][:, :2], Y[two], n_bins=4)
        answers = *answers, shown.prob_true, shown.prob_pred
    plt.close("all")
    return answers


def cross_predicted(model):
    return tuple(
        model_selection.cross_val_predict(model, X, NAMES, cv=4, method=method)
        for method in ("predict", "predict_proba", "decision_function")
        if hasattr(model, method)
    )


def copied(model):
    fitted = pickle.loads(pickle.dumps(clone(model).fit(X, NAMES)))
    return fitted.predict(X), fitted.classes_, clone(fitted).fit(X, Y).predict(X)


def framed(model):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    fitted = make_pipeline(StandardScaler().set_output(transform="pandas"), model).fit(frame, NAMES)
    return fitted[-1].feature_names_in_, fitted.predict(frame)


def routed(model):
    if not weighs(model):
        return ()
    with sklearn.config_context(enable_metadata_routing=True):
        asks = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        return (model_selection.cross_val_score(asks, X, Y, cv=3, params={"sample_weight": WEIGHT}),)


def against_the_rest(model):
    return (OneVsRestClassifier(model).fit(X, NAMES).predict(X),)


CLIENTS = [
    searched, halved, calibrated, voted, stacked, bagged, boosted, selected, permuted, partially_dependent, displayed,
    cross_predicted, copied, framed, routed, against_the_rest,
]  # fmt: skip


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
@pytest.mark.parametrize("name", PAIRS)
def test_a_client_sees_no_difference(name, client):
    module, parameters = PAIRS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (client(getattr(place, name)(**parameters)) for place in (discrim, module))
    assert len(ours) == len(theirs)
    for found, expected in zip(ours, theirs, strict=True):
        found, expected = np.asarray(found), np.asarray(expected)
        if expected.dtype.kind == "f":
            assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        else:
            assert_array_equal(found, expected)


LINEAR = [
    "LinearDiscriminantAnalysis", "LogisticRegression", "RidgeClassifier", "LeastSquaresClassifier", "LassoClassifier",
    "AROWClassifier", "GradientDescentClassifier", "OnePassLogisticRegression", "RosenblattPerceptron",
]  # fmt: skip


@pytest.mark.parametrize("name", LINEAR)
def test_shap_explains_linear_scores(name):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    model = getattr(discrim, name)().fit(X, Y)
    explainer = shap.LinearExplainer(model, X)
    total = explainer.shap_values(X).sum(axis=1) + explainer.expected_value
    assert_allclose(total, model.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [*PAIRS, "CategoricalNB", "SGDClassifier"])
@pytest.mark.parametrize("dispatch", [False, True])
def test_arrays_of_another_library_are_read_and_the_answer_is_numpys(name, dispatch, monkeypatch):
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    x = np.abs(np.round(X)) if name == "CategoricalNB" else X
    given = {"random_state": 0} if name == "SGDClassifier" else {}
    expected = getattr(discrim, name)(**given).fit(x, Y)
    with sklearn.config_context(array_api_dispatch=dispatch):
        model = getattr(discrim, name)(**given).fit(strict.asarray(x), strict.asarray(Y))
        assert_array_equal(model.predict(strict.asarray(x)), expected.predict(x))
        assert model.score(strict.asarray(x), strict.asarray(Y)) == expected.score(x, Y)


class Elsewhere:
    """An array that only says which library it is of, and can be converted."""

    def __init__(self, values):
        self.values, self.shape, self.ndim = values, values.shape, values.ndim

    def __array_namespace__(self):
        return np

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_an_array_of_any_library_is_converted():
    model = discrim.GaussianNB().fit(Elsewhere(X), Y)
    assert model.n_features_in_ == 6
    assert_array_equal(model.predict(Elsewhere(X)), discrim.GaussianNB().fit(X, Y).predict(X))
