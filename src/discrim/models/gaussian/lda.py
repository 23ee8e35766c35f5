"""Linear discriminant analysis."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from discrim.errors import ParameterError
from discrim.families.gaussian.covariance import Normalization, Target
from discrim.families.gaussian.lda import FisherDiscriminant, LdaDetails, LdaRecipe, fisher_discriminant
from discrim.families.gaussian.plane import CentroidPlane, centroid_plane
from discrim.families.gaussian.recipe import Statistic
from discrim.families.gaussian.student import PredictMethod
from discrim.families.recipe import Selection
from discrim.families.rule import LinearRule, Output, Rule
from discrim.inference.summary import Summary
from discrim.models.gaussian.common import COMMON, lda_summary
from discrim.models.parameters import Check, either, integer, none, number, one_of
from discrim.models.registry import Entry, common_covariance, crowded, cubic, enter
from discrim.models.scoring import also_of_parts, apply_rule
from discrim.models.shell import RecipeClassifier, recipe_from
from discrim.models.stored import kept, kept_as, kept_matrix
from discrim.store.kinds import Of
from discrim.typing import Floats


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RecipeClassifier):  # type: ignore[misc]
    """Gaussian classes with one covariance matrix: the boundary between two classes is a hyperplane.

    **Model.** x | class k ~ N(mu_k, Sigma), class k with probability pi_k.

    **Statistic.** Class weights n_k, means mu_k and the pooled centred scatter S (``ClassMoments``).

    **Estimate.** pi_k = n_k / n, Sigma = S / n ("mle") or S / (n - K) ("unbiased", as in R), shrunk where
    asked to (1 - s) Sigma + s T with T = (tr Sigma / p) I or diag(Sigma).

    **Rule.** The largest delta_k(x) = mu_k' Sigma^-1 x - mu_k' Sigma^-1 mu_k / 2 + log pi_k. The same rule is
    the nearest centroid, adjusted by log pi_k, after sphering, and needs only the K - 1 discriminant
    coordinates in which the sphered centroids lie.

    Cost: one read of X with n p^2 / 2 multiplications, then p^3 / 3; with more columns than rows n^2 p.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}
        All take the same path here. As in scikit-learn, with given ``priors`` 'lsqr' and 'eigen' weigh the
        class covariances by them, and 'eigen' leaves ``transform`` uncentred. Where Sigma is singular 'lsqr' takes
        its pseudo-inverse in the units of the columns, the others in standardised columns.
    shrinkage : float, None, 'auto', 'ledoit-wolf', 'oas', 'nonlinear', 'cv' or 'loo'
        A number s; 'auto' and 'ledoit-wolf': Ledoit and Wolf's intensity for each class, with and without
        standardising; 'oas': the oracle-approximating intensity in the form of scikit-learn's ``OAS``, without the
        terms 2 / p of Chen et al. (2010); 'nonlinear': analytical nonlinear shrinkage of the pooled eigenvalues; 'cv',
        'loo': the s of least error over ``cv`` folds or by leaving one out, the surface kept in ``cv_results_``.
    priors : array of K numbers, or None for the shares of the classes
    n_components : int, the number of coordinates that ``transform`` gives
    store_covariance : bool, offer ``covariance_`` with solver 'svd' too
    tol : float
        Above its default, scaled singular values up to ``tol`` are dropped; else only what is rounding.
    covariance_estimator : object with ``fit`` and ``covariance_``, used on the rows of each class
    normalization : {'mle', 'unbiased'}
    target : {'identity', 'diagonal'}, what the covariance is shrunk towards
    rank : int, predict in this many discriminant coordinates only
    cv : int or splitter, for shrinkage='cv'
    selection : {'min', 'one-se'}, the best s or the strongest within one standard error of it
    predict_method : {'plug-in', 'predictive', 'debiased'}
        The rule above; or Geisser's predictive density, a Student-t with n - K - p + 1 degrees of freedom, location
        mu_k and scale S (1 + 1/n_k) / (n - K - p + 1), whose boundaries bend where classes have unequal sizes; or the
        unbiased estimate of the log density, a linear rule again, that of ``coef_``. The names are those of R's
        ``predict.lda``, whose "predictive" is only near this one (see BayesianLinearDiscriminantAnalysis), and whose
        "debiased" is this one for classes of equal size and p <= K - 1: it counts the discriminant coordinates
        instead of the columns, and subtracts 1/n_k for each where p/(2 n_k) is to be added.

    Attributes
    ----------
    coef_, intercept_ : the linear functions; for two classes their difference, 1 x p
    means_, priors_, classes_, xbar_ : class means, priors, labels and prior-weighted mean
    scalings_ : p x L discriminant directions; the within-class covariance of the coordinates is I
    explained_variance_ratio_ : share of the between-class variance along each
    covariance_ : Sigma, p x p, made when asked for
    shrinkage_ : the s that was used, where it is one number
    statistic_ : the raw statistic

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> LinearDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    statistic_: Statistic = field(init=False)
    coef_: NDArray[Any] = field(init=False)
    intercept_: NDArray[Any] = field(init=False)
    means_: NDArray[Any] = field(init=False)
    priors_: NDArray[Any] = field(init=False)
    shrinkage_: float = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = {
        **COMMON,
        "solver": one_of("svd", "lsqr", "eigen"),
        "shrinkage": either(number(0, 1), one_of(None, "auto", "ledoit-wolf", "oas", "nonlinear", "cv", "loo")),
        "n_components": either(none(), integer(1)),
        "rank": either(none(), integer(1)),
    }

    solver: str = "svd"
    shrinkage: Any = None
    priors: Any = None
    n_components: int | None = None
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: Any = None
    _: KW_ONLY
    normalization: Normalization = "mle"
    target: Target = "identity"
    rank: int | None = None
    cv: Any = 10
    selection: Selection = "min"
    predict_method: PredictMethod = "plug-in"

    def recipe(self) -> LdaRecipe:
        """The model that these parameters describe."""
        return recipe_from(LdaRecipe, self)

    def transform(self, X: Any) -> NDArray[Any]:
        """Discriminant coordinates of the rows, n x n_components."""
        self._check_solved()
        return apply_rule(self._coordinates, self.rows_of(X), Output.SCORES)

    @also_of_parts
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n.

        As in scikit-learn, 'svd' centres them at ``xbar_``, the other solvers at zero.
        """
        if len(self._check_solved().classes_) <= 2:
            return super().decision_function(X)
        return apply_rule(self._shown, self.rows_of(X), Output.SCORES)

    def centroid_plane(self) -> CentroidPlane:
        """The sphering of the rows, and the plane of the sphered centroids in which the rule decides."""
        details: LdaDetails = self.details()
        sphered = details.centroids.both[0][:, : len(self.classes_)]
        return centroid_plane(details.sphering, sphered, details.centroids.origin)

    def criterion(self, w: Any) -> Any:
        """Fisher's criterion J(w) = w'Bw / w'Ww with the sums of squares B between and W within the classes.

        One number, or one for each column of w. For two classes it is n_1 n_2 / n times (m_2 - m_1)^2 / (s_1 + s_2),
        with the means and sums of squares of the projections; its maximum is ``scatter_eigenvalues_[0]``.
        """
        details: LdaDetails = self.details()
        directions = np.asarray(w, dtype=np.float64)
        columns = directions[:, None] if directions.ndim == 1 else directions
        if columns.ndim != 2 or len(columns) != len(details.added) or not columns.any(axis=0).all():
            raise ParameterError.bad_value(
                "w", f"of shape {directions.shape}", f"directions of {len(details.added)} numbers, none of them zero"
            )
        found = details.criterion(columns)
        return float(found[0]) if directions.ndim == 1 else found

    def fisher(self) -> FisherDiscriminant:
        """Fisher's direction for two classes, and the Gaussian threshold on the projection."""
        self._check_solved()
        self.check_resumable()
        return fisher_discriminant(self.statistic_, self.classes_)

    @kept_as(Of(Rule, {"K": "K", "p": "p"}))
    def _shown(self) -> Rule:
        details: LdaDetails = self._details
        return details.shown

    @kept_as(Of(LinearRule, {"p": "p"}))
    def _coordinates(self) -> LinearRule:
        details: LdaDetails = self._details
        scalings = details.canonical.scalings[:, : details.limit]
        origin = np.zeros(len(scalings)) if self.solver == "eigen" else details.centroids.origin
        return LinearRule(np.ascontiguousarray(scalings.T), np.zeros(scalings.shape[1]), origin)

    @kept_matrix
    def covariance_(self) -> Floats:
        """Sigma as the rule uses it (before directions without variance are left out)."""
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError(
                "covariance_ is only available with store_covariance=True, or solver 'lsqr' or 'eigen'."
            )
        details: LdaDetails = self._details
        return details.covariance().astype(self._design.dtype, copy=False)

    @kept
    def scalings_(self) -> NDArray[Any]:
        """Discriminant directions, p x L; the within-class covariance of the coordinates is I."""
        return np.asarray(self._details.canonical.scalings.astype(self._design.dtype))

    @kept
    def explained_variance_ratio_(self) -> NDArray[Any]:
        """Share of the between-class variance along each direction."""
        details: LdaDetails = self._details
        return details.canonical.explained[: details.limit].astype(self._design.dtype)

    @property
    def _n_features_out(self) -> int:
        coordinates: LinearRule = self._coordinates
        return len(coordinates.offset)

    @kept
    def scatter_eigenvalues_(self) -> Floats:
        """Eigenvalues of W^-1 B, the sums of squares within and between: Fisher's criterion of each coordinate."""
        eigenvalues: Floats = self._details.scatter_eigenvalues
        return eigenvalues

    @kept
    def canonical_correlations_(self) -> Floats:
        """sqrt(lambda / (1 + lambda)) for the eigenvalues lambda of S^-1 B."""
        eigenvalues: Floats = self._details.scatter_eigenvalues
        return np.sqrt(eigenvalues / (1.0 + eigenvalues))

    @kept
    def wilks_lambda_(self) -> float:
        """det S / det(S + B): 1 when the class means are equal, near 0 when they are far apart."""
        return float(np.prod(1.0 / (1.0 + self._details.scatter_eigenvalues)))

    @kept
    def structure_(self) -> Floats:
        """Correlations within classes of each column with each discriminant coordinate, p x L."""
        from discrim.inference.discriminant import structure_loadings

        pooled, scalings = self._details.pooled(), self._details.canonical.scalings
        return structure_loadings(pooled.times(scalings), pooled.diagonal, scalings)

    def _summarise(self) -> Summary:
        return lda_summary(self, self._details, self._names)


SHRUNKEN = {"shrinkage": "auto", "solver": "lsqr"}
enter(
    Entry("LDA", LinearDiscriminantAnalysis, cost=6, why_not=common_covariance, work=cubic(1e-9)),
    Entry("LDA, shrunken", LinearDiscriminantAnalysis, SHRUNKEN, cost=7, offered=crowded, work=cubic(1e-9)),
)
