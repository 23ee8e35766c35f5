"""Tables and queries of databases: which database an address names, and what is read from it."""

from __future__ import annotations

import difflib
import os
import re
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discrim.errors import DataError, MissingDependencyError, ParameterError, name_list
from discrim.sources.design import Reader, comes_from, installed, need

POSTGRES = re.compile(r"postgres(ql)?://", re.IGNORECASE)
# The address of a server ends at the first double colon that is not inside of [::1].
SERVER = re.compile(r"(?P<uri>postgres(?:ql)?://(?:\[[^\]]*\]|[^\[])*?)::(?P<table>.+)", re.IGNORECASE | re.DOTALL)
QUERY = re.compile(r"\s*(select|with)\s", re.IGNORECASE)
# How the files of two databases begin, and where.
SQLITE, DUCKDB = (b"SQLite format 3\x00", 0), (b"DUCK", 8)


def is_address(data: object) -> bool:
    """Does this name a table or a query of a database, as ``shop.db::orders`` and ``postgresql://...::orders`` do?"""
    if not isinstance(data, str | os.PathLike):
        return False
    text = os.fspath(data)
    if not isinstance(text, str):
        return False
    path = Path(text).expanduser()
    return bool(POSTGRES.match(text)) or _database_of(path) != "" or ("::" in text and not path.exists())


def open_address(address: str) -> Reader:
    """The reader of ``file::table`` or ``postgresql://...::table``; a query may stand in the place of the table.

    Where the file has only one table, its name may be left out.
    """
    if POSTGRES.match(address):
        found = SERVER.fullmatch(address)
        return _of_server(address, "") if found is None else _of_server(found["uri"], found["table"])
    file, _, table = address.partition("::")
    return _of_file(Path(file).expanduser(), table)


def open_query(query: Any, connection: Any) -> Reader:
    """The reader of a query through a connection: an open one, a file of a database, or the address of a server."""
    if not isinstance(query, str) or not query.strip():
        raise ParameterError.bad_value("query", query, "a query, such as 'SELECT * FROM orders'")
    query = query.strip().rstrip(";")
    if isinstance(connection, str) and POSTGRES.match(connection):
        return _of_server(connection, query, is_query=True)
    if isinstance(connection, str | os.PathLike):
        return _of_file(Path(connection).expanduser(), query, is_query=True)
    if isinstance(connection, sqlite3.Connection):
        need("pyarrow", "Reading a database")
        from discrim.sources.sqlite import read_sqlite

        return read_sqlite("SQLite query", connection, f"({query})")
    if comes_from(connection, "duckdb", "DuckDBPyConnection"):
        return _of_duckdb("DuckDB query", lambda: connection.sql(query))
    if hasattr(connection, "adbc_get_info"):
        from discrim.sources.postgres import read_connection

        return read_connection("query", connection, f"({query}) AS query")
    expected = "an open connection of sqlite3, duckdb or an ADBC driver, the path of a database, or postgresql://..."
    raise ParameterError.bad_value("connection", connection, expected)


def _of_server(uri: str, table: str, *, is_query: bool = False) -> Reader:
    for package in ("adbc_driver_postgresql", "pyarrow"):
        if not installed(package):
            raise MissingDependencyError.for_package(package, "Reading a PostgreSQL database", "postgres")
    from discrim.sources.postgres import Server

    server = Server(uri)
    if is_query or QUERY.match(table):
        return server.read("query", f"({table}) AS query")
    name, source = _one_of("the PostgreSQL database", table, server.tables(), "public")
    return server.read(f"table '{name}'", source)


def _of_file(path: Path, table: str, *, is_query: bool = False) -> Reader:
    if not path.is_file():
        raise DataError(f"There is no file '{path}'.")
    kind = _database_of(path)
    if not kind:
        raise DataError(f"'{path}' is neither an SQLite nor a DuckDB database, so that it has no table '{table}'.")
    need("pyarrow", "Reading a database")
    is_query = is_query or bool(QUERY.match(table))
    if kind == "DuckDB":
        return _of_duckdb_file(path, table, is_query=is_query)
    from discrim.sources.sqlite import connect, read_sqlite, tables_of

    connection = connect(path)
    if is_query:
        return read_sqlite(f"query of '{path}'", connection, f"({table})")
    name, source = _one_of(f"'{path}'", table, tables_of(path, connection), "main")
    return read_sqlite(f"table '{name}' of '{path}'", connection, source)


def _of_duckdb_file(path: Path, table: str, *, is_query: bool) -> Reader:
    if not installed("duckdb"):
        raise MissingDependencyError.for_package("duckdb", "Reading a DuckDB database", "all")
    import duckdb

    try:
        connection = duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        raise DataError.unreadable(path, _first_line(error), " as a DuckDB database") from error
    if is_query:
        return _of_duckdb(f"query of '{path}'", lambda: connection.sql(table))
    listed = connection.sql("SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL").fetchall()
    places = {f"{schema}.{name}": f"{quoted(schema)}.{quoted(name)}" for schema, name in listed}
    name, source = _one_of(f"'{path}'", table, places, "main")
    return _of_duckdb(f"table '{name}' of '{path}'", lambda: connection.sql(f"SELECT * FROM {source}"))  # noqa: S608 - a quoted name


def _of_duckdb(title: str, relation: Callable[[], Any]) -> Reader:
    import duckdb

    need("pyarrow", "Reading a DuckDB query")
    from discrim.sources.arrow import read_relations

    try:
        return read_relations(title, {title: relation()})
    except duckdb.Error as error:
        raise DataError(f"The {title} cannot be read: {_first_line(error)}") from error


def _database_of(path: Path) -> str:
    """Which of SQLite and DuckDB wrote this file, by how it begins; empty for other files and where there is none."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            head = file.read(16)
    except OSError:
        return ""
    for name, (mark, start) in (("SQLite", SQLITE), ("DuckDB", DUCKDB)):
        if head[start:].startswith(mark):
            return name
    return ""


def _one_of(database: str, wanted: str, places: Mapping[str, str], usual: str) -> tuple[str, str]:
    """The name of the table that is asked for, or of the only one, and how it is written in a query.

    ``places`` has the tables as schema.name; the ``usual`` schema need not be named.
    """
    if not places:
        raise DataError(f"There is no table in {database}.")
    names = {place.removeprefix(f"{usual}."): source for place, source in places.items()}
    if not wanted and len(names) == 1:
        return next(iter(names.items()))
    listed = f"It has {name_list(names, 20)}."
    if not wanted:
        raise DataError(
            f"Which table of {database}? Write it after two colons, as in ...::{next(iter(names))}. {listed}"
        )
    asked = wanted.removeprefix(f"{usual}.").replace('"', "")
    for name, source in names.items():
        if name == asked:
            return name, source
    alike = [name for name in names if name.lower() == asked.lower()]
    if len(alike) == 1:
        return alike[0], names[alike[0]]
    close = " or ".join(f"'{match}'" for match in difflib.get_close_matches(asked, names))
    hint = f" Did you mean {close}?" if close else ""
    raise DataError(f"There is no table '{wanted}' in {database}.{hint} {listed}")


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
