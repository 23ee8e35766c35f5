"""Parquet files, a few row groups' worth of pages at a time; Arrow IPC and Feather files, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discrim.errors import DataError
from discrim.sources.arrow_table import ArrowTable
from discrim.sources.readers import Part


class ParquetReader:
    """Only the asked columns are read. Without read-ahead one giant row group stays bounded too."""

    rereadable = True

    def __init__(self, title: str, paths: Sequence[Path]) -> None:
        self.title = title
        self._paths = paths
        footers = [_footer(path) for path in paths]
        self.n_rows: int = sum(footer.num_rows for footer in footers)
        self.parts = [
            Part(str(path), ArrowTable(footer.schema.to_arrow_schema().empty_table()))
            for path, footer in zip(paths, footers, strict=True)
        ]

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[ArrowTable]:
        for path in self._paths:
            with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
                for batch in file.iter_batches(batch_size=batch_rows, columns=list(columns)):
                    yield ArrowTable(batch)


def _footer(path: Path) -> Any:
    try:
        return pq.read_metadata(path)
    except pa.ArrowInvalid as error:
        raise DataError(f"'{path}' cannot be read as a Parquet file: {error}") from error


class IpcReader:
    """Both the file and the stream format; the row count stands in neither head."""

    rereadable = True
    n_rows = None

    def __init__(self, title: str, paths: Sequence[Path]) -> None:
        self.title = title
        self._paths = paths
        self.parts = [Part(str(path), ArrowTable(_open(path).schema.empty_table())) for path in paths]

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[ArrowTable]:  # noqa: ARG002
        for path in self._paths:
            for batch in _batches(_open(path, columns)):
                if batch.num_rows:
                    yield ArrowTable(batch)


def _open(path: Path, columns: Sequence[str] | None = None) -> Any:
    options = None
    if columns is not None:
        names = _open(path).schema.names
        options = pa.ipc.IpcReadOptions(included_fields=[names.index(column) for column in columns])
    try:
        return pa.ipc.open_file(pa.memory_map(str(path)), options=options)
    except pa.ArrowInvalid:
        pass
    try:
        return pa.ipc.open_stream(pa.memory_map(str(path)), options=options)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"'{path}' cannot be read as an Arrow IPC or Feather file: {error}") from error


def _batches(reader: Any) -> Iterator[Any]:
    if isinstance(reader, pa.RecordBatchReader):
        yield from reader
    else:
        yield from map(reader.get_batch, range(reader.num_record_batches))
