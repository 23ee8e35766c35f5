"""Separation: does the likelihood have its maximum at infinity, and where?

Directions along which a likelihood never falls are the recession cone C = {d : a'd >= 0 for every margin vector a},
less the directions with a'd = 0 throughout. Let T be the vectors that are zero on all of C. Inside
N = {d : a'd = 0 for a in T} some d has a'd > 0 for all others, and C spans N. So N and such a d say everything: which
margins can grow without end, and which cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from discrim.block import Block
from discrim.errors import DiscrimError
from discrim.families.logistic.objective import Objective, class_forms, solver_rows
from discrim.families.logistic.positive import inverse_of, scaled_cholesky
from discrim.statistics.likelihood import Likelihood
from discrim.store.fields import Array, Flag
from discrim.store.kinds import stored
from discrim.store.values import Value
from discrim.typing import Floats, Index, Mask

# A coefficient is finite where the directions of infinity have less than this part of it.
ROUNDING = 1e-8
# The part of a sum of n terms of size one that rounding may have changed, over n.
SUMMED = 1e-14
# States that are merged at once.
TOGETHER = 16
# A vector of length one is zero on a subspace where less than this is left of it: rounding of the rows is below.
TINY = 1e-10
# Margins, as cosines, that the linear program cannot distinguish from zero.
NEAR = 1e-7
# Margins below the program's own tolerance that need another round.
VIOLATED = -1e-9
# Vectors that a round adds at most, unless there are many columns.
ADDED = 1000
ROUNDS = 1000

# Calls a function of matrices with a margin vector a line, and merges its answers: one pass over the vectors.
Margins = Callable[[Callable[[Floats], Any], Callable[[Sequence[Any]], Any]], Any]
# R with R'R = sum a a', and sum a, of the vectors' parts in a basis.
Sums = tuple[Floats, Floats]


@stored(
    "separation",
    complete=Flag(),
    direction=Value(),
    classes=Array("*", "<i8"),
    infinite=Value(),
    undetermined=Value(),
    span=Array("* *"),
)
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

    complete: bool
    direction: Floats
    classes: Index
    infinite: NDArray[np.int8]
    undetermined: Mask
    span: Floats

    @property
    def separated(self) -> bool:
        return bool(self.span.size)

    @property
    def columns(self) -> Index:
        return np.flatnonzero(np.atleast_2d(self.infinite).any(axis=0))


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
    margins = partial(_reduce_margins, objective, free)
    cone = _recession_cone(margins, int(free.sum()), None if start is None else start[free])
    if not cone.span.shape[1]:
        return no_separation(objective)
    lowest, touching = margins(partial(_verdict, cone), _merge_verdicts)
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


def _verdict(cone: _Cone, vectors: Floats) -> tuple[float, int]:
    """The lowest cosine of the vectors that are not zero on the cone, and how many are."""
    rows = _inside(vectors, cone.span)
    return float((rows @ (cone.span.T @ cone.direction)).min(initial=np.inf)), len(vectors) - len(rows)


def _merge_verdicts(verdicts: Sequence[tuple[float, int]]) -> tuple[float, int]:
    return min(lowest for lowest, _ in verdicts), sum(touching for _, touching in verdicts)


def no_separation(objective: Objective) -> Separation:
    size = int(np.prod(objective.shape))
    return _described(objective, np.zeros(size), np.zeros((size, 0)), complete=False)


def _described(objective: Objective, flat: Floats, span: Floats, *, complete: bool) -> Separation:
    """The cone in the user's coefficients. One of them is finite where it is zero on the whole span."""
    shape, coordinates = objective.shape, objective.coordinates
    direction = coordinates.to_user(flat.reshape(shape))
    # Row by row of the map to the user's coefficients: that is how large rounding may make an entry that is zero.
    size = np.linalg.norm(coordinates.matrix(), axis=1)
    across = coordinates.to_user(np.moveaxis(span.reshape(*shape, -1), -1, 0))
    unbounded = np.abs(across).max(axis=0, initial=0.0) > ROUNDING * size
    infinite = np.where(unbounded & (np.abs(direction) > ROUNDING * size), np.sign(direction), 0.0).astype(np.int8)
    direction = np.where(infinite != 0, direction, 0.0)
    apart = _kept_apart(span.reshape(*shape, -1)) if objective.softmax else np.arange(2 if span.size else 0)
    return Separation(
        complete=complete,
        direction=direction / max(float(np.abs(direction).max()), np.finfo(float).tiny),
        classes=apart,
        infinite=infinite,
        undetermined=unbounded & (infinite == 0),
        span=span,
    )


