"""Any object with the Arrow C-stream interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from discrim.errors import DataError
from discrim.sources.arrow_table import ArrowTable
from discrim.sources.readers import Part


class StreamReader:
    """Reads a stream once; an object that opens a fresh stream each time can be read again."""

    n_rows = None

    def __init__(self, data: Any) -> None:
        self.title = f"{type(data).__name__} stream"
        self.rereadable = not _is_used_up_by_reading(data)
        self._data = data
        self._next: Any = self._open()
        self.parts = [Part(self.title, ArrowTable(self._next.schema.empty_table()))]

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[ArrowTable]:  # noqa: ARG002
        reader, self._next = self._next, None
        if reader is None:
            if not self.rereadable:
                raise DataError(
                    f"The {self.title} can be read only once and has been read. Pass a table, a file or a "
                    "DuckDB relation where the data are needed again."
                )
            reader = self._open()
        for batch in reader:
            if batch.num_rows:
                yield ArrowTable(batch.select(list(columns)))

    def _open(self) -> Any:
        try:
            return pa.RecordBatchReader.from_stream(self._data)
        except pa.ArrowInvalid as error:
            raise DataError(f"The {self.title} does not hold a table: {error}") from error


def _is_used_up_by_reading(data: Any) -> bool:
    return isinstance(data, Iterator) or hasattr(data, "read_next_batch") or type(data).__name__.endswith("Stream")
