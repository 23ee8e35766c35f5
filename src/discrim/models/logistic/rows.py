"""The rows of a logistic fit: labels or counts, class weights and offsets brought together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.engines.overview import Overview, look
from discrim.errors import DataError, ParameterError, name_list
from discrim.models.classifier import Classifier
from discrim.sources import Attached, Design, Rows, Scan, open_rows
from discrim.sources.arrays import ArrayRows

Floats = NDArray[np.float64]

# Numbers of a scan that are kept as a sample to start from.
SAMPLE_NUMBERS = 4_000_000


@dataclass(frozen=True)
class Training:
    """The arguments of ``fit``."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    offset: Any = None
    trials: Any = None


@dataclass(frozen=True)
class Opened:
    """``rows`` of ``classes``, with what a first pass over a scan has seen."""

    rows: Rows
    classes: NDArray[Any]
    view: Overview | None = None


def open_training(model: Classifier, class_weight: Any, given: Training) -> Opened:
    """The rows that ``fit`` was given, checked."""
    y, weight, share = given.y, given.sample_weight, None
    if given.trials is not None:
        share, weight = _groups(y, given.trials, weight)
        y = np.ones(len(share), int)
    rows = model._open(given.X, y, weight, reset=True)
    view = None
    if share is not None:
        classes = np.array([0, 1])
    elif rows.classes is not None:
        classes = rows.classes
    else:
        if not rows.rereadable:
            raise DataError(
                "Logistic regression reads its rows several times, and this stream can be read once. "
                "Write it to a file and scan that."
            )
        width = max(rows.design.n_out, 1)
        view = look(rows, max(SAMPLE_NUMBERS // width, 20 * width))
        classes = view.classes
        if view.everything:
            # All of it was small enough to be kept: no need to read it again.
            rows, view = ArrayRows(rows.design, view.sample, labelled=True), None
    if len(classes) < 2:
        raise DataError(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{classes.tolist()[0]!r}"
        )
    offset = None if given.offset is None else _one_number_a_row("offset", given.offset, rows)
    if offset is not None and len(classes) > 2:
        raise ParameterError(f"An offset is for two classes; y has {len(classes)}.")
    factors = None if class_weight is None else _class_weights(class_weight, rows, classes)
    if share is None and offset is None and factors is None:
        return Opened(rows, classes, view)
    return Opened(Attached(rows, classes, factors, offset, share), classes, None)


def _groups(successes: Any, trials: Any, weight: Any) -> tuple[Floats, Floats]:
    """Shares of successes, and weights that count the trials."""
    y, n = np.asarray(successes, float), np.asarray(trials, float)
    n = np.broadcast_to(n, y.shape) if n.ndim == 0 else n
    if y.shape != n.shape or y.ndim != 1:
        raise ParameterError(f"y and trials must be two lists of one length; they have shapes {y.shape} and {n.shape}.")
    if not (np.isfinite(y).all() and np.isfinite(n).all()) or (n < 0).any() or (y < 0).any() or (y > n).any():
        bad = int(np.flatnonzero(~((y >= 0) & (y <= n) & np.isfinite(n)))[0])
        raise DataError(f"y must lie between 0 and trials; row {bad} has {y[bad]:g} successes out of {n[bad]:g}.")
    share = np.where(n > 0, y / np.where(n > 0, n, 1.0), 0.0)
    return share, n * (1.0 if weight is None else np.asarray(weight, float))


def _one_number_a_row(name: str, values: Any, rows: Rows) -> Floats:
    if isinstance(rows, Scan):
        raise ParameterError(f"`{name}` cannot be given with a scan.")
    numbers = np.ascontiguousarray(values, dtype=float)
    if numbers.ndim != 1 or len(numbers) != rows.n_rows or not np.isfinite(numbers).all():
        raise ParameterError.bad_value(name, f"shape {numbers.shape}", f"{rows.n_rows} finite numbers, one a row")
    return numbers


def _class_weights(class_weight: Any, rows: Rows, classes: NDArray[Any]) -> Floats:
    if isinstance(class_weight, dict):
        known = set(classes.tolist())
        strange = [label for label in class_weight if label not in known]
        if strange:
            raise ParameterError(
                f"class_weight names the classes {name_list(strange)}, which are not in y: it has "
                f"{name_list(classes.tolist())}."
            )
        weights = [class_weight.get(label, 1.0) for label in classes.tolist()]
        for label, weight in zip(classes.tolist(), weights, strict=True):
            if not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
                raise ParameterError.bad_value(f"class_weight[{label!r}]", weight, "a finite number of at least 0")
        return np.array(weights, float)
    counts = np.zeros(len(classes))
    for block in Attached(rows, classes).blocks():
        counts += np.bincount(block.codes, weights=block.weight, minlength=len(classes))
    return np.asarray(counts.sum() / (len(classes) * np.where(counts > 0, counts, 1.0)))


@dataclass(frozen=True)
class NoColumns:
    """So many rows, of which nothing is known."""

    n_rows: int

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
            raise DataError("No column of the scan is left in the model: the share of each class is all it can tell.")
        return X.with_features(wanted)
    if not wanted:
        return NoColumns(len(X) if isinstance(X, (list, tuple)) or not hasattr(X, "shape") else X.shape[0])
    if hasattr(X, "select") and not hasattr(X, "iloc"):
        return X.select(wanted)
    if hasattr(X, "iloc"):
        return X[wanted]
    places = [names.index(name) for name in wanted]
    return X[:, places] if hasattr(X, "shape") else np.asarray(X)[:, places]
