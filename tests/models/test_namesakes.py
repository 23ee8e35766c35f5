"""A class with scikit-learn's name has what clients look for exactly where scikit-learn's has it."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import discriminant_analysis, linear_model, multiclass, naive_bayes, neighbors
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import discrim
import discrim.decision.multiclass
from discrim import compare, cross_validate, datasets
from discrim.decision import CostSensitiveClassifier, PriorShiftClassifier, RejectingClassifier, ThresholdClassifier
from discrim.errors import DiscrimError

X, SPECIES = datasets.load_iris().xy
Y = np.unique(SPECIES, return_inverse=True)[1]
TWO = (Y == 1).astype(int)
PLACES = (discriminant_analysis, linear_model, naive_bayes, multiclass, neighbors)
ROOMS = (discrim.models, discrim.decision.multiclass)
NAMES = [name for room in ROOMS for name in room.__all__ if any(hasattr(place, name) for place in PLACES)]
# What clients ask an estimator for before they decide how to use it.
ASKED = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function", "score",
    "transform", "fit_transform", "get_feature_names_out", "score_samples", "fit_predict", "inverse_transform",
    "sparsify", "densify", "set_output", "set_callbacks",
)  # fmt: skip
# Beside the plain ones: settings on which a method depends, and what is inside a scheme.
SETTINGS = {
    "SGDClassifier": [{"loss": loss} for loss in ("hinge", "log_loss", "modified_huber", "perceptron", "huber")],
    "LinearDiscriminantAnalysis": [{}, {"solver": "lsqr"}, {"solver": "eigen"}],
    "LogisticRegressionCV": [{"Cs": 2, "cv": 2}],
    "NearestCentroid": [{}, {"metric": "manhattan"}, {"shrink_threshold": 0.3}],
    "LogisticRegression": [{}, {"solver": "liblinear"}, {"C": np.inf}],
}
INSIDE = [
    linear_model.LogisticRegression(), KNeighborsClassifier(), LinearSVC(), linear_model.LinearRegression(),
]  # fmt: skip


SCHEMES = ["OneVsRestClassifier", "OneVsOneClassifier", "OutputCodeClassifier"]
WRAPPERS = [CostSensitiveClassifier, PriorShiftClassifier, RejectingClassifier, ThresholdClassifier]


def namesakes(name):
    """Pairs of ours and scikit-learn's with the same parameters; each with the name of its own kind inside."""
    ours = next(getattr(room, name) for room in ROOMS if name in room.__all__)
    theirs = next(getattr(place, name) for place in PLACES if hasattr(place, name))
    if "estimator" in inspect.signature(ours).parameters:
        both = [(ours(clone(inner)), theirs(clone(inner))) for inner in INSIDE]
        kinds = ("RidgeClassifier", "GaussianNB", "LinearDiscriminantAnalysis", "LogisticRegression")
        pairs = [(getattr(discrim, kind), next(getattr(p, kind) for p in PLACES if hasattr(p, kind))) for kind in kinds]
        return both + [(ours(mine()), theirs(other())) for mine, other in pairs]
    return [(ours(**s), theirs(**s)) for s in SETTINGS.get(name, [{}])]


def found(estimator):
    return {name for name in ASKED if hasattr(estimator, name)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_methods_are_there_exactly_where_scikit_learn_has_them(name):
    for ours, theirs in namesakes(name):
        assert found(ours) == found(theirs), ours
        y = TWO if getattr(ours, "solver", "") == "liblinear" else Y
        try:
            theirs.fit(X, y)
        except ValueError:  # a scheme of bits cannot use a regressor
            with pytest.raises(ValueError, match="estimator"):
                ours.fit(X, y)
            continue
        ours.fit(X, y)
        assert found(ours) == found(theirs), ours
        assert hasattr(ours, "classes_") == hasattr(theirs, "classes_")
        assert get_tags(ours).estimator_type == get_tags(theirs).estimator_type
        assert get_tags(ours).transformer_tags == get_tags(theirs).transformer_tags
        assert get_tags(ours).input_tags.allow_nan == get_tags(theirs).input_tags.allow_nan


@pytest.mark.parametrize("name", NAMES)
def test_what_is_more_than_scikit_learn_has_comes_last_and_by_keyword(name):
    ours, theirs = (list(inspect.signature(type(model)).parameters.values()) for model in namesakes(name)[0])
    known = {parameter.name: parameter.default for parameter in theirs}
    added = [parameter for parameter in ours if parameter.name not in known]
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in added)
    if "methods" in [parameter.name for parameter in added]:
        assert inspect.signature(type(namesakes(name)[0][0])).parameters["methods"].default == "scikit-learn"


