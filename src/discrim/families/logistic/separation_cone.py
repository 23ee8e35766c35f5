"""The recession cone of margins: directions along which a likelihood never falls.

The cone is C = {d : a'd >= 0 for every margin vector a}, less the directions with a'd = 0 throughout. Let T be the
vectors that are zero on all of C. Inside N = {d : a'd = 0 for a in T} some d has a'd > 0 for all others, and C spans N.
So N and such a d say everything: which margins can grow without end, and which cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from discrim.errors import DiscrimError
from discrim.typing import Floats

State = TypeVar("State")

# A vector of length one is zero on a subspace where less than this is left of it: rounding of the rows is below.
TINY = 1e-10
# Margins, as cosines, that the linear program cannot tell from zero.
NEAR = 1e-7
# Margins below the program's own tolerance that need another round.
VIOLATED = -1e-9
# Vectors that a round adds at most, unless there are many columns.
ADDED = 1000
ROUNDS = 1000


class Margins(Protocol):
    """Margin vectors, wherever they are."""

    def narrowed(self, test: Callable[[Floats], NDArray[np.bool_]]) -> Margins: ...

    def reduce(self, of: Callable[[Floats], State], merge: Callable[[Sequence[State]], State]) -> State: ...


@dataclass(frozen=True)
class ListedMargins:
    """Margin vectors in memory, one a line."""

    vectors: Floats

    def narrowed(self, test: Callable[[Floats], NDArray[np.bool_]]) -> ListedMargins:
        return ListedMargins(self.vectors[test(self.vectors)])

    def reduce(self, of: Callable[[Floats], State], merge: Callable[[Sequence[State]], State]) -> State:  # noqa: ARG002
        return of(self.vectors)


@dataclass(frozen=True)
class Cone:
    """``span`` is an orthonormal basis of N; ``direction`` is inside, with a'd > 0 where a is not zero on N."""

    span: Floats
    direction: Floats


def recession_cone(margins: Margins, width: int, start: Floats | None = None) -> Cone:
    """The cone of vectors with ``width`` entries; directions that are zero on all vectors do not count.

    ``start`` is a direction that may be near the inside.
    """
    everything = np.eye(width)
    sums = margins.reduce(partial(_factor, everything), _merge_factors)
    _, null = _whiten(sums, everything)
    basis = everything if not null.shape[1] else np.linalg.svd(null)[0][:, null.shape[1] :]
    return _search(margins, basis, _Factor(sums.factor @ basis, basis.T @ sums.total), start)


def _search(margins: Margins, basis: Floats, sums: _Factor | None = None, start: Floats | None = None) -> Cone:
    """The cone inside the span of an orthonormal ``basis``; there also what is zero on all vectors belongs to it.

    A linear program finds a direction c that is right up to the program's tolerance. What is clearly positive there
    stays so under small changes of c, so that only the vectors near zero are in doubt. They are judged by
    themselves, in coordinates where they are of ordinary size: rows that overlap or keep apart by little are told
    apart as safely as others.
    - Nothing is near: c is inside.
    - All that are near can be made positive by some e: c + t e is inside for a suitable t.
    - Otherwise some of them are zero on all of C, which leaves fewer dimensions; the search goes on there.
    """
    if not basis.shape[1]:
        return Cone(basis, np.zeros(len(basis)))
    if sums is None:
        sums = margins.reduce(partial(_factor, basis), _merge_factors)
    frame, null = _whiten(sums, basis)
    nothing = Cone(null, np.zeros(len(basis)))
    found = _climb(margins, frame, frame.stretch.T @ sums.total, start)
    if found is None:
        return nothing
    c, near = found
    direction = frame.basis @ (frame.stretch @ c)
    direction /= np.linalg.norm(direction)
    if not near.count:
        return Cone(basis, direction)
    listed = near.count == len(near.vectors)
    doubtful = ListedMargins(near.vectors) if listed else margins.narrowed(partial(_is_near, frame, c))
    inner = _search(doubtful, basis)
    if inner.span.shape[1] < basis.shape[1]:
        return _search(margins, inner.span)
    both = _combined(margins, basis, direction, inner.direction)
    return nothing if both is None else Cone(basis, both)


