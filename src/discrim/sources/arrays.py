"""Rows of NumPy arrays and SciPy sparse matrices, without a copy of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.sources.design import ArrayDesign, Design
from discrim.sources.rows import SMALL

FLOAT64 = np.dtype(np.float64)
FLOAT32 = np.dtype(np.float32)
CONVERTED_ROWS = 8192


@dataclass(frozen=True, slots=True)
class Labels:
    """The codes and weights that go with n rows, whatever the rows are kept in."""

    classes: NDArray[Any] | None
    codes: NDArray[np.int32]
    weight: NDArray[np.float64] | None

    def block(self, x: Any, start: int, stop: int) -> Block:
        weight = None if self.weight is None else self.weight[start:stop]
        classes = UNLABELLED if self.classes is None else self.classes
        return Block(x, self.codes[start:stop], classes, weight)


UNLABELLED = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class ArrayRows:
    """Rows that lie in one floating-point or sparse matrix: the only block is the whole."""

    design: Design
    whole: Block
    labelled: bool
    rereadable: bool = True

    @property
    def n_rows(self) -> int:
        return int(self.whole.codes.shape[0])

    @property
    def classes(self) -> NDArray[Any] | None:
        return self.whole.classes if self.labelled else None

    def blocks(self) -> Iterator[Block]:
        yield self.whole


@dataclass(frozen=True, slots=True)
class ConvertedRows:
    """Rows of an array of integers, half floats or foreign byte order, made floats block by block."""

    design: Design
    array: NDArray[Any]
    labels: Labels
    rereadable: bool = True
    whole: None = None

    @property
    def n_rows(self) -> int:
        return int(self.array.shape[0])

    @property
    def labelled(self) -> bool:
        return self.labels.classes is not None

    @property
    def classes(self) -> NDArray[Any] | None:
        return self.labels.classes

    def blocks(self) -> Iterator[Block]:
        for start in range(0, self.n_rows, CONVERTED_ROWS):
            stop = min(start + CONVERTED_ROWS, self.n_rows)
            yield self.labels.block(self.array[start:stop].astype(np.float64), start, stop)


def is_ready(x: NDArray[Any]) -> bool:
    """Can the kernels read this array as it is?"""
    return x.dtype in {FLOAT64, FLOAT32} and x.flags.aligned


def array_rows(x: NDArray[Any], labels: Labels, design: Design | None) -> ArrayRows | ConvertedRows:
    """Rows of a numeric array with two dimensions."""
    ready = is_ready(x)
    if design is None:
        design = ArrayDesign(x.shape[1], x.shape[1], x.dtype if ready else FLOAT64)
    if not ready and x.size >= SMALL:
        return ConvertedRows(design, x, labels)
    x = x if ready else x.astype(np.float64)
    return ArrayRows(design, labels.block(x, 0, x.shape[0]), labels.classes is not None)


def as_csr(x: Any) -> sparse.csr_array:
    """Sparse rows as float64 or float32, each entry stored once; arrays are shared where they fit."""
    dtype = x.dtype if x.dtype in (FLOAT64, FLOAT32) else FLOAT64
    rows: Any = sparse.csr_array(x, dtype=dtype)
    # Asked of the caller's own matrix where that is one: it remembers the answer, which takes a read of the columns.
    asked = x if getattr(x, "format", "") == "csr" else rows
    if not asked.has_canonical_format:
        # Entries that are stored in parts must be added up before they are squared.
        rows = rows.copy()
        rows.sum_duplicates()
    converted: sparse.csr_array = rows
    return converted
