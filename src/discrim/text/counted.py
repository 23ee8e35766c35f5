"""Word counts that are kept while the vocabulary is still being learned, so that documents are read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.text.block import DocumentBlock
from discrim.text.frequent import Counted, FrequentWords

# Counts that are kept: eight bytes each.
MOST = 1 << 24


class CountedBlock(NamedTuple):
    """Rows of word counts, with the labels and weights of their documents."""

    x: Any
    labels: NDArray[Any] | None
    weight: NDArray[np.float64] | None


def together(blocks: Sequence[CountedBlock]) -> CountedBlock:
    """All rows in one block."""
    x = blocks[0].x if len(blocks) == 1 else sparse.vstack([block.x for block in blocks], format="csr")
    labels = [block.labels for block in blocks if block.labels is not None]
    weights = [block.weight for block in blocks if block.weight is not None]
    return CountedBlock(x, np.concatenate(labels) if labels else None, np.concatenate(weights) if weights else None)


class Kept:
    """The counts of all blocks so far, by the order in which words were first met.

    They are given up when there are more than ``most``, or when a word was: then its number is no longer its own.
    """

    def __init__(self, most: int = MOST) -> None:
        self._room: int = most
        self._blocks: list[tuple[Counted, DocumentBlock]] | None = []

    def add(self, counted: Counted, block: DocumentBlock, *, exact: bool) -> None:
        self._room -= len(counted.words)
        if not exact or self._room < 0:
            self._blocks = None
        if self._blocks is not None:
            # The texts themselves are not kept.
            self._blocks.append((counted, DocumentBlock([], block.labels, block.weight)))

    def blocks(self, table: FrequentWords, words: list[str]) -> list[CountedBlock] | None:
        """The rows with the columns ``words``; None where the documents have to be read again."""
        if self._blocks is None:
            return None
        column = np.full(len(table), -1, dtype=np.int32)
        column[table.numbers_of(words)] = np.arange(len(words), dtype=np.int32)
        return [
            CountedBlock(_rows(counted, column, len(words)), block.labels, block.weight)
            for counted, block in self._blocks
        ]


def _rows(counted: Counted, column: NDArray[np.int32], width: int) -> Any:
    columns = column[counted.words]
    known = columns >= 0
    row = np.repeat(np.arange(len(counted.sizes)), counted.sizes)[known]
    first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(counted.sizes)))]).astype(np.int32)
    values = counted.times[known].astype(np.float64)
    x: Any = sparse.csr_matrix((values, columns[known], first), shape=(len(counted.sizes), width))
    x.sort_indices()
    return x
