"""The rows once more, for a recipe that needs them after its statistic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from discrim.block import Block, Reads
from discrim.engines.threads import reduce
from discrim.errors import DataError
from discrim.families.recipe import Passes, Reduction, Shape
from discrim.sources import Design, Rows, find_non_finite, in_memory
from discrim.sources.arrays import ArrayRows

State = TypeVar("State")


class RowPasses(Passes):
    """Passes over rows of any source, for a recipe that ``reads`` them so."""

    def __init__(self, rows: Rows, reads: Reads = "dense") -> None:
        self._rows, self._reads, self._fresh = rows, reads, True

    @property
    def rows(self) -> Rows:
        return self._rows

    @property
    def again(self) -> bool:
        return self.rows.rereadable

    @property
    def shape(self) -> Shape:
        return Shape(self.rows.design, self.rows.classes, self.rows.n_rows)

    @property
    def whole(self) -> Block | None:
        return self.rows.whole

    def reduce(self, reduction: Reduction[State], *, title: str = "reading") -> State:
        if not (self.again or self._fresh):
            raise DataError("These rows can be read only once. Use a table or a file instead of the stream.")
        self._fresh = False
        return reduce(self.rows, reduction, title=title)

    def blocks(self) -> Iterator[Block]:
        return self.rows.blocks()

    def block(self) -> Block:
        return in_memory(self.rows, self._reads)

    def over(self, block: Block) -> RowPasses:
        design, width = self.rows.design, block.x.shape[1]
        same = width == design.n_out and block.x.dtype == design.dtype
        return passes_over(block, design if same else Design.unnamed(width, block.x.dtype))

    def fault(self) -> DataError | None:
        return find_non_finite(self.rows) if self.again else None


def passes_over(block: Block, design: Design | None = None) -> RowPasses:
    """Passes over rows in memory; ``design`` has the names of their columns."""
    if design is None:
        design = Design.unnamed(block.x.shape[1], block.x.dtype)
    return RowPasses(ArrayRows(design, block, labelled=True))
