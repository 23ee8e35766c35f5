"""What all feature maps share: rows in, functions of their columns out. Maps of one's own, and several together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted, validate_data

from discrim.atomic import all_or_nothing
from discrim.errors import DataError, ModelFileError, ParameterError
from discrim.sources import Design, MappedScan, Rows, Scan, find_non_finite, open_rows
from discrim.store.estimators import SavedEstimator
from discrim.store.fields import Fields, Incoming, Many, Optional, Outgoing, Texts, damaged
from discrim.store.kinds import Of

# Rows that a basis learns its knots, centres or widths from.
SAMPLE = 20_000


class Basis(SavedEstimator, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A map from rows of p columns to rows of functions of them.

    A subclass says what it learns of the rows (``_learn``), how it maps a block (``_map``), and what its columns
    are called (``names_of``). A map of more rows than SAMPLE learns from that many, drawn evenly.
    """

    learned: ClassVar[Fields] = {"_design": Of(Design, {"p": "p"}), "_columns": Texts("q")}

    n_features_in_: int
    _design: Design

    def check_learned(self, file: Incoming) -> None:
        """Raise where the functions are not those of the columns."""
        self.check_columns(self._design.n_in)
        self.check_functions(file)
        if self._columns != list(self.names_of(self._design.names_out)):
            raise damaged("_columns", "does not go with the functions")

    def check_functions(self, file: Incoming) -> None:
        """Raise where what was learned does not go with the parameters; make what follows from both."""

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
        result = np.concatenate([self.of_block(np.asarray(block.x)) for block in rows.blocks()])
        if not np.isfinite(result).all():
            raise find_non_finite(rows) or DataError(
                f"The functions of {type(self).__name__} overflow on these rows. Scale the columns first."
            )
        return result

    def of_block(self, x: NDArray[Any]) -> NDArray[Any]:
        """The functions of the columns of one block of rows, unchecked, in the precision of the block."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
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
        given = [str(name) for name in _check_feature_names_in(self, input_features)]
        return np.array(self.names_of(given), dtype=object)

    def mapping(self) -> tuple[str, dict[str, Any]]:
        """What a row becomes, as a plain description: a kind and its arrays, and the ``columns`` that it is made of."""
        check_is_fitted(self, "_columns")
        kind, fields = self.described()
        return kind, {**fields, "columns": self._design.described()}

    def described(self) -> tuple[str, dict[str, Any]]:
        """The functions alone: a kind and its arrays. A basis without a description cannot be exported."""
        raise ParameterError(
            f"{type(self).__name__} cannot be exported: its functions are not known as formulas. Use another basis."
        )

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
            check_array(X)  # raises, and says how to reshape
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
    """All rows, or SAMPLE of them that lie evenly over the whole; NaN and infinity are errors that name the column."""
    step = 1 if rows.n_rows is None else max(rows.n_rows // SAMPLE, 1)
    parts, seen = [], 0
    for block in rows.blocks():
        first = -seen % step
        parts.append(np.asarray(block.x[first::step], dtype=np.float64))
        seen += len(block)
        if rows.n_rows is None and seen >= SAMPLE:
            break
    x = np.concatenate(parts)
    if not np.isfinite(x).all():
        error = find_non_finite(rows)
        assert error is not None
        raise error
    return x


def check_count(name: str, value: Any) -> None:
    """Raise where a parameter is not a positive integer."""
    if not isinstance(value, int) or value < 1:
        raise ParameterError.bad_value(name, value, "an integer of at least 1")


def check_choice(name: str, value: Any, *choices: str) -> None:
    """Raise where a parameter is none of these."""
    if value not in choices:
        *others, last = (f"'{choice}'" for choice in choices)
        raise ParameterError.bad_value(name, value, f"{', '.join(others)} or {last}")


class FunctionBasis(Basis):
    """Whatever ``function`` makes of the rows: it takes n x p numbers and gives n x q.

    Every row must be mapped by itself, since rows come in blocks.

    Parameters
    ----------
    function : callable
    names : list of q names, or None for f0, f1, ...

    Examples
    --------
    >>> import numpy as np
    >>> from discrim.basis import FunctionBasis
    >>> FunctionBasis(lambda x: np.hypot(x[:, [0]], x[:, [1]]), names=["radius"]).fit_transform([[3.0, 4.0]])
    array([[5.]])
    """

    def __init__(self, function: Callable[[NDArray[Any]], Any], *, names: Sequence[str] | None = None) -> None:
        self.function = function
        self.names = names

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:  # noqa: ARG002 - as every estimator
        """A file holds no code, and so no function."""
        raise ModelFileError(f"'{at}' is a FunctionBasis, whose function is code; a model file holds none.")

    def _learn(self, x: NDArray[np.float64]) -> None:
        if not callable(self.function):
            raise ParameterError.bad_value("function", self.function, "a function of an n x p array")
        self._width = self._map(x[:2]).shape[1]
        if self.names is not None and len(self.names) != self._width:
            raise ParameterError.bad_value("names", self.names, f"a list of {self._width} names, one for each column")

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        result = np.asarray(self.function(x))
        if result.ndim == 1 and len(result) == len(x):
            result = result[:, None]
        if result.ndim != 2 or len(result) != len(x) or result.dtype.kind not in "fiub":
            raise DataError(
                f"The function of FunctionBasis gave an array of shape {result.shape} and type {result.dtype} for "
                f"{len(x)} rows; it must give as many rows of numbers."
            )
        return result.astype(x.dtype, copy=False)

    def names_of(self, names: Sequence[str]) -> list[str]:  # noqa: ARG002 - nothing is known of what they become
        return [f"f{i}" for i in range(self._width)] if self.names is None else [str(name) for name in self.names]


class JoinedBasis(Basis):
    """The columns of all ``parts``, in their order; a part that is None is the rows' own columns.

    Examples
    --------
    >>> from discrim.basis import JoinedBasis, StepBasis
    >>> JoinedBasis([None, StepBasis(knots=[0.0])]).fit_transform([[-1.0], [2.0]])
    array([[-1.,  0.],
           [ 2.,  1.]])
    """

    learned: ClassVar[Fields] = {**Basis.learned, "parts_": Many(Optional(Of(Basis, {"p": "p"})), type=list)}

    def __init__(self, parts: Sequence[Basis | None]) -> None:
        self.parts = parts

    def _learn(self, x: NDArray[np.float64]) -> None:
        if isinstance(self.parts, str) or not len(self.parts):
            raise ParameterError.bad_value("parts", self.parts, "a list of at least one basis")
        strange = [part for part in self.parts if part is not None and not isinstance(part, Basis)]
        if strange:
            raise ParameterError.bad_value("parts", strange[0], "bases of discrim.basis, or None")
        self.parts_ = [None if part is None else clone(part).fit(x) for part in self.parts]

    def described(self) -> tuple[str, dict[str, Any]]:
        return "joined", {"parts": [None if part is None else part.described() for part in self.parts_]}

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([x if part is None else part.of_block(x) for part in self.parts_], axis=1)

    def names_of(self, names: Sequence[str]) -> list[str]:
        return [name for part in self.parts_ for name in (names if part is None else part.names_of(names))]
