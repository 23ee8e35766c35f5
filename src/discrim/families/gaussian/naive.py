"""Naive Bayes for Gaussian columns: each class has a variance for each column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.families.gaussian.covariance import CONSTANT, TINY, check_divisors, divisors
from discrim.families.gaussian.leave_one_out import log_priors_without, rho_of, with_vanished
from discrim.families.gaussian.recipe import GaussianRecipe, Statistic, possible_logs, varying_columns
from discrim.families.population import GaussianPopulation
from discrim.families.recipe import LeftOut, Passes, Shape, Solved
from discrim.families.rule import DiagonalRule
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.moments import gaps_of, grand_mean
from discrim.typing import Codes, Floats

# What is added to the variances: the same for all columns, or to each a share of its own.
Smoothing = Literal["scikit-learn", "column"]
# A row without which less than this share of a variance is left is refitted: what the closed form has then to subtract
# takes the digits with it.
LEAST_LEFT = 1e-5


@dataclass(frozen=True, eq=False)
class GaussianNBRecipe(GaussianRecipe):
    """theta_kj the mean, var_kj = S_kj / n_k + epsilon_j; the largest log pi_k + sum_j log N(x_j; theta_kj, var_kj)."""

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "independent", "own variances")
    thin_for_wide: ClassVar[bool] = False
    strict_priors: ClassVar[bool] = True

    var_smoothing: float = 1e-9
    smoothing: Smoothing = "scikit-learn"

    def depth(self) -> Depth:
        return Depth.DIAGONAL

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002 - as of every recipe
        assert isinstance(statistic, ClassMoments)
        priors, _ = self.class_priors(statistic.weight)
        check_divisors(statistic, self.normalization, pooled=False)
        divisor = divisors(statistic.weight, self.normalization)
        variances, total = naive_variances(statistic, divisor, shape.eps)
        epsilon = self._added(total)
        variances = self.smooth(variances, total, statistic.weight[:, None], epsilon)
        dtype = shape.columns.dtype
        attributes = {
            "theta_": statistic.mean.astype(dtype),
            "var_": variances.astype(dtype),
            "class_count_": statistic.weight.astype(dtype),
            "class_prior_": priors.astype(dtype),
            "epsilon_": epsilon.astype(dtype) if self.smoothing == "column" else dtype.type(epsilon.item()),
        }
        # Of a column that is constant over all rows the means differ by rounding, if at all.
        mean = np.where(total > 0, statistic.mean, statistic.mean[statistic.weight.argmax()])
        rule = naive_rule(mean, variances, possible_logs(priors, statistic.weight))
        return Solved(rule, statistic, attributes)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - any shape will do
        """Means and variances without a row, column by column."""
        if self.normalization != "mle":
            return None
        s = solved.statistic
        priors = self.fixed_priors(s.weight)
        return lambda block: nb_scores(block.dense(), block.codes, s, priors, self.smooth)

    def smooth(self, variance: Floats, total: Floats, weight: float | Floats, added: Floats | None = None) -> Floats:
        """The variances of classes with ``weight`` rows made positive, given the columns' ``total`` variances.

        By columns, or where nothing is added, one that is constant within the class gets total / weight: in so many
        rows it has not varied.
        """
        smoothed = variance + (self._added(total) if added is None else added)
        positive = (variance if self.smoothing == "column" else smoothed) > 0
        return smoothed if positive.all() else np.where(positive, smoothed, total / np.maximum(weight, 1.0))

    def _added(self, total: Floats) -> Floats:
        """What is added to variances, given the total variances (..., p): p numbers, or one for all columns."""
        largest = total if self.smoothing == "column" else total.max(axis=-1, keepdims=True, initial=0.0)
        return self.var_smoothing * largest

    def population(self, solved: Solved, shape: Shape) -> GaussianPopulation:  # noqa: ARG002 - the same for all
        found, nothing = solved.attributes, np.zeros((0, solved.statistic.n_features))
        priors = np.where(solved.statistic.weight > 0, found["class_prior_"], 0.0)
        return GaussianPopulation(priors, solved.statistic.mean, lambda _: nothing, np.sqrt(found["var_"]))

    def distances(self, solved: Solved, shape: Shape) -> DiagonalRule:  # noqa: ARG002 - the same for all
        rule = solved.rule
        assert isinstance(rule, DiagonalRule)
        return replace(rule, offset=np.zeros_like(rule.offset))

    def rule_size(self, solved: Solved) -> float:
        return float((len(solved.statistic.classes) - 1) * (2 * varying_columns(solved.statistic) + 1))


def naive_variances(statistic: ClassMoments, divisor: Floats, eps: float) -> tuple[Floats, Floats]:
    """Variances K x p of the classes, and p over all rows; zero where they are only rounding."""
    total = total_variances(statistic.weight, statistic.mean, statistic.scatter)
    raw = statistic.scatter / np.where(divisor > 0, divisor, 1.0)[:, None]
    rounding = (CONSTANT * eps * statistic.mean) ** 2
    constant = raw <= rounding
    if constant.any():
        raw[constant] = 0.0
        total[total <= rounding.max(axis=0, initial=0.0)] = 0.0
    return raw, total


def total_variances(weight: Floats, mean: Floats, scatter: Floats) -> Floats:
    """Variance of each column over all rows: within classes and between their means."""
    return np.asarray((scatter.sum(axis=0) + weight @ gaps_of(weight, mean) ** 2) / weight.sum())


def naive_rule(mean: Floats, variances: Floats, log_priors: Floats) -> DiagonalRule:
    """A column without any variance, in any class, says nothing and is left out."""
    # A class that is constant where others vary keeps a variance too small to matter to anybody else.
    safe = np.maximum(variances, TINY)
    safe[:, ~variances.any(axis=0)] = np.inf
    offset = log_priors - 0.5 * np.log(safe, out=np.zeros_like(safe), where=safe < np.inf).sum(axis=1)
    return DiagonalRule(mean, 1.0 / safe, offset)


def nb_scores(
    x: NDArray[Any], codes: Codes, s: ClassMoments, priors: Floats | None, smooth: Callable[..., Floats]
) -> Floats:
    """Scores (n, K) of Gaussian naive Bayes without each row; the scatter of ``s`` is diagonal, (K, p).

        score_k = log pi_k - 1/2 sum_j [log v_kj + (x_j - mu_kj)^2/v_kj],   v_kj = s_kj/n_k, smoothed

    as ``smooth`` of a recipe does it from the columns' total variances. Without row x of class g (d = x - mu_g,
    rho = n_g/(n_g - 1), r = x - overall mean)

        s_g becomes s_g - rho d^2, n_g becomes n_g - 1, x - mu_g becomes rho d,
        the total scatter t becomes t - n/(n - 1) r^2, and the smoothing changes with it.

    A class that would vanish scores -inf for its only row. A row that takes nearly all of a variance with it, such as
    one of two of its class, is NaN. O(n K p).
    """
    n, rho, logs = float(s.weight.sum()), rho_of(s.weight), log_priors_without(s.weight, priors)[codes]
    centre = grand_mean(s.weight, s.mean)
    scatter = s.scatter.sum(axis=0) + s.weight @ np.square(s.mean - centre)
    left = scatter - n / max(n - 1.0, 1.0) * np.square(x - centre)
    lost = (left < LEAST_LEFT * scatter).any(axis=1)
    total = np.maximum(left, 0.0) / max(n - 1.0, 1.0)
    scores = np.empty(logs.shape)
    for k, (n_k, of_class) in enumerate(zip(s.weight, s.scatter, strict=True)):
        deviation, own = x - s.mean[k], codes == k
        variance = smooth(of_class / max(n_k, 1.0) + np.zeros_like(x), total, n_k)
        left = of_class - rho[k] * np.square(deviation[own])
        lost[own] |= (left < LEAST_LEFT * of_class).any(axis=1)
        variance[own] = smooth(np.maximum(left, 0.0) / max(n_k - 1.0, 1.0), total[own], n_k - 1.0)
        deviation[own] *= rho[k]
        # A column that is constant over all rows says nothing about the class.
        safe = np.where(variance > 0.0, variance, 1.0)
        scores[:, k] = np.where(variance > 0.0, np.square(deviation) / safe + np.log(safe), 0.0).sum(axis=1)
    scores = with_vanished(logs - 0.5 * scores, logs)
    scores[lost] = np.nan
    return scores
