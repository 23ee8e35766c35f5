"""Tables as they are written: batch by batch, to a file of any kind or to the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from discrim.cli.answering import Answers
from discrim.cli.writing import replaced
from discrim.errors import ParameterError, name_list
from discrim.sources.design import need

KINDS = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow",
}  # fmt: skip


class Output:
    """Writes answers with the columns that identify their rows; without any, the rows are numbered from 1."""

    def __init__(self, write: Callable[[Any], None], names: Sequence[str], ids: Sequence[str]) -> None:
        self._write, self._names, self._ids, self._done = write, names, ids, 0

    def write(self, answers: Answers) -> None:
        import polars as pl

        n, table = answers.table.n_rows, answers.table
        columns = [pl.Series(name, table.labels(name, 0, n)) for name in self._ids]
        if not columns:
            columns = [pl.Series("row", np.arange(self._done + 1, self._done + n + 1))]
        columns.append(pl.Series("class", answers.predicted.tolist()))
        if answers.values is not None:
            columns += [pl.Series(name, answers.values[:, j]) for j, name in enumerate(self._names)]
        self._write(pl.DataFrame(columns))
        self._done += n


class _Frames:
    """A file that frames are added to."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def add(self, frame: Any) -> None:
        """Write its rows."""
        raise NotImplementedError

    def close(self) -> None:
        """Write what comes at the end."""

    def abandon(self) -> None:
        """Leave the file as it is, which will be removed."""


class _Csv(_Frames):
    separator, started = ",", False

    def add(self, frame: Any) -> None:
        self.file.write(frame.write_csv(separator=self.separator, include_header=not self.started).encode())
        self.started = True


class _Tsv(_Csv):
    separator = "\t"


class _JsonLines(_Frames):
    def add(self, frame: Any) -> None:
        self.file.write(frame.write_ndjson().encode())


class _Arrow(_Frames):
    """The schema is that of the first frame."""

    writer: Any = None
    schema: Any = None

    def add(self, frame: Any) -> None:
        table = frame.to_arrow()
        if self.writer is None:
            self.schema = table.schema
            self.writer = self.opened()
        self.writer.write_table(table.cast(self.schema))

    def opened(self) -> Any:
        import pyarrow as pa

        return pa.ipc.new_file(self.file, self.schema)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()

    def abandon(self) -> None:
        # The writer would end its file when it is collected, and complain to the terminal that it cannot.
        with suppress(Exception):
            self.close()


class _Parquet(_Arrow):
    def opened(self) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self.file, self.schema)


FRAMES: dict[str, type[_Frames]] = {
    "csv": _Csv, "tsv": _Tsv, "jsonl": _JsonLines, "arrow": _Arrow, "parquet": _Parquet,
}  # fmt: skip


@contextmanager
def open_output(path: Path | None, names: Sequence[str], ids: Sequence[str], *, as_json: bool) -> Iterator[Output]:
    """The standard output as CSV or JSON lines, or a file of the kind that its name shows, which appears at the end."""
    need("polars", "Writing a table")
    twice = sorted({*ids} & {"class", *names})
    if twice:
        raise ParameterError(f"--id cannot copy {name_list(twice)}: the output has columns of these names itself.")
    if path is None or path == Path("-"):
        frames: _Frames = (_JsonLines if as_json else _Csv)(sys.stdout.buffer)
        yield Output(frames.add, names, ids)
        sys.stdout.flush()
        return
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(f"The name of the output, '{path}', must end in one of {', '.join(KINDS)}.")
    with replaced(path) as beside, beside.open("wb") as file:
        frames = FRAMES[kind](file)
        try:
            yield Output(frames.add, names, ids)
            frames.close()
        except BaseException:
            frames.abandon()
            raise
