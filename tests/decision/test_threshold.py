"""The threshold of least loss, against every threshold tried in turn, and its honest estimate against the loop."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import discrim
from discrim import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from discrim.decision import ThresholdClassifier
from discrim.decision.threshold import CutPoints
from discrim.evaluation import proportion_interval

LDA = LinearDiscriminantAnalysis()
COSTS = np.array([[0.0, 1.0], [5.0, 0.5]])


def counts(score, positive, weight, threshold):
    said = score > threshold
    return [
        float(weight[(positive == truth) & (said == answer)].sum())
        for truth in (False, True)
        for answer in (False, True)
    ]


def every_threshold(score):
    """One below all scores, one between each two, one above all."""
    values = np.unique(score)
    return np.concatenate([[values[0] - 1], (values[:-1] + values[1:]) / 2, [values[-1] + 1]])


LOSSES = {
    "error": lambda tn, fp, fn, tp: fp + fn,
    "cost": lambda tn, fp, fn, tp: COSTS[0, 0] * tn + COSTS[0, 1] * fp + COSTS[1, 0] * fn + COSTS[1, 1] * tp,
    "sensitivity": lambda tn, fp, fn, tp: fp if tp / (tp + fn) >= 0.8 - 1e-12 else np.inf,
    "specificity": lambda tn, fp, fn, tp: fn if tn / (tn + fp) >= 0.8 - 1e-12 else np.inf,
}


def f1_loss(tn, fp, fn, tp):
    return -2 * tp / (2 * tp + fp + fn)


def least_loss(criterion, score, positive, weight):
    loss = LOSSES[criterion] if isinstance(criterion, str) else criterion
    return min(loss(*counts(score, positive, weight, t)) for t in every_threshold(score))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([*LOSSES, f1_loss]), st.booleans())
def test_no_threshold_does_better_than_the_one_chosen(seed, criterion, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    positive = rng.permutation(np.arange(n) % 3 == 0)
    # Few distinct values: ties within and between the classes.
    score = rng.integers(0, 12, n) / 11 + (0.2 * positive if seed % 2 else 0.0)
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    cuts = CutPoints.of(score, positive, weight, 0.5)
    threshold = cuts.best(criterion, 0.8, COSTS, 0.5)
    loss = LOSSES[criterion] if isinstance(criterion, str) else criterion
    assert loss(*counts(score, positive, weight, threshold)) == pytest.approx(
        least_loss(criterion, score, positive, weight)
    )
    assert loss(*counts(score, positive, weight, threshold)) <= loss(*counts(score, positive, weight, 0.5)) + 1e-9


def test_all_cut_points_are_counted_right():
    rng = np.random.default_rng(0)
    score, positive, weight = rng.integers(0, 9, 50) / 8.0, rng.uniform(size=50) < 0.4, rng.uniform(size=50)
    cuts = CutPoints.of(score, positive, weight, 0.5)
    assert len(cuts.points) == len(np.unique(score)) + 1
    for t, *row in zip(cuts.points, cuts.tn, cuts.fp, cuts.fn, cuts.tp, strict=True):
        assert_allclose(row, counts(score, positive, weight, t), atol=1e-12)


def test_neighbouring_floats_have_a_threshold_between_them():
    low = 0.3
    high = np.nextafter(low, 1)
    cuts = CutPoints.of(np.array([low, high]), np.array([False, True]), np.ones(2), 0.5)
    threshold = cuts.best("error", 0, COSTS, 0.5)
    assert low <= threshold < high


@pytest.mark.parametrize("inner", [LDA, PeerLogistic(), LinearSVC()], ids=str)
@pytest.mark.parametrize("criterion", ["error", "cost", "sensitivity", "specificity", f1_loss])
def test_on_the_training_rows_it_is_never_worse_than_the_usual_threshold(inner, criterion, two_classes):
    X, y, weight = two_classes
    options = {"costs": COSTS} if criterion == "cost" else {"target": 0.8}
    model = ThresholdClassifier(inner, criterion, cv="train", **options).fit(X, y, sample_weight=weight)
    plain = clone(inner).fit(X, y, sample_weight=weight)
    score = plain.predict_proba(X)[:, 1] if hasattr(plain, "predict_proba") else plain.decision_function(X)
    usual = 0.5 if hasattr(plain, "predict_proba") else 0.0
    loss = LOSSES[criterion] if isinstance(criterion, str) else criterion
    found = loss(*counts(score, y == "sick", weight, model.threshold_))
    assert found == pytest.approx(least_loss(criterion, score, y == "sick", weight))
    assert found <= loss(*counts(score, y == "sick", weight, usual))
    assert_array_equal(model.predict(X) == "sick", score > model.threshold_)
    assert model.estimate_ is None


def test_of_equally_good_thresholds_the_nearest_to_the_usual_one_is_taken():
    score, positive = np.array([0.1, 0.2, 0.7, 0.9]), np.array([False, False, True, True])
    assert CutPoints.of(score, positive, np.ones(4), 0.5).best("error", 0, COSTS, 0.5) == 0.5
    assert CutPoints.of(score, positive, np.ones(4), 0.0).best("error", 0, COSTS, 0.0) == pytest.approx(0.45)


def held_out(inner, X, y, splitter, weight=None):
    score = np.empty(len(y))
    for train, test in splitter.split(X, y):
        weights = {} if weight is None else {"sample_weight": weight[train]}
        model = clone(inner).fit(X[train], y[train], **weights)
        score[test] = (
            model.predict_proba(X[test])[:, 1] if hasattr(model, "predict_proba") else model.decision_function(X[test])
        )
    return score


@pytest.mark.parametrize("inner", [LDA, QuadraticDiscriminantAnalysis(), PeerLogistic(), LinearSVC()], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_estimate_judges_every_fold_by_a_threshold_chosen_on_the_others(inner, weighted, two_classes):
    X, y, weight = two_classes
    weight = weight if weighted else np.ones(len(y))
    splitter = StratifiedKFold(5)
    model = ThresholdClassifier(inner, "sensitivity", target=0.9, cv=5)
    model.fit(X, y, sample_weight=weight if weighted else None)
    score = held_out(inner, X, y, splitter, weight if weighted else None)
    usual = 0.5 if hasattr(inner, "predict_proba") else 0.0
    positive, answers = y == "sick", np.zeros(len(y), dtype=bool)
    for train, test in splitter.split(X, y):
        cuts = CutPoints.of(score[train], positive[train], weight[train], usual)
        answers[test] = score[test] > cuts.best("sensitivity", 0.9, COSTS, usual)
    table = model.estimate_.confusion.table
    assert_allclose(table.ravel(), [weight[(positive == a) & (answers == b)].sum() for a in (0, 1) for b in (0, 1)])
    assert model.estimate_.sensitivity == pytest.approx(np.average(answers[positive], weights=weight[positive]))
    assert model.estimate_.error == pytest.approx(np.average(answers != positive, weights=weight))
    low, high = model.estimate_.sensitivity_ci(0.9)
    assert (low, high) == pytest.approx(proportion_interval(table[1, 1], table[1].sum(), 0.9))
    assert low < model.estimate_.sensitivity < high


def test_the_honest_estimate_does_not_promise_what_noise_cannot_keep():
    """Without any difference between the classes the apparent error falls below the honest one."""
    apparent, honest, fresh = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 2)), rng.permutation(np.arange(60) % 2)
        model = ThresholdClassifier(LDA, cv=5).fit(X, y)
        apparent.append(model.apparent_.error)
        honest.append(model.estimate_.error)
        new = rng.normal(size=(2000, 2))
        fresh.append(np.mean(model.predict(new) != np.arange(2000) % 2))
    assert np.mean(fresh) == pytest.approx(0.5, abs=0.01)
    assert np.mean(apparent) < 0.47
    assert abs(np.mean(honest) - np.mean(fresh)) < 0.03


def test_costs_are_in_the_order_of_the_classes_whichever_is_positive(two_classes):
    X, y, _ = two_classes
    for positive in ("fit", "sick"):
        model = ThresholdClassifier(LDA, "cost", costs=COSTS, positive=positive, cv="train").fit(X, y)
        answer = model.predict(X)
        mean = np.mean([COSTS[int(a == "sick"), int(b == "sick")] for a, b in zip(y, answer, strict=True)])
        assert model.apparent_.cost == pytest.approx(mean)
        assert model.positive_ == positive
        score = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)[:, 1]
        assert mean * len(y) == pytest.approx(least_loss("cost", score, y == "sick", np.ones(len(y))))


def test_the_positive_class_can_be_named(two_classes):
    X, y, _ = two_classes
    model = ThresholdClassifier(LDA, "sensitivity", target=0.95, positive="fit", cv="train").fit(X, y)
    assert np.mean(model.predict(X)[y == "fit"] == "fit") >= 0.95
    assert model.apparent_.sensitivity >= 0.95
    with pytest.raises(ValueError, match="'positive' parameter is 'well'; it must be one of the labels 'fit', 'sick'"):
        ThresholdClassifier(LDA, positive="well").fit(X, y)


def test_a_frozen_estimator_is_tuned_on_rows_it_did_not_see(two_classes):
    X, y, weight = two_classes
    fitted = LinearDiscriminantAnalysis().fit(X[:120], y[:120])
    frozen = ThresholdClassifier(FrozenEstimator(fitted), "specificity", target=0.9, cv=5)
    frozen.fit(X[120:], y[120:], sample_weight=weight[120:])
    assert frozen.estimator_.estimator is fitted
    score, positive = fitted.predict_proba(X[120:])[:, 1], y[120:] == "sick"
    expected = CutPoints.of(score, positive, weight[120:], 0.5).best("specificity", 0.9, COSTS, 0.5)
    assert frozen.threshold_ == expected
    assert frozen.estimate_ is not None


def test_frames_scans_and_arrays_give_the_same_threshold(two_classes, tmp_path):
    X, y, weight = two_classes
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.assign(y=y, w=weight).to_parquet(tmp_path / "rows.parquet")
    scan = discrim.scan(tmp_path / "rows.parquet", target="y", weight="w")
    array, table, stream = (
        ThresholdClassifier(LDA, cv=5).fit(*given, **weights)
        for given, weights in (
            ((X, y), {"sample_weight": weight}),
            ((frame, pd.Series(y)), {"sample_weight": weight}),
            ((scan,), {}),
        )
    )
    assert table.threshold_ == pytest.approx(array.threshold_, abs=1e-12)
    assert stream.threshold_ == pytest.approx(array.threshold_, abs=1e-12)
    assert stream.estimate_.error == pytest.approx(array.estimate_.error)
    assert_array_equal(stream.predict(scan), array.predict(X))


def test_any_splitter_and_leave_one_out_are_taken(two_classes):
    X, y, _ = two_classes
    for cv in (KFold(4, shuffle=True, random_state=0), "loo"):
        model = ThresholdClassifier(LDA, cv=cv).fit(X, y)
        assert model.estimate_.confusion.n == len(y)


def test_it_survives_a_pickle(two_classes):
    X, y, _ = two_classes
    model = ThresholdClassifier(LDA, "specificity", target=0.9, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    assert "specificity" in repr(again.estimate_)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"criterion": "auc"}, "'criterion' parameter is 'auc'"),
        ({"criterion": "sensitivity"}, "needs a target"),
        ({"criterion": "cost"}, "needs costs: a 2 x 2 matrix"),
        ({"criterion": "cost", "costs": np.eye(3)}, "'costs' parameter is 3 x 3"),
        ({"criterion": "sensitivity", "target": 2}, "'target' parameter is 2"),
        ({"criterion": lambda tn, fp, fn, tp: 1.0}, "must return one number for each cut point"),
        ({"criterion": lambda tn, fp, fn, tp: tp * np.nan}, "NaN or infinity for every cut point"),
        ({"cv": "none"}, "'cv' parameter is 'none'"),
    ],
)
def test_what_cannot_be_done_is_refused(options, text, two_classes):
    X, y, _ = two_classes
    with pytest.raises(ValueError, match=text):
        ThresholdClassifier(LDA, **options).fit(X, y)


def test_three_classes_or_one_are_refused(iris):
    X, y = iris
    with pytest.raises(ValueError, match="y has 3 classes"):
        ThresholdClassifier(LDA).fit(X, y)
    with pytest.raises(ValueError, match="y has 1 class "):
        ThresholdClassifier(discrim.GaussianNB()).fit(X, ["a"] * len(y))


def test_an_estimator_without_scores_or_weights_is_refused(two_classes):
    X, y, weight = two_classes

    class Mute(KNeighborsClassifier):
        predict_proba = property()

    with pytest.raises(ValueError, match="needs an estimator with predict_proba or decision_function"):
        ThresholdClassifier(Mute()).fit(X, y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        ThresholdClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)
