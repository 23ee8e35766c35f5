"""Quadratic discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.families.gaussian.covariance import Normalization, Target
from discrim.families.gaussian.qda import QdaRecipe, QuadraticDetails
from discrim.families.gaussian.student import PredictMethod
from discrim.families.recipe import Selection
from discrim.inference.discriminant import box_m
from discrim.inference.summary import Summary
from discrim.models.gaussian.common import COMMON, group_summary
from discrim.models.parameters import Check, either, number, one_of
from discrim.models.registry import Entry, by_class, enter, own_covariance
from discrim.models.shell import RecipeClassifier, recipe_from
from discrim.models.stored import kept_matrix
from discrim.statistics import ClassMoments
from discrim.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class QuadraticDiscriminantAnalysis(RecipeClassifier):
    """Gaussian classes, each with its own covariance matrix: boundaries are quadratic surfaces.

    **Model.** x | class k ~ N(mu_k, Sigma_k), class k with probability pi_k.

    **Statistic.** Class weights n_k, means mu_k and centred scatters S_k (``ClassMoments``, full).

    **Estimate.** pi_k = n_k / n, Sigma_k = S_k / n_k ("mle") or S_k / (n_k - 1) ("unbiased", as in R).

    **Rule.** The largest delta_k(x) = log pi_k - log det Sigma_k / 2 - (x - mu_k)' Sigma_k^-1 (x - mu_k) / 2.

    Cost: one read of X with n p^2 / 2 multiplications, then K p^3 / 3.

    Parameters
    ----------
    solver : {'svd', 'eigen'}, both take the same path here
    shrinkage : float, None, 'auto', 'ledoit-wolf', 'oas', 'cv' or 'loo'
        (1 - s) Sigma_k + s T_k, as for LinearDiscriminantAnalysis, for each class.
    priors : array of K numbers, or None for the shares of the classes
    reg_param : float, (1 - r) Sigma_k + r I
    store_covariance : bool, offer ``covariance_``
    tol : float
        Above its default, scaled singular values up to ``tol`` count as zero; else only what is rounding.
    covariance_estimator : object with ``fit`` and ``covariance_``, used on the rows of each class
    normalization : {'mle', 'unbiased'}
    target : {'identity', 'diagonal'}, what the covariances are shrunk towards
    cv : int or splitter, for shrinkage='cv'
    selection : {'min', 'one-se'}
    predict_method : {'plug-in', 'predictive', 'debiased'}
        The rule above; or Geisser's predictive density, a Student-t with n_k - p degrees of freedom, location mu_k and
        scale S_k (1 + 1/n_k) / (n_k - p); or the unbiased estimate of the log density. Both need covariances that are
        not shrunk. The names are those of R's ``predict.qda``. Its "predictive" leaves out the Gamma functions of n_k
        and is right for classes of equal size fitted with method = "mle"; its "debiased" multiplies the distance by
        1 - (p - 1)/(n_k - 1) where the expectation asks for 1 - (p + 1)/(n_k - 1), and sums K digammas instead of p.

    Attributes
    ----------
    means_, priors_, classes_ : class means, priors and labels
    rotations_, scalings_ : eigenvectors and eigenvalues of each Sigma_k, largest first
    covariance_ : list of the Sigma_k, with store_covariance=True
    shrinkage_ : the s that was used, where it is one number
    statistic_ : the raw statistic

    Examples
    --------
    >>> from discrim import QuadraticDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> QuadraticDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    means_: NDArray[Any] = field(init=False)
    priors_: NDArray[Any] = field(init=False)
    shrinkage_: float = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = {
        **COMMON,
        "solver": one_of("svd", "eigen"),
        "shrinkage": either(number(0, 1), one_of(None, "auto", "ledoit-wolf", "oas", "cv", "loo")),
        "reg_param": number(0, 1),
    }

    solver: str = "svd"
    shrinkage: Any = None
    priors: Any = None
    reg_param: float = 0.0
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: Any = None
    normalization: Normalization = "mle"
    target: Target = "identity"
    cv: Any = 10
    selection: Selection = "min"
    predict_method: PredictMethod = "plug-in"

    def recipe(self) -> QdaRecipe:
        """The model that these parameters describe."""
        return recipe_from(QdaRecipe, self)

    @kept_matrix
    def covariance_(self) -> list[NDArray[Any]]:
        """Sigma_k of every class as the rule uses it."""
        if not self.store_covariance:
            raise AttributeError("covariance_ is only available with store_covariance=True.")
        return [sigma.astype(self._design.dtype, copy=False) for sigma in self._covariances()]

    @kept_matrix
    def rotations_(self) -> list[NDArray[Any]]:
        """Principal axes of each class, in columns."""
        return [np.linalg.eigh(sigma)[1][:, ::-1].astype(self._design.dtype) for sigma in self._covariances()]

    @kept_matrix
    def scalings_(self) -> list[NDArray[Any]]:
        """Variances of each class along its principal axes."""
        return [np.linalg.eigh(sigma)[0][::-1].astype(self._design.dtype) for sigma in self._covariances()]

    def _covariances(self) -> list[Floats]:
        details: QuadraticDetails = self._details
        return [details.parts.covariance(k) for k in range(len(self.classes_))]

    def _summarise(self) -> Summary:
        facts: dict[str, object] = {"Normalization": self.normalization}
        if isinstance(self.statistic_, ClassMoments):
            statistic, df, p_value = box_m(self.statistic_.weight, self.statistic_.scatter)[:3]
            facts["Box's M (equal covariances)"] = f"chi-sq {statistic:.5g} on {df:g} df, p = {p_value:.3g}"
        return group_summary(self, self._names, "Quadratic discriminant analysis", facts)


enter(Entry("QDA", QuadraticDiscriminantAnalysis, cost=10, why_not=own_covariance, work=by_class))
