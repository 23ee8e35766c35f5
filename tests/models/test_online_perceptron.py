"""The perceptron's own rules and options, and what it tells of its way."""

import warnings

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import discrim
from discrim import Perceptron, datasets
from discrim.errors import DataError, NotSeparatedWarning, ParameterError
from discrim.online import lecture_perceptron

pytestmark = pytest.mark.every_version

TAUGHT = [
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
    for options in TAUGHT:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = Perceptron(**options, tol=None).fit(X, y)
        assert model.score(X, y) == 1.0
        (learned,) = model.learned_
        assert learned.converged
        assert learned.mistakes == 0
        assert model.n_updates_ == learned.updates > 0
        assert model.n_iter_ == learned.epochs


def test_the_chicago_rule_keeps_to_its_bound():
    X, y = iris(2)
    (learned,) = Perceptron(rule="chicago", shuffle=False, tol=None).fit(X, y).learned_
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
    model = Perceptron(rule="batch", eta0=0.5, tol=None).fit(X, y)
    assert_allclose(model.coef_[0], w)
    assert_allclose(model.intercept_[0], b)


def test_rows_that_overlap_are_told_with_how_many_stay_wrong():
    X, y = iris()
    with pytest.warns(NotSeparatedWarning, match=r"Class 1 against the others: .*\d+ of 150 rows are wrong"):
        model = Perceptron(rule="batch", max_iter=50, tol=None).fit(X, y)
    assert len(model.learned_) == 3
    assert model.coef_.shape == (3, 4)
    wrong = model.learned_[1].mistakes
    scores = model.decision_function(X)[:, 1]
    assert wrong == (np.where(y == 1, 1, -1) * scores <= 0).sum()


def test_exclusive_or_cycles_and_says_so():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    with pytest.warns(NotSeparatedWarning, match="would go round for ever"):
        model = Perceptron(rule="batch", shuffle=False, tol=None).fit(X, y)
    assert model.learned_[0].cycling
    assert not model.learned_[0].separable


def test_the_pocket_is_no_worse_than_what_it_was_taken_from():
    X, y = iris()
    X, y = X[y > 0], y[y > 0]
    with pytest.warns(NotSeparatedWarning):
        pocket = Perceptron(pocket=True, max_iter=100, tol=None).fit(X, y)
    plain = Perceptron(max_iter=100, tol=None).fit(X, y)
    assert pocket.score(X, y) >= plain.score(X, y)


def test_classes_that_compete_follow_the_rule_of_winner_and_own_class():
    X, y = iris()
    X = X - X.mean(axis=0)
    w, updates = np.zeros((3, 5)), 0
    for _ in range(4):
        for row, k in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
            scores = w @ row
            others = np.where(np.arange(3) == k, -np.inf, scores)
            if not scores[k] > others.max():
                w[k] += row
                w[others.argmax()] -= row
                updates += 1
    model = Perceptron(multi_class="multinomial", shuffle=False, max_iter=4, tol=None).fit(X, y)
    assert_allclose(model.coef_, w[:, :4], atol=1e-10)
    assert_allclose(model.intercept_, w[:, 4], atol=1e-10)
    assert model.n_updates_ == 2 * updates
    two = Perceptron(multi_class="multinomial", shuffle=False, max_iter=4, tol=None).fit(X[:100], y[:100])
    assert_allclose(two.coef_, Perceptron(shuffle=False, max_iter=4, tol=None).fit(X[:100], y[:100]).coef_)


def test_the_average_is_the_mean_of_all_weights():
    X, y = iris(2)
    w, way = np.zeros(5), []
    for row, sign in zip(np.column_stack([X, np.ones(100)]), 2.0 * y - 1, strict=True):
        w = w + sign * row if sign * (w @ row) <= 0 else w
        way.append(w)
    model = Perceptron(average=True, shuffle=False, max_iter=1, tol=None).fit(X, y)
    assert_allclose(np.append(model.coef_, model.intercept_), np.mean(way, axis=0), rtol=1e-10)


def test_weights_of_zero_leave_rows_out_and_parts_are_refused():
    X, y = iris(2)
    flipped = np.concatenate([y, 1 - y])
    weight = np.repeat([1.0, 0.0], 100)
    twice = Perceptron(rule="batch", tol=None).fit(np.vstack([X, X]), flipped, sample_weight=weight)
    assert_allclose(twice.coef_, Perceptron(rule="batch", tol=None).fit(X, y).coef_)
    for options in TAUGHT:
        assert not hasattr(Perceptron(**options), "partial_fit")
    assert hasattr(Perceptron(), "partial_fit")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "Chicago"}, "The 'rule' parameter is 'Chicago'"),
        ({"trace": True}, "The 'trace' parameter is True; it must be False, 'epoch' or 'step'"),
        ({"multi_class": "softmax"}, "The 'multi_class' parameter"),
        ({"pocket": True, "penalty": "l2"}, "pocket=True does not go with penalty"),
        ({"rule": "batch", "multi_class": "multinomial"}, "rule='batch' does not go with multi_class"),
        ({"multi_class": "multinomial", "penalty": "l1"}, "neither penalty nor early_stopping"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_named(options, words):
    with pytest.raises(ParameterError, match=words):
        Perceptron(**options).fit(*iris())


def test_missing_values_are_named_by_every_rule():
    X, y = iris(2)
    X = X.copy()
    X[5, 1] = np.nan
    for options in ({}, *TAUGHT):
        with pytest.raises(DataError, match="column 'x1' has 1 NaN"):
            Perceptron(**options).fit(X, y)


def test_the_way_is_kept_on_request():
    X, y = iris(2)
    model = Perceptron(trace="step", shuffle=False, tol=None).fit(X, y)
    trace = model.learned_[0].trace
    assert trace is not None
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("rule", ["batch", "chicago", "online"])
def test_a_key_press_comes_out_and_changes_nothing(rule, monkeypatch):
    X, y = iris()
    model = Perceptron(rule=rule, trace="epoch").fit(X[:100], y[:100])
    before, learned = model.coef_.copy(), model.learned_
    ended, as_before = [], lecture_perceptron._Walk.end_epoch

    def pressed(self, epoch):
        as_before(self, epoch)
        ended.append(self.theta.copy())
        if len(ended) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(lecture_perceptron._Walk, "end_epoch", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[50:], y[50:])
    assert_array_equal(model.coef_, before)
    assert model.learned_ is learned
    assert_array_equal(model.classes_, np.unique(y[:100]))


@pytest.mark.parametrize("options", TAUGHT, ids=str)
def test_a_scan_is_refused_by_what_needs_all_rows(options):
    X, y = iris()
    rows = discrim.scan(pl.DataFrame(X).with_columns(y=pl.Series(y)), target="y")
    with pytest.raises(ParameterError, match="needs all rows in memory: give arrays or a table, not a scan"):
        Perceptron(**options).fit(rows)
