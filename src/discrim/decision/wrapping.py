"""What every estimator around another one does in the same way."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_array, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.block import join
from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.evaluation.answers import weights_of
from discrim.exports.exporting import Exported
from discrim.models.beyond import posteriors_of
from discrim.models.parameters import Check
from discrim.models.shell import check_parameters
from discrim.sources import Scan, check_structure, code_labels, open_rows, recode
from discrim.sources.rows import check_labelled
from discrim.store.estimators import SavedEstimator, is_fitted
from discrim.store.fields import Fields, Incoming, damaged
from discrim.store.values import Value
from discrim.typing import Codes, Floats

Method = TypeVar("Method", bound=Callable[..., Any])


def offered(method: str) -> Callable[[Method], Method]:
    """A method that exists only if the estimator inside, or the first of several, has ``method``, fitted or not."""

    def check(self: Any) -> bool:
        # Raises the AttributeError of the inner estimator, which is shown as the cause.
        getattr(_inside(self), method)
        return True

    return available_if(check)  # type: ignore[no-any-return]


def offered_posteriors(method: Method) -> Method:
    """A method that exists only if the estimator inside, or the first of several, has posteriors, hidden or not."""
    return available_if(lambda self: posteriors_of(_inside(self)) is not None)(method)  # type: ignore[no-any-return]


def _inside(owner: Any) -> Any:
    several = getattr(owner, "estimators_", None)
    return several[0] if several else getattr(owner, "estimator_", owner.estimator)


class MetaClassifier(SavedEstimator, Exported, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier around another estimator: it accepts the rows that this one accepts."""

    # Methods whose further arguments are routed to the method of the same name of the estimator inside.
    _routed: ClassVar[tuple[str, ...]] = ("fit",)

    _constraints: ClassVar[Mapping[str, Check]] = {}

    estimator: Any
    classes_: NDArray[Any]

    def check_parameters(self, names: set[str]) -> None:
        """Raise where a parameter among ``names`` has a value that cannot be used."""
        check_parameters(self, {name: check for name, check in self._constraints.items() if name in names})

    def get_metadata_routing(self) -> Any:
        mapping = MethodMapping()
        for method in self._routed:
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=mapping)

    def plot(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """What it answers, in the directions in which the classes of the rows X, y differ most, as matplotlib axes."""
        from discrim import plots

        return plots.separation(self, X, y, **options)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("sparse", "pairwise", "allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        return tags


class Inner(Value):
    """The estimator inside, which may be frozen: one that can be stored itself."""

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        value = super().read(node, file, at)
        if not (is_fitted(value) and hasattr(value, "classes_")):
            raise damaged(at, "is no fitted estimator")
        return value


class Wrapper(MetaClassifier, ABC):
    """A classifier that decides by the posteriors of the one inside.

    ``fit`` fits a clone of ``estimator``, which is then ``estimator_``; a ``FrozenEstimator`` stays as it is. Rows
    go to it as they are, so that it accepts the same containers.
    """

    learned: ClassVar[Fields] = {"estimator_": Inner()}

    # Of these methods the estimator inside must have one.
    _methods: ClassVar[tuple[str, ...]] = ("predict_proba",)

    estimator_: Any

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the estimator inside; ``sample_weight`` and what else is passed by name go to it."""
        check_parameters(self, self._constraints)
        if posteriors_of(self.estimator) is None and not any(hasattr(self.estimator, name) for name in self._methods):
            raise ParameterError(
                f"{type(self).__name__} needs an estimator with {' or '.join(self._methods)}, which {self.estimator!r} "
                "lacks. Use another, wrap it in sklearn.calibration.CalibratedClassifierCV, or set methods='all' where "
                "the estimator has this parameter."
            )
        arguments = fit_arguments(self, fit_params)
        check_structure(X)
        inner = clone(self.estimator).fit(X, y, **arguments)
        self.classes_ = inner.classes_
        self._decide(inner, X, y, arguments.get("sample_weight"))
        self.estimator_ = inner
        remember_columns(self, inner)
        return self

    def is_learned(self) -> bool:
        return "estimator_" in self.__dict__

    def check_learned(self, file: Incoming) -> None:
        """Take over the classes of the estimator inside, for which the rule must be."""
        self.check_columns(getattr(self.estimator_, "n_features_in_", None))
        if not hasattr(self.estimator, "fit"):
            raise damaged("estimator", "is no estimator")
        self.classes_ = self.estimator_.classes_
        file.bind("K", len(self.classes_), "classes_")

    @abstractmethod
    def _decide(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn what this rule needs besides the fitted estimator."""

    @offered_posteriors
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Posteriors of the estimator inside, n x K, columns as ``classes_``."""
        check_is_fitted(self, "estimator_")
        return asked(self.estimator_, "predict_proba", X)


def asked(inner: Any, method: str, X: Any) -> NDArray[Any]:
    """The answers of any estimator, of its posteriors also hidden ones; a sparse matrix is checked first."""
    check_structure(X)
    answer: Any = posteriors_of(inner) if method == "predict_proba" else getattr(inner, method)
    return np.asarray(answer(X))


def fit_arguments(owner: Any, fit_params: Mapping[str, Any], method: str = "fit") -> Mapping[str, Any]:
    """What goes to the ``method`` of the inner estimator: by its requests where metadata routing is on, else all.

    As in scikit-learn ``sample_weight`` is among ``fit_params`` and not a parameter of ``fit``: clients take a
    parameter as a promise that the estimator inside can be weighted.
    """
    given = {name: value for name, value in fit_params.items() if name != "sample_weight" or value is not None}
    if get_config()["enable_metadata_routing"] and given:
        routed: Mapping[str, Any] = process_routing(owner, method, **given).estimator[method]
        return routed
    if "sample_weight" in given and not _accepts(getattr(owner.estimator, method), "sample_weight"):
        name = type(owner.estimator).__name__
        raise ParameterError(f"{name}.{method} takes no sample_weight; leave the weights out.")
    return given


def checked_table(X: Any, y: Any = None) -> Any:
    """X with rows that can be taken out, and as many of them as y has labels; its columns are left to the estimator."""
    if isinstance(X, Scan):
        return X
    check_structure(X)
    X, _ = indexable(X, y)
    if isinstance(X, np.ndarray) and (X.ndim != 2 or not X.size or X.dtype.kind == "c"):
        check_array(X, ensure_all_finite=False)  # raises, and says what to do
    return X


def remember_columns(owner: Any, inner: Any) -> None:
    """The number and names of the columns that the fitted ``inner`` knows."""
    for name in ("n_features_in_", "feature_names_in_"):
        owner.__dict__.pop(name, None)
        if hasattr(inner, name):
            setattr(owner, name, getattr(inner, name))


def spare_label(name: str, given: Any, classes: NDArray[Any], text: str) -> Any:
    """The label of an answer that is none of the classes: as the parameter ``name`` says, or one of their type.

    The latter is ``text`` for labels of text, and for numbers the integer below all of them and below zero, so -1 for
    classes 0, 1, 2.
    """
    if given is None:
        if classes.dtype.kind in "iuf":
            return min(int(np.floor(classes.min())), 0) - 1
        given = text
    if any(label == given for label in classes.tolist()):
        raise ParameterError.bad_value(name, given, f"none of the classes, which are {name_list(classes)}")
    return given


def with_spare(classes: NDArray[Any], label: Any, best: NDArray[np.intp], known: NDArray[np.bool_]) -> NDArray[Any]:
    """The classes numbered ``best`` where ``known``, else the label; of a type that holds both."""
    spare = np.asarray(label)
    kinds = {classes.dtype.kind, spare.dtype.kind}
    if spare.ndim == 0 and (kinds <= set("US") or kinds <= set("iuf")):
        labels = np.append(classes, spare)
    else:
        labels = np.empty(len(classes) + 1, dtype=object)
        labels[:-1], labels[-1] = classes.tolist(), label
    return np.asarray(labels[np.where(known, best, len(classes))])


def codes_of(y: Any, classes: NDArray[Any], rows: int) -> Codes:
    """The codes of so many labels among the classes."""
    codes = recode(y, classes)
    if len(codes) != rows:
        raise DataError(f"X has {plural(rows, 'row')}, y has {plural(len(codes), 'label')}.")
    return codes


def coded_labels(X: Any, y: Any, sample_weight: Any) -> tuple[NDArray[Any], Codes, Floats]:
    """Classes, codes and weights of the rows, also of a scan, of which only these are kept."""
    if not isinstance(X, Scan):
        classes, codes = code_labels(y)
        return classes, codes, weights_of(sample_weight, len(codes))
    rows = open_rows(X, y, sample_weight)
    check_labelled(rows)
    if not rows.rereadable:
        raise DataError("These rows can be read only once, and their labels are needed again. Pass a table or a file.")
    whole = join([replace(block, x=np.empty((len(block), 0))) for block in rows.blocks()])
    return whole.classes, whole.codes, weights_of(whole.weight, len(whole))


def _accepts(function: Any, name: str) -> bool:
    found = inspect.signature(function).parameters
    return name in found or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in found.values())
