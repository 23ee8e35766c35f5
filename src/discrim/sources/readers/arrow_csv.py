"""CSV files by pyarrow, where neither polars nor DuckDB is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from discrim.sources.arrow_table import ArrowTable
from discrim.sources.readers import Part, separator_of, unreadable


class ArrowCsvReader:
    """Types are inferred from the first megabytes of each file."""

    rereadable = True
    n_rows = None

    def __init__(self, title: str, paths: Sequence[Path]) -> None:
        self.title = title
        self._paths = paths
        self.parts = [Part(str(path), ArrowTable(_open(path, None).schema.empty_table())) for path in paths]

    def tables(self, columns: Sequence[str], batch_rows: int) -> Iterator[ArrowTable]:  # noqa: ARG002
        for path in self._paths:
            try:
                for batch in _open(path, list(columns)):
                    if batch.num_rows:
                        yield ArrowTable(batch)
            except pa.ArrowInvalid as error:
                raise unreadable(path, error) from error


def _open(path: Path, columns: list[str] | None) -> Any:
    try:
        return pc.open_csv(
            path,
            read_options=pc.ReadOptions(block_size=4 << 20),
            # Without it a block that ends inside a quoted text with line breaks is torn apart.
            parse_options=pc.ParseOptions(delimiter=separator_of(path), newlines_in_values=True),
            convert_options=pc.ConvertOptions(
                include_columns=columns, null_values=["", "NA"], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid as error:
        raise unreadable(path, error) from error
