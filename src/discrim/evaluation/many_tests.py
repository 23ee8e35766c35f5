"""Many paired differences at once: p-values by the largest statistic under random signs.

Under the hypothesis that two models are equally good, the difference of their losses on a row could as well have the
other sign. Signs that are drawn for the rows (or groups) keep how the models go together, so that of 20 models which
err on the same rows hardly more is asked than of one: Westfall and Young's single-step max-T (1993). For one difference
of 0/1 losses it is McNemar's exact test, but for the Monte-Carlo error.
"""

from __future__ import annotations

import numpy as np

from discrim.typing import Floats

DRAWS = 1999
# More units are put together at random into so many parts.
MOST_UNITS = 4000


def larger_than_zero(totals: Floats, parts: Floats) -> Floats:
    """One-sided p-values of m ``totals``, each the sum of what the units have in common with it, adjusted for all m.

    ``parts`` (units x m) have as their sum the totals, or are influences of mean zero on them.
    """
    parts = _put_together(parts)
    length = _lengths(parts)
    return _share_as_large(totals / length, (_drawn(parts) / length).max(axis=1))


def all_pairs(totals: Floats, parts: Floats) -> Floats:
    """m x m two-sided p-values of the differences of all pairs, adjusted for all of them; 1 on the diagonal."""
    m = len(totals)
    first, second = np.triu_indices(m, 1)
    p = np.ones((m, m))
    if m > 1:
        parts = _put_together(parts)
        length = _lengths(parts[:, first] - parts[:, second])
        sums = _drawn(parts)
        largest = (np.abs(sums[:, first] - sums[:, second]) / length).max(axis=1)
        p[first, second] = _share_as_large(np.abs(totals[first] - totals[second]) / length, largest)
        p[second, first] = p[first, second]
    return p


def _drawn(parts: Floats) -> Floats:
    """Sums with random signs, draws x m."""
    signs = np.random.default_rng(0).integers(0, 2, size=(DRAWS, len(parts)), dtype=np.int8)
    return np.asarray((2.0 * signs - 1.0) @ parts)


def _put_together(parts: Floats) -> Floats:
    if len(parts) <= MOST_UNITS:
        return parts
    unit = np.random.default_rng(1).permutation(len(parts)) % MOST_UNITS
    order = np.argsort(unit, kind="stable")
    return np.asarray(np.add.reduceat(parts[order], np.searchsorted(unit[order], np.arange(MOST_UNITS)), axis=0))


def _lengths(parts: Floats) -> Floats:
    """Of the columns; infinite where all of a column is zero, so that nothing speaks against equality."""
    length = np.sqrt((parts**2).sum(axis=0))
    return np.where(length > 0, length, np.inf)


def _share_as_large(statistic: Floats, largest: Floats) -> Floats:
    """How many of the draws, and the rows as they are, have a largest statistic of at least this."""
    as_large = (largest[:, None] >= statistic - 1e-9).sum(axis=0)
    return np.asarray((1.0 + as_large) / (1.0 + len(largest)))
