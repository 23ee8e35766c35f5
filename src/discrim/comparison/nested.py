"""Nested cross-validation: all of a comparison on parts of the rows, its choice judged by rows that it never saw."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.given import taken
from discrim.comparison.metrics import SHARES, Metric, by_unit, centred, losses, metric_name, standard_error
from discrim.comparison.trials import Tried
from discrim.engines.progress import Progress
from discrim.errors import DiscrimError, InterruptedWarning, ParameterError, plural, warn
from discrim.evaluation.cross_validation import CrossValidation, put_predictions
from discrim.evaluation.proportions import proportion_interval
from discrim.evaluation.resampling import HeldOut
from discrim.sources import Scan
from discrim.statistics.folds import Folds
from discrim.typing import Floats

# Outer folds, and how often they are dealt. Five leave the least noise in the interval for the number of fits.
OUTER_FOLDS, DEALINGS = 5, 10

# Compares some rows: X, y and, where they were given, sample_weight and groups.
Again = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Nested:
    """The ``error`` (or other metric) of the whole choice on rows that no part of it saw, with its 95% ``interval``.

    ``std_error`` is the root of the mean squared difference between the figure of a comparison and the error of what it
    chose. ``chosen`` says how often each model was chosen, in so many ``comparisons`` that took ``fits`` fits.
    """

    error: float
    std_error: float
    interval: tuple[float, float]
    chosen: dict[str, int]
    comparisons: int
    fits: int


@dataclass(frozen=True, eq=False)
class _Dealing:
    """The ``value`` of the metric with the ``variance`` of independent rows, and the ``gaps`` of the outer folds.

    ``chosen`` are the names of the models that were chosen without each of them, after so many ``fits``.
    """

    value: float
    variance: float
    gaps: Floats
    chosen: list[str]
    fits: int


def check_nested(nested: Any, rows: ComparedRows, metric: Metric, cv: Any) -> int:
    """How often outer folds are dealt; 0 for no nested cross-validation."""
    count = DEALINGS if nested is True else 0 if nested is False or nested is None else nested
    if not isinstance(count, (int, np.integer)) or count < 0:
        raise ParameterError.bad_value("nested", nested, "True, False or how often the outer folds are dealt")
    if not count:
        return 0
    why = ""
    if not isinstance(cv, (int, np.integer)) or rows.dealer.times is not None:
        why = "needs folds that can be dealt again: give cv as a number, and no time="
    elif callable(metric) or metric == "auc":
        why = f"needs a metric that is a mean over rows; the {metric_name(metric)} is not"
    elif rows.words is not None or rows.n_all != rows.n:
        why = "needs a table in memory; documents and sampled scans are not"
    elif rows.dealer.fewer(OUTER_FOLDS) < 2:
        why = "needs two outer folds at least"
    if why:
        raise ParameterError(f"The 'nested' parameter is {nested}, which {why}.")
    return int(count)


def nested_error(again: Again, rows: ComparedRows, metric: Metric, dealings: int) -> Nested | None:
    """Every outer fold is predicted by what a comparison of the other rows chooses and fits.

    The interval is that of Bates, Hastie and Tibshirani (2024, J. Am. Stat. Assoc. 119). A comparison of the rows
    without a fold prints a figure, corrected for its choice; on the fold its choice has another mean loss. The squared
    difference of the two is the squared error of the printed figure plus the variance of the mean of the fold, which
    follows from its rows. The mean over all folds and dealings is held between the variance of independent rows and
    that times the number of folds, as there. None where no dealing was asked for, or done before Ctrl-C or the clock.
    """
    if not dealings:
        return None
    done = list[_Dealing]()
    total = dealings * rows.dealer.fewer(OUTER_FOLDS)
    try:
        with Progress("nested cross-validation", total, "comparisons", clock=True) as progress:
            while len(done) < dealings:
                done.append(_dealing(again, _dealt(rows, len(done)), metric, progress))
    except (KeyboardInterrupt, InterruptedWarning):
        warn(
            f"Nested cross-validation was stopped after {len(done)} of {plural(dealings, 'dealing')}.",
            InterruptedWarning,
        )
    return _summed_up(done, rows, metric) if done else None


def _dealt(rows: ComparedRows, r: int) -> ComparedRows:
    """Outer folds with a seed of their own: copies and groups stay together."""
    seed = rows.dealer.seed
    dealer = replace(rows.dealer, seed=seed + 104_729 * (r + 1) if isinstance(seed, (int, np.integer)) else seed)
    number = np.unique(dealer.deal(dealer.fewer(OUTER_FOLDS)), return_inverse=True)[1]
    return replace(rows, folds=Folds(number.astype(np.int32), (None,) * (int(number.max()) + 1)))


def _dealing(again: Again, rows: ComparedRows, metric: Any, progress: Progress) -> _Dealing:
    held, names, fits = HeldOut(rows.n, len(rows.classes)), list[str](), 0
    printed = np.empty(len(rows.folds.parts))
    for f in range(len(printed)):
        test = rows.folds.number == f
        found = _compared(again, rows, ~test)
        row = next(row for row in found.rows if row.name == found.chosen)
        printed[f] = row.value if found.corrected is None else found.corrected.error
        put_predictions(held, found.best, taken(rows.given, test), np.flatnonzero(test), rows.classes)
        names.append(found.chosen)
        fits += len(found.trials) * (len(np.unique(found.folds)) + 1)
        progress.add(1)
    tried = Tried("", "", CrossValidation.of(rows.data, rows.folds, held), held.margin, None, None, 0.0, 0.0)
    parts = losses(tried, rows, metric) * rows.weights / rows.weights.mean()
    variance = standard_error(parts, rows, metric) ** 2
    return _Dealing(float(parts.mean()), variance, _gaps(parts, printed, rows, metric), names, fits)


def _compared(again: Again, rows: ComparedRows, keep: NDArray[np.bool_]) -> Any:
    """A comparison of these rows, silent but for what stops it."""
    given: dict[str, Any] = {}
    scanned = isinstance(rows.given, Scan)
    if not scanned or rows.given.target is None:
        given["y"] = rows.labels[keep]
    if rows.weight is not None and not scanned:
        given["sample_weight"] = rows.weight[keep]
    if rows.dealer.grouped and rows.dealer.units is not None:
        given["groups"] = rows.dealer.units[keep]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", InterruptedWarning)
        try:
            return again(taken(rows.given, keep), **given)
        except DiscrimError as error:
            raise type(error)(f"Nested cross-validation, on the rows outside of a fold: {error}") from error


def _gaps(parts: Floats, printed: Floats, rows: ComparedRows, metric: Metric) -> Floats:
    """Of each outer fold the squared difference between both figures, less the variance of the one on the fold."""
    found = np.empty(len(printed))
    about = centred(parts, rows, metric)
    for f, figure in enumerate(printed):
        own = rows.folds.number == f
        sums = by_unit(np.where(own, about - about[own].mean(), 0.0), rows)
        units = int((by_unit(own.astype(np.float64), rows) > 0).sum())
        variance = sums @ sums * units / max(units - 1, 1) / own.sum() ** 2
        found[f] = (parts[own].mean() - figure) ** 2 - variance
    return found


def _summed_up(done: list[_Dealing], rows: ComparedRows, metric: Metric) -> Nested:
    value, least = (float(np.mean([getattr(one, name) for one in done])) for name in ("value", "variance"))
    gaps = np.concatenate([one.gaps for one in done])
    folds = len(gaps) / len(done)
    # The figure of all rows varies less than that of a part of them.
    variance = max(float(np.clip(gaps.mean(), least, folds * least)) * (folds - 1.0) / folds, least)
    error = float(np.sqrt(variance))
    if metric in SHARES:
        units = len(by_unit(rows.weights, rows))
        n = value * (1.0 - value) / variance if variance > 0 and 0.0 < value < 1.0 else float(units)
        low, high = proportion_interval(value * n, n)
    else:
        half = -float(special.ndtri(0.025)) * error
        low, high = max(value - half, min(0.0, value)), value + half
    names = Counter(name for one in done for name in one.chosen)
    fits = sum(one.fits for one in done)
    return Nested(value, error, (float(low), float(high)), dict(names.most_common()), len(gaps), fits)
