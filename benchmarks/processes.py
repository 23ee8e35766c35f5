"""The jobs that need whole processes: the Parquet scan and the import."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.job import MissingError, Turn, gaussian_classes, ours
from benchmarks.measure import high_water_mib, run_python
from benchmarks.table import Row

SCAN_TITLE = "LDA fit of a Parquet scan, {n:,} x 20, K=2"
IMPORT_TITLE = "import discrim, beyond import sklearn.base"


def scan_row(*, quick: bool) -> Row:
    """Fit from a Parquet file against only decoding it, each in its own process, in turns."""
    n, turns = (1_000_000, 1) if quick else (20_000_000, 3)
    title = SCAN_TITLE.format(n=n)
    try:
        ours("scan")
    except MissingError:
        return Row("scan", title)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(path, n)
        runs = [(_child("fit", path), _child("decode", path)) for _ in range(turns)]
    fit, decode = zip(*runs, strict=True)
    return Row(
        "scan",
        title,
        ours_ms=median(ms for ms, _ in fit),
        ours_mib=max(mib for _, mib in fit),
        peer_mib=max(mib for _, mib in decode),
        memory_limit=600,
        floor="only decoding",
        floor_ms=median(ms for ms, _ in decode),
        floor_limit=1.5,
        note="memory of the whole process",
    )


def _child(what: str, path: Path) -> tuple[float, float]:
    ms, mib = run_python("benchmarks.processes", what, str(path)).split()
    return float(ms), float(mib)


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


def _fit(path: str) -> Turn:
    model, scan = ours("LinearDiscriminantAnalysis"), ours("scan")
    return lambda: model().fit(scan(path, target="y"))


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
    """One turn of the scan job: milliseconds, and the peak of the whole process in MiB."""
    turn = (_fit if what == "fit" else _decode)(path)
    start = time.perf_counter()
    turn()
    print(1e3 * (time.perf_counter() - start), high_water_mib())


if __name__ == "__main__":
    main(*sys.argv[1:])
