"""Class moments: weight, mean and centred scatter of each class."""

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
from discrim.statistics.means import Apart, join, low_of, take_away, two_sum
from discrim.statistics.packing import pack, unpack
from discrim.statistics.subtraction import deviations_of, left_of_matrix, left_of_variances, refuse_lost_digits
from discrim.typing import Floats, Index

# The numbers by which the kernels know the depths.
KERNEL_DEPTH = {Depth.DIAGONAL: kernels.DIAGONAL, Depth.POOLED: kernels.POOLED, Depth.FULL: kernels.FULL}


@dataclass(frozen=True, eq=False)
class ClassMoments(WithDepth):
    """The statistic of the Gaussian family.

    For each class k: ``weight`` n_k = sum w_i, ``rows`` the number of rows, ``mean`` mu_k, and the centred
    ``scatter`` S_k = sum w_i (x_i - mu_k)(x_i - mu_k)'. By depth the scatter is K x p x p (full), their sum
    S, p x p (pooled), or K x p of the diagonals (diagonal). Nothing is normalised or smoothed. ``low`` is what
    rounding leaves out of the mean: with it, forgetting loses no digits to a common offset.

    Laws: ``merge`` equals the statistic of all rows together, is commutative and associative, and
    ``subtract`` undoes it. Cost of ``of``: n p^2 / 2 multiplications (n p for diagonal), one read.
    """

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    scatter: Floats
    depth: Depth
    low: Floats | None = None

    @classmethod
    def of(cls, block: Block, depth: Depth) -> ClassMoments:
        """The statistic of the rows of one block."""
        x = block.x
        if sparse.issparse(x):
            if depth is Depth.DIAGONAL:
                return cls._of_sparse_diagonal(block)
            x = np.asarray(x.toarray())
        low = np.zeros((len(block.classes), x.shape[1]))
        weight, rows, mean, scatter = kernels.class_moments(
            x, block.codes, block.weight, len(block.classes), KERNEL_DEPTH[depth], low
        )
        return cls(block.classes, weight, rows, mean, scatter, depth, low)

    @property
    def n_features(self) -> int:
        return int(self.mean.shape[1])

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def finite(self) -> bool:
        """False when NaN or infinity was among the rows."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.scatter).all())

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The statistic of both sets of rows."""
        return merge_moments([self, other])

    def subtract(self, other: ClassMoments) -> ClassMoments:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there."""
        left = take_away(self, other, deviations_of(self.squares, self.weight))
        gone = other.scatter if self.depth is Depth.POOLED else spread_out(other.scatter, left.at, len(self.classes))
        scatter = self._left(self.scatter - gone - _between(left.gap[None], left.factor[None], self.depth), left)
        result = replace(self, weight=left.weight, rows=left.rows, mean=left.mean, scatter=scatter, low=left.low)
        refuse_lost_digits(self, result.squares, left)
        return result.select(left.weight > 0)

    @property
    def squares(self) -> Floats:
        """The diagonals of the scatter: K x p, or 1 x p where classes are pooled."""
        if self.depth is Depth.DIAGONAL:
            return self.scatter
        p = self.n_features
        return self.scatter.reshape(-1, p, p).diagonal(0, 1, 2)

    def including(self, classes: NDArray[Any]) -> ClassMoments:
        """The same with further classes of weight zero."""
        joint = union_of_classes([self.classes, classes])
        if len(joint) == len(self.classes):
            return self
        at, size = places(self.classes, joint), len(joint)
        scatter = self.scatter if self.depth is Depth.POOLED else spread_out(self.scatter, at, size)
        return ClassMoments(
            joint, spread_out(self.weight, at, size), spread_out(self.rows, at, size),
            spread_out(self.mean, at, size), scatter, self.depth, spread_out(low_of(self), at, size),
        )  # fmt: skip

    def pooled(self) -> ClassMoments:
        """The same with one scatter matrix for all classes."""
        if self.depth is Depth.DIAGONAL:
            raise ValueError("A diagonal statistic has no pooled scatter.")
        scatter = self.scatter.sum(axis=0) if self.depth is Depth.FULL else self.scatter
        return replace(self, scatter=scatter, depth=Depth.POOLED)

    def diagonal(self) -> ClassMoments:
        """The same with the variances of each class only."""
        if self.depth is Depth.POOLED:
            raise ValueError("A pooled statistic has no variances of its classes.")
        squares = self.scatter if self.depth is Depth.DIAGONAL else self.squares.copy()
        return replace(self, scatter=squares, depth=Depth.DIAGONAL)

    def in_units(self, centre: Floats, scale: Floats) -> ClassMoments:
        """The statistic of (x - centre) / scale: no row is read for it."""
        square = scale**2 if self.depth is Depth.DIAGONAL else scale[:, None] * scale[None, :]
        return replace(self, mean=(self.mean - centre) / scale, scatter=self.scatter / square, low=None)

    def units(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the columns over all rows; 1 for one that is constant but for rounding."""
        n, squares = self.total_weight, self.squares
        shares = self.weight / n
        centre = shares @ self.mean
        deviation = np.sqrt(squares.sum(axis=0) / n + shares @ np.square(self.mean - centre))
        return centre, usable_scale(deviation, centre)

    def relabel(self, sides: Index, labels: Sequence[Any]) -> ClassMoments:
        """The statistic of the same rows when class k is called ``labels[sides[k]]``; sides[k] = -1 leaves it out.

        With S_k the scatter of class k, n_k its weight and mu_k its mean, a side has
        S = sum S_k + sum n_k (mu_k - mu)(mu_k - mu)'.
        """
        kept = np.flatnonzero(sides >= 0).tolist()
        return merge_moments([self._alone(k, labels[sides[k]], first=i == 0) for i, k in enumerate(kept)])

    def _alone(self, k: int, label: Any, *, first: bool) -> ClassMoments:
        """Class k by itself; of a common scatter the first class has all."""
        one, pooled = slice(k, k + 1), self.depth is Depth.POOLED
        scatter = self.scatter if pooled else self.scatter[one]
        if pooled and not first:
            scatter = np.zeros_like(scatter)
        return ClassMoments(
            np.array([label]), self.weight[one], self.rows[one], self.mean[one], scatter, self.depth, low_of(self)[one]
        )

    def reweighted(self, factors: Floats) -> ClassMoments:
        """Every row of class k counted ``factors[k]`` times."""
        if self.depth is Depth.POOLED:
            raise ValueError("A pooled statistic cannot weigh its classes anew.")
        shape = (-1, 1, 1) if self.depth is Depth.FULL else (-1, 1)
        return replace(self, weight=self.weight * factors, scatter=self.scatter * factors.reshape(shape))

    def to_bytes(self) -> bytes:
        arrays: dict[str, NDArray[Any]] = {
            "weight": self.weight, "rows": self.rows, "mean": self.mean, "scatter": self.scatter, "low": low_of(self),
        }  # fmt: skip
        return pack("moments", self.depth, arrays, self.classes)

    @classmethod
    def from_bytes(cls, buffer: bytes) -> ClassMoments:
        stored = unpack(buffer, "moments")
        return cls(classes=stored.classes, depth=Depth(stored.depth), **stored.arrays)

    @classmethod
    def _of_sparse_diagonal(cls, block: Block) -> ClassMoments:
        """Zeros are counted, not visited: S = sum over stored w (x - mu)^2 + (weight of the zeros) mu^2."""
        x, size = sparse.csr_array(block.x), len(block.classes)
        w = np.ones(len(block)) if block.weight is None else block.weight
        groups = sparse.csr_array((w, (block.codes, np.arange(len(block)))), shape=(size, len(block)))
        weight: Floats = np.asarray(groups.sum(axis=1)).ravel()
        rows = np.bincount(block.codes[w > 0], minlength=size)
        mean = np.asarray((groups @ x).todense(), dtype=np.float64) / np.where(weight > 0, weight, 1.0)[:, None]
        row_of = np.repeat(np.arange(len(block)), np.diff(x.indptr))
        d = x.data - mean[block.codes[row_of], x.indices]
        flat = block.codes[row_of].astype(np.int64) * x.shape[1] + x.indices
        first = np.bincount(flat, w[row_of] * d, size * x.shape[1]).reshape(mean.shape)
        stored = np.bincount(flat, w[row_of] * d * d, size * x.shape[1]).reshape(mean.shape)
        stored_weight = np.bincount(flat, w[row_of], size * x.shape[1]).reshape(mean.shape)
        stored_rows = np.bincount(flat, w[row_of] > 0, size * x.shape[1]).reshape(mean.shape)
        # Where there are no zeros the two weights differ by rounding, which the mean would blow up.
        zeros = np.where(stored_rows < rows[:, None], weight[:, None] - stored_weight, 0.0)
        # The mean was a sum of large numbers: what it missed is the mean of the small ones that are left.
        missed = (first - zeros * mean) / np.where(weight > 0, weight, 1.0)[:, None]
        scatter = np.maximum(stored + zeros * mean**2 - weight[:, None] * missed**2, 0.0)
        mean, low = two_sum(mean, missed)
        return cls(block.classes, weight, rows, mean, scatter, Depth.DIAGONAL, low)

    def _left(self, scatter: Floats, left: Apart) -> Floats:
        """The scatter after a subtraction, cleared of rounding; refuses one that no rows have."""
        if self.depth is Depth.POOLED:
            noise = np.sqrt(np.einsum("kj,kj->j", left.noise, left.noise))
            return left_of_matrix(scatter, self.scatter, noise, nothing=bool((left.rows <= 1).all()))
        check = left_of_variances if self.depth is Depth.DIAGONAL else left_of_matrix
        for k in np.flatnonzero(left.rows != self.rows):
            scatter[k] = check(scatter[k], self.scatter[k], left.noise[k], nothing=bool(left.rows[k] <= 1))
        return scatter

    def select(self, keep: NDArray[np.bool_]) -> ClassMoments:
        """The same without some classes; of a common scatter nothing can be taken away."""
        if keep.all():
            return self
        scatter = self.scatter if self.depth is Depth.POOLED else self.scatter[keep]
        return replace(
            self, classes=self.classes[keep], weight=self.weight[keep], rows=self.rows[keep],
            mean=self.mean[keep], scatter=scatter, low=low_of(self)[keep],
        )  # fmt: skip


