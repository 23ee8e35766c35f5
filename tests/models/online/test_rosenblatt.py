"""Rosenblatt's perceptron: rules, options, and what it reports of its way."""

import pickle
import warnings

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import NotFittedError

import discrim
from discrim import Perceptron, RosenblattPerceptron, datasets
from discrim.errors import DataError, NotSeparatedWarning, ParameterError
from discrim.families.online.rosenblatt import Corrections

pytestmark = pytest.mark.every_version

OPTIONS = [
    {},
    {"rule": "batch"},
    {"rule": "chicago"},
    {"pocket": True},
    {"normalize_weights": True},
    {"normalize_rows": True},
    {"trace": "epoch"},
]


def iris(classes=3):
    X, y = datasets.load_iris().xy
    y = np.unique(y, return_inverse=True)[1]
    return X[y < classes], y[y < classes]


def test_every_rule_separates_what_can_be_separated_and_is_silent():
    X, y = iris(2)
    for options in OPTIONS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = RosenblattPerceptron(**options).fit(X, y)
        assert model.score(X, y) == 1.0
        (learned,) = model.learned_
        assert learned.converged
        assert learned.mistakes == 0
        assert model.n_updates_ == learned.updates > 0
        assert model.n_iter_ == learned.epochs


def test_the_chicago_rule_keeps_to_its_bound():
    X, y = iris(2)
    (learned,) = RosenblattPerceptron(rule="chicago", shuffle=False).fit(X, y).learned_
    assert_allclose(learned.radius, np.linalg.norm(X, axis=1).max())
    w, b = learned.coef, learned.intercept
    gamma = ((2 * y - 1) * (X @ w + b)).min() / np.linalg.norm(w)
    assert_allclose(learned.gamma, gamma)
    assert learned.updates <= learned.bound


def test_the_batch_rule_by_hand():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, 0])
    sign, w, b = np.array([1.0, 1.0, -1.0]), np.zeros(2), 0.0
    while (wrong := sign * (X @ w + b) <= 0).any():
        w, b = w + 0.5 * sign[wrong] @ X[wrong], b + 0.5 * sign[wrong].sum()
    model = RosenblattPerceptron(rule="batch", eta0=0.5).fit(X, y)
    assert_allclose(model.coef_[0], w)
    assert_allclose(model.intercept_[0], b)


def test_rows_that_overlap_are_told_with_how_many_stay_wrong():
    X, y = iris()
    with pytest.warns(NotSeparatedWarning, match=r"Class 1 against the others: .*\d+ of 150 rows are wrong"):
        model = RosenblattPerceptron(rule="batch", max_iter=50).fit(X, y)
    assert len(model.learned_) == 3
    assert model.coef_.shape == (3, 4)
    wrong = model.learned_[1].mistakes
    scores = model.decision_function(X)[:, 1]
    assert wrong == (np.where(y == 1, 1, -1) * scores <= 0).sum()


def test_exclusive_or_cycles_and_says_so():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    with pytest.warns(NotSeparatedWarning, match="would go round for ever"):
        model = RosenblattPerceptron(rule="batch", shuffle=False).fit(X, y)
    assert model.learned_[0].cycling
    assert not model.learned_[0].separable


def test_the_pocket_is_no_worse_than_what_it_was_taken_from():
    X, y = iris()
    X, y = X[y > 0], y[y > 0]
    with pytest.warns(NotSeparatedWarning):
        pocket = RosenblattPerceptron(pocket=True, max_iter=100).fit(X, y)
    plain = Perceptron(max_iter=100, tol=None).fit(X, y)
    assert pocket.score(X, y) >= plain.score(X, y)


