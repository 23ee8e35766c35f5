"""How often intervals cover and noise is taken for something: small versions of ``benchmarks.coverage``.

Bounds are three Monte-Carlo standard errors from what is claimed.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import coverage


def below(level, tables):
    return level + 3 * np.sqrt(level * (1 - level) / tables)


def test_noise_is_hardly_ever_taken_for_something():
    assert coverage.of_choice(coverage.noise, 60, 15)["a model"] <= below(0.05, 15)


def test_the_error_of_what_was_chosen_is_covered():
    found = coverage.of_choice(coverage.shift, 200, 12)
    assert 1 - found["chosen"] <= below(0.07, 12)
    assert found["a model"] == 1.0
    assert found["regret"] <= 1.5


def test_slopes_are_covered_under_each_kind_of_weights():
    for name, share in coverage.of_weights(200, 200).items():
        assert abs(share - 0.95) <= 3 * np.sqrt(0.05 * 0.95 / 200), name


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["error", "balanced_error", "log_loss", "auc"])
def test_noise_is_left_alone_under_every_metric(metric):
    from discrim import compare

    chosen = 0
    for seed in range(120):
        X, y = coverage.noise(np.random.default_rng(seed), 80)
        chosen += compare(X, y, coverage.MODELS, metric=metric, reference=None).chosen != "Baseline"
    assert chosen / 120 <= below(0.05, 120)
