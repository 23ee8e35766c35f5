"""What all models of a mergeable statistic share: fitting in parts, forgetting, declared classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.errors import DataError, DiscrimError, ParameterError
from discrim.families.rule import Rule
from discrim.models.declared import check_declared, declared_classes
from discrim.models.parameters import check_parameters
from discrim.models.shell import Classifier
from discrim.sources import Design, Rows


class Mergeable(Protocol):
    """What a model asks of its statistic besides the numbers in it."""

    @property
    def classes(self) -> NDArray[Any]: ...

    @property
    def weight(self) -> NDArray[np.float64]: ...

    @property
    def rows(self) -> NDArray[np.int64]: ...

    @property
    def n_features(self) -> int: ...

    def subtract(self, other: Any) -> Self: ...

    def including(self, classes: NDArray[Any]) -> Self: ...


S = TypeVar("S", bound=Mergeable)


class MergeableClassifier(Classifier, Generic[S]):
    """A classifier that needs the data only through ``statistic_``.

    A subclass says how rows are reduced, how statistics are combined, and how one is solved.
    """

    statistic_: S
    _unsolved: DiscrimError | None

    @abstractmethod
    def _collect(self, rows: Rows, like: S | None) -> S:
        """One pass over the rows: their statistic, of a form that can be combined with ``like``."""

    @abstractmethod
    def _combine(self, parts: Sequence[S]) -> S:
        """The statistic of all parts' rows, of the form that these parameters need."""

    @abstractmethod
    def _solved(self, statistic: S, rows: Rows | None) -> tuple[Rule, S]:
        """Set the fitted attributes; the rule, and the statistic that it was found from.

        ``rows`` are the training rows where they are at hand.
        """

    def _subtract(self, gone: S) -> S:
        """The model's statistic without another."""
        return self.statistic_.subtract(gone)

    def _check_form(self, statistic: S) -> S:
        """A statistic from elsewhere in the form that these parameters need; else an error that says why not."""
        return statistic

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, which brings its own labels and weights."""
        check_parameters(self, self._constraints)
        for name in ("statistic_", "classes_", "_declared"):
            self.__dict__.pop(name, None)
        rows = self._open(X, y, sample_weight, reset=True)
        self._learn(self._collect(rows, None), rows)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: any number of parts gives what one fit of all rows gives.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it
        are an error.
        """
        check_parameters(self, self._constraints)
        first = not hasattr(self, "statistic_")
        rows = self._open(X, y, sample_weight, reset=first)
        declared = declared_classes(getattr(self, "_declared", None), classes)
        statistic = self._collect(rows, None if first else self.statistic_)
        if declared is not None:
            check_declared(statistic.classes, declared)
            self._declared = declared
        self._learn(statistic if first else self._combine([self.statistic_, statistic]), None)
        return self

    @all_or_nothing
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model becomes what it would be had it never seen them."""
        check_is_fitted(self, "statistic_")
        rows = self._open(X, y, sample_weight, reset=False)
        left = self._subtract(self._collect(rows, self.statistic_))
        if not len(left.classes):
            raise DataError("Nothing would be left: all rows that the model has seen are to be forgotten.")
        self._learn(left, None)
        return self

    @classmethod
    def from_statistic(cls, statistic: S, **parameters: Any) -> Self:
        """A fitted model from a statistic alone."""
        model = cls(**parameters)
        check_parameters(model, model._constraints)
        statistic = model._check_form(statistic)
        model.n_features_in_ = statistic.n_features
        model._design = Design.unnamed(statistic.n_features, np.float64)
        model._learn(statistic, None)
        return model

    def _learn(self, statistic: S, rows: Rows | None) -> None:
        statistic = self._with_declared(statistic)
        self.classes_ = statistic.classes
        self._unsolved = None
        try:
            self._rule, statistic = self._solved(statistic, rows)
        except (DataError, ParameterError) as error:
            if rows is not None:
                raise
            # More parts may come that make it solvable: the sum is kept, the error told when asked.
            self._unsolved = error
        self.statistic_ = statistic

    def _check_solved(self) -> Self:
        check_is_fitted(self, "statistic_")
        if self._unsolved is not None:
            raise self._unsolved
        return self

    def _with_declared(self, statistic: S) -> S:
        declared = getattr(self, "_declared", None)
        return statistic if declared is None else statistic.including(declared)
