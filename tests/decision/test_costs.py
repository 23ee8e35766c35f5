"""Bayes' rule for costs, against the sums written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.svm import LinearSVC

from discrim import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from discrim.decision import BayesClassifier, CostSensitiveClassifier, ThresholdClassifier
from discrim.decision.costs import cheapest

LDA = LinearDiscriminantAnalysis()


def brute_force(posterior, costs):
    """argmin_j sum_k L[k, j] p_k, in plain loops."""
    answers = []
    for row in posterior:
        expected = [sum(costs[k][j] * row[k] for k in range(len(row))) for j in range(len(costs[0]))]
        answers.append(int(np.argmin(expected)))
    return answers


@pytest.mark.parametrize("actions", [None, ["a", "b"], ["treat", "test", "wait", "refer"]])
def test_the_action_has_the_least_expected_cost(actions, iris):
    X, y = iris
    count = 3 if actions is None else len(actions)
    costs = np.random.default_rng(3).normal(size=(3, count)) * 5
    model = CostSensitiveClassifier(LDA, costs, actions).fit(X, y)
    names = model.classes_ if actions is None else np.array(actions)
    posterior = LDA.fit(X, y).predict_proba(X)
    assert_array_equal(model.predict(X), names[brute_force(posterior, costs)])
    assert_allclose(model.expected_cost(X), posterior @ costs)
    assert_array_equal(names[model.expected_cost(X).argmin(axis=1)], model.predict(X))


def test_with_costs_of_zero_and_one_it_is_the_most_probable_class(iris):
    X, y = iris
    plain = QuadraticDiscriminantAnalysis().fit(X, y)
    for costs in (None, 1 - np.eye(3), 7.0 * (1 - np.eye(3)), -np.eye(3)):
        model = CostSensitiveClassifier(QuadraticDiscriminantAnalysis(), costs).fit(X, y)
        assert_array_equal(model.predict(X), plain.predict(X))


def test_zero_one_costs_break_ties_as_argmax_does():
    """Two classes of exactly equal posterior: sums over the other classes would differ in their last bits."""
    p = np.random.default_rng(0).dirichlet(np.ones(6), size=20_000)
    p[:, [1, 4]] = p.max(axis=1, keepdims=True)
    p /= p.sum(axis=1, keepdims=True)
    assert_array_equal(cheapest(p, 1.0 - np.eye(6)), p.argmax(axis=1))


def test_two_classes_move_the_threshold_as_the_formula_says(two_classes):
    X, y, _ = two_classes
    costs = np.array([[-1.0, 3.0], [10.0, 0.5]])  # rows: fit, sick
    model = CostSensitiveClassifier(LDA, costs).fit(X, y)
    threshold = (3.0 + 1.0) / (3.0 + 1.0 + 10.0 - 0.5)
    sick = LDA.fit(X, y).predict_proba(X)[:, 1] > threshold
    assert_array_equal(model.predict(X) == "sick", sick)


def test_no_other_rule_costs_less_on_average_where_the_posteriors_are_true():
    """Rows whose class is drawn from the posterior: of all rules by a threshold Bayes' has the least mean cost."""
    rng = np.random.default_rng(0)
    p = rng.uniform(size=200_000)
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    mean = [np.where(p > t, (1 - p) * costs[0, 1], p * costs[1, 0]).mean() for t in np.linspace(0, 1, 101)]
    chosen = cheapest(np.column_stack([1 - p, p]), costs)
    ours = np.where(chosen == 1, (1 - p) * costs[0, 1], p * costs[1, 0]).mean()
    assert ours <= min(mean) + 1e-12
    assert np.argmin(mean) == 20


def test_the_mean_cost_is_that_of_the_actions_taken(iris):
    X, y = iris
    weight = np.linspace(1, 2, len(y))
    costs = np.array([[0, 2, 1], [3, 0, 1], [9, 9, 1.0]])
    model = CostSensitiveClassifier(LDA, costs, ["x", "y", "z"]).fit(X, y)
    taken = [["x", "y", "z"].index(a) for a in model.predict(X)]
    expected = np.average([costs[k, j] for k, j in zip(np.searchsorted(model.classes_, y), taken, strict=True)])
    assert model.mean_cost(X, y) == pytest.approx(expected)
    weighted = model.mean_cost(X, y, sample_weight=weight)
    assert weighted == pytest.approx(np.average(costs[np.searchsorted(model.classes_, y), taken], weights=weight))


