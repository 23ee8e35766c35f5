"""R-factors: the scatter as R'R, which keeps the digits that squaring would lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.later import cached_property
from discrim.statistics.by_class import Depth
from discrim.statistics.forgetting import Left, left_of_factor, low_of
from discrim.statistics.moments import ClassMoments, ClassScatter, MomentsOf, ScatterOf, join, of_one_depth
from discrim.store.fields import Array, Incoming, Many, Optional, Text, damaged
from discrim.store.kinds import stored
from discrim.store.values import Labels
from discrim.typing import Floats, Mask


@stored(
    "statistic:factors",
    classes=Labels("K"),
    weight=Array("K", low=0.0),
    rows=Array("K", "<i8", low=0),
    mean=Array("K p"),
    factors=Many(Array("* p")),
    depth=Text((Depth.POOLED, Depth.FULL)),
    low=Optional(Array("K p")),
)
@dataclass(frozen=True, eq=False)
class ClassFactors(ClassScatter):
    """Class weights, means, and factors R (r x p, r <= p where rows abound) with R'R = S.

    ``factors`` holds one matrix a class (full) or one for all (pooled). With fewer rows than columns R is
    the centred rows, reflected so that one row of each class is zero and left out: the others are independent unless
    the data make them dependent, and nothing p x p is ever formed. With more rows it is the triangle of a QR.
    The same laws hold as for ``ClassMoments``. Cost of ``of``: n p^2, or n p where n < p.
    """

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    factors: tuple[Floats, ...]
    depth: Depth
    low: Floats | None = None
    kind: ClassVar[str] = "factors"
    per_class: ClassVar[Sequence[str]] = ("weight", "rows", "mean", "low")

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> ClassFactors:
        """The statistic that a file has."""
        return cls(**{**values, "depth": Depth(values["depth"])})

    def check_stored(self, file: Incoming) -> None:
        """There is a factor for each class, or one for all."""
        if len(self.factors) != (1 if self.depth is Depth.POOLED else file.letters["K"]):
            raise damaged("factors", "does not go with the classes")

    @classmethod
    def of(cls, block: Block, depth: Depth) -> ClassFactors:
        """The statistic of the rows of one block."""
        x = np.asarray(block.x.toarray() if sparse.issparse(block.x) else block.x)
        found = ClassMoments.of(replace(block, x=x), Depth.DIAGONAL)
        rows, weight, mean, low = found.rows, found.weight, found.mean, low_of(found)
        # Beyond these digits it is rounding, which must not make equal rows differ.
        low[np.abs(low) <= (2.0 * np.finfo(float).eps) ** 2 * np.abs(mean)] = 0.0
        order = np.argsort(block.codes, kind="stable")
        if block.weight is not None:
            order = order[block.weight[order] > 0]
        heads, stops = (np.cumsum(rows) - rows)[rows > 0], [0, *np.cumsum(np.maximum(rows - 1, 0)).tolist()]
        others = np.delete(order, heads)
        centred = x[others].astype(np.float64, copy=False)
        for k, i in zip(np.flatnonzero(rows).tolist(), order[heads].tolist(), strict=True):
            part = centred[stops[k] : stops[k + 1]]
            part -= mean[k]
            # The reflection that makes row i zero moves the others by a part of it.
            root = 1.0 if block.weight is None else np.sqrt(block.weight[i])
            part -= low[k] + (x[i] - mean[k] - low[k]) * (root / (root + np.sqrt(weight[k])))
        if block.weight is not None:
            centred *= np.sqrt(block.weight[others])[:, None]
        if depth is Depth.FULL:
            factors = tuple(_compress(centred[a:b]) for a, b in pairwise(stops))
        else:
            factors = (_compress(centred),)
        return cls(block.classes, weight, rows, mean, factors, depth, low)

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.mean).all() and all(np.isfinite(f).all() for f in self.factors))

    @cached_property
    def squares(self) -> Floats:
        return np.stack([np.einsum("ij,ij->j", r, r) for r in self.factors])

    @classmethod
    def merged(cls, parts: Sequence[ClassFactors]) -> ClassFactors:
        """The statistic of all parts' rows: their factors and the gaps of their means, stacked and reduced."""
        if len(parts) == 1:
            return parts[0]
        joint, depth = join(parts), parts[0].depth
        root, whole = np.sqrt(joint.weights)[:, :, None], np.sqrt(joint.weight)[:, None]
        # As in ``of``: the weighted gaps of a class add up to zero, and one of them is made zero.
        moved = root[0] * joint.gaps[0] / np.where(whole > 0, whole + root[0], 1.0)
        gaps = root[1:] * (joint.gaps[1:] - moved)
        if depth is Depth.POOLED:
            gaps = gaps.reshape(-1, 1, gaps.shape[2])
        spread = [part.including(joint.classes).factors for part in parts]
        stacked = (np.vstack([*pieces, gaps[:, k]]) for k, pieces in enumerate(zip(*spread, strict=True)))
        factors = tuple(map(_compress, stacked))
        return cls(joint.classes, joint.weight, joint.rows, joint.mean, factors, depth, joint.low)

    def _without(self, left: Left) -> ClassFactors:
        gaps, noise, nothing = np.sqrt(left.factor)[:, None] * left.gap, left.noise, left.rows <= 1
        if self.depth is Depth.POOLED:
            noise, nothing = np.sqrt(np.einsum("kj,kj->j", noise, noise))[None, :], np.array([nothing.all()])
            gaps = gaps[None]
        else:
            gaps = gaps[:, None]
        factors = tuple(
            left_of_factor(r, np.vstack([gone, gap]), rounding, nothing=bool(none))
            for r, gone, gap, rounding, none in zip(self.factors, left.gone.factors, gaps, noise, nothing, strict=True)
        )
        return replace(self, weight=left.weight, rows=left.rows, mean=left.mean, factors=factors, low=left.low)

    def including(self, classes: NDArray[Any]) -> ClassFactors:
        wide = super().including(classes)
        if wide is self or self.depth is Depth.POOLED:
            return wide
        known = dict(zip(self.classes.tolist(), self.factors, strict=True))
        nothing = np.zeros((0, self.n_features))
        return replace(wide, factors=tuple(known.get(label, nothing) for label in wide.classes.tolist()))

    def select(self, keep: Mask) -> ClassFactors:
        kept = super().select(keep)
        if kept is self or self.depth is Depth.POOLED:
            return kept
        return replace(kept, factors=tuple(f for f, kept in zip(self.factors, keep, strict=True) if kept))

    def without_common(self) -> ClassFactors:
        return replace(self, factors=(np.zeros((0, self.n_features)),)) if self.depth is Depth.POOLED else self

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

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {**super().arrays(), **{f"factor{i:06d}": f for i, f in enumerate(self.factors)}}

    @classmethod
    def restored(cls, fields: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ClassFactors:
        factors = tuple(arrays.pop(name) for name in sorted(arrays) if name.startswith("factor"))
        return cls(factors=factors, **fields, **arrays)  # type: ignore[arg-type]


class FactorsOf(ScatterOf):
    """The reduction to ``ClassFactors``."""

    uses_blas: ClassVar[bool] = True

    def of(self, block: Block) -> ClassFactors:
        return ClassFactors.of(block, self.depth_for(block.classes))

    def merge(self, states: Sequence[Any]) -> ClassMoments | ClassFactors:
        """With moments among them the result is one of moments."""
        if not all(isinstance(part, ClassFactors) for part in states):
            return MomentsOf(self.depth, self.full_up_to).merge(states)
        merged: ClassFactors = self.narrow(ClassFactors.merged(of_one_depth(states)))
        return merged

    def numbers(self, shape: Any) -> int:
        """How many numbers the factors have, at most."""
        p, n = shape.width, shape.width if shape.n_rows is None else shape.n_rows
        known = 2 if shape.classes is None else len(shape.classes)
        return int(min(n, p if self.depth_for(shape.classes) is Depth.POOLED else p * known) * p)


def _compress(rows: Floats) -> Floats:
    """Rows with the same R'R, at most p of them; rows of zeros are dropped."""
    if rows.shape[0] > rows.shape[1] and np.isfinite(rows).all():
        # Columns are scaled to one length, so that the rounding of a large one does not drown a small one.
        size = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        size[size == 0] = 1.0
        return np.asarray(np.linalg.qr(rows / size, mode="r") * size)
    # Mostly the first column says already that no row is zero.
    kept = rows[:, :1].any(axis=1)
    if not kept.all():
        kept = rows.any(axis=1)
    return rows if kept.all() else rows[kept]
