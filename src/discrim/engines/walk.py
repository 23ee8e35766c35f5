"""Rows in order, epoch after epoch, until nothing improves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from discrim.engines.orders import Order
from discrim.engines.progress import Progress
from discrim.families.sequence import Sequential, Stopping, Visits, Watch
from discrim.parallel import run

S = TypeVar("S")

# Rows below which all epochs of a problem are over before a thread has begun.
FEW = 1_000


@dataclass(frozen=True)
class Lane:
    """Problems that read the rows together, and the order in which they do.

    ``alone`` learns every epoch of an only problem until its watch is over, where that is faster than one by one.
    """

    problems: tuple[int, ...]
    order: Order
    alone: Callable[[Watch], None] | None = None


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
    watches = {k: Watch(stopping) for lane in lanes for k in lane.problems}
    total = None if n_rows is None or stopping.tol is not None else stopping.max_iter * n_rows * len(lanes)

    def learn(i: int) -> None:
        try:
            _learn(sequence, state, lanes, i, {k: watches[k] for k in lanes[i].problems}, progress)
        except BaseException:
            # Lanes on other threads end at their next step.
            for watch in watches.values():
                watch.stopped = True
            raise

    with Progress(title, total) as progress:
        run(learn, len(lanes), workers=1 if n_rows is not None and n_rows < FEW else None)
    epochs = tuple(watches[k].epochs for k in sorted(watches))
    return Walked(epochs, stopping.tol is None or max(epochs) < stopping.max_iter)


def _learn(
    sequence: Sequential[S], state: S, lanes: Sequence[Lane], i: int, learning: dict[int, Watch], progress: Progress
) -> None:
    """The epochs of one lane; if there is no other, another thread makes its next order meanwhile."""
    lane, order = lanes[i], lanes[i].order
    if lane.alone is not None:
        lane.alone(learning[lane.problems[0]])
        return

    def step(parts: Iterator[Visits]) -> None:
        for part in parts:
            sequence.step(state, part, tuple(learning))
            if i == 0:
                progress.add(len(part) * len(lanes))

    while learning:
        last = all(watch.epochs + 1 >= watch.stopping.max_iter for watch in learning.values())
        parts = order.epoch()
        if order.costly and not last and len(lanes) == 1:
            tasks = partial(step, parts), order.prepare
            run(partial(_call, tasks), 2)
        else:
            step(parts)
        for watch in learning.values():
            watch.epochs += 1
        sequence.judge(state, learning)
        learning = {k: watch for k, watch in learning.items() if not watch.over}
    order.end()


def _call(tasks: Sequence[Callable[[], None]], i: int) -> None:
    tasks[i]()
