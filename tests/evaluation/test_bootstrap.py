"""The .632+ bootstrap against its formulas, R, and samples of which the truth is known."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

from discrim import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, compare, datasets
from discrim.errors import DataError, ParameterError
from discrim.evaluation import bootstrap_error, cross_validate, proportion_interval

X, y = datasets.load_iris().xy


class Remembering(ClassifierMixin, BaseEstimator):
    """LDA that keeps what it was fitted to, in a list that all copies share."""

    seen: ClassVar[list[np.ndarray]] = []

    def fit(self, X, y):
        Remembering.seen.append(X[:, -1].astype(int))
        self.lda_ = LinearDiscriminantAnalysis().fit(X[:, :-1], y)
        self.classes_ = self.lda_.classes_
        return self

    def predict(self, X):
        return self.lda_.predict(X[:, :-1])


def test_it_is_the_formula_of_efron_and_tibshirani():
    x, labels = np.column_stack([X[50::3, :2], np.arange(34)]), y[50::3]
    Remembering.seen.clear()
    found = bootstrap_error(Remembering(), x, labels, replicates=80)
    whole, *samples = Remembering.seen
    assert (whole == np.arange(34)).all()
    predicted = LinearDiscriminantAnalysis().fit(x[:, :2], labels).predict(x[:, :2])
    training = np.mean(predicted != labels)
    none = sum(np.mean(labels == k) * np.mean(predicted != k) for k in np.unique(labels))
    total, times = np.zeros(34), np.zeros(34)
    for sample in samples:
        out = np.setdiff1d(np.arange(34), sample)
        total[out] += LinearDiscriminantAnalysis().fit(x[sample, :2], labels[sample]).predict(x[out, :2]) != labels[out]
        times[out] += 1
    outside = np.mean(total / times)
    over = (min(outside, none) - training) / (none - training)
    weight = 0.632 / (1 - 0.368 * over)
    assert found.replicates == len(samples) == 80
    assert [found.training_error, found.out_of_bag_error] == pytest.approx([training, outside])
    assert [found.no_information_error, found.overfitting, found.weight] == pytest.approx([none, over, weight])
    assert found.error == pytest.approx(training + weight * (min(outside, none) - training))


def test_rs_ipred_has_the_same_but_for_the_samples():
    """errorest(Species ~ ., data=d, model=lda, estimator="632plus", est.para=control.errorest(nboot=2000)), 4 seeds."""
    found = bootstrap_error(LinearDiscriminantAnalysis(), X[50::2, :2], y[50::2], replicates=400)
    assert found.training_error == pytest.approx(0.3)
    assert found.error == pytest.approx(np.mean([0.35055969, 0.34818653, 0.35237130, 0.34720533]), abs=0.01)
    assert found.out_of_bag_error == pytest.approx(np.mean([0.36415649, 0.36686414, 0.37190273, 0.36566713]), abs=0.013)


def test_a_model_that_fits_noise_is_not_rewarded_for_its_training_rows():
    rng = np.random.default_rng(0)
    found = bootstrap_error(KNeighborsClassifier(1), rng.normal(size=(60, 4)), np.repeat([0, 1], 30), replicates=60)
    assert found.training_error == 0
    assert [found.overfitting, found.weight] == pytest.approx([1, 1])
    assert found.error == pytest.approx(0.5)
    assert found.interval == pytest.approx(proportion_interval(30, 60))


def test_a_constant_has_the_error_of_the_other_class():
    found = bootstrap_error(DummyClassifier(), np.zeros((40, 1)), np.repeat([0, 1], [30, 10]), replicates=40)
    assert found.error == pytest.approx(0.25, abs=0.03)
    assert found.overfitting <= 1


def test_with_few_rows_it_is_nearer_to_the_truth_than_cross_validation_and_its_standard_error_is_right():
    boot, cross, claimed, covered = [], [], [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        labels = np.repeat([0, 1], 15)
        x, further = rng.normal(size=(30, 5)) + 0.9 * labels[:, None], np.repeat([0, 1], 1000)
        truth = np.mean(
            LinearDiscriminantAnalysis().fit(x, labels).predict(rng.normal(size=(2000, 5)) + 0.9 * further[:, None])
            != further
        )
        found = bootstrap_error(LinearDiscriminantAnalysis(), x, labels, replicates=50)
        boot.append(found.error - truth)
        cross.append(cross_validate(LinearDiscriminantAnalysis(), x, labels).error - truth)
        claimed.append(found.std_error)
        covered.append(found.interval[0] <= truth <= found.interval[1])
    assert np.sqrt(np.mean(np.square(boot))) < np.sqrt(np.mean(np.square(cross)))
    assert np.mean(claimed) == pytest.approx(np.std(boot), rel=0.35)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 25)


def test_groups_are_drawn_as_wholes():
    """Ten copies of every row: without groups a copy of nearly every row is in the sample that judges it."""
    rng = np.random.default_rng(2)
    x, labels = np.repeat(rng.normal(size=(30, 3)), 10, axis=0), np.repeat(rng.integers(0, 2, 30), 10)
    model = KNeighborsClassifier(1)
    assert bootstrap_error(model, x, labels, replicates=20).error < 0.01
    found = bootstrap_error(model, x, labels, replicates=40, groups=np.repeat(np.arange(30), 10))
    assert found.error > 0.3
    assert found.interval[1] - found.interval[0] > 0.25


def test_what_compare_chose_brings_its_columns():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    labels = rng.choice(["no", "yes"], 50)
    frame = pd.DataFrame({"size": rng.normal(size=50) + (labels == "yes"), "town": rng.choice(["bath", "ely"], 50)})
    frame.loc[4, "size"] = np.nan
    best = compare(frame, labels, ["LDA"], reference=None).best
    assert 0.1 < bootstrap_error(best, frame, labels, replicates=15).error < 0.6


def test_errors_say_what_is_wrong():
    with pytest.raises(ParameterError, match="'replicates' parameter"):
        bootstrap_error(LinearDiscriminantAnalysis(), X, y, replicates=1)
    with pytest.raises(DataError, match=r"of 10 samples could be fitted\. The last that could not: The covariance"):
        bootstrap_error(QuadraticDiscriminantAnalysis(), X[45:55], y[45:55], replicates=10)
    # A class of two rows is missing from one sample in seven, which is drawn again.
    assert bootstrap_error(LinearDiscriminantAnalysis(), X[:52], y[:52], replicates=20).replicates == 20
