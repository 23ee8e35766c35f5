"""Losses and their slopes, summed over the rows: what gradient descent asks for at each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.engines import reduce_blocks
from discrim.engines.progress import Progress
from discrim.families.logistic.objective import Coordinates, codes_in
from discrim.losses import SOFTMAX_CURVATURE, Loss, softmax_slope, softmax_value
from discrim.sources import Rows
from discrim.typing import Floats


@dataclass(frozen=True)
class Sums:
    """``loss`` and ``gradient`` (like theta) of some rows, the rows on the wrong side, and the weight of all.

    With one function a row on the boundary is wrong, with several one whose own function is not the largest.
    """

    loss: float
    gradient: Floats
    mistakes: int
    weight: float


@dataclass(frozen=True)
class Criterion:
    """What a row costs: a ``loss`` of each function's score, or softmax cross entropy where that is None.

    With ``functions`` = 1 the score tells the second class from the first; with K of them each tells its class from
    the others. ``by_length`` divides each row's cost by its squared length |z|^2 (a row of zeros keeps its cost).
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
            return softmax_value(score, code), softmax_slope(score, code)
        low, high = self.loss.targets
        own = code == 1 if self.functions == 1 else None
        hit = own[:, None] if own is not None else code[:, None] == np.arange(self.functions)
        target = np.where(hit, high, low)
        return self.loss.value(score, target).sum(axis=1), self.loss.slope(score, target)

    def mistakes(self, score: Floats, code: NDArray[np.integer]) -> int:
        if self.functions == 1:
            return int(np.count_nonzero(np.where(code == 1, score[:, 0], -score[:, 0]) <= 0))
        return int(np.count_nonzero(score.argmax(axis=1) != code))


class LossSums:
    """The sums of a criterion over rows, at any theta (functions x size), intercepts first.

    ``coordinates`` None says that the rows are as they shall be.
    """

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
        # Told of rows read, where somebody may wait for them.
        self.progress: Progress | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.criterion.functions, self.rows.design.n_out + self.intercept

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
        """The sums over one block. What overflows is left for the descent to notice."""
        slopes = theta[:, 1:] if self.intercept else theta
        code = codes_in(block, self.classes)
        with np.errstate(all="ignore"):
            z, scale = self._seen(block.x)
            score = np.asarray(z @ (slopes / scale).T) + (theta[:, 0] if self.intercept else 0.0)
            cost, slope = self.criterion.of(score, code)
            weight = self._weights(block, z, scale)
            if weight is not None:
                cost, slope = cost * weight, slope * weight[:, None]
            gradient = np.asarray(slope.T @ z) / scale
            if self.intercept:
                gradient = np.column_stack([slope.sum(axis=0), gradient])
            total = float(len(block)) if block.weight is None else float(block.weight.sum())
            return Sums(float(cost.sum()), gradient, self.criterion.mistakes(score, code), total)

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Block]:
        """All rows once, ``size`` at a time, in random order; of a scan in random order within what is read at once."""
        for block in self.rows.blocks():
            if self.progress is not None:
                self.progress.add(len(block))
            order = rng.permutation(len(block))
            for start in range(0, len(block), size):
                yield block.take(order[start : start + size])

    def _seen(self, x: Any) -> tuple[Any, Any]:
        """Rows, and the scale by which they are still to be divided: sparse ones are neither centred nor copied."""
        if self.coordinates is None:
            return x, 1.0
        if sparse.issparse(x):
            return x, self.coordinates.scale
        return (x - self.coordinates.shift) / self.coordinates.scale, 1.0

    def _weights(self, block: Block, z: Any, scale: Any) -> Floats | None:
        if not self.criterion.by_length:
            return block.weight
        if not isinstance(z, np.ndarray):
            squares = np.asarray(z.multiply(z) @ np.broadcast_to(1.0 / scale**2, z.shape[1])).ravel()
        else:
            squares = np.einsum("ij,ij->i", z, z)
        factor = 1.0 / np.where(squares > 0, squares, 1.0)
        return factor if block.weight is None else factor * block.weight


def merge_sums(parts: Sequence[Sums]) -> Sums:
    gradient = parts[0].gradient.copy()
    for part in parts[1:]:
        gradient += part.gradient
    return Sums(sum(p.loss for p in parts), gradient, sum(p.mistakes for p in parts), sum(p.weight for p in parts))
