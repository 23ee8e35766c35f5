"""The figures of a comparison: values with intervals, differences from the best, and what is better than guessing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from discrim.comparison.baseline import BASELINE, MajorityClassifier, error_on_new_rows
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.metrics import SHARES, Costs, Judged, Metric, by_unit, judge, standard_error
from discrim.comparison.prepared import unwrapped
from discrim.comparison.reference import REFERENCE
from discrim.comparison.selection import dependence, effective_rows
from discrim.comparison.trials import Tried
from discrim.errors import DiscrimError
from discrim.evaluation.areas import area_interval, two_sizes
from discrim.evaluation.many_tests import all_pairs, larger_than_zero
from discrim.evaluation.paired_tests import ResampledT, resampled_t
from discrim.evaluation.proportions import proportion_interval
from discrim.models.shell import recipe_of
from discrim.typing import Floats

Interval = tuple[float, float]

NOTHING = (np.nan, np.nan)
SIGNIFICANT = 0.05
# Errors that differ by no more are equal, and so are standard errors but for rounding.
ONE_POINT, ROUNDING = 0.01, 1e-9
FAMILIES = {"equal": "equal covariances", "own": "own covariances", "variances": "own variances"}
MODEL, BASE, REFER = "model", "baseline", "reference"


@dataclass(frozen=True, eq=False)
class Row:
    """One model: its figures with 95% intervals, and how far it is from the best.

    ``role`` is 'model', 'baseline' or 'reference'. ``value`` is the metric that was asked for, turned so that less
    is better, with its ``value_interval``. ``difference`` is its paired difference from the best, with the standard
    error ``difference_error``; the model is ``tied`` where that is within one standard error, and, of errors,
    within one point. ``p_value`` is that of the difference, adjusted for all pairs of models; it is
    ``indistinguishable`` from the best where that is 0.05 or more. ``recall`` are the shares of each class that
    were found. ``parameters`` is the size of the rule, and ``dependence`` by how much the variance of its figures
    exceeds that of independent rows; ``family`` is 'equal' or 'own' where a model assumes one covariance matrix for
    all classes or one for each, 'variances' where each class has variances of its own; ``regularised`` where it is
    penalised or shrunk, or has a prior; it ``takes_gaps`` where it uses missing values as they are. It
    ``beats_baseline`` by a one-sided paired test at 5%, adjusted for all models, with the p-value ``baseline_p``;
    where the error is judged, ``informative`` says the same of the log loss by itself. A model that was not run has
    only a ``note``.
    """

    name: str
    note: str = ""
    role: str = MODEL
    error: float = np.nan
    error_interval: Interval = NOTHING
    balanced_error: float = np.nan
    balanced_error_interval: Interval = NOTHING
    recall: tuple[float, ...] = ()
    log_loss: float = np.nan
    log_loss_interval: Interval = NOTHING
    auc: float = np.nan
    auc_interval: Interval = NOTHING
    brier: float = np.nan
    fit_time: float = np.nan
    total_time: float = np.nan
    parameters: float = np.nan
    dependence: float = 1.0
    family: str = ""
    regularised: bool = False
    takes_gaps: bool = False
    setting: Mapping[str, Any] | None = None
    value: float = np.nan
    value_interval: Interval = NOTHING
    difference: float = np.nan
    difference_error: float = np.nan
    tied: bool = False
    p_value: float = np.nan
    indistinguishable: bool = False
    beats_baseline: bool = False
    baseline_p: float = np.nan
    informative: bool = False

    @property
    def done(self) -> bool:
        return bool(np.isfinite(self.error))

    @property
    def usable(self) -> bool:
        """A model that may be chosen."""
        return self.role == MODEL and bool(np.isfinite(self.value))

    @property
    def tuned(self) -> str:
        """The setting in words: ``alpha=0.5, gamma=0.9``."""
        hidden = {"max_iter"}
        shown = {n: v for n, v in (self.setting or {}).items() if n not in hidden and not isinstance(v, str)}
        return ", ".join(f"{name}={value:.3g}" for name, value in shown.items())


def score_rows(trials: list[Tried], not_run: Mapping[str, str], rows: ComparedRows, metric: Metric) -> list[Row]:
    """All models, the best first; then those without the metric, the reference, and those that were not run."""
    scored = [(_score(tried, rows, metric), tried) for tried in trials]
    scored.sort(key=lambda pair: (pair[0].role == REFER, np.inf if np.isnan(pair[0].value) else pair[0].value))
    table, ordered = [row for row, _ in scored], [tried for _, tried in scored]
    _mark_better(table, ordered, rows, metric)
    usable = [i for i, row in enumerate(table) if row.usable]
    for i in usable:
        if not table[i].beats_baseline:
            table[i] = _figured(replace(table[i], dependence=2.0), ordered[i], rows, metric)
    if usable:
        best = next((i for i in usable if table[i].beats_baseline), usable[0])
        _mark_distances(table, ordered, best, rows, metric)
    if rows.folds.one_at_a_time:
        base = next(row.error for row in table if row.role == BASE)
        table = [_unclaimed(row) if row.role != BASE and row.error > base else row for row in table]
    return [*table, *(Row(name, why) for name, why in not_run.items())]


def _unclaimed(row: Row) -> Row:
    """Worse than guessing when one row is left out, which says more of that than of the model: no interval, no test."""
    return replace(
        row, error_interval=NOTHING, balanced_error_interval=NOTHING, value_interval=NOTHING, p_value=np.nan,
        indistinguishable=False,
    )  # fmt: skip


def _mark_better(table: list[Row], trials: list[Tried], rows: ComparedRows, metric: Metric) -> None:
    """Which models are better than the baseline.

    Judged by error, probabilities count too: a model that errs no more often and has the lower log loss is better.
    """
    place = next(i for i, row in enumerate(table) if row.role == BASE)
    usable = [i for i, row in enumerate(table) if row.usable]
    if metric == "error" and usable:
        p_values, by_loss = _better_p(place, usable, trials, rows, ("error", "log_loss"))
        fair = np.array([table[i].error <= table[place].error for i in usable])
        p_values = np.fmin(p_values, np.where(fair, by_loss, 1.0))
        (alone,) = _better_p(place, usable, trials, rows, ("log_loss",))
        for i, q in zip(usable, alone, strict=True):
            table[i] = replace(table[i], informative=bool(q < SIGNIFICANT))
    else:
        (p_values,) = _better_p(place, usable, trials, rows, (metric,))
    for i, p in zip(usable, p_values, strict=True):
        # Where nothing can be tested, the figure itself has to do.
        beats = p < SIGNIFICANT if np.isfinite(p) else table[i].value < table[place].value
        table[i] = replace(table[i], beats_baseline=bool(beats), baseline_p=float(p))


def _better_p(
    place: int, usable: list[int], trials: list[Tried], rows: ComparedRows, metrics: tuple[Metric, ...]
) -> Floats:
    """One-sided: that a model is only as good as the baseline; metrics x models, adjusted for all of them.

    Rows of one group count together.
    """
    found = np.full((len(metrics), len(usable)), np.nan)
    if callable(metrics[0]):
        for j, i in enumerate(usable):
            test = _over_folds(trials[place], trials[i], rows, metrics[0])
            if test is not None:
                found[0, j] = test.p_value / 2.0 if test.difference > 0 else 1.0 - test.p_value / 2.0
        return np.array([holm(found[0].tolist())])
    leads, parts, places = list[float](), list[Floats](), list[tuple[int, int]]()
    for k, metric in enumerate(metrics):
        base = judge(trials[place], rows, metric)
        # The score of a row depends on the label of another as that one's on its own, in the same way: where there is
        # nothing to learn, what two rows have in common counts twice. Other metrics are biased by more than that
        # against the models there, since the baseline knows the shares of the classes.
        least = np.sqrt(2.0) if metric == "auc" else 1.0
        for j, i in enumerate(usable):
            own = judge(trials[i], rows, metric)
            if base is not None and own is not None:
                leads.append(rows.n * (base.value - own.value) / least)
                parts.append(base.parts - own.parts)
                places.append((k, j))
    if places:
        p_values = larger_than_zero(np.array(leads), by_unit(np.column_stack(parts), rows))
        found[tuple(np.array(places).T)] = p_values
    return found


def _stacked(judged: list[Judged], rows: ComparedRows) -> tuple[Floats, Floats]:
    return np.array([one.value for one in judged]), by_unit(np.column_stack([one.parts for one in judged]), rows)


def _mark_distances(table: list[Row], trials: list[Tried], best: int, rows: ComparedRows, metric: Metric) -> None:
    """How far each row is from the best model, and which of them may be chosen in its place."""
    table[best] = replace(table[best], difference=0.0, difference_error=0.0, tied=True, indistinguishable=True)
    others = [i for i, row in enumerate(table) if i != best and np.isfinite(row.value)]
    if callable(metric):
        tests = [_over_folds(trials[i], trials[best], rows, metric) for i in others]
        apart = [(np.nan, np.nan) if test is None else (test.difference, test.std_error) for test in tests]
        p_values = holm([np.nan if test is None else test.p_value for test in tests])
    else:
        judged = {i: one for i in (best, *others) if (one := judge(trials[i], rows, metric)) is not None}
        gaps = {i: judged[i].parts - judged[best].parts for i in others}
        apart = [(table[i].value - table[best].value, standard_error(gaps[i], rows, metric)) for i in others]
        p_values = _pairwise_p(table, judged, best, others, rows)
    for i, (difference, error), p in zip(others, apart, p_values, strict=True):
        near = difference <= error * (1.0 + ROUNDING) + ROUNDING
        near = near and (metric != "error" or difference <= ONE_POINT * (1.0 + ROUNDING))
        table[i] = replace(
            table[i], difference=difference, difference_error=error, p_value=p,
            tied=bool(near and table[i].usable), indistinguishable=bool(p >= SIGNIFICANT),
        )  # fmt: skip


def _pairwise_p(
    table: list[Row], judged: dict[int, Judged], best: int, others: list[int], rows: ComparedRows
) -> list[float]:
    """Of the differences from the best, adjusted for all pairs; that of the reference by itself."""
    family = [i for i in judged if table[i].role != REFER]
    values, parts = _stacked([judged[i] for i in family], rows)
    pairs = dict(zip(family, all_pairs(rows.n * values, parts)[family.index(best)], strict=True))
    for i in others:
        if i not in pairs:
            values, parts = _stacked([judged[best], judged[i]], rows)
            pairs[i] = all_pairs(rows.n * values, parts)[0, 1]
    return [float(pairs[i]) for i in others]


def holm(p_values: list[float]) -> list[float]:
    """Holm's adjusted p-values: the i-th smallest of m times m - i + 1, never below an earlier one; NaN stays."""
    known = [i for i in np.argsort(p_values, kind="stable") if np.isfinite(p_values[i])]
    adjusted, highest = list(p_values), 0.0
    for rank, i in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def _score(tried: Tried, rows: ComparedRows, metric: Metric) -> Row:
    w = rows.weights
    right = np.mean([one.result.predicted == rows.labels for one in (tried, *tried.again)], axis=0)
    size = np.bincount(rows.codes, w, minlength=len(rows.classes))
    recall = np.bincount(rows.codes, w * right, minlength=len(size)) / np.where(size > 0, size, np.nan)
    model = unwrapped(tried.model)
    recipe = recipe_of(model)
    assumed = () if recipe is None else recipe.assumptions
    role = {BASELINE: BASE, REFERENCE: REFER}.get(tried.name, MODEL)
    parameters = _size_of_rule(model) if recipe is None else recipe.rule_size(model.solution())
    judged = judge(tried, rows, "error")
    independent = rows.n if judged is None else effective_rows(judged.parts, rows)
    # What a cross-validated penalty came to, under scikit-learn's name.
    penalised = bool(np.isfinite(np.max(getattr(model, "C_", np.inf))))
    row = Row(
        tried.name, tried.note, role, recall=tuple(recall.tolist()), fit_time=tried.fit_time,
        total_time=tried.total_time, parameters=parameters,
        dependence=dependence(parameters, independent) if role == MODEL else 1.0,
        family=next((kind for kind, words in FAMILIES.items() if words in assumed), ""),
        regularised=penalised if recipe is None else recipe.regularised(model.solution()),
        takes_gaps=recipe is not None and recipe.reads == "mixed", setting=tried.setting,
    )  # fmt: skip
    return _figured(row, tried, rows, metric)


