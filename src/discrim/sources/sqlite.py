"""SQLite: a table or a query as Arrow batches, in one state of the database however often it is read.

A column of SQLite has no type, only its values have. One pass over them, made by SQLite itself, finds how every column
is to be read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from discrim.errors import DataError
from discrim.sources.arrow import ArrowTable
from discrim.sources.databases import quoted
from discrim.sources.design import Reader, refuse_duplicates

# Values that are Python objects at the same time.
MOST_VALUES = 1 << 19
# Columns whose types are asked for by one query; SQLite returns at most 2,000.
AT_ONCE = 400
TYPES = ("integer", "real", "text", "blob")


def connect(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, in a transaction of its own: what others write meanwhile is not seen."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        connection.isolation_level = None
        connection.execute("BEGIN")
    except sqlite3.Error as error:
        raise DataError.unreadable(path, error, " as an SQLite database") from error
    return connection


def tables_of(path: Path, connection: sqlite3.Connection) -> dict[str, str]:
    """Its tables and views, and what FROM takes of each.

    Without indexes the rows of a table have one order, whatever columns are asked for.
    """
    listed = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    try:
        found = connection.execute(f"{listed} ORDER BY name").fetchall()
    except sqlite3.Error as error:
        raise DataError.unreadable(path, error, " as an SQLite database") from error
    return {name: f"{quoted(name)}{' NOT INDEXED' if kind == 'table' else ''}" for name, kind in found}


def read_sqlite(title: str, connection: sqlite3.Connection, source: str) -> Reader:
    """The reader of what stands behind FROM in a query."""
    try:
        names = [column[0] for column in connection.execute(f"SELECT * FROM {source} LIMIT 0").description]  # noqa: S608 - quoted names
        refuse_duplicates(names)
        n_rows, types = _types(connection, source, names)
    except sqlite3.Error as error:
        raise DataError(f"The {title} cannot be read: {error}.") from error
    head = ArrowTable(pa.schema(list(types.items())).empty_table())
    tables = partial(_tables, title, connection, source, types)
    return Reader(title, {title: head}, tables, n_rows)


def _types(connection: sqlite3.Connection, source: str, names: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """How many rows there are, and the type in which every value of a column can be read."""
    n_rows, types = 0, {}
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        asked = ", ".join(f"max(typeof({quoted(name)}) = '{kind}')" for name in some for kind in TYPES)
        n_rows, *answers = connection.execute(f"SELECT count(*), {asked} FROM {source}").fetchone()  # noqa: S608 - quoted names
        for j, name in enumerate(some):
            types[name] = _arrow_type(*map(bool, answers[4 * j : 4 * j + 4]))
    return n_rows, types


def _arrow_type(integer: bool, real: bool, text: bool, blob: bool) -> Any:
    if blob:
        return pa.binary()
    if text:
        return pa.string()
    if real:
        return pa.float64()
    return pa.int64() if integer else pa.null()


def _tables(
    title: str, connection: sqlite3.Connection, source: str, types: dict[str, Any], columns: Sequence[str], rows: int
) -> Iterator[ArrowTable]:
    schema = pa.schema([(name, types[name]) for name in columns])
    asked = ", ".join(_as_type(name, types[name]) for name in columns)
    rows = max(min(rows, MOST_VALUES // max(len(columns), 1)), 1)
    try:
        cursor = connection.execute(f"SELECT {asked} FROM {source}")  # noqa: S608 - quoted names
        while batch := cursor.fetchmany(rows):
            values = zip(*batch, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
            yield ArrowTable(pa.record_batch(arrays, schema=schema))
    except (sqlite3.Error, pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"The {title} cannot be read: {error}.") from error


def _as_type(name: str, dtype: Any) -> str:
    """Whole numbers among others, and numbers among texts, are converted by SQLite."""
    column = quoted(name)
    kind = "REAL" if pa.types.is_float64(dtype) else "TEXT" if pa.types.is_string(dtype) else ""
    return f"CAST({column} AS {kind})" if kind else column
