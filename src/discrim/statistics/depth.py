"""How much of the scatter a statistic remembers."""

from __future__ import annotations

from enum import StrEnum

from discrim import _kernels


class Depth(StrEnum):
    """``diagonal``: variances of each class; ``pooled``: one matrix for all; ``full``: one matrix a class."""

    DIAGONAL = "diagonal"
    POOLED = "pooled"
    FULL = "full"

    @property
    def number(self) -> int:
        """The number by which the kernels know it."""
        return {Depth.DIAGONAL: _kernels.DIAGONAL, Depth.POOLED: _kernels.POOLED, Depth.FULL: _kernels.FULL}[self]
