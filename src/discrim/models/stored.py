"""Classifiers in model files: what they are written as, and what works again after they were read."""

from __future__ import annotations

import platform
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar
from warnings import catch_warnings, simplefilter

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from discrim.errors import DataError, DiscrimError, DiscrimWarning, ModelFileError, name_list
from discrim.families.recipe import Chosen, Solved
from discrim.families.rule import Rule
from discrim.inference.summary import Summary
from discrim.sources import Design, Schema
from discrim.store.estimators import SavedEstimator, no_statistic
from discrim.store.fields import (
    By,
    Field,
    Fields,
    Fixed,
    Incoming,
    Optional,
    Outgoing,
    Text,
    Texts,
    Whole,
    damaged,
    read_fields,
    write_fields,
)
from discrim.store.kinds import Of
from discrim.store.values import Labels, Value

# Numbers of an attribute such as covariance matrices beyond which a file does without it.
LARGE = 1 << 20
PUBLIC = re.compile(r"[A-Za-z]\w*_")
# A subclass that writes one of these anew is not what its recipe says.
OWN_ANSWERS = {"fit", "predict", "predict_proba", "predict_log_proba", "decision_function"}
VERSIONS = By(Text())
TRAINING: dict[str, Field[Any]] = {
    "rows": Optional(Whole()),
    "rows by class": Optional(Value()),
    "versions": VERSIONS,
}


class kept(property):  # noqa: N801 - named as the one it stands for
    """A property that is made of what only a fit leaves behind: a model file has its value."""

    def __init__(self, get: Callable[[Any], Any], *, field: Field[Any] | None = None, matrix: bool = False) -> None:
        super().__init__(get)
        self.field, self.matrix = Value() if field is None else field, matrix

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        known: Mapping[str, Any] = model.__dict__.get("_kept", {})
        return known[self.name] if self.name in known else super().__get__(model, owner)


def kept_matrix(get: Callable[[Any], Any]) -> kept:
    """The same for attributes as large as K covariance matrices: a file has them only where these are small."""
    return kept(get, matrix=True)


def kept_as(field: Field[Any]) -> Callable[[Callable[[Any], Any]], kept]:
    """The same for what predictions are made of, which is checked when it is read."""
    return lambda get: kept(get, field=field)


