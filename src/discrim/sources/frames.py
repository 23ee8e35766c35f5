"""Rows of data frames and Arrow tables, read column by column into column-major blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from discrim.block import Block
from discrim.sources.arrays import Labels
from discrim.sources.design import Column, Design, sort_levels
from discrim.sources.parsed import ParsedTable, read_as_fitted
from discrim.sources.rows import SMALL, rows_per_block
from discrim.sources.table import Table, comes_from, float_type, refuse_duplicates, text_levels


class FrameRows:
    """Rows of a table in memory. A small table is one block, a large one is never copied whole."""

    rereadable = True

    def __init__(self, table: Table, labels: Labels, design: Design | None) -> None:
        refuse_duplicates(table.names)
        self._table = table
        self._labels = labels
        self._whole: Block | None = None
        self.design = design_of_table(table) if design is None else design
        self._encoding = self.design if design is None else self._matched(design)

    @property
    def n_rows(self) -> int:
        return self._table.n_rows

    @property
    def labelled(self) -> bool:
        return self._labels.classes is not None

    @property
    def classes(self) -> NDArray[Any] | None:
        return self._labels.classes

    @property
    def whole(self) -> Block | None:
        if self._whole is None and self.n_rows * self.design.n_out < SMALL:
            self._whole = self._block(0, self.n_rows)
        return self._whole

    def blocks(self) -> Iterator[Block]:
        step = rows_per_block(self.design.n_out)
        for start in range(0, self.n_rows, step):
            yield self._block(start, min(start + step, self.n_rows))

    def _block(self, start: int, stop: int) -> Block:
        return self._labels.block(self._encoding.encode(self._table, start, stop), start, stop)

    def _matched(self, design: Design) -> Design:
        """Columns are found by name where the model knows names, else by position."""
        if not design.named:
            return design.renamed(self._table.names)
        design.check_names(self._table.names)
        self._table = read_as_fitted(self._table, design.numeric)
        return design


def design_of_table(table: Table, names: Sequence[str] | None = None, *, gaps: bool = False) -> Design:
    """The design of a table in memory, with the levels that occur in it; ``gaps`` as in ``sort_levels``."""
    columns = []
    names = table.names if names is None else names
    for name in names:
        levels = None
        if table.kind(name) == "text":
            found: set[Any] = set()
            missing = text_levels(table, name, found)
            levels = sort_levels(name, found, missing, table.n_rows, gaps=gaps)
        columns.append(Column(name, levels))
    return Design(columns, float_type(table, names))


def as_table(data: Any) -> Table | None:
    """The adapter for a table in memory, or None where ``data`` is no table."""
    if comes_from(data, "pandas", "DataFrame"):
        from discrim.sources.pandas_table import PandasTable

        return PandasTable(data)
    if comes_from(data, "polars", "DataFrame"):
        from discrim.sources.polars_table import PolarsTable

        return PolarsTable(data)
    if comes_from(data, "pyarrow", "Table", "RecordBatch"):
        from discrim.sources.arrow_table import ArrowTable

        return ArrowTable(data)
    return None


def replace_columns(X: Any, table: Table, parsed: Sequence[str]) -> Any:
    """The frame or Arrow table X with these columns of strings as numbers."""
    read = ParsedTable(table, parsed)
    columns = {name: read.labels(name, 0, table.n_rows) for name in parsed}
    if comes_from(X, "pandas", "DataFrame"):
        frame = X.copy(deep=False)
        for j, name in enumerate(table.names):
            if name in columns:
                frame.isetitem(j, columns[name])
        return frame
    if comes_from(X, "polars", "DataFrame"):
        import polars as pl

        return X.with_columns(*(pl.Series(name, values, nan_to_null=True) for name, values in columns.items()))
    import pyarrow as pa

    for name, values in columns.items():
        X = X.set_column(table.names.index(name), name, pa.array(values, from_pandas=True))
    return X