def _figured(row: Row, tried: Tried, rows: ComparedRows, metric: Metric) -> Row:
    """With all values, and intervals from its ``dependence`` times the variance of independent rows.

    Of a model that may have learned nothing that is twice: whether a row is predicted correctly depends there on the
    label of another as that one's on its own, in the same way.
    """
    figures: dict[str, tuple[float, Interval]] = {
        name: _figure(tried, rows, name, row.dependence)
        for name in ("error", "balanced_error", "log_loss", "auc", "brier")
    }
    if row.role == BASE and not isinstance(metric, Costs):
        figures["error"] = _of_leading_class(tried, rows, *figures["error"])
    if callable(metric):
        each = [metric(rows.labels, one.result.predicted, one.result.posterior) for one in (tried, *tried.again)]
        value, interval = float(np.mean(each)), NOTHING
    else:
        value, interval = figures[metric] if isinstance(metric, str) else _figure(tried, rows, metric, row.dependence)
    area, ends = figures["auc"]
    return replace(
        row, error=figures["error"][0], error_interval=figures["error"][1], balanced_error=figures["balanced_error"][0],
        balanced_error_interval=figures["balanced_error"][1], log_loss=figures["log_loss"][0],
        log_loss_interval=figures["log_loss"][1], auc=-area, auc_interval=(-ends[1], -ends[0]),
        brier=figures["brier"][0], value=value, value_interval=interval,
    )  # fmt: skip


