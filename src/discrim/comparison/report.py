"""A comparison as one HTML page that needs nothing from elsewhere."""

from __future__ import annotations

import html
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discrim.comparison.page import PAGE
from discrim.comparison.pictures import calibration_picture, interval_bar, roc_picture
from discrim.comparison.scores import Row, binary_score
from discrim.comparison.verdict import metric_name
from discrim.comparison.words import HEADER, cells_of, left_out, written
from discrim.errors import DiscrimError, plural
from discrim.evaluation.confusion_matrix import Confusion, confusion
from discrim.evaluation.probability_scores import calibration
from discrim.evaluation.roc_curve import roc

if TYPE_CHECKING:
    from discrim.comparison.result import Comparison

# Classes up to which a matrix and a curve for each of them can be read.
MATRIX_CLASSES, CURVE_CLASSES = 12, 8
RIVALS = 3
BETTER = "models that are not better than the baseline by a one-sided paired test (Holm's correction, 5%) are out"
CHOICE = (
    f"{BETTER}; of the others those stay whose paired difference from the best is within one standard error, and "
    "within one point of error; of these the lowest log loss wins, and within 2% of it, or where there is no error at "
    "all, the smaller and more regularised rule"
)
SIMPLEST = (
    f"{BETTER}; of the others the simplest of those that a paired test, without the correction for many tests, cannot "
    "distinguish from the best at 5%; rules whose sizes differ by less than a factor of two are equally simple, and "
    "the best of them is taken"
)


def write_report(found: Comparison, path: Path) -> Path:
    """The page under a temporary name first, so that nobody meets half of it."""
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
        # In the words of the system, but of the file that was asked for.
        told = f"The report cannot be written ({error.strerror})"
        raise OSError(error.errno, told, str(path)) from error
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
            ("numbers", ""), ("fit", ""), ("p", ""), ("tuned", " class=word"),
        )
    )  # fmt: skip
    return f"<table class=models><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(found: Comparison, row: Row, most: float) -> str:
    strong = row.name == found.chosen
    kind = "chosen" if strong else "near" if row.indistinguishable else "far"
    low, high = row.error_interval
    bar = interval_bar(low, row.error, high, most, strong=strong or row.indistinguishable)
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
    out = [f"<li><b>{html.escape(who)}</b>: {html.escape(why)}</li>" for who, why in left_out(found.rows)]
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
                parts.append(roc_picture(curves, f"ROC: '{found.classes[1]}' against '{found.classes[0]}'"))
        elif len(found.classes) <= CURVE_CLASSES and tried.has_posterior:
            posterior = found[found.chosen].posterior
            each = [(str(c), roc(found.codes == k, posterior[:, k])) for k, c in enumerate(found.classes)]
            parts.append(roc_picture(each, f"ROC of {found.chosen}: each class against the rest"))
        if tried.has_posterior:
            parts.append(_calibration(found))
    except DiscrimError:
        # A class that no model can be judged on: the table says enough.
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
    words = f"Dots on the line mean honest probabilities; on average they are {result.error:.1%} away."
    return calibration_picture(result, f"Calibration of {found.chosen}, {of}", words)


def _confusion(found: Comparison) -> str:
    """True classes down, answers across; the darker, the larger its share of the row."""
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
        f"<table class=confusion><thead><tr><th>true class</th>{head}<th>found</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _most_confused(matrix: Confusion) -> str:
    wrong = matrix.table - np.diag(np.diagonal(matrix.table))
    order = np.argsort(-wrong, axis=None)[:10]
    pairs = (np.unravel_index(i, wrong.shape) for i in order)
    items = "".join(
        f"<li>'{html.escape(str(matrix.classes[j]))}' taken for '{html.escape(str(matrix.classes[k]))}': "
        f"{wrong[j, k]:,.0f} rows</li>"
        for j, k in pairs
        if wrong[j, k] > 0
    )
    return f"<p>The most frequent confusions:</p><ul>{items}</ul>"


def _checks(found: Comparison) -> str:
    if not found.checks:
        return "<p>Nothing was checked; the verdict says why.</p>"
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
        **({} if found.words is None else {"Words": "those of all documents, chosen without a look at their labels"}),
        "Tuning": "inside the training part of every fold; no row has a say in the model that predicts it",
        "Metric": metric_name(found.metric),
        "Columns": "prepared by the training part of every fold alone; the preparation is part of the chosen model",
        "Choice": CHOICE if found.metric in ("error", "log_loss", "brier") else SIMPLEST,
        "Time": f"{found.seconds:.2f} s for everything; the column 'fit' is one fit of all rows",
        "Made with": f"discrim {version}, NumPy {np.__version__}, Python {platform.python_version()}",
    }
    return "".join(f"<dt>{name}</dt><dd>{html.escape(value)}</dd>" for name, value in facts.items())
