"""Fisher's threshold makes the fewest errors that a threshold can make."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from discrim import LinearDiscriminantAnalysis
from discrim.errors import DataError
from discrim.families.gaussian.lda import best_threshold


def errors(t, distance, v1, v2, share):
    return (1 - share) * norm.sf(t, 0, np.sqrt(v1)) + share * norm.cdf(t, distance, np.sqrt(v2))


def projected(n1, n2, mean, sd, seed=0):
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(0, 1, n1), rng.normal(mean, sd, n2)][:, None], np.repeat([0, 1], [n1, n2])


def test_no_other_threshold_makes_fewer_errors():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        distance, v1, v2 = np.exp(rng.normal(0, [1, 2, 2]))
        share = rng.choice([rng.uniform(), 10.0 ** rng.uniform(-8, -1), 1 - 10.0 ** rng.uniform(-8, -1)])
        far = 12 * max(np.sqrt(v1), np.sqrt(v2)) + distance
        least = errors(np.r_[-np.inf, np.linspace(-far, far, 20_001), np.inf], distance, v1, v2, share).min()
        found = errors(best_threshold(distance, v1, v2, share), distance, v1, v2, share)
        assert found <= least * (1 + 1e-12), f"seed {seed}"


@pytest.mark.parametrize("ratio", [1.0, 1 + 1e-15, 1 + 1e-9, 1 - 1e-9])
def test_nearly_equal_variances_have_the_threshold_of_equal_ones(ratio):
    assert_allclose(best_threshold(2.0, 1.0, ratio, 0.3), 1.0 - np.log(0.3 / 0.7) / 2.0, rtol=1e-8)


@pytest.mark.parametrize(("share", "expected"), [(0.0, np.inf), (1.0, -np.inf)])
@pytest.mark.parametrize("v2", [0.2, 1.0, 5.0])
def test_a_class_that_never_occurs_is_never_predicted(share, expected, v2):
    assert best_threshold(1.5, 1.0, v2, share) == expected


def test_a_second_class_that_is_nowhere_more_likely_is_never_predicted():
    X, y = projected(2000, 20, 1.0, 0.5)
    found = LinearDiscriminantAnalysis().fit(X, y).fisher()
    assert found.threshold == np.inf
    assert np.mean(found.predict(X, np.array([0, 1])) != y) == 20 / 2020


def test_a_first_class_that_is_nowhere_more_likely_is_never_predicted():
    X, y = projected(2000, 20, 1.0, 0.5)
    found = LinearDiscriminantAnalysis().fit(-X, 1 - y).fisher()
    assert found.threshold == -np.inf
    assert np.mean(found.predict(-X, np.array([0, 1])) != 1 - y) == 20 / 2020


def test_classes_of_any_labels_and_weights_have_the_same_answer():
    X, y = projected(500, 5, 1.0, 0.5)
    weight = np.where(y == 1, 1.0, 4.0)
    names = np.array(["rare" if label else "common" for label in y])
    found = LinearDiscriminantAnalysis().fit(X, names, weight).fisher()
    assert found.threshold == np.inf
    assert (found.predict(X, np.array(["common", "rare"])) == "common").all()


def test_a_class_without_rows_has_no_direction():
    X, y = projected(50, 50, 1.0, 1.0)
    model = LinearDiscriminantAnalysis().partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    with pytest.raises(DataError, match="class '1' has no rows"):
        model.fisher()
