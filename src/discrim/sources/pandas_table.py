"""pandas: data frames by their columns, Series as labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from discrim.errors import DataError
from discrim.sources.design import Kind, Table, mixed_types, unusable_column

# Types of numbers that codes are read from as they are.
CODED = {np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.int32)}


class PandasTable(Table):
    """A ``pandas.DataFrame`` as a ``Table``."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self._kinds: dict[str, Kind] = {}
        self._written: dict[Any, str] = {}
        self.names = [str(name) for name in frame.columns.tolist()]
        self.n_rows = len(frame)
        self._place = {name: j for j, name in enumerate(self.names)}
        self._dtypes = list(frame.dtypes)

    @property
    def n_bytes(self) -> int:
        return int(self._frame.memory_usage(index=False).sum())

    def kind(self, name: str) -> Kind:
        if name not in self._kinds:
            dtype = self._dtypes[self._place[name]]
            objects = self.labels(name, 0, self.n_rows) if dtype.kind == "O" and types.is_object_dtype(dtype) else None
            self._kinds[name] = _kind(dtype, name) if objects is None else _kind_of_objects(objects, name)
        return self._kinds[name]

    def type_of(self, name: str) -> str:
        dtype = self._dtypes[self._place[name]]
        if dtype not in self._written:
            self._written[dtype] = str(dtype)
        return self._written[dtype]

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> NDArray[Any]:
        part: Any = self._frame if start == 0 and stop >= self.n_rows else self._frame.iloc[start:stop]
        if list(names) != self.names:
            part = part.iloc[:, [self._place[name] for name in names]]
        kinds = set(part.dtypes)
        if any(types.is_object_dtype(kind) for kind in kinds):
            part = part.where(part.notna(), np.nan)
        if all(isinstance(kind, np.dtype) for kind in kinds):
            # A view where pandas keeps the columns in one array.
            return np.asarray(part.to_numpy(dtype=dtype))
        return np.asfortranarray(part.to_numpy(dtype=dtype, na_value=np.nan))

    def raw(self, names: Sequence[str], start: int, stop: int) -> NDArray[Any]:
        kinds = {self._dtypes[self._place[name]] for name in names}
        together = len(kinds) == 1 and kinds <= CODED
        return self.numbers(names, start, stop, kinds.pop().type if together else np.float64)

    def plain(self, small: int) -> NDArray[Any] | None:
        kinds = set(self._dtypes)
        if len(kinds) != 1 or kinds.pop() not in (np.float64, np.float32):
            return None
        if self._frame.size >= small:
            # Columns that were added one by one do not lie in one array.
            first = self._frame.iloc[:1]
            if not np.may_share_memory(first.to_numpy(), first.iloc[:, -1].to_numpy()):
                return None
        return self._frame.to_numpy()

    def texts(self, name: str, start: int, stop: int) -> tuple[list[Any], NDArray[Any]]:
        values, codes = _dictionary(self._frame.iloc[start:stop, self._place[name]])
        ranges = len(values) > 0 and isinstance(values[0], pd.Interval)
        return [str(value) for value in values] if ranges else values.tolist(), codes

    def labels(self, name: str, start: int, stop: int) -> Any:
        return self._frame.iloc[start:stop, self._place[name]]


def labels(y: Any) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
    """Plain arrays as they are; categories, text and nullable types as (values, codes)."""
    series = y if isinstance(y, pd.Series) else pd.Series(y)
    if isinstance(series.dtype, np.dtype) and series.dtype != object:
        return series.to_numpy()
    return _dictionary(series)


def _dictionary(series: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(series.dtype, pd.CategoricalDtype):
        return np.asarray(series.cat.categories), series.cat.codes.to_numpy()
    # Of the array itself: no index is made of the values.
    codes, values = pd.factorize(series.array)
    return np.asarray(values), codes


def _kind(dtype: Any, name: str) -> Kind:
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return "float32" if dtype == np.float32 else "number"
    if isinstance(dtype, pd.CategoricalDtype):
        _check_categories(dtype.categories, name)
        return "text"
    if types.is_bool_dtype(dtype):
        return "number"
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return "float32" if getattr(dtype, "numpy_dtype", dtype) == np.float32 else "number"
    if types.is_string_dtype(dtype) or str(dtype).startswith("dictionary"):
        return "text"
    if str(dtype).startswith("decimal"):
        return "number"
    raise unusable_column(name, dtype)


def _check_categories(categories: Any, name: str) -> None:
    """Ranges of numbers, as ``pd.cut`` makes them, are categories by their text; dates and mixtures are refused."""
    inside = categories.dtype
    if not len(categories) or isinstance(inside, pd.IntervalDtype):
        return
    if inside.kind in "mM" or isinstance(inside, pd.PeriodDtype):
        raise unusable_column(name, f"category of {inside}")
    if types.is_object_dtype(inside) and types.infer_dtype(categories) in {"mixed", "mixed-integer"}:
        raise mixed_types(name, categories, "category of ")


def _kind_of_objects(column: Any, name: str) -> Kind:
    inside = types.infer_dtype(column, skipna=True)
    if inside == "string":
        return "text"
    if inside in {"integer", "floating", "mixed-integer-float", "boolean", "decimal"}:
        return "number"
    if inside == "empty":
        raise DataError.empty_column(name)
    if inside in {"mixed", "mixed-integer"}:
        raise mixed_types(name, column.dropna().head(1000))
    raise unusable_column(name, inside)
