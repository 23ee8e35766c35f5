"""What is scanned, opened: files and folders by their names, tables, lazy tables, databases, streams."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from discrim.errors import DataError, name_list
from discrim.sources.csv_files import is_separated, open_csv
from discrim.sources.databases import is_address, open_address
from discrim.sources.design import Reader, Table, as_table, comes_from, is_dask, need

SUFFIXES = {
    ".parquet": "parquet", ".pq": "parquet", ".parq": "parquet",
    ".csv": "csv", ".tsv": "csv", ".tab": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
# What to do about files of kinds that are not read.
HINTS = {
    **dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), " Save the sheet as CSV."),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3", ".duckdb"), " A table of a database is written {name}::TABLE."),
    **dict.fromkeys((".txt", ".dat", ".data", ""), " If it is a table of text, give it a name that ends in .csv."),
    **dict.fromkeys((".zip", ".bz2", ".xz", ".zst", ".7z"), " Unpack it first."),
    ".json": " JSON is read with one object a line, from files called .jsonl.",
    ".discrim": " It holds a model, and no rows.",
}
# Files of these names are tables where the first line is separated into columns.
PLAIN = (".txt", ".dat", ".data")
# Bytes of a text file that show how long its lines are.
FIRST_LINES = 1 << 18


def open_reader(data: Any, sep: str | None = None) -> Reader:
    """The reader for a path, several paths, a table, a lazy table, a database or a stream."""
    if not _is_data_file(data) and is_address(data):
        return open_address(os.fspath(data))
    if _is_path(data):
        return _open_files(data if isinstance(data, list | tuple) else [data], sep)
    if comes_from(data, "polars", "LazyFrame"):
        from discrim.sources.polars_table import read_frames

        return read_frames("polars LazyFrame", {"LazyFrame": data})
    if comes_from(data, "duckdb", "DuckDBPyRelation"):
        need("pyarrow", "Reading a DuckDB relation")
        from discrim.sources.arrow import read_relations

        return read_relations("DuckDB relation", {"relation": data})
    if is_dask(data):
        from discrim.sources.dask_parts import read_dask

        return read_dask(data)
    if comes_from(data, "pyspark.sql", "DataFrame"):
        from discrim.sources.spark_parts import read_spark

        return read_spark(data)
    table = data if isinstance(data, Table) else as_table(data)
    if table is not None:
        title = f"{type(data).__module__.partition('.')[0]} {type(data).__name__}"
        return Reader(title, {title: table}, partial(_whole_table, table), table.n_rows)
    if hasattr(data, "__arrow_c_stream__"):
        need("pyarrow", "Reading an Arrow stream")
        from discrim.sources.arrow import open_stream

        return open_stream(data)
    raise DataError(
        f"Cannot scan an object of type {type(data).__name__}. Pass a path, a list of paths, a "
        "pandas or polars frame, a polars LazyFrame, an Arrow table or stream, a DuckDB relation, a Dask frame or "
        "array, a Spark frame, or a query."
    )


def _whole_table(table: Table, columns: Sequence[str], batch_rows: int) -> Iterator[Table]:  # noqa: ARG001 - all columns at once
    yield table


def _is_data_file(data: Any) -> bool:
    """Does it name a file by its ending, and no table of a database?"""
    return isinstance(data, str | os.PathLike) and "::" not in str(data) and bool(_kind_by_name(Path(data)))


def _is_path(data: Any) -> bool:
    one = isinstance(data, str | os.PathLike)
    return one or (isinstance(data, list | tuple) and bool(data) and all(map(_is_path, data)))


def _open_files(given: Sequence[Any], sep: str | None) -> Reader:
    """The reader for files, patterns such as ``trips-*.parquet``, and folders."""
    paths = [path for one in given for path in expand(os.fspath(one))]
    return replace(_reader_of(paths, sep), files=tuple(paths))


def _reader_of(paths: Sequence[Path], sep: str | None) -> Reader:
    kinds = {_kind_of_file(path) for path in paths}
    if len(kinds) > 1:
        raise DataError(f"The files are of different kinds: {name_list(sorted(kinds))}. Scan one kind at a time.")
    kind = kinds.pop()
    title = f"{len(paths)} {kind} files" if len(paths) > 1 else f"file '{paths[0].name}'"
    if kind == "jsonl":
        need("polars", "Reading JSON lines")
        from discrim.sources.polars_files import read_json_lines

        return replace(read_json_lines(title, paths), about=_rows_about(paths, header=0))
    if kind == "csv":
        return replace(open_csv(title, paths, sep), about=_rows_about(paths, header=1))
    need("pyarrow", f"Reading {kind} files")
    from discrim.sources.arrow import read_ipc, read_parquet

    return read_parquet(title, paths) if kind == "parquet" else read_ipc(title, paths)


def _rows_about(paths: Sequence[Path], *, header: int) -> int | None:
    """How many rows text files have if all lines are as long as the first ones; None of compressed files."""
    total = 0
    for path in paths:
        if path.suffix.lower() == ".gz":
            return None
        with path.open("rb") as file:
            head = file.read(FIRST_LINES)
        total += round(path.stat().st_size * head.count(b"\n") / len(head)) - header
    return total


def expand(given: str) -> list[Path]:
    """The files that a name, a pattern or a folder means."""
    path = Path(given).expanduser()
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        return [path]
    if any(sign in given for sign in "*?["):
        found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207 - patterns may begin with a slash
        if found:
            return [file for file in found if file.is_file()]
        raise DataError(f"No file matches the pattern '{given}'.")
    folder = path.parent
    if not folder.is_dir():
        raise DataError(f"There is no file '{given}': the folder '{folder}' does not exist.")
    raise DataError(f"There is no file '{given}'. The folder '{folder}' holds {_sample(folder)}.")


def _files_in(folder: Path) -> list[Path]:
    """Data files below a folder; names that start with a dot or underscore belong to other programs."""
    below = [file for file in sorted(folder.rglob("*")) if file.is_file() and _kind_by_name(file)]
    found = [file for file in below if not any(p[0] in "._" for p in file.relative_to(folder).parts)]
    if not found:
        raise DataError(f"The folder '{folder}' holds no data file ({', '.join(SUFFIXES)}). It has {_sample(folder)}.")
    return found


def _kind_of_file(path: Path) -> str:
    kind = _kind_by_name(path) or ("csv" if path.suffix.lower() in PLAIN and is_separated(path) else None)
    if kind is None:
        hint = HINTS.get(path.suffix.lower(), "").format(name=path)
        raise DataError(f"'{path}' is of an unknown file type. Known are {', '.join(SUFFIXES)} and .csv.gz.{hint}")
    if path.stat().st_size == 0:
        raise DataError(f"The file '{path}' is empty.")
    return kind


def _kind_by_name(path: Path) -> str | None:
    gzipped_csv = path.name.lower().endswith((".csv.gz", ".tsv.gz", ".tab.gz"))
    return "csv" if gzipped_csv else SUFFIXES.get(path.suffix.lower())


def _sample(folder: Path) -> str:
    names = sorted(file.name for file in folder.iterdir())
    return name_list(names) if names else "no files"
