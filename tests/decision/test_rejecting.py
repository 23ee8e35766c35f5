"""Chow's rule, against the K + 1 actions written out, and the curve of accuracy against coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin

from discrim import LinearDiscriminantAnalysis
from discrim.decision import CostSensitiveClassifier, RejectingClassifier, accuracy_rejection
from discrim.evaluation import proportion_interval

LDA = LinearDiscriminantAnalysis()


@pytest.mark.parametrize("d", [0.0, 0.01, 0.1, 0.3, 0.6])
def test_chows_rule_is_the_least_cost_of_one_action_more(d, iris):
    X, y = iris
    X = X[:, :2]
    costs = np.column_stack([1 - np.eye(3), np.full(3, d)])
    actions = ["setosa", "versicolor", "virginica", "reject"]
    expected = CostSensitiveClassifier(LDA, costs, actions).fit(X, y)
    model = RejectingClassifier(LDA, d).fit(X, y)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert_array_equal(model.rejects(X), model.predict(X) == "reject")
    assert model.performance(X, y).cost == pytest.approx(expected.mean_cost(X, y))


@pytest.mark.parametrize("classes", [2, 3, 5, 7])
def test_a_rejection_that_costs_as_much_as_guessing_rejects_nobody(classes):
    """Even where all posteriors are equal, and 1/K is a number that has been rounded."""
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 2)), classes, axis=0)
    y = np.tile(np.arange(classes), 30)
    for d in (1 - 1 / classes, 1.0):
        model = RejectingClassifier(LDA, d).fit(X, y)
        assert not model.rejects(X).any()


def test_equal_posteriors_in_single_precision_are_not_rejected_for_their_rounding():
    class Undecided(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return np.full((len(X), 25), 1 / 25, dtype=np.float32)

    assert float(np.float32(1 / 25)) < 1 / 25
    model = RejectingClassifier(Undecided(), 1 - 1 / 25).fit(np.zeros((25, 1)), np.arange(25))
    assert not model.rejects(np.zeros((3, 1))).any()
    assert model.set_params(reject_cost=0.9).fit(np.zeros((25, 1)), np.arange(25)).rejects(np.zeros((3, 1))).all()


def test_thresholds_by_class_bind_the_class_that_would_be_answered(iris):
    X, y = iris
    posterior = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    by_name = RejectingClassifier(LDA, 0.2, thresholds={"virginica": 0.99}).fit(X, y)
    assert_allclose(by_name.thresholds_, [0.8, 0.8, 0.99])
    best = posterior.argmax(axis=1)
    expected = posterior.max(axis=1) < np.array([0.8, 0.8, 0.99])[best]
    assert_array_equal(by_name.rejects(X), expected)
    by_place = RejectingClassifier(LDA, thresholds=[0.8, 0.8, 0.99]).fit(X, y)
    assert_array_equal(by_place.rejects(X), expected)


def test_performance_counts_the_answered_rows(two_classes):
    X, y, weight = two_classes
    model = RejectingClassifier(LDA, 0.25).fit(X, y)
    answers = model.predict(X)
    kept = answers != "reject"
    found = model.performance(X, y)
    assert 0 < kept.mean() < 1
    assert found.coverage == pytest.approx(kept.mean())
    assert found.error == pytest.approx(np.mean(answers[kept] != y[kept]))
    assert found.error_ci(0.9) == proportion_interval(int((answers[kept] != y[kept]).sum()), int(kept.sum()), 0.9)
    weighted = model.performance(X, y, sample_weight=weight)
    assert weighted.error == pytest.approx(np.average(answers[kept] != y[kept], weights=weight[kept]))


def test_the_curve_is_what_each_threshold_does(two_classes):
    X, y, weight = two_classes
    model = RejectingClassifier(LDA).fit(X, y)
    curve = model.accuracy_rejection(X, y, sample_weight=weight)
    posterior = model.predict_proba(X)
    right = model.classes_[posterior.argmax(axis=1)] == y
    for threshold, coverage, accuracy in zip(curve.thresholds, curve.coverage, curve.accuracy, strict=True):
        kept = posterior.max(axis=1) >= threshold
        assert coverage == pytest.approx(weight[kept].sum() / weight.sum())
        assert accuracy == pytest.approx(np.average(right[kept], weights=weight[kept]))
    assert curve.coverage[-1] == 1
    cost = curve.cost(0.2)
    assert_allclose(cost, curve.coverage * (1 - curve.accuracy) + 0.2 * (1 - curve.coverage))


def test_ties_in_certainty_are_answered_together():
    posterior = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.6, 0.4]])
    curve = accuracy_rejection(["a", "a", "a", "b"], posterior)
    assert_allclose(curve.thresholds, [0.9, 0.6])
    assert_allclose(curve.coverage, [0.75, 1.0])
    assert_allclose(curve.accuracy, [2 / 3, 0.5])


def test_the_answer_of_no_answer_can_be_chosen(iris):
    X, y = iris
    X = X[:, :2]
    numbers = np.searchsorted(np.unique(y), y)
    assert set(RejectingClassifier(LDA).fit(X, numbers).predict(X)) == {-1, 0, 1, 2}
    mixed = RejectingClassifier(LDA, reject_label=0).fit(X, y).predict(X)
    assert set(mixed) == {0, "setosa", "versicolor", "virginica"}
    with pytest.raises(ValueError, match="'reject_label' parameter is 1; it must be none of the classes"):
        RejectingClassifier(LDA, reject_label=1).fit(X, numbers)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"reject_cost": 1.5}, "'reject_cost' parameter is 1.5"),
        ({"thresholds": [0.5, 0.5]}, "a dict or 3 numbers, one for each class"),
        ({"thresholds": {"tulip": 0.5}}, "keyed by classes, which are 'setosa'"),
        ({"thresholds": [0.5, 0.5, 2]}, "made of numbers from 0 to 1"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(options, text, iris):
    with pytest.raises(ValueError, match=text):
        RejectingClassifier(LDA, **options).fit(*iris)


def test_where_nobody_is_answered_there_is_no_error_to_tell(two_classes):
    X, y, _ = two_classes
    found = RejectingClassifier(LDA, 0.0).fit(X, y).performance(X, y)
    assert found.coverage == 0
    assert np.isnan(found.error)
    assert found.error_ci() == (0.0, 1.0)
