"""Bayesian discriminants: covariances with an inverse-Wishart prior, and what follows for a new row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discrim.block import Block
from discrim.errors import ParameterError, SingularClassError, name_list
from discrim.families.bayesian.prior import chosen_prior, prior_units, targets_of
from discrim.families.bayesian.wishart import Evidence, Prior, evidence_of, of_columns, posterior_matrices
from discrim.families.gaussian.covariance import rounding_noise
from discrim.families.gaussian.leave_one_out import is_ill, leaves_one_class, log_priors_without, student_scores
from discrim.families.gaussian.quadratic import SingularError, class_rule
from discrim.families.gaussian.recipe import (
    GaussianRecipe,
    Statistic,
    about_columns,
    possible_logs,
    refuse_one_class,
    rule_size,
)
from discrim.families.gaussian.student import predictive, shared_by, stretched, student_rule, with_columns
from discrim.families.population import GaussianPopulation
from discrim.families.recipe import Chosen, LeftOut, Passes, Remark, Shape, Solved, rotated
from discrim.families.rule import Rule, StudentRule
from discrim.later import cached_property
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats, Mask

CONSTANT = (
    "are constant within the classes, so that they have no scale for the prior; they are left out. With "
    "target='identity' they stay."
)


@dataclass(frozen=True, eq=False)
class BayesianRecipe(GaussianRecipe):
    """mu_k flat, Sigma or Sigma_k ~ IW(nu, Psi): a new row of class k is Student-t.

    ``shared`` says that all classes have one covariance. ``earlier`` is what an earlier fit chose by the rows, which
    parts that come later keep.
    """

    shared: bool = False
    psi: Any = "evidence"
    nu: Any = None
    target: str = "diagonal"
    class_prior_alpha: float = 0.0
    earlier: Chosen | None = None

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("normal", "equal covariances" if self.shared else "own covariances")

    def depth(self) -> Depth:
        return Depth.POOLED if self.shared else Depth.FULL

    @property
    def needs_rows(self) -> bool:
        return any(isinstance(value, str) and value == "loo" for value in (self.psi, self.nu))

    def solve(
        self, statistic: Statistic, shape: Shape, passes: Passes | None = None, before: Chosen | None = None
    ) -> Solved:
        return replace(self, earlier=before).estimate(statistic, shape, passes)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:
        refuse_one_class(statistic)
        weight, noise = statistic.weight, rounding_noise(statistic.mean, shape.eps)
        units, alive = prior_units(self, statistic, noise)
        inside = of_columns(statistic, alive)
        inside = inside.pooled() if self.shared else inside
        targets = targets_of(self, units, inside, noise[alive])
        target, prior, chosen = chosen_prior(self, inside, targets, passes, alive)
        df = self._degrees(statistic, prior.nu, int(alive.sum()))
        priors, remarks = self.class_priors(weight)
        try:
            matrices = posterior_matrices(inside, prior, shape.eps)
            possible = np.zeros(1) if self.shared else np.where(weight > 0, 0.0, -np.inf)
            inner = class_rule(inside, matrices, possible, inside.n_features, reread=reread)
        except SingularError as error:
            raise self._singular(statistic, shape, prior, error) from None
        if self.shared:
            inner = shared_by(inner, inside.mean)
        inner = with_columns(inner, statistic.mean, alive)
        terms = predictive(weight, df, int(alive.sum()))
        rule = student_rule(inner, terms, possible_logs(priors, weight))
        density = student_rule(inner, terms, np.where(weight > 0, 0.0, -np.inf)).offset
        attributes = {
            "target_": target,
            "psi_": prior.psi,
            "nu_": prior.nu,
            "df_": df,
            "means_": statistic.mean.astype(shape.columns.dtype),
            "priors_": priors.astype(shape.columns.dtype),
        }
        details = BayesianDetails(inside, prior, alive, density)
        # Of few rows or sparse columns some are constant in any case: there is nothing to report.
        if statistic.rows.sum() > statistic.n_features:
            remarks += about_columns(shape, np.flatnonzero(~alive), CONSTANT)
        return Solved(rule, statistic, attributes, chosen, remarks, details)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - any shape will do
        """Only where the prior stays the same without a row."""
        s = solved.statistic
        by_rows = isinstance(self.psi, str) or isinstance(self.nu, str)
        fixed = bool(np.ndim(self.psi)) or self.target == "identity" or self.psi == 0
        if by_rows or not fixed or leaves_one_class(s):
            return None
        n, p = int(s.rows.sum()), s.n_features
        psi, nu = (1.0 if np.ndim(self.psi) else float(self.psi)), p + 2.0 if self.nu is None else float(self.nu)
        if psi == 0 and (n <= p or not isinstance(s, ClassMoments) or is_ill(s.scatter)):
            return None

        def scores(block: Block) -> Floats:
            z = np.asarray(block.dense(), dtype=np.float64)
            if psi > 0:
                z = prior_units(self, ClassMoments.of(block, Depth.DIAGONAL), np.zeros(p))[0].rows(z)
            z = rotated(z) if n <= p else z
            block = replace(block, x=z)
            of = ClassMoments.of(block, self.depth())
            logs = log_priors_without(of.weight, self.fixed_priors(of.weight), self.class_prior_alpha)
            return student_scores(of, logs, psi, nu, p, block)

        return scores

    def population(self, solved: Solved, shape: Shape) -> GaussianPopulation:
        """The predictive density: location mean_k, scale (Psi + S_k)(1 + 1/n_k) / df_k."""
        details: BayesianDetails = solved.details
        statistic, weight = solved.statistic, solved.statistic.weight
        parts, alive = posterior_matrices(details.inside, details.prior, shape.eps), details.alive

        def root(k: int) -> Floats:
            at = 0 if self.shared else k
            rows = np.vstack([parts.root(at), np.diag(np.sqrt(parts.ridge[at]))])
            full = np.zeros((len(rows), len(alive)))
            full[:, alive] = rows
            return full

        priors = np.where(weight > 0, solved.attributes["priors_"], 0.0)
        spread = 1.0 + 1.0 / np.where(weight > 0, weight, 1.0)
        fixed = np.zeros(statistic.mean.shape)
        return GaussianPopulation(priors, statistic.mean, root, fixed, solved.attributes["df_"], spread)

    def distances(self, solved: Solved, shape: Shape) -> Rule:  # noqa: ARG002 - the same for all
        """By the scale matrix of the predictive density, (Psi + S_k)(1 + 1/n_k) / df_k."""
        rule = solved.rule
        assert isinstance(rule, StudentRule)
        return stretched(rule.inner, rule.rate * np.asarray(solved.attributes["df_"], dtype=np.float64))

    def rule_size(self, solved: Solved) -> float:
        return rule_size(solved, quadratic=not self.shared)

    def regularised(self, solved: Solved) -> bool:  # noqa: ARG002 - a prior always does
        return True

    def class_priors(self, weight: Floats) -> tuple[Floats, tuple[Remark, ...]]:
        """Given, or the predictive mean (a + n_k)/(a K + n) under a Dirichlet prior, which is n_k/n for a = 0."""
        if self.priors is None:
            return super().class_priors(weight + self.class_prior_alpha)
        if self.class_prior_alpha:
            raise ParameterError(
                "priors and class_prior_alpha are both given. Give the class probabilities, or the strength of a "
                "Dirichlet prior for them, not both."
            )
        return super().class_priors(weight)

    def _degrees(self, statistic: Statistic, nu: float, p: int) -> Floats:
        """Degrees of freedom of the predictive densities, which must be positive."""
        weight = statistic.weight
        each = np.full(len(weight), (weight - 1.0)[weight > 0].sum()) if self.shared else weight - 1.0
        df = np.where(weight > 0, nu + each - p + 1.0, 1.0)
        if df.min() > 0:
            return df
        k = int(np.argmin(df))
        which = "the classes together have" if self.shared else f"class '{statistic.classes[k]}' has"
        raise ParameterError(
            f"With nu={nu:g} {which} nu + {each[k]:g} - p + 1 = {df[k]:g} degrees of freedom for p = {p} columns, and "
            f"a prediction needs more than 0. Leave nu out, which makes it p + 2, or give more than {nu - df[k]:g}."
        )

    def _singular(self, statistic: Statistic, shape: Shape, prior: Prior, error: SingularError) -> SingularClassError:
        names = name_list(np.array(shape.columns.names_out)[error.dependent])
        which = "The classes" if self.shared else f"Class '{statistic.classes[error.k]}'"
        verb = "have" if self.shared else "has"
        return SingularClassError(
            f"{which} {verb} no variance in some directions, and the prior psi={prior.psi:g} adds too little to it: "
            f"the columns {names} are constant or determined by the others. Use psi='evidence' or a larger number."
        )


@dataclass(frozen=True, eq=False)
class BayesianDetails:
    """The statistic of the columns that the prior is about (``alive``), and the constants of the log densities."""

    inside: Statistic
    prior: Prior
    alive: Mask
    density_offset: Floats

    @cached_property
    def evidence(self) -> Evidence:
        """The log marginal likelihood of the rows as a function of psi and nu."""
        return evidence_of(self.inside, self.prior.units)
