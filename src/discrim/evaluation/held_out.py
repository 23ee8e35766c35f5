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
        # By class: sums over a few classes are slow where these lie side by side.
        own = np.ascontiguousarray(scores.T)
        e = np.exp(own - own.max(axis=0))
        self.put(rows, known, (e / e.sum(axis=0)).T, own.argmax(axis=0))

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
