"""A comparison as one HTML page that needs nothing from elsewhere."""

from __future__ import annotations

import html
import os
import platform
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from discrim.comparison.judged_curves import calibration_of, roc_curves
from discrim.comparison.metrics import metric_name, percent
from discrim.comparison.result import FEWEST_FIGURES, cells_of, header_of
from discrim.comparison.scores import MODEL, REFER, Row, written
from discrim.errors import DiscrimError, plural
from discrim.evaluation.confusion_matrix import Confusion, confusion
from discrim.evaluation.curves import ROC
from discrim.typing import Floats

if TYPE_CHECKING:
    from discrim.comparison.result import Comparison

# Classes up to which a matrix and a curve for each of them can be read.
MATRIX_CLASSES, CURVE_CLASSES = 12, 8
RIVALS = 3
# How far the bars of intervals reach, in middle intervals; distances from calibration that are worth a figure.
SCALE, NOTICED = 2.5, 0.005
# Inside of a square picture, in its own units.
SIDE, LEFT, TOP = 260.0, 58.0, 10.0
MOST_POINTS = 240
BETTER = (
    "models that are not significantly better than the baseline (one-sided paired test, adjusted for all models by the "
    "largest statistic under random signs) are excluded"
)
CHOICE = (
    f"{BETTER}; of the others, those are tied whose paired difference from the best is within one standard error and "
    "one percentage point of error; of these the lowest log loss wins, and within 2% of it, or where no model makes an "
    "error, the smaller and more regularised rule"
)


