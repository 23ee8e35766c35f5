"""Dask: the partitions of frames and arrays, reduced by the workers that have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
from dask import compute, delayed
from dask.dataframe.dispatch import make_meta, meta_nonempty
from numpy.typing import NDArray
from scipy import sparse

from discrim.errors import DataError, plural
from discrim.sources.dask_keeping import Kept
from discrim.sources.design import Elsewhere, Kind, Merge, Of, Reader, Table, comes_from, fan_in_of
from discrim.sources.opening import expand
from discrim.sources.pandas_table import PandasTable

# Names of the labels and weights of arrays; their columns are x0, x1, ...
LABELS, WEIGHTS = "y", "sample_weight"


def read_dask(data: Any) -> Reader:
    """The partitions of a frame, or the chunks of rows of an array, without labels."""
    return _read_array(data, {}) if comes_from(data, "dask.array", "Array") else _read_frame(data)


def read_labelled(X: Any, y: Any, sample_weight: Any) -> tuple[Reader, str, str | None]:
    """X with its labels and weights, which have the same partitions, and the names that these have as columns."""
    besides = {LABELS: y} if sample_weight is None else {LABELS: y, WEIGHTS: sample_weight}
    weight = None if sample_weight is None else WEIGHTS
    if comes_from(X, "dask.array", "Array"):
        return _read_array(X, besides), LABELS, weight
    for name, column in besides.items():
        if not comes_from(column, "dask.dataframe", "Series") or column.npartitions != X.npartitions:
            raise DataError(
                f"X is a Dask frame of {plural(X.npartitions, 'partition')}; {name} must be a Dask series with the "
                f"same. Keep it as a column and pass scan(frame, target='{name}')."
            )
        if name in X.columns:
            raise DataError(
                f"X has a column '{name}' already. Pass scan(frame, target=...) with the labels as a column."
            )
    return _read_frame(X.assign(**besides)), LABELS, weight


def answers_of_parts(X: Any, answer: Callable[[Any], Any], columns: int | None, dtype: Any) -> Any:
    """A Dask array of what ``answer`` gives for every partition, computed when it is asked for."""
    from dask import array

    of = partial(_answered, answer, () if columns is None else (columns,), dtype)
    if comes_from(X, "dask.array", "Array"):
        return X.rechunk({1: -1}).map_blocks(
            of, dtype=dtype, **({"drop_axis": 1} if columns is None else {"chunks": (X.chunks[0], (columns,))})
        )
    shape = (np.nan,) if columns is None else (np.nan, columns)
    parts = [array.from_delayed(delayed(of)(part), shape=shape, dtype=dtype) for part in X.to_delayed()]
    return array.concatenate(parts)


def _answered(answer: Callable[[Any], Any], shape: tuple[int, ...], dtype: Any, part: Any) -> Any:
    """The answers to a part; one without rows, as a filter leaves it, has none."""
    return answer(part) if part.shape[0] else np.empty((0, *shape), dtype)


def columns_of_parts(X: Any) -> Any:
    """A table or an array without rows that has the columns of a Dask frame or array."""
    return np.empty((0, X.shape[1])) if comes_from(X, "dask.array", "Array") and X.ndim == 2 else make_meta(X)


def _read_frame(frame: Any) -> Reader:
    strange = [name for name in frame.columns if not isinstance(name, str)]
    if strange:
        raise DataError(f"The column {strange[0]!r} of the Dask frame has no name of letters. Rename the columns.")
    files = _files_of(frame)
    if files is not None:
        return files

    def parts(columns: Sequence[str]) -> list[Any]:
        return list(frame[list(columns)].to_delayed())

    return _reader("Dask frame", PandasTable(meta_nonempty(make_meta(frame))), parts)


def _files_of(frame: Any) -> Reader | None:
    """The reader of local Parquet files that are the frame as they are; None where it is made otherwise."""
    made = frame.optimize(fuse=False).expr
    if not type(made).__name__.startswith("ReadParquet"):
        return None
    given = made.operand("path")
    paths = [str(path) for path in ([given] if isinstance(given, str | PathLike) else given)]
    options = ("filters", "categories", "storage_options", "_partitions")
    if any(made.operand(name) is not None for name in options) or any("://" in path for path in paths):
        return None
    from discrim.sources.arrow import files_elsewhere

    try:
        found = [file for path in paths for file in expand(path)]
    except DataError:
        return None
    return files_elsewhere(found, list(frame.columns), "Dask frame", _over_files)


def _over_files(parts: Sequence[Any]) -> Elsewhere:
    def elsewhere(columns: Sequence[str], of: Of, merge: Merge, state_bytes: int) -> Any:
        states = [_task(partial(part.reduced, of, list(columns)), str(part)) for part in parts]
        return _merged(states, merge, fan_in_of(state_bytes))

    return elsewhere


def _task(work: Callable[..., Any], about: str, *given: Any) -> Any:
    """A task whose key says what it is ``about``: Dask names it where every worker that tries it dies."""
    return delayed(work, pure=False)(*given, dask_key_name=f"{about}, {uuid4().hex}")


def _read_array(x: Any, besides: dict[str, Any]) -> Reader:
    if x.ndim != 2:
        raise DataError(f"X is a Dask array of {plural(x.ndim, 'dimension')}; it must have two, rows by columns.")
    names = [f"x{j}" for j in range(x.shape[1])]
    x = x.rechunk({1: -1})
    rows = {}
    for name, column in besides.items():
        rows[name] = _chunked_as(x, name, column).to_delayed().ravel()

    def parts(columns: Sequence[str]) -> list[Any]:
        numbers = [name for name in columns if name not in besides]
        place = None if numbers == names else [names.index(name) for name in numbers]
        wanted = [name for name in columns if name in besides]
        chunks = zip(x.to_delayed().ravel(), *(rows[name] for name in wanted), strict=True)
        return [delayed(_as_table)(numbers, place, wanted, *chunk) for chunk in chunks]

    example = {name: np.zeros(2, column.dtype) for name, column in besides.items()}
    head = pd.DataFrame({**dict.fromkeys(names, np.zeros(2, x.dtype)), **example})
    n_rows = None if np.isnan(x.shape[0]) else int(x.shape[0])
    return _reader("Dask array", PandasTable(head), parts, n_rows, named=False)


def _chunked_as(x: Any, name: str, column: Any) -> Any:
    """Labels or weights in the chunks of the rows of X."""
    if not comes_from(column, "dask.array", "Array"):
        raise DataError(f"X is a Dask array; {name} must be one too, with as many rows.")
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise DataError(f"{name} is a Dask array of {plural(column.ndim, 'dimension')}; it must have one.")
    if np.isnan(x.shape[0]) or np.isnan(column.shape[0]):
        if column.numblocks[0] != x.numblocks[0]:
            raise DataError(
                f"The chunks of X and {name} have unknown lengths, and not as many of them. Call compute_chunk_sizes() "
                "of both first."
            )
        return column
    if column.shape[:1] != x.shape[:1]:
        raise DataError(
            f"X is a Dask array of {plural(x.shape[0], 'row')}; {name} must have as many rows, not {column.shape[0]:,}."
        )
    return column.rechunk((x.chunks[0],))


def _as_table(names: list[str], place: list[int] | None, besides: list[str], x: Any, *columns: Any) -> Table:
    """A chunk, dense or sparse, with its labels and weights."""
    more = dict(zip(besides, map(np.asarray, columns), strict=True))
    for name, column in more.items():
        if len(column) != x.shape[0]:
            raise DataError(f"A chunk of X has {plural(x.shape[0], 'row')}, and that of {name} {len(column):,}.")
    part: Any = x if place is None else x[:, place]
    if hasattr(part, "tocsr"):
        return SparseTable(sparse.csr_array(part), names, more)
    return PandasTable(pd.DataFrame(part, columns=names, copy=False).assign(**more))


class SparseTable(Table):
    """Sparse rows with the columns of these names, and dense columns besides them."""

    sparse = True

    def __init__(self, x: Any, names: list[str], besides: dict[str, NDArray[Any]]) -> None:
        self._x, self._names, self._besides = x, names, besides
        self.names, self.n_rows = [*names, *besides], x.shape[0]
        if not x.has_canonical_format:
            x.sum_duplicates()

    @property
    def n_bytes(self) -> int:
        return int(
            self._x.data.nbytes + self._x.indices.nbytes + sum(column.nbytes for column in self._besides.values())
        )

    def kind(self, name: str) -> Kind:
        if name not in self._besides:
            return "float32" if self._x.dtype == np.float32 else "number"
        return "number" if self._besides[name].dtype.kind in "fiub" else "text"

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        if len(names) == 1 and names[0] in self._besides:
            return self._besides[names[0]][start:stop, None].astype(dtype)
        if list(names) != self._names:
            place = {name: j for j, name in enumerate(self._names)}
            return self._x[start:stop][:, [place[name] for name in names]].astype(dtype)  # type: ignore[no-any-return]
        return self._x[start:stop].astype(dtype)  # type: ignore[no-any-return]

    def labels(self, name: str, start: int, stop: int) -> Any:
        if name in self._besides:
            return self._besides[name][start:stop]
        return self._x[start:stop][:, [self._names.index(name)]].toarray()[:, 0]


def _reader(
    title: str,
    head: Table,
    parts: Callable[[Sequence[str]], list[Any]],
    n_rows: int | None = None,
    *,
    named: bool = True,
) -> Reader:
    kept = Kept(title, parts)

    def tables(columns: Sequence[str], _batch_rows: int) -> Iterator[Table]:
        """Brought to this machine one by one."""
        for part in parts(columns):
            (rows,) = compute(part)
            yield _table_of(rows)

    def elsewhere(columns: Sequence[str], of: Of, merge: Merge, state_bytes: int) -> Any:
        given, first = kept.of(columns), kept.measures(columns)
        if first:
            of, merge = partial(_sized, of), partial(_merge_sized, merge)
        states = [
            _task(partial(_of_part, of, i, len(given)), f"partition {i} of {len(given)}", part)
            for i, part in enumerate(given)
        ]
        found = _merged(states, merge, fan_in_of(state_bytes))
        if not first or found is None:
            return found
        state, size = found
        kept.measured(columns, size)
        return state

    return Reader(title, {title: head}, tables, n_rows, elsewhere=elsewhere, named=named, holding=kept.holding)


def _sized(of: Of, tables: Iterator[Table]) -> Any:
    """What ``of`` gives, and the bytes of the rows."""
    table = next(tables)
    state = of(iter([table]))
    return None if state is None else (state, table.n_bytes)


def _merge_sized(merge: Merge, found: list[Any]) -> Any:
    return merge([state for state, _ in found]), sum(size for _, size in found)


def _merged(states: list[Any], merge: Merge, fan_in: int) -> Any:
    """Only states travel, to the workers that merge some of them, and the last to this machine.

    The tree has the same shape wherever the parts are.
    """
    while len(states) > 1:
        groups = [states[start : start + fan_in] for start in range(0, len(states), fan_in)]
        states = [delayed(partial(_merge_some, merge), pure=False)(group) for group in groups]
    (state,) = compute(states[0])
    return state


def _table_of(part: Any) -> Table:
    return part if isinstance(part, Table) else PandasTable(part)


def _of_part(of: Of, i: int, count: int, part: Any) -> Any:
    table = _table_of(part)
    try:
        return of(iter([table]))
    except Exception as error:
        error.add_note(f"In partition {i} of {count}, which has {plural(table.n_rows, 'row')}.")
        raise


def _merge_some(merge: Merge, states: list[Any]) -> Any:
    found = [state for state in states if state is not None]
    return merge(found) if len(found) > 1 else found[0] if found else None
