"""Threads of this machine. The result does not depend on how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, partial
from itertools import count, pairwise
from threading import Lock
from typing import TypeVar

import numpy as np

from discrim.engines.progress import Progress
from discrim.errors import DataError
from discrim.sources import Block, Rows, Scan

State = TypeVar("State")

# Numbers in X below which starting threads costs more than it saves.
SINGLE = 200_000
# Entries of a sparse X that are worth a task.
SPARSE = 200_000
# Bytes of X that one task reads.
TASK_BYTES = 8_000_000
# States of a stream that are merged at once.
GROUP = 16


def reduce(
    rows: Rows,
    of: Callable[[Block], State],
    merge: Callable[[Sequence[State]], State],
    *,
    state_bytes: int = 0,
    title: str = "reading",
) -> State:
    """``of`` every block, merged in the order of the rows.

    The blocks depend on the data's shape alone, so that any number of threads gives the same bits.
    ``state_bytes`` is the size of one state: large ones get fewer, longer blocks. A terminal shows how far a long
    pass is, under this ``title``.
    """
    if rows.whole is not None:
        return _reduce_whole(rows.whole, of, merge, state_bytes)
    pieces = rows.pieces() if isinstance(rows, Scan) else (partial(_itself, block) for block in rows.blocks())
    with Progress(title, rows.n_rows) as progress:
        return _reduce_stream(pieces, of, merge, progress)


def run(task: Callable[[int], State], tasks: int, *, workers: int | None = None) -> list[State]:
    """``[task(0), task(1), ...]``, spread over the threads, or so many ``workers``; the first error is raised."""
    workers = min(_worker_count() if workers is None else workers, tasks)
    if workers <= 1:
        return [task(i) for i in range(tasks)]
    results: list[State | None] = [None] * tasks
    errors: list[tuple[int, BaseException]] = []
    numbers, lock = count(), Lock()

    def work() -> None:
        while not errors:
            with lock:
                i = next(numbers)
            if i >= tasks:
                return
            try:
                results[i] = task(i)
            except BaseException as error:  # noqa: BLE001 - raised below, when no other thread is at work
                errors.append((i, error))

    futures: list[Future[None]] = []
    try:
        futures.extend(_pool().submit(work) for _ in range(workers - 1))
        work()
        wait(futures)
    except BaseException as error:
        # Interrupted between two tasks: the others end with what they are at, and nobody works on after the call.
        errors.append((-1, error))
        wait(futures)
        raise
    if errors:
        # Tasks start in order, so that of several errors the first is the one a single thread would meet.
        raise min(errors, key=lambda found: found[0])[1]
    return results  # type: ignore[return-value]


def split(n: int, p: int, state_bytes: int = 0) -> list[tuple[int, int]]:
    """Row ranges of one task each: about TASK_BYTES of X, and at least sixteen times the state.

    To keep threads busy there are eight where the states are small, and four unless they would outgrow X itself.
    """
    if n * p <= SINGLE:
        return [(0, n)]
    size = 8 * n * p
    state = max(state_bytes, 1)
    wanted = round(size / max(TASK_BYTES, 16 * state))
    least = max(min(8, size // (16 * state)), min(4, size // state), 1)
    tasks = min(max(wanted, least), n)
    bounds = [n * i // tasks for i in range(tasks + 1)]
    return list(pairwise(bounds))


def _split_sparse(block: Block) -> list[tuple[int, int]]:
    """A few ranges of rows: a state may be as long as there are columns, however few entries it is made of."""
    assert not isinstance(block.x, np.ndarray)
    tasks = min(max(block.x.nnz // SPARSE, 1), 4, max(len(block), 1))
    return list(pairwise(len(block) * i // tasks for i in range(tasks + 1)))


@cache
def thread_count() -> int:
    """As many threads as this process may use cores; ``DISCRIM_NUM_THREADS`` overrides it."""
    wanted = os.environ.get("DISCRIM_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _worker_count() -> int:
    """Twice as many as there are cores, unless told otherwise.

    The threads of a linear algebra library wait for more work by spinning, some 25 ms after each call. They take half
    of every core from one thread a core, and a third from two.
    """
    threads = thread_count()
    return threads if threads == 1 or os.environ.get("DISCRIM_NUM_THREADS") else 2 * threads


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_worker_count(), thread_name_prefix="discrim")


if hasattr(os, "register_at_fork"):
    # The threads of a pool do not follow into a child process: it makes its own.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _reduce_whole(
    block: Block, of: Callable[[Block], State], merge: Callable[[Sequence[State]], State], state_bytes: int
) -> State:
    ranges = (
        split(len(block), block.x.shape[1], state_bytes) if isinstance(block.x, np.ndarray) else _split_sparse(block)
    )
    if len(ranges) == 1:
        return of(block)
    return merge(run(lambda i: of(block.rows(*ranges[i])), len(ranges)))


def _itself(block: Block) -> Block:
    return block


def _reduce_stream(
    pieces: Iterable[Callable[[], Block]],
    of: Callable[[Block], State],
    merge: Callable[[Sequence[State]], State],
    progress: Progress,
) -> State:
    """Workers reduce while this thread reads on; a few blocks at most are in memory."""
    states: list[State] = []
    waiting: list[Future[tuple[State, int]]] = []

    def collect(most: int) -> None:
        while len(waiting) > most:
            state, size = waiting.pop(0).result()
            states.append(state)
            progress.add(size)
            # Asked after every state, so that groups do not depend on how many were waiting.
            if len(states) >= GROUP:
                states[:] = [merge(states)]

    def state_of(piece: Callable[[], Block]) -> tuple[State, int]:
        block = piece()
        return of(block), len(block)

    try:
        for piece in pieces:
            waiting.append(_pool().submit(state_of, piece))
            collect(thread_count())
        collect(0)
    except BaseException:
        # What has not begun never will, and nobody works on after the call.
        wait([future for future in waiting if not future.cancel()])
        raise
    if not states:
        raise DataError("There are no rows to read.")
    return merge(states)
