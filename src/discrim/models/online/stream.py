"""One row at a time, as a dict of features that may grow."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.errors import DataError, ParameterError
from discrim.families.online.features import (
    Features,
    as_dict,
    is_weight,
    labels_in_order,
    not_a_number,
    refuse_label,
    refuse_non_finite,
)
from discrim.families.online.updates import stream_state
from discrim.families.online.weights import Weights
from discrim.kernels.online.reference import Stream
from discrim.models.online.base import Standing
from discrim.models.online.updating import UpdatingClassifier
from discrim.models.shell import check_declared, check_parameters
from discrim.sources import Column, Design
from discrim.typing import Floats

# What comes of a row, as the kernels say it.
LEARNED, UNREAD, OVERFLOWN = 0, 1, 2


class _Live(NamedTuple):
    """The code of each label, the weights that the stream writes to, and the time at which it began."""

    codes: dict[Any, int]
    weights: Weights
    stream: Stream
    start: float


class StreamClassifier(UpdatingClassifier):
    """Adds ``learn_one`` on dicts of feature to number.

    A feature that a row does not name is 0; features and classes join when they first appear. Cost: the features of a
    row, times K.
    """

    # The code of each label, and weights as the kernels take them: made by the first row.
    _live: _Live | None = None
    # Have rows changed the weights since the coefficients were written?
    _pending: bool = False
    learning_rate: str = "constant"

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> Self:
        """Learn from one row of features x with label y, which counts w times."""
        row = x if type(x) is dict else as_dict(x)
        if not is_weight(w):
            raise ParameterError.bad_value("w", w, "a finite number of at least 0")
        live = self._live
        if live is None or live.weights is not self._state:
            return self._learn_new(row, y, float(w))
        attributes = self.__dict__
        t, pending, columns = self.t_, self._pending, self._columns
        assert columns is not None
        try:
            code = live.codes.get(y)
            end = UNREAD if code is None else live.stream.learn(row, columns, code, float(w))
            if end == LEARNED:
                attributes["t_"] = t + 1.0
                if not pending:
                    attributes["_pending"] = True
                return self
        except BaseException as error:
            if live.stream.learned > t - live.start:
                live.stream.undo()
                attributes.update(t_=t, _pending=pending)
            if isinstance(error, TypeError):
                refuse_label(y)
            raise
        if end == OVERFLOWN:
            _refuse_unlearned(end, row)
        return self._learn_new(row, y, float(w))

    def _learn_new(self, row: dict[Any, Any], y: Any, w: float) -> Self:
        """The same where there is something new, or something that cannot be learned."""
        before, columns, live = self.__dict__.copy(), {} if self._columns is None else self._columns, None
        size = len(columns)
        try:
            live = self._prepare(row, y)
            end = live.stream.learn(row, self._known_columns(), live.codes[y], w)
            _refuse_unlearned(end, row)
            self.__dict__.update(t_=self.t_ + 1.0, _pending=True)
            return self  # noqa: TRY300 - an interrupt on the way out is one too
        except BaseException:
            if live is not None and live.stream.learned:
                live.stream.undo()
            while len(columns) > size:
                columns.popitem()
            self.__dict__ = before
            raise

    def _scores_one(self, x: Features) -> list[float]:
        if self._scaling is not None:
            return super()._scores_one(x)
        live = self._live
        if live is None or live.weights is not self._state:
            live = self._live = self._alive()
        averaged = self._state.averages is not None and self.average <= self.t_ - 1
        return self._scored(live.stream, x, averaged=averaged)

    def _alive(self) -> _Live:
        """The weights of now."""
        weights, classes = self._state, self.classes_
        targets = self._targets(classes, np.zeros(len(classes), np.int64))
        names, numbers, _ = self._learning_of(None, len(classes)).packed
        stream = kernels.Stream((names, numbers, False), stream_state(weights, targets))
        codes = {label: code for code, label in enumerate(classes.tolist())}
        return _Live(codes, weights, stream, self.t_)

    def _prepare(self, x: Features, y: Any) -> _Live:
        """Room for new features and labels."""
        check_parameters(self, self._constraints)
        self._check_together(parts=True)
        refuse_label(y)
        refuse_non_finite(x)
        if self._scales:
            raise ParameterError(
                f"learning_rate={self.learning_rate!r} knows the size of the columns from many rows: use partial_fit."
            )
        learning = self._learning_of(None, 1)
        if "classes_" not in self.__dict__:
            found = {"classes_": np.array([y]), "t_": 1.0, "n_iter_": 1, "_state": Weights.zeros(1, 0, learning)}
            found.update(_columns={}, _scaling=None, _declared=None, _live=None, _pending=False)
            self.__dict__.update(found, _learned=(*found, "_learned"))
        known = self._known_columns()
        if y not in self.classes_.tolist():
            declared: NDArray[Any] | None = self._declared
            if declared is not None:
                check_declared(np.array([y]), declared)
            wanted = labels_in_order([*self.classes_.tolist(), y])
            self._state = self._state.with_classes(self.classes_, wanted, learning)
            self.classes_ = wanted
        for name in x:
            known.setdefault(name, len(known))
        if len(known) > self._state.w.shape[1]:
            room = max(2 * self._state.w.shape[1], len(known), 8)
            k = len(self._state)
            self._state = self._state.grown(k, room, np.arange(k), learning)
        self._live = self._alive()
        return self._live

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_live", None)
        return state

    def _coefficient(self, name: str) -> Any:
        if self._pending:
            self._at_once(self._streamed)
        return super()._coefficient(name)

    def _written(self, coef: Floats, intercept: Floats, dtype: np.dtype[Any]) -> dict[str, Any]:
        return {**super()._written(coef, intercept, dtype), "_live": None, "_pending": False}

    def _streamed(self) -> dict[str, Any]:
        """What the rows since have changed, written out."""
        known = self._known_columns()
        weights, p = self._state.copied(), len(known)
        weights.settle()
        at = Standing(self.classes_, weights.columns(p), None, self.t_)
        names = [str(name) for name in known]
        design = Design([Column(name) for name in names], np.float64)
        return {
            **{name: self.__dict__[name] for name in ("classes_", "t_", "n_iter_", "_scaling", "_declared")},
            "_columns": known,
            **self._written(*self._answer(at), design.dtype),
            "n_features_in_": p,
            "feature_names_in_": np.array(names, dtype=object),
            "_design": design,
            "_state": at.state,
        }


def _refuse_unlearned(end: int, x: Features) -> None:
    if end == UNREAD:
        raise not_a_number(x)
    if end == OVERFLOWN:
        raise DataError("The weights overflow. Scale the features, or take smaller steps.")
