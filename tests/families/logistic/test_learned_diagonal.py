"""The diagonal takes the power of the data's curvature that the steps speak for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim.engines import RowPasses
from discrim.families.logistic import fit
from discrim.families.logistic.fit import Smooth, minimise
from discrim.families.logistic.objective import Coordinates, Objective, newton
from discrim.families.logistic.quasi_newton import LearnedDiagonal
from discrim.sources import open_rows

PENALTY = np.full(200, 0.5)
BOTH = PENALTY + np.exp(np.random.default_rng(0).normal(scale=4, size=200))


@pytest.mark.parametrize("power", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_it_finds_the_power_that_the_curvature_has(power):
    found, rng = LearnedDiagonal(PENALTY, BOTH), np.random.default_rng(1)
    curvature = 7.0 * PENALTY * (BOTH / PENALTY) ** power
    for _ in range(5):
        step = rng.normal(size=200) / np.sqrt(curvature)
        found.learn(step, curvature * step)
    assert found.power == power
    # The factor is nobody's business here.
    assert_allclose(found(curvature), found(curvature)[0], rtol=1e-12)


def test_it_forgets_what_steps_long_ago_said():
    found, rng = LearnedDiagonal(PENALTY, BOTH), np.random.default_rng(1)
    for curvature in (PENALTY, BOTH):
        for _ in range(20):
            step = rng.normal(size=200) / np.sqrt(curvature)
            found.learn(step, curvature * step)
    assert found.power == 1.0


def test_counts_with_heavy_tails_need_fewer_passes_than_with_the_whole_curvature_of_the_data(monkeypatch):
    """Words of Zipf's frequencies in texts of very different lengths."""
    monkeypatch.setattr(fit, "CURVED_SIZE", 3)
    rng = np.random.default_rng(0)
    words = 3.0 / np.arange(1, 301)
    x = rng.poisson(np.exp(rng.normal(scale=1.5, size=(400, 1))) * words) * 1.0
    y = (x @ (rng.normal(size=(300, 3)) * 0.3)).argmax(axis=1)
    objective = Objective(
        RowPasses(open_rows(x, y)), np.arange(3), Coordinates(np.zeros(300), np.ones(300)), softmax=True
    )
    ridge = np.ones(objective.shape)
    ridge[:, 0] = 0.0
    squares = np.append(1.0, (x**2).mean(axis=0))
    problem = Smooth(ridge, np.ones(objective.shape, bool), np.zeros(objective.shape), squares=squares)

    def passes():
        objective.passes = 0
        found = minimise(problem, objective, [], "quasi-newton", 2000)
        assert found.converged
        return found, objective.passes

    found, learned = passes()
    monkeypatch.setattr(LearnedDiagonal, "__init__", _whole)
    monkeypatch.setattr(LearnedDiagonal, "learn", lambda *_: None)
    _, whole = passes()
    assert learned < 0.8 * whole
    free = np.ones(objective.shape, bool)
    free[0, 0] = False
    exact = newton(objective, problem.start, ridge=ridge, free=free)
    assert_allclose(found.value, exact.value, rtol=1e-7)


def _whole(self, _, both):
    self._guess = both
