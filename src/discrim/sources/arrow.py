"""Arrow: tables and record batches by their columns, arrays as labels; files, queries and streams that give batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discrim.errors import DataError
from discrim.sources.csv_files import Dialect
from discrim.sources.design import BATCH_ROWS, Elsewhere, Kind, Reader, Table, unusable_column

# (source, columns, batch_rows) -> its record batches.
Batches = Callable[[Any, list[str], int], Iterable[Any]]
# The values of a CSV file that mean "missing"; "NA" is what R writes.
NULLS = ["", "NA"]
# Values that are worth a task on another machine.
VALUES_OF_PART = 4_000_000


class ArrowTable(Table):
    """A ``pyarrow.Table`` or ``RecordBatch`` as a ``Table``."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.names: list[str] = list(table.schema.names)
        self.n_rows: int = table.num_rows
        self._place = {name: j for j, name in enumerate(self.names)}

    def select(self, names: Sequence[str]) -> ArrowTable:
        """These columns alone."""
        return ArrowTable(self._table.select(list(names)))

    @property
    def index_names(self) -> list[str]:  # type: ignore[override]
        """The columns that pandas wrote for the index of a frame, as its note beside the columns says."""
        note = (self._table.schema.metadata or {}).get(b"pandas")
        if note is None:
            return []
        # An index that only counts is a dictionary of its start, stop and step, and no column.
        return [name for name in json.loads(note).get("index_columns", []) if isinstance(name, str)]

    def kind(self, name: str) -> Kind:
        dtype, types = self._table.schema.field(self._place[name]).type, pa.types
        if types.is_float32(dtype):
            return "float32"
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        if any(is_number(dtype) for is_number in numeric):
            return "number"
        if _is_text(dtype):
            return "text"
        raise unusable_column(name, dtype)

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        x = _fresh((stop - start, len(names)), dtype)
        for j, name in enumerate(names):
            _write_floats(self.labels(name, start, stop), x[:, j])
        return x

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        values, codes = _dictionary(self.labels(name, start, stop))
        return values.tolist(), codes

    def labels(self, name: str, start: int, stop: int) -> Any:
        return self._table.column(self._place[name]).slice(start, stop - start)


def labels(y: Any) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
    """Numbers as an array; text and dictionaries as (values, codes)."""
    if _is_text(y.type) or y.null_count:
        return _dictionary(y)
    return np.asarray(y.to_numpy(zero_copy_only=False))


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


def _fresh(shape: tuple[int, int], dtype: type[Any]) -> NDArray[Any]:
    """An array by columns in Arrow's memory, which is used again at once when a block is done.

    Workers of Dask have the C library give it back to the system after every block, and fetching it takes as long as a
    block of a linear model does.
    """
    memory = pa.allocate_buffer(shape[0] * shape[1] * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype).reshape(shape, order="F")


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
    indices = column.indices.cast(pa.int64()).fill_null(-1)
    return np.asarray(column.dictionary.to_numpy(zero_copy_only=False)), np.asarray(indices.to_numpy())


def read_parquet(title: str, paths: Sequence[Path]) -> Reader:
    """Only the columns that are asked for are read. Without read-ahead one giant row group stays bounded too."""
    import pyarrow.parquet as pq

    footers = []
    for path in paths:
        try:
            footers.append(pq.read_metadata(path))
        except pa.ArrowInvalid as error:
            raise DataError.unreadable(path, error, " as a Parquet file") from error
    schemas = [footer.schema.to_arrow_schema() for footer in footers]
    n_rows = sum(footer.num_rows for footer in footers)
    reader = _reader(title, dict(zip(paths, paths, strict=True)), schemas, _batches_of_parquet, n_rows)
    return replace(reader, tables_after=partial(_parquet_after, dict(zip(paths, footers, strict=True))))


def _batches_of_parquet(path: Path, columns: list[str], batch_rows: int, first: int = 0) -> Iterator[Any]:
    """From the row group ``first`` on."""
    return _groups_of_parquet(path, columns, batch_rows, slice(first, None))


def _groups_of_parquet(path: Path, columns: list[str], batch_rows: int, groups: slice) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        chosen = range(file.num_row_groups)[groups]
        yield from file.iter_batches(batch_size=batch_rows, columns=columns, row_groups=chosen)


