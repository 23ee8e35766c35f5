"""What pictures take of a table: numbers, names of columns, codes of classes, a sample of many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.typing import Floats, Index

# Points that a picture shows; more overlap anyway. Beyond RASTERISED they are one bitmap in an SVG.
MOST_POINTS = 4000
RASTERISED = 600
# Rows for what is computed of them before drawing, such as the averages of effects.
MOST_ROWS = 20_000
# What there is to draw of a single column.
ALONG_ONE = (
    "Along one column plots.effect(model, X, y) draws probabilities, and plots.projection(model, X, y) histograms."
)


@dataclass(frozen=True, eq=False)
class Points:
    """Rows to draw: ``x`` n x p, names of the columns, ``codes`` of the ``classes`` (all 0 without labels).

    ``rows`` is how many there are in the data; ``x`` may be a sample of them. ``place`` are their row numbers.
    """

    x: Floats
    names: list[str]
    codes: NDArray[np.intp]
    classes: NDArray[Any]
    rows: int
    labelled: bool
    place: Index
    incomplete: int = 0

    @property
    def sampled(self) -> str | None:
        """The remark that a picture of a sample, or without the rows that have gaps, carries."""
        if len(self.x) == self.rows:
            return None
        gaps = f"; {self.incomplete:,} with missing values are not" if self.incomplete else ""
        return f"{len(self.x):,} of {self.rows:,} rows drawn{gaps}"


def points_of(
    X: Any, y: Any = None, *, classes: Any = None, most: int | None = MOST_POINTS, complete: bool = False
) -> Points:
    """The rows of a table, at most so many of them, drawn at random but always the same.

    With ``complete`` those that have missing values are left out; else they are an error.
    """
    y = None if y is None else np.asarray(y)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    shape = np.shape(X)
    if len(shape) != 2 or not shape[0]:
        raise DataError(f"A picture needs a table of rows and columns; X has the shape {tuple(shape)}.")
    if y is not None and y.shape != shape[:1]:
        raise DataError(f"X has {plural(shape[0], 'row')} and y has the shape {y.shape}; they must be of equal length.")
    place = sample(shape[0], most)
    x = numbers(X, place)
    finite = np.isfinite(x).all(axis=1)
    incomplete = int((~finite).sum())
    if incomplete and not (complete and finite.any()):
        raise _non_finite(x, names_of(X))
    if incomplete:
        x, place = x[finite], place[finite]
    known = np.unique(y) if incomplete and classes is None and y is not None else classes
    labels, codes = coded(None if y is None else y[place], known, len(place))
    return Points(x, names_of(X), codes, labels, shape[0], y is not None, place, incomplete)


def coded(y: Any, classes: Any, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels, and the number of each row's own."""
    if y is None:
        return np.array([""]), np.zeros(n, dtype=np.intp)
    known = np.unique(y) if classes is None else np.asarray(classes)
    place = {label: k for k, label in enumerate(known.tolist())}
    strange = [label for label in np.unique(y).tolist() if label not in place]
    if strange:
        raise DataError(f"y has the label {name_list(strange)}; the model knows {name_list(known.tolist())}.")
    values, inverse = np.unique(y, return_inverse=True)
    return known, np.array([place[value] for value in values.tolist()], dtype=np.intp)[inverse]


