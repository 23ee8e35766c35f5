"""The rows once more, for a recipe that needs them after its statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from discrim.block import Block, Reads
from discrim.engines.threads import reduce
from discrim.errors import DataError
from discrim.families.recipe import Reduction
from discrim.sources import Rows, in_memory

State = TypeVar("State")


@dataclass(frozen=True)
class RowPasses:
    """``Passes`` over rows of any source, for a recipe that ``reads`` them so; ``again`` as they say themselves."""

    rows: Rows
    again: bool
    reads: Reads = "dense"

    def reduce(self, reduction: Reduction[State]) -> State:
        if not self.again:
            raise DataError("These rows can be read only once. Use a table or a file instead of the stream.")
        return reduce(self.rows, reduction)

    def block(self) -> Block:
        return in_memory(self.rows, self.reads)
