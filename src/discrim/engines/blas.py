"""One owner of threads: while ours run, the linear algebra library keeps to one each."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import RLock, get_ident
from types import TracebackType
from typing import Any

# Rows and columns of a matrix that one thread solves as fast as several.
_SMALL_MATRIX = 256


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
    """Knows who needs the limit, and in which thread; ``before`` are the numbers of threads to go back to."""

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
