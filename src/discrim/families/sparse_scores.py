"""Linear rules on sparse rows, from the stored entries alone."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.parallel import run
from discrim.typing import Floats

# Entries that are worth a task.
TASK = 100_000
# Where |coef|'|origin| stays below this, scores of rows that are not centred are exact to 1e-12.
MOST_CENTRED = 1e4


class Linear(Protocol):
    """What is needed of a linear rule."""

    @property
    def coef(self) -> Floats: ...
    @property
    def offset(self) -> Floats: ...
    @property
    def origin(self) -> Floats: ...
    @property
    def threshold(self) -> float | None: ...
    @property
    def intercept(self) -> Floats: ...


def can_stay_sparse(rule: Linear) -> bool:
    """May the origin go into the constant, so that zeros need not be looked at, without a loss of digits?"""
    if not rule.origin.any():
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(rule.coef) @ np.abs(rule.origin) <= MOST_CENTRED).all())


def score_sparse(rule: Linear, x: Any, output: int, out: NDArray[Any]) -> bool:
    """Fill ``out`` with scores, posteriors or classes; False where a row has no finite best score.

    Cost: K operations for every stored entry.
    """
    table, offset = by_column(rule.coef), rule.intercept if rule.origin.any() else rule.offset
    return score_by_column(x, table, offset, rule.threshold, output, out)


def score_by_column(
    x: Any, table: Floats, offset: Floats, threshold: float | None, output: int, out: NDArray[Any]
) -> bool:
    """The same with coefficients that already lie as the kernel wants them."""

    def task(start: int, stop: int) -> bool:
        return kernels.sparse_score(entries(x, start, stop), table, offset, threshold, output, out[start:stop])

    return all(over_rows(x, task))


def over_rows(x: Any, task: Any) -> list[Any]:
    """``task(start, stop)`` for ranges of rows that cover x, on all threads."""
    n, tasks = x.shape[0], max(min(x.nnz // TASK, x.shape[0]), 1)
    return run(lambda i: task(n * i // tasks, n * (i + 1) // tasks), tasks)


def entries(x: Any, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values, columns and row pointers of some rows, as views."""
    return x.data, x.indices, x.indptr[start : stop + 1]


def by_column(coef: Floats) -> Floats:
    """Coefficients K x p as p x K, padded so that no column needs more cache lines than it must."""
    size, p = coef.shape
    width = next((w for w in (1, 2, 4) if size <= w), -(-size // 8) * 8)
    room = np.zeros(p * width + 7)
    first = -(room.ctypes.data // 8) % 8
    table = room[first : first + p * width].reshape(p, width)
    table[:, :size] = coef.T
    return table
