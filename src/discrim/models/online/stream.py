"""One row at a time, as a dict of features that may grow."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import inf, isfinite
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.atomic import all_or_nothing
from discrim.errors import DataError, ParameterError, name_list
from discrim.kernels.reference_online import Stream
from discrim.models.declared import check_declared
from discrim.models.online.base import OnlineClassifier, _dense
from discrim.models.online.training import class_gains, targets_of
from discrim.models.parameters import check_parameters
from discrim.online.grow import grown
from discrim.online.weights import Weights
from discrim.sources import Column, Design

Features = Mapping[Any, Any]


# What comes of a row, as the kernels say it.
LEARNED, UNREAD, OVERFLOWN = 0, 1, 2


class _Live(NamedTuple):
    """The code of each label, the weights that the stream writes to, and the time at which it began."""

    codes: dict[Any, int]
    weights: Weights
    stream: Stream
    start: float


class StreamClassifier(OnlineClassifier):
    """Adds ``learn_one``, ``predict_one`` and ``predict_proba_one`` on dicts of feature to number.

    A feature that a row does not name is 0; features and classes join when they first appear. Cost: the features of a
    row, times K.
    """

    # Where each feature is kept; the code of each label, and weights as the kernels take them: made by the first row.
    _columns: dict[Any, int]
    _live: _Live | None = None
    learning_rate: str = "constant"

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> Self:
        """Learn from one row of features x with label y, which counts w times."""
        row = x if type(x) is dict else _as_dict(x)
        if not _is_weight(w):
            raise ParameterError.bad_value("w", w, "a finite number of at least 0")
        live = self._live
        if live is None or live.weights is not self._weights:
            return self._learn_new(row, y, float(w))
        attributes = self.__dict__
        t, told = self.t_, "_untold" not in attributes
        try:
            code = live.codes.get(y)
            end = UNREAD if code is None else live.stream.learn(row, self._columns, code, float(w))
            if end == LEARNED:
                attributes["t_"] = t + 1.0
                if told:
                    attributes["_untold"] = True
                return self
        except BaseException as error:
            if live.stream.learned > t - live.start:
                live.stream.undo()
                self.t_ = t
                if told:
                    attributes.pop("_untold", None)
            if isinstance(error, TypeError):
                _refuse_label(y)
            raise
        if end == OVERFLOWN:
            _refuse_unlearned(end, row)
        return self._learn_new(row, y, float(w))

    def _learn_new(self, row: dict[Any, Any], y: Any, w: float) -> Self:
        """The same where there is something new, or something that cannot be learned."""
        before, columns, live = self.__dict__.copy(), self.__dict__.get("_columns", {}), None
        size = len(columns)
        try:
            live = self._prepare(row, y)
            end = live.stream.learn(row, self._columns, live.codes[y], w)
            _refuse_unlearned(end, row)
            self.__dict__.update(t_=self.t_ + 1.0, _untold=True)
            return self  # noqa: TRY300 - an interrupt on the way out is one too
        except BaseException:
            if live is not None and live.stream.learned:
                live.stream.undo()
            while len(columns) > size:
                columns.popitem()
            self.__dict__ = before
            raise

    def predict_one(self, x: Features) -> Any:
        """The label with the largest score; None before anything was learned."""
        if "classes_" not in self.__dict__:
            return None
        scores = self._scores_one(x)
        best = int(scores[0] > 0) if len(scores) == 1 else scores.index(max(scores))
        label = self.classes_[min(best, len(self.classes_) - 1)]
        return label if self.classes_.dtype == object else label.item()

    def predict_proba_one(self, x: Features) -> dict[Any, float]:
        """The probability of each label seen so far."""
        self._check_probabilities()
        if "classes_" not in self.__dict__:
            return {}
        if len(self.classes_) == 1:
            return {self.classes_.tolist()[0]: 1.0}
        scores = np.array(self._scores_one(x))
        shares = self._probabilities(scores if len(scores) == 1 else scores[None])[0]
        return dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))

    def _scores_one(self, x: Features) -> list[float]:
        live = self._live
        if live is None or live.weights is not self._weights or self._scaling is not None:
            live = self._live = self._alive()
        averaged = self._scaling is None and self._weights.averages is not None and self.average <= self.t_ - 1
        row = x if type(x) is dict else _as_dict(x)
        known = self._known_columns()
        scores = live.stream.scores(row, known, averaged)
        if scores is not None and isfinite(sum(scores)):
            return scores
        seen = {name: value for name, value in row.items() if name in known}
        if scores is None:
            raise _not_a_number(seen)
        _refuse_non_finite(seen)
        raise DataError("The scores of this row overflow. Scale the features.")

    def _alive(self) -> _Live:
        """The weights of now, in the user's units."""
        weights = self._weights
        if self._scaling is not None:
            start = np.atleast_2d(_dense(self.coef_)).astype(float), np.asarray(self.intercept_, float)
            weights = Weights.at(*start, self._learning())
        targets = targets_of(class_gains(self.class_weight, self.classes_, np.zeros(0, np.int32)))
        packed = self._learning_now().packed
        state = (
            weights.w, weights.averages, weights.second, weights.memory,
            targets.positive, targets.gain_positive, targets.gain_negative,
        )  # fmt: skip
        codes = {label: code for code, label in enumerate(self.classes_.tolist())}
        return _Live(codes, self._weights, kernels.Stream((packed[0], packed[1], False), state), self.t_)

    def _known_columns(self) -> dict[Any, int]:
        if "_columns" not in self.__dict__:
            self._columns = {name: j for j, name in enumerate(self._names)}
        return self._columns

    def _prepare(self, x: Features, y: Any) -> _Live:
        """Room for new features and labels."""
        check_parameters(self, self._constraints)
        self._check_together(parts=True)
        _refuse_label(y)
        _refuse_non_finite(x)
        if self._scales:
            raise ParameterError(
                f"learning_rate={self.learning_rate!r} knows the size of the columns from many rows: use partial_fit."
            )
        learning = self._learning_now(classes=1)
        if "classes_" not in self.__dict__:
            self.classes_, self.t_, self.n_iter_ = np.array([y]), 1.0, 1
            self._scaling, self._columns = None, {}
            self._weights = Weights.zeros(1, 0, learning)
        known = self._known_columns()
        if y not in self.classes_.tolist():
            declared: NDArray[Any] | None = getattr(self, "_declared", None)
            if declared is not None:
                check_declared(np.array([y]), declared)
            wanted = _in_order([*self.classes_.tolist(), y])
            self.classes_, self._weights = grown(self.classes_, self._weights.copied(), wanted, learning)
        for name in x:
            known.setdefault(name, len(known))
        if len(known) > self._weights.w.shape[1]:
            room = max(2 * self._weights.w.shape[1], len(known), 8)
            k = len(self._weights)
            self._weights = self._weights.grown(k, room, np.arange(k), learning)
        self._live = self._alive()
        return self._live

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_live", None)
        return state

    def _tell_stream(self) -> None:
        if "_untold" in self.__dict__:
            self._write_stream()

    @all_or_nothing
    def _write_stream(self) -> None:
        del self.__dict__["_untold"]
        weights, p = self._weights.copied(), len(self._columns)
        weights.settle()
        self._weights = weights.columns(p)
        self._live = None
        self._design = Design([Column(str(name)) for name in self._columns], np.float64)
        self.n_features_in_ = p
        self.feature_names_in_ = np.array([str(name) for name in self._columns], dtype=object)
        self._write_out()


