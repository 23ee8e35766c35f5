"""Quadratic discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.inference.discriminant import box_m
from discrim.inference.summary import Summary
from discrim.models.base import Statistic
from discrim.models.covariance_options import (
    COMMON,
    estimated_covariances,
    fourth_powers,
    needs_plain_covariance,
    one_covariance_option,
)
from discrim.models.parameters import Check, either, number, one_of
from discrim.models.priors import log_priors
from discrim.models.quadratic_base import GaussianRule, QuadraticClassifier
from discrim.models.tuning import chosen_shrinkage
from discrim.solvers.ledoit_wolf import class_scales, shrunk_within
from discrim.solvers.predictive import PredictMethod, Sizes, check_degrees, debiased_rule, predictive_rule
from discrim.solvers.quadratic import ClassMatrices, class_matrices
from discrim.solvers.regularized import Normalization, Target
from discrim.solvers.regularized_search import Selection
from discrim.solvers.rules import QuadraticRule, StudentRule
from discrim.solvers.within import divisors
from discrim.sources import Rows
from discrim.statistics import ClassMoments
from discrim.typing import Floats


class QuadraticDiscriminantAnalysis(QuadraticClassifier):
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

    shrinkage_: float

    _constraints: ClassVar[dict[str, Check]] = {
        **COMMON,
        "solver": one_of("svd", "eigen"),
        "shrinkage": either(number(0, 1), one_of(None, "auto", "ledoit-wolf", "oas", "cv", "loo")),
        "reg_param": number(0, 1),
        "predict_method": one_of("plug-in", "predictive", "debiased"),
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        normalization: Normalization = "mle",
        target: Target = "identity",
        cv: Any = 10,
        selection: Selection = "min",
        predict_method: PredictMethod = "plug-in",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.normalization = normalization
        self.target = target
        self.cv = cv
        self.selection = selection
        self.predict_method = predict_method

    @property
    def covariance_(self) -> list[NDArray[Any]]:
        """Sigma_k of every class as the rule uses it."""
        if not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True.")
        self._check_solved()
        return [sigma.astype(self._design.dtype, copy=False) for sigma in self._class_covariances()]

    @property
    def rotations_(self) -> list[NDArray[Any]]:
        """Principal axes of each class, in columns."""
        return [vectors for _, vectors in self._spectra()]

    @property
    def scalings_(self) -> list[NDArray[Any]]:
        """Variances of each class along its principal axes."""
        return [values for values, _ in self._spectra()]

    def _needs_rows(self) -> bool:
        return self.covariance_estimator is not None or self.shrinkage in ("auto", "ledoit-wolf", "cv", "loo")

    def _solve(self, statistic: Statistic, rows: Rows | None, *, reread: bool) -> GaussianRule | StudentRule:
        one_covariance_option(self.shrinkage, self.covariance_estimator)
        if self.predict_method != "plug-in":
            needs_plain_covariance(self.predict_method, self.shrinkage, self.covariance_estimator, self.reg_param)
        priors = self._begin(statistic)
        classes, p = statistic.mean.shape
        factor, ridge = np.ones(classes), np.zeros((classes, p))
        matrices, thin = class_matrices(statistic, self.normalization)
        shrinkage = chosen_shrinkage(self, rows, alpha=1.0)
        if self.covariance_estimator is not None:
            matrices, thin = np.stack(estimated_covariances(self.covariance_estimator, rows, classes)), None
            reread = False
        elif shrinkage in ("auto", "ledoit-wolf", "oas"):
            factor, ridge = self._estimated_shrinkage(statistic, rows, shrinkage)
        elif isinstance(shrinkage, float) and shrinkage > 0:
            variances = _variances(matrices, thin)
            towards = variances if self.target == "diagonal" else variances.mean(axis=1, keepdims=True)
            factor, ridge = factor * (1.0 - shrinkage), ridge + shrinkage * towards
        if self.reg_param:
            factor, ridge = factor * (1.0 - self.reg_param), ridge * (1.0 - self.reg_param) + self.reg_param
        parts = ClassMatrices(statistic.mean, factor, ridge, matrices, thin)
        rule = self._finish(statistic, parts, priors, reread=reread)
        return rule if self.predict_method == "plug-in" else self._averaged(rule, statistic, priors)

    def _averaged(self, rule: GaussianRule, statistic: Statistic, priors: Floats) -> GaussianRule | StudentRule:
        """The rule of another ``predict_method``."""
        assert isinstance(rule, QuadraticRule)
        weight, p = statistic.weight, statistic.n_features
        logs = np.where(weight > 0, log_priors(priors), -np.inf)
        present = np.flatnonzero(weight > 0)
        names = [f"class '{statistic.classes[k]}' has" for k in present]
        check_degrees(self.predict_method, weight[present] - 1.0, p, names)
        # A class without rows has the numbers of any other: its offset is -inf.
        counted = np.where(weight > 0, weight, p + 3.0)
        sizes = Sizes(counted, counted - 1.0, divisors(counted, self.normalization)[0])
        if self.predict_method == "debiased":
            return debiased_rule(rule, sizes)
        return predictive_rule(rule, sizes, logs, p)

    def _estimated_shrinkage(self, statistic: Statistic, rows: Rows | None, name: str) -> tuple[Floats, Floats]:
        """Each class by itself: the share of Sigma_k that is kept, and the diagonal that is added."""
        scales = class_scales(statistic, standardised=name == "auto")
        fourth = None if name == "oas" else fourth_powers(rows, statistic.mean, scales)
        classes, p = statistic.mean.shape
        factor, ridge = np.ones(classes), np.zeros((classes, p))
        variances = _variances(*class_matrices(statistic, "mle"))
        for k in range(classes):
            alone = np.eye(classes)[k]
            within, ridge[k] = shrunk_within(statistic, alone, scales, fourth, np.zeros(p), self._eps)
            total = variances[k].sum()
            factor[k] = within.diagonal.sum() / total if total > 0 else 1.0
        return factor, ridge

    def _spectra(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        self._check_solved()
        dtype = self._design.dtype
        pairs = [np.linalg.eigh(sigma) for sigma in self._class_covariances()]
        return [(values[::-1].astype(dtype), vectors[:, ::-1].astype(dtype)) for values, vectors in pairs]

    def _summarise(self) -> Summary:
        facts: dict[str, object] = {"Normalization": self.normalization}
        if isinstance(self.statistic_, ClassMoments):
            statistic, df, p_value = box_m(self.statistic_.weight, self.statistic_.scatter)
            facts["Box's M (equal covariances)"] = f"chi-sq {statistic:.5g} on {df:g} df, p = {p_value:.3g}"
        return self._group_summary("Quadratic discriminant analysis", facts)


def _variances(matrices: Floats | None, thin: tuple[Floats, ...] | None) -> Floats:
    """Diagonals of the class matrices, K x p."""
    if matrices is not None:
        return np.asarray(np.diagonal(matrices, axis1=1, axis2=2))
    return np.stack([np.einsum("ij,ij->j", r, r) for r in thin or ()])
