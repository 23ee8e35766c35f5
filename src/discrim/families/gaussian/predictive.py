"""Other rules from the same Gaussian estimates: averaged over their posterior, or freed of their bias.

With S of m degrees of freedom (S_k and n_k - 1, or the pooled S and n - K) and n_k rows in class k

- predictive (Geisser): the Student-t with df = m - p + 1, location mu_k and scale S (1 + 1/n_k)/df, which is the
  mean of N(mu, Sigma) over the posterior under the prior |Sigma|^(-(p + 1)/2);
- debiased: the unbiased estimate of log N(x; mu_k, Sigma_k),

      -[(m - p - 1) (x - mu_k)'S^-1 (x - mu_k) - p/n_k]/2 - [log|S| - p log 2 - sum_j digamma((m + 1 - j)/2)]/2,

  since E S^-1 = Sigma^-1/(m - p - 1), the mean of n_k rows adds p/n_k to the expected distance, and
  E log|S| = log|Sigma| + p log 2 + sum_j digamma((m + 1 - j)/2), j = 1, ..., p.

Rules come in as distances q by Sigma = S/divisor.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import digamma

from discrim.errors import DataError
from discrim.families.gaussian.student import predictive, student_rule
from discrim.families.rule import LinearRule, QuadraticRule, StudentRule
from discrim.typing import Floats

PredictMethod = Literal["plug-in", "predictive", "debiased"]


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
