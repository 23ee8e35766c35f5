"""What decides: balanced error, costs, areas within folds; and the figures that are printed for it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats
from sklearn.metrics import balanced_accuracy_score, recall_score

from discrim import LinearDiscriminantAnalysis, compare, datasets
from discrim.decision import CostSensitiveClassifier
from discrim.errors import DataError, ParameterError

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


def test_the_baseline_of_costs_is_named_after_the_class_that_is_cheapest_to_predict():
    rng = np.random.default_rng(0)
    labels = np.repeat(["ill", "well"], [30, 60])
    found = compare(rng.normal(size=(90, 2)), labels, ["LDA", "Gaussian NB"], metric=[[0, 5], [1, 0]], reference=None)
    assert found.chosen == "Baseline"
    assert set(found.best.predict(np.zeros((3, 2)))) == {"ill"}
    assert "always predicting 'ill' (mean cost 0.667)" in found.verdict
    assert found.table.loc["Baseline", "note"].startswith("always predicts 'ill'")


def test_intervals_of_means_and_areas_by_groups_have_students_quantile():
    rng, groups = np.random.default_rng(1), np.arange(240) % 8
    x = rng.normal(size=(240, 2)) + rng.normal(size=8)[groups, None]
    labels = (x[:, 0] + rng.normal(size=240) > 0).astype(int)
    found = compare(x, labels, ["LDA"], groups=groups, reference=None)
    losses = -np.log(found["LDA"].posterior[np.arange(240), labels])
    sums = np.bincount(groups, losses - losses.mean())
    row = next(row for row in found.rows if row.name == "LDA")
    error = np.sqrt(sums @ sums * 8 / 7 * row.dependence) / 240
    low, high = row.log_loss_interval
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 7) * error)
    low, high = special.logit(row.auc_interval)
    assert low < special.logit(row.auc) < high


def test_rows_of_weight_zero_are_no_rows():
    rng = np.random.default_rng(2)
    labels, weight = np.arange(120) % 3, np.where(np.arange(120) < 20, 0.0, 1.5)
    x = rng.normal(size=(120, 3)) + labels[:, None]
    all_rows, kept = compare(x, labels, sample_weight=weight), compare(x[20:], labels[20:], sample_weight=weight[20:])
    assert all_rows.verdict == kept.verdict
    assert all_rows.table.drop(columns=["fit_time", "total_time"]).equals(
        kept.table.drop(columns=["fit_time", "total_time"])
    )
    assert "20 rows of weight zero were left out." in all_rows.remarks
    weight[labels == 2] = 0.0
    lacking = compare(x, labels, ["LDA"], sample_weight=weight)
    assert "and with them class '2'." in " ".join(lacking.remarks)
    assert lacking.best.classes_.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"with them classes '1', '2': one class is left"):
        compare(x, labels, sample_weight=(labels == 0).astype(float))


def test_a_rule_that_finds_no_row_of_a_class_has_an_interval_of_its_balanced_error():
    rng = np.random.default_rng(6)
    labels = (np.arange(200) % 10 == 0).astype(int)
    found = compare(rng.normal(size=(200, 2)), labels, ["LDA", "Gaussian NB"], metric="balanced_error", reference=None)
    row = next(row for row in found.rows if row.name == "LDA")
    assert row.recall == (1.0, 0.0)
    low, high = row.balanced_error_interval
    # The twenty rows of the rare class are as many as there are: 95% of such classes have a recall of up to 16%.
    assert low < 0.5 - 0.04
    assert high > 0.5 + 0.04


def test_figures_that_are_not_corrected_for_the_choice_say_so():
    x, labels = rare()
    plain = "This figure is not corrected for the choice"
    assert plain in compare(x, labels, ["LDA", "QDA"], metric="auc", reference=None).verdict
    assert plain not in compare(x, labels, ["LDA"], metric="auc", reference=None).verdict
    assert plain not in compare(x, labels, ["LDA", "QDA"], metric="log_loss", reference=None).verdict
