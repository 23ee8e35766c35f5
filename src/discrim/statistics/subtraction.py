"""What is left of a scatter when rows are taken away, and whether rows can have left it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ForgetError
from discrim.statistics.depth import Depth
from discrim.statistics.lost_digits import ACCURATE, lost_digits, scatter_error
from discrim.statistics.means import ROUNDING, Apart, HasMeans
from discrim.typing import Floats

# What is left of a variance below this share of what was there is rounding.
CLEARED = 1e-13


class HasSquares(HasMeans, Protocol):
    """A statistic that knows the diagonals of its scatter."""

    @property
    def squares(self) -> Floats: ...


def refuse_lost_digits(whole: HasSquares, squares: Floats, left: Apart) -> None:
    """Refuse to take rows away where rounding is too large a part of the variances (K x p or 1 x p) that they leave."""
    noise, rows_before = left.noise, whole.rows[:, None]
    if whole.depth is Depth.POOLED:
        noise, rows_before = np.sqrt((noise**2).sum(axis=0, keepdims=True)), rows_before.sum(keepdims=True)
    error = scatter_error(whole.squares, noise, rows_before)
    # Nearly always nothing is anywhere near, and it does not matter which classes were touched.
    if (error <= ACCURATE * squares).all() and 1 not in left.rows.tolist():
        return
    weight, rows = left.weight[:, None], left.rows[:, None]
    touched = rows != whole.rows[:, None]
    if whole.depth is Depth.POOLED:
        weight, rows = weight.sum(keepdims=True), np.where((left.rows <= 1).all(), 0, rows.sum(keepdims=True))
        touched = touched.any(keepdims=True)
    # What has not been touched is what it was.
    error = np.where(touched, error, 0.0)
    gone = (left.weight == 0)[:, None]
    mean = np.where(gone, np.nan, left.mean)
    changed = (left.rows != whole.rows)[:, None]
    mean_error = np.where(changed, left.noise / np.sqrt(np.where(gone, 1.0, left.weight[:, None])), 0.0)
    shape = squares.shape
    lost = lost_digits(
        squares, error, np.broadcast_to(weight, shape), np.broadcast_to(rows, shape), mean, mean_error
    ) & np.broadcast_to(touched, shape)
    if lost.any():
        k, j = (int(i) for i in np.argwhere(lost)[0])
        of = "" if whole.depth is Depth.POOLED else f" in class '{whole.classes[k]}'"
        raise lost_error(j, of)


def lost_error(column: int, of: str) -> ForgetError:
    """What to say where a difference has no digits left."""
    return ForgetError.of_column(
        f"Cannot forget these rows: in column {{column}} their values are so much larger than the others{of} that "
        "rounding has taken the digits of what would be left. The model is unchanged; to be rid of these rows, fit it "
        "again without them.",
        column,
    )


def deviations_of(squares: Floats, weight: Floats) -> Floats:
    """Deviations K x p; where only the scatter of all classes is known, what each has at most."""
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) / np.where(weight > 0, weight, 1.0)[:, None]))


def left_of_variances(left: Floats, before: Floats, noise: Floats, *, nothing: bool | NDArray[np.bool_]) -> Floats:
    """Variances (p) after the subtraction, those that are only rounding cleared.

    ``noise`` is the rounding of the means on the scale of sqrt(before); ``nothing`` says, of all or of each, that
    no more than one row remains, so that no variance can.
    """
    by_means = 8.0 * noise * (2.0 * np.sqrt(before) + noise)
    most = np.where(nothing, ROUNDING * before + by_means, np.inf)
    wrong = (left < -ROUNDING * before - by_means) | (left > most)
    if wrong.any():
        raise ForgetError.of_column(
            "Cannot forget these rows: no rows could leave the variance that column {column} would have without them, "
            "so they are not among the rows that were seen.",
            int(np.argmax(wrong)),
        )
    return np.where(nothing | (left <= CLEARED * before + by_means), 0.0, left)


def left_of_matrix(left: Floats, before: Floats, noise: Floats, *, nothing: bool) -> Floats:
    """The same for a scatter matrix (p x p), which must not have become indefinite. Cost p^3 / 3."""
    left_of_variances(np.diagonal(left), np.diagonal(before), noise, nothing=nothing)
    deviation = np.sqrt(np.diagonal(before))
    by_means = noise[:, None] * deviation
    by_means = 8.0 * (by_means + by_means.T + noise[:, None] * noise)
    # A small variance may be rounding and its covariances not: a column goes when all of it is rounding.
    alive = (np.abs(left) > CLEARED * deviation[:, None] * deviation + by_means).any(axis=0) & (deviation > 0)
    result = np.where(alive[:, None] & alive & ~np.bool_(nothing), left, 0.0)
    np.fill_diagonal(result, np.maximum(np.diagonal(result), 0.0))
    _check_definite(left[np.ix_(alive, alive)], deviation[alive], noise[alive])
    return result


def left_of_factor(r: Floats, gone: Floats, noise: Floats, *, nothing: bool) -> Floats:
    """R_new with R_new'R_new = R'R - B'B for the rows B that go.

    With R = U diag(s) V' and B = C diag(s) V' the difference is V diag(s) (I - C'C) diag(s) V'.
    Cost: an SVD of R, and p^2 for each row of B.
    """
    gone = gone[np.any(gone != 0, axis=1)]
    if not len(gone):
        return r
    # In units of what was there, so that no column drowns another.
    deviation = np.sqrt(np.einsum("ij,ij->j", r, r))
    scale = deviation + noise
    scale[scale == 0] = 1.0
    share, alive = noise / scale, deviation > 8.0 * noise
    removed = gone / scale
    _, s, directions = np.linalg.svd(np.where(alive, r / scale, 0.0), full_matrices=False)
    s, directions = s[s > 0], directions[s > 0]
    along = np.where(alive, removed, 0.0) @ directions.T
    strange = np.abs(removed - along @ directions) > 1e-9 + 32.0 * share
    c = along / s
    kept = np.eye(len(s)) - c.T @ c
    rounding = float(512.0 * np.finfo(float).eps + 32.0 * np.sqrt(len(scale)) * np.linalg.norm(share[alive]))
    left = np.linalg.eigvalsh(s[:, None] * kept * s)
    most = ROUNDING * len(scale) + rounding
    if strange.any() or (left < -most).any() or (nothing and (left > most).any()):
        raise ForgetError(_NEVER_SEEN)
    if nothing:
        return np.zeros((0, len(scale)))
    return np.asarray((_graded_cholesky(kept, s, rounding).T * s) @ directions * scale)


_NEVER_SEEN = (
    "Cannot forget these rows: what is left would not be the scatter of any rows, "
    "so they are not among the rows that were seen."
)


def _check_definite(left: Floats, deviation: Floats, noise: Floats) -> None:
    """Refuse a matrix with an eigenvalue clearly below zero, in units of the deviations before."""
    size = len(deviation)
    rounding = ROUNDING * size + 32.0 * np.sqrt(size) * np.linalg.norm(noise / deviation)
    try:
        np.linalg.cholesky(left / deviation[:, None] / deviation + rounding * np.eye(size))
    except np.linalg.LinAlgError:
        raise ForgetError(_NEVER_SEEN) from None


def _graded_cholesky(matrix: Floats, size: Floats, rounding: float) -> Floats:
    """L with LL' = matrix, whose row i will be multiplied by ``size[i]``, and so is known to rounding / size.

    The pivot is the largest of what will come out; one that is no more than its rounding is zero, and with it
    the row. So weakly known directions cannot spoil the strong ones, as eigenvectors of all together would.
    """
    columns, rest, known_to = [], matrix.copy(), rounding / size
    still = np.ones(len(size), bool)
    for _ in size:
        pivots = np.where(still & (np.diagonal(rest) > known_to), np.diagonal(rest), 0.0)
        i = int(np.argmax(pivots * size**2))
        if pivots[i] == 0:
            break
        column = np.where(still, rest[:, i], 0.0) / np.sqrt(pivots[i])
        rest -= column[:, None] * column
        still[i] = False
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.zeros((len(size), 0))
