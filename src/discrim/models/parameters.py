"""Constructor parameters: constraints as data, so that check and message come from one table."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

Check = tuple[Callable[[Any], bool], str]


def one_of(*options: str | None) -> Check:
    names = ", ".join(repr(option) for option in options)
    return lambda value: (value is None or isinstance(value, str)) and value in options, f"one of {names}"


def number(lo: float, hi: float = np.inf) -> Check:
    def fits(value: Any) -> bool:
        real = not isinstance(value, bool) and isinstance(value, Real)
        return real and bool(np.isfinite(float(value))) and lo <= float(value) <= hi

    upper = f" and at most {hi:g}" if np.isfinite(hi) else ""
    return fits, f"a finite number of at least {lo:g}{upper}"


def above(lo: float, hi: float = np.inf) -> Check:
    """A finite number above lo and below hi."""
    fits, _ = number(lo, hi)
    upper = f" and below {hi:g}" if np.isfinite(hi) else ""
    return lambda value: fits(value) and lo < float(value) < hi, f"a finite number above {lo:g}{upper}"


def positive(*, infinite: bool = False) -> Check:
    """A number above 0, of any type; ``infinite`` allows infinity too."""
    infinity: Check = (lambda value: isinstance(value, Real) and float(value) == np.inf, "np.inf")
    return either(above(0), infinity) if infinite else above(0)


def integer(lo: int) -> Check:
    def fits(value: Any) -> bool:
        return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= lo

    return fits, f"an integer of at least {lo}"


def boolean() -> Check:
    return lambda value: isinstance(value, (bool, np.bool_)), "True or False"


def none() -> Check:
    return lambda value: value is None, "None"


def array_like() -> Check:
    return lambda value: hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict)), "a list or an array"


def list_of(check: Check) -> Check:
    """A flat list that holds at least one such number."""

    def fits(value: Any) -> bool:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return array.ndim == 1 and array.size > 0 and all(check[0](float(v)) for v in array)

    return fits, f"a list, each entry {check[1]}"


def numbers(lo: float, hi: float = np.inf) -> Check:
    return list_of(number(lo, hi))


def seed() -> Check:
    def fits(value: Any) -> bool:
        return value is None or integer(0)[0](value) or isinstance(value, (np.random.RandomState, np.random.Generator))

    return fits, "None, an integer of at least 0 or a random number generator"


def with_method(name: str) -> Check:
    return lambda value: hasattr(value, name), f"an object with a method '{name}'"


def either(*checks: Check) -> Check:
    return lambda value: any(fits(value) for fits, _ in checks), " or ".join(text for _, text in checks)
