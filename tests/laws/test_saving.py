"""Every estimator, fitted or not, survives each way of saving and copying that Python has."""

import copy
import io
import pickle
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, clone

import discrim.decision
import discrim.decision.multiclass
import discrim.models
from discrim import basis, scan
from discrim.decision import (
    BayesClassifier,
    CostSensitiveClassifier,
    PriorShiftClassifier,
    RejectingClassifier,
    ThresholdClassifier,
)
from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from discrim.models import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    NearestCentroid,
    OnePassLogisticRegression,
    QuadraticDiscriminantAnalysis,
    RidgeClassifier,
    SGDClassifier,
    TextClassifier,
)


def _rows(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["ash", "elm", "oak"])[rng.integers(0, 3, n)]
    X = rng.integers(0, 4, size=(n, 4)).astype(float)
    X[:, 0] += 2 * (y == "elm")
    X[:, 1] += 3 * (y == "oak")
    return X, y


X, Y = _rows()
TWO = np.where(Y == "oak", "oak", "other")
WIDE = np.random.default_rng(1).normal(size=(30, 60))
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(k=pd.Categorical(np.array(["u", "v", "w"])[np.arange(90) % 3]))
WORDS = [" ".join(np.array(["leaf", "bark", "root"])[row[:3].astype(int) % 3]) for row in X]
DENSITIES = [stats.multivariate_normal(np.zeros(4)), stats.multivariate_normal(np.ones(4))]

# Rows that suit each kind of estimator: (estimator, X, y), y being None for a basis and for known densities.
PLAIN = [
    (getattr(discrim.models, name)(), X, TWO if name == "AROWClassifier" else Y)
    for name in discrim.models.__all__
    if isinstance(getattr(discrim.models, name), type) and name not in {"TextClassifier", "FormulaClassifier"}
]
SETTINGS = [
    (LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), X, Y),
    (LinearDiscriminantAnalysis(shrinkage="cv"), X, Y),
    (LinearDiscriminantAnalysis(), FRAME, Y),
    (LinearDiscriminantAnalysis(), WIDE, Y[:30]),
    (QuadraticDiscriminantAnalysis(predict_method="predictive"), X, Y),
    (NearestCentroid("manhattan"), X, Y),
    (NearestCentroid(shrink_threshold="cv", rule="pamr"), WIDE, Y[:30]),
    (RidgeClassifier(), WIDE, Y[:30]),
    (RidgeClassifier(), X, np.column_stack([Y == "ash", Y == "elm"]).astype(int)),
    (LogisticRegression(C=np.inf), X, Y),
    (LogisticRegression(C=np.inf, bias_reduction="firth"), X, TWO),
    (LogisticRegression(l1_ratio=1.0), FRAME, Y),
    (LogisticRegression(), WIDE, Y[:30]),
    (OnePassLogisticRegression(), X, Y),
    (SGDClassifier(loss="log_loss", learning_rate="auto", average=True), X, Y),
    (BernoulliNB(alpha=0), X, Y),
    (MultinomialNB(alpha="loo"), X, Y),
    (CategoricalNB(), FRAME, Y),
    (MixedNB(), FRAME, Y),
    (TextClassifier(), WORDS, Y),
]
WRAPPED = [
    (CostSensitiveClassifier(LinearDiscriminantAnalysis()), X, TWO),
    (PriorShiftClassifier(LinearDiscriminantAnalysis()), X, TWO),
    (RejectingClassifier(GaussianNB()), X, TWO),
    (ThresholdClassifier(LinearDiscriminantAnalysis()), X, TWO),
    (BayesClassifier(DENSITIES, [0.4, 0.6]), X, None),
    (OneVsRestClassifier(LinearDiscriminantAnalysis()), X, Y),
    (OneVsOneClassifier(LogisticRegression()), X, Y),
    (OutputCodeClassifier(RidgeClassifier(), random_state=0), X, Y),
]
BASES = [
    (basis.SplineBasis(), X, None),
    (basis.PolynomialBasis(), X, None),
    (basis.RadialBasis(), X, None),
    (basis.FourierBasis(), X, None),
    (basis.StepBasis(), X, None),
    (basis.QuadraticBasis(), X, None),
]
CASES = PLAIN + SETTINGS + WRAPPED + BASES


def _by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def _by_skops(model):
    skops = pytest.importorskip("skops.io", reason="skops is one of the ways to save; it is not installed")
    data = skops.dumps(model)
    return skops.loads(data, trusted=skops.get_untrusted_types(data=data))


