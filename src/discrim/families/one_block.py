"""Rows that are at hand as one block, read by the calling thread: one of several fits that run side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from discrim.block import Block
from discrim.families.recipe import Passes, Reduction, Shape, Turned

State = TypeVar("State")


class OneBlock(Passes):
    """Passes over rows that somebody has checked."""

    again = True

    def __init__(self, block: Block) -> None:
        self._block = block

    @property
    def whole(self) -> Block:
        return self._block

    @property
    def shape(self) -> Shape:
        x = self.whole.x
        return Shape(Turned(x.shape[1], x.dtype), self.whole.classes, len(self.whole))

    def reduce(self, reduction: Reduction[State], *, title: str = "") -> State:  # noqa: ARG002 - soon done
        return reduction.of(self.whole)

    def blocks(self) -> Iterator[Block]:
        yield self.whole

    def block(self) -> Block:
        return replace(self.whole, x=np.asarray(self.whole.dense()))

    def over(self, block: Block) -> OneBlock:
        return OneBlock(block)
