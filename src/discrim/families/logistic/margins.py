"""Margins of labelled rows: on which side of its classes' boundaries a direction puts every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.logistic.objective import Objective, class_forms, solver_rows
from discrim.families.recipe import Sum
from discrim.typing import Floats

State = TypeVar("State")

# States that are merged at once.
TOGETHER = 16


@dataclass(frozen=True)
class RowMargins:
    """Vectors a, one or more a row, such that a direction d leaves the row on its side where a'd >= 0.

    Binary: a = z for the second class and -z for the first; a group with both kinds has both. Softmax: a'd =
    (d_y - d_k)'z for every class k but the row's own y. The entries of d are those that ``free`` marks (flat), and
    every a has length one, or zero where z has. Rows of weight zero have none; an offset changes none.
    ``tests`` narrow the vectors to those for which every test is true.
    """

    objective: Objective
    free: NDArray[np.bool_]
    tests: tuple[Callable[[Floats], NDArray[np.bool_]], ...] = ()

    @property
    def width(self) -> int:
        return int(self.free.sum())

    def narrowed(self, test: Callable[[Floats], NDArray[np.bool_]]) -> RowMargins:
        """Those of the vectors, a matrix of them at a time, for which the test is true."""
        return replace(self, tests=(*self.tests, test))

    def reduce(self, of: Callable[[Floats], State], merge: Callable[[Sequence[State]], State]) -> State:
        """``of`` matrices with a vector a line, merged: one pass over the rows."""
        self.objective.passes += 1

        def of_block(block: Block) -> State:
            parts: list[State] = []
            for vectors in self._vectors(block):
                parts.append(of(self._narrow(vectors)))
                # Several vectors a row make many parts, which together may be larger than the rows.
                if len(parts) == TOGETHER:
                    parts = [merge(parts)]
            return merge(parts) if len(parts) > 1 else parts[0]

        found: State = self.objective.rows.reduce(Sum(of_block, merge, uses_blas=True))
        return found

    def _narrow(self, vectors: Floats) -> Floats:
        for test in self.tests:
            vectors = vectors[test(vectors)]
        return vectors

    def _vectors(self, block: Block) -> Iterator[Floats]:
        classes, free = self.objective.classes, self.free.reshape(self.objective.shape)
        numbers = (len(classes) - 1) * self.free.size + 1
        for part, z in solver_rows(block, classes, self.objective.coordinates, numbers):
            yield softmax_vectors(z, part.codes, free) if self.objective.softmax else _binary_vectors(z, part, free)


def softmax_vectors(z: Floats, codes: NDArray[np.int32], free: NDArray[np.bool_]) -> Floats:
    """The vectors of the rows against class 0, then against class 1, and so on; each row's own class is left out."""
    classes, size = free.shape
    parts = []
    for k in range(classes):
        others = np.flatnonzero(codes != k)
        vectors = np.zeros((len(others), classes, size))
        vectors[np.arange(len(others)), codes[others]] = z[others]
        vectors[:, k] = -z[others]
        parts.append(vectors.reshape(len(others), classes * size)[:, free.ravel()])
    return of_length_one(np.concatenate(parts))


def largest_form(objective: Objective, matrix: Floats) -> float:
    """The largest a'Ma over the margin vectors a as long as the rows make them, M square in theta's size: one pass."""
    objective.passes += 1

    def of(block: Block) -> float:
        largest = 0.0
        for part, z in solver_rows(block, objective.classes, objective.coordinates, len(matrix) + 1):
            largest = max(largest, float(_forms(objective, part, z, matrix).max(initial=0.0)))
        return largest

    largest: float = objective.rows.reduce(Sum(of, _largest, uses_blas=True))
    return largest


def _largest(parts: Sequence[float]) -> float:
    return max(parts)


def _forms(objective: Objective, part: Block, z: Floats, matrix: Floats) -> Floats:
    if not objective.softmax:
        return np.asarray(np.einsum("ij,ij->i", z @ matrix, z))
    forms, own = class_forms(z, matrix, len(objective.classes)), part.codes[:, None, None]
    diagonal = np.einsum("ikk->ik", forms)
    with_own = np.take_along_axis(forms, own, axis=1)[:, 0]
    return np.asarray(diagonal - 2.0 * with_own + np.take_along_axis(diagonal, own[:, :, 0], axis=1))


def _binary_vectors(z: Floats, part: Block, free: NDArray[np.bool_]) -> Floats:
    z = z[:, free]
    if part.share is None:
        return of_length_one(np.where(part.codes == 1, 1.0, -1.0)[:, None] * z)
    return of_length_one(np.concatenate([z[part.share > 0], -z[part.share < 1]]))


def of_length_one(vectors: Floats) -> Floats:
    """Each line divided by its length; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1)
    return np.asarray(vectors / np.where(length > 0, length, 1.0)[:, None])
