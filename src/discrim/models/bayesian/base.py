"""What the Bayesian discriminants share: parameters, and what is known after the rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from discrim.errors import ParameterError, name_list
from discrim.families.bayesian.recipe import BayesianDetails, BayesianRecipe
from discrim.families.bayesian.wishart import evidence_of, posterior_matrices
from discrim.families.gaussian.quadratic import ClassMatrices
from discrim.families.gaussian.recipe import Statistic
from discrim.families.rule import Output, StudentRule
from discrim.inference.summary import Summary, Table
from discrim.models.parameters import Check, array_like, either, none, number, one_of
from discrim.models.scoring import apply_rule
from discrim.models.shell import RecipeClassifier, recipe_from
from discrim.typing import Floats

CONSTRAINTS: dict[str, Check] = {
    "psi": either(number(0), one_of("evidence", "loo"), array_like()),
    "nu": either(none(), number(0), one_of("evidence", "loo")),
    "target": one_of("diagonal", "identity"),
    "priors": either(none(), array_like()),
    "class_prior_alpha": number(0),
}


@dataclass(eq=False, repr=False)
class BayesianDiscriminant(RecipeClassifier):
    """Gaussian classes whose covariances have an inverse-Wishart prior, and whose means a flat one."""

    _shared: ClassVar[bool]
    """Do all classes have the same covariance?"""
    _title: ClassVar[str]

    statistic_: Statistic = field(init=False)
    means_: NDArray[Any] = field(init=False)
    priors_: NDArray[Any] = field(init=False)
    df_: NDArray[Any] = field(init=False)
    target_: str = field(init=False)
    psi_: float = field(init=False)
    nu_: float = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = CONSTRAINTS

    psi: Any = "evidence"
    nu: Any = None
    _: KW_ONLY
    target: Literal["diagonal", "identity", "class-diagonal", "auto"] = "diagonal"
    priors: Any = None
    class_prior_alpha: float = 0.0

    def recipe(self) -> BayesianRecipe:
        """The model that these parameters describe."""
        return recipe_from(BayesianRecipe, self, shared=self._shared)

    def log_density(self, X: Any) -> NDArray[Any]:
        """log f_k(x | training rows), the predictive density of every class without its prior, n x K."""
        rule = self.solution().rule
        assert isinstance(rule, StudentRule)
        return apply_rule(replace(rule, offset=self._details.density_offset), self.rows_of(X), Output.SCORES)

    def posterior(self, label: Any) -> WishartPosterior:
        """What is known of the mean and the covariance of this class after the training rows."""
        details: BayesianDetails = self.solution().details
        statistic = self.statistic_
        at = np.flatnonzero(self.classes_ == label)
        if not len(at) or statistic.weight[at[0]] <= 0:
            known = name_list(self.classes_[statistic.weight > 0])
            raise ParameterError.bad_value("label", label, f"a class with rows, one of {known}")
        k, alive = int(at[0]), details.alive
        return WishartPosterior(
            label, [name for name, kept in zip(self._names, alive, strict=True) if kept],
            statistic.mean[k][alive], float(statistic.weight[k]),
            float(self.df_[k] + alive.sum() - 1), posterior_matrices(details.inside, details.prior),
            0 if self._shared else k,
        )  # fmt: skip

    @property
    def log_evidence_(self) -> float:
        """The log marginal likelihood of the training rows under the prior; the flat means count as one."""
        details: BayesianDetails = self._details
        p = int(details.alive.sum())
        if self.psi_ <= 0 or self.nu_ <= p - 1:
            raise AttributeError(
                f"log_evidence_ is only available with a proper prior: psi > 0 and nu > p - 1 = {p - 1}; "
                f"psi is {self.psi_:g} and nu is {self.nu_:g}."
            )
        return evidence_of(details.inside, details.prior.units).value(self.psi_, self.nu_)

    def _summarise(self) -> Summary:
        statistic, labels = self.statistic_, [str(label) for label in self.classes_]
        p = int(self._details.alive.sum())
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


@dataclass(frozen=True, eq=False)
class WishartPosterior:
    """Sigma | rows ~ IW(nu, Lambda), mu | Sigma, rows ~ N(mean, Sigma / weight).

    ``nu`` and ``scale`` (Lambda, p x p, made when asked for) are those of the covariance, ``mean`` and ``weight``
    (n_k) those of the mean, which by itself is a multivariate Student-t with ``mean_df`` degrees of freedom.
    """

    label: Any
    names: list[str]
    mean: Floats
    weight: float
    nu: float
    _parts: ClassMatrices
    _at: int

    @property
    def scale(self) -> Floats:
        """Lambda = Psi + S."""
        return self._parts.covariance(self._at)

    @property
    def covariance(self) -> Floats:
        """The mean of Sigma, Lambda / (nu - p - 1)."""
        left = self.nu - len(self.mean) - 1
        if left <= 0:
            raise ParameterError(
                f"The covariance of class '{self.label}' has no posterior mean: that needs nu > p + 1 = "
                f"{len(self.mean) + 1} after the rows, and nu is {self.nu:g}. Its mode is Lambda / (nu + p + 1)."
            )
        return self.scale / left

    @property
    def mode(self) -> Floats:
        """The most likely Sigma, Lambda / (nu + p + 1)."""
        return self.scale / (self.nu + len(self.mean) + 1)

    @property
    def mean_df(self) -> float:
        return self.nu - len(self.mean) + 1

    @property
    def mean_scale(self) -> Floats:
        """The scale of each coordinate of the mean, sqrt(Lambda_jj / (n_k mean_df)); nothing p x p is made."""
        diagonal = self._parts.variances[self._at] + self._parts.ridge[self._at]
        return np.asarray(np.sqrt(diagonal / (self.weight * self.mean_df)))

    def confint(self, level: float = 0.95) -> Any:
        """Central intervals that hold each mean with this probability: p x 2 with the names of the columns."""
        # Brings the profile likelihood with it, which nothing else here needs.
        from discrim.inference.intervals import Intervals, quantile

        quantile(level)  # refuses what is no probability
        t = stdtrit(self.mean_df, 0.5 + 0.5 * level)
        ends = self.mean[:, None] + t * self.mean_scale[:, None] * [-1.0, 1.0]
        return Intervals(ends, self.names, level)
