"""Spark: the partitions of a data frame, reduced by the executors that have them, and answers as columns."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from discrim.errors import DataError, DiscrimError, name_list
from discrim.sources.arrow import ArrowTable
from discrim.sources.design import Reader, Table

# States that are merged at once, in the order of the partitions.
GROUP = 16
# What a partition sends: its number, whether it could be reduced, and its state or what is wrong with its rows.
SENT = "part int, fine boolean, state binary"
# Types of columns by the kind of their values.
TYPES = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double"}

# What further columns hold for the rows of a table.
Answers = Callable[[pa.Table], Sequence[NDArray[Any]]]


def read_spark(frame: Any) -> Reader:
    """The partitions of a frame of a classic or a Connect session."""
    title = "Spark frame"

    def tables(columns: Sequence[str], _batch_rows: int) -> Iterator[Table]:
        """Brought to this machine partition by partition."""
        sent = _chosen(frame, columns).mapInArrow(_as_bytes, "batch binary").toLocalIterator()
        for row in sent:
            yield ArrowTable(pa.ipc.open_stream(row.batch).read_all().rename_columns(list(columns)))

    def elsewhere(
        columns: Sequence[str], of: Callable[[Iterator[Table]], Any], merge: Callable[[list[Any]], Any]
    ) -> Any:
        rows = _collected(_chosen(frame, columns).mapInArrow(partial(_reduced, of, list(columns)), SENT))
        states: list[Any] = []
        for row in rows:
            found = pickle.loads(row.state)  # noqa: S301 - it was sent by an executor of the user's own session
            if not row.fine:
                found.add_note(f"In partition {row.part} of the Spark frame.")
                raise found
            states.append(found)
            if len(states) >= GROUP:
                states = [merge(states)]
        return merge(states) if len(states) > 1 else states[0] if states else None

    return Reader(title, {title: ArrowTable(frame.limit(0).toArrow())}, tables, elsewhere=elsewhere)


def with_answers(frame: Any, needed: Sequence[str], answers: Answers, types: dict[str, str]) -> Any:
    """The frame with further columns of these ``types``, which ``answers`` makes of the ``needed`` ones."""
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


def _collected(sent: Any) -> list[Any]:
    """What the partitions sent, in their order."""
    from pyspark.errors import PySparkException

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
    return TYPES.get(values.dtype.kind, "string")


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

    task = TaskContext.get()
    fine, found = True, None
    try:
        found = of(ArrowTable(batch.rename_columns(columns)) for batch in batches)
    except DiscrimError as error:
        fine, found = False, error
    if found is not None:
        sent = {"part": [0 if task is None else task.partitionId()], "fine": [fine], "state": [pickle.dumps(found)]}
        types = pa.schema([("part", pa.int32()), ("fine", pa.bool_()), ("state", pa.binary())])
        yield pa.RecordBatch.from_pydict(sent, schema=types)


def _answered(
    known: list[str], needed: list[str], answers: Answers, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if batch.num_rows:
            found = answers(pa.Table.from_batches([batch.rename_columns(known)]).select(needed))
            values = [pa.array(column.tolist() if column.dtype.kind in "OU" else column) for column in found]
            names = [*batch.schema.names, *(f"answer{i}" for i in range(len(values)))]
            yield pa.RecordBatch.from_arrays([*batch.columns, *values], names)
