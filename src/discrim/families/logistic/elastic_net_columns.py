"""The elastic net on columns: coordinate descent over a small working set, checked against all columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.families.logistic.objective import Coordinates
from discrim.parallel import run
from discrim.typing import Floats

Index = NDArray[np.int64]

# Numbers in a group of columns that one thread multiplies at a time.
TASK = 1 << 19


class Columns(Protocol):
    """A matrix as coordinate descent reads it: n x p columns, whose coefficients are user's times ``scale``."""

    shape: tuple[int, int]
    scale: Floats
    # How far the value per unit of weight may still fall by the last change of one coefficient, where a descent stops.
    gap: float

    def slopes(self, residual: Floats) -> Floats:
        """X'r, on all threads."""

    def times(self, some: Index, theta: Floats) -> Floats:
        """These columns times theta."""

    def dense(self, some: Index) -> Floats:
        """These columns, written out."""

    def descend(self, problem: Problem, state: State, close: float, most: int) -> tuple[float, int, int, bool]:
        """Move the state towards the minimum: loss, rounds, sweeps, and whether it came there."""

    def to_user(self, constant: Floats, theta: Floats) -> Floats:
        """[intercept, slopes] of the columns as they came."""


@dataclass(frozen=True)
class Problem:
    """Rows with responses ``y`` in [0, 1] and weights, and the penalties of the ``working`` columns."""

    y: Floats
    weight: Floats | None
    working: Index
    lasso: Floats
    ridge: Floats
    intercept: bool


@dataclass(frozen=True)
class State:
    """Linear predictors of the rows, coefficients of the working columns, and the constant; changed in place."""

    eta: Floats
    theta: Floats
    constant: Floats


class DenseColumns:
    """Columns that are centred and scaled once, and lie one behind the other."""

    gap = 1e-16

    def __init__(self, x: NDArray[Any], coordinates: Coordinates, *, alone: bool) -> None:
        self.shape = (x.shape[0], x.shape[1])
        self.scale, self.shift = coordinates.scale, coordinates.shift
        self._z = np.empty(self.shape, order="F")
        self._groups = _groups(np.arange(self.shape[1] + 1) * self.shape[0], alone=alone)
        run(lambda i: self._standardise(x, *self._groups[i]), len(self._groups))

    def _standardise(self, x: NDArray[Any], begin: int, end: int) -> None:
        part = self._z[:, begin:end]
        np.subtract(x[:, begin:end], self.shift[begin:end], out=part)
        part /= self.scale[begin:end]

    def slopes(self, residual: Floats) -> Floats:
        out = np.empty(self.shape[1])
        run(lambda i: kernels.dense_slopes(self._z, residual, *self._groups[i], out), len(self._groups))
        return out

    def times(self, some: Index, theta: Floats) -> Floats:
        return np.asarray(self._z[:, some] @ theta)

    def dense(self, some: Index) -> Floats:
        return np.asarray(self._z[:, some])

    def descend(self, problem: Problem, state: State, close: float, most: int) -> tuple[float, int, int, bool]:
        p, s = problem, state
        return kernels.dense_descent(
            self._z, p.y, p.weight, s.eta, s.theta, s.constant, p.working, p.lasso, p.ridge, p.intercept, close, most
        )

    def to_user(self, constant: Floats, theta: Floats) -> Floats:
        slopes = theta / self.scale
        moved = constant - (slopes * self.shift).sum(axis=-1)
        return np.concatenate([moved[..., None], slopes], axis=-1)


class SparseColumns:
    """Compressed columns, as they came: centring is left to the descent, which keeps zeros zero."""

    # Sparse columns are nearly orthogonal, so that their last changes are about all that was left.
    gap = 1e-11

    def __init__(self, x: Any, *, alone: bool) -> None:
        self.shape = (x.shape[0], x.shape[1])
        self.scale = np.ones(self.shape[1])
        self._x = sparse.csc_array(x)
        self._parts = (self._x.data, self._x.indices, self._x.indptr)
        self._groups = _groups(self._x.indptr, alone=alone)

    def slopes(self, residual: Floats) -> Floats:
        out = np.empty(self.shape[1])
        run(lambda i: kernels.sparse_slopes(*self._parts, residual, *self._groups[i], out), len(self._groups))
        return out

    def times(self, some: Index, theta: Floats) -> Floats:
        return np.asarray(self._x[:, some] @ theta)

    def dense(self, some: Index) -> Floats:
        return np.asarray(self._x[:, some].toarray(), dtype=float)

    def descend(self, problem: Problem, state: State, close: float, most: int) -> tuple[float, int, int, bool]:
        p, s = problem, state
        rows = (*self._parts, p.y, p.weight, s.eta, s.theta, s.constant)
        return kernels.sparse_descent(*rows, p.working, p.lasso, p.ridge, p.intercept, close, most)

    def to_user(self, constant: Floats, theta: Floats) -> Floats:
        return np.concatenate([constant[..., None], theta], axis=-1)


def columns_of(x: Any, coordinates: Coordinates, *, alone: bool = False) -> Columns:
    """The columns of a dense or sparse matrix; a dense one is copied. Read by this thread ``alone``, or by all."""
    return DenseColumns(x, coordinates, alone=alone) if isinstance(x, np.ndarray) else SparseColumns(x, alone=alone)


def _groups(first: NDArray[Any], *, alone: bool) -> list[tuple[int, int]]:
    """Ranges of neighbouring columns with about TASK numbers each; the entries of column j begin at first[j]."""
    wanted = 1 if alone else max(int(first[-1]) // TASK, 1)
    cuts = np.searchsorted(first, np.linspace(0, first[-1], wanted + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [len(first) - 1]]))
    return list(pairwise(bounds.tolist()))
