"""Precision and recall at every threshold of a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.errors import DataError
from discrim.evaluation.answers import cumulated, scored, weights_of
from discrim.evaluation.proportions import proportion_interval
from discrim.typing import Floats


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
