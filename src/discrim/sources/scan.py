"""Scan a table that need not fit in memory: files, lazy tables and streams, block by block."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import UNLABELLED, Block, rows_per_block
from discrim.errors import DataError, LeftOutWarning, ParameterError, name_list, plural, warn
from discrim.sources.block_table import BlockTable
from discrim.sources.csv_files import like_data
from discrim.sources.databases import open_query
from discrim.sources.design import (
    BATCH_ROWS,
    Column,
    Design,
    Reader,
    Table,
    float_type,
    one_column,
    refuse_duplicates,
    refuse_lacking,
)
from discrim.sources.labels import MissingLabelsError, code_labels, refuse_bad_weights
from discrim.sources.opening import open_reader
from discrim.sources.reading import NO_READING, Reading, ReadTable, SomeRows, reading_of, refuse_other_texts
from discrim.sources.text_columns import design_of
from discrim.typing import Floats

T = TypeVar("T")

# What a column holds that is neither numbers nor text.
OTHER = "values of another type"
# Names that programs give to a column without a name, such as an index.
UNNAMED = re.compile(r"\s*|unnamed: \d+.*|__index_level_\d+__|level_0", re.IGNORECASE)


def scan(
    data: Any = None,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    without: Sequence[str] = (),
    weight: str | None = None,
    types: Mapping[str, str] | None = None,
    sep: str | None = None,
    batch_rows: int = BATCH_ROWS,
    query: str | None = None,
    connection: Any = None,
) -> Scan:
    """Rows of a file, several files, a table or a query, to be read block by block in bounded memory.

    Parameters
    ----------
    data : path, pattern such as ``"trips-*.parquet"``, folder, list of paths, or table
        Parquet, CSV (``.csv``, ``.tsv``, also gzipped), Arrow IPC or Feather, or JSON lines files; a table of a
        database, ``"shop.db::orders"`` (SQLite or DuckDB) or ``"postgresql://host/base::orders"``; a DuckDB
        relation, a polars LazyFrame, a Dask frame or array, a Spark frame, a frame or Arrow table in memory, or an
        Arrow stream.
        In CSV files an empty field and ``NA`` are missing values.
    target : str, optional
        The column of labels; ``fit`` needs it, ``predict`` does not.
    features : list of str, optional
        The columns to learn from, in this order; by default all others, except those that pandas wrote for the
        index of a frame. A column without a name, or called ``Unnamed: 0``, that numbers the rows is such an index: it
        is left out with a ``LeftOutWarning``.
    without : list of str
        Columns to leave out, of all others or of ``features``.
    weight : str, optional
        The column of case weights.
    types : dictionary of column names to "number" or "category"
        How columns are read, where the table does not show what they are: numbers that are codes of a category, strings
        that are numbers, dates as days since 1970.
    sep : str, optional
        What separates the columns of CSV files. By default a comma, or the tab, semicolon or bar of a first line that
        has no comma outside of quotes; with semicolons numbers may have decimal commas.
    batch_rows : int
        How many rows a reader fetches at once.
    query, connection : str, and an open connection, the path of a database or the address of a server
        In place of ``data``, what a query gives: ``scan(query="SELECT * FROM orders", connection=...)``, with a
        connection of sqlite3, duckdb or an ADBC driver. Files and servers that are opened here are read in one state,
        however often: what others write meanwhile is not seen.
    """
    if data is not None and query is not None:
        raise ParameterError("Pass either data, or query with a connection.")
    if not isinstance(batch_rows, int) or batch_rows < 1:
        raise ParameterError.bad_value("batch_rows", batch_rows, "a positive integer")
    for parameter, value in (("features", features), ("without", without)):
        if isinstance(value, str):
            raise ParameterError.bad_value(parameter, value, "a list of column names")
    reader = open_reader(data, sep) if query is None else open_query(query, connection)
    head = reader.head
    refuse_duplicates(head.names)
    for name in without:
        if name not in head.names:
            raise _no_such_column(name, reader.heads)
    chosen = features is not None
    besides = {*without} if chosen else {*without, target, weight, *head.index_names}
    features = [name for name in (head.names if features is None else features) if name not in besides]
    if not chosen:
        features = _without_index(reader, features)
    if not features:
        left = f" and {name_list(without)}" if without else ""
        raise DataError(f"The {reader.title} has no column to learn from besides the target and the weight{left}.")
    refuse_duplicates(features)
    if target in features:
        raise ParameterError.bad_value("features", list(features), f"without the target '{target}'")
    rows = Scan(reader, features, target, weight, batch_rows, chosen)
    return rows if not types else rows.read_as(rows.reading_of(types))


def scan_parts(X: Any, y: Any, sample_weight: Any) -> Scan:
    """A Dask frame or array with its labels and weights, which have the same parts, as ``fit(X, y)`` is given them."""
    if y is None:
        return scan(X)
    from discrim.sources.dask_parts import read_labelled

    reader, target, weight = read_labelled(X, y, sample_weight)
    features = [name for name in reader.head.names if name not in {target, weight}]
    return Scan(reader, features, target, weight, BATCH_ROWS)


@dataclass(eq=False, repr=False)
class Scan:
    """``Rows`` that are read from a source in batches; made by ``scan``.

    The classes are those of each block, since not all labels are known before the last row. ``chosen`` says whether
    the features were asked for by name. ``_reading`` says which columns are read
    otherwise than they come.
    """

    classes = None
    whole = None

    _reader: Reader
    features: list[str]
    target: str | None
    weight: str | None
    _batch_rows: int
    chosen: bool = True
    offset: str | None = None
    _design: Design | None = None
    _reading: Reading = NO_READING

    def __post_init__(self) -> None:
        self.n_rows, self.about = self._reader.n_rows, self._reader.about
        if self.n_rows == 0:
            raise self._empty()
        heads = {name: self._as_read(head) for name, head in self._reader.heads.items()}
        # The first part without its rows: the columns and their types.
        self.head = next(iter(heads.values()))
        self._kinds = _common_kinds(heads, self._needed, {self.target, *(() if self.chosen else self.features)})
        usable = [name for name in self.features if self._kinds[name] != OTHER]
        single = all(float_type(head, usable) is np.float32 for head in heads.values())
        self._dtype: type[Any] = np.float32 if single else np.float64
        for what, name in (("weight", self.weight), ("offset", self.offset)):
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
            refuse_lacking(features, self._reader.head.names)
        else:
            design.check_width(len(features))
        texts = self._texts_in(design.numeric if design.named else ())
        self._refuse_words(texts - self._reading.numbers - self._reading.days)
        return replace(
            self, features=features, _design=design, _reading=self._reading | Reading(texts) if texts else self._reading
        )

    def with_features(self, features: Sequence[str]) -> Scan:
        """The same rows with these columns only."""
        return replace(self, features=list(features), _design=None)

    def with_numbers(self, names: Sequence[str]) -> Scan:
        """The same rows with those of these columns that hold strings read as numbers, where they are numbers."""
        return self.read_as(Reading(self._texts_in(names)))

    def reading_of(self, types: Mapping[str, str]) -> Reading:
        """How columns of these types are read; the first rows show what they hold."""
        first = self.first_table(1) if self.rereadable else None
        return reading_of(self.head if first is None else first, types, self.features)

    def read_as(self, reading: Reading) -> Scan:
        """The same rows with these columns read so."""
        return replace(self, _design=None, _reading=self._reading | reading)

    @property
    def texts(self) -> list[str]:
        """The features that are read as levels."""
        return [name for name in self.features if self._kinds[name] == "text"]

    def keeping(self, keep: NDArray[np.bool_]) -> Scan:
        """The same without the rows where ``keep`` is false."""
        tables = partial(_kept, self._reader, keep)
        reader = replace(self._reader, tables=tables, n_rows=int(keep.sum()), files=(), tables_after=None)
        return replace(self, _reader=reader, _design=None)

    def sampled(self, wanted: Callable[[int, int], NDArray[np.bool_]]) -> Scan:
        """Some of the rows: ``wanted(start, count)`` marks those among so many that begin with this number."""
        tables = partial(_wanted, self._reader, wanted)
        unknown = replace(self._reader, tables=tables, n_rows=None, about=None, files=(), tables_after=None)
        return replace(self, _reader=unknown)

    def in_table(self, block: Block) -> Scan:
        """Some of the rows, which were read as this block, as a scan in memory."""
        assert self.target is not None
        table, title = BlockTable(block, self.design, self.target, self.weight), self._reader.title
        reader = Reader(title, {title: table}, partial(_whole_table, table), table.n_rows, named=self.named)
        return replace(self, _reader=reader, _reading=NO_READING)

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
        features = [feature for feature in self.features if feature != name]
        return replace(self, features=features, offset=name, _design=None)

    @property
    def named(self) -> bool:
        """Do the columns have names? Those of an array do not."""
        return self._reader.named

    @property
    def lies_elsewhere(self) -> bool:
        """Are the rows reduced by other workers, as those of Dask and Spark are?"""
        return self._reader.elsewhere is not None

    def holding(self) -> AbstractContextManager[None]:
        """While a fit makes its passes: workers that have the memory keep the rows."""
        return self._reader.holding()

    def count(self) -> int | None:
        """How many rows there are: known beforehand, or counted by the workers that have them, who read one column."""
        if self.n_rows is None and self._reader.elsewhere is not None:
            self.n_rows = self._reader.elsewhere(self.features[:1], _count, sum, 0) or 0
        return self.n_rows

    def reduced_elsewhere(
        self, of: Callable[[Scan], T], merge: Callable[[list[T]], T], state_bytes: int = 0
    ) -> T | None:
        """``of`` each part of the rows on the machine that has it, merged in order; None where rows are read here."""
        if self._reader.elsewhere is None:
            return None
        settings = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "_reader"}
        part = partial(_of_part, of, {**settings, "_design": self.design}, self._reader.title, self._reader.named)
        state: T | None = self._reader.elsewhere(self._needed, part, merge, state_bytes)
        if state is None:
            raise self._empty()
        return state

    def blocks(self) -> Iterator[Block]:
        return (piece() for piece in self.pieces())

    def pieces(self, most_rows: int | None = None, *, after: int = 0) -> Iterator[Callable[[], Block]]:
        """The blocks as calls that make them, so that another thread can turn what was read into numbers.

        Those of the first rows, so many as lie ``after`` some of the blocks, are left out.
        """
        return (piece for _, piece in self.numbered_pieces(most_rows, after=after))

    def numbered_pieces(
        self, most_rows: int | None = None, *, after: int = 0
    ) -> Iterator[tuple[int, Callable[[], Block]]]:
        """The same, each with the number of its first row."""
        design = self.design if self.design.named else self.design.renamed(self.features)
        step = min(rows_per_block(design.n_out), self._batch_rows, most_rows or self._batch_rows)
        row = 0
        if after and self._reader.tables_after is not None:
            row, _ = self._reader.tables_after(self._needed, self._batch_rows, after)
        for table in self.tables(after=after):
            # Entries that are stored are few, however many columns there are.
            here = max(step, table.n_rows if table.sparse else 0)
            for start in range(0, table.n_rows, here):
                if row + start >= after:
                    stop = min(start + here, table.n_rows)
                    yield row + start, partial(self._block, design, table, start, stop)
            row += table.n_rows

    def tables(self, columns: Sequence[str] | None = None, *, after: int = 0) -> Iterator[Table]:
        """The batches as they are read, before anything is coded: these columns, or features, labels and weights.

        Of those of the first rows, so many as lie ``after``, some may be left out.
        """
        read, wanted = 0, columns or self._needed
        if after and self._reader.tables_after is not None:
            read, found = self._reader.tables_after(wanted, self._batch_rows, after)
        else:
            found = self._reader.tables(wanted, self._batch_rows)
        for table in found:
            yield self._as_read(table)
            read += table.n_rows
        if read == 0:
            raise self._empty()
        if self.n_rows is not None and read != self.n_rows:
            raise DataError(
                f"The {self._reader.title} gave {plural(read, 'row')} now and {self.n_rows} before. "
                "It changed, or it can be read only once."
            )
        self.n_rows = read

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
            weight = one_column(table, self.weight, start, stop)
            refuse_bad_weights(weight, self.weight)
        return codes, classes, weight

    def recognised_by(self) -> dict[str, Any] | None:
        """What shows whether another scan has the same rows, as plain values; None where that cannot be known."""
        if not self._reader.files:
            return None
        states = {str(path.resolve()): path.stat() for path in self._reader.files}
        return {
            "files": {name: [state.st_size, state.st_mtime_ns] for name, state in states.items()},
            "target": self.target,
            "weight": self.weight,
            "offset": self.offset,
            "columns": [[name, self._kinds[name]] for name in self.features],
            "reading": self._reading.to_stored(),
            "batch_rows": self._batch_rows,
        }

    def __repr__(self) -> str:
        parts = [self._reader.title]
        if self.target is not None:
            parts.append(f"target={self.target!r}")
        if self.weight is not None:
            parts.append(f"weight={self.weight!r}")
        return f"Scan({', '.join([*parts, plural(len(self.features), 'feature')])})"

    def _as_read(self, table: Table) -> Table:
        return table if self._reading is NO_READING else ReadTable(table, self._reading)

    def _texts_in(self, names: Sequence[str]) -> frozenset[str]:
        return frozenset(name for name in names if _kind(self._reader.head, name) == "text")

    def _refuse_words(self, names: Collection[str]) -> None:
        """Raise where strings that are to be numbers are something else altogether, by the first rows."""
        if names and self.rereadable and not self.lies_elsewhere:
            first = self.with_features(sorted(names)).first_table(1)
            if first is not None:
                refuse_other_texts(first, sorted(names))

    @property
    def _needed(self) -> list[str]:
        besides = (name for name in (self.target, self.weight, self.offset) if name is not None)
        return list(dict.fromkeys([*self.features, *besides]))

    def discover(self, *, gaps: bool = False) -> Design:
        """The columns, and the levels of text, which is read once for it.

        With ``gaps`` missing values of a category are allowed, to be filled in later.
        """
        for name in self.features:
            if self._kinds[name] == OTHER:
                self.head.kind(name)  # raises, and says what to do
        texts = [name for name in self.features if self._kinds[name] == "text"]
        if not texts:
            if not self.named:
                return Design.unnamed(len(self.features), self._dtype)
            return Design([Column(name) for name in self.features], self._dtype)
        if not self.rereadable:
            raise DataError(
                f"The columns {name_list(texts)} hold text, whose levels must be known first, "
                f"but the {self._reader.title} can be read only once. Pass a table or a file instead."
            )
        return design_of(self.tables(texts), self.features, texts, self._dtype, gaps=gaps)

    def _block(self, design: Design, table: Table, start: int, stop: int) -> Block:
        rows = design.encode(table, start, stop, self._dtype), *self.labels(table, start, stop)
        return Block(*rows, self._offsets(table, start, stop))

    def _offsets(self, table: Table, start: int, stop: int) -> Floats | None:
        if self.offset is None:
            return None
        offset = one_column(table, self.offset, start, stop)
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
        for table in self.tables([self.target]):
            total += table.n_rows
            try:
                code_labels(table.labels(self.target, 0, table.n_rows), column=self.target)
            except MissingLabelsError as error:
                count += error.count
        return MissingLabelsError(count, total, self.target)

    def _empty(self) -> DataError:
        return DataError(f"There are no rows in the {self._reader.title}.")


def _kept(reader: Reader, keep: NDArray[np.bool_], columns: Sequence[str], batch_rows: int) -> Iterator[Table]:
    start = 0
    for table in reader.tables(columns, batch_rows):
        part = np.flatnonzero(keep[start : start + table.n_rows])
        start += table.n_rows
        if len(part):
            yield SomeRows(table, part)


def _whole_table(table: Table, columns: Sequence[str], batch_rows: int) -> Iterator[Table]:  # noqa: ARG001 - all columns at once
    yield table


def _wanted(
    reader: Reader, wanted: Callable[[int, int], NDArray[np.bool_]], columns: Sequence[str], batch_rows: int
) -> Iterator[Table]:
    row = 0
    for table in reader.tables(columns, batch_rows):
        part = np.flatnonzero(wanted(row, table.n_rows))
        row += table.n_rows
        if len(part):
            yield SomeRows(table, part)


def _count(tables: Iterator[Table]) -> int:
    return sum(table.n_rows for table in tables)


def _of_part(
    of: Callable[[Scan], T], settings: dict[str, Any], title: str, named: bool, tables: Iterator[Table]
) -> T | None:
    """``of`` the rows of one part, on the machine that has them; None where there are none."""
    full = (table for table in tables if table.n_rows)
    first = next(full, None)
    if first is None:
        return None
    head = {title: first}
    return of(Scan(Reader(title, head, lambda *_: chain([first], full), named=named), **settings))


def _common_kinds(
    heads: Mapping[str, Table], needed: Sequence[str], any_type: Collection[str | None]
) -> dict[str, str]:
    """Numbers or text, for each column; every part must have it and agree. Some may be of other types."""
    kinds: dict[str, str] = {}
    for title, head in heads.items():
        present = set(head.names)
        for name in needed:
            if name not in present:
                raise _no_such_column(name, {title: head})
            kind = _kind(head, name)
            if kind == OTHER and name not in any_type:
                head.kind(name)  # raises, and says what to do
            if kinds.setdefault(name, kind) != kind:
                raise DataError(
                    f"Column '{name}' holds {kind} in '{title}', but {kinds[name]} in '{next(iter(heads))}'. "
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
    named = [
        name
        for name in features
        if (UNNAMED.fullmatch(name) or name == "column0") and _kind(reader.head, name) == "numbers"
    ]
    if not named or len(named) == len(features):
        return features
    if reader.rereadable:
        from discrim.sources.odd_columns import LOOK, why_no_feature

        table = next(iter(reader.tables(named, LOOK)), None)
        named = [name for name in named if table is not None and why_no_feature(table, name)]
    for name in named:
        which = f"Column '{name}'" if name else "The column without a name"
        how = f"features=[{name!r}, ...] or --features keeps it" if name else "To learn from it, give it a name"
        warn(f"{which} numbers the rows and is left out. {how}.", LeftOutWarning)
    return [name for name in features if name not in named]


def _no_such_column(name: str, heads: Mapping[str, Table]) -> DataError:
    title, head = next(iter(heads.items()))
    close = " or ".join(f"'{match}'" for match in difflib.get_close_matches(name, head.names))
    hint = f" Did you mean {close}?" if close else ""
    odd = like_data(head.names)
    return DataError(f"There is no column '{name}' in '{title}'.{hint} It has {name_list(head.names, 20)}.{odd}")
