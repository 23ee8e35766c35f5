"""What models are judged by: a value, less is better, and what each row adds to it and to its error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.trials import Tried
from discrim.decision.costs import cheapest, checked_costs
from discrim.errors import ParameterError, name_list
from discrim.evaluation.areas import area_within_folds
from discrim.evaluation.resampling import log_losses
from discrim.typing import Floats

NAMES = ("error", "balanced_error", "log_loss", "auc", "brier")
WORDS = {
    "error": "error", "balanced_error": "balanced error", "log_loss": "log loss", "auc": "AUC", "brier": "Brier score",
}  # fmt: skip
# Metrics that are read in per cent.
SHARES = ("error", "balanced_error")


@dataclass(frozen=True, eq=False)
class Costs:
    """``matrix[j, k]`` is the cost of predicting class k where the class is j."""

    matrix: Floats


Metric = str | Costs | Callable[..., float]


class Judged(NamedTuple):
    """A ``value``, less is better, and ``parts``: n numbers whose mean is the value, or its influences of mean zero.

    Sums of parts over independent rows (or groups) have the variance of n times the value.
    """

    value: float
    parts: Floats


def check_metric(metric: Any, classes: NDArray[Any]) -> Metric:
    """A name, a function, or costs as a matrix (true class by predicted class) or a dict by pairs of labels."""
    if isinstance(metric, str) and metric in NAMES:
        return metric
    if isinstance(metric, Mapping) or (not isinstance(metric, str) and not callable(metric) and np.ndim(metric) == 2):
        return Costs(_checked_matrix(metric, classes))
    try:
        signature(metric).bind(None, None, None)
    except TypeError:
        expected = (
            f"{name_list(NAMES, most=len(NAMES))}, a matrix of costs (rows the true class, columns the predicted one), "
            "or a function of y, the predictions and the posteriors"
        )
        raise ParameterError.bad_value("metric", metric, expected) from None
    except ValueError:  # some functions written in C have no signature
        pass
    return cast("Metric", metric)


def refuse_area_of_single_rows(metric: Metric, rows: ComparedRows) -> None:
    if metric == "auc" and rows.folds.one_at_a_time:
        raise ParameterError(
            "metric='auc' compares rows of one fold, and cv='loo' has folds of one row. Use a number of folds, such as "
            "cv=10."
        )


def _checked_matrix(costs: Any, classes: NDArray[Any]) -> Floats:
    try:
        matrix, _ = checked_costs(costs, classes)
    except ParameterError as error:
        raise ParameterError(
            str(error).replace("'costs' parameter", "'metric' parameter, a matrix of costs,")
        ) from None
    cheaper = matrix < np.diagonal(matrix)[:, None]
    if cheaper.any():
        j, k = (int(place[0]) for place in np.nonzero(cheaper))
        raise ParameterError(
            f"The 'metric' parameter makes it cheaper to take class '{classes[j]}' for '{classes[k]}' "
            f"({matrix[j, k]:g}) than to recognise it ({matrix[j, j]:g}). Rows are the true class, in the order "
            f"{name_list(classes, most=20)}."
        )
    return matrix


def metric_name(metric: Metric) -> str:
    if isinstance(metric, str):
        return WORDS[metric]
    if isinstance(metric, Costs):
        return "mean cost"
    name = getattr(metric, "__name__", "")
    return name if name.isidentifier() else "metric"


def decided(tried: Tried, rows: ComparedRows, metric: Metric) -> Tried:
    """Under costs a model with posteriors decides by the least expected cost."""
    if not isinstance(metric, Costs) or not tried.has_posterior:
        return tried
    best = cheapest(tried.result.posterior, metric.matrix)
    error = float(np.average(best != rows.codes, weights=rows.weights))
    again = tuple(decided(one, rows, metric) for one in tried.again)
    return replace(tried, result=replace(tried.result, predicted=rows.classes[best], error=error), again=again)


def judge(tried: Tried, rows: ComparedRows, metric: Metric) -> Judged | None:
    """The mean over the repeats; None for a function, and where a model lacks what the metric needs."""
    if callable(metric) or (metric in ("log_loss", "brier") and not tried.has_posterior):
        return None
    found = [_area(one, rows) if metric == "auc" else _mean(one, rows, metric) for one in (tried, *tried.again)]
    if any(one is None for one in found):
        return None
    values, parts = zip(*(one for one in found if one is not None), strict=True)
    return Judged(float(np.mean(values)), np.mean(parts, axis=0))


def _mean(tried: Tried, rows: ComparedRows, metric: Any) -> Judged:
    parts = losses(tried, rows, metric) * rows.weights / rows.weights.mean()
    return Judged(float(parts.mean()), parts)


def losses(tried: Tried, rows: ComparedRows, metric: str | Costs) -> Floats:
    """Of every row: its cost, 1 for an error; -log posterior of its class; squared distance of the posterior from it.

    For the balanced error, 1 / (K share of its class) for an error.
    """
    if metric in ("log_loss", "brier"):
        p = tried.result.posterior
        if metric == "log_loss":
            return log_losses(p, rows.codes, tried.result.unseen)
        own = p[np.arange(rows.n), rows.codes]
        return np.asarray(np.einsum("ij,ij->i", p, p) - 2.0 * own + 1.0)
    if isinstance(metric, Costs):
        predicted = np.searchsorted(rows.classes, tried.result.predicted)
        return np.asarray(metric.matrix[rows.codes, predicted])
    wrong = np.asarray(tried.result.predicted != rows.labels, dtype=np.float64)
    return wrong if metric == "error" else wrong * class_balance(rows)


def class_balance(rows: ComparedRows) -> Floats:
    """By how much each row counts where all classes count alike; 1 on average."""
    shares = np.bincount(rows.codes, rows.weights, minlength=len(rows.classes)) / rows.weights.sum()
    return np.asarray(1.0 / ((shares > 0).sum() * shares[rows.codes]))


def centred(parts: Floats, rows: ComparedRows, metric: Metric) -> Floats:
    """Parts about their mean; for the balanced error about that of their class, whose size is not at random."""
    if metric != "balanced_error":
        return np.asarray(parts - parts.mean())
    size = np.bincount(rows.codes, rows.weights, minlength=len(rows.classes))
    mean = np.bincount(rows.codes, parts, minlength=len(rows.classes)) / np.where(size > 0, size, 1.0)
    return np.asarray(parts - mean[rows.codes] * rows.weights)


def by_unit(values: Floats, rows: ComparedRows) -> Floats:
    """Sums over the rows of each group; without groups, the values as they are. ``values`` is n or n x m."""
    if rows.dealer.units is None or not rows.dealer.grouped:
        return values
    units = rows.dealer.units
    sums = np.zeros((int(units.max()) + 1, *values.shape[1:]))
    np.add.at(sums, units, values)
    return sums


def standard_error(parts: Floats, rows: ComparedRows, metric: Metric) -> float:
    """Of the mean of these parts, from their variance between rows or groups."""
    total = by_unit(centred(parts, rows, metric), rows)
    units = len(total)
    return float(np.sqrt(total @ total * units / max(units - 1, 1))) / rows.n


def binary_score(tried: Tried, k: int = 1) -> Floats | None:
    """What the rows of two classes are ordered by: the posterior of class number ``k``, or the model's score of it."""
    if tried.has_posterior:
        return tried.result.posterior[:, k]
    if tried.margin is None or not np.isfinite(tried.margin).all():
        return None
    return np.asarray(tried.margin if k == 1 else -tried.margin)


def _area(tried: Tried, rows: ComparedRows) -> Judged | None:
    """Within folds, turned so that less is better."""
    score = binary_score(tried) if len(rows.classes) == 2 else tried.result.posterior if tried.has_posterior else None
    if score is None:
        return None
    found = area_within_folds(rows.codes, score, tried.result.folds, rows.weight)
    return Judged(-found.area, -found.parts) if np.isfinite(found.area) else None


def figure(value: float, metric: Metric) -> str:
    """A value of the metric, less is better, as it is read: errors in per cent, areas the right way up."""
    if metric in SHARES:
        return percent(value)
    return f"{-value if metric == 'auc' else value:.3f}"


def percent(share: float) -> str:
    """14.2%, and 0.03% where one decimal would hide it."""
    return f"{share:.1%}" if share >= 0.01 or share == 0 else f"{share:.2%}"
