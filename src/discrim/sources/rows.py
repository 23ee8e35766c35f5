"""Rows: what every model reads, wherever the data are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, Reads, join
from discrim.errors import DataError
from discrim.later import cached_property
from discrim.sources.design import Design
from discrim.typing import Floats

# Below this many numbers a table is converted at once; above, block by block.
SMALL = 1_000_000


class HasTarget(Protocol):
    """Rows that may have labels."""

    @property
    def labelled(self) -> bool: ...


class Rows(Protocol):
    """Labelled, weighted rows that can be read block by block.

    ``classes`` is None where there are no labels, and in a scan, whose blocks each bring their
    own classes. ``whole`` is one block over everything where that costs no copy. Without labels
    every row has the code 0 of ``classes = [0]``.
    """

    @property
    def design(self) -> Design: ...

    @property
    def n_rows(self) -> int | None: ...

    @property
    def classes(self) -> NDArray[Any] | None: ...

    @property
    def labelled(self) -> bool: ...

    @property
    def rereadable(self) -> bool: ...

    @property
    def whole(self) -> Block | None: ...

    def blocks(self) -> Iterator[Block]: ...


def check_labelled(rows: HasTarget) -> None:
    """Raise where a scan has no labels."""
    if not rows.labelled:
        raise DataError("The scan names no target. Say which column holds the labels: scan(data, target=...).")


def rows_per_block(n_columns: int) -> int:
    """Rows of a block of about a million numbers: a power of two from 256 to 65536."""
    wanted = (1 << 20) // max(n_columns, 1)
    return 1 << min(max(wanted.bit_length() - 1, 8), 16)


def find_non_finite(rows: Rows) -> DataError | None:
    """The error that names the columns with NaN or infinity and counts them; None if all is finite.

    To be called after a statistic came out non-finite: nobody scans finite data for it. Rows of
    weight zero count too. In mixed columns NaN is a missing value.
    """
    design: Any = rows.design
    if isinstance(design, Design):
        return non_finite_in(rows.blocks(), design)
    from discrim.sources.mixed import find_infinite

    return find_infinite(rows)


def non_finite_in(blocks: Iterable[Block], design: Design) -> DataError | None:
    """The same for some blocks of such rows."""
    width = design.n_out
    missing, infinite = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for block in blocks:
        for start in range(0, len(block), 8192):
            _count(block.x[start : start + 8192], missing, infinite)
    if not missing.any() and not infinite.any():
        return None
    return DataError.non_finite(_by_column(design, missing), _by_column(design, infinite))


def _count(x: Any, missing: NDArray[np.int64], infinite: NDArray[np.int64]) -> None:
    if isinstance(x, np.ndarray):
        missing += np.isnan(x).sum(axis=0)
        infinite += np.isinf(x).sum(axis=0)
    else:
        missing += np.bincount(x.indices[np.isnan(x.data)], minlength=x.shape[1])
        infinite += np.bincount(x.indices[np.isinf(x.data)], minlength=x.shape[1])


def _by_column(design: Design, counts: NDArray[np.int64]) -> dict[str, int]:
    """Counts under the names that the data came with: indicators of one category are one column."""
    named: dict[str, int] = {}
    j = 0
    for column in design.columns:
        if column.n_out and counts[j]:
            named[column.name] = int(counts[j])
        j += column.n_out
    return named


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


@dataclass(frozen=True)
class Attached:
    """The rows of ``inner``, each with more.

    ``offset`` and ``share`` are one number a row; with ``share`` every row has the code 1 among two ``classes``.
    """

    inner: Rows
    classes: NDArray[Any]
    offset: Floats | None = None
    share: Floats | None = None
    labelled: bool = True

    @property
    def design(self) -> Design:
        return self.inner.design

    @property
    def n_rows(self) -> int | None:
        return self.inner.n_rows

    @property
    def rereadable(self) -> bool:
        return self.inner.rereadable

    @cached_property
    def whole(self) -> Block | None:
        return None if self.inner.whole is None else self._attach(self.inner.whole, 0)

    def blocks(self) -> Iterator[Block]:
        if self.whole is not None:
            yield self.whole
            return
        start = 0
        for block in self.inner.blocks():
            yield self._attach(block, start)
            start += len(block)

    def _attach(self, block: Block, start: int) -> Block:
        stop = start + len(block)
        codes = block.codes if self.share is None else np.ones(len(block), np.int32)
        offset = block.offset if self.offset is None else self.offset[start:stop]
        share = None if self.share is None else self.share[start:stop]
        return Block(block.x, codes, self.classes, block.weight, offset, share)
