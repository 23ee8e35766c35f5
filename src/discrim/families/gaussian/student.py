"""Rules that average Gaussian classes over the posterior of their covariances, or that are freed of their bias.

A Gaussian class whose covariance is known to an inverse-Wishart only is predicted by a Student-t. From the estimates of
LDA and QDA, with S of m degrees of freedom (S_k and n_k - 1, or the pooled S and n - K) and n_k rows in class k, follow

- predictive (Geisser): the Student-t with df = m - p + 1, location mu_k and scale S (1 + 1/n_k)/df, which is the
  mean of N(mu, Sigma) over the posterior under the prior |Sigma|^(-(p + 1)/2);
- debiased: the unbiased estimate of log N(x; mu_k, Sigma_k),

      -[(m - p - 1) (x - mu_k)'S^-1 (x - mu_k) - p/n_k]/2 - [log|S| - p log 2 - sum_j digamma((m + 1 - j)/2)]/2,

  since E S^-1 = Sigma^-1/(m - p - 1), the mean of n_k rows adds p/n_k to the expected distance, and
  E log|S| = log|Sigma| + p log 2 + sum_j digamma((m + 1 - j)/2), j = 1, ..., p.

Rules come in as distances q by Sigma = S/divisor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from discrim.errors import DataError
from discrim.families.rule import LinearRule, LowRankRule, ProjectedRule, QuadraticRule, StudentRule
from discrim.typing import Floats

GaussianRule = QuadraticRule | ProjectedRule | LowRankRule
PredictMethod = Literal["plug-in", "predictive", "debiased"]


class Predictive(NamedTuple):
    """log f_k(x) = constant_k - log|A_k|/2 - power_k log(1 + rate_k (x - mu_k)'A_k^-1 (x - mu_k))."""

    constant: Floats
    power: Floats
    rate: Floats


def predictive(weight: Floats, df: Floats, p: int) -> Predictive:
    """The Student-t of ``df`` degrees, location mu_k and scale A_k (1 + 1/n_k)/df.

    That is the mean of N(mu, Sigma) over Sigma ~ IW(df + p - 1, A_k) and mu ~ N(mu_k, Sigma/n_k). Every Gamma
    function is kept: df differs from class to class where their sizes do.
    """
    spread = 1.0 + 1.0 / np.where(weight > 0, weight, 1.0)
    constant = gammaln((df + p) / 2) - gammaln(df / 2) - 0.5 * p * np.log(np.pi * spread)
    return Predictive(constant, (df + p) / 2, 1.0 / spread)


def student_rule(inner: GaussianRule, terms: Predictive, logs: Floats) -> StudentRule:
    """The rule from one whose distances are those of A_k and whose offsets are -log|A_k|/2."""
    half_log_dets = inner.inner.offset if isinstance(inner, ProjectedRule) else inner.offset
    # What a class without rows would have as a density is not asked.
    present = ~np.isneginf(logs)
    offset = np.where(present, terms.constant + np.where(present, half_log_dets, 0.0) + logs, -np.inf)
    return StudentRule(distances_only(inner), offset, terms.power, terms.rate)


def shared_by(inner: GaussianRule, mean: Floats) -> GaussianRule:
    """A rule of one class as that of all classes with these means: they have the same matrix."""
    size = len(mean)
    if isinstance(inner, ProjectedRule):
        within = shared_by(inner.inner, (mean - inner.origin) @ inner.basis)
        assert isinstance(within, QuadraticRule)
        return replace(inner, inner=within, residual_precision=np.repeat(inner.residual_precision, size))
    offset = np.repeat(inner.offset, size)
    if isinstance(inner, LowRankRule):
        roots = np.repeat(inner.root, size, axis=0)
        return LowRankRule(mean, roots, inner.directions * size, inner.gain * size, offset)
    return QuadraticRule(mean, np.repeat(inner.factor, size, axis=0), offset, inner.triangular)


def with_columns(inner: GaussianRule, mean: Floats, alive: NDArray[np.bool_]) -> GaussianRule:
    """A rule of some columns as one of all: the others say nothing."""
    if alive.all():
        return inner
    if isinstance(inner, LowRankRule):
        root = np.full(mean.shape, np.inf)
        root[:, alive] = inner.root
        wider = [np.zeros((len(alive), d.shape[1])) for d in inner.directions]
        for full, some in zip(wider, inner.directions, strict=True):
            full[alive] = some
        return replace(inner, mean=mean, root=root, directions=tuple(wider))
    assert isinstance(inner, QuadraticRule)
    factor = np.zeros((*inner.factor.shape[:2], len(alive)))
    factor[:, :, alive] = inner.factor
    return QuadraticRule(mean, factor, inner.offset, triangular=False)


def distances_only(inner: GaussianRule) -> GaussianRule:
    """The same rule with offsets of zero, so that its scores are -q/2 to the last digit."""
    if isinstance(inner, ProjectedRule):
        return replace(inner, inner=replace(inner.inner, offset=np.zeros_like(inner.inner.offset)))
    return replace(inner, offset=np.zeros_like(inner.offset))


def stretched(inner: GaussianRule, by: Floats) -> GaussianRule:
    """The same rule with the distances of each class times a number."""
    root = np.sqrt(by)
    if isinstance(inner, ProjectedRule):
        within = stretched(inner.inner, by)
        assert isinstance(within, QuadraticRule)
        return replace(inner, inner=within, residual_precision=by * inner.residual_precision)
    if isinstance(inner, LowRankRule):
        return replace(inner, root=inner.root / root[:, None])
    return replace(inner, factor=inner.factor * root[:, None, None])


class Sizes(NamedTuple):
    """Class weights n_k, degrees of freedom m_k and divisors of the scatter, each K numbers."""

    weight: Floats
    degrees: Floats
    divisor: Floats


def predictive_rule(plug_in: QuadraticRule, sizes: Sizes, logs: Floats, rank: int) -> StudentRule:
    """Geisser's rule from the plug-in rule of ``rank`` columns and its log priors."""
    half_log_dets = plug_in.offset - _known(logs) - 0.5 * rank * np.log(sizes.divisor)
    by_scatter = QuadraticRule(plug_in.mean, plug_in.factor, half_log_dets, plug_in.triangular)
    rule = student_rule(by_scatter, predictive(sizes.weight, sizes.degrees - rank + 1.0, rank), logs)
    return StudentRule(rule.inner, rule.offset, rule.power, rule.rate / sizes.divisor)


def debiased_rule(plug_in: QuadraticRule, sizes: Sizes) -> QuadraticRule:
    """The unbiased estimate of the log densities, each class with a scatter of its own."""
    p, m = plug_in.mean.shape[1], sizes.degrees
    expected = digamma(0.5 * (m[:, None] - np.arange(p))).sum(axis=1) + p * np.log(2.0 / sizes.divisor)
    offset = plug_in.offset + 0.5 * (expected + p / sizes.weight)
    factor = plug_in.factor * np.sqrt((m - p - 1.0) / sizes.divisor)[:, None, None]
    return QuadraticRule(plug_in.mean, factor, offset, plug_in.triangular)


def debiased_linear(plug_in: LinearRule, sizes: Sizes, logs: Floats, rank: int) -> LinearRule:
    """The same with one scatter; what is common to the classes is left out."""
    shrunk = float((sizes.degrees[0] - rank - 1.0) / sizes.divisor[0])
    offset = shrunk * (plug_in.offset - _known(logs)) + 0.5 * rank / sizes.weight + _known(logs)
    return LinearRule(shrunk * plug_in.coef, offset, plug_in.origin)


def check_degrees(method: PredictMethod, m: Floats, p: int, names: list[str]) -> None:
    """Refuse scatters of too few degrees of freedom for a density, or for an expectation, to exist."""
    least = p - 1 if method == "predictive" else p + 1
    if (m > least).all():
        return
    k = int(np.argmin(m))
    raise DataError(
        f"predict_method='{method}' needs more than {least} degrees of freedom for {p} columns; {names[k]} {m[k]:g}. "
        "Use fewer columns, predict_method='plug-in', or a Bayesian discriminant with a proper prior."
    )


def _known(logs: Floats) -> Floats:
    """Log priors, zero for classes that cannot occur: these have -inf in the offset of the plug-in rule already."""
    return np.where(np.isneginf(logs), 0.0, logs)