@dataclass(frozen=True)
class PartOfFile:
    """Row groups of a Parquet file that follow each other, with the rows ``start`` to ``stop``: a plain value."""

    path: Path
    groups: slice
    start: int
    stop: int

    def reduced(self, of: Callable[[Iterator[Table]], Any], columns: Sequence[str]) -> Any:
        """``of`` these columns of its rows; an error names the file and the rows."""
        try:
            return of(self._tables(columns))
        except Exception as error:
            error.add_note(f"In {self}.")
            raise

    def _tables(self, columns: Sequence[str]) -> Iterator[Table]:
        try:
            for batch in _groups_of_parquet(self.path, list(columns), BATCH_ROWS, self.groups):
                yield ArrowTable(batch)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError.unreadable(self.path, error) from error

    def __str__(self) -> str:
        return f"rows {self.start + 1:,} to {self.stop:,} of '{self.path}'"


def parts_of_parquet(paths: Sequence[Path]) -> list[PartOfFile]:
    """The row groups of the files, in order; small ones that follow each other are one part."""
    import pyarrow.parquet as pq

    parts: list[PartOfFile] = []
    for path in paths:
        footer, first, start, stop = pq.read_metadata(path), 0, 0, 0
        for g in range(footer.num_row_groups):
            stop += footer.row_group(g).num_rows
            last = g + 1 == footer.num_row_groups
            if stop > start and (last or (stop - start) * footer.num_columns >= VALUES_OF_PART):
                parts.append(PartOfFile(path, slice(first, g + 1), start, stop))
                first, start = g + 1, stop
    return parts


def files_elsewhere(
    paths: Sequence[Path], columns: Sequence[str], title: str, reduced: Callable[[list[PartOfFile]], Elsewhere]
) -> Reader | None:
    """The reader of Parquet files with these columns, whose parts are ``reduced`` by workers that read them there.

    It is faster than to hand the rows over, and memory stays bounded, whatever the partitions. None where the columns
    are not those of the files.
    """
    try:
        reader = read_parquet(title, paths)
    except (DataError, OSError):
        return None
    heads = [head for head in reader.heads.values() if isinstance(head, ArrowTable)]
    if not all({*columns} <= {*head.names} for head in heads):
        return None
    chosen = {name: head.select(columns) for name, head in zip(reader.heads, heads, strict=True)}
    parts = parts_of_parquet(paths)
    return replace(reader, heads=chosen, tables_after=None, elsewhere=reduced(parts))


def _parquet_after(
    footers: Mapping[Path, Any], columns: Sequence[str], batch_rows: int, rows: int
) -> tuple[int, Iterator[ArrowTable]]:
    """The batches are those of a reading from the start: it begins with a row group that begins with one of them."""
    skipped, left = 0, dict(footers)
    for path, footer in footers.items():
        if skipped + footer.num_rows > rows:
            break
        skipped += footer.num_rows
        del left[path]
    first = 0
    if left and skipped < rows:
        footer = next(iter(left.values()))
        starts = np.cumsum([0, *(footer.row_group(g).num_rows for g in range(footer.num_row_groups - 1))])
        first = int(np.flatnonzero((starts <= rows - skipped) & (starts % batch_rows == 0))[-1])
        skipped += int(starts[first])
    begins = {path: first if i == 0 else 0 for i, path in enumerate(left)}

    def batches(path: Path, columns: list[str], batch_rows: int) -> Iterator[Any]:
        return _batches_of_parquet(path, columns, batch_rows, begins[path])

    return skipped, _tables(dict(zip(left, left, strict=True)), batches, columns, batch_rows)


def read_ipc(title: str, paths: Sequence[Path]) -> Reader:
    """Arrow IPC and Feather files: both the file and the stream format, of which neither head has the row count."""
    schemas = [_open_ipc(path, None).schema for path in paths]
    return _reader(title, dict(zip(paths, paths, strict=True)), schemas, _batches_of_ipc)


def _batches_of_ipc(path: Path, columns: list[str], batch_rows: int) -> Any:  # noqa: ARG001 - as written
    names = _open_ipc(path, None).schema.names
    reader: Any = _open_ipc(path, pa.ipc.IpcReadOptions(included_fields=[names.index(column) for column in columns]))
    if isinstance(reader, pa.RecordBatchReader):
        return reader
    return map(reader.get_batch, range(reader.num_record_batches))


