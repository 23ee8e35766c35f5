"""Posterior distributions of probabilities, rates, means and variances under their conjugate priors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import (
    betaincinv,
    betaln,
    digamma,
    gammainccinv,
    gammaincinv,
    gammaln,
    logit,
    polygamma,
    stdtrit,
    xlogy,
)

from discrim.errors import ParameterError
from discrim.families.population import generator_of
from discrim.typing import Floats

# Sums of equal weights may differ by this part.
ROUNDING = 1e-9


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
    >>> posterior = BetaPosterior(2, 2).update(successes=3, trials=20)
    >>> posterior
    BetaPosterior(a=5, b=19)
    >>> round(posterior.mean, 4)
    0.2083
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            _of_counts(name, getattr(self, name), "a number of at least 0")

    def update(self, successes: float, trials: float) -> BetaPosterior:
        """The distribution when these trials have been seen as well."""
        _of_counts("trials", trials, "a number of at least 0")
        wanted = f"a number from 0 to the {trials:g} trials"
        _of_counts("successes", successes, wanted)
        # Sums of weights in another order may differ by rounding.
        if successes > trials * (1.0 + ROUNDING):
            raise ParameterError.bad_value("successes", successes, wanted)
        return BetaPosterior(self.a + successes, self.b + max(trials - successes, 0))

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

    def pdf(self, phi: Any) -> Any:
        """The density at phi; zero outside of [0, 1]."""
        return _density(*_points(phi), (self.a, self.b))

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random values of phi."""
        return generator_of(random_state).beta(self.a, self.b, size)

    def predictive(self, n: int = 1) -> BetaBinomial:
        """How many of the next n trials will be successes."""
        return BetaBinomial(n, self.a, self.b)

    @property
    def log_odds(self) -> float:
        """The mean of log(phi / (1 - phi))."""
        return float(digamma(self.a) - digamma(self.b))

    def log_odds_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval of log(phi / (1 - phi))."""
        lower, upper = self.interval(level)
        return float(logit(lower)), float(logit(upper))


@dataclass(frozen=True)
class BetaBinomial:
    """The number of successes in n trials of a probability phi ~ Beta(a, b): C(n, x) B(a + x, b + n - x) / B(a, b).

    It is wider than the binomial with the mean of phi plugged in: phi itself is uncertain.

    Examples
    --------
    >>> after = BetaPosterior(2, 2).update(successes=3, trials=20).predictive(10)
    >>> round(float(after.pmf(0)), 4), round(after.mean, 3)
    (0.1418, 2.083)
    """

    n: int
    a: float
    b: float

    def __post_init__(self) -> None:
        _check_trials(self.n)

    def pmf(self, x: Any = None) -> Floats:
        """Probabilities of x successes; of 0, ..., n by default."""
        x = np.arange(self.n + 1) if x is None else np.asarray(x, dtype=np.float64)
        possible = (x >= 0) & (x <= self.n) & (x == np.floor(x))
        k = np.where(possible, x, 0.0)
        ways = -np.log1p(self.n) - betaln(k + 1.0, self.n - k + 1.0)
        chance = np.exp(ways + betaln(k + self.a, self.n - k + self.b) - betaln(self.a, self.b))
        return np.where(possible, chance, 0.0)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random numbers of successes."""
        rng = generator_of(random_state)
        return rng.binomial(self.n, rng.beta(self.a, self.b, size))

    @property
    def mean(self) -> float:
        return self.n * self.a / (self.a + self.b)

    @property
    def variance(self) -> float:
        total = self.a + self.b
        return self.n * self.a * self.b * (total + self.n) / (total**2 * (total + 1.0))


@dataclass(frozen=True, eq=False)
class DirichletPosterior:
    """Probabilities (pi_1, ..., pi_K) ~ Dirichlet(alpha): prior plus counts.

    Examples
    --------
    >>> DirichletPosterior([1 + 3, 1 + 0, 1 + 1]).mean.round(3)
    array([0.571, 0.143, 0.286])
    """

    alpha: Any

    def __post_init__(self) -> None:
        alpha = _of_counts("alpha", self.alpha, "a list of at least two numbers, none below 0")
        if alpha.ndim != 1 or len(alpha) < 2:
            raise ParameterError(f"alpha has the shape {alpha.shape}; give a list of at least two numbers.")
        object.__setattr__(self, "alpha", alpha)

    def update(self, counts: Any) -> DirichletPosterior:
        """The distribution when these have been counted as well."""
        found = _of_counts("counts", counts, f"{len(self.alpha)} numbers, none below 0")
        if found.shape != self.alpha.shape:
            raise ParameterError(f"counts has the shape {found.shape}; give {len(self.alpha)} numbers.")
        return DirichletPosterior(self.alpha + found)

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

    def pdf(self, pi: Any) -> Any:
        """The density at probabilities pi (K numbers, or m x K); zero outside the simplex."""
        points = np.asarray(pi, dtype=np.float64)
        if points.shape[-1:] != self.alpha.shape:
            raise ParameterError.bad_value("pi", f"of shape {points.shape}", f"rows of {len(self.alpha)} probabilities")
        return _density(np.moveaxis(points, -1, 0), points.ndim == 1, self.alpha)

    def rvs(self, size: Any = None, random_state: Any = None) -> Floats:
        """Random probabilities, K or size x K."""
        return generator_of(random_state).dirichlet(self.alpha, size)

    def predictive(self, n: int = 1) -> DirichletMultinomial:
        """How often each comes among the next n."""
        return DirichletMultinomial(n, self.alpha)

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


