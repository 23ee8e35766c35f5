"""The jobs that need whole processes: the Parquet scans and the import."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.job import MissingError, Turn, gaussian_classes, ours
from benchmarks.measure import full_passes, high_water_mib, run_python
from benchmarks.mixed_jobs import COUNTED, write_mixed
from benchmarks.table import Row

IMPORT_TITLE = "import discrim and a model, beyond import sklearn.base"


@dataclass(frozen=True)
class ScanJob:
    """A model that is fitted from a file; ``floor_limit`` and ``most_passes`` as in ``Job``.

    The file has ``rows`` rows of 20 columns: Gaussian ones, or ``mixed``.
    """

    name: str
    title: str
    model: str
    params: dict[str, Any] = field(default_factory=dict)
    floor_limit: float | None = None
    most_passes: int | None = None
    rows: int = 20_000_000
    mixed: bool = False


SCANS = {
    scan.name: scan
    for scan in (
        ScanJob("scan", "LDA fit of a Parquet scan", "LinearDiscriminantAnalysis", floor_limit=1.5),
        ScanJob(
            "logit-scan",
            "Logistic fit of a Parquet scan, no penalty, standard errors",
            "LogisticRegression",
            {"C": np.inf},
            most_passes=3,
        ),
        ScanJob(
            "mixed-scan",
            "MixedNB fit of a Parquet scan",
            "MixedNB",
            {"likelihoods": COUNTED},
            rows=1_000_000,
            mixed=True,
        ),
    )
}


def scan_row(scan: ScanJob, *, quick: bool) -> Row:
    """Fit from a Parquet file against only decoding it, each in its own process, in turns."""
    n, turns = (1_000_000, 1) if quick else (scan.rows, 3)
    title = f"{scan.title}, {n:,} x 20, K=2"
    try:
        ours("scan"), ours(scan.model)
    except MissingError:
        return Row(scan.name, title)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        (write_mixed if scan.mixed else write_parquet)(path, n)
        runs = [(_child(scan.name, path), _child("decode", path)) for _ in range(turns)]
    fit, decode = zip(*runs, strict=True)
    return Row(
        scan.name,
        title,
        ours_ms=median(ms for ms, _, _ in fit),
        ours_mib=max(mib for _, mib, _ in fit),
        peer_mib=max(mib for _, mib, _ in decode),
        memory_limit=600,
        floor="only decoding",
        floor_ms=median(ms for ms, _, _ in decode),
        floor_limit=scan.floor_limit,
        note="memory of the whole process",
        passes=int(max(passes for _, _, passes in fit)) if scan.most_passes else None,
        most_passes=scan.most_passes,
    )


def _child(what: str, path: Path) -> tuple[float, float, float]:
    ms, mib, passes = run_python("benchmarks.processes", what, str(path)).split()
    return float(ms), float(mib), float(passes)


def write_parquet(path: Path, n: int, group: int = 1_000_000) -> None:
    """Write ``n`` rows of 20 columns and a label, one row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = gaussian_classes(min(n, group), 20, 2)(False)
    columns = {f"x{j}": np.ascontiguousarray(data.X[:, j]) for j in range(20)}
    table = pa.table({**columns, "y": data.y})
    with pq.ParquetWriter(path, table.schema, use_dictionary=False) as writer:
        for _ in range(max(1, n // group)):
            writer.write_table(table)


def _fit(job: ScanJob, path: str) -> Turn:
    model, scan = ours(job.model), ours("scan")
    return lambda: model(**job.params).fit(scan(path, target="y"))


def _decode(path: str) -> Turn:
    from pyarrow.parquet import ParquetFile

    def turn() -> None:
        with ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            for _ in file.iter_batches():
                pass

    return turn


def import_row(*, quick: bool) -> Row:
    """Time of the import in fresh processes, after scikit-learn's base is there."""
    times = [float(run_python("benchmarks.import_time")) for _ in range(3 if quick else 11)]
    return Row("import", IMPORT_TITLE, ours_ms=median(times), note="aim: under 150 ms")


def main(what: str, path: str) -> None:
    """One turn of a scan job: milliseconds, the peak of the whole process in MiB, how often the file was read."""
    turn = _fit(SCANS[what], path) if what in SCANS else _decode(path)
    start = time.perf_counter()
    passes = full_passes(turn)
    print(1e3 * (time.perf_counter() - start), high_water_mib(), passes)


if __name__ == "__main__":
    main(*sys.argv[1:])
