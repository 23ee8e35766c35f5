"""What is left of a statistic when rows are taken away, and whether these rows can have been in it.

A scatter S is known to about eps S. Where the rows that go had nearly all of it, as one value of 1e8 among others of
size 1 has, the rest is a difference of two numbers that agree in almost all their digits, and may be any number. No
check of signs notices that, so the error is bounded and compared with what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ForgetError
from discrim.statistics.by_class import Depth
from discrim.typing import Floats, Mask

if TYPE_CHECKING:
    from discrim.statistics.moments import ClassScatter

EPS = float(np.finfo(float).eps)
# Weights and variances this small, relative to what was there before, are rounding.
ROUNDING = 1e-11
# What is left of a variance below this share of what was there is rounding.
CLEARED = 1e-13
# The largest relative error that a variance which is left may have.
ACCURATE = 1e-6
# Errors of a deviation below this part of how the column varies elsewhere change no decision.
MATERIAL = 1e-5
# How close the values of a column are that differ by the rounding of their mean only.
SAME = 1e-12


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a + b rounded, and what the rounding left out, exactly."""
    total = a + b
    moved = total - a
    return total, (a - (total - moved)) + (b - moved)


def low_of(statistic: Any) -> Floats:
    """What the means lack to twice the digits of a double; zero where it was not kept."""
    return np.zeros_like(statistic.mean) if statistic.low is None else statistic.low


class Left(NamedTuple):
    """What is left of weights and means; ``gap`` is the remaining mean minus that of the rows ``gone``.

    The scatter of what was removed from ``gap`` is ``factor_k gap_k gap_k'``; ``noise`` (K x p) is what the
    rounding of the means brings into the root of a class's scatter.
    """

    gone: Any
    weight: Floats
    rows: NDArray[np.int64]
    mean: Floats
    low: Floats
    gap: Floats
    factor: Floats
    noise: Floats


def take_away(whole: ClassScatter, part: ClassScatter) -> Left:
    """The inverse of ``join``; refuses rows that cannot have been there."""
    gone = whole.aligned(part)
    weight, rows, lacking = weights_left(whole, gone)
    if lacking.any():
        k = int(np.argmax(lacking))
        raise ForgetError(
            f"Cannot forget {gone.rows[k]} rows (weight {gone.weight[k]:g}) of class '{whole.classes[k]}': "
            f"only {whole.rows[k]} rows (weight {whole.weight[k]:g}) were seen."
        )
    return Left(gone, weight, rows, *means_left(whole, gone, weight))


def weights_left(whole: Any, gone: Any) -> tuple[Floats, NDArray[np.int64], Mask]:
    """Weights and rows, and where there are fewer than would be taken away."""
    weight, rows = whole.weight - gone.weight, whole.rows - gone.rows
    weight[(rows == 0) & (np.abs(weight) <= ROUNDING * whole.weight)] = 0.0
    lacking = (
        (rows < 0) | (weight < 0) | ((rows == 0) & (weight > 0)) | ((rows > 0) & (weight == 0) & (gone.weight > 0))
    )
    return weight, rows, lacking


