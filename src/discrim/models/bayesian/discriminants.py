"""Bayesian linear and quadratic discriminant analysis, and what is known after the rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from discrim.errors import ParameterError, name_list
from discrim.families.bayesian.recipe import BayesianDetails, BayesianRecipe
from discrim.families.bayesian.wishart import posterior_matrices
from discrim.families.gaussian.quadratic import ClassMatrices
from discrim.families.gaussian.recipe import Statistic
from discrim.families.rule import Output, StudentRule
from discrim.inference.conjugate import tails
from discrim.inference.summary import Summary, Table
from discrim.models.parameters import Check, array_like, either, none, number, one_of
from discrim.models.registry import Entry, by_class, cubic, enter
from discrim.models.scoring import apply_rule
from discrim.models.shell import RecipeClassifier, recipe_from
from discrim.models.stored import kept, kept_as
from discrim.store.fields import Array
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
        return apply_rule(replace(rule, offset=self._density_offset), self.rows_of(X), Output.SCORES)

    def posterior(self, label: Any) -> WishartPosterior:
        """What is known of the mean and the covariance of this class after the training rows."""
        self.check_resumable()
        details: BayesianDetails = self.details()
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

    @kept_as(Array("K", allowed=("-inf",)))
    def _density_offset(self) -> Floats:
        return self._details.density_offset  # type: ignore[no-any-return]

    @kept
    def log_evidence_(self) -> float:
        """The log marginal likelihood of the training rows under the prior; the flat means count as one."""
        details: BayesianDetails = self._details
        p = int(details.alive.sum())
        if self.psi_ <= 0 or self.nu_ <= p - 1:
            raise AttributeError(
                f"log_evidence_ is only available with a proper prior: psi > 0 and nu > p - 1 = {p - 1}; "
                f"psi is {self.psi_:g} and nu is {self.nu_:g}."
            )
        return details.evidence.value(self.psi_, self.nu_)

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


class BayesianLinearDiscriminantAnalysis(BayesianDiscriminant):
    """Gaussian classes with one covariance, which is averaged over instead of estimated.

    **Model.** x | class k ~ N(mu_k, Sigma), class k with probability pi_k; mu_k flat, Sigma ~ IW(nu, Psi).

    **Statistic.** Class weights n_k, means and the pooled centred scatter S (``ClassMoments``). Weights count rows.

    **Estimate.** None is plugged in. The K flat means leave Sigma ~ IW(nu + n - K, Psi + S), and a new row of class k
    is Student-t with df = nu + n - K - p + 1 degrees of freedom, location mean_k and scale
    (Psi + S)(1 + 1/n_k) / df.

    **Rule.** The largest log pi_k + log f_k(x) with this density f_k. For classes of equal size the boundaries are
    hyperplanes where the pi_k are equal too; else they bend.

    R's ``predict.lda(method = "predictive")`` has this density in mind, but scales the new row and not the class
    means, and looks at the discriminant coordinates only, while a Student-t needs the distance in all p columns:
    its posteriors are near these, never equal.

    Cost: one read of X with n p^2 / 2 multiplications, then p^3; with more columns than rows n^2 p.

    Parameters
    ----------
    psi, nu, priors, class_prior_alpha
        As for BayesianQuadraticDiscriminantAnalysis, for the one Sigma.
    target : {'diagonal', 'identity'}
        As there; one Sigma has no scale of each class.

    Attributes
    ----------
    target_, psi_, nu_ : what was used; target_ is 'given' for a psi of p numbers or a matrix
    df_ : K degrees of freedom, all the same
    log_evidence_ : log marginal likelihood of the training rows, for a proper prior
    means_, priors_, classes_, statistic_

    Examples
    --------
    >>> from discrim import BayesianLinearDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> BayesianLinearDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    _shared: ClassVar[bool] = True
    _title: ClassVar[str] = "Bayesian linear discriminant analysis"


