"""Rows of a block as the table that they were read from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.sources.design import Design, Kind, Table


class BlockTable(Table):
    """The columns of ``design`` with indicators as categories again, and the labels and weights under their names."""

    def __init__(self, block: Block, design: Design, target: str, weight: str | None) -> None:
        x = block.dense()
        starts = np.cumsum([0, *(column.n_out for column in design.columns)]).tolist()
        self._values: dict[str, NDArray[Any]] = {target: block.classes[block.codes]}
        if weight is not None:
            self._values[weight] = np.ones(len(block)) if block.weight is None else block.weight
        self._coded: dict[str, tuple[list[Any], NDArray[Any]]] = {}
        for column, (start, stop) in zip(design.columns, pairwise(starts), strict=True):
            if column.levels is None:
                self._values[column.name] = x[:, start]
            else:
                self._coded[column.name] = list(column.levels), _codes_of(x[:, start:stop])
        self.names, self.n_rows = [*design.names_in, *(name for name in (target, weight) if name)], len(block)

    @property
    def n_bytes(self) -> int:
        return sum(values.nbytes for values in self._values.values()) + sum(c.nbytes for _, c in self._coded.values())

    def kind(self, name: str) -> Kind:
        values = self._values.get(name)
        if values is None or values.dtype.kind not in "biuf":
            return "text"
        return "float32" if values.dtype == np.float32 else "number"

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        found = np.empty((stop - start, len(names)), dtype, order="F")
        for j, name in enumerate(names):
            found[:, j] = self._values[name][start:stop]
        return found

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        if name in self._coded:
            levels, codes = self._coded[name]
            return levels, codes[start:stop]
        values, found = np.unique(self._values[name][start:stop], return_inverse=True)
        return values.tolist(), found

    def labels(self, name: str, start: int, stop: int) -> Any:
        if name not in self._coded:
            return self._values[name][start:stop]
        levels, codes = self._coded[name]
        return np.array([*levels, None], dtype=object)[codes[start:stop]]


def _codes_of(indicators: NDArray[Any]) -> NDArray[np.int64]:
    """The number of the level of each row, -1 where it is missing."""
    number = indicators @ np.arange(1.0, indicators.shape[1] + 1)
    return np.where(np.isnan(number), -1, number).astype(np.int64)
