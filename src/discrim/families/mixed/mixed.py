"""Naive Bayes of columns of different kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.block import Mixed
from discrim.errors import DataError, ParameterError, name_list
from discrim.families.gaussian.recipe import rounded_deviations
from discrim.families.mixed.estimates import mixed_terms
from discrim.families.mixed.recipe import AdditiveRecipe, Kinds, check_levels
from discrim.families.mixed.rule import AdditiveRule
from discrim.families.recipe import Passes, Shape, Solved
from discrim.statistics import MixedOf, MixedStatistic

LIKELIHOODS = ("gaussian", "student-t", "kernel", "poisson", "gamma-poisson", "bernoulli", "categorical")
DEFAULTS = {"number": "gaussian", "boolean": "bernoulli", "text": "categorical"}
COUNTS = ("poisson", "gamma-poisson")
MEASUREMENTS = ("gaussian", "student-t", "kernel")


@dataclass(frozen=True, eq=False)
class MixedRecipe(AdditiveRecipe[MixedStatistic]):
    """The columns are independent within class k, x_j ~ f_kj; the largest log pi_k + sum_j log f_kj(x_j)."""

    likelihoods: Mapping[Any, str] | None = None
    alpha: float = 1.0
    var_smoothing: float = 1e-9

    def levelled(self, columns: Kinds) -> Sequence[bool]:
        return [likelihood == "categorical" for likelihood in self.by_column(columns)]

    def by_column(self, columns: Kinds) -> tuple[str, ...]:
        """The likelihood of each column: what was asked for, or what its kind suggests."""
        chosen = {name: DEFAULTS[kind] for name, kind in zip(columns.names, columns.kinds, strict=True)}
        kinds = dict(zip(columns.names, columns.kinds, strict=True))
        for key, likelihood in (self.likelihoods or {}).items():
            name = _column(key, columns.names)
            if likelihood not in LIKELIHOODS:
                expected = f"one of {', '.join(map(repr, LIKELIHOODS))}"
                raise ParameterError(f"The likelihood of column '{name}' is {likelihood!r}; it must be {expected}.")
            if kinds[name] == "text" and likelihood != "categorical":
                raise ParameterError(
                    f"Column '{name}' holds text: its likelihood is 'categorical', not '{likelihood}'."
                )
            chosen[name] = likelihood
        return tuple(chosen.values())

    def checked(self, x: Mixed, columns: Kinds, like: MixedStatistic | None) -> Mixed:
        likelihoods = self.by_column(columns) if like is None else like.likelihoods
        numeric = [item for item in zip(columns.names, likelihoods, strict=True) if item[1] != "categorical"]
        for (name, likelihood), values in zip(numeric, x.numbers.T, strict=True):
            if likelihood == "bernoulli":
                bad, wanted = (values != 0) & (values != 1), "only 0 and 1"
            elif likelihood in COUNTS:
                bad, wanted = (values < 0) | (values != np.floor(values)), "counts 0, 1, 2 and so on"
            else:
                continue
            bad &= np.isfinite(values)
            if bad.any():
                raise DataError(
                    f"Column '{name}' holds {values[bad][0]:g}, but the likelihood '{likelihood}' needs {wanted}. "
                    f"Choose another: likelihoods={{'{name}': 'gaussian'}}."
                )
        check_levels(columns.categorical, None if like is None else like.counts.levels, x)
        return x

    def reduction(self, shape: Shape, like: MixedStatistic | None = None) -> MixedOf:
        if like is not None:
            return MixedOf(like.names, like.likelihoods)
        columns: Any = shape.columns
        return MixedOf(columns.names, self.by_column(columns))

    def adopt(self, statistic: MixedStatistic) -> MixedStatistic:
        made = dict(zip(statistic.names, statistic.likelihoods, strict=True))
        for key, likelihood in (self.likelihoods or {}).items():
            name = _column(key, statistic.names)
            if made[name] != likelihood:
                raise ParameterError(f"The statistic has column '{name}' as '{made[name]}', not as '{likelihood}'.")
        return statistic

    def without(self, statistic: MixedStatistic, gone: MixedStatistic) -> MixedStatistic:
        left = statistic.subtract(gone)
        statistic.check_means(left)
        return left

    def estimate(self, statistic: MixedStatistic, shape: Shape, passes: Passes | None) -> Solved:  # noqa: ARG002
        terms = mixed_terms(statistic, float(self.alpha), float(self.var_smoothing))
        log_prior, remarks = self.log_priors(statistic.weight)
        likelihoods = dict(zip(statistic.names, statistic.likelihoods, strict=True))
        cells, numeric = statistic.cells, [name for name, kind in likelihoods.items() if kind != "categorical"]
        deviation = np.sqrt(cells.scatter / np.where(cells.weight > 0, cells.weight, 1.0))
        rounded = rounded_deviations(cells.mean, deviation, numeric, float(np.finfo(float).eps))
        attributes = {"likelihoods_": likelihoods, "class_count_": statistic.weight, "class_log_prior_": log_prior}
        rule = AdditiveRule(log_prior, terms, tuple(kind == "categorical" for kind in statistic.likelihoods))
        return Solved(rule, statistic, attributes, remarks=remarks if rounded is None else (*remarks, rounded))

    def rule_size(self, solved: Solved) -> float:
        """Two numbers for a measurement, one for a count, one less than the levels else."""
        statistic = solved.statistic
        numeric = sum(2 if likelihood in MEASUREMENTS else 1 for likelihood in statistic.likelihoods)
        levels = sum(max(len(known) - 2, 0) for known in statistic.counts.levels or ())
        return float((len(statistic.classes) - 1) * (1 + numeric + levels))


def _column(key: Any, names: Sequence[str]) -> str:
    """The column that a key of ``likelihoods`` means: its name, or its number."""
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
        return names[int(key)]
    if key not in names:
        raise ParameterError(
            f"The 'likelihoods' parameter names {key!r}, but X has no such column: {name_list(names)}."
        )
    return str(key)
