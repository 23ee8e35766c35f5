"""Whether what is left of a scatter, when rows are taken away, still has digits that mean anything.

A scatter S is known to about eps S. Where the rows that go had nearly all of it, as one value of 1e8 among others of
size 1 has, the rest is a difference of two numbers that agree in almost all their digits, and may be any number. No
check of signs notices that, so the error is bounded and compared with what is left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discrim.typing import Floats, Mask

EPS = float(np.finfo(float).eps)
# The relative error up to which a variance that is left is taken.
ACCURATE = 1e-6
# Errors of a deviation below this part of how the column varies elsewhere change no decision.
MATERIAL = 1e-5
# How close the values of a column are that differ by the rounding of their mean only.
SAME = 1e-12


def scatter_error(before: Floats, noise: Floats, rows: NDArray[np.int64]) -> Floats:
    """What sums of so many squares, and the rounding ``noise`` of the means, may have changed.

    The factor was measured: sums of 1e2 to 1e6 squares, with and without one that is larger than all others, are off
    by up to 2 to 220 eps.
    """
    return np.asarray(EPS * (8.0 + 0.5 * np.sqrt(rows)) * before + noise * (2.0 * np.sqrt(before) + noise))


def lost_digits(
    left: Floats, error: Floats, weight: Floats, rows: NDArray[np.int64], mean: Floats, mean_error: Floats
) -> Mask:
    """Where what is left (K x p, or 1 x p of all classes together) cannot be told from its own error.

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
