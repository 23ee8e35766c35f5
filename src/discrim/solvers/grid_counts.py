"""Naive Bayes of counts for many alphas at once: logarithms belong to counts, and most counts occur many times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import _kernels
from discrim.solvers.counts import Bernoulli, Complement, Family, complements
from discrim.solvers.sparse_scores import entries
from discrim.statistics import ClassCounts

Floats = NDArray[np.float64]

# Whole numbers up to here are told apart by a list of all.
MOST_WHOLE = 1e7


class GridScores:
    """Scores of rows by one statistic for every alpha, before the classes' priors; not for ``Complement(norm=True)``.

    A count N stands for the logarithms log(N + alpha) of all alphas, which lie side by side: a row is read once.
    """

    def __init__(self, family: Family, s: ClassCounts, alphas: Floats) -> None:
        self.family, self.alphas, p = family, alphas, s.count.shape[1]
        count = complements(s.count) if isinstance(family, Complement) else s.count
        self._present = _Logs(count, alphas)
        self._absent: _Logs | None = None
        if isinstance(family, Bernoulli):
            self._absent = _Logs(np.maximum(s.weight[:, None] - s.count, 0.0), alphas)
            totals = np.log(s.weight[:, None] + 2.0 * alphas)
            self._constant = self._absent.sums() - p * totals
        else:
            self._constant = np.log(count.sum(axis=1)[:, None] + p * alphas)

    def of(self, x: Any, start: int, stop: int, size: Floats) -> Floats:
        """n x K x alphas for rows start to stop of sparse x, whose entries sum to ``size``."""
        rows, threshold = entries(x, start, stop), self.family.threshold
        scores = self._present.of_rows(rows, threshold)
        if self._absent is not None:
            return np.asarray(scores - self._absent.of_rows(rows, threshold) + self._constant)
        scores -= size[:, None, None] * self._constant
        return -scores if isinstance(self.family, Complement) else scores


class _Logs:
    """log(count + alpha) of the counts K x p, each count written down once."""

    def __init__(self, count: Floats, alphas: Floats) -> None:
        values, which = _distinct(count)
        width = -(-len(alphas) // 8) * 8
        self.size = len(alphas)
        self.logs = np.zeros((len(values), width))
        self.logs[:, : len(alphas)] = np.log(values[:, None] + alphas)
        self.which = np.ascontiguousarray(which.reshape(count.shape).T, dtype=np.int32)

    def sums(self) -> Floats:
        """Over all columns, K x alphas."""
        counted = [np.bincount(column, minlength=len(self.logs)) for column in self.which.T]
        return np.asarray(np.array(counted) @ self.logs[:, : self.size])

    def of_rows(self, rows: Any, threshold: float | None) -> Floats:
        return np.asarray(_kernels.grid_sums(rows, self.which, self.logs, threshold)[:, :, : self.size])


def _distinct(count: Floats) -> tuple[Floats, NDArray[Any]]:
    """The values that occur, and which of them each count is; whole numbers need no sorting."""
    most = float(count.max(initial=0.0))
    if most < MOST_WHOLE and not (count % 1.0).any():
        present, codes = _kernels.code_integers(count.astype(np.int64).ravel(), 0, int(most) + 1)
        return np.flatnonzero(present).astype(np.float64), codes
    return np.unique(count, return_inverse=True)
