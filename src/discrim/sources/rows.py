"""Rows: what every model reads, wherever the data are. Arrays, sparse matrices, tables and scans become rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.block import UNLABELLED, Block, Reads, join, rows_per_block
from discrim.errors import DataError
from discrim.kernels.versions import warn_if_slow
from discrim.later import cached_property
from discrim.sources.design import (
    ArrayTable,
    Column,
    Design,
    Table,
    as_table,
    comes_from,
    is_dask,
    need,
    refuse_duplicates,
)
from discrim.sources.labels import check_weights, code_labels
from discrim.sources.mixed import Schema
from discrim.sources.reading import read_as_fitted
from discrim.sources.scan import Scan, scan, scan_parts
from discrim.sources.structure import check_structure
from discrim.sources.text_columns import design_of_table
from discrim.typing import Codes, Floats

FLOAT64 = np.dtype(np.float64)
FLOAT32 = np.dtype(np.float32)
# Below this many numbers a table is converted at once; above, block by block.
SMALL = 1_000_000


class Rows(Protocol):
    """Labelled, weighted rows that can be read block by block.

    ``classes`` is None where there are no labels, and in a scan, whose blocks each bring their
    own classes. ``whole`` is one block over everything where that costs no copy. Without labels
    every row has the code 0 of ``classes = [0]``.
    """

    @property
    def design(self) -> Design: ...

    @property
    def n_rows(self) -> int | None: ...

    @property
    def classes(self) -> NDArray[Any] | None: ...

    @property
    def labelled(self) -> bool: ...

    @property
    def rereadable(self) -> bool: ...

    @property
    def whole(self) -> Block | None: ...

    def blocks(self) -> Iterator[Block]: ...


def check_labelled(rows: Any) -> None:
    """Raise where a scan has no labels."""
    if not rows.labelled:
        raise DataError("The scan names no target. Say which column holds the labels: scan(data, target=...).")


@dataclass(frozen=True, slots=True)
class Labels:
    """The codes and weights that go with n rows, whatever the rows are kept in."""

    classes: NDArray[Any] | None
    codes: Codes
    weight: Floats | None

    def block(self, x: Any, start: int, stop: int) -> Block:
        weight = None if self.weight is None else self.weight[start:stop]
        classes = UNLABELLED if self.classes is None else self.classes
        return Block(x, self.codes[start:stop], classes, weight)


@dataclass(frozen=True, slots=True)
class ArrayRows:
    """Rows that lie in one floating-point or sparse matrix: the only block is the whole."""

    design: Design
    whole: Block
    labelled: bool
    rereadable: bool = True

    @property
    def n_rows(self) -> int:
        return int(self.whole.codes.shape[0])

    @property
    def classes(self) -> NDArray[Any] | None:
        return self.whole.classes if self.labelled else None

    def blocks(self) -> Iterator[Block]:
        yield self.whole


class SparseRows:
    """Compressed rows, of which nobody has looked yet whether their columns are inside of the matrix.

    Whoever takes them as the ``whole`` has them looked at before; ``unread`` is for who looks himself.
    """

    rereadable = True

    def __init__(self, design: Design, block: Block, *, labelled: bool) -> None:
        self.design, self.unread, self.labelled = design, block, labelled
        self._looked = False

    @property
    def whole(self) -> Block:
        if not self._looked:
            check_structure(self.unread.x)
            self._looked = True
        return self.unread

    @property
    def n_rows(self) -> int:
        return len(self.unread)

    @property
    def classes(self) -> NDArray[Any] | None:
        return self.unread.classes if self.labelled else None

    def blocks(self) -> Iterator[Block]:
        yield self.whole


class FrameRows:
    """Rows of a table in memory. A small table is one block, a large one is never copied whole."""

    rereadable = True

    def __init__(self, table: Table, labels: Labels, design: Design | None) -> None:
        refuse_duplicates(table.names)
        self._table, self._labels = table, labels
        self.design = design_of_table(table) if design is None else design
        self.n_rows, self.classes, self.labelled = table.n_rows, labels.classes, labels.classes is not None
        self._encoding = self.design if design is None else self._matched(design)

    @cached_property
    def whole(self) -> Block | None:
        return self._block(0, self.n_rows) if self.n_rows * self.design.n_out < SMALL else None

    def with_design(self, design: Design) -> FrameRows:
        """The same rows, read so."""
        return FrameRows(self._table, self._labels, design)

    def blocks(self) -> Iterator[Block]:
        return (piece() for piece in self.pieces())

    def pieces(self) -> Iterator[Callable[[], Block]]:
        """The blocks as calls that make them, so that another thread can turn texts into codes."""
        step = rows_per_block(self.design.n_out)
        for start in range(0, self.n_rows, step):
            yield partial(self._block, start, min(start + step, self.n_rows))

    def _block(self, start: int, stop: int) -> Block:
        return self._labels.block(self._encoding.encode(self._table, start, stop), start, stop)

    def _matched(self, design: Design) -> Design:
        """Columns are found by name where both have names, else by position."""
        if not design.named or isinstance(self._table, ArrayTable):
            return design.renamed(self._table.names)
        self._table = read_as_fitted(self._table, design)
        return design


@dataclass(frozen=True)
class Attached:
    """The rows of ``inner``, each with more.

    ``offset`` and ``share`` are one number a row; with ``share`` every row has the code 1 among two ``classes``.
    """

    inner: Rows
    classes: NDArray[Any]
    offset: Floats | None = None
    share: Floats | None = None
    labelled: bool = True

    @property
    def design(self) -> Design:
        return self.inner.design

    @property
    def n_rows(self) -> int | None:
        return self.inner.n_rows

    @property
    def rereadable(self) -> bool:
        return self.inner.rereadable

    @cached_property
    def whole(self) -> Block | None:
        return None if self.inner.whole is None else self._attach(self.inner.whole, 0)

    def blocks(self) -> Iterator[Block]:
        if self.whole is not None:
            yield self.whole
            return
        start = 0
        for block in self.inner.blocks():
            yield self._attach(block, start)
            start += len(block)

    def _attach(self, block: Block, start: int) -> Block:
        stop = start + len(block)
        codes = block.codes if self.share is None else np.ones(len(block), np.int32)
        offset = block.offset if self.offset is None else self.offset[start:stop]
        share = None if self.share is None else self.share[start:stop]
        return Block(block.x, codes, self.classes, block.weight, offset, share)


def open_rows(X: Any, y: Any = None, sample_weight: Any = None, *, design: Design | None = None) -> Rows:
    """Rows of an array, a sparse matrix, a data frame, an Arrow table or stream, or a scan.

    ``design`` is that of a fitted model: the columns are then read and coded as they were for it.
    """
    rows = _opened(X, y, sample_weight, design)
    if design is None and kernels.BACKEND == "numpy" and rows.labelled:
        warn_if_slow(_size(rows))
    return rows


def _opened(X: Any, y: Any, sample_weight: Any, design: Design | None) -> Rows:
    if X.__class__ is np.ndarray and X.ndim == 2 and X.size and _is_ready(X):
        return _rows_of_array(X, y, sample_weight, design)
    if isinstance(X, Scan) or is_query(X, y, sample_weight):
        rows = _scanned(X, y, sample_weight)
        return rows if design is None else rows.with_design(design)
    refuse_path(X, y)
    if sparse.issparse(X):
        check_structure(X, columns=False)
        return _rows_of_sparse(X, y, sample_weight, design)
    table = _open_table(X)
    if table is None:
        return _rows_of_array(_checked_array(X), y, sample_weight, design)
    labels, x = _labels(y, sample_weight, table.n_rows), table.plain(SMALL)
    if x is not None and (design is None or (design.names_in == table.names and not design.categorical)):
        refuse_duplicates(table.names)
        design = Design([Column(name) for name in table.names], x.dtype) if design is None else design
        return ArrayRows(design, labels.block(x, 0, table.n_rows), labels.classes is not None)
    return FrameRows(table, labels, design)


def open_mixed(X: Any, y: Any = None, sample_weight: Any = None, *, schema: Schema | None = None) -> FrameRows | Scan:
    """The same containers but sparse matrices, with categories as they are; values may be missing.

    ``schema`` is that of a fitted model: its columns are then read, as they were for it.
    """
    if X.__class__ is np.ndarray:
        table: Table = ArrayTable(_numeric_array(X))
    elif isinstance(X, Scan) or is_query(X, y, sample_weight):
        rows = _scanned(X, y, sample_weight)
        if schema is None:
            warn_if_slow(None)
        return rows.with_design(schema or Schema.of(rows.head, rows.features))
    else:
        refuse_path(X, y)
        if sparse.issparse(X):
            _check_array(X)  # raises, and says how to make it dense
        table = _open_table(X) or ArrayTable(_numeric_array(X))
    if schema is None and y is not None:
        warn_if_slow(table.n_rows * len(table.names))
    if schema is not None and isinstance(table, ArrayTable):
        schema.check_array()
    return FrameRows(table, _labels(y, sample_weight, table.n_rows), schema or Schema.of(table, table.names))


def _size(rows: Rows) -> int | None:
    """How many numbers X has; None where this is not known before they are read."""
    if rows.whole is not None:
        return int(rows.whole.x.size)
    return None if rows.n_rows is None else rows.n_rows * rows.design.n_out


def as_numpy(X: Any) -> Any:
    """Nested lists of numbers, converted once, and arrays of other libraries as NumPy's; anything else as it is."""
    if hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        return np.asarray(X)
    if not isinstance(X, (list, tuple)):
        return X
    plain = kernels.read_lists(X)
    array = np.asarray(X) if plain is None else plain
    return array if array.ndim == 2 and array.size and array.dtype.kind in "fiub" else X


