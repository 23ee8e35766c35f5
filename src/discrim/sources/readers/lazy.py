"""polars lazy frames, and CSV files through them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from discrim.errors import DataError
from discrim.sources.polars_table import PolarsTable
from discrim.sources.readers import Part, separator_of, unreadable

# The values of a CSV file that mean "not known"; "NA" is what R writes.
NULLS = ["", "NA"]


class LazyReader:
    """Lazy frames that are evaluated in batches, one frame after the other."""

    rereadable = True
    n_rows = None

    def __init__(self, title: str, frames: Mapping[str, pl.LazyFrame]) -> None:
        self.title = title
        self._frames = frames
        self.parts = [Part(name, _head(name, frame)) for name, frame in frames.items()]

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[PolarsTable]:
        for name, frame in self._frames.items():
            try:
                batches = frame.select(list(columns)).collect_batches(chunk_size=batch_rows, lazy=True)
                for batch in batches:
                    if batch.height:
                        yield PolarsTable(batch)
            except pl.exceptions.PolarsError as error:
                raise _unreadable(name, error) from error


def read_csv(title: str, paths: Sequence[Path]) -> LazyReader:
    frames = {
        str(path): pl.scan_csv(path, separator=separator_of(path), infer_schema_length=10_000, null_values=NULLS)
        for path in paths
    }
    return LazyReader(title, frames)


def _head(name: str, frame: pl.LazyFrame) -> PolarsTable:
    try:
        return PolarsTable(pl.DataFrame(schema=frame.collect_schema()))
    except pl.exceptions.PolarsError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> DataError:
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return unreadable(name, reason)
