"""Linear discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from discrim.errors import CollinearWarning, DataError, ParameterError, name_list, plural, warn
from discrim.inference.summary import Summary
from discrim.models.base import OnePassClassifier, Statistic
from discrim.models.covariance_options import (
    COMMON,
    estimated_covariances,
    fourth_powers,
    needs_plain_covariance,
    one_covariance_option,
    rank_tolerance,
)
from discrim.models.fisher import FisherDiscriminant, fisher_discriminant
from discrim.models.lda_summary import lda_summary
from discrim.models.parameters import Check, either, integer, none, one_of
from discrim.models.priors import log_priors, resolve_priors
from discrim.models.scoring import Output, apply_rule
from discrim.models.tuning import chosen_shrinkage
from discrim.solvers.canonical import Canonical, canonical_directions, full_rule, reduced_rule, uncentred
from discrim.solvers.ledoit_wolf import class_scales, shrunk_within
from discrim.solvers.predictive import PredictMethod, Sizes, check_degrees, debiased_linear, predictive_rule
from discrim.solvers.regularized import Normalization, Target
from discrim.solvers.regularized_search import Selection
from discrim.solvers.rules import LinearRule, QuadraticRule, StudentRule
from discrim.solvers.sphering import Sphering, rounding_noise
from discrim.solvers.within import Within, check_divisors, divisors, pooled_within, weighted_within
from discrim.sources import Rows
from discrim.statistics import Depth
from discrim.statistics.means import grand_mean
from discrim.typing import Floats


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnePassClassifier):  # type: ignore[misc]
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
        standardising; 'oas'; 'nonlinear': analytical nonlinear shrinkage of the pooled eigenvalues; 'cv',
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

    shrinkage_: float
    _shown: LinearRule | StudentRule

    _constraints: ClassVar[dict[str, Check]] = {
        **COMMON,
        "solver": one_of("svd", "lsqr", "eigen"),
        "n_components": either(none(), integer(1)),
        "rank": either(none(), integer(1)),
        "predict_method": one_of("plug-in", "predictive", "debiased"),
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        normalization: Normalization = "mle",
        target: Target = "identity",
        rank: int | None = None,
        cv: Any = 10,
        selection: Selection = "min",
        predict_method: PredictMethod = "plug-in",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.normalization = normalization
        self.target = target
        self.rank = rank
        self.cv = cv
        self.selection = selection
        self.predict_method = predict_method

    def transform(self, X: Any) -> NDArray[Any]:
        """Discriminant coordinates of the rows, n x n_components."""
        self._check_solved()
        rows = self._open(X, None, None, reset=False, labelled=False)
        scalings = self._canonical.scalings[:, : self._n_features_out]
        origin = np.zeros(len(scalings)) if self.solver == "eigen" else self._canonical.origin
        coordinates = LinearRule(np.ascontiguousarray(scalings.T), np.zeros(scalings.shape[1]), origin)
        return apply_rule(coordinates, rows, Output.SCORES)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n.

        As in scikit-learn, 'svd' centres them at ``xbar_``, the other solvers at zero.
        """
        if len(self._check_solved().classes_) <= 2:
            return super().decision_function(X)
        return apply_rule(self._shown, self._open(X, None, None, reset=False, labelled=False), Output.SCORES)

    def fisher(self) -> FisherDiscriminant:
        """Fisher's direction for two classes, and the Gaussian threshold on the projection."""
        self._check_solved()
        return fisher_discriminant(self.statistic_, self.classes_)

    @property
    def covariance_(self) -> Floats:
        """Sigma as the rule uses it (before directions without variance are left out)."""
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True, or solver 'lsqr' or 'eigen'.")
        self._check_solved()
        within, added = self._within
        sigma = within.dense().copy() * self._kept
        sigma.flat[:: len(sigma) + 1] += added
        return sigma.astype(self._design.dtype, copy=False)

    @property
    def canonical_correlations_(self) -> Floats:
        """sqrt(lambda / (1 + lambda)) for the eigenvalues lambda of S^-1 B."""
        eigenvalues = self._scatter_eigenvalues
        return np.sqrt(eigenvalues / (1.0 + eigenvalues))

    @property
    def wilks_lambda_(self) -> float:
        """det S / det(S + B): 1 when the class means are equal, near 0 when they are far apart."""
        return float(np.prod(1.0 / (1.0 + self._scatter_eigenvalues)))

    @property
    def structure_(self) -> Floats:
        """Correlations within classes of each column with each discriminant coordinate, p x L."""
        from discrim.inference.discriminant import structure_loadings

        self._check_solved()
        pooled = self._pooled()
        return structure_loadings(pooled.times(self._canonical.scalings), pooled.diagonal, self._canonical.scalings)

    def _depth(self, classes: int | None = None) -> Depth:
        # Two matrices cost no more than one, and Fisher's threshold wants each class's variance.
        few = classes is not None and classes <= 2
        full = self._weighs_classes() or few or self.shrinkage in ("auto", "ledoit-wolf", "oas")
        return Depth.FULL if full else Depth.POOLED

    def _weighs_classes(self) -> bool:
        """Is Sigma the mean of the class covariances by given priors?"""
        return self.solver != "svd" and self.priors is not None

    def _needs_rows(self) -> bool:
        return self.covariance_estimator is not None or self.shrinkage in ("auto", "ledoit-wolf", "cv", "loo")

    def _solve(self, statistic: Statistic, rows: Rows | None, *, reread: bool) -> LinearRule | StudentRule:
        one_covariance_option(self.shrinkage, self.covariance_estimator)
        self._check_predict_method()
        classes, p = statistic.mean.shape
        if statistic.rows.sum() <= (statistic.rows > 0).sum():
            found = f"{plural(int(statistic.rows.sum()), 'sample')} of {plural(classes, 'class', 'classes')}"
            raise DataError(f"The number of samples must be more than the number of classes; found {found}.")
        unbiased = "unbiased" if self.shrinkage == "nonlinear" else self.normalization
        check_divisors(statistic, unbiased, pooled=True)
        priors = resolve_priors(self.priors, statistic.weight)
        most = min(classes - 1, p)
        self._check_components(most)
        mean = np.where(statistic.weight[:, None] > 0, statistic.mean, _overall_mean(statistic))
        sphering = self._sphering(statistic, rows, priors, reread=reread)
        canonical = canonical_directions(sphering, mean, priors, statistic.total_weight)
        self._warn_of_collinear(sphering, statistic)
        logs = log_priors(priors)
        if self.rank is None:
            rule = full_rule(sphering, mean, logs, canonical.origin)
        else:
            rule = reduced_rule(canonical, logs, self.rank)
        if self.predict_method == "debiased":
            rule = debiased_linear(rule, self._sizes(statistic, sphering.rank), logs, sphering.rank)
        centred = self.solver == "svd" or self.rank is not None or self.predict_method != "plug-in"
        self._set_attributes(rule if centred else uncentred(rule, sphering), canonical, mean, priors, most)
        if self.predict_method != "predictive":
            return rule
        sizes, rank = self._sizes(statistic, sphering.rank), sphering.rank
        logs = np.where(statistic.weight > 0, logs, -np.inf)
        factor = np.repeat(sphering.backward(np.eye(rank)).T[None], classes, axis=0)
        plug_in = QuadraticRule(mean, factor, logs - 0.5 * sphering.log_det, triangular=False)
        self._shown = predictive_rule(plug_in, sizes, logs, rank)
        return self._shown

    def _sizes(self, statistic: Statistic, rank: int) -> Sizes:
        """Of the pooled scatter, the same for every class; a class without rows has the mean's weight."""
        weight = statistic.weight
        degrees = divisors(weight, "unbiased")[1]
        check_degrees(self.predict_method, np.array([degrees]), rank, ["the classes together have"])
        one = np.ones(len(weight))
        return Sizes(np.where(weight > 0, weight, 1.0), degrees * one, divisors(weight, self.normalization)[1] * one)

    def _check_predict_method(self) -> None:
        if self.predict_method == "plug-in":
            return
        needs_plain_covariance(self.predict_method, self.shrinkage, self.covariance_estimator, self.rank)
        if self._weighs_classes():
            raise ParameterError(
                f"predict_method='{self.predict_method}' needs the pooled covariance, and solver='{self.solver}' "
                "weighs the classes by the given priors. Use solver='svd'."
            )

    def _sphering(self, statistic: Statistic, rows: Rows | None, priors: Floats, *, reread: bool) -> Sphering:
        noise = rounding_noise(statistic.mean, self._eps)
        self._kept, added = 1.0, np.zeros(statistic.n_features)
        shrinkage = chosen_shrinkage(self, rows, alpha=0.0)
        if self.covariance_estimator is not None:
            matrices = estimated_covariances(self.covariance_estimator, rows, len(priors))
            within = Within(np.einsum("k,kij->ij", priors, np.stack(matrices)), None, noise, self._eps)
        elif shrinkage in ("auto", "ledoit-wolf", "oas"):
            scales = class_scales(statistic, standardised=shrinkage == "auto")
            fourth = None if shrinkage == "oas" else fourth_powers(rows, statistic.mean, scales)
            within, added = shrunk_within(statistic, priors, scales, fourth, noise, self._eps)
        elif self._weighs_classes():
            within = weighted_within(statistic, priors, self.normalization, noise, self._eps)
        else:
            within = pooled_within(statistic, self.normalization, noise, self._eps)
        if isinstance(shrinkage, float) and shrinkage > 0:
            self._kept = 1.0 - shrinkage
            variances = within.diagonal
            added = shrinkage * (np.full_like(variances, variances.mean()) if self.target == "identity" else variances)
        self._within = (within, added)
        if shrinkage == "nonlinear":
            degrees = divisors(statistic.weight, "unbiased")[1]
            return pooled_within(statistic, "unbiased", noise, self._eps).sphere_nonlinear(degrees)
        if added.any():
            return within.sphere_added(self._kept, added, reread=reread)
        return within.sphere(tol=rank_tolerance(self.tol), reread=reread, raw=self.solver == "lsqr")

    def _set_attributes(self, rule: LinearRule, canonical: Canonical, mean: Floats, priors: Floats, most: int) -> None:
        dtype = self._design.dtype
        self._canonical, self._shown = canonical, rule
        self.means_, self.priors_ = mean.astype(dtype), priors.astype(dtype)
        self.xbar_ = canonical.origin.astype(dtype)
        self.scalings_ = canonical.scalings.astype(dtype)
        limit = most if self.n_components is None else self.n_components
        self.explained_variance_ratio_ = canonical.explained[:limit].astype(dtype)
        self._n_features_out = min(limit, canonical.scalings.shape[1])
        coef, intercept = rule.coef, rule.intercept
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef.astype(dtype), intercept.astype(dtype)

    def _check_components(self, most: int) -> None:
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}; "
                f"it is {self.n_components}."
            )
        if self.rank is not None and self.rank > max(most, 1):
            raise ParameterError.bad_value("rank", self.rank, f"at most min(n_features, n_classes - 1) = {most}")

    def _warn_of_collinear(self, sphering: Sphering, statistic: Statistic) -> None:
        # With fewer rows the columns depend on each other in any case: nothing to be told.
        enough = statistic.rows.sum() - (statistic.rows > 0).sum() >= statistic.n_features
        if len(sphering.dependent) and enough:
            names = [self._names[j] for j in sphering.dependent]
            warn(
                f"Columns {name_list(names)} have no variance within the classes beyond that of the other columns; "
                "they are handled by the pseudo-inverse.",
                CollinearWarning,
            )

    @property
    def _scatter_eigenvalues(self) -> Floats:
        """Eigenvalues of S^-1 B with sums of squares S and B, weighted by the classes' shares."""
        self._check_solved()
        weight = self.statistic_.weight
        sphering = self._pooled().sphere(tol=0.0, reread=False)
        canonical = canonical_directions(sphering, self.statistic_.mean, weight / weight.sum(), weight.sum())
        divisor = divisors(weight, self.normalization)[1]
        return np.asarray(canonical.eigenvalues * max(len(weight) - 1, 1) / divisor)

    def _pooled(self) -> Within:
        noise = rounding_noise(self.statistic_.mean, self._eps)
        return pooled_within(self.statistic_, self.normalization, noise, self._eps)

    def _pooled_squares(self) -> Floats:
        """Diagonal of the pooled scatter S."""
        return self._pooled().diagonal * divisors(self.statistic_.weight, self.normalization)[1]

    def _summarise(self) -> Summary:
        return lda_summary(self)


def _overall_mean(statistic: Statistic) -> Floats:
    return grand_mean(statistic.weight, statistic.mean)
