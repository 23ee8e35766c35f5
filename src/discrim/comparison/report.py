"""A comparison as one HTML page that needs nothing from elsewhere."""

from __future__ import annotations

import html
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discrim.comparison.result import HEADER, cells_of
from discrim.comparison.scores import Row, binary_score, written
from discrim.comparison.verdict import metric_name
from discrim.errors import DiscrimError, plural
from discrim.evaluation.confusion_matrix import Confusion, confusion
from discrim.evaluation.curves import ROC, roc
from discrim.evaluation.probability_scores import Calibration, calibration
from discrim.typing import Floats

if TYPE_CHECKING:
    from discrim.comparison.result import Comparison

# Classes up to which a matrix and a curve for each of them can be read.
MATRIX_CLASSES, CURVE_CLASSES = 12, 8
RIVALS = 3
# Inside of a square picture, in its own units.
SIDE, LEFT, TOP = 260.0, 58.0, 10.0
MOST_POINTS = 240
BETTER = (
    "models that are not significantly better than the baseline (one-sided paired test, Holm-adjusted) are excluded"
)
CHOICE = (
    f"{BETTER}; of the others, those are tied whose paired difference from the best is within one standard error and "
    "one percentage point of error; of these the lowest log loss wins, and within 2% of it, or where no model makes an "
    "error, the smaller and more regularised rule"
)
SIMPLEST = (
    f"{BETTER}; of the others, the simplest of those that a paired test at 5%, not adjusted for many tests, does not "
    "distinguish from the best; rules whose sizes differ by less than a factor of two count as equally simple, and the "
    "best of them is chosen"
)
STYLE = """
:root { --paper: #fcfbf8; --ink: #22252a; --soft: #6b7079; --line: #dedbd2; --card: #f4f2ec; --accent: #1f6fb4;
  --good: #2d7d46; --warn: #a96a00; --bad: #b3372c;
  --c0: #1f6fb4; --c1: #d97706; --c2: #2d8f5c; --c3: #b03a8c; --c4: #7a5cc4; --c5: #8a6d3b; --c6: #3aa6a6; --c7: #777; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e6e4df; --soft: #9aa0aa; --line: #33373e;
  --card: #1e2126; --accent: #6db3f2; --good: #6cc58a; --warn: #e2ae54; --bad: #f08a7e;
  --c0: #6db3f2; --c1: #f2a65a; --c2: #6fcf97; --c3: #e58acb; --c4: #b19cf0; --c5: #cdb58a; --c6: #74d3d3;
  --c7: #aaa; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 66rem; padding: 2.2rem 1.4rem 3rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.15rem; font-weight: 600; color: var(--soft); margin: 0 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .7rem; }
.verdict { font: 1.3rem/1.5 Georgia, "Times New Roman", serif; margin: 0 0 1.6rem; padding-left: 1rem;
  border-left: 4px solid var(--accent); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
.models { width: 100%; font-size: .92rem; }
.models th, .models td { text-align: right; padding: .38rem .5rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
.models th:first-child, .models .word { text-align: left; }
.models td.word { white-space: normal; font-weight: 400; font-size: .82rem; min-width: 7rem; }
.models thead th { font-weight: 500; color: var(--soft); }
.models thead .wide { text-align: center; }
.models tbody th { font-weight: 500; }
.models .chosen { background: color-mix(in srgb, var(--accent) 10%, transparent); }
.models .chosen th, .models .chosen td { font-weight: 650; }
.models .far { color: var(--soft); }
.tag { margin-left: .5rem; padding: .05rem .45rem; border-radius: .7rem; background: var(--accent); color: var(--paper);
  font-size: .72rem; font-weight: 600; vertical-align: 1px; }
.ends { display: inline-block; min-width: 2.3rem; color: var(--soft); font-size: .8rem; font-weight: 400; }
.bar { vertical-align: -2px; margin: 0 .1rem; }
.bar .rule { stroke: var(--line); stroke-width: 1; } .bar .range { stroke-width: 3.5; stroke-linecap: round; }
.bar.strong .range { stroke: var(--accent); } .bar.strong circle { fill: var(--accent); }
.bar.weak .range { stroke: var(--soft); } .bar.weak circle { fill: var(--soft); }
.key, .notes { color: var(--soft); font-size: .86rem; } .notes { padding-left: 1.1rem; }
.pair { display: flex; flex-wrap: wrap; gap: 1.6rem; }
figure { margin: 0; flex: 1 1 20rem; max-width: 29rem; } figcaption { font-weight: 600; margin-bottom: .3rem; }
figure p { color: var(--soft); font-size: .86rem; margin: .2rem 0; }
.plot { width: 100%; height: auto; } .plot .grid { stroke: var(--line); stroke-width: .7; }
.plot .rule { stroke: var(--soft); stroke-width: 1; } .dashed { stroke-dasharray: 4 4; }
.plot text { fill: var(--soft); font-size: 11px; } .plot .axis { fill: var(--ink); font-size: 12px; }
.curve { fill: none; stroke-width: 2; stroke: var(--k); } .swatch { background: var(--k); }
.whisker { stroke: var(--accent); stroke-width: 1.6; } .dot { fill: var(--accent); }
.c0 { --k: var(--c0); } .c1 { --k: var(--c1); } .c2 { --k: var(--c2); } .c3 { --k: var(--c3); }
.c4 { --k: var(--c4); } .c5 { --k: var(--c5); } .c6 { --k: var(--c6); } .c7 { --k: var(--c7); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .2rem 0;
  font-size: .88rem; }
.legend b { margin-left: .4rem; } .swatch { display: inline-block; width: 1.1rem; height: .25rem; margin-right: .4rem;
  vertical-align: 3px; border-radius: 2px; }
.confusion th, .confusion td { padding: .4rem .8rem; text-align: right; font-size: .92rem; }
.confusion th { font-weight: 500; } .confusion thead th { color: var(--soft); }
.confusion .right { background: color-mix(in srgb, var(--good) calc(var(--share) * .55), transparent); }
.confusion .wrong { background: color-mix(in srgb, var(--bad) calc(var(--share) * 1), transparent); }
.confusion .rate { color: var(--soft); }
.checks { display: grid; grid-template-columns: repeat(auto-fill, minmax(18.5rem, 1fr)); gap: .9rem; }
.check { background: var(--card); border-radius: .5rem; padding: .8rem 1rem; border-top: 3px solid var(--soft); }
.check h3 { margin: 0 0 .3rem; font-size: 1rem; }
.check h3::first-letter { text-transform: uppercase; }
.check h3 span { float: right; font-weight: 600; font-size: .82rem; color: var(--soft); }
.check p { margin: .25rem 0; font-size: .9rem; } .check .then { color: var(--soft); }
.fine { border-color: var(--good); } .fine h3 span { color: var(--good); }
.doubtful { border-color: var(--warn); } .doubtful h3 span { color: var(--warn); }
.problem { border-color: var(--bad); } .problem h3 span { color: var(--bad); }
.how { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; font-size: .92rem; margin: 0; }
.how dt { color: var(--soft); } .how dd { margin: 0; }
@media print { body { max-width: none; } }
"""

