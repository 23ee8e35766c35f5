"""Rows as a solver sees them, a few thousand at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.engines.objective import Coordinates, codes_in
from discrim.typing import Floats

# Numbers of z that are written out at once.
NUMBERS = 1 << 17


def solver_rows(
    block: Block, classes: NDArray[Any], coordinates: Coordinates, numbers_a_row: int
) -> Iterator[tuple[Block, Floats]]:
    """Parts of the block and their z, with the leading 1 of the intercept; rows of weight zero are left out.

    The codes of a part count among ``classes``. ``numbers_a_row`` is what the caller makes of a row: parts are as
    long as memory in cache allows. There is at least one part, which may be empty.
    """
    codes = codes_in(block, classes)
    length = max(NUMBERS // max(numbers_a_row, coordinates.size, 1), 16)
    for start in range(0, max(len(block), 1), length):
        part = block.rows(start, min(start + length, len(block)))
        part_codes = codes[start : start + length]
        if part.weight is not None and not (part.weight > 0).all():
            keep = np.flatnonzero(part.weight > 0)
            extra = (None if a is None else a[keep] for a in (part.weight, part.offset, part.share))
            part = Block(part.x[keep], part_codes[keep], classes, *extra)
        else:
            part = Block(part.x, part_codes, classes, part.weight, part.offset, part.share)
        yield part, _coordinates_of(part.x, coordinates)


def class_forms(z: Floats, matrix: Floats, classes: int) -> Floats:
    """z_i' M_kl z_i for every row i and the blocks M_kl of a matrix that has one for every two classes: n x K x K."""
    size = z.shape[1]
    forms = np.empty((len(z), classes, classes))
    for k in range(classes):
        across = (z @ matrix[k * size : (k + 1) * size]).reshape(len(z), classes, size)
        forms[:, k] = np.einsum("ilj,ij->il", across, z)
    return forms


def _coordinates_of(x: Any, coordinates: Coordinates) -> Floats:
    dense = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=float)
    centred = dense - coordinates.shift
    z = centred / coordinates.scale if coordinates.basis is None else centred @ coordinates.basis
    return np.column_stack([np.ones(len(z)), z]) if coordinates.intercept else np.asarray(z)