def means_left(whole: Any, gone: Any, weight: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Means and their low parts, the gap, its factor, and the noise, see ``Left``; ``weight`` is what is left.

    Classes have one weight (K), or one for each column (K x p).
    """
    n, n_gone, n_left, rows = (
        values.reshape(len(values), -1) for values in (whole.weight, gone.weight, weight, whole.rows)
    )
    left = np.where(n_left > 0, n_left, 1.0)
    distance = np.where(n_gone > 0, (whole.mean - gone.mean) + (low_of(whole) - low_of(gone)), 0.0)
    mean, low = two_sum(whole.mean, low_of(whole) + n_gone / left * distance)
    mean, low = np.where(n_left > 0, mean, 0.0), np.where(n_left > 0, low, 0.0)
    gap = np.where(n_left * n_gone > 0, n / left * distance, 0.0)
    factor = weight * gone.weight / np.where(whole.weight > 0, whole.weight, 1.0)
    # A mean is known to a part of the deviation, and of itself where its low part is not known.
    spread = np.sqrt(np.maximum(whole.squares, 0.0) / np.where(n > 0, n, 1.0))
    of_mean = EPS * EPS if whole.low is not None and gone.low is not None else EPS + EPS * EPS
    error = EPS * (2.0 + 0.125 * np.sqrt(rows)) * spread + of_mean * np.abs(whole.mean)
    # What a mean is not known to, the remaining one is not known to n_k / (what is left of n_k) times.
    amplified = n / np.sqrt(np.where(n_left > 0, n_left, np.maximum(n, 1.0)))
    # Squares are summed about a pilot that is off by up to one unit in the last place, which is then taken out again:
    # of a constant column that leaves eps n (eps |mean|)^2.
    about_pilot = np.sqrt(2.0 * EPS * n) * EPS * np.abs(whole.mean)
    return mean, low, gap, factor, amplified * error + about_pilot


def refuse_lost_digits(whole: Any, left: Any, noise: Floats) -> None:
    """Refuse to take rows away where rounding is too large a part of the variances that they leave."""
    squares = left.squares
    rows_before, rows, weight = (values.reshape(len(values), -1) for values in (whole.rows, left.rows, left.weight))
    changed, gone = rows != rows_before, weight == 0
    mean = np.where(gone, np.nan, left.mean)
    # What has not been touched is what it was.
    mean_error = np.where(changed, noise / np.sqrt(np.where(gone, 1.0, weight)), 0.0)
    pooled = getattr(whole, "depth", None) is Depth.POOLED
    if pooled:
        noise, rows_before = np.sqrt((noise**2).sum(axis=0, keepdims=True)), rows_before.sum(keepdims=True)
        weight, rows = weight.sum(keepdims=True), np.where((rows <= 1).all(), 0, rows.sum(keepdims=True))
        changed = changed.any(keepdims=True)
    error = _scatter_error(whole.squares, noise, rows_before)
    # Nearly always nothing is anywhere near, and it does not matter which classes were touched.
    if (error <= ACCURATE * squares).all() and not (rows == 1).any():
        return
    some = ~np.isnan(mean).all(axis=0)
    lost = np.zeros(squares.shape, bool)
    error, weight, rows, _ = np.broadcast_arrays(np.where(changed, error, 0.0), weight, rows, squares)
    lost[:, some] = _lost_digits(
        squares[:, some], error[:, some], weight[:, some], rows[:, some], mean[:, some], mean_error[:, some]
    )
    lost &= changed
    if lost.any():
        k, j = (int(i) for i in np.argwhere(lost)[0])
        of = "" if pooled else f" in class '{whole.classes[k]}'"
        raise ForgetError.of_column(
            f"Cannot forget these rows: in column {{column}} their values are so much larger than the others{of} that "
            "rounding has taken the digits of what would be left. The model is unchanged; to be rid of these rows, "
            "fit it again without them.",
            j,
        )


def _scatter_error(before: Floats, noise: Floats, rows: NDArray[np.int64]) -> Floats:
    """What sums of so many squares, and the rounding ``noise`` of the means, may have changed.

    The factor was measured: sums of 1e2 to 1e6 squares, with and without one that is larger than all others, are off
    by up to 2 to 220 eps.
    """
    return np.asarray(EPS * (8.0 + 0.5 * np.sqrt(rows)) * before + noise * (2.0 * np.sqrt(before) + noise))


def _lost_digits(
    left: Floats, error: Floats, weight: Floats, rows: NDArray[np.int64], mean: Floats, mean_error: Floats
) -> Mask:
    """Where what is left (K x p, or 1 x p of all classes together) cannot be distinguished from its own error.

    ``weight`` and ``rows`` are what is left, shaped alike; ``mean`` and ``mean_error`` are K x p, NaN for classes that
    are gone. A larger error is borne where it is small beside what the column does elsewhere, and where the
    column has become constant: there the difference should be nothing, and is.
    """
    several, known = rows > 1, np.where(rows > 0, weight, 1.0)
    bound = np.sqrt(error / known)
    lost = several & (error > ACCURATE * left)
    alone = (rows == 1) & (mean_error > 0) if len(rows) == len(mean) else np.zeros(lost.shape, bool)
    if not (lost.any() or alone.any()):
        return lost
    deviation = np.where(several, np.sqrt(np.maximum(left, 0.0) / known), 0.0)
    elsewhere = np.maximum(_largest_of_others(deviation), np.nanmax(mean, axis=0) - np.nanmin(mean, axis=0))
    constant = _constant(left, error, deviation, bound, mean, mean_error)
    lost &= (bound > MATERIAL * elsewhere) & ~constant
    if alone.any():
        size = np.maximum(elsewhere, np.abs(mean))
        lost |= alone & (mean_error > ACCURATE * size) & (size > 4.0 * mean_error)
    return lost


def _largest_of_others(deviation: Floats) -> Floats:
    """For every class the largest deviation of the other classes; zero where there are none."""
    if len(deviation) == 1:
        return np.zeros_like(deviation)
    ordered = np.sort(deviation, axis=0)
    return np.asarray(np.where(deviation == ordered[-1], ordered[-2], ordered[-1]))


def _constant(left: Floats, error: Floats, deviation: Floats, bound: Floats, mean: Floats, mean_error: Floats) -> Mask:
    """Has the column one value in all classes, as far as one can see?"""
    errors = np.where(np.isnan(mean), np.inf, mean_error)
    best = errors.argmin(axis=0)[None]
    value, doubt = (np.take_along_axis(values, best, axis=0)[0] for values in (mean, errors))
    same = (np.isnan(mean) | (np.abs(mean - value) <= 4.0 * (errors + doubt) + SAME * np.abs(value))).all(axis=0)
    flat = ((left <= error) | (deviation <= SAME * np.abs(value))).all(axis=0)
    nothing = (np.abs(value) <= 4.0 * doubt) & ((~np.isnan(mean)).sum(axis=0) > 1)
    return np.asarray(same & flat & ((bound <= MATERIAL * np.abs(value)) | nothing))


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
