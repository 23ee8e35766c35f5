"""Arrow IPC and Feather files, mapped into memory and read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discrim.errors import DataError
from discrim.sources.arrow_table import ArrowTable
from discrim.sources.readers import Part


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
