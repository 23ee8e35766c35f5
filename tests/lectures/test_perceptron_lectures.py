"""What the three lectures say of the perceptron (Chicago, Laval, Rome)."""

from itertools import pairwise

import numpy as np
import pytest

from discrim.families.online.rosenblatt import PerceptronOptions
from discrim.models.online.rosenblatt import learn


def line(gap, n=30, seed=0):
    """Two classes on either side of a strip of this width through the plane."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 2))
    y = np.where(x[:, 0] + x[:, 1] > 0, 1.0, -1.0)
    return x + np.outer(0.5 * gap * y, [np.sqrt(0.5), np.sqrt(0.5)]), y


def test_rome_a_correction_lowers_the_cost_of_its_own_row_by_its_squared_length():
    x, y = line(0.05)
    eta = 0.3
    trace = learn(x, y, PerceptronOptions(eta0=eta, shuffle=False, trace="step")).trace
    phi = np.column_stack([x, np.ones(len(x))])
    w = np.column_stack([trace.coef, trace.intercept])
    for before, after in pairwise(w):
        row = np.flatnonzero(np.isclose(((after - before) / eta) @ phi.T, (phi**2).sum(axis=1) * y, rtol=1e-9))
        cost = -y[row[0]] * (phi[row[0]] @ np.array([before, after]).T)
        assert cost[0] - cost[1] == pytest.approx(eta * (phi[row[0]] ** 2).sum())


def test_rome_the_cost_of_all_rows_may_rise_on_the_way():
    x, y = line(0.05)
    loss = learn(x, y, PerceptronOptions(shuffle=False, trace="step")).trace.loss
    assert (np.diff(loss) > 0).any()
    assert loss[-1] == 0


def test_laval_any_hyperplane_that_separates_may_come_out():
    x, y = line(0.3)
    found = [learn(x, y, PerceptronOptions(), seed=seed) for seed in range(5)]
    assert all(each.separated for each in found)
    directions = {tuple(np.round(each.coef / np.linalg.norm(each.coef), 6)) for each in found}
    assert len(directions) > 1


@pytest.mark.parametrize("rule", ["online", "batch", "chicago"])
def test_laval_no_convergence_where_the_classes_overlap(rule):
    x, y = line(0.0, n=100)
    y[:10] *= -1
    learned = learn(x, y, PerceptronOptions(rule=rule, max_iter=200), seed=0)
    assert not learned.converged
    assert not learned.separable
    assert f"{learned.mistakes} of 100 rows are wrong" in learned.verdict


def test_chicago_a_narrow_gap_takes_many_steps_and_the_bound_knows():
    wide, narrow = (learn(*line(gap), PerceptronOptions(rule="chicago", shuffle=False, max_iter=10**5))
                    for gap in (1.0, 0.02))  # fmt: skip
    assert narrow.updates > 5 * wide.updates
    assert narrow.best_bound > 20 * wide.best_bound
    assert wide.updates <= wide.best_bound
    assert narrow.updates <= narrow.best_bound


def test_chicago_the_criterion_is_the_distance_times_the_length_of_w():
    x, y = line(0.1)
    trace = learn(x, y, PerceptronOptions(rule="chicago", shuffle=False, trace="step")).trace
    w, b = trace.coef[1], trace.intercept[1]
    score = y * (x @ w + b)
    distance = -score[score < 0] / np.linalg.norm(w)
    assert trace.loss[1] == pytest.approx(distance.sum() * np.linalg.norm(w))
