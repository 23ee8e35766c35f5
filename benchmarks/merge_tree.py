"""What the merges of states cost on many workers, with stragglers and lost workers: a simulation of events.

Every part of the rows is a task that leaves a state on the worker that made it. A tree merges ``fan_in`` neighbours at
a time, on a worker that fetches what others have, one after the other. Flat merging sends every state to the calling
machine. A worker that is lost takes its states with it, and whatever they were merged from is made again, as Dask and
Spark do; another worker takes its place after a while. The tree keeps its shape, so the answer has the same bits.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np


@dataclass(frozen=True)
class Cluster:
    """Workers of one processor each: seconds of a task and of what surrounds one, bytes a second of links and merges.

    ``slow`` is the share of tasks that take ``slowness`` times as long, ``lost`` the share of workers that are lost
    in the time that the tasks would take without trouble; each is replaced after ``restart`` seconds.
    """

    workers: int = 256
    parts: int = 4096
    task: float = 4.0
    overhead: float = 0.002
    link: float = 1.25e9
    merging: float = 2e9
    slow: float = 0.0
    slowness: float = 5.0
    lost: float = 0.0
    restart: float = 30.0

    @property
    def ideal(self) -> float:
        """Seconds of the tasks alone."""
        return self.parts * self.task / self.workers


@dataclass
class Node:
    """A task or a merge: where its state lies once it is ``made``; ``freed`` when it has been merged."""

    level: int
    children: list[Node]
    parent: Node | None = None
    made: bool = False
    freed: bool = False
    running: bool = False
    worker: int = -1

    @property
    def ready(self) -> bool:
        return not (self.made or self.running) and all(child.made and not child.freed for child in self.children)


def tree_of(parts: int, fan_in: int) -> tuple[list[Node], Node]:
    """The tasks, and the node of all rows above them."""
    level = leaves = [Node(0, []) for _ in range(parts)]
    depth = 0
    while len(level) > 1:
        depth += 1
        groups = [level[start : start + fan_in] for start in range(0, len(level), fan_in)]
        level = [Node(depth, group) for group in groups]
        for node in level:
            for child in node.children:
                child.parent = node
    return leaves, level[0]


@dataclass
class Run:
    """One fit, event by event."""

    cluster: Cluster
    state: float
    fan_in: int
    rng: np.random.Generator
    now: float = 0.0
    made: int = 0
    _events: list[tuple[float, int, str, int, Node | None]] = field(default_factory=list)
    _number: Iterator[int] = field(default_factory=count)

    def seconds(self) -> float:
        """Until the state of all rows is on the calling machine."""
        leaves, root = tree_of(self.cluster.parts, self.fan_in)
        # Merges before tasks, in the order of the rows.
        self._ready: list[tuple[int, int, Node]] = []
        for leaf in leaves:
            self._offer(leaf)
        self._idle = set(range(self.cluster.workers))
        self._doing: dict[int, Node] = {}
        self._held: dict[int, set[int]] = {w: set() for w in range(self.cluster.workers)}
        self._nodes: dict[int, Node] = {}
        self._plan_losses()
        while not root.made:
            self._start_all()
            self.now, _, what, worker, node = heapq.heappop(self._events)
            if what == "done" and node is not None and self._doing.get(worker) is node:
                self._finish(worker, node)
            elif what == "lost":
                self._lose(worker)
            elif what == "back":
                self._idle.add(worker)
        return self.now + self.state / self.cluster.link

    def _plan_losses(self) -> None:
        cluster = self.cluster
        for worker in np.flatnonzero(self.rng.random(cluster.workers) < cluster.lost).tolist():
            self._post(cluster.ideal * float(self.rng.random()), "lost", worker)

    def _post(self, at: float, what: str, worker: int, node: Node | None = None) -> None:
        heapq.heappush(self._events, (at, next(self._number), what, worker, node))

    def _offer(self, node: Node) -> None:
        heapq.heappush(self._ready, (-node.level, next(self._number), node))

    def _start_all(self) -> None:
        while self._idle and self._ready:
            node = heapq.heappop(self._ready)[2]
            if not node.ready:
                continue
            worker = next((c.worker for c in node.children if c.worker in self._idle), None)
            worker = min(self._idle) if worker is None else worker
            self._idle.discard(worker)
            node.running, self._doing[worker] = True, node
            self._post(self.now + self._takes(node, worker), "done", worker, node)

    def _takes(self, node: Node, worker: int) -> float:
        cluster = self.cluster
        if node.level:
            fetched = sum(child.worker != worker for child in node.children)
            work = fetched * self.state / cluster.link + len(node.children) * self.state / cluster.merging
        else:
            work = cluster.task * (cluster.slowness if self.rng.random() < cluster.slow else 1.0)
        return cluster.overhead + work * float(self.rng.lognormal(0.0, 0.1))

    def _finish(self, worker: int, node: Node) -> None:
        del self._doing[worker]
        self._idle.add(worker)
        node.running, node.made, node.freed, node.worker = False, True, False, worker
        self.made += node.level == 0
        self._nodes[id(node)] = node
        self._held[worker].add(id(node))
        for child in node.children:
            child.freed = True
            self._held[child.worker].discard(id(child))
        if node.parent is not None and node.parent.ready:
            self._offer(node.parent)

    def _lose(self, worker: int) -> None:
        doing = self._doing.pop(worker, None)
        self._idle.discard(worker)
        if doing is not None:
            doing.running = False
            self._again(doing)
        for known in self._held[worker]:
            self._again(self._nodes[known])
        self._held[worker] = set()
        self._post(self.now + self.cluster.restart, "back", worker)

    def _again(self, node: Node) -> None:
        """Make a state anew, and first those below it that are gone."""
        node.made = node.freed = False
        for child in node.children:
            if child.freed and not child.running:
                self._again(child)
        if node.ready:
            self._offer(node)


def flat(cluster: Cluster, state: float, rng: np.random.Generator) -> float:
    """Seconds until the calling machine has merged all states itself, in the order of the rows."""
    work = np.where(rng.random(cluster.parts) < cluster.slow, cluster.slowness, 1.0) * rng.lognormal(
        0, 0.1, cluster.parts
    )
    free = [(0.0, w) for w in range(cluster.workers)]
    falls = {
        int(w): cluster.ideal * float(rng.random()) for w in np.flatnonzero(rng.random(cluster.workers) < cluster.lost)
    }
    done, waiting = [], list(work[::-1] * cluster.task + cluster.overhead)
    while waiting:
        start, w = heapq.heappop(free)
        end = start + waiting[-1]
        if w in falls and falls[w] < end:
            heapq.heappush(free, (max(start, falls.pop(w)) + cluster.restart, w))
            continue
        waiting.pop()
        done.append(end)
        heapq.heappush(free, (end, w))
    now = 0.0
    for end in sorted(done):
        now = max(now, end) + state / cluster.link + state / cluster.merging
    return now


TROUBLE = {
    "no trouble": {},
    "2% of tasks 5 times as long": {"slow": 0.02},
    "and 5% of workers lost": {"slow": 0.02, "lost": 0.05},
}
# Bytes of a state of a full scatter of so many columns.
WIDTHS = (20, 1_000, 3_000, 10_000)
FAN_INS = (2, 4, 16, 64)


def simulated(cluster: Cluster, seeds: int = 3) -> list[str]:
    """The table: seconds of a pass beyond those of the tasks without trouble."""
    head = [*(f"tree of {f}" for f in FAN_INS), "flat"]
    lines = ["| columns (state) | trouble | " + " | ".join(head) + " |", "|---" * (len(head) + 2) + "|"]
    for p in WIDTHS:
        state = 8.0 * p * p
        for name, trouble in TROUBLE.items():
            under = replace(cluster, **trouble)
            cells = [
                np.mean([Run(under, state, f, np.random.default_rng(s)).seconds() for s in range(seeds)])
                for f in FAN_INS
            ]
            cells.append(np.mean([flat(under, state, np.random.default_rng(s)) for s in range(seeds)]))
            shown = " | ".join(_seconds(float(cell) - cluster.ideal) for cell in cells)
            lines.append(f"| {p:,} ({size(state)}) | {name} | {shown} |")
    return lines


def _seconds(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def size(n: float) -> str:
    """Bytes in words."""
    for limit, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if n >= limit:
            return f"{n / limit:,.3g} {name}"
    return f"{n / 1e3:,.2g} kB"
