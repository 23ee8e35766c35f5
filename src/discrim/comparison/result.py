"""What ``compare`` gives: a table, a fitted model, a verdict, a report."""

from __future__ import annotations

import html
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discrim.comparison.baseline import BASELINE
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.remarks import remarks_of
from discrim.comparison.scores import Metric, Row
from discrim.comparison.trials import Tried
from discrim.comparison.words import HEADER, cells_of, left_out
from discrim.errors import ParameterError, name_list, plural
from discrim.evaluation.cross_validation import CrossValidation
from discrim.inference.assumptions import AssumptionChecks
from discrim.inference.render import WIDTH, html_page, short
from discrim.inference.summary import Table
from discrim.models.text_classifier import TextClassifier

if TYPE_CHECKING:
    import os

    import pandas as pd

# Characters that a name keeps, however wide the figures are.
LEAST_NAME = 12


class Comparison:
    """Models on the same folds, the best first.

    Attributes
    ----------
    table : frame, a row a model and one for the baseline: error, log_loss and auc with the ends of their 95%
        intervals, brier, fit_time (seconds of one fit of all rows with the chosen setting), total_time, parameters
        (free numbers of the rule), tuned, p_value (against the best, Holm's), indistinguishable (from the best),
        beats_baseline, note
    chosen : name of the model that was chosen
    best : that model, fitted to all rows with the setting that its tuning chose; it takes rows as they were given.
        Where columns were prepared for it, a ``PreparedClassifier`` whose ``model_`` it is; of documents a
        ``TextClassifier``
    verdict : two or three sentences
    remarks : sentences about columns that were left out, filled in or standardised, and about folds
    checks : the assumptions behind it, as ``discrim.inference.assumption_checks`` gives them
    classes, folds : the labels, and the fold in which each row was held out
    rows : the figures as objects, in the order of the table

    ``comparison["LDA"]`` gives the out-of-fold answers of one model, a ``CrossValidation``.
    """

    def __init__(
        self,
        rows: list[Row],
        trials: dict[str, Tried],
        chosen: Row,
        verdict: str,
        checks: AssumptionChecks,
        data: ComparedRows,
        metric: Metric,
        seconds: float,
    ) -> None:
        self.rows, self.chosen, self.verdict, self.checks = rows, chosen.name, verdict, checks
        self.metric, self.seconds, self.dealt = metric, seconds, data.dealt
        self.n, self.width = data.n, data.width
        self.classes, self.codes, self.weight = data.classes, data.codes, data.weight
        self.folds = data.fold_of.number
        self.trials = trials
        self.words = data.words
        self.remarks = remarks_of(data, trials.values())

    @property
    def best(self) -> Any:
        model = self.trials[self.chosen].model
        return model if self.words is None else TextClassifier.of_fitted(self.words, model)

    @property
    def table(self) -> pd.DataFrame:
        return Table("Comparison", [row.name for row in self.rows], list(COLUMNS), self._values()).to_frame()

    def __getitem__(self, name: str) -> CrossValidation:
        tried = self.trials.get(name)
        if tried is None or tried.result is None:
            done = name_list((n for n, t in self.trials.items() if t.result is not None), most=len(self.trials))
            raise ParameterError.bad_value("name", name, f"one of the models that were run: {done}")
        return tried.result

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write everything as one HTML file that needs no network; the file appears when it is complete."""
        from discrim.comparison.report import write_report

        return write_report(self, Path(path))

    @property
    def title(self) -> str:
        folds = len(np.unique(self.folds))
        done = sum(row.done and row.name != BASELINE for row in self.rows)
        rows, columns = ("rows", "column") if self.words is None else ("documents", "word")
        table = f"{self.n:,} {rows} x {self.width:,} {columns if self.width == 1 else columns + 's'}"
        return f"{plural(done, 'model')} on {table}, {len(self.classes)} classes, {folds} folds"

    def __repr__(self) -> str:
        lines = [textwrap.fill(self.title, WIDTH), "", *self._lines(), ""]
        missing = left_out(self.rows)
        lines += [textwrap.fill(f"{who}: {why}", WIDTH, subsequent_indent="  ") for who, why in missing]
        lines += [textwrap.fill(remark, WIDTH, subsequent_indent="  ") for remark in self.remarks]
        lines += [""] * bool(missing or self.remarks) + [textwrap.fill(self.verdict, WIDTH)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = f"<tr><th></th>{''.join(f'<th>{name}</th>' for name in HEADER)}</tr>"
        body = "".join(
            f"<tr{' style=font-weight:bold' if row.name == self.chosen else ''}><th>{html.escape(row.name)}</th>"
            + "".join(f'<td class="figure">{html.escape(cell)}</td>' for cell in cells_of(row))
            + "</tr>"
            for row in self.rows
            if row.done
        )
        sentences = [*(f"{who}: {why}" for who, why in left_out(self.rows)), *self.remarks]
        notes = "".join(f"<div>{html.escape(sentence)}</div>" for sentence in sentences)
        return html_page(
            [
                f"<p>{html.escape(self.verdict)}</p>",
                f"<table><caption>{html.escape(self.title)}</caption><thead>{head}</thead><tbody>{body}</tbody></table>",
                notes,
            ]
        )

    def _lines(self) -> list[str]:
        """The table: ``>`` marks the choice, ``=`` what cannot be told from the best."""
        shown = [row for row in self.rows if row.done]
        figures = [list(HEADER), *(cells_of(row) for row in shown)]
        widths = [max(len(cells[j]) for cells in figures) for j in range(len(HEADER))]
        room = max(WIDTH - 2 - sum(width + 2 for width in widths), LEAST_NAME)
        names = ["", *(short(row.name, room) for row in shown)]
        stub = max(map(len, names))
        marks = ["", *(self._mark(row) for row in shown)]
        lines = [
            "  ".join([f"{mark:<2}{name:<{stub}}", *(c.rjust(w) for c, w in zip(cells, widths, strict=True))]).rstrip()
            for mark, name, cells in zip(marks, names, figures, strict=True)
        ]
        return [*lines, "> chosen   = cannot be told from the best   p: against the best, Holm's"]

    def _mark(self, row: Row) -> str:
        return ">" if row.name == self.chosen else "=" if row.indistinguishable else " "

    def _values(self) -> list[list[Any]]:
        return [[read(row) for read in COLUMNS.values()] for row in self.rows]


COLUMNS: dict[str, Any] = {
    "error": lambda row: row.error,
    "error_low": lambda row: row.error_interval[0],
    "error_high": lambda row: row.error_interval[1],
    "log_loss": lambda row: row.log_loss,
    "log_loss_low": lambda row: row.log_loss_interval[0],
    "log_loss_high": lambda row: row.log_loss_interval[1],
    "auc": lambda row: row.auc,
    "auc_low": lambda row: row.auc_interval[0],
    "auc_high": lambda row: row.auc_interval[1],
    "brier": lambda row: row.brier,
    "fit_time": lambda row: row.fit_time,
    "total_time": lambda row: row.total_time,
    "parameters": lambda row: row.parameters,
    "tuned": lambda row: row.tuned,
    "value": lambda row: row.value,
    "p_value": lambda row: row.p_value,
    "indistinguishable": lambda row: row.indistinguishable,
    "beats_baseline": lambda row: row.beats_baseline,
    "note": lambda row: row.note,
}
