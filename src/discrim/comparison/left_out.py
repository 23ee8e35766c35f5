"""Columns that no model can use, and rows without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_features

from discrim.errors import DataError, name_list
from discrim.sources import Scan
from discrim.sources.design import Table, as_table
from discrim.sources.odd_columns import odd_columns


def columns_to_leave_out(X: Any) -> dict[str, str]:
    """Names of columns, each with a sentence that says why it is left out.

    Columns of a scan without any value are not known before its rows are read.
    """
    odd = {column.name: column.sentence for column in odd_columns(X)}
    table = None if isinstance(X, Scan) else as_table(X)
    if table is not None:
        names = [name for name in table.names if _has_no_value(table, name)]
    elif isinstance(X, np.ndarray) and X.dtype.kind == "f" and len(X):
        names = [f"x{j}" for j in np.flatnonzero(np.isnan(X[0])) if np.isnan(X[:, j]).all()]
    else:
        names = []
    return {**odd, **no_value(names)}


def without_odd_columns(X: Any) -> tuple[Any, dict[str, str]]:
    """The rows without those columns, of which some must be left, and the sentences."""
    left_out = columns_to_leave_out(X)
    if not left_out:
        return X, left_out
    names = X.features if isinstance(X, Scan) else _column_names(X)
    if len(left_out) == len(names):
        raise DataError(f"There is no column left to learn from. {' '.join(left_out.values())}")
    return leave_out(X, tuple(left_out)), left_out


def no_value(names: Sequence[str]) -> dict[str, str]:
    return {name: f"Column '{name}' has no value in any row and is left out." for name in names}


def leave_out(X: Any, names: Sequence[str]) -> Any:
    """The rows without these columns; columns of an array are called x0, x1, ..."""
    gone = set(names)
    if isinstance(X, Scan):
        return X.with_features([name for name in X.features if name not in gone])
    present = _column_names(X)
    lacking = [name for name in names if name not in present]
    if lacking and present == [f"x{j}" for j in range(len(present))]:
        raise DataError(f"X has {len(present)} columns and lacks {name_list(lacking)}, which it had in fit.")
    return _safe_indexing(X, [j for j, name in enumerate(present) if name not in gone], axis=1)


def _column_names(X: Any) -> list[str]:
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    if names is None:
        return [f"x{j}" for j in range(_num_features(X))]
    return [str(name) for name in names]


def _has_no_value(table: Table, name: str) -> bool:
    """The first row is looked at first: a column with a value there needs no more."""
    if not table.n_rows:
        return False
    try:
        text = table.kind(name) == "text"
    except DataError:
        values = table.labels(name, 0, table.n_rows)
        return str(getattr(values, "dtype", "")) == "object" and bool(values.isna().all())
    for stop in (1, table.n_rows):
        if text and (np.asarray(table.texts(name, 0, stop)[1]) >= 0).any():
            return False
        if not text and not np.isnan(table.numbers([name], 0, stop, np.float64)).all():
            return False
    return True
