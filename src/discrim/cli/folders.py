"""A folder of documents as a table, with a row for each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from discrim.sources.design import Reader, Table, as_table, need
from discrim.text import documents

# The columns of the table: the name of a file, its text, and the folder that it lies in, which is its class.
FILE, TEXT, CLASS = "file", "text", "folder"


def read_folder(folder: str) -> Reader:
    """The documents of a folder; they have a class where they lie in folders of it."""
    need("polars", "Reading a folder as a table")
    import polars as pl

    source = documents(folder)
    names = [FILE, TEXT, CLASS] if source.labelled else [FILE, TEXT]

    def tables(columns: Sequence[str], batch_rows: int) -> Iterator[Table]:  # noqa: ARG001 - blocks are of a size
        for block in source.blocks():
            labels = [] if block.labels is None else [block.labels.tolist()]
            made = dict(zip(names, [block.names, block.texts, *labels], strict=True))
            yield _table(pl.DataFrame({name: made[name] for name in columns}))

    head = _table(pl.DataFrame({name: pl.Series([], dtype=pl.String) for name in names}))
    return Reader(source.title, {source.title: head}, tables)


def _table(frame: Any) -> Table:
    table = as_table(frame)
    assert table is not None
    return table
