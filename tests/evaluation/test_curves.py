"""ROC curves, their areas and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from discrim.errors import DataError, ParameterError
from discrim.evaluation import compare_auc, multiclass_auc, precision_recall, roc


def rows(seed=0, n=200, ties=False, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    score = rng.normal(size=n) + y
    weight = rng.uniform(0.1, 2.0, n) if weighted else None
    return y, np.round(score) if ties else score, weight


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 60), ties=st.booleans(), weighted=st.booleans())
def test_curve_and_area_are_those_of_scikit_learn(seed, n, ties, weighted):
    y, score, weight = rows(seed, n, ties, weighted)
    found = roc(y, score, sample_weight=weight)
    assert_allclose(found.auc, metrics.roc_auc_score(y, score, sample_weight=weight), atol=1e-12)
    fpr, tpr, thresholds = metrics.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    # Every point of ours is one of theirs, and theirs lie on our lines.
    at = np.searchsorted(-thresholds, -found.thresholds)
    assert_array_equal(thresholds[at], found.thresholds)
    assert_allclose(found.fpr, fpr[at], atol=1e-12)
    assert_allclose(found.tpr, tpr[at], atol=1e-12)
    assert_allclose(np.trapezoid(found.tpr, found.fpr), found.auc, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 40), ties=st.booleans())
def test_the_standard_error_is_the_formula_of_delong_by_brute_force(seed, n, ties):
    y, score, _ = rows(seed, n, ties)
    y[:4] = 0, 1, 0, 1
    psi = (score[y == 1][:, None] > score[y == 0]) + 0.5 * (score[y == 1][:, None] == score[y == 0])
    m, k = psi.shape
    expected = psi.mean(axis=1).var(ddof=1) / m + psi.mean(axis=0).var(ddof=1) / k
    assert_allclose(roc(y, score).auc_std_error ** 2, expected, rtol=1e-9, atol=1e-15)


def test_any_increasing_change_of_the_score_leaves_the_area_alone():
    y, score, _ = rows(3)
    assert_allclose(roc(y, np.exp(score)).auc, roc(y, score).auc, rtol=1e-14)
    assert_allclose(roc(y, -score).auc, 1.0 - roc(y, score).auc, rtol=1e-14)


def test_labels_of_any_type_and_a_named_positive_class():
    y, score, _ = rows(1)
    words = np.where(y == 1, "yes", "no")
    assert roc(words, score).positive == "yes"
    assert roc(words, score).auc == roc(y, score).auc
    assert_allclose(roc(words, score, positive="no").auc, 1.0 - roc(y, score).auc)
    assert roc(y.astype(bool), score).auc == roc(y, score).auc


def test_perfect_scores_have_area_one_and_no_spread():
    found = roc([0, 0, 1, 1], [1, 2, 3, 4])
    assert found.auc == 1.0
    assert found.auc_ci() == (1.0, 1.0)
    assert found.auc_ci(method="logit") == (1.0, 1.0)


def test_infinite_scores_are_the_ends_of_the_order():
    assert roc([0, 1, 0, 1], [-np.inf, np.inf, 0.0, 0.5]).auc == 1.0


def test_sensitivity_at_a_specificity_reads_the_curve():
    found = roc([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    assert found.sensitivity_at(1.0) == 0.5
    assert found.sensitivity_at(0.75) == 1.0
    assert_allclose(found.sensitivity_at([1.0, 0.0]), [0.5, 1.0])


@pytest.mark.parametrize(
    ("y", "score", "message"),
    [
        ([0, 0], [1.0, 2.0], "only the class '0'"),
        ([0, 1, 2], [1.0, 2.0, 3.0], "y has 3 classes"),
        ([0, 1], [1.0, np.nan], "1 NaN"),
        ([0, 1], [1.0], "one number for each of the 2 labels; found 1"),
        ([0, 1], [[0.1, 0.9], [0.2, 0.8]], "found 2 x 2. Take one column of predict_proba"),
        ([0, 1], ["a", "b"], "must hold numbers"),
    ],
)
def test_scores_that_do_not_fit_the_labels_are_refused(y, score, message):
    with pytest.raises(DataError, match=message):
        roc(y, score)


def test_a_positive_label_that_does_not_occur_is_refused():
    with pytest.raises(ParameterError, match=r"'positive' parameter is 'maybe'.*'no', 'yes'"):
        roc(["no", "yes"], [1, 2], positive="maybe")


def test_weighted_areas_have_no_interval_and_say_so():
    y, score, weight = rows(weighted=True)
    with pytest.raises(DataError, match="weighted area"):
        roc(y, score, sample_weight=weight).auc_ci()


def test_the_interval_keeps_its_level_by_simulation():
    rng = np.random.default_rng(0)
    truth, inside, draws = 0.7602499389065233, 0, 2000  # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt(2))
    for _ in range(draws):
        score = np.concatenate([rng.normal(size=60), rng.normal(size=40) + 1.0])
        low, high = roc(np.repeat([0, 1], [60, 40]), score).auc_ci()
        inside += low <= truth <= high
    # Four standard deviations of the share, and DeLong's own shortfall at this size, which is below 1%.
    assert abs(inside / draws - 0.95) < 4 * np.sqrt(0.95 * 0.05 / draws) + 0.01


def test_the_paired_test_rejects_at_its_level_where_both_scores_are_alike():
    rng = np.random.default_rng(1)
    y, draws = np.repeat([0, 1], [80, 60]), 1500
    rejected = 0
    for _ in range(draws):
        common = rng.normal(size=140) + y
        rejected += compare_auc(y, common + rng.normal(size=140), common + rng.normal(size=140)).p_value < 0.05
    assert abs(rejected / draws - 0.05) < 4 * np.sqrt(0.05 * 0.95 / draws) + 0.01


def test_equal_orders_differ_by_nothing():
    y, score, _ = rows(5)
    same = compare_auc(y, score, 2 * score)
    assert (same.difference, same.p_value) == (0.0, 1.0)


def test_the_band_is_that_of_drawing_rows_again():
    y, score, _ = rows(2, 300)
    high, low = score[y == 1], score[y == 0]
    rng = np.random.default_rng(0)
    at = np.array([0.5, 0.8, 0.9])
    k = np.ceil(at * len(low)).astype(int)
    drawn = []
    for _ in range(4000):
        a, b = rng.choice(high, len(high)), np.sort(rng.choice(low, len(low)))
        drawn.append((a[:, None] > b[k - 1]).mean(axis=0))
    expected = np.quantile(drawn, [0.05, 0.95], axis=0)
    found = roc(y, score).band(at, level=0.9, draws=20_000)
    assert_allclose(found[1:], expected, atol=0.02)


def test_precision_and_recall_are_those_of_scikit_learn():
    for weighted in (False, True):
        y, score, weight = rows(4, ties=True, weighted=weighted)
        found = precision_recall(y, score, sample_weight=weight)
        precision, recall, thresholds = metrics.precision_recall_curve(y, score, sample_weight=weight)
        assert_array_equal(found.thresholds[::-1], thresholds)
        assert_allclose(found.precision[::-1], precision[:-1])
        assert_allclose(found.recall[::-1], recall[:-1])
        expected = metrics.average_precision_score(y, score, sample_weight=weight)
        assert_allclose(found.average_precision, expected)
        low, high = found.band()
        assert ((low <= found.precision) & (found.precision <= high)).all()


def test_hand_and_till_by_brute_force_and_by_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 120)
    p = rng.dirichlet(np.ones(4), 120) + 0.5 * np.eye(4)[y]
    p = np.round(p / p.sum(axis=1, keepdims=True), 2)
    p /= p.sum(axis=1, keepdims=True)

    def area(j, k):
        a, b = p[y == j, j], p[y == k, j]
        return ((a[:, None] > b) + 0.5 * (a[:, None] == b)).mean()

    pairs = [(area(j, k) + area(k, j)) / 2 for j in range(4) for k in range(j)]
    assert_allclose(multiclass_auc(y, p), np.mean(pairs), rtol=1e-13)
    assert_allclose(multiclass_auc(y, p), metrics.roc_auc_score(y, p, multi_class="ovo", average="macro"), rtol=1e-13)


def test_hand_and_till_of_two_classes_is_the_area():
    y, score, _ = rows(6)
    p = 1 / (1 + np.exp(-score))
    assert_allclose(multiclass_auc(y, p), roc(y, p).auc, rtol=1e-13)
