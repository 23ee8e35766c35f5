"""Regions and risks of a rule under known densities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError
from discrim.typing import Floats

Numbers = Callable[[Floats], NDArray[np.intp]]
Piece = tuple[float, float, int]

# Points of the line at which a rule is asked before the ends between them are searched for.
LEVELS = 2001
TAIL = 1e-14
# Steps outwards beyond the outermost quantile, each twice as long as the one before. Still farther out, where
# log densities are rounded to whole numbers, their differences say nothing.
OUTWARDS = 20


class Interval(NamedTuple):
    """Where a rule takes one action: low <= x <= high."""

    low: float
    high: float
    action: Any


@dataclass(frozen=True, eq=False)
class Risk:
    """Expected cost of a rule: ``value``, and ``by_class`` for rows of each class; ``std_error`` is 0 where exact."""

    value: float
    by_class: Floats
    std_error: float = 0.0

    def __float__(self) -> float:
        return self.value


def log_density(density: Any, x: Floats) -> Floats:
    """log f of rows n x p; -inf where the density is zero."""
    rows = x[:, 0] if x.shape[1] == 1 else x
    if hasattr(density, "logpdf"):
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(density.logpdf(rows), dtype=np.float64).reshape(len(x))
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(density.pdf(rows), dtype=np.float64)).reshape(len(x))


def intervals(numbers: Numbers, densities: Sequence[Any], span: tuple[float, float] | None) -> list[Piece]:
    """Pieces (low, high, action) of the line from -inf to inf on which the rule ``numbers`` takes one action.

    Between two points with different answers the end is found by halving until no number lies between.
    """
    grid = _grid(densities, span)
    answer = numbers(grid[:, None])
    pieces: list[Piece] = []
    low = -np.inf
    for i in np.flatnonzero(np.diff(answer)):
        left, right = float(grid[i]), float(grid[i + 1])
        # A third action may lie in between: each end found is where the answer on its left stops.
        now = int(answer[i])
        while now != answer[i + 1]:
            end, after = _end(numbers, left, right, now)
            pieces.append((low, end, now))
            low, left, now = end, after, int(numbers(np.array([[after]]))[0])
    return [*pieces, (low, np.inf, int(answer[-1]))]


def exact_risk(pieces: Sequence[Piece], densities: Sequence[Any], priors: Floats, costs: Floats) -> Risk:
    """sum_k pi_k sum_j L[k, j] P_k(the rule takes j), from distribution functions or by quadrature."""
    by_class = np.array(
        [sum(costs[k, j] * _probability(f, low, high) for low, high, j in pieces) for k, f in enumerate(densities)]
    )
    return Risk(float(priors @ by_class), by_class)


def sampled_risk(
    numbers: Numbers, densities: Sequence[Any], priors: Floats, costs: Floats, draws: tuple[int, int]
) -> Risk:
    """The same from ``draws`` (number and seed) of each class."""
    count, seed = draws
    generator = np.random.default_rng(seed)
    means, variances = np.empty(len(densities)), np.empty(len(densities))
    for k, f in enumerate(densities):
        cost = costs[k, numbers(_draw(f, count, generator))]
        means[k], variances[k] = cost.mean(), cost.var(ddof=1) / count
    return Risk(float(priors @ means), means, float(np.sqrt(priors**2 @ variances)))


def _end(numbers: Numbers, left: float, right: float, now: int) -> tuple[float, float]:
    """The last number with the answer ``now`` that halving finds, and the next after it."""
    while True:
        middle = left + 0.5 * (right - left)
        if not left < middle < right:
            return left, right
        if int(numbers(np.array([[middle]]))[0]) == now:
            left = middle
        else:
            right = middle


def _grid(densities: Sequence[Any], span: tuple[float, float] | None) -> Floats:
    if span is not None:
        low, high = float(span[0]), float(span[1])
        if not (np.isfinite([low, high]).all() and low < high):
            raise ParameterError.bad_value("span", span, "two finite numbers, the smaller first")
        return np.linspace(low, high, LEVELS)
    levels = np.concatenate([[TAIL, 1e-9, 1e-6], np.linspace(0, 1, LEVELS)[1:-1], [1 - 1e-6, 1 - 1e-9]])
    inside = np.unique(np.concatenate([_quantiles(f)(levels) for f in densities]))
    inside = inside[np.isfinite(inside)]
    width = max(float(inside[-1] - inside[0]), np.finfo(float).tiny)
    beyond = width * 2.0 ** np.arange(-4, OUTWARDS)
    return np.unique(np.concatenate([inside[0] - beyond, inside, inside[-1] + beyond]))


def _quantiles(density: Any) -> Callable[[Floats], Any]:
    for name in ("ppf", "icdf"):
        if hasattr(density, name):
            return getattr(density, name)  # type: ignore[no-any-return]
    raise ParameterError(
        f"{type(density).__name__} does not tell its quantiles (ppf). Give the range to search in: span=(low, high)."
    )


def _probability(density: Any, low: float, high: float) -> float:
    if hasattr(density, "cdf"):
        if hasattr(density, "sf") and low > -np.inf and density.cdf(low) > 0.5:
            return float(density.sf(low) - density.sf(high))
        return float(density.cdf(high) - density.cdf(low))
    from scipy import integrate

    return float(integrate.quad(lambda t: float(np.exp(log_density(density, np.array([[t]]))[0])), low, high)[0])


def _draw(density: Any, count: int, generator: np.random.Generator) -> Floats:
    if not hasattr(density, "rvs"):
        raise ParameterError(f"{type(density).__name__} cannot be drawn from: a risk in several dimensions needs rvs.")
    return np.asarray(density.rvs(size=count, random_state=generator), dtype=np.float64).reshape(count, -1)
