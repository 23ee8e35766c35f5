"""Areas under ROC curves of out-of-fold scores: only rows of one fold are compared with each other.

Scores of different folds come from different models. A model without information gives the rows of a fold the score
that the others of their class suggest, which is lower the more of them are in it: over all rows together its area is
below one half, and with one row a fold it is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.evaluation.operating_points import SAME
from discrim.inference.conjugate import tails
from discrim.typing import Floats, Index

# Rows of a class from which on their own variance is enough, and how many of them the one known beforehand is worth.
FEW, PRIOR_ROWS = 30, 5.0


@dataclass(frozen=True, eq=False)
class FoldArea:
    """The ``area``, NaN where no fold has rows to compare, and the ``parts`` of the rows in its error, of mean zero.

    With more than two classes it is Hand and Till's mean over the ordered pairs of classes.
    """

    area: float
    parts: Floats


def area_within_folds(codes: Any, scores: Floats, folds: Any, weight: Floats | None = None) -> FoldArea:
    """``scores`` (n x K) of the classes 0 to K - 1, or (n) of the second of two, and the number of each row's fold.

    The pairs of rows of all folds count alike. The parts are those of DeLong, DeLong and Clarke-Pearson (1988), by
    placements among all rows, which are far less noisy than those among the few of a fold; they are lengthened by what
    comparing fewer pairs adds to the variance. Cost: K sorts, K^2 n sums.
    """
    w = np.ones(len(codes)) if weight is None else weight
    classes = [np.where(codes == k, w, 0.0) for k in range(2 if scores.ndim == 1 else scores.shape[1])]
    if len(classes) == 2:
        second = scores if scores.ndim == 1 else scores[:, 1]
        return _of_pairs([(1, 0)], {1: second}, classes, folds)
    return _of_pairs(list(permutations(range(len(classes)), 2)), dict(enumerate(scores.T)), classes, folds)


def _of_pairs(
    pairs: list[tuple[int, int]], scores: dict[int, Floats], classes: list[Floats], folds: NDArray[Any]
) -> FoldArea:
    n = len(folds)
    areas, parts, alone = list[float](), np.zeros(n), np.zeros(n, dtype=np.intp)
    numbers = np.unique(folds, return_inverse=True)[1]
    numbers = numbers.astype(np.uint16 if n and numbers.max() < 1 << 16 else np.intp)
    taking = [weight > 0.0 for weight in classes]
    for j, score in scores.items():
        among = _Order(score, alone, np.argsort(score, kind="stable"))
        # Whole numbers are sorted by their digits, so that a second sort of all scores is saved.
        within = _Order(score, folds, among.order[np.argsort(numbers[among.order], kind="stable")])
        for k in (other for own, other in pairs if own == j):
            used = taking[j] | taking[k]
            inside = within.only(used)
            right, total = inside.concordant(classes[j], classes[k])
            if not total:
                continue
            areas.append(right / total)
            squares = classes[j] ** 2, classes[k] ** 2
            fewer = inside.concordant(*squares)[1] / total**2
            fewer -= squares[0].sum() * squares[1].sum() / (classes[j].sum() * classes[k].sum()) ** 2
            own = among.only(used).placements(classes[j], classes[k])
            parts += own * _longer(own, areas[-1], [classes[j], classes[k]], fewer)
    if not areas:
        return FoldArea(np.nan, parts)
    return FoldArea(float(np.mean(areas)), parts / len(areas))


def _longer(parts: Floats, area: float, classes: list[Floats], fewer: float) -> float:
    """By how much to lengthen the parts of two classes where not all of their pairs are compared.

    Whether a pair is in order has the variance A (1 - A). Both of its rows account for some of that by themselves; the
    rest varies from pair to pair, and its mean over the pairs has ``fewer`` times its variance more than over all.
    """
    influences = parts / len(parts)
    variance = float(influences @ influences)
    if not variance > 0.0 or fewer <= 0.0:
        return 1.0
    rest = area * (1.0 - area)
    for weight in classes:
        own = np.flatnonzero(weight)
        rest -= float(np.average((influences[own] / weight[own] * weight.sum()) ** 2, weights=weight[own]))
    return float(np.sqrt(1.0 + max(rest, 0.0) * fewer / variance))


class _Order:
    """Rows by group and score, with the ends of ties and of groups; ``order`` are the rows, where it is known."""

    def __init__(self, score: Floats, group: NDArray[Any], order: Index | None = None) -> None:
        self._score, self._of = score, group
        self.order = np.lexsort((score, group)) if order is None else order
        s, g = score[self.order], group[self.order]
        new_group = np.concatenate([[True], g[1:] != g[:-1]])
        self._tie = _ends(new_group | np.concatenate([[True], s[1:] != s[:-1]]))
        self._group = _ends(new_group)

    def only(self, used: NDArray[np.bool_]) -> _Order:
        """The order of some rows; those of two classes are few of many."""
        return self if used.all() else _Order(self._score, self._of, self.order[used[self.order]])

    def concordant(self, positive: Floats, negative: Floats) -> tuple[float, float]:
        """The weight of pairs in one group of which the positive row has the higher score, ties half; and of all."""
        up, below = positive[self.order], np.concatenate([[0.0], np.cumsum(negative[self.order])])
        (first, last), (start, stop) = self._tie, self._group
        right = 0.5 * (below[first] + below[last]) - below[start]
        return float(up @ right), float(up @ (below[stop] - below[start]))

    def placements(self, positive: Floats, negative: Floats) -> Floats:
        """n times the influence of each row on the area over all rows."""
        n = len(positive)
        parts = np.zeros(n)
        up, down = positive[self.order], negative[self.order]
        first, last = self._tie
        totals = up.sum(), down.sum()
        lower, higher = (np.concatenate([[0.0], np.cumsum(values)]) for values in (down, up))
        above = totals[0] - 0.5 * (higher[first] + higher[last])
        beaten, beating = 0.5 * (lower[first] + lower[last]) / totals[1], above / totals[0]
        area = float(up @ beaten) / totals[0]
        parts[self.order] = n * (up * (beaten - area) / totals[0] + down * (beating - area) / totals[1])
        return parts


def _ends(new: NDArray[np.bool_]) -> tuple[Index, Index]:
    """For each place the first of its run and the one after the last."""
    starts = np.flatnonzero(new)
    run = np.cumsum(new) - 1
    return starts[run], np.append(starts[1:], len(new))[run]


def area_interval(
    area: float, std_error: float, positive: float, negative: float, level: float = 0.95, df: float = np.inf
) -> tuple[float, float]:
    """On the scale of log odds: estimate -+ z standard errors, with Student's quantile where there are ``df``.

    The variance A (1 - A) (1 + m ((1 - A) / (2 - A) + A / (1 + A))) / (n1 n0), m = (n1 + n0) / 2 - 1, needs only the
    numbers of rows of both classes (Hanley and McNeil 1982, Newcombe 2006). A standard error that comes from few rows
    of a class varies itself and is often too small: below ``FEW`` rows the variance is the mean of both, where this one
    counts for ``PRIOR_ROWS`` rows of the smaller class. For an area of 0 or 1, or without an error, the interval are
    the areas that are within z of their own standard errors by this variance (Newcombe's method 5).
    """
    from scipy.optimize import brentq

    upper = tails(level)[1]
    z = float(special.stdtrit(df, upper) if np.isfinite(df) else special.ndtri(upper))
    area = area if SAME < area < 1.0 - SAME else float(round(area))
    if std_error > SAME and 0.0 < area < 1.0:
        fewest, variance = min(positive, negative), std_error**2
        if fewest < FEW:
            known = area * (1.0 - area) * _spread(area, positive, negative)
            variance = (fewest * variance + PRIOR_ROWS * known) / (fewest + PRIOR_ROWS)
        middle, half = special.logit(area), z * np.sqrt(variance) / (area * (1.0 - area))
        return float(special.expit(middle - half)), float(special.expit(middle + half))

    def distance(other: float) -> float:
        return float((area - other) ** 2 - z * z * other * (1.0 - other) * _spread(other, positive, negative))

    # At the ends of the interval the distance is zero; within it is negative.
    low = 0.0 if area <= 0 else brentq(distance, 0.0, area * (1.0 - 1e-12))
    high = 1.0 if area >= 1 else brentq(distance, area + (1.0 - area) * 1e-12, 1.0)
    return float(low), float(high)


def _spread(area: float, positive: float, negative: float) -> float:
    balance = 0.5 * (positive + negative) - 1.0
    return (1.0 + balance * ((1.0 - area) / (2.0 - area) + area / (1.0 + area))) / (positive * negative)


def two_sizes(sizes: Any) -> tuple[float, float]:
    """Of two classes their rows; of K as many of two as the mean area of all pairs varies like.

    A row takes part in K - 1 of the K (K - 1) / 2 pairs; to the first order the variance is that of two classes of
    K / 2 times the harmonic mean of the ``sizes``.
    """
    n = np.asarray(sizes, dtype=np.float64)
    n = n[n > 0]
    if len(n) == 2:
        return float(n[0]), float(n[1])
    alike = float(len(n) ** 2 / (2.0 * (1.0 / n).sum()))
    return alike, alike
