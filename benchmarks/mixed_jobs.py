"""Rows for naive Bayes of categories, and the file of mixed columns that is streamed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import CategoricalNB

from benchmarks.job import Contestant, Data, Job, Turn, ours

READ = "one read of X"
# A scan of the mixed file needs to know that these integers are counts.
COUNTED = {f"count{j}": "poisson" for j in range(4)}


def mixed_jobs() -> list[Job]:
    few, many = categories(1_000_000, 20, 2, 10), categories(200_000, 20, 10, 50)
    return [
        Job(
            f"categorical-{verb}{suffix}",
            f"CategoricalNB {verb} {size} levels",
            make,
            Contestant("discrim", partial(_turn, verb, lambda: ours("CategoricalNB"))),
            (Contestant("sklearn", partial(_turn, verb, lambda: CategoricalNB)),),
            None,
            READ,
        )
        for suffix, size, make in (
            ("", "1,000,000 x 20, K=2, 10", few),
            ("-many", "200,000 x 20, K=10, 50", many),
        )
        for verb in ("fit", "predict")
    ]


def categories(n: int, p: int, k: int, levels: int) -> Callable[[bool], Data]:
    """Recipe for ``n`` rows of ``p`` numbered categories whose shares differ between ``k`` classes."""
    return partial(_categories, n, p, k, levels)


def _categories(n: int, p: int, k: int, levels: int, small: bool) -> Data:
    n = min(n, 50 * k) if small else n
    rng = np.random.default_rng(20261)
    y = rng.integers(0, k, n)
    X = rng.integers(0, levels, (n, p))
    X = np.where(rng.random((n, p)) < 0.2, y[:, None] % levels, X)
    return Data(X, y)


def _turn(verb: str, find_model: Callable[[], Any], data: Data) -> Turn:
    model = find_model()
    if verb == "fit":
        return lambda: model().fit(data.X, data.y)
    method = model().fit(data.X, data.y).predict
    return lambda: method(data.X)


def write_mixed(path: Path, n: int, group: int = 250_000) -> None:
    """Write ``n`` rows of 8 measurements, 4 counts, 2 yes-or-no and 6 text columns, some missing, and a label."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(_mixed_columns(min(n, group)))
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(max(1, n // group)):
            writer.write_table(table)


def _mixed_columns(n: int) -> dict[str, Any]:
    import pyarrow as pa

    rng = np.random.default_rng(20262)
    y = rng.integers(0, 2, n)
    columns: dict[str, Any] = {}
    for j in range(8):
        mask = rng.random(n) < (0.05 if j < 4 else 0.0)
        columns[f"measure{j}"] = pa.array(rng.standard_normal(n) + 0.2 * y, mask=mask)
    columns |= {name: pa.array(rng.poisson(2 + 0.3 * y)) for name in COUNTED}
    columns |= {f"flag{j}": pa.array(rng.random(n) < 0.3 + 0.1 * y) for j in range(2)}
    for j in range(6):
        levels = np.array([f"level {i}" for i in range(10 * (j + 1))])
        columns[f"text{j}"] = pa.array(levels[rng.integers(0, len(levels), n)], mask=rng.random(n) < 0.02)
    return {**columns, "y": pa.array(np.array(["no", "yes"])[y])}
