"""Rows with something more to each of them: class weights, offsets, or counts of successes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.later import cached_property
from discrim.sources.design import Design
from discrim.sources.labels import recode
from discrim.sources.rows import Rows
from discrim.typing import Floats


@dataclass(frozen=True)
class Attached:
    """The rows of ``inner``, each with more.

    ``class_weight`` multiplies the weights of the rows of every class, ``offset`` and ``share`` are one number a row,
    and ``classes``, where the labels did not say it, are all there are; with ``share`` every row has the code 1, and
    ``class_weight`` multiplies its failures and its successes.
    """

    inner: Rows
    classes: NDArray[Any]
    class_weight: Floats | None = None
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
        codes, weight = block.codes, block.weight
        if self.share is not None:
            codes = np.ones(len(block), np.int32)
        elif block.classes is not self.classes:
            codes = recode(block.classes, self.classes)[codes]
        offset = block.offset if self.offset is None else self.offset[start:stop]
        share = None if self.share is None else self.share[start:stop]
        if self.class_weight is not None:
            factor = self.class_weight[codes]
            if share is not None:
                failures, successes = self.class_weight[0] * (1.0 - share), self.class_weight[1] * share
                factor = failures + successes
                share = np.where(factor > 0, successes / np.where(factor > 0, factor, 1.0), 0.0)
            weight = factor * (1.0 if weight is None else weight)
        return Block(block.x, codes, self.classes, weight, offset, share)
