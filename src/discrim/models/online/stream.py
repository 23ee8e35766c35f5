"""Classifiers whose weights every row updates: in epochs, in parts, or one row at a time as a dict of features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.block import Block
from discrim.engines import RowPasses
from discrim.engines.orders import (
    LARGEST,
    InMemory,
    Parts,
    as_random_state,
    held_out_rows,
    in_blocks,
    row_seeds,
    shuffled,
)
from discrim.engines.walk import Lane, Walked, walk
from discrim.errors import DataError, ParameterError, name_list
from discrim.families.first_look import look
from discrim.families.online.features import Features, as_dict, is_weight, not_a_number, refuse_label, refuse_non_finite
from discrim.families.online.problems import Targets, class_gains
from discrim.families.online.scaling import FIRST_LOOK, Scaling
from discrim.families.online.updates import Learning, Updates, Weights, dense, given_start, stream_state
from discrim.families.sequence import Stopping
from discrim.kernels.online import reference as names
from discrim.models.online.averaging import averaged
from discrim.models.online.base import OnlineClassifier, Standing, Start
from discrim.models.online.parameters import EpochParameters
from discrim.models.shell import check_declared, check_parameters
from discrim.sources import Column, Design, Rows, Scan
from discrim.store.fields import Fields
from discrim.store.values import Value
from discrim.typing import Floats

# The intercept moves less on sparse rows, as in scikit-learn: it is in every row, the columns are in few.
SPARSE_STEP = 0.01
# What the kernels return for a row.
LEARNED, UNREAD, OVERFLOWN = 0, 1, 2


class _Live(NamedTuple):
    """The code of each label, the weights that the stream writes to, and the time at which it began."""

    codes: dict[Any, int]
    weights: Weights
    stream: names.Stream
    start: float


class StreamClassifier(EpochParameters, OnlineClassifier):
    """Learns in epochs, in parts, and by ``learn_one`` from dicts of feature to number.

    A subclass has more parameters, and says how a row changes the weights (``_learning``). In a dict a feature that
    is not named is 0; features and classes join when they first appear. Cost: the features of a row, times K.
    """

    # Parameters that not every subclass has.
    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float | None = 0.15
    average: bool | int = False
    learning_rate: str = "constant"

    resumed_state: ClassVar[Fields] = {
        **OnlineClassifier.resumed_state, "_learned_coef": Value(), "_learned_intercept": Value(),
    }  # fmt: skip

    _state: Weights
    # Coefficients as they were last learned: what differs from them was written by the user.
    _learned_coef: Floats
    _learned_intercept: Floats
    # The code of each label, and weights as the kernels take them: made by the first row.
    _live: _Live | None = None
    # Have rows changed the weights since the coefficients were written?
    _pending: bool = False

    def fit(
        self, X: Any, y: Any = None, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, epoch after epoch.

        ``coef_init`` and ``intercept_init`` are where to begin.
        """
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        return self._fit(X, y, sample_weight, (coef_init, intercept_init))

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

    @abstractmethod
    def _learning(self, scaling: Scaling | None) -> Learning:
        """How a row changes the weights, with columns in these units."""

    def _learning_by(self, *, rate: str = "constant", **own: Any) -> Learning:
        """The learning with what its subclasses share, and a subclass' ``own`` settings."""
        return Learning(
            rate=rate,
            penalty=self.penalty,
            alpha=float(self.alpha),
            l1_ratio=float(self.l1_ratio or 0.0),
            intercept_step=float(self.fit_intercept),
            average=float(self.average),
            **own,
        )

    def _learning_of(self, scaling: Scaling | None, classes: int) -> Learning:
        """The learning for so many classes: two that compete are one problem."""
        learning = self._learning(scaling)
        return replace(learning, update="gradient") if learning.update == "best_class" and classes <= 2 else learning

    def _check_together(self, *, parts: bool) -> None:
        if parts and self.early_stopping:
            raise ParameterError("early_stopping should be False with partial_fit: no rows are held out there.")
        super()._check_together(parts=parts)
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ParameterError("l1_ratio must be set when penalty is 'elasticnet'.")
        if parts and "_state" in self.__dict__:
            self._state.check_kept(self._learning(self._scaling))

    def _start(self, shape: tuple[int, int], scaling: Scaling | None, start: Start) -> Weights:
        learning = self._learning(scaling)
        if start[0] is None and start[1] is None:
            return Weights.zeros(*shape, learning)
        coef, intercept = given_start(*start, shape)
        if scaling is not None:
            coef, intercept = scaling.from_user(coef, intercept)
        return Weights.at(coef, intercept, learning)

    def _grow(self, at: Standing, wanted: NDArray[Any]) -> Weights:
        weights: Weights = at.state
        return weights.with_classes(at.classes, wanted, self._learning(at.scaling))

    def _walk(self, at: Standing, block: Block, *, whole: bool) -> Walked:
        rows = at.prepared(block)
        weighed = self.class_weight is not None
        targets = self._targets(at.classes, np.bincount(rows.codes if weighed else [], minlength=len(at.classes)))
        learning = self._learning_of(at.scaling, len(at.classes))
        if at.scaling is None and sparse.issparse(block.x):
            learning = replace(learning, intercept_step=SPARSE_STEP * learning.intercept_step)
        everyone = tuple(range(len(targets.positive)))
        seeds: list[int] | list[None] = [None]
        if self.shuffle:
            # Classes that compete read the rows together.
            together = self._scales or learning.update == "best_class"
            seeds = row_seeds(self.random_state, 1 if together else len(everyone))
        kept = held = None
        if self.early_stopping:
            mask = held_out_rows(rows, self.validation_fraction, self.random_state)
            kept, held = ~mask, rows.take(np.flatnonzero(mask))
        woven = in_blocks(rows, self.shuffle, ours=at.scaling is not None)
        problems = [everyone] if len(seeds) == 1 else [(k,) for k in everyone]
        stopping = self._stopping if whole else Stopping()
        losses = stopping.tol is not None and stopping.max_iter > 1 and held is None
        updates = Updates(learning, targets, len(rows) if kept is None else int(kept.sum()), losses, held)
        orders = [InMemory(rows, seed, woven=woven, kept=kept) for seed in seeds]
        alone = held is None and not woven and len(problems[0]) == 1
        lanes = [
            Lane(those, order, partial(updates.alone, at.state, those[0], rows, seed) if alone else None)
            for those, order, seed in zip(problems, orders, seeds, strict=True)
        ]
        return _walked(updates, at.state, lanes, stopping)

    def _walk_scan(self, at: Standing, rows: Scan, counts: NDArray[np.int64]) -> Walked:
        targets = self._targets(at.classes, counts)
        rng = as_random_state(self.random_state)

        def blocks() -> Iterator[Block]:
            parts = map(at.prepared, rows.blocks())
            return shuffled(parts, np.random.RandomState(rng.randint(LARGEST))) if self.shuffle else parts

        lanes = [Lane(tuple(range(len(targets.positive))), Parts(blocks))]
        losses = self.tol is not None and self.max_iter > 1
        updates = Updates(self._learning_of(at.scaling, len(at.classes)), targets, int(counts.sum()), losses)
        return _walked(updates, at.state, lanes, self._stopping)

    @property
    def _stopping(self) -> Stopping:
        return Stopping(self.max_iter, self.tol, self.n_iter_no_change)

    def _learned_whole(self, rows: Rows, start: Start) -> tuple[Standing, Walked]:
        if self.early_stopping and isinstance(rows, Scan):
            raise ParameterError("early_stopping holds out rows in memory; it is not available with a scan.")
        if isinstance(rows, Scan) and rows.lies_elsewhere and self.shuffle:
            return self._learned_elsewhere(rows, start)
        return super()._learned_whole(rows, start)

    def _learned_elsewhere(self, rows: Scan, start: Start) -> tuple[Standing, Walked]:
        """What the parts of the rows teach, each by itself, on average; rows in order are brought here instead."""
        seen = self._counted(rows)
        found = averaged(self, rows, seen.classes, class_gains(self.class_weight, seen.classes, seen.rows), start)
        sample = look(RowPasses(rows), FIRST_LOOK).sample
        at = self._begin(seen.classes, sample, (found.coef, found.intercept))
        if at.state.averages is not None:
            at.state.averages[:] = at.state.w
            at.state.memory[:, names.AVERAGE_INTERCEPT] = at.state.intercept
        return replace(at, t=at.t + found.epochs * found.rows), Walked((found.epochs,), found.converged)

    def _targets(self, classes: NDArray[Any], counts: NDArray[np.integer]) -> Targets:
        return Targets.of(class_gains(self.class_weight, classes, counts))

    def _answer(self, at: Standing) -> tuple[Floats, Floats]:
        weights: Weights = at.state
        if weights.averages is not None and self.average <= at.t - 1:
            return weights.averages, weights.memory[:, names.AVERAGE_INTERCEPT]
        return weights.w, weights.intercept

    def _written(self, coef: Floats, intercept: Floats, dtype: np.dtype[Any]) -> dict[str, Any]:
        found = super()._written(coef, intercept, dtype)
        learned = {"_learned_coef": found["_coef"].copy(), "_learned_intercept": found["_intercept"].copy()}
        return {**found, **learned, "_live": None, "_pending": False}

    def _copied(self) -> Weights:
        """Where coefficients have been written to since they were learned, learning goes on from these."""
        coef, intercept = dense(self.coef_), self.intercept_
        weights = self._state.copied()
        same = np.array_equal(coef, self._learned_coef) and np.array_equal(intercept, self._learned_intercept)
        if self.average or same:
            return weights
        start = np.atleast_2d(np.asarray(coef, float)), np.atleast_1d(np.asarray(intercept, float))
        w, b = start if self._scaling is None else self._scaling.from_user(*start)
        weights.w[:] = w
        weights.memory[:, names.INTERCEPT] = b
        return weights

    def _updates(self) -> int:
        return int(self._state.memory[:, names.UPDATES_MADE].sum())

    def _learn_new(self, row: dict[Any, Any], y: Any, w: float) -> Self:
        """``learn_one`` where there is something new, or something that cannot be learned."""
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
        if self._scaling is not None or "_state" not in self.__dict__:
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
        learning = self._learning_of(None, len(classes))
        weights.check_kept(learning)
        stream = kernels.Stream(learning.packed(), stream_state(weights, targets))
        codes = {label: code for code, label in enumerate(classes.tolist())}
        return _Live(codes, weights, stream, self.t_)

    def _prepare(self, x: Features, y: Any) -> _Live:
        """Make space for new features and labels."""
        check_parameters(self, self._constraints)
        self.check_resumable()
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
            if self._declared is not None:
                check_declared(np.array([y]), self._declared)
            labels = [*self.classes_.tolist(), y]
            try:
                wanted = np.array(sorted(labels))
            except TypeError:
                kinds = name_list(sorted({type(label).__name__ for label in labels}))
                raise DataError(
                    f"The labels are of the types {kinds}, which have no common order. Use one type."
                ) from None
            self._state = self._state.with_classes(self.classes_, wanted, learning)
            self.classes_ = wanted
        for name in x:
            known.setdefault(name, len(known))
        if len(known) > self._state.w.shape[1]:
            columns = max(2 * self._state.w.shape[1], len(known), 8)
            k = len(self._state.w)
            self._state = self._state.grown(k, columns, np.arange(k), learning)
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

    def _streamed(self) -> dict[str, Any]:
        """What the rows since have changed, written out."""
        known = self._known_columns()
        weights, p = self._state.copied(), len(known)
        weights.settle()
        state = weights.each(lambda array: np.ascontiguousarray(array[:, :p]), weights.memory)
        at = Standing(self.classes_, state, None, self.t_)
        columns = [str(name) for name in known]
        design = Design([Column(name) for name in columns], np.float64)
        return {
            **{name: self.__dict__[name] for name in ("classes_", "t_", "n_iter_", "_scaling", "_declared")},
            "_columns": known,
            **self._written(*self._answer(at), design.dtype),
            "n_features_in_": p,
            "feature_names_in_": np.array(columns, dtype=object),
            "_design": design,
            "_state": state,
        }


def _walked(updates: Updates, weights: Weights, lanes: list[Lane], stopping: Stopping) -> Walked:
    weights.begin(updates.learning)
    walked = walk(updates, weights, lanes, stopping, updates.rows)
    weights.settle()
    return walked


def _refuse_unlearned(end: int, x: Features) -> None:
    if end == UNREAD:
        raise not_a_number(x)
    if end == OVERFLOWN:
        raise DataError("The weights overflow. Scale the features, or take smaller steps.")
