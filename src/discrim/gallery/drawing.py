"""How the gallery draws: one look, classes by colour and shape, regions, borders, ellipses."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import special

from discrim.plots import style
from discrim.typing import Floats

# Colours by their role, in light and in dark; a picture is drawn in the light ones, and the page decides.
LIGHT, MARKERS, SMALL, TEXT = style.LIGHT, style.MARKERS, style.SMALL, style.TEXT
INK, MUTED, FACE, PALETTE = LIGHT.ink, LIGHT.muted, LIGHT.face, LIGHT.palette
ROLES = {
    INK: "ink",
    "#000000": "ink",
    "#b0b0b0": "line",
    MUTED: "muted",
    LIGHT.line: "line",
    FACE: "face",
    **{c: f"c{k}" for k, c in enumerate(PALETTE)},
}
GRID = 220


def new_axes(
    count: int = 1, *, across: int | None = None, size: tuple[float, float] | None = None, polar: bool = False,
    solid: bool = False,
) -> tuple[Figure, list[Any]]:  # fmt: skip
    """A figure with so many axes, ``across`` in a row (two by default, so that a telephone shows them)."""
    columns = min(count, across or 2)
    rows = -(-count // columns)
    if size is None:
        size = (5.0, 3.9) if count == 1 else (5.8, (5.8 / columns + 0.2) * rows)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasSVG(figure)
    projection = "3d" if solid else "polar" if polar else None
    grid = figure.subplots(rows, columns, squeeze=False, subplot_kw={"projection": projection}).ravel()
    for ax in grid[count:]:
        ax.remove()
    for ax in grid[:count]:
        for side, spine in ax.spines.items():
            spine.set_visible(side in {"left", "bottom"})
            spine.set_color(MUTED)
        ax.tick_params(colors=MUTED, labelcolor=INK, labelsize=SMALL)
        for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
            label.set(color=INK, fontsize=TEXT)
        ax.set_facecolor("none")
        if solid:
            _bare(ax)
    return figure, list(grid[:count])


def _bare(ax: Any) -> None:
    """Three axes without panes, which would stay light in the dark, and with room for their labels."""
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
        axis.line.set_color(MUTED)
        axis.label.set(color=INK, fontsize=TEXT)
    ax.tick_params(axis="z", colors=MUTED, labelcolor=INK, labelsize=SMALL)
    ax.set_box_aspect(None, zoom=0.95)


def svg(figure: Figure, name: str, alt: str) -> str:
    """The figure as a piece of a page: colours are variables of the page, ids are its own."""
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda m: f"var(--{ROLES[m[0]]})" if m[0] in ROLES else m[0], text)
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


def titled(ax: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Title on the left, wrapped to the width, and names of the axes."""
    style.titled(ax, title or None, x or None, y or None)


def keyed(ax: Any) -> None:
    """A legend between title and picture, where it covers nothing."""
    style.keyed(ax, LIGHT)


def points(ax: Any, X: Any, y: Any, names: Sequence[str] | None = None, size: float = 4.0) -> None:
    """Rows of two columns, by class; at most 500 of each are drawn."""
    x = np.asarray(X, dtype=np.float64)
    for k, label in enumerate(np.unique(y)):
        own = x[np.asarray(y) == label][:500]
        named = {} if names is None else {"label": names[k]}
        ax.plot(
            own[:, 0], own[:, 1], linestyle="", marker=MARKERS[k % 10], color=PALETTE[k % 8], markersize=size,
            markeredgewidth=0.3, markeredgecolor=FACE, zorder=3, **named,
        )  # fmt: skip


def frame(ax: Any, X: Any, room: float = 0.1, *, equal: bool = False) -> None:
    """Limits around the rows."""
    x = np.asarray(X, dtype=np.float64)
    low, high = x.min(axis=0), x.max(axis=0)
    reach = room * (high - low)
    ax.set(xlim=(low[0] - reach[0], high[0] + reach[0]), ylim=(low[1] - reach[1], high[1] + reach[1]))
    if equal:
        ax.set_aspect("equal", adjustable="box")


def lattice(ax: Any) -> tuple[Floats, Floats, Floats]:
    """A grid over the axes: its two coordinates, and all points as rows."""
    a, b = np.meshgrid(*(np.linspace(low, high, GRID) for low, high in (ax.get_xlim(), ax.get_ylim())))
    return a, b, np.column_stack([a.ravel(), b.ravel()])


