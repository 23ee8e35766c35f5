"""The rows of a logistic fit: labels or counts, class weights and offsets brought together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.engines.overview import Overview, look
from discrim.errors import DataError, ParameterError, plural
from discrim.models.shell import Classifier
from discrim.sources import Attached, Design, Rows, Scan, open_rows
from discrim.sources.arrays import ArrayRows
from discrim.sources.weights import check_weights
from discrim.typing import Floats

# Numbers of a scan that are kept as a sample to start from.
SAMPLE_NUMBERS = 4_000_000
# How far from a whole number a count may be by rounding, relative to itself.
ROUNDED = 1e-6
# Multiplications of a product of matrices that the linear algebra library leaves to one thread by itself.
ALONE = 200_000


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
        share, weight = groups_of(given)
        y = np.ones(len(share), int)
    by_name = isinstance(given.offset, str)
    if given.offset is not None and isinstance(given.X, Scan) and not by_name:
        raise ParameterError("With a scan, `offset` is the name of one of its columns.")
    X = _with_named_offset(given.X, given.offset) if by_name else given.X
    rows = model._open(X, y, weight, reset=True)
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
    if given.offset is not None and len(classes) > 2:
        raise ParameterError(f"An offset is for two classes; y has {len(classes)}.")
    offset = None if given.offset is None or by_name else _one_number_a_row("offset", given.offset, rows)
    factors = None if class_weight is None else _class_weights(class_weight, Attached(rows, classes, share=share))
    if share is None and offset is None and factors is None:
        return Opened(rows, classes, view)
    return Opened(Attached(rows, classes, factors, offset, share), classes, None)


def is_small(rows: Rows) -> bool:
    """Is no product of these rows worth a second thread?"""
    block = rows.whole
    if block is None or not isinstance(block.x, np.ndarray):
        return False
    n, p = block.x.shape
    return bool(n * p * (min(n, p) + 1) <= ALONE)


def groups_of(given: Training) -> tuple[Floats, Floats]:
    """Shares of successes, and weights that count the trials."""
    if isinstance(given.X, Scan):
        raise ParameterError("`trials` cannot be given with a scan.")
    if given.y is None:
        raise ParameterError("With `trials`, y must hold the number of successes of each row; it is None.")
    y, n = np.asarray(given.y, float), np.asarray(given.trials, float)
    n = np.broadcast_to(n, y.shape) if n.ndim == 0 else n
    if y.shape != n.shape or y.ndim != 1:
        raise ParameterError(f"y and trials must be two lists of one length; they have shapes {y.shape} and {n.shape}.")
    if not (np.isfinite(y).all() and np.isfinite(n).all()) or (n < 0).any() or (y < 0).any() or (y > n).any():
        bad = int(np.flatnonzero(~((y >= 0) & (y <= n) & np.isfinite(n)))[0])
        raise DataError(f"y must lie between 0 and trials; row {bad} has {y[bad]:g} successes out of {n[bad]:g}.")
    _check_whole(y)
    rows = _length(given.X)
    if rows is not None and len(n) != rows:
        raise DataError(f"y and trials have {plural(len(n), 'entry', 'entries')}, X has {plural(rows, 'row')}.")
    if len(n) and not n.any():
        raise DataError("trials is zero in every row; at least one row needs a trial.")
    weight = check_weights(given.sample_weight, len(n))
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


def known_offset(X: Any, offset: Any) -> Floats:
    """Offsets as they were given, or those that a column of the scan holds."""
    if not isinstance(offset, str):
        return np.asarray(offset, float)
    blocks = _with_named_offset(X, offset).blocks()
    return np.concatenate([block.offset for block in blocks])


def with_offset(scores: NDArray[Any], offset: Floats) -> NDArray[Any]:
    """The log-odds of two classes with their known part."""
    if scores.ndim != 1:
        raise ParameterError(f"An offset is for two classes; the model has {scores.shape[1]}.")
    if offset.shape not in {(), scores.shape}:
        raise ParameterError.bad_value("offset", f"shape {offset.shape}", f"{len(scores)} numbers, one a row")
    return np.asarray(scores + offset)


def _with_named_offset(X: Any, name: str) -> Scan:
    """The scan that reads its offset itself."""
    if not isinstance(X, Scan):
        raise ParameterError.bad_value("offset", name, "numbers; the name of a column is for a scan")
    return X.with_offset(name)


def _length(X: Any) -> int | None:
    """The number of rows of a table, where it tells."""
    if isinstance(X, NoColumns):
        return X.n_rows
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    return len(X) if isinstance(X, (list, tuple)) else None


def _one_number_a_row(name: str, values: Any, rows: Rows) -> Floats:
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim == 0 and rows.n_rows is not None:
        numbers = np.full(rows.n_rows, float(numbers))
    if numbers.shape != (rows.n_rows,):
        expected = f"{rows.n_rows} finite numbers, one a row, or one number for all"
        raise ParameterError(f"The '{name}' parameter has the shape {numbers.shape}; it must be {expected}.")
    strange = np.flatnonzero(~np.isfinite(numbers))
    if len(strange):
        raise ParameterError(
            f"The '{name}' parameter must be finite; {plural(len(strange), 'entry is', 'entries are')} NaN or "
            f"infinite, the first in row {strange[0]}."
        )
    return np.ascontiguousarray(numbers)


def _class_weights(class_weight: Any, rows: Attached) -> Floats:
    labels = rows.classes.tolist()
    if isinstance(class_weight, dict):
        strange = [label for label in class_weight if label not in set(labels)]
        # A part of the rows may lack a class. But where others have no weight, the names are probably wrong.
        if strange and any(label not in class_weight for label in labels):
            raise ParameterError(
                f"class_weight names the classes {written(strange)}, which are not in y: it has {written(labels)}."
            )
        weights = [class_weight.get(label, 1.0) for label in labels]
        for label, weight in zip(labels, weights, strict=True):
            if not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
                raise ParameterError.bad_value(f"class_weight[{label!r}]", weight, "a finite number of at least 0")
        return np.array(weights, float)
    counts = np.sum([_weights_of(block, len(labels)) for block in rows.blocks()], axis=0)
    return np.asarray(counts.sum() / (len(labels) * np.where(counts > 0, counts, 1.0)))


def weightless(opened: Opened) -> list[int]:
    """The places of classes whose rows all have the weight zero; of large frames only what the first look has seen."""
    totals = None if opened.view is None else opened.view.class_weights
    whole = opened.rows.whole
    if totals is None and whole is not None and (whole.weight is not None or whole.share is not None):
        totals = _weights_of(whole, len(opened.classes))
    return [] if totals is None else np.flatnonzero(totals == 0).tolist()


def weightless_message(labels: list[Any]) -> str:
    """What to say of classes without weight."""
    who = f"Class {written(labels)} has" if len(labels) == 1 else f"Classes {written(labels)} have"
    its = "its probability is" if len(labels) == 1 else "their probabilities are"
    return (
        f"{who} no weight: {its} estimated as 0 or small, and nothing else can be learned there. Leave these rows out, "
        "or give them weight."
    )


def _weights_of(block: Block, classes: int) -> Floats:
    """The weight of every class."""
    if block.share is None:
        return np.bincount(block.codes, weights=block.weight, minlength=classes).astype(float)
    w = np.ones(len(block)) if block.weight is None else block.weight
    return np.array([w @ (1.0 - block.share), w @ block.share])


def written(labels: list[Any], most: int = 20) -> str:
    """Labels as they would be typed, so that 1 and '1' look different."""
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(map(repr, labels[:most])) + more


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