@dataclass(frozen=True)
class MomentsOf:
    """The reduction to ``ClassMoments`` of a depth; up to ``full_up_to`` classes every one has a scatter of its own.

    Two matrices cost no more than one, and what is known of each class by itself may be of use.
    """

    depth: Depth
    full_up_to: int = 0
    uses_blas: ClassVar[bool] = False

    def of(self, block: Block) -> ClassMoments:
        return ClassMoments.of(block, self._depth(len(block.classes)))

    def merge(self, states: Sequence[Any]) -> ClassMoments:
        """Of two depths the lesser is taken; R-factors are squared."""
        parts = [part if isinstance(part, ClassMoments) else part.to_moments() for part in states]
        if any(part.depth is not parts[0].depth for part in parts):
            parts = [part.pooled() for part in parts]
        return self.narrow(merge_moments(parts))

    def numbers(self, shape: Any) -> int:
        """How many numbers the scatter has."""
        p, classes = int(shape.width), 2 if shape.classes is None else len(shape.classes)
        return {Depth.DIAGONAL: classes * p, Depth.POOLED: p * p, Depth.FULL: classes * p * p}[self._depth(classes)]

    def by_class(self) -> MomentsOf:
        """The same with a scatter for every class."""
        return MomentsOf(Depth.FULL) if self.depth is Depth.POOLED else self

    def covers(self, other: Any) -> bool:
        return isinstance(other, MomentsOf) and self.depth in (Depth.FULL, other.depth)

    def narrow(self, state: Any) -> ClassMoments:
        """Without what so many classes do not need; what was never collected stays unknown."""
        wanted = self._depth(len(state.classes))
        if state.depth is wanted or state.depth is not Depth.FULL:
            moments: ClassMoments = state
            return moments
        return state.pooled() if wanted is Depth.POOLED else state.diagonal()  # type: ignore[no-any-return]

    def _depth(self, classes: int) -> Depth:
        return Depth.FULL if self.depth is Depth.POOLED and classes <= self.full_up_to else self.depth


