"""One row at a time, as a dict of features that may grow."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discrim import _kernels
from discrim._kernels import reference_online as names
from discrim.errors import DataError, ParameterError
from discrim.models.declared import check_declared
from discrim.models.online.base import OnlineClassifier
from discrim.models.online.training import class_gains, targets_of
from discrim.models.parameters import check_parameters
from discrim.online.grow import grown
from discrim.online.weights import Weights
from discrim.sources import Column, Design

Floats = NDArray[np.float64]
Features = Mapping[Any, Any]


class StreamClassifier(OnlineClassifier):
    """Adds ``learn_one``, ``predict_one`` and ``predict_proba_one`` on dicts of feature to number.

    A feature that a row does not name is 0; features and classes join when they first appear. Cost: the features of a
    row, times K.
    """

    # Where each feature is kept, the code of each label, and what the kernels are told: made by the first row.
    _columns: dict[Any, int]
    _live: tuple[Any, ...] | None = None

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> Self:
        """Learn from one row of features x with label y, which counts w times."""
        live = self._live
        if live is None or y not in live[0] or not self._columns.keys() >= x.keys():
            live = self._prepare(x, y)
        codes, learning, gains, single = live
        values, columns = self._entries(x, self._columns)
        _refuse_non_finite(x, values)
        weights = self._weights
        single[0][0] = codes[y]
        weight = None if w == 1.0 else np.array([float(w)])
        state = (weights.w, weights.averages, weights.second, weights.memory, *gains)
        first = np.array([0, len(values)], np.int32)
        _kernels.learn_sparse((values, columns, first), (None, single[0], weight), learning, state)
        if not weights.memory[:, names.FINITE].all():
            raise DataError("The weights overflow. Scale the features, or take smaller steps.")
        self.t_ += 1.0
        self.__dict__["_untold"] = True
        return self

    def predict_one(self, x: Features) -> Any:
        """The label with the largest score; None before anything was learned."""
        if "classes_" not in self.__dict__:
            return None
        scores = self._scores_one(x)
        best = int(scores[0] > 0) if len(scores) == 1 else int(scores.argmax())
        return (
            self.classes_[min(best, len(self.classes_) - 1)].item()
            if self.classes_.dtype != object
            else self.classes_[best]
        )

    def predict_proba_one(self, x: Features) -> dict[Any, float]:
        """The probability of each label seen so far."""
        self._check_probabilities()
        if "classes_" not in self.__dict__:
            return {}
        if len(self.classes_) == 1:
            return {self.classes_.tolist()[0]: 1.0}
        scores = self._scores_one(x)
        shares = self._probabilities(scores if len(scores) == 1 else scores[None])[0]
        return dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))

    def _scores_one(self, x: Features) -> Floats:
        known = self._known_columns()
        values, columns = self._entries({name: value for name, value in x.items() if name in known}, known)
        weights, m = self._weights, self._weights.memory
        eta = weights.w[:, columns] @ values
        if weights.averages is not None and self.average <= self.t_ - 1:
            eta = (weights.averages[:, columns] @ values + m[:, names.AVERAGE_A] * eta) / m[:, names.AVERAGE_B]
            return np.asarray(eta + weights.average_intercept)
        return np.asarray(m[:, names.SCALE] * eta + weights.intercept)

    def _known_columns(self) -> dict[Any, int]:
        if "_columns" not in self.__dict__:
            self._columns = {name: j for j, name in enumerate(self._names)}
        return self._columns

    def _entries(self, x: Features, known: Mapping[Any, int]) -> tuple[Floats, NDArray[np.int32]]:
        try:
            values = np.fromiter(x.values(), np.float64, len(x))
        except (TypeError, ValueError):
            strange = next(name for name, value in x.items() if not isinstance(value, (int, float, np.number)))
            raise DataError(
                f"Feature {strange!r} is {x[strange]!r}, not a number. Write a category as a feature of its own, such "
                f"as {{'{strange}={x[strange]}': 1}}."
            ) from None
        return values, np.fromiter(map(known.__getitem__, x), np.int32, len(x))

    def _prepare(self, x: Features, y: Any) -> tuple[Any, ...]:
        """Room for new features and labels."""
        check_parameters(self, self._constraints)
        self._check_together(parts=True)
        if y is None or y != y:  # noqa: PLR0124 -- only NaN differs from itself
            raise DataError("The label is missing (None or NaN).")
        _refuse_non_finite(x, self._entries(x, dict.fromkeys(x, 0))[0])
        if self._scales:
            raise ParameterError("learning_rate='auto' knows the size of the columns from many rows: use partial_fit.")
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
            wanted = np.array(sorted([*self.classes_.tolist(), y]))
            self.classes_, self._weights = grown(self.classes_, self._weights, wanted, learning)
        for name in x:
            known.setdefault(name, len(known))
        if len(known) > self._weights.w.shape[1]:
            room = max(2 * self._weights.w.shape[1], len(known), 8)
            k = len(self._weights)
            self._weights = self._weights.grown(k, room, np.arange(k), learning)
        targets = targets_of(class_gains(self.class_weight, self.classes_, np.zeros(0, np.int32)))
        packed = self._learning_now().packed
        codes = {label: code for code, label in enumerate(self.classes_.tolist())}
        gains = (targets.positive, targets.gain_positive, targets.gain_negative)
        self._live = (codes, (packed[0], packed[1], False), gains, (np.zeros(1, np.int32),))
        return self._live

    def _tell_stream(self) -> None:
        if not self.__dict__.pop("_untold", False):
            return
        weights, p = self._weights, len(self._columns)
        weights.settle()
        self._weights = weights.columns(p)
        self._live = None
        self._design = Design([Column(str(name)) for name in self._columns], np.float64)
        self.n_features_in_ = p
        self.feature_names_in_ = np.array([str(name) for name in self._columns], dtype=object)
        self._write_out()


def _refuse_non_finite(x: Features, values: Floats) -> None:
    if isfinite(values.sum()):
        return
    bad = [name for name, value in zip(x, values.tolist(), strict=True) if not isfinite(value)]
    raise DataError(f"Feature {bad[0]!r} is NaN or infinite." if bad else "The features are too large to be added.")
