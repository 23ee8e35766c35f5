"""The classes that a user declares before all of them are met."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list
from discrim.sources import code_labels


def declared_classes(before: NDArray[Any] | None, classes: Any) -> NDArray[Any] | None:
    """The classes that were declared, now or before; two lists that differ are an error."""
    if classes is None:
        return before
    declared = code_labels(classes)[0]
    if before is not None and not np.array_equal(before, declared):
        raise ParameterError(
            f"`classes` ({name_list(declared)}) is not the same as on last call to partial_fit, when it was "
            f"{name_list(before)}. Give the same classes, or leave them out."
        )
    return declared


def check_declared(found: NDArray[Any], declared: NDArray[Any]) -> None:
    """Raise where a label was found that was not declared."""
    strange = found[~np.isin(found, declared)]
    if len(strange):
        raise DataError(
            f"The target label(s) {name_list(strange)} in y do not exist in the initial classes "
            f"{name_list(declared)}. Leave `classes` out to let new classes in."
        )
