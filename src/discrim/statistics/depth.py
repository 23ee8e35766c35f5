"""How much of the scatter a statistic remembers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from discrim import kernels


class Depth(StrEnum):
    """``diagonal``: variances of each class; ``pooled``: one matrix for all; ``full``: one matrix a class."""

    DIAGONAL = "diagonal"
    POOLED = "pooled"
    FULL = "full"

    @property
    def number(self) -> int:
        """The number by which the kernels know it."""
        return {Depth.DIAGONAL: kernels.DIAGONAL, Depth.POOLED: kernels.POOLED, Depth.FULL: kernels.FULL}[self]


class WithDepth:
    """A statistic with a ``depth``, which stays one where a format, such as that of skops, keeps strings only."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, depth=Depth(state["depth"]))
