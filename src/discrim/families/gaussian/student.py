"""Student rules: what is predicted of a Gaussian class whose covariance is known to an inverse-Wishart only."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discrim.families.rule import LowRankRule, ProjectedRule, QuadraticRule, StudentRule
from discrim.typing import Floats

GaussianRule = QuadraticRule | ProjectedRule | LowRankRule


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
    return StudentRule(_distances_only(inner), offset, terms.power, terms.rate)


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


def _distances_only(inner: GaussianRule) -> GaussianRule:
    """The same rule with offsets of zero, so that its scores are -q/2 to the last digit."""
    if isinstance(inner, ProjectedRule):
        return replace(inner, inner=replace(inner.inner, offset=np.zeros_like(inner.inner.offset)))
    return replace(inner, offset=np.zeros_like(inner.offset))
