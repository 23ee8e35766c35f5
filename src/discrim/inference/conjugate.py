"""Posterior distributions of probabilities, rates, means and variances under their conjugate priors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, digamma, gammainccinv, gammaincinv, logit, polygamma, stdtrit

from discrim.errors import ParameterError
from discrim.typing import Floats


class _OfOneParameter:
    """A distribution with quantiles."""

    def _quantile(self, share: float) -> Any:
        raise NotImplementedError

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval that holds the parameter with this posterior probability."""
        lower, upper = tails(level)
        return float(self._quantile(lower)), float(self._quantile(upper))


@dataclass(frozen=True)
class BetaPosterior(_OfOneParameter):
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

    def _quantile(self, share: float) -> Any:
        return _quantile(self.a, self.b, share)

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


@dataclass(frozen=True)
class GammaPosterior(_OfOneParameter):
    """A rate lambda ~ Gamma(shape, rows): prior Gamma(a, b) and N events in n rows give a + N, b + n.

    Examples
    --------
    >>> posterior = GammaPosterior(2.0, 1.0).after(events=10, rows=4)
    >>> posterior
    GammaPosterior(shape=12.0, rows=5.0)
    >>> posterior.mean
    2.4
    """

    shape: float
    rows: float

    def after(self, events: float, rows: float) -> GammaPosterior:
        """The distribution when so many events in so many rows have been seen as well."""
        return GammaPosterior(self.shape + events, self.rows + rows)

    @property
    def mean(self) -> float:
        """Also the predictive mean of the next count."""
        return self.shape / self.rows

    @property
    def variance(self) -> float:
        return self.shape / self.rows**2

    @property
    def mode(self) -> float:
        return max(self.shape - 1.0, 0.0) / self.rows

    def _quantile(self, share: float) -> Any:
        # With a shape of zero nothing has happened, and the prior leaves no doubt.
        return gammaincinv(self.shape, share) / self.rows if self.shape > 0 else 0.0


@dataclass(frozen=True)
class StudentPosterior(_OfOneParameter):
    """A mean mu = location + scale t, t of Student's distribution with df degrees of freedom."""

    df: float
    location: float
    scale: float

    @property
    def mean(self) -> float:
        return self.location if self.df > 1 else float("nan")

    @property
    def variance(self) -> float:
        """Infinite with two degrees of freedom and fewer."""
        return self.scale**2 * self.df / (self.df - 2.0) if self.df > 2 else float("inf")

    @property
    def mode(self) -> float:
        return self.location

    def _quantile(self, share: float) -> Any:
        return self.location + self.scale * stdtrit(self.df, share)


@dataclass(frozen=True)
class InverseGammaPosterior(_OfOneParameter):
    """A variance sigma^2 whose inverse is Gamma(shape, scale)."""

    shape: float
    scale: float

    @property
    def mean(self) -> float:
        """Infinite with a shape of one and less."""
        return self.scale / (self.shape - 1.0) if self.shape > 1 else float("inf")

    @property
    def variance(self) -> float:
        """Infinite with a shape of two and less."""
        return self.mean**2 / (self.shape - 2.0) if self.shape > 2 else float("inf")

    @property
    def mode(self) -> float:
        return self.scale / (self.shape + 1.0)

    def _quantile(self, share: float) -> Any:
        with np.errstate(divide="ignore"):
            return np.float64(self.scale) / gammainccinv(self.shape, share)


@dataclass(frozen=True)
class NormalPosterior:
    """Mean and variance of a normal distribution: normal-inverse-gamma.

    sigma^2 ~ df spread / chi^2(df), mu | sigma^2 ~ N(location, sigma^2 / rows). Without a prior, n values with mean m
    and scatter S give location m, rows n, df n - 1 and spread S / (n - 1): then the interval of mu is that of the
    t test, and the interval of sigma^2 that of the chi-squared test.

    Examples
    --------
    >>> posterior = NormalPosterior.of(rows=10, mean=5.0, scatter=18.0)
    >>> posterior.spread
    2.0
    >>> [round(end, 3) for end in posterior.of_mean.interval()]
    [3.988, 6.012]
    """

    location: float
    rows: float
    df: float
    spread: float

    @classmethod
    def of(cls, rows: float, mean: float, scatter: float) -> NormalPosterior:
        """The posterior of at least two values under the prior 1 / sigma^2."""
        return cls(mean, rows, rows - 1.0, scatter / (rows - 1.0))

    def after(self, rows: float, mean: float, scatter: float) -> NormalPosterior:
        """The distribution when values with this mean and scatter have been seen as well."""
        total, df = self.rows + rows, self.df + rows
        gap = self.rows * rows / total * (mean - self.location) ** 2
        location = self.location + rows / total * (mean - self.location)
        return NormalPosterior(location, total, df, (self.df * self.spread + scatter + gap) / df)

    @property
    def of_mean(self) -> StudentPosterior:
        """The distribution of mu alone."""
        return StudentPosterior(self.df, self.location, float(np.sqrt(self.spread / self.rows)))

    @property
    def of_variance(self) -> InverseGammaPosterior:
        """The distribution of sigma^2."""
        return InverseGammaPosterior(0.5 * self.df, 0.5 * self.df * self.spread)


def log_odds_moments(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of log(phi / (1 - phi)) for phi ~ Beta(a, b)."""
    return np.asarray(digamma(a) - digamma(b)), np.asarray(polygamma(1, a) + polygamma(1, b))


def tails(level: float) -> tuple[float, float]:
    """The probabilities below the lower and the upper end of an equal-tailed interval of this level."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise ParameterError.bad_value("level", level, "a number between 0 and 1, such as 0.95")
    return 0.5 * (1.0 - level), 0.5 * (1.0 + level)


def _quantile(a: float | Floats, b: float | Floats, share: float) -> Floats:
    # A parameter of zero leaves no doubt: all probability is at one end.
    found = betaincinv(np.where(np.asarray(a) > 0, a, 1.0), np.where(np.asarray(b) > 0, b, 1.0), share)
    return np.where(np.asarray(a) <= 0, 0.0, np.where(np.asarray(b) <= 0, 1.0, found))
