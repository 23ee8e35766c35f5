"""The arguments of a logistic fit, checked: counts of successes, offsets, some of the columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from discrim.errors import DataError, ParameterError, plural
from discrim.sources import Design, Rows, Scan, open_rows
from discrim.sources.labels import check_weights
from discrim.sources.rows import ArrayRows
from discrim.typing import Floats

# How far from a whole number a count may be by rounding, relative to itself.
ROUNDED = 1e-6


@dataclass(frozen=True)
class Training:
    """The arguments of ``fit``."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    offset: Any = None
    trials: Any = None

    def groups(self) -> tuple[Floats, Floats]:
        """Shares of successes, and weights that count the trials."""
        if isinstance(self.X, Scan):
            raise ParameterError("`trials` cannot be given with a scan.")
        if self.y is None:
            raise ParameterError("With `trials`, y must hold the number of successes of each row; it is None.")
        y, n = np.asarray(self.y, float), np.asarray(self.trials, float)
        n = np.broadcast_to(n, y.shape) if n.ndim == 0 else n
        if y.shape != n.shape or y.ndim != 1:
            raise ParameterError(
                f"y and trials must be two lists of one length; they have shapes {y.shape} and {n.shape}."
            )
        if not (np.isfinite(y).all() and np.isfinite(n).all()) or (n < 0).any() or (y < 0).any() or (y > n).any():
            bad = int(np.flatnonzero(~((y >= 0) & (y <= n) & np.isfinite(n)))[0])
            raise DataError(f"y must lie between 0 and trials; row {bad} has {y[bad]:g} successes out of {n[bad]:g}.")
        _check_whole(y)
        rows = _num_samples(self.X) if hasattr(self.X, "shape") or hasattr(self.X, "__len__") else len(n)
        if len(n) != rows:
            raise DataError(f"y and trials have {plural(len(n), 'entry', 'entries')}, X has {plural(rows, 'row')}.")
        if len(n) and not n.any():
            raise DataError("trials is zero in every row; at least one row needs a trial.")
        weight = check_weights(self.sample_weight, len(n))
        share = np.where(n > 0, y / np.where(n > 0, n, 1.0), 0.0)
        return share, n if weight is None else n * weight


def _check_whole(successes: Floats) -> None:
    """Successes are counted: shares of them, which would pass for counts of almost none, are refused."""
    broken = np.flatnonzero(np.abs(successes - np.rint(successes)) > ROUNDED * np.maximum(successes, 1.0))
    if not len(broken):
        return
    found = f"With `trials`, y must hold whole numbers of successes; row {broken[0]} has {successes[broken[0]]:g}."
    shares = " These look like shares of the trials: pass y * trials instead." if successes.max() <= 1 else ""
    raise DataError(f"{found}{shares or ' Round them, or leave `trials` out and pass weights as sample_weight.'}")


def with_offset(scores: NDArray[Any], X: Any, offset: Any) -> NDArray[Any]:
    """The log-odds of two classes with their known part: as it is given, or as a column of the scan X holds it."""
    if isinstance(offset, str):
        offset = np.concatenate([block.offset for block in with_named_offset(X, offset).blocks()])
    if scores.ndim != 1:
        raise ParameterError(f"An offset is for two classes; the model has {scores.shape[1]}.")
    if np.shape(offset) not in {(), scores.shape}:
        raise ParameterError.bad_value("offset", f"shape {np.shape(offset)}", f"{len(scores)} numbers, one a row")
    return np.asarray(scores + np.asarray(offset, float))


def with_named_offset(X: Any, name: str) -> Scan:
    """The scan that reads its offset itself."""
    if not isinstance(X, Scan):
        raise ParameterError.bad_value("offset", name, "numbers; the name of a column is for a scan")
    return X.with_offset(name)


def offset_of_rows(values: Any, rows: Rows) -> Floats:
    """One finite number a row."""
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim == 0 and rows.n_rows is not None:
        numbers = np.full(rows.n_rows, float(numbers))
    if numbers.shape != (rows.n_rows,):
        expected = f"{rows.n_rows} finite numbers, one a row, or one number for all"
        raise ParameterError(f"The 'offset' parameter has the shape {numbers.shape}; it must be {expected}.")
    strange = np.flatnonzero(~np.isfinite(numbers))
    if len(strange):
        raise ParameterError(
            f"The 'offset' parameter must be finite; {plural(len(strange), 'entry is', 'entries are')} NaN or "
            f"infinite, the first in row {strange[0]}."
        )
    return np.ascontiguousarray(numbers)


@dataclass(frozen=True)
class NoColumns:
    """So many rows, of which nothing is known."""

    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def rows(self, y: Any, sample_weight: Any) -> Rows:
        """The rows with their labels: an intercept is all that can be fitted."""
        stand_in = open_rows(np.zeros((self.n_rows, 1)), y, sample_weight).whole
        assert stand_in is not None
        block = replace(stand_in, x=np.zeros((self.n_rows, 0)))
        return ArrayRows(Design.unnamed(0, np.dtype(float)), block, labelled=y is not None)


def select_columns(X: Any, names: list[str], wanted: list[str]) -> Any:
    """The wanted columns of an array, a frame or a scan."""
    if isinstance(X, Scan):
        if not wanted:
            raise DataError(
                "No column of the scan is left in the model: it could predict the shares of the classes only."
            )
        return X.with_features(wanted)
    if not wanted:
        return NoColumns(_num_samples(X))
    if hasattr(X, "select") and not hasattr(X, "iloc"):
        return X.select(wanted)
    if hasattr(X, "iloc"):
        return X[wanted]
    places = [names.index(name) for name in wanted]
    return X[:, places] if hasattr(X, "shape") else np.asarray(X)[:, places]
