"""Confusion, intervals of proportions, probabilities and paired tests."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn import metrics
from sklearn.calibration import calibration_curve

from discrim.errors import DataError, ParameterError
from discrim.evaluation import (
    brier,
    calibration,
    confusion,
    log_loss,
    mcnemar,
    proportion_interval,
    resampled_t,
)


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    y = rng.choice(["ant", "bee", "cat"], 300, p=[0.5, 0.3, 0.2])
    predicted = np.where(rng.random(300) < 0.7, y, rng.choice(["ant", "bee", "cat"], 300))
    return y, predicted, rng.uniform(0.5, 2, 300)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_confusion_matrix_and_its_rates_are_those_of_scikit_learn(answers, weighted):
    y, predicted, weight = answers
    weight = weight if weighted else None
    found = confusion(y, predicted, sample_weight=weight)
    assert_allclose(found.table, metrics.confusion_matrix(y, predicted, sample_weight=weight))
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(y, predicted, sample_weight=weight)
    assert_allclose(found.precision, precision)
    assert_allclose(found.recall, recall)
    assert_allclose(found.f1, f1)
    assert_allclose(found.error, 1 - metrics.accuracy_score(y, predicted, sample_weight=weight))
    assert_allclose(found.kappa, metrics.cohen_kappa_score(y, predicted, sample_weight=weight))
    assert_allclose(1 - found.balanced_error, metrics.balanced_accuracy_score(y, predicted, sample_weight=weight))
    for k, label in enumerate(found.classes):
        expected = metrics.recall_score(y != label, predicted != label, sample_weight=weight)
        assert_allclose(found.specificity[k], expected)


def test_the_confusion_matrix_prints_margins(answers):
    y, predicted, _ = answers
    text = str(confusion(y, predicted))
    assert "all" in text
    assert "300" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_class_that_is_only_answered_has_no_recall():
    found = confusion(["a", "a"], ["a", "b"])
    assert_array_equal(found.table, [[1, 1], [0, 0]])
    assert np.isnan(found.recall[1])


def test_labels_and_predictions_of_different_kinds_or_lengths_are_refused():
    with pytest.raises(DataError, match="Convert both to one type"):
        confusion(["1", "2"], [1, 2])
    text = "y has 5 labels and predicted has 4; pass two 1-D arrays of equal length."
    with pytest.raises(DataError, match=text):
        confusion([1, 2, 1, 2, 1], [1, 2, 1, 2])


@pytest.mark.parametrize("method", ["wilson", "exact", "jeffreys"])
@pytest.mark.parametrize(("x", "n"), [(0, 10), (3, 20), (10, 10), (57, 1000)])
def test_intervals_of_a_proportion_are_those_of_scipy_and_the_posterior(method, x, n):
    found = proportion_interval(x, n, 0.9, method)
    if method == "jeffreys":
        expected = [0.0 if x == 0 else stats.beta(x + 0.5, n - x + 0.5).ppf(0.05)]
        expected += [1.0 if x == n else stats.beta(x + 0.5, n - x + 0.5).ppf(0.95)]
    else:
        expected = stats.binomtest(x, n).proportion_ci(0.9, method=method)
    assert_allclose(found, expected, atol=1e-12)


def test_intervals_cover_as_often_as_they_say():
    n, p = 40, 0.15
    x = np.arange(n + 1)
    mass = stats.binom(n, p).pmf(x)
    for method, least, most in (("wilson", 0.93, 0.97), ("exact", 0.95, 1.0), ("jeffreys", 0.92, 0.97)):
        low, high = proportion_interval(x, n, 0.95, method)
        assert least <= mass[(low <= p) & (p <= high)].sum() <= most


def test_without_trials_nothing_is_known():
    assert proportion_interval(0, 0) == (0.0, 1.0)
    with pytest.raises(ParameterError, match="'method' parameter is 'wald'"):
        proportion_interval(1, 2, method="wald")
    with pytest.raises(ParameterError, match="'level' parameter is 95"):
        proportion_interval(1, 2, 95)


def probabilities(seed=0, n=400):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.5, 2.0, n)
    return (rng.random(n) < p**1.3).astype(int), np.round(p, 2), rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_and_brier_score_are_those_of_scikit_learn(weighted):
    y, p, weight = probabilities()
    p = np.clip(p, 0.01, 0.99)
    weight = weight if weighted else None
    assert_allclose(log_loss(y, p, sample_weight=weight), metrics.log_loss(y, p, sample_weight=weight))
    found = brier(y, p, sample_weight=weight)
    assert_allclose(found.score, metrics.brier_score_loss(y, p, sample_weight=weight))
    assert_allclose(found.reliability - found.resolution + found.uncertainty, found.score, rtol=1e-12)
    grouped = brier(y, p, bins=10, sample_weight=weight)
    whole = grouped.reliability - grouped.resolution + grouped.uncertainty + grouped.within
    assert_allclose(whole, grouped.score, rtol=1e-12)


def test_probabilities_that_are_the_frequencies_are_reliable():
    y = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    found = brier(y, np.repeat([0.25, 0.75], 4))
    assert_allclose((found.reliability, found.resolution, found.uncertainty), (0.0, 0.0625, 0.25))


def test_a_class_held_to_be_impossible_costs_everything():
    assert log_loss([0, 1], [[1.0, 0.0], [1.0, 0.0]]) == np.inf


def test_posteriors_of_absent_classes_need_the_list_of_classes():
    p = [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
    assert_allclose(log_loss(["b", "c"], p, classes=["a", "b", "c"]), -np.log([0.5, 0.8]).mean())
    with pytest.raises(DataError, match=r"2 x 3; 2 labels of 2 classes need 2 x 2. Pass `classes`"):
        log_loss(["b", "c"], p)
    with pytest.raises(DataError, match="sum to 1"):
        log_loss(["b", "c"], [[0.2, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_calibration_curve_is_that_of_scikit_learn(strategy):
    y, p, _ = probabilities(1)
    p = p + np.random.default_rng(0).uniform(0, 1e-3, len(p))
    found = calibration(y, np.clip(p, 0, 1), bins=8, strategy=strategy)
    observed, predicted = calibration_curve(y, np.clip(p, 0, 1), n_bins=8, strategy=strategy)
    assert_allclose(found.observed, observed)
    assert_allclose(found.predicted, predicted)
    assert ((found.lower <= observed) & (observed <= found.upper)).all()
    assert_allclose(found.weight.sum(), len(y))


def test_scores_are_not_probabilities():
    with pytest.raises(ParameterError, match="outside 0 to 1"):
        brier([0, 1], [-1.0, 2.0])


def test_mcnemar_counts_the_rows_that_differ():
    y = np.zeros(30, int)
    a, b = y.copy(), y.copy()
    a[:3] = 1
    b[3:14] = 1
    found = mcnemar(y, a, b)
    assert (found.only_a, found.only_b, found.exact) == (11, 3, True)
    assert_allclose(found.p_value, stats.binomtest(3, 14).pvalue)
    approximate = mcnemar(y, a, b, exact=False)
    assert_allclose(approximate.statistic, 49 / 14)
    assert_allclose(approximate.p_value, stats.chi2(1).sf(49 / 14))
    assert mcnemar(y, a, a).p_value == 1.0


def test_the_resampled_t_corrects_for_overlapping_training_parts():
    a, b = np.array([0.8, 0.82, 0.79, 0.85]), np.array([0.78, 0.80, 0.80, 0.81])
    gap = a - b
    found = resampled_t(a, b, test_share=0.1)
    assert_allclose(found.std_error, np.sqrt(gap.var(ddof=1) * (1 / 4 + 1 / 9)))
    assert_allclose(found.p_value, 2 * stats.t(3).sf(abs(gap.mean() / found.std_error)))
    assert_allclose(found.ci(0.95), gap.mean() + np.array([-1, 1]) * stats.t(3).ppf(0.975) * found.std_error)
    assert resampled_t(a, a, test_share=0.1).p_value == 1.0


def test_weights_that_are_no_counts_do_not_make_rows():
    rng = np.random.default_rng(0)
    y, predicted, p = rng.integers(0, 2, 200), rng.integers(0, 2, 200), rng.random(200)
    alone, counted = confusion(y, predicted), confusion(y, predicted, sample_weight=np.full(200, 3))
    heavy, light = (confusion(y, predicted, sample_weight=np.full(200, w)) for w in (3.5, 0.01))
    assert heavy.error_ci() == pytest.approx(alone.error_ci())
    assert light.error_ci() == pytest.approx(alone.error_ci())
    low, high = counted.error_ci()
    assert high - low < 0.65 * (alone.error_ci()[1] - alone.error_ci()[0])
    plain, weighted = calibration(y, p), calibration(y, p, sample_weight=np.full(200, 0.01))
    assert weighted.lower == pytest.approx(plain.lower)
    assert weighted.noise == pytest.approx(plain.noise)


def test_what_chance_adds_to_the_distance_from_calibration():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(60):
        p = rng.random(400)
        one = calibration((rng.random(400) < p).astype(int), p)
        found.append((one.error, one.noise))
    error, noise = np.mean(found, axis=0)
    assert noise == pytest.approx(error, rel=0.1)
