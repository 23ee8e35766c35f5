"""The figures of a comparison: losses with intervals, areas, and which models are not significantly worse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, cast

import numpy as np
from scipy import special

from discrim.comparison.baseline import BASELINE, MajorityClassifier
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.prepared import unwrapped
from discrim.comparison.selection import effective_rows
from discrim.comparison.trials import Tried
from discrim.errors import DiscrimError, ParameterError
from discrim.evaluation.answers import in_standard_errors
from discrim.evaluation.curves import compare_auc, multiclass_auc, roc
from discrim.evaluation.paired_tests import ResampledT, mcnemar, resampled_t
from discrim.evaluation.proportions import proportion_interval
from discrim.models.shell import recipe_of
from discrim.typing import Floats

Metric = str | Callable[..., float]

NAMES = ("error", "log_loss", "auc", "brier")
NOTHING = (np.nan, np.nan)
SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class Row:
    """One model: its figures with 95% intervals, and the paired test against the best.

    ``value`` is the metric that was asked for, turned so that less is better. ``p_value`` is Holm-adjusted; the model
    is ``indistinguishable`` from the best where it is 0.05 or more, and ``near`` it where the test by itself, without
    the adjustment, says so too. ``parameters`` is the size of the rule; ``family`` is 'equal' or 'own' where a model
    assumes one covariance matrix for all classes or one for each; ``regularised`` where it is penalised or shrunk, or
    has a prior; it ``takes_gaps`` where it uses missing values as they are. It ``beats_baseline`` where a one-sided
    paired test with Holm's adjustment says so at 5%; where the error is judged, ``informative`` says the same of the
    log loss by itself. A model that was not run has only a ``note``.
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
    takes_gaps: bool = False
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
    try:
        signature(metric).bind(None, None, None)
    except TypeError:
        expected = "'error', 'log_loss', 'auc', 'brier' or a function of y, the predictions and the posteriors"
        raise ParameterError.bad_value("metric", metric, expected) from None
    except ValueError:  # some functions written in C have no signature
        pass
    return cast("Metric", metric)


def score_rows(trials: list[Tried], not_run: Mapping[str, str], rows: ComparedRows, metric: Metric) -> list[Row]:
    """All models, the best first; those without the metric, and then those that were not run, last."""
    scored = [(_score(tried, rows, metric), tried) for tried in trials]
    scored.sort(key=lambda pair: np.inf if np.isnan(pair[0].value) else pair[0].value)
    table, ordered = [row for row, _ in scored], [tried for _, tried in scored]
    usable = [i for i, row in enumerate(table) if np.isfinite(row.value)]
    if usable:
        best, *rivals = usable
        table[best] = replace(table[best], indistinguishable=True, near=True)
        alone = [_paired_p(ordered[best], ordered[i], rows, metric) for i in rivals]
        for i, p, own in zip(rivals, holm(alone), alone, strict=True):
            table[i] = replace(table[i], p_value=p, indistinguishable=p >= SIGNIFICANT, near=own >= SIGNIFICANT)
        _mark_better(table, ordered, rows, metric)
    return [*table, *(Row(name, why) for name, why in not_run.items())]


def losses_of_rows(trials: list[Tried], rows: ComparedRows, metric: Metric) -> dict[str, Floats]:
    """The loss of every row under each model, times its weight over their mean; empty for a metric that is no mean."""
    if metric not in ("error", "log_loss", "brier"):
        return {}
    w = rows.weights / rows.weights.mean()
    done = [tried for tried in trials if metric == "error" or tried.has_posterior]
    return {tried.name: w * _losses(tried, rows, metric) for tried in done}


def _losses(tried: Tried, rows: ComparedRows, metric: Metric) -> Floats:
    """Of every row: 1 for an error; -log posterior of its class; squared distance of the posterior from it."""
    if metric == "error":
        return np.asarray(tried.result.predicted != rows.labels, dtype=np.float64)
    p = tried.result.posterior
    own = p[np.arange(rows.n), rows.codes]
    if metric == "log_loss":
        return -np.log(np.maximum(own, np.finfo(float).tiny))
    return np.asarray(np.einsum("ij,ij->i", p, p) - 2.0 * own + 1.0)


