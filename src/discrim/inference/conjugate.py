"""What counts and a prior say of a probability: the Beta and Dirichlet distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, digamma, logit, polygamma

from discrim.errors import ParameterError
from discrim.typing import Floats


@dataclass(frozen=True)
class BetaPosterior:
    """A probability phi ~ Beta(a, b): prior Beta(a0, b0) and n_s successes in n trials give a0 + n_s, b0 + n - n_s.

    Examples
    --------
    >>> posterior = BetaPosterior(2, 2).after(successes=3, trials=20)
    >>> posterior
    BetaPosterior(a=5, b=19)
    >>> round(posterior.mean, 4)
    0.2083
    """

    a: float
    b: float

    def after(self, successes: float, trials: float) -> BetaPosterior:
        """The distribution when these trials have been seen as well."""
        return BetaPosterior(self.a + successes, self.b + trials - successes)

    @property
    def mean(self) -> float:
        """Also the predictive probability of a success at the next trial."""
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> float:
        total = self.a + self.b
        return self.a * self.b / (total**2 * (total + 1.0))

    @property
    def mode(self) -> float:
        """The most probable value; NaN where there is no single one inside [0, 1]."""
        if self.a > 1 and self.b > 1:
            return (self.a - 1.0) / (self.a + self.b - 2.0)
        if self.a == self.b or max(self.a, self.b) < 1:
            return float("nan")
        return 0.0 if self.a < self.b else 1.0

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval that holds the probability with this posterior probability."""
        lower, upper = tails(level)
        return float(_quantile(self.a, self.b, lower)), float(_quantile(self.a, self.b, upper))

    @property
    def log_odds(self) -> float:
        """The mean of log(phi / (1 - phi))."""
        return float(digamma(self.a) - digamma(self.b))

    def log_odds_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval of log(phi / (1 - phi))."""
        lower, upper = self.interval(level)
        return float(logit(lower)), float(logit(upper))


@dataclass(frozen=True, eq=False)
class DirichletPosterior:
    """Probabilities (pi_1, ..., pi_K) ~ Dirichlet(alpha): prior plus counts.

    Examples
    --------
    >>> DirichletPosterior([1 + 3, 1 + 0, 1 + 1]).mean.round(3)
    array([0.571, 0.143, 0.286])
    """

    alpha: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", np.asarray(self.alpha, dtype=np.float64))

    def after(self, counts: Floats) -> DirichletPosterior:
        """The distribution when these have been counted as well."""
        return DirichletPosterior(self.alpha + counts)

    @property
    def mean(self) -> Floats:
        """Also the predictive probabilities of what comes next."""
        return np.asarray(self.alpha / self.alpha.sum())

    @property
    def variance(self) -> Floats:
        mean = self.mean
        return np.asarray(mean * (1.0 - mean) / (self.alpha.sum() + 1.0))

    @property
    def mode(self) -> Floats:
        """The most probable values; NaN where there is no single one inside."""
        if not (self.alpha > 1).all():
            return np.full(len(self.alpha), np.nan)
        return np.asarray((self.alpha - 1.0) / (self.alpha.sum() - len(self.alpha)))

    def marginal(self, j: int) -> BetaPosterior:
        """The distribution of one of the probabilities."""
        return BetaPosterior(float(self.alpha[j]), float(self.alpha.sum() - self.alpha[j]))

    def interval(self, level: float = 0.95) -> Floats:
        """Equal-tailed intervals of the probabilities, one by one, K x 2."""
        rest = self.alpha.sum() - self.alpha
        return np.column_stack([_quantile(self.alpha, rest, share) for share in tails(level)])

    def log_odds_interval(self, level: float = 0.95) -> Floats:
        """Equal-tailed intervals of the log odds of each, K x 2."""
        return np.asarray(logit(self.interval(level)))


def log_odds_moments(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of log(phi / (1 - phi)) for phi ~ Beta(a, b)."""
    return np.asarray(digamma(a) - digamma(b)), np.asarray(polygamma(1, a) + polygamma(1, b))


def tails(level: float) -> tuple[float, float]:
    """The shares below and up to which an equal-tailed interval of this level reaches."""
    if not 0 < level < 1:
        raise ParameterError.bad_value("level", level, "a number between 0 and 1")
    return 0.5 * (1.0 - level), 0.5 * (1.0 + level)


def _quantile(a: float | Floats, b: float | Floats, share: float) -> Floats:
    # A parameter of zero leaves no doubt: all probability is at one end.
    found = betaincinv(np.where(np.asarray(a) > 0, a, 1.0), np.where(np.asarray(b) > 0, b, 1.0), share)
    return np.where(np.asarray(a) <= 0, 0.0, np.where(np.asarray(b) <= 0, 1.0, found))
