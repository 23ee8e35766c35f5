"""One pass in blocks: the memory says what the rows before said, and classes join it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

from discrim.block import Block
from discrim.families.online import one_pass_logistic as module
from discrim.families.online.one_pass_logistic import Memory, learn_block
from discrim.families.online.scaling import Scaling

ALPHA = 1e-3
AS_IS = Scaling(np.zeros(3), np.ones(3))


def block_of(x, codes, weight=None):
    return Block(x, codes, np.arange(4), weight)


def rows_of(n, classes, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) + shift
    scores = x @ rng.normal(size=(3, classes)) + rng.gumbel(size=(n, classes))
    return block_of(x, scores.argmax(axis=1).astype(np.int32))


def loss(theta, rows, functions):
    """By the definition, with the intercept first."""
    score = np.column_stack([np.ones(len(rows)), rows.x]) @ theta.reshape(functions, -1).T
    if functions == 1:
        score = np.column_stack([np.zeros(len(rows)), score])
    each = logsumexp(score, axis=1) - score[np.arange(len(rows)), rows.codes]
    return each.sum() if rows.weight is None else rows.weight @ each


def penalty(theta, functions, count):
    theta = theta.reshape(functions, -1)
    return 0.5 * ALPHA * count * (theta[:, 1:] ** 2).sum() + 0.5 * module.FIRST_ROW * (theta[:, 0] ** 2).sum()


@pytest.mark.parametrize("functions", [1, 4])
def test_one_block_ends_at_the_batch_optimum(functions):
    rows = rows_of(300, max(functions, 2))
    found = learn_block(Memory.empty(functions, 3, intercept=True), rows, AS_IS, ALPHA)
    best = minimize(
        lambda t: loss(t, rows, functions) + penalty(t, functions, 300), np.zeros(4 * functions), options={"gtol": 1e-8}
    )
    here = loss(found.theta, rows, functions) + penalty(found.theta, functions, 300)
    assert here <= best.fun + module.ENOUGH


@pytest.mark.parametrize("functions", [1, 3])
def test_the_memory_has_the_slope_and_the_curvature_of_the_rows_that_are_gone(functions):
    first, second = rows_of(200, max(functions, 2)), rows_of(100, max(functions, 2), seed=1)
    one = learn_block(Memory.empty(functions, 3, intercept=True), first, AS_IS, ALPHA)
    two = learn_block(one, second, AS_IS, ALPHA)
    z, h = np.column_stack([np.ones(100), second.x]), 1e-5
    step = two.theta.ravel()
    slope = [(loss(step + h * e, second, functions) - loss(step - h * e, second, functions)) / (2 * h)
             for e in np.eye(step.size)]  # fmt: skip
    gone = (two.bend(two.theta) - two.pull) - (one.bend(two.theta) - one.pull)
    assert_allclose(gone.ravel(), slope, atol=1e-5)
    score = z @ two.theta.T
    mu = 1 / (1 + np.exp(-score)) if functions == 1 else np.exp(score - logsumexp(score, axis=1)[:, None])
    expected = [z.T @ ((m * (1 - m))[:, None] * z) for m in mu.T]
    assert_allclose(two.curvature - one.curvature, expected, rtol=1e-8, atol=1e-10)
    assert two.weight == 300


def test_many_small_blocks_come_as_close_as_the_rows_can_tell():
    """A unit of the log-likelihood is about what chance moves the optimum by; there are twelve coefficients."""
    rows = rows_of(2000, 3)
    memory = Memory.empty(3, 3, intercept=True)
    for start in range(0, 2000, 50):
        memory = learn_block(memory, rows.rows(start, start + 50), AS_IS, ALPHA)
    whole = learn_block(Memory.empty(3, 3, intercept=True), rows, AS_IS, ALPHA)
    value = [loss(m.theta, rows, 3) + penalty(m.theta, 3, 2000) for m in (memory, whole)]
    assert value[0] - value[1] < 3.0
    assert memory.curvature.shape == whole.curvature.shape


def test_whole_weights_count_rows_several_times():
    rows = rows_of(150, 3)
    times = np.random.default_rng(1).integers(0, 4, size=150)
    repeated = block_of(np.repeat(rows.x, times, axis=0), np.repeat(rows.codes, times))
    weighted = block_of(rows.x, rows.codes, times.astype(float))
    empty = Memory.empty(3, 3, intercept=True)
    one, other = learn_block(empty, weighted, AS_IS, 0.0), learn_block(empty, repeated, AS_IS, 0.0)
    assert_allclose(one.theta, other.theta, rtol=1e-8)
    assert_allclose(one.curvature, other.curvature, rtol=1e-8)


def test_a_third_class_keeps_the_odds_of_the_first_two_and_begins_as_rare_as_the_past_made_it():
    memory = learn_block(Memory.empty(1, 3, intercept=True), rows_of(99, 2), AS_IS, ALPHA)
    grown = memory.grown(3, np.array([0, 2]))
    assert_allclose(grown.theta[2] - grown.theta[0], memory.theta[0])
    share = np.exp(grown.theta[:, 0] - logsumexp(grown.theta[:, 0]))
    assert_allclose(share[1] / (share[0] + share[2]), 1 / 100)
    again = learn_block(grown, rows_of(1, 2), AS_IS, ALPHA)
    assert_allclose(again.theta[2] - again.theta[0], memory.theta[0], atol=0.2)


def test_a_second_class_that_sorts_first_turns_the_function():
    memory = learn_block(Memory.empty(1, 3, intercept=True), rows_of(50, 1), AS_IS, ALPHA)
    assert np.isfinite(memory.theta).all()
    assert memory.intercepts[0] < -2
    turned = memory.grown(1, np.array([1]))
    assert_allclose(turned.theta, -memory.theta)
    assert_allclose(turned.bend(turned.theta) - turned.pull, -(memory.bend(memory.theta) - memory.pull))


@pytest.mark.parametrize("functions", [1, 3])
def test_many_columns_are_remembered_by_the_diagonal_alike_for_sparse_rows(functions, monkeypatch):
    monkeypatch.setattr(module, "FULL_SIZE", 2)
    rows = rows_of(400, max(functions, 2))
    few = block_of(np.where(np.abs(rows.x) > 0.7, rows.x, 0.0), rows.codes, np.linspace(0.5, 1.5, 400))
    scaling = Scaling(np.zeros(3), np.array([1.0, 2.0, 0.5]))
    found = []
    for x in (few.x, sparse.csr_array(few.x)):
        memory = Memory.empty(functions, 3, intercept=True)
        for start in (0, 200):
            part = block_of(x[start : start + 200], few.codes[start : start + 200], few.weight[start : start + 200])
            memory = learn_block(memory, part, scaling, ALPHA)
        found.append(memory)
    assert found[0].curvature.shape == (functions, 4)
    assert_allclose(found[0].theta, found[1].theta, rtol=1e-6)
    assert_allclose(found[0].curvature, found[1].curvature, rtol=1e-6)
    monkeypatch.setattr(module, "FULL_SIZE", 500)
    full = Memory.empty(functions, 3, intercept=True)
    once = learn_block(full, block_of(few.x, few.codes, few.weight), scaling, ALPHA)
    monkeypatch.setattr(module, "FULL_SIZE", 2)
    diagonal = Memory.empty(functions, 3, intercept=True)
    same = learn_block(diagonal, block_of(few.x, few.codes, few.weight), scaling, ALPHA)
    assert_allclose(np.einsum("kjj->kj", once.curvature), same.curvature, rtol=0.02)