def _mark_better(table: list[Row], trials: list[Tried], rows: ComparedRows, metric: Metric) -> None:
    """Which models are better than the baseline.

    Judged by error, probabilities count too: a model that errs no more often and has the lower log loss is better.
    """
    place = next(i for i, row in enumerate(table) if row.name == BASELINE)
    usable = [i for i, row in enumerate(table) if i != place and np.isfinite(row.value)]
    p_values = [_better_p(trials[place], trials[i], rows, metric) for i in usable]
    if metric == "error":
        both = [_better_p(trials[place], trials[i], rows, "log_loss") for i in usable]
        fair = [q if table[i].error <= table[place].error else 1.0 for i, q in zip(usable, both, strict=True)]
        p_values = [min(1.0, 2.0 * np.nanmin([p, q])) for p, q in zip(p_values, fair, strict=True)]
        for i, q in zip(usable, holm(both), strict=True):
            table[i] = replace(table[i], informative=bool(q < SIGNIFICANT))
    for i, p in zip(usable, holm(p_values), strict=True):
        # Where nothing can be tested, the figure itself has to do.
        beats = p < SIGNIFICANT if np.isfinite(p) else table[i].value < table[place].value
        table[i] = replace(table[i], beats_baseline=bool(beats))


def _better_p(baseline: Tried, model: Tried, rows: ComparedRows, metric: Metric) -> float:
    """One-sided: that the model is only as good as the baseline. Rows of one group count together."""
    if metric == "error" and rows.weight is None and not rows.dealer.grouped:
        a, b = (_losses(tried, rows, "error") for tried in (baseline, model))
        gained, lost = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
        # Gained of all rows on which they differ: at least so many of fair coin tosses.
        return float(special.bdtrc(gained - 1, gained + lost, 0.5)) if gained else 1.0
    both = losses_of_rows([baseline, model], rows, metric)
    if len(both) == 2:
        lead = _by_unit(both[baseline.name] - both[model.name], rows)
        n = len(lead)
        error = float(lead.std(ddof=1) * np.sqrt(n))
        return float(special.stdtr(n - 1, -in_standard_errors(float(lead.sum()), error)))
    if metric in ("log_loss", "brier"):
        return np.nan
    if metric == "auc" and len(rows.classes) == 2 and rows.weight is None:
        score = binary_score(model)
        found = None if score is None else compare_auc(rows.codes, score, np.zeros(rows.n), positive=1)
        return np.nan if found is None else float(special.ndtr(-found.statistic))
    test = _over_folds(baseline, model, rows, metric)
    if test is None:
        return np.nan
    return test.p_value / 2.0 if test.difference > 0 else 1.0 - test.p_value / 2.0


def _by_unit(values: Floats, rows: ComparedRows) -> Floats:
    """Sums over the rows of each group; without groups, the values as they are."""
    if rows.dealer.units is None or not rows.dealer.grouped:
        return values
    return np.bincount(rows.dealer.units, values).astype(np.float64)


def holm(p_values: list[float]) -> list[float]:
    """Holm's adjusted p-values: the i-th smallest of m times m - i + 1, never below an earlier one; NaN stays."""
    known = [i for i in np.argsort(p_values, kind="stable") if np.isfinite(p_values[i])]
    adjusted, highest = list(p_values), 0.0
    for rank, i in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def _score(tried: Tried, rows: ComparedRows, metric: Metric) -> Row:
    result, w = tried.result, rows.weights
    n = effective_rows(result.error, w / w.mean() * _losses(tried, rows, "error"), rows)
    low, high = proportion_interval(result.error * n, n)
    auc, auc_interval = _area(tried, rows)
    log_loss_interval, brier = NOTHING, np.nan
    if tried.has_posterior:
        squares = (_losses(tried, rows, "log_loss") - result.log_loss) ** 2
        half = -special.ndtri(0.025) * float(np.sqrt(np.average(squares, weights=w) / n))
        log_loss_interval = (result.log_loss - half, result.log_loss + half)
        brier = float(np.average(_losses(tried, rows, "brier"), weights=w))
    if callable(metric):
        value = float(metric(rows.labels, result.predicted, result.posterior))
    else:
        value = {"error": result.error, "log_loss": result.log_loss, "auc": -auc, "brier": brier}[metric]
    model = unwrapped(tried.model)
    recipe = recipe_of(model)
    assumed = () if recipe is None else recipe.assumptions
    family = next((kind for kind in ("equal", "own") if f"{kind} covariances" in assumed), "")
    # What a cross-validated penalty came to, under scikit-learn's name.
    penalised = bool(np.isfinite(np.max(getattr(model, "C_", np.inf))))
    return Row(
        tried.name, tried.note, result.error, (float(low), float(high)), result.log_loss, log_loss_interval, auc,
        auc_interval, brier, tried.fit_time, tried.total_time,
        parameters=_size_of_rule(model) if recipe is None else recipe.rule_size(model.solution()), family=family,
        regularised=penalised if recipe is None else recipe.regularised(model.solution()),
        takes_gaps=recipe is not None and recipe.reads == "mixed", setting=tried.setting, value=value,
    )  # fmt: skip


