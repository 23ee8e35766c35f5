"""Regularised discriminant analysis: all that lies between LDA, QDA and a multiple of the identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discrim.errors import DataError
from discrim.families.gaussian.grid import DEFAULT_VALUES, GaussianGrid
from discrim.families.gaussian.own_covariance import (
    Inverting,
    check_classes,
    class_attributes,
    invert,
    quadratic_size,
)
from discrim.families.gaussian.quadratic import ClassMatrices, class_matrices, class_variances
from discrim.families.gaussian.recipe import LEAST_RIDGE, GaussianRecipe, Statistic, rank_tolerance, varying_columns
from discrim.families.gaussian.regularized import Target
from discrim.families.recipe import LeftOut, Passes, Search, Selection, Shape, Solved
from discrim.statistics import Depth
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class RdaRecipe(GaussianRecipe):
    """Sigma_k(alpha) = alpha Sigma_k + (1 - alpha) Sigma, then gamma Sigma_k(alpha) + (1 - gamma) T."""

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "own covariances")

    alpha: Any = 0.5
    gamma: Any = 1.0
    target: Target = "identity"
    cv: Any = 10
    alphas: Any = None
    gammas: Any = None
    selection: Selection = "min"
    tol: float = 1e-4

    def depth(self) -> Depth:
        return Depth.FULL

    @property
    def needs_rows(self) -> bool:
        return isinstance(self.alpha, str) or isinstance(self.gamma, str)

    @property
    def needs_units(self) -> bool:
        return self.target == "identity"

    @property
    def setting(self) -> tuple[float, float] | None:
        """(alpha, gamma), or None where they are yet to be chosen."""
        return None if self.needs_rows else (float(self.alpha), float(self.gamma))

    def search(self) -> Search | None:
        ways = {value for value in (self.alpha, self.gamma) if isinstance(value, str)}
        if len(ways) > 1:
            raise DataError("alpha and gamma must be chosen in the same way: both by 'cv' or both by 'loo'.")
        return Search(ways.pop(), self.cv, self.selection) if ways else None

    def grid(self, statistic: Statistic) -> GaussianGrid:  # noqa: ARG002 - the same for all
        priors = None if self.priors is None else np.asarray(self.priors, dtype=np.float64)
        alphas, gammas = _values(self.alpha, self.alphas), _values(self.gamma, self.gammas)
        return GaussianGrid(alphas, gammas, self.target, self.normalization, priors)

    @property
    def rotation_invariant(self) -> bool:
        setting = self.setting
        return setting is not None and setting[1] < 1 - LEAST_RIDGE and self.target == "identity"

    def check(self, statistic: Statistic) -> None:
        check_classes(statistic, self.normalization, needs_two=bool(self.alpha == 1))
        super().check(statistic)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002
        self.check(statistic)
        priors, remarks = self.class_priors(statistic.weight)
        alpha, gamma = float(self.alpha), float(self.gamma)
        classes, p = statistic.mean.shape
        matrices, thin = class_matrices(statistic, self.normalization, alpha)
        variances = class_variances(matrices, thin)
        even = variances.sum(axis=1, keepdims=True) / shape.n_columns
        ridge = np.broadcast_to((1.0 - gamma) * (variances if self.target == "diagonal" else even), (classes, p))
        parts = ClassMatrices(statistic.mean, np.full(classes, gamma), ridge, matrices, thin)
        how = Inverting(self.normalization, rank_tolerance(self.tol), shares_null=alpha < 1, reread=reread)
        rule, details = invert(statistic, shape, parts, priors, how)
        attributes = {**class_attributes(statistic, shape, priors), "alpha_": alpha, "gamma_": gamma}
        return Solved(rule, statistic, attributes, remarks=remarks, details=details)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:
        from discrim.families.gaussian.held_out import held_out_regularised

        return held_out_regularised(self, solved, shape)

    def rule_size(self, solved: Solved) -> float:
        if solved.attributes["alpha_"] > 0:
            return quadratic_size(solved)
        return float((len(solved.statistic.classes) - 1) * (varying_columns(solved.statistic) + 1))

    def regularised(self, solved: Solved) -> bool:
        return bool(solved.attributes["gamma_"] < 1)


def _values(value: Any, values: Any) -> Floats:
    if not isinstance(value, str):
        return np.array([float(value)])
    return DEFAULT_VALUES if values is None else np.sort(np.asarray(values, dtype=np.float64))
