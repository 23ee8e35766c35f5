"""The way in: whatever holds rows becomes ``Rows``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.errors import DataError
from discrim.kernels.versions import warn_if_slow
from discrim.sources.arrays import ArrayRows, Labels, array_rows, as_csr, is_ready
from discrim.sources.design import Design
from discrim.sources.frames import FrameRows, as_table
from discrim.sources.labels import code_labels
from discrim.sources.rows import Rows
from discrim.sources.scan import Scan, scan
from discrim.sources.structure import check_structure
from discrim.sources.table import Table, comes_from, need
from discrim.sources.weights import check_weights

if TYPE_CHECKING:
    from discrim.sources.mixed import Check, MixedRows, Schema


def open_rows(X: Any, y: Any = None, sample_weight: Any = None, *, design: Design | None = None) -> Rows:
    """Rows of an array, a sparse matrix, a data frame, an Arrow table or stream, or a scan.

    ``design`` is that of a fitted model: the columns are then read and coded as they were for it.
    """
    rows = _opened(X, y, sample_weight, design)
    if design is None and kernels.BACKEND == "numpy" and rows.labelled:
        warn_if_slow(_size(rows))
    return rows


def _opened(X: Any, y: Any, sample_weight: Any, design: Design | None) -> Rows:
    if X.__class__ is np.ndarray and X.ndim == 2 and X.size and is_ready(X):
        return _rows_of_array(X, y, sample_weight, design)
    if isinstance(X, Scan) or is_query(X, y, sample_weight):
        return _rows_of_scan(X, y, sample_weight, design)
    if isinstance(X, (str, os.PathLike)):
        raise _is_path(X, y)
    if sparse.issparse(X):
        check_structure(X)
        return _rows_of_sparse(X, y, sample_weight, design)
    table = _open_table(X)
    if table is None:
        return _rows_of_array(_checked_array(X), y, sample_weight, design)
    if not table.names or not table.n_rows:
        _check_array(np.empty((table.n_rows, len(table.names))))
    return FrameRows(table, _labels(y, sample_weight, table.n_rows), design)


def open_mixed(
    X: Any, y: Any = None, sample_weight: Any = None, *, schema: Schema | None = None, check: Check | None = None
) -> MixedRows:
    """The same containers but sparse matrices, with categories as they are and room for missing values.

    ``schema`` is that of a fitted model: its columns are then read, as they were for it. What is read goes through
    ``check``.
    """
    from discrim.sources.mixed import ArrayTable, MixedRows

    if isinstance(X, Scan) or is_query(X, y, sample_weight):
        rows = X if isinstance(X, Scan) else scan(X)
        if y is not None or sample_weight is not None:
            raise _brings_its_own()
        if schema is not None and schema.named:
            rows = rows.with_features(schema.names).with_numbers(schema.numeric)
        if schema is None:
            warn_if_slow(None)
        return MixedRows(rows, None, schema, check)
    if isinstance(X, (str, os.PathLike)):
        raise _is_path(X, y)
    if sparse.issparse(X):
        _check_array(X)  # raises, and tells how to make it dense
    table = _open_table(X) or ArrayTable(_numeric_array(X))
    if not table.names or not table.n_rows:
        _check_array(np.empty((table.n_rows, len(table.names))))
    if schema is None and y is not None:
        warn_if_slow(table.n_rows * len(table.names))
    return MixedRows(table, _labels(y, sample_weight, table.n_rows), schema, check)


def _size(rows: Rows) -> int | None:
    """Numbers of X, or None where nobody knows before they are read."""
    if rows.whole is not None:
        return int(rows.whole.x.size)
    return None if rows.n_rows is None else rows.n_rows * rows.design.n_out


def is_query(X: Any, y: Any, sample_weight: Any) -> bool:
    """A lazy table is scanned; a DuckDB relation with labels from elsewhere is read at once instead."""
    if comes_from(X, "polars", "LazyFrame"):
        return True
    return y is None and sample_weight is None and comes_from(X, "duckdb", "DuckDBPyRelation")


def _open_table(X: Any) -> Table | None:
    table = as_table(X)
    if table is not None or not hasattr(X, "__arrow_c_stream__"):
        return table
    if comes_from(X, "pandas", "Series") or comes_from(X, "polars", "Series"):
        return None
    need("pyarrow", "Reading an Arrow stream")
    from discrim.sources.arrow_table import read_stream

    return read_stream(X)


def _rows_of_array(x: NDArray[Any], y: Any, sample_weight: Any, design: Design | None) -> Rows:
    if design is not None:
        design.check_width(x.shape[1])
    return array_rows(x, _labels(y, sample_weight, x.shape[0]), design)


def _rows_of_sparse(x: Any, y: Any, sample_weight: Any, design: Design | None) -> Rows:
    if x.ndim != 2 or not x.shape[0] or not x.shape[1] or x.dtype.kind == "c":
        _check_array(x, accept_sparse=True)
    rows = as_csr(x)
    if design is None:
        design = Design.unnamed(x.shape[1], rows.dtype)
    design.check_width(x.shape[1])
    labels = _labels(y, sample_weight, x.shape[0])
    return ArrayRows(design, labels.block(rows, 0, x.shape[0]), labels.classes is not None)


def _rows_of_scan(data: Any, y: Any, sample_weight: Any, design: Design | None) -> Rows:
    if y is not None or sample_weight is not None:
        raise _brings_its_own()
    rows = data if isinstance(data, Scan) else scan(data)
    return rows if design is None else rows.with_design(design)


def _numeric_array(X: Any) -> NDArray[Any]:
    try:
        return _checked_array(X)
    except ValueError as error:
        if "convert string" not in str(error):
            raise
        raise DataError(
            f"X is an array that holds text ({error}). Put it into a data frame, whose columns have types of their own."
        ) from None


def _brings_its_own() -> DataError:
    return DataError(
        "A scan brings its own labels and weights. Name their columns instead: scan(data, target=..., weight=...)."
    )


def _is_path(X: Any, y: Any) -> DataError:
    target = f"target={y!r}" if isinstance(y, str) else "target=..."
    return DataError(f"X is the path '{os.fspath(X)}', not a table. Read the file with scan(X, {target}) instead.")


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
