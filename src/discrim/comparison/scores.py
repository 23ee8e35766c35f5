"""The figures of a comparison: losses with intervals, areas, and who cannot be told from the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, cast

import numpy as np
from scipy import special

from discrim.comparison.baseline import BASELINE
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.sizes import family_of, is_regularised, rule_size
from discrim.comparison.trials import Tried
from discrim.errors import DiscrimError, ParameterError
from discrim.evaluation.answers import in_standard_errors
from discrim.evaluation.delong import compare_auc
from discrim.evaluation.hand_till import multiclass_auc
from discrim.evaluation.paired_tests import mcnemar, resampled_t
from discrim.evaluation.proportions import proportion_interval
from discrim.evaluation.roc_curve import roc
from discrim.typing import Floats

Metric = str | Callable[..., float]

NAMES = ("error", "log_loss", "auc", "brier")
NOTHING = (np.nan, np.nan)
SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class Row:
    """One model: its figures with 95% intervals, and the paired test against the best.

    ``value`` is the metric that was asked for, turned so that less is better. ``p_value`` is Holm's; the model is
    ``indistinguishable`` from the best where it is 0.05 or more, and ``near`` it where the test by itself, without the
    correction, says so too. ``family`` is 'equal' or 'own' where a model assumes
    one covariance matrix for all classes or one for each; ``regularised`` where a penalty, shrinkage or a prior holds
    its numbers back. It ``beats_baseline`` where a one-sided paired test with Holm's correction says so at 5%; where
    the error is judged, ``informative`` says the same of the log loss by itself. A model that was not run has only a
    ``note``.
    """

    name: str
    note: str = ""
    error: float = np.nan
    error_interval: tuple[float, float] = NOTHING
    log_loss: float = np.nan
    log_loss_interval: tuple[float, float] = NOTHING
    auc: float = np.nan
    auc_interval: tuple[float, float] = NOTHING
    brier: float = np.nan
    fit_time: float = np.nan
    total_time: float = np.nan
    parameters: float = np.nan
    family: str = ""
    regularised: bool = False
    setting: Mapping[str, Any] | None = None
    value: float = np.nan
    p_value: float = np.nan
    indistinguishable: bool = False
    near: bool = False
    beats_baseline: bool = False
    informative: bool = False

    @property
    def done(self) -> bool:
        return bool(np.isfinite(self.error))

    @property
    def tuned(self) -> str:
        """The setting in words: ``alpha=0.5, gamma=0.9``."""
        hidden = {"max_iter"}
        shown = {n: v for n, v in (self.setting or {}).items() if n not in hidden and not isinstance(v, str)}
        return ", ".join(f"{name}={value:.3g}" for name, value in shown.items())


def check_metric(metric: Any) -> Metric:
    if isinstance(metric, str) and metric in NAMES:
        return metric
    if callable(metric) and _takes_three(metric):
        return cast("Metric", metric)
    expected = "'error', 'log_loss', 'auc', 'brier' or a function of y, the answers and the posteriors"
    raise ParameterError.bad_value("metric", metric, expected)


def _takes_three(function: Callable[..., Any]) -> bool:
    try:
        signature(function).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # some functions of C do not tell
        return True
    return True


def score_rows(trials: list[Tried], rows: ComparedRows, metric: Metric) -> list[Row]:
    """All models, the best first; those without the metric, and then those that were not run, last."""
    scored = [_score(tried, rows, metric) for tried in trials]
    order = sorted(range(len(scored)), key=lambda i: (np.isnan(scored[i].value), not scored[i].done, scored[i].value))
    scored, trials = [scored[i] for i in order], [trials[i] for i in order]
    usable = [i for i, row in enumerate(scored) if np.isfinite(row.value)]
    if not usable:
        return scored
    scored[usable[0]] = replace(scored[usable[0]], indistinguishable=True, near=True)
    rivals = usable[1:]
    alone = [_paired_p(trials[usable[0]], trials[i], rows, metric) for i in rivals]
    for i, p, own in zip(rivals, holm(alone), alone, strict=True):
        scored[i] = replace(scored[i], p_value=p, indistinguishable=p >= SIGNIFICANT, near=own >= SIGNIFICANT)
    return _against_baseline(scored, trials, rows, metric)


def row_losses(trials: list[Tried], rows: ComparedRows, metric: Metric) -> dict[str, Floats]:
    """The loss of every row under each model, times its weight over their mean; empty for a metric that is no mean."""
    if metric not in ("error", "log_loss", "brier"):
        return {}
    w = np.ones(rows.n) if rows.weight is None else rows.weight / rows.weight.mean()
    done = [tried for tried in trials if tried.result is not None and (metric == "error" or tried.has_posterior)]
    return {tried.name: w * _losses(tried, rows, str(metric)) for tried in done}


def _losses(tried: Tried, rows: ComparedRows, metric: str) -> Floats:
    assert tried.result is not None
    if metric == "error":
        return np.asarray(tried.result.predicted != rows.labels, dtype=np.float64)
    return _row_losses(tried, rows)[0 if metric == "log_loss" else 1]


def _against_baseline(scored: list[Row], trials: list[Tried], rows: ComparedRows, metric: Metric) -> list[Row]:
    """Which models are better than the baseline; all of them where there is none in the table.

    Judged by error, probabilities count too: a model that errs no more often and has the lower log loss is better.
    """
    place = next((i for i, row in enumerate(scored) if row.name == BASELINE), None)
    usable = [i for i, row in enumerate(scored) if i != place and np.isfinite(row.value)]
    if place is None:
        return [replace(row, beats_baseline=i in usable) for i, row in enumerate(scored)]
    p_values = [_better_p(trials[place], trials[i], rows, metric) for i in usable]
    if metric == "error":
        both = [_better_p(trials[place], trials[i], rows, "log_loss") for i in usable]
        fair = [q if scored[i].error <= scored[place].error else 1.0 for i, q in zip(usable, both, strict=True)]
        p_values = [min(1.0, 2.0 * np.nanmin([p, q])) for p, q in zip(p_values, fair, strict=True)]
        for i, q in zip(usable, holm(both), strict=True):
            scored[i] = replace(scored[i], informative=bool(q < SIGNIFICANT))
    for i, p in zip(usable, holm(p_values), strict=True):
        # Where nothing can be tested, the figure itself has to do.
        beats = p < SIGNIFICANT if np.isfinite(p) else scored[i].value < scored[place].value
        scored[i] = replace(scored[i], beats_baseline=bool(beats))
    return scored


def _better_p(baseline: Tried, model: Tried, rows: ComparedRows, metric: Metric) -> float:
    """One-sided: that the model is only as good as the baseline. Rows of one group count together."""
    if metric == "error" and rows.weight is None and not rows.dealer.grouped:
        a, b = (_losses(tried, rows, "error") for tried in (baseline, model))
        gained, lost = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
        # Gained of all rows on which they differ: at least so many of fair coin tosses.
        return float(special.bdtrc(gained - 1, gained + lost, 0.5)) if gained else 1.0
    both = row_losses([baseline, model], rows, metric)
    if len(both) == 2:
        lead = both[baseline.name] - both[model.name]
        if rows.dealer.units is not None and rows.dealer.grouped:
            lead = np.bincount(rows.dealer.units, lead).astype(np.float64)
        n = len(lead)
        error = float(lead.std(ddof=1) * np.sqrt(n))
        return float(special.stdtr(n - 1, -in_standard_errors(float(lead.sum()), error)))
    if metric in ("log_loss", "brier"):
        return np.nan
    if metric == "auc" and len(rows.classes) == 2 and rows.weight is None:
        score = binary_score(model)
        found = None if score is None else compare_auc(rows.codes, score, np.zeros(rows.n), positive=1)
        return np.nan if found is None else float(special.ndtr(-found.statistic))
    try:
        a, b = (_by_fold(tried, rows, metric) for tried in (baseline, model))
        p = resampled_t(a, b, test_share=1.0 / len(a)).p_value
    except DiscrimError:
        return np.nan
    return p / 2.0 if np.mean(b) < np.mean(a) else 1.0 - p / 2.0


def holm(p_values: list[float]) -> list[float]:
    """Holm's adjusted p-values: the i-th smallest of m times m - i + 1, never below an earlier one; NaN stays."""
    known = [i for i in np.argsort(p_values, kind="stable") if np.isfinite(p_values[i])]
    adjusted, highest = list(p_values), 0.0
    for rank, i in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def _score(tried: Tried, rows: ComparedRows, metric: Metric) -> Row:
    if tried.result is None:
        return Row(tried.name, tried.note)
    result, w = tried.result, np.ones(rows.n) if rows.weight is None else rows.weight
    # The number of equally weighted rows that tell as much.
    n = float(w.sum() ** 2 / (w @ w))
    low, high = proportion_interval(result.error * n, n)
    auc, auc_interval = _area(tried, rows)
    row = Row(
        tried.name, tried.note, result.error, (float(low), float(high)), result.log_loss,
        auc=auc, auc_interval=auc_interval, fit_time=tried.fit_time, total_time=tried.total_time,
        parameters=rule_size(tried.model), family=family_of(tried.model), regularised=is_regularised(tried.model),
        setting=tried.setting,
    )  # fmt: skip
    if tried.has_posterior:
        losses, squares = _row_losses(tried, rows)
        half = -special.ndtri(0.025) * float(np.sqrt(np.average((losses - row.log_loss) ** 2, weights=w) / n))
        row = replace(
            row,
            log_loss_interval=(row.log_loss - half, row.log_loss + half),
            brier=float(np.average(squares, weights=w)),
        )
    return replace(row, value=_value(row, tried, rows, metric))