def _size_of_rule(model: Any) -> float:
    """Free parameters of the log-odds of the classes against one of them; NaN where it is unknown.

    A linear rule has (K - 1)(p + 1), Gaussian naive Bayes (K - 1)(2 p + 1), a quadratic rule
    (K - 1)(1 + p + p (p + 1) / 2). Coefficients that are zero do not count. It is the size of what predicts, not of
    what was estimated on the way: LDA and logistic regression have the same.
    """
    others = len(getattr(model, "classes_", ())) - 1
    if isinstance(model, MajorityClassifier):
        return float(others)
    if hasattr(model, "feature_log_prob_"):
        return float(others * (np.shape(model.feature_log_prob_)[-1] + 1))
    coef = getattr(model, "coef_", None)
    if coef is None or others < 0:
        return np.nan
    dense = coef.toarray() if hasattr(coef, "toarray") else np.atleast_2d(np.asarray(coef))
    # Of K functions of a softmax, or of K indicators, one follows from the others.
    share = others / len(dense) if len(dense) > 1 else 1.0
    return float(np.ceil(np.count_nonzero(dense) * share)) + min(len(dense), others)


def binary_score(tried: Tried) -> Floats | None:
    """What the rows of two classes are ordered by: the posterior of the second, or the model's score."""
    if tried.has_posterior:
        return tried.result.posterior[:, 1]
    return tried.margin if tried.margin is not None and np.isfinite(tried.margin).all() else None


def _area(tried: Tried, rows: ComparedRows) -> tuple[float, tuple[float, float]]:
    """Two classes: the area with DeLong's interval; more: Hand and Till's, without one."""
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
    if metric == "error" and rows.weight is None and not rows.dealer.grouped:
        return mcnemar(rows.labels, best.result.predicted, other.result.predicted).p_value
    if metric == "error" or (rows.dealer.grouped and metric in ("log_loss", "brier")):
        # The same with weights: the weight that only one has right, minus that of the other, over its standard error.
        lead = _by_unit(rows.weights * (_losses(other, rows, metric) - _losses(best, rows, metric)), rows)
        return float(2.0 * special.ndtr(-abs(in_standard_errors(float(lead.sum()), float(np.sqrt(lead @ lead))))))
    if metric == "auc" and len(rows.classes) == 2 and rows.weight is None:
        return compare_auc(rows.codes, binary_score(best), binary_score(other), positive=1).p_value
    test = _over_folds(best, other, rows, metric)
    return np.nan if test is None else test.p_value


def _over_folds(first: Tried, second: Tried, rows: ComparedRows, metric: Metric) -> ResampledT | None:
    try:
        a, b = (_by_fold(tried, rows, metric) for tried in (first, second))
        return resampled_t(a, b, test_share=1.0 / len(a))
    except DiscrimError:
        return None


def _by_fold(tried: Tried, rows: ComparedRows, metric: Metric) -> Floats:
    w, number = rows.weights, rows.folds.number
    if metric in ("log_loss", "brier"):
        return np.asarray(np.bincount(number, w * _losses(tried, rows, metric)) / np.bincount(number, w))
    posterior, predicted, score = tried.result.posterior, tried.result.predicted, binary_score(tried)

    def value(own: Any) -> float:
        if callable(metric):
            return float(metric(rows.labels[own], predicted[own], posterior[own]))
        if len(rows.classes) > 2:
            return -multiclass_auc(rows.labels[own], posterior[own], rows.classes)
        assert score is not None
        weight = None if rows.weight is None else w[own]
        return -roc(rows.codes[own], score[own], positive=1, sample_weight=weight).auc

    return np.array([value(rows.folds.test(f)) for f in range(number.max() + 1)])


def percent(share: float) -> str:
    """14.2%, and 0.03% where one decimal would hide it."""
    return f"{share:.1%}" if share >= 0.01 or share == 0 else f"{share:.2%}"


def written(value: float, how: str) -> str:
    return "" if np.isnan(value) else format(value, how)


def listed(names: list[str], most: int = 4) -> str:
    """``a, b and c``; of more than ``most`` names, ``a, b, c and 7 others``."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