class BayesianQuadraticDiscriminantAnalysis(BayesianDiscriminant):
    """Gaussian classes, each with its own covariance, that are averaged over instead of estimated.

    **Model.** x | class k ~ N(mu_k, Sigma_k), class k with probability pi_k; mu_k flat, Sigma_k ~ IW(nu, Psi), the
    inverse-Wishart with mean Psi / (nu - p - 1).

    **Statistic.** Class weights n_k, means and centred scatters S_k (``ClassMoments``, full). Weights count rows.

    **Estimate.** None is plugged in. The posterior is Sigma_k ~ IW(nu + n_k - 1, Psi + S_k), mu_k | Sigma_k ~
    N(mean_k, Sigma_k / n_k), and a new row of class k is Student-t with df_k = nu + n_k - p degrees of freedom,
    location mean_k and scale (Psi + S_k)(1 + 1/n_k) / df_k.

    **Rule.** The largest log pi_k + log f_k(x) with this density f_k. All its Gamma functions are kept, so that
    classes of unequal size are weighed rightly. psi = 0 and nu = 0 is Geisser's rule; many rows make it QDA's.

    Cost: one read of X with n p^2 / 2 multiplications, then K p^3; with more columns than rows K n^2 p, and nothing
    p x p. 'evidence' and 'loo' need one eigendecomposition a class, whatever the number of values tried.

    Parameters
    ----------
    psi : float, 'evidence', 'loo', p numbers or a p x p matrix
        Psi = psi U with U as ``target`` says; p numbers are its diagonal and a matrix is Psi itself. 'evidence': the
        psi of the largest marginal likelihood, which the statistic alone gives, so that parts, merged models and
        streams choose it anew. 'loo': the psi of the largest leave-one-out predictive density of the rows, in closed
        form; it needs the rows, and parts that come later keep it.
    nu : float, None for p + 2, 'evidence' or 'loo'
        With p + 2 the prior mean of Sigma_k is Psi, and a class of one row still has df_k = 3. Every
        nu + n_k - p must be positive.
    target : {'diagonal', 'identity', 'class-diagonal', 'auto'}
        'diagonal': U = the variances S_jj / n within the classes, which makes the answers independent of the columns'
        units and psi a number without one. 'identity': U = I, where psi is a variance. 'class-diagonal': each class
        has its own U_k = the variances S_k,jj / n_k, for classes that differ in their variances: psi = nu, both
        large, is nearly naive Bayes, where 'diagonal' has classes that differ in means alone; where a class has no
        variance in a column, or less than three rows, it takes those of 'diagonal'. Columns that are constant within
        all classes have no scale and are left out, but for 'identity'. U is part of the prior: neither 'evidence' nor
        'loo' counts that it was taken from the same rows, and while psi is chosen it stays at those of all rows.
        'auto': 'diagonal' or 'class-diagonal', whichever is better by the way in which psi or nu is chosen. Here it
        counts whence U came, or the more numerous variances would win where they fit noise: the log evidence is less
        one for every variance, and a row that is left out leaves the variances too, to first order.
    priors : array of K numbers, or None for the shares of the classes
    class_prior_alpha : float
        The strength a of a Dirichlet prior of the classes: pi_k = (a + n_k) / (a K + n).

    Attributes
    ----------
    target_, psi_, nu_ : what was used; target_ is 'given' for a psi of p numbers or a matrix
    df_ : K degrees of freedom
    log_evidence_ : log marginal likelihood of the training rows, for a proper prior
    means_, priors_, classes_, statistic_

    Examples
    --------
    >>> from discrim import BayesianQuadraticDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = BayesianQuadraticDiscriminantAnalysis().fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> model.posterior("setosa").confint().shape
    (4, 2)
    """

    _shared: ClassVar[bool] = False
    _title: ClassVar[str] = "Bayesian quadratic discriminant analysis"

    _constraints: ClassVar[dict[str, Check]] = {
        **CONSTRAINTS,
        "target": one_of("diagonal", "identity", "class-diagonal", "auto"),
    }


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
        from discrim.inference.intervals import Intervals

        t = stdtrit(self.mean_df, tails(level)[1])
        ends = self.mean[:, None] + t * self.mean_scale[:, None] * [-1.0, 1.0]
        return Intervals(ends, self.names, level)


enter(Entry("Bayesian LDA", BayesianLinearDiscriminantAnalysis, cost=8, work=cubic(5e-10)))
enter(Entry("Bayesian QDA", BayesianQuadraticDiscriminantAnalysis, cost=11, work=by_class))
