"""Something for every row: computed block by block, on all threads, and put together in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.engines.objective import Coordinates
from discrim.engines.threads import reduce_blocks
from discrim.parallel import one_blas_thread
from discrim.sources import Rows
from discrim.typing import Floats

Arrays = tuple[NDArray[Any], ...]

# Numbers that a block's intermediate results may have at once.
MOST_NUMBERS = 1 << 20


def each_row(rows: Rows, of: Callable[[Block], Arrays], *, numbers: int = 1) -> Arrays:
    """The arrays that ``of`` gives for each block (first axis: its rows), concatenated: one pass.

    ``numbers`` is how many numbers ``of`` keeps for a row at work; blocks are cut so that these stay few.
    """
    step = max(MOST_NUMBERS // max(numbers, 1), 1)

    def parts_of(block: Block) -> list[Arrays]:
        return [of(block.rows(start, min(start + step, len(block)))) for start in range(0, len(block), step)]

    with one_blas_thread():
        parts = reduce_blocks(rows, parts_of, _in_order)
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def take_rows(rows: Rows, wanted: Sequence[int]) -> list[Block]:
    """The rows of these numbers, counted from 0, each as a block of its own in the order asked for: one pass."""
    found: dict[int, Block] = {}
    first = 0
    for block in rows.blocks():
        inside = {i for i in wanted if first <= i < first + len(block)}
        found.update({i: block.rows(i - first, i - first + 1) for i in inside})
        first += len(block)
    return [found[i] for i in wanted]


class WithoutRow:
    """``Rows`` of which one, counted from 0, has the weight zero."""

    rereadable = True

    def __init__(self, rows: Rows, left_out: int) -> None:
        self.rows, self.left_out = rows, left_out
        self.design, self.n_rows, self.classes, self.labelled = rows.design, rows.n_rows, rows.classes, rows.labelled
        self.whole = None if rows.whole is None else _without(rows.whole, left_out)

    def blocks(self) -> Iterator[Block]:
        if self.whole is not None:
            yield self.whole
            return
        first = 0
        for block in self.rows.blocks():
            inside = first <= self.left_out < first + len(block)
            yield _without(block, self.left_out - first) if inside else block
            first += len(block)


def linear_parts(block: Block, coordinates: Coordinates, theta: Floats) -> Floats:
    """Z theta (n x m) for solver's coefficients theta (size x m), without the offset.

    Columns are centred before they are multiplied, so that a large mean costs no digits. Cost: n p m.
    """
    constant = theta[0] if coordinates.intercept else np.zeros(theta.shape[1])
    slopes = theta[1:] if coordinates.intercept else theta
    inner = slopes / coordinates.scale[:, None] if coordinates.basis is None else coordinates.basis @ slopes
    if sparse.issparse(block.x):
        return np.asarray(block.x @ inner) + (constant - coordinates.shift @ inner)
    return np.asarray((block.x - coordinates.shift) @ inner + constant)


def _in_order(parts: Sequence[list[Arrays]]) -> list[Arrays]:
    # Lists are joined, and arrays only once at the end: a long stream would else be copied again and again.
    return [arrays for part in parts for arrays in part]


def _without(block: Block, i: int) -> Block:
    weight = np.ones(len(block)) if block.weight is None else block.weight.copy()
    weight[i] = 0.0
    return replace(block, weight=weight)
