"""Pictures as pieces of a page, whose colours are those of the page; and axes of three dimensions."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from discrim.plots.style import LIGHT, SMALL, TEXT

# Colours by their role: a picture is drawn in the light ones, and the page decides.
ROLES = {
    LIGHT.ink: "ink", "#000000": "ink", LIGHT.muted: "muted", LIGHT.line: "line", LIGHT.face: "face",
    **{colour: f"c{k}" for k, colour in enumerate(LIGHT.palette)},
}  # fmt: skip


def svg(figure: Figure, name: str, alt: str) -> str:
    """The figure as a piece of a page: colours are variables of the page, ids are its own."""
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda found: _variable(found[0]), text)
    # Ids are unique on the page: several pictures stand in one document.
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", text)
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    head = f'<svg role="img" aria-label="{alt}" style="max-width:{width}px" '
    head += f'viewBox="0 0 {0.75 * width:g} {0.75 * height:g}" '
    return re.sub(
        r"<svg [^>]*>",
        head + 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">',
        text,
        count=1,
    )


@cache
def _variable(colour: str) -> str:
    """A colour of the page, also where it is mixed into the background."""
    if colour in ROLES:
        return f"var(--{ROLES[colour]})"
    away = np.array(to_rgb(colour)) - to_rgb(LIGHT.face)
    for known, role in ROLES.items():
        full = np.array(to_rgb(known)) - to_rgb(LIGHT.face)
        if not full.any():
            continue
        share = float(away @ full / (full @ full))
        if 0 < share < 1 and np.abs(share * full - away).max() < 1 / 255:
            return f"color-mix(in srgb, var(--{role}) {100 * share:.0f}%, var(--face))"
    return colour


def in_space(size: tuple[float, float] = (5.0, 3.6)) -> Any:
    """Axes of three dimensions without panes, which would stay light in the dark, and with room for their labels."""
    ax: Any = Figure(figsize=size, layout="constrained").subplots(subplot_kw={"projection": "3d"})
    ax.set_facecolor("none")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
        axis.line.set_color(LIGHT.muted)
        axis.label.set(color=LIGHT.ink, fontsize=TEXT)
    ax.tick_params(colors=LIGHT.muted, labelcolor=LIGHT.ink, labelsize=SMALL)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
    ax.set_box_aspect(None, zoom=0.95)
    return ax
