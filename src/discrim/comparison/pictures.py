"""The pictures of a comparison's report, as SVG that takes its colours from the page."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from discrim.evaluation.probability_scores import Calibration
from discrim.evaluation.roc_curve import ROC
from discrim.typing import Floats

# Inside of a square picture, in its own units.
SIDE, LEFT, TOP = 260.0, 58.0, 10.0
MOST_POINTS = 240


def interval_bar(low: float, middle: float, high: float, most: float, *, strong: bool) -> str:
    """A value with its interval on the scale from 0 to ``most``, to stand in a cell of a table."""
    width, scale = 150.0, 144.0 / (most or 1.0)
    a, m, b = (3.0 + scale * min(value, most) for value in (low, middle, high))
    kind = "strong" if strong else "weak"
    return (
        f'<svg class="bar {kind}" viewBox="0 0 {width:g} 14" width="{width:g}" height="14" aria-hidden="true">'
        f'<line class="rule" x1="3" x2="147" y1="7" y2="7"/><line class="range" x1="{a:.1f}" x2="{b:.1f}" y1="7" '
        f'y2="7"/><circle cx="{m:.1f}" cy="7" r="3.6"/></svg>'
    )


def roc_picture(curves: Sequence[tuple[str, ROC]], title: str) -> str:
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
    drawing = _frame("".join(parts), "share of the others taken for it", "share of its rows found")
    return _figure(title, drawing, f'<ul class="legend">{legend}</ul>')


def calibration_picture(found: Calibration, title: str, words: str) -> str:
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
    """At most so many points, evenly along the curve."""
    if len(x) <= MOST_POINTS:
        return x, y
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    keep = np.unique(np.searchsorted(along, np.linspace(0.0, along[-1], MOST_POINTS)).clip(0, len(x) - 1))
    return x[keep], y[keep]
