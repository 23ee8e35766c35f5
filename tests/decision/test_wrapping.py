"""What all wrappers do in the same way: they are ordinary meta-estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discrim
from discrim import LinearDiscriminantAnalysis
from discrim.decision import (
    CostSensitiveClassifier,
    PriorShiftClassifier,
    RejectingClassifier,
    ThresholdClassifier,
)

LDA = LinearDiscriminantAnalysis(shrinkage=0.1)
WRAPPERS = [
    CostSensitiveClassifier(LDA, [[0, 1], [5, 0]]),
    RejectingClassifier(LDA, 0.2),
    PriorShiftClassifier(LDA, [0.5, 0.5]),
    ThresholdClassifier(LDA, "sensitivity", target=0.9, cv=4),
]


@pytest.fixture(params=WRAPPERS, ids=lambda w: type(w).__name__)
def wrapper(request):
    return clone(request.param)


def test_the_estimator_that_was_passed_is_not_fitted(wrapper, two_classes):
    X, y, _ = two_classes
    wrapper.fit(X, y)
    assert not hasattr(wrapper.estimator, "classes_")
    assert_array_equal(wrapper.classes_, ["fit", "sick"])
    assert_allclose(wrapper.estimator_.predict_proba(X), clone(LDA).fit(X, y).predict_proba(X))


def test_every_container_gives_the_same_answers(wrapper, two_classes, tmp_path):
    X, y, weight = two_classes
    expected = wrapper.fit(X, y, sample_weight=weight).predict(X)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.assign(y=y, w=weight).to_parquet(tmp_path / "rows.parquet")
    scan = discrim.scan(tmp_path / "rows.parquet", target="y", weight="w")
    for table, labels, weights in (
        (frame, pd.Series(y), {"sample_weight": weight}),
        (sparse.csr_array(X), y.tolist(), {"sample_weight": weight}),
        (X.tolist(), y.astype(object), {"sample_weight": weight.tolist()}),
        (scan, None, {}),
    ):
        model = clone(wrapper).fit(table, labels, **weights)
        assert_array_equal(model.predict(table), expected)
    assert_array_equal(clone(wrapper).fit(frame, y).feature_names_in_, list("abc"))


def test_parameters_of_the_inner_estimator_are_searched_through_it(wrapper, two_classes):
    X, y, _ = two_classes
    if isinstance(wrapper, RejectingClassifier):
        wrapper.set_params(reject_cost=1.0)
    search = GridSearchCV(wrapper, {"estimator__shrinkage": [0.0, 0.9]}, cv=3).fit(X, y)
    assert search.best_estimator_.estimator_.shrinkage in (0.0, 0.9)


def test_a_pipeline_can_be_inside(wrapper, two_classes):
    X, y, _ = two_classes
    model = clone(wrapper).set_params(estimator=make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()))
    plain = clone(wrapper).set_params(estimator=LinearDiscriminantAnalysis())
    assert_array_equal(model.fit(X, y).predict(X), plain.fit(X, y).predict(X))


def test_it_survives_a_pickle_and_a_clone_forgets(wrapper, two_classes):
    X, y, _ = two_classes
    wrapper.fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(wrapper)).predict(X), wrapper.predict(X))
    assert not hasattr(clone(wrapper), "estimator_")


def test_before_it_is_fitted_it_says_so(wrapper, two_classes):
    X, y, _ = two_classes
    for call in (wrapper.predict, wrapper.predict_proba):
        with pytest.raises(NotFittedError):
            call(X)
    if isinstance(wrapper, PriorShiftClassifier):
        with pytest.raises(NotFittedError):
            wrapper.adapt(X)
    if isinstance(wrapper, CostSensitiveClassifier):
        with pytest.raises(NotFittedError):
            wrapper.mean_cost(X, y)


def test_weights_are_routed_as_the_inner_estimator_requests(wrapper, two_classes):
    X, y, weight = two_classes
    direct = clone(wrapper).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        asking = clone(wrapper).set_params(estimator=clone(LDA).set_fit_request(sample_weight=True))
        asking.fit(X, y, sample_weight=weight)
        with pytest.raises(UnsetMetadataPassedError):
            clone(wrapper).fit(X, y, sample_weight=weight)
    assert_array_equal(asking.predict(X), direct.predict(X))
    assert_allclose(asking.estimator_.predict_proba(X), direct.estimator_.predict_proba(X))


def test_a_fit_that_fails_leaves_the_old_model(wrapper, two_classes):
    X, y, _ = two_classes
    before = wrapper.fit(X, y).predict(X)
    bad = X.copy()
    bad[4, 1] = np.nan
    with pytest.raises(ValueError, match="column 'x1' has 1 NaN"):
        wrapper.fit(bad, y)
    assert_array_equal(wrapper.predict(X), before)


def test_a_decision_that_fails_leaves_the_old_model_too(iris, two_classes):
    X, y, _ = two_classes
    model = CostSensitiveClassifier(LDA, [[0, 1], [5, 0]]).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="'costs' parameter is 2 x 2"):
        model.fit(*iris)
    assert_array_equal(model.predict(X), before)
