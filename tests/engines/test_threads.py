"""Reduction over threads: the answer of one block, the bits of one thread, the first error."""

from __future__ import annotations

import os
import threading
import tracemalloc
from functools import partial

import numpy as np
import pytest

import discrim
from discrim import parallel
from discrim.block import Block
from discrim.engines import RowPasses, reduce_blocks
from discrim.parallel import run, split
from discrim.sources import open_rows
from discrim.statistics import ClassFactors, ClassMoments, Depth

KINDS = [
    (ClassMoments, Depth.DIAGONAL, ClassMoments.merged),
    (ClassMoments, Depth.POOLED, ClassMoments.merged),
    (ClassMoments, Depth.FULL, ClassMoments.merged),
    (ClassFactors, Depth.POOLED, ClassFactors.merged),
    (ClassFactors, Depth.FULL, ClassFactors.merged),
]
STATISTICS = pytest.mark.parametrize(("type_", "depth", "merge"), KINDS)


class Stream:
    """Rows that come in blocks only."""

    whole = None
    n_rows = None

    def __init__(self, block, step):
        self.block, self.step = block, step

    def blocks(self):
        for start in range(0, len(self.block), self.step):
            yield self.block.rows(start, min(start + self.step, len(self.block)))


@pytest.fixture(scope="module")
def table():
    """Large enough that it is cut into tasks."""
    rng = np.random.default_rng(0)
    x = 5.0 + rng.normal(size=(40_001, 7)) * np.arange(1, 8)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, len(x))]
    return x, y, rng.uniform(0.5, 2.0, len(x))


@pytest.fixture
def thread_count(monkeypatch):
    def use(number):
        monkeypatch.setattr(parallel, "thread_count", lambda: number)

    return use


def spread(statistic):
    moments = statistic.to_moments() if isinstance(statistic, ClassFactors) else statistic
    return moments.scatter


@STATISTICS
def test_reducing_an_array_gives_the_statistic_of_its_rows(table, type_, depth, merge):
    rows = open_rows(*table)
    assert len(split(*rows.whole.x.shape)) >= 8
    found, expected = reduce_blocks(rows, partial(type_.of, depth=depth), merge), type_.of(rows.whole, depth)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-13)
    np.testing.assert_allclose(spread(found), spread(expected), rtol=1e-11, atol=1e-9 * spread(expected).max())


@STATISTICS
@pytest.mark.parametrize("step", [40_001, 9_999, 700])
def test_reducing_a_stream_gives_what_reducing_the_array_gives(table, type_, depth, merge, step):
    rows = open_rows(*table)
    of = partial(type_.of, depth=depth)
    found, expected = reduce_blocks(Stream(rows.whole, step), of, merge), reduce_blocks(rows, of, merge)
    assert found.classes.tolist() == expected.classes.tolist()
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-13)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-13)
    np.testing.assert_allclose(spread(found), spread(expected), rtol=1e-11, atol=1e-12 * spread(expected).max())


@STATISTICS
def test_any_number_of_threads_gives_the_same_bits(table, thread_count, type_, depth, merge):
    rows, of = open_rows(*table), partial(type_.of, depth=depth)
    found = {"array": set(), "stream": set()}
    for number in (1, 2, 3, 8):
        thread_count(number)
        found["array"].add(reduce_blocks(rows, of, merge).to_bytes())
        # 22 blocks: one full group of states, and some that are still at work when the stream ends.
        found["stream"].add(reduce_blocks(Stream(rows.whole, 1900), of, merge).to_bytes())
    assert {name: len(bits) for name, bits in found.items()} == {"array": 1, "stream": 1}


def test_states_are_merged_in_the_order_of_the_rows(thread_count):
    block = Block(np.arange(30_000.0)[:, None] * np.ones(8), np.zeros(30_000, np.int32), np.array([0]))
    for number in (1, 4):
        thread_count(number)
        for rows in (open_rows(block.x, block.codes), Stream(block, 777)):
            starts = reduce_blocks(rows, lambda b: [b.x[0, 0]], lambda states: [s for part in states for s in part])
            assert len(starts) > 1
            assert starts == sorted(starts)


def test_tasks_are_spread_over_several_threads(thread_count):
    thread_count(2)
    meeting = threading.Barrier(2, timeout=20)
    # Two tasks that wait for each other: one thread alone would never end.
    assert run(lambda i: meeting.wait() >= 0 and i, 2) == [0, 1]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_first_error_is_raised_and_the_threads_stay_usable(thread_count, number):
    thread_count(number)

    def fails(i):
        if i in {7, 11, 13}:
            raise ValueError(f"task {i}")
        return i

    for _ in range(20):
        with pytest.raises(ValueError, match="task 7"):
            run(fails, 40)
    assert run(lambda i: i * i, 40) == [i * i for i in range(40)]


