"""Which model is taken: better than the baseline, as good as the best, and of those the most trustworthy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discrim.comparison.baseline import BASELINE
from discrim.comparison.scores import Row
from discrim.errors import DataError

# Errors within one point, log losses within two per cent, and rules that differ by less in their size are equal.
ONE_POINT = 0.01
TWO_PER_CENT = 0.02
ABOUT = 1.5
# Of models that are judged by a function or by their areas, the old measure of "equally simple".
TWICE = 2.0


@dataclass(frozen=True, eq=False)
class Choice:
    """``row`` is taken of the ``tied``, models that are as good as ``best``.

    ``reason`` says by what: 'baseline' (nothing beats it), 'alone' (there is no tie), 'loss' (the lowest of the tied),
    'simple' (the smaller and more regularised of the lowest), 'no error' (the same of models without a single error)
    or 'few' (with the fewest numbers).
    """

    row: Row
    best: Row | None
    tied: tuple[Row, ...]
    reason: str


def choose(table: list[Row], losses: dict[str, NDArray[np.float64]], metric: object) -> Choice:
    """``losses`` are those of every row under each model, as far as the metric is a mean over rows."""
    judged = [row for row in table if np.isfinite(row.value)]
    if not judged:
        raise DataError(f"No model has a finite value of the metric that was asked for. {table[0].note}".rstrip())
    better = [row for row in judged if row.beats_baseline]
    if not better:
        baseline = next((row for row in judged if row.name == BASELINE), judged[0])
        best = next((row for row in judged if row.name != BASELINE), None)
        return Choice(baseline, best, (), "baseline")
    best = better[0]
    if best.name not in losses:
        return _fewest_numbers(better)
    tied = [row for row in better if row is best or _as_good(losses[best.name], losses[row.name], metric)]
    if len(tied) == 1:
        return Choice(best, best, (best,), "alone")
    if best.error == 0 and metric == "error":
        without = [row for row in tied if row.error == 0]
        if len(without) > 1:
            return Choice(_simplest(without), best, tuple(without), "no error")
    lowest = min(_score(row, metric) for row in tied)
    near = [row for row in tied if _score(row, metric) <= (1.0 + TWO_PER_CENT) * lowest]
    if len(near) <= 1:
        row = near[0] if near else best
        return Choice(row, best, tuple(tied), "loss")
    return Choice(_simplest(near), best, tuple(tied), "simple")


def _as_good(best: NDArray[np.float64], other: NDArray[np.float64], metric: object) -> bool:
    """Within one standard error of the paired difference, and within one point where that is an error."""
    difference = other - best
    n = len(difference)
    mean, deviation = float(difference.mean()), float(difference.std(ddof=1)) if n > 1 else 0.0
    # One row that differs is exactly one standard error away, and may be exactly one point.
    near = mean <= deviation / np.sqrt(n) * (1.0 + 1e-9)
    return near and (metric != "error" or mean <= ONE_POINT * (1.0 + 1e-9))


def _score(row: Row, metric: object) -> float:
    value = row.brier if metric == "brier" else row.log_loss
    return value if np.isfinite(value) else np.inf


def _simplest(rows: list[Row]) -> Row:
    """Of the smallest rules the regularised ones, and of these the one of the lowest log loss."""
    sizes = [np.inf if np.isnan(row.parameters) else row.parameters for row in rows]
    small = [row for row, size in zip(rows, sizes, strict=True) if size <= ABOUT * min(sizes)]
    return min(small, key=lambda row: (not row.regularised, _score(row, "log_loss"), row.value))


def _fewest_numbers(better: list[Row]) -> Choice:
    """Of the models that a test cannot tell from the best those with up to twice the fewest numbers, then the best."""
    best = better[0]
    near = [row for row in better if row is best or row.near]
    sizes = [np.inf if np.isnan(row.parameters) else row.parameters for row in near]
    simple = [row for row, size in zip(near, sizes, strict=True) if size <= TWICE * min(sizes)]
    row = min(simple, key=lambda row: row.value)
    return Choice(row, best, tuple(near), "alone" if len(near) == 1 else "loss" if row is best else "few")