@pytest.mark.parametrize(
    ("name", "methods"),
    [
        ("RidgeClassifier", ["predict_proba", "predict_log_proba"]),
        ("GaussianNB", ["decision_function"]),
        ("BernoulliNB", ["decision_function"]),
        ("CategoricalNB", ["decision_function"]),
    ],
)
def test_hidden_methods_are_switched_on_by_an_option(name, methods):
    kind = getattr(discrim, name)
    model = kind().fit(X, Y)
    for method in methods:
        assert not hasattr(model, method)
        with pytest.raises(AttributeError, match=f"'{name}' has no attribute '{method}'") as caught:
            getattr(model, method)
        assert f"{name}(methods='all')" in str(caught.value.__cause__)
        assert len(getattr(clone(model).set_params(methods="all").fit(X, Y), method)(X)) == len(X)
        assert len(getattr(model.set_params(methods="all"), method)(X)) == len(X)
        model.set_params(methods="scikit-learn")
    with pytest.raises(ValueError, match="'methods' parameter is 'some'; it must be one of 'scikit-learn', 'all'"):
        kind(methods="some").fit(X, Y)


def test_pairs_have_posteriors_on_request_where_the_estimators_have():
    scheme = discrim.decision.multiclass.OneVsOneClassifier
    assert not hasattr(scheme(discrim.LinearDiscriminantAnalysis()), "predict_proba")
    for inner in (discrim.LinearDiscriminantAnalysis(), discrim.RidgeClassifier()):
        posterior = scheme(inner, methods="all").fit(X, Y).predict_proba(X)
        assert_allclose(posterior.sum(axis=1), 1.0)
    assert not hasattr(scheme(LinearSVC(), methods="all"), "predict_proba")


@pytest.mark.parametrize("threshold", [0.0, -0.3, 0.2])
def test_a_fixed_threshold_is_put_on_the_same_score(threshold):
    for ours, theirs in ((discrim.RidgeClassifier(), linear_model.RidgeClassifier()),):
        found, known = (FixedThresholdClassifier(model, threshold=threshold).fit(X, TWO) for model in (ours, theirs))
        assert_array_equal(found.predict(X), known.predict(X))
    if threshold == 0.0:
        assert found.predict(X).sum() == 35


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", ["RidgeClassifier", "GaussianNB", "BernoulliNB"])
def test_calibration_has_the_same_scores_to_go_by(name, method):
    place = linear_model if name == "RidgeClassifier" else naive_bayes
    ours, theirs = (
        CalibratedClassifierCV(getattr(where, name)(), method=method, cv=3).fit(X, Y) for where in (discrim, place)
    )
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_ensembles_use_the_same_answers():
    def ensembles(where):
        parts = [("ridge", where.RidgeClassifier()), ("nb", discrim.GaussianNB())]
        yield StackingClassifier(parts, cv=3)
        yield VotingClassifier(parts)

    for ours, theirs in zip(ensembles(discrim), ensembles(linear_model), strict=True):
        assert_array_equal(ours.fit(X, Y).predict(X), theirs.fit(X, Y).predict(X))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("inner", ["GaussianNB", "RidgeClassifier", "LinearDiscriminantAnalysis"])
def test_schemes_of_namesakes_answer_alike(scheme, inner):
    ours = getattr(discrim.decision.multiclass, scheme)(getattr(discrim, inner)())
    theirs = getattr(multiclass, scheme)(next(getattr(p, inner) for p in PLACES if hasattr(p, inner))())
    if scheme == "OutputCodeClassifier":
        ours.set_params(random_state=0)
        theirs.set_params(random_state=0)
    ours.fit(X, Y)
    theirs.fit(X, Y)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(theirs, "decision_function"):
        assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("name", SCHEMES)
