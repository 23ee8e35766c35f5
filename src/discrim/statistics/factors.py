"""R-factors: the scatter as R'R, which keeps the digits that squaring would lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.block import Block
from discrim.statistics.align import places, spread_out, union_of_classes
from discrim.statistics.depth import Depth, WithDepth
from discrim.statistics.means import join, low_of, take_away
from discrim.statistics.moments import ClassMoments, MomentsOf
from discrim.statistics.packing import pack, unpack
from discrim.statistics.subtraction import deviations_of, left_of_factor, refuse_lost_digits
from discrim.typing import Floats, Index


@dataclass(frozen=True, eq=False)
class ClassFactors(WithDepth):
    """Class weights, means, and factors R (r x p, r <= p where rows abound) with R'R = S.

    ``factors`` holds one matrix a class (full) or one for all (pooled). With fewer rows than columns R is
    the centred rows themselves, so nothing p x p is ever formed; with more it is the triangle of a QR.
    The same laws hold as for ``ClassMoments``. Cost of ``of``: 2 n p^2, or n p where n < p.
    """

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    factors: tuple[Floats, ...]
    depth: Depth
    low: Floats | None = None

    @classmethod
    def of(cls, block: Block, depth: Depth) -> ClassFactors:
        """The statistic of the rows of one block."""
        x = np.asarray(block.x.toarray() if sparse.issparse(block.x) else block.x)
        size = len(block.classes)
        low = np.zeros((size, x.shape[1]))
        weight, rows, mean, _ = kernels.class_moments(x, block.codes, block.weight, size, kernels.DIAGONAL, low)
        # Beyond these digits it is rounding, which must not make equal rows differ.
        low[np.abs(low) <= (2.0 * np.finfo(float).eps) ** 2 * np.abs(mean)] = 0.0
        kept = np.ones(len(block), bool) if block.weight is None else block.weight > 0
        centred = x[kept].astype(np.float64)
        centred -= mean[block.codes[kept]]
        centred -= low[block.codes[kept]]
        if block.weight is not None:
            centred *= np.sqrt(block.weight[kept])[:, None]
        if depth is Depth.FULL:
            factors = tuple(_compress(centred[block.codes[kept] == k]) for k in range(size))
        else:
            factors = (_compress(centred),)
        return cls(block.classes, weight, rows, mean, factors, depth, low)

    @property
    def n_features(self) -> int:
        return int(self.mean.shape[1])

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.mean).all() and all(np.isfinite(f).all() for f in self.factors))

    def merge(self, other: ClassFactors) -> ClassFactors:
        """The statistic of both sets of rows."""
        return merge_factors([self, other])

    def subtract(self, other: ClassFactors) -> ClassFactors:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there."""
        left = take_away(self, other, deviations_of(self.squares, self.weight))
        removed_gap = np.sqrt(left.factor)[:, None] * left.gap
        if self.depth is Depth.POOLED:
            gone = [np.vstack([other.factors[0], removed_gap])]
        else:
            per_class: list[Floats] = [np.zeros((0, self.n_features)) for _ in self.classes]
            for k, factor in zip(left.at, other.factors, strict=True):
                per_class[k] = factor
            gone = [np.vstack([f, g[None, :]]) for f, g in zip(per_class, removed_gap, strict=True)]
        noise, nothing = left.noise, left.rows <= 1
        if self.depth is Depth.POOLED:
            noise, nothing = np.sqrt(np.einsum("kj,kj->j", noise, noise))[None, :], np.array([nothing.all()])
        factors = tuple(
            left_of_factor(r, b, rounding, nothing=bool(none))
            for r, b, rounding, none in zip(self.factors, gone, noise, nothing, strict=True)
        )
        refuse_lost_digits(self, _squares(factors), left)
        kept = replace(self, weight=left.weight, rows=left.rows, mean=left.mean, factors=factors, low=left.low)
        return kept.select(left.weight > 0)

    def select(self, keep: NDArray[np.bool_]) -> ClassFactors:
        """The same without some classes; of a common factor nothing can be taken away."""
        if keep.all():
            return self
        factors = self.factors
        if self.depth is Depth.FULL:
            factors = tuple(f for f, kept in zip(factors, keep, strict=True) if kept)
        return replace(
            self, classes=self.classes[keep], weight=self.weight[keep], rows=self.rows[keep],
            mean=self.mean[keep], factors=factors, low=low_of(self)[keep],
        )  # fmt: skip

    def relabel(self, sides: Index, labels: Sequence[Any]) -> ClassFactors:
        """The statistic of the same rows when class k is called ``labels[sides[k]]``; sides[k] = -1 leaves it out."""
        kept = np.flatnonzero(sides >= 0).tolist()
        return merge_factors([self._alone(k, labels[sides[k]], first=i == 0) for i, k in enumerate(kept)])

    def _alone(self, k: int, label: Any, *, first: bool) -> ClassFactors:
        """Class k by itself; of a common factor the first class has all."""
        one, pooled = slice(k, k + 1), self.depth is Depth.POOLED
        factors = self.factors if pooled else self.factors[one]
        if pooled and not first:
            factors = (np.zeros((0, self.n_features)),)
        return ClassFactors(
            np.array([label]), self.weight[one], self.rows[one], self.mean[one], factors, self.depth, low_of(self)[one]
        )

    @property
    def squares(self) -> Floats:
        """The diagonals of the scatter: K x p, or 1 x p where classes are pooled."""
        return _squares(self.factors)

    def including(self, classes: NDArray[Any]) -> ClassFactors:
        """The same with further classes of weight zero."""
        joint = union_of_classes([self.classes, classes])
        if len(joint) == len(self.classes):
            return self
        at, size = places(self.classes, joint), len(joint)
        factors = self.factors
        if self.depth is Depth.FULL:
            known = dict(zip(at.tolist(), self.factors, strict=True))
            factors = tuple(known.get(k, np.zeros((0, self.n_features))) for k in range(size))
        return ClassFactors(
            joint, spread_out(self.weight, at, size), spread_out(self.rows, at, size),
            spread_out(self.mean, at, size), factors, self.depth, spread_out(low_of(self), at, size),
        )  # fmt: skip

    def pooled(self) -> ClassFactors:
        """The same with one factor for all classes."""
        if self.depth is Depth.POOLED:
            return self
        return replace(self, factors=(_compress(np.vstack(self.factors)),), depth=Depth.POOLED)

    def reweighted(self, factors: Floats) -> ClassFactors:
        """Every row of class k counted ``factors[k]`` times."""
        if self.depth is Depth.POOLED:
            raise ValueError("A pooled statistic cannot weigh its classes anew.")
        scaled = tuple(np.sqrt(f) * r for f, r in zip(factors, self.factors, strict=True))
        return replace(self, weight=self.weight * factors, factors=scaled)

    def to_moments(self) -> ClassMoments:
        """The scatter itself; half of the digits of nearly collinear columns are lost."""
        products = [r.T @ r for r in self.factors]
        scatter = np.stack(products) if self.depth is Depth.FULL else products[0]
        return ClassMoments(self.classes, self.weight, self.rows, self.mean, scatter, self.depth, self.low)

    def to_bytes(self) -> bytes:
        arrays: dict[str, NDArray[Any]] = {f"factor{i:06d}": f for i, f in enumerate(self.factors)}
        arrays |= {"weight": self.weight, "rows": self.rows, "mean": self.mean, "low": low_of(self)}
        return pack("factors", self.depth, arrays, self.classes)

    @classmethod
    def from_bytes(cls, buffer: bytes) -> ClassFactors:
        stored = unpack(buffer, "factors")
        arrays = stored.arrays
        factors = tuple(arrays.pop(name) for name in sorted(arrays) if name.startswith("factor"))
        return cls(classes=stored.classes, depth=Depth(stored.depth), factors=factors, **arrays)