def sample(n: int, most: int | None) -> Index:
    """Row numbers in their order: all, or ``most`` of them at random."""
    if most is None or n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def names_of(X: Any) -> list[str]:
    """Names of the columns, x0, x1, ... where there are none."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        return [str(name) for name in columns]
    shape = np.shape(X)
    if len(shape) != 2:
        raise DataError(f"A picture needs a table of rows and columns; X has the shape {tuple(shape)}.")
    return [f"x{j}" for j in range(shape[1])]


def numbers(X: Any, place: Index | None = None) -> Floats:
    """The rows (some of them) as an array of numbers."""
    place = np.arange(np.shape(X)[0]) if place is None else place
    if hasattr(X, "toarray"):
        part = X[place].toarray()
    elif hasattr(X, "iloc"):
        part = X.iloc[place].to_numpy()
    else:
        part = X[place] if isinstance(X, np.ndarray) or hasattr(X, "columns") else np.asarray(X)[place]
        part = np.asarray(part.to_numpy() if hasattr(part, "to_numpy") else part)
    try:
        return np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kinds = [name for name, column in zip(names_of(X), part.T, strict=True) if not _is_numeric(column)]
        they, it = ("hold", "them") if len(kinds) > 1 else ("holds", "it")
        raise DataError(
            f"This picture needs columns of numbers; {name_list(kinds)} {they} something else. Leave {it} out or code "
            f"{it} first."
        ) from error


def part_of(X: Any, places: Sequence[int]) -> Any:
    """Some columns of a table, in the kind of table that it is."""
    if hasattr(X, "iloc"):
        return X.iloc[:, list(places)]
    return (X if hasattr(X, "shape") else np.asarray(X))[:, list(places)]


def alike(X: Any, x: Floats) -> Any:
    """Numbers in the kind of table that X is, so that a model that was fitted to named columns knows them."""
    package = type(X).__module__.partition(".")[0]
    if package == "pandas":
        return type(X)(x, columns=X.columns)
    return type(X)(x, schema=X.columns) if package == "polars" else x


def column_numbers(columns: Any, names: Sequence[str]) -> list[int]:
    """The places of columns that are given by name or number."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if not np.iterable(columns) or np.ndim(cast("Any", columns)) > 1:
        raise ParameterError.bad_value("columns", columns, "names or numbers of columns")
    found = []
    for wanted in columns:
        if (
            isinstance(wanted, (int, np.integer))
            and not isinstance(wanted, bool)
            and -len(names) <= wanted < len(names)
        ):
            found.append(int(wanted) % len(names))
        elif wanted in names:
            found.append(list(names).index(wanted))
        else:
            raise ParameterError(f"There is no column {wanted!r}; the columns are {name_list(names)}.")
    return found


def two_columns(columns: Any, names: Sequence[str], instead: str) -> tuple[int, int]:
    """The two columns of a picture in a plane; which they are is never guessed."""
    if columns is None:
        if len(names) == 2:
            return 0, 1
        if len(names) == 1:
            raise ParameterError(f"X has one column, {names[0]!r}, and this picture shows two. {ALONG_ONE}")
        raise ParameterError(
            f"X has {plural(len(names), 'column')} ({name_list(names)}) and this picture shows two. "
            f"Name them with columns=(a, b){instead}."
        )
    found = column_numbers(columns, names)
    if len(found) != 2 or found[0] == found[1]:
        raise ParameterError.bad_value("columns", columns, "two different columns, by name or number")
    return found[0], found[1]


def lacks(model: Any, what: str, instead: str = "") -> ParameterError:
    """The error for a model that has not what a picture shows."""
    return ParameterError(f"{type(model).__name__} has no {what}, which this picture shows. {instead}".strip())


def fitted_classes(model: Any) -> NDArray[Any]:
    """The labels of a fitted model."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(model, "fit") or isinstance(model, type):
        raise ParameterError.bad_value("model", model, "a fitted classifier")
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise lacks(model, "classes", "Pass a fitted classifier.")
    return np.asarray(model.classes_)


def column_names(model: Any, X: Any = None) -> list[str]:
    """The names of the columns that a model was fitted on."""
    if X is not None and getattr(X, "columns", None) is not None:
        return names_of(X)
    design = getattr(model, "columns_", None)
    if design is not None and hasattr(design, "names_out"):
        return [str(name) for name in design.names_out]
    names = getattr(model, "feature_names_in_", None)
    width = getattr(model, "n_features_in_", None) if X is None else np.shape(X)[1]
    if names is not None:
        return [str(name) for name in names]
    return [f"x{j}" for j in range(int(width or 0))]


def _is_numeric(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _non_finite(x: Floats, names: Sequence[str]) -> DataError:
    missing = {name: int(np.isnan(x[:, j]).sum()) for j, name in enumerate(names) if np.isnan(x[:, j]).any()}
    infinite = {name: int(np.isinf(x[:, j]).sum()) for j, name in enumerate(names) if np.isinf(x[:, j]).any()}
    return DataError.non_finite(missing, infinite)
