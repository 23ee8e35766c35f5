"""The choice of a comparison, and two sentences that say why."""

from __future__ import annotations

import numpy as np

from discrim.errors import DataError, name_list
from discrim.evaluation.comparison.rows import ComparedRows
from discrim.evaluation.comparison.scores import Metric, Row
from discrim.evaluation.comparison.words import percent
from discrim.inference.assumptions import AssumptionChecks
from discrim.inference.figures import write_p_value

# Rules that differ by less in their size are equally simple: a few numbers more are no reason to err more.
ABOUT = 2.0
MOST_SAID = 2
WORDS = {"error": "error", "log_loss": "log loss", "auc": "AUC", "brier": "Brier score"}


def choose_row(table: list[Row]) -> Row:
    """Of the models near the best those with up to twice the fewest numbers; of these the best.

    Near by the test alone: a correction for many tests guards against calling two models different, and here the
    mistake would be to take a worse one.
    """
    rivals = [row for row in table if row.near]
    if not rivals:
        raise DataError(f"No model has a finite value of the metric that was asked for. {table[0].note}".rstrip())
    sizes = [np.inf if np.isnan(row.parameters) else row.parameters for row in rivals]
    simple = [row for row, size in zip(rivals, sizes, strict=True) if size <= ABOUT * min(sizes)]
    return min(simple, key=lambda row: row.value)


def verdict_of(table: list[Row], chosen: Row, checks: AssumptionChecks, rows: ComparedRows, metric: Metric) -> str:
    """What was chosen and by what margin; then the assumptions that bear on it."""
    return f"{_first(table, chosen, metric)} {_second(table, chosen, checks, rows, metric)}"


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


def _first(table: list[Row], chosen: Row, metric: Metric) -> str:
    done = [row for row in table if np.isfinite(row.value)]
    best, rivals = done[0], [row for row in done if row.near]
    name = metric_name(metric)
    own = figure(chosen, metric)
    if metric == "error":
        low, high = chosen.error_interval
        own = f"{own} (95% interval {100 * low:.1f} to {100 * high:.1f})"
    if len(done) == 1:
        return f"{chosen.name} is the only model that could be judged: its cross-validated {name} is {own}."
    least = "largest" if metric == "auc" else "smallest"
    if chosen is best:
        text = f"{chosen.name} has the {least} cross-validated {name} of {len(done)} models, {own}"
        if len(rivals) == 1:
            runner = done[1]
            ahead = "is ahead" if runner.indistinguishable else "is clearly ahead"
            return f"{text}, and {ahead} of {runner.name} ({figure(runner, metric)}, p {_p(runner)})."
        if len(rivals) == 2:
            return f"{text}; {rivals[1].name}, which is near it, is not much simpler."
        return f"{text}; none of the {len(rivals) - 1} others near it is much simpler."
    size = f"{chosen.parameters:,.0f} {'number' if chosen.parameters == 1 else 'numbers'} in its rule"
    fewest = float(np.nanmin([row.parameters for row in rivals]))
    simplest = "the simplest" if chosen.parameters <= fewest else "one of the simplest"
    against = "" if np.isnan(best.parameters) else f" against {best.parameters:,.0f}"
    return (
        f"{chosen.name} is chosen: its cross-validated {name} of {own} cannot be told from the {least}, "
        f"{figure(best, metric)} of {best.name} (p {_p(chosen)}), and it is {simplest} of {len(rivals)} such models, "
        f"with {size}{against}."
    )


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
    if rows.block is None:
        return "the table has missing values"
    return "the tests failed on these numbers" if rows.dense else "the table is sparse"


def _of_covariances(table: list[Row], chosen: Row, checks: AssumptionChecks, metric: Metric) -> str:
    check = checks.get("equal covariances")
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
