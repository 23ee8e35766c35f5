"""Rows in order, epoch after epoch, until nothing improves."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

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
    learning = watches
    total = None if n_rows is None or stopping.tol is not None else stopping.max_iter * n_rows * len(lanes)
    with Progress(title, total) as progress:
        while learning:
            last = all(watch.epochs + 1 >= stopping.max_iter for watch in learning.values())
            _epoch(sequence, state, lanes, progress, last=last)
            for watch in learning.values():
                watch.epochs += 1
            sequence.judge(state, learning)
            if any(watch.over for watch in learning.values()):
                learning = {k: watch for k, watch in learning.items() if not watch.over}
                lanes = [left for lane in lanes if (left := lane.among(learning)).problems]
    epochs = tuple(watches[k].epochs for k in sorted(everyone))
    return Walked(epochs, stopping.tol is None or max(epochs) < stopping.max_iter)


def _epoch(sequence: Sequential[S], state: S, lanes: Sequence[Lane], progress: Progress, *, last: bool) -> None:
    """Lanes on threads; one that is alone gets its next order from another thread meanwhile."""

    def learn(i: int, parts: Iterator[Visits] | None = None) -> None:
        lane = lanes[i]
        for part in lane.order.epoch() if parts is None else parts:
            sequence.step(state, part, lane.problems)
            if i == 0:
                progress.add(len(part) * len(lanes))

    if len(lanes) > 1:
        run(learn, len(lanes))
        return
    order = lanes[0].order
    parts = order.epoch()
    if order.costly and not last:
        run(lambda i: order.prepare() if i else learn(0, parts), 2)
    else:
        learn(0, parts)