@dataclass(frozen=True)
class FactorsOf:
    """The reduction to ``ClassFactors`` of a depth, as ``MomentsOf`` is that to moments."""

    depth: Depth
    full_up_to: int = 0
    uses_blas: ClassVar[bool] = True

    def of(self, block: Block) -> ClassFactors:
        return ClassFactors.of(block, self._depth(len(block.classes)))

    def merge(self, states: Sequence[Any]) -> ClassMoments | ClassFactors:
        """With moments among them the result is one of moments."""
        if not all(isinstance(part, ClassFactors) for part in states):
            return MomentsOf(self.depth, self.full_up_to).merge(states)
        parts = list(states)
        if any(part.depth is not parts[0].depth for part in parts):
            parts = [part.pooled() for part in parts]
        return self.narrow(merge_factors(parts))

    def numbers(self, shape: Any) -> int:
        """How many numbers the factors have, at most."""
        p, n = shape.width, shape.width if shape.n_rows is None else shape.n_rows
        known = 2 if shape.classes is None else len(shape.classes)
        return int(min(n, p if self._depth(known) is Depth.POOLED else p * known) * p)

    def by_class(self) -> FactorsOf:
        """The same with a scatter for every class."""
        return FactorsOf(Depth.FULL) if self.depth is Depth.POOLED else self

    def covers(self, other: Any) -> bool:
        return isinstance(other, FactorsOf) and self.depth in (Depth.FULL, other.depth)

    def narrow(self, state: Any) -> ClassFactors:
        """Without what so many classes do not need."""
        pool = state.depth is Depth.FULL and self._depth(len(state.classes)) is Depth.POOLED
        factors: ClassFactors = state.pooled() if pool else state
        return factors

    def _depth(self, classes: int) -> Depth:
        return Depth.FULL if self.depth is Depth.POOLED and classes <= self.full_up_to else self.depth


def merge_factors(parts: Sequence[ClassFactors]) -> ClassFactors:
    """The statistic of all parts' rows: their factors and the gaps of their means, stacked and reduced."""
    if len(parts) == 1:
        return parts[0]
    joint, depth = join(parts), parts[0].depth
    gaps = np.sqrt(joint.weights)[:, :, None] * joint.gaps
    if depth is Depth.POOLED:
        stacked = [np.vstack([*(part.factors[0] for part in parts), gaps.reshape(-1, joint.mean.shape[1])])]
    else:
        pieces: list[list[Floats]] = [[gaps[:, k]] for k in range(len(joint.classes))]
        for part, at in zip(parts, joint.at, strict=True):
            for k, factor in zip(at, part.factors, strict=True):
                pieces[k].append(factor)
        stacked = [np.vstack(piece) for piece in pieces]
    factors = tuple(_compress(matrix) for matrix in stacked)
    return ClassFactors(joint.classes, joint.weight, joint.rows, joint.mean, factors, depth, joint.low)


def _squares(factors: Sequence[Floats]) -> Floats:
    return np.stack([np.einsum("ij,ij->j", r, r) for r in factors])


def _compress(rows: Floats) -> Floats:
    """Rows with the same R'R, at most p of them; rows of zeros are dropped."""
    if rows.shape[0] > rows.shape[1] and np.isfinite(rows).all():
        # Columns are scaled to one length, so that the rounding of a large one does not drown a small one.
        size = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        size[size == 0] = 1.0
        return np.asarray(np.linalg.qr(rows / size, mode="r") * size)
    return rows[np.any(rows != 0, axis=1)]
