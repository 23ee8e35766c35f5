"""How a scan reads: one reader per kind of source, each giving tables of some rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from discrim.errors import DataError
from discrim.sources.frames import as_table
from discrim.sources.table import Table, comes_from, need


@dataclass(frozen=True, slots=True)
class Part:
    """A file, or the only part of any other source; ``head`` shows its columns and their kinds."""

    name: str
    head: Table


class Reader(Protocol):
    """A source that gives the asked columns as tables, one after the other, in order."""

    @property
    def title(self) -> str:
        """What is read, in few words: ``3 parquet files``."""
        ...

    @property
    def parts(self) -> Sequence[Part]: ...

    @property
    def n_rows(self) -> int | None: ...

    @property
    def rereadable(self) -> bool: ...

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[Table]: ...


def open_reader(data: Any) -> Reader:
    """The reader for a path, several paths, a table, a lazy table or a stream."""
    from discrim.sources.readers.files import is_path, open_files

    if is_path(data):
        return open_files(data)
    if comes_from(data, "polars", "LazyFrame"):
        from discrim.sources.readers.lazy import LazyReader

        return LazyReader("polars LazyFrame", {"LazyFrame": data})
    if comes_from(data, "duckdb", "DuckDBPyRelation"):
        need("pyarrow", "Reading a DuckDB relation")
        from discrim.sources.readers.duck import DuckReader

        return DuckReader("DuckDB relation", {"relation": data})
    table = as_table(data)
    if table is not None:
        return TableReader(f"{type(data).__module__.partition('.')[0]} {type(data).__name__}", table)
    if hasattr(data, "__arrow_c_stream__"):
        need("pyarrow", "Reading an Arrow stream")
        from discrim.sources.readers.stream import StreamReader

        return StreamReader(data)
    raise DataError(
        f"Cannot scan an object of type {type(data).__name__}. Pass a path, a list of paths, a "
        "pandas or polars frame, a polars LazyFrame, an Arrow table or stream, or a DuckDB relation."
    )


class TableReader:
    """A table in memory: its only part is itself."""

    rereadable = True

    def __init__(self, title: str, table: Table) -> None:
        self.title = title
        self.parts = [Part(title, table)]
        self.n_rows = table.n_rows

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[Table]:  # noqa: ARG002
        yield self.parts[0].head