def _by_every_pickle(model):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        model = pickle.loads(pickle.dumps(model, protocol))
    return model


WAYS = {
    "pickle": _by_every_pickle,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "joblib": _by_joblib,
    "skops": _by_skops,
}
# The import of skops alone takes most of a minute: it lists the types of scikit-learn and SciPy that it trusts.
ways = pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.slow] * (way == "skops")) for way in WAYS])


def _answers(model, x):
    names = [n for n in ("predict", "predict_proba", "decision_function", "transform") if hasattr(model, n)]
    return {name: getattr(model, name)(x) for name in names}


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]!r:.60}")
def case(request):
    model, x, y = request.param
    model = clone(model)
    return model.fit(x) if y is None else model.fit(x, y), x


@ways
def test_a_saved_model_answers_as_the_fitted_one(case, way):
    model, x = case
    if way == "skops" and isinstance(model, BayesClassifier):
        pytest.skip("skops does not save SciPy's frozen distributions")
    again = WAYS[way](model)
    assert type(again) is type(model)
    found, known = _answers(again, x), _answers(model, x)
    assert found.keys() == known.keys()
    for name, values in known.items():
        assert_array_equal(found[name], values)
    if hasattr(model, "summary"):
        assert str(again.summary()) == str(model.summary())


@ways
def test_an_estimator_that_is_not_fitted_keeps_its_parameters(case, way):
    model = clone(case[0])
    if isinstance(model, BayesClassifier):
        pytest.skip("its parameters are distributions of SciPy, which are not compared by value")
    assert repr(WAYS[way](model)) == repr(model)


@ways
def test_a_saved_model_goes_on_learning_and_forgetting(way):
    kinds = (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        GaussianNB,
        NearestCentroid,
        RidgeClassifier,
    )
    for made in (kind() for kind in kinds):
        model = made.fit(X[:60], Y[:60])
        again = WAYS[way](copy.deepcopy(model)).partial_fit(X[60:], Y[60:]).forget(X[:10], Y[:10])
        model.partial_fit(X[60:], Y[60:]).forget(X[:10], Y[:10])
        assert_array_equal(again.predict(X), model.predict(X))
        assert again.statistic_.depth is model.statistic_.depth


@ways
def test_a_first_part_that_cannot_be_solved_is_saved_too(way):
    model = LinearDiscriminantAnalysis().partial_fit(X[Y == "oak"], Y[Y == "oak"])
    again = WAYS[way](copy.deepcopy(model)).partial_fit(X[Y != "oak"], Y[Y != "oak"])
    assert_array_equal(again.predict(X), model.partial_fit(X[Y != "oak"], Y[Y != "oak"]).predict(X))


@ways
def test_a_model_of_a_scan_keeps_the_names_of_its_columns(way):
    rows = scan(FRAME.assign(label=Y), target="label")
    model = LinearDiscriminantAnalysis().fit(rows)
    again = WAYS[way](model)
    assert again._design == model._design
    assert_array_equal(again.predict(FRAME), model.predict(FRAME))


def test_every_public_estimator_is_among_the_cases():
    rooms = (discrim.models, discrim.decision, discrim.decision.multiclass, basis)
    public = {getattr(room, name) for room in rooms for name in room.__all__}
    estimators = {found for found in public if isinstance(found, type) and issubclass(found, BaseEstimator)}
    covered = {type(model) for model, _, _ in CASES}
    # What follows from parts that are covered, or needs a function of the user; formulas: tests/models/test_formula.py.
    others = {basis.Basis, basis.FunctionBasis, basis.JoinedBasis, basis.FormulaBasis, discrim.FormulaClassifier}
    assert estimators <= covered | others, {found.__name__ for found in estimators - covered - others}


def test_nothing_that_models_keep_has_slots_without_a_state_of_its_own():
    """Pickle's first two protocols, and skops, cannot save such an object."""
    modules = [module for name, module in sys.modules.items() if name.startswith("discrim.")]
    found = {thing for module in modules for thing in vars(module).values() if isinstance(thing, type)}
    ours = {thing for thing in found if thing.__module__.startswith("discrim.") and "__slots__" in vars(thing)}
    bare = [thing.__name__ for thing in ours if thing.__slots__ and thing.__getstate__ is object.__getstate__]
    assert not bare