def test_weights_of_zero_leave_rows_out_and_parts_are_refused():
    X, y = iris(2)
    flipped = np.concatenate([y, 1 - y])
    weight = np.repeat([1.0, 0.0], 100)
    twice = RosenblattPerceptron(rule="batch").fit(np.vstack([X, X]), flipped, sample_weight=weight)
    assert_allclose(twice.coef_, RosenblattPerceptron(rule="batch").fit(X, y).coef_)
    assert not hasattr(RosenblattPerceptron(), "partial_fit")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "Chicago"}, "The 'rule' parameter is 'Chicago'"),
        ({"trace": True}, "The 'trace' parameter is True; it must be False, 'epoch' or 'step'"),
        ({"eta0": 0.0}, "The 'eta0' parameter is 0.0; it must be a finite number above 0"),
        ({"max_iter": 0}, "The 'max_iter' parameter"),
        ({"shuffle": "blocks"}, "The 'shuffle' parameter is 'blocks'; it must be True or False"),
        ({"average": 3}, "The 'average' parameter"),
        ({"pocket": "yes"}, "The 'pocket' parameter"),
        ({"class_weight": "even"}, "The 'class_weight' parameter"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used_are_named(options, words):
    with pytest.raises(ParameterError, match=words):
        RosenblattPerceptron(**options).fit(*iris())


def test_missing_values_are_named_by_every_rule():
    X, y = iris(2)
    X = X.copy()
    X[5, 1] = np.nan
    for options in OPTIONS:
        with pytest.raises(DataError, match="column 'x1' has 1 NaN"):
            RosenblattPerceptron(**options).fit(X, y)


def test_the_way_is_kept_on_request():
    X, y = iris(2)
    model = RosenblattPerceptron(trace="step", shuffle=False).fit(X, y)
    trace = model.learned_[0].trace
    assert trace is not None
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("rule", ["batch", "chicago", "online"])
def test_a_key_press_comes_out_and_changes_nothing(rule, monkeypatch):
    X, y = iris()
    model = RosenblattPerceptron(rule=rule, trace="epoch").fit(X[:100], y[:100])
    before, learned = model.coef_.copy(), model.learned_
    ended, as_before = [], Corrections.end_epoch

    def pressed(self, epoch):
        as_before(self, epoch)
        ended.append(self.theta.copy())
        if len(ended) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Corrections, "end_epoch", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[50:], y[50:])
    assert_array_equal(model.coef_, before)
    assert model.learned_ is learned
    assert_array_equal(model.classes_, np.unique(y[:100]))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_scan_is_refused(options):
    X, y = iris()
    rows = discrim.scan(pl.DataFrame(X).with_columns(y=pl.Series(y)), target="y")
    with pytest.raises(ParameterError, match="needs all rows in memory: give arrays or a table, not a scan"):
        RosenblattPerceptron(**options).fit(rows)


def test_rows_in_turn_are_corrected_as_by_the_perceptron_that_goes_on():
    """scikit-learn's rule is the same, so that without an end of its own it has the same weights."""
    X, y = iris(2)
    ours = RosenblattPerceptron(shuffle=False).fit(X, y)
    peer = linear_model.Perceptron(shuffle=False, tol=None, max_iter=ours.n_iter_).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-10)
    assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-10)


def test_containers_do_not_change_the_answer():
    X, y = iris(2)
    expected = RosenblattPerceptron().fit(X, y).coef_
    frame = pl.DataFrame(X, schema=list("abcd"))
    for other in (np.asfortranarray(X), X.tolist(), frame, sparse.csr_array(X)):
        assert_array_equal(RosenblattPerceptron().fit(other, y).coef_, expected)
    named = RosenblattPerceptron().fit(frame, np.where(y == 1, "b", "a"))
    assert set(named.predict(frame)) == {"a", "b"}
    assert named.feature_names_in_.tolist() == list("abcd")


def test_a_class_that_counts_more_is_corrected_further():
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    twice = RosenblattPerceptron("batch", class_weight={1: 3.0}, max_iter=1).fit(X, y, sample_weight=[1.0, 1.0])
    assert_allclose([twice.coef_[0, 0], twice.intercept_[0]], [3 * 2 - 1, 3 - 1])


def test_rows_that_no_rule_can_learn_are_refused():
    X, y = iris(2)
    with pytest.raises(DataError, match="got 1 class: 0"):
        RosenblattPerceptron().fit(X[:50], y[:50])
    with pytest.raises(DataError, match="too long to be squared"):
        RosenblattPerceptron().fit(X * 1e200, y)
    model = RosenblattPerceptron()
    with pytest.raises(AttributeError, match="has made no updates yet"):
        model.n_updates_  # noqa: B018
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_it_has_margins_a_summary_and_no_probabilities():
    X, y = iris(2)
    model = RosenblattPerceptron("chicago").fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
    assert model.summary().coef.shape == (5, 1)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.learned_[0].verdict == model.learned_[0].verdict
