"""The budget of ``compare``: decided beforehand by formulas; the clock only stops."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from discrim import compare, datasets
from discrim.comparison import clock, plan
from discrim.comparison.compared_rows import read_rows
from discrim.comparison.comparing import candidates_for
from discrim.comparison.given import Given
from discrim.comparison.result import Comparison
from discrim.comparison.scores import Row
from discrim.errors import DataError, InterruptedWarning, ParameterError
from discrim.models import registry


def table(n=6000, p=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return rng.normal(size=(n, p)) + 0.5 * labels[:, None], labels


def planned(x, labels, budget, models=None):
    rows = read_rows(Given(x, labels))
    return plan.plan(candidates_for(models, rows), rows, budget)


def test_small_tables_are_compared_in_full():
    for one in planned(*datasets.load_iris().xy, 60):
        assert one.effort == plan.FULL
        assert 0 <= one.seconds < 5


def test_a_smaller_budget_never_means_more_effort_and_in_the_end_a_model_is_left_out():
    x, labels = table(60_000)
    before = None
    for budget in (None, 60, 10, 1.0, 0.3, 0.05):
        one = next(c for c in planned(x, labels, budget) if c.name == "Logistic")
        rank = (bool(one.why_not), one.effort.trained, one.effort.judged, -(one.effort.partners or 99))
        assert before is None or rank >= before
        before = rank
    assert "for the budget of 0.05 s" in one.why_not
    assert "budget=None sets no limit" in one.why_not


def test_a_plan_fits_its_budget():
    x, labels = table(60_000)
    for budget in (5, 1, 0.2):
        assert sum(c.seconds for c in planned(x, labels, budget) if not c.why_not) <= budget


@pytest.fixture
def without_a_clock(monkeypatch):
    """A busy machine stops nothing."""
    monkeypatch.setattr(clock, "PATIENCE", 1e6)


@pytest.mark.usefixtures("without_a_clock")
def test_the_same_call_gives_the_same_table_with_savings_too():
    x, labels = table()
    models = ["LDA", "Logistic"]
    first, second = (compare(x, labels, models, budget=0.12, cv=3) for _ in range(2))
    figures = ["error", "log_loss", "auc", "value"]
    np.testing.assert_array_equal(first.table[figures], second.table[figures])
    assert first.remarks == second.remarks


@pytest.mark.usefixtures("without_a_clock")
def test_savings_are_said_and_cost_little(monkeypatch):
    monkeypatch.setattr(plan, "LEAST_TRAINED", 1000)
    x, labels = table()
    full = compare(x, labels, ["Logistic"], budget=None)
    rows = read_rows(Given(x, labels))
    (one,) = candidates_for(["Logistic"], rows)
    effort = plan.efforts(one, rows)[-1]
    assert effort.judged > 1
    assert effort.trained > 1
    saved = compare(x, labels, ["Logistic"], budget=plan.cost_of(one, rows, effort) * 1.001)
    (said,) = [remark for remark in saved.remarks if "budget" in remark]
    assert "Logistic was tuned by one row out of" in said
    assert "the last fit is of all rows" in said
    assert saved.table.loc["Logistic", "error"] == pytest.approx(full.table.loc["Logistic", "error"], abs=0.01)
    np.testing.assert_allclose(saved.best.predict_proba(x), full.best.predict_proba(x), atol=0.02)


def test_training_parts_of_some_rows_hold_out_the_same_rows():
    rows = read_rows(Given(*table(600)), 5)
    part = rows.trained_on(3)
    for f in range(5):
        assert set(part.folds.train(f)) < set(rows.folds.train(f))
        assert len(part.folds.train(f)) == pytest.approx(160, abs=3)
        np.testing.assert_array_equal(part.folds.test(f), rows.folds.test(f))


class Slow(LogisticRegression):
    """A classifier that uses up the clock."""

    def fit(self, X, y):
        clock.Clock.elapsed = property(lambda self: 1e6)
        return super().fit(X, y)


def test_the_clock_stops_and_the_stop_is_recorded(monkeypatch):
    monkeypatch.setattr(clock.Clock, "elapsed", clock.Clock.elapsed)
    x, labels = datasets.load_iris().xy
    with pytest.warns(InterruptedWarning, match=r"Stopped by the clock, after 1000000 s with a budget of 60 s: 2 of 3"):
        found = compare(x, labels, ["LDA", Slow(), "QDA"])
    assert found.table.loc["QDA", "note"].startswith("the comparison was stopped by the clock")
    assert np.isfinite(found.table.loc["LDA", "error"])
    assert any(said.startswith("Stopped by the clock") for said in found.remarks)


def test_without_a_limit_the_clock_never_stops(monkeypatch):
    monkeypatch.setattr(clock.Clock, "elapsed", property(lambda self: 1e9))
    assert compare(*datasets.load_iris().xy, ["LDA"], budget=None).chosen == "LDA"
    with pytest.raises(DataError, match="No model was done within 2 times the budget of 60 s"):
        compare(*datasets.load_iris().xy, ["LDA"])


@pytest.mark.parametrize("budget", [0, -1, "long", True, float("nan")])
def test_a_budget_is_a_number_of_seconds(budget):
    with pytest.raises(ParameterError, match="The 'budget' parameter is"):
        compare(*datasets.load_iris().xy, ["LDA"], budget=budget)


def test_the_work_of_every_model_grows_with_rows_columns_and_classes():
    size = registry.Size(1000, 20, 2, 20_000, dense=True)
    larger = [
        size._replace(rows=2000, stored=40_000),
        size._replace(width=40, stored=40_000),
        size._replace(classes=5),
    ]
    for entry in registry.all_entries().values():
        before = entry.work(size)
        assert before.fit > 0
        for other in larger:
            assert entry.work(other).fit >= before.fit, entry.name
            assert entry.work(other).grid >= before.grid, entry.name


def test_a_reason_that_several_models_have_speaks_of_each():
    rows = [Row("A", "it would take about 3 s here"), Row("B", "it would take about 3 s here"), Row("C", "it is odd")]
    assert Comparison.left_out.fget(SimpleNamespace(rows=rows)) == [
        ("A and B were left out", "each would take about 3 s here"),
        ("C was left out", "it is odd"),
    ]
