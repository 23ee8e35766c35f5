"""Predictions of held-out rows, filled in fold by fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.typing import Floats, Index


class HeldOut:
    """``posterior`` (n x K) and ``best`` (class numbers, n) of rows by models that did not see them.

    A class that was absent from a training part has the posterior zero in its rows. ``margin`` (n) is the score of the
    second of two classes, where a model has scores but no posteriors; else NaN.
    """

    def __init__(self, n: int, classes: int) -> None:
        self.posterior: Floats = np.zeros((n, classes))
        self.best: Index = np.zeros(n, dtype=np.intp)
        self.has_posterior = True
        self.margin: Floats = np.full(n, np.nan)

    @classmethod
    def of_scores(cls, scores: Floats) -> HeldOut:
        """From log posteriors up to a constant; rows with a NaN are left to be filled in."""
        held = cls(*scores.shape)
        defined = np.flatnonzero(~np.isnan(scores).any(axis=1))
        held.put_scores(defined, np.arange(scores.shape[1]), scores[defined])
        return held

    def put_scores(self, rows: Index, known: Index, scores: Floats) -> None:
        """The answers of one model that knows the classes ``known``, from log posteriors up to a constant."""
        # A class a line: along lines that are much longer than there are classes NumPy is several times faster.
        by_class = np.array(scores.T, order="C")
        best = by_class.argmax(axis=0)
        by_class -= by_class.max(axis=0)
        np.exp(by_class, out=by_class)
        by_class /= by_class.sum(axis=0)
        self.put(rows, known, by_class.T, best)

    def put(self, rows: Index, known: Index, posterior: Floats | None, best: NDArray[Any]) -> None:
        """The answers of one model that knows the classes ``known``; ``best`` are places among these."""
        self.best[rows] = known[best]
        if posterior is None:
            self.has_posterior = False
            self.posterior[rows, self.best[rows]] = 1.0
        elif len(known) == self.posterior.shape[1]:
            self.posterior[rows] = posterior
        else:
            self.posterior[np.ix_(rows, known)] = posterior
