"""What decides: balanced error, costs, areas within folds; and the figures that are printed for it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, recall_score

from discrim import LinearDiscriminantAnalysis, compare, datasets
from discrim.decision import CostSensitiveClassifier
from discrim.errors import ParameterError

X, y = datasets.load_iris().xy


def rare(n=600, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.08, "ill", "well")
    return rng.normal(size=(n, 3)) + 1.6 * (labels == "ill")[:, None], labels


def test_the_balanced_error_is_the_mean_of_the_classes():
    x, labels = rare()
    found = compare(x, labels, ["LDA", "QDA", "Gaussian NB"], metric="balanced_error")
    for name in ("LDA", "QDA", "Gaussian NB"):
        own = found[name].predicted
        row = found.table.loc[name]
        assert row["balanced_error"] == pytest.approx(1 - balanced_accuracy_score(labels, own))
        assert row["value"] == row["balanced_error"]
        assert row["recall ill"] == pytest.approx(recall_score(labels, own, pos_label="ill"))
        assert row["value_low"] < row["value"] < row["value_high"]
    assert found.table["value"].is_monotonic_increasing
    assert "balanced error" in found.verdict
    assert repr(found).splitlines()[2].split()[:2] == ["bal.", "error"]
    assert found.table.loc["Baseline", "balanced_error"] == pytest.approx(0.5)


def test_the_standard_error_of_a_balanced_error_is_that_of_its_classes():
    x, labels = rare()
    found = compare(x, labels, ["LDA", "Gaussian NB"], metric="balanced_error")
    best, other = found.table.index[:2]
    variance = 0.0
    for label in ("ill", "well"):
        own = labels == label
        gap = (found[other].predicted != labels)[own].astype(float) - (found[best].predicted != labels)[own]
        variance += gap.var() / own.sum() / 4
    assert found.table.loc[other, "difference_error"] == pytest.approx(np.sqrt(variance), rel=0.01)


def test_costs_decide_and_models_decide_by_costs():
    x, labels = rare()
    costs = np.array([[0.0, 10.0], [1.0, 0.0]])
    found = compare(x, labels, ["LDA", "QDA"], metric=costs)
    for name in ("LDA", "QDA", "Baseline"):
        own = found[name]
        paid = costs[(labels == "well").astype(int), (own.predicted == "well").astype(int)]
        assert found.table.loc[name, "value"] == pytest.approx(paid.mean())
        assert (own.predicted == own.classes[(own.posterior @ costs).argmin(axis=1)]).all()
    assert isinstance(found.best, CostSensitiveClassifier)
    expected = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs).fit(x, labels)
    only = compare(x, labels, {"LDA": LinearDiscriminantAnalysis()}, metric={("ill", "well"): 10})
    assert (only.best.predict(x) == expected.predict(x)).all()
    assert "mean cost" in only.verdict


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ([[0, 1], [1, 0]], "a matrix of costs, is 2 x 2; it needs a row for each of the 3 classes"),
        ([[0, 1, 1], [1, 0, 1], [1, -1, 0]], "makes it cheaper to take class 'virginica' for 'versicolor'"),
        ({("setosa", "rose"): 2}, "has the label 'rose'"),
        (3, "'metric' parameter is 3"),
    ],
)
def test_what_is_no_metric_is_refused(metric, text):
    with pytest.raises(ParameterError, match=text):
        compare(X, y, ["LDA"], metric=metric)


def test_the_interval_is_that_of_what_decides():
    for metric in ("error", "balanced_error", "log_loss", "brier"):
        row = compare(X, y, ["Gaussian NB"], metric=metric).rows[0]
        assert row.value_interval[0] < row.value < row.value_interval[1]
    row = compare(X, y, ["Gaussian NB"], metric="auc").rows[0]
    assert row.auc_interval[0] < row.auc < row.auc_interval[1]


def test_the_choice_uses_the_figures_that_are_printed():
    found = compare(X, y, ["LDA", "QDA", "Gaussian NB", "Ridge"])
    table = found.table
    usable = table[(table["role"] == "model") & table["beats_baseline"]]
    near = (usable["difference"] <= usable["difference_error"] + 1e-9) & (usable["difference"] <= 0.01)
    assert (usable["tied"] == near).all()
    assert found.chosen in usable.index[usable["tied"]]


def test_leave_one_out_has_no_area():
    found = compare(X[50:], y[50:], ["LDA", "QDA"], cv="loo")
    assert found.table["auc"].isna().all()
    with pytest.raises(ParameterError, match="has folds of one row"):
        compare(X[50:], y[50:], ["LDA"], cv="loo", metric="auc")


def test_what_leave_one_out_makes_worse_than_guessing_has_no_interval_and_no_test():
    x, labels = np.random.default_rng(0).normal(size=(60, 5)), np.tile([0, 1], 30)
    row = compare(x, labels, ["Lasso", "Gaussian NB"], cv="loo").table.loc["Lasso"]
    assert row["error"] > 0.6
    assert np.isnan(row[["error_low", "error_high", "p_value"]].astype(float)).all()
