"""A column of documents: of files, frames and lazy tables, through the readers of ``scan``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError
from discrim.sources import Scan, code_labels
from discrim.sources.readers import Reader, open_reader
from discrim.sources.table import Table
from discrim.sources.weights import refuse_bad_weights
from discrim.text.block import DocumentBlock, Documents, as_list, check_texts


class Columns(NamedTuple):
    """What is read of a table."""

    text: str
    target: str | None
    weight: str | None


class ColumnDocuments(Documents):
    """Documents in one column of a table, with labels and weights in others. No other column is read."""

    def __init__(self, data: Any, columns: Columns, *, empty: bool, batch_rows: int) -> None:
        named = [name for name in columns if name is not None]
        if len(set(named)) < len(named):
            raise ParameterError.bad_value("text", columns.text, f"another column than {columns[1:]}")
        self._reader: Reader = open_reader(data)
        # A scan of the same columns refuses those that are not there, or differ from file to file.
        Scan(self._reader, [columns.text], target=columns.target, weight=columns.weight, batch_rows=batch_rows)
        for part in self._reader.parts:
            if part.head.kind(columns.text) != "text":
                raise DataError(f"Column '{columns.text}' of '{part.name}' holds numbers; documents are strings.")
        self._columns, self._empty, self._batch_rows = columns, empty, batch_rows
        self.title = f"column '{columns.text}' of {self._reader.title}"
        self.n_rows = self._reader.n_rows
        self.labelled = columns.target is not None
        self.rereadable = self._reader.rereadable

    def blocks(self) -> Iterator[DocumentBlock]:
        first = 0
        for table in self._reader.tables([c for c in self._columns if c is not None], self._batch_rows):
            for start in range(0, table.n_rows, self._batch_rows):
                stop = min(start + self._batch_rows, table.n_rows)
                yield self._block(table, start, stop, first + start)
            first += table.n_rows
        if not first:
            raise DataError(f"The {self._reader.title} holds no rows.")

    def classes(self) -> NDArray[Any]:
        target = self._columns.target
        assert target is not None
        if not self.rereadable:
            raise DataError(
                f"The {self._reader.title} can be read only once, but its labels must be known first. "
                "Pass a table or a file instead."
            )
        tables = self._reader.tables([target], 1 << 16)
        found = [code_labels(table.labels(target, 0, table.n_rows), column=target)[0] for table in tables]
        return code_labels(np.concatenate(found), column=target)[0]

    def _block(self, table: Table, start: int, stop: int, first: int) -> DocumentBlock:
        text, target, weight_column = self._columns
        values = as_list(table.labels(text, start, stop))
        texts = check_texts(values, first=first, of=f"column '{text}'", empty=self._empty)
        labels = weight = None
        if target is not None:
            classes, codes = code_labels(table.labels(target, start, stop), column=target)
            labels = classes[codes]
        if weight_column is not None:
            weight = np.ascontiguousarray(table.numbers([weight_column], start, stop, np.float64)[:, 0])
            refuse_bad_weights(weight, weight_column)
        return DocumentBlock(texts, labels, weight)
