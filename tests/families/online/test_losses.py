"""Each loss against its formula, its slope against differences, and what is claimed of it against a grid."""

import numpy as np
import pytest

from discrim.errors import ParameterError
from discrim.losses import LOSSES, SOFTMAX_CURVATURE, find_loss, softmax, softmax_loss

MARGINS = np.linspace(-4.0, 4.0, 2001)

# As functions of the margin m = r h for r = +-1; cross entropy is the log loss with targets 0 and 1.
FORMULAS = {
    "perceptron": lambda m: max(0.0, -m),
    "squared": lambda m: (1 - m) ** 2 / 2,
    "cross_entropy": lambda m: np.log(1 + np.exp(-m)),
    "log": lambda m: np.log(1 + np.exp(-m)),
    "hinge": lambda m: max(0.0, 1 - m),
    "squared_hinge": lambda m: max(0.0, 1 - m) ** 2,
    "modified_huber": lambda m: -4 * m if m < -1 else max(0.0, 1 - m) ** 2,
}


def at(loss, margins, second=True):
    """Values and slopes by the score, for rows of the second or of the first class."""
    score = margins if second else -margins
    target = np.full_like(score, loss.targets[1 if second else 0])
    return score, loss.value(score, target), loss.slope(score, target)


@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_loss_has_the_values_of_its_formula(name, second):
    _, value, _ = at(LOSSES[name], MARGINS, second)
    np.testing.assert_allclose(value, [FORMULAS[name](m) for m in MARGINS], rtol=1e-12, atol=1e-15)


def test_every_loss_has_a_formula_here():
    assert set(FORMULAS) == set(LOSSES)


@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize("name", FORMULAS)
def test_slopes_are_differences_of_values(name, second):
    loss, step = LOSSES[name], 1e-6
    # No point of this grid is a kink.
    score, _, slope = at(loss, MARGINS + 1e-4, second)
    target = np.full_like(score, loss.targets[int(second)])
    difference = (loss.value(score + step, target) - loss.value(score - step, target)) / (2 * step)
    np.testing.assert_allclose(slope, difference, atol=1e-8)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_loss_is_convex_where_it_says_so(name):
    loss = LOSSES[name]
    _, value, _ = at(loss, MARGINS)
    bends = value[:-2] - 2 * value[1:-1] + value[2:]
    assert loss.convex == bool((bends >= -1e-12).all())


@pytest.mark.parametrize("name", FORMULAS)
def test_the_curvature_is_the_steepest_change_of_the_slope(name):
    loss = LOSSES[name]
    score, _, slope = at(loss, MARGINS)
    steepest = np.abs(np.diff(slope) / np.diff(score)).max()
    if loss.smooth:
        assert steepest <= loss.curvature * (1 + 1e-9)
        assert steepest >= 0.99 * loss.curvature
    else:
        assert steepest > 100


@pytest.mark.parametrize("name", FORMULAS)
def test_the_error_factor_is_the_least_that_bounds_the_number_of_errors(name):
    loss = LOSSES[name]
    _, value, _ = at(loss, MARGINS[MARGINS <= 0])
    if loss.error_factor is None:
        assert value.min() == 0
    else:
        assert value.min() * loss.error_factor == pytest.approx(1.0)
    assert loss.bounds_error == bool((value >= 1).all())
    assert {name for name, loss in LOSSES.items() if loss.bounds_error} == {"hinge", "squared_hinge", "modified_huber"}


@pytest.mark.parametrize("name", ["perceptron", "hinge"])
def test_a_row_on_the_boundary_is_corrected(name):
    edge = {"perceptron": 0.0, "hinge": 1.0}[name]
    assert LOSSES[name].slope(np.array([edge]), np.array([1.0])) == [-1.0]


@pytest.mark.parametrize("name", FORMULAS)
def test_huge_scores_make_no_noise(name):
    loss = LOSSES[name]
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        for target in loss.targets:
            score = np.array([-1e300, -800.0, 0.0, 800.0, 1e300])
            value, slope = loss.value(score, np.full(5, target)), loss.slope(score, np.full(5, target))
            assert not np.isnan(value).any()
            assert not np.isnan(slope).any()


def test_tiny_losses_keep_their_digits():
    assert LOSSES["log"].value(np.array([40.0]), np.array([1.0]))[0] == pytest.approx(np.exp(-40), rel=1e-12)
    assert LOSSES["cross_entropy"].value(np.array([40.0]), np.array([1.0]))[0] == pytest.approx(np.exp(-40), rel=1e-12)


def test_cross_entropy_takes_shares_as_targets():
    h, r = np.array([0.3]), np.array([0.25])
    y = 1 / (1 + np.exp(-0.3))
    assert LOSSES["cross_entropy"].value(h, r)[0] == pytest.approx(-0.25 * np.log(y) - 0.75 * np.log(1 - y))


def test_an_unknown_loss_is_answered_with_the_names():
    with pytest.raises(ParameterError, match=r"There is no loss 'hing'. Did you mean 'hinge'\? The losses are 'percep"):
        find_loss("hing")
    with pytest.raises(ParameterError, match=r"There is no loss 3\. The losses are"):
        find_loss(3)
    assert find_loss("log") is LOSSES["log"]


def test_softmax_of_two_scores_is_cross_entropy_of_their_difference():
    h, code = np.array([[0.2, 1.4], [2.0, -1.0]]), np.array([1, 1])
    alone = LOSSES["cross_entropy"].value(h[:, 1] - h[:, 0], np.ones(2))
    np.testing.assert_allclose(softmax_loss(h, code)[0], alone, rtol=1e-14)


def test_softmax_slopes_are_differences_of_values():
    rng = np.random.default_rng(0)
    h, code, step = rng.normal(size=(20, 4)), rng.integers(4, size=20), 1e-6
    for k in range(4):
        d = step * np.eye(4)[k]
        difference = (softmax_loss(h + d, code)[0] - softmax_loss(h - d, code)[0]) / (2 * step)
        np.testing.assert_allclose(softmax_loss(h, code)[1][:, k], difference, atol=1e-9)


def test_no_softmax_bends_more_than_its_bound():
    bends = [np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1] for p in softmax(np.random.default_rng(1).normal(
        size=(200, 3), scale=3))]  # fmt: skip
    assert max(bends) <= SOFTMAX_CURVATURE
    # Two classes that share everything reach it.
    assert np.linalg.eigvalsh(np.diag([0.5, 0.5]) - 0.25)[-1] == pytest.approx(SOFTMAX_CURVATURE)


def test_softmax_of_huge_scores_is_certain():
    with np.errstate(over="raise", invalid="raise"):
        h = np.array([[1e300, 0.0, -1e300]])
        assert softmax_loss(h, np.array([0]))[0] == 0
        np.testing.assert_array_equal(softmax(h), [[1, 0, 0]])
