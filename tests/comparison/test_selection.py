"""The error of what was chosen: simulations in which the truth is known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

from discrim import LinearDiscriminantAnalysis, compare
from discrim.comparison.baseline import error_on_new_rows
from discrim.comparison.selection import corrected_error, dependence, effective_rows
from discrim.evaluation.proportions import proportion_interval

ONE_POINT = 0.01


def rows_of(n, units=None):
    dealer = SimpleNamespace(grouped=units is not None, units=units)
    return SimpleNamespace(n=n, weights=np.ones(n), dealer=dealer)


def answers(rng, n, truth, likeness):
    """Which rows models of these true errors get wrong; they err on the same rows, more or less."""
    shared, own = rng.normal(size=(n, 1)), rng.normal(size=(n, len(truth)))
    wrong = np.sqrt(likeness) * shared + np.sqrt(1.0 - likeness) * own < special.ndtri(truth)
    return {f"model {j}": wrong[:, j].astype(float) for j in range(len(truth))}


def simulate(n, truth, likeness, repeats=150):
    """Raw and corrected error of the chosen model, its true error, and whether the interval covers that."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(repeats):
        errors = answers(rng, n, truth, likeness)
        # Log losses that follow the errors: the model of fewer errors has the lower one.
        corrected = corrected_error(errors, errors, rows_of(n), ONE_POINT)
        best = int(np.argmin([values.mean() for values in errors.values()]))
        low, high = corrected.interval
        found.append([errors[f"model {best}"].mean(), corrected.error, truth[best], low <= truth[best] <= high])
    return np.mean(found, axis=0)


@pytest.mark.parametrize(("n", "likeness"), [(60, 0.0), (60, 0.8), (200, 0.5)])
def test_the_best_of_nine_that_guess_is_expected_to_guess(n, likeness):
    raw, corrected, truth, covered = simulate(n, np.full(9, 0.5), likeness)
    assert raw < 0.475
    # Three standard errors of the mean of 150 figures, each within 0.065 or less of its expectation.
    assert corrected == pytest.approx(truth, abs=3 * 0.5 / np.sqrt(60 * 150) if n == 60 else 0.01)
    assert covered >= 0.93 - 3 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize("n", [60, 200])
def test_where_models_differ_it_is_within_a_point_and_the_interval_still_covers(n):
    raw, corrected, truth, covered = simulate(n, np.array([0.1, 0.12, 0.15, 0.2, 0.25, 0.5]), 0.7)
    assert raw < truth
    # A little above the truth: a replicate has fewer different rows to choose by.
    assert corrected == pytest.approx(truth, abs=0.01)
    assert covered >= 0.93 - 3 * np.sqrt(0.05 * 0.95 / 150)


def test_a_model_far_ahead_needs_no_correction():
    rng = np.random.default_rng(1)
    errors = answers(rng, 400, np.array([0.05, 0.4, 0.45]), 0.3)
    found = corrected_error(errors, errors, rows_of(400), ONE_POINT)
    assert found.error == pytest.approx(errors["model 0"].mean(), abs=0.003)
    assert found.models == 3


def test_one_model_was_not_chosen():
    assert corrected_error({"only": np.zeros(9)}, {}, rows_of(9), ONE_POINT) is None


def test_a_model_without_posteriors_is_chosen_where_it_is_clearly_better():
    rng = np.random.default_rng(2)
    errors = answers(rng, 300, np.array([0.1, 0.4]), 0.3)
    found = corrected_error(errors, {"model 1": errors["model 1"]}, rows_of(300), ONE_POINT)
    assert found.error == pytest.approx(errors["model 0"].mean(), abs=0.003)


def test_copies_in_one_group_count_once():
    rng = np.random.default_rng(3)
    wrong = (rng.random(80) < 0.3).astype(float)
    alone = effective_rows(wrong, rows_of(80))
    copies = effective_rows(np.repeat(wrong, 10), rows_of(800, np.repeat(np.arange(80), 10)))
    assert alone == 80
    assert copies == pytest.approx(80, rel=0.05)  # the variance and its quantile are of 79


def test_the_interval_of_groups_goes_by_the_variance_between_them_under_all_models():
    rng = np.random.default_rng(9)
    groups = np.repeat(np.arange(20), 10)
    errors = {f"model {k}": (rng.random(200) < (0.1 + 0.5 * rng.random(20))[groups]).astype(float) for k in range(3)}
    found = corrected_error(errors, {}, rows_of(200, groups), ONE_POINT)
    effects = []
    for wrong in errors.values():
        means = wrong.reshape(20, 10).mean(axis=1)
        effects.append(means.var(ddof=1) / 20 / (wrong.mean() * (1 - wrong.mean()) / 200))
    n = 200 / np.mean(effects) / (stats.t.ppf(0.975, 19) / stats.norm.ppf(0.975)) ** 2
    assert found.interval == pytest.approx(proportion_interval(found.error * n, n), rel=1e-9)


