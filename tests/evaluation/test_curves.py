"""ROC curves, their areas and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special
from sklearn import metrics

from discrim.errors import DataError, ParameterError
from discrim.evaluation import compare_auc, multiclass_auc, multiclass_auc_ci, precision_recall, roc
from discrim.sources.labels import ContinuousLabelsError


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
    assert found.auc_ci(method="delong") == (1.0, 1.0)


def test_the_interval_of_a_perfect_score_ends_where_the_estimate_is_z_standard_errors_away():
    for rows_of_each in (2, 5, 50):
        y, score = np.repeat([0, 1], rows_of_each), np.arange(2 * rows_of_each)
        low, high = roc(y, score).auc_ci()
        assert high == 1.0
        # Hanley and McNeil (1982) with the number of pairs as Newcombe (2006) has it.
        q1, q2, n = low / (2 - low), 2 * low**2 / (1 + low), rows_of_each
        variance = (low * (1 - low) + (n - 1) * (q1 - low**2) + (n - 1) * (q2 - low**2)) / n**2
        assert_allclose(1.0 - low, 1.959963984540054 * np.sqrt(variance), rtol=1e-8)
        assert_allclose(roc(y, -score).auc_ci(), (0.0, 1.0 - low), atol=1e-9)
    low, high = roc([0, 0, 1, 1], [1, 1, 1, 1]).auc_ci()
    assert 0.05 < low < 0.25
    assert_allclose(low, 1.0 - high)


@pytest.mark.parametrize("apart", [0.5, 2.0])
def test_the_interval_of_ten_rows_a_class_keeps_its_level(apart):
    rng = np.random.default_rng(0)
    truth, inside, draws = special.ndtr(apart / np.sqrt(2)), 0, 1000
    for _ in range(draws):
        score = np.concatenate([rng.normal(size=10), rng.normal(size=10) + apart])
        low, high = roc(np.repeat([0, 1], 10), score).auc_ci()
        inside += low <= truth <= high
    assert 0.93 < inside / draws < 0.99


@pytest.mark.parametrize(("positive", "negative", "apart"), [(5, 50, 1.0), (5, 200, 2.0), (3, 60, 1.0)])
def test_the_interval_of_very_few_positive_rows_keeps_its_level(positive, negative, apart):
    """DeLong's variance alone has 90, 82 and 84%: of five rows it is often too small."""
    rng = np.random.default_rng(0)
    truth, inside, draws = special.ndtr(apart / np.sqrt(2)), 0, 800
    for _ in range(draws):
        score = np.concatenate([rng.normal(size=negative), rng.normal(size=positive) + apart])
        low, high = roc(np.repeat([0, 1], [negative, positive]), score).auc_ci()
        inside += low <= truth <= high
    assert 0.93 < inside / draws < 0.99


def test_enough_rows_of_both_classes_have_delongs_variance_alone():
    y, score, _ = rows(3)
    found = roc(y, score)
    half = 1.959963984540054 * found.auc_std_error / (found.auc * (1.0 - found.auc))
    assert_allclose(special.logit(found.auc_ci()), special.logit(found.auc) + half * np.array([-1, 1]), rtol=1e-10)


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


def test_a_point_counts_the_rows_that_score_at_least_as_much():
    y, score, _ = rows(4)
    found = roc(y, score).coords([-0.5, 0.0, score[3]], input="threshold")
    for i, threshold in enumerate((-0.5, 0.0, score[3])):
        called = score >= threshold
        expected = [
            (~called & (y == 0)).sum() / (y == 0).sum(),
            (called & (y == 1)).sum() / (y == 1).sum(),
            (called == y).mean(),
            (called & (y == 1)).sum() / called.sum(),
            (~called & (y == 0)).sum() / (~called).sum(),
        ]
        assert_allclose(np.asarray(found)[i, 1:], expected, rtol=1e-12)


def test_the_best_points_are_those_of_all_thresholds():
    y, score, _ = rows(6)
    curve = roc(y, score)
    every = np.asarray(curve.coords(np.unique(score)))
    assert_allclose(curve.coords()["sensitivity"] + curve.coords()["specificity"], (every[:, 1] + every[:, 2]).max())
    distance = (1 - every[:, 1]) ** 2 + (1 - every[:, 2]) ** 2
    best = np.asarray(curve.coords(best_method="closest.topleft"))[0]
    assert_allclose((1 - best[1]) ** 2 + (1 - best[2]) ** 2, distance.min())


def test_points_of_weighted_rows_are_those_of_the_rows_written_out():
    y, score, _ = rows(7)
    counts = np.random.default_rng(0).integers(1, 4, len(y))
    weighted, written = roc(y, score, sample_weight=counts), roc(np.repeat(y, counts), np.repeat(score, counts))
    assert_allclose(np.asarray(weighted.coords()), np.asarray(written.coords()), rtol=1e-12)
    assert_allclose(weighted.partial_auc(), written.partial_auc(), rtol=1e-12)
    with pytest.raises(DataError, match="Leave the weights out"):
        weighted.ci_coords()


def test_infinite_scores_have_points_too():
    found = roc([0, 1, 0, 1], [-np.inf, np.inf, -np.inf, np.inf]).coords()
    assert_allclose(np.asarray(found)[0], [0, 1, 1, 1, 1, 1])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"x": "worst"}, "'best', or numbers"),
        ({"x": 1.5, "input": "specificity"}, "numbers from 0 to 1, as a specificity is"),
        ({"x": [], "input": "sensitivity"}, "numbers from 0 to 1"),
        ({"x": [[1.0]]}, "'best', or numbers"),
        ({"x": np.nan}, "'best', or numbers"),
        ({"input": "fpr"}, "'threshold', 'specificity', 'sensitivity'"),
        ({"best_method": "topright"}, "'youden' or 'closest.topleft'"),
        ({"best_weights": (1, 2)}, "prevalence"),
    ],
)
def test_points_that_do_not_exist_are_refused(options, text):
    with pytest.raises(ParameterError, match=text):
        roc([0, 0, 1, 1], [1, 3, 2, 4]).coords(**options)


