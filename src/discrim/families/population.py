"""Distributions of the rows of each class, as fitted models describe them: new rows are drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError
from discrim.typing import Floats


class Population(Protocol):
    """The shares of the classes, and rows of each of them."""

    @property
    def priors(self) -> Floats: ...
    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        """n rows of class k."""


@dataclass(frozen=True, eq=False)
class GaussianPopulation:
    """x = mu_k + A_k'z + D_k e with standard normal z and e: the covariance is A_k'A_k + D_k^2, D_k diagonal.

    ``root(k)`` gives A_k, which is made for the class that is drawn from; ``deviation`` (K x p) holds the D_k. With
    ``df`` the deviation from the mean is multiplied by sqrt(spread_k / chi^2 of df_k degrees): a Student-t.
    """

    priors: Floats
    mean: Floats
    root: Callable[[int], Floats]
    deviation: Floats
    df: Floats | None = None
    spread: Floats | None = None

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        root = self.root(k)
        away = rng.standard_normal((n, len(root))) @ root
        if self.deviation[k].any():
            away += rng.standard_normal(away.shape) * self.deviation[k]
        if self.df is not None and self.spread is not None:
            away *= np.sqrt(self.spread[k] / rng.chisquare(self.df[k], n))[:, None]
        return np.asarray(self.mean[k] + away)


@dataclass(frozen=True, eq=False)
class BernoulliPopulation:
    """Columns of zeros and ones, independent within a class: ``chance`` is K x p."""

    priors: Floats
    chance: Floats

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(rng.random((n, self.chance.shape[1])) < self.chance[k], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class MultinomialPopulation:
    """Counts of draws from the shares theta_k (K x p); a row of class k has ``total[k]`` draws."""

    priors: Floats
    theta: Floats
    total: NDArray[np.int64]

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(rng.multinomial(self.total[k], self.theta[k] / self.theta[k].sum(), size=n), dtype=np.float64)


class Column(Protocol):
    """A column by itself, independent of the others within a class."""

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]: ...


@dataclass(frozen=True, eq=False)
class IndependentPopulation:
    """Columns drawn one by one; an array of objects where some of them are text."""

    priors: Floats
    columns: Sequence[Column]

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        values = [column.draw(k, n, rng) for column in self.columns]
        text = any(column.dtype.kind not in "iuf" for column in values)
        rows = np.empty((n, len(values)), dtype=object if text else np.float64)
        for j, column in enumerate(values):
            rows[:, j] = column
        return rows


def draw_rows(population: Population, n: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """n rows, each of a class drawn by the priors, and the numbers of these classes."""
    priors = np.asarray(population.priors, dtype=np.float64)
    codes = rng.choice(len(priors), size=n, p=priors / priors.sum())
    parts = [population.draw(k, int((codes == k).sum()), rng) for k in range(len(priors)) if priors[k] > 0]
    rows = np.empty((n, parts[0].shape[1]), dtype=np.result_type(*parts))
    for k, part in zip(np.flatnonzero(priors > 0), parts, strict=True):
        rows[codes == k] = part
    return rows, codes


def generator_of(random_state: Any) -> np.random.Generator:
    """The generator of random numbers that ``random_state`` asks for."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        wanted = "None, a whole number of at least 0, or a generator of random numbers"
        raise ParameterError.bad_value("random_state", random_state, wanted) from None
