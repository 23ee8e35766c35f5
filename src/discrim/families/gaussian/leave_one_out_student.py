"""Leave-one-out scores of the Bayesian discriminants, in closed form from the moments of all rows.

Rows are in units in which Psi = psi I. Taking row x out of class g, with d = x - mu_g and rho = n_g/(n_g - 1), turns
A = psi I + S into A - rho d d', d into rho d, n_g into n_g - 1 and df into df - 1; with E = d'A^-1 d and f = 1 - rho E

    distance of the own class: rho^2 E/f,   log|A|: + log f,
    distance of another class that shares A: E_k + rho ((x - mu_k)'A^-1 d)^2/f.

Scores are log pi_k + log f_k(x) up to a constant of the row. A class that would vanish scores -inf, and NaN marks
what is singular or has no degrees of freedom without the row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discrim.families.gaussian.leave_one_out import Whitener, rho_of
from discrim.families.gaussian.regularized import Moments
from discrim.families.gaussian.student import predictive
from discrim.typing import Codes, Floats


class FixedPrior(NamedTuple):
    """IW(nu, psi I) in ``n_columns`` columns, of which the rows may have been rotated into fewer."""

    psi: float
    nu: float
    n_columns: int


def separate_scores(x: Floats, codes: Codes, moments: Moments, prior: FixedPrior, logs: Floats) -> Floats:
    """Scores (n, K) with a covariance for each class; ``logs`` row g are the log priors without a row of g.

    O(K p^3 + n K p^2).
    """
    p, weight = prior.n_columns, moments.weight
    rho, df = rho_of(weight), prior.nu + weight - p
    whole, without = predictive(weight, df, p), predictive(weight - 1.0, np.where(df > 1, df - 1.0, np.nan), p)
    scores = np.empty((len(codes), len(weight)))
    for k, (mean, scatter) in enumerate(zip(moments.mean, moments.scatter, strict=True)):
        factor = Whitener(scatter + prior.psi * np.eye(len(scatter)))
        log_det = factor.logdet + _outside(prior, scatter)
        q = np.square(factor(x - mean)).sum(axis=0)
        scores[:, k] = whole.constant[k] - 0.5 * log_det - whole.power[k] * np.log1p(whole.rate[k] * q)
        own = codes == k
        f = factor.remaining(1.0 - rho[k] * q[own])
        held_out = np.log1p(without.rate[k] * rho[k] ** 2 * q[own] / f)
        scores[own, k] = without.constant[k] - 0.5 * (log_det + np.log(f)) - without.power[k] * held_out
    return _with_priors(scores, logs[codes])


def shared_scores(x: Floats, codes: Codes, moments: Moments, prior: FixedPrior, logs: Floats) -> Floats:
    """The same with one covariance for all classes, whose ``moments.scatter`` is (p, p). O(p^3 + n p (p + K))."""
    p, weight, row = prior.n_columns, moments.weight, np.arange(len(codes))
    rho = rho_of(weight)[codes]
    # The only row of a class takes the class with it: n - K stays.
    df = prior.nu + (weight - 1.0).sum() - p + np.where(weight == 1.0, 1.0, 0.0)[codes]
    factor = Whitener(moments.scatter + prior.psi * np.eye(len(moments.scatter)))
    y = factor(x - moments.mean[codes])
    centroids = factor(moments.mean - moments.mean.mean(axis=0))
    gaps = np.square(centroids[:, :, None] - centroids[:, None, :]).sum(axis=0)
    along = y.T @ centroids
    along = along[row, codes][:, None] - along
    own = np.square(y).sum(axis=0)
    f = factor.remaining(1.0 - rho * own)
    distances = own[:, None] + 2.0 * along + gaps[codes]
    distances += (rho / f)[:, None] * np.square(own[:, None] + along)
    distances[row, codes] = rho**2 * own / f
    left = np.repeat(weight[None], len(codes), axis=0)
    left[row, codes] -= 1.0
    terms = predictive(left, np.where(df > 0, df, np.nan)[:, None], p)
    scores = terms.constant - terms.power * np.log1p(terms.rate * distances)
    return _with_priors(scores, logs[codes])


def log_priors_left(weight: Floats, given: Floats | None, alpha: float) -> Floats:
    """Row g: the log priors when a row of class g has left, up to a constant; those given, or log(alpha + n_k)."""
    left = weight - np.eye(len(weight))
    priors = left + alpha if given is None else np.broadcast_to(given, left.shape)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.where(left > 0.0, priors, 0.0))
    return logs


def _outside(prior: FixedPrior, scatter: Floats) -> float:
    """log det of psi I in the columns that a rotation has left out."""
    gone = prior.n_columns - len(scatter)
    return gone * float(np.log(prior.psi)) if gone else 0.0


def _with_priors(scores: Floats, logs: Floats) -> Floats:
    impossible = np.isneginf(logs)
    scores += np.where(impossible, 0.0, logs)
    scores[impossible] = -np.inf
    return scores
