"""Where the values of one sorted list stand in another, in NumPy."""

from __future__ import annotations

import numpy as np

from discrim.kernels.reference_checks import require
from discrim.typing import Floats


def placements(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """How many of ``low`` lie below each of ``high``, and how many of ``high`` above each of ``low``; ties count half.

    Both lists ascend.
    """
    require(not (np.isnan(high).any() or np.isnan(low).any()), "a value is NaN")
    below = 0.5 * (np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right"))
    above = len(high) - 0.5 * (np.searchsorted(high, low, "left") + np.searchsorted(high, low, "right"))
    return below.astype(np.float64), above.astype(np.float64)
