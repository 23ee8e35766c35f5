"""Naive Bayes for Gaussian columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discrim.solvers.rules import DiagonalRule
from discrim.statistics import ClassMoments

Floats = NDArray[np.float64]


def naive_variances(statistic: ClassMoments, divisor: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """Variances K x p with epsilon_j = smoothing * (total variance of column j) added, and epsilon."""
    epsilon = smoothing * total_variances(statistic.weight, statistic.mean, statistic.scatter)
    return statistic.scatter / np.where(divisor > 0, divisor, 1.0)[:, None] + epsilon, epsilon


def total_variances(weight: Floats, mean: Floats, scatter: Floats) -> Floats:
    """Variance of each column over all rows: within classes and between their means."""
    total = weight.sum()
    centre = weight @ mean / total
    return np.asarray((scatter.sum(axis=0) + weight @ (mean - centre) ** 2) / total)


def naive_rule(mean: Floats, variances: Floats, log_priors: Floats) -> DiagonalRule:
    """A column without any variance, in any class, says nothing and is left out."""
    alive = (variances > 0).any(axis=0)
    # A class that is constant where others vary keeps a variance too small to matter to anybody else.
    floor = np.finfo(float).tiny
    safe = np.where(alive, np.maximum(variances, floor), 1.0)
    offset = log_priors - 0.5 * np.log(safe).sum(axis=1)
    return DiagonalRule(mean, np.where(alive, 1.0 / safe, 0.0), offset)
