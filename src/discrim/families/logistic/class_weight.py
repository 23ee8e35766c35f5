"""Weights of classes, by which the weights of their rows are multiplied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.families.logistic.objective import codes_in
from discrim.families.recipe import Passes, Reduction, Shape, Sum
from discrim.later import cached_property
from discrim.statistics.likelihood import add_arrays
from discrim.typing import Floats

State = TypeVar("State")


class Reweighted(Passes):
    """Passes over ``inner`` rows whose weights are multiplied by the ``factors`` of their ``classes``."""

    def __init__(self, inner: Passes, classes: NDArray[Any], factors: Floats) -> None:
        self.inner, self.classes, self.factors = inner, classes, factors

    @property
    def again(self) -> bool:
        return self.inner.again

    @property
    def shape(self) -> Shape:
        return replace(self.inner.shape, classes=self.classes)

    @cached_property
    def whole(self) -> Block | None:
        return None if self.inner.whole is None else self.weighed(self.inner.whole)

    def reduce(self, reduction: Reduction[State], *, title: str = "reading") -> State:
        if self.whole is not None:
            return self.inner.over(self.whole).reduce(reduction, title=title)
        size = reduction.numbers(self.shape)
        of = Sum(lambda block: reduction.of(self.weighed(block)), reduction.merge, size, reduction.uses_blas)
        return self.inner.reduce(of, title=title)

    def blocks(self) -> Iterator[Block]:
        return map(self.weighed, self.inner.blocks())

    def block(self) -> Block:
        return self.weighed(self.inner.block())

    def over(self, block: Block) -> Passes:
        return self.inner.over(block)

    def fault(self) -> DataError | None:
        return self.inner.fault()

    def weighed(self, block: Block) -> Block:
        """The block with its weights multiplied; of groups, failures and successes by their own factors."""
        codes, share = codes_in(block, self.classes), block.share
        factor = self.factors[codes]
        if share is not None:
            failures, successes = self.factors[0] * (1.0 - share), self.factors[1] * share
            factor = failures + successes
            share = np.where(factor > 0, successes / np.where(factor > 0, factor, 1.0), 0.0)
        weight = factor * (1.0 if block.weight is None else block.weight)
        return replace(block, codes=codes, classes=self.classes, weight=weight, share=share)


def class_factors(class_weight: Any, rows: Passes, classes: NDArray[Any], weights: Floats | None) -> Floats:
    """The factor of every class; "balanced" gives all the same weight. ``weights`` are theirs, where they are known."""
    labels = classes.tolist()
    if isinstance(class_weight, dict):
        strange = [label for label in class_weight if label not in set(labels)]
        # A part of the rows may lack a class. But where others have no weight, the names are probably wrong.
        if strange and any(label not in class_weight for label in labels):
            raise ParameterError(
                f"class_weight names the classes {written(strange)}, which are not in y: it has {written(labels)}."
            )
        given = [class_weight.get(label, 1.0) for label in labels]
        for label, weight in zip(labels, given, strict=True):
            if not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
                raise ParameterError.bad_value(f"class_weight[{label!r}]", weight, "a finite number of at least 0")
        return np.array(given, float)
    if weights is None:
        weights = rows.reduce(Sum(partial(class_weights, classes), add_arrays))
    return np.asarray(weights.sum() / (len(labels) * np.where(weights > 0, weights, 1.0)))


def class_weights(classes: NDArray[Any], block: Block) -> Floats:
    """The weight of every class in a block."""
    if block.share is None:
        codes = codes_in(block, classes)
        return np.bincount(codes, weights=block.weight, minlength=len(classes)).astype(float)
    w = np.ones(len(block)) if block.weight is None else block.weight
    return np.array([w @ (1.0 - block.share), w @ block.share])


def written(labels: list[Any], most: int = 20) -> str:
    """Labels as they would be typed, so that 1 and '1' look different."""
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(map(repr, labels[:most])) + more
