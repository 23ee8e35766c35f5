"""One model from several that never shared rows."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from discrim.errors import DataError, name_list
from discrim.families.recipe import Shape
from discrim.models.shell import Classifier, RecipeClassifier

Model = TypeVar("Model", bound=Classifier)


def merge(first: Model, *others: Model) -> Model:
    """The model that one fit of all rows would give, from fitted models with the same parameters and columns."""
    models: list[Any] = [first, *others]
    for model in models:
        _check_mergeable(model)
    head, parts = models[0], [models[0].mergeable_statistic()]
    for other in models[1:]:
        _check_alike(head, other)
        parts.append(other.mergeable_statistic())
        mine, theirs = head.columns_.names_out, other.columns_.names_out
        if mine != theirs:
            raise _other_columns(head.columns_.names_in, mine, theirs)
    statistic = head.recipe().reduction(Shape(head.columns_), parts[0]).merge(parts)
    chosen = [model.chosen for model in models if model.chosen is not None]
    if any(dict(one.settings) != dict(chosen[0].settings) for one in chosen):
        found = ", ".join(str(dict(one.settings)) for one in chosen)
        raise DataError(f"The models to be merged chose different settings: {found}. Fit them all with one of these.")
    lists = [model.declared_classes for model in models if model.declared_classes is not None]
    declared = np.unique(np.concatenate(lists)) if lists else None
    merged: Model = clone(head).from_sum(statistic, head.known_columns, declared, chosen[0] if chosen else None)
    return merged


def _other_columns(names: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> DataError:
    differing = sorted({*mine} ^ {*theirs})
    if not differing:
        return DataError(
            "The models to be merged were fitted on the same columns in another order. Give all fits one order, that "
            f"of the first: features={list(names)!r} of scan, or --features {','.join(names)}."
        )
    are = "is" if len(differing) == 1 else "are"
    return DataError(
        "The models to be merged were fitted on different columns, or categories with different levels: "
        f"{name_list(differing)} {are} not in all of them."
    )


def _check_mergeable(model: Any) -> None:
    if isinstance(model, RecipeClassifier):
        return
    name = type(model).__name__
    if isinstance(model, list | tuple):
        raise DataError(f"merge takes models one by one, not a {name} of them: merge(*models).")
    instead = ", or pass the rows of one model to the other's partial_fit" if hasattr(model, "partial_fit") else ""
    raise DataError(
        f"{name} cannot be merged: what it learns is not a sum over the rows, so two fitted models do not hold what a "
        f"fit of all their rows needs. Fit one model to all rows (scan() reads many files){instead}."
    )


def _check_alike(first: Any, other: Any) -> None:
    text = f"Only models of one kind with equal parameters can be merged; found {first!r} and {other!r}."
    if type(other) is not type(first):
        raise DataError(text)
    mine, theirs = first.get_params(), other.get_params()
    differing = [name for name in {**mine, **theirs} if not _equal(mine.get(name), theirs.get(name))]
    if differing:
        raise DataError(f"{text} They differ in {name_list(differing)}.")


def _equal(a: Any, b: Any) -> bool:
    """By value: arrays and lists by their entries, objects without an equality of their own by their content."""
    if a is b:
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if _is_list(a) and _is_list(b):
        x, y = np.asarray(a), np.asarray(b)
        return bool(np.array_equal(x, y, equal_nan=x.dtype.kind in "fc" and y.dtype.kind in "fc"))
    own: Any = type(a).__eq__
    if own is not object.__eq__:
        return bool(a == b)
    if type(a) is not type(b):
        return False
    try:
        return pickle.dumps(a) == pickle.dumps(b)
    except Exception:  # noqa: BLE001 - whatever cannot be looked into is equal to itself alone
        return False


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) or (hasattr(value, "__array__") and hasattr(value, "__len__"))
