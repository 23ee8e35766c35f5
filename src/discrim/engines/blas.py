"""One owner of threads: while ours run, the linear algebra library keeps to one each."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_blas_thread() -> AbstractContextManager[Any]:
    """Within this context a call into BLAS or LAPACK stays on the calling thread."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes about a millisecond, so it is done once.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
