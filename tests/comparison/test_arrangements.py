"""Folds in the order of time, and dealt several times."""

from __future__ import annotations

import numpy as np
import pytest

import discrim
from discrim import compare, datasets
from discrim.errors import DataError, ParameterError

X, y = datasets.load_iris().xy


def drifting(n=400, seed=0):
    """A column that follows the class for a while, and then another one: the past is no guide to the future."""
    rng = np.random.default_rng(seed)
    time = rng.integers(0, 60, n)
    labels = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 3))
    x[:, 0] += 2.0 * labels
    x[:, 1] += 8.0 * np.where((time // 6) % 2 == 0, labels, 1 - labels)
    return x, labels, time


def test_every_row_is_predicted_by_models_of_earlier_rows_only():
    x, labels, time = drifting()
    found = compare(x, labels, ["LDA", "Ridge"], time=time, cv=5)
    assert set(found.folds) == {-1, 0, 1, 2, 3, 4}
    for f in range(5):
        train, test = time < time[found.folds == f].min(), found.folds == f
        model = discrim.LinearDiscriminantAnalysis().fit(x[train], labels[train])
        assert found["LDA"].posterior[test] == pytest.approx(model.predict_proba(x[test]), abs=1e-8)
        assert time[found.folds < f].max() < time[test].min()


def test_rows_that_are_never_held_out_are_in_no_figure():
    x, labels, time = drifting()
    found = compare(x, labels, ["LDA"], time=time, cv=4)
    held, own = found.folds >= 0, found["LDA"]
    assert held.sum() < 400
    assert np.isnan(own.posterior[~held]).all()
    assert all(label is None for label in own.predicted[~held])
    error = (own.predicted[held].astype(int) != labels[held]).mean()
    assert found.table.loc["LDA", "error"] == pytest.approx(error)
    assert own.error == pytest.approx(error)
    assert any(f"The {(~held).sum()} earliest of 400 rows are only learned from" in said for said in found.remarks)


def test_what_the_order_of_time_shows_and_shuffled_folds_hide():
    rng = np.random.default_rng(1)
    time = np.repeat(np.arange(40), 10)
    labels = np.repeat(rng.integers(0, 2, 40), 10)
    x = np.repeat(rng.normal(size=(40, 2)), 10, axis=0) + 0.01 * rng.normal(size=(400, 2))
    models = {"neighbours": discrim.GaussianNB(), "QDA": discrim.QuadraticDiscriminantAnalysis()}
    shuffled = compare(x, labels, {**models, "LDA": discrim.LinearDiscriminantAnalysis()})
    assert "their order predicts the class" in shuffled.verdict
    ordered = compare(x, labels, models, time=time, cv=5)
    assert "their order predicts the class" not in ordered.verdict


def test_times_may_be_dates_and_have_to_be_there():
    x, labels, time = drifting(120)
    days = np.datetime64("2024-01-01") + time
    by_days = compare(x, labels, ["LDA"], time=days, cv=3)
    assert np.array_equal(by_days.folds, compare(x, labels, ["LDA"], time=time, cv=3).folds)
    for wrong, error, text in (
        (time[:5], DataError, "time must have one value for each of the 120 rows"),
        (np.where(time == 3, np.nan, time), DataError, "time holds"),
        (np.repeat([0, 1], 60), DataError, "time has only 2 different values"),
        (np.array([None, *time[1:]], dtype=object), DataError, "time holds 1 missing value"),
    ):
        with pytest.raises(error, match=text):
            compare(x, labels, ["LDA"], time=wrong)
    with pytest.raises(ParameterError, match="groups= or time=, not both"):
        compare(x, labels, ["LDA"], time=time, groups=time)
    with pytest.raises(ParameterError, match="a number of folds where time= orders them"):
        compare(x, labels, ["LDA"], time=time, cv="loo")


def test_the_first_models_know_two_classes():
    x, labels, time = drifting()
    labels = np.where(time < 30, 0, labels)
    found = compare(x, labels, ["LDA"], time=time, cv=5)
    assert time[found.folds == 0].min() > 30


def test_repeats_are_the_mean_over_seeds():
    found = compare(X, y, ["LDA", "QDA"], repeats=3)
    seeds = [compare(X, y, ["LDA", "QDA"], random_state=7919 * r).table for r in range(3)]
    for name in ("LDA", "QDA", "Baseline"):
        for figure in ("error", "log_loss", "auc", "balanced_error", "recall virginica"):
            expected = np.mean([table.loc[name, figure] for table in seeds])
            assert found.table.loc[name, figure] == pytest.approx(expected, rel=1e-9), figure
    assert "3 times with other seeds" in found.dealt
    low, high = found.table.loc["LDA", ["error_low", "error_high"]]
    assert high - low > 0.9 * (seeds[0].loc["LDA", "error_high"] - seeds[0].loc["LDA", "error_low"])


def test_repeats_need_folds_that_can_be_dealt_again():
    with pytest.raises(ParameterError, match="needs folds that can be dealt again"):
        compare(X, y, ["LDA"], repeats=2, cv="loo")
    with pytest.raises(ParameterError, match="a whole number of at least 1"):
        compare(X, y, ["LDA"], repeats=0)
