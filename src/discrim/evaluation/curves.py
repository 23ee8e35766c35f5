"""Curves over all thresholds of a score: ROC, precision and recall; areas under the ROC curve, and the test of two.

The area is a U statistic. DeLong, DeLong and Clarke-Pearson (1988) give its variance, and that of the difference of two
areas on the same rows; Hand and Till (2001) extend it to more than two classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim import kernels
from discrim.errors import DataError, ParameterError, name_list
from discrim.evaluation.answers import checked_posterior, cumulated, in_standard_errors, scored, weights_of
from discrim.evaluation.proportions import proportion_interval
from discrim.inference.conjugate import tails
from discrim.later import cached_property
from discrim.parallel import run
from discrim.sources import check_weights
from discrim.typing import Floats

# Draws of a band; the Monte-Carlo error of its ends is then about a fiftieth of its width.
DRAWS = 2000


def roc(y: Any, score: Any, *, positive: Any = None, sample_weight: Any = None) -> ROC:
    """How well a score separates the ``positive`` class from the other, at every threshold.

    ``y`` has two classes, of which the larger label is positive unless one is named; larger scores speak for it.
    Cost: one sort.
    """
    is_positive, label, (values,) = scored(y, positive, score=score)
    return ROC(values, is_positive, label, check_weights(sample_weight, len(values)))


class ROC:
    """What ``roc`` gives.

    ``fpr`` and ``tpr`` are the shares of negatives and positives with a score of at least ``thresholds``, from
    (0, 0) at infinity to (1, 1), without points that lie on the line between their neighbours. ``auc`` is the
    probability that a positive scores higher than a negative, ties counted half.

    Examples
    --------
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.auc
    0.75
    >>> curve.tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    def __init__(self, score: Floats, is_positive: NDArray[np.bool_], positive: Any, weight: Floats | None) -> None:
        self.positive = positive
        self.n_positive = int(is_positive.sum())
        self.n_negative = len(is_positive) - self.n_positive
        self._weighted: tuple[Floats, Floats, Floats] | None = None
        if weight is None:
            # Both are sorted at the same time.
            self._high, self._low = run(lambda i: np.sort(score[~is_positive if i else is_positive]), 2)
        else:
            self._weighted = _weighted_steps(score, is_positive, weight)

    @cached_property
    def auc(self) -> float:
        """Area under the curve."""
        if self._weighted is not None:
            fpr, tpr, _ = self._weighted
            return float(np.trapezoid(tpr, fpr))
        return float(self._placements[0].mean())

    @cached_property
    def auc_std_error(self) -> float:
        """Standard error of the area, by DeLong, DeLong and Clarke-Pearson (1988)."""
        if self._weighted is not None:
            raise DataError("There is no standard error for a weighted area. Leave the weights out.")
        if min(self.n_positive, self.n_negative) < 2:
            raise DataError("The standard error of the area needs at least two rows of each class.")
        return float(np.sqrt(auc_variance(*self._placements)))

    def auc_ci(self, level: float = 0.95, method: Literal["delong", "logit"] = "delong") -> tuple[float, float]:
        """Interval for the area: area -+ z standard errors, cut at 0 and 1; 'logit' does it on the scale of log odds.

        The second keeps its level better where the area is near 1 or the rows are few.
        """
        z, auc, se = special.ndtri(tails(level)[1]), self.auc, self.auc_std_error
        if method == "delong":
            return max(auc - z * se, 0.0), min(auc + z * se, 1.0)
        if method != "logit":
            raise ParameterError.bad_value("method", method, "'delong' or 'logit'")
        if auc in {0.0, 1.0}:
            return auc, auc
        half = z * se / (auc * (1.0 - auc))
        return float(special.expit(special.logit(auc) - half)), float(special.expit(special.logit(auc) + half))

    @property
    def fpr(self) -> Floats:
        return self._curve[0]

    @property
    def tpr(self) -> Floats:
        return self._curve[1]

    @property
    def thresholds(self) -> Floats:
        return self._curve[2]

    def sensitivity_at(self, specificity: Any) -> Any:
        """Sensitivity at this specificity, interpolated linearly between points."""
        return np.interp(1.0 - np.asarray(specificity, dtype=np.float64), self.fpr, self.tpr)[()]

    def band(
        self, specificity: Any = None, level: float = 0.95, *, draws: int = DRAWS, seed: int = 0
    ) -> tuple[Floats, Floats, Floats]:
        """Pointwise intervals for the sensitivity at given specificities (101 from 0 to 1 by default).

        Percentiles of the bootstrap within classes. No row is drawn: the k-th of n resampled negatives is the
        original one at rank n Beta(k, n - k + 1), and of the positives above it a binomial number is drawn again.
        Cost: draws x points.
        """
        if self._weighted is not None:
            raise DataError("A band needs rows without weights.")
        ends = tails(level)
        at = np.linspace(0, 1, 101) if specificity is None else np.atleast_1d(np.asarray(specificity, np.float64))
        rng = np.random.default_rng(seed)
        m, n = self.n_positive, self.n_negative
        k = np.clip(np.ceil(at * n), 1, n)
        rank = np.ceil(n * rng.beta(k, n - k + 1, size=(draws, len(at)))).astype(np.int64) - 1
        thresholds = self._low[np.clip(rank, 0, n - 1)]
        found = m - 0.5 * (
            np.searchsorted(self._high, thresholds, "left") + np.searchsorted(self._high, thresholds, "right")
        )
        sensitivity = rng.binomial(m, np.clip(found / m, 0, 1)) / m
        low, high = np.quantile(sensitivity, ends, axis=0)
        # At specificity 0 every positive is found.
        at_zero = at <= 0
        return at, np.where(at_zero, 1.0, low), np.where(at_zero, 1.0, high)

    def plot(self, **options: Any) -> Any:
        """The curve with its band, as matplotlib axes: ``discrim.plots.roc`` with its options."""
        from discrim import plots

        return plots.roc(self, **options)

    def __repr__(self) -> str:
        head = f"ROC of '{self.positive}': {self.n_positive} positive and {self.n_negative} negative rows, AUC "
        if self._weighted is not None or min(self.n_positive, self.n_negative) < 2:
            return f"{head}{self.auc:.4f}"
        low, high = self.auc_ci()
        return f"{head}{self.auc:.4f} (95% {low:.4f} to {high:.4f})"

    @cached_property
    def _placements(self) -> tuple[Floats, Floats]:
        return sorted_placements(self._high, self._low)

    @cached_property
    def _curve(self) -> tuple[Floats, Floats, Floats]:
        if self._weighted is not None:
            return _corners(*self._weighted)
        values = np.unique(np.concatenate([self._high, self._low]))[::-1]
        fpr = 1.0 - np.searchsorted(self._low, values, "left") / self.n_negative
        tpr = 1.0 - np.searchsorted(self._high, values, "left") / self.n_positive
        return _corners(*(np.concatenate([[start], part]) for start, part in ((0, fpr), (0, tpr), (np.inf, values))))


