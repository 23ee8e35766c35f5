"""Where the pieces of a function of one column meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.errors import ParameterError, plural
from discrim.typing import Floats


def place_knots(x: Floats, knots: Any, placement: str) -> list[Floats]:
    """Ascending knots of every column.

    A number of knots is placed at 'quantile's or at 'uniform' distances between the least and the largest value,
    these excluded; repeated ones are taken once. An array is taken as it is, for all columns; a list of arrays has
    one for each.
    """
    if placement not in {"quantile", "uniform"}:
        raise ParameterError.bad_value("placement", placement, "'quantile' or 'uniform'")
    if isinstance(knots, (int, np.integer)) and not isinstance(knots, bool):
        if knots < 1:
            raise ParameterError.bad_value("knots", knots, "a number of at least 1, or an array")
        share = np.linspace(0, 1, int(knots) + 2)[1:-1]
        if placement == "quantile":
            return [np.unique(np.quantile(column, share)) for column in x.T]
        return [np.unique(column.min() + share * np.ptp(column)) for column in x.T]
    return given_knots(knots, x.shape[1])


def given_knots(knots: Any, p: int) -> list[Floats]:
    """The user's own knots, checked."""
    expected = "a number, an array of numbers, or a list with one array for each column"
    try:
        nested = len(knots) > 0 and np.ndim(knots[0]) > 0
        lists = [np.asarray(part, dtype=np.float64) for part in (knots if nested else [knots] * p)]
    except (TypeError, ValueError):
        raise ParameterError.bad_value("knots", knots, expected) from None
    if len(lists) != p:
        raise ParameterError(f"'knots' has {plural(len(lists), 'array')} for {plural(p, 'column')}; give one for each.")
    if any(part.ndim != 1 or not len(part) or not np.isfinite(part).all() for part in lists):
        raise ParameterError.bad_value("knots", knots, expected)
    return [np.unique(part) for part in lists]
