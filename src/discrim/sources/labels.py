"""Labels of any type become small integers, the rank of each among the sorted distinct ones; weights are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, name_list, plural
from discrim.kernels import code_integers, code_rows, identities
from discrim.sources.design import comes_from
from discrim.typing import Codes, Floats

Coded = tuple[NDArray[Any], Codes]

LARGEST = 2**63 - 1


def code_labels(y: Any, *, column: str | None = None) -> Coded:
    """The sorted distinct labels ``classes`` and ``codes`` with ``classes[codes] == y``.

    ``classes`` is what ``np.unique`` gives, dtype included. ``column`` is the name
    that errors give to the labels; a Series brings its own.
    """
    if y.__class__ is not np.ndarray or y.ndim != 1:
        if y is None:
            raise DataError("This call requires y to be passed, but the target y is None.")
        column = column if column is not None else _own_name(y)
        y = _as_array_or_dictionary(y)
        if isinstance(y, tuple):
            values, codes = y
            return _code_dictionary(values, codes, column)
    return _code_array(y, column)


def recode(y: Any, classes: NDArray[Any]) -> Codes:
    """Codes of ``y`` against ``classes`` that are known already; a label outside is an error or -1."""
    found, codes = code_labels(y)
    if found.shape == classes.shape and found.dtype == classes.dtype and bool(np.all(found == classes)):
        return codes
    place = {label: k for k, label in enumerate(classes.tolist())}
    strangers = [label for label in found.tolist() if label not in place]
    if strangers:
        raise DataError(
            f"{_labels_of(None)} hold {plural(len(strangers), 'label')} that the model has not seen: "
            f"{name_list(strangers)}. It knows {name_list(classes.tolist())}."
        )
    return np.array([place[label] for label in found.tolist()], dtype=np.int32)[codes]


class MissingLabelsError(DataError):
    """Some labels are NaN or null: ``count`` of ``total``, in the rows where ``missing`` is true if that is known."""

    def __init__(self, count: int, total: int, column: str | None, missing: NDArray[np.bool_] | None = None) -> None:
        self.count, self.total, self.column, self.missing = count, total, column, missing
        super().__init__(
            f"{_labels_of(column)} contain NaN or null: {count} of {total} are missing. "
            "Remove these rows, or give them a label of their own."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Which part of the rows it was is a note.
        notes = {name: value for name, value in vars(self).items() if name == "__notes__"}
        return type(self), (self.count, self.total, self.column), notes


def _labels_of(column: str | None) -> str:
    return "Input y: the labels" if column is None else f"Input y: the labels in column '{column}'"


def _own_name(y: Any) -> str | None:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def _as_array_or_dictionary(y: Any) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
    """An array of labels, or (values, codes) where the container holds or hashes them better itself."""
    if isinstance(y, list) and (array := np.asarray(y)).ndim == 1:
        return array
    from sklearn.utils.validation import column_or_1d

    if comes_from(y, "pandas", "DataFrame") and y.shape[1] == 1:
        # Warns that a table was given as labels; the column itself keeps its type.
        column_or_1d(np.empty((len(y), 1)), warn=True)
        y = y.iloc[:, 0]
    if comes_from(y, "pandas", "Series", "Index") or comes_from(y, "pandas.api.extensions", "ExtensionArray"):
        from discrim.sources import pandas_table

        return pandas_table.labels(y)
    if comes_from(y, "polars", "Series"):
        from discrim.sources import polars_table

        return polars_table.labels(y)
    if comes_from(y, "pyarrow", "Array", "ChunkedArray"):
        from discrim.sources import arrow

        return arrow.labels(y)
    if comes_from(y, "numpy.ma", "MaskedArray") and np.ma.is_masked(y):
        masked = np.ma.getmaskarray(y)
        raise MissingLabelsError(int(masked.sum()), y.size, None, masked)
    return np.asarray(column_or_1d(y, warn=True))


def _code_array(y: NDArray[Any], column: str | None) -> Coded:
    kind = y.dtype.kind
    if y.size == 0:
        return y.copy(), np.empty(0, dtype=np.int32)
    if kind in "iub":
        return _code_integral(y)
    if kind == "f":
        return _code_floats(y, column)
    if kind in "US":
        return _code_text(y)
    if kind in "mM":
        _refuse_missing(np.isnat(y), column)
        return _code_by_sorting(y)
    if kind == "c":
        raise DataError(f"{_labels_of(column)} are complex numbers. Use integers or text as labels.")
    return _code_objects(y, column)


def _code_integral(y: NDArray[Any]) -> Coded:
    """By a table over the range of the values; by sorting where they lie too far apart."""
    lo, hi = int(np.minimum.reduce(y)), int(np.maximum.reduce(y))
    size = hi - lo + 1
    if size > max(4 * y.size, 65536) or hi > LARGEST:
        return _code_by_sorting(y)
    present, ranks = code_integers(np.ascontiguousarray(y, dtype=np.int64), lo, size)
    return (present.nonzero()[0] + lo).astype(y.dtype), ranks


def _code_by_sorting(y: NDArray[Any]) -> Coded:
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse.astype(np.int32)


def _code_floats(y: NDArray[Any], column: str | None) -> Coded:
    lo, hi = float(y.min()), float(y.max())
    if np.isnan(lo):
        _refuse_missing(np.isnan(y), column)
    if np.isinf(lo) or np.isinf(hi):
        raise DataError(
            f"{_labels_of(column)} contain infinity in {plural(int(np.isinf(y).sum()), 'row')}. "
            "Use integers or text as labels."
        )
    classes, codes = code_reals(y)
    if max(-lo, hi) >= 2.0**62 or not np.array_equal(classes, np.trunc(classes)):
        _refuse_continuous(y, column)
    return classes, codes


def code_reals(y: NDArray[Any]) -> Coded:
    """Numbers without NaN or infinity; only those that are not whole are sorted."""
    if max(-float(y.min()), float(y.max())) < 2.0**62:
        whole = y.astype(np.int64)
        if y.dtype.kind in "iub" or np.array_equal(whole, y):
            classes, codes = _code_integral(whole)
            return classes.astype(y.dtype), codes
    return _code_by_sorting(y)


def _code_text(y: NDArray[Any]) -> Coded:
    """Texts of one width: equal ones are equal bytes."""
    first, codes = code_rows(np.ascontiguousarray(y).view(np.uint8).reshape(y.size, -1))
    return _sorted(y[first], codes)


def _code_objects(y: NDArray[Any], column: str | None) -> Coded:
    every: list[Any] = y.tolist()
    # Most labels are the same few objects, which are compared once.
    first, codes = code_rows(identities(every).view(np.uint8).reshape(y.size, -1))
    labels = [every[i] for i in first.tolist()]
    try:
        place = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    except TypeError:
        raise DataError(
            f"{_labels_of(column)} are of the type {type(labels[0]).__name__}, which cannot be compared. "
            "Use integers or text as labels."
        ) from None
    if len(place) < len(labels):
        codes = np.fromiter(map(place.__getitem__, labels), dtype=np.int32, count=len(labels))[codes]
    missing = np.array([_is_missing(label) for label in place], dtype=bool)
    if missing.any():
        _refuse_missing(missing[codes], column)
    if all(isinstance(label, float) for label in place):
        _refuse_continuous(np.array(list(place)), column)
    # One entry per label, even where labels are sequences themselves.
    distinct = np.fromiter(place, dtype=y.dtype, count=len(place))
    return _sorted(distinct, codes, column)


def _code_dictionary(values: NDArray[Any], codes: NDArray[Any], column: str | None) -> Coded:
    """Sort the values that occur; a code below zero is a missing label."""
    if codes.size and int(codes.min()) < 0:
        _refuse_missing(codes < 0, column)
    present, ranks = code_integers(np.ascontiguousarray(codes, dtype=np.int64), 0, max(len(values), 1))
    return _sorted(values[np.flatnonzero(present)], ranks, column)


def _sorted(values: NDArray[Any], codes: Codes, column: str | None = None) -> Coded:
    """Distinct values that all occur, and their codes, in the order of the values."""
    if values.dtype.kind == "f":
        _refuse_continuous(values, column)
    try:
        order = np.argsort(values, kind="stable")
    except TypeError:
        types = sorted({type(value).__name__ for value in values.tolist()})
        raise DataError(
            f"{_labels_of(column)} mix the types {name_list(types)}, which have no common order. "
            "Convert all labels to one type."
        ) from None
    rank_of = np.empty(len(values), dtype=np.int32)
    rank_of[order] = np.arange(len(values), dtype=np.int32)
    return values[order], rank_of[codes]


def _refuse_missing(missing: NDArray[np.bool_], column: str | None) -> None:
    count = int(missing.sum())
    if count:
        raise MissingLabelsError(count, missing.size, column, missing)


class ContinuousLabelsError(DataError):
    """The labels are numbers with fractions; the ``fact`` alone, without what a program can do."""

    def __init__(self, fact: str, hint: str) -> None:
        super().__init__(f"{fact} {hint}")
        self.fact = fact


def _refuse_continuous(y: NDArray[Any], column: str | None) -> None:
    from sklearn.utils.multiclass import check_classification_targets

    try:
        check_classification_targets(y)
    except ValueError:
        found = ", ".join(f"{value:g}" for value in y[y != np.trunc(y)][:3].tolist())
        raise ContinuousLabelsError(
            f"{_labels_of(column)} are numbers with fractions (such as {found}), as measurements are, and no classes.",
            "Cut them into ranges, for example with pandas.cut, or convert them to strings if they are names. "
            "(Unknown label type: continuous.)",
        ) from None


def _is_missing(label: object) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)  # noqa: PLR0124 -- only NaN differs from itself
    except TypeError:  # pandas.NA has no truth value
        return True


def check_weights(w: Any, n: int) -> Floats | None:
    """``w`` as n non-negative numbers, not all zero; None stays None, a scalar counts for every row."""
    if w is None:
        return None
    try:
        weight = np.asarray(w, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight cannot be read as numbers: {error}") from error
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; found an array of shape {weight.shape}.")
    if weight.shape[0] != n:
        raise ValueError(f"sample_weight has {plural(weight.shape[0], 'entry', 'entries')}, X has {plural(n, 'row')}.")
    weight = np.ascontiguousarray(weight)
    refuse_bad_weights(weight)
    if n and not weight.any():
        raise DataError("sample_weight is zero in every row; at least one row needs a positive weight.")
    return weight


def refuse_bad_weights(weight: Floats, column: str | None = None) -> None:
    """Raise for NaN, infinite or negative weights, with their counts."""
    if weight.size == 0 or (weight.min() >= 0 and np.isfinite(weight.max())):
        return
    counts = {
        "NaN": int(np.isnan(weight).sum()),
        "infinite": int(np.isinf(weight).sum()),
        "negative": int((weight < 0).sum()),
    }
    facts = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
    what = "sample_weight" if column is None else f"The weight column '{column}'"
    raise DataError(
        f"{what} has {facts} among {plural(weight.size, 'value')}. "
        "Weights are finite and not negative; give a row that should not count the weight 0."
    )
