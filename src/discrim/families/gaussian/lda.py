"""Linear discriminant analysis: one covariance matrix for all classes; and Fisher's direction between two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from discrim.errors import DataError, ParameterError
from discrim.families.gaussian.covariance import (
    EPS,
    Sphering,
    Within,
    check_divisors,
    each_within,
    pooled_divisor,
    pooled_within,
    rounding_noise,
    weighted_within,
)
from discrim.families.gaussian.quadratic import ClassMatrices, class_rule
from discrim.families.gaussian.recipe import (
    CovarianceRecipe,
    Statistic,
    about_columns,
    rank_tolerance,
    refuse_one_class,
    refuse_single_rows,
    rule_size,
)
from discrim.families.gaussian.shrinkage import class_shrinkage, estimated_covariances
from discrim.families.gaussian.student import Sizes, check_degrees, debiased_linear, distances_only, predictive_rule
from discrim.families.population import GaussianPopulation
from discrim.families.priors import log_priors
from discrim.families.recipe import Passes, Shape, Solved
from discrim.families.rule import LinearRule, QuadraticRule, Rule, StudentRule
from discrim.later import cached_property
from discrim.statistics import Depth
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats

COLLINEAR = (
    "have no variance within the classes beyond that of the other columns; they are handled by the pseudo-inverse."
)


@dataclass(frozen=True, eq=False)
class LdaRecipe(CovarianceRecipe):
    """Sigma = S / n or S / (n - K), shrunk where asked; the largest mu_k'Sigma^-1 x - mu_k'Sigma^-1 mu_k/2 + log pi_k.

    Two matrices cost no more than one, and Fisher's threshold wants each class's variance, so that two classes have a
    scatter each.
    """

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "equal covariances")
    full_up_to: ClassVar[int] = 2
    shared: ClassVar[bool] = True

    n_components: int | None = None
    rank: int | None = None

    def depth(self) -> Depth:
        full = self.weighs_classes or self.shrinkage in ("auto", "ledoit-wolf", "oas")
        return Depth.FULL if full else Depth.POOLED

    def few_rows(self, shape: Shape) -> bool:
        """Up to p + K rows the pooled scatter is singular, or nearly so."""
        classes = 0 if shape.classes is None else len(shape.classes)
        return shape.n_rows is not None and shape.n_rows - classes <= shape.width

    @property
    def weighs_classes(self) -> bool:
        """Is Sigma the mean of the class covariances by given priors?"""
        return self.solver != "svd" and self.priors is not None

    @property
    def only_shrunk(self) -> bool:
        return super().only_shrunk and self.rank is None and not self.weighs_classes

    def check(self, statistic: Statistic) -> None:
        self.check_options(self.rank)
        if self.predict_method != "plug-in" and self.weighs_classes:
            raise ParameterError(
                f"predict_method='{self.predict_method}' needs the pooled covariance, and solver='{self.solver}' "
                "weighs the classes by the given priors. Use solver='svd'."
            )
        refuse_single_rows(statistic)
        check_divisors(statistic, "unbiased" if self.shrinkage == "nonlinear" else self.normalization, pooled=True)
        super().check(statistic)
        refuse_one_class(statistic)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:
        self.check(statistic)
        weight, classes = statistic.weight, len(statistic.weight)
        priors, remarks = self.class_priors(weight)
        most = min(classes - 1, shape.n_columns)
        self._check_components(most)
        mean = statistic.mean if (weight > 0).all() else _filled(statistic)
        within, kept, added = self._covariance(statistic, shape, passes, priors)
        sphering = self._sphered(statistic, within, kept, added, reread=reread)
        centroids = sphered_centroids(sphering, mean, priors, float(weight.sum()))
        logs = log_priors(priors)
        if self.rank is None:
            linear = full_rule(centroids.both, logs, centroids.origin)
        else:
            linear = reduced_rule(centroids, logs, self.rank)
        if self.predict_method == "debiased":
            linear = debiased_linear(linear, self._sizes(weight, sphering.rank), logs, sphering.rank)
        centred = self.solver == "svd" or self.rank is not None or self.predict_method != "plug-in"
        shown = linear if centred else uncentred(linear, centroids)
        attributes = self._attributes(shown, centroids.origin, mean, priors, shape)
        rule: Rule = linear
        if self.predict_method == "predictive":
            rule = self._predictive(sphering, mean, statistic, logs)
        details = LdaDetails(
            self.normalization, statistic, within, sphering, kept, added, centroids,
            rule if self.predict_method == "predictive" else shown,
            most if self.n_components is None else self.n_components,
        )  # fmt: skip
        # With fewer rows the columns depend on each other in any case: there is nothing to report.
        if sphering.rank < shape.width <= statistic.rows.sum() - np.count_nonzero(statistic.rows):
            remarks += about_columns(shape, sphering.dependent, COLLINEAR)
        return Solved(rule, statistic, attributes, remarks=remarks, details=details)

    def rule_size(self, solved: Solved) -> float:
        return rule_size(solved, quadratic=False)

    def population(self, solved: Solved, shape: Shape) -> GaussianPopulation:  # noqa: ARG002 - the same for all
        details: LdaDetails = solved.details
        root = np.sqrt(details.kept) * details.within.root
        if self.shrinkage == "nonlinear":
            root = np.linalg.pinv(details.sphering.backward(np.eye(details.sphering.rank)))
        mean = _filled(solved.statistic)
        deviation = np.broadcast_to(np.sqrt(details.added), mean.shape)
        return GaussianPopulation(details.centroids.priors, mean, lambda _: root, deviation)

    def distances(self, solved: Solved, shape: Shape) -> Rule:
        details: LdaDetails = solved.details
        mean, logs = _filled(solved.statistic), np.zeros(len(solved.statistic.weight))
        if details.within.thin and details.added.any():
            classes = len(mean)
            parts = ClassMatrices(
                mean, np.full(classes, details.kept), np.tile(details.added, (classes, 1)), (details.within,) * classes
            )
            return distances_only(class_rule(solved.statistic, parts, logs, shape.n_columns, reread=False))
        factor = details.sphering.backward(np.eye(details.sphering.rank)).T
        return QuadraticRule(mean, np.repeat(factor[None], len(mean), axis=0), logs, triangular=False)

    def _covariance(
        self, statistic: Statistic, shape: Shape, passes: Passes | None, priors: Floats
    ) -> tuple[Within, float, Floats]:
        """Sigma = kept * within + diag(added)."""
        eps, added, kept = shape.eps, np.zeros(shape.width), 1.0
        if self.covariance_estimator is not None:
            each = estimated_covariances(self.covariance_estimator, passes, len(priors))
            sigma = np.einsum("k,kij->ij", priors, np.stack(each))
            return Within(sigma, rounding_noise(statistic.mean, eps), eps), kept, added
        if self.shrinkage in ("auto", "ledoit-wolf", "oas"):
            intensity, of_classes = class_shrinkage(statistic, self.shrinkage, passes)
            within = weighted_within(statistic, priors * (1.0 - intensity), "mle", eps)
            added = priors @ of_classes
        elif self.weighs_classes:
            within = weighted_within(statistic, priors, self.normalization, eps)
        else:
            within = pooled_within(statistic, self.normalization, eps)
        if self.kept < 1:
            kept, variances = self.kept, within.diagonal
            even = np.full_like(variances, variances.sum() / shape.n_columns)
            added = (1.0 - kept) * (even if self.target == "identity" else variances)
        return within, kept, added

    def _sphered(self, statistic: Statistic, within: Within, kept: float, added: Floats, *, reread: bool) -> Sphering:
        reread = reread and self.covariance_estimator is None
        if self.shrinkage == "nonlinear":
            degrees = pooled_divisor(statistic.weight, "unbiased")
            return pooled_within(statistic, "unbiased", within.eps).sphere_nonlinear(degrees)
        if added.any():
            return within.sphere_added(kept, added, reread=reread)
        return within.sphere(tol=rank_tolerance(self.tol), reread=reread, raw=self.solver == "lsqr")

    def _predictive(self, sphering: Sphering, mean: Floats, statistic: Statistic, logs: Floats) -> StudentRule:
        """Geisser's predictive density: a Student-t whose boundaries bend where classes have unequal sizes."""
        sizes, rank = self._sizes(statistic.weight, sphering.rank), sphering.rank
        logs = np.where(statistic.weight > 0, logs, -np.inf)
        factor = np.repeat(sphering.backward(np.eye(rank)).T[None], len(mean), axis=0)
        plug_in = QuadraticRule(mean, factor, logs - 0.5 * sphering.log_det, triangular=False)
        return predictive_rule(plug_in, sizes, logs, rank)

    def _sizes(self, weight: Floats, rank: int) -> Sizes:
        """Of the pooled scatter, the same for every class; a class without rows has the mean's weight."""
        degrees = pooled_divisor(weight, "unbiased")
        check_degrees(self.predict_method, np.array([degrees]), rank, ["the classes together have"])
        one = np.ones(len(weight))
        return Sizes(np.where(weight > 0, weight, 1.0), degrees * one, pooled_divisor(weight, self.normalization) * one)

    def _attributes(
        self, rule: LinearRule, origin: Floats, mean: Floats, priors: Floats, shape: Shape
    ) -> dict[str, Any]:
        dtype = shape.columns.dtype
        coef, intercept = rule.coef, rule.offset - rule.coef @ rule.origin
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        return {
            "coef_": coef.astype(dtype),
            "intercept_": intercept.astype(dtype),
            "means_": mean.astype(dtype),
            "priors_": priors.astype(dtype),
            "xbar_": origin.astype(dtype),
            **self.chosen_shrinkage(),
        }

    def _check_components(self, most: int) -> None:
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}; "
                f"it is {self.n_components}."
            )
        if self.rank is not None and self.rank > max(most, 1):
            raise ParameterError.bad_value("rank", self.rank, f"at most min(n_features, n_classes - 1) = {most}")


