"""The constant of a two-class rule that makes the fewest errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.recipe import Shape
from discrim.families.rule import LinearRule, Output, float_type
from discrim.statistics.one_form import OneForm
from discrim.typing import Floats

# Margins of rows, whether they are of the second class, and their weights.
Margins = tuple[Floats, NDArray[np.bool_], Floats]


@dataclass(frozen=True, eq=False)
class MarginsOf(OneForm):
    """The margins of all rows in order; ``second`` is the label of the second class."""

    rule: LinearRule
    second: Any

    def of(self, block: Block) -> Margins:
        scores = np.empty((len(block), 2))
        x: Any = block.x if self.rule.keeps_sparse else block.dense()
        self.rule.fill(x, Output.SCORES, scores)
        margin = (scores[:, 1] - scores[:, 0]).astype(float_type(x)).astype(np.float64)
        weight = np.ones(len(block)) if block.weight is None else block.weight
        return margin, np.asarray(block.classes[block.codes] == self.second), weight

    def merge(self, states: Sequence[Margins]) -> Margins:
        margin, second, weight = (np.concatenate(parts) for parts in zip(*states, strict=True))
        return margin, second, weight

    def numbers(self, shape: Shape) -> int:  # noqa: ARG002 - as many as a part has rows
        return 0


def best_shift(margin: Floats, second: NDArray[np.bool_], weight: Floats) -> float:
    """What to add to the margins so that their signs err least; of several the one nearest to zero.

    All cuts between neighbouring margins are tried: rows above a cut are called second. Cost: n log n.
    """
    order = np.argsort(margin, kind="stable")
    m, gain = margin[order], np.where(second, weight, -weight)[order]
    # errors(cut before position i) = second rows below the cut + first rows above it
    lost = np.concatenate([[0.0], np.cumsum(gain)])
    # Margins that differ by rounding cannot be cut apart.
    apart = m[1:] - m[:-1] > 1e-11 * np.maximum(np.abs(m[1:]), 1.0)
    cuts = np.concatenate([[True], apart, [True]])
    # Sums of equal errors differ by rounding.
    best = np.flatnonzero(cuts & (lost <= lost[cuts].min() + 1e-12 * weight.sum()))
    edges = np.concatenate([[-np.inf], m, [np.inf]])
    lower, upper = edges[best], edges[best + 1]
    if ((lower <= 0) & (upper > 0)).any():
        return 0.0
    finite = np.where(np.isinf(lower), upper - 1.0, np.where(np.isinf(upper), lower + 1.0, 0.5 * (lower + upper)))
    return -float(finite[np.argmin(np.abs(finite))])
