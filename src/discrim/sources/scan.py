"""Scan a table that need not fit in memory: files, lazy tables and streams, block by block."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, LeftOutWarning, ParameterError, name_list, plural, warn
from discrim.sources.arrays import UNLABELLED
from discrim.sources.design import Column, Design, sort_levels
from discrim.sources.labels import MissingLabelsError, code_labels
from discrim.sources.parsed import ParsedTable
from discrim.sources.readers import Part, Reader, open_reader
from discrim.sources.row_numbers import LOOK, is_index_name, numbers_the_rows
from discrim.sources.rows import rows_per_block
from discrim.sources.table import Table, float_type, refuse_duplicates, text_levels
from discrim.sources.weights import refuse_bad_weights
from discrim.typing import Floats

# What a column holds that is neither numbers nor text.
OTHER = "values of another type"


def scan(
    data: Any,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    batch_rows: int = 65536,
) -> Scan:
    """Rows of a file, several files, or a table, to be read block by block in bounded memory.

    Parameters
    ----------
    data : path, pattern such as ``"trips-*.parquet"``, folder, list of paths, or table
        Parquet, CSV (``.csv``, ``.tsv``, also gzipped), Arrow IPC or Feather files; a DuckDB
        relation, a polars LazyFrame, a frame or Arrow table in memory, or an Arrow stream.
        In CSV files an empty field and ``NA`` are missing values.
    target : str, optional
        The column of labels; ``fit`` needs it, ``predict`` does not.
    features : list of str, optional
        The columns to learn from, in this order; by default all others, except those that pandas wrote for the
        index of a frame. A column without a name, or called ``Unnamed: 0``, that numbers the rows is such an index: it
        is left out with a ``LeftOutWarning``.
    weight : str, optional
        The column of case weights.
    batch_rows : int
        How many rows a reader fetches at once.
    """
    if not isinstance(batch_rows, int) or batch_rows < 1:
        raise ParameterError.bad_value("batch_rows", batch_rows, "a positive integer")
    if isinstance(features, str):
        raise ParameterError.bad_value("features", features, "a list of column names")
    reader = open_reader(data)
    first = reader.parts[0]
    refuse_duplicates(first.head.names)
    chosen = features is not None
    if features is None:
        besides = {target, weight, *first.head.index_names}
        features = [name for name in first.head.names if name not in besides]
        features = _without_index(reader, features)
    if not features:
        raise DataError(f"The {reader.title} has no column to learn from besides the target and the weight.")
    refuse_duplicates(features)
    if target in features:
        raise ParameterError.bad_value("features", list(features), f"without the target '{target}'")
    return Scan(reader, features, target=target, weight=weight, batch_rows=batch_rows, chosen=chosen)


class Scan:
    """``Rows`` that are read from a source in batches; made by ``scan``.

    The classes are those of each block, since nobody knows all labels before the last row. ``chosen`` says whether the
    features were asked for by name. Columns of strings in ``parsed`` are read as numbers.
    """

    classes = None
    whole = None
    chosen = True

    def __init__(
        self,
        reader: Reader,
        features: Sequence[str],
        *,
        target: str | None,
        weight: str | None,
        batch_rows: int,
        design: Design | None = None,
        offset: str | None = None,
        chosen: bool = True,
        parsed: Collection[str] = (),
    ) -> None:
        self.features = list(features)
        self.chosen = chosen
        self._parsed = frozenset(parsed)
        self.target = target
        self.weight = weight
        self.offset = offset
        self.n_rows = reader.n_rows
        self._reader = reader
        self._batch_rows = batch_rows
        self._design = design
        if self.n_rows == 0:
            raise self._empty()
        self._heads = [Part(part.name, self._as_read(part.head)) for part in reader.parts]
        self._kinds = _common_kinds(self._heads, self._needed, {target} if chosen else {target, *features})
        usable = [name for name in self.features if self._kinds[name] != OTHER]
        single = all(float_type(part.head, usable) is np.float32 for part in self._heads)
        self._dtype: type[Any] = np.float32 if single else np.float64
        for what, name in (("weight", weight), ("offset", offset)):
            if name is not None and self._kinds[name] != "numbers":
                raise DataError(f"The {what} column '{name}' holds {self._kinds[name]}; {what}s are numbers.")

    @property
    def design(self) -> Design:
        """The columns and levels; text columns are read once, by themselves, to find their levels."""
        if self._design is None:
            self._design = self.discover()
        return self._design

    @property
    def labelled(self) -> bool:
        return self.target is not None

    @property
    def rereadable(self) -> bool:
        return self._reader.rereadable

    def with_design(self, design: Design) -> Scan:
        """The same rows, read as a fitted model needs them; columns it does not know are not read."""
        features = design.names_in if design.named else self.features
        if design.named:
            design.check_names(self._reader.parts[0].head.names)
        else:
            design.check_width(len(features))
        return self._with(features, self.offset, design, parsed=design.numeric if design.named else ())

    def with_features(self, features: Sequence[str]) -> Scan:
        """The same rows with these columns only."""
        return self._with(features, self.offset)

    def with_numbers(self, names: Sequence[str]) -> Scan:
        """The same rows with those of these columns that hold strings read as numbers, where they are numbers."""
        return self._with(self.features, self.offset, self._design, parsed=names)

    def first_table(self, fewest: int) -> Table | None:
        """The first batch of so many rows, or the largest there is; None where there are no rows."""
        largest = None
        for table in self._reader.tables(self._needed, self._batch_rows):
            if largest is None or table.n_rows > largest.n_rows:
                largest = self._as_read(table)
            if largest.n_rows >= fewest:
                break
        return largest

    def with_offset(self, name: str) -> Scan:
        """The same rows with this column as the known part of their linear predictor, and not among the features."""
        return self._with([feature for feature in self.features if feature != name], name)

    def blocks(self) -> Iterator[Block]:
        return (piece() for piece in self.pieces())

    def pieces(self, most_rows: int | None = None) -> Iterator[Callable[[], Block]]:
        """The blocks as calls that make them, so that another thread can turn what was read into numbers."""
        design = self.design if self.design.named else self.design.renamed(self.features)
        step = min(rows_per_block(design.n_out), self._batch_rows, most_rows or self._batch_rows)
        for table in self.tables():
            for start in range(0, table.n_rows, step):
                yield partial(self._block, design, table, start, min(start + step, table.n_rows))

    @property
    def head(self) -> Table:
        """The first part without its rows: the columns and their types."""
        return self._heads[0].head

    def tables(self) -> Iterator[Table]:
        """The batches as they are read: features, labels and weights, before anything is coded."""
        read = 0
        for table in self._reader.tables(self._needed, self._batch_rows):
            yield self._as_read(table)
            read += table.n_rows
        self._check_count(read)

    def labels(self, table: Table, start: int, stop: int) -> tuple[NDArray[np.int32], NDArray[Any], Floats | None]:
        """Class codes, classes and weights of rows of one of the tables."""
        classes: NDArray[Any] = UNLABELLED
        codes = np.zeros(stop - start, dtype=np.int32)
        weight = None
        if self.target is not None:
            try:
                classes, codes = code_labels(table.labels(self.target, start, stop), column=self.target)
            except MissingLabelsError as error:
                raise self._count_missing_labels(error) from None
        if self.weight is not None:
            weight = np.ascontiguousarray(table.numbers([self.weight], start, stop, np.float64)[:, 0])
            refuse_bad_weights(weight, self.weight)
        return codes, classes, weight

    def __repr__(self) -> str:
        parts = [self._reader.title]
        if self.target is not None:
            parts.append(f"target={self.target!r}")
        if self.weight is not None:
            parts.append(f"weight={self.weight!r}")
        return f"Scan({', '.join([*parts, plural(len(self.features), 'feature')])})"

    def _as_read(self, table: Table) -> Table:
        return ParsedTable(table, self._parsed) if self._parsed else table

    def _with(
        self, features: Sequence[str], offset: str | None, design: Design | None = None, parsed: Collection[str] = ()
    ) -> Scan:
        texts = {name for name in parsed if _kind(self._reader.parts[0].head, name) == "text"}
        return Scan(
            self._reader,
            features,
            target=self.target,
            weight=self.weight,
            batch_rows=self._batch_rows,
            design=design,
            offset=offset,
            chosen=self.chosen,
            parsed=self._parsed | texts,
        )

    @property
    def _needed(self) -> list[str]:
        besides = (name for name in (self.target, self.weight, self.offset) if name is not None)
        return list(dict.fromkeys([*self.features, *besides]))

    def discover(self, *, gaps: bool = False) -> Design:
        """The columns, and the levels of text, which is read once for it; ``gaps`` as in ``sort_levels``."""
        for name in self.features:
            if self._kinds[name] == OTHER:
                self.head.kind(name)  # raises, and says what to do
        texts: dict[str, set[Any]] = {name: set() for name in self.features if self._kinds[name] == "text"}
        if texts and not self.rereadable:
            raise DataError(
                f"The columns {name_list(texts)} hold text, whose levels must be known first, "
                f"but the {self._reader.title} can be read only once. Pass a table or a file instead."
            )
        missing, n_rows = dict.fromkeys(texts, 0), 0
        if texts:
            for table in self._reader.tables(list(texts), self._batch_rows):
                n_rows += table.n_rows
                for name, found in texts.items():
                    missing[name] += text_levels(table, name, found)
            if not n_rows:
                raise DataError(f"The {self._reader.title} holds no rows.")
        levels = {name: sort_levels(name, found, missing[name], n_rows, gaps=gaps) for name, found in texts.items()}
        columns = [Column(name, levels.get(name)) for name in self.features]
        return Design(columns, self._dtype)

    def _block(self, design: Design, table: Table, start: int, stop: int) -> Block:
        rows = design.encode(table, start, stop, self._dtype), *self.labels(table, start, stop)
        return Block(*rows, self._offsets(table, start, stop))

    def _offsets(self, table: Table, start: int, stop: int) -> Floats | None:
        if self.offset is None:
            return None
        offset = np.ascontiguousarray(table.numbers([self.offset], start, stop, np.float64)[:, 0])
        strange = int(np.count_nonzero(~np.isfinite(offset)))
        if strange:
            found = plural(strange, "value that is", "values that are")
            raise DataError(f"The offset column '{self.offset}' has {found} missing, NaN or infinite.")
        return offset

    def _count_missing_labels(self, first: MissingLabelsError) -> MissingLabelsError:
        """The error of the first block with missing labels, counted over all where that can be read again."""
        if not self.rereadable or self.target is None:
            return first
        count = total = 0
        for table in self._reader.tables([self.target], self._batch_rows):
            total += table.n_rows
            try:
                code_labels(table.labels(self.target, 0, table.n_rows), column=self.target)
            except MissingLabelsError as error:
                count += error.count
        return MissingLabelsError(count, total, self.target)

    def _check_count(self, read: int) -> None:
        if read == 0:
            raise self._empty()
        if self.n_rows is not None and read != self.n_rows:
            raise DataError(
                f"The {self._reader.title} gave {plural(read, 'row')} now and {self.n_rows} before. "
                "It changed, or it can be read only once."
            )
        self.n_rows = read

    def _empty(self) -> DataError:
        return DataError(f"The {self._reader.title} holds no rows.")


def _common_kinds(parts: Sequence[Part], needed: Sequence[str], any_type: Collection[str | None]) -> dict[str, str]:
    """Numbers or text, for each column; every part must have it and agree. Some may be of other types."""
    kinds: dict[str, str] = {}
    for part in parts:
        present = set(part.head.names)
        for name in needed:
            if name not in present:
                raise _no_such_column(name, part)
            kind = _kind(part.head, name)
            if kind == OTHER and name not in any_type:
                part.head.kind(name)  # raises, and says what to do
            if kinds.setdefault(name, kind) != kind:
                raise DataError(
                    f"Column '{name}' holds {kind} in '{part.name}', but {kinds[name]} in '{parts[0].name}'. "
                    "Files that are scanned together must agree."
                )
    return kinds


def _kind(head: Table, name: str) -> str:
    try:
        return "text" if head.kind(name) == "text" else "numbers"
    except DataError:
        return OTHER


def _without_index(reader: Reader, features: list[str]) -> list[str]:
    """Without a column that pandas or R wrote for the numbers of the rows."""
    head = reader.parts[0].head
    named = [name for name in features if is_index_name(name) and _kind(head, name) == "numbers"]
    if not named or len(named) == len(features):
        return features
    if reader.rereadable:
        table = next(iter(reader.tables(named, LOOK)), None)
        named = [name for name in named if table is not None and numbers_the_rows(table, name)]
    for name in named:
        which = f"Column '{name}'" if name else "The column without a name"
        warn(
            f"{which} numbers the rows and is left out. "
            f"To learn from it, name it: scan(data, features=[{name!r}, ...]).",
            LeftOutWarning,
        )
    return [name for name in features if name not in named]


def _no_such_column(name: str, part: Part) -> DataError:
    close = difflib.get_close_matches(name, part.head.names, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return DataError(f"There is no column '{name}' in '{part.name}'.{hint} It has {name_list(part.head.names, 20)}.")