@dataclass(frozen=True, eq=False)
class LdaDetails:
    """What further attributes are made from: Sigma = kept * within + diag(added), the centroids, the rule as shown.

    ``limit`` is the largest number of discriminant coordinates.
    """

    normalization: str
    statistic: Statistic
    within: Within
    sphering: Sphering
    kept: float
    added: Floats
    centroids: Centroids
    shown: Rule
    limit: int

    @property
    def canonical(self) -> Canonical:
        """The discriminant coordinates."""
        return self.centroids.canonical

    def covariance(self) -> Floats:
        """Sigma as the rule uses it (before directions without variance are left out)."""
        return self.within.dense(self.kept, self.added)

    def pooled(self) -> Within:
        """Sigma without shrinkage."""
        return pooled_within(self.statistic, self.normalization, self.within.eps)

    def pooled_squares(self) -> Floats:
        """Diagonal of the pooled scatter S."""
        return self.pooled().diagonal * pooled_divisor(self.statistic.weight, self.normalization)

    def criterion(self, w: Floats) -> Floats:
        """w'Bw / w'Ww for the columns of w, with the sums of squares B and W; infinite where W is zero."""
        statistic = self.statistic
        gaps = (_filled(statistic) - grand_mean(statistic.weight, statistic.mean)) @ w
        divisor = pooled_divisor(statistic.weight, self.normalization)
        inside = np.einsum("jl,jl->l", w, self.pooled().times(w)) * divisor
        with np.errstate(divide="ignore"):
            return np.asarray(statistic.weight @ gaps**2 / inside)

    @cached_property
    def scatter_eigenvalues(self) -> Floats:
        """Eigenvalues of S^-1 B with sums of squares S and B, weighted by the classes' shares."""
        weight = self.statistic.weight
        sphering = self.pooled().sphere(tol=0.0, reread=False)
        centroids = sphered_centroids(sphering, self.statistic.mean, weight / weight.sum(), weight.sum())
        divisor = pooled_divisor(weight, self.normalization)
        return np.asarray(centroids.canonical.eigenvalues * max(len(weight) - 1, 1) / divisor)


