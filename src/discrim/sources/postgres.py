"""PostgreSQL: a table or a query as the Arrow stream of its ADBC driver.

All passes read one state of the database: a transaction with repeatable reads stays open and lends its snapshot to the
connections of the passes. Rows come in the same order each time, because scans neither start where another one is nor
share the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import adbc_driver_manager
import pyarrow as pa

from discrim.errors import DataError
from discrim.sources.arrow import ArrowTable
from discrim.sources.databases import quoted
from discrim.sources.design import Reader, refuse_duplicates

READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
IN_ORDER = ("SET LOCAL synchronize_seqscans = off", "SET LOCAL max_parallel_workers_per_gather = 0")
TABLES = """
    SELECT nspname, relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
    ORDER BY nspname, relname
"""
# Types that Arrow has no numbers or texts for, and what PostgreSQL is asked to make of them.
CASTS = {"numeric": ("double precision", pa.float64()), "uuid": ("text", pa.string())}


class Server:
    """One state of the database at an address, which every pass reads through a connection of its own."""

    def __init__(self, uri: str) -> None:
        import adbc_driver_postgresql.dbapi as driver

        self._connect = partial(driver.connect, uri)
        with _in_words("database"):
            # The transaction of this connection keeps the snapshot until the last pass is over.
            self._first = self._connect()
            _run(self._first, READ_ONLY)
            ((self._snapshot,),) = _fetch(self._first, "SELECT pg_export_snapshot()")

    def tables(self) -> dict[str, str]:
        """Tables and views as schema.name, and how each is written in a query."""
        with _in_words("database"):
            found = _fetch(self._first, TABLES)
        return {f"{schema}.{name}": f"{quoted(schema)}.{quoted(name)}" for schema, name in found}

    def read(self, title: str, source: str) -> Reader:
        """The reader of what stands behind FROM in a query."""

        def batches(schema: Any, columns: Sequence[str]) -> Iterator[ArrowTable]:
            with closing(self._connect()) as connection:
                _run(connection, READ_ONLY, f"SET TRANSACTION SNAPSHOT '{self._snapshot}'", *IN_ORDER)
                yield from _batches(connection, source, schema, columns)

        return _reader(title, self._first, source, batches)


def read_connection(title: str, connection: Any, source: str) -> Reader:
    """The same through an open connection of an ADBC driver, in its transaction, one pass at a time."""
    return _reader(title, connection, source, partial(_batches, connection, source))


def _reader(title: str, connection: Any, source: str, batches: Any) -> Reader:
    with _in_words(title), closing(connection.cursor()) as cursor:
        cursor.execute(f"SELECT * FROM {source} LIMIT 0")  # noqa: S608 - quoted names
        found = cursor.fetch_record_batch().schema
    refuse_duplicates(found.names)
    schema = pa.schema(list(map(_converted, found)))

    def tables(columns: Sequence[str], rows: int) -> Iterator[ArrowTable]:  # noqa: ARG001 - as the driver has them
        with _in_words(title):
            yield from batches(schema, columns)

    return Reader(title, {title: ArrowTable(schema.empty_table())}, tables)


def _batches(connection: Any, source: str, schema: Any, columns: Sequence[str]) -> Iterator[ArrowTable]:
    asked = ", ".join(_asked(schema.field(name)) for name in columns)
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"SELECT {asked} FROM {source}")  # noqa: S608 - quoted names
        for batch in cursor.fetch_record_batch():
            if batch.num_rows:
                yield ArrowTable(batch)


def _asked(field: Any) -> str:
    column, cast = quoted(field.name), CASTS.get(_type_of(field))
    return f"CAST({column} AS {cast[0]}) AS {column}" if cast else column


def _converted(field: Any) -> Any:
    """The column as it will come."""
    cast = CASTS.get(_type_of(field))
    return pa.field(field.name, cast[1], metadata=field.metadata) if cast else field


def _type_of(field: Any) -> str:
    name: bytes = (field.metadata or {}).get(b"POSTGRESQL:type", b"")
    return name.decode()


def _run(connection: Any, *statements: str) -> None:
    with closing(connection.cursor()) as cursor:
        for statement in statements:
            cursor.execute(statement)


def _fetch(connection: Any, query: str) -> list[tuple[Any, ...]]:
    with closing(connection.cursor()) as cursor:
        cursor.execute(query)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


@contextmanager
def _in_words(title: str) -> Iterator[None]:
    """Errors by what the server says, without the query, and without the address, which may hold a password."""
    try:
        yield
    except adbc_driver_manager.Error as error:
        said = str(error).partition("\nLINE ")[0].partition("\n\nQuery was")[0].partition(". SQLSTATE")[0]
        for mark in ("ERROR:", "FATAL:", "failed:"):
            said = said.rpartition(mark)[2] if mark in said else said
        raise DataError(f"The {title} of PostgreSQL cannot be read: {' '.join(said.split()).rstrip('.')}.") from error
