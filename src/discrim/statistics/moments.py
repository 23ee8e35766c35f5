"""Class moments: weight, mean and centred scatter of each class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import dsyrk

from discrim import kernels
from discrim.block import Block
from discrim.errors import DataError
from discrim.kernels.gaussian import reference as names
from discrim.statistics.by_class import ByClass, Depth, refuse_widths, union_of_classes
from discrim.statistics.forgetting import (
    Left,
    left_of_matrix,
    left_of_variances,
    low_of,
    refuse_lost_digits,
    take_away,
    two_sum,
)
from discrim.store.fields import Array, Incoming, Optional, Text, damaged
from discrim.store.kinds import stored
from discrim.store.values import Labels, Value
from discrim.typing import Floats

# The numbers by which the kernels know the depths.
KERNEL_DEPTH = {Depth.DIAGONAL: names.DIAGONAL, Depth.POOLED: names.POOLED, Depth.FULL: names.FULL}
TINY = float(np.finfo(float).tiny)
# Columns from which on products of the linear algebra library are faster than those of the kernel.
MANY = 512
# Rows of one such product.
STEP = 512


class ClassScatter(ByClass):
    """Weights, means and the scatter of each class, or of all together: as it is, or as R-factors.

    ``low`` is what rounding leaves out of the mean: with it, forgetting loses no digits to a common offset.
    """

    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    depth: Depth
    low: Floats | None

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """The depth stays one where a format, such as that of skops, keeps strings only."""
        self.__dict__.update(state, depth=Depth(state["depth"]))

    @property
    def n_features(self) -> int:
        return int(self.mean.shape[1])

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    @abstractmethod
    def squares(self) -> Floats:
        """The diagonals of the scatter: K x p, or 1 x p where classes are pooled."""

    @abstractmethod
    def pooled(self) -> Self:
        """The same with one scatter for all classes."""

    @abstractmethod
    def _without(self, left: Left) -> Self:
        """The same without the rows that have gone; all classes stay."""

    def subtract(self, other: Self) -> Self:
        """The statistic without the rows of ``other``; refuses rows that cannot have been there."""
        _check_combined([self, other])
        left = take_away(self, other)
        result = self._without(left)
        refuse_lost_digits(self, result, left.noise)
        return result.select(left.weight > 0)


@stored(
    "statistic:moments",
    classes=Labels("K"),
    weight=Array("K", low=0.0),
    rows=Array("K", "<i8", low=0),
    mean=Array("K p"),
    scatter=Value(),
    depth=Text(tuple(Depth)),
    low=Optional(Array("K p")),
)
@dataclass(frozen=True, eq=False)
class ClassMoments(ClassScatter):
    """The statistic of the Gaussian family.

    For each class k: ``weight`` n_k = sum w_i, ``rows`` the number of rows, ``mean`` mu_k, and the centred
    ``scatter`` S_k = sum w_i (x_i - mu_k)(x_i - mu_k)'. By depth the scatter is K x p x p (full), their sum
    S, p x p (pooled), or K x p of the diagonals (diagonal). Nothing is normalised or smoothed.

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
    kind: ClassVar[str] = "moments"

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> ClassMoments:
        """The statistic that a file has."""
        return cls(**{**values, "depth": Depth(values["depth"])})

    def check_stored(self, file: Incoming) -> None:
        """The scatter is as its depth says."""
        k, p, scatter = file.letters["K"], file.letters["p"], self.scatter
        shape = {Depth.DIAGONAL: (k, p), Depth.POOLED: (p, p), Depth.FULL: (k, p, p)}[self.depth]
        if not isinstance(scatter, np.ndarray) or scatter.dtype != np.float64 or scatter.shape != shape:
            raise damaged("scatter", "does not go with the means")

    @classmethod
    def of(cls, block: Block, depth: Depth) -> ClassMoments:
        """The statistic of the rows of one block."""
        x = block.x
        if sparse.issparse(x):
            if depth is Depth.DIAGONAL:
                entries, size = (x.data, x.indices, x.indptr), len(block.classes)
                found = kernels.sparse_class_moments(entries, x.shape[1], block.codes, block.weight, size)
                return cls(block.classes, *found[:4], depth, found[4])
            x = np.asarray(x.toarray())
        low = np.zeros((len(block.classes), x.shape[1]))
        by_library = depth is not Depth.DIAGONAL and x.shape[1] >= MANY
        weight, rows, mean, scatter = kernels.class_moments(
            x, block.codes, block.weight, len(block.classes), KERNEL_DEPTH[Depth.DIAGONAL if by_library else depth], low
        )
        if by_library:
            scatter = _scatter(replace(block, x=x), mean, low, depth)
        return cls(block.classes, weight, rows, mean, scatter, depth, low)

    @property
    def per_class(self) -> Sequence[str]:
        own = () if self.depth is Depth.POOLED else ("scatter",)
        return ("weight", "rows", "mean", "low", *own)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {**super().arrays(), "scatter": self.scatter}

    @property
    def finite(self) -> bool:
        """False when NaN or infinity was among the rows."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.scatter).all())

    @property
    def squares(self) -> Floats:
        if self.depth is Depth.DIAGONAL:
            return self.scatter
        p = self.n_features
        return self.scatter.reshape(-1, p, p).diagonal(0, 1, 2)

    @classmethod
    def merged(cls, parts: Sequence[ClassMoments]) -> ClassMoments:
        """The statistic of all parts' rows: S = sum S_part + sum n_part (mu_part - mu)(mu_part - mu)'."""
        if len(parts) == 1:
            return parts[0]
        joint, depth = join(parts), parts[0].depth
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
            scatter = _between(joint.gaps, joint.weights, depth)
            for part in parts:
                scatter += part.scatter if depth is Depth.POOLED else part.spread(part.scatter, joint.classes)
        return cls(joint.classes, joint.weight, joint.rows, joint.mean, scatter, depth, joint.low)

    def _without(self, left: Left) -> ClassMoments:
        scatter = self.scatter - left.gone.scatter - _between(left.gap[None], left.factor[None], self.depth)
        if self.depth is Depth.POOLED:
            noise = np.sqrt(np.einsum("kj,kj->j", left.noise, left.noise))
            scatter = left_of_matrix(scatter, self.scatter, noise, nothing=bool((left.rows <= 1).all()))
        else:
            check = left_of_variances if self.depth is Depth.DIAGONAL else left_of_matrix
            for k in np.flatnonzero(left.rows != self.rows):
                scatter[k] = check(scatter[k], self.scatter[k], left.noise[k], nothing=bool(left.rows[k] <= 1))
        return replace(self, weight=left.weight, rows=left.rows, mean=left.mean, scatter=scatter, low=left.low)

    def without_common(self) -> ClassMoments:
        return replace(self, scatter=np.zeros_like(self.scatter)) if self.depth is Depth.POOLED else self

    def pooled(self) -> ClassMoments:
        """The same with one scatter matrix for all classes."""
        if self.depth is Depth.DIAGONAL:
            raise ValueError("A diagonal statistic has no pooled scatter.")
        if self.depth is Depth.POOLED:
            return self
        return replace(self, scatter=self.scatter.sum(axis=0), depth=Depth.POOLED)

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

    def reweighted(self, factors: Floats) -> ClassMoments:
        """Every row of class k counted ``factors[k]`` times."""
        if self.depth is Depth.POOLED:
            raise ValueError("A pooled statistic cannot weigh its classes anew.")
        shape = (-1, 1, 1) if self.depth is Depth.FULL else (-1, 1)
        return replace(self, weight=self.weight * factors, scatter=self.scatter * factors.reshape(shape))


@dataclass(frozen=True)
class ScatterOf:
    """A reduction to a scatter of some depth; up to ``full_up_to`` classes every one has a scatter of its own.

    Two matrices cost no more than one, and what is known of each class by itself may be of use.
    """

    depth: Depth
    full_up_to: int = 0

    @property
    def light(self) -> bool:
        """Are entries squared one by one, without products of columns?"""
        return self.depth is Depth.DIAGONAL

    def by_class(self) -> Self:
        """The same with a scatter for every class."""
        return type(self)(Depth.FULL) if self.depth is Depth.POOLED else self

    def covers(self, other: Any) -> bool:
        return isinstance(other, type(self)) and self.depth in (Depth.FULL, other.depth)

    def depth_for(self, classes: NDArray[Any] | None) -> Depth:
        """The depth with these classes; two where they are not known."""
        count = 2 if classes is None else len(classes)
        return Depth.FULL if self.depth is Depth.POOLED and count <= self.full_up_to else self.depth

    def narrow(self, state: Any) -> Any:
        """Without what so many classes do not need; what was never collected stays unknown."""
        wanted = self.depth_for(state.classes)
        if state.depth is wanted or state.depth is not Depth.FULL:
            return state
        return state.pooled() if wanted is Depth.POOLED else state.diagonal()


class MomentsOf(ScatterOf):
    """The reduction to ``ClassMoments``."""

    @property
    def uses_blas(self) -> bool:
        """Variances alone need no products of columns."""
        return self.depth is not Depth.DIAGONAL

    @property
    def looks(self) -> bool:
        """The kernel of variances looks at the columns of sparse rows itself."""
        return self.depth is Depth.DIAGONAL

    def of(self, block: Block) -> ClassMoments:
        return ClassMoments.of(block, self.depth_for(block.classes))

    def merge(self, states: Sequence[Any]) -> ClassMoments:
        """Of two depths the lesser is taken; R-factors are squared."""
        parts = [part if isinstance(part, ClassMoments) else part.to_moments() for part in states]
        merged: ClassMoments = self.narrow(ClassMoments.merged(of_one_depth(parts)))
        return merged

    def numbers(self, shape: Any) -> int:
        """How many numbers the scatter has, and the means with it where there are more of them."""
        p, classes = int(shape.width), 2 if shape.classes is None else len(shape.classes)
        sizes = {Depth.DIAGONAL: classes * p, Depth.POOLED: p * max(p, classes), Depth.FULL: classes * p * p}
        return sizes[self.depth_for(shape.classes)]


def _scatter(block: Block, mean: Floats, low: Floats, depth: Depth) -> Floats:
    """The scatter of each class, or of all together, by the linear algebra library."""
    x, codes, p = block.x, block.codes, mean.shape[1]
    counted = codes >= 0 if block.weight is None else (codes >= 0) & (block.weight > 0)
    groups = [counted] if depth is Depth.POOLED else [counted & (codes == k) for k in range(len(mean))]
    found = np.zeros((len(groups), p, p))
    for scatter, group in zip(found, groups, strict=True):
        for rows in np.array_split(index := np.flatnonzero(group), len(index) // STEP + 1):
            d = np.ascontiguousarray(x[rows], dtype=np.float64)
            d -= mean[codes[rows]]
            d -= low[codes[rows]]
            if block.weight is not None:
                d *= np.sqrt(block.weight[rows])[:, None]
            # Of the transpose, in place: the upper triangle of the library's order is the lower one of ours.
            dsyrk(1.0, d.T, beta=1.0, c=scatter.T, overwrite_c=1)
        for start in range(0, p, STEP):
            part = scatter[start : start + STEP, start : start + STEP]
            part += np.tril(part, -1).T
            scatter[start : start + STEP, start + STEP :] = scatter[start + STEP :, start : start + STEP].T
    return found[0] if depth is Depth.POOLED else found


def of_one_depth(parts: Sequence[Any]) -> Sequence[Any]:
    """The parts, pooled where some of them are."""
    if any(part.depth is not parts[0].depth for part in parts):
        return [part.pooled() for part in parts]
    return parts


def usable_scale(deviation: Floats, centre: Floats) -> Floats:
    """Standard deviations to divide by; 1 for a column that is constant but for rounding."""
    return np.where(deviation > 8.0 * np.finfo(float).eps * np.abs(centre), deviation, 1.0)


def _between(gaps: Floats, factors: Floats, depth: Depth) -> Floats:
    """sum_b factor_bk gap_bk gap_bk' of gaps b x K x p, in the shape of the depth."""
    if depth is Depth.DIAGONAL:
        return np.asarray(np.einsum("bk,bkj->kj", factors, gaps**2))
    root = np.sqrt(factors)[:, :, None] * gaps
    # Each product is of a matrix with itself, and so symmetric to the bit.
    if depth is Depth.POOLED:
        rows = root.reshape(-1, root.shape[2])
        return np.asarray(rows.T @ rows)
    return np.stack([root[:, k].T @ root[:, k] for k in range(root.shape[1])])