@dataclass(frozen=True, eq=False)
class DirichletMultinomial:
    """Counts of K outcomes in n draws with probabilities pi ~ Dirichlet(alpha).

    Examples
    --------
    >>> DirichletPosterior([1, 1, 1]).predictive(2).pmf([2, 0, 0]).round(4)
    np.float64(0.1667)
    """

    n: int
    alpha: Floats

    def __post_init__(self) -> None:
        _check_trials(self.n)

    def pmf(self, x: Any) -> Any:
        """The probability of these counts (K numbers, or m x K)."""
        x, total = np.asarray(x, dtype=np.float64), float(self.alpha.sum())
        if x.shape[-1:] != self.alpha.shape:
            raise ParameterError(f"x has the shape {x.shape}; give rows of {len(self.alpha)} counts.")
        possible = ((x >= 0) & (x == np.floor(x))).all(axis=-1) & (x.sum(axis=-1) == self.n)
        k = np.where(x >= 0, x, 0.0)
        ways = gammaln(self.n + 1.0) - gammaln(k + 1.0).sum(axis=-1)
        each = (gammaln(k + self.alpha) - gammaln(self.alpha)).sum(axis=-1)
        return np.where(possible, np.exp(ways + each + gammaln(total) - gammaln(total + self.n)), 0.0)[()]

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random counts, K or size x K."""
        rng = generator_of(random_state)
        return rng.multinomial(self.n, rng.dirichlet(self.alpha, size))

    @property
    def mean(self) -> Floats:
        return np.asarray(self.n * self.alpha / self.alpha.sum())

    @property
    def variance(self) -> Floats:
        """Of each of the counts."""
        total = self.alpha.sum()
        return np.asarray(self.mean * (1.0 - self.alpha / total) * (total + self.n) / (total + 1.0))


@dataclass(frozen=True)
class GammaPosterior(_OfOneParameter):
    """A rate lambda ~ Gamma(shape, rows): prior Gamma(a, b) and N events in n rows give a + N, b + n.

    Examples
    --------
    >>> posterior = GammaPosterior(2.0, 1.0).update(events=10, rows=4)
    >>> posterior
    GammaPosterior(shape=12.0, rows=5.0)
    >>> posterior.mean
    2.4
    """

    shape: float
    rows: float

    def update(self, events: float, rows: float) -> GammaPosterior:
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

    def update(self, rows: float, mean: float, scatter: float) -> NormalPosterior:
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


def _check_trials(n: Any) -> None:
    if not (isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0):
        raise ParameterError.bad_value("n", n, "a whole number of trials")


def _of_counts(name: str, given: Any, wanted: str) -> Floats:
    """What is given, as numbers; an error where some are negative, missing or infinite."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError.bad_value(name, given, wanted) from None
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ParameterError.bad_value(name, given, wanted)
    return found


def _points(phi: Any) -> tuple[Floats, bool]:
    """phi and 1 - phi, and whether it is one number."""
    phi = np.asarray(phi, dtype=np.float64)
    return np.stack([phi, 1.0 - phi]), phi.ndim == 0


def _density(points: Floats, one: bool, alpha: Any) -> Any:
    """Of a Dirichlet distribution at points whose coordinates are along the first axis."""
    inside = (points >= 0).all(axis=0) & (np.abs(points.sum(axis=0) - 1.0) < 1e-9)
    safe = np.where(inside, points, 0.5)
    exponent = np.asarray(alpha, dtype=np.float64).reshape(-1, *[1] * (points.ndim - 1)) - 1.0
    with np.errstate(divide="ignore"):
        log = xlogy(exponent, safe).sum(axis=0)
    constant = gammaln(np.sum(alpha)) - gammaln(alpha).sum()
    density = np.where(inside, np.exp(log + constant), 0.0)
    return float(density) if one else density


def tails(level: float) -> tuple[float, float]:
    """The probabilities below the lower and the upper end of an equal-tailed interval of this level."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise ParameterError.bad_value("level", level, "a number between 0 and 1, such as 0.95")
    return 0.5 * (1.0 - level), 0.5 * (1.0 + level)


def _quantile(a: float | Floats, b: float | Floats, share: float) -> Floats:
    # A parameter of zero leaves no doubt: all probability is at one end.
    found = betaincinv(np.where(np.asarray(a) > 0, a, 1.0), np.where(np.asarray(b) > 0, b, 1.0), share)
    return np.where(np.asarray(a) <= 0, 0.0, np.where(np.asarray(b) <= 0, 1.0, found))
