"""Columns brought to one size before they are learned from, and coefficients in the user's units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import row_norms

from discrim.block import Block
from discrim.families.first_look import look
from discrim.families.recipe import OneBlock
from discrim.store.fields import Array, Number
from discrim.store.kinds import stored
from discrim.typing import Floats

# Rows that show where the columns lie.
FIRST_LOOK = 20_000
# And how long rows are.
LENGTHS = 2_000
# Part of its mean by which a column varies through rounding alone.
CONSTANT = 1e-14
# Deviations below this come of squares that have lost their digits.
SMALLEST = 1e-150


@stored("scaling", shift=Array("p"), factor=Array("p", low=0.0), length=Number(0.0))
@dataclass(frozen=True)
class Scaling:
    """z = (x - shift) factor; sparse columns stay where their zeros are. ``length`` is the mean |z|^2."""

    shift: Floats
    factor: Floats
    length: float = 1.0

    @classmethod
    def of(cls, block: Block) -> Scaling:
        """Mean zero and deviation one over (a part of) the rows; a constant column is left out by the factor 0.

        Entries of sparse columns have the mean square one where they are not zero, so that a word that is rare is not
        mistaken for one that is large.
        """
        x: Any = block.x
        if hasattr(x, "indptr"):
            mean, size = np.zeros(x.shape[1]), _entry_sizes(x, block.weight)
        else:
            view = look(OneBlock(block), FIRST_LOOK)
            mean, size = view.mean, view.deviation
            odd = np.flatnonzero(~((size > SMALLEST) & (size < np.inf)))
            if len(odd):
                mean[odd], size[odd] = _by_largest(x[:: max(len(x) // FIRST_LOOK, 1), odd])
        moving = np.isfinite(size) & (size > CONSTANT * np.abs(mean))
        factor = np.where(moving, 1.0 / np.where(moving, size, 1.0), 0.0)
        found = cls(np.where(np.isfinite(mean), mean, 0.0), factor)
        return replace(found, length=found.typical_length(block))

    def scaled(self, block: Block) -> Block:
        """A copy of the rows in these units."""
        x: Any = block.x
        with np.errstate(over="ignore", invalid="ignore"):  # looked for while learning
            if hasattr(x, "indptr"):
                data = x.data * self.factor[x.indices]
                return replace(block, x=sparse.csr_array((data, x.indices, x.indptr), shape=x.shape))
            z = x - self.shift
            z *= self.factor
            return replace(block, x=z)

    def to_user(self, w: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        coef = w * self.factor
        return coef, intercept - coef @ self.shift

    def from_user(self, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        size = np.where(self.factor > 0, self.factor, 1.0)
        return np.where(self.factor > 0, coef / size, 0.0), intercept + coef @ self.shift

    def typical_length(self, block: Block) -> float:
        """The mean |z|^2 of a part of the rows."""
        n = min(FIRST_LOOK, len(block))
        x: Any = self.scaled(block.take(np.arange(0, n, max(n // LENGTHS, 1)))).x
        squares = row_norms(x, squared=True)
        squares = squares[np.isfinite(squares)]
        return float(squares.mean()) if len(squares) else 0.0


def _entry_sizes(x: Any, weight: Floats | None) -> Floats:
    """The root of the mean square of the entries of sparse columns."""
    p = x.shape[1]
    # Divided by the largest entry first: its square may overflow.
    top = np.zeros(p)
    with np.errstate(invalid="ignore"):
        np.maximum.at(top, x.indices, np.abs(x.data))
    top[~((top > 0) & (top < np.inf))] = 1.0
    each: Any = 1.0 if weight is None else np.repeat(weight, np.diff(x.indptr))
    squares = np.bincount(x.indices, weights=each * (x.data / top[x.indices]) ** 2, minlength=p)
    counts = np.bincount(x.indices, weights=each * (x.data != 0), minlength=p)
    return np.asarray(top * np.sqrt(squares / np.where(counts > 0, counts, 1.0)))


def _by_largest(x: NDArray[Any]) -> tuple[Floats, Floats]:
    """Mean and deviation of columns whose squares overflow or vanish; not finite where the values are not."""
    with np.errstate(invalid="ignore"):
        top = np.abs(x).max(axis=0).astype(float)
        z = x / np.where(top > 0, top, 1.0)
        return z.mean(axis=0) * top, z.std(axis=0) * top
