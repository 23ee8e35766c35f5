"""The margin of two classes by one product, against the scores of both."""

import numpy as np
import pytest

from discrim import LinearDiscriminantAnalysis, RidgeClassifier
from discrim.errors import DataError
from discrim.families import rule as rule_module
from discrim.families.rule import MARGIN_WORTH, LinearRule, Output, score_rows

rng = np.random.default_rng(5)
P = 7
N = MARGIN_WORTH // P + 1
COEF, OFFSET, ORIGIN = rng.normal(size=(2, P)), rng.normal(size=2), rng.normal(size=P)
ROWS = rng.normal(size=(N, P))


def scores_of_both(x: np.ndarray) -> np.ndarray:
    return OFFSET + (x.astype(float) - ORIGIN) @ COEF.T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_margin_is_what_the_weights_make_of_the_scores_of_both_classes(dtype, order):
    x = np.asarray(ROWS, dtype=dtype, order=order)
    rule = LinearRule(COEF, OFFSET, ORIGIN)
    both = scores_of_both(x)
    for weights in ((-1.0, 1.0), (0.0, 1.0), (-0.5, 0.5)):
        np.testing.assert_allclose(rule.margin(x, weights), both @ np.array(weights), rtol=0, atol=1e-13)
    best, finite = score_rows(rule, x, Output.BEST)
    assert finite
    np.testing.assert_array_equal(best, both.argmax(axis=1))


def test_ranges_of_single_precision_rows_on_several_threads_give_the_same(monkeypatch):
    x, linear = np.tile(ROWS.astype(np.float32), (40, 1)), LinearRule(COEF, OFFSET, ORIGIN)
    alone = linear.margin(x, (-1.0, 1.0))
    monkeypatch.setattr(rule_module, "ALONE", 0)
    np.testing.assert_allclose(linear.margin(x, (-1.0, 1.0)), alone, rtol=0, atol=1e-13)


def test_there_is_no_margin_where_it_would_lose_digits_or_takes_longer():
    assert LinearRule(COEF, OFFSET, ORIGIN + 1e8).margin(ROWS, (-1.0, 1.0)) is None
    assert LinearRule(COEF, OFFSET, ORIGIN).margin(ROWS[:10], (-1.0, 1.0)) is None
    assert LinearRule(COEF, OFFSET, ORIGIN).margin(np.repeat(ROWS, 2, axis=0)[::2, ::2], (-1.0, 1.0)) is None
    assert LinearRule(COEF, OFFSET, ORIGIN, threshold=0.0).margin(ROWS, (-1.0, 1.0)) is None


def test_a_tie_goes_to_the_first_class():
    x = np.zeros((N, P))
    assert not score_rows(LinearRule(COEF, np.ones(2), np.zeros(P)), x, Output.BEST)[0].any()


def test_a_class_that_cannot_occur_is_not_predicted():
    rule = LinearRule(COEF, np.array([0.0, -np.inf]), np.zeros(P))
    assert rule.margin(ROWS, (-1.0, 1.0)) is None
    assert not score_rows(rule, ROWS, Output.BEST)[0].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_bad_values_are_named_among_many_rows_too(bad, method):
    x = ROWS.copy()
    for model in (LinearDiscriminantAnalysis(), RidgeClassifier()):
        model.fit(x, np.arange(N) % 2)
        x[N // 2, 3] = bad
        with pytest.raises((DataError, ValueError), match=r"NaN|infinity"):
            getattr(model, method)(x)
        x[N // 2, 3] = 0.0