def _weighted_steps(score: Floats, is_positive: NDArray[np.bool_], weight: Floats) -> tuple[Floats, Floats, Floats]:
    values, *parts = cumulated(-score, weight * ~is_positive, weight * is_positive)
    if parts[0][-1] <= 0 or parts[1][-1] <= 0:
        raise DataError("All rows of one class have the weight zero; a curve needs rows of two classes.")
    fpr, tpr = (np.concatenate([[0.0], part / part[-1]]) for part in parts)
    return fpr, tpr, np.concatenate([[np.inf], -values])


def _corners(fpr: Floats, tpr: Floats, thresholds: Floats) -> tuple[Floats, Floats, Floats]:
    """Without points between two that lie on one horizontal or vertical line with them."""
    if len(fpr) > 2:
        keep = np.ones(len(fpr), dtype=bool)
        keep[1:-1] = ((np.diff(fpr)[:-1] != 0) | (np.diff(fpr)[1:] != 0)) & (
            (np.diff(tpr)[:-1] != 0) | (np.diff(tpr)[1:] != 0)
        )
        fpr, tpr, thresholds = fpr[keep], tpr[keep], thresholds[keep]
    return fpr, tpr, thresholds


@dataclass(frozen=True, eq=False)
class AucComparison:
    """Two areas on the same rows, by DeLong, DeLong and Clarke-Pearson (1988).

    ``auc`` are both areas, ``difference`` is the first minus the second, ``statistic`` its ratio to ``std_error``,
    ``p_value`` two-sided. Two scores that order the rows alike differ by nothing: p is 1.
    """

    auc: tuple[float, float]
    difference: float
    std_error: float
    statistic: float
    p_value: float

    def ci(self, level: float = 0.95) -> tuple[float, float]:
        """Interval for the difference."""
        half = special.ndtri(tails(level)[1]) * self.std_error
        return self.difference - half, self.difference + half

    def __repr__(self) -> str:
        low, high = self.ci()
        return (
            f"AUC {self.auc[0]:.4f} against {self.auc[1]:.4f}: difference {self.difference:.4f} "
            f"(95% {low:.4f} to {high:.4f}), z = {self.statistic:.3f}, p = {self.p_value:.3g}"
        )


