"""Intervals for a proportion."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import special

from discrim.errors import ParameterError
from discrim.inference.conjugate import tails
from discrim.typing import Floats

ProportionMethod = Literal["wilson", "exact", "jeffreys"]


def proportion_interval(
    successes: Any, trials: Any, level: float = 0.95, method: ProportionMethod = "wilson"
) -> tuple[Any, Any]:
    """Lower and upper ends for the probability behind ``successes`` of ``trials``, numbers or arrays.

    'wilson' inverts the score test and is close to its level for any n; 'exact' (Clopper and Pearson) never covers
    less; 'jeffreys' is the equal-tailed posterior interval of a Beta(1/2, 1/2) prior. Without trials it is (0, 1).
    """
    tail, _ = tails(level)
    x, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if method == "wilson":
        lower, upper = _wilson(x, n, -special.ndtri(tail))
    elif method in {"exact", "jeffreys"}:
        a, b = (0.0, 1.0) if method == "exact" else (0.5, 0.5)
        lower = np.where(x > 0, special.betaincinv(np.maximum(x + a, 1e-300), n - x + b, tail), 0.0)
        upper = np.where(x < n, special.betaincinv(x + b, np.maximum(n - x + a, 1e-300), 1.0 - tail), 1.0)
    else:
        raise ParameterError.bad_value("method", method, "'wilson', 'exact' or 'jeffreys'")
    return (lower, upper) if lower.ndim else (lower.item(), upper.item())


def _wilson(x: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    safe = np.where(n > 0, n, 1.0)
    p = x / safe
    centre = (p + z**2 / (2 * safe)) / (1 + z**2 / safe)
    half = z / (1 + z**2 / safe) * np.sqrt(p * (1 - p) / safe + z**2 / (4 * safe**2))
    # At the ends the formula gives 0 and 1 but for rounding.
    lower = np.where((n > 0) & (x > 0), np.maximum(centre - half, 0.0), 0.0)
    return lower, np.where((n > 0) & (x < n), np.minimum(centre + half, 1.0), 1.0)
