"""How much of the scatter a statistic remembers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Depth(StrEnum):
    """``diagonal``: variances of each class; ``pooled``: one matrix for all; ``full``: one matrix a class."""

    DIAGONAL = "diagonal"
    POOLED = "pooled"
    FULL = "full"


class WithDepth:
    """A statistic with a ``depth``, which stays one where a format, such as that of skops, keeps strings only."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, depth=Depth(state["depth"]))