def _filled(statistic: Statistic) -> Floats:
    """Class means; a class without rows has the mean of all."""
    return np.where(statistic.weight[:, None] > 0, statistic.mean, grand_mean(statistic.weight, statistic.mean))


@dataclass(frozen=True)
class Canonical:
    """The discriminant coordinates (x - origin)'scalings, those that separate most first.

    ``eigenvalues`` are those of W^-1 B with B = sum_k n_k (mu_k - mu)(mu_k - mu)' / divisor and
    W = Sigma; ``coordinates`` are the centroids in these coordinates (K x L).
    """

    scalings: Floats
    eigenvalues: Floats
    coordinates: Floats

    @property
    def explained(self) -> Floats:
        """Share of the between-class variance along each direction."""
        total = self.eigenvalues.sum()
        return self.eigenvalues / total if total > 0 else np.zeros_like(self.eigenvalues)


@dataclass(frozen=True, eq=False)
class Centroids:
    """Class means about ``origin``, their mean by the ``priors``: what the rule and the coordinates are made of.

    ``both`` are the K means, the origin and the rounding of the means, sphered (r x (K + 2)), and divided by Sigma
    (p x (K + 2)).
    """

    origin: Floats
    priors: Floats
    weight: float
    both: tuple[Floats, Floats]

    @cached_property
    def canonical(self) -> Canonical:
        """SVD of the centroids, sphered and weighted by the priors: B is a sum of squares throughout. Cost p K^2."""
        classes, p = len(self.priors), len(self.origin)
        sphered, solved = (values[:, :classes] for values in self.both)
        spread = np.sqrt(self.weight * self.priors / max(classes - 1, 1))
        left, values, right = np.linalg.svd(sphered * spread, full_matrices=False)
        most = min(classes - 1, p, len(sphered))
        # Centroids that differ by the rounding of their means only are equal.
        values[values <= np.linalg.norm(self.both[0][:, -1]) * spread.max()] = 0.0
        kept = int((values[:most] > 1e-10 * values[:1].max(initial=0.0)).sum())
        scalings = solved @ (spread[:, None] * right[:kept].T / values[:kept])
        signs = _signs(scalings)
        eigenvalues = np.zeros(min(classes - 1, p))
        eigenvalues[: min(most, len(values))] = values[:most] ** 2
        return Canonical(scalings * signs, eigenvalues, (left[:, :kept].T @ sphered).T * signs)


