"""Which model is chosen: better than the baseline, as good as the best, and of those the simplest; and the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.metrics import SHARES, Metric, figure, metric_name, percent
from discrim.comparison.nested import Nested
from discrim.comparison.reference import REFERENCE
from discrim.comparison.scores import BASE, ONE_POINT, REFER, SIGNIFICANT, Gain, Row, listed, written
from discrim.comparison.selection import Corrected
from discrim.errors import DataError, name_list
from discrim.inference.assumptions import AssumptionChecks
from discrim.inference.render import write_p_value

# Log losses within two per cent, and rules that differ by less in their size, are equal.
TWO_PER_CENT = 0.02
ABOUT = 1.5
MOST_SAID = 2
# Half of what is shown as no difference, and the normal quantile of 95%.
SAME, Z = 5e-4, 1.96


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
    gain: Gain | None = None,
    cautions: Sequence[str] = (),
) -> str:
    """What was chosen and by what margin; what to be careful about; the assumptions that bear on it."""
    first = _nothing_better(table, choice, rows, metric) if choice.reason == "baseline" else ""
    parts = [first or f"{_why_chosen(table, choice, metric)}.", *_not_shown(table, choice, metric)]
    parts += _by_probabilities(table, choice.row, metric)
    if corrected is not None:
        parts.append(
            f"Corrected for having been chosen among {corrected.models} models, the {metric_name(metric)} to expect on "
            f"new rows is {figure(corrected.error, metric)} ({_interval(corrected.interval, metric)})."
        )
    elif choice.reason != "baseline" and sum(row.usable for row in table) > 1:
        parts.append("This figure is not corrected for the choice, which makes it look better than it is on new rows.")
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


def _of_reference(found: Gain | None, choice: Choice, metric: Metric) -> list[str]:
    """What more flexible models would gain over the chosen one, and how sure that is."""
    if found is None:
        return []
    trees, gain = f"{REFERENCE}, the reference,", found.value
    if metric == "error":
        amount = f"{100 * abs(gain):.1f} points {'fewer' if gain > 0 else 'more'} errors"
        makes, same = f"make {amount}", "make as many errors"
    else:
        amount = f"{abs(gain):.3f}" if metric not in SHARES else f"{100 * abs(gain):.1f} points"
        better = "lower" if (gain > 0) != (metric == "auc") else "higher"
        makes = f"have {'an' if metric == 'auc' else 'a'} {metric_name(metric)} that is {amount} {better}"
        same = f"have the same {metric_name(metric)}"
    seen = f"{trees} {same if abs(gain) < SAME else makes}"
    test = f"p {_chance(found.p_value)}"
    if gain >= SAME and found.p_value < SIGNIFICANT:
        which = "no model here follows" if choice.row.role == BASE else f"{choice.row.name} does not follow"
        text = (
            f"{seen} ({test}): columns interact or act in curves that {which}; products or basis functions of columns "
            "may."
        )
        return [text]
    if gain >= SAME:
        return [f"{seen}, which may be due to chance ({test})."]
    # What may still be gained: the end of the 95% interval.
    most = gain + Z * found.std_error
    if most <= (ONE_POINT if metric in SHARES else 0.0) or (gain < -SAME and found.p_value < SIGNIFICANT):
        return [f"{seen}: there is nothing to gain from them."]
    least = f"{100 * most:.1f} points" if metric in SHARES else f"{most:.3f}"
    return [f"{seen}: no gain is seen, but these rows cannot exclude one of {least}."]


def _chance(p_value: float) -> str:
    """Of a resampled p-value, which is at least one over the number of draws."""
    return "< 0.001" if p_value < 0.001 else write_p_value(p_value)


def _nothing_better(table: list[Row], choice: Choice, rows: ComparedRows, metric: Metric) -> str:
    """That always predicting the same class does as well: the one that the baseline finds every row of."""
    most = rows.classes[np.nanargmax(choice.row.recall)]
    own = f"{metric_name(metric)} {figure(choice.row.value, metric)}"
    text = f"No model is significantly better than always predicting '{most}' ({own})"
    best = choice.best
    if best is None:
        return f"{text}."
    count = sum(row.usable for row in table)
    rank = "nearest" if best.value >= choice.row.value else "best"
    which = "the only one" if count == 1 else f"the {rank} of {count}"
    own = figure(best.value, metric)
    if best.value < choice.row.value:
        adjusted = "" if count == 1 else f", adjusted for {count} models"
        test = "" if np.isnan(best.baseline_p) else f" (p {_chance(best.baseline_p)}{adjusted})"
        own = f"{own}, which may be due to chance{test}"
    elif own == figure(choice.row.value, metric):
        own = "the same"
    text = f"{text}; {which}, {best.name}, has {own}."
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
        test = "" if np.isnan(chosen.baseline_p) else f" (p {_chance(chosen.baseline_p)}, adjusted for their number)"
        return (
            f"{chosen.name} is the only one of {len(done)} models that is significantly better than the baseline"
            f"{test}: its cross-validated {name} is {own}"
        )
    others = [row.name for row in choice.tied if row is not chosen]
    if choice.reason == "no error":
        return (
            f"{chosen.name} is chosen: like {listed(others)} it makes no error on held-out rows ({interval}), and "
            f"none of these {len(choice.tied)} models has a much simpler rule ({_size(chosen)})"
        )
    least = "largest" if metric == "auc" else "smallest"
    if chosen is not best and best is not None:
        is_near = f"is within one standard error of the {least} ({figure(best.value, metric)}, {best.name})"
        if figure(best.value, metric) == figure(chosen.value, metric):
            is_near = f"is the {least}, like that of {listed(_equally_good(choice, metric))}"
        return f"{chosen.name} is chosen: its cross-validated {name} of {own} {is_near}, and {_reason(choice, metric)}"
    counted = f"{len(done)} models"
    if better[0] is not done[0]:
        counted = f"the {len(better)} models that are significantly better than the baseline"
    text = f"{chosen.name} has the {least} cross-validated {name} of {counted}, {own}"
    if choice.reason == "alone":
        runner = next(row for row in better if row is not chosen)
        p = "" if np.isnan(runner.p_value) else f", p {_chance(runner.p_value)}"
        if not runner.indistinguishable:
            return f"{text}, and is clearly ahead of {runner.name} ({figure(runner.value, metric)}{p})"
        return (
            f"{text}; {runner.name} comes next ({figure(runner.value, metric)}{p}: the difference may be due to chance)"
        )
    are = "is" if len(others) == 1 else "are"
    return f"{text}; {listed(others)} {are} within one standard error, but {_reason(choice, metric, chosen.name)}"


def _equally_good(choice: Choice, metric: Metric) -> list[str]:
    own = figure(choice.row.value, metric)
    return [row.name for row in choice.tied if row is not choice.row and figure(row.value, metric) == own]


def _not_shown(table: list[Row], choice: Choice, metric: Metric) -> list[str]:
    """Models that look as good as the best one, but are not shown to be better than the baseline."""
    best = choice.row if choice.best is None else choice.best
    others = [row for row in table if row.usable and not row.beats_baseline and row.value <= best.value]
    if choice.reason == "baseline" or not others:
        return []
    has, are, more = ("has", "is", "") if len(others) == 1 else ("have", "are", " or more")
    what = f"no {'smaller' if metric == 'auc' else 'larger'} {metric_name(metric)}"
    least = min(row.baseline_p for row in others)
    test = "" if np.isnan(least) else f" (p {_chance(least)}{more})"
    names = listed([row.name for row in others])
    return [f"{names} {has} {what}, but {are} not shown to be better than the baseline{test}."]


def _by_probabilities(table: list[Row], chosen: Row, metric: Metric) -> list[str]:
    """Where it errs as often as the baseline, to the digits that are shown, in what it is better."""
    baseline = next((row for row in table if row.role == BASE), None)
    if baseline is None or baseline is chosen or metric != "error" or percent(chosen.error) != percent(baseline.error):
        return []
    losses = f"{chosen.log_loss:.3f} versus {baseline.log_loss:.3f}"
    return [f"Its error equals that of the baseline ({percent(baseline.error)}), but its log loss is lower ({losses})."]


def _reason(choice: Choice, metric: Metric, named: str = "") -> str:
    """Why it is taken of those that are tied; ``named`` where 'it' would be taken for another."""
    chosen, count = choice.row, len(choice.tied)
    shown = chosen is choice.best or len(_equally_good(choice, metric)) == count - 1
    names = "" if shown else f" ({listed([row.name for row in choice.tied])})"
    of = f"of the {count} tied models{names}" if count > 2 else "of the two"
    kind, own = ("Brier score", chosen.brier) if metric == "brier" else ("log loss", chosen.log_loss)
    if choice.reason != "simple":
        return f"{of} {named or 'it'} has the lowest {kind} ({written(own, '.3f')})"
    its = f"the {kind} of {named}" if named else f"its {kind}"
    lowest = min(_score(row, metric) for row in choice.tied)
    if own <= lowest:
        return (
            f"{its} ({written(own, '.3f')}) is the lowest {of}, and no equally good model has a much simpler rule "
            f"({_size(chosen)})"
        )
    rivals = _smallest([row for row in choice.tied if _score(row, metric) <= (1.0 + TWO_PER_CENT) * lowest], ABOUT)
    sizes = sorted({row.parameters for row in rivals if np.isfinite(row.parameters)})
    rule = f"its rule is the smallest ({_size(chosen)})"
    if len(sizes) > 1 or len(rivals) > 1:
        few = _size(chosen) if len(sizes) < 2 else f"{sizes[0]:,.0f} to {sizes[-1]:,.0f} parameters"
        plain = chosen.regularised and not all(row.regularised for row in rivals)
        who = named if metric in ("log_loss", "brier") and named else "it"
        rule = f"among those with the smallest rules ({few}) {who} is {'regularised' if plain else f'lowest in {kind}'}"
    if metric in ("log_loss", "brier"):
        return rule.replace("its rule", f"the rule of {named}") if named else f"within 2% of it, and {rule}"
    near = f"within 2% of the lowest ({written(lowest, '.3f')})"
    if written(own, ".3f") == written(lowest, ".3f"):
        near = "as low as the lowest"
    return f"{its} ({written(own, '.3f')}) is {near} {of}, and {rule}"


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
        next((row for row in table if row.family == kind and np.isfinite(row.value)), None) for kind in ("equal", "own")
    )
    alike = "differ too little to matter" if robust < SIGNIFICANT else "show no difference"
    if check.p_value < SIGNIFICANT <= robust:
        alike = "differ by Box's M alone, which long tails mislead"
    if check.level == "fine":
        so = {
            "equal": ", as it assumes" if min(check.p_value, robust) >= SIGNIFICANT else "",
            "own": ", so that a matrix for each class is not what it gains by",
            "variances": ", so that variances for each class are not what it gains by",
        }
        return f"the class covariances {alike} ({test}){so.get(chosen.family, '')}"
    so = {"equal": ", contrary to its assumption", "variances": ", which it follows as far as they are variances"}
    bears = so.get(chosen.family, "")
    if chosen.family == "equal" and own is not None:
        bears += f", yet {own.name} ({figure(own.value, metric)}) gains too little by modelling that"
    if chosen.family == "own":
        bears = ", which it models"
        if equal is not None:
            other = f"{equal.name} ({figure(equal.value, metric)})"
            bears += f", although {other}, which does not, is as good" if equal.tied else f" and {other} does not"
    return f"the class covariances differ ({test}){bears}"


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
