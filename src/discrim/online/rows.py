"""Rows in memory that are learned in a given order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.online.learning import Learning
from discrim.online.weights import Weights
from discrim.typing import Floats

Order = NDArray[np.int32]

# Numbers that one call learns from: between two calls there is time for a key to be pressed.
CALL_NUMBERS = 1 << 23


@dataclass(frozen=True)
class Targets:
    """Problem k is the class with code ``positive[k]`` against the others, with the weights of either side."""

    positive: NDArray[np.int32]
    gain_positive: Floats
    gain_negative: Floats

    def taken(self, which: Any) -> Targets:
        return Targets(self.positive[which], self.gain_positive[which], self.gain_negative[which])


@dataclass(frozen=True)
class Visits:
    """Rows ``order`` (None: in turn) and their codes and weights in that order, so that these are read in turn.

    ``known``: the rows were visited before, and all their columns are there.
    """

    order: Order | None
    codes: NDArray[np.int32]
    weight: Floats | None
    known: bool = False

    def part(self, start: int, stop: int) -> Visits:
        order = None if self.order is None else self.order[start:stop]
        weight = None if self.weight is None else self.weight[start:stop]
        return Visits(order, self.codes[start:stop], weight, self.known)


@dataclass(frozen=True)
class OnlineRows:
    """Rows ``x`` (an array whose rows are contiguous, or CSR) with their class ``codes`` and weights."""

    x: Any
    codes: NDArray[np.int32]
    weight: Floats | None

    @classmethod
    def of(cls, block: Block) -> OnlineRows:
        """Rows of a block; columns that lie apart are brought together, since rows are read whole."""
        x = block.x
        if isinstance(x, np.ndarray) and x.shape[1] and x.strides[1] != x.itemsize:
            x = np.ascontiguousarray(x)
        codes = np.ascontiguousarray(block.codes)
        return cls(x, codes, None if block.weight is None else np.ascontiguousarray(block.weight))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_bytes(self) -> int:
        x: Any = self.x
        return int(x.data.nbytes + x.indices.nbytes if hasattr(x, "indptr") else x.nbytes)

    @property
    def per_call(self) -> int:
        """Rows that one call learns from."""
        return self.holding(CALL_NUMBERS)

    def holding(self, numbers: int) -> int:
        """How many rows have about so many entries, one at least."""
        x: Any = self.x
        width = x.nnz // max(len(self), 1) if hasattr(x, "indptr") else x.shape[1]
        return int(max(numbers // max(width, 1), 1))

    def learn(self, visits: Visits | None, learning: Learning, weights: Weights, targets: Targets) -> None:
        """Every row that is visited, or each in turn, changes the weights."""
        visits = visits or Visits(None, self.codes, self.weight)
        given = (visits.order, visits.codes, visits.weight)
        state = (
            weights.w, weights.averages, weights.second, weights.memory,
            targets.positive, targets.gain_positive, targets.gain_negative,
        )  # fmt: skip
        if hasattr(self.x, "indptr"):
            compressed = (self.x.data, self.x.indices, self.x.indptr, visits.known)
            kernels.learn_sparse(compressed, given, learning.packed, state)
        else:
            kernels.learn_dense(self.x, given, learning.packed, state)

    def visits(self, order: Order | None, *, known: bool) -> Visits:
        if order is None:
            return Visits(None, self.codes, self.weight, known)
        return Visits(order, self.codes.take(order), None if self.weight is None else self.weight.take(order), known)

    def part(self, start: int, stop: int) -> OnlineRows:
        weight = None if self.weight is None else self.weight[start:stop]
        return OnlineRows(self.x[start:stop], self.codes[start:stop], weight)
