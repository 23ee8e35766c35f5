"""Which problems are learned: a class against the others, each with the weights of either side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from discrim.block import Block
from discrim.errors import DataError
from discrim.typing import Floats


@dataclass(frozen=True)
class Targets:
    """Problem k is the class with code ``positive[k]`` against the others, with the weights of either side."""

    positive: NDArray[np.int32]
    gain_positive: Floats
    gain_negative: Floats

    @classmethod
    def of(cls, gains: Floats) -> Targets:
        """Two classes are one problem, the second against the first; more are each against the rest."""
        k = len(gains)
        if k <= 2:
            pair = gains if k == 2 else np.array([gains[0], 1.0])
            return cls(np.array([1], np.int32), pair[1:], pair[:1])
        return cls(np.arange(k, dtype=np.int32), gains, np.ones(k))

    def taken(self, which: Any) -> Targets:
        return Targets(self.positive[which], self.gain_positive[which], self.gain_negative[which])


def coded(block: Block, classes: NDArray[Any]) -> Block:
    """The rows of a block in the codes of these classes, row by row: columns that lie apart are brought together."""
    x = block.x
    if isinstance(x, np.ndarray) and x.shape[1] and x.strides[1] != x.itemsize:
        x = np.ascontiguousarray(x)
    codes = block.codes
    if classes is not block.classes:
        codes = np.searchsorted(classes, block.classes).astype(np.int32)[codes]
    return Block(x, codes, classes, None if block.weight is None else np.ascontiguousarray(block.weight))


def problem_count(classes: NDArray[Any]) -> int:
    return 1 if len(classes) <= 2 else len(classes)


def class_gains(class_weight: Any, classes: NDArray[Any], counts: NDArray[np.integer]) -> Floats:
    """How much rows of each class count; 'balanced' is by how many rows of each there are."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        rows = int(counts.sum())
        return np.asarray(rows / (len(classes) * np.where(counts > 0, counts, 1).astype(float)))
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), dtype=np.float64)


def weighted(block: Block, gains: Floats) -> Block:
    """The same rows, of which those of class k count ``gains[k]`` times."""
    if (gains == 1.0).all():
        return block
    gain = gains[block.codes]
    return replace(block, weight=gain if block.weight is None else gain * block.weight)


def refuse_one_class(classes: NDArray[Any]) -> None:
    """A model that distinguishes nothing from anything is no answer."""
    if len(classes) < 2:
        raise DataError(
            f"The number of classes has to be greater than one; got 1 class: {classes.tolist()[0]!r}. "
            "Add rows of another class."
        )
