"""Arrow: tables and record batches by their columns, arrays as labels, streams of any package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discrim.sources.table import Kind, unusable_column


class ArrowTable:
    """A ``pyarrow.Table`` or ``RecordBatch`` as a ``Table``."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.names: list[str] = list(table.schema.names)
        self.n_rows: int = table.num_rows
        self._place = {name: j for j, name in enumerate(self.names)}

    @property
    def index_names(self) -> list[str]:
        return index_columns(self._table.schema)

    def kind(self, name: str) -> Kind:
        return kind_of(self._table.schema.field(self._place[name]).type, name)

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        x = np.empty((stop - start, len(names)), dtype=dtype, order="F")
        for j, name in enumerate(names):
            _write_floats(self._column(name, start, stop), x[:, j])
        return x

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        values, codes = _dictionary(self._column(name, start, stop))
        return values.tolist(), codes

    def labels(self, name: str, start: int, stop: int) -> Any:
        return self._column(name, start, stop)

    def _column(self, name: str, start: int, stop: int) -> Any:
        return self._table.column(self._place[name]).slice(start, stop - start)


def labels(y: Any) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
    """Numbers as an array; text and dictionaries as (values, codes)."""
    if _is_text(y.type) or y.null_count:
        return _dictionary(y)
    return np.asarray(_to_numpy(y))


def index_columns(schema: Any) -> list[str]:
    """The columns that pandas wrote for the index of a frame, as its note beside the columns says."""
    note = (schema.metadata or {}).get(b"pandas")
    if note is None:
        return []
    # An index that only counts is a dictionary of its start, stop and step, and no column.
    return [name for name in json.loads(note).get("index_columns", []) if isinstance(name, str)]


def kind_of(dtype: Any, name: str) -> Kind:
    types = pa.types
    if types.is_float32(dtype):
        return "float32"
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype):
        return "number"
    if types.is_decimal(dtype) or types.is_null(dtype):
        return "number"
    if _is_text(dtype):
        return "text"
    raise unusable_column(name, dtype)


def read_stream(data: Any) -> ArrowTable | None:
    """The table behind an Arrow C stream; None where the stream is of single values, not of rows."""
    try:
        reader = pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid:
        return None
    return ArrowTable(reader.read_all())


def _is_text(dtype: Any) -> bool:
    types = pa.types
    text = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    return any(is_text(dtype) for is_text in text)


def _to_numpy(column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)


def _write_floats(column: Any, out: NDArray[Any]) -> None:
    """Write a column chunk by chunk, so that no chunk is joined to the next first."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    start = 0
    for chunk in chunks:
        if not (pa.types.is_integer(chunk.type) or pa.types.is_floating(chunk.type)):
            chunk = chunk.cast(pa.uint8()) if pa.types.is_boolean(chunk.type) else chunk.cast(pa.float64())
        out[start : start + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
        start += len(chunk)


def _dictionary(column: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        column = column.dictionary_decode()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    indices = column.indices.cast(pa.int64())
    if column.null_count:
        indices = indices.fill_null(-1)
    return np.asarray(_to_numpy(column.dictionary)), np.asarray(_to_numpy(indices))