def test_weights_go_to_the_estimator_inside(two_classes):
    X, y, weight = two_classes
    model = CostSensitiveClassifier(LDA).fit(X, y, sample_weight=weight)
    assert_allclose(model.predict_proba(X), LinearDiscriminantAnalysis().fit(X, y, weight).predict_proba(X))


def test_a_frozen_estimator_is_used_as_it_is(two_classes):
    X, y, _ = two_classes
    fitted = LinearDiscriminantAnalysis().fit(X, y)
    model = CostSensitiveClassifier(FrozenEstimator(fitted), [[0, 1], [5, 0]]).fit(X[:5], y[:5])
    assert model.estimator_.estimator is fitted
    assert_allclose(model.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    ("costs", "actions", "text"),
    [
        ([[0, 1], [1, 0]], None, "'costs' parameter is 2 x 2; it needs a row for each of the 3 classes"),
        ([0, 1, 2], None, "'costs' parameter is 3; it needs a row"),
        (5, None, "'costs' parameter is a single number"),
        ([[0, 1], [1, 0], [2, 2]], None, r"has 2 actions for 3 classes. Name them: actions=\[...\]"),
        ([[0, 1], [1, 0], [2, 2]], ["a"], "'actions' parameter is .* 2 different names"),
        ([[0, 1], [1, 0], [2, 2]], ["a", "a"], "'actions' parameter is .* 2 different names"),
        ([[0, 1, np.nan]] * 3, None, "holds NaN or infinity"),
        ("cheap", None, "must be a matrix of numbers"),
        (None, ["a", "b", "c"], "names the columns of 'costs', which must be a matrix"),
        ({("setosa", "rose"): 2}, None, "has the label 'rose'; the classes are 'setosa', 'versicolor', 'virginica'"),
        ({"setosa": 2}, None, r"keyed by pairs \(true label, predicted label\)"),
        ({("setosa", "virginica"): "dear"}, None, "must be a matrix of numbers"),
        ({("setosa", "virginica"): np.inf}, None, "holds NaN or infinity"),
        ({("setosa", "virginica"): 2}, ["a", "b", "c"], "names the columns of 'costs', which must be a matrix"),
    ],
)
def test_costs_that_do_not_fit_are_refused_with_the_shape_that_would(costs, actions, text, iris):
    with pytest.raises(ValueError, match=text):
        CostSensitiveClassifier(LDA, costs, actions).fit(*iris)


def test_an_estimator_without_posteriors_is_refused_before_it_is_fitted(iris):
    text = r"CostSensitiveClassifier needs an estimator with predict_proba, which LinearSVC\(\) lacks"
    with pytest.raises(ValueError, match=text):
        CostSensitiveClassifier(LinearSVC()).fit(*iris)


def test_labels_that_the_model_does_not_know_are_named(iris):
    X, y = iris
    model = CostSensitiveClassifier(LDA).fit(X, y)
    with pytest.raises(ValueError, match="'tulip'"):
        model.mean_cost(X, ["tulip"] * len(X))


def test_costs_by_labels_are_those_of_the_matrix(iris):
    X, y = iris
    given = {("virginica", "versicolor"): 5, ("setosa", "setosa"): -1}
    by_label = CostSensitiveClassifier(LinearDiscriminantAnalysis(), given).fit(X, y)
    assert by_label.costs_.tolist() == [[-1, 1, 1], [1, 0, 1], [1, 5, 0]]
    assert by_label.actions_.tolist() == ["setosa", "versicolor", "virginica"]
    by_matrix = CostSensitiveClassifier(LinearDiscriminantAnalysis(), by_label.costs_.tolist()).fit(X, y)
    assert_array_equal(by_label.predict(X), by_matrix.predict(X))
    plain = CostSensitiveClassifier(LinearDiscriminantAnalysis(), {}).fit(X, y)
    assert_array_equal(plain.predict(X), LinearDiscriminantAnalysis().fit(X, y).predict(X))


def test_thresholds_and_known_densities_take_costs_by_labels(iris):
    X, y = iris[0][50:], iris[1][50:]
    costs = {("virginica", "versicolor"): 20}
    labelled = ThresholdClassifier(LinearDiscriminantAnalysis(), "cost", costs=costs).fit(X, y)
    matrix = ThresholdClassifier(LinearDiscriminantAnalysis(), "cost", costs=[[0, 1], [20, 0]]).fit(X, y)
    assert labelled.threshold_ == matrix.threshold_ < 0.5
    densities = {"paid": stats.norm(0, 1), "default": stats.norm(2, 1)}
    rule = BayesClassifier(densities, costs={("default", "paid"): 5})
    assert rule.costs_.tolist() == [[0, 1], [5, 0]]
