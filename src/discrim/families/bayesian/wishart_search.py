"""Choosing the prior of a covariance matrix: the psi and nu at which a criterion is largest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from discrim.families.bayesian.wishart import Criterion, Evidence

# psi is looked for between these multiples of what would make the prior's scale that of the rows.
_PSI_RANGE = (-10.0, 10.0)
_PSI_STEPS = 41
# nu - (p - 1), as powers of ten: from hardly proper to a prior that outweighs any rows.
_NU_POWERS = np.linspace(-1.5, 7.0, 35)


def best_prior(criterion: Criterion, psi: float | None, nu: float | None, n_columns: int) -> tuple[float, float]:
    """(psi, nu) with the largest criterion; a number that is given stays.

    A maximum is located on a grid and then found as a root of the slope, which is known to full precision where
    the values of the criterion are not: rows that come in parts give the same prior.
    """
    if nu is not None:
        return (psi if psi is not None else best_psi(criterion, nu, n_columns)), nu
    least = n_columns - 1.0

    def at(power: float) -> tuple[float, float]:
        tried = least + 10.0**power
        return (psi if psi is not None else best_psi(criterion, tried, n_columns)), tried

    found = [at(power) for power in _NU_POWERS]
    best = int(np.argmax([criterion.value(*prior) for prior in found]))
    around = _NU_POWERS[[max(best - 1, 0), min(best + 1, len(_NU_POWERS) - 1)]]
    # Along the best psi of every nu, the slope is the one at a fixed psi.
    power = _root(lambda power: criterion.along_nu(*at(power)), around[0], around[1])
    return found[best] if power is None else at(power)


def best_psi(criterion: Criterion, nu: float, n_columns: int) -> float:
    """The psi of the largest criterion for this nu."""
    centre = np.log(criterion.scale * max(nu - n_columns + 1.0, 1.0))
    ends = np.log(10.0) * np.array(_PSI_RANGE) + centre

    def slope(log_psi: float) -> float:
        return criterion.along_psi(float(np.exp(log_psi)), nu)

    grid = np.linspace(ends[0], ends[1], _PSI_STEPS)
    if isinstance(criterion, Evidence):
        best, around = (0 if slope(ends[0]) <= 0 else -1), ends
    else:
        best = int(np.argmax([criterion.value(float(psi), nu) for psi in np.exp(grid)]))
        around = grid[[max(best - 1, 0), min(best + 1, _PSI_STEPS - 1)]]
    log_psi = _root(slope, around[0], around[1])
    return float(np.exp(grid[best] if log_psi is None else log_psi))


def _root(slope: Callable[[float], float], lo: float, hi: float) -> float | None:
    """Where the slope goes from rising to falling; None if it does not."""
    if not (slope(lo) > 0 > slope(hi)):
        return None
    return float(brentq(slope, lo, hi, xtol=1e-14, rtol=4 * float(np.finfo(float).eps)))
