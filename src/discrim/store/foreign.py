"""Estimators of scikit-learn that a model file may hold: a closed table, with the fields that a file has of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from discrim.errors import ModelFileError
from discrim.store.estimators import FEATURES, GIVEN, is_fitted
from discrim.store.fields import (
    Array,
    Field,
    Fields,
    Flag,
    Incoming,
    Many,
    Number,
    Optional,
    Outgoing,
    Text,
    damaged,
    read_fields,
    write_fields,
)
from discrim.store.kinds import FOREIGN as PREFIX
from discrim.store.kinds import Kind, Of
from discrim.store.values import Labels, Value

# Units and places of columns beyond these would make infinite numbers of ordinary ones, which the next step refuses.
SMALLEST, LARGEST = 1e-150, 1e150


@dataclass(frozen=True)
class Only(Field[Any]):
    """This value alone: with another one the answers would be those of code that a file does not know."""

    value: Any

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        if value is not self.value and not (value != value and self.value != self.value):  # noqa: PLR0124 - NaN
            raise ModelFileError(f"'{at}' is {value!r}; a model file holds {self.value!r} alone.")
        return Value().write(self.value, out, at)

    def read(self, node: Any, file: Incoming, at: str) -> Any:  # noqa: ARG002 - as all fields
        if Value().write(self.value, Outgoing(), at) != node:
            raise damaged(at, f"is not {self.value!r}")
        return self.value


def _as_it_is(kind: type, parameters: Mapping[str, Any], learned: Mapping[str, Any]) -> Any:
    model = kind(**parameters)
    vars(model).update(learned)
    return model


def _fitted_again(kind: type, parameters: Mapping[str, Any], learned: Mapping[str, Any]) -> Any:
    """What private attributes are made of is learned once more from a row of what was learned."""
    model = kind(**parameters)
    return model.fit(learned["statistics_"][None]) if learned else model


def _isotonic(kind: type, parameters: Mapping[str, Any], learned: Mapping[str, Any]) -> Any:
    model = kind(**parameters)
    return model.fit(learned["X_thresholds_"], learned["y_thresholds_"]) if learned else model


@dataclass(frozen=True)
class Foreign:
    """A class of scikit-learn, the parameters that its answers depend on, and what it learns.

    ``fits`` looks whether these go together; ``build`` makes the estimator.
    """

    module: str
    parameters: Fields
    learned: Fields = field(default_factory=dict)
    fits: Callable[[Any], bool] = lambda _: True
    build: Callable[[type, Mapping[str, Any], Mapping[str, Any]], Any] = _as_it_is

    def kind(self, name: str) -> type:
        """The class itself."""
        found: type = getattr(import_module(self.module), name)
        return found


def _steps_fit(pipeline: Any) -> bool:
    steps = pipeline.steps
    pairs = isinstance(steps, list) and all(isinstance(step, tuple) and len(step) == 2 for step in steps)
    if not (pairs and steps) or not all(isinstance(name, str) and "__" not in name for name, _ in steps):
        return False
    used = [step for _, step in steps if step is not None and step != "passthrough"]
    *maps, _ = used or [None]
    if len(dict(steps)) < len(steps) or not used or not all(isinstance(each, BaseEstimator) for each in used):
        return False
    if not all(hasattr(each, "transform") for each in maps) or len({is_fitted(each) for each in used}) > 1:
        return False
    return not is_fitted(used[0]) or all(_width(a) in {None, _columns(b)} for a, b in pairwise(used))


def _columns(model: Any) -> Any:
    return getattr(model, "n_features_in_", None)


def _width(step: Any) -> int | None:
    """The columns that a fitted step makes; None where their number is not known."""
    with suppress(Exception):
        return len(step.get_feature_names_out())
    return None


def _calibrated_fits(model: Any) -> bool:
    parts = vars(model).get("calibrated_classifiers_", ())
    if not (model.estimator is None or isinstance(model.estimator, BaseEstimator)):
        return False
    if not all(np.array_equal(part.classes, model.classes_) for part in parts):
        return False
    return all(_columns(part.estimator) == _columns(parts[0].estimator) for part in parts)


def _calibrators_fit(part: Any) -> bool:
    inner, classes = part.estimator, part.classes
    if not hasattr(inner, "classes_") or not is_fitted(inner):
        return False
    size = len(inner.classes_)
    # By temperature classes are numbers, and those of the estimator are their codes.
    if size != len(classes) if part.method == "temperature" else not np.isin(inner.classes_, classes).all():
        return False
    several = part.method != "temperature" and size > 2
    alike = {type(each).__name__ for each in part.calibrators} == {CALIBRATORS[part.method]}
    return alike and len(part.calibrators) == (size if several else 1) and all(map(is_fitted, part.calibrators))


CALIBRATORS = {"sigmoid": "_SigmoidCalibration", "isotonic": "IsotonicRegression", "temperature": "_TemperatureScaling"}
PLACES, UNITS = Array("p", low=-LARGEST, high=LARGEST), Array("p", low=SMALLEST, high=LARGEST)
P = Optional(Array("p"))
IMPUTED: Fields = {
    "missing_values": Only(np.nan), "strategy": Text(("mean", "median", "most_frequent")), "fill_value": Only(None),
    "add_indicator": Only(value=False), "keep_empty_features": Flag(),
}  # fmt: skip
FOREIGN = {
    "Pipeline": Foreign("sklearn.pipeline", {"steps": Value()}, fits=_steps_fit),
    "StandardScaler": Foreign(
        "sklearn.preprocessing",
        {"with_mean": Flag(), "with_std": Flag()},
        {"mean_": Optional(PLACES), "scale_": Optional(UNITS), "var_": P, "n_samples_seen_": Value()},
        lambda m: (m.mean_ is not None or not m.with_mean) and (m.scale_ is not None) == m.with_std,
    ),
    "MinMaxScaler": Foreign(
        "sklearn.preprocessing",
        {"feature_range": Many(Number(), "2"), "clip": Flag()},
        {
            "min_": PLACES, "scale_": UNITS, "data_min_": Array("p"), "data_max_": Array("p"),
            "data_range_": Array("p"), "n_samples_seen_": Value(),
        },
        lambda m: m.feature_range[0] < m.feature_range[1],
    ),
    "MaxAbsScaler": Foreign(
        "sklearn.preprocessing", {},
        {"scale_": UNITS, "max_abs_": Array("p"), "n_samples_seen_": Value()},
    ),
    "RobustScaler": Foreign(
        "sklearn.preprocessing",
        {
            "with_centering": Flag(), "with_scaling": Flag(), "unit_variance": Flag(),
            "quantile_range": Many(Number(0, 100), "2"),
        },
        {"center_": Optional(PLACES), "scale_": Optional(UNITS)},
        lambda m: (m.center_ is not None) == m.with_centering and (m.scale_ is not None) == m.with_scaling,
    ),
    "SimpleImputer": Foreign(
        "sklearn.impute", IMPUTED, {"statistics_": Array("p", allowed=("nan",))}, build=_fitted_again
    ),
    "PCA": Foreign(
        "sklearn.decomposition",
        {"n_components": Value(), "whiten": Flag()},
        {
            "components_": Array("k p"), "mean_": Array("p"), "explained_variance_": Array("k", low=0.0),
            "explained_variance_ratio_": Array("k", allowed=("nan",)), "singular_values_": Array("k"),
            "n_components_": Value(), "n_samples_": Value(), "noise_variance_": Value(),
        },
    ),
    "CalibratedClassifierCV": Foreign(
        "sklearn.calibration",
        {
            "estimator": Value(), "method": Text(tuple(CALIBRATORS)), "ensemble": Value(), "cv": GIVEN,
            "n_jobs": Value(),
        },
        {"classes_": Labels("K"), "calibrated_classifiers_": Many(Of(object), type=list)},
        _calibrated_fits,
    ),
    "_CalibratedClassifier": Foreign(
        "sklearn.calibration",
        {
            "estimator": Of(BaseEstimator), "calibrators": Many(Of(BaseEstimator), type=list), "classes": Labels("K"),
            "method": Text(tuple(CALIBRATORS)),
        },
        fits=_calibrators_fit,
    ),
    "_SigmoidCalibration": Foreign("sklearn.calibration", {}, {"a_": Number(), "b_": Number()}),
    "_TemperatureScaling": Foreign("sklearn.calibration", {}, {"beta_": Number(0)}),
    "IsotonicRegression": Foreign(
        "sklearn.isotonic",
        {"out_of_bounds": Only("clip"), "increasing": Only(value=True)},
        {"X_thresholds_": Array("n"), "y_thresholds_": Array("n", low=0.0, high=1.0)},
        lambda m: bool((np.diff(m.X_thresholds_) > 0).all()),
        _isotonic,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class ForeignKind(Kind):
    """A class of the table."""

    row: Foreign

    def write(self, value: Any, out: Outgoing, at: str) -> dict[str, Any]:
        parameters = {name: getattr(value, name) for name in self.row.parameters}
        for name in _others(self.type, parameters):
            if getattr(value, name) is not _default(self.type, name):
                out.left_out.append(f"{name}={getattr(value, name)!r}")
        known = vars(value)
        learned = {name: known.get(name) for name in self.row.learned}
        features = {"count": known.get("n_features_in_"), "names": known.get("feature_names_in_")}
        fitted = any(name in known for name in self.row.learned)
        return {
            "kind": self.name,
            "parameters": write_fields(self.row.parameters, parameters, out, f"{at}.parameters"),
            "learned": write_fields(self.row.learned, learned, out, f"{at}.learned") if fitted else None,
            "features": FEATURES.write(features, out, f"{at}.features"),
        }

    def read(self, node: dict[str, Any], file: Incoming, at: str) -> Any:
        if node.keys() != {"kind", "parameters", "learned", "features"}:
            raise damaged(at, "is no estimator")
        parameters = read_fields(self.row.parameters, node["parameters"], file, f"{at}.parameters")
        learned = (
            {} if node["learned"] is None else read_fields(self.row.learned, node["learned"], file, f"{at}.learned")
        )
        features = FEATURES.read(node["features"], file, f"{at}.features")
        count, names = features["count"], features["names"]
        if learned and count != file.letters.get("p", count):
            raise damaged(at, "has another number of columns")
        model = self.row.build(self.type, parameters, learned)
        if count is not None and learned:
            model.n_features_in_ = count
        if names is not None:
            if len(names) != count:
                raise damaged(at, "has not a name for each column")
            model.feature_names_in_ = np.array(names, dtype=object)
        if learned or not self.row.learned:
            self._check(model, at)
        return model

    def _check(self, model: Any, at: str) -> None:
        if not self.row.fits(model):
            raise damaged(at, "has parts that do not go together")


def foreign_kind(name: str) -> ForeignKind | None:
    """The class of this name in the table."""
    row = FOREIGN.get(name)
    if row is None:
        return None
    try:
        return ForeignKind(PREFIX + name, row.kind(name), row)
    except (ImportError, AttributeError) as error:
        raise ModelFileError(f"This version of scikit-learn has no {name.lstrip('_')}; use a newer one.") from error


def _others(kind: type, parameters: Iterable[str]) -> list[str]:
    """Parameters that the table does not have."""
    return [name for name in signature(kind).parameters if name not in parameters]


def _default(kind: type, name: str) -> Any:
    default = signature(kind).parameters[name].default
    return None if default is Parameter.empty else default