def test_after_an_error_no_further_task_is_started(thread_count):
    thread_count(2)
    started = []

    def fails_at_once(i):
        started.append(i)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run(fails_at_once, 1000)
    assert len(started) <= 2


@pytest.mark.parametrize("number", [1, 3])
def test_an_error_in_a_stream_is_raised_and_the_threads_stay_usable(thread_count, number):
    thread_count(number)
    block = Block(np.zeros((100, 2)), np.zeros(100, np.int32), np.array([0]))

    def fails(part):
        raise ValueError(f"a block of {len(part)}")

    with pytest.raises(ValueError, match="a block of 10"):
        reduce_blocks(Stream(block, 10), fails, list)
    assert reduce_blocks(Stream(block, 10), len, sum) == 100


def test_an_error_of_the_source_is_raised():
    class Broken:
        whole = None
        n_rows = None

        def blocks(self):
            yield Block(np.zeros((3, 2)), np.zeros(3, np.int32), np.array([0]))
            raise OSError("the file ends early")

    with pytest.raises(OSError, match="ends early"):
        reduce_blocks(Broken(), len, sum)


@pytest.mark.parametrize(("n", "p"), [(0, 5), (1, 1), (100, 3), (62, 4026), (5, 100_000), (10**6, 20), (1000, 1000)])
def test_ranges_cover_every_row_once_and_none_is_empty(n, p):
    for state in (0, 8 * p * p):
        ranges = split(n, p, state)
        assert [i for i, _ in ranges] == [0, *(j for _, j in ranges[:-1])]
        assert ranges[-1][1] == n
        assert n == 0 or all(i < j for i, j in ranges)


def test_small_data_start_no_threads():
    here = threading.get_ident()
    rows = open_rows(np.zeros((100, 3)), np.zeros(100, int))
    assert reduce_blocks(rows, lambda block: threading.get_ident(), max) == here


@pytest.mark.parametrize(("value", "expected"), [("3", 3), ("1", 1), ("0", None), ("many", None), ("", None)])
def test_the_environment_sets_the_number_of_threads(monkeypatch, value, expected):
    monkeypatch.setenv("DISCRIM_NUM_THREADS", "")
    parallel.thread_count.cache_clear()
    usual = parallel.thread_count()
    monkeypatch.setenv("DISCRIM_NUM_THREADS", value)
    parallel.thread_count.cache_clear()
    try:
        assert parallel.thread_count() == (expected or usual)
    finally:
        parallel.thread_count.cache_clear()


def test_a_process_with_one_thread_gives_the_same_bits_as_one_with_three(run_program):
    script = (
        "import numpy as np; from functools import partial\n"
        "from discrim import parallel\nfrom discrim.engines import reduce_blocks\n"
        "from discrim.sources import open_rows\n"
        "from discrim.statistics import ClassMoments, Depth\n"
        "x = np.random.default_rng(0).normal(size=(30_000, 9))\n"
        "rows = open_rows(x, np.arange(30_000) % 4)\n"
        "state = reduce_blocks(rows, partial(ClassMoments.of, depth=Depth.FULL), ClassMoments.merged)\n"
        "print(parallel.thread_count(), state.to_bytes().hex())\n"
    )
    outputs = [
        run_program(script, {**os.environ, "DISCRIM_NUM_THREADS": number}).stdout.split()
        for number in ("1", "3")
    ]  # fmt: skip
    assert [output[0] for output in outputs] == ["1", "3"]
    assert outputs[0][1] == outputs[1][1]


def test_rows_of_a_wide_file_are_counted_so_that_few_are_turned_and_no_matrix_of_columns_is_made(tmp_path):
    pl = pytest.importorskip("polars")
    rng, n, p = np.random.default_rng(0), 30, 1500
    y = np.array(list("abc"))[np.arange(n) % 3]
    x = rng.normal(size=(n, p)) + (y == "a")[:, None] * (np.arange(p) < 20)
    frame = pl.DataFrame({f"c{j}": x[:, j] for j in range(p)}).with_columns(pl.Series("y", y))
    frame.write_csv(tmp_path / "wide.csv")
    rows = discrim.scan(tmp_path / "wide.csv", target="y")
    assert rows.n_rows is None
    assert RowPasses(open_rows(rows)).shape.wide
    model = discrim.LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5)
    tracemalloc.start()
    fitted = model.fit(discrim.scan(tmp_path / "wide.csv", target="y"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * p * p  # one such matrix
    same = discrim.LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5).fit(x, y)
    np.testing.assert_allclose(fitted.predict_proba(x), same.predict_proba(x), atol=1e-8)
