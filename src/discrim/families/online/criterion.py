"""What gradient descent reads: losses and their slopes, summed over rows, and how long the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import row_norms

from discrim.block import Block
from discrim.errors import DataError
from discrim.families.first_look import Overview, look
from discrim.families.logistic.objective import Coordinates, codes_in
from discrim.families.recipe import Passes, Sum
from discrim.losses import SOFTMAX_CURVATURE, Loss, softmax_loss
from discrim.store.fields import Number, Whole
from discrim.store.kinds import Of, stored
from discrim.store.values import Labels
from discrim.typing import Floats

# Rows that are looked at to learn units and lengths, and the numbers of them that are multiplied for a rate.
SAMPLE = 20_000
SAMPLE_NUMBERS = 4_000_000
# Products that find the longest direction of the rows.
PRODUCTS = 30


class Sums(NamedTuple):
    """``loss`` and ``gradient`` (like theta) of some rows, the rows on the wrong side, and the weight of all.

    With one function a row on the boundary is wrong, with several one whose own function is not the largest.
    """

    loss: float
    gradient: Floats
    mistakes: int
    weight: float


def merge_sums(parts: Sequence[Sums]) -> Sums:
    return Sums._make(map(sum, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Criterion:
    """What a row costs: a ``loss`` of each function's score, or softmax cross entropy where that is None.

    With ``functions`` = 1 the score separates the second class from the first; with K of them each separates its class
    from the others. ``by_length`` divides each row's cost by its squared length |z|^2 (a row of zeros keeps its cost).
    """

    loss: Loss | None
    functions: int
    by_length: bool = False

    @property
    def curvature(self) -> float | None:
        """A bound of the second derivative by the scores."""
        return SOFTMAX_CURVATURE if self.loss is None else self.loss.curvature

    def of(self, score: Floats, code: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Costs (n) and their slopes (n x functions)."""
        if self.loss is None:
            return softmax_loss(score, code)
        low, high = self.loss.targets
        hit = code[:, None] == (1 if self.functions == 1 else np.arange(self.functions))
        target = np.where(hit, high, low)
        return self.loss.value(score, target).sum(axis=1), self.loss.slope(score, target)

    def mistakes(self, score: Floats, code: NDArray[np.integer]) -> int:
        if self.functions == 1:
            return int(np.count_nonzero(np.where(code == 1, score[:, 0], -score[:, 0]) <= 0))
        return int(np.count_nonzero(score.argmax(axis=1) != code))

    def sums(self, block: Block, theta: Floats, scale: Any, *, intercept: bool) -> Sums:
        """The sums at theta over rows that are still to be divided by ``scale``; what overflows is left to be seen."""
        slopes, code, z = theta[:, 1:] if intercept else theta, block.codes, block.x
        with np.errstate(all="ignore"):
            score = np.asarray(z @ (slopes / scale).T) + (theta[:, 0] if intercept else 0.0)
            cost, slope = self.of(score, code)
            weight = self._weights(block, scale)
            if weight is not None:
                cost, slope = cost * weight, slope * weight[:, None]
            gradient = np.asarray(slope.T @ z) / scale
            if intercept:
                gradient = np.column_stack([slope.sum(axis=0), gradient])
            total = float(len(block)) if block.weight is None else float(block.weight.sum())
            return Sums(float(cost.sum()), gradient, self.mistakes(score, code), total)

    def _weights(self, block: Block, scale: Any) -> Floats | None:
        if not self.by_length:
            return block.weight
        z = block.x
        if not isinstance(z, np.ndarray):
            squares = np.asarray(z.multiply(z) @ np.broadcast_to(1.0 / scale**2, z.shape[1])).ravel()
        else:
            squares = np.einsum("ij,ij->i", z, z)
        factor = 1.0 / np.where(squares > 0, squares, 1.0)
        return factor if block.weight is None else factor * block.weight


@dataclass(eq=False)
class RowSums:
    """The sums of a criterion over the rows of ``passes``, at any theta (functions x size, intercepts first).

    ``coordinates`` is None where rows are in these units already. ``count`` is called with the rows of each pass.
    """

    passes: Passes
    classes: NDArray[Any]
    criterion: Criterion
    coordinates: Coordinates | None
    intercept: bool
    count: Callable[[int], None] | None = None
    done: int = 0

    def at(self, theta: Floats) -> Sums:
        """The sums over all rows: one pass of 4 n p multiplications a function."""
        self.done += 1
        if self.count is not None:
            self.count(self.passes.shape.n_rows or 0)
        over = Sum(lambda block: self.of(block, theta), merge_sums, theta.size)
        return self.passes.reduce(over, title=f"step {self.done}")

    def of(self, block: Block, theta: Floats) -> Sums:
        """The sums over one block; sparse rows are neither centred nor copied."""
        x, units = block.x, self.coordinates
        scale: Any = 1.0
        if units is not None and isinstance(x, np.ndarray):
            with np.errstate(all="ignore"):
                x = (x - units.shift) / units.scale
        elif units is not None:
            scale = units.scale
        coded = Block(x, codes_in(block, self.classes), self.classes, block.weight)
        return self.criterion.sums(coded, theta, scale, intercept=self.intercept)