def _refuse_unlearned(end: int, x: Features) -> None:
    if end == UNREAD:
        raise _not_a_number(x)
    if end == OVERFLOWN:
        raise DataError("The weights overflow. Scale the features, or take smaller steps.")


def _is_weight(w: Any) -> bool:
    try:
        return bool(0.0 <= w < inf)
    except (TypeError, ValueError):
        return False


def _refuse_label(y: Any) -> None:
    """Raise for a label that is missing, or several."""
    if not isinstance(y, Hashable) or isinstance(y, tuple | frozenset):
        raise DataError(f"The label {y!r} is {type(y).__name__} of several; a row has one label.")
    try:
        missing = y is None or bool(y != y)  # noqa: PLR0124 -- only NaN differs from itself
    except TypeError:  # pandas.NA has no truth value
        missing = True
    if missing:
        raise DataError("The label is missing (None or NaN).")


def _refuse_non_finite(x: Features) -> None:
    try:
        values = {name: float(value) for name, value in x.items()}
    except (TypeError, ValueError):
        raise _not_a_number(x) from None
    if isfinite(sum(values.values())):
        return
    bad = [name for name, value in values.items() if not isfinite(value)]
    raise DataError(f"Feature {bad[0]!r} is NaN or infinite." if bad else "The features are too large to be added.")


def _not_a_number(x: Features) -> DataError:
    strange = next((name for name, value in x.items() if not _is_number(value)), next(iter(x)))
    if x[strange] is None:
        return DataError(f"Feature {strange!r} is None. Leave out what is not known; it counts as 0.")
    return DataError(
        f"Feature {strange!r} is {x[strange]!r}, not a number. Write a category as a feature of its own, such as "
        f"{{'{strange}={x[strange]}': 1}}."
    )


def _is_number(value: Any) -> bool:
    """Is it one, and not the text of one?"""
    if isinstance(value, str):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _as_dict(x: Any) -> dict[Any, Any]:
    try:
        return dict(x)
    except (TypeError, ValueError):
        raise DataError(
            f"One row is a dict of feature to number; found {type(x).__name__}. Rows of arrays are for partial_fit "
            "and predict."
        ) from None


def _in_order(labels: list[Any]) -> NDArray[Any]:
    try:
        return np.array(sorted(labels))
    except TypeError:
        kinds = name_list(sorted({type(label).__name__ for label in labels}))
        raise DataError(f"The labels are of the types {kinds}, which have no common order. Use one type.") from None
