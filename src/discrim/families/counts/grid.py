"""Naive Bayes of counts for many alphas at once: logarithms belong to counts, and most counts occur many times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.families.counts.distributions import Bernoulli, Complement, Distribution, Multinomial, complements
from discrim.families.sparse_scores import entries
from discrim.statistics import ClassCounts
from discrim.typing import Floats

# Whole numbers up to here are told apart by a list of all.
MOST_WHOLE = 1e7


class GridScores:
    """Scores of rows by one statistic for every alpha, before the classes' priors; not for ``Complement(norm=True)``.

    A count N stands for the logarithms log(N + alpha) of all alphas, which lie side by side: a row is read once.
    """

    def __init__(self, family: Distribution, s: ClassCounts, alphas: Floats) -> None:
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


class LeftOutScores:
    """The same of every row by the statistic without it, where all counts are whole numbers and rows weigh one.

    Row i of class g leaves N_gj - x_ij for each of its entries: again a count, whose logarithms lie side by side. So
    each entry is read twice for all alphas. ``Multinomial`` and ``Bernoulli``; see ``counts_scores`` for one alpha.
    """

    def __init__(self, family: Multinomial | Bernoulli, block: Block, s: ClassCounts, alphas: Floats) -> None:
        x: Any = block.x
        self._x, self._codes, self._p = x, block.codes, s.count.shape[1]
        self._size = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
        self.family, self.alphas = family, alphas
        self._all = GridScores(family, s, alphas)
        own = np.repeat(block.codes, np.diff(x.indptr))
        gone = x.data if family.threshold is None else (x.data > family.threshold).astype(np.float64)
        self._present = _Logs((s.count[own, x.indices] - gone)[None], alphas)
        self._total = s.count.sum(axis=1)
        self._absent: _Logs | None = None
        if isinstance(family, Bernoulli):
            absent = s.weight[:, None] - s.count
            self._absent = _Logs((absent[own, x.indices] - gone)[None], alphas)
            # A column that every other row has is not absent from this one.
            totals = np.log(np.maximum(s.weight[:, None] - 1.0, 0.0) + 2.0 * alphas)
            self._constant = _Logs(absent - 1.0, alphas).sums() - self._p * totals

    @staticmethod
    def can_serve(family: Distribution, block: Block, s: ClassCounts) -> bool:
        x: Any = block.x
        return (
            isinstance(family, Multinomial | Bernoulli)
            and block.weight is None
            and float(s.count.max(initial=0.0)) < MOST_WHOLE
            and (family.threshold is not None or bool((np.floor(x.data) == x.data).all()))
        )

    def of(self, start: int, stop: int) -> Floats:
        """n x K x alphas for the rows start to stop."""
        size, codes = self._size[start:stop], self._codes[start:stop]
        scores = self._all.of(self._x, start, stop, size)
        own = self._entries(self._present, start, stop)
        if self._absent is not None:
            own += self._constant[codes] - self._entries(self._absent, start, stop)
        else:
            left = np.maximum(self._total[codes] - size, 0.0)
            own -= size[:, None] * np.log(left[:, None] + self._p * self.alphas)
        scores[np.arange(stop - start), codes] = own
        return scores

    def _entries(self, logs: _Logs, start: int, stop: int) -> Floats:
        """Sums over the entries of each row, where every entry has a count of its own."""
        x = self._x
        # An entry's place among the columns is its place among the entries.
        first = x.indptr[start : stop + 1]
        columns = np.arange(first[0], first[-1], dtype=x.indptr.dtype) - first[0]
        values, which = x.data[first[0] : first[-1]], logs.which[first[0] : first[-1]]
        rows = values, columns, first - first[0]
        return np.asarray(kernels.grid_sums(rows, which, logs.logs, self.family.threshold)[:, 0, : logs.size])


class _Logs:
    """log(count + alpha) of the counts K x p, each count written down once; zero for counts below zero."""

    def __init__(self, count: Floats, alphas: Floats) -> None:
        values, which = _distinct(count)
        width = -(-len(alphas) // 8) * 8
        self.size = len(alphas)
        self.logs = np.zeros((len(values), width))
        known = values >= 0
        self.logs[known, : len(alphas)] = np.log(values[known, None] + alphas)
        self.which = np.ascontiguousarray(which.reshape(count.shape).T, dtype=np.int32)

    def sums(self) -> Floats:
        """Over all columns, K x alphas."""
        counted = [np.bincount(column, minlength=len(self.logs)) for column in self.which.T]
        return np.asarray(np.array(counted) @ self.logs[:, : self.size])

    def of_rows(self, rows: Any, threshold: float | None) -> Floats:
        return np.asarray(kernels.grid_sums(rows, self.which, self.logs, threshold)[:, :, : self.size])


def _distinct(count: Floats) -> tuple[Floats, NDArray[Any]]:
    """The values that occur, and which of them each count is; whole numbers need no sorting."""
    least, most = float(count.min(initial=0.0)), float(count.max(initial=0.0))
    if most - least < MOST_WHOLE and bool((np.floor(count) == count).all()):
        present, codes = kernels.code_integers(count.astype(np.int64).ravel(), int(least), int(most - least) + 1)
        return np.flatnonzero(present).astype(np.float64) + least, codes
    return np.unique(count, return_inverse=True)
