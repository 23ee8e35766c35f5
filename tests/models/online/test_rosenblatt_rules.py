"""The perceptron of the lectures: every step by hand, the theorem, and what happens without a hyperplane."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discrim import RosenblattPerceptron
from discrim.errors import DataError, ParameterError
from discrim.families.online.rosenblatt import PerceptronOptions
from discrim.models.online.rosenblatt import learn, separable

pytestmark = pytest.mark.every_version

# Four rows of which every step is computed in the comments below.
X = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 1.0], [3.0, 0.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0])

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR_SIGN = np.array([-1.0, 1.0, 1.0, -1.0])


def run(x=X, y=Y, weight=None, seed=None, **options):
    return learn(x, y, PerceptronOptions(**{"shuffle": False, **options}), weight, seed)


def steps(learned):
    return np.column_stack([learned.trace.coef, learned.trace.intercept]).tolist()


def overlapping(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.where(x[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


def test_the_batch_rule_step_by_step():
    learned = run(rule="batch", trace="step")
    # All four wrong:        w = (0,1) + (1,1) - (3,1) - (3,0), b = 1 + 1 - 1 - 1
    # (1,1) has -5 + 1 < 0:  w = (-5,1) + (1,1), b = 0 + 1
    # (1,1) has -4+2+1 < 0:  w = (-4,2) + (1,1), b = 1 + 1; then all are right.
    assert steps(learned) == [[0, 0, 0], [-5, 1, 0], [-4, 2, 1], [-3, 3, 2]]
    assert learned.trace.loss.tolist() == [0, 4, 1, 0]
    assert learned.trace.mistakes.tolist() == [4, 1, 1, 0]
    assert (learned.updates, learned.epochs, learned.converged) == (3, 4, True)


def test_the_online_rule_step_by_step():
    learned = run(rule="online", trace="step")
    # First round:  (0,1) has 0:       w = (0,1), b = 1;    (1,1) is right
    #               (3,1) has -2:      w = (-3,0), b = 0;   (3,0) is right
    # Second round: (0,1) has 0:       w = (-3,1), b = 1
    #               (1,1) has -1:      w = (-2,2), b = 2;   then all are right.
    assert steps(learned) == [[0, 0, 0], [0, 1, 1], [-3, 0, 0], [-3, 1, 1], [-2, 2, 2]]
    assert (learned.updates, learned.epochs) == (4, 3)


def test_the_chicago_rule_step_by_step_and_its_bound():
    learned = run(rule="chicago", trace="step")
    # R^2 = |(3,1)|^2 = 10, which b goes up or down by.
    assert steps(learned) == [[0, 0, 0], [0, 1, 10], [-3, 0, 0], [-3, 1, 10], [-6, 0, 0], [-6, 1, 10]]
    # Margins 11, 5, 7, 8 of w = (-6,1): gamma = 5 / sqrt(37), (2 R / gamma)^2 = 4 * 10 * 37 / 25.
    assert learned.radius == np.sqrt(10)
    assert learned.gamma == pytest.approx(5 / np.sqrt(37))
    assert learned.bound == pytest.approx(59.2)
    assert learned.updates == 5 <= learned.best_bound <= learned.bound


def test_the_widest_margin_of_two_classes_on_a_line_is_half_their_gap():
    # Between -1 and 3: gamma = 2, R = 3, so that the best bound is (2 * 3 / 2)^2.
    learned = run(np.array([[-1.0], [3.0]]), np.array([-1.0, 1.0]), rule="chicago")
    assert learned.best_bound == pytest.approx(9.0, rel=1e-3)


def test_the_mean_of_all_weights_on_the_way():
    # (0,1,1) after two rows, (-3,0,0) after two, (-3,1,1) after one, (-2,2,2) after the last seven of twelve.
    learned = run(average=True)
    np.testing.assert_allclose([*learned.coef, learned.intercept], np.array([-23, 17, 17]) / 12, rtol=1e-14)


def test_rates_only_scale_the_weights():
    np.testing.assert_allclose(run(eta0=0.5).coef, 0.5 * run().coef)


def test_each_row_can_be_divided_by_its_squared_length():
    learned = run(rule="batch", normalize_rows=True, trace="step")
    w = np.array([0, 1]) + np.array([1, 1]) / 2 - np.array([3, 1]) / 10 - np.array([3, 0]) / 9
    np.testing.assert_allclose(steps(learned)[1], [*w, 1 + 1 / 2 - 1 / 10 - 1 / 9])
    assert learned.converged


def test_a_row_of_zeros_corrects_the_constant_alone():
    learned = run(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]), normalize_rows=True)
    assert learned.converged


def test_weights_can_be_kept_at_length_one():
    learned = run(rule="batch", normalize_weights=True, trace="epoch")
    np.testing.assert_allclose(steps(learned)[1], np.array([-5, 1, 0]) / np.sqrt(26))
    assert np.hypot(np.linalg.norm(learned.coef), learned.intercept) == pytest.approx(1.0)
    assert learned.bound is None


def test_a_weight_makes_the_correction_longer_and_zero_takes_the_row_out():
    twice = run(weight=np.array([2.0, 1.0, 1.0, 1.0]), trace="step")
    assert steps(twice)[1] == [0, 2, 2]
    without = run(weight=np.array([1.0, 1.0, 0.0, 1.0]))
    alone = run(X[[0, 1, 3]], Y[[0, 1, 3]])
    assert without.coef.tolist() == alone.coef.tolist()


@pytest.mark.parametrize("rule", ["online", "batch", "chicago"])
def test_xor_goes_round_for_ever_and_this_is_said(rule):
    learned = run(XOR, XOR_SIGN, rule=rule)
    assert learned.cycling
    assert not learned.separable
    assert learned.epochs < 20
    assert learned.verdict.startswith("The weights came back after ")
    assert f"{learned.mistakes} of 4 rows are wrong. No hyperplane has every row right" in learned.verdict


@pytest.mark.parametrize("rule", ["online", "batch", "chicago"])
def test_xor_is_learned_with_the_product_of_its_columns(rule):
    learned = run(np.column_stack([XOR, XOR.prod(axis=1)]), XOR_SIGN, rule=rule)
    assert learned.separated
    assert learned.verdict.startswith("No row was wrong any more after ")


def test_in_changing_order_a_linear_program_tells_what_a_cycle_would():
    learned = run(XOR, XOR_SIGN, shuffle=True, seed=0, max_iter=30)
    assert not learned.cycling
    assert not learned.separable
    assert learned.verdict.startswith("30 epochs of corrections came to no end: ")


def test_too_few_epochs_are_told_from_rows_that_cannot_be_separated():
    learned = run(max_iter=1)
    assert learned.separable
    assert not learned.converged
    assert learned.verdict == (
        "1 epoch was not enough, though a hyperplane has every row right: 2 of 4 rows are wrong. Increase max_iter."
    )


def test_the_pocket_keeps_the_fewest_wrong_rows_that_were_met():
    x, y = overlapping()
    learned = run(x, y, pocket=True, trace="step", max_iter=20)
    plain = run(x, y, trace="step", max_iter=20)
    assert learned.mistakes < plain.mistakes
    # Weights that held for the longest runs are the candidates: not each step, but nearly the best of them.
    assert learned.mistakes <= plain.trace.mistakes.min() + 5


def test_shuffling_depends_on_the_seed_alone():
    x, y = overlapping()
    one, same, other = (run(x, y, shuffle=True, seed=seed, max_iter=3) for seed in (1, 1, 2))
    assert one.coef.tolist() == same.coef.tolist()
    assert one.coef.tolist() != other.coef.tolist()


def test_scoring_rows_ahead_gives_what_one_row_after_another_gives():
    x, y = overlapping(3000, seed=3)
    w, b = np.zeros(3), 0.0
    for _ in range(3):
        for row, sign in zip(x, y, strict=True):
            if sign * (row @ w + b) <= 0:
                w, b = w + sign * row, b + sign
    learned = run(x, y, max_iter=3)
    np.testing.assert_allclose([*learned.coef, learned.intercept], [*w, b], rtol=1e-10, atol=1e-10)


def test_the_last_correction_may_leave_nothing_wrong():
    assert run(max_iter=2).converged


def test_without_an_intercept_it_stays_zero():
    learned = run(X - [1.5, 0.5], Y, fit_intercept=False)
    assert learned.intercept == 0.0
    assert learned.converged


def test_one_class_alone_is_separated_by_the_constant():
    learned = run(X, np.ones(4))
    assert learned.converged
    assert learned.updates == 1


def test_an_unknown_rule_is_answered_with_the_names():
    with pytest.raises(ParameterError, match="The 'rule' parameter is 'rome'; it must be one of 'online', 'batch', 'c"):
        RosenblattPerceptron(rule="rome").fit(X, Y)


def test_a_trace_of_epochs_has_a_point_for_each():
    assert run(trace="epoch").trace.step.tolist() == [0, 1, 2]
    assert run(trace="epoch").trace.coef[-1].tolist() == run().coef.tolist()


def test_rows_too_long_to_be_squared_are_refused():
    with pytest.raises(DataError, match="too long to be squared"):
        run(1e200 * X, Y)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 40),
    p=st.integers(1, 4),
    offset=st.floats(-3, 3),
    rule=st.sampled_from(["chicago", "online"]),
    shuffle=st.booleans(),
)
def test_no_more_updates_than_the_theorem_allows(seed, n, p, offset, rule, shuffle):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(n, p)), rng.normal(size=p)
    score = (x @ w) / np.linalg.norm(w) - offset
    y = np.where(score > 0, 1.0, -1.0)
    assume(len(set(y)) == 2)
    # Apart by at least 0.1, so that the bound is a few thousand at most.
    x = x + np.outer(0.05 * y, w / np.linalg.norm(w))
    learned = run(x, y, rule=rule, shuffle=shuffle, seed=seed % 1000, max_iter=100_000)
    assert learned.converged
    assert learned.separated
    assert learned.updates <= learned.best_bound * (1 + 1e-9)
    assert learned.best_bound <= learned.bound


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), intercept=st.booleans(), flipped=st.booleans())
def test_separability_is_what_a_linear_program_says(seed, intercept, flipped):
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    x = rng.normal(size=(12, 2))
    y = np.where(x[:, 0] + 0.3 * flipped * rng.normal(size=12) > 0, 1.0, -1.0)
    rows = y[:, None] * np.column_stack([x, np.ones(12)])[:, : 2 + intercept]
    program = linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(12), bounds=(None, None))
    assert separable(x, y, intercept=intercept) == (program.status == 0)