def columns_in(X: Any) -> int | list[str] | None:
    """How many columns X has, where they have no names, or the names in a data frame; None where in doubt."""
    thin = sparse.issparse(X)
    if thin or X.__class__ is np.ndarray:
        return X.shape[1] if X.ndim == 2 and X.dtype.kind in "fiub" else None
    if comes_from(X, "pandas", "DataFrame"):
        names = X.columns.tolist()
    elif comes_from(X, "polars", "DataFrame"):
        names = X.columns
    else:
        return None
    return names if names and all(name.__class__ is str for name in names) else None


def as_rows_are(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Lazy tables as scans, of which those of Dask take in their labels; arrays of other libraries as NumPy's."""
    if is_dask(X):
        return scan_parts(X, y, sample_weight), None, None
    if comes_from(X, "pyspark.sql", "DataFrame"):
        raise DataError(
            "X is a Spark frame. Learn from scan(frame, target=...); model.transform_spark(frame) adds answers to it."
        )
    return scan(X) if is_query(X, y, sample_weight) else as_numpy(X), y, sample_weight


def is_query(X: Any, y: Any, sample_weight: Any) -> bool:
    """A lazy table is scanned; a DuckDB relation with labels from elsewhere is read at once instead."""
    if comes_from(X, "polars", "LazyFrame") or is_dask(X):
        return True
    return y is None and sample_weight is None and comes_from(X, "duckdb", "DuckDBPyRelation")


def _open_table(X: Any) -> Table | None:
    table = as_table(X)
    series = comes_from(X, "pandas", "Series") or comes_from(X, "polars", "Series")
    if table is None and hasattr(X, "__arrow_c_stream__") and not series:
        need("pyarrow", "Reading an Arrow stream")
        from discrim.sources.arrow import read_stream

        table = read_stream(X)
    if table is not None and not (table.names and table.n_rows):
        _check_array(np.empty((table.n_rows, len(table.names))))
    return table


def _rows_of_array(x: NDArray[Any], y: Any, sample_weight: Any, design: Design | None) -> Rows:
    n, p = x.shape
    if design is not None:
        design.check_width(p)
    ready, labels = _is_ready(x), _labels(y, sample_weight, n)
    if design is None:
        design = Design.unnamed(p, x.dtype if ready else FLOAT64)
    if not ready and x.size >= SMALL:
        return FrameRows(ArrayTable(x), labels, design)
    return ArrayRows(design, labels.block(x if ready else x.astype(np.float64), 0, n), labels.classes is not None)


def _is_ready(x: NDArray[Any]) -> bool:
    """Can the kernels read this array as it is?"""
    return x.dtype in {FLOAT64, FLOAT32} and x.flags.aligned


def _rows_of_sparse(x: Any, y: Any, sample_weight: Any, design: Design | None) -> Rows:
    if x.ndim != 2 or not x.shape[0] or not x.shape[1] or x.dtype.kind == "c":
        _check_array(x, accept_sparse=True)
    rows = _as_csr(x)
    if design is None:
        design = Design.unnamed(x.shape[1], rows.dtype)
    design.check_width(x.shape[1])
    labels = _labels(y, sample_weight, x.shape[0])
    return SparseRows(design, labels.block(rows, 0, x.shape[0]), labelled=labels.classes is not None)


def _as_csr(x: Any) -> sparse.csr_array:
    """Sparse rows as float64 or float32, each entry stored once; arrays are shared where they fit."""
    dtype = x.dtype if x.dtype in (FLOAT64, FLOAT32) else FLOAT64
    rows: Any = sparse.csr_array(x, dtype=dtype)
    # Asked of the caller's own matrix where that is one: it remembers the answer, which takes a read of the columns.
    asked = x if getattr(x, "format", "") == "csr" else rows
    if not asked.has_canonical_format:
        # Entries that are stored in parts must be added up before they are squared.
        rows = rows.copy()
        rows.sum_duplicates()
    converted: sparse.csr_array = rows
    return converted


def _scanned(data: Any, y: Any, sample_weight: Any) -> Scan:
    if is_dask(data):
        return scan_parts(data, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise DataError(
            "A scan brings its own labels and weights. Name their columns instead: scan(data, target=..., weight=...)."
        )
    return data if isinstance(data, Scan) else scan(data)


def _numeric_array(X: Any) -> NDArray[Any]:
    try:
        return _checked_array(X)
    except ValueError as error:
        if "convert string" not in str(error):
            raise
        raise DataError(
            f"X is an array that holds text ({error}). Put it into a data frame, whose columns have types of their own."
        ) from None


def refuse_path(X: Any, y: Any = None) -> None:
    """Raise where X is the path of a file, which has to be scanned."""
    if isinstance(X, (str, os.PathLike)):
        path, target = os.fspath(X), repr(y) if isinstance(y, str) else "..."
        raise DataError(
            f"X is the path '{path}', not a table. Read the file with discrim.scan({path!r}, target={target}) instead."
        )


def require_labels(caller: str, X: Any, y: Any) -> None:
    """Raise where there are neither labels nor a scan, which may bring them, or where X is a path."""
    refuse_path(X, y)
    if y is None and not isinstance(X, Scan):
        raise DataError(f"{caller} requires y to be passed, but the target y is None.")


def _checked_array(X: Any) -> NDArray[Any]:
    """A numeric array with two dimensions, or the error that scikit-learn raises for it."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "fiub":
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, np.ndarray) and not isinstance(X, np.matrix) and X.ndim == 2 and X.size and X.dtype.kind in "fiub":
        return np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise DataError(f"X is an array of times ({X.dtype}), not of numbers. Convert them to numbers, such as days.")
    return np.asarray(_check_array(X))


def _check_array(X: Any, *, accept_sparse: bool = False) -> Any:
    from sklearn.utils import check_array

    return check_array(X, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], ensure_all_finite=False)


def _labels(y: Any, sample_weight: Any, n: int) -> Labels:
    weight = None if sample_weight is None else check_weights(sample_weight, n)
    if y is None:
        return Labels(None, np.zeros(n, dtype=np.int32), weight)
    classes, codes = code_labels(y)
    if codes.shape[0] != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {codes.shape[0]}]")
    return Labels(classes, codes, weight)


def find_non_finite(rows: Rows) -> DataError | None:
    """The error that names the columns with NaN or infinity and counts them; None if all is finite.

    To be called after a statistic came out non-finite, so that finite data are not searched. Rows of
    weight zero count too. In mixed columns NaN is a missing value.
    """
    if not isinstance(rows.design, Schema):
        return non_finite_in(rows.blocks(), rows.design)
    parts: Iterator[Any] = (block.x for block in rows.blocks())
    infinite = sum(np.isinf(part.numbers).sum(axis=0) for part in parts)
    found = {name: int(count) for name, count in zip(rows.design.numeric, infinite, strict=True) if count}
    return DataError.non_finite({}, found) if found else None


def non_finite_in(blocks: Iterable[Block], design: Design) -> DataError | None:
    """The same for some blocks of such rows."""
    width = design.n_out
    missing, infinite = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for block in blocks:
        for start in range(0, len(block), 8192):
            x: Any = block.x[start : start + 8192]
            for counts, is_odd in ((missing, np.isnan), (infinite, np.isinf)):
                odd = is_odd(x) if isinstance(x, np.ndarray) else None
                counts += np.bincount(x.indices[is_odd(x.data)], minlength=width) if odd is None else odd.sum(axis=0)
    if not missing.any() and not infinite.any():
        return None
    return DataError.non_finite(_by_column(design, missing), _by_column(design, infinite))


def _by_column(design: Design, counts: NDArray[np.int64]) -> dict[str, int]:
    """Counts under the names that the data came with: indicators of one category are one column."""
    named: dict[str, int] = {}
    j = 0
    for column in design.columns:
        if column.n_out and counts[j]:
            named[column.name] = int(counts[j])
        j += column.n_out
    return named


def in_memory(rows: Rows, reads: Reads = "dense", *, first_read: bool = False) -> Block:
    """All rows as one block, as a model reads them; ``first_read`` if they have not been read before."""
    if rows.whole is not None:
        return rows.whole.kept(reads)
    if not rows.rereadable and not first_read:
        raise DataError(
            "These rows can be read only once, and 'cv', 'loo' and covariance estimators read them again. "
            "Give a number instead, or a table or a file instead of the stream."
        )
    return join(list(rows.blocks())).kept(reads)
