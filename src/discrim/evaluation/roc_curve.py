"""The ROC curve."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.errors import DataError, ParameterError
from discrim.evaluation.answers import checked_level, checked_scores, two_classes, weights_of
from discrim.evaluation.delong import auc_variance, sorted_apart, sorted_placements
from discrim.later import cached_property
from discrim.typing import Floats

# Draws of a band; the Monte-Carlo error of its ends is then about a fiftieth of its width.
DRAWS = 2000


def roc(y: Any, score: Any, *, positive: Any = None, sample_weight: Any = None) -> ROC:
    """How well a score tells the ``positive`` class from the other, at every threshold.

    ``y`` has two classes, of which the larger label is positive unless one is named; larger scores speak for it.
    Cost: one sort.
    """
    is_positive, label = two_classes(y, positive)
    values = checked_scores(score, len(is_positive))
    weight = None if sample_weight is None else weights_of(sample_weight, len(values))
    return ROC(values, is_positive, label, weight)


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
            self._high, self._low = sorted_apart(score, is_positive)
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
            raise DataError("The standard error of a weighted area is not known. Leave the weights out.")
        if min(self.n_positive, self.n_negative) < 2:
            raise DataError("The standard error of the area needs two rows of each class at least.")
        return float(np.sqrt(auc_variance(*self._placements)))

    def auc_ci(self, level: float = 0.95, method: Literal["delong", "logit"] = "delong") -> tuple[float, float]:
        """Interval for the area: area -+ z standard errors, cut at 0 and 1; 'logit' does it on the scale of log odds.

        The second keeps its level better where the area is near 1 or the rows are few.
        """
        z, auc, se = -special.ndtri(0.5 * (1.0 - checked_level(level))), self.auc, self.auc_std_error
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
        """The share of positives found where this share of the negatives is left alone, between points linearly."""
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
        tail = 0.5 * (1.0 - checked_level(level))
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
        low, high = np.quantile(sensitivity, [tail, 1.0 - tail], axis=0)
        # Nobody need be left alone: every positive is found.
        everybody = at <= 0
        return at, np.where(everybody, 1.0, low), np.where(everybody, 1.0, high)

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
    values, place = np.unique(-score, return_inverse=True)
    parts = [np.cumsum(np.bincount(place, weight * of, len(values))) for of in (~is_positive, is_positive)]
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
