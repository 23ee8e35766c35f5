"""What all feature maps share: rows in, functions of their columns out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from discrim.atomic import all_or_nothing
from discrim.errors import DataError
from discrim.sources import Design, MappedScan, Rows, Scan, find_non_finite, open_rows

# Rows that a basis learns its knots, centres or widths from.
SAMPLE = 20_000


class Basis(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A map from rows of p columns to rows of functions of them.

    A subclass says what it learns of the rows (``_learn``), how it maps a block (``_map``), and what its columns
    are called (``names_of``). A map of more rows than SAMPLE learns from that many, drawn evenly.
    """

    n_features_in_: int
    _design: Design

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - labels are not used
        """Learn what the functions need to know of the rows."""
        rows = self._open(X, reset=True)
        self._learn(_sample(rows))
        self._columns = list(self.names_of(rows.design.names_out))
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """``fit``, then ``transform``."""
        return super().fit_transform(X, y, **fit_params)

    def transform(self, X: Any) -> Any:
        """The functions of the columns, n x q; a scan becomes a scan."""
        check_is_fitted(self, "_columns")
        rows = self._open(X, reset=False)
        if isinstance(rows, Scan):
            return MappedScan(rows, self.of_block, self._columns)
        result = np.concatenate([self.of_block(_dense(block.x)) for block in rows.blocks()])
        if not np.isfinite(result).all():
            raise find_non_finite(rows) or DataError(
                f"The functions of {type(self).__name__} overflow on these rows. Scale the columns first."
            )
        return result

    def of_block(self, x: NDArray[Any]) -> NDArray[Any]:
        """The functions of the columns of one block of rows, unchecked, in the precision of the block."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by whoever asked
            result = self._map(x)
        if not np.isfinite(x.sum()):
            # A bump of infinity is zero: it must not pass for an ordinary value.
            result[~np.isfinite(x).all(axis=1)] = np.nan
        return result

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the functions."""
        check_is_fitted(self, "_columns")
        if input_features is None:
            return np.array(self._columns, dtype=object)
        given = [str(name) for name in input_features]
        known = getattr(self, "feature_names_in_", None)
        if known is not None and list(known) != given:
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}"
            )
        return np.array(self.names_of(given), dtype=object)

    @abstractmethod
    def _learn(self, x: NDArray[np.float64]) -> None:
        """Keep what the functions need to know of the rows."""

    @abstractmethod
    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        """The functions of the columns, n x q."""

    @abstractmethod
    def names_of(self, names: Sequence[str]) -> Sequence[str]:
        """Names of the q functions of columns with these names."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _open(self, X: Any, *, reset: bool) -> Rows:
        if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
            check_array(X)  # raises, and tells how to reshape
        if not reset and not isinstance(X, Scan):
            validate_data(self, X, reset=False, skip_check_array=True)
        if hasattr(X, "indptr") or hasattr(X, "tocsr"):
            raise TypeError(
                f"{type(self).__name__} takes dense rows: functions of zeros need not be zero. "
                "Sparse data was passed; use X.toarray()."
            )
        rows = open_rows(X, design=None if reset else self._design)
        if reset:
            self._design = rows.design
            if isinstance(X, Scan):
                self.n_features_in_ = rows.design.n_in
                self.feature_names_in_ = np.array(rows.design.names_in, dtype=object)
            else:
                validate_data(self, X, reset=True, skip_check_array=True)
        return rows


def _sample(rows: Rows) -> NDArray[np.float64]:
    """All rows, or SAMPLE of them that lie evenly over the whole; NaN and infinity are told by column."""
    step = 1 if rows.n_rows is None else max(rows.n_rows // SAMPLE, 1)
    parts, seen = [], 0
    for block in rows.blocks():
        first = -seen % step
        parts.append(np.asarray(_dense(block.x)[first::step], dtype=np.float64))
        seen += len(block)
        if rows.n_rows is None and seen >= SAMPLE:
            break
    x = np.concatenate(parts)
    if not np.isfinite(x).all():
        error = find_non_finite(rows)
        assert error is not None
        raise error
    return x


def _dense(x: Any) -> NDArray[Any]:
    return np.asarray(x)
