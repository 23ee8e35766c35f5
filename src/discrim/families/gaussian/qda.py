"""Quadratic discriminant analysis: a covariance matrix for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discrim.families.gaussian.covariance import divisors
from discrim.families.gaussian.grid import DEFAULT_VALUES, GaussianGrid
from discrim.families.gaussian.ledoit_wolf import class_scales, estimated_covariances, fourth_powers, shrunk_within
from discrim.families.gaussian.own_covariance import (
    GaussianRule,
    Inverting,
    check_classes,
    class_attributes,
    invert,
    quadratic_size,
)
from discrim.families.gaussian.predictive import Sizes, check_degrees, debiased_rule, predictive_rule
from discrim.families.gaussian.quadratic import ClassMatrices, class_matrices, class_variances
from discrim.families.gaussian.recipe import LEAST_RIDGE, CovarianceRecipe, Statistic, possible_logs, rank_tolerance
from discrim.families.recipe import LeftOut, Passes, Shape, Solved
from discrim.families.rule import QuadraticRule, Rule
from discrim.statistics import Depth
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class QdaRecipe(CovarianceRecipe):
    """Sigma_k = S_k / n_k or S_k / (n_k - 1), shrunk where asked.

    The rule takes the largest log pi_k - log det Sigma_k / 2 - (x - mu_k)' Sigma_k^-1 (x - mu_k) / 2.
    """

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "own covariances")

    reg_param: float = 0.0

    def depth(self) -> Depth:
        return Depth.FULL

    @property
    def is_plain(self) -> bool:
        return super().is_plain and not self.reg_param

    @property
    def setting(self) -> tuple[float, float] | None:
        """The (alpha, gamma) of regularised discriminant analysis that this is, or None if it is none."""
        if self.predict_method != "plug-in" or self.reg_param:
            return None
        return None if self.covariance_estimator is not None or isinstance(self.shrinkage, str) else (1.0, self.kept)

    def grid(self, statistic: Statistic) -> GaussianGrid:  # noqa: ARG002 - the same for all
        priors = None if self.priors is None else np.asarray(self.priors, dtype=np.float64)
        gammas = 1.0 - DEFAULT_VALUES[::-1]
        return GaussianGrid(np.ones(1), gammas, self.target, self.normalization, priors, "shrinkage")

    @property
    def rotation_invariant(self) -> bool:
        setting = self.setting
        return setting is not None and setting[1] < 1 - LEAST_RIDGE and self.target == "identity"

    def check(self, statistic: Statistic) -> None:
        self.check_options(self.reg_param)
        check_classes(statistic, self.normalization, needs_two=True)
        super().check(statistic)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:
        self.check(statistic)
        priors, remarks = self.class_priors(statistic.weight)
        parts = self._matrices(statistic, shape, passes)
        reread = reread and self.covariance_estimator is None
        how = Inverting(self.normalization, rank_tolerance(self.tol), shares_null=False, reread=reread)
        plug_in, details = invert(statistic, shape, parts, priors, how)
        attributes = class_attributes(statistic, shape, priors)
        if self.shrinkage is not None and not isinstance(self.shrinkage, str):
            attributes["shrinkage_"] = float(self.shrinkage)
        rule = plug_in if self.predict_method == "plug-in" else self._averaged(plug_in, statistic, priors)
        return Solved(rule, statistic, attributes, remarks=remarks, details=details)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:
        from discrim.families.gaussian.held_out import held_out_qda

        return held_out_qda(self, solved, shape)

    def rule_size(self, solved: Solved) -> float:
        return quadratic_size(solved)

    def regularised(self, solved: Solved) -> bool:
        return super().regularised(solved) or bool(self.reg_param)

    def _matrices(self, statistic: Statistic, shape: Shape, passes: Passes | None) -> ClassMatrices:
        """Sigma_k as it is asked for."""
        classes, p = statistic.mean.shape
        factor, ridge = np.ones(classes), np.zeros((classes, p))
        matrices, thin = class_matrices(statistic, self.normalization)
        if self.covariance_estimator is not None:
            matrices, thin = np.stack(estimated_covariances(self.covariance_estimator, passes, classes)), None
        elif self.shrinkage in ("auto", "ledoit-wolf", "oas"):
            factor, ridge = self._estimated_shrinkage(statistic, shape, passes)
        elif self.kept < 1:
            variances = class_variances(matrices, thin)
            even = variances.sum(axis=1, keepdims=True) / shape.n_columns
            factor = factor * self.kept
            ridge = ridge + (1.0 - self.kept) * (variances if self.target == "diagonal" else even)
        if self.reg_param:
            factor, ridge = factor * (1.0 - self.reg_param), ridge * (1.0 - self.reg_param) + self.reg_param
        return ClassMatrices(statistic.mean, factor, ridge, matrices, thin)

    def _estimated_shrinkage(self, statistic: Statistic, shape: Shape, passes: Passes | None) -> tuple[Floats, Floats]:
        """Each class by itself: the share of Sigma_k that is kept, and the diagonal that is added."""
        scales = class_scales(statistic, standardised=self.shrinkage == "auto")
        fourth = None if self.shrinkage == "oas" else fourth_powers(passes, statistic, scales)
        classes, p = statistic.mean.shape
        factor, ridge = np.ones(classes), np.zeros((classes, p))
        variances = class_variances(*class_matrices(statistic, "mle"))
        for k in range(classes):
            alone = np.eye(classes)[k]
            within, ridge[k] = shrunk_within(statistic, alone, scales, fourth, np.zeros(p), shape.eps)
            total = variances[k].sum()
            factor[k] = within.diagonal.sum() / total if total > 0 else 1.0
        return factor, ridge

    def _averaged(self, rule: GaussianRule, statistic: Statistic, priors: Floats) -> Rule:
        """The rule of another ``predict_method``."""
        assert isinstance(rule, QuadraticRule)
        weight, p = statistic.weight, statistic.n_features
        present = np.flatnonzero(weight > 0)
        names = [f"class '{statistic.classes[k]}' has" for k in present]
        check_degrees(self.predict_method, weight[present] - 1.0, p, names)
        # A class without rows has the numbers of any other: its offset is -inf.
        counted = np.where(weight > 0, weight, p + 3.0)
        sizes = Sizes(counted, counted - 1.0, divisors(counted, self.normalization)[0])
        if self.predict_method == "debiased":
            return debiased_rule(rule, sizes)
        return predictive_rule(rule, sizes, possible_logs(priors, weight), p)