def compare_auc(y: Any, score_a: Any, score_b: Any, *, positive: Any = None) -> AucComparison:
    """Paired test of whether two scores of the same rows have the same area under the ROC curve.

    With V_i the share of negatives below positive i and W_j the share of positives above negative j (ties count
    half), the difference of areas has variance Var(V^a - V^b) / m + Var(W^a - W^b) / n. Cost: two sorts.
    """
    is_positive, _, scores = scored(y, positive, score_a=score_a, score_b=score_b)
    a, b = (_in_order(score[is_positive], score[~is_positive]) for score in scores)
    auc = float(a[0].mean()), float(b[0].mean())
    difference, std_error = auc[0] - auc[1], float(np.sqrt(auc_variance(a[0] - b[0], a[1] - b[1])))
    z = in_standard_errors(difference, std_error)
    return AucComparison(auc, difference, std_error, z, float(2 * special.ndtr(-abs(z))))


def sorted_placements(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """V (m) and W (n) of two ascending lists, the positives ``high`` and the negatives ``low``."""
    below, above = kernels.placements(high, low)
    below /= len(low)
    above /= len(high)
    return below, above


def auc_variance(v: Floats, w: Floats) -> float:
    """Var(V) / m + Var(W) / n; infinite where a class has a single row."""
    parts = [values.var(ddof=1) / len(values) if len(values) > 1 else np.inf for values in (v, w)]
    return float(sum(parts))


def _in_order(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """V and W in the order of the rows."""
    orders = np.argsort(high), np.argsort(low)
    placed = sorted_placements(high[orders[0]], low[orders[1]])
    result = np.empty_like(high), np.empty_like(low)
    for values, order, at in zip(placed, orders, result, strict=True):
        at[order] = values
    return result


def multiclass_auc(y: Any, posterior: Any, classes: Any = None) -> float:
    """Hand and Till's M (2001): the mean over all pairs of classes of how well these two are separated.

    For a pair (j, k) it is the mean of two areas among the rows of these classes: of the posterior of j, with j
    positive, and of the posterior of k, with k positive. Insensitive to how frequent the classes are; for two
    classes with posteriors that sum to one it is the area under the ROC curve. Cost: K (K - 1) sorts of two classes.
    """
    known, codes, p = checked_posterior(y, posterior, classes)
    present = [k for k in range(len(known)) if (codes == k).any()]
    if len(present) < 2:
        raise DataError(f"y has only the class {name_list(known[present])}; an area needs rows of two classes.")
    columns = [[np.sort(p[codes == of, k]) for of in present] for k in present]
    areas = [
        0.5 * (_area(columns[a][a], columns[a][b]) + _area(columns[b][b], columns[b][a]))
        for a, b in combinations(range(len(present)), 2)
    ]
    return float(np.mean(areas))


def _area(high: Any, low: Any) -> float:
    return float(sorted_placements(high, low)[0].mean())


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """At each of ``thresholds``, falling: of the rows that score at least as high, ``precision`` are positive; of
    the positives ``recall`` are among them.

    ``average_precision`` is the sum of precision times the growth of recall, as in scikit-learn, and ``prevalence``
    what a score without any information would have.
    """

    precision: Floats
    recall: Floats
    thresholds: Floats
    average_precision: float
    prevalence: float
    _true: Floats
    _marked: Floats

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Pointwise Wilson intervals for the precision among as many marked rows as each threshold has."""
        return proportion_interval(self._true, self._marked, level)

    def plot(self, **options: Any) -> Any:
        """The curve with its band, as matplotlib axes: ``discrim.plots.precision_recall`` with its options."""
        from discrim import plots

        return plots.precision_recall(self, **options)

    def __repr__(self) -> str:
        return f"PrecisionRecall(average precision {self.average_precision:.4f}, prevalence {self.prevalence:.4f})"


def precision_recall(y: Any, score: Any, *, positive: Any = None, sample_weight: Any = None) -> PrecisionRecall:
    """Precision and recall at every threshold; the positive class as in ``roc``. Cost: one sort."""
    is_positive, _, (values,) = scored(y, positive, score=score)
    weight = weights_of(sample_weight, len(values))
    falling, marked, true = cumulated(-values, weight, weight * is_positive)
    if true[-1] <= 0:
        raise DataError("No positive row has a weight; precision and recall need some.")
    here = marked > 0
    marked, true, thresholds = marked[here], true[here], -falling[here]
    precision, recall = true / marked, true / true[-1]
    average = float(np.sum(precision * np.diff(recall, prepend=0.0)))
    return PrecisionRecall(precision, recall, thresholds, average, float(true[-1] / marked[-1]), true, marked)
