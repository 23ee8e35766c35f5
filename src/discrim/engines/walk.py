"""Rows in order, epoch after epoch, until nothing improves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from discrim.engines.orders import Order
from discrim.engines.progress import Progress
from discrim.families.sequence import Sequential, Stopping, Visits, Watch
from discrim.parallel import run

S = TypeVar("S")


@dataclass(frozen=True)
class Lane:
    """Problems that read the rows together, and the order in which they do."""

    problems: tuple[int, ...]
    order: Order

    def without(self, watches: Sequence[Watch]) -> Lane | None:
        """The problems that go on."""
        left = tuple(k for k in self.problems if not watches[k].stopped)
        return Lane(left, self.order) if left else None


@dataclass(frozen=True)
class Walked:
    """How far a walk came: the epochs of each problem, and whether they had all ended before they had to."""

    epochs: tuple[int, ...]
    converged: bool


def walk(
    sequence: Sequential[S],
    state: S,
    lanes: Sequence[Lane],
    stopping: Stopping,
    n_rows: int | None = None,
    *,
    title: str = "learning",
) -> Walked:
    """Learn until every problem has stopped; ``state`` is changed in place, and belongs to the walk.

    Problems of one lane share each reading of the rows; several lanes run on threads. ``n_rows`` is shown on a
    terminal as what there is to do, under this ``title``.
    """
    watches = [Watch(stopping) for _ in range(sum(len(lane.problems) for lane in lanes))]
    total = None if n_rows is None or stopping.tol is not None else stopping.max_iter * n_rows * len(lanes)
    with Progress(title, total) as progress:
        while lanes:
            last = all(watch.stopped or watch.epochs + 1 >= stopping.max_iter for watch in watches)
            _epoch(_Turn(sequence, state, lanes, progress), last=last)
            judged = {k: watches[k] for lane in lanes for k in lane.problems}
            for watch in judged.values():
                watch.epochs += 1
            sequence.judge(state, judged)
            for watch in judged.values():
                watch.stopped |= watch.epochs >= stopping.max_iter
            lanes = [left for lane in lanes if (left := lane.without(watches)) is not None]
    epochs = tuple(watch.epochs for watch in watches)
    return Walked(epochs, stopping.tol is None or max(epochs) < stopping.max_iter)


@dataclass(frozen=True)
class _Turn:
    """An epoch of every lane."""

    sequence: Sequential[Any]
    state: Any
    lanes: Sequence[Lane]
    progress: Progress

    def learn(self, i: int, parts: Iterator[Visits] | None = None) -> None:
        lane = self.lanes[i]
        for part in lane.order.epoch() if parts is None else parts:
            self.sequence.step(self.state, part, lane.problems)
            if i == 0:
                self.progress.add(len(part) * len(self.lanes))


def _epoch(turn: _Turn, *, last: bool) -> None:
    """Lanes on threads; one that is alone gets its next order from another thread meanwhile."""
    order = turn.lanes[0].order
    if len(turn.lanes) > 1 or not order.costly:
        run(turn.learn, len(turn.lanes))
        return
    parts = order.epoch()
    run(lambda i: order.prepare() if i else turn.learn(0, parts), 1 if last else 2)
