"""Tasks on the threads of this machine, and the one owner of those of the linear algebra library."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import count, pairwise
from threading import Lock, RLock, get_ident
from types import TracebackType
from typing import Any, TypeVar

State = TypeVar("State")

# Numbers in X below which starting threads costs more than it saves.
SINGLE = 200_000
# Bytes of X that one task reads.
TASK_BYTES = 8_000_000
# Rows and columns of a matrix that one thread solves as fast as several.
_SMALL_MATRIX = 256


def run(task: Callable[[int], State], tasks: int, *, workers: int | None = None) -> list[State]:
    """``[task(0), task(1), ...]``, spread over the threads, or so many ``workers``; the first error is raised."""
    workers = min(_worker_count() if workers is None and tasks > 1 else workers or 1, tasks)
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
        futures.extend(pool().submit(work) for _ in range(workers - 1))
        work()
        wait(futures)
    except BaseException as error:
        # Interrupted between two tasks: the others finish their current task, and no thread works on after the call.
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


@cache
def thread_count() -> int:
    """As many threads as this process may use cores; ``DISCRIM_NUM_THREADS`` overrides it."""
    wanted = os.environ.get("DISCRIM_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _worker_count() -> int:
    """Twice as many as there are cores, unless ``DISCRIM_NUM_THREADS`` is set.

    The threads of a linear algebra library wait for more work by spinning, some 25 ms after each call. They take half
    of every core from one thread a core, and a third from two.
    """
    threads = thread_count()
    return threads if threads == 1 or os.environ.get("DISCRIM_NUM_THREADS") else 2 * threads


@cache
def pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_worker_count(), thread_name_prefix="discrim")


if hasattr(os, "register_at_fork"):
    # The threads of a pool do not follow into a child process: it makes its own.
    os.register_at_fork(after_in_child=pool.cache_clear)


def one_blas_thread() -> AbstractContextManager[None]:
    """Within this context a call into BLAS or LAPACK stays on the calling thread.

    Contexts may be nested, and entered and left by several threads in any order: the limit is the whole
    process's, so the first to enter sets it and the last to leave lifts it.
    """
    return _OneThread()


def blas_threads(size: int) -> AbstractContextManager[None]:
    """One thread while matrices of this size are solved, if they are small.

    The threads of the linear algebra library then wait for each other longer than they work.
    """
    return one_blas_thread() if size <= _SMALL_MATRIX else nullcontext()


class _Left:
    """A stay that is over."""


class _OneThread(_Left):
    """One stay within the limit. Where an interrupt comes even before ``__exit__`` has begun, ``__del__`` ends it."""

    def __enter__(self) -> None:
        try:
            _owner.enter(id(self))
        except BaseException:
            _owner.leave(id(self))
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            _owner.leave(id(self))
        except BaseException:
            _owner.leave(id(self))
            raise
        # An interrupt within __del__ would be lost, so that it is run only where it is needed.
        self.__class__ = _Left  # type: ignore[assignment]

    def __del__(self) -> None:
        _owner.leave(id(self))


class _Owner:
    """Keeps which contexts need the limit, and their threads; ``before`` are the thread counts to restore."""

    def __init__(self) -> None:
        # Reentrant, since a signal handler may fork or fit in the thread that has just taken it.
        self.lock = RLock()
        self._inside: dict[int, int] = {}
        self._before: list[tuple[Any, int]] | None = None

    def enter(self, who: int) -> None:
        with self.lock:
            self._inside[who] = get_ident()
            if self._before is None:
                self._before = [(library, library.num_threads) for library in _libraries()]
                for library, _ in self._before:
                    library.set_num_threads(1)

    def leave(self, who: int) -> None:
        if who in self._inside or not self._inside:
            with self.lock:
                self._inside.pop(who, None)
                self._lift()

    def forked(self) -> None:
        """In a child process there is only the thread that made it: the others will never leave."""
        alive = get_ident()
        self._inside = {who: thread for who, thread in self._inside.items() if thread == alive}
        self.lock = RLock()
        self._lift()

    def _lift(self) -> None:
        if self._before is not None and not self._inside:
            for library, threads in self._before:
                library.set_num_threads(threads)
            self._before = None


_owner = _Owner()

if hasattr(os, "register_at_fork"):
    # A child that was made while another thread had the lock would wait for it for ever.
    os.register_at_fork(after_in_child=_owner.forked)


@cache
def _libraries() -> list[Any]:
    # Finding the loaded libraries takes about a millisecond, so it is done once.
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
