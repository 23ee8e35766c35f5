"""Rows with their squares and products, made block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.later import cached_property
from discrim.sources import Column, Design, Rows


def expand(x: NDArray[Any]) -> NDArray[Any]:
    """Columns x_i, then x_i x_j for i <= j."""
    p = x.shape[1]
    i, j = np.triu_indices(p)
    with np.errstate(over="ignore", invalid="ignore"):  # told later, with the names of the columns
        return np.concatenate([x, x[:, i] * x[:, j]], axis=1)


def expanded_names(names: list[str]) -> list[str]:
    pairs = zip(*np.triu_indices(len(names)), strict=True)
    return names + [f"{names[i]}^2" if i == j else f"{names[i]}:{names[j]}" for i, j in pairs]


@dataclass(frozen=True)
class QuadraticRows:
    """The rows of another source in the quadratic basis."""

    inner: Rows

    @cached_property
    def design(self) -> Design:
        return Design([Column(name) for name in expanded_names(self.inner.design.names_out)], self.inner.design.dtype)

    @property
    def n_rows(self) -> int | None:
        return self.inner.n_rows

    @property
    def classes(self) -> NDArray[Any] | None:
        return self.inner.classes

    @property
    def labelled(self) -> bool:
        return self.inner.labelled

    @property
    def rereadable(self) -> bool:
        return self.inner.rereadable

    @property
    def whole(self) -> Block | None:
        return None

    def blocks(self) -> Iterator[Block]:
        for block in self.inner.blocks():
            for start in range(0, len(block), 8192):
                part = block.rows(start, start + 8192)
                x = part.x if isinstance(part.x, np.ndarray) else part.x.toarray()
                yield Block(expand(x), part.codes, part.classes, part.weight)