def _value(row: Row, tried: Tried, rows: ComparedRows, metric: Metric) -> float:
    if callable(metric):
        assert tried.result is not None
        return float(metric(rows.labels, tried.result.predicted, tried.result.posterior))
    return -row.auc if metric == "auc" else float(getattr(row, metric))


def _row_losses(tried: Tried, rows: ComparedRows) -> tuple[Floats, Floats]:
    """-log posterior of the own class, and the squared distance of the posterior from it, of every row."""
    assert tried.result is not None
    p = tried.result.posterior
    own = p[np.arange(rows.n), rows.codes]
    squares = np.einsum("ij,ij->i", p, p) - 2.0 * own + 1.0
    return -np.log(np.maximum(own, np.finfo(float).tiny)), squares


def binary_score(tried: Tried) -> Floats | None:
    """What the rows of two classes are ordered by: the posterior of the second, or the model's score."""
    if tried.has_posterior:
        assert tried.result is not None
        return tried.result.posterior[:, 1]
    return tried.margin if tried.margin is not None and np.isfinite(tried.margin).all() else None


def _area(tried: Tried, rows: ComparedRows) -> tuple[float, tuple[float, float]]:
    """Two classes: the area with DeLong's interval; more: Hand and Till's, without one."""
    assert tried.result is not None
    try:
        if len(rows.classes) > 2:
            has = tried.has_posterior
            return (multiclass_auc(rows.labels, tried.result.posterior, rows.classes) if has else np.nan), NOTHING
        score = binary_score(tried)
        if score is None:
            return np.nan, NOTHING
        curve = roc(rows.codes, score, positive=1, sample_weight=rows.weight)
        return curve.auc, curve.auc_ci() if rows.weight is None else NOTHING
    except DiscrimError:
        return np.nan, NOTHING


