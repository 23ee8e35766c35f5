"""Regularised discriminant analysis: all that lies between LDA, QDA and a multiple of the identity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from discrim.errors import DataError
from discrim.inference.summary import Summary
from discrim.models.base import Statistic
from discrim.models.covariance_options import COMMON
from discrim.models.parameters import Check, either, none, number, numbers, one_of
from discrim.models.quadratic_base import GaussianRule, QuadraticClassifier
from discrim.models.tuning import DEFAULT_GRID, search
from discrim.solvers.quadratic import ClassMatrices, class_matrices
from discrim.solvers.regularized import Grid, Normalization, Target
from discrim.solvers.regularized_search import Selection
from discrim.sources import Rows


class RegularizedDiscriminantAnalysis(QuadraticClassifier):
    """Class covariances drawn towards the common one by ``alpha``, and towards a simple one by ``gamma``.

    **Model.** x | class k ~ N(mu_k, Sigma_k), class k with probability pi_k.

    **Statistic.** Class weights n_k, means mu_k and centred scatters S_k (``ClassMoments``, full).

    **Estimate.** Sigma_k(alpha) = alpha Sigma_k + (1 - alpha) Sigma, then gamma Sigma_k(alpha) + (1 - gamma) T
    with T = (tr Sigma_k(alpha) / p) I ("identity") or its diagonal ("diagonal"). So (1, 1) is QDA, (0, 1) is
    LDA, gamma = 0 with the diagonal target is Gaussian naive Bayes.

    **Rule.** As in QuadraticDiscriminantAnalysis.

    Cost: as QDA. A whole grid over 'cv' folds costs one eigendecomposition a fold, class and alpha, and one
    read of the rows, whatever the number of gammas. With more columns than rows n^2 p, nothing p x p.

    Parameters
    ----------
    alpha, gamma : float from 0 to 1, or 'cv' or 'loo' to choose it by least error
    target : {'identity', 'diagonal'}
    cv : int or splitter, for 'cv'
    alphas, gammas : arrays, the values tried where a parameter is chosen; by default 0, 0.1, ..., 1
    selection : {'min', 'one-se'}
        The setting of least error (ties: least log loss), or the most regularised one within one standard
        error of it.
    priors : array of K numbers, or None for the shares of the classes
    normalization : {'mle', 'unbiased'}
    tol : float, see QuadraticDiscriminantAnalysis

    Attributes
    ----------
    alpha_, gamma_ : what was used
    cv_results_ : the error surface: alphas, gammas, mean_error, std_error, mean_log_loss (alphas x gammas)
    means_, priors_, classes_, statistic_

    Examples
    --------
    >>> from discrim import RegularizedDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = RegularizedDiscriminantAnalysis(alpha="loo", gamma="loo").fit(X, y)
    >>> model.cv_results_["mean_error"].shape
    (11, 11)
    """

    _constraints: ClassVar[dict[str, Check]] = {
        **{name: COMMON[name] for name in ("priors", "tol", "normalization", "target", "selection")},
        "alpha": either(number(0, 1), one_of("cv", "loo")),
        "gamma": either(number(0, 1), one_of("cv", "loo")),
        "alphas": either(none(), numbers(0, 1)),
        "gammas": either(none(), numbers(0, 1)),
    }

    def __init__(
        self,
        alpha: Any = 0.5,
        gamma: Any = 1.0,
        *,
        target: Target = "identity",
        cv: Any = 10,
        alphas: Any = None,
        gammas: Any = None,
        selection: Selection = "min",
        priors: Any = None,
        normalization: Normalization = "mle",
        tol: float = 1e-4,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.target = target
        self.cv = cv
        self.alphas = alphas
        self.gammas = gammas
        self.selection = selection
        self.priors = priors
        self.normalization = normalization
        self.tol = tol

    def _needs_rows(self) -> bool:
        return isinstance(self.alpha, str) or isinstance(self.gamma, str)

    def _needs_two_rows(self) -> bool:
        return bool(self.alpha == 1)

    def _shares_null_space(self) -> bool:
        return bool(self.alpha_ < 1)

    def _solve(self, statistic: Statistic, rows: Rows | None, *, reread: bool) -> GaussianRule:
        priors = self._begin(statistic)
        self.alpha_, self.gamma_ = self._chosen(rows, None if self.priors is None else priors)
        classes, p = statistic.mean.shape
        matrices, thin = class_matrices(statistic, self.normalization, self.alpha_)
        if matrices is not None:
            variances = np.diagonal(matrices, axis1=1, axis2=2)
        else:
            variances = np.stack([np.einsum("ij,ij->j", r, r) for r in thin or ()])
        towards = variances if self.target == "diagonal" else variances.mean(axis=1, keepdims=True)
        ridge = np.broadcast_to((1.0 - self.gamma_) * towards, (classes, p))
        parts = ClassMatrices(statistic.mean, np.full(classes, self.gamma_), ridge, matrices, thin)
        return self._finish(statistic, parts, priors, reread=reread)

    def _chosen(self, rows: Rows | None, priors: Any) -> tuple[float, float]:
        ways = {value for value in (self.alpha, self.gamma) if isinstance(value, str)}
        if not ways:
            self.__dict__.pop("cv_results_", None)
            return float(self.alpha), float(self.gamma)
        if rows is None:
            # The parts of a stream are not kept: what an earlier fit chose is kept instead.
            if hasattr(self, "cv_results_"):
                return self.alpha_, self.gamma_
            raise DataError("'cv' and 'loo' need the rows themselves: use fit first, or give numbers.")
        if len(ways) > 1:
            raise DataError("alpha and gamma must be chosen in the same way: both by 'cv' or both by 'loo'.")
        alphas = _grid(self.alpha, self.alphas)
        gammas = _grid(self.gamma, self.gammas)
        grid = Grid(alphas, gammas, self.target, self.normalization)
        self.cv_results_ = search(rows, grid, how=ways.pop(), cv=self.cv, priors=priors, selection=self.selection)
        return self.cv_results_["alpha"], self.cv_results_["gamma"]

    def _summarise(self) -> Summary:
        facts: dict[str, object] = {"alpha": self.alpha_, "gamma": self.gamma_, "Target": self.target}
        return self._group_summary("Regularised discriminant analysis", facts)


def _grid(value: Any, values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    if not isinstance(value, str):
        return np.array([float(value)])
    return DEFAULT_GRID if values is None else np.sort(np.asarray(values, dtype=np.float64))