def write_report(found: Comparison, path: Path) -> Path:
    """Under a temporary name first, so that the page is never seen half-written."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The report cannot be written: there is no folder '{path.parent}'.")
    template = resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8")
    lead, *others = re.split(r"(?<=\.) (?=[A-Z])", found.verdict)
    page = Template(template).substitute(
        title=html.escape(found.title),
        question=html.escape(_question(found)),
        facts=_facts(found),
        lead=html.escape(lead),
        verdict="".join(f"<p>{html.escape(sentence)}</p>" for sentence in others),
        head=_head(found),
        models="".join(_row(found, row) for row in found.rows if row.done),
        key=html.escape(found.key),
        left_out=_left_out(found),
        chosen=html.escape(found.chosen),
        pictures=_pictures(found),
        confusion=_confusion(found),
        checks=_checks(found),
        how=_how(found),
    )
    try:
        _replace(path, page)
    except OSError as error:
        # The temporary name would mean nothing to the user.
        raise OSError(error.errno, f"The report cannot be written ({error.strerror})", str(path)) from error
    return path


def _replace(path: Path, page: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _question(found: Comparison) -> str:
    return "Which model?" if not found.target else f"Which model for '{found.target}'?"


def _facts(found: Comparison) -> str:
    """The file, the classes, the day and the version."""
    sizes = np.bincount(found.codes, minlength=len(found.classes))
    shown = [f"{label} {size:,}" for label, size in zip(found.classes, sizes, strict=True)][:MATRIX_CLASSES]
    version = sys.modules["discrim"].__version__
    facts = [
        found.source,
        found.title,
        ", ".join(shown),
        f"{datetime.now().astimezone():%d %B %Y}",
        f"discrim {version}",
    ]
    return "".join(f"<li>{html.escape(fact)}</li>" for fact in facts if fact)


def _head(found: Comparison) -> str:
    """Of the table of models; what a narrow screen has no room for is marked."""
    names = header_of(found.metric)
    cells = "".join(
        f"<th{' class=extra' if k >= FEWEST_FIGURES else ''}>{html.escape(name)}</th>" for k, name in enumerate(names)
    )
    return f"<tr><th>model</th>{cells}<th class='word extra'>tuned</th></tr>"


def _row(found: Comparison, row: Row) -> str:
    strong = row.name == found.chosen
    kind = "chosen" if strong else row.role if row.role == REFER else "near" if row.indistinguishable else "far"
    cells = [html.escape(cell) for cell in cells_of(row, found.metric)]
    if np.isfinite(row.value_interval[0]):
        low, high = cells[1].rsplit("-", 1)
        bar = _interval_bar(row, found, strong=strong or row.indistinguishable)
        cells[1] = f'<span class="ends">{low}</span>{bar}<span class="ends">{high}</span>'
    mark = "<span class=tag>chosen</span>" if strong else ""
    mark = "<span class='tag quiet'>reference</span>" if row.role == REFER else mark
    figures = "".join(f"<td{' class=extra' if k >= FEWEST_FIGURES else ''}>{cell}</td>" for k, cell in enumerate(cells))
    tuned = f"<td class='word extra'>{html.escape(row.tuned)}</td>"
    star = "<sup>*</sup>" if row.note and row.role == MODEL else ""
    name = f'<th title="{html.escape(row.note)}">{html.escape(row.name)}{star}{mark}</th>'
    return f"<tr class={kind}>{name}{figures}{tuned}</tr>"


def _left_out(found: Comparison) -> str:
    starred = [
        f"<li><b>{html.escape(row.name)}{'*' * (row.role == MODEL)}</b> {html.escape(row.note)}</li>"
        for row in found.rows
        if row.done and row.note
    ]
    out = [f"<li><b>{html.escape(who)}</b>: {html.escape(why)}</li>" for who, why in found.left_out]
    done = [f"<li>{html.escape(remark)}</li>" for remark in found.remarks]
    parts = {"What was done to columns and rows": done, "Notes on models": [*starred, *out]}
    columns = found.columns.to_html() if found.columns else ""
    table = f"<details class=read><summary>All {len(found.columns):,} columns</summary>{columns}</details>"
    return "".join(
        f"<section class=done><h3>{name}</h3><ul>{''.join(items)}</ul></section>"
        for name, items in parts.items()
        if items
    ) + (table if columns else "")


def _pictures(found: Comparison) -> str:
    """Curves of the chosen model and its rivals, and the calibration of the chosen one."""
    parts = []
    sure = found.trials[found.chosen].has_posterior
    try:
        if len(found.classes) == 2:
            curves = list(roc_curves(found).items())[: RIVALS + 1]
            if curves:
                other = found.classes[1 - found.of_interest]
                parts.append(_roc_picture(curves, f"ROC: '{found.positive}' against '{other}'"))
        elif len(found.classes) <= CURVE_CLASSES and sure:
            each = list(roc_curves(found).items())
            parts.append(_roc_picture(each, f"ROC of {found.chosen}: each class against the rest"))
        if sure:
            parts.append(_calibration(found))
    except DiscrimError:
        # A class that no model can be judged on has no curve.
        pass
    return "".join(parts)


def _calibration(found: Comparison) -> str:
    """Observed frequencies with their intervals against predicted probabilities."""
    result = calibration_of(found)
    of = f"'{found.positive}'" if len(found.classes) == 2 else "all classes together"
    beyond = result.error - result.noise
    words = (
        f"Dots on the diagonal mean calibrated probabilities. Their mean distance is {100 * result.error:.1f} points, "
        f"of which {100 * min(result.noise, result.error):.1f} are what chance alone gives with so many rows: "
        + (f"{100 * beyond:.1f} points are left." if beyond > NOTICED else "nothing is left that speaks against them.")
    )
    parts = [f'<line class="rule dashed" {_ends(0, 0, 1, 1)}/>']
    for p, o, low, high in zip(result.predicted, result.observed, result.lower, result.upper, strict=True):
        parts.append(f'<line class="whisker" {_ends(p, low, p, high)}/>')
        parts.append(f'<circle class="dot" cx="{_x(p):.1f}" cy="{_y(o):.1f}" r="4"/>')
    drawing = _frame("".join(parts), "predicted probability", "observed frequency")
    return _figure(f"Calibration of {found.chosen}, {of}", drawing, f"<p>{html.escape(words)}</p>")


def _confusion(found: Comparison) -> str:
    """True classes down, predicted classes across; the darker, the larger its share of the row."""
    held, weight = found.held_out, found.weight
    predicted = found[found.chosen].predicted[held].astype(found.classes.dtype)
    weight = None if weight is None else weight[held]
    matrix = confusion(found.classes[found.codes[held]], predicted, sample_weight=weight)
    if len(matrix.classes) > MATRIX_CLASSES:
        return _most_confused(matrix)
    labels = [html.escape(str(label)) for label in matrix.classes]
    rows = []
    for k, label in enumerate(labels):
        total = matrix.table[k].sum() or 1.0
        cells = "".join(
            f'<td class="{"right" if j == k else "wrong"}" style="--share:{100 * value / total:.1f}%">{value:,.0f}</td>'
            for j, value in enumerate(matrix.table[k])
        )
        rows.append(f"<tr><th>{label}</th>{cells}<td class=rate>{written(matrix.recall[k], '.1%')}</td></tr>")
    head = "".join(f"<th>{label}</th>" for label in labels)
    said = f"Balanced error {percent(matrix.balanced_error)}: the mean over the classes of what was missed."
    return (
        f"<table class=confusion><thead><tr><th>true class</th>{head}<th>recall</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table><p class=key>{said}</p>"
    )


def _most_confused(matrix: Confusion) -> str:
    wrong = matrix.table - np.diag(np.diagonal(matrix.table))
    order = np.argsort(-wrong, axis=None)[:10]
    pairs = (np.unravel_index(i, wrong.shape) for i in order)
    items = "".join(
        f"<li>'{html.escape(str(matrix.classes[j]))}' predicted as '{html.escape(str(matrix.classes[k]))}': "
        f"{wrong[j, k]:,.0f} rows</li>"
        for j, k in pairs
        if wrong[j, k] > 0
    )
    return f"<p>The most frequent confusions:</p><ul>{items}</ul>"


def _checks(found: Comparison) -> str:
    if not found.checks:
        return "<p>They were not checked; the verdict says why.</p>"
    items = [
        f"<div class='check {check.level}'><h3>{html.escape(check.name)}<span>{check.level}</span></h3>"
        f"<p>{html.escape(check.meaning)}</p><p class=then>{html.escape(check.implication)}</p></div>"
        for check in found.checks.values()
    ]
    return "".join(items)


def _how(found: Comparison) -> str:
    version = sys.modules["discrim"].__version__
    sizes = np.bincount(found.codes, minlength=len(found.classes))
    shown = ", ".join(f"'{c}' {n:,}" for c, n in list(zip(found.classes, sizes, strict=True))[:12])
    folds = len(np.unique(found.folds[found.held_out]))
    facts = {
        "Rows": f"{found.n:,} in {plural(len(found.classes), 'class', 'classes')}: {shown}",
        "Folds": f"{folds}, {found.dealt}; the same for all models",
        **({} if found.words is None else {"Words": "those of all documents, chosen without using their labels"}),
        "Tuning": "inside the training part of every fold; no row influences the model that predicts it",
        "Metric": metric_name(found.metric),
        "Columns": "prepared by the training part of every fold alone; the preparation is part of the chosen model",
        "Choice": CHOICE,
        "Time": f"{found.seconds:.2f} s in total; the column 'fit' is one fit to all rows",
        "Made with": f"discrim {version}, NumPy {np.__version__}, Python {platform.python_version()}",
    }
    return "".join(f"<dt>{name}</dt><dd>{html.escape(value)}</dd>" for name, value in facts.items())


def _interval_bar(row: Row, found: Comparison, *, strong: bool) -> str:
    """A value with its interval, to stand in a cell of a table.

    The scale reaches to a few times the best, so that one bad model does not push all others together; what lies beyond
    it ends in an arrow.
    """
    ends = row.auc_interval if found.metric == "auc" else row.value_interval
    least, most = _scale(found)
    value = -row.value if found.metric == "auc" else row.value
    width, unit = 150.0, 138.0 / ((most - least) or 1.0)
    a, m, b = (6.0 + unit * min(max(each - least, 0.0), most - least) for each in (ends[0], value, ends[1]))
    beyond = value > most or value < least
    edge = (147.0, 141.0) if value > most else (3.0, 9.0)
    point = f'<circle cx="{m:.1f}" cy="7" r="3.6"/>'
    if beyond:
        point = f'<path d="M{edge[0]:g} 7 L{edge[1]:g} 3 L{edge[1]:g} 11 Z"/>'
    kind = "strong" if strong else "weak"
    return (
        f'<svg class="bar {kind}" viewBox="0 0 {width:g} 14" width="{width:g}" height="14" aria-hidden="true">'
        f'<line class="rule" x1="3" x2="147" y1="7" y2="7"/><line class="range" x1="{a:.1f}" x2="{b:.1f}" y1="7" '
        f'y2="7"/>{point}</svg>'
    )


def _scale(found: Comparison) -> tuple[float, float]:
    """From which value to which the bars reach."""
    rows = [row for row in found.rows if row.done and np.isfinite(row.value_interval[0])]
    if found.metric == "auc":
        lows = sorted(row.auc_interval[0] for row in rows)
        return max(lows[0], 1.0 - SCALE * (1.0 - lows[len(lows) // 2])), 1.0
    highs = sorted(row.value_interval[1] for row in rows)
    least = min(0.0, *(row.value_interval[0] for row in rows))
    return least, min(highs[-1], SCALE * max(highs[len(highs) // 2] - least, 1e-12) + least)


def _roc_picture(curves: Sequence[tuple[str, ROC]], title: str) -> str:
    """Curves with their areas; the first is drawn strongest."""
    parts = [f'<line class="rule dashed" {_ends(0, 0, 1, 1)}/>']
    for i, (_, curve) in reversed(list(enumerate(curves))):
        x, y = _thinned(curve.fpr, curve.tpr)
        points = " ".join(f"{_x(a):.1f},{_y(b):.1f}" for a, b in zip(x, y, strict=True))
        parts.append(f'<polyline class="curve c{i % 8}" points="{points}"/>')
    legend = "".join(
        f'<li><span class="swatch c{i % 8}"></span>{html.escape(name)}<b>{curve.auc:.3f}</b></li>'
        for i, (name, curve) in enumerate(curves)
    )
    drawing = _frame("".join(parts), "false positive rate", "true positive rate")
    words = "<p>Curves are of the rows of all folds together; areas in the table compare rows of one fold only.</p>"
    return _figure(title, drawing, f'<ul class="legend">{legend}</ul>{words}')


def _figure(title: str, drawing: str, below: str) -> str:
    return f"<figure><figcaption>{html.escape(title)}</figcaption>{drawing}{below}</figure>"


def _frame(inside: str, below: str, beside: str) -> str:
    ticks = "".join(
        f'<text class="tick" x="{_x(t):.1f}" y="{TOP + SIDE + 16:g}" text-anchor="middle">{t:g}</text>'
        f'<text class="tick" x="{LEFT - 7:g}" y="{_y(t) + 4:.1f}" text-anchor="end">{t:g}</text>'
        f'<line class="grid" {_ends(0, t, 1, t)}/><line class="grid" {_ends(t, 0, t, 1)}/>'
        for t in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    middle = TOP + SIDE / 2
    return (
        f'<svg class="plot" viewBox="0 0 {LEFT + SIDE + 12:g} {TOP + SIDE + 40:g}" role="img" '
        f'aria-label="{html.escape(beside)} against {html.escape(below)}">{ticks}{inside}'
        f'<text class="axis" x="{LEFT + SIDE / 2:g}" y="{TOP + SIDE + 35:g}" text-anchor="middle">{below}</text>'
        f'<text class="axis" x="12" y="{middle:g}" text-anchor="middle" transform="rotate(-90 12 {middle:g})">{beside}'
        "</text></svg>"
    )


def _x(value: float) -> float:
    return LEFT + SIDE * float(value)


def _y(value: float) -> float:
    return TOP + SIDE * (1.0 - float(value))


def _ends(a: float, b: float, c: float, d: float) -> str:
    return f'x1="{_x(a):.1f}" y1="{_y(b):.1f}" x2="{_x(c):.1f}" y2="{_y(d):.1f}"'


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """At most MOST_POINTS points, evenly along the curve."""
    if len(x) <= MOST_POINTS:
        return x, y
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    keep = np.unique(np.searchsorted(along, np.linspace(0.0, along[-1], MOST_POINTS)).clip(0, len(x) - 1))
    return x[keep], y[keep]
