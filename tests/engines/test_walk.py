"""A walk over rows in order: epochs, orders and the end of each problem, for any sequence."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from discrim.block import Block
from discrim.engines.orders import InMemory, Parts, gathered, in_runs
from discrim.engines.walk import Lane, walk
from discrim.families.sequence import Stopping

ROWS = Block(np.arange(40.0)[:, None], np.zeros(40, np.int32), np.array([0]))


class Noted:
    """A sequence that notes which rows each problem was given; problem k has the value ``values[k]`` of each epoch."""

    def __init__(self, *values):
        self.values = values

    def step(self, state, rows, problems):
        x = rows.block.x[:, 0] if rows.order is None else rows.block.x[rows.order, 0]
        for k in problems:
            state.setdefault(k, []).append(x.astype(int).tolist())

    def judge(self, state, watches):
        for k, watch in watches.items():
            if self.values and watch.worn_out(self.values[k][watch.epochs - 1]):
                watch.stopped = True


def test_every_problem_of_a_lane_reads_the_rows_in_turn_so_many_times():
    state = {}
    walked = walk(Noted(), state, [Lane((0, 1), InMemory(ROWS))], Stopping(3))
    assert walked.epochs == (3, 3)
    assert walked.converged
    assert state == {0: [list(range(40))] * 3, 1: [list(range(40))] * 3}


def test_each_problem_ends_when_its_own_value_gains_nothing():
    values = [[3, 2, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1], [9, 8, 7, 6, 5, 4, 3]]
    for lanes in ([Lane((0, 1, 2), InMemory(ROWS))], [Lane((k,), InMemory(ROWS, k)) for k in range(3)]):
        state = {}
        walked = walk(Noted(*values), state, lanes, Stopping(7, tol=0.5, patience=2))
        assert walked.epochs == (6, 3, 7)
        assert [len(state[k]) for k in range(3)] == [6, 3, 7]
        assert not walked.converged


def test_without_a_tolerance_there_are_as_many_epochs_as_asked_for():
    walked = walk(Noted([0] * 9), {}, [Lane((0,), InMemory(ROWS))], Stopping(9, tol=None, patience=2))
    assert walked == type(walked)((9,), converged=True)


def test_a_seed_gives_a_new_order_for_every_epoch_and_the_same_ones_again():
    first, again = {}, {}
    for state in (first, again):
        walk(Noted(), state, [Lane((0,), InMemory(ROWS, 7))], Stopping(3))
    assert first == again
    assert all(sorted(order) == list(range(40)) for order in first[0])
    assert first[0][0] != first[0][1] != first[0][2]


def test_an_order_that_another_thread_makes_is_the_one_that_this_thread_would_make(monkeypatch):
    alone, ahead = {}, {}
    walk(Noted(), alone, [Lane((0,), InMemory(ROWS, 7))], Stopping(4))
    monkeypatch.setattr("discrim.engines.orders.MANY", 1)
    walk(Noted(), ahead, [Lane((0,), InMemory(ROWS, 7))], Stopping(4))
    assert alone == ahead


def test_rows_that_are_not_kept_are_not_visited():
    kept = np.arange(40) % 3 > 0
    for seed in (None, 5):
        state = {}
        walk(Noted(), state, [Lane((0,), InMemory(ROWS, seed, kept=kept))], Stopping(2))
        assert all(sorted(order) == np.flatnonzero(kept).tolist() for order in state[0])


def test_parts_begin_anew_for_every_epoch():
    state = {}
    walk(Noted(), state, [Lane((0,), Parts(lambda: in_runs(ROWS, 15, None)))], Stopping(2))
    assert state[0] == 2 * [list(range(15)), list(range(15, 30)), list(range(30, 40))]


@pytest.mark.parametrize("size", [1, 7, 16, 40, 100])
def test_runs_and_gathered_blocks_hold_every_row_once(size):
    for rng in (None, np.random.RandomState(0)):
        parts = list(in_runs(ROWS, size, rng))
        assert_array_equal(np.sort(np.concatenate([part.x[:, 0] for part in parts])), np.arange(40))
        assert max(map(len, parts)) <= size
        blocks = list(gathered(iter(parts), lambda _: 10))
        assert_array_equal(
            np.concatenate([block.x[:, 0] for block in blocks]), np.concatenate([part.x[:, 0] for part in parts])
        )
        assert min(map(len, blocks)) >= 5


def test_an_interrupt_between_two_steps_comes_out():
    class Pressed(Noted):
        def step(self, state, rows, problems):
            super().step(state, rows, problems)
            if len(state[problems[0]]) == 3:
                raise KeyboardInterrupt

    for lanes in ([Lane((0,), InMemory(ROWS))], [Lane((k,), InMemory(ROWS, k)) for k in range(2)]):
        state = {}
        with pytest.raises(KeyboardInterrupt):
            walk(Pressed(), state, lanes, Stopping(10))
        assert max(map(len, state.values())) == 3
