"""Quadratic and regularised discriminant analysis: a covariance matrix for each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from discrim.errors import DataError, SingularClassError, name_list
from discrim.families.gaussian.covariance import check_divisors, divisors, pooled_within
from discrim.families.gaussian.grid import DEFAULT_VALUES, GaussianGrid
from discrim.families.gaussian.quadratic import (
    ClassMatrices,
    SingularError,
    class_matrices,
    class_rule,
    pooled_space_rule,
)
from discrim.families.gaussian.recipe import (
    CovarianceRecipe,
    RegularizedRecipe,
    Statistic,
    possible_logs,
    rank_tolerance,
    refuse_one_class,
    rule_size,
)
from discrim.families.gaussian.shrinkage import class_shrinkage, estimated_covariances
from discrim.families.gaussian.student import (
    GaussianRule,
    Sizes,
    check_degrees,
    debiased_rule,
    distances_only,
    predictive_rule,
)
from discrim.families.population import GaussianPopulation
from discrim.families.recipe import Passes, Search, Shape, Solved
from discrim.families.rule import QuadraticRule, Rule
from discrim.statistics import Depth
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class OwnCovariances(RegularizedRecipe):
    """A covariance matrix for each class, as ``QuadraticDetails`` has them."""

    def population(self, solved: Solved, shape: Shape) -> GaussianPopulation:  # noqa: ARG002 - the same for all
        parts: ClassMatrices = solved.details.parts
        priors = np.where(solved.statistic.weight > 0, solved.attributes["priors_"], 0.0)
        return GaussianPopulation(priors, parts.mean, parts.root, np.sqrt(parts.ridge))

    def distances(self, solved: Solved, shape: Shape) -> Rule:  # noqa: ARG002 - the same for all
        return distances_only(solved.details.plug_in)


@dataclass(frozen=True, eq=False)
class QdaRecipe(OwnCovariances, CovarianceRecipe):
    """Sigma_k = S_k / n_k or S_k / (n_k - 1), shrunk where asked.

    The rule takes the largest log pi_k - log det Sigma_k / 2 - (x - mu_k)' Sigma_k^-1 (x - mu_k) / 2.
    """

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "own covariances")

    reg_param: float = 0.0

    def depth(self) -> Depth:
        return Depth.FULL

    @property
    def only_shrunk(self) -> bool:
        return super().only_shrunk and not self.reg_param

    def check(self, statistic: Statistic) -> None:
        self.check_options(self.reg_param)
        check_classes(statistic, self.normalization, needs_two=True)
        super().check(statistic)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:
        self.check(statistic)
        parts = self._matrices(statistic, shape, passes)
        reread = reread and self.covariance_estimator is None
        solved = _solved(self, statistic, shape, parts, self.chosen_shrinkage(), shares_null=False, reread=reread)
        if self.predict_method == "plug-in":
            return solved
        return replace(solved, rule=self._averaged(solved.rule, statistic))

    def rule_size(self, solved: Solved) -> float:
        return rule_size(solved, quadratic=True)

    def regularised(self, solved: Solved) -> bool:
        return super().regularised(solved) or bool(self.reg_param)

    def _matrices(self, statistic: Statistic, shape: Shape, passes: Passes | None) -> ClassMatrices:
        """Sigma_k as the parameters ask for it."""
        parts = class_matrices(statistic, self.normalization, shape.eps)
        if self.covariance_estimator is not None:
            estimates = estimated_covariances(self.covariance_estimator, passes, len(parts.mean))
            given = zip(parts.within, estimates, strict=True)
            parts = replace(
                parts, within=tuple(replace(own, values=sigma, thin=False, share=1.0) for own, sigma in given)
            )
        elif self.shrinkage in ("auto", "ledoit-wolf", "oas"):
            intensity, added = class_shrinkage(statistic, self.shrinkage, passes)
            parts = replace(parts, factor=1.0 - intensity, ridge=added)
        elif self.kept < 1:
            parts = parts.shrunk(self.kept, self.target, shape.n_columns)
        if not self.reg_param:
            return parts
        kept = 1.0 - self.reg_param
        return replace(parts, factor=kept * parts.factor, ridge=kept * parts.ridge + self.reg_param)

    def _averaged(self, rule: Rule, statistic: Statistic) -> Rule:
        """The rule of another ``predict_method``."""
        assert isinstance(rule, QuadraticRule)
        weight, p = statistic.weight, statistic.n_features
        present = np.flatnonzero(weight > 0)
        names = [f"class '{statistic.classes[k]}' has" for k in present]
        check_degrees(self.predict_method, weight[present] - 1.0, p, names)
        # Whatever a class without rows has here, its offset is -inf.
        counted = np.where(weight > 0, weight, p + 3.0)
        sizes = Sizes(counted, counted - 1.0, divisors(counted, self.normalization))
        if self.predict_method == "debiased":
            return debiased_rule(rule, sizes)
        return predictive_rule(rule, sizes, possible_logs(self.class_priors(weight)[0], weight), p)


@dataclass(frozen=True, eq=False)
class RdaRecipe(OwnCovariances, RegularizedRecipe):
    """Sigma_k(alpha) = alpha Sigma_k + (1 - alpha) Sigma, then gamma Sigma_k(alpha) + (1 - gamma) T."""

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "own covariances")

    alpha: Any = 0.5
    gamma: Any = 1.0
    alphas: Any = None
    gammas: Any = None

    def depth(self) -> Depth:
        return Depth.FULL

    @property
    def needs_rows(self) -> bool:
        return isinstance(self.alpha, str) or isinstance(self.gamma, str)

    @property
    def needs_units(self) -> bool:
        return self.target == "identity"

    @property
    def rotation_invariant(self) -> bool:
        """What is to be chosen is, towards the identity, as its grid is."""
        return self.target == "identity" if self.needs_rows else super().rotation_invariant

    @property
    def setting(self) -> tuple[float, float] | None:
        return None if self.needs_rows else (float(self.alpha), float(self.gamma))

    def search(self) -> Search | None:
        ways = {value for value in (self.alpha, self.gamma) if isinstance(value, str)}
        if len(ways) > 1:
            raise DataError("alpha and gamma must be chosen in the same way: both by 'cv' or both by 'loo'.")
        return Search(ways.pop(), self.cv, self.selection) if ways else None

    def grid(self, statistic: Statistic) -> GaussianGrid:  # noqa: ARG002 - the same for all
        return self.grid_of(_values(self.alpha, self.alphas), _values(self.gamma, self.gammas))

    def check(self, statistic: Statistic) -> None:
        check_classes(statistic, self.normalization, needs_two=bool(self.alpha == 1))
        super().check(statistic)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002 - as of every recipe
        self.check(statistic)
        alpha, gamma = float(self.alpha), float(self.gamma)
        parts = class_matrices(statistic, self.normalization, shape.eps, alpha)
        parts = parts.shrunk(gamma, self.target, shape.n_columns)
        chosen = {"alpha_": alpha, "gamma_": gamma}
        return _solved(self, statistic, shape, parts, chosen, shares_null=alpha < 1, reread=reread)

    def rule_size(self, solved: Solved) -> float:
        return rule_size(solved, quadratic=solved.attributes["alpha_"] > 0)

    def regularised(self, solved: Solved) -> bool:
        return bool(solved.attributes["gamma_"] < 1)


def _values(value: Any, values: Any) -> Floats:
    if not isinstance(value, str):
        return np.array([float(value)])
    return DEFAULT_VALUES if values is None else np.sort(np.asarray(values, dtype=np.float64))


class QuadraticDetails(NamedTuple):
    """The class matrices, the logarithms of their determinants, and the rule into which they are plugged."""

    parts: ClassMatrices
    log_det: Floats
    plug_in: GaussianRule


def _solved(
    recipe: RegularizedRecipe,
    statistic: Statistic,
    shape: Shape,
    parts: ClassMatrices,
    chosen: Mapping[str, Any],
    *,
    shares_null: bool,
    reread: bool,
) -> Solved:
    """The plug-in rule of these class matrices; ``shares_null``: all lack the same directions, which are left out."""
    priors, remarks = recipe.class_priors(statistic.weight)
    logs, tol = possible_logs(priors, statistic.weight), rank_tolerance(recipe.tol)
    rule: GaussianRule
    try:
        rule = class_rule(statistic, parts, logs, shape.n_columns, tol, shared_null=shares_null, reread=reread)
    except SingularError as error:
        if not shares_null:
            raise _singular(statistic, shape, error, regularised=bool(parts.ridge[error.k].any())) from None
        pooled = pooled_within(statistic, recipe.normalization, shape.eps)
        rule = pooled_space_rule(parts, pooled.sphere(tol=tol, reread=reread), logs)
    with np.errstate(invalid="ignore"):  # a class that cannot occur has no determinant
        details = QuadraticDetails(parts, 2.0 * (logs - rule.constant), rule)
    dtype = shape.columns.dtype
    attributes = {"means_": statistic.mean.astype(dtype), "priors_": priors.astype(dtype), **chosen}
    return Solved(rule, statistic, attributes, remarks=remarks, details=details)


def check_classes(statistic: Statistic, normalization: str, *, needs_two: bool) -> None:
    """Checks that hold for every quadratic model."""
    refuse_one_class(statistic)
    single = statistic.classes[(statistic.weight > 0) & (statistic.rows == 1)]
    if len(single) and needs_two:
        raise DataError(
            f"y has only 1 sample in class {single[0]}, covariance is ill defined. "
            "Add rows of this class, leave it out, or use LinearDiscriminantAnalysis."
        )
    check_divisors(statistic, normalization, pooled=False)


def _singular(statistic: Statistic, shape: Shape, error: SingularError, *, regularised: bool) -> SingularClassError:
    label, rows, p = statistic.classes[error.k], statistic.rows[error.k], statistic.n_features
    if rows <= p and not regularised:
        return SingularClassError(
            f"The covariance matrix of class {label} is not full rank. When using `solver='svd'` without "
            f"regularization each class needs more rows than columns, but class {label} has {rows} rows "
            f"and {p} columns. Use RegularizedDiscriminantAnalysis, or set shrinkage or reg_param."
        )
    names = shape.columns.names_out
    return SingularClassError(
        f"The covariance matrix of class {label} is not full rank. Within this class the columns "
        f"{name_list(names[j] for j in error.dependent)} are constant or determined by the others. Remove them, set "
        "shrinkage or reg_param, or use RegularizedDiscriminantAnalysis."
    )
