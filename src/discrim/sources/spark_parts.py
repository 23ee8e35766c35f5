"""Spark: the partitions of a data frame, reduced by the executors that have them, and answers as columns."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from numpy.typing import NDArray
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import from_arrow_type

from discrim.errors import DataError, DiscrimError, name_list
from discrim.sources.arrow import ArrowTable, PartOfFile, files_elsewhere
from discrim.sources.design import Elsewhere, Merge, Of, Reader, Table, comes_from, fan_in_of

# States that are merged here at once. Where fewer are to be merged they are large, and executors merge them before; so
# they do where all of them have more bytes than half of what Spark lets a job send (spark.driver.maxResultSize).
SENT_HERE, ALL_SENT = 16, 1 << 29
# As many partitions as a frame of a Connect session may have, which does not say.
PARTITIONS = 4096
# What a partition sends: its number, whether it could be reduced, and its state or what is wrong with its rows.
SENT = "part int, fine boolean, state binary"

# What further columns hold for the rows of a table.
Answers = Callable[[pa.Table], Sequence[NDArray[Any]]]


def read_spark(frame: Any) -> Reader:
    """The partitions of a frame of a classic or a Connect session."""
    title = "Spark frame"
    if frame.isStreaming:
        raise DataError("The Spark frame is a stream, which has no end. Fit to a batch of it, or to a table.")
    files = _files_of(frame)
    found = files and files_elsewhere(files, list(frame.columns), title, partial(_over_files, frame.sparkSession))
    if found:
        return found

    def tables(columns: Sequence[str], _batch_rows: int) -> Iterator[Table]:
        """Brought to this machine partition by partition."""
        sent = _chosen(frame, columns).mapInArrow(_as_bytes, "batch binary").toLocalIterator()
        for row in sent:
            yield ArrowTable(pa.ipc.open_stream(row.batch).read_all().rename_columns(list(columns)))

    def elsewhere(columns: Sequence[str], of: Of, merge: Merge, state_bytes: int) -> Any:
        sent = _chosen(frame, columns).mapInArrow(partial(_reduced, of, list(columns)), SENT)
        return _merged(sent, merge, state_bytes, _partitions_of(frame))

    return Reader(title, {title: ArrowTable(frame.limit(0).toArrow())}, tables, elsewhere=elsewhere)


def with_answers(frame: Any, needed: Sequence[str], answers: Answers, types: dict[str, str]) -> Any:
    """The frame with further columns of these ``types``, which ``answers`` makes of the ``needed`` ones."""
    if not comes_from(frame, "pyspark.sql", "DataFrame"):
        raise DataError(f"transform_spark takes a Spark frame, and this is a {type(frame).__name__}. Use predict.")
    known = list(frame.columns)
    lacking = [name for name in needed if name not in known]
    if lacking:
        raise DataError(f"The Spark frame has no column {name_list(lacking)}. It has {name_list(known, 20)}.")
    taken = [name for name in types if name in known]
    if taken:
        raise DataError(f"The Spark frame has the column {name_list(taken)} already. Drop or rename it.")
    plain = _chosen(frame, known)
    further = (f"cast(null as {kind}) as answer{i}" for i, kind in enumerate(types.values()))
    schema = plain.limit(0).selectExpr("*", *further).schema
    return plain.mapInArrow(partial(_answered, known, list(needed), answers), schema).toDF(*known, *types)


def _files_of(frame: Any) -> list[Path]:
    """The local Parquet files that are the frame as they are; none where it is made otherwise."""
    try:
        names = [urlsplit(name) for name in frame.inputFiles()]
    except PySparkException:
        return []
    files = sorted(Path(unquote(name.path)) for name in names if name.scheme == "file")
    if not files or len(files) < len(names) or not all(map(_is_parquet, files)):
        return []
    columns, read = [*map(_quoted, frame.columns)], frame.sparkSession.read
    for paths in ({*map(str, files)}, {str(file.parent) for file in files}):
        if read.parquet(*sorted(paths)).select(*columns).sameSemantics(frame.select(*columns)):
            return files
    return []


def _is_parquet(path: Path) -> bool:
    """Is it a Parquet file that can be read here too?"""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def _over_files(session: Any, parts: Sequence[Any]) -> Elsewhere:
    """A task for each part, with its number in place of rows."""

    def elsewhere(columns: Sequence[str], of: Of, merge: Merge, state_bytes: int) -> Any:
        numbers = session.range(0, len(parts), 1, len(parts))
        sent = numbers.mapInArrow(partial(_reduced_files, of, list(columns), parts), SENT)
        return _merged(sent, merge, state_bytes, len(parts))

    return elsewhere


def _partitions_of(frame: Any) -> int:
    """How many partitions the frame has, or may have."""
    try:
        return int(frame.rdd.getNumPartitions())
    except PySparkException:
        return PARTITIONS


def _merged(sent: Any, merge: Merge, state_bytes: int, partitions: int) -> Any:
    """The states that the partitions sent, merged in their order.

    Where they are large, or all of them together are, executors merge them before, level by level.
    """
    fan_in = fan_in_of(state_bytes)
    while partitions > fan_in and (fan_in < SENT_HERE or partitions * state_bytes > ALL_SENT):
        group = sent.selectExpr(f"cast(floor(part / {fan_in}) as int) as place", "*").groupBy("place")
        # A function without annotations: from those of a partial one Spark infers nothing, and fails.
        sent = group.applyInArrow(lambda key, table: _merged_group(merge, key, table), SENT)
        partitions = -(-partitions // fan_in)
    states: list[Any] = []
    for row in _collected(sent):
        found = pickle.loads(row.state)  # noqa: S301 - it was sent by an executor of the user's own session
        if not row.fine:
            raise found
        states.append(found)
        if len(states) >= SENT_HERE:
            states = [merge(states)]
    return merge(states) if len(states) > 1 else states[0] if states else None


def _merged_group(merge: Merge, key: tuple[Any, ...], table: pa.Table) -> pa.Table:
    """The states of neighbours as one, or the first error among them."""
    rows = sorted(table.select(["part", "fine", "state"]).to_pylist(), key=lambda row: row["part"])
    wrong = next((row for row in rows if not row["fine"]), None)
    if wrong is None and len(rows) > 1:
        found = merge([pickle.loads(row["state"]) for row in rows])  # noqa: S301 - sent by executors of the session
        return pa.Table.from_batches([_sent(key[0].as_py(), True, found)])
    state = (wrong or rows[0])["state"]
    return pa.Table.from_batches([_batch(key[0].as_py(), wrong is None, state)])


def _collected(sent: Any) -> list[Any]:
    """What the partitions sent, in their order."""
    try:
        rows: list[Any] = sent.collect()
    except PySparkException as error:
        if "No module named 'discrim'" not in str(error):
            raise
        raise DataError(
            "The Python of the Spark executors has no discrim. Install it there, or have PYSPARK_PYTHON name an "
            "interpreter that has it before the session is started."
        ) from None
    return sorted(rows, key=lambda row: row.part)


def column_type(values: NDArray[Any]) -> str:
    """The type of a column of such values."""
    return str(from_arrow_type(_as_column(values).type, prefer_timestamp_ntz=True).simpleString())


def _as_column(values: NDArray[Any]) -> pa.Array:
    """Whole numbers as those of 64 bits, and times in the units of Spark."""
    column = pa.array(values.tolist() if values.dtype.kind in "OU" else values)
    plain = {"i": pa.int64(), "u": pa.int64(), "M": pa.timestamp("us")}.get(values.dtype.kind)
    return column if plain is None or pa.types.is_date(column.type) else column.cast(plain)


def _chosen(frame: Any, columns: Sequence[str]) -> Any:
    """These columns under names that Spark passes on to Python whatever is in their own."""
    return frame.selectExpr(*(f"{_quoted(name)} as column{j}" for j, name in enumerate(columns)))


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _as_bytes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_pydict({"batch": [sink.getvalue().to_pybytes()]})


def _reduced(
    of: Callable[[Iterator[Table]], Any], columns: list[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The state of a partition; nothing where it has no rows."""
    from pyspark import TaskContext

    task, fine = TaskContext.get(), True
    number = 0 if task is None else task.partitionId()
    try:
        found = of(ArrowTable(batch.rename_columns(columns)) for batch in batches)
    except DiscrimError as error:
        error.add_note(f"In partition {number} of the Spark frame.")
        fine, found = False, error
    except Exception as error:
        error.add_note(f"In partition {number} of the Spark frame.")
        raise
    if found is not None:
        yield _sent(number, fine, found)


def _reduced_files(
    of: Of, columns: list[str], parts: Sequence[PartOfFile], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The states of parts of files, whose numbers are the rows."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            try:
                yield _sent(number, True, parts[number].reduced(of, columns))
            except DiscrimError as error:
                yield _sent(number, False, error)


def _sent(part: int, fine: bool, found: Any) -> pa.RecordBatch:
    return _batch(part, fine, pickle.dumps(found))


def _batch(part: int, fine: bool, state: bytes) -> pa.RecordBatch:
    types = pa.schema([("part", pa.int32()), ("fine", pa.bool_()), ("state", pa.binary())])
    return pa.RecordBatch.from_pydict({"part": [part], "fine": [fine], "state": [state]}, schema=types)


def _answered(
    known: list[str], needed: list[str], answers: Answers, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if batch.num_rows:
            found = answers(pa.Table.from_batches([batch.rename_columns(known)]).select(needed))
            values = [_as_column(column) for column in found]
            names = [*batch.schema.names, *(f"answer{i}" for i in range(len(values)))]
            yield pa.RecordBatch.from_arrays([*batch.columns, *values], names)
