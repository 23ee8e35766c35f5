"""What gradient descent reads: rows in fair units, their lengths, and the sums of a criterion over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.engines.orders import Order
from discrim.engines.progress import Progress
from discrim.engines.threads import RowPasses, reduce_blocks
from discrim.engines.walk import Lane, walk
from discrim.errors import DataError
from discrim.families.first_look import Overview, look
from discrim.families.logistic.objective import Coordinates, codes_in
from discrim.families.online.criterion import Criterion, Sums, merge_sums
from discrim.families.online.descent import BatchSteps, Descent, EpochsOfBatches, Walker
from discrim.families.sequence import Stopping, Visits
from discrim.sources import Rows, Scan, find_non_finite, in_memory
from discrim.sources.rows import ArrayRows
from discrim.typing import Floats

# Rows that are looked at to learn units and lengths, and the numbers of them that are multiplied for a rate.
SAMPLE = 20_000
SAMPLE_NUMBERS = 4_000_000
# Numbers of X up to which scaled rows are kept beside the user's.
KEPT = 1 << 24
# Products that find the longest direction of the rows.
PRODUCTS = 30


@dataclass(frozen=True)
class Ground:
    """Rows as the descent reads them.

    ``rows`` are scaled already where ``scaled``; ``coordinates`` say how, in any case. ``bend`` is the largest
    eigenvalue of the mean z z' and ``length`` the mean, ``longest`` the largest |z|^2, constants included.
    """

    rows: Rows
    classes: NDArray[Any]
    coordinates: Coordinates
    scaled: bool
    bend: float
    length: float
    longest: float
    n_rows: int
    mean_weight: float


def survey(rows: Rows, *, intercept: bool, scale: bool, by_length: bool, known: Coordinates | None = None) -> Ground:
    """One look at the rows; with ``known`` coordinates these are kept."""
    if not rows.rereadable:
        raise DataError(
            "Gradient descent reads its rows again and again, and this stream can be read once. "
            "Give a table or a file, or hand the parts to partial_fit."
        )
    view = look(RowPasses(rows), SAMPLE)
    if not (np.isfinite(view.mean).all() and np.isfinite(view.deviation).all()):
        raise find_non_finite(rows) or DataError("The squares of X overflow. Scale the columns.")
    coordinates = known or _coordinates(view, intercept=intercept, scale=scale)
    bend, length, longest = _lengths(view.sample, coordinates, by_length=by_length)
    kept, mean_weight = _kept(rows), _mean_weight(rows, view)
    scaled = kept is not None and isinstance(kept.x, np.ndarray)
    if kept is not None and isinstance(kept.x, np.ndarray):
        rows = ArrayRows(rows.design, replace(kept, x=_scaled(kept.x, coordinates)), labelled=True)
    return Ground(rows, view.classes, coordinates, scaled, bend, length, longest, view.n_rows, mean_weight)


class RowSums:
    """The sums of a criterion over ``rows``, at any theta; ``coordinates`` None says that they are as they shall be."""

    def __init__(
        self,
        rows: Rows,
        classes: NDArray[Any],
        criterion: Criterion,
        coordinates: Coordinates | None,
        *,
        intercept: bool,
    ) -> None:
        self.rows, self.classes, self.criterion = rows, classes, criterion
        self.coordinates, self.intercept = coordinates, intercept
        self.passes = 0
        # Shows rows read, where somebody may wait for them.
        self.progress: Progress | None = None

    def at(self, theta: Floats) -> Sums:
        """The sums over all rows: one pass of 4 n p multiplications a function."""
        self.passes += 1
        if self.progress is not None:
            self.progress.add(self.rows.n_rows or 0)
        return reduce_blocks(
            self.rows, lambda block: self.of(block, theta), merge_sums, state_bytes=8 * theta.size,
            title=f"step {self.passes}",
        )  # fmt: skip

    def of(self, block: Block, theta: Floats) -> Sums:
        """The sums over one block; sparse rows are neither centred nor copied."""
        scale: Any = 1.0
        if self.coordinates is not None or block.classes is not self.classes:
            x, units = block.x, self.coordinates
            if units is not None and isinstance(x, np.ndarray):
                with np.errstate(all="ignore"):
                    x = (x - units.shift) / units.scale
            elif units is not None:
                scale = units.scale
            block = Block(x, codes_in(block, self.classes), self.classes, block.weight)
        return self.criterion.sums(block, theta, scale, intercept=self.intercept)


def descend_by_batches(sums: RowSums, walker: Walker, steps: BatchSteps, order: MiniBatches, n_rows: int) -> Descent:
    """Epochs of steps by a few rows each. Cost: a pass an epoch, and a few array operations a step."""
    state, options = EpochsOfBatches(walker), steps.options
    steps.write_down(walker)
    # What overflows on the way is a divergence, and reported as such.
    with np.errstate(over="ignore", invalid="ignore"):
        walk(steps, state, [Lane((0,), order)], Stopping(options.max_iter), n_rows, title="gradient descent")
    final = sums.at(walker.theta)
    value = final.loss / final.weight + options.penalty(walker.theta)
    return Descent(walker.theta, value, state.end, np.nan, state.first, state.value)


class MiniBatches(Order):
    """All rows once, ``size`` at a time, in random order; of a scan in random order within what is read at once."""

    def __init__(self, rows: Rows, size: int, rng: np.random.Generator) -> None:
        self._rows, self._size, self._rng = rows, size, rng

    def epoch(self) -> Iterator[Visits]:
        for block in self._rows.blocks():
            order = self._rng.permutation(len(block))
            for start in range(0, len(block), self._size):
                yield Visits.of(block.take(order[start : start + self._size]))


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
    z: Any = x @ sparse.diags_array(1.0 / coordinates.scale) if sparse.issparse(x) else _scaled(x, coordinates)
    squares = np.einsum("ij,ij->i", z, z) if isinstance(z, np.ndarray) else np.asarray((z * z).sum(axis=1)).ravel()
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


def _scaled(x: NDArray[Any], coordinates: Coordinates) -> Floats:
    return np.ascontiguousarray((np.asarray(x, float) - coordinates.shift) / coordinates.scale)


def _kept(rows: Rows) -> Block | None:
    """All rows as one block, where they lie in memory and are not too many."""
    if isinstance(rows, Scan) or (rows.n_rows or 0) * rows.design.n_out > KEPT:
        return None
    return rows.whole if rows.whole is not None else in_memory(rows)


def _mean_weight(rows: Rows, view: Overview) -> float:
    if rows.whole is not None:
        weight = rows.whole.weight
        return 1.0 if weight is None else float(weight.mean())
    weight = view.class_weights
    return 1.0 if weight is None else float(weight.sum()) / max(view.n_rows, 1)
