"""Epoch after epoch, until nothing improves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.engines.progress import Progress
from discrim.kernels import reference_online as names
from discrim.online.learning import Learning
from discrim.online.rows import OnlineRows, Targets, Visits
from discrim.online.weights import Weights
from discrim.parallel import run
from discrim.typing import Floats

# The adaptive rate is divided by this when nothing improves, until it is as small as that.
DIVISOR = 5.0
SMALLEST_RATE = 1e-6
# Rows from which on an order is worth a thread.
MANY = 10_000
# Neighbours of a block, and blocks that are read side by side.
BLOCK, STREAMS = 16, 128


@dataclass(frozen=True)
class Plan:
    """When to stop, and in which order to read.

    ``seeds`` are None (rows in turn), or one for every problem (each has an order of its own) or for all together.
    ``woven``: blocks of neighbours are shuffled instead of rows, see ``weave``.
    ``held_out`` marks rows that are not learned from; ``score`` then tells how well weights do on them.
    """

    max_iter: int = 1000
    tol: float | None = 1e-3
    patience: int = 5
    seeds: Sequence[int] | None = None
    held_out: NDArray[np.bool_] | None = None
    woven: bool = False
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
    """What came of it: epochs of each problem, and the epoch that was not finite."""

    epochs: list[int] = field(default_factory=list)
    broken: int | None = None
    converged: bool = True


def learn_epochs(rows: OnlineRows, learning: Learning, weights: Weights, targets: Targets, plan: Plan) -> Course:
    """Learn until every problem has stopped; the weights are settled at the end.

    With one order for all, the problems share each reading of the rows; with an order each, they run on threads.
    """
    groups = _groups(plan, len(weights), rows)
    watches = [Watch(plan) for _ in range(len(weights))]
    total = plan.max_iter * len(rows) * len(groups) if plan.tol is None else None
    course = Course()
    with Progress("learning", total) as progress:
        while groups and course.broken is None:
            last = all(watch.stopped or watch.epochs + 1 >= plan.max_iter for watch in watches)
            _turn(partial(_epoch, rows, learning, weights, targets, groups, progress), groups, last=last)
            _judge(groups, watches, learning, weights, plan, len(rows))
            if not (weights.finite and _settled_finite(weights)):
                course.broken = max(watch.epochs for watch in watches)
            groups = [left for group in groups if (left := group.without(watches)) is not None]
    weights.settle()
    course.epochs = [max(watch.epochs, 1) for watch in watches]
    course.converged = all(watch.epochs < plan.max_iter or plan.tol is None for watch in watches)
    return course


@dataclass
class _Group:
    """Problems that read the rows together, and their order; ``ready`` are the visits of the next epoch, if made."""

    members: list[int]
    rows: OnlineRows
    seed: int | None
    order: NDArray[np.int32] | None
    kept: NDArray[np.bool_] | None
    woven: bool = False
    known: bool = False
    ready: Visits | None = None

    def without(self, watches: Sequence[Watch]) -> _Group | None:
        left = [k for k in self.members if not watches[k].stopped]
        return replace(self, members=left) if left else None

    def next_visits(self) -> Visits:
        ready, self.ready = self.ready or self.make_visits(), None
        return ready

    def make_visits(self) -> Visits:
        visits = self.rows.visits(self._next_order(), known=self.known)
        self.known = True
        return visits

    def _next_order(self) -> NDArray[np.int32] | None:
        if self.order is None:
            return None
        if self.seed is not None:
            # The order before may still be in use.
            self.order = self.order.copy() if self.known else self.order
            kernels.shuffle(self.order, self.seed)
        order = self.order
        if self.woven:
            order = weave(order, len(self.rows))
        return order if self.kept is None else order[self.kept[order]]


def _groups(plan: Plan, problems: int, rows: OnlineRows) -> list[_Group]:
    kept, n = None if plan.held_out is None else ~plan.held_out, len(rows)
    everyone = list(range(problems))
    if plan.seeds is None:
        return [_Group(everyone, rows, None, None if kept is None else np.arange(n, dtype=np.int32), kept)]
    members = [everyone] if len(plan.seeds) == 1 else [[k] for k in everyone]
    count = -(-n // (BLOCK * STREAMS)) * STREAMS if plan.woven else n
    orders = (np.arange(count, dtype=np.int32) for _ in members)
    return [
        _Group(those, rows, seed, order, kept, plan.woven)
        for those, seed, order in zip(members, plan.seeds, orders, strict=True)
    ]


def weave(blocks: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Rows 0 to n - 1 in the order of their blocks, ``STREAMS`` of these at a time, a row of each in turn.

    Each block is read forwards, as fast as rows in turn are: a processor fetches ahead what it sees being read in
    order, from several places at once. Rows that come one after the other are from places far apart, also where rows
    are sorted. There are as many ``blocks`` as whole rounds need; what lies beyond the last row is passed over.
    """
    rounds = blocks.reshape(-1, 1, STREAMS).astype(np.int64) * BLOCK + np.arange(BLOCK)[:, None]
    order = rounds.ravel()
    return order[order < n].astype(np.int32)


def _turn(epoch: Callable[[Visits | None, int], None], groups: Sequence[_Group], *, last: bool) -> None:
    """An epoch of every group. One that is alone gets its next order from another thread meanwhile."""
    if len(groups) > 1 or groups[0].order is None or len(groups[0].rows) < MANY:
        run(partial(epoch, None), len(groups))
        return
    group = groups[0]
    visits = group.next_visits()

    def task(i: int) -> None:
        if i == 0:
            epoch(visits, 0)
        else:
            group.ready = group.make_visits()

    run(task, 1 if last else 2)


def _epoch(
    rows: OnlineRows,
    learning: Learning,
    weights: Weights,
    targets: Targets,
    groups: Sequence[_Group],
    progress: Progress,
    visits: Visits | None,
    i: int,
) -> None:
    group = groups[i]
    visits = visits or group.next_visits()
    everyone = len(group.members) == len(weights)
    which: Any = slice(None) if everyone else group.members
    # One problem alone is a view; some of them are copied out and back.
    which = slice(which[0], which[0] + 1) if isinstance(which, list) and len(which) == 1 else which
    part, those = weights.taken(which), targets.taken(which)
    part.memory[:, names.LOSS] = 0.0
    step = rows.per_call
    for start in range(0, len(visits.codes), step):
        now = visits.part(start, start + step)
        (rows if now.order is not None else rows.part(start, start + step)).learn(now, learning, part, those)
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
