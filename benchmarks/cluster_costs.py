"""What a fit on many processors costs: constants measured here, and from them the tables of ``docs/scale.md``.

A pass takes as long as reading or arithmetic, whichever is longer, on all processors; then come the merges of a tree,
and what the calling machine solves. Constants are processor seconds of one thread, the least of some turns.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.job import ours
from benchmarks.merge_tree import Cluster, simulated, size
from benchmarks.table import machine

DOCS = Path(__file__).resolve().parent.parent / "docs" / "scale.md"
# What is assumed of a cluster, since it is not here.
PROCESSORS, LINK, MEMORY = 1000, 1.25e9, 8e9
TURNS = 5


@dataclass(frozen=True)
class Constants:
    """What a processor does in a second, of each kind; see ``MEANT``."""

    read: float
    diagonal: float
    scatter: float
    curvature: float
    gradient: float
    counts: float
    merge: float
    ship: float
    task: float
    solve: float


MEANT = {
    "read": "bytes a second of Parquet, decoded into blocks",
    "diagonal": "numbers a second of means and variances, with their rows in memory",
    "scatter": "multiplications a second of a scatter, 200 columns",
    "curvature": "multiplications a second of a Newton pass, 100 columns",
    "gradient": "multiplications a second of a gradient pass, 100 columns and 50 classes",
    "counts": "entries a second of sparse counts, 50 in a row",
    "merge": "bytes a second of two states that are merged, 1,000 columns",
    "ship": "bytes a second of a state of 80 MB from worker to worker of Dask, on loopback",
    "task": "seconds of an empty task of Dask, of those in which a worker and the scheduler are busy",
    "solve": "p^3 a second of solving LDA, 1,000 columns",
}


def least(turn: Callable[[], object], turns: int = TURNS) -> float:
    """Processor seconds of the best turn."""
    spent = []
    turn()
    for _ in range(turns):
        start = time.process_time()
        turn()
        spent.append(time.process_time() - start)
    return min(spent)


def measured() -> Constants:
    """All constants, on one thread where the library has its way (OMP_NUM_THREADS=1)."""
    from discrim.statistics import Depth, MomentsOf

    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((100_000, 200)), rng.integers(0, 2, 100_000)
    many = rng.integers(0, 50, 100_000)
    seconds = {
        "diagonal": least(lambda: _statistic(MomentsOf(Depth.DIAGONAL), x, y)),
        "scatter": least(lambda: _statistic(MomentsOf(Depth.FULL), x, y)),
    }
    narrow = np.ascontiguousarray(x[:, :100])
    newton, gradient = _passes(narrow, y, 2), _passes(narrow, many, 1)
    wide = rng.standard_normal((3_000, 1_000))
    states = [_statistic(MomentsOf(Depth.FULL), wide, y[:3_000]) for _ in range(2)]
    merging = least(lambda: MomentsOf(Depth.FULL).merge(states))
    solving = least(lambda: ours("LinearDiscriminantAnalysis").from_statistic(states[0]), 3)
    ship, task = shipping()
    return Constants(
        read=reading(),
        diagonal=x.size / seconds["diagonal"],
        scatter=100_000 * 200**2 / seconds["scatter"],
        curvature=100_000 * 101**2 / newton,
        gradient=100_000 * 101 * 50 / gradient,
        counts=counting(),
        merge=2 * 8 * 1_000**2 / merging,
        ship=ship,
        task=task,
        solve=1_000**3 / solving,
    )


def _statistic(reduction: Any, x: Any, y: Any) -> Any:
    from discrim.block import Block

    return reduction.of(Block(x, y.astype(np.int32), np.unique(y)))


def _passes(x: Any, codes: Any, depth: int) -> float:
    """Seconds of one pass of a logistic fit over these rows."""
    from discrim import kernels

    k, p = int(codes.max()) + 1, x.shape[1]
    theta = np.zeros(p + 1) if k == 2 else np.zeros((k, p + 1))
    kernel = kernels.binary_likelihood if k == 2 else kernels.softmax_likelihood
    response = (codes.astype(np.int32), None, None, None)
    return least(lambda: kernel(x, response, np.zeros(p), theta, None, np.empty(0), depth))


def reading() -> float:
    """Bytes a second of a Parquet file that is in the memory of the system, as blocks of a scan."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        rows = np.random.default_rng(4).standard_normal((20, n))
        table = pa.table({**{f"x{j}": rows[j] for j in range(20)}, "y": np.arange(n) % 2})
        pq.write_table(table, Path(folder) / "rows.parquet", compression="NONE", use_dictionary=False)
        scan = ours("scan")(Path(folder) / "rows.parquet", target="y")
        return n * 21 * 8 / least(lambda: sum(len(block) for block in scan.blocks()))


def counting() -> float:
    """Entries a second of sparse rows, 50 in each."""
    from scipy import sparse

    n, p = 50_000, 20_000
    rng = np.random.default_rng(5)
    x = sparse.csr_matrix(
        (np.ones(n * 50), rng.integers(0, p, n * 50).astype(np.int32), np.arange(0, n * 50 + 1, 50)), shape=(n, p)
    )
    x.sum_duplicates()
    y, model = rng.integers(0, 2, n), ours("MultinomialNB")()
    return x.nnz / least(lambda: model.fit(x, y))


