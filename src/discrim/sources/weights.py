"""Case weights: how much each row counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, plural


def check_weights(w: Any, n: int, *, column: str | None = None) -> NDArray[np.float64] | None:
    """``w`` as n non-negative numbers, not all zero; None stays None, a scalar counts for every row."""
    if w is None:
        return None
    weight = _as_floats(w)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; found an array of shape {weight.shape}.")
    if weight.shape[0] != n:
        raise ValueError(f"sample_weight has {plural(weight.shape[0], 'entry', 'entries')}, X has {plural(n, 'row')}.")
    weight = np.ascontiguousarray(weight)
    refuse_bad_weights(weight, column)
    if n and not weight.any():
        raise DataError(f"{_name(column)} is zero in every row; at least one row needs a positive weight.")
    return weight


def refuse_bad_weights(weight: NDArray[np.float64], column: str | None = None) -> None:
    """Raise for NaN, infinite or negative weights, with their counts."""
    if weight.size == 0 or (weight.min() >= 0 and np.isfinite(weight.max())):
        return
    counts = {
        "NaN": int(np.isnan(weight).sum()),
        "infinite": int(np.isinf(weight).sum()),
        "negative": int((weight < 0).sum()),
    }
    facts = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
    raise DataError(
        f"{_name(column)} has {facts} among {plural(weight.size, 'value')}. "
        "Weights are finite and not negative; give a row that should not count the weight 0."
    )


def _as_floats(w: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(w, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight cannot be read as numbers: {error}") from error


def _name(column: str | None) -> str:
    return "sample_weight" if column is None else f"The weight column '{column}'"