def sphered_centroids(sphering: Sphering, mean: Floats, priors: Floats, weight: float) -> Centroids:
    """The centroids by a sphering of Sigma. Cost: p^2 K."""
    classes, p = mean.shape
    about = np.empty((classes + 2, p))
    origin = about[classes] = priors @ mean
    np.subtract(mean, origin, out=about[:classes])
    about[-1] = 8.0 * EPS * np.abs(mean).max(axis=0)
    return Centroids(origin, priors, weight, sphering.both(about.T))


def full_rule(both: tuple[Floats, Floats], log_priors: Floats, origin: Floats) -> LinearRule:
    """The Bayes rule: d_k'Sigma^-1 (x - mu) - d_k'Sigma^-1 d_k / 2 + log pi_k with d_k = mu_k - mu.

    ``both`` are the d_k, sphered and divided by Sigma, and perhaps more.
    """
    sphered, solved = (values[:, : len(log_priors)] for values in both)
    offset = log_priors - 0.5 * np.einsum("ik,ik->k", sphered, sphered)
    return LinearRule(np.ascontiguousarray(solved.T), offset, origin)


def uncentred(rule: LinearRule, centroids: Centroids) -> LinearRule:
    """The same rule with x'Sigma^-1 mu - mu'Sigma^-1 mu / 2 added to every score, so that coef_k = Sigma^-1 mu_k."""
    sphered, added = (values[:, -2] for values in centroids.both)
    return LinearRule(rule.coef + added, rule.offset + 0.5 * float(sphered @ sphered), rule.origin)


def reduced_rule(centroids: Centroids, log_priors: Floats, rank: int) -> LinearRule:
    """The same rule in the first ``rank`` discriminant coordinates only."""
    canonical = centroids.canonical
    at = canonical.coordinates[:, :rank]
    coef = at @ canonical.scalings[:, :rank].T
    offset = log_priors - 0.5 * np.einsum("kl,kl->k", at, at)
    return LinearRule(np.ascontiguousarray(coef), offset, centroids.origin)


def _signs(scalings: Floats) -> Floats:
    """Each direction is turned so that its largest loading is positive: the same data, the same signs."""
    if not scalings.size:
        return np.ones(scalings.shape[1])
    largest = np.abs(scalings).argmax(axis=0)
    signs = np.sign(scalings[largest, np.arange(scalings.shape[1])])
    return np.asarray(np.where(signs == 0, 1.0, signs))


