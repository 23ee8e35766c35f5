"""What the Bayesian discriminants share: the prior, how it is chosen, and what follows for a new row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.errors import CollinearWarning, DataError, ParameterError, SingularClassError, name_list, warn
from discrim.families.gaussian.covariance import rounding_noise
from discrim.families.gaussian.quadratic import SingularError
from discrim.families.gaussian.student import predictive, shared_by, student_rule, with_columns
from discrim.families.priors import log_priors, resolve_priors
from discrim.families.rule import Output, StudentRule
from discrim.inference.summary import Summary, Table
from discrim.models.base import OnePassClassifier, Statistic
from discrim.models.bayesian_posterior import WishartPosterior
from discrim.models.bayesian_prior import chosen_prior, prior_units, targets_of
from discrim.models.parameters import Check, array_like, either, none, number, one_of
from discrim.models.scoring import apply_rule
from discrim.solvers.wishart_rules import Prior, evidence_of, of_columns, posterior_matrices, posterior_rule
from discrim.sources import Rows
from discrim.statistics import Depth
from discrim.typing import Floats


class BayesianDiscriminant(OnePassClassifier):
    """Gaussian classes whose covariances have an inverse-Wishart prior, and whose means a flat one."""

    _shared: ClassVar[bool]
    """Do all classes have the same covariance?"""
    _title: ClassVar[str]

    target_: str
    psi_: float
    nu_: float

    _constraints: ClassVar[dict[str, Check]] = {
        "psi": either(number(0), one_of("evidence", "loo"), array_like()),
        "nu": either(none(), number(0), one_of("evidence", "loo")),
        "target": one_of("diagonal", "identity"),
        "priors": either(none(), array_like()),
        "class_prior_alpha": number(0),
    }

    def __init__(
        self,
        psi: Any = "evidence",
        nu: Any = None,
        *,
        target: Literal["diagonal", "identity", "class-diagonal", "auto"] = "diagonal",
        priors: Any = None,
        class_prior_alpha: float = 0.0,
    ) -> None:
        self.psi = psi
        self.nu = nu
        self.target = target
        self.priors = priors
        self.class_prior_alpha = class_prior_alpha

    def log_density(self, X: Any) -> NDArray[Any]:
        """log f_k(x | training rows), the predictive density of every class without its prior, n x K."""
        self._check_solved()
        assert isinstance(self._rule, StudentRule)
        rule = replace(self._rule, offset=self._density_offset)
        return apply_rule(rule, self._open(X, None, None, reset=False, labelled=False), Output.SCORES)

    def posterior(self, label: Any) -> WishartPosterior:
        """What is known of the mean and the covariance of this class after the training rows."""
        self._check_solved()
        at = np.flatnonzero(self.classes_ == label)
        if not len(at) or self.statistic_.weight[at[0]] <= 0:
            known = name_list(self.classes_[self.statistic_.weight > 0])
            raise ParameterError.bad_value("label", label, f"a class with rows, one of {known}")
        k, alive = int(at[0]), self._alive
        parts = posterior_matrices(self._grouped(of_columns(self.statistic_, alive)), self._prior)
        return WishartPosterior(
            label, [name for name, kept in zip(self._names, alive, strict=True) if kept],
            self.statistic_.mean[k][alive], float(self.statistic_.weight[k]),
            float(self.df_[k] + alive.sum() - 1), parts, 0 if self._shared else k,
        )  # fmt: skip

    @property
    def log_evidence_(self) -> float:
        """The log marginal likelihood of the training rows under the prior; the flat means count as one."""
        self._check_solved()
        p = int(self._alive.sum())
        if self.psi_ <= 0 or self.nu_ <= p - 1:
            raise AttributeError(
                f"log_evidence_ is there for a proper prior: psi > 0 and nu > p - 1 = {p - 1}; "
                f"psi is {self.psi_:g} and nu is {self.nu_:g}."
            )
        statistic = self._grouped(of_columns(self.statistic_, self._alive))
        return evidence_of(statistic, self._prior.units).value(self.psi_, self.nu_)

    def _depth(self, classes: int | None = None) -> Depth:  # noqa: ARG002 - the same for any number
        return Depth.POOLED if self._shared else Depth.FULL

    def _needs_rows(self) -> bool:
        return any(isinstance(value, str) and value == "loo" for value in (self.psi, self.nu))

    def _grouped(self, statistic: Statistic) -> Statistic:
        return statistic.pooled() if self._shared else statistic

    def _solve(self, statistic: Statistic, rows: Rows | None, *, reread: bool) -> StudentRule:
        if len(statistic.classes) < 2:
            raise DataError("The number of classes has to be greater than one. Got 1 class.")
        noise = rounding_noise(statistic.mean, self._eps)
        units, alive = prior_units(self, statistic, noise)
        inside = self._grouped(of_columns(statistic, alive))
        targets = targets_of(self, units, inside, noise[alive])
        target, prior = chosen_prior(self, inside, targets, rows, alive)
        df = self._degrees(statistic.weight, prior.nu, int(alive.sum()))
        priors = self._class_priors(statistic.weight)
        logs = np.where(statistic.weight > 0, log_priors(priors), -np.inf)
        try:
            inner = posterior_rule(inside, prior, noise[alive], self._eps, reread=reread)
        except SingularError as error:
            raise self._singular(statistic, prior, error) from None
        if self._shared:
            inner = shared_by(inner, inside.mean)
        inner = with_columns(inner, statistic.mean, alive)
        terms = predictive(statistic.weight, df, int(alive.sum()))
        rule = student_rule(inner, terms, logs)
        self._density_offset = student_rule(inner, terms, np.where(statistic.weight > 0, 0.0, -np.inf)).offset
        self._warn_of_constant(statistic, alive)
        self._prior, self._alive = prior, alive
        self.target_, self.psi_, self.nu_, self.df_ = target, prior.psi, prior.nu, df
        self.means_ = statistic.mean.astype(self._design.dtype)
        self.priors_ = priors.astype(self._design.dtype)
        return rule

    def _class_priors(self, weight: Floats) -> Floats:
        """Given, or the predictive mean (a + n_k)/(a K + n) under a Dirichlet prior, which is n_k/n for a = 0."""
        if self.priors is None:
            return resolve_priors(None, weight + self.class_prior_alpha)
        if self.class_prior_alpha:
            raise ParameterError(
                "priors and class_prior_alpha are both given. Give the class probabilities, or the strength of a "
                "Dirichlet prior for them, not both."
            )
        return resolve_priors(self.priors, weight)

    def _degrees(self, weight: Floats, nu: float, p: int) -> Floats:
        """Degrees of freedom of the predictive densities, which must be positive."""
        each = np.full(len(weight), (weight - 1.0)[weight > 0].sum()) if self._shared else weight - 1.0
        df = np.where(weight > 0, nu + each - p + 1.0, 1.0)
        if df.min() > 0:
            return df
        k = int(np.argmin(df))
        which = "the classes together have" if self._shared else f"class '{self.classes_[k]}' has"
        raise ParameterError(
            f"With nu={nu:g} {which} nu + {each[k]:g} - p + 1 = {df[k]:g} degrees of freedom for p = {p} columns, and "
            f"a prediction needs more than 0. Leave nu out, which makes it p + 2, or give more than {nu - df[k]:g}."
        )

    def _singular(self, statistic: Statistic, prior: Prior, error: SingularError) -> SingularClassError:
        names = name_list(np.array(self._names)[error.dependent])
        which = "The classes" if self._shared else f"Class '{statistic.classes[error.k]}'"
        verb = "have" if self._shared else "has"
        return SingularClassError(
            f"{which} {verb} no variance in some directions, and the prior psi={prior.psi:g} adds too little to it: "
            f"the columns {names} are constant or determined by the others. Use psi='evidence' or a larger number."
        )

    def _warn_of_constant(self, statistic: Statistic, alive: NDArray[np.bool_]) -> None:
        # Of few rows or sparse columns some are constant in any case: nothing to be told.
        if not alive.all() and statistic.rows.sum() > statistic.n_features:
            names = name_list(name for name, kept in zip(self._names, alive, strict=True) if not kept)
            warn(
                f"Columns {names} are constant within the classes, so that they have no scale for the prior; they "
                "are left out. With target='identity' they stay.",
                CollinearWarning,
            )

    def _summarise(self) -> Summary:
        statistic, labels = self.statistic_, [str(label) for label in self.classes_]
        p = int(self._alive.sum())
        facts: dict[str, object] = {
            "Rows": int(statistic.rows.sum()), "Columns": statistic.n_features, "Classes": len(labels),
            "psi": self.psi_ if np.ndim(self.psi) == 0 else "given",
            "nu": self.nu_, "Target": self.target_,
        }  # fmt: skip
        if self.psi_ > 0 and self.nu_ > p - 1:
            facts["Log evidence"] = self.log_evidence_
        groups = np.column_stack([self.priors_, statistic.rows, self.df_])
        tables = [
            Table("Groups", labels, ["prior", "rows", "df"], groups),
            Table("Group means", labels, self._names, self.means_),
        ]
        return Summary(self._title, facts, tables, names=self._names, psi=self.psi_, nu=self.nu_, df=self.df_)
