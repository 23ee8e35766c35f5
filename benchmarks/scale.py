"""``python -m benchmarks scale``: what workers cost, and what a fit costs that needs many of them.

The parts, all of them by default: ``speed`` (Dask with two workers against the threads of this process), ``memory`` (of
a worker, at three numbers of rows), ``spark`` (logistic regression against MLlib's), ``dask-ml``, and ``costs``, which
measures the constants of ``cluster_costs.py``, simulates the merges of ``merge_tree.py``, and writes the tables of
``docs/scale.md``. The other parts are written to ``SCALE.md``. All contestants run in this process in turn, and the
least time of each counts, so that a busy minute of the machine hits all of them.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import cluster_costs
from benchmarks.job import Turn, ours
from benchmarks.table import machine

RECORDED = Path(__file__).with_name("SCALE.md")
ROWS, COLUMNS = 20_000_000, 20
# Rows of the comparison with MLlib.
FEWER, WIDER = 2_000_000, 30
GROUP = 500_000
MIB = 2**20


def write_rows(path: Path, n: int, p: int) -> Path:
    """A Parquet file of ``n`` rows of correlated columns, whose labels are drawn from a logistic model."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(20264)
    beta, writer = rng.standard_normal(p) / np.sqrt(p), None
    for start in range(0, n, GROUP):
        x = rng.standard_normal((p, min(GROUP, n - start)))
        x[1::2] += 0.3 * x[: 2 * (p // 2) : 2]
        y = (beta @ x + rng.logistic(size=x.shape[1]) > 0).astype(np.int64)
        table = pa.table({**{f"x{j}": x[j] for j in range(p)}, "y": y})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="NONE", use_dictionary=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return path


def in_turn(turns: Mapping[str, Turn], rounds: int) -> dict[str, list[float]]:
    """Seconds of every turn of each, after one that does not count."""
    spent: dict[str, list[float]] = {name: [] for name in turns}
    for i in range(rounds + 1):
        for name, turn in turns.items():
            start = time.perf_counter()
            turn()
            if i:
                spent[name].append(time.perf_counter() - start)
    return spent


def two_workers() -> AbstractContextManager[Any]:
    """Two worker processes of one thread each, on loopback, as the scheduler of this process."""
    from distributed import Client

    client: AbstractContextManager[Any] = Client(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    )
    return client


def models() -> dict[str, Any]:
    return {"LDA": ours("LinearDiscriminantAnalysis")(), "logistic": ours("LogisticRegression")(C=np.inf)}


def speed(folder: Path, scale: float, rounds: int) -> list[str]:
    """The rows of a file by the threads of this process, and by two workers of Dask."""
    import dask.dataframe as dd

    n = int(ROWS * scale)
    path = write_rows(folder / "speed.parquet", n, COLUMNS)
    lines = [
        f"| {n:,} x {COLUMNS} Parquet | threads here | two workers of Dask | ratio, at most 1.5 | processors: both |",
        "|---|---|---|---|---|",
    ]
    with two_workers() as client:
        for name, model in models().items():
            turns: dict[str, Turn] = {
                "here": lambda m=model: m.fit(ours("scan")(path, target="y")),
                "dask": lambda m=model: m.fit(ours("scan")(dd.read_parquet(path), target="y")),
            }
            spent = in_turn(turns, rounds)
            here, there = min(spent["here"]), min(spent["dask"])
            busy_here, busy = (
                min(_busy(turns["here"], None) for _ in range(2)),
                min(_busy(turns["dask"], client) for _ in range(2)),
            )
            lines.append(
                f"| {name} | {here:.2f} s | {there:.2f} s | {there / here:.2f} | {busy_here:.2f}, {busy:.2f} |"
            )
    path.unlink()
    return lines


def _busy(turn: Turn, client: Any) -> float:
    """Processor seconds of a turn, in this process or in the workers of a client."""
    if client is None:
        start = time.process_time()
        turn()
        return time.process_time() - start
    before = client.run(time.process_time)
    turn()
    after = client.run(time.process_time)
    return float(sum(after[worker] - before[worker] for worker in after))


def memory(folder: Path, scale: float) -> list[str]:
    """The most memory that a worker has while it fits, above what it had before."""
    import dask.dataframe as dd

    sizes = [int(n * scale) for n in (5_000_000, 20_000_000, 40_000_000)]
    lines = ["| rows | " + " | ".join(f"{n:,}" for n in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
    found: dict[str, list[str]] = {name: [] for name in models()}
    with two_workers() as client:
        for n in [min(sizes), *sizes]:
            path = write_rows(folder / "memory.parquet", n, COLUMNS)
            for name, model in models().items():
                before = client.run(_forget_peak)
                model.fit(ours("scan")(dd.read_parquet(path), target="y"))
                peak = client.run(_peak)
                found[name].append(
                    f"{max(peak[w] - before[w] for w in peak) / MIB:.0f} ({max(peak.values()) / MIB:.0f})"
                )
            path.unlink()
    # The first turn was for imports and the memory that allocators keep.
    return [*lines, *(f"| {name}, MiB | " + " | ".join(values[1:]) + " |" for name, values in found.items())]


def _forget_peak() -> float:
    """Begin to measure the peak of this process anew; bytes resident now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 1024.0 * float(found.group(1)) if found else np.nan


def spark(folder: Path, scale: float, rounds: int) -> list[str]:
    """Logistic regression without a penalty, against that of MLlib on the same frame of Spark."""
    import os
    import sys

    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    n = int(FEWER * scale)
    path = write_rows(folder / "spark.parquet", n, WIDER)
    names = [f"x{j}" for j in range(WIDER)]
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.log.level", "ERROR")
    session = (
        builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    )
    frame = session.read.parquet(str(path))
    answers: dict[str, NDArray[Any]] = {}

    def fit() -> None:
        model = ours("LogisticRegression")(C=np.inf).fit(ours("scan")(frame, target="y"))
        answers["discrim"] = np.r_[model.intercept_, model.coef_[0]]

    def mllib(tol: float) -> Callable[[], None]:
        def turn() -> None:
            assembled = VectorAssembler(inputCols=names, outputCol="x").transform(frame)
            model = LogisticRegression(featuresCol="x", labelCol="y", maxIter=500, tol=tol).fit(assembled)
            answers[f"MLlib, tol={tol:g}"] = np.r_[model.intercept, model.coefficients.toArray()]

        return turn

    tols = (1e-6, 1e-8)
    spent = in_turn({"discrim": fit, **{f"MLlib, tol={tol:g}": mllib(tol) for tol in tols}}, rounds)
    session.stop()
    loss = {name: mean_loss(path, theta) for name, theta in answers.items()}
    least = min(spent["discrim"])
    lines = [
        f"| {n:,} x {WIDER}, Spark local[2,4] | seconds | times discrim | mean log loss above the least |",
        "|---|---|---|---|",
    ]
    for name, times in spent.items():
        above = loss[name] - min(loss.values())
        lines.append(f"| {name} | {min(times):.2f} | {min(times) / least:.1f} | {above:.1e} |")
    path.unlink()
    return lines


def mean_loss(path: Path, theta: NDArray[Any]) -> float:
    """The mean negative log-likelihood of the labels in a file, intercept first."""
    import pyarrow.parquet as pq

    total = rows = 0.0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(100_000):
            eta = np.full(batch.num_rows, theta[0])
            for j, slope in enumerate(theta[1:]):
                eta += slope * batch.column(j).to_numpy()
            y = batch.column(len(theta) - 1).to_numpy()
            total += float(np.logaddexp(0.0, np.where(y == 1, -eta, eta)).sum())
            rows += batch.num_rows
    return total / rows


def dask_ml(folder: Path, scale: float, rounds: int) -> list[str]:
    """Logistic regression against that of dask-ml, on the same chunks of an array in memory."""
    try:
        from dask_ml.linear_model import LogisticRegression
    except Exception as error:  # noqa: BLE001 - whatever a peer fails with while it is imported
        return [f"dask-ml could not be imported: {type(error).__name__}: {error}."]
    import dask.array as da
    import pyarrow.parquet as pq

    n = int(FEWER * scale)
    table = pq.read_table(write_rows(folder / "ml.parquet", n, COLUMNS)).to_pandas()
    x, y = table.drop(columns="y").to_numpy(), table["y"].to_numpy()
    X, labels = da.from_array(x, chunks=(GROUP // 2, COLUMNS)), da.from_array(y, chunks=GROUP // 2)
    answers: dict[str, NDArray[Any]] = {}

    def fit() -> None:
        model = ours("LogisticRegression")(C=np.inf).fit(X, labels)
        answers["discrim"] = np.r_[model.intercept_, model.coef_[0]]

    def peer(solver: str) -> Callable[[], None]:
        def turn() -> None:
            model = LogisticRegression(penalty="l2", C=1e12, solver=solver, tol=1e-6).fit(X, labels)
            answers[f"dask-ml, {solver}"] = np.r_[model.intercept_, np.ravel(model.coef_)]

        return turn

    spent = in_turn({"discrim": fit, **{f"dask-ml, {solver}": peer(solver) for solver in ("newton", "lbfgs")}}, rounds)
    loss = {name: mean_loss(folder / "ml.parquet", theta) for name, theta in answers.items()}
    lines = [
        f"| {n:,} x {COLUMNS} Dask array | seconds | times discrim | mean log loss above the least |",
        "|---|---|---|---|",
    ]
    for name, times in spent.items():
        least, above = min(spent["discrim"]), loss[name] - min(loss.values())
        lines.append(f"| {name} | {min(times):.2f} | {min(times) / least:.1f} | {above:.1e} |")
    return lines


PARTS = ("speed", "memory", "spark", "dask-ml", "costs")
PREAMBLE = """# Workers of Dask and Spark, measured

Written by `python -m benchmarks scale`, on one machine whose processors others used too.
"""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the rows; others are not written down")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(argv)
    strange = [part for part in args.parts if part not in PARTS]
    if strange:
        parser.error(f"There is no part '{strange[0]}'. There are {', '.join(PARTS)}.")
    warnings.simplefilter("ignore")
    for part in args.parts or PARTS:
        if part == "costs":
            cluster_costs.write_tables()
            continue
        with tempfile.TemporaryDirectory() as folder:
            lines = _measured(part, Path(folder), args.scale, args.rounds)
        print("\n".join([f"## {part}", "", *lines, ""]), flush=True)
        if args.scale == 1:
            _write(part, lines)
    return 0


def _measured(part: str, folder: Path, scale: float, rounds: int) -> list[str]:
    if part == "memory":
        return memory(folder, scale)
    measure = {"speed": speed, "spark": spark, "dask-ml": dask_ml}[part]
    return measure(folder, scale, rounds)


def _write(part: str, lines: list[str]) -> None:
    """Put these lines in place of those that the part has in the file."""
    text = RECORDED.read_text() if RECORDED.exists() else PREAMBLE
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    sections[part] = "\n" + "\n".join([*lines, "", machine(), "", ""])
    ordered = [name for name in PARTS if name in sections]
    RECORDED.write_text(PREAMBLE + "\n" + "".join(f"## {name}\n{sections[name]}" for name in ordered).rstrip() + "\n")
