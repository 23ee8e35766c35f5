"""Epoch after epoch, until nothing improves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import _kernels
from discrim._kernels import reference_online as names
from discrim.engines import run
from discrim.engines.progress import Progress
from discrim.online.learning import Learning
from discrim.online.rows import OnlineRows, Targets
from discrim.online.weights import Weights

Floats = NDArray[np.float64]

# The adaptive rate is divided by this when nothing improves, until it is as small as that.
DIVISOR = 5.0
SMALLEST_RATE = 1e-6


@dataclass(frozen=True)
class Plan:
    """When to stop, and in which order to read.

    ``seeds`` are None (rows in turn), or one for every problem (each has an order of its own) or for all together.
    ``run`` neighbours stay together when rows are shuffled: memory is then read a page at a time.
    ``held_out`` marks rows that are not learned from; ``score`` then tells how well weights do on them.
    """

    max_iter: int = 1000
    tol: float | None = 1e-3
    patience: int = 5
    seeds: Sequence[int] | None = None
    held_out: NDArray[np.bool_] | None = None
    run: int = 1
    score: Callable[[list[int], Floats, Floats], Floats] | None = None


@dataclass
class Watch:
    """Looks for improvement of one problem: of its objective, or of its score on rows held out."""

    plan: Plan
    best: float = np.inf
    stale: int = 0
    epochs: int = 0
    stopped: bool = False

    def see(self, value: float, learning: Learning, memory: Floats) -> None:
        """``value`` is to be small."""
        self.epochs += 1
        stale = self.plan.tol is not None and value > self.best - self.plan.tol
        self.stale = self.stale + 1 if stale else 0
        self.best = min(self.best, value)
        if self.stale >= self.plan.patience:
            if learning.rate == "adaptive" and memory[names.ETA] > SMALLEST_RATE:
                memory[names.ETA] /= DIVISOR
                self.stale = 0
            else:
                self.stopped = True
        self.stopped |= self.epochs >= self.plan.max_iter


@dataclass
class Course:
    """What came of it: epochs of each problem, whether somebody stopped it, and the epoch that was not finite."""

    epochs: list[int] = field(default_factory=list)
    interrupted: bool = False
    broken: int | None = None
    converged: bool = True


def learn_epochs(rows: OnlineRows, learning: Learning, weights: Weights, targets: Targets, plan: Plan) -> Course:
    """Learn until every problem has stopped; the weights are settled at the end.

    With one order for all, the problems share each reading of the rows; with an order each, they run on threads.
    """
    groups = _groups(plan, len(weights), len(rows))
    watches = [Watch(plan) for _ in range(len(weights))]
    total = plan.max_iter * len(rows) * len(groups) if plan.tol is None else None
    course = Course()
    try:
        with Progress("learning", total) as progress:
            while groups and course.broken is None:
                run(partial(_epoch, rows, learning, weights, targets, groups, progress), len(groups))
                _judge(groups, watches, learning, weights, plan, len(rows))
                if not (weights.finite and _settled_finite(weights)):
                    course.broken = max(watch.epochs for watch in watches)
                groups = [left for group in groups if (left := group.without(watches)) is not None]
    except KeyboardInterrupt:
        course.interrupted = True
    weights.settle()
    course.epochs = [max(watch.epochs, 1) for watch in watches]
    course.converged = all(watch.epochs < plan.max_iter or plan.tol is None for watch in watches)
    return course


@dataclass
class _Group:
    """Problems that read the rows together, and their order."""

    members: list[int]
    seed: int | None
    order: NDArray[np.int32] | None
    kept: NDArray[np.bool_] | None
    run: int = 1
    n: int = 0

    def without(self, watches: Sequence[Watch]) -> _Group | None:
        left = [k for k in self.members if not watches[k].stopped]
        return replace(self, members=left) if left else None

    def next_order(self) -> NDArray[np.int32] | None:
        if self.order is None:
            return None
        if self.seed is not None:
            _kernels.shuffle(self.order, self.seed)
        order = self.order
        if self.run > 1:
            order = np.add.outer(order * self.run, np.arange(self.run)).ravel().astype(np.int32)
            order = order[order < self.n]
        return order if self.kept is None else order[self.kept[order]]


def _groups(plan: Plan, problems: int, n: int) -> list[_Group]:
    kept = None if plan.held_out is None else ~plan.held_out
    if plan.seeds is None:
        order = None if kept is None else np.arange(n, dtype=np.int32)
        return [_Group(list(range(problems)), None, order, kept)]
    if len(plan.seeds) == 1:
        order = np.arange(-(-n // plan.run), dtype=np.int32)
        return [_Group(list(range(problems)), plan.seeds[0], order, kept, plan.run, n)]
    return [_Group([k], seed, np.arange(n, dtype=np.int32), kept) for k, seed in enumerate(plan.seeds)]


def _epoch(
    rows: OnlineRows,
    learning: Learning,
    weights: Weights,
    targets: Targets,
    groups: Sequence[_Group],
    progress: Progress,
    i: int,
) -> None:
    group = groups[i]
    everyone = len(group.members) == len(weights)
    which: Any = slice(None) if everyone else group.members
    # One problem alone is a view; some of them are copied out and back.
    which = slice(which[0], which[0] + 1) if isinstance(which, list) and len(which) == 1 else which
    part, those = weights.taken(which), targets.taken(which)
    part.memory[:, names.LOSS] = 0.0
    order, step = group.next_order(), rows.per_call
    for start in range(0, len(rows) if order is None else len(order), step):
        if order is None:
            rows.part(start, start + step).learn(None, learning, part, those)
        else:
            rows.learn(order[start : start + step], learning, part, those)
        if i == 0:
            progress.add(min(step, len(rows) - start) * len(groups))
    if isinstance(which, list):
        weights.put(which, part)


def _judge(
    groups: Sequence[_Group], watches: Sequence[Watch], learning: Learning, weights: Weights, plan: Plan, n: int
) -> None:
    members = [k for group in groups for k in group.members]
    if plan.score is not None:
        scaled = weights.w[members] * weights.memory[members, names.SCALE, None]
        values = -plan.score(members, scaled, weights.intercept[members])
    else:
        count = n if groups[0].kept is None else int(groups[0].kept.sum())
        values = weights.memory[members, names.LOSS] / max(count, 1)
        if learning.update == "best_class":
            # Classes that compete have one loss together.
            values[:] = values.sum()
    for k, value in zip(members, values.tolist(), strict=True):
        watches[k].see(value, learning, weights.memory[k])


def _settled_finite(weights: Weights) -> bool:
    return bool(np.isfinite(weights.w).all())
