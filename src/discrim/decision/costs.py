"""Costs of actions, and the action that costs least."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError, name_list, plural
from discrim.typing import Floats


def checked_costs(costs: Any, classes: NDArray[Any], actions: Any = None) -> tuple[Floats, NDArray[Any]]:
    """L, K x A: the cost L[k, j] of action j where the class is k; and the names of the actions.

    Without costs every wrong class costs 1. Without names the actions are the classes.
    """
    size = len(classes)
    if costs is None:
        if actions is not None:
            raise ParameterError("The 'actions' parameter names the columns of 'costs', which is None. Give both.")
        return 1.0 - np.eye(size), classes
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError.bad_value("costs", costs, "a matrix of numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != size or not matrix.shape[1]:
        found = " x ".join(map(str, matrix.shape)) or "a single number"
        raise ParameterError(
            f"The 'costs' parameter is {found}; it needs a row for each of the {plural(size, 'class', 'classes')} "
            f"({name_list(classes)}) and a column for each action."
        )
    if not np.isfinite(matrix).all():
        raise ParameterError("The 'costs' parameter holds NaN or infinity; costs are finite numbers.")
    return matrix, _action_names(actions, matrix.shape[1], classes)


def expected_costs(posterior: Floats, costs: Floats) -> Floats:
    """sum_k p_k L[k, j], n x A."""
    return np.asarray(posterior @ costs)


def cheapest(posterior: Floats, costs: Floats) -> NDArray[np.intp]:
    """The action of least expected cost, n numbers; the first of several.

    What a class costs at most is taken off its costs first, which changes every action by the same: with costs of
    0 and 1 what is left to compare are the posteriors themselves, to the last bit.
    """
    return np.asarray((posterior @ (costs - costs.max(axis=1, keepdims=True))).argmin(axis=1))


def _action_names(actions: Any, count: int, classes: NDArray[Any]) -> NDArray[Any]:
    if actions is None:
        if count != len(classes):
            raise ParameterError(
                f"The 'costs' parameter has {plural(count, 'action')} for {plural(len(classes), 'class', 'classes')}. "
                "Name them: actions=[...], one name for each column."
            )
        return classes
    listed = list(actions) if not isinstance(actions, str) else [actions]
    names = np.asarray(listed) if len({type(name) for name in listed}) == 1 else np.array(listed, dtype=object)
    if names.shape != (count,) or len(set(listed)) != count:
        raise ParameterError.bad_value(
            "actions", actions, f"{plural(count, 'different name')}, one for each column of 'costs'"
        )
    return names
