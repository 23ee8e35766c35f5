"""How good probabilities are: log loss, Brier score with its parts, calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError
from discrim.evaluation.answers import checked_posterior, informative_rows, scored, weights_of
from discrim.evaluation.proportions import proportion_interval
from discrim.typing import Floats

# Rows that a group needs on average for its frequency to mean something.
FEWEST = 3


def log_loss(y: Any, posterior: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Mean of -log of the probability given to the true class; infinite if one was held to be impossible."""
    _, codes, p = checked_posterior(y, posterior, classes)
    with np.errstate(divide="ignore"):
        losses = -np.log(p[np.arange(len(p)), codes])
    weight = weights_of(sample_weight, len(p))
    return float(np.average(losses[weight > 0], weights=weight[weight > 0]))


@dataclass(frozen=True)
class Brier:
    """``score`` = ``reliability`` - ``resolution`` + ``uncertainty`` + ``within``.

    Reliability is how far the probabilities are from the frequencies (0 is best), resolution how much the frequencies
    differ between groups of rows with like probabilities (more is better), uncertainty the score of the overall
    frequency, and ``within`` what grouping unlike probabilities together leaves over; 0 where groups are of equal ones,
    and ``bins`` is None.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float
    bins: int | None = None


def brier(
    y: Any, probability: Any, *, positive: Any = None, bins: int | None = None, sample_weight: Any = None
) -> Brier:
    """Mean squared distance of the probability of the positive class from what happened, with Murphy's decomposition.

    ``bins`` groups rows by equal-width intervals of the probability. Without it a group is of equal probabilities;
    where these have fewer than three rows on average their frequencies would be those of single rows, so that there
    are ten intervals.
    """
    happened, p, w = binary_probabilities(y, probability, positive, sample_weight)
    if bins is None and len(p) < FEWEST * len(np.unique(p)):
        bins = 10
    group = _bin_of(p, bins) if bins is not None else np.unique(p, return_inverse=True)[1]
    weight = np.bincount(group, w)
    here = weight > 0
    frequency = np.bincount(group, w * happened)[here] / weight[here]
    mean = np.bincount(group, w * p)[here] / weight[here]
    share, overall = weight[here] / w.sum(), float(np.average(happened, weights=w))
    score = float(np.average((p - happened) ** 2, weights=w))
    reliability = float(share @ (mean - frequency) ** 2)
    resolution = float(share @ (frequency - overall) ** 2)
    uncertainty = overall * (1.0 - overall)
    within = score - (reliability - resolution + uncertainty) if bins is not None else 0.0
    return Brier(score, reliability, resolution, uncertainty, within, bins)


@dataclass(frozen=True, eq=False)
class Calibration:
    """In each group of rows: ``predicted`` mean probability, ``observed`` frequency with ``lower`` and ``upper`` ends
    of its interval, the ``weight`` of the group and how many ``rows`` of equal weight say as much; ``error`` is the
    weighted mean of |predicted - observed|.
    """

    predicted: Floats
    observed: Floats
    lower: Floats
    upper: Floats
    weight: Floats
    rows: Floats

    @property
    def error(self) -> float:
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.weight))

    @property
    def noise(self) -> float:
        """What ``error`` is on average for perfect probabilities, from so many rows: it falls as 1 / sqrt(n)."""
        spread = np.sqrt(self.predicted * (1.0 - self.predicted) / np.maximum(self.rows, 1.0))
        return float(np.average(np.sqrt(2.0 / np.pi) * spread, weights=self.weight))

    def plot(self, **options: Any) -> Any:
        """Frequencies against probabilities, as matplotlib axes: ``discrim.plots.calibration`` with its options."""
        from discrim import plots

        return plots.calibration(self, **options)


def calibration(
    y: Any,
    probability: Any,
    *,
    positive: Any = None,
    bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    level: float = 0.95,
    sample_weight: Any = None,
) -> Calibration:
    """Frequencies of the positive class against its probabilities, in ``bins`` groups with Wilson intervals.

    Groups are of equal width ('uniform') or of equal size ('quantile'); empty ones are left out.
    """
    happened, p, w = binary_probabilities(y, probability, positive, sample_weight)
    if strategy == "quantile":
        edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1]))
        group = np.searchsorted(edges, p, "right")
    elif strategy == "uniform":
        group = _bin_of(p, bins)
    else:
        raise ParameterError.bad_value("strategy", strategy, "'uniform' or 'quantile'")
    weight, true, mean = (np.bincount(group, values).astype(np.float64) for values in (w, w * happened, w * p))
    here = weight > 0
    weight, true, mean = weight[here], true[here], mean[here]
    # As many rows as carry the information of each group.
    n = np.array([informative_rows(w[group == k]) for k in np.flatnonzero(here)])
    lower, upper = proportion_interval(true / weight * n, n, level)
    return Calibration(mean / weight, true / weight, lower, upper, weight, n)


def _bin_of(p: Floats, bins: int) -> NDArray[np.int64]:
    if not isinstance(bins, int) or bins < 1:
        raise ParameterError.bad_value("bins", bins, "an integer of at least 1")
    return np.minimum((p * bins).astype(np.int64), bins - 1)


def binary_probabilities(
    y: Any, probability: Any, positive: Any = None, sample_weight: Any = None
) -> tuple[Floats, Floats, Floats]:
    """What happened (0 or 1), the probability of the positive class, and the weights; checked."""
    is_positive, _, (p,) = scored(y, positive, probability=probability)
    if p.min() < 0 or p.max() > 1:
        raise ParameterError("'probability' has values outside 0 to 1; pass a column of predict_proba, not scores.")
    return is_positive.astype(np.float64), p, weights_of(sample_weight, len(p))
