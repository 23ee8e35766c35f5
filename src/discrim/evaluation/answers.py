"""Checks of labels, scores and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.sources import check_weights, code_labels, recode
from discrim.sources.labels import ContinuousLabelsError
from discrim.typing import Codes, Floats

# Scores that are looked at to see whether they are labels.
MOST_LOOKED_AT = 1000


def scored(y: Any, positive: Any, **scores: Any) -> tuple[NDArray[np.bool_], Any, list[Floats]]:
    """Which rows are positive, their label, and the scores of all rows, checked under the names they are given by."""
    try:
        is_positive, label = two_classes(y, positive)
    except ContinuousLabelsError as error:
        (name, first), *_ = scores.items()
        if len(set(np.ravel(first).tolist()[:MOST_LOOKED_AT])) <= 2:
            error.args = (
                f"y holds numbers with fractions and '{name}' two values: they look swapped. Labels come first.",
            )
        raise
    return is_positive, label, [checked_scores(score, len(is_positive), name) for name, score in scores.items()]


def two_classes(y: Any, positive: Any) -> tuple[NDArray[np.bool_], Any]:
    """Which rows are of the ``positive`` class, and its label: the larger of two where none is named."""
    classes, codes = code_labels(y)
    if len(classes) > 2:
        raise DataError(
            f"y has {len(classes)} classes ({name_list(classes)}); this needs two. "
            "Compare one class with the rest, y == label, or use multiclass_auc."
        )
    if positive is None:
        if len(classes) < 2:
            raise DataError(f"y has only the class {name_list(classes)}; a curve needs rows of two classes.")
        return codes == 1, classes[1]
    at = [k for k, label in enumerate(classes.tolist()) if label == positive]
    if not at or len(classes) < 2:
        raise ParameterError.bad_value(
            "positive", positive, f"one of two labels that occur; y has {name_list(classes)}"
        )
    return codes == at[0], classes[at[0]]


def checked_scores(score: Any, n: int, name: str) -> Floats:
    """One finite or infinite number a row."""
    try:
        values = np.asarray(score, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"'{name}' must hold numbers, one for each row.") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n,):
        found = " x ".join(map(str, values.shape)) or "a single number"
        raise DataError(
            f"'{name}' must have one number for each of the {plural(n, 'label')}; found {found}. "
            "Take one column of predict_proba."
        )
    missing = int(np.isnan(values).sum())
    if missing:
        raise DataError(f"'{name}' holds {missing} NaN. Leave these rows out, or check why they have no score.")
    return values


def checked_posterior(y: Any, posterior: Any, classes: Any = None) -> tuple[NDArray[Any], Codes, Floats]:
    """Classes, codes of y into them, and the n x K matrix of probabilities."""
    if classes is None:
        known, codes = code_labels(y)
    else:
        known = np.asarray(classes)
        codes = recode(y, known)
    p = np.asarray(posterior, dtype=np.float64)
    if p.ndim == 1 and len(known) == 2:
        p = np.column_stack([1.0 - p, p])
    if p.shape != (len(codes), len(known)):
        raise DataError(
            f"The posteriors are {' x '.join(map(str, p.shape))}; {plural(len(codes), 'label')} of "
            f"{plural(len(known), 'class', 'classes')} need {len(codes)} x {len(known)}. "
            "Pass `classes` where a class does not occur in y."
        )
    if not np.isfinite(p).all() or p.min() < 0 or np.abs(p.sum(axis=1) - 1.0).max() > 1e-6:
        raise DataError("The posteriors must be between 0 and 1 and sum to 1 in every row.")
    return known, codes, p


def weights_of(sample_weight: Any, n: int) -> Floats:
    """Case weights, all ones where there are none."""
    weight = check_weights(sample_weight, n)
    return np.ones(n) if weight is None else weight


def informative_rows(weight: Any) -> float:
    """The number of independent rows that carry as much information as weighted ones.

    Whole weights count rows. Others give rows more or less to say: (sum w)^2 / sum w^2, after Kish.
    """
    w = np.asarray(weight, dtype=np.float64)
    total = float(w.sum())
    if total <= 0 or (w == np.floor(w)).all():
        return total
    return total**2 / float(w @ w)


def cumulated(score: Floats, *weights: Floats) -> tuple[Floats, ...]:
    """The distinct scores, ascending, and the sum of each of the ``weights`` over the rows up to there: one sort."""
    values, place = np.unique(score, return_inverse=True)
    return values, *(np.cumsum(np.bincount(place, weight, len(values)), dtype=np.float64) for weight in weights)


def in_standard_errors(difference: float, std_error: float) -> float:
    """Their ratio; 0 where nothing differs, and infinite where a difference is certain."""
    if std_error > 0:
        return difference / std_error
    return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
