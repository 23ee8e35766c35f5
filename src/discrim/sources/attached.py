"""Rows with something more to each of them: offsets, or counts of successes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.later import cached_property
from discrim.sources.design import Design
from discrim.sources.rows import Rows
from discrim.typing import Floats


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
