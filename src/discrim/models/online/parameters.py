"""Constraints on parameters that the online classifiers share."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.models.parameters import Check, boolean, either, integer, none, number, one_of, seed


def above(lo: float, hi: float = np.inf) -> Check:
    """A finite number above lo and below hi."""
    fits, _ = number(lo, hi)
    upper = f" and below {hi:g}" if np.isfinite(hi) else ""
    return lambda value: fits(value) and lo < float(value) < hi, f"a finite number above {lo:g}{upper}"


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


SHARED: dict[str, Check] = {
    "fit_intercept": boolean(),
    "max_iter": integer(1),
    "tol": either(number(0), none()),
    "shuffle": either(boolean(), one_of("rows", "blocks")),
    "verbose": either(boolean(), integer(0)),
    "n_jobs": either(integer(-1000), none()),
    "random_state": seed(),
    "early_stopping": boolean(),
    "validation_fraction": above(0, 1),
    "n_iter_no_change": integer(1),
    "class_weight": either(one_of("balanced", None), (_is_dict, "a dict of class to weight")),
    "warm_start": boolean(),
    "average": either(boolean(), integer(1)),
}
