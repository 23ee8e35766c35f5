"""One model from several that never shared rows."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from discrim.errors import DataError
from discrim.models.mergeable import MergeableClassifier

Model = TypeVar("Model", bound=MergeableClassifier[Any])


def merge(first: Model, *others: Model) -> Model:
    """The model that one fit of all rows would give, from fitted models with the same parameters and columns."""
    check_is_fitted(first, "statistic_")
    if any(hasattr(model, "_labels") for model in (first, *others)):
        raise DataError("Models of several labels cannot be merged. Fit and merge one model for each label.")
    result: Model = clone(first)
    statistic = first.statistic_
    for other in others:
        if type(other) is not type(first) or str(other.get_params()) != str(first.get_params()):
            raise DataError(
                f"Only models of one kind with equal parameters can be merged; found {first!r} and {other!r}."
            )
        check_is_fitted(other, "statistic_")
        if other._design.names_out != first._design.names_out:
            raise DataError("The models to be merged were fitted on different columns.")
        statistic = result._combine([statistic, other.statistic_])
    for name in ("n_features_in_", "feature_names_in_", "_design"):
        if hasattr(first, name):
            setattr(result, name, getattr(first, name))
    declared = [model._declared for model in (first, *others) if hasattr(model, "_declared")]
    if declared:
        result._declared = np.unique(np.concatenate(declared))
    result._learn(statistic, None)
    return result
