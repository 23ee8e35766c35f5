"""Separation: does the likelihood have its maximum at infinity, and where?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.logistic.objective import Objective, class_forms, inverse_of, scaled_cholesky, solver_rows
from discrim.families.logistic.separation_cone import Cone, inside, recession_cone
from discrim.families.recipe import Sum
from discrim.statistics.likelihood import Likelihood
from discrim.typing import Floats, Mask

# A coefficient is finite where the directions of infinity have less than this part of it.
ROUNDING = 1e-8
# The part of a sum of n terms of size one that rounding may have changed, over n.
SUMMED = 1e-14
State = TypeVar("State")

# States that are merged at once.
TOGETHER = 16


@dataclass(frozen=True)
class Separation:
    """How far a direction d keeps the classes apart.

    Along d every row of a likelihood gains or stays as it is, so that the maximum is at infinity. ``complete`` says
    that every row gains. ``infinite`` holds +1, -1 or 0 for every coefficient of the user (a row a class for softmax;
    entry 0 is the intercept), ``direction`` is d in the same form, ``columns`` are the entries that are infinite for
    some class. ``undetermined`` marks coefficients that may take any value once d has gone to infinity. ``classes``
    are the indices of the classes that are kept apart: all but the largest group that is not torn apart, if there
    is one largest.

    ``span`` (flat theta x dimensions) is a basis of all directions of infinity in the solver's coordinates; rows that
    stay as they are have margin zero on all of it.
    """

    separated: bool
    complete: bool
    columns: NDArray[np.intp]
    direction: Floats
    classes: NDArray[np.intp]
    infinite: NDArray[np.int8]
    undetermined: Mask
    span: Floats


def find_separation(objective: Objective, free: Mask | None = None, start: Floats | None = None) -> Separation:
    """Look for directions along which no row's likelihood falls and some row's rises.

    Those are the d with margins s_i z_i'd >= 0 (s_i = 1 for the second class, -1 for the first; for softmax
    (d_y - d_k)'z_i for every other class k), not all zero. Groups with both outcomes ask for zero; rows of weight zero
    ask for nothing. Entries of theta that are not ``free`` are held; without the mask all are free but the row of
    softmax's first class. ``start``, a theta on the way to infinity, saves passes if it separates the rows completely.

    Cost: about three passes of n size^2 multiplications where the classes overlap, about ten where they do not, and
    linear programs with a thousand rows or a few.
    """
    free = default_free(objective) if free is None else free
    margins = RowMargins(objective, free.ravel())
    cone = recession_cone(margins, margins.width, None if start is None else start[free])
    if not cone.span.shape[1]:
        return no_separation(objective)
    lowest, touching = margins.reduce(partial(_verdict, cone), _merge_verdicts)
    if lowest <= 0:
        # Rounding is larger than the gap between the classes.
        return no_separation(objective)
    flat = np.zeros((free.size, 1 + cone.span.shape[1]))
    flat[free.ravel()] = np.column_stack([cone.direction, cone.span])
    return _described(objective, flat[:, 0], flat[:, 1:], complete=touching == 0)


def default_free(objective: Objective) -> Mask:
    """All of theta, but for the first class of softmax, whose coefficients are zero by convention."""
    free = np.ones(objective.shape, dtype=bool)
    if objective.softmax:
        free[0] = False
    return free


def _verdict(cone: Cone, vectors: Floats) -> tuple[float, int]:
    """The lowest cosine of the vectors that are not zero on the cone, and how many are."""
    rows = inside(vectors, cone.span)
    return float((rows @ (cone.span.T @ cone.direction)).min(initial=np.inf)), len(vectors) - len(rows)


def _merge_verdicts(verdicts: Sequence[tuple[float, int]]) -> tuple[float, int]:
    return min(lowest for lowest, _ in verdicts), sum(touching for _, touching in verdicts)


def no_separation(objective: Objective) -> Separation:
    shape = (*objective.shape[:-1], len(objective.coordinates.shift) + 1)
    return Separation(
        separated=False,
        complete=False,
        columns=np.zeros(0, np.intp),
        direction=np.zeros(shape),
        classes=np.zeros(0, np.intp),
        infinite=np.zeros(shape, np.int8),
        undetermined=np.zeros(shape, bool),
        span=np.zeros((int(np.prod(objective.shape)), 0)),
    )


def _described(objective: Objective, flat: Floats, span: Floats, *, complete: bool) -> Separation:
    """The cone in the user's coefficients. One of them is finite where it is zero on the whole span."""
    shape, coordinates = objective.shape, objective.coordinates
    direction = coordinates.to_user(flat.reshape(shape))
    # Row by row of the map to the user's coefficients: that is how large rounding may make an entry that is zero.
    size = np.linalg.norm(coordinates.matrix(), axis=1)
    across = coordinates.to_user(np.moveaxis(span.reshape(*shape, -1), -1, 0))
    unbounded = np.abs(across).max(axis=0) > ROUNDING * size
    infinite = np.where(unbounded & (np.abs(direction) > ROUNDING * size), np.sign(direction), 0.0).astype(np.int8)
    direction = np.where(infinite != 0, direction, 0.0)
    return Separation(
        separated=True,
        complete=complete,
        columns=np.flatnonzero((infinite != 0).reshape(-1, infinite.shape[-1]).any(axis=0)),
        direction=direction / max(float(np.abs(direction).max()), np.finfo(float).tiny),
        classes=_kept_apart(span.reshape(*shape, -1)) if objective.softmax else np.arange(2),
        infinite=infinite,
        undetermined=unbounded & (infinite == 0),
        span=span,
    )


