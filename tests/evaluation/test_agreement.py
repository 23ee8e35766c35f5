"""Hosmer and Lemeshow's test, calibration slope and intercept, net benefit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from discrim import LogisticRegression
from discrim.datasets import load_iris
from discrim.errors import DataError, ParameterError
from discrim.evaluation import brier, calibration_line, decision_curve, hosmer_lemeshow


def flowers():
    """Versicolor against virginica by the sepals: labels and fitted probabilities."""
    X, y = load_iris().xy
    keep = y != "setosa"
    model = LogisticRegression(C=np.inf).fit(X[keep][:, :2], y[keep])
    return y[keep], model.predict_proba(X[keep][:, :2])[:, 1]


def drawn(seed=0, n=500):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.5, 2.0, n)
    return (rng.random(n) < p).astype(int), p, rng


def test_hosmer_and_lemeshow_are_those_of_r():
    # R 4.2.2: the code of ResourceSelection's hoslem.test, on glm(virginica ~ Sepal.Length + Sepal.Width, binomial).
    y, p = flowers()
    found = hosmer_lemeshow(y, p)
    assert_allclose(found.statistic, 10.558531545760653, rtol=1e-7)
    assert_allclose(found.p_value, 0.227989184000221, rtol=1e-7)
    assert found.df == 8
    assert_allclose(found.groups["expected"].sum(), 50.0)
    assert "10.56 on 8 df" in repr(found)
    assert hosmer_lemeshow(y, p, fitted=False).df == 10


@pytest.mark.slow
def test_hosmer_and_lemeshow_reject_at_their_level():
    p_values = [hosmer_lemeshow(*drawn(seed)[:2], fitted=False).p_value for seed in range(1000)]
    assert abs(np.mean(np.array(p_values) < 0.05) - 0.05) < 0.025


def test_few_probabilities_make_few_groups():
    y, _, rng = drawn()
    # The lowest interval is closed on both sides, as in R, and holds two of the four.
    assert hosmer_lemeshow(y, rng.choice([0.2, 0.5, 0.7, 0.8], len(y))).df == 1
    with pytest.raises(DataError, match="fall into 1 group"):
        hosmer_lemeshow(y, np.full(len(y), 0.5))
    with pytest.raises(ParameterError, match="at least 3"):
        hosmer_lemeshow(y, np.full(len(y), 0.5), groups=2)


def test_the_calibration_line_is_that_of_r():
    # R 4.2.2: l = 1.7 eta + 0.3; glm(y ~ l), glm(y ~ 1 + offset(l)), and the deviance at intercept 0 and slope 1.
    y, p = flowers()
    found = calibration_line(y, expit(1.7 * logit(p) + 0.3))
    assert_allclose((found.intercept, found.slope), (-0.176470588235303, 0.588235294117645), rtol=1e-8)
    assert_allclose(found.in_the_large, -0.270263332400683, rtol=1e-8)
    assert_allclose(found.std_error, (0.233773702714256, 0.135380856906824, 0.266232054775204), rtol=1e-7)
    assert_allclose(found.statistic, 8.18905221230865, rtol=1e-8)
    assert_allclose(found.ci()["slope", "upper"], 0.588235294117645 + 1.959963984540054 * 0.135380856906824, rtol=1e-7)


def test_a_fit_is_calibrated_on_its_own_rows():
    y, p = flowers()
    found = calibration_line(y, p)
    assert_allclose((found.intercept, found.slope, found.in_the_large), (0, 1, 0), atol=1e-7)
    assert_allclose(found.p_value, 1.0, atol=1e-7)


def test_weights_of_the_calibration_line_count_rows():
    y, p, rng = drawn()
    counts = rng.integers(0, 4, len(y))
    a, b = calibration_line(y, p, sample_weight=counts), calibration_line(np.repeat(y, counts), np.repeat(p, counts))
    assert_allclose(a.std_error, b.std_error, rtol=1e-9)
    assert_allclose((a.intercept, a.slope), (b.intercept, b.slope), rtol=1e-8)


def test_log_odds_that_have_no_line_are_refused():
    with pytest.raises(DataError, match="2 probabilities of exactly 0 or 1"):
        calibration_line([0, 1, 0], [0.0, 0.5, 1.0])
    with pytest.raises(DataError, match="there is no slope"):
        calibration_line([0, 1, 0], [0.3, 0.3, 0.3])
    with pytest.raises(DataError, match="separate the classes"):
        calibration_line([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])


def test_net_benefit_counts_what_is_found_and_false_alarms():
    y, p, _ = drawn()
    found = decision_curve(y, p, [0.1, 0.5, 0.8])
    for i, t in enumerate((0.1, 0.5, 0.8)):
        acted = p >= t
        expected = (acted & (y == 1)).mean() - t / (1 - t) * (acted & (y == 0)).mean()
        assert_allclose(found.net_benefit[i], expected)
        assert_allclose(found.treat_all[i], y.mean() - t / (1 - t) * (1 - y.mean()))
    # The standard error is that of resampled rows.
    rng = np.random.default_rng(1)
    again = [decision_curve(y[i], p[i], [0.1, 0.5, 0.8]).net_benefit for i in rng.integers(0, 500, (300, 500))]
    assert_allclose(found.std_error, np.std(again, axis=0), rtol=0.15)
    low, high = found.ci()
    assert (low < found.net_benefit).all()
    assert (found.net_benefit < high).all()
    assert len(decision_curve(y, p).thresholds) == 99
    assert "treat all" in repr(found)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        decision_curve(y, p, [0.0, 0.5])


def test_continuous_probabilities_are_grouped_before_they_are_decomposed():
    y, p, _ = drawn()
    found = brier(y, p)
    assert found == brier(y, p, bins=10)
    assert found.bins == 10
    # In groups of single rows it would be the uncertainty.
    assert found.resolution < 0.5 * found.uncertainty
    assert brier(y, np.round(p, 1)).bins is None
