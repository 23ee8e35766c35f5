"""How a scan reads: one reader per kind of source, each giving tables of some rows."""

from __future__ import annotations

import glob
import gzip
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from discrim.errors import DataError, name_list, plural
from discrim.sources.frames import as_table
from discrim.sources.table import Table, comes_from, installed, need

SUFFIXES = {
    ".parquet": "parquet", ".pq": "parquet", ".parq": "parquet",
    ".csv": "csv", ".tsv": "csv",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
# Bytes of a CSV file that are looked at for the names of its columns.
LONGEST_LINE = 1 << 20


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


def is_path(data: Any) -> bool:
    one = isinstance(data, str | os.PathLike)
    return one or (isinstance(data, list | tuple) and bool(data) and all(map(is_path, data)))


def open_files(data: Any) -> Reader:
    """The reader for a file, a pattern such as ``trips-*.parquet``, a folder, or a list of these."""
    given = data if isinstance(data, list | tuple) else [data]
    paths = [path for one in given for path in _expand(os.fspath(one))]
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise DataError(f"The files are of different kinds: {name_list(sorted(kinds))}. Scan one kind at a time.")
    kind = kinds.pop()
    title = plural(len(paths), f"{kind} file")
    if kind == "csv":
        return _open_csv(title, paths)
    need("pyarrow", f"Reading {kind} files")
    if kind == "parquet":
        from discrim.sources.readers.arrow_files import ParquetReader

        return ParquetReader(title, paths)
    from discrim.sources.readers.arrow_files import IpcReader

    return IpcReader(title, paths)


def _open_csv(title: str, paths: Sequence[Path]) -> Reader:
    """The fastest CSV parser that is installed: polars, then DuckDB, then pyarrow."""
    for path in paths:
        _refuse_other_separator(path)
    if installed("polars"):
        from discrim.sources.readers.lazy import read_csv

        return read_csv(title, paths)
    need("pyarrow", "Reading CSV files")
    if installed("duckdb"):
        from discrim.sources.readers import duck

        return duck.read_csv(title, paths)
    from discrim.sources.readers.arrow_csv import ArrowCsvReader

    return ArrowCsvReader(title, paths)


def _refuse_other_separator(path: Path) -> None:
    """A first line without the separator, but with one of another program, would be the name of a single column."""
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rb") as file:
        line = file.readline(LONGEST_LINE).decode("utf-8", "replace").strip()
    bare = re.sub('"[^"]*"', "", line)
    found = [sign for sign in ";\t|" if sign in bare]
    if found and separator_of(path) not in bare:
        raise DataError(
            f"The columns of '{path}' are separated by {found[0]!r}: its first line reads {line[:60]!r}. Files named "
            ".csv have commas there and .tsv tabs: write it so, or read it yourself and pass the frame."
        )


def _expand(given: str) -> list[Path]:
    path = Path(given).expanduser()
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        return [path]
    if any(sign in given for sign in "*?["):
        found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
        if found:
            return [file for file in found if file.is_file()]
        raise DataError(f"No file matches the pattern '{given}'.")
    folder = path.parent
    if not folder.is_dir():
        raise DataError(f"There is no file '{given}': the folder '{folder}' does not exist.")
    raise DataError(f"There is no file '{given}'. The folder '{folder}' holds {_sample(folder)}.")


def _files_in(folder: Path) -> list[Path]:
    """Data files below a folder; names that start with a dot or underscore are notes of other programs."""
    below = [file for file in sorted(folder.rglob("*")) if file.is_file() and _kind_by_name(file)]
    found = [file for file in below if not any(p[0] in "._" for p in file.relative_to(folder).parts)]
    if not found:
        raise DataError(f"The folder '{folder}' holds no data file ({', '.join(SUFFIXES)}). It has {_sample(folder)}.")
    return found


def _kind(path: Path) -> str:
    kind = _kind_by_name(path)
    if kind is None:
        raise DataError(f"'{path}' is of an unknown file type. Known are {', '.join(SUFFIXES)} and .csv.gz.")
    if path.stat().st_size == 0:
        raise DataError(f"The file '{path}' is empty.")
    return kind


def _kind_by_name(path: Path) -> str | None:
    name = path.name.lower()
    if name.endswith(".gz"):
        return "csv" if name.endswith((".csv.gz", ".tsv.gz")) else None
    return SUFFIXES.get(path.suffix.lower())


def _sample(folder: Path) -> str:
    names = sorted(file.name for file in folder.iterdir())
    return name_list(names) if names else "no files"


def unreadable(name: object, reason: object) -> DataError:
    """What a parser says of a file, and what to do where its letters are the matter."""
    said = str(reason).rstrip(".")
    foreign = "utf8" in said.lower().replace("-", "")
    hint = ". It is in another encoding; save it as UTF-8." if foreign else ""
    return DataError(f"'{name}' cannot be read: {said}{hint}")


def separator_of(path: Path) -> str:
    return "\t" if ".tsv" in path.name.lower() else ","