def _kept_apart(span: Floats) -> NDArray[np.intp]:
    """The classes outside the largest group of which all members go the same way, on the whole span."""
    rows = span.reshape(len(span), -1)
    together = np.linalg.norm(rows[:, None] - rows[None], axis=2) <= ROUNDING
    sizes = together.sum(axis=1)
    largest = together[sizes.argmax()]
    only_one = not np.any(sizes[~largest] == sizes.max())
    return np.flatnonzero(~largest) if only_one and sizes.max() > 1 else np.arange(len(rows))


def may_be_separated(objective: Objective, at: Likelihood, *, free: Mask | None = None) -> bool:
    """False only where the classes certainly overlap, told by the sums ``at`` some theta (any, best near the optimum).

    Let g and H be gradient and Hessian of the loss over the free entries, and lambda^2 = g'H^-1 g, twice the gap of
    Newton's method. Claim: if the rows are separated, then lambda^2 max_a a'H^-1 a >= 1, with the maximum over all
    margin vectors a (z_i, or z_i in the place of class y and -z_i in that of another class).

    Proof. Let d be a direction with margins m_a = a'd >= 0, not all zero. For a row of weight w and the probabilities
    p_k of the classes that are not its own, with margins m_k, the loss falls along d by w sum_k p_k m_k; the sum over
    the rows is -g'd. Its curvature along d is w times the variance of the margins under p, at most
    w sum_k p_k m_k^2. So d'Hd <= max m (-g'd). By Cauchy and Schwarz -g'd <= lambda (d'Hd)^1/2 and
    max m <= (max_a a'H^-1 a)^1/2 (d'Hd)^1/2. Together d'Hd <= lambda (max_a a'H^-1 a)^1/2 d'Hd, and d'Hd > 0 where H
    has an inverse. Groups with both outcomes have margin zero and add nothing; offsets only change p.

    No a'H^-1 a is above one over the row's own curvature along a, since that is a part of H. The smallest curvature of
    a row, which came with the sums, so decides most fits without a pass; where it does not, one pass finds the maximum
    itself. Rounding of g is allowed for.
    """
    free = default_free(objective) if free is None else free
    index = np.flatnonzero(free.ravel())
    if not len(index):
        return False
    factored = scaled_cholesky(at.hessian[np.ix_(index, index)]) if at.finite else None
    if factored is None:
        return True
    inverse = inverse_of(*factored)
    gradient = at.gradient.ravel()[index]
    decrement = float(np.sqrt(max(float(gradient @ inverse @ gradient), 0.0)))
    if at.least > 0 and _overlap(decrement, 1.0 / at.least, at.weight):
        return False
    padded = np.zeros(at.hessian.shape)
    padded[np.ix_(index, index)] = inverse
    return not _overlap(decrement, largest_form(objective, padded), at.weight)


def _overlap(decrement: float, form: float, weight: float) -> bool:
    return bool(decrement * np.sqrt(form) + SUMMED * weight * form < 0.5)


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
