"""Arguments of pictures: what is wrong with one is said in a sentence, before anything is drawn."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from discrim.errors import ParameterError
from discrim.plots.lettering import readable
from discrim.typing import Floats

P = ParamSpec("P")
R = TypeVar("R")


class Kind(NamedTuple):
    """What the message says, and the test."""

    said: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return real and bool(np.isfinite(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (bytes, dict)) and np.ndim(cast("Any", value)) == 1


# By annotation; those that are not here are checked where they are used.
KINDS = {
    "bool": Kind("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    "int": Kind("a whole number", _is_whole),
    "float": Kind("a finite number", _is_number),
    "str": Kind("a text", lambda value: isinstance(value, str)),
    "Callable": Kind("a function", callable),
    "str | os.PathLike[str]": Kind("the name of a file", lambda value: isinstance(value, (str, os.PathLike))),
    "Sequence[str]": Kind("a list of names", lambda value: isinstance(value, str) or _is_list(value)),
    "tuple[str, str]": Kind("two names", lambda value: _is_list(value) and list(map(type, value)) == [str, str]),
}
# By name: numbers that mean the same in every picture.
RANGES = {
    "level": Kind("a number between 0 and 1, such as 0.95", lambda value: 0 < value < 1),
    "most": Kind("a whole number of at least 1", lambda value: value >= 1),
    "n": Kind("a whole number of trials, at least 1", lambda value: value >= 1),
    "draws": Kind("a whole number of at least 0", lambda value: value >= 0),
    "random_state": Kind("a whole number of at least 0", lambda value: value >= 0),
    "size": Kind("a number above 0", lambda value: value > 0),
    "seconds": Kind("a number above 0", lambda value: value > 0),
}


def checked(draw: Callable[P, R]) -> Callable[P, R]:
    """A picture whose arguments are what its annotations say: flags, numbers, texts, functions, words of a Literal.

    What is equal to the default is not looked at. What is written in the picture is then made readable, and its panels
    are put in place.
    """
    parameters = inspect.signature(draw).parameters

    @wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> R:
        for name, value in [*zip(parameters, args, strict=False), *options.items()]:
            if name in parameters and value is not parameters[name].default:
                _check(name, value, str(parameters[name].annotation))
        shown = draw(*args, **options)
        for figure in {ax.figure for ax in np.ravel(np.asarray(shown, dtype=object)) if hasattr(ax, "transAxes")}:
            readable(figure)
            _settle(figure)
        return shown

    return drawn


def _settle(figure: Any) -> None:
    """Find the places of panels with equal scales before they are looked for again while the figure is drawn.

    The sides of such a panel depend on each other, so that one search leaves text outside of the figure.
    """
    if figure.get_layout_engine() is not None and any(ax.get_aspect() != "auto" for ax in figure.axes):
        figure.draw_without_rendering()


def _check(name: str, value: Any, annotation: str) -> None:
    kind = _kind(annotation.removesuffix(" | None"))
    if kind is None or (value is None and annotation.endswith("| None")):
        return
    limits = RANGES.get(name, Kind("", lambda _: True))
    if not kind.fits(value) or not limits.fits(value):
        none = ", or None" if annotation.endswith("| None") else ""
        raise ParameterError.bad_value(name, value, (limits.said or kind.said) + none)


@cache
def _kind(annotation: str) -> Kind | None:
    if not annotation.startswith("Literal["):
        return KINDS.get("Callable" if annotation.startswith("Callable") else annotation)
    words = ast.literal_eval(annotation.removeprefix("Literal").replace("[", "(").replace("]", ",)"))
    return Kind(" or ".join(map(repr, words)), lambda value: isinstance(value, str) and value in words)


def numbers_in(name: str, value: Any, expected: str) -> Floats:
    """An argument as an array of numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError.bad_value(name, value, expected) from None


def names_in(name: str, value: Any) -> list[str]:
    """Names, one or several."""
    if not isinstance(value, str) and not _is_list(value):
        raise ParameterError.bad_value(name, value, "a list of names")
    return [value] if isinstance(value, str) else [str(each) for each in value]
