"""The choice of a comparison, and two sentences that say why."""

from __future__ import annotations

import numpy as np

from discrim.comparison.baseline import BASELINE
from discrim.comparison.choice import Choice
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.remarks import TAKES_GAPS
from discrim.comparison.scores import Metric, Row
from discrim.comparison.words import percent, written
from discrim.errors import name_list
from discrim.inference.assumptions import AssumptionChecks
from discrim.inference.render import write_p_value

MOST_SAID = 2
WORDS = {"error": "error", "log_loss": "log loss", "auc": "AUC", "brier": "Brier score"}


def verdict_of(table: list[Row], choice: Choice, checks: AssumptionChecks, rows: ComparedRows, metric: Metric) -> str:
    """What was chosen and by what margin; then the assumptions that bear on it; then what was done to the rows."""
    first = _nothing_better(table, choice, rows, metric) if choice.reason == "baseline" else ""
    parts = [first or _first(table, choice, metric), *_by_probabilities(table, choice.row, metric)]
    parts.append(_second(table, choice.row, checks, rows, metric))
    if rows.missing and choice.row.name not in TAKES_GAPS:
        parts.append(f"Missing values in {name_list(rows.missing, most=3)} were filled in.")
    return " ".join(parts)


def metric_name(metric: Metric) -> str:
    if isinstance(metric, str):
        return WORDS[metric]
    name = getattr(metric, "__name__", "")
    return name if name.isidentifier() else "metric"


def figure(row: Row, metric: Metric) -> str:
    """The metric of a row as it is read: errors in per cent."""
    if metric == "error":
        return percent(row.error)
    return f"{row.auc if metric == 'auc' else row.value:.3f}"


def _nothing_better(table: list[Row], choice: Choice, rows: ComparedRows, metric: Metric) -> str:
    """That always giving the same answer does as well."""
    answer = rows.classes[np.argmax(np.bincount(rows.codes, rows.weight, minlength=len(rows.classes)))]
    name, best = metric_name(metric), choice.best
    own = figure(choice.row, metric)
    words = f"{own} errors" if metric == "error" else f"{name} {own}"
    text = f"No model is better than always answering '{answer}' ({words})"
    if best is None:
        return f"{text}."
    count = sum(np.isfinite(row.value) for row in table) - 1
    which = "the only one" if count == 1 else f"the best of {count}"
    if best.value < choice.row.value:
        text = f"{text}; that {which}, {best.name}, has {figure(best, metric)} may be chance."
    else:
        text = f"{text}; {which}, {best.name}, has {figure(best, metric)}."
    informed = min((row for row in table if row.informative), key=lambda row: row.log_loss, default=None)
    if informed is None:
        return text
    losses = f"{informed.log_loss:.3f}, the baseline {choice.row.log_loss:.3f}"
    return (
        f"{text} By log loss {informed.name} is better ({losses}): its probabilities rank the rows, and "
        "metric='log_loss' chooses by them."
    )


def _first(table: list[Row], choice: Choice, metric: Metric) -> str:
    done = [row for row in table if np.isfinite(row.value) and row.name != BASELINE]
    chosen, best, tied = choice.row, choice.best, choice.tied
    assert best is not None
    name, own = metric_name(metric), figure(chosen, metric)
    if metric == "error":
        low, high = chosen.error_interval
        own = f"{own} (95% interval {100 * low:.1f} to {100 * high:.1f})"
    if len(done) == 1:
        return f"{chosen.name} is the only model that could be judged: its cross-validated {name} is {own}."
    least = "largest" if metric == "auc" else "smallest"
    better = [row for row in done if row.beats_baseline]
    if len(better) == 1:
        return (
            f"{chosen.name} is the only one of {len(done)} models that is better than the baseline by a test: its "
            f"cross-validated {name} is {own}."
        )
    if choice.reason == "alone":
        text = f"{chosen.name} has the {least} cross-validated {name} of {_counted(done, better)}, {own}"
        runner = next(row for row in better if row is not chosen)
        p = "" if np.isnan(runner.p_value) else f", p {_p(runner)}"
        if not runner.indistinguishable:
            return f"{text}, and is clearly ahead of {runner.name} ({figure(runner, metric)}{p})."
        return f"{text}; {runner.name} comes next ({figure(runner, metric)}{p}: the difference may be chance)."
    others = [row.name for row in tied if row is not chosen]
    if choice.reason == "no error":
        return (
            f"{chosen.name} is chosen: like {_listed(others)} it makes no error on rows that it has not seen (95% "
            f"interval {100 * chosen.error_interval[0]:.1f} to {100 * chosen.error_interval[1]:.1f}), and none of "
            f"these {len(tied)} models has a much smaller or more regularised rule than its {_size(chosen)}."
        )
    if chosen is best:
        head = f"{chosen.name} has the {least} cross-validated {name} of {_counted(done, better)}, {own}"
        tie = f"{_listed(others)} {'is' if len(others) == 1 else 'are'} as good to one standard error"
        return f"{head}; {tie}, but {_reason(choice, metric)}."
    from_best = f"{figure(best, metric)} of {best.name}"
    return (
        f"{chosen.name} is chosen: its cross-validated {name} of {own} is within "
        f"{'the error of the test' if choice.reason == 'few' else 'one standard error'} of the {least}, {from_best}, "
        f"and {_reason(choice, metric)}."
    )


