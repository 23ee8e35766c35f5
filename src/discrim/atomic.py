"""What a call that fails or is interrupted leaves behind: nothing."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from functools import wraps
from typing import Any, TypeVar

import numpy as np

Method = TypeVar("Method", bound=Callable[..., Any])
Model = TypeVar("Model")


def all_or_nothing(method: Method) -> Method:
    """A method after which its object has changed as a whole; where it raises or is interrupted, not at all.

    It works on a shallow copy, whose attributes the object takes over in one assignment at the end. What lies behind
    an attribute is shared with the copy: the method replaces it and never writes into it. A generator that was given
    as ``random_state`` is set back.
    """

    @wraps(method)
    def whole(self: Any, *args: Any, **parameters: Any) -> Any:
        before = self.__dict__
        working = object.__new__(type(self))
        working.__dict__.update(before)
        generator = before.get("random_state")
        drawn = generator_state(generator)
        try:
            result = method(working, *args, **parameters)
            self.__dict__ = dict(working.__dict__)
            return self if result is working else result  # noqa: TRY300 - an interrupt on the way out is one too
        except BaseException:
            self.__dict__ = before
            set_back(generator, drawn)
            raise

    return whole  # type: ignore[return-value]


def learning_copy(model: Model) -> Model:
    """A copy that may learn more without a trace in ``model``; our own models share what they never write into."""
    ours = type(model).__module__.partition(".")[0] == "discrim"
    return copy(model) if ours else deepcopy(model)


def generator_state(generator: Any) -> Any:
    """Where a random generator is; None for a seed and for None."""
    if isinstance(generator, np.random.RandomState):
        return generator.get_state()
    return generator.bit_generator.state if isinstance(generator, np.random.Generator) else None


def set_back(generator: Any, state: Any) -> None:
    """Where it was when ``generator_state`` gave this."""
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
