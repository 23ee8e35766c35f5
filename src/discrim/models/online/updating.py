"""Classifiers whose weights every row updates, by one of the kernels' rules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.engines.orders import (
    LARGEST,
    InMemory,
    Parts,
    Shuffle,
    as_random_state,
    held_out_rows,
    in_blocks,
    row_seeds,
    shuffled,
)
from discrim.engines.walk import Lane, Walked, walk
from discrim.errors import ParameterError
from discrim.families.online.learning import Learning
from discrim.families.online.problems import Targets, class_gains
from discrim.families.online.scaling import Scaling
from discrim.families.online.updates import HeldOut, Updates
from discrim.families.online.weights import Weights, dense, given_start
from discrim.families.sequence import Stopping
from discrim.kernels.online import reference as names
from discrim.models.online.base import OnlineClassifier, Standing, Start
from discrim.sources import Scan
from discrim.typing import Floats

# The intercept moves less on sparse rows, as in scikit-learn: it is in every row, the columns are in few.
SPARSE_STEP = 0.01


class UpdatingClassifier(OnlineClassifier):
    """Adds epochs to rows in order; a subclass says how a row changes the weights (``_learning``)."""

    # Parameters that not every subclass has.
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: Shuffle = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    warm_start: bool = False
    average: bool | int = False

    _state: Weights
    # Coefficients as they were last learned: what differs from them was written by somebody.
    _learned_coef: Floats
    _learned_intercept: Floats
    # Does one order of the rows serve all classes?
    _together: bool = False

    @abstractmethod
    def _learning(self, scaling: Scaling | None) -> Learning:
        """How a row changes the weights, with columns in these units."""

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

    def _check_together(self, *, parts: bool) -> None:
        if parts and self.early_stopping:
            raise ParameterError("early_stopping should be False with partial_fit: no rows are held out there.")
        super()._check_together(parts=parts)

    def _learning_of(self, scaling: Scaling | None, classes: int) -> Learning:
        """The learning for so many classes: two that compete are one problem."""
        learning = self._learning(scaling)
        return replace(learning, update="gradient") if learning.update == "best_class" and classes <= 2 else learning

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
        stopping = Stopping(self.max_iter, self.tol, self.n_iter_no_change) if whole else Stopping()
        rows = at.prepared(block)
        targets = self._targets(at.classes, np.bincount(rows.codes, minlength=len(at.classes)))
        everyone = tuple(range(len(targets.positive)))
        seeds: list[int] | list[None] = [None]
        if self.shuffle:
            seeds = row_seeds(self.random_state, 1 if self._together else len(everyone))
        kept = held = None
        if self.early_stopping:
            mask = held_out_rows(rows, self.validation_fraction, self.random_state)
            kept, held = ~mask, HeldOut.of(rows.take(np.flatnonzero(mask)), targets)
        woven = in_blocks(rows, self.shuffle, ours=at.scaling is not None)
        problems = [everyone] if len(seeds) == 1 else [(k,) for k in everyone]
        lanes = [
            Lane(those, InMemory(rows, seed, woven=woven, kept=kept))
            for those, seed in zip(problems, seeds, strict=True)
        ]
        slow = at.scaling is None and sparse.issparse(block.x)
        updates = self._updates_for(at, targets, stopping, len(rows) if kept is None else int(kept.sum()), held, slow)
        return _walked(updates, at.state, lanes, stopping, len(rows))

    def _learned_scan(self, rows: Scan) -> tuple[Standing, Walked]:
        if self.early_stopping:
            raise ParameterError("early_stopping needs rows held out of memory; with a scan, leave it out.")
        return super()._learned_scan(rows)

    def _walk_scan(self, at: Standing, rows: Scan, counts: NDArray[np.int64]) -> Walked:
        stopping = Stopping(self.max_iter, self.tol, self.n_iter_no_change)
        targets = self._targets(at.classes, counts)
        rng = as_random_state(self.random_state)

        def blocks() -> Iterator[Block]:
            parts = map(at.prepared, rows.blocks())
            return shuffled(parts, np.random.RandomState(rng.randint(LARGEST))) if self.shuffle else parts

        lanes = [Lane(tuple(range(len(targets.positive))), Parts(blocks))]
        updates = self._updates_for(at, targets, stopping, int(counts.sum()))
        return _walked(updates, at.state, lanes, stopping, None)

    def _targets(self, classes: NDArray[Any], counts: NDArray[np.integer]) -> Targets:
        return Targets.of(class_gains(self.class_weight, classes, counts))

    def _updates_for(
        self,
        at: Standing,
        targets: Targets,
        stopping: Stopping,
        rows: int,
        held: HeldOut | None = None,
        slow_intercept: bool = False,
    ) -> Updates:
        learning = self._learning_of(at.scaling, len(at.classes))
        asked = stopping.tol is not None and stopping.max_iter > 1 and held is None
        step = learning.intercept_step * (SPARSE_STEP if slow_intercept else 1.0)
        return Updates(replace(learning, intercept_step=step, losses=asked), targets, rows, held)

    def _answer(self, at: Standing) -> tuple[Floats, Floats]:
        weights: Weights = at.state
        if weights.averages is not None and self.average <= at.t - 1:
            return weights.averages, weights.average_intercept
        return weights.w, weights.intercept

    def _written(self, coef: Floats, intercept: Floats, dtype: np.dtype[Any]) -> dict[str, Any]:
        found = super()._written(coef, intercept, dtype)
        return {**found, "_learned_coef": found["_coef"].copy(), "_learned_intercept": found["_intercept"].copy()}

    def _copied(self) -> Weights:
        """Where coefficients have been written to since they were learned, learning goes on from these."""
        coef, intercept = dense(self.coef_), self.intercept_
        weights = self._state.copied()
        if self.average or (_same(coef, self._learned_coef) and _same(intercept, self._learned_intercept)):
            return weights
        start = np.atleast_2d(np.asarray(coef, float)), np.atleast_1d(np.asarray(intercept, float))
        w, b = start if self._scaling is None else self._scaling.from_user(*start)
        weights.w[:] = w
        weights.memory[:, names.INTERCEPT] = b
        return weights

    def _updates(self) -> int:
        return self._state.updates


def _walked(updates: Updates, weights: Weights, lanes: list[Lane], stopping: Stopping, n: int | None) -> Walked:
    updates.begin(weights)
    walked = walk(updates, weights, lanes, stopping, n)
    weights.settle()
    return walked


def _same(now: Any, before: Floats) -> bool:
    return np.shape(now) == before.shape and np.array_equal(now, before)
