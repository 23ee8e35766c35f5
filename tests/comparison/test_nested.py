"""Nested cross-validation: the whole comparison again without the rows that judge its choice."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin

import discrim
from discrim import compare
from discrim.comparison.folds import Dealer
from discrim.errors import InterruptedWarning, ParameterError

MODELS = ["LDA", "QDA"]


def apart(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + y[:, None], np.array(["no", "yes"])[y]


def by_hand(X, y, metric_of, figure_of, dealings=2):
    """Outer folds as they are dealt, and two public calls for each: of what is printed, and of what happens."""
    means, gaps, variances, chosen = [], [], [], []
    for r in range(dealings):
        codes = np.unique(y, return_inverse=True)[1].astype(np.int32)
        number = Dealer(codes, seed=104_729 * (r + 1)).deal(5)
        loss = np.empty(len(y))
        for f in range(5):
            test = number == f
            found = compare(X[~test], y[~test], MODELS, reference=None)
            loss[test] = metric_of(found.best, X[test], y[test])
            gaps.append((loss[test].mean() - figure_of(found)) ** 2 - loss[test].var(ddof=1) / test.sum())
            chosen.append(found.chosen)
        means.append(loss.mean())
        variances.append(loss.var(ddof=1) / len(y))
    least = np.mean(variances)
    spread = max(0.8 * min(max(np.mean(gaps), least), 5 * least), least)
    return np.mean(means), np.sqrt(spread), chosen


def test_it_is_a_loop_of_comparisons_with_the_interval_of_bates_hastie_and_tibshirani():
    X, y = apart()
    error, spread, chosen = by_hand(
        X, y, lambda best, x, labels: best.predict(x) != labels, lambda found: found.corrected.error
    )
    found = compare(X, y, MODELS, nested=2).nested
    assert found.error == pytest.approx(error)
    assert found.std_error == pytest.approx(spread)
    assert found.chosen == {name: chosen.count(name) for name in found.chosen}
    assert found.comparisons == len(chosen) == sum(found.chosen.values())
    assert found.fits == 10 * 3 * 11  # two models and the baseline, on ten folds and all rows
    # Wilson's interval for as many rows as give this error: the roots of (p - error)^2 = z^2 p (1 - p) / n.
    n = error * (1 - error) / spread**2
    for p in found.interval:
        assert (p - error) ** 2 == pytest.approx(norm.ppf(0.975) ** 2 * p * (1 - p) / n)


def test_the_log_loss_has_an_interval_about_itself():
    X, y = apart(n=60)

    def loss(best, x, labels):
        return -np.log(best.predict_proba(x)[np.arange(len(x)), np.searchsorted(best.classes_, labels)])

    found = compare(X, y, MODELS, nested=1, metric="log_loss").nested
    z = norm.ppf(0.975) * found.std_error
    assert found.interval == pytest.approx((found.error - z, found.error + z))
    number = Dealer((y == "yes").astype(np.int32), seed=104_729).deal(5)
    each = np.empty(60)
    for f in range(5):
        test = number == f
        best = compare(X[~test], y[~test], MODELS, metric="log_loss").best
        each[test] = loss(best, X[test], y[test])
    assert found.error == pytest.approx(each.mean())


def test_choosing_the_luckiest_of_many_guesses_is_seen_through():
    """Each model guesses by another column of noise; the best of twenty looks far better than a coin."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 20)), np.tile([0, 1], 30)
    found = compare(X, y, {f"column {j}": OneColumn(j) for j in range(20)}, nested=1, metric="balanced_error", cv=3)
    raw = min(row.value for row in found.rows if row.role == "model")
    assert raw < 0.42
    assert abs(found.nested.error - 0.5) < 0.07
    assert found.nested.interval[0] < 0.5 < found.nested.interval[1]


class OneColumn(ClassifierMixin, BaseEstimator):
    def __init__(self, j=0):
        self.j = j

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        means = [X[y == label, self.j].mean() for label in self.classes_]
        self.sign_, self.middle_ = np.sign(means[1] - means[0]), np.mean(means)
        return self

    def predict(self, X):
        return self.classes_[(self.sign_ * (X[:, self.j] - self.middle_) > 0).astype(int)]


def test_groups_are_not_torn_by_the_outer_folds():
    """Rows of a group are nearly copies, with a label of their own: known once a row of the group is."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(40), 6)
    X = rng.normal(size=(40, 30))[groups] + 0.001 * rng.normal(size=(240, 30))
    y = rng.integers(0, 2, 40)[groups]
    torn = compare(X, y, ["LDA"], nested=1).nested
    kept = compare(X, y, ["LDA"], nested=1, groups=groups).nested
    assert torn.error < 0.2
    assert kept.error > 0.35
    assert np.diff(kept.interval) > 1.5 * np.diff(torn.interval)


@pytest.mark.slow
def test_columns_groups_and_files_are_given_as_to_compare(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.choice(["u", "v"], 120), "g": rng.integers(0, 20, 120)})
    frame["y"] = np.where(frame.a + rng.normal(size=120) > 0, "yes", "no")
    frame.loc[::9, "a"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    given = {"models": ["LDA"], "nested": 1, "groups": "g", "missing": "drop"}
    of_frame = compare(frame.drop(columns="y"), frame.y, **given)
    of_file = compare(discrim.scan(tmp_path / "t.csv", target="y"), **given)
    assert of_frame.nested.error == of_file.nested.error
    assert of_frame.nested.interval == of_file.nested.interval


def test_the_verdict_says_what_was_found_and_what_it_cost():
    X, y = apart(n=60)
    found = compare(X, y, MODELS, nested=1)
    assert f"finds an error of {found.nested.error:.1%}" in found.verdict
    assert "in 5 comparisons (165 fits) it chose" in found.verdict
    assert compare(X, y, ["LDA"]).nested is None


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"nested": "yes"}, "'nested' parameter is 'yes'; it must be True, False or how often"),
        ({"nested": -1}, "'nested' parameter is -1; it must be"),
        ({"nested": True, "cv": "loo"}, "give cv as a number"),
        ({"nested": True, "time": np.arange(90)}, "no time="),
        ({"nested": True, "metric": "auc"}, "the AUC is not"),
        ({"nested": True, "metric": lambda y, best, posterior: 0.0}, "a mean over rows"),
    ],
)
def test_what_cannot_be_nested_is_refused(asked, message):
    with pytest.raises(ParameterError, match=message):
        compare(*apart(), MODELS, **asked)


def test_after_an_interruption_the_comparison_itself_stands():
    InterruptedLater.fits = 0
    X, y = apart(n=60)
    with pytest.warns(InterruptedWarning, match="Nested cross-validation was stopped after 0 of 3 dealings"):
        found = compare(X, y, {"LDA": discrim.LinearDiscriminantAnalysis(), "mine": InterruptedLater()}, nested=3)
    assert found.nested is None
    assert {"LDA", "mine"} <= set(found.table.index)


class InterruptedLater(OneColumn):
    """Ctrl-C in its twentieth fit: the first comparison has eleven."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits == 20:
            raise KeyboardInterrupt
        return super().fit(X, y)