def inside(vectors: Floats, basis: Floats) -> Floats:
    """The vectors' parts in the span of the basis, with length one; those that have none are left out."""
    parts = vectors @ basis
    length = np.linalg.norm(parts, axis=1)
    keep = length > TINY
    return np.asarray(parts[keep] / length[keep, None])


@dataclass(frozen=True)
class _Factor:
    """R with R'R = sum a a', and ``total`` = sum a, of the vectors' parts in a basis."""

    factor: Floats
    total: Floats


def _factor(basis: Floats, vectors: Floats) -> _Factor:
    parts = inside(vectors, basis)
    return _Factor(np.asarray(np.linalg.qr(parts, mode="r")), parts.sum(axis=0))


def _merge_factors(states: Sequence[_Factor]) -> _Factor:
    stacked = np.concatenate([state.factor for state in states])
    return _Factor(np.asarray(np.linalg.qr(stacked, mode="r")), np.sum([state.total for state in states], axis=0))


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


def _whiten(sums: _Factor, basis: Floats) -> tuple[_Frame, Floats]:
    """The frame, and the directions that are zero on all vectors."""
    _, values, rows = np.linalg.svd(sums.factor, full_matrices=True)
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
        low = margins.reduce(partial(_lowest, frame, c, most), partial(_merge_lowest, most))
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


def _is_near(frame: _Frame, c: Floats, vectors: Floats) -> NDArray[np.bool_]:
    return np.asarray(frame.cosine(c, vectors) <= NEAR)


def _lowest(frame: _Frame, c: Floats, most: int, vectors: Floats) -> _Lowest:
    cosine = frame.cosine(c, vectors)
    near = cosine <= NEAR
    return _pick(vectors[near], cosine[near], 0, most)


def _merge_lowest(most: int, states: Sequence[_Lowest]) -> _Lowest:
    left_out = sum(state.count - len(state.vectors) for state in states)
    vectors = np.concatenate([state.vectors for state in states])
    return _pick(vectors, np.concatenate([state.cosine for state in states]), left_out, most)


def _pick(vectors: Floats, cosine: Floats, left_out: int, most: int) -> _Lowest:
    """Equal vectors add nothing, however many: they are told by their product with a vector of no regularity."""
    key = vectors @ np.sin(1.0 + np.arange(vectors.shape[1]) ** 2)
    _, first = np.unique(np.round(key, 12), return_index=True)
    vectors, cosine = vectors[first], cosine[first]
    order = np.argsort(cosine, kind="stable")[:most]
    return _Lowest(vectors[order], cosine[order], len(vectors) + left_out)


def _combined(margins: Margins, basis: Floats, one: Floats, other: Floats) -> Floats | None:
    """One + t other with all margins positive; None where no t > 0 does it."""
    other = other / np.linalg.norm(other)
    low, high = margins.reduce(partial(_range, basis, one, other), _meet)
    if not low < high:
        return None
    direction = one + 0.5 * (low + min(high, low + 1.0)) * other
    return np.asarray(direction / np.linalg.norm(direction))


def _range(basis: Floats, one: Floats, other: Floats, vectors: Floats) -> tuple[float, float]:
    """The values of t between which a'(one + t other) > 0 for all vectors."""
    parts = inside(vectors, basis)
    a, b = parts @ (basis.T @ one), parts @ (basis.T @ other)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = -a / b
    stuck = (b == 0) & (a <= 0)
    low = np.where(b > 0, at, np.where(stuck, np.inf, 0.0)).max(initial=0.0)
    return float(low), float(np.where(b < 0, at, np.inf).min(initial=np.inf))


def _meet(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(low for low, _ in ranges), min(high for _, high in ranges)
