"""All rows in memory at once, for what cannot be done block by block."""

from __future__ import annotations

from discrim.block import Block, Reads, join
from discrim.errors import DataError
from discrim.sources.rows import Rows


def in_memory(rows: Rows, reads: Reads = "dense", *, first_read: bool = False) -> Block:
    """All rows as one block, as a model reads them; ``first_read`` where nobody has read them before."""
    if rows.whole is not None:
        return rows.whole.kept(reads)
    if not rows.rereadable and not first_read:
        raise DataError(
            "These rows can be read only once, and 'cv', 'loo' and covariance estimators read them again. "
            "Give a number instead, or a table or a file instead of the stream."
        )
    return join(list(rows.blocks())).kept(reads)
