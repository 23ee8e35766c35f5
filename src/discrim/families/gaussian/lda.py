"""Linear discriminant analysis: one covariance matrix for all classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discrim.errors import CollinearWarning, DataError, ParameterError, name_list, plural
from discrim.families.gaussian.covariance import (
    Sphering,
    Within,
    check_divisors,
    divisors,
    pooled_within,
    rounding_noise,
    weighted_within,
)
from discrim.families.gaussian.grid import DEFAULT_VALUES, GaussianGrid
from discrim.families.gaussian.ledoit_wolf import (
    class_scales,
    estimated_covariances,
    fourth_powers,
    shrunk_within,
)
from discrim.families.gaussian.recipe import LEAST_RIDGE, CovarianceRecipe, Statistic, rank_tolerance, varying_columns
from discrim.families.recipe import LeftOut, Passes, Remark, Shape, Solved
from discrim.families.rule import LinearRule, QuadraticRule, Rule, StudentRule
from discrim.statistics import Depth
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class LdaRecipe(CovarianceRecipe):
    """Sigma = S / n or S / (n - K), shrunk where asked; the largest mu_k'Sigma^-1 x - mu_k'Sigma^-1 mu_k/2 + log pi_k.

    Two matrices cost no more than one, and Fisher's threshold wants each class's variance, so that two classes have a
    scatter each.
    """

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "equal covariances")
    full_up_to: ClassVar[int] = 2

    n_components: int | None = None
    rank: int | None = None

    def depth(self) -> Depth:
        full = self.weighs_classes or self.shrinkage in ("auto", "ledoit-wolf", "oas")
        return Depth.FULL if full else Depth.POOLED

    @property
    def weighs_classes(self) -> bool:
        """Is Sigma the mean of the class covariances by given priors?"""
        return self.solver != "svd" and self.priors is not None

    @property
    def is_plain(self) -> bool:
        return super().is_plain and self.rank is None and not self.weighs_classes

    def grid(self, statistic: Statistic) -> GaussianGrid:  # noqa: ARG002 - the same for all
        priors = None if self.priors is None else np.asarray(self.priors, dtype=np.float64)
        gammas = 1.0 - DEFAULT_VALUES[::-1]
        return GaussianGrid(np.zeros(1), gammas, self.target, self.normalization, priors, "shrinkage")

    @property
    def rotation_invariant(self) -> bool:
        setting = self.setting
        return setting is not None and setting[1] < 1 - LEAST_RIDGE and self.target == "identity"

    @property
    def setting(self) -> tuple[float, float] | None:
        """The (alpha, gamma) of regularised discriminant analysis that this is, or None if it is none."""
        if self.predict_method != "plug-in" or self.weighs_classes or self.rank is not None:
            return None
        return None if self.covariance_estimator is not None or isinstance(self.shrinkage, str) else (0.0, self.kept)

    def check(self, statistic: Statistic) -> None:
        self.check_options(self.rank)
        if self.predict_method != "plug-in" and self.weighs_classes:
            raise ParameterError(
                f"predict_method='{self.predict_method}' needs the pooled covariance, and solver='{self.solver}' "
                "weighs the classes by the given priors. Use solver='svd'."
            )
        classes = len(statistic.weight)
        if statistic.rows.sum() <= (statistic.rows > 0).sum():
            found = f"{plural(int(statistic.rows.sum()), 'sample')} of {plural(classes, 'class', 'classes')}"
            raise DataError(f"The number of samples must be more than the number of classes; found {found}.")
        check_divisors(statistic, "unbiased" if self.shrinkage == "nonlinear" else self.normalization, pooled=True)
        super().check(statistic)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:
        self.check(statistic)
        weight, classes = statistic.weight, len(statistic.weight)
        priors, remarks = self.class_priors(weight)
        most = min(classes - 1, shape.n_columns)
        self._check_components(most)
        mean = statistic.mean if (weight > 0).all() else _filled(statistic)
        within, kept, added = self._covariance(statistic, shape, passes, priors)
        sphering = self._sphered(statistic, within, kept, added, reread=reread)
        canonical = canonical_directions(sphering, mean, priors, float(weight.sum()))
        with np.errstate(divide="ignore"):
            logs = np.log(priors)
        if self.rank is None:
            linear = full_rule(sphering, mean, logs, canonical.origin)
        else:
            linear = reduced_rule(canonical, logs, self.rank)
        if self.predict_method == "debiased":
            from discrim.families.gaussian.predictive import debiased_linear

            linear = debiased_linear(linear, self._sizes(weight, sphering.rank), logs, sphering.rank)
        centred = self.solver == "svd" or self.rank is not None or self.predict_method != "plug-in"
        shown = linear if centred else uncentred(linear, sphering)
        attributes = self._attributes(shown, canonical, mean, priors, most, shape)
        rule: Rule = linear
        if self.predict_method == "predictive":
            rule = self._predictive(sphering, mean, statistic, logs)
        details = LdaDetails(
            self.normalization, shape.eps, statistic, within, kept, added, canonical,
            rule if self.predict_method == "predictive" else shown,
        )  # fmt: skip
        remarks += _collinear(sphering, statistic, shape)
        return Solved(rule, statistic, attributes, remarks=remarks, details=details)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:
        from discrim.families.gaussian.held_out import held_out_lda

        return held_out_lda(self, solved, shape)

    def rule_size(self, solved: Solved) -> float:
        return float((len(solved.statistic.classes) - 1) * (varying_columns(solved.statistic) + 1))

    def _covariance(
        self, statistic: Statistic, shape: Shape, passes: Passes | None, priors: Floats
    ) -> tuple[Within, float, Floats]:
        """Sigma = kept * within + diag(added)."""
        noise, eps, shrinkage = rounding_noise(statistic.mean, shape.eps), shape.eps, self.shrinkage
        added, kept = np.zeros(shape.width), 1.0
        if self.covariance_estimator is not None:
            each = estimated_covariances(self.covariance_estimator, passes, len(priors))
            return Within(np.einsum("k,kij->ij", priors, np.stack(each)), None, noise, eps), kept, added
        if shrinkage in ("auto", "ledoit-wolf", "oas"):
            scales = class_scales(statistic, standardised=shrinkage == "auto")
            fourth = None if shrinkage == "oas" else fourth_powers(passes, statistic, scales)
            within, added = shrunk_within(statistic, priors, scales, fourth, noise, eps)
        elif self.weighs_classes:
            within = weighted_within(statistic, priors, self.normalization, noise, eps)
        else:
            within = pooled_within(statistic, self.normalization, noise, eps)
        if self.kept < 1:
            kept, variances = self.kept, within.diagonal
            even = np.full_like(variances, variances.sum() / shape.n_columns)
            added = (1.0 - kept) * (even if self.target == "identity" else variances)
        return within, kept, added

    def _sphered(self, statistic: Statistic, within: Within, kept: float, added: Floats, *, reread: bool) -> Sphering:
        reread = reread and self.covariance_estimator is None
        if self.shrinkage == "nonlinear":
            degrees = divisors(statistic.weight, "unbiased")[1]
            return pooled_within(statistic, "unbiased", within.noise, within.eps).sphere_nonlinear(degrees)
        if added.any():
            return within.sphere_added(kept, added, reread=reread)
        return within.sphere(tol=rank_tolerance(self.tol), reread=reread, raw=self.solver == "lsqr")

    def _predictive(self, sphering: Sphering, mean: Floats, statistic: Statistic, logs: Floats) -> StudentRule:
        """Geisser's predictive density: a Student-t whose boundaries bend where classes have unequal sizes."""
        from discrim.families.gaussian.predictive import predictive_rule

        sizes, rank = self._sizes(statistic.weight, sphering.rank), sphering.rank
        logs = np.where(statistic.weight > 0, logs, -np.inf)
        factor = np.repeat(sphering.backward(np.eye(rank)).T[None], len(mean), axis=0)
        plug_in = QuadraticRule(mean, factor, logs - 0.5 * sphering.log_det, triangular=False)
        return predictive_rule(plug_in, sizes, logs, rank)

    def _sizes(self, weight: Floats, rank: int) -> Any:
        """Of the pooled scatter, the same for every class; a class without rows has the mean's weight."""
        from discrim.families.gaussian.predictive import Sizes, check_degrees

        degrees = divisors(weight, "unbiased")[1]
        check_degrees(self.predict_method, np.array([degrees]), rank, ["the classes together have"])
        one = np.ones(len(weight))
        return Sizes(np.where(weight > 0, weight, 1.0), degrees * one, divisors(weight, self.normalization)[1] * one)

    def _attributes(
        self, rule: LinearRule, canonical: Canonical, mean: Floats, priors: Floats, most: int, shape: Shape
    ) -> dict[str, Any]:
        dtype = shape.columns.dtype
        limit = most if self.n_components is None else self.n_components
        coef, intercept = rule.coef, rule.offset - rule.coef @ rule.origin
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        given = self.shrinkage is not None and not isinstance(self.shrinkage, str)
        return {
            "coef_": coef.astype(dtype),
            "intercept_": intercept.astype(dtype),
            "means_": mean.astype(dtype),
            "priors_": priors.astype(dtype),
            "xbar_": canonical.origin.astype(dtype),
            "scalings_": canonical.scalings.astype(dtype),
            "explained_variance_ratio_": canonical.explained[:limit].astype(dtype),
            "_n_features_out": min(limit, canonical.scalings.shape[1]),
            **({"shrinkage_": float(self.shrinkage)} if given else {}),
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
    """What further attributes are made from: Sigma = kept * within + diag(added), the directions, the rule as shown."""

    normalization: str
    eps: float
    statistic: Statistic
    within: Within
    kept: float
    added: Floats
    canonical: Canonical
    shown: Rule

    def covariance(self) -> Floats:
        """Sigma as the rule uses it (before directions without variance are left out)."""
        sigma = self.within.dense().copy() * self.kept
        sigma.flat[:: len(sigma) + 1] += self.added
        return sigma

    def pooled(self) -> Within:
        """Sigma without shrinkage."""
        noise = rounding_noise(self.statistic.mean, self.eps)
        return pooled_within(self.statistic, self.normalization, noise, self.eps)

    def pooled_squares(self) -> Floats:
        """Diagonal of the pooled scatter S."""
        return self.pooled().diagonal * divisors(self.statistic.weight, self.normalization)[1]

    def scatter_eigenvalues(self) -> Floats:
        """Eigenvalues of S^-1 B with sums of squares S and B, weighted by the classes' shares."""
        weight = self.statistic.weight
        sphering = self.pooled().sphere(tol=0.0, reread=False)
        canonical = canonical_directions(sphering, self.statistic.mean, weight / weight.sum(), weight.sum())
        divisor = divisors(weight, self.normalization)[1]
        return np.asarray(canonical.eigenvalues * max(len(weight) - 1, 1) / divisor)


def _filled(statistic: Statistic) -> Floats:
    """Class means; a class without rows has the mean of all."""
    return np.where(statistic.weight[:, None] > 0, statistic.mean, grand_mean(statistic.weight, statistic.mean))


def _collinear(sphering: Sphering, statistic: Statistic, shape: Shape) -> tuple[Remark, ...]:
    # With fewer rows the columns depend on each other in any case: there is nothing to report.
    enough = statistic.rows.sum() - (statistic.rows > 0).sum() >= statistic.mean.shape[1]
    if not len(sphering.dependent) or not enough:
        return ()
    names = shape.columns.names_out
    text = (
        f"Columns {name_list(names[j] for j in sphering.dependent)} have no variance within the classes beyond that of "
        "the other columns; they are handled by the pseudo-inverse."
    )
    return (Remark(text, CollinearWarning),)


@dataclass(frozen=True)
class Canonical:
    """The discriminant coordinates (x - origin)'scalings, most telling first.

    ``eigenvalues`` are those of W^-1 B with B = sum_k n_k (mu_k - mu)(mu_k - mu)' / divisor and
    W = Sigma; ``coordinates`` are the centroids in these coordinates (K x L).
    """

    origin: Floats
    scalings: Floats
    eigenvalues: Floats
    coordinates: Floats

    @property
    def explained(self) -> Floats:
        """Share of the between-class variance along each direction."""
        total = self.eigenvalues.sum()
        return self.eigenvalues / total if total > 0 else np.zeros_like(self.eigenvalues)


def canonical_directions(sphering: Sphering, mean: Floats, priors: Floats, weight: float) -> Canonical:
    """SVD of the centroids, sphered and weighted by the priors: B is a sum of squares throughout.

    Cost: p^2 K for the sphering and p K^2 for the SVD.
    """
    classes, p = mean.shape
    origin = priors @ mean
    centred = (mean - origin).T
    sphered = sphering.forward(centred)
    spread = np.sqrt(weight * priors / max(classes - 1, 1))
    left, values, _ = np.linalg.svd(sphered * spread, full_matrices=False)
    most = min(classes - 1, p, sphering.rank)
    # Centroids that differ by the rounding of their means only are equal.
    rounding = sphering.forward(8.0 * np.finfo(float).eps * np.abs(mean).max(axis=0)[:, None])
    values[values <= np.linalg.norm(rounding) * spread.max()] = 0.0
    kept = int((values[:most] > 1e-10 * values[:1].max(initial=0.0)).sum())
    scalings = sphering.backward(left[:, :kept])
    signs = _signs(scalings)
    eigenvalues = np.zeros(min(classes - 1, p))
    eigenvalues[: min(most, len(values))] = values[:most] ** 2
    coordinates = (left[:, :kept].T @ sphered).T * signs
    return Canonical(origin, scalings * signs, eigenvalues, coordinates)


def full_rule(sphering: Sphering, mean: Floats, log_priors: Floats, origin: Floats) -> LinearRule:
    """The Bayes rule: d_k'Sigma^-1 (x - mu) - d_k'Sigma^-1 d_k / 2 + log pi_k with d_k = mu_k - mu."""
    sphered = sphering.forward((mean - origin).T)
    coef = sphering.backward(sphered).T
    offset = log_priors - 0.5 * np.einsum("ik,ik->k", sphered, sphered)
    return LinearRule(np.ascontiguousarray(coef), offset, origin)


def uncentred(rule: LinearRule, sphering: Sphering) -> LinearRule:
    """The same rule with x'Sigma^-1 mu - mu'Sigma^-1 mu / 2 added to every score, so that coef_k = Sigma^-1 mu_k."""
    sphered = sphering.forward(rule.origin[:, None])
    added = sphering.backward(sphered)[:, 0]
    return LinearRule(rule.coef + added, rule.offset + 0.5 * float((sphered**2).sum()), rule.origin)


def reduced_rule(canonical: Canonical, log_priors: Floats, rank: int) -> LinearRule:
    """The same rule in the first ``rank`` discriminant coordinates only."""
    at = canonical.coordinates[:, :rank]
    coef = at @ canonical.scalings[:, :rank].T
    offset = log_priors - 0.5 * np.einsum("kl,kl->k", at, at)
    return LinearRule(np.ascontiguousarray(coef), offset, canonical.origin)


def _signs(scalings: Floats) -> Floats:
    """Each direction is turned so that its largest loading is positive: the same data, the same signs."""
    if not scalings.size:
        return np.ones(scalings.shape[1])
    largest = np.abs(scalings).argmax(axis=0)
    signs = np.sign(scalings[largest, np.arange(scalings.shape[1])])
    return np.asarray(np.where(signs == 0, 1.0, signs))
