"""Constructor parameters: constraints as data, so that check and message come from one table; and recipes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from discrim.errors import ParameterError
from discrim.families.recipe import Recipe

R = TypeVar("R", bound=Recipe[Any])
Check = tuple[Callable[[Any], bool], str]


def one_of(*options: str | None) -> Check:
    names = ", ".join(repr(option) for option in options)
    return lambda value: (value is None or isinstance(value, str)) and value in options, f"one of {names}"


def number(lo: float, hi: float = np.inf) -> Check:
    def fits(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            return False
        return bool(np.isfinite(float(value))) and lo <= float(value) <= hi

    upper = f" and at most {hi:g}" if np.isfinite(hi) else ""
    return fits, f"a finite number of at least {lo:g}{upper}"


def integer(lo: int) -> Check:
    def fits(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
            return False
        return int(value) >= lo

    return fits, f"an integer of at least {lo}"


def boolean() -> Check:
    return lambda value: isinstance(value, (bool, np.bool_)), "True or False"


def none() -> Check:
    return lambda value: value is None, "None"


def array_like() -> Check:
    def fits(value: Any) -> bool:
        return hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict))

    return fits, "a list or an array"


def numbers(lo: float, hi: float = np.inf) -> Check:
    """A flat list that holds at least one number."""

    def fits(value: Any) -> bool:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return array.ndim == 1 and array.size > 0 and all(number(lo, hi)[0](float(v)) for v in array)

    return fits, f"a list, each entry {number(lo, hi)[1]}"


def seed() -> Check:
    def fits(value: Any) -> bool:
        return value is None or integer(0)[0](value) or isinstance(value, (np.random.RandomState, np.random.Generator))

    return fits, "None, an integer of at least 0 or a random number generator"


def with_method(name: str) -> Check:
    return lambda value: hasattr(value, name), f"an object with a method '{name}'"


def either(*checks: Check) -> Check:
    return lambda value: any(fits(value) for fits, _ in checks), " or ".join(text for _, text in checks)


def check_parameters(estimator: Any, table: Mapping[str, Check]) -> None:
    """Raise ParameterError for the first parameter whose value cannot be used; the defaults can."""
    defaults = _defaults(type(estimator).__init__)
    for name, (fits, expected) in table.items():
        value = getattr(estimator, name)
        if value is not defaults.get(name, Parameter.empty) and not fits(value):
            raise ParameterError.bad_value(name, value, expected)


@cache
def _defaults(constructor: Callable[..., Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in signature(constructor).parameters.items()}


def recipe_from(kind: type[R], model: Any, **others: Any) -> R:
    """The recipe whose fields are the parameters of the model with the same names, but for ``others``."""
    names = (field.name for field in fields(kind) if hasattr(model, field.name))
    return kind(**{name: getattr(model, name) for name in names}, **others)