class Gain(NamedTuple):
    """By how much the value of another model is lower, its standard error, and the p-value of this one difference."""

    value: float
    std_error: float
    p_value: float


def gain_over(chosen: Tried, other: Tried, rows: ComparedRows, metric: Metric) -> Gain | None:
    """None for a function, and where one of them lacks what the metric needs."""
    both = [judge(tried, rows, metric) for tried in (chosen, other)]
    judged = [one for one in both if one is not None]
    if len(judged) < 2:
        return None
    values, parts = _stacked(judged, rows)
    error = standard_error(judged[0].parts - judged[1].parts, rows, metric)
    # As in the test of models against the baseline.
    longer = np.sqrt(2.0) if metric == "auc" and chosen.name == BASELINE else 1.0
    p_value = float(all_pairs(rows.n * values / longer, parts)[0, 1])
    return Gain(float(values[0] - values[1]), error * longer, p_value)


def _figure(tried: Tried, rows: ComparedRows, metric: str | Costs, times: float) -> tuple[float, Interval]:
    """The value, less is better, and its interval, from so many times the variance of independent rows."""
    judged = judge(tried, rows, metric)
    if judged is None:
        return np.nan, NOTHING
    value, parts = judged
    if metric in SHARES:
        n = effective_rows(parts, rows, metric) / times
        low, high = proportion_interval(value * n, n)
        return value, (float(low), float(high))
    error = standard_error(parts, rows, metric) * np.sqrt(times)
    # Of few groups the variance is uncertain itself.
    df = len(by_unit(rows.weights, rows)) - 1 if rows.dealer.grouped else np.inf
    if metric == "auc":
        low, high = area_interval(-value, error, *_two_sizes(parts, error, rows), df=df)
        return value, (-high, -low)
    half = float(special.stdtrit(df, 0.975) if np.isfinite(df) else special.ndtri(0.975)) * error
    return value, (max(value - half, min(0.0, value)), value + half)


