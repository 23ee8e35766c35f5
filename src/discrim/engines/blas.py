"""One owner of threads: while ours run, the linear algebra library keeps to one each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

# Rows and columns of a matrix that one thread solves as fast as several.
_SMALL_MATRIX = 256


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within this context a call into BLAS or LAPACK stays on the calling thread.

    Contexts may be nested, and entered and left by several threads in any order: the limit is the whole
    process's, so the first to enter sets it and the last to leave lifts it.
    """
    _owner.enter()
    try:
        yield
    finally:
        _owner.leave()


def blas_threads(size: int) -> AbstractContextManager[None]:
    """One thread while matrices of this size are solved, if they are small.

    The threads of the linear algebra library then wait for each other longer than they work.
    """
    return one_blas_thread() if size <= _SMALL_MATRIX else nullcontext()


class _Owner:
    """Counts who needs the limit."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = [(library, library.num_threads) for library in _libraries()]
                for library, _ in self._before:
                    library.set_num_threads(1)
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, threads in self._before:
                    library.set_num_threads(threads)


_owner = _Owner()


@cache
def _libraries() -> list[Any]:
    # Finding the loaded libraries takes about a millisecond, so it is done once.
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
