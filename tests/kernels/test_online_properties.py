"""The online kernels equal their reference on unusual rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import kernels
from discrim.kernels.online import reference
from discrim.kernels.online.reference import LOSSES, MEMORY, PENALTIES, RATES, UPDATES


@st.composite
def tasks(draw):
    """Rows with a scale, holes and weights of zero; every loss, penalty, rate and way to average."""
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 21))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([1e-200, 1e-8, 1.0, 30.0]))
    x = rng.normal(size=(n, p)) * scale * (rng.random((n, p)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    codes = rng.integers(0, 3, n).astype(np.int32)
    weight = draw(st.sampled_from([None, np.zeros(n), rng.integers(0, 3, n) / 2.0]))
    order = draw(st.sampled_from([None, rng.integers(0, n, n).astype(np.int32)]))
    loss = draw(st.sampled_from(LOSSES))
    rate = draw(st.sampled_from([rate for rate in RATES if loss == "hinge" or rate[:2] != "pa"]))
    names = (0, LOSSES.index(loss), RATES.index(rate), PENALTIES.index(draw(st.sampled_from(PENALTIES))))
    # Steps that do not blow rounding up from row to row, whatever the scale.
    step = 0.01 / max(scale, 1.0) ** 2
    alpha = draw(st.sampled_from([1e-4, 0.1]))
    start = 1.0 / (alpha * step)
    average, cap = draw(st.sampled_from([0.0, 1.0, 5.0])), draw(st.sampled_from([0.0, 0.5]))
    numbers = np.array([alpha, 0.3, step, 0.5, 0.1, start, draw(st.sampled_from([0.0, 1.0])), average, cap])
    return x, (order, codes, weight), (names, numbers, draw(st.booleans()))


def state_of(problems, p, step):
    memory = np.zeros((problems, len(MEMORY)))
    memory[:, [reference.T, reference.SCALE, reference.AVERAGE_B, reference.FINITE]] = 1.0
    memory[:, reference.ETA] = step
    positive = np.arange(problems, dtype=np.int32) if problems > 1 else np.ones(1, np.int32)
    shape = (problems, p)
    return np.zeros(shape), np.zeros(shape), np.zeros(shape), memory, positive, np.ones(problems), np.ones(problems)


def assert_same(found, expected, losses):
    for a, b in zip(found[:3], expected[:3], strict=True):
        assert_allclose(a, b, rtol=1e-8, atol=1e-11 * np.abs(b).max(initial=0.0))
    # Losses and norms need not be kept where they are not asked for.
    kept = [i for i, name in enumerate(MEMORY) if losses or name not in {"loss", "square", "absolute"}]
    assert_allclose(found[3][:, kept], expected[3][:, kept], rtol=1e-8, atol=1e-11)


@settings(max_examples=150, deadline=None)
@given(tasks(), st.sampled_from([1, 3]), st.sampled_from([np.float64, np.float32]))
def test_every_gradient_rule_is_as_the_reference_says(task, problems, dtype):
    x, visits, asked = task
    x = x.astype(dtype)
    step = asked[1][2]
    expected = state_of(problems, x.shape[1], step)
    reference.learn_dense(x, visits, asked, expected)
    for layout in (x, np.asfortranarray(x)):
        found = state_of(problems, x.shape[1], step)
        kernels.learn_dense(layout, visits, asked, found)
        assert_same(found, expected, asked[2])
    thin = sparse.csr_array(x)
    for index in (np.int32, np.int64):
        compressed = (thin.data, thin.indices.astype(index), thin.indptr.astype(index))
        found, expected = state_of(problems, x.shape[1], step), state_of(problems, x.shape[1], step)
        kernels.learn_sparse(compressed, visits, asked, found)
        reference.learn_sparse(compressed, visits, asked, expected)
        assert_same(found, expected, asked[2])


@settings(max_examples=100, deadline=None)
@given(tasks(), st.sampled_from([(1, "gradient"), (1, "confidence"), *((3, update) for update in UPDATES)]))
def test_rows_as_dicts_are_rows_of_entries(task, kind):
    problems, update = kind
    x, (order, codes, weight), (names, numbers, losses) = task
    asked = ((UPDATES.index(update), *names[1:]), numbers, losses)
    columns = {f"f{j}": j for j in range(x.shape[1])}
    found, expected = (state_of(problems, x.shape[1], numbers[2]) for _ in range(2))
    stream, slow = kernels.Stream(asked, found), reference.Stream(asked, expected)
    for v, i in enumerate(range(len(x)) if order is None else order.tolist()):
        row = {f"f{j}": value for j, value in enumerate(x[i].tolist()) if value}
        c = 1.0 if weight is None else float(weight[v])
        assert stream.learn(row, columns, int(codes[v]), c) == slow.learn(row, columns, int(codes[v]), c) == 0
        for averaged in (False, True):
            ours, theirs = (each.scores({**row, "new": 1}, columns, averaged) for each in (stream, slow))
            assert_allclose(ours, theirs, rtol=1e-8, atol=1e-11)
    assert_same(found, expected, losses)


@settings(max_examples=100, deadline=None)
@given(tasks(), st.sampled_from([(1, "gradient"), (1, "confidence"), *((3, update) for update in UPDATES)]))
def test_a_row_can_be_taken_back(task, kind):
    problems, update = kind
    x, (_, codes, _), (names, numbers, losses) = task
    asked = ((UPDATES.index(update), *names[1:]), numbers, losses)
    columns = {f"f{j}": j for j in range(x.shape[1])}
    for backend in (kernels, reference):
        state = state_of(problems, x.shape[1], numbers[2])
        # A scale so small that it is about to be multiplied into the weights.
        state[3][:, reference.SCALE] = reference.SMALLEST_SCALE
        stream = backend.Stream(asked, state)
        for i in range(len(x)):
            before = [part.copy() for part in state]
            row = {f"f{j}": value for j, value in enumerate(x[i].tolist()) if value}
            assert stream.learn(row, columns, int(codes[i]), 1.0) == 0
            assert stream.learned == i + 1
            stream.undo()
            for part, old in zip(state, before, strict=True):
                assert_array_equal(part, old)
            assert stream.learn(row, columns, int(codes[i]), 1.0) == 0


def test_a_row_that_would_make_a_weight_infinite_is_not_learned():
    for backend in (kernels, reference):
        state = state_of(1, 2, 0.1)
        before = [part.copy() for part in state]
        stream = backend.Stream(((0, 1, 0, 0), np.array([0, 0, 10.0, 0, 0, 1, 1, 0, 0]), False), state)
        state[3][:, reference.ETA] = before[3][:, reference.ETA] = 1e10
        assert stream.learn({"a": 1e300, "b": 1.0}, {"a": 0, "b": 1}, 1, 1.0) == 2
        assert stream.learned == 0
        for part, old in zip(state, before, strict=True):
            assert_array_equal(part, old)


def test_a_stream_says_what_it_could_not_read():
    for backend in (kernels, reference):
        state = state_of(1, 2, 0.1)
        stream = backend.Stream(((0, 1, 0, 0), np.zeros(9), False), state)
        columns = {"a": 0, "b": 1}
        for row in ({"c": 1.0}, {"a": "1"}, {"a": None}, {"a": np.nan}, {"a": 1e308, "b": 1e308}):
            assert stream.learn(row, columns, 1, 1.0) == 1
        assert state[3][0, reference.T] == 1
        assert stream.scores({"a": "1"}, columns, False) is None
        assert stream.learn({"a": True, "b": np.float32(2)}, columns, 1, 1.0) == 0