def usable_scale(deviation: Floats, centre: Floats) -> Floats:
    """Standard deviations to divide by; 1 for a column that is constant but for rounding."""
    return np.where(deviation > 8.0 * np.finfo(float).eps * np.abs(centre), deviation, 1.0)


def merge_moments(parts: Sequence[ClassMoments]) -> ClassMoments:
    """The statistic of all parts' rows: S = sum S_part + sum n_part (mu_part - mu)(mu_part - mu)'."""
    if len(parts) == 1:
        return parts[0]
    joint, depth = join(parts), parts[0].depth
    leading = () if depth is Depth.POOLED else (len(joint.classes),)
    scatter = np.zeros((*leading, *parts[0].scatter.shape[len(leading) :]))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
        for part, at in zip(parts, joint.at, strict=True):
            if scatter.shape == part.scatter.shape:
                scatter += part.scatter
            else:
                scatter[at] += part.scatter
        scatter += _between(joint.gaps, joint.weights, depth)
    return ClassMoments(joint.classes, joint.weight, joint.rows, joint.mean, scatter, depth, joint.low)


def _between(gaps: Floats, factors: Floats, depth: Depth) -> Floats:
    """sum_b factor_bk gap_bk gap_bk' of gaps b x K x p, in the shape of the depth."""
    if depth is Depth.DIAGONAL:
        return np.asarray(np.einsum("bk,bkj->kj", factors, gaps**2))
    root = np.sqrt(factors)[:, :, None] * gaps
    # Each product is of a matrix with itself, and so symmetric to the bit.
    if depth is Depth.POOLED:
        return gram(root.reshape(-1, root.shape[2]))
    return np.stack([gram(root[:, k]) for k in range(root.shape[1])])


def gram(rows: Floats) -> Floats:
    """A'A."""
    return np.asarray(rows.T @ rows)