class StoredClassifier(SavedEstimator):
    """A classifier as a file has it: its rule, the columns that it reads, its attributes, and its summary as data."""

    classes_: NDArray[Any]
    _design: Design
    _rule: Rule
    # Further attributes: those that every file has, and those that learning goes on from.
    stored_state: ClassVar[Fields] = {}
    resumed_state: ClassVar[Fields] = {}
    # What a file brought along: values of ``kept`` properties, the summary, the record of the training.
    _kept: Mapping[str, Any]

    def is_learned(self) -> bool:
        return "classes_" in self.__dict__

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:
        """Classes, columns, rule and summary; with ``resumable`` what learning goes on from."""
        if out.alone:
            raise no_statistic(self)
        self._check_solved()  # type: ignore[attr-defined]
        own, resumed, known = self.stored_state, self.resumed_state, self.__dict__
        hidden = {"classes_", "n_features_in_", "feature_names_in_", *own, *resumed}
        attributes = {
            name: known[name] for name in sorted(known.get("_learned", known))
            if name in known and PUBLIC.fullmatch(name) and name not in hidden
        }  # fmt: skip
        names, derived = known.get("feature_names_in_"), self._derived()
        if out.resumable:
            self.check_resumable()
        return {
            "classes": Labels().write(self.classes_, out, f"{at}.classes"),
            "columns": Of(Design).write(self._design, out, f"{at}.columns"),
            "feature names": None if names is None else list(names),
            "rule": Of(Rule).write(self._rule, out, f"{at}.rule"),
            "attributes": By(Value()).write(attributes, out, f"{at}.attributes"),
            "state": write_fields(own, {name: getattr(self, name) for name in own}, out, f"{at}.state"),
            "derived": write_fields(self._derived_fields(derived), derived, out, f"{at}.derived"),
            "summary": Optional(Of(Summary)).write(summary_of(self), out, f"{at}.summary"),
            "training": write_fields(TRAINING, self.training_record(), out, f"{at}.training"),
            "statistic": write_fields(resumed, {name: getattr(self, name) for name in resumed}, out, f"{at}.statistic")
            if out.resumable and resumed
            else None,
        }

    def take_learned(self, node: Any, file: Incoming, at: str) -> None:
        """Take over what a file has."""
        if not isinstance(node, dict):
            raise damaged(at, "is no object")
        file = file.inside({})
        first: dict[str, Field[Any]] = {
            "classes": Labels("K"),
            "columns": Of(Design, {"n": "n", "p": "p"}),
            "feature names": Optional(Texts("n")),
            "rule": Of(Rule, {"K": "functions", "p": "p"}),
            "attributes": By(Value(), self._is_attribute),
            "state": Fixed(self.stored_state),
            "derived": Fixed(self._derived_fields(node.get("derived"))),
            "summary": Optional(Of(Summary)),
            "training": Fixed(TRAINING),
            "statistic": Optional(Fixed(self.resumed_state)),
        }
        found = read_fields(first, node, file, at)
        design, rule, classes, names = found["columns"], found["rule"], found["classes"], found["feature names"]
        if file.letters["functions"] not in {len(classes), 2 if len(classes) == 1 else len(classes)}:
            raise damaged(at, "has a rule of other classes")
        if names is not None and design.named and names != design.names_in:
            raise damaged(at, "has other names of columns")
        if (rule.reads == "mixed") != isinstance(design, Schema):
            raise damaged(at, "has a rule of other columns")
        if isinstance(design, Schema) and design.levelled != getattr(rule, "levelled", None):
            raise damaged(at, "reads other columns as levels than its rule")
        learned: dict[str, Any] = {
            "classes_": classes,
            "n_features_in_": design.n_in,
            **({} if names is None else {"feature_names_in_": np.array(names, dtype=object)}),
            "_design": design,
            **found["attributes"],
            **found["state"],
            **(found["statistic"] or {}),
            "_kept": {**found["derived"], "summary": found["summary"], "training": found["training"]},
        }
        learned |= self.restored(rule, found["attributes"], learned)
        self.__dict__.update(learned, _learned=(*learned, "_learned"))
        self.check_learned(file)

    def restored(self, rule: Rule, attributes: Mapping[str, Any], learned: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - as of every model
        """Further attributes, made of the rule and of the others."""
        return {"_rule": rule}

    def share_columns(self, other: StoredClassifier) -> None:
        """Have the columns of the other in common with it, which are equal."""
        if self._design != other._design:
            raise damaged("columns", "differ between models that share them")
        self._design = other._design

    @property
    def came_from_file(self) -> bool:
        """Is the model as it was loaded?"""
        return "_kept" in self.__dict__

    def check_resumable(self) -> None:
        """Raise where learning cannot go on, since the file that the model comes from had not what it takes."""
        missing = [name for name in self.resumed_state if name not in self.__dict__]
        if self.came_from_file and missing:
            raise DataError(
                f"This {type(self).__name__} was loaded from a file without its statistic: it predicts, and cannot "
                "learn, forget or be merged. Save the fitted model with keep_statistic=True."
            )

    def training_record(self) -> Mapping[str, Any]:
        """How many rows were learned from, and by which versions."""
        known = self.__dict__.get("_kept")
        if known is not None:
            return known["training"]  # type: ignore[no-any-return]
        rows, by_class = self._rows_learned()
        from discrim import __version__

        versions = {
            "python": platform.python_version(), "discrim": __version__, "numpy": np.__version__,
            "scipy": scipy.__version__, "scikit-learn": sklearn.__version__,
        }  # fmt: skip
        return {"rows": rows, "rows by class": by_class, "versions": versions}

    def _rows_learned(self) -> tuple[int | None, NDArray[Any] | None]:
        """The rows that were learned from, all together and by class, as far as known."""
        return None, None

    def kept_summary(self) -> Summary | None:
        """That of the file that the model comes from."""
        return self.__dict__.get("_kept", {}).get("summary")  # type: ignore[no-any-return]

    def _derived(self) -> dict[str, Any]:
        """The values of the ``kept`` properties."""
        found, matrices = {}, len(self.classes_) * self._design.n_out**2
        kind: Any = type(self)
        for name, each in _kept_properties(kind).items():
            if each.matrix and matrices > LARGE:
                continue
            # What cannot be found is not there in the model either.
            with suppress(AttributeError), catch_warnings():
                simplefilter("ignore", DiscrimWarning)
                found[name] = getattr(self, name)
        return found

    def _is_attribute(self, name: str) -> bool:
        return PUBLIC.fullmatch(name) is not None and not hasattr(type(self), name)

    def _derived_fields(self, names: Any) -> Fields:
        """The fields of these ``kept`` properties; others are none."""
        kind: Any = type(self)
        return {name: each.field for name, each in _kept_properties(kind).items() if name in (names or ())}


# What a file has of a sum that cannot be solved yet, beside the sum.
UNSOLVED: dict[str, Field[Any]] = {"columns": Of(Design, {"n": "n"}), "feature names": Optional(Texts("n"))}


class StoredStatistic(StoredClassifier):
    """A classifier that is solved from a statistic: with that in its file it learns on."""

    resumed_state: ClassVar[Fields] = {
        "statistic_": Of(object), "_chosen": Optional(Of(Chosen)), "_declared": Optional(Labels()),
    }  # fmt: skip

    statistic_: Any

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:
        """The same; what learning goes on from alone, of rows that cannot be solved yet or where that is asked for."""
        error = self.__dict__.get("_unsolved")
        if error is None and not out.alone:
            return super().write_learned(out, at)
        self.check_resumable()
        if not out.resumable:
            raise ModelFileError(
                f"This {type(self).__name__} has no rule yet: {error} Learn from more rows first, or save it with "
                "keep_statistic=True, to go on learning later."
            )
        names = self.__dict__.get("feature_names_in_")
        values = {"columns": self._design, "feature names": None if names is None else list(names)}
        return write_fields(
            {**UNSOLVED, **self.resumed_state},
            {**values, **{name: getattr(self, name) for name in self.resumed_state}}, out, at,
        )  # fmt: skip

    def take_learned(self, node: Any, file: Incoming, at: str) -> None:
        """Take over what a file has."""
        if not isinstance(node, dict) or "rule" in node:
            super().take_learned(node, file, at)
            return
        found = read_fields({**UNSOLVED, **self.resumed_state}, node, file.inside({}), at)
        design, names = found["columns"], found["feature names"]
        columns = {"_design": design, "n_features_in_": design.n_in}
        if names is not None:
            columns["feature_names_in_"] = np.array(names, dtype=object)
        if getattr(found["statistic_"], "n_features", None) is None:
            raise damaged("statistic", "is that of other rows")
        self.from_sum(found["statistic_"], columns, found["_declared"], found["_chosen"])

    @abstractmethod
    def from_sum(self, statistic: Any, columns: Mapping[str, Any], declared: Any = None, chosen: Any = None) -> Any:
        """This model, fitted to the statistic of rows with these ``columns``."""

    def __getattr__(self, name: str) -> Any:
        if name == "statistic_" and self.came_from_file:
            raise AttributeError(
                f"This {type(self).__name__} was loaded from a file without its statistic. Save the fitted model with "
                "keep_statistic=True."
            )
        # A property or a method that is only there sometimes has said why; it is asked once more to say it.
        return object.__getattribute__(self, name)

    def restored(self, rule: Rule, attributes: Mapping[str, Any], learned: Mapping[str, Any]) -> dict[str, Any]:
        """The solution that such a rule was part of."""
        statistic, chosen = learned.get("statistic_"), learned.get("_chosen")
        solved = Solved(rule, statistic, attributes, chosen)
        return {"_solved": solved, "_unsolved": None, "_chosen": chosen}

    def check_learned(self, file: Incoming) -> None:  # noqa: ARG002 - as that of linear models
        """Raise where the statistic is that of other rows."""
        if "statistic_" not in self.__dict__:
            return
        statistic = self.statistic_
        alike = np.array_equal(getattr(statistic, "classes", ()), self.classes_)
        if not alike or getattr(statistic, "n_features", None) is None:
            raise damaged("statistic", "is that of other rows")

    def _rows_learned(self) -> tuple[int | None, NDArray[Any] | None]:
        return int(self.statistic_.rows.sum()), self.statistic_.rows


def summary_of(model: Any) -> Summary | None:
    """The summary as ``summary()`` gives it without arguments; None where there is none."""
    with catch_warnings():
        simplefilter("ignore", DiscrimWarning)
        try:
            return model.summary() if hasattr(model, "summary") else None
        except DiscrimError:
            return None


@cache
def _kept_properties(kind: Any) -> dict[str, kept]:
    found: dict[str, kept] = {}
    for each in reversed(kind.__mro__):
        for name, value in vars(each).items():
            found.pop(name, None)
            if isinstance(value, kept):
                found[name] = value
    return dict(sorted(found.items()))


def refuse_own_answers(model: type) -> None:
    """Raise for a class from elsewhere that has its own ``predict`` or the like, and is not what its rule says."""
    for kind in model.__mro__:
        if kind.__module__.partition(".")[0] == "discrim" or "recipe" in vars(kind):
            return
        own = sorted(vars(kind).keys() & OWN_ANSWERS)
        if own:
            raise ModelFileError(
                f"{model.__name__} has its own {name_list(own)}, and a model file holds no code. Save the model "
                "that it is derived from, or give it a recipe."
            )