def _open_ipc(path: Path, options: Any) -> Any:
    try:
        return pa.ipc.open_file(pa.memory_map(str(path)), options=options)
    except pa.ArrowInvalid:
        pass
    try:
        return pa.ipc.open_stream(pa.memory_map(str(path)), options=options)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError.unreadable(path, error, " as an Arrow IPC or Feather file") from error


def read_csv(title: str, dialects: Mapping[Path, Dialect]) -> Reader:
    """Types are inferred from the first megabytes of each file; for where neither polars nor DuckDB is installed."""
    files = {path: (path, dialect) for path, dialect in dialects.items()}
    return _reader(title, files, [_open_csv(file, None).schema for file in files.values()], _open_csv)


def _open_csv(file: tuple[Path, Dialect], columns: list[str] | None, batch_rows: int = 0) -> Any:  # noqa: ARG001 - batches are as the file has them
    import pyarrow.csv as pc

    path, (separator, comma) = file
    try:
        return pc.open_csv(
            path,
            read_options=pc.ReadOptions(block_size=4 << 20),
            # Without it a block that ends inside a quoted text with line breaks is torn apart.
            parse_options=pc.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pc.ConvertOptions(
                include_columns=columns,
                null_values=NULLS,
                strings_can_be_null=True,
                decimal_point="," if comma else ".",
            ),
        )
    except pa.ArrowInvalid as error:
        raise DataError.unreadable(path, error) from error


def read_relations(title: str, relations: Mapping[Any, Any]) -> Reader:
    """DuckDB relations, whose queries are run again for each reading."""
    schemas = [relation.limit(0).to_arrow_reader(1).schema for relation in relations.values()]
    return _reader(title, relations, schemas, _batches_of_relation)


def _batches_of_relation(relation: Any, columns: list[str], batch_rows: int) -> Iterator[Any]:
    import duckdb

    wanted = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
    try:
        yield from relation.project(wanted).to_arrow_reader(batch_rows)
    except duckdb.Error as error:
        raise OSError(error) from error


def read_csv_by_duckdb(title: str, dialects: Mapping[Path, Dialect]) -> Reader:
    import duckdb

    relations = {}
    for path, (sign, comma) in dialects.items():
        point = "," if comma else "."
        try:
            relations[path] = duckdb.read_csv(
                str(path), sep=sign, header=True, na_values=NULLS, sample_size=10_000, decimal=point
            )
        except duckdb.Error as error:
            raise DataError.unreadable(path, error) from error
    return read_relations(title, relations)


def _reader(
    title: str, sources: Mapping[Any, Any], schemas: Iterable[Any], batches: Batches, n_rows: int | None = None
) -> Reader:
    heads = {str(name): ArrowTable(schema.empty_table()) for name, schema in zip(sources, schemas, strict=True)}
    return Reader(title, heads, partial(_tables, sources, batches), n_rows)


def _tables(
    sources: Mapping[Any, Any], batches: Batches, columns: Sequence[str], batch_rows: int
) -> Iterator[ArrowTable]:
    for name, source in sources.items():
        try:
            for batch in batches(source, list(columns), batch_rows):
                if batch.num_rows:
                    yield ArrowTable(batch)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError.unreadable(name, error) from error


def open_stream(data: Any) -> Reader:
    """Any object with the Arrow C-stream interface; one that opens a fresh stream each time can be read again."""
    title = f"{type(data).__name__} stream"
    used_up = isinstance(data, Iterator) or hasattr(data, "read_next_batch")
    rereadable = not used_up and not type(data).__name__.endswith("Stream")
    try:
        opened = [pa.RecordBatchReader.from_stream(data)]
    except pa.ArrowInvalid as error:
        raise DataError(f"The {title} does not hold a table: {error}") from error
    head = ArrowTable(opened[0].schema.empty_table())

    def tables(columns: Sequence[str], batch_rows: int) -> Iterator[ArrowTable]:  # noqa: ARG001 - as they come
        if not (opened or rereadable):
            raise DataError(
                f"The {title} can be read only once and has been read. Pass a table, a file or a "
                "DuckDB relation where the data are needed again."
            )
        for batch in opened.pop() if opened else pa.RecordBatchReader.from_stream(data):
            if batch.num_rows:
                yield ArrowTable(batch.select(list(columns)))

    return Reader(title, {title: head}, tables, None, rereadable)
