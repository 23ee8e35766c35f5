"""What is learned from rows in order, where a recipe would reduce them: there is no merge, and nothing is forgotten.

A sequence says how some rows change what was learned so far. ``engines.walk`` has the epochs, the orders and the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.typing import Floats

S_contra = TypeVar("S_contra", contravariant=True)

# Numbers that one step learns from: between two there is time for a key to be pressed.
STEP_NUMBERS = 1 << 23


@dataclass(eq=False)
class Visits:
    """Rows of a block in the order in which they are learned (None: in turn).

    Codes and weights are in that order, so that they are read in turn.
    """

    block: Block
    order: NDArray[Any] | None
    codes: NDArray[np.int32]
    weight: Floats | None

    @classmethod
    def of(cls, block: Block, order: NDArray[Any] | None = None) -> Visits:
        codes, weight = block.codes, block.weight
        if order is not None:
            codes, weight = codes.take(order), None if weight is None else weight.take(order)
        return cls(block, order, codes, weight)

    def __len__(self) -> int:
        return len(self.codes)

    def parts(self, size: int) -> Iterator[Visits]:
        """The same, so many rows at a time."""
        if len(self) <= size:
            yield self
            return
        for start in range(0, len(self), size):
            here = slice(start, start + size)
            block = self.block if self.order is not None else self.block.rows(start, min(start + size, len(self)))
            order = None if self.order is None else self.order[here]
            weight = None if self.weight is None else self.weight[here]
            yield Visits(block, order, self.codes[here], weight)


@dataclass(frozen=True)
class Stopping:
    """At most ``max_iter`` epochs, and not more than ``patience`` of them without a gain of ``tol`` (None: as many)."""

    max_iter: int = 1
    tol: float | None = None
    patience: int = 5


@dataclass
class Watch:
    """Looks for the end of one problem: ``best`` is the least value so far, ``stale`` the epochs without a gain."""

    stopping: Stopping
    best: float = np.inf
    stale: int = 0
    epochs: int = 0
    stopped: bool = False

    @property
    def over(self) -> bool:
        return self.stopped or self.epochs >= self.stopping.max_iter

    def worn_out(self, value: float) -> bool:
        """Has ``value``, which is to be small, not gained for too long?"""
        tol = self.stopping.tol
        self.stale = self.stale + 1 if tol is not None and value > self.best - tol else 0
        self.best = min(self.best, value)
        return self.stale >= self.stopping.patience


class Sequential(Protocol[S_contra]):
    """How rows change a state, which belongs to the walk: it is changed in place, and given to a model at the end.

    A state may hold several problems (one class against the rest, each), of which a step learns those that it is given.
    """

    def step(self, state: S_contra, rows: Visits, problems: Sequence[int]) -> None:
        """Learn from these rows."""

    def judge(self, state: S_contra, watches: Mapping[int, Watch]) -> None:
        """After an epoch: let the watches of its problems stop, or raise where it went wrong."""


def entries_per_row(x: Any) -> int:
    """Entries of a row, on average where rows are sparse; at least one."""
    width = x.nnz // max(x.shape[0], 1) if hasattr(x, "indptr") else x.shape[1]
    return int(max(width, 1))
