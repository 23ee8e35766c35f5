"""Areas of out-of-fold scores, by brute force and where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

import discrim
from discrim.evaluation.areas import area_interval, area_within_folds


def by_pairs(codes, score, folds, weight, positive=1, negative=0):
    right = total = 0.0
    for i in np.flatnonzero(codes == positive):
        for j in np.flatnonzero((codes == negative) & (folds == folds[i])):
            own = weight[i] * weight[j]
            right += own * ((score[i] > score[j]) + 0.5 * (score[i] == score[j]))
            total += own
    return right / total


def drawn(n=60, folds=5, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, n)
    return codes, np.round(codes + rng.normal(size=n), 1), np.arange(n) % folds, rng.integers(1, 4, n).astype(float)


def test_only_pairs_within_a_fold_are_compared():
    codes, score, folds, weight = drawn()
    assert area_within_folds(codes, score, folds).area == pytest.approx(by_pairs(codes, score, folds, np.ones(60)))
    found = area_within_folds(codes, score, folds, weight)
    assert found.area == pytest.approx(by_pairs(codes, score, folds, weight))


def test_in_one_fold_it_is_the_curves_area_with_delongs_error():
    codes, score, _, _ = drawn(n=400)
    found, curve = area_within_folds(codes, score, np.zeros(400)), discrim.roc(codes, score)
    assert found.area == pytest.approx(curve.auc)
    assert found.parts.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.sqrt(found.parts @ found.parts) / 400 == pytest.approx(curve.auc_std_error, rel=0.005)


def test_the_error_is_that_of_the_pairs_that_are_compared():
    """In folds of six rows a tenth of the pairs is compared; DeLong's error is that of all of them."""
    rng, folds = np.random.default_rng(3), np.arange(60) // 6
    codes, found, by_delong = np.tile([0, 1], 30), [], []
    for _ in range(1500):
        score = 1.2 * codes + rng.normal(size=60)
        one = area_within_folds(codes, score, folds)
        found.append((one.area, np.sqrt(one.parts @ one.parts) / 60))
        parts = area_within_folds(codes, score, np.zeros(60)).parts
        by_delong.append(np.sqrt(parts @ parts) / 60)
    areas, errors = np.array(found).T
    # By chance the standard deviation of 1,500 areas is 1.8% off.
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(areas.std(), rel=0.05)
    assert np.mean(by_delong) < 0.93 * areas.std()


def test_more_classes_are_compared_pair_by_pair_as_hand_and_till_do():
    rng = np.random.default_rng(1)
    codes, posterior = rng.integers(0, 3, 90), rng.dirichlet(np.ones(3), 90)
    posterior[np.arange(90), codes] += 0.3
    whole = area_within_folds(codes, posterior, np.zeros(90))
    assert whole.area == pytest.approx(
        discrim.evaluation.multiclass_auc(codes, posterior / posterior.sum(1)[:, None]), abs=0.02
    )
    folds, each = np.arange(90) % 3, []
    for j in range(3):
        each += [by_pairs(codes, posterior[:, j], folds, np.ones(90), j, k) for k in range(3) if k != j]
    assert area_within_folds(codes, posterior, folds).area == pytest.approx(np.mean(each))


def test_one_row_a_fold_has_nothing_to_compare():
    codes, score, _, _ = drawn()
    assert np.isnan(area_within_folds(codes, score, np.arange(60)).area)


def test_a_model_that_knows_only_the_shares_of_its_training_rows_has_one_half():
    """Over all rows together its area is 0: the score of a row falls with the number of its class in its fold."""
    codes = np.tile([0, 1], 30)
    folds = np.random.default_rng(0).permutation(60) % 20
    score = np.array([codes[folds != f].mean() for f in folds])
    assert area_within_folds(codes, score, folds).area == 0.5
    assert discrim.roc(codes, score).auc < 0.35


def test_intervals_stay_within_0_and_1_and_a_perfect_area_has_one():
    low, high = area_interval(1.0, 0.0, 10, 10)
    assert high == 1.0
    # The area at which all of 10 x 10 pairs in order would be 1.96 standard deviations away.
    spread = low * (1 - low) * (1 + 9 * ((1 - low) / (2 - low) + low / (1 + low))) / 100
    assert (1 - low) ** 2 == pytest.approx(1.959964**2 * spread, rel=1e-3)
    assert area_interval(0.0, 0.0, 10, 10)[0] == 0.0
    low, high = area_interval(0.97, 0.02, 30, 30)
    assert 0.0 < low < 0.97 < high < 1.0