def _of_leading_class(tried: Tried, rows: ComparedRows, error: float, interval: Interval) -> tuple[float, Interval]:
    """The error of the baseline, whose interval goes as far up as the error that its class has where it leads less."""
    judged = judge(tried, rows, "error")
    if judged is None:
        return error, interval
    n = effective_rows(judged.parts, rows)
    expected = max(error, error_on_new_rows(np.bincount(rows.codes, rows.weights) / rows.weights.sum(), n))
    return error, (interval[0], float(proportion_interval(expected * n, n)[1]))


def _two_sizes(parts: Floats, std_error: float, rows: ComparedRows) -> tuple[float, float]:
    """Independent rows of two classes: fewer where weights differ, and by how much the error is longer than theirs."""
    w, alone = rows.weights, float(np.sqrt(parts @ parts)) / rows.n
    sizes = np.bincount(rows.codes, w) ** 2 / np.maximum(np.bincount(rows.codes, w * w), 1e-300)
    longer = max(std_error / alone, 1.0) if alone > 0 else 1.0
    first, second = two_sizes(sizes)
    return first / longer**2, second / longer**2


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


def _over_folds(first: Tried, second: Tried, rows: ComparedRows, metric: Any) -> ResampledT | None:
    """The corrected resampled t-test of a function of y, the predictions and the posteriors."""
    number = first.result.folds
    try:
        a, b = (
            np.array(
                [
                    float(metric(rows.labels[own], tried.result.predicted[own], tried.result.posterior[own]))
                    for own in (np.flatnonzero(number == f) for f in np.unique(number))
                ]
            )
            for tried in (first, second)
        )
        return resampled_t(a, b, test_share=1.0 / len(a))
    except DiscrimError:
        return None


def written(value: float, how: str) -> str:
    return "" if np.isnan(value) else format(value, how)


def listed(names: list[str], most: int = 4) -> str:
    """``a, b and c``; of more than ``most`` names, ``a, b, c and 7 others``. Names with a comma are quoted."""
    if len(names) > 1:
        names = [f"'{name}'" if ", " in name and not name.startswith("'") else name for name in names]
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