def _kept_apart(span: Floats) -> Index:
    """The classes outside the largest group of which all members go the same way, on the whole span."""
    rows = span.reshape(len(span), -1)
    together = np.linalg.norm(rows[:, None] - rows[None], axis=2) <= ROUNDING
    sizes = together.sum(axis=1)
    largest = together[sizes.argmax()]
    only_one = not np.any(sizes[~largest] == sizes.max())
    return np.flatnonzero(~largest) if only_one and sizes.max() > 1 else np.arange(len(rows))


def may_be_separated(objective: Objective, at: Likelihood, *, free: Mask | None = None) -> bool:
    """False only where the classes certainly overlap, by the sums ``at`` some theta (any, best near the optimum).

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
    return not _overlap(decrement, _largest_form(objective, padded), at.weight)


def _overlap(decrement: float, form: float, weight: float) -> bool:
    return bool(decrement * np.sqrt(form) + SUMMED * weight * form < 0.5)


def _reduce_margins(
    objective: Objective, free: Mask, of: Callable[[Floats], Any], merge: Callable[[Sequence[Any]], Any]
) -> Any:
    """``of`` matrices with a margin vector a line, merged: one pass over the rows.

    A direction d leaves a row on its side where a'd >= 0 for its vectors a. Binary: a = z for the second class and -z
    for the first; a group with both kinds has both. Softmax: a'd = (d_y - d_k)'z for every class k but the row's own y.
    The entries of d are those that are ``free``, and every a has length one, or zero where z has. Rows of weight zero
    have none; an offset changes none.
    """

    def of_block(block: Block) -> Any:
        parts: list[Any] = []
        for vectors in _vectors(objective, free, block):
            parts.append(of(vectors))
            # Several vectors a row make many parts, which together may be larger than the rows.
            if len(parts) == TOGETHER:
                parts = [merge(parts)]
        return merge(parts) if len(parts) > 1 else parts[0]

    return objective.reduce(of_block, merge)


def _vectors(objective: Objective, free: Mask, block: Block) -> Iterator[Floats]:
    values = (len(objective.classes) - 1) * free.size + 1
    for part, z in solver_rows(block, objective.classes, objective.coordinates, values):
        vectors = _softmax_vectors(z, part.codes, free) if objective.softmax else _binary_vectors(z, part, free)
        length = np.linalg.norm(vectors, axis=1)
        yield np.asarray(vectors / np.where(length > 0, length, 1.0)[:, None])


def _softmax_vectors(z: Floats, codes: NDArray[np.int32], free: Mask) -> Floats:
    """The vectors of the rows against class 0, then against class 1, and so on; each row's own class is left out."""
    classes, size = free.shape
    parts = []
    for k in range(classes):
        others = np.flatnonzero(codes != k)
        vectors = np.zeros((len(others), classes, size))
        vectors[np.arange(len(others)), codes[others]] = z[others]
        vectors[:, k] = -z[others]
        parts.append(vectors.reshape(len(others), classes * size)[:, free.ravel()])
    return np.concatenate(parts)


def _largest_form(objective: Objective, matrix: Floats) -> float:
    """The largest a'Ma over the margin vectors a as long as the rows make them, M square in theta's size: one pass."""

    def of(block: Block) -> float:
        parts = solver_rows(block, objective.classes, objective.coordinates, len(matrix) + 1)
        return max(float(_forms(objective, part, z, matrix).max(initial=0.0)) for part, z in parts)

    largest: Callable[[Sequence[float]], float] = max
    return objective.reduce(of, largest)


def _forms(objective: Objective, part: Block, z: Floats, matrix: Floats) -> Floats:
    if not objective.softmax:
        return np.asarray(np.einsum("ij,ij->i", z @ matrix, z))
    forms, own = class_forms(z, matrix, len(objective.classes)), part.codes[:, None, None]
    diagonal = np.einsum("ikk->ik", forms)
    with_own = np.take_along_axis(forms, own, axis=1)[:, 0]
    return np.asarray(diagonal - 2.0 * with_own + np.take_along_axis(diagonal, own[:, :, 0], axis=1))


def _binary_vectors(z: Floats, part: Block, free: Mask) -> Floats:
    z = z[:, free]
    if part.share is None:
        return np.asarray(np.where(part.codes == 1, 1.0, -1.0)[:, None] * z)
    return np.concatenate([z[part.share > 0], -z[part.share < 1]])