class Joint(NamedTuple):
    """The parts' classes, weights and means joined; ``gaps[b]`` is part b's mean minus the joint one.

    ``mean`` + ``low`` is the joint mean to twice the digits of a double.
    """

    classes: NDArray[Any]
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    low: Floats
    weights: Floats
    gaps: Floats


def join(parts: Sequence[ClassScatter]) -> Joint:
    """Weights add up, and the joint mean is the weighted mean of the means."""
    _check_combined(parts)
    classes = union_of_classes([part.classes for part in parts])
    weights, means, lows, rows = (
        np.array([part.spread(values, classes) for part, values in zip(parts, arrays, strict=True)])
        for arrays in zip(*((part.weight, part.mean, low_of(part), part.rows) for part in parts), strict=True)
    )
    mean, low, gaps = join_means(weights[:, :, None], means, lows)
    return Joint(classes, weights.sum(axis=0), rows.sum(axis=0), mean, low, weights, gaps)


def _check_combined(parts: Sequence[ClassScatter]) -> None:
    depths = sorted({str(part.depth) for part in parts})
    if len(depths) > 1:
        raise DataError(f"Statistics of different depths cannot be combined: {', '.join(depths)}.")
    refuse_widths(parts)


def join_means(weights: Floats, means: Floats, lows: Floats) -> tuple[Floats, Floats, Floats]:
    """The weighted mean over the parts (the first axis of all), its low part, and the parts' distances from it.

    A part may have one weight for all columns.
    """
    total = weights.sum(axis=0)
    share = weights / np.where(total > 0, total, 1.0)
    # The mean is a correction to the heaviest part's mean, so that a common offset costs no digits.
    heaviest = weights.argmax(axis=0)
    if weights.shape[2] == 1:
        places = heaviest[:, 0], np.arange(len(heaviest))
        base, base_low = means[places], lows[places]
    else:
        base, base_low = (np.take_along_axis(values, heaviest[None], axis=0)[0] for values in (means, lows))
    with np.errstate(invalid="ignore"):  # what is not finite is looked for by the caller
        apart = np.where(weights > 0, (means - base) + (lows - base_low), 0.0)
        mean, low = two_sum(base, base_low + (share * apart).sum(axis=0))
        return mean, low, np.where(weights > 0, (means - mean) + (lows - low), 0.0)


def grand_mean(weight: Floats, mean: Floats) -> Floats:
    """The mean of all rows (p), as a correction to that of the heaviest class, so that an offset costs no digits."""
    k, _, by = _from_heaviest(weight, mean, None)
    return np.asarray(mean[k] + by)


def mean_and_gaps(statistic: ClassScatter) -> tuple[Floats, Floats]:
    """The mean of all rows (p), and how far that of each class is from it (K x p)."""
    mean, low = statistic.mean, statistic.low
    k, apart, by = _from_heaviest(statistic.weight, mean, low)
    return mean[k] + (by if low is None else low[k] + by), apart - by


def gaps_of(weight: Floats, mean: Floats) -> Floats:
    """How far the mean of each class is from that of all rows (K x p)."""
    _, apart, by = _from_heaviest(weight, mean, None)
    return np.asarray(apart - by)


def _from_heaviest(weight: Floats, mean: Floats, low: Floats | None) -> tuple[int, Floats, Floats]:
    """The heaviest class, how far the means are from its mean (K x p), and how far that of all rows is (p)."""
    k = int(weight.argmax())
    apart = mean - mean[k]
    if low is not None:
        apart += low - low[k]
    return k, apart, weight.dot(apart) / max(float(weight.sum()), TINY)
