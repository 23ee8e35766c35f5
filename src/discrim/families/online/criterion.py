"""Losses and their slopes, summed over rows: what gradient descent asks for at each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.losses import SOFTMAX_CURVATURE, Loss, softmax_slope, softmax_value
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


def merge_sums(parts: Sequence[Sums]) -> Sums:
    gradient = parts[0].gradient.copy()
    for part in parts[1:]:
        gradient += part.gradient
    return Sums(sum(p.loss for p in parts), gradient, sum(p.mistakes for p in parts), sum(p.weight for p in parts))


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