def regions(ax: Any, predict: Callable[[Any], Any], classes: Any, spare: Sequence[Any] = ()) -> None:
    """Areas of the same answer; those of ``spare`` answers, which are no class, are hatched."""
    a, b, rows = lattice(ax)
    answer = np.asarray(predict(rows))
    for k, label in enumerate(classes):
        inside = (answer == label).astype(float).reshape(a.shape)
        if inside.any():
            ax.contourf(a, b, inside, levels=[0.5, 1.5], colors=[PALETTE[k % 8]], alpha=0.2, zorder=0)
    for label, hatch in zip(spare, ("////", "....", "xxxx"), strict=False):
        inside = (answer == label).astype(float).reshape(a.shape)
        if inside.any():
            area = ax.contourf(a, b, inside, levels=[0.5, 1.5], colors="none", hatches=[hatch], zorder=0)
            area.set(edgecolor=MUTED, linewidth=0.0)


def border(
    ax: Any, score: Callable[[Any], Any], colour: str = INK, dash: Any = "-", label: str = "", width: float = 1.5
) -> None:
    """Where a score of two classes is zero."""
    a, b, rows = lattice(ax)
    ax.contour(
        a,
        b,
        np.asarray(score(rows)).reshape(a.shape),
        levels=[0.0],
        colors=[colour],
        linestyles=[dash],
        linewidths=width,
    )
    if label:
        ax.plot([], [], color=colour, linestyle=dash, linewidth=width, label=label)


def borders(ax: Any, scores: Callable[[Any], Any], colour: str = INK, dash: Any = "-", label: str = "") -> None:
    """Where the best and the second best of K scores are equal, class by class."""
    a, b, rows = lattice(ax)
    values = np.asarray(scores(rows))
    for k in range(values.shape[1]):
        lead = values[:, k] - np.delete(values, k, axis=1).max(axis=1)
        ax.contour(a, b, lead.reshape(a.shape), levels=[0.0], colors=[colour], linestyles=[dash], linewidths=1.3)
    if label:
        ax.plot([], [], color=colour, linestyle=dash, linewidth=1.3, label=label)


def line(ax: Any, w: Any, b: float, colour: str = INK, dash: Any = "-", label: str = "", **options: Any) -> None:
    """The line w'x + b = 0, as far as the axes go."""
    w, limits = np.asarray(w, dtype=np.float64), (ax.get_xlim(), ax.get_ylim())
    foot, along = -b * w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
    ends = foot + np.outer([-1e3, 1e3], along)
    named = {"label": label} if label else {}
    ax.plot(ends[:, 0], ends[:, 1], color=colour, linestyle=dash, **{"linewidth": 1.5, **named, **options})
    ax.set(xlim=limits[0], ylim=limits[1])


def ellipse(ax: Any, mean: Any, covariance: Any, colour: str = INK, share: float = 0.68, **options: Any) -> None:
    """The contour of a Gaussian density that holds this share of it."""
    turn = np.linspace(0.0, 2 * np.pi, 120)
    radius = np.sqrt(special.chdtri(2, 1 - share))
    edge = np.asarray(mean) + radius * np.column_stack([np.cos(turn), np.sin(turn)]) @ np.linalg.cholesky(covariance).T
    ax.plot(edge[:, 0], edge[:, 1], color=colour, **{"linewidth": 1.3, **options})


def arrow(ax: Any, start: Any, end: Any, colour: str = INK, text: str = "", width: float = 1.6) -> None:
    """An arrow between two points, with a word at its head."""
    ax.annotate(
        "",
        end,
        xytext=start,
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0},
    )
    if text:
        halo = style.halo(LIGHT)
        ax.annotate(
            text, end, xytext=(5, 4), textcoords="offset points", color=colour, fontsize=TEXT, path_effects=halo
        )


def histograms(ax: Any, values: Any, y: Any, names: Sequence[str], bins: int = 24) -> None:
    """Histograms of one number a row, by class, over the same bins."""
    edges: NDArray[Any] = np.linspace(np.min(values), np.max(values), bins + 1)
    for k, label in enumerate(np.unique(y)):
        ax.hist(np.asarray(values)[np.asarray(y) == label], bins=edges, color=PALETTE[k], alpha=0.5, label=names[k])


def matrix(axes: Sequence[Any], X: Any, y: Any, names: Sequence[str]) -> None:
    """All pairs of columns, the names on the diagonal; ``axes`` are p x p, row by row."""
    x, p = np.asarray(X), len(names)
    for i in range(p):
        for j in range(p):
            ax = axes[i * p + j]
            ax.set(xticks=[], yticks=[])
            if i == j:
                ax.text(0.5, 0.5, names[i], ha="center", va="center", transform=ax.transAxes, color=INK, fontsize=SMALL)
            else:
                points(ax, x[:, [j, i]], y, size=1.8)
