"""Rows shuffled by blocks: neighbours stay together, rows from far apart alternate, and no row is left out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier as Peer

from discrim import AROWClassifier, PassiveAggressiveClassifier, Perceptron, SGDClassifier
from discrim.engines import orders as module
from discrim.engines.orders import BLOCK, STREAMS, weave
from discrim.errors import ParameterError
from discrim.families.online.updates import Updates

MODELS = [
    SGDClassifier(shuffle="blocks", random_state=3, max_iter=3, tol=None),
    SGDClassifier(shuffle="blocks", random_state=3, max_iter=3, tol=None, learning_rate="auto", average=True),
    Perceptron(shuffle="blocks", random_state=3, max_iter=3, tol=None),
    PassiveAggressiveClassifier(shuffle="blocks", random_state=3, max_iter=3, tol=None),
    AROWClassifier(shuffle="blocks", random_state=3, max_iter=3, tol=None),
]


def data(n=1500, classes=2):
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, 4)) + y[:, None] * np.arange(4), y


@pytest.fixture
def few(monkeypatch):
    """Blocks also of few rows."""
    monkeypatch.setattr(module, "MANY", 0)


@pytest.fixture
def orders(monkeypatch):
    """The orders in which rows are learned, one for each epoch and problem."""
    seen, step = [], Updates.step

    def noted(self, state, rows, problems):
        seen.append(np.array(rows.order))
        step(self, state, rows, problems)

    monkeypatch.setattr(Updates, "step", noted)
    return seen


def test_a_round_takes_a_row_of_each_block_in_turn():
    blocks = np.arange(2 * STREAMS, dtype=np.int32)[::-1]
    order = weave(blocks, 2 * STREAMS * BLOCK)
    first = order[: STREAMS * BLOCK].reshape(BLOCK, STREAMS)
    assert_array_equal(first // BLOCK, np.tile(blocks[:STREAMS], (BLOCK, 1)))
    assert_array_equal(first % BLOCK, np.tile(np.arange(BLOCK)[:, None], (1, STREAMS)))


@pytest.mark.parametrize("n", [1500, 2048, 2049])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_row_is_read_once_an_epoch_in_another_order_each_time(model, n, orders, few):
    clone(model).fit(*data(n))
    assert len(orders) == 3
    for order in orders:
        assert_array_equal(np.sort(order), np.arange(n))
        for block in range(n // BLOCK):
            assert (np.diff(order[order // BLOCK == block]) == 1).all()
    assert not np.array_equal(orders[0], orders[1])


def test_every_class_has_an_order_of_its_own(orders, few):
    SGDClassifier(shuffle="blocks", random_state=0, max_iter=1, tol=None).fit(*data(classes=3))
    assert len(orders) == 3
    assert not np.array_equal(orders[0], orders[1])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_seed_decides(model, few):
    X, y = data()
    first, again, other = (clone(model).set_params(random_state=seed).fit(X, y).coef_ for seed in (3, 3, 4))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, clone(model).set_params(shuffle="rows").fit(X, y).coef_)


def test_rows_held_out_are_not_learned_from(orders, few):
    SGDClassifier(shuffle="blocks", random_state=0, max_iter=2, tol=None, early_stopping=True).fit(*data())
    assert all(len(order) == len(np.unique(order)) == 1350 for order in orders)


def test_sorted_rows_are_mixed():
    X, y = data(40_000)
    order = np.argsort(y, kind="stable")
    settings = {"loss": "log_loss", "max_iter": 1, "tol": None, "random_state": 0, "alpha": 1e-3}
    mixed = SGDClassifier(shuffle="blocks", **settings).fit(X[order], y[order])
    in_turn = SGDClassifier(shuffle=False, **settings).fit(X[order], y[order])
    rows = SGDClassifier(shuffle="rows", **settings).fit(X[order], y[order])
    assert mixed.score(X, y) > rows.score(X, y) - 0.002
    assert in_turn.score(X, y) < rows.score(X, y) - 0.002


def test_the_order_is_that_of_scikit_learn_while_rows_fit_in_cache(monkeypatch):
    X, y = data(12_000)
    settings = {"max_iter": 2, "tol": None, "random_state": 0}
    peer = Peer(**settings).fit(X, y)
    assert SGDClassifier(**settings).fit(X, y).coef_ == pytest.approx(peer.coef_, rel=1e-10)
    monkeypatch.setattr(module, "LARGE", X.nbytes - 1)
    assert SGDClassifier(**settings).fit(X, y).coef_ != pytest.approx(peer.coef_, rel=1e-6)
    assert SGDClassifier(shuffle="rows", **settings).fit(X, y).coef_ == pytest.approx(peer.coef_, rel=1e-10)


@pytest.mark.parametrize("wrong", ["block", 1, None, "True"])
def test_other_words_are_refused(wrong):
    with pytest.raises(ParameterError, match=r"shuffle.*one of 'rows', 'blocks'"):
        SGDClassifier(shuffle=wrong).fit(*data())
