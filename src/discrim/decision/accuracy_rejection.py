"""Accuracy against coverage: what is gained by leaving the unsure rows unanswered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.errors import DataError
from discrim.evaluation.answers import checked_posterior, weights_of
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class AccuracyRejection:
    """What ``accuracy_rejection`` gives, from the surest rows alone to all rows.

    Answering where the largest posterior is at least ``thresholds[i]`` answers the share ``coverage[i]`` of the rows,
    of which ``accuracy[i]`` are right; ``error`` is the rest.
    """

    thresholds: Floats
    coverage: Floats
    accuracy: Floats

    @property
    def error(self) -> Floats:
        return 1.0 - self.accuracy

    def cost(self, reject_cost: float) -> Floats:
        """Mean cost at each threshold, where an error costs 1 and no answer ``reject_cost``."""
        return self.coverage * self.error + reject_cost * (1.0 - self.coverage)


def accuracy_rejection(y: Any, posterior: Any, *, classes: Any = None, sample_weight: Any = None) -> AccuracyRejection:
    """The curve of labels and posteriors, n x K with columns as ``classes`` (by default those in y). Cost: one sort.

    Examples
    --------
    >>> curve = accuracy_rejection([0, 0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> curve.coverage
    array([0.25, 0.5 , 0.75, 1.  ])
    >>> curve.accuracy
    array([1.  , 1.  , 1.  , 0.75])
    """
    _, codes, p = checked_posterior(y, posterior, classes)
    weight = weights_of(sample_weight, len(codes))
    if not weight.sum() > 0:
        raise DataError("There are no rows with a weight to compare.")
    best = p.argmax(axis=1)
    values, place = np.unique(-p[np.arange(len(best)), best], return_inverse=True)
    answered = np.cumsum(np.bincount(place, weight, len(values)))
    right = np.cumsum(np.bincount(place, weight * (best == codes), len(values)))
    accuracy = np.where(answered > 0, right / np.where(answered > 0, answered, 1.0), np.nan)
    return AccuracyRejection(-values, answered / answered[-1], accuracy)
