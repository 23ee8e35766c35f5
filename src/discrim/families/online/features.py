"""One row as a dict of feature to number, and its label: what can be wrong with them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import inf, isfinite
from typing import Any

from discrim.errors import DataError

Features = Mapping[Any, Any]


def as_dict(x: Any) -> dict[Any, Any]:
    """The row as a dict that the kernels can read."""
    if x.__class__ is dict:
        return x
    try:
        return dict(x)
    except (TypeError, ValueError):
        raise DataError(
            f"One row is a dict of feature to number; found {type(x).__name__}. Rows of arrays are for partial_fit "
            "and predict."
        ) from None


def is_weight(w: Any) -> bool:
    try:
        return bool(0.0 <= w < inf)
    except (TypeError, ValueError):
        return False


def refuse_label(y: Any) -> None:
    """Raise for a label that is missing, or several."""
    if not isinstance(y, Hashable) or isinstance(y, tuple | frozenset):
        raise DataError(f"The label {y!r} is {type(y).__name__} of several; a row has one label.")
    try:
        missing = y is None or bool(y != y)  # noqa: PLR0124 -- only NaN differs from itself
    except TypeError:  # pandas.NA has no truth value
        missing = True
    if missing:
        raise DataError("The label is missing (None or NaN).")


def refuse_non_finite(x: Features) -> None:
    """Raise for features that are not finite numbers."""
    values = {name: _number(value) for name, value in x.items()}
    if None in values.values():
        raise not_a_number(x)
    bad = [name for name, value in values.items() if value is not None and not isfinite(value)]
    if not bad and isfinite(sum(value for value in values.values() if value is not None)):
        return
    raise DataError(f"Feature {bad[0]!r} is NaN or infinite." if bad else "The features are too large to be added.")


def not_a_number(x: Features) -> DataError:
    strange = next((name for name, value in x.items() if _number(value) is None), next(iter(x)))
    if x[strange] is None:
        return DataError(f"Feature {strange!r} is None. Leave out what is not known; it counts as 0.")
    return DataError(
        f"Feature {strange!r} is {x[strange]!r}, not a number. Write a category as a feature of its own, such as "
        f"{{'{strange}={x[strange]}': 1}}."
    )


def _number(value: Any) -> float | None:
    """As a number; None where it is none, or the text of one."""
    try:
        return None if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return None
