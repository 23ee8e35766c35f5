"""Points of a ROC curve, the area under a part of it, and curves of resampled rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError, name_list
from discrim.typing import Floats

INPUTS = ("threshold", "specificity", "sensitivity")
# Names of pROC and short ones.
BEST = {"youden": "youden", "closest.topleft": "closest", "closest": "closest"}
# A share of rows that is this near to another is the same one, computed in another way.
SAME = 1e-12


class Curve(NamedTuple):
    """``fpr`` and ``tpr`` rise from (0, 0) to (1, 1), a point for each of the falling ``thresholds``.

    A threshold is the middle between two neighbouring ``scores``, infinite at both ends: rows that score higher are
    positive.
    """

    fpr: Floats
    tpr: Floats
    scores: Floats

    @property
    def thresholds(self) -> Floats:
        with np.errstate(invalid="ignore"):
            middles = 0.5 * self.scores[:-1] + 0.5 * self.scores[1:]
        # Between infinity and minus infinity.
        return np.concatenate([[np.inf], np.where(np.isnan(middles), 0.0, middles), [-np.inf]])

    @property
    def auc(self) -> float:
        return float(np.trapezoid(self.tpr, self.fpr))


@dataclass(frozen=True)
class Wanted:
    """Which points: the "best" ones by a criterion, or those at numbers of a threshold, specificity or sensitivity.

    "youden" is the largest sensitivity + r specificity, "closest" the least (1 - sensitivity)^2 + r (1 - specificity)^2
    with r = (1 - prevalence) / (cost prevalence), and 1 without ``weights`` (cost, prevalence); cost is that of a
    positive that is missed, relative to that of a false alarm.
    """

    x: str | Floats
    input: str
    best: str
    weights: tuple[float, float] | None = None

    @classmethod
    def checked(cls, x: object, input: str, best: str, weights: tuple[float, float] | None) -> Wanted:  # noqa: A002 - pROC's name
        """The arguments of ``coords``."""
        if input not in INPUTS:
            raise ParameterError.bad_value("input", input, f"one of {name_list(INPUTS)}")
        if best not in BEST:
            raise ParameterError.bad_value("best_method", best, "'youden' or 'closest.topleft'")
        if weights is not None and not (len(weights) == 2 and weights[0] > 0 and 0 < weights[1] < 1):
            raise ParameterError.bad_value(
                "best_weights", weights, "a pair: the cost of a missed positive, above 0, and a prevalence in 0 to 1"
            )
        if isinstance(x, str):
            if x != "best":
                raise ParameterError.bad_value("x", x, "'best', or numbers on the scale of 'input'")
            return cls(x, input, BEST[best], weights)
        try:
            values = np.atleast_1d(np.asarray(x, dtype=np.float64))
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        inside = input == "threshold" or bool(((values >= 0) & (values <= 1)).all())
        if values.ndim != 1 or not len(values) or np.isnan(values).any() or not inside:
            wanted = "numbers" if input == "threshold" else f"numbers from 0 to 1, as a {input} is"
            raise ParameterError.bad_value("x", x, f"'best', or {wanted}")
        return cls(values, input, BEST[best], weights)

    def of(self, curve: Curve) -> Floats:
        """Threshold, specificity and sensitivity of each point; NaN for the threshold of a point between two others."""
        fpr, tpr = curve.fpr, curve.tpr
        if isinstance(self.x, str):
            at = self._best(fpr, tpr)[::-1]  # thresholds ascend, as the numbers of pROC do
            return np.column_stack([curve.thresholds[at], 1.0 - fpr[at], tpr[at]])
        if self.input == "threshold":
            at = np.searchsorted(-curve.scores, -self.x, side="right")
            return np.column_stack([self.x, 1.0 - fpr[at], tpr[at]])
        if self.input == "specificity":
            other = _highest(1.0 - self.x, fpr, tpr)
            return np.column_stack([_threshold_at(curve, 1.0 - self.x, other), self.x, other])
        other = 1.0 - _highest(1.0 - self.x, 1.0 - tpr[::-1], 1.0 - fpr[::-1])
        return np.column_stack([_threshold_at(curve, other, self.x), 1.0 - other, self.x])

    def _best(self, fpr: Floats, tpr: Floats) -> NDArray[np.intp]:
        r = 1.0
        if self.weights is not None:
            cost, prevalence = self.weights
            r = (1.0 - prevalence) / (cost * prevalence)
        value = tpr - r * fpr if self.best == "youden" else -((1.0 - tpr) ** 2 + r * fpr**2)
        return np.flatnonzero(value >= value.max() - SAME)


def _highest(x: Floats, points: Floats, values: Floats) -> Floats:
    """The value at x by linear interpolation, the last and highest one where several points are there."""
    last = np.maximum(np.searchsorted(points, x + SAME, side="right") - 1, 0)
    return np.where(np.abs(points[last] - x) <= SAME, values[last], np.interp(x, points, values))


def _threshold_at(curve: Curve, fpr: Floats, tpr: Floats) -> Floats:
    """The thresholds of the points that are on the curve itself; the highest where several give the same point."""
    found = np.full(len(fpr), np.nan)
    for i, point in enumerate(zip(fpr, tpr, strict=True)):
        near = (np.abs(curve.fpr - point[0]) < 2 * SAME) & (np.abs(curve.tpr - point[1]) < 1e-9)
        if near.any():
            found[i] = curve.thresholds[np.argmax(near)]
    return found


@dataclass(frozen=True)
class Part:
    """The area between two specificities (``focus``), or between two sensitivities.

    ``corrected`` by McClish (1989): 1/2 where the curve is the diagonal, 1 where it is perfect.
    """

    low: float
    high: float
    focus: str
    corrected: bool

    @classmethod
    def checked(cls, bounds: tuple[float, float], focus: str, corrected: bool) -> Part:
        if focus not in INPUTS[1:]:
            raise ParameterError.bad_value("focus", focus, "'specificity' or 'sensitivity'")
        ends = sorted(float(end) for end in bounds) if len(bounds) == 2 else [0.0, 0.0]
        if not 0.0 <= ends[0] < ends[1] <= 1.0:
            raise ParameterError.bad_value("bounds", bounds, f"two different numbers from 0 to 1, of the {focus}")
        return cls(ends[0], ends[1], focus, corrected)

    def area(self, fpr: Floats, tpr: Floats) -> float:
        # Over the false positive rate the area is below the curve; over sensitivity it is to the right of it.
        x, y = (fpr, tpr) if self.focus == "specificity" else (1.0 - tpr[::-1], 1.0 - fpr[::-1])
        start, end = 1.0 - self.high, 1.0 - self.low
        inner = (x > start) & (x < end)
        grid = np.concatenate([[start], x[inner], [end]])
        heights = np.concatenate([[np.interp(start + SAME, x, y)], y[inner], [np.interp(end - SAME, x, y)]])
        area, chance = float(np.trapezoid(heights, grid)), 0.5 * (end**2 - start**2)
        if not self.corrected:
            return area
        return 0.5 * (1.0 + (area - chance) / (end - start - chance))


@dataclass(frozen=True)
class Steps:
    """The distinct ``values`` of a score, falling, and the place of every positive and negative row among them."""

    values: Floats
    positives: NDArray[np.intp]
    negatives: NDArray[np.intp]

    @classmethod
    def of(cls, high: Floats, low: Floats) -> Steps:
        values, place = np.unique(-np.concatenate([high, low]), return_inverse=True)
        return cls(-values, place[: len(high)], place[len(high) :])

    def curve(self, positives: NDArray[np.intp], negatives: NDArray[np.intp]) -> Curve:
        """Of these rows, which may be some of them, and some of them several times."""
        tpr, fpr = (
            np.concatenate([[0.0], np.cumsum(np.bincount(places, minlength=len(self.values))) / len(places)])
            for places in (positives, negatives)
        )
        return Curve(fpr, tpr, self.values)


def draws_of(positives: int, negatives: int, draws: int, seed: int) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Row numbers of positives and of negatives, drawn with replacement within each class."""
    if not isinstance(draws, int) or draws < 10:
        raise ParameterError.bad_value("draws", draws, "an integer of at least 10")
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        yield rng.integers(positives, size=positives), rng.integers(negatives, size=negatives)
