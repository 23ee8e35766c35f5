"""Which model is chosen: better than the baseline, as good as the best, and of those the simplest; and the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.metrics import SHARES, Metric, figure, metric_name, percent
from discrim.comparison.nested import Nested
from discrim.comparison.reference import REFERENCE
from discrim.comparison.scores import BASE, REFER, SIGNIFICANT, Row, listed, written
from discrim.comparison.selection import Corrected
from discrim.errors import DataError, name_list
from discrim.inference.assumptions import AssumptionChecks
from discrim.inference.render import write_p_value

# Log losses within two per cent, and rules that differ by less in their size, are equal.
TWO_PER_CENT = 0.02
ABOUT = 1.5
MOST_SAID = 2


@dataclass(frozen=True, eq=False)
class Choice:
    """``row`` is chosen of the ``tied``, models that are as good as ``best``.

    ``reason`` says why: 'baseline' (nothing beats it), 'alone' (there is no tie), 'loss' (the lowest of the tied),
    'simple' (the smaller and more regularised of the lowest) or 'no error' (the same of models without a single error).
    """

    row: Row
    best: Row | None
    tied: tuple[Row, ...]
    reason: str


def choose(table: list[Row], metric: Metric) -> Choice:
    """By the figures of the table: the models that are better than the baseline, and of these those that are tied."""
    judged = [row for row in table if row.role != REFER and np.isfinite(row.value)]
    if not judged:
        raise DataError(f"No model has a finite value of the metric that was asked for. {table[0].note}".rstrip())
    better = [row for row in judged if row.beats_baseline]
    if not better:
        baseline = next((row for row in judged if row.role == BASE), judged[0])
        best = next((row for row in judged if row.role != BASE), None)
        return Choice(baseline, best, (), "baseline")
    best = better[0]
    tied = [row for row in better if row is best or row.tied]
    if len(tied) == 1:
        return Choice(best, best, (best,), "alone")
    without = [row for row in tied if row.error == 0] if metric == "error" else []
    if len(without) > 1:
        return Choice(_simplest(without), best, tuple(without), "no error")
    lowest = min(_score(row, metric) for row in tied)
    near = [row for row in tied if _score(row, metric) <= (1.0 + TWO_PER_CENT) * lowest]
    if len(near) <= 1:
        return Choice(near[0] if near else best, best, tuple(tied), "loss")
    return Choice(_simplest(near), best, tuple(tied), "simple")


def _score(row: Row, metric: Metric) -> float:
    value = row.brier if metric == "brier" else row.log_loss
    return value if np.isfinite(value) else np.inf


def _smallest(rows: list[Row], factor: float) -> list[Row]:
    """Those whose rules have at most so many times the fewest parameters."""
    sizes = [np.inf if np.isnan(row.parameters) else row.parameters for row in rows]
    return [row for row, size in zip(rows, sizes, strict=True) if size <= factor * min(sizes)]


def _simplest(rows: list[Row]) -> Row:
    """Of the smallest rules the regularised ones, and of these the one of the lowest log loss."""
    return min(_smallest(rows, ABOUT), key=lambda row: (not row.regularised, _score(row, "log_loss"), row.value))


def verdict_of(
    table: list[Row],
    choice: Choice,
    corrected: Corrected | None,
    checks: AssumptionChecks,
    rows: ComparedRows,
    metric: Metric,
    gain: tuple[float, float] | None = None,
    cautions: Sequence[str] = (),
) -> str:
    """What was chosen and by what margin; what to be careful about; the assumptions that bear on it."""
    first = _nothing_better(table, choice, rows, metric) if choice.reason == "baseline" else ""
    parts = [first or f"{_why_chosen(table, choice, metric)}.", *_by_probabilities(table, choice.row, metric)]
    if corrected is not None:
        parts.append(
            f"Corrected for having been chosen among {corrected.models} models, the {metric_name(metric)} to expect on "
            f"new rows is {figure(corrected.error, metric)} ({_interval(corrected.interval, metric)})."
        )
    parts += [*_of_reference(gain, choice, metric), *cautions]
    parts.append(_assumptions(table, choice.row, checks, rows, metric))
    if rows.missing and not choice.row.takes_gaps:
        parts.append(f"Missing values in {name_list(rows.missing, most=3)} were filled in.")
    return " ".join(parts)


def said_of_nested(found: Nested | None, metric: Metric) -> list[str]:
    """The error of the choice on rows that it never saw, what was chosen there, and what it took to know."""
    if found is None:
        return []
    names = [f"{name} {count} times" if count > 1 else f"{name} once" for name, count in found.chosen.items()]
    text = (
        f"Nested cross-validation, which makes the whole choice again without the rows that judge it, finds "
        f"{'an error' if metric == 'error' else f'a {metric_name(metric)}'} of {figure(found.error, metric)} "
        f"({_interval(found.interval, metric)}); in {found.comparisons} comparisons ({found.fits:,} fits) it chose "
        f"{listed(names)}."
    )
    return [text]


def _interval(ends: tuple[float, float], metric: Metric) -> str:
    low, high = (-ends[1], -ends[0]) if metric == "auc" else ends
    if np.isnan(low):
        return "no interval"
    if metric in SHARES:
        return f"95% interval {100 * low:.1f} to {100 * high:.1f}"
    return f"95% interval {low:.3f} to {high:.3f}"


def _of_reference(found: tuple[float, float] | None, choice: Choice, metric: Metric) -> list[str]:
    """What more flexible models would gain over the chosen one, and the p-value of that."""
    if found is None:
        return []
    gain, p_value = found
    test = f"p {write_p_value(p_value)}"
    if metric == "error":
        amount = f"{100 * abs(gain):.1f} points {'fewer' if gain > 0 else 'more'} errors"
        makes = f"make {amount}"
    else:
        amount = f"{abs(gain):.3f}" if metric not in SHARES else f"{100 * abs(gain):.1f} points"
        better = "lower" if (gain > 0) != (metric == "auc") else "higher"
        makes = f"have {'an' if metric == 'auc' else 'a'} {metric_name(metric)} that is {amount} {better}"
    if abs(gain) < 5e-4:
        return [f"{REFERENCE}, the reference, do no better: columns interact in no way that matters."]
    if gain > 0 and p_value < SIGNIFICANT:
        text = (
            f"{REFERENCE}, the reference, {makes} ({test}): columns interact or act in curves, which "
            f"{choice.row.name} does not use; products or basis functions of columns may."
        )
        return [text]
    if gain > 0:
        return [f"{REFERENCE}, the reference, {makes}, which may be due to chance ({test})."]
    return [f"{REFERENCE}, the reference, {makes}: there is nothing to gain from them."]


def _nothing_better(table: list[Row], choice: Choice, rows: ComparedRows, metric: Metric) -> str:
    """That always predicting the same class does as well."""
    most = rows.classes[np.argmax(np.bincount(rows.codes, rows.weight, minlength=len(rows.classes)))]
    own = f"{metric_name(metric)} {figure(choice.row.value, metric)}"
    text = f"No model is significantly better than always predicting '{most}' ({own})"
    best = choice.best
    if best is None:
        return f"{text}."
    count = sum(row.usable for row in table)
    rank = "nearest" if best.value > choice.row.value else "best"
    which = "the only one" if count == 1 else f"the {rank} of {count}"
    chance = ", which may be due to chance" if best.value < choice.row.value else ""
    text = f"{text}; {which}, {best.name}, has {figure(best.value, metric)}{chance}."
    informed = min((row for row in table if row.informative), key=lambda row: row.log_loss, default=None)
    if informed is None:
        return text
    losses = f"{informed.log_loss:.3f} versus {choice.row.log_loss:.3f} for the baseline"
    return (
        f"{text} By log loss, {informed.name} is better ({losses}): its probabilities are informative, and "
        "metric='log_loss' chooses by them."
    )


def _why_chosen(table: list[Row], choice: Choice, metric: Metric) -> str:
    done = [row for row in table if row.usable]
    better, chosen, best = [row for row in done if row.beats_baseline], choice.row, choice.best
    name, own = metric_name(metric), figure(chosen.value, metric)
    interval = _interval(chosen.value_interval, metric)
    own = own if np.isnan(chosen.value_interval[0]) else f"{own} ({interval})"
    if len(done) == 1:
        return f"{chosen.name} is the only model that could be evaluated: its cross-validated {name} is {own}"
    if len(better) == 1:
        return (
            f"{chosen.name} is the only one of {len(done)} models that is significantly better than the baseline: its "
            f"cross-validated {name} is {own}"
        )
    others = [row.name for row in choice.tied if row is not chosen]
    if choice.reason == "no error":
        return (
            f"{chosen.name} is chosen: like {listed(others)} it makes no error on held-out rows ({interval}), and "
            f"none of these {len(choice.tied)} models has a much simpler rule ({_size(chosen)})"
        )
    least = "largest" if metric == "auc" else "smallest"
    if chosen is not best and best is not None:
        return (
            f"{chosen.name} is chosen: its cross-validated {name} of {own} is within one standard error of the {least} "
            f"({figure(best.value, metric)}, {best.name}), and {_reason(choice, metric)}"
        )
    counted = f"{len(done)} models"
    if better[0] is not done[0]:
        counted = f"the {len(better)} models that are significantly better than the baseline"
    text = f"{chosen.name} has the {least} cross-validated {name} of {counted}, {own}"
    if choice.reason == "alone":
        runner = next(row for row in better if row is not chosen)
        p = "" if np.isnan(runner.p_value) else f", p {write_p_value(runner.p_value)}"
        if not runner.indistinguishable:
            return f"{text}, and is clearly ahead of {runner.name} ({figure(runner.value, metric)}{p})"
        return (
            f"{text}; {runner.name} comes next ({figure(runner.value, metric)}{p}: the difference may be due to chance)"
        )
    are = "is" if len(others) == 1 else "are"
    return f"{text}; {listed(others)} {are} within one standard error, but {_reason(choice, metric)}"


def _by_probabilities(table: list[Row], chosen: Row, metric: Metric) -> list[str]:
    """Where it errs as often as the baseline, to the digits that are shown, in what it is better."""
    baseline = next((row for row in table if row.role == BASE), None)
    if baseline is None or baseline is chosen or metric != "error" or percent(chosen.error) != percent(baseline.error):
        return []
    losses = f"{chosen.log_loss:.3f} versus {baseline.log_loss:.3f}"
    return [f"Its error equals that of the baseline ({percent(baseline.error)}), but its log loss is lower ({losses})."]


def _reason(choice: Choice, metric: Metric) -> str:
    chosen, count = choice.row, len(choice.tied)
    names = "" if chosen is choice.best else f" ({listed([row.name for row in choice.tied])})"
    of = f"of the {count} tied models{names}" if count > 2 else "of the two"
    kind, own = ("Brier score", chosen.brier) if metric == "brier" else ("log loss", chosen.log_loss)
    if choice.reason == "simple":
        lowest = min(row.brier if metric == "brier" else row.log_loss for row in choice.tied)
        level = f"{written(own, '.3f')}) is {'' if own <= lowest else 'within 2% of '}the lowest"
        return f"its {kind} ({level} {of}, and no equally good model has a much simpler rule ({_size(chosen)})"
    return f"{of} it has the lowest {kind} ({written(own, '.3f')})"


def _size(row: Row) -> str:
    if np.isnan(row.parameters):
        return "an unknown number of parameters"
    return f"{row.parameters:,.0f} {'parameter' if row.parameters == 1 else 'parameters'}"


def _assumptions(table: list[Row], chosen: Row, checks: AssumptionChecks, rows: ComparedRows, metric: Metric) -> str:
    """The one assumption that explains the choice, then what else stands out."""
    if not checks:
        return f"The models' assumptions were not checked, because {_not_checked(rows)}."
    parts = [_of_covariances(table, chosen, checks, metric), *_of_the_others(checks)]
    text = "; ".join(part for part in parts if part) or "none of the models' assumptions is violated"
    return f"{text[0].upper()}{text[1:]}."


def _not_checked(rows: ComparedRows) -> str:
    if rows.words is not None:
        return "word counts are mostly zero"
    if rows.numbers is None:
        return "the columns are not numeric"
    return "the tests failed on these data" if rows.dense else "the table is sparse"


def _of_covariances(table: list[Row], chosen: Row, checks: AssumptionChecks, metric: Metric) -> str:
    check = checks.get("equal covariances") if chosen.role != BASE else None
    if check is None or check.level == "unknown":
        return "" if check is None else "equal covariances could not be tested"
    test = f"Box's M: chi-sq {check.statistic:,.0f} on {check.df:,.0f} df, p {write_p_value(check.p_value)}"
    robust = check.details["robust_p_value"]
    if (check.p_value < SIGNIFICANT) != (robust < SIGNIFICANT):
        test += f"; {check.details['robust_test']} p {write_p_value(robust)}"
    equal, own = (
        next(
            (
                f"{row.name} ({figure(row.value, metric)})"
                for row in table
                if row.family == kind and np.isfinite(row.value)
            ),
            "",
        )
        for kind in ("equal", "own")
    )
    if check.level == "fine":
        if chosen.family == "equal":
            share = "differ too little to matter" if robust < SIGNIFICANT else "show no difference"
            return f"the class covariances {share}, as it assumes ({test})"
        so = "so its lead comes from shrinkage or chance" if chosen.family == "own" else "which it does not depend on"
        return f"the class covariances hardly differ ({test}), {so}"
    so = "which it does not depend on"
    if chosen.family == "equal":
        so = "contrary to its assumption" + (f", yet {own} gains too little by modelling that" if own else "")
    elif chosen.family == "own":
        so = f"which it can model and {equal or 'a linear rule'} cannot"
    return f"the class covariances differ ({test}), {so}"


def _of_the_others(checks: AssumptionChecks) -> list[str]:
    """The two of the other checks that stand out most; that columns are normal is worth saying too."""
    said: list[tuple[bool, str]] = []
    normal, close = checks.get("normality"), checks.get("collinearity")
    apart, size = checks.get("separation"), checks.get("rows and columns")
    if size is not None and size.level != "fine":
        said.append((size.level == "problem", f"the smallest class has {_rows_per_column(size.effect)}"))
    if normal is not None and normal.level != "unknown":
        words = {"fine": "approximately normal", "doubtful": "not quite normal", "problem": "far from normal"}
        said.append((normal.level == "problem", f"columns are {words[normal.level]} within classes"))
    if apart is not None and apart.level == "problem":
        said.append((True, "some classes are perfectly separated, so logistic regression needs its penalty"))
    if close is not None and close.level != "fine":
        names = f" ({name_list(close.columns, most=2)})" if close.columns else ""
        how = "dependent" if np.isinf(close.effect) else "nearly collinear"
        if close.columns == close.details["constant"]:
            how = "constant within classes"
        said.append((close.level == "problem", f"some columns are {how}{names}"))
    said.sort(key=lambda pair: not pair[0])
    return [text for _, text in said[:MOST_SAID]]


def _rows_per_column(ratio: float) -> str:
    """``only 3.2 rows per column``; with more columns than rows, ``278 columns per row``."""
    if ratio < 1:
        return f"{1.0 / ratio:,.0f} columns per row" if ratio < 0.1 else f"{1.0 / ratio:.2g} columns per row"
    shown = f"{ratio:.2g}"
    return f"only {shown} {'row' if shown == '1' else 'rows'} per column"
