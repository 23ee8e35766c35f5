"""Naive Bayes for Gaussian columns: each class has a variance for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discrim.families.gaussian.covariance import check_divisors, divisors
from discrim.families.gaussian.recipe import GaussianRecipe, Statistic, possible_logs, varying_columns
from discrim.families.recipe import LeftOut, Passes, Shape, Solved
from discrim.families.rule import DiagonalRule
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.moments import gaps_of
from discrim.typing import Floats

# Below this, smoothing guards against a division by zero; from it on, it is meant to change the answer.
GUARD = 1e-6
# Deviations below this part of the last place of the values are what the sums leave of a constant column.
CONSTANT = 2.0**-5


@dataclass(frozen=True, eq=False)
class GaussianNBRecipe(GaussianRecipe):
    """theta_kj the mean, var_kj = S_kj / n_k + epsilon_j; the largest log pi_k + sum_j log N(x_j; theta_kj, var_kj)."""

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "independent")
    thin_for_wide: ClassVar[bool] = False
    strict_priors: ClassVar[bool] = True

    var_smoothing: float = 1e-9

    def depth(self) -> Depth:
        return Depth.DIAGONAL

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002
        assert isinstance(statistic, ClassMoments)
        priors, _ = self.class_priors(statistic.weight)
        check_divisors(statistic, self.normalization, pooled=False)
        divisor = divisors(statistic.weight, self.normalization)[0]
        variances, epsilon = naive_variances(statistic, divisor, self.var_smoothing, shape.eps)
        dtype = shape.columns.dtype
        attributes = {
            "theta_": statistic.mean.astype(dtype),
            "var_": variances.astype(dtype),
            "class_count_": statistic.weight.astype(dtype),
            "class_prior_": priors.astype(dtype),
            "epsilon_": epsilon.astype(dtype),
        }
        rule = naive_rule(statistic.mean, variances, possible_logs(priors, statistic.weight))
        return Solved(rule, statistic, attributes)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:
        from discrim.families.gaussian.held_out import held_out_naive

        return held_out_naive(self, solved, shape)

    def rule_size(self, solved: Solved) -> float:
        return float((len(solved.statistic.classes) - 1) * (2 * varying_columns(solved.statistic) + 1))


def naive_variances(statistic: ClassMoments, divisor: Floats, smoothing: float, eps: float) -> tuple[Floats, Floats]:
    """Variances K x p, smoothed, and what was added to those that were not zero (p)."""
    total = total_variances(statistic.weight, statistic.mean, statistic.scatter)
    raw = statistic.scatter / np.where(divisor > 0, divisor, 1.0)[:, None]
    rounding = (CONSTANT * eps * statistic.mean) ** 2
    constant = raw <= rounding
    if constant.any():
        raw[constant] = 0.0
        total[total <= rounding.max(axis=0, initial=0.0)] = 0.0
    variances = smooth(raw, total, statistic.weight[:, None], smoothing)
    return variances, smoothing * (total if smoothing < GUARD else np.full_like(total, total.max(initial=0.0)))


def smooth(variance: Floats, total: Floats, weight: float | Floats, smoothing: float) -> Floats:
    """The variances of classes with ``weight`` rows made positive, given the columns' ``total`` variances.

    As a guard the smoothing is relative to its own column, so that units do not matter, and a column that is
    constant within the class gets total / weight: in so many rows it has not varied. As a deliberate choice it
    is a share of the largest total variance, as in scikit-learn.
    """
    if smoothing >= GUARD:
        return np.asarray(variance + smoothing * total.max(axis=-1, keepdims=True, initial=0.0))
    return np.where(variance > 0, variance + smoothing * total, total / np.maximum(weight, 1.0))


def total_variances(weight: Floats, mean: Floats, scatter: Floats) -> Floats:
    """Variance of each column over all rows: within classes and between their means."""
    return np.asarray((scatter.sum(axis=0) + weight @ gaps_of(weight, mean) ** 2) / weight.sum())


def naive_rule(mean: Floats, variances: Floats, log_priors: Floats) -> DiagonalRule:
    """A column without any variance, in any class, says nothing and is left out."""
    alive = (variances > 0).any(axis=0)
    # A class that is constant where others vary keeps a variance too small to matter to anybody else.
    floor = np.finfo(float).tiny
    safe = np.where(alive, np.maximum(variances, floor), 1.0)
    offset = log_priors - 0.5 * np.log(safe).sum(axis=1)
    return DiagonalRule(mean, np.where(alive, 1.0 / safe, 0.0), offset)