def test_a_partial_area_of_all_is_the_area():
    y, score, _ = rows(8)
    curve = roc(y, score)
    for focus in ("specificity", "sensitivity"):
        assert_allclose(curve.partial_auc((0, 1), focus), curve.auc, rtol=1e-12)
        assert_allclose(curve.partial_auc((1, 0.6), focus) + curve.partial_auc((0.6, 0), focus), curve.auc, rtol=1e-12)
        assert_allclose(roc([0, 1, 0, 1], [1, 1, 1, 1]).partial_auc((1, 0.8), focus, correct=True), 0.5)
        assert_allclose(roc([0, 1, 0, 1], [1, 2, 1, 2]).partial_auc((1, 0.8), focus, correct=True), 1.0)
    with pytest.raises(ParameterError, match="two different numbers"):
        curve.partial_auc((0.9, 0.9))
    with pytest.raises(ParameterError, match="'specificity' or 'sensitivity'"):
        curve.partial_auc(focus="fpr")


def test_two_curves_are_paired_where_the_same_rows_are_positive():
    y, score, _ = rows(9)
    other = score + np.random.default_rng(1).normal(size=len(y))
    assert compare_auc(roc(y, score), roc(y, other)) != compare_auc(y, score, other)
    a, b = compare_auc(roc(y, score), roc(y, other)), compare_auc(y, score, other)
    assert (a.paired, a.std_error, a.p_value) == (b.paired, b.std_error, b.p_value)
    loose = compare_auc(y, score, other, paired=False)
    assert not loose.paired
    assert_allclose(loose.std_error**2, roc(y, score).auc_std_error ** 2 + roc(y, other).auc_std_error ** 2)
    assert loose.ci()[0] < loose.difference < loose.ci()[1]
    assert "t = " in repr(loose)


def test_the_bootstrap_has_the_standard_errors_of_delong():
    y, score, _ = rows(10)
    other = score + np.random.default_rng(1).normal(size=len(y))
    for paired in (True, False):
        by_formula = compare_auc(y, score, other, paired=paired)
        by_draws = compare_auc(y, score, other, paired=paired, method="bootstrap")
        assert_allclose(by_draws.std_error, by_formula.std_error, rtol=0.1)
        assert by_draws.paired is paired
        assert by_draws.method == "bootstrap"
    assert_allclose(roc(y, score).auc_ci(method="bootstrap"), roc(y, score).auc_ci(method="delong"), atol=0.02)


def test_comparisons_that_cannot_be_made_are_refused():
    y, score, _ = rows(11)
    curve, other = roc(y, score), roc(1 - y, score)
    with pytest.raises(ParameterError, match="labels and two scores, or two curves"):
        compare_auc(y, score)
    with pytest.raises(ParameterError, match="labels and two scores, or two curves"):
        compare_auc(curve, other, score)
    with pytest.raises(ParameterError, match="these have other labels"):
        compare_auc(curve, other, paired=True)
    with pytest.raises(ParameterError, match="method='bootstrap'"):
        compare_auc(curve, other, bounds=(1, 0.8))
    with pytest.raises(ParameterError, match="'delong' or 'bootstrap'"):
        compare_auc(curve, other, method="venkatraman")
    with pytest.raises(ParameterError, match="at least 10"):
        curve.ci_coords(draws=1)


def posteriors(seed, n=90, classes=3, apart=1.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % classes)
    return y, special.softmax(rng.normal(size=(n, classes)) + apart * np.eye(classes)[y], axis=1)


def test_the_interval_of_two_classes_is_that_of_the_curve():
    y, p = posteriors(0, classes=2)
    assert_allclose(multiclass_auc_ci(y, p), roc(y, p[:, 1]).auc_ci(), rtol=1e-10)


def test_the_spread_of_the_area_of_several_classes_is_that_of_the_bootstrap():
    y, p = posteriors(1)
    low, high = special.logit(multiclass_auc_ci(y, p))
    rng, of = np.random.default_rng(0), [np.flatnonzero(y == k) for k in range(3)]
    drawn = [np.concatenate([rng.choice(rows, len(rows)) for rows in of]) for _ in range(400)]
    spread = np.std(special.logit([multiclass_auc(y[i], p[i]) for i in drawn]))
    assert_allclose((high - low) / (2 * 1.96), spread, rtol=0.12)
    assert_allclose(special.expit(0.5 * (low + high)), multiclass_auc(y, p), rtol=1e-10)


def test_an_interval_for_several_classes_needs_two_rows_of_each():
    y, p = posteriors(2)
    keep = np.append(np.flatnonzero(y > 0), np.flatnonzero(y == 0)[:1])
    with pytest.raises(DataError, match="two rows of each class"):
        multiclass_auc_ci(y[keep], p[keep], [0, 1, 2])
    low, high = multiclass_auc_ci(y, np.eye(3)[y])
    assert 0.9 < low < high == 1.0


def test_labels_and_scores_in_the_wrong_order_are_noticed():
    y, score, _ = rows(5)
    with pytest.raises(ContinuousLabelsError, match="y holds numbers with fractions and 'score' two values: they look"):
        roc(score, y)
    with pytest.raises(ContinuousLabelsError, match="as measurements are"):
        roc(score, score)
