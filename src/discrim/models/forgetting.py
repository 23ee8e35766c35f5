"""Rows that were never learned: which class and column give them away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discrim.errors import DataError, ForgetError
from discrim.statistics import ClassCounts, MixedStatistic
from discrim.statistics.means import ROUNDING


def subtract_counts(seen: ClassCounts, gone: ClassCounts, names: Sequence[str]) -> ClassCounts:
    """What is left of counts; an error names the column of which more would be forgotten than was counted."""
    try:
        return seen.subtract(gone)
    except ForgetError as error:
        raise _too_often(seen, gone, names) or error from None


def check_indicators(seen: ClassCounts, left: ClassCounts, names: Sequence[str]) -> None:
    """Raise where a column of zeros and ones would be left with more ones than there are rows."""
    place = np.searchsorted(seen.classes, left.classes)
    slack = ROUNDING * seen.weight[place]
    over = left.count > (left.weight + slack)[:, None]
    # Numbers that were no zeros and ones to begin with are for others to refuse.
    over &= seen.count[place] <= (seen.weight[place] + slack)[:, None]
    if over.any():
        k, j = (int(i) for i in np.argwhere(over)[0])
        zeros = seen.weight[place[k]] - seen.count[place[k], j]
        fact = f"Column '{names[j]}' was 0 in rows of weight {zeros:g} there; they have more."
        raise _never_seen(seen, left, k, fact)


def subtract_mixed(seen: MixedStatistic, gone: MixedStatistic) -> MixedStatistic:
    """The same for columns of different kinds."""
    try:
        left = seen.subtract(gone)
    except ForgetError as error:
        categorical = [name for name, kind in zip(seen.names, seen.likelihoods, strict=True) if kind == "categorical"]
        raise _too_often(seen.counts, gone.counts, categorical) or error from None
    _check_means(seen, left)
    return left


def _check_means(seen: MixedStatistic, left: MixedStatistic) -> None:
    """Raise where counts, or zeros and ones, would be left with a mean that they cannot have."""
    numeric = [i for i, likelihood in enumerate(seen.likelihoods) if likelihood != "categorical"]
    most = {"poisson": np.inf, "gamma-poisson": np.inf, "bernoulli": 1.0}
    for j, i in enumerate(numeric):
        if seen.likelihoods[i] not in most:
            continue
        weight, mean = left.cells.weight[:, j], left.cells.mean[:, j]
        slack = 1e-9 * np.maximum(1.0, np.abs(seen.cells.mean[:, j]).max(initial=0.0))
        wrong = (weight > 0) & ((mean < -slack) | (mean > most[seen.likelihoods[i]] + slack))
        if wrong.any():
            k = int(np.argmax(wrong))
            fact = f"Column '{seen.names[i]}' would be left with the mean {mean[k]:g}."
            raise _never_seen(seen.counts, left.counts, k, fact)


def _never_seen(seen: ClassCounts, left: ClassCounts, k: int, fact: str) -> ForgetError:
    before = int(np.searchsorted(seen.classes, left.classes[k]))
    gone = int(seen.rows[before] - left.rows[k]), float(seen.weight[before] - left.weight[k])
    return ForgetError.never_seen(left.classes[k], gone, fact)


def _too_often(seen: ClassCounts, gone: ClassCounts, names: Sequence[str]) -> ForgetError | None:
    try:
        aligned = seen.merge(gone)
    except DataError:  # levels of other types, or a column without any
        return None
    whole, part = seen.with_levels(aligned.levels), gone.with_levels(aligned.levels)
    columns = np.arange(len(names)) if aligned.levels is None else _features(aligned)
    for k in np.flatnonzero(np.isin(part.classes, whole.classes)):
        known = whole.count[np.searchsorted(whole.classes, part.classes[k])]
        more = (part.count[k] > known + ROUNDING * np.abs(known)) & (known >= 0)
        if more.any():
            at = int(np.argmax(more))
            what = "" if aligned.levels is None else f" had the level '{np.concatenate(aligned.levels)[at]}'"
            seen_so = f"{what or ' was counted'} {known[at]:g} times there; they have {part.count[k, at]:g}."
            fact = f"Column '{names[columns[at]]}'{seen_so}"
            return ForgetError.never_seen(part.classes[k], (int(part.rows[k]), float(part.weight[k])), fact)
    return None


def _features(counts: ClassCounts) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The feature that each column of levels belongs to."""
    assert counts.levels is not None
    return np.repeat(np.arange(len(counts.levels)), [len(levels) for levels in counts.levels])