def test_weights_are_no_parameter_of_a_scheme(name):
    ours, theirs = getattr(discrim.decision.multiclass, name), getattr(multiclass, name)
    for inner in (KNeighborsClassifier(), linear_model.LogisticRegression()):
        assert has_fit_parameter(ours(inner), "sample_weight") == has_fit_parameter(theirs(inner), "sample_weight")
    assert list(inspect.signature(ours.fit).parameters) == list(inspect.signature(theirs.fit).parameters)
    for model in (ours(KNeighborsClassifier()), make_pipeline(StandardScaler(), ours(KNeighborsClassifier()))):
        bagged = BaggingClassifier(model, 3, random_state=0).fit(X, Y)
        assert bagged.score(X, Y) > 0.9


@pytest.mark.parametrize("name", SCHEMES)
def test_weights_passed_by_name_reach_the_models(name):
    kind = getattr(discrim.decision.multiclass, name)
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    extra = {"code": "exhaustive"} if name == "OutputCodeClassifier" else {}
    for inner in (discrim.LinearDiscriminantAnalysis(), naive_bayes.GaussianNB()):
        weighted = kind(inner, **extra).fit(X, Y, sample_weight=weight)
        repeated = kind(inner, **extra).fit(X.repeat(weight, axis=0), Y.repeat(weight))
        assert_array_equal(weighted.predict(X), repeated.predict(X))
        none = kind(inner, **extra).fit(X, Y, sample_weight=None)
        assert_array_equal(none.predict(X), kind(inner, **extra).fit(X, Y).predict(X))


@pytest.mark.parametrize("kind", WRAPPERS)
def test_wrappers_are_bagged_around_anything(kind):
    assert not has_fit_parameter(kind(KNeighborsClassifier()), "sample_weight")
    bagged = BaggingClassifier(kind(KNeighborsClassifier()), 3, random_state=0).fit(X, TWO)
    assert len(bagged.predict(X)) == len(X)
    weighted = kind(discrim.LinearDiscriminantAnalysis()).fit(X, TWO, sample_weight=1.0 + TWO)
    assert weighted.estimator_.priors_[1] == pytest.approx(0.5)


def test_weighted_folds_reach_through_schemes_and_wrappers():
    weight = 1.0 + TWO
    for kind in (discrim.decision.multiclass.OneVsRestClassifier, CostSensitiveClassifier):
        inner = discrim.LinearDiscriminantAnalysis()
        found = cross_validate(kind(inner), X, TWO, cv=3, sample_weight=weight)
        assert_allclose(found.posterior, cross_validate(inner, X, TWO, cv=3, sample_weight=weight).posterior, atol=1e-8)
        with pytest.raises(DiscrimError, match="takes no sample_weight"):
            cross_validate(kind(KNeighborsClassifier()), X, TWO, cv=3, sample_weight=weight)


@pytest.mark.parametrize("kind", WRAPPERS)
def test_our_own_wrappers_still_get_the_posteriors_of_a_ridge(kind):
    open_one = discrim.RidgeClassifier(methods="all").fit(X, TWO)
    model = kind(discrim.RidgeClassifier()).fit(X, TWO)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    if kind is not PriorShiftClassifier:
        assert_allclose(model.predict_proba(X), open_one.predict_proba(X))


def test_our_own_folds_and_comparisons_still_have_the_posteriors_of_a_ridge():
    folds = cross_validate(discrim.RidgeClassifier(), X, Y, cv=5)
    assert np.isfinite(folds.log_loss)
    assert_allclose(folds.posterior.sum(axis=1), 1.0)
    refitted = cross_validate(discrim.RidgeClassifier(positive=True), X, Y, cv=5)
    assert np.isfinite(refitted.log_loss)
    found = compare(X, Y, ["Ridge", "LDA"], cv=4)
    assert np.isfinite(found["Ridge"].log_loss)