@dataclass(frozen=True)
class _Cone:
    """``span`` is an orthonormal basis of N; ``direction`` is inside, with a'd > 0 where a is not zero on N."""

    span: Floats
    direction: Floats


def _recession_cone(margins: Margins, width: int, start: Floats | None = None) -> _Cone:
    """The cone of vectors with ``width`` entries; directions that are zero on all vectors do not count.

    ``start`` is a direction that may be near the inside.
    """
    everything = np.eye(width)
    sums = margins(partial(_sums, everything), _merge_sums)
    _, null = _whiten(sums, everything)
    basis = everything if not null.shape[1] else np.linalg.svd(null)[0][:, null.shape[1] :]
    return _search(margins, basis, (sums[0] @ basis, basis.T @ sums[1]), start)


def _search(margins: Margins, basis: Floats, sums: Sums | None = None, start: Floats | None = None) -> _Cone:
    """The cone inside the span of an orthonormal ``basis``; there also what is zero on all vectors belongs to it.

    A linear program finds a direction c that is right up to the program's tolerance. What is clearly positive there
    stays so under small changes of c, so that only the vectors near zero are in doubt. They are judged by
    themselves, in coordinates where they are of ordinary size: rows that overlap or keep apart by little are
    distinguished as safely as others.
    - Nothing is near: c is inside.
    - All that are near can be made positive by some e: c + t e is inside for a suitable t.
    - Otherwise some of them are zero on all of C, which leaves fewer dimensions; the search goes on there.
    """
    if not basis.shape[1]:
        return _Cone(basis, np.zeros(len(basis)))
    if sums is None:
        sums = margins(partial(_sums, basis), _merge_sums)
    frame, null = _whiten(sums, basis)
    nothing = _Cone(null, np.zeros(len(basis)))
    found = _climb(margins, frame, frame.stretch.T @ sums[1], start)
    if found is None:
        return nothing
    c, near = found
    direction = frame.basis @ (frame.stretch @ c)
    direction /= np.linalg.norm(direction)
    if not near.count:
        return _Cone(basis, direction)

    def doubtful(of: Callable[[Floats], Any], merge: Callable[[Sequence[Any]], Any]) -> Any:
        if near.count == len(near.vectors):
            return of(near.vectors)
        return margins(lambda vectors: of(vectors[frame.cosine(c, vectors) <= NEAR]), merge)

    inner = _search(doubtful, basis)
    if inner.span.shape[1] < basis.shape[1]:
        return _search(margins, inner.span)
    both = _combined(margins, basis, direction, inner.direction)
    return nothing if both is None else _Cone(basis, both)


def _inside(vectors: Floats, basis: Floats) -> Floats:
    """The vectors' parts in the span of the basis, with length one; those that have none are left out."""
    parts = vectors @ basis
    length = np.linalg.norm(parts, axis=1)
    keep = length > TINY
    return np.asarray(parts[keep] / length[keep, None])


def _sums(basis: Floats, vectors: Floats) -> Sums:
    parts = _inside(vectors, basis)
    return np.asarray(np.linalg.qr(parts, mode="r")), parts.sum(axis=0)


def _merge_sums(states: Sequence[Sums]) -> Sums:
    factors, totals = zip(*states, strict=True)
    return np.asarray(np.linalg.qr(np.concatenate(factors), mode="r")), np.sum(totals, axis=0)


@dataclass(frozen=True)
class _Frame:
    """Coordinates c with d = basis stretch c, in which the matrix U of all vectors has orthonormal columns."""

    basis: Floats
    stretch: Floats

    def of(self, vectors: Floats) -> Floats:
        """The vectors with length one in these coordinates; zero where they have no part."""
        parts = vectors @ self.basis
        parts[np.linalg.norm(parts, axis=1) <= TINY] = 0.0
        stretched = parts @ self.stretch
        length = np.linalg.norm(stretched, axis=1)
        return np.asarray(stretched / np.where(length > 0, length, 1.0)[:, None])

    def cosine(self, c: Floats, vectors: Floats) -> Floats:
        """Between c and the vectors; infinite where those have no part."""
        rows = self.of(vectors)
        return np.where(rows.any(axis=1), rows @ (c / np.linalg.norm(c)), np.inf)


def _whiten(sums: Sums, basis: Floats) -> tuple[_Frame, Floats]:
    """The frame, and the directions that are zero on all vectors."""
    _, values, rows = np.linalg.svd(sums[0], full_matrices=True)
    values = np.concatenate([values, np.zeros(len(rows) - len(values))])
    keep = values > TINY
    return _Frame(basis, rows[keep].T / values[keep]), basis @ rows[~keep].T


