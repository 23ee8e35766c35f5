"""The label of an answer that is none of the classes: rejected, ambiguous, unassigned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError, name_list


def spare_label(name: str, given: Any, classes: NDArray[Any], text: str) -> Any:
    """The label ``given`` by the parameter ``name``; where that is None one of the type of the classes.

    That is ``text`` for labels of text, and for numbers the integer below all of them and below zero, so -1 for
    classes 0, 1, 2.
    """
    if given is None:
        if classes.dtype.kind in "iuf":
            return min(int(np.floor(classes.min())), 0) - 1
        given = text
    if any(label == given for label in classes.tolist()):
        raise ParameterError.bad_value(name, given, f"none of the classes, which are {name_list(classes)}")
    return given


def with_spare(classes: NDArray[Any], label: Any) -> NDArray[Any]:
    """The classes and the label behind them, of a type that holds both: of objects where nothing else does."""
    spare = np.asarray(label)
    texts = {classes.dtype.kind, spare.dtype.kind} <= set("US")
    numbers = {classes.dtype.kind, spare.dtype.kind} <= set("iuf")
    if spare.ndim == 0 and (texts or numbers):
        return np.append(classes, spare)
    mixed = np.empty(len(classes) + 1, dtype=object)
    mixed[:-1], mixed[-1] = classes.tolist(), label
    return mixed
