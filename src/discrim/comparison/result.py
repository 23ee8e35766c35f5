"""What ``compare`` gives: a table, a fitted model, a verdict, a report."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from discrim.comparison.column_kinds import summed_up
from discrim.comparison.column_table import column_table_of
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.judged_curves import plotted
from discrim.comparison.metrics import NAMES, SHARES, Costs, Metric, figure, metric_name, percent
from discrim.comparison.nested import Nested
from discrim.comparison.prepared import PreparedClassifier
from discrim.comparison.scores import MODEL, REFER, Row, listed, written
from discrim.comparison.selection import Corrected
from discrim.comparison.trials import Tried
from discrim.decision import CostSensitiveClassifier
from discrim.errors import ParameterError, name_list, plural
from discrim.evaluation.cross_validation import CrossValidation
from discrim.inference.assumptions import AssumptionChecks
from discrim.inference.render import WIDTH, html_page, short, wide
from discrim.inference.summary import Table
from discrim.models.text_classifier import TextClassifier
from discrim.sources import Scan

if TYPE_CHECKING:
    import os

    import pandas as pd

# Characters that a name keeps, however wide the figures are.
LEAST_NAME = 12
# What decides, its interval, the difference and its p-value, and one figure more: the others make room for names.
FEWEST_FIGURES = 5
MOST_COLUMNS = 5
LEGEND = "> chosen; = not significantly worse than the best; ~ a reference, never chosen"
SHORT = {"error": "error", "balanced_error": "bal. error", "log_loss": "log loss", "auc": "AUC", "brier": "Brier"}
# Further figures, in the order in which they are shown where there is room; one that decides stands in front.
FURTHER = ("error", "log_loss", "auc", "parameters", "fit_time")
COLUMNS = (
    "role", "error", "error_low", "error_high", "balanced_error", "balanced_error_low", "balanced_error_high",
    "log_loss", "log_loss_low", "log_loss_high", "auc", "auc_low", "auc_high", "brier", "fit_time", "total_time",
    "parameters", "tuned", "value", "value_low", "value_high", "difference", "difference_error", "tied", "p_value",
    "indistinguishable", "beats_baseline", "note",
)  # fmt: skip


class Comparison:
    """Models on the same folds, the best first.

    Attributes
    ----------
    table : frame with a row for each model, one for the baseline and one for the reference (their ``role``): error,
        balanced_error, log_loss and auc with the ends of their 95% intervals, brier, fit_time (seconds of one fit of
        all rows with the chosen setting), total_time, parameters (of the rule), tuned, value (of the metric, less is
        better) with the ends of its interval, difference from the best model and its standard error difference_error,
        tied (within one of them), p_value of the difference (adjusted for all pairs), indistinguishable (not
        significantly worse than the best), beats_baseline, note; then the recall of each class, "recall a"
    chosen : name of the model that was chosen
    best : that model, fitted to all rows with the setting that its tuning chose; it takes rows as they were given.
        Where columns were prepared for it, a ``PreparedClassifier`` whose ``model_`` it is; of documents a
        ``TextClassifier``
    corrected : the ``error`` to expect of the chosen rule on new rows, corrected for having been chosen among so many
        ``models``, with its 95% ``interval``; None where the baseline is chosen, or the metric is not the error
    nested : the same by nested cross-validation, where it was asked for: ``error``, ``std_error``, ``interval``, the
        names that were ``chosen`` and how often, ``comparisons`` and ``fits``; else None
    verdict : a few sentences
    remarks : sentences about columns that were left out, filled in or standardised, and about folds
    columns : what each column is taken for, what was done with it and why; prints as a table and has ``to_frame()``
    checks : the assumptions behind it, as ``discrim.inference.assumption_checks`` gives them
    classes, folds : the labels, and the fold in which each row was held out; -1 where it never was
    positive : the class of interest of two, the second in order if none was named; None of more
    held_out : the places of the rows that were held out
    rows : the figures as objects, in the order of the table

    ``comparison["LDA"]`` gives the out-of-fold predictions of one model, a ``CrossValidation``.
    """

    def __init__(
        self,
        rows: list[Row],
        trials: dict[str, Tried],
        chosen: Row,
        corrected: Corrected | None,
        verdict: str,
        checks: AssumptionChecks,
        data: ComparedRows,
        metric: Metric,
        seconds: float,
        nested: Nested | None = None,
    ) -> None:
        self.rows, self.chosen, self.verdict, self.checks = rows, chosen.name, verdict, checks
        self.corrected, self.nested = corrected, nested
        self.metric, self.seconds, self.dealt = metric, seconds, data.dealt
        self.n, self.n_all, self.width = data.n, data.n_all, data.width
        self.classes, self.codes, self.weight = data.classes, data.codes, data.weight
        self.positive = (
            data.positive if data.positive is not None or len(data.classes) > 2 else data.classes.tolist()[1]
        )
        self.folds = data.folds.number
        self.held_out = np.flatnonzero(self.folds >= 0)
        self.trials = trials
        self.words = data.words
        self.source, self.target = _origin(data)
        self.remarks = remarks_of(data, rows, trials.values())
        self.columns = column_table_of(data)

    @property
    def best(self) -> Any:
        model = self.trials[self.chosen].model
        model = model if self.words is None else TextClassifier.of_fitted(self.words, model)
        if isinstance(self.metric, Costs) and self.trials[self.chosen].has_posterior:
            # The rule depends on the fitted model and the costs alone.
            return CostSensitiveClassifier(FrozenEstimator(model), self.metric.matrix).fit(self.classes[:, None])
        return model

    @property
    def table(self) -> pd.DataFrame:
        recalls = [f"recall {label}" for label in self.classes]
        none = (np.nan,) * len(recalls)
        values = [[*(_cell(row, name) for name in COLUMNS), *(row.recall or none)] for row in self.rows]
        return Table("Comparison", [row.name for row in self.rows], [*COLUMNS, *recalls], values).to_frame()

    def __getitem__(self, name: str) -> CrossValidation:
        if name not in self.trials:
            done = name_list(self.trials, most=len(self.trials))
            raise ParameterError.bad_value("name", name, f"one of the models that were run: {done}")
        return self.trials[name].result

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write everything as one HTML file that needs no network; the file appears when it is complete."""
        from discrim.comparison.report import write_report

        return write_report(self, Path(path))

    def plot(self, what: str = "errors", **options: Any) -> Any:
        """A picture of the comparison, as matplotlib axes; options are those of the function in ``discrim.plots``.

        ``what``: 'errors' with their intervals (``compared``); of the out-of-fold predictions 'roc' and
        'precision_recall', for two classes of every model, for more of the chosen one and each class; 'calibration' and
        'confusion' of the chosen model.
        """
        return plotted(self, what, options)

    @property
    def of_interest(self) -> int:
        """The number of the positive class."""
        return int(self.classes.tolist().index(self.positive))

    @property
    def title(self) -> str:
        folds = len(np.unique(self.folds[self.held_out]))
        done = sum(row.done and row.role == MODEL for row in self.rows)
        rows, columns = ("rows", "column") if self.words is None else ("documents", "word")
        some = "" if self.n_all == self.n else f" of {self.n_all:,}"
        given = len(self.columns) or self.width
        coded = f" ({self.width:,} when coded)" if given != self.width else ""
        table = f"{self.n:,}{some} {rows} x {given:,} {columns if given == 1 else columns + 's'}{coded}"
        return f"{plural(done, 'model')} on {table}, {len(self.classes)} classes, {folds} folds"

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """The models that were not run, and why; those with the same reason stand together."""
        by_note: dict[str, list[str]] = {}
        for row in self.rows:
            if not row.done:
                by_note.setdefault(row.note, []).append(row.name)
        return [(f"{_were(names)} left out", _of_each(note, names)) for note, names in by_note.items()]

    def __repr__(self) -> str:
        lines = [textwrap.fill(self.title, WIDTH), "", *self._lines(), ""]
        sentences = [*(f"{who}: {why}" for who, why in self.left_out), *self.remarks]
        lines += [textwrap.fill(sentence, WIDTH, subsequent_indent="  ") for sentence in sentences]
        lines += [""] * bool(sentences) + [textwrap.fill(self.verdict, WIDTH)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = f"<tr><th></th>{''.join(f'<th class=figure>{name}</th>' for name in header_of(self.metric))}</tr>"
        body = "".join(
            f"<tr{' class=chosen' if row.name == self.chosen else ''}><th>{html.escape(row.name)}</th>"
            + "".join(f'<td class="figure">{html.escape(cell)}</td>' for cell in cells_of(row, self.metric))
            + "</tr>"
            for row in self.rows
            if row.done
        )
        sentences = [*(f"{who}: {why}" for who, why in self.left_out), *self.remarks]
        notes = "".join(f'<div class="key">{html.escape(sentence)}</div>' for sentence in sentences)
        return html_page(
            [
                f"<p>{html.escape(self.verdict)}</p>",
                wide(
                    f"<table><caption>{html.escape(self.title)}</caption><thead>{head}</thead>"
                    f"<tbody>{body}</tbody></table>"
                ),
                f'<div class="key">{html.escape(self.key)}</div>',
                notes,
            ]
        )

    @property
    def key(self) -> str:
        """What the columns of the printed table mean, and what decides."""
        others = ", ".join(f"'{name}'" for name in NAMES if name != self.metric)
        return (
            f"vs best: paired difference and its standard error{' in points' if self.metric in SHARES else ''}; p: of "
            f"this difference, adjusted for all pairs. The {metric_name(self.metric)} decides; other metrics: "
            f"{others}, a matrix of costs."
        )

    def _lines(self) -> list[str]:
        """The table: ``>`` marks the choice, ``=`` what is not significantly worse than the best, ``~`` a reference."""
        shown = [row for row in self.rows if row.done]
        figures = [header_of(self.metric), *(cells_of(row, self.metric) for row in shown)]
        widths = [max(len(cells[j]) for cells in figures) for j in range(len(figures[0]))]
        while sum(width + 2 for width in widths) + 2 + LEAST_NAME > WIDTH:
            widths.pop()
        room = max(WIDTH - 2 - sum(width + 2 for width in widths), LEAST_NAME)
        longest = max(len(row.name) for row in shown)
        while longest > room and len(widths) > FEWEST_FIGURES:
            room += widths.pop() + 2
        names = ["", *(short(row.name, room) for row in shown)]
        stub = max(map(len, names))
        marks = ["", *(self._mark(row) for row in shown)]
        lines = [
            "  ".join([f"{mark:<2}{name:<{stub}}", *(c.rjust(w) for c, w in zip(cells, widths, strict=False))]).rstrip()
            for mark, name, cells in zip(marks, names, figures, strict=True)
        ]
        return [*lines, *textwrap.wrap(f"{LEGEND}; {self.key}", WIDTH)]

    def _mark(self, row: Row) -> str:
        if row.name == self.chosen:
            return ">"
        if row.role == REFER:
            return "~"
        return "=" if row.indistinguishable else " "


def header_of(metric: Metric) -> list[str]:
    """What decides stands in front."""
    name = SHORT[metric] if isinstance(metric, str) else "cost" if isinstance(metric, Costs) else metric_name(metric)
    further = {**SHORT, "parameters": "params", "fit_time": "fit"}
    return [name, "95%", "vs best", "p", *(further[other] for other in FURTHER if other != metric)]


def cells_of(row: Row, metric: Metric) -> list[str]:
    """The figures of a model, under ``header_of`` the metric."""
    p = "" if np.isnan(row.p_value) else "<0.001" if row.p_value < 0.001 else f"{row.p_value:.3f}"
    further = {
        "error": percent(row.error),
        "log_loss": written(row.log_loss, ".3f"),
        "auc": written(row.auc, ".3f"),
        "parameters": written(row.parameters, ",.0f"),
        "fit_time": f"{max(1e3 * row.fit_time, 1):.0f} ms" if row.fit_time < 0.9995 else f"{row.fit_time:.1f} s",
    }
    value = "" if np.isnan(row.value) else figure(row.value, metric)
    return [value, ends_of(row, metric), _apart(row, metric), p, *(further[n] for n in FURTHER if n != metric)]


def ends_of(row: Row, metric: Metric) -> str:
    """The interval of the metric that decides."""
    low, high = row.auc_interval if metric == "auc" else row.value_interval
    if np.isnan(low):
        return ""
    return f"{100 * low:.1f}-{100 * high:.1f}" if metric in SHARES else f"{low:.3f}-{high:.3f}"


def _apart(row: Row, metric: Metric) -> str:
    if np.isnan(row.difference):
        return ""
    if row.difference == row.difference_error == 0 and row.role == MODEL and np.isnan(row.p_value):
        return "best" if row.beats_baseline else ""
    sign = -1.0 if metric == "auc" else 1.0
    if metric in SHARES:
        return f"{100 * row.difference:+.1f}±{100 * row.difference_error:.1f}"
    return f"{sign * row.difference:+.3f}±{row.difference_error:.3f}"


def remarks_of(rows: ComparedRows, table: Iterable[Row], trials: Iterable[Tried]) -> list[str]:
    """Columns that were left out, values that were filled in, models in standardised columns, and folds."""
    said = summed_up({name: out.sentence for name, out in rows.left_out.items()})
    if rows.missing:
        counts = [f"'{name}' ({count:,} of {rows.n_all:,})" for name, count in rows.missing.items()]
        further = len(counts) - MOST_COLUMNS
        more = f" and {plural(further, 'further column')}" if further > 0 else ""
        marks = rows.marked.flag_names
        marked = f"; indicator columns mark them where they depend on the class ({name_list(marks, most=MOST_COLUMNS)})"
        marked = marked if marks else "; they do not depend on the class, so that nothing marks them"
        said.append(
            f"Missing values in {', '.join(counts[:MOST_COLUMNS])}{more} were filled in inside the folds, by the mean "
            f"of the column or its most frequent level{marked if rows.columns.flags else ''}."
        )
        said += [f"{row.name} uses them as they are." for row in table if row.takes_gaps]
    names = [t.name for t in trials if isinstance(t.model, PreparedClassifier) and t.model.standardise]
    if names:
        said.append(f"{_were(names)} fitted to standardised columns, so units do not matter.")
    if rows.every > 1 and any(t.setting for t in trials):
        said.append(f"Settings that are judged row by row were chosen by one row out of {rows.every}.")
    return [*said, *rows.remarks]


def _origin(rows: ComparedRows) -> tuple[str, str]:
    """The file and the column of the classes, as far as they have names."""
    scanned = isinstance(rows.table, Scan)
    source = str(rows.table).removeprefix("Scan(").split(", target=")[0] if scanned else ""
    target = rows.table.target if scanned else getattr(rows.y, "name", None)
    return source, "" if target is None else str(target)


def _of_each(note: str, names: list[str]) -> str:
    """The reason, of one model or of several."""
    return f"each{note.removeprefix('it')}" if len(names) > 1 and note.startswith("it ") else note


def _were(names: list[str]) -> str:
    return f"{listed(names, len(names))} {'was' if len(names) == 1 else 'were'}"


def _cell(row: Row, name: str) -> Any:
    stem, _, end = name.rpartition("_")
    return getattr(row, f"{stem}_interval")[end == "high"] if end in ("low", "high") else getattr(row, name)
