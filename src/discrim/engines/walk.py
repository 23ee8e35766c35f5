"""Rows in order, epoch after epoch, until nothing improves."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

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

    def among(self, problems: Container[int]) -> Lane:
        """The same for some of its problems."""
        return Lane(tuple(k for k in self.problems if k in problems), self.order)


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
    everyone = [k for lane in lanes for k in lane.problems]
    watches = {k: Watch(stopping) for k in everyone}
    learning, turn = watches, None
    total = None if n_rows is None or stopping.tol is not None else stopping.max_iter * n_rows * len(lanes)
    with Progress(title, total) as progress:
        while learning:
            turn = turn or _Turn(sequence, state, lanes, progress)
            _epoch(turn, learning)
            for watch in learning.values():
                watch.epochs += 1
            sequence.judge(state, learning)
            if any(watch.over for watch in learning.values()):
                learning = {k: watch for k, watch in learning.items() if not watch.over}
                lanes, turn = [left for lane in lanes if (left := lane.among(learning)).problems], None
    epochs = tuple(watches[k].epochs for k in sorted(everyone))
    return Walked(epochs, stopping.tol is None or max(epochs) < stopping.max_iter)


class _Turn(NamedTuple):
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


def _epoch(turn: _Turn, watches: Mapping[int, Watch]) -> None:
    """Lanes on threads; one that is alone gets its next order from another thread meanwhile."""
    if len(turn.lanes) > 1:
        run(turn.learn, len(turn.lanes))
        return
    order = turn.lanes[0].order
    parts = order.epoch()
    ahead = order.costly and any(watch.epochs + 1 < watch.stopping.max_iter for watch in watches.values())
    if ahead:
        run(lambda i: order.prepare() if i else turn.learn(0, parts), 2)
    else:
        turn.learn(0, parts)