def shipping() -> tuple[float, float]:
    """Bytes a second between two workers of Dask, and seconds of an empty task."""
    from distributed import Client, wait

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as client:
        one, other = list(client.scheduler_info()["workers"])
        seconds = []
        for i in range(TURNS):
            state = client.submit(np.full, 10_000_000, float(i), workers=[one], pure=False)
            wait(state)
            start = time.perf_counter()
            wait(client.submit(len, state, workers=[other], pure=False))
            seconds.append(time.perf_counter() - start)
        tasks = []
        for _ in range(3):
            start = time.perf_counter()
            client.gather(client.map(int, range(1000), pure=False))
            tasks.append((time.perf_counter() - start) / 1000)
    return 8e7 / min(seconds), min(tasks)


@dataclass(frozen=True)
class Method:
    """What a pass does for n rows, p columns and K classes: multiplications of a kind, and numbers of a state."""

    name: str
    kind: str
    passes: int
    work: Callable[[float, float, float], float]
    state: Callable[[float, float], float]
    solve: Callable[[float, float], float] | None = None
    entries: float | None = None


METHODS = [
    Method("Gaussian naive Bayes, centroids", "diagonal", 1, lambda n, p, _: n * p, lambda p, k: 2 * k * p),
    Method("naive Bayes of 50 counts a row", "counts", 1, lambda n, _, __: 50 * n, lambda p, k: k * p, None, 50),
    Method("LDA, ridge, lasso", "scatter", 1, lambda n, p, _: n * p**2, lambda p, k: p**2 + k * p, lambda p, _: p**3),
    Method("QDA, RDA", "scatter", 1, lambda n, p, _: n * p**2, lambda p, k: k * p**2, lambda p, k: k * p**3),
    Method("logistic, two classes", "curvature", 3, lambda n, p, _: n * p**2, lambda p, _: p**2, lambda p, _: p**3),
    Method("logistic, K classes", "gradient", 30, lambda n, p, k: n * p * k, lambda p, k: k * p),
    Method(
        "projected to 1,000 columns, then LDA", "gradient", 1, lambda n, p, _: 1e3 * n * p + 0.2e6 * n,
        lambda _, k: 1e6 + 1e3 * k, lambda _, __: 1e9,
    ),
    Method(
        "LDA, scatter in tiles of 10,000 columns", "scatter", 1, lambda n, p, _: n * p**2, lambda _, __: 1e8,
        lambda p, _: p**3,
    ),
]  # fmt: skip
# Rows, columns and classes.
SHAPES = [
    (1e9, 20, 2), (1e9, 1e3, 10), (1e9, 1e4, 10), (1e9, 1e5, 2), (1e10, 100, 1e4), (1e11, 100, 10), (1e12, 20, 2),
    (1e12, 1e3, 2),
]  # fmt: skip


def cost_of(method: Method, shape: tuple[float, float, float], c: Constants) -> str:
    """Time on the assumed processors, or why it is not sensible."""
    n, p, k = shape
    state, tiles = 8 * method.state(p, k), "tiles" in method.name
    if not _sensible(method.name, p, k):
        return "-"
    # A worker holds four states while it merges, and what it merges them to.
    if 5 * state > MEMORY:
        return f"no: {size(state)} a state"
    # Every group of columns is read with every other one.
    fed = 12 * method.entries * n if method.entries else 8 * n * p * (p / 1e4 + 1 if tiles else 1)
    run = max(fed / c.read, method.work(n, p, k) / getattr(c, method.kind)) / PROCESSORS
    levels = int(np.ceil(np.log(4 * PROCESSORS) / np.log(4)))
    merged = levels * (3 * state / min(LINK, c.ship) + 4 * state / c.merge)
    solve = 0.0 if method.solve is None else method.solve(p, k) / c.solve
    return duration(method.passes * (run + merged + c.task * 4) + solve)


def _sensible(name: str, p: float, k: float) -> bool:
    """Does anybody fit such a model to rows of this shape?"""
    if name.startswith("logistic"):
        return ("two" in name) == (k == 2)
    return p > 2_000 if name.startswith("projected") else p > 1e4 or "tiles" not in name


def duration(seconds: float) -> str:
    for limit, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * limit:
            return f"{seconds / limit:,.0f} {name}"
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def costs_table(c: Constants) -> list[str]:
    """What is read of each shape, and how long every method takes."""
    heads = [f"n {_power(n)}, p {_power(p)}, K {_power(k)}" for n, p, k in SHAPES]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    lines.append("| bytes of a dense read | " + " | ".join(size(8 * n * p) for n, p, _ in SHAPES) + " |")
    for method in METHODS:
        cells = " | ".join(cost_of(method, shape, c) for shape in SHAPES)
        lines.append(f"| {method.name} | {cells} |")
    return lines


def _power(value: float) -> str:
    exponent = round(np.log10(value))
    return f"10^{exponent}" if value >= 1000 and value == 10.0**exponent else f"{value:g}"


def constants_table(c: Constants) -> list[str]:
    lines = ["| constant | measured |", "|---|---|"]
    for name, value in asdict(c).items():
        lines.append(f"| {MEANT[name]} | {value:.2g} |")
    return [*lines, "", f"{machine()} One thread, processor time."]


def write_tables() -> None:
    """Measure, simulate, and put the tables in place of those of the documentation."""
    c = measured()
    cluster = Cluster(overhead=c.task, link=min(LINK, c.ship), merging=c.merge)
    parts = {"constants": constants_table(c), "costs": costs_table(c), "merges": simulated(cluster)}
    text = DOCS.read_text()
    for name, lines in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        table = "\n".join([begin, "", *lines, "", end])
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, t=table: t, text, flags=re.DOTALL)
        print(table, flush=True)
    DOCS.write_text(text)
