"""Many paired differences at once: their level where nothing differs, and what they find where something does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from discrim.evaluation.many_tests import MOST_UNITS, all_pairs, larger_than_zero


def losses(rng, n, truth, likeness=0.7):
    """0/1 losses of models with these errors, which err on the same rows more or less."""
    shared, own = rng.normal(size=(n, 1)), rng.normal(size=(n, len(truth)))
    return (np.sqrt(likeness) * shared + np.sqrt(1 - likeness) * own < special.ndtri(truth)).astype(float)


def test_one_difference_of_errors_is_mcnemars_exact_test():
    rng = np.random.default_rng(0)
    for _ in range(5):
        parts = rng.choice([-1.0, 0.0, 0.0, 1.0, 1.0], size=(40, 1))
        gained, lost = int((parts > 0).sum()), int((parts < 0).sum())
        exact = stats.binomtest(gained, gained + lost, alternative="greater").pvalue
        assert larger_than_zero(parts.sum(axis=0), parts)[0] == pytest.approx(exact, abs=0.04)
        both = np.hstack([parts, np.zeros((40, 1))])
        exact = stats.binomtest(gained, gained + lost).pvalue
        assert all_pairs(both.sum(axis=0), both)[0, 1] == pytest.approx(exact, abs=0.05)


def test_of_ten_equal_models_hardly_one_table_in_twenty_has_a_difference():
    rng, tables = np.random.default_rng(1), 200
    found = 0
    for _ in range(tables):
        wrong = losses(rng, 200, np.full(10, 0.3))
        found += (all_pairs(wrong.sum(axis=0), wrong) < 0.05).any()
    assert found <= 0.05 * tables + 3 * np.sqrt(0.05 * 0.95 * tables)


def test_what_differs_is_found_and_the_same_model_twice_never():
    wrong = losses(np.random.default_rng(2), 500, np.array([0.1, 0.1, 0.3]))
    wrong[:, 1] = wrong[:, 0]
    p = all_pairs(wrong.sum(axis=0), wrong)
    assert p[0, 1] == 1.0
    assert p[0, 2] < 0.001
    assert p == pytest.approx(p.T)
    assert (np.diag(p) == 1.0).all()


def test_trying_more_models_costs_and_copies_of_one_cost_nothing():
    rng = np.random.default_rng(3)
    lead = rng.normal(0.2, 1.0, size=(80, 1))
    alone = larger_than_zero(lead.sum(axis=0), lead)[0]
    copies = np.repeat(lead, 9, axis=1)
    others = np.hstack([lead, rng.normal(size=(80, 8))])
    assert larger_than_zero(copies.sum(axis=0), copies)[0] == alone
    assert larger_than_zero(others.sum(axis=0), others)[0] > 2 * alone


def test_many_rows_are_put_together():
    rng = np.random.default_rng(4)
    parts = rng.normal(size=(3 * MOST_UNITS + 7, 2)) + np.array([0.0, 0.03])
    none, some = larger_than_zero(parts.sum(axis=0), parts)
    assert some < 0.01
    assert none > 0.05


def test_a_single_model_has_no_pair():
    assert all_pairs(np.array([3.0]), np.ones((5, 1))).tolist() == [[1.0]]