@dataclass(frozen=True)
class FisherDiscriminant:
    """Project rows as X @ direction; above ``threshold`` lies the second class.

    ``direction`` = S^-1 (m_2 - m_1), of length one. On the projection each class is taken as a Gaussian with
    mean ``means[i]`` and variance ``variances[i]`` (divisor n_i - 1; the pooled one where only the pooled
    scatter is known, or a class has a single row or no variance), and the threshold is the one with the fewest
    expected errors, n_1 P(y > t | 1) + n_2 P(y <= t | 2): where n_2 p(y | 2) overtakes n_1 p(y | 1), or infinity
    where no threshold is better than always the first class (+inf) or always the second (-inf).
    """

    direction: Floats
    threshold: float
    means: tuple[float, float]
    variances: tuple[float, float]

    def predict(self, X: Any, classes: NDArray[Any]) -> NDArray[Any]:
        """The second class above the threshold, the first below; always the same one where it is infinite."""
        return np.asarray(classes[(np.asarray(X) @ self.direction > self.threshold).astype(int)])


def fisher_discriminant(statistic: Statistic, classes: NDArray[Any]) -> FisherDiscriminant:
    """Fisher's direction from a statistic of two classes."""
    if len(classes) != 2:
        raise DataError(f"Fisher's direction is for two classes; the model has {len(classes)}.")
    for label, weight in zip(classes, statistic.weight, strict=True):
        if not weight > 0:
            raise DataError(
                f"Fisher's direction compares the means of two classes, and class '{label}' has no rows. Add some, "
                "or leave the class out."
            )
    sphering = pooled_within(statistic, "mle", EPS).sphere(tol=0.0, reread=False)
    gap = (statistic.mean[1] - statistic.mean[0])[:, None]
    w = sphering.both(gap)[1][:, 0]
    if not w.any():
        raise DataError(
            "Fisher's direction does not exist: the means of the two classes are equal, or there is no variance within "
            "the classes where the means differ."
        )
    w /= np.linalg.norm(w)
    low, distance = float(statistic.mean[0] @ w), float(gap[:, 0] @ w)
    variances = _projected_variances(statistic, w)
    share = float(statistic.weight[1] / statistic.total_weight)
    threshold = low + best_threshold(distance, *variances, share)
    return FisherDiscriminant(w, threshold, (low, low + distance), variances)


def _projected_variances(statistic: Statistic, w: Floats) -> tuple[float, float]:
    scatters = each_within(statistic, np.ones(len(statistic.squares)), EPS)
    squares, divisor = np.array([w @ scatter.times(w) for scatter in scatters]), statistic.weight - 1
    if statistic.depth is Depth.FULL and (divisor > 0).all() and squares.min() > 1e-20 * squares.max():
        return float(squares[0] / divisor[0]), float(squares[1] / divisor[1])
    pooled = float(squares.sum() / (statistic.total_weight - 2))
    return pooled, pooled


def best_threshold(distance: float, v1: float, v2: float, share: float) -> float:
    """t with the fewest errors (1 - share) P(Y_1 > t) + share P(Y_2 <= t), Y_1 ~ N(0, v1) and Y_2 ~ N(distance, v2).

    The errors fall with t while the first class is more likely at t, and rise where the second is. So the best t is
    where a y^2 + b y + c, the log of the ratio of the second to the first, turns positive; or, where the second class
    is more likely nowhere, only between two points or only outside of them, possibly at one of the infinite ends.
    Of equal errors the finite threshold is taken.
    """
    with np.errstate(divide="ignore"):
        odds = float(np.log(share) - np.log1p(-share))
    a, b = 0.5 * (1.0 / v1 - 1.0 / v2), distance / v2
    c = -0.5 * distance**2 / v2 + 0.5 * np.log(v1 / v2) + odds
    ends = {np.inf: share, -np.inf: 1.0 - share}
    discriminant = b * b - 4.0 * a * c if np.isfinite(c) else 0.0
    if discriminant > 0:
        # The root at which the ratio rises; written so that equal variances, with a = 0, are nothing special.
        t = float(-2.0 * c / (b + np.sqrt(discriminant)))
        errors = (1.0 - share) * ndtr(-t / np.sqrt(v1)) + share * ndtr((t - distance) / np.sqrt(v2))
        if errors <= min(ends.values()):
            return t
    return min(ends, key=lambda t: ends[t])
