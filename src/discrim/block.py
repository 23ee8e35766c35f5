"""A block: some rows of the table, ready to be reduced. Taking rows out of one, and joining several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.typing import Codes, Floats, Index

# Sorted distinct values (float64 or text), of which some may not occur, and a code for each row, -1 if missing.
Coded = tuple[NDArray[Any], Codes]
# How a model reads its rows: as an array, as a sparse matrix in which zeros take no room, as ``Mixed`` columns, or as
# they come, dense or sparse.
Reads = Literal["dense", "sparse", "mixed", "any"]
# The classes of rows without labels.
UNLABELLED = np.zeros(1, dtype=np.int64)


def rows_per_block(n_columns: int) -> int:
    """Rows of a block of about a million numbers: a power of two from 256 to 65536."""
    wanted = (1 << 20) // max(n_columns, 1)
    return 1 << min(max(wanted.bit_length() - 1, 8), 16)


@dataclass(frozen=True, slots=True)
class Numbered(Sequence[Coded]):
    """Columns whose levels are 0, 1, 2, ..., below ``sizes`` (p), and all their ``codes`` as one array, n x p."""

    codes: Codes
    sizes: NDArray[np.int64]

    def __getitem__(self, j: Any) -> Any:
        return np.arange(self.sizes[j], dtype=np.float64), self.codes[:, j]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def levels(self) -> list[NDArray[np.float64]]:
        """The levels of each column, as views of the same numbers, which nobody may change."""
        every = np.arange(self.sizes.max(initial=0), dtype=np.float64)
        every.flags.writeable = False
        return [every[:size] for size in self.sizes.tolist()]


@dataclass(frozen=True, slots=True)
class Mixed:
    """Columns of some rows: ``numbers`` n x m, NaN where missing, and the coded ``levels`` of the others, in order."""

    numbers: NDArray[Any]
    levels: Sequence[Coded]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.numbers), self.numbers.shape[1] + len(self.levels)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def __getitem__(self, rows: Any) -> Mixed:
        """The rows of a slice as views, or copies of those with these numbers; all levels stay known."""
        if isinstance(self.levels, Numbered):
            return Mixed(self.numbers[rows], Numbered(self.levels.codes[rows], self.levels.sizes))
        return Mixed(self.numbers[rows], tuple((values, codes[rows]) for values, codes in self.levels))


@dataclass(frozen=True, slots=True)
class Block:
    """Rows ``x`` (n x p) of classes ``classes[codes]`` with weights ``weight`` (None is all ones).

    ``x`` is float64 or float32 in any memory order, a SciPy sparse array, or ``Mixed`` for the models that read those;
    ``codes`` is int32; ``classes`` is sorted. ``offset`` is a known part of the rows' linear predictor, and
    ``share`` the part of a row of weight w that is of the second class, where rows stand for groups.
    """

    x: NDArray[Any] | sparse.csr_array
    codes: Codes
    classes: NDArray[Any]
    weight: Floats | None = None
    offset: Floats | None = None
    share: Floats | None = None

    def rows(self, start: int, stop: int) -> Block:
        """The rows start to stop as views."""
        x = _sparse_rows(self.x, start, stop) if sparse.issparse(self.x) else self.x[start:stop]
        return Block(x, self.codes[start:stop], self.classes, *_parts(self, slice(start, stop)))

    def take(self, index: Index) -> Block:
        """Copies of the rows with these numbers."""
        x = self.x
        # ``take`` copies a row at a time, and before that everything that does not lie row by row.
        picked = x.take(index, axis=0) if isinstance(x, np.ndarray) and x.flags.c_contiguous else x[index]
        return Block(picked, self.codes[index], self.classes, *_parts(self, index))

    def present(self) -> Block:
        """The same without the classes that have no row."""
        found, codes = np.unique(self.codes, return_inverse=True)
        if len(found) == len(self.classes):
            return self
        return replace(self, codes=codes.astype(np.int32), classes=self.classes[found])

    def among(self, classes: NDArray[Any]) -> Block:
        """The same with its codes among these classes, which have all of its own."""
        if self.classes is classes or np.array_equal(self.classes, classes):
            return self
        return replace(self, codes=np.searchsorted(classes, self.classes).astype(np.int32)[self.codes], classes=classes)

    def dense(self) -> NDArray[Any]:
        """The rows as an array."""
        return self.x if isinstance(self.x, np.ndarray) else np.asarray(self.x.toarray())

    def kept(self, reads: Reads) -> Block:
        """The same with the rows as a model reads them."""
        if reads == "dense" and not isinstance(self.x, np.ndarray):
            return replace(self, x=self.dense())
        if reads == "sparse" and isinstance(self.x, np.ndarray):
            return replace(self, x=sparse.csr_array(self.x))
        return self

    def __len__(self) -> int:
        return int(self.codes.shape[0])


def join(blocks: Sequence[Block]) -> Block:
    """All blocks as one, with the union of their classes and levels; sparse rows stay sparse if all are."""
    if len(blocks) == 1:
        return blocks[0]
    classes, codes = _joined_codes(blocks)
    x: Any = blocks[0].x
    if isinstance(x, Mixed):
        x = _joined_columns([block.x for block in blocks])
    elif all(sparse.issparse(block.x) for block in blocks):
        stacked: Any = [block.x for block in blocks]
        x = sparse.csr_array(sparse.vstack(stacked, format="csr"))
    else:
        x = np.vstack([block.dense() for block in blocks])
    extra = (_joined([getattr(block, name) for block in blocks]) for name in ("weight", "offset", "share"))
    return Block(x, codes, classes, *extra)


def _parts(block: Block, rows: Any) -> list[Floats | None]:
    return [None if values is None else values[rows] for values in (block.weight, block.offset, block.share)]


def _joined_codes(blocks: Sequence[Block]) -> tuple[NDArray[Any], Codes]:
    first = blocks[0].classes
    if all(block.classes is first for block in blocks):
        return first, np.concatenate([block.codes for block in blocks])
    classes = np.unique(np.concatenate([block.classes for block in blocks]))
    codes = [np.searchsorted(classes, block.classes)[block.codes] for block in blocks]
    return classes, np.concatenate(codes).astype(np.int32)


def _joined(parts: Sequence[Floats | None]) -> Floats | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


def _joined_columns(parts: Sequence[Any]) -> Mixed:
    levels = tuple(_joined_levels(column) for column in zip(*(part.levels for part in parts), strict=True))
    return Mixed(np.concatenate([part.numbers for part in parts]), levels)


def _joined_levels(parts: Sequence[Coded]) -> Coded:
    known = [values for values, _ in parts if len(values)]
    if not known:
        return parts[0][0], np.concatenate([codes for _, codes in parts])
    union = np.unique(np.concatenate(known))
    ranks = [np.append(np.searchsorted(union, values), -1)[codes] if len(values) else codes for values, codes in parts]
    return union, np.concatenate(ranks).astype(np.int32)


def _sparse_rows(x: sparse.csr_array, start: int, stop: int) -> sparse.csr_array:
    """Rows start to stop as views; SciPy's own slices are copies, and its constructor copies short views."""
    stop = min(stop, x.shape[0])
    first = x.indptr[start : stop + 1]
    entries = slice(int(first[0]), int(first[-1]))
    part: Any = sparse.csr_array((stop - start, x.shape[1]), dtype=x.dtype)
    part.data, part.indices, part.indptr = x.data[entries], x.indices[entries], first - first[0]
    rows: sparse.csr_array = part
    return rows