def _by_probabilities(table: list[Row], chosen: Row, metric: Metric) -> list[str]:
    """Where it errs as often as the baseline, to the digits that are shown, in what it is better."""
    baseline = next((row for row in table if row.name == BASELINE), None)
    if baseline is None or baseline is chosen or metric != "error" or percent(chosen.error) != percent(baseline.error):
        return []
    losses = f"{chosen.log_loss:.3f} against {baseline.log_loss:.3f}"
    return [f"It errs as often as the baseline ({percent(baseline.error)}) and is better by its log loss ({losses})."]


def _counted(done: list[Row], better: list[Row]) -> str:
    if better[0] is done[0]:
        return f"{len(done)} models"
    return f"the {len(better)} models that are better than the baseline by a test"


def _reason(choice: Choice, metric: Metric) -> str:
    chosen, count = choice.row, len(choice.tied)
    names = "" if chosen is choice.best else f" ({_listed([row.name for row in choice.tied])})"
    of = f"of the {count} models in this tie{names}" if count > 2 else "of the two"
    if choice.reason == "few":
        return f"it is one of the simplest {of}, with {_size(chosen)}"
    kind = "Brier score" if metric == "brier" else "log loss"
    value = written(chosen.brier if metric == "brier" else chosen.log_loss, ".3f")
    if choice.reason == "simple":
        rule = f"no rule that is as good is much smaller or more regularised ({_size(chosen)})"
        lowest = min(row.brier if metric == "brier" else row.log_loss for row in choice.tied)
        own = chosen.brier if metric == "brier" else chosen.log_loss
        return f"its {kind} ({value}) is {'' if own <= lowest else 'within 2% of '}the lowest {of}, and {rule}"
    if metric not in ("error", "log_loss", "brier"):
        return f"none {of} is much simpler"
    return f"{of} it has the lowest {kind} ({value})"


def _size(row: Row) -> str:
    if np.isnan(row.parameters):
        return "an unknown count of numbers"
    return f"{row.parameters:,.0f} {'number' if row.parameters == 1 else 'numbers'}"


def _listed(names: list[str], most: int = 4) -> str:
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _p(row: Row) -> str:
    return write_p_value(row.p_value)


def _second(table: list[Row], chosen: Row, checks: AssumptionChecks, rows: ComparedRows, metric: Metric) -> str:
    """The one assumption that explains the choice, then what else stands out."""
    if not checks:
        return f"The assumptions behind the models were not checked, since {_not_checked(rows)}."
    parts = [_of_covariances(table, chosen, checks, metric), *_of_the_others(checks)]
    parts = [part for part in parts if part] or ["nothing that the models assume is violated"]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _not_checked(rows: ComparedRows) -> str:
    if rows.words is not None:
        return "counts of words are mostly zero"
    if rows.numbers is None:
        return "the columns are not numbers"
    return "the tests failed on these numbers" if rows.dense else "the table is sparse"


def _of_covariances(table: list[Row], chosen: Row, checks: AssumptionChecks, metric: Metric) -> str:
    check = checks.get("equal covariances") if chosen.name != BASELINE else None
    if check is None or check.level == "unknown":
        return "" if check is None else "equal covariances could not be tested"
    test = f"Box's M: chi-sq {check.statistic:,.0f} on {check.df:,.0f} df, p {write_p_value(check.p_value)}"
    differ = check.level != "fine"
    linear = next((row for row in table if row.family == "equal" and np.isfinite(row.value)), None)
    own = next((row for row in table if row.family == "own" and np.isfinite(row.value)), None)
    if chosen.family == "equal":
        if not differ:
            return f"the classes share one covariance matrix as it assumes ({test})"
        still = f", yet {own.name} with {figure(own, metric)} gains too little from that" if own else ""
        return f"the covariances of the classes differ ({test}), which it assumes away{still}"
    if chosen.family == "own":
        against = f" {linear.name} ({figure(linear, metric)})" if linear else " a linear rule"
        if differ:
            return f"the covariances of the classes differ ({test}), which it can use and{against} cannot"
        return f"the covariances of the classes hardly differ ({test}), so that its lead rests on shrinkage or chance"
    told = "differ" if differ else "do not differ much"
    return f"the covariances of the classes {told} ({test}), which {chosen.name} does not depend on"


def _of_the_others(checks: AssumptionChecks) -> list[str]:
    """The two of the other checks that stand out most; that columns are normal is worth saying too."""
    said: list[tuple[bool, str]] = []
    normal, close = checks.get("normality"), checks.get("collinearity")
    apart, size = checks.get("separation"), checks.get("rows and columns")
    if size is not None and size.level != "fine":
        rows_a_column = f"{size.effect:.2g} {'row' if f'{size.effect:.2g}' == '1' else 'rows'}"
        said.append((size.level == "problem", f"the smallest class has only {rows_a_column} a column"))
    if normal is not None and normal.level != "unknown":
        words = {"fine": "near enough to normal", "doubtful": "not quite normal", "problem": "far from normal"}
        said.append((normal.level == "problem", f"columns are {words[normal.level]} within classes"))
    if apart is not None and apart.level == "problem":
        said.append((True, "the classes are separated, so that logistic regression needs its penalty"))
    if close is not None and close.level != "fine":
        names = f" ({name_list(close.columns, most=2)})" if close.columns else ""
        how = "dependent" if np.isinf(close.effect) else "nearly collinear"
        if close.columns == close.details["constant"]:
            how = "constant within classes"
        said.append((close.level == "problem", f"some columns are {how}{names}"))
    said.sort(key=lambda pair: not pair[0])
    return [text for _, text in said[:MOST_SAID]]
