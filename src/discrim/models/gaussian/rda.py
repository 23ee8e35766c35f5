"""Regularised discriminant analysis: all that lies between LDA, QDA and a multiple of the identity."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from numpy.typing import NDArray

from discrim.families.gaussian.covariance import Normalization, Target
from discrim.families.gaussian.qda import RdaRecipe
from discrim.families.recipe import Selection
from discrim.inference.summary import Summary
from discrim.models.gaussian.common import COMMON, group_summary
from discrim.models.parameters import Check, either, none, number, numbers, one_of
from discrim.models.registry import Entry, Facts, Size, Work, by_class, enter
from discrim.models.shell import RecipeClassifier, recipe_from


@dataclass(eq=False, repr=False)
class RegularizedDiscriminantAnalysis(RecipeClassifier):
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

    alpha_: float = field(init=False)
    gamma_: float = field(init=False)
    means_: NDArray[Any] = field(init=False)
    priors_: NDArray[Any] = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = {
        **{name: COMMON[name] for name in ("priors", "tol", "normalization", "target", "selection")},
        "alpha": either(number(0, 1), one_of("cv", "loo")),
        "gamma": either(number(0, 1), one_of("cv", "loo")),
        "alphas": either(none(), numbers(0, 1)),
        "gammas": either(none(), numbers(0, 1)),
    }

    alpha: Any = 0.5
    gamma: Any = 1.0
    _: KW_ONLY
    target: Target = "identity"
    cv: Any = 10
    alphas: Any = None
    gammas: Any = None
    selection: Selection = "min"
    priors: Any = None
    normalization: Normalization = "mle"
    tol: float = 1e-4

    def recipe(self) -> RdaRecipe:
        """The model that these parameters describe."""
        return recipe_from(RdaRecipe, self)

    def _summarise(self) -> Summary:
        facts: dict[str, object] = {"alpha": self.alpha_, "gamma": self.gamma_, "Target": self.target}
        return group_summary(self, self._names, "Regularised discriminant analysis", facts)


# The values that a comparison tries: of the first each takes eigenvectors of every class.
ALPHAS, GAMMAS = (0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.5, 0.8, 0.95, 1.0)


def _work(size: Size) -> Work:
    one = by_class(size)
    matrices, judged = size.classes * len(ALPHAS), size.rows / 4
    scores = matrices * judged * size.span * (5e-11 * size.span + 2e-10 * len(GAMMAS))
    return Work(2.0 * one.fit, 1e-3 + 2e-10 * matrices * size.span**3 + 1e-7 * matrices * size.span + scores)


def _compared(rows: Facts) -> RegularizedDiscriminantAnalysis:
    """A coarse grid. Towards the variances the answer does not depend on units, where all columns have some."""
    return RegularizedDiscriminantAnalysis(
        alpha="cv",
        gamma="cv",
        alphas=ALPHAS,
        gammas=GAMMAS,
        target="diagonal" if rows.varied else "identity",
    )


enter(Entry("RDA", RegularizedDiscriminantAnalysis, _compared, cost=13, tuning="grid", work=_work))