def test_many_rows_are_drawn_in_parts_with_the_same_result():
    rng = np.random.default_rng(4)
    errors = answers(rng, 30_000, np.array([0.2, 0.3]), 0.3)
    found = corrected_error(errors, errors, rows_of(30_000), ONE_POINT)
    assert found.error == pytest.approx(errors["model 0"].mean(), abs=1e-3)
    assert found.interval[1] - found.interval[0] == pytest.approx(2 * 1.96 * np.sqrt(0.2 * 0.8 / 30_000), rel=0.05)


def test_compare_shows_the_raw_and_the_corrected_error():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120, 3))
    y = (x[:, 0] + rng.normal(size=120) > 0).astype(int)
    found = compare(x, y, ["LDA", "QDA", "Gaussian NB"])
    assert found.corrected.error >= found.table["error"].min() - 1e-9
    assert "Corrected for having been chosen among 3 models, the error to expect on new rows is" in found.verdict
    assert compare(x, y, ["LDA"]).corrected is None


def test_with_groups_the_tests_and_intervals_go_by_groups():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(60, 2))
    y = (x[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int)
    groups = np.repeat(np.arange(60), 8)
    many = np.repeat(x, 8, axis=0) + 1e-9 * rng.normal(size=(480, 2))
    worse = LinearDiscriminantAnalysis(priors=[0.9, 0.1])
    found = compare(many, np.repeat(y, 8), {"LDA": LinearDiscriminantAnalysis(), "worse": worse}, groups=groups, cv=10)
    low, high = found.rows[0].error_interval
    p = found.rows[0].error
    # As wide as with 60 rows, and not with 480.
    assert high - low > 1.8 * 1.96 * np.sqrt(p * (1 - p) / 60)
    parts = [(np.flatnonzero(found.folds != f), np.flatnonzero(found.folds == f)) for f in range(10)]
    naive = compare(many, np.repeat(y, 8), {"LDA": LinearDiscriminantAnalysis(), "worse": worse}, cv=parts)
    assert found.table.loc["worse", "p_value"] > naive.table.loc["worse", "p_value"]


def test_the_variance_grows_with_what_is_fitted_and_at_most_doubles():
    assert dependence(0, 100) == 1.0
    assert dependence(5, 100) == pytest.approx(1.1)
    assert dependence(1000, 60) == 2.0
    assert dependence(np.nan, 60) == 1.0


def test_a_corrected_figure_is_not_below_the_raw_one_and_its_interval_knows_the_size_of_the_rule():
    rng = np.random.default_rng(0)
    errors = {"a": (rng.random(200) < 0.3).astype(float), "b": (rng.random(200) < 0.1).astype(float)}
    free = corrected_error(errors, errors, rows_of(200), ONE_POINT)
    chosen = SimpleNamespace(value=float(errors["a"].mean()), dependence=1.5)
    held = corrected_error(errors, errors, rows_of(200), ONE_POINT, "error", chosen)
    assert free.error < errors["a"].mean() == held.error
    assert held.interval == pytest.approx(proportion_interval(held.error * 200 / 1.5, 200 / 1.5))


@pytest.mark.parametrize(("classes", "n"), [(2, 60), (5, 200), (20, 100)])
def test_the_error_of_the_baseline_knows_that_its_class_leads_by_chance(classes, n):
    """Of equally frequent classes the leading one has too large a share: Wilson alone has 94, 89 and 53%."""
    truth, inside, draws = 1.0 - 1.0 / classes, 0, 400
    for seed in range(draws):
        counts = np.random.default_rng(seed).multinomial(n, np.full(classes, 1.0 / classes))
        error = 1.0 - counts.max() / n
        expected = max(error, error_on_new_rows(counts / n, n))
        inside += proportion_interval(error * n, n)[0] <= truth <= proportion_interval(expected * n, n)[1]
    assert 0.92 < inside / draws < 1.0
    assert error_on_new_rows(np.array([0.9, 0.1]), 1000) == pytest.approx(0.1, abs=0.002)


def test_the_interval_of_the_baseline_goes_up_to_that_error():
    labels = np.random.default_rng(4).integers(0, 6, 120)
    found = compare(np.random.default_rng(5).normal(size=(120, 2)), labels, ["LDA"], reference=None)
    row = next(row for row in found.rows if row.role == "baseline")
    low, high = proportion_interval(row.error * 120, 120)
    assert row.error_interval[0] == pytest.approx(low)
    assert row.error_interval[1] > high
    assert row.value_interval == row.error_interval
