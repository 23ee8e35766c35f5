"""The online kernels equal their NumPy reference, row by row, for every loss, rate, penalty and layout."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import kernels
from discrim.kernels.online import reference
from discrim.kernels.online.reference import LOSSES, MEMORY, PENALTIES, RATES, UPDATES

ALPHA = 0.01
NATIVE = pytest.mark.skipif(kernels.BACKEND != "native", reason="the compiled kernels are not built")


def settings(
    update="gradient", loss="hinge", rate="constant", penalty=None, average=0.0, losses=True, intercept=1.0, cap=0.0
):
    names = (UPDATES.index(update), LOSSES.index(loss), RATES.index(rate), PENALTIES.index(penalty))
    return names, np.array([ALPHA, 0.3, 0.05, 0.4, 0.1, 3000.0, intercept, average, cap]), losses


def state(problems, p, second=None):
    memory = np.zeros((problems, len(MEMORY)))
    memory[:, [reference.T, reference.SCALE, reference.AVERAGE_B, reference.FINITE]] = 1.0
    memory[:, reference.ETA] = 0.05
    second = np.zeros((problems, p)) if second is None else np.full((problems, p), second)
    positive = np.arange(problems, dtype=np.int32) if problems > 1 else np.array([1], np.int32)
    gains = 1.0 + np.arange(problems) / 4, 1.0 - np.arange(problems) / 8
    return np.zeros((problems, p)), np.zeros((problems, p)), second, memory, positive, *gains


def rows(n=36, p=7, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    codes = rng.integers(0, classes, n).astype(np.int32)
    x[:, 0] += codes
    return x, (rng.permutation(n).astype(np.int32), codes, rng.uniform(0, 2, n))


def as_sparse(x, index=np.int32):
    m = sparse.csr_array(x)
    return m.data, m.indices.astype(index), m.indptr.astype(index)


def assert_same(found, expected):
    for a, b in zip(found[:4], expected[:4], strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(
    ("loss", "rate"), [(loss, rate) for loss in LOSSES for rate in RATES if loss == "hinge" or rate[:2] != "pa"]
)
def test_every_loss_rate_and_penalty_is_as_the_reference_says(loss, rate, penalty):
    x, given = rows()
    asked = settings(loss=loss, rate=rate, penalty=penalty, average=10.0)
    for problems in (1, 3):
        found, expected = state(problems, 7), state(problems, 7)
        for _ in range(2):
            kernels.learn_dense(x, given, asked, found)
            reference.learn_dense(x, given, asked, expected)
        assert_same(found, expected)
        thin, entries = state(problems, 7), np.where(np.abs(x) < 0.5, 0.0, x)
        thin_expected = state(problems, 7)
        kernels.learn_sparse(as_sparse(entries), given, asked, thin)
        reference.learn_sparse(as_sparse(entries), given, asked, thin_expected)
        assert_same(thin, thin_expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 3, 4, 8, 15, 16, 37])
@pytest.mark.parametrize("update", UPDATES)
def test_widths_memory_layouts_and_precisions_give_the_same_weights(update, p, dtype):
    x, given = rows(40, p, classes=3)
    x = x.astype(dtype)
    asked = settings(update, losses=False)
    expected = state(3, p, second=1.0)
    reference.learn_dense(x, given, asked, expected)
    big = np.zeros((80, 2 * p + 1), dtype)
    big[::2, 1::2] = x
    for layout in (x, np.asfortranarray(x), big[::2, 1::2]):
        found = state(3, p, second=1.0)
        kernels.learn_dense(layout, given, asked, found)
        assert_same(found, expected)
    for index in (np.int32, np.int64):
        found = state(3, p, second=1.0)
        kernels.learn_sparse(as_sparse(x, index), given, asked, found)
        assert_same(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 7, 8, 9, 17, 31, 64, 65])
@pytest.mark.parametrize(
    ("loss", "rate", "penalty"),
    [
        ("hinge", "optimal", "l2"),
        ("log_loss", "optimal", "l2"),
        ("perceptron", "constant", None),
        ("hinge", "pa1", None),
    ],
)
def test_what_lies_beside_the_rows_does_not_count(loss, rate, penalty, p, dtype):
    """Rows are read in whole vectors, which may reach into other columns and to the end of the memory."""
    x, (order, codes, weight) = rows(30, p)
    x = x.astype(dtype)
    wide = np.full((30, p + 3), np.nan, dtype)
    wide[:, 1:-2] = x
    last = np.full((30, p + 1), np.inf, dtype)
    last[:, 1:] = x
    asked = settings(loss=loss, rate=rate, penalty=penalty)
    expected = state(1, p)
    reference.learn_dense(x, (order, codes, weight), asked, expected)
    assert np.isfinite(expected[0]).all()
    for beside in (x, wide[:, 1:-2], last[:, 1:], np.ascontiguousarray(x[::-1])[::-1], wide[::-1, 1:-2][::-1]):
        found = state(1, p)
        kernels.learn_dense(beside, (order, codes, weight), asked, found)
        assert_same(found, expected)


def test_a_capped_rate_is_smaller_for_long_rows():
    x, given = rows()
    for cap in (0.01, 0.3, 100.0):
        found, expected = state(3, 7), state(3, 7)
        kernels.learn_dense(x, given, settings(penalty="l2", cap=cap), found)
        reference.learn_dense(x, given, settings(penalty="l2", cap=cap), expected)
        assert_same(found, expected)
    one = state(1, 7)
    kernels.learn_dense(10 * x[:1], (None, np.ones(1, np.int32), None), settings(cap=0.3), one)
    assert_allclose(one[0][0], 0.3 / (1 + 100 * x[0] @ x[0]) * 10 * x[0])


def test_rows_without_an_order_or_weights_are_taken_in_turn():
    x, (_, codes, _) = rows()
    asked = settings(average=1.0)
    found, expected = state(1, 7), state(1, 7)
    kernels.learn_dense(x, (None, codes, None), asked, found)
    order, weight = np.arange(len(x), dtype=np.int32), np.ones(len(x))
    kernels.learn_dense(x, (order, codes, weight), asked, expected)
    for a, b in zip(found[:4], expected[:4], strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernels", "reference"])
@pytest.mark.parametrize("penalty", [None, "l2"])
def test_the_lazy_average_is_the_mean_of_all_weights_on_the_way(backend, penalty):
    x, (order, codes, _) = rows()
    asked = settings(loss="log_loss", penalty=penalty, average=1.0)
    lazy = state(1, 7)
    backend.learn_dense(x, (order, codes, None), asked, lazy)
    step, way = state(1, 7), []
    for v, i in enumerate(order):
        one = (None, codes[v : v + 1], None)
        backend.learn_dense(x[i : i + 1], one, settings(loss="log_loss", penalty=penalty), step)
        way.append(step[0][0] * step[3][0, reference.SCALE])
    reference.settle(lazy[0][0], lazy[1][0], lazy[3][0])
    assert_allclose(lazy[1][0], np.mean(way, axis=0), rtol=1e-10)
    assert_allclose(lazy[0][0], way[-1], rtol=1e-10)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernels", "reference"])
def test_a_scale_that_vanishes_is_multiplied_into_the_weights(backend):
    """alpha eta = 0.5 halves the weights at each row: after 36 rows the scale alone would be 1e-11."""
    x, (_, codes, _) = rows()
    names, numbers, losses = settings(loss="squared_error", penalty="l2", average=1.0)
    numbers[0] = 10.0
    plain, w, b = state(1, 7), np.zeros(7), 0.0
    backend.learn_dense(x, (None, codes, None), (names, numbers, losses), plain)
    for row, code in zip(x, codes, strict=True):
        y = 1.0 if code == 1 else -1.0
        gain = plain[5][0] if y > 0 else plain[6][0]
        step = -0.05 * (row @ w + b - y) * gain
        w, b = 0.5 * w + step * row, b + step
    reference.settle(plain[0][0], plain[1][0], plain[3][0])
    assert_allclose(plain[0][0], w, rtol=1e-9)
    assert_allclose(plain[3][0, reference.INTERCEPT], b, rtol=1e-9)


def test_arow_is_the_gaussian_update_with_the_diagonal_kept():
    x, (_, codes, _) = rows(30, 4)
    found = state(1, 4, second=1.0)
    found[3][:, reference.ETA] = 1.0
    names, numbers, losses = settings("confidence", losses=False)
    numbers[2] = 0.7
    kernels.learn_dense(x, (None, codes, None), (names, numbers, losses), found)
    mu, sigma = np.zeros(5), np.eye(5)
    for row, code in zip(x, codes, strict=True):
        z, y = np.append(row, 1.0), 1.0 if code == 1 else -1.0
        margin = y * (mu @ z)
        if margin < 1:
            beta = 1 / (z @ sigma @ z + 0.7 / (found[5][0] if y > 0 else found[6][0]))
            mu = mu + beta * (1 - margin) * y * (sigma @ z)
            sigma = np.diag(np.diag(sigma - beta * np.outer(sigma @ z, sigma @ z)))
    assert_allclose(np.append(found[0][0], found[3][0, reference.INTERCEPT]), mu, rtol=1e-10)
    assert_allclose(np.append(found[2][0], found[3][0, reference.ETA]), np.diag(sigma), rtol=1e-10)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernels", "reference"])
@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_the_derivatives_of_the_losses(backend, loss):
    h = 1e-6
    for y in (-1.0, 1.0):
        for eta in (-3.3, -0.4, 0.31, 2.7):
            slope, _ = reference.slope_and_loss(loss, y, eta, 0.1)
            up, down = (reference.slope_and_loss(loss, y, eta + d, 0.1)[1] for d in (h, -h))
            assert_allclose(slope, (up - down) / (2 * h), atol=1e-6)
            # One row of the feature 1 moves the weight by -rate slope, and its loss is kept.
            one = state(1, 1)
            one[0][0, 0] = eta
            code = np.array([1 if y > 0 else 0], np.int32)
            names, numbers, _ = settings(loss=loss, intercept=0.0)
            backend.learn_dense(np.ones((1, 1)), (None, code, None), (names, numbers, True), one)
            gain = one[5][0] if y > 0 else one[6][0]
            assert_allclose(one[0][0, 0], eta - 0.05 * slope * gain, rtol=1e-12)
            assert_allclose(one[3][0, reference.LOSS], reference.slope_and_loss(loss, y, eta, 0.1)[1], rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**31 - 2])
def test_the_order_of_the_rows_is_shuffled_as_the_reference_does(seed):
    for n in (0, 1, 2, 63, 64, 65, 1000):
        found, expected = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
        for _ in range(2):
            kernels.shuffle(found, seed)
            reference.shuffle(expected, seed)
        assert_array_equal(found, expected)
        assert_array_equal(np.sort(found), np.arange(n))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("loss", "rate", "penalty"), [("hinge", "optimal", "l2"), ("perceptron", "constant", None), ("hinge", "pa1", None)]
)
def test_compressed_rows_of_any_length_end_where_they_end(loss, rate, penalty, dtype, index):
    """What lies beside the rows in the same arrays is neither read as a number nor as a column."""
    rng = np.random.default_rng(0)
    lengths = rng.permutation(np.arange(36) % 27)
    first = np.append(0, np.cumsum(lengths))
    value, column = rng.normal(size=first[-1]).astype(dtype), rng.permuted(np.tile(np.arange(40), (36, 1)), axis=1)
    column = np.concatenate([row[:length] for row, length in zip(column, lengths, strict=True)])
    codes, order = rng.integers(0, 2, 36).astype(np.int32), rng.permutation(36).astype(np.int32)
    asked, ends = settings(loss=loss, rate=rate, penalty=penalty), []
    inner = (value, column.astype(index), first.astype(index))
    beside = np.full(9, np.nan, dtype)
    within = (
        np.concatenate([beside, value, beside]),
        np.concatenate([np.full(9, -1), column, np.full(9, 40)]).astype(index),
        (first + 9).astype(index),
    )
    expected = state(1, 40), state(1, 40)
    reference.learn_sparse(inner, (order, codes[order], None), asked, expected[0])
    reference.learn_epochs(inner, ((order.copy(), 5), codes, None), asked, expected[1], (3, np.nan, 5, np.inf, 0))
    for data in (inner, within):
        found = state(1, 40), state(1, 40)
        kernels.learn_sparse(data, (order, codes[order], None), asked, found[0])
        end = kernels.learn_epochs(data, ((order.copy(), 5), codes, None), asked, found[1], (3, np.nan, 5, np.inf, 0))
        ends.append(end)
        assert_same(found[0], expected[0])
        assert_same(found[1], expected[1])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("tol", [np.nan, 1e-3, 0.5])
@pytest.mark.parametrize(
    ("loss", "rate", "penalty"),
    [
        ("hinge", "optimal", "l2"),
        ("log_loss", "optimal", "l2"),
        ("perceptron", "constant", None),
        ("hinge", "pa1", None),
    ],
)
def test_epochs_are_shuffled_and_end_as_the_reference_says(loss, rate, penalty, tol, seed, weighted):
    x, (_, codes, weight) = rows(64)
    asked = settings(loss=loss, rate=rate, penalty=penalty)
    thin = np.where(np.abs(x) < 0.5, 0.0, x)
    for data in (x, x.astype(np.float32), as_sparse(thin), as_sparse(thin, np.int64)):
        ends, states, orders = [], [], []
        for backend in (kernels, reference):
            states.append(state(1, 7))
            orders.append(np.arange(64, dtype=np.int32))
            order = None if seed is None else (orders[-1], seed)
            given = order, codes, weight if weighted else None
            # Interrupted after every third epoch, as long ones are.
            end = 3, np.inf, 0
            for _ in range(4):
                end = backend.learn_epochs(data, given, asked, states[-1], (3, tol, 4, *end[1:]))
                ends.append(end)
                if end[2] >= 4:
                    break
        half = len(ends) // 2
        assert_allclose(ends[:half], ends[half:], rtol=1e-9)
        assert_same(*states)
        assert_array_equal(*orders)
        assert len(ends) < 8 if tol == 0.5 else len(ends) == 8 or not np.isnan(tol)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernels", "reference"])
def test_epochs_are_those_that_the_rows_are_given_one_by_one(backend):
    x, (_, codes, weight) = rows(64)
    asked, order = settings(penalty="l2", rate="optimal"), np.arange(64, dtype=np.int32)
    found, expected = state(1, 7), state(1, 7)
    epochs, least, since = backend.learn_epochs(
        x, ((order.copy(), 3), codes, weight), asked, found, (5, 0.0, 9, np.inf, 0)
    )
    values = []
    for _ in range(5):
        backend.shuffle(order, 3)
        backend.learn_dense(x, (order, codes[order], weight[order]), asked, expected)
        values.append(expected[3][0, reference.LOSS] / 64)
        expected[3][0, reference.LOSS] = 0.0
    for a, b in zip(found[:4], expected[:4], strict=True):
        assert_array_equal(a, b)
    assert (epochs, least) == (5, min(values))
    assert since == len(values) - 1 - values.index(min(values))


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernels", "reference"])
def test_epochs_end_where_something_is_not_finite(backend):
    x, (_, codes, _) = rows()
    x[5, 2] = np.nan
    end = backend.learn_epochs(x, (None, codes, None), settings(), state(1, 7), (9, np.nan, 5, np.inf, 0))
    assert end[0] == 1


@pytest.mark.parametrize("backend", [kernels, reference], ids=["kernels", "reference"])
def test_epochs_of_rows_that_do_not_fit_together_are_refused(backend):
    x, (_, codes, weight) = rows()
    order = np.arange(36, dtype=np.int32)
    until = (2, 0.0, 5, np.inf, 0)
    data, indices, pointers = as_sparse(x)
    outside = np.where(indices == 1, 7, indices).astype(np.int32)
    for rows_, given, problems, words in [
        (x, ((order, 1), codes, weight), 3, "one problem"),
        (x, ((order[1:].copy(), 1), codes, weight), 1, "differ in length"),
        (x, ((order + np.int32(1), 1), codes, weight), 1, "not there"),
        (x, (None, codes[1:].copy(), weight), 1, "differ in length"),
        (x, (None, codes, weight[1:].copy()), 1, "differ in length"),
        ((data, outside, pointers), (None, codes, weight), 1, "outside the matrix"),
    ]:
        with pytest.raises(ValueError, match=words):
            backend.learn_epochs(rows_, given, settings(), state(problems, 7), until)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_row_that_is_not_finite_is_noted_whatever_the_loss(loss, value):
    x, given = rows()
    x[31, 4] = value
    for asked in (settings(loss=loss), settings("best_class"), settings("confidence")):
        for learn, data in ((kernels.learn_dense, x), (kernels.learn_sparse, as_sparse(x))):
            found = state(3, 7, second=1.0)
            learn(data, given, asked, found)
            assert not found[3][:, reference.FINITE].any()


@NATIVE
def test_wrong_arguments_are_refused_not_read():
    x, (order, codes, weight) = rows()

    def call(x=x, order=order, codes=codes, weight=weight, asked=None, changed=()):
        given = list(state(1, 7))
        for place, value in changed:
            given[place] = value
        kernels.learn_dense(x, (order, codes, weight), asked or settings(penalty="l1", average=1.0), tuple(given))

    call()
    names, numbers, losses = settings()
    for wrong, words in [
        ({"codes": codes[:-1].copy()}, "codes and visits"),
        ({"weight": weight[:-1].copy()}, "weights and visits"),
        ({"order": order[:-1].copy()}, "codes and visits"),
        ({"order": np.append(order[:-1], np.int32(36))}, "not there"),
        ({"order": np.append(order[:-1], np.int32(-1))}, "not there"),
        ({"asked": ((0, 9, 0, 0), numbers, losses)}, "no such update"),
        ({"asked": (names, numbers[:3].copy(), losses)}, "nine numbers"),
        ({"changed": [(0, np.zeros((1, 6)))]}, "weights and columns"),
        ({"changed": [(1, None)]}, "room for the averages"),
        ({"changed": [(2, None)]}, "room for the second"),
        ({"changed": [(2, np.zeros((1, 6)))]}, "differ in shape"),
        ({"changed": [(3, np.zeros((1, 3)))]}, "memory"),
        ({"changed": [(5, np.ones(2))]}, "classes, gains"),
    ]:
        with pytest.raises(ValueError, match=words):
            call(**wrong)
    data, indices, pointers = as_sparse(x)
    for rows_, words in [
        ((data, np.where(indices == 1, 7, indices).astype(np.int32), pointers), "outside the matrix"),
        ((data, indices, pointers[::-1].copy()), "must not fall"),
        ((data, indices, (pointers + 1).astype(np.int32)), "leave the values"),
        ((data[:-1].copy(), indices, pointers), "differ in length"),
        ((data, indices, pointers[:0].copy()), "no row pointer"),
    ]:
        with pytest.raises(ValueError, match=words):
            kernels.learn_sparse(rows_, (None, codes, None), settings(), state(1, 7))