# Filled by ``str.format``: the style comes in as it is, since its braces are doubled here.
PAGE = (
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Which model? {title}</title>
<style>"""
    + STYLE.replace("{", "{{").replace("}", "}}")
    + """</style></head><body>
<h1>Which model? {title}</h1>
<p class="verdict">{verdict}</p>
<div class="scroll">{table}</div>
<p class="key">Every row is predicted by models that have not seen it. Blue intervals: not significantly worse than
the best. p: paired test versus the best, Holm-adjusted. params: free parameters of the rule.</p>
{left_out}
<h2>How good is {chosen}?</h2>
<div class="scroll">{confusion}</div>
<div class="pair" style="margin-top: 1.4rem">{pictures}</div>
<h2>What the models assume</h2>
<div class="checks">{checks}</div>
<h2>Method</h2>
<dl class="how">{how}</dl>
</body></html>
"""
)


def write_report(found: Comparison, path: Path) -> Path:
    """Under a temporary name first, so that the page is never seen half-written."""
    page = PAGE.format(
        title=html.escape(found.title),
        verdict=html.escape(found.verdict),
        table=_table(found),
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


def _table(found: Comparison) -> str:
    done = [row for row in found.rows if row.done]
    most = max(row.error_interval[1] for row in done)
    body = "".join(_row(found, row, most) for row in done)
    head = "".join(
        f"<th{kind}>{name}</th>"
        for name, kind in (
            ("model", ""), ("error", ""), ("95% interval", " class=wide"), ("log loss", ""), ("AUC", ""),
            ("params", ""), ("fit", ""), ("p", ""), ("tuned", " class=word"),
        )
    )  # fmt: skip
    return f"<table class=models><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(found: Comparison, row: Row, most: float) -> str:
    strong = row.name == found.chosen
    kind = "chosen" if strong else "near" if row.indistinguishable else "far"
    low, high = row.error_interval
    bar = _interval_bar(low, row.error, high, most, strong=strong or row.indistinguishable)
    cells = [html.escape(cell) for cell in cells_of(row)]
    cells[HEADER.index("95%")] = (
        f'<span class="ends">{100 * low:.1f}</span>{bar}<span class="ends">{100 * high:.1f}</span>'
    )
    mark = "<span class=tag>chosen</span>" if strong else ""
    tuned = f"<td class=word>{html.escape(row.tuned)}</td>"
    name = f'<th title="{html.escape(row.note)}">{html.escape(row.name)}{"<sup>*</sup>" if row.note else ""}{mark}</th>'
    return f"<tr class={kind}>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}{tuned}</tr>"


def _left_out(found: Comparison) -> str:
    starred = [
        f"<li><b>{html.escape(row.name)}*</b> {html.escape(row.note)}</li>"
        for row in found.rows
        if row.done and row.note
    ]
    out = [f"<li><b>{html.escape(who)}</b>: {html.escape(why)}</li>" for who, why in found.left_out]
    done = [f"<li>{html.escape(remark)}</li>" for remark in found.remarks]
    return f"<ul class=notes>{''.join([*starred, *out, *done])}</ul>" if starred or out or done else ""


def _pictures(found: Comparison) -> str:
    """Curves of the chosen model and its rivals, and the calibration of the chosen one."""
    parts = []
    tried = found.trials[found.chosen]
    try:
        if len(found.classes) == 2:
            near = [row.name for row in found.rows if row.done and row.name != found.chosen][:RIVALS]
            scores = {name: binary_score(found.trials[name]) for name in [found.chosen, *near]}
            curves = [(n, roc(found.codes, s, positive=1)) for n, s in scores.items() if s is not None]
            if curves:
                parts.append(_roc_picture(curves, f"ROC: '{found.classes[1]}' against '{found.classes[0]}'"))
        elif len(found.classes) <= CURVE_CLASSES and tried.has_posterior:
            posterior = found[found.chosen].posterior
            each = [(str(c), roc(found.codes == k, posterior[:, k])) for k, c in enumerate(found.classes)]
            parts.append(_roc_picture(each, f"ROC of {found.chosen}: each class against the rest"))
        if tried.has_posterior:
            parts.append(_calibration(found))
    except DiscrimError:
        # A class that no model can be judged on has no curve.
        pass
    return "".join(parts)


def _calibration(found: Comparison) -> str:
    posterior = np.clip(found[found.chosen].posterior, 0.0, 1.0)
    if len(found.classes) == 2:
        result = calibration(found.codes, posterior[:, 1], positive=1, bins=10, strategy="quantile")
        of = f"'{found.classes[1]}'"
    else:
        happened = found.codes[:, None] == np.arange(len(found.classes))
        result = calibration(happened.ravel(), posterior.ravel(), positive=True, bins=10)
        of = "all classes together"
    words = f"Dots on the diagonal mean calibrated probabilities; their mean distance is {result.error:.1%}."
    return _calibration_picture(result, f"Calibration of {found.chosen}, {of}", words)


def _confusion(found: Comparison) -> str:
    """True classes down, predicted classes across; the darker, the larger its share of the row."""
    matrix = confusion(found.classes[found.codes], found[found.chosen].predicted, sample_weight=found.weight)
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
    return (
        f"<table class=confusion><thead><tr><th>true class</th>{head}<th>recall</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
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
    folds = len(np.unique(found.folds))
    facts = {
        "Rows": f"{found.n:,} in {plural(len(found.classes), 'class', 'classes')}: {shown}",
        "Folds": f"{folds}, {found.dealt}; the same for all models",
        **({} if found.words is None else {"Words": "those of all documents, chosen without using their labels"}),
        "Tuning": "inside the training part of every fold; no row influences the model that predicts it",
        "Metric": metric_name(found.metric),
        "Columns": "prepared by the training part of every fold alone; the preparation is part of the chosen model",
        "Choice": CHOICE if found.metric in ("error", "log_loss", "brier") else SIMPLEST,
        "Time": f"{found.seconds:.2f} s in total; the column 'fit' is one fit to all rows",
        "Made with": f"discrim {version}, NumPy {np.__version__}, Python {platform.python_version()}",
    }
    return "".join(f"<dt>{name}</dt><dd>{html.escape(value)}</dd>" for name, value in facts.items())


def _interval_bar(low: float, middle: float, high: float, most: float, *, strong: bool) -> str:
    """A value with its interval on the scale from 0 to ``most``, to stand in a cell of a table."""
    width, scale = 150.0, 144.0 / (most or 1.0)
    a, m, b = (3.0 + scale * min(value, most) for value in (low, middle, high))
    kind = "strong" if strong else "weak"
    return (
        f'<svg class="bar {kind}" viewBox="0 0 {width:g} 14" width="{width:g}" height="14" aria-hidden="true">'
        f'<line class="rule" x1="3" x2="147" y1="7" y2="7"/><line class="range" x1="{a:.1f}" x2="{b:.1f}" y1="7" '
        f'y2="7"/><circle cx="{m:.1f}" cy="7" r="3.6"/></svg>'
    )


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
    return _figure(title, drawing, f'<ul class="legend">{legend}</ul>')


def _calibration_picture(found: Calibration, title: str, words: str) -> str:
    """Observed frequencies with their intervals against predicted probabilities."""
    parts = [f'<line class="rule dashed" {_ends(0, 0, 1, 1)}/>']
    for p, o, low, high in zip(found.predicted, found.observed, found.lower, found.upper, strict=True):
        parts.append(f'<line class="whisker" {_ends(p, low, p, high)}/>')
        parts.append(f'<circle class="dot" cx="{_x(p):.1f}" cy="{_y(o):.1f}" r="4"/>')
    drawing = _frame("".join(parts), "predicted probability", "observed frequency")
    return _figure(title, drawing, f"<p>{html.escape(words)}</p>")


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