def _paired_p(best: Tried, other: Tried, rows: ComparedRows, metric: Metric) -> float:
    """McNemar's test for errors, DeLong's for two classes' areas, else the corrected resampled t over folds."""
    assert best.result is not None
    assert other.result is not None
    if metric == "error" and rows.weight is None:
        return mcnemar(rows.labels, best.result.predicted, other.result.predicted).p_value
    if metric == "error":
        return _weighted_mcnemar(best, other, rows)
    if metric == "auc" and len(rows.classes) == 2 and rows.weight is None:
        scores = binary_score(best), binary_score(other)
        return compare_auc(rows.codes, *scores, positive=1).p_value
    try:
        a, b = (_by_fold(tried, rows, metric) for tried in (best, other))
        return resampled_t(a, b, test_share=1.0 / len(a)).p_value
    except DiscrimError:
        return np.nan


def _weighted_mcnemar(best: Tried, other: Tried, rows: ComparedRows) -> float:
    """The same with weights: the weight that only one has right, minus that of the other, over its standard error."""
    assert best.result is not None
    assert other.result is not None
    assert rows.weight is not None
    right = [tried.predicted == rows.labels for tried in (best.result, other.result)]
    lead = rows.weight * (right[0].astype(np.float64) - right[1])
    return float(2.0 * special.ndtr(-abs(in_standard_errors(float(lead.sum()), float(np.sqrt(lead @ lead))))))


def _by_fold(tried: Tried, rows: ComparedRows, metric: Metric) -> Floats:
    assert tried.result is not None
    w, number = np.ones(rows.n) if rows.weight is None else rows.weight, rows.fold_of.number
    if metric in ("log_loss", "brier"):
        losses = _row_losses(tried, rows)[0 if metric == "log_loss" else 1]
        return np.asarray(np.bincount(number, w * losses) / np.bincount(number, w))
    folds = [np.flatnonzero(number == f) for f in range(number.max() + 1)]
    posterior, predicted = tried.result.posterior, tried.result.predicted
    if callable(metric):
        return np.array([metric(rows.labels[own], predicted[own], posterior[own]) for own in folds], dtype=np.float64)
    if len(rows.classes) == 2:
        score = binary_score(tried)
        assert score is not None
        weights = [None if rows.weight is None else rows.weight[own] for own in folds]
        curves = (
            roc(rows.codes[o], score[o], positive=1, sample_weight=v) for o, v in zip(folds, weights, strict=True)
        )
        return -np.array([curve.auc for curve in curves])
    return -np.array([multiclass_auc(rows.labels[own], posterior[own], rows.classes) for own in folds])
