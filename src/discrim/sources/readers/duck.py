"""DuckDB relations, and CSV files through them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from discrim.sources.arrow_table import ArrowTable
from discrim.sources.readers import Part, separator_of, unreadable


class DuckReader:
    """Relations whose query is run again for each reading."""

    rereadable = True
    n_rows = None

    def __init__(self, title: str, relations: Mapping[str, Any]) -> None:
        self.title = title
        self._relations = relations
        self.parts = [Part(name, ArrowTable(_reader(one.limit(0), 1).read_all())) for name, one in relations.items()]

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[ArrowTable]:
        wanted = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
        for name, relation in self._relations.items():
            try:
                for batch in _reader(relation.project(wanted), batch_rows):
                    if batch.num_rows:
                        yield ArrowTable(batch)
            except (duckdb.Error, OSError) as error:
                raise unreadable(name, error) from error


def read_csv(title: str, paths: Sequence[Path]) -> DuckReader:
    relations = {}
    for path in paths:
        try:
            relations[str(path)] = duckdb.read_csv(
                str(path), sep=separator_of(path), header=True, na_values=["", "NA"], sample_size=10_000
            )
        except duckdb.Error as error:
            raise unreadable(path, error) from error
    return DuckReader(title, relations)


def _reader(relation: Any, batch_rows: int) -> Any:
    # Since DuckDB 1.4 under its new name; the old one is to go.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return read(batch_rows)
