"""All rows in memory at once, for what cannot be done block by block."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from discrim.block import Block, join
from discrim.errors import DataError
from discrim.sources.rows import Rows


def in_memory(rows: Rows, *, first_read: bool = False) -> Block:
    """All rows as one dense block; ``first_read`` where nobody has read them before."""
    block = _held(rows, first_read=first_read)
    return block if isinstance(block.x, np.ndarray) else replace(block, x=block.dense())


def in_memory_sparse(rows: Rows, *, first_read: bool = False) -> Block:
    """All rows as one sparse block, for models to which zeros say nothing."""
    block = _held(rows, first_read=first_read)
    return replace(block, x=sparse.csr_array(block.x)) if isinstance(block.x, np.ndarray) else block


def _held(rows: Rows, *, first_read: bool) -> Block:
    if rows.whole is not None:
        return rows.whole
    if not rows.rereadable and not first_read:
        raise DataError(
            "These rows can be read only once, and 'cv', 'loo' and covariance estimators read them again. "
            "Give a number instead, or a table or a file instead of the stream."
        )
    return join(list(rows.blocks()))
