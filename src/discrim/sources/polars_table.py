"""polars: data frames by their columns, Series as labels; lazy frames by batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discrim.errors import DataError
from discrim.sources.design import Kind, Reader, Table, unusable_column


class PolarsTable(Table):
    """A ``polars.DataFrame`` as a ``Table``."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame
        self.names = list(frame.columns)
        self.n_rows = frame.height
        self._schema = frame.schema  # built anew at each access

    def kind(self, name: str) -> Kind:
        dtype = self._schema[name]
        if dtype == pl.Float32:
            return "float32"
        if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
            return "number"
        if _is_text(dtype):
            return "text"
        raise unusable_column(name, dtype)

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        wanted = pl.Float64 if dtype is np.float64 else pl.Float32
        if all(self._schema[name] == wanted for name in names):
            return self._frame.select(names).slice(start, stop - start).to_numpy(order="fortran")
        x = np.empty((stop - start, len(names)), dtype=dtype, order="F")
        for j, name in enumerate(names):
            x[:, j] = _floats(self._frame[name].slice(start, stop - start))
        return x

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        values, codes = _dictionary(self._frame[name].slice(start, stop - start))
        return values.tolist(), codes

    def labels(self, name: str, start: int, stop: int) -> Any:
        return self._frame[name].slice(start, stop - start)


def labels(y: pl.Series) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
    """Numbers as an array; text and categories as (values, codes)."""
    if _is_text(y.dtype):
        return _dictionary(y)
    if y.dtype.is_integer() and y.null_count():
        return y.cast(pl.Float64).to_numpy()
    return y.to_numpy()


def _is_text(dtype: pl.DataType) -> bool:
    return dtype in (pl.String, pl.Categorical, pl.Enum)


def _floats(series: pl.Series) -> NDArray[Any]:
    plain = series.dtype.is_integer() or series.dtype.is_float()
    if plain and not str(series.dtype).endswith("128"):  # NumPy has no integers of 128 bits
        return series.to_numpy()
    return series.cast(pl.Float64).to_numpy()


def _dictionary(series: pl.Series) -> tuple[NDArray[Any], NDArray[Any]]:
    """Let polars number the texts; its numbers need not be dense, so they are ranked here."""
    coded = series if series.dtype != pl.String else series.cast(pl.Categorical)
    distinct = coded.unique().drop_nulls()
    values = distinct.cast(pl.String).to_numpy().astype(object)
    numbers = distinct.to_physical().to_numpy().astype(np.int64)
    if not numbers.size:
        return values, np.full(len(series), -1)
    rank = np.full(int(numbers.max()) + 1, -1, dtype=np.int32)
    rank[numbers] = np.arange(numbers.size)
    codes = coded.to_physical()
    if not codes.null_count():
        return values, rank[codes.to_numpy()]
    return values, np.where(codes.is_null().to_numpy(), -1, rank[codes.fill_null(int(numbers[0])).to_numpy()])


def read_frames(title: str, frames: Mapping[Any, pl.LazyFrame]) -> Reader:
    """Lazy frames that are evaluated in batches, one frame after the other."""
    heads: dict[str, Table] = {}
    for name, frame in frames.items():
        with in_words(name):
            heads[str(name)] = head_of(frame)
    return Reader(title, heads, partial(_tables, frames))


def _tables(frames: Mapping[Any, pl.LazyFrame], columns: Sequence[str], batch_rows: int) -> Iterator[PolarsTable]:
    for name, frame in frames.items():
        with in_words(name):
            yield from map(PolarsTable, batches_of(frame.select(list(columns)), batch_rows))


def head_of(frame: pl.LazyFrame) -> PolarsTable:
    """Its columns, without rows."""
    return PolarsTable(pl.DataFrame(schema=frame.collect_schema()))


def batches_of(frame: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """The batches that are not empty."""
    return (batch for batch in frame.collect_batches(chunk_size=rows, lazy=True) if batch.height)


@contextmanager
def in_words(name: object) -> Iterator[None]:
    """Errors of polars with the name of what was read."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise DataError.unreadable(name, first_line(error)) from error


def first_line(error: Exception) -> str:
    """What polars says, without its advice for programmers."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