@stored(
    "descent ground",
    classes=Labels(),
    coordinates=Of(Coordinates, {"p": "p"}),
    bend=Number(),
    length=Number(),
    longest=Number(),
    n_rows=Whole(),
    mean_weight=Number(0.0),
)
@dataclass(frozen=True)
class Ground:
    """What a first look shows of the rows.

    ``coordinates`` are the units of the descent. ``bend`` is the largest eigenvalue of the mean z z' and ``length`` the
    mean, ``longest`` the largest |z|^2, constants included.
    """

    classes: NDArray[Any]
    coordinates: Coordinates
    bend: float
    length: float
    longest: float
    n_rows: int
    mean_weight: float


def survey(rows: Passes, *, intercept: bool, scale: bool, by_length: bool, known: Coordinates | None = None) -> Ground:
    """One look at the rows; with ``known`` coordinates these are kept."""
    if not rows.again:
        raise DataError(
            "Gradient descent reads its rows again and again, and this stream can be read once. "
            "Give a table or a file, or hand the parts to partial_fit."
        )
    view = look(rows, SAMPLE)
    if not (np.isfinite(view.mean).all() and np.isfinite(view.deviation).all()):
        raise rows.fault() or DataError("The squares of X overflow. Scale the columns.")
    coordinates = known or _coordinates(view, intercept=intercept, scale=scale)
    lengths = _lengths(view.sample, coordinates, by_length=by_length)
    weights = view.class_weights if rows.whole is None else rows.whole.weight
    mean_weight = 1.0 if weights is None else float(weights.sum()) / max(view.n_rows, 1)
    return Ground(view.classes, coordinates, *lengths, view.n_rows, mean_weight)


def scaled(x: NDArray[Any], coordinates: Coordinates) -> Floats:
    return np.ascontiguousarray((np.asarray(x, float) - coordinates.shift) / coordinates.scale)


def _coordinates(view: Overview, *, intercept: bool, scale: bool) -> Coordinates:
    """Columns centred and of variance one; sparse ones, and without an intercept, of mean square one."""
    p = len(view.mean)
    if not scale:
        return Coordinates(np.zeros(p), np.ones(p), intercept)
    mean, deviation = view.mean, view.deviation
    if sparse.issparse(view.sample.x):
        mean, deviation = np.zeros(p), _root_mean_square(view.sample)
    elif not intercept:
        mean, deviation = np.zeros(p), np.sqrt(deviation**2 + view.mean**2)
    varies = deviation > 1e-13 * np.abs(view.mean)
    return Coordinates(mean, np.where(varies & (deviation > 0), deviation, 1.0), intercept)


def _lengths(sample: Block, coordinates: Coordinates, *, by_length: bool) -> tuple[float, float, float]:
    take = max(SAMPLE_NUMBERS // max(sample.x.shape[1], 1), 1)
    x, constant = sample.x[:take], float(coordinates.intercept)
    z: Any = x @ sparse.diags_array(1.0 / coordinates.scale) if sparse.issparse(x) else scaled(x, coordinates)
    squares = row_norms(z, squared=True)
    if not np.isfinite(squares).all():
        raise DataError("The squares of X overflow. Scale the columns.")
    weight = np.ones(len(squares)) if sample.weight is None else sample.weight[:take]
    factor = 1.0 / np.where(squares > 0, squares, 1.0) if by_length else np.ones(len(squares))
    total = max(float(weight.sum()), np.finfo(float).tiny)
    lengths = factor * (squares + constant)
    # In units of the longest row nothing overflows that is squared once more.
    unit = float(np.sqrt(max(squares.max(initial=0.0), constant))) or 1.0
    z, one = z / unit, constant / unit
    v = np.random.default_rng(0).standard_normal(z.shape[1] + 1)
    bend = 0.0
    for _ in range(PRODUCTS):
        v = v / max(float(np.linalg.norm(v)), np.finfo(float).tiny)
        score = (weight * factor / total) * (z @ v[:-1] + one * v[-1])
        v = np.append(z.T @ score, one * score.sum())
        bend = float(np.linalg.norm(v))
    counted = lengths[weight > 0]
    return 1.05 * bend * unit**2, float(weight @ lengths) / total, float(counted.max(initial=0.0))


def _root_mean_square(sample: Block) -> Floats:
    """Of the columns of sparse rows, weighted as these are."""
    x: Any = sample.x
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    return np.asarray(np.sqrt((x * x).T @ weight / max(float(weight.sum()), np.finfo(float).tiny)))
