"""What numbers and a prior say of a rate, a mean and a variance: the Gamma and normal-inverse-gamma distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, stdtrit

from discrim.inference.conjugate import tails


@dataclass(frozen=True)
class GammaPosterior:
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

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval that holds the rate with this posterior probability."""
        lower, upper = tails(level)
        if self.shape <= 0:  # nothing has happened, and the prior leaves no doubt
            return 0.0, 0.0
        return float(gammaincinv(self.shape, lower)) / self.rows, float(gammaincinv(self.shape, upper)) / self.rows


@dataclass(frozen=True)
class StudentPosterior:
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

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval that holds the mean with this posterior probability."""
        half = self.scale * float(stdtrit(self.df, tails(level)[1]))
        return self.location - half, self.location + half


@dataclass(frozen=True)
class InverseGammaPosterior:
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

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval that holds the variance with this posterior probability."""
        lower, upper = tails(level)
        with np.errstate(divide="ignore"):
            ends = np.float64(self.scale) / gammaincinv(self.shape, [upper, lower])
        return float(ends[0]), float(ends[1])


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
        """What more than one value say by themselves, with the prior 1 / sigma^2."""
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