@dataclass(frozen=True)
class _Lowest:
    """The vectors with the smallest cosines to a direction, none twice, and how many there were to choose from."""

    vectors: Floats
    cosine: Floats
    count: int


def _climb(
    margins: Margins, frame: _Frame, total: Floats, start: Floats | None = None
) -> tuple[Floats, _Lowest] | None:
    """Maximise the sum of all margins over the box |c| <= 1 where none is negative; None where the maximum is zero.

    Rounds: the program with the vectors at hand, then a pass for the vectors that its answer violates most. The sum is
    that of all vectors from the beginning, so that a maximum of zero needs no further pass. Nothing lies between zero
    and one: margins m = Uc >= 0 have sum m >= sum m^2 / max m >= |c|^2 / |c| = |c|, for U has orthonormal columns. By
    the same token |total| >= 1 where the maximum is not zero.
    """
    most = max(ADDED, 4 * len(total))
    held = np.zeros((0, len(frame.basis)))
    if np.linalg.norm(total) < 0.5:
        return None
    # Least squares with all margins aiming at one: if that or the start separates, no program is needed.
    c = total
    if start is not None and start.any():
        c = np.asarray(np.linalg.lstsq(frame.basis @ frame.stretch, start)[0], dtype=float)
    for _ in range(ROUNDS):
        low = margins(partial(_lowest, frame, c, most), partial(_merge_lowest, most))
        if low.cosine.min(initial=np.inf) >= VIOLATED:
            return c, low
        held = np.concatenate([held, low.vectors])
        c = _program(total, frame.of(held))
        if total @ c < 0.5:
            return None
    raise DiscrimError("The search for separation did not end. Fit with bias_reduction='firth' or with a penalty.")


def _program(total: Floats, rows: Floats) -> Floats:
    """The c in the box that maximises total'c with rows c >= 0."""
    size = float(np.linalg.norm(total))
    for method in ("highs", "highs-ds", "highs-ipm"):
        answer = linprog(
            -total / size,
            A_ub=-rows,
            b_ub=np.zeros(len(rows)),
            bounds=(-1.0, 1.0),
            method=method,
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if answer.x is not None:
            return np.asarray(answer.x)
    raise DiscrimError(f"The linear program that looks for separation failed: {answer.message}")


def _lowest(frame: _Frame, c: Floats, most: int, vectors: Floats) -> _Lowest:
    cosine = frame.cosine(c, vectors)
    near = cosine <= NEAR
    return _pick(vectors[near], cosine[near], 0, most)


def _merge_lowest(most: int, states: Sequence[_Lowest]) -> _Lowest:
    left_out = sum(state.count - len(state.vectors) for state in states)
    vectors = np.concatenate([state.vectors for state in states])
    return _pick(vectors, np.concatenate([state.cosine for state in states]), left_out, most)


def _pick(vectors: Floats, cosine: Floats, left_out: int, most: int) -> _Lowest:
    """Equal vectors add nothing, however many: they are recognised by their product with a vector of no regularity."""
    key = vectors @ np.sin(1.0 + np.arange(vectors.shape[1]) ** 2)
    _, first = np.unique(np.round(key, 12), return_index=True)
    vectors, cosine = vectors[first], cosine[first]
    order = np.argsort(cosine, kind="stable")[:most]
    return _Lowest(vectors[order], cosine[order], len(vectors) + left_out)


def _combined(margins: Margins, basis: Floats, one: Floats, other: Floats) -> Floats | None:
    """One + t other with all margins positive; None where no t > 0 does it."""
    other = other / np.linalg.norm(other)
    low, high = margins(partial(_range, basis, one, other), _meet)
    if not low < high:
        return None
    direction = one + 0.5 * (low + min(high, low + 1.0)) * other
    return np.asarray(direction / np.linalg.norm(direction))


def _range(basis: Floats, one: Floats, other: Floats, vectors: Floats) -> tuple[float, float]:
    """The values of t between which a'(one + t other) > 0 for all vectors."""
    parts = _inside(vectors, basis)
    a, b = parts @ (basis.T @ one), parts @ (basis.T @ other)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = -a / b
    stuck = (b == 0) & (a <= 0)
    low = np.where(b > 0, at, np.where(stuck, np.inf, 0.0)).max(initial=0.0)
    return float(low), float(np.where(b < 0, at, np.inf).min(initial=np.inf))


def _meet(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(low for low, _ in ranges), min(high for _, high in ranges)
