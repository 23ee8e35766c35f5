"""The fitted scikit-learn estimator of the same name."""

from __future__ import annotations

import warnings
from importlib import import_module
from inspect import signature
from operator import methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.validation import check_is_fitted

from discrim.exports.program import no_export

MODULES = ("discriminant_analysis", "naive_bayes", "linear_model", "neighbors", "multiclass")
# Attributes that hold a row for each class, between which rows are tried.
CENTRES = ("means_", "theta_", "centroids_")
# Rows that are tried of each kind, and what answers may differ by.
TRIED, ROUNDING = 40, 1e-9


def sklearn_of(model: Any) -> Any:
    """The estimator of scikit-learn with the same name, the same parameters, and the attributes that were fitted.

    Parameters that scikit-learn lacks, or whose value it does not know, are left at their defaults: they matter to
    ``fit`` alone, or the answers differ, which is looked for on some rows and is an error.
    """
    check_is_fitted(model)
    made = _unfitted(model)
    _refuse_categories(model)
    for name in (name for name in dir(type(model)) + list(vars(model)) if name.endswith("_") and name[0] != "_"):
        value = getattr(model, name, Ellipsis)
        own = type(value).__module__.startswith("discrim.") and not hasattr(value, "to_sklearn")
        if value is not Ellipsis and not own and not callable(value) and not hasattr(type(made), name):
            setattr(made, name, _converted(value))
    try:
        made.predict(_rows_to_try(model)[0])
    except NotFittedError:
        # Classes of regressions look up labels in indicators.
        vars(made)["_label_binarizer"] = LabelBinarizer(pos_label=1, neg_label=-1).fit(model.classes_)
    except (ValueError, IndexError, AttributeError):
        pass  # is found again below
    _check_same(model, made)
    return made


def _unfitted(model: Any) -> Any:
    name = type(model).__name__
    modules = (import_module(f"sklearn.{module}") for module in MODULES)
    kind = next((getattr(module, name) for module in modules if hasattr(module, name)), None)
    if kind is None:
        raise no_export(name, "scikit-learn has no class of this name. Use to_onnx, to_sql, to_c or to_python.")
    known, given = signature(kind).parameters, model.get_params(deep=False)
    values = {key: _unfitted(value) if hasattr(value, "to_sklearn") else value for key, value in given.items()}
    usable = {}
    check = methodcaller("_validate_params")  # as scikit-learn's fit does
    for key in known.keys() & values.keys():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(kind(**{key: values[key]}))
        except (ValueError, TypeError):
            if key == "estimator":
                usable[key] = values[key]
            continue
        usable[key] = values[key]
    return kind(**usable)


def _converted(value: Any) -> Any:
    if isinstance(value, list):
        return [_converted(each) for each in value]
    return value.to_sklearn() if hasattr(value, "to_sklearn") else value


def _refuse_categories(model: Any) -> None:
    columns = getattr(model, "columns_", None)
    if columns is not None and columns.categorical and columns.named:
        raise no_export(
            "A model of categories to scikit-learn", "Its classes take numbers alone. Use to_onnx, to_sql or to_c."
        )


def _check_same(model: Any, made: Any) -> None:
    """Raise where the answers differ on some rows between and around the classes."""
    method = "predict_proba" if hasattr(model, "predict_proba") and hasattr(made, "predict_proba") else "predict"
    for rows in _rows_to_try(model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ours, theirs = getattr(model, method)(rows), getattr(made, method)(rows)
            except (ValueError, IndexError, AttributeError):
                ours, theirs = np.zeros(1), np.full(1, np.nan)
        same = (ours == theirs).all() if ours.dtype.kind != "f" else np.allclose(ours, theirs, rtol=0, atol=ROUNDING)
        if not same:
            raise no_export(
                f"This {type(model).__name__} to scikit-learn",
                "The class of this name answers otherwise, since it lacks what was set here. Use to_onnx or to_python.",
            )


def _rows_to_try(model: Any) -> list[NDArray[Any]]:
    rng, p = np.random.default_rng(0), int(model.n_features_in_)
    centres = next((getattr(model, name) for name in CENTRES if hasattr(model, name)), None)
    if centres is not None and np.shape(centres)[1] == p:
        weight = rng.dirichlet(np.full(len(centres), 0.5), TRIED)
        spread = np.ptp(centres, axis=0) + 1e-3
        return [weight @ centres + rng.normal(size=(TRIED, p)) * spread]
    return [rng.integers(0, 2, (TRIED, p)).astype(np.float64)]
