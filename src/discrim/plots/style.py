"""One look for all pictures: colours, sizes, places of titles and labels. matplotlib's global settings stay."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib import get_backend
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, MaxNLocator
from numpy.typing import NDArray

from discrim.errors import ParameterError
from discrim.plots.given import checked
from discrim.plots.lettering import text_width, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Entries of the legend of each axes: a second picture on the same axes adds its own.
_ENTRIES: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()
# Of figures that were made here: by row of panels the lines of its highest legend.
_LEGENDS: WeakKeyDictionary[Any, dict[int, int]] = WeakKeyDictionary()
NOTE = "note"
# Shapes of points, in the order of the classes: they carry the class where colours cannot.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*", "<", ">")
# Sizes in points: still legible when a picture of WIDTH is shown 390 pixels wide.
TEXT, SMALL, TITLE = 9.5, 8.5, 10.5
# Inches; at 96 pixels an inch a picture is 480 wide, panels side by side too: text is then 9 pixels high on a phone.
WIDTH, HEIGHT = 5.0, 3.9
MOST_PANELS = 100
# Points that ticks and name of the vertical axis take; those that stay free at the right; a line of a legend.
BESIDE, MARGIN, LINE = 44.0, 8.0, SMALL * 1.45
LEAST_ROOM = 60.0


@dataclass(frozen=True)
class Look:
    """Colours: ``face`` behind a picture, ``ink`` for what matters, ``muted`` for the rest, ``palette`` of the classes.

    The palette is that of Okabe and Ito, which remains distinct for the colour-blind, darkened or lightened so that
    each colour stands out from ``face``.
    """

    name: str
    face: str
    ink: str
    muted: str
    line: str
    palette: tuple[str, ...]

    def colour(self, k: int) -> str:
        """Of the k-th class or series."""
        return self.palette[k % len(self.palette)]

    def marker(self, k: int) -> str:
        """A shape for the k-th class: with more classes than colours, pairs of colour and shape differ."""
        return MARKERS[(k + k // len(self.palette)) % len(MARKERS)]

    def depth(self, k: int) -> float:
        """How much deeper areas of the k-th class are than those of the first, whose colours return after a while."""
        return (1.0, 2.0, 1.5)[k // len(self.palette) % 3]

    def tint(self, k: int, strength: float = 0.24) -> tuple[float, float, float]:
        """The colour of a class, mixed into the background, for areas."""
        return mixed(self.colour(k), self.face, strength)


LIGHT = Look(
    "light", "#ffffff", "#1f2933", "#5b6770", "#d5dae0",
    ("#0072b2", "#d55e00", "#008a63", "#b0508a", "#9a7400", "#3a9bd0", "#6b6b6b", "#7a4fbf"),
)  # fmt: skip
DARK = Look(
    "dark", "#14181f", "#e6e9ed", "#a3adb8", "#363f4a",
    ("#56b4e9", "#ff9442", "#3fd6a4", "#e79ac6", "#f0e442", "#8fa8ff", "#b8b8b8", "#c9a3ff"),
)  # fmt: skip
LOOKS = {look.name: look for look in (LIGHT, DARK)}

_default: ContextVar[Look] = ContextVar("discrim_look", default=LIGHT)


@contextmanager
def styled(style: str) -> Iterator[None]:
    """Within it pictures have this style, "light" or "dark", unless they are given another.

    Examples
    --------
    >>> from discrim import plots
    >>> with plots.styled("dark"):
    ...     axes = plots.points([[0, 0], [1, 2]])
    >>> [round(part, 2) for part in axes.get_facecolor()]
    [0.08, 0.09, 0.12, 1.0]
    """
    token = _default.set(_look(style))
    try:
        yield
    finally:
        _default.reset(token)


def _look(style: str | None) -> Look:
    if style is None:
        return _default.get()
    if not isinstance(style, str) or style not in LOOKS:
        raise ParameterError.bad_value("style", style, " or ".join(map(repr, LOOKS)))
    return LOOKS[style]


def mixed(colour: Any, face: Any, strength: float) -> tuple[float, float, float]:
    """``strength`` of a colour, the rest of another."""
    r, g, b = strength * np.array(to_rgb(colour)) + (1.0 - strength) * np.array(to_rgb(face))
    return float(r), float(g), float(b)


def canvas(ax: Any, style: str | None, size: tuple[float, float] = (WIDTH, HEIGHT)) -> tuple[Axes, Look]:
    """The axes to draw on, new ones unless some are given, and their look.

    Axes that are given keep their figure; where no style is asked for, a dark background is drawn on in light colours.
    """
    if ax is None:
        return panels(1, style, size=size)[0][0], _look(style)
    _refuse_other_axes(ax, ", or None for a new figure")
    look = _look(style)
    if style is None and sum(to_rgb(ax.get_facecolor())) < 1.2:
        look = DARK
    _dress(ax, look, face=style is not None)
    return ax, look


def _refuse_other_axes(ax: Any, instead: str = "") -> None:
    if not hasattr(ax, "plot") or not hasattr(ax, "transAxes"):
        raise ParameterError.bad_value("ax", ax, f"a matplotlib Axes{instead}")


def panels(
    count: int, style: str | None, *, across: int | None = None, size: tuple[float, float] | None = None,
    solved: bool = True,
) -> tuple[list[Axes], Look]:  # fmt: skip
    """So many new axes on a figure of their own, side by side up to ``across`` (two, which stay legible on a phone).

    Their places are ``solved`` for, so that no text is cut off, unless the caller places them.
    """
    look = _look(style)
    columns = min(count, across or 2)
    rows = -(-count // columns)
    if size is None:
        size = (WIDTH, (HEIGHT - 0.6 if columns == 1 else WIDTH / columns + 0.5) * rows)
    figure = _new_figure(size)
    if solved:
        figure.set_layout_engine("constrained", h_pad=0.07, w_pad=0.07)
    figure.set_facecolor(look.face)
    _LEGENDS[figure] = {}
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in grid[count:]:
        ax.remove()
    for ax in grid[:count]:
        _dress(ax, look, face=True)
        if columns > 1:
            ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], prune=None))
    return list(grid[:count]), look


def _new_figure(size: tuple[float, float]) -> Figure:
    """A figure of pyplot where that can show it, as in a notebook; else a free one, which nobody has to close."""
    if _can_show():
        from matplotlib import pyplot as plt

        return plt.figure(figsize=size)
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return figure


def _can_show() -> bool:
    notebook = sys.modules.get("IPython")
    if notebook is not None and notebook.get_ipython() is not None:
        return True
    if "matplotlib.pyplot" not in sys.modules:
        return False
    return str(get_backend()).lower() not in {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}


def _dress(ax: Axes, look: Look, *, face: bool) -> None:
    if face:
        ax.set_facecolor(look.face)
    for side, spine in ax.spines.items():
        spine.set_visible(side in {"left", "bottom", "geo"})
        spine.set_color(look.muted)
        spine.set_linewidth(0.8)
    ax.tick_params(colors=look.muted, labelcolor=look.ink, labelsize=SMALL, width=0.8, length=3)
    for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
        label.set_color(look.ink)
        label.set_fontsize(TEXT)


@checked
def side_by_side(count: int, *, across: int | None = None, style: str | None = None) -> NDArray[Any]:
    """New axes in the style of the pictures, ``across`` in a row (two, so that a phone shows them), for ``ax=``.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> for ax, model in zip(plots.side_by_side(2), [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]):
    ...     axes = plots.regions(model.fit(X[:, 2:], y), X[:, 2:], y, ax=ax)
    """
    for name, number in (("count", count), ("across", across)):
        if number is not None and (
            isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 1 <= number <= MOST_PANELS
        ):
            raise ParameterError.bad_value(name, number, f"a whole number from 1 to {MOST_PANELS}")
    return np.array(panels(int(count), style, across=across)[0], dtype=object)


@checked
def titled(ax: Axes, title: str | None = None, x: str | None = None, y: str | None = None) -> Axes:
    """A title in the corner above the axes and above their legend, wrapped to their width; and names of the axes.

    Examples
    --------
    >>> from discrim import datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.points(X, y, columns=(2, 3))
    >>> plots.titled(axes, "Petals", "length (cm)", "width (cm)").get_title(loc="left")
    'Petals'
    """
    _refuse_other_axes(ax)
    if title is not None:
        ax.set_title(
            wrapped(title, room_of(ax), TITLE), loc="left", fontsize=TITLE, color=ax.xaxis.label.get_color(),
            pad=_above_legend(ax),
        )  # fmt: skip
    if x is not None:
        ax.set_xlabel(wrapped(x, room_of(ax), TEXT))
        for note in _notes(ax):
            note.set_position((0, -_below(ax)))
    if y is not None:
        ax.set_ylabel(wrapped(y, room_of(ax, upright=True), TEXT))
    return ax


def room_of(ax: Axes, *, upright: bool = False) -> float:
    """Points from the left end of the axes to that of the next or of the figure; ``upright`` along the left side."""
    place = ax.get_subplotspec()
    grid = None if place is None else place.get_gridspec()
    if upright:
        high = ax.figure.get_figheight() / (1 if grid is None else grid.nrows)  # type: ignore[union-attr]
        return max(high * 72 - 1.5 * BESIDE, LEAST_ROOM)
    share = ax.figure.get_figwidth() / (1 if grid is None else grid.ncols)  # type: ignore[union-attr]
    return max(share * 72 - max(BESIDE, _beside(ax)) - MARGIN, LEAST_ROOM)


def _beside(ax: Axes) -> float:
    """Points that the names of rows take, where the vertical axis has names."""
    if not isinstance(ax.yaxis.get_major_locator(), FixedLocator):
        return 0.0
    names = [text.get_text() for text in ax.get_yticklabels()]
    named = 1.5 * TEXT if ax.get_ylabel() else 0.0
    return 12 + named + max((text_width(name, SMALL) for name in names if name), default=0.0)


def keyed(ax: Any, look: Look, handles: Sequence[Any] | None = None, *, inside: str | None = None) -> None:
    """A legend in rows between title and picture, where it covers nothing; or ``inside``, in a corner that is free.

    Entries that a picture drawn earlier on the same axes has made stay.
    """
    handles = list(handles if handles is not None else ax.get_legend_handles_labels()[0])
    named = {str(handle.get_label()) for handle in handles}
    handles = [each for each in _ENTRIES.get(ax, []) if str(each.get_label()) not in named] + handles
    if not handles:
        return
    options: dict[str, Any] = {
        "handles": handles, "frameon": False, "fontsize": SMALL, "labelcolor": look.ink, "handletextpad": 0.4,
        "borderaxespad": 0.2, "borderpad": 0.2, "labelspacing": 0.3,
    }  # fmt: skip
    if inside is not None:
        ax.legend(loc=inside, **options)
        return
    _ENTRIES[ax] = handles
    columns = _legend_columns(ax, handles)
    _grow(ax, -(-len(handles) // columns))
    options["handles"] = _by_line(handles, columns)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, columnspacing=1.2, handlelength=1.4, **options
    )
    if ax.get_title(loc="left"):
        titled(ax, ax.get_title(loc="left"))


def figure_key(figure: Any, look: Look, handles: Sequence[Any], loc: str) -> float:
    """A legend of several panels above them; the inches that it takes."""
    columns = _columns_within(figure.get_figwidth() * 72 - 2 * MARGIN, handles)
    figure.legend(
        handles=_by_line(handles, columns), loc=loc, ncols=columns, frameon=False, fontsize=SMALL,
        labelcolor=look.ink, handletextpad=0.4, columnspacing=1.2, labelspacing=0.3, handlelength=1.4,
    )  # fmt: skip
    return -(-len(handles) // columns) * LINE / 72


def _grow(ax: Axes, lines: int) -> None:
    """A new figure is as much higher as a legend needs beyond two lines, so that the picture below keeps its size."""
    place, figure = ax.get_subplotspec(), ax.figure
    if place is None or figure not in _LEGENDS:
        return
    known = _LEGENDS[figure]
    row = place.rowspan.start
    more = max(lines - known.get(row, 2), 0)
    known[row] = known.get(row, 2) + more
    figure.set_figheight(figure.get_figheight() + more * LINE / 72)  # type: ignore[union-attr]


def _legend_columns(ax: Axes, handles: Sequence[Any]) -> int:
    return _columns_within(room_of(ax), handles)


def _by_line(handles: Sequence[Any], columns: int) -> list[Any]:
    """matplotlib fills a legend column after column; it is read line by line."""
    return [handle for k in range(columns) for handle in handles[k::columns]]


def _columns_within(room: float, handles: Sequence[Any]) -> int:
    """As many as fit into so many points, entries line by line, each column as wide as its longest."""
    sizes = [text_width(str(handle.get_label()), SMALL) + 1.8 * SMALL for handle in handles]
    for columns in range(len(sizes), 1, -1):
        if sum(max(sizes[k::columns]) for k in range(columns)) + (columns - 1) * 1.2 * SMALL <= room:
            return columns
    return 1


def _above_legend(ax: Axes) -> float:
    """Points between the axes and a title that stands over the legend."""
    handles = _ENTRIES.get(ax)
    return 6 + (-(-len(handles) // _legend_columns(ax, handles)) * LINE if handles else 0)


def end_labels(ax: Axes, labels: Sequence[tuple[float, str, Any]]) -> None:
    """Names of curves at their right ends: (y in data units, text, colour), moved apart where they would touch."""
    if not labels:
        return
    low, high = ax.get_ylim()
    scale = ax.transData + ax.transAxes.inverted()
    at = np.array(
        [scale.transform((ax.get_xlim()[1], np.clip(y, min(low, high), max(low, high))))[1] for y, *_ in labels]
    )
    height = ax.figure.get_figheight() * 72 * ax.get_position().height  # type: ignore[union-attr]
    for place, (_, text, colour) in zip(spread(at, 1.25 * SMALL / height), labels, strict=True):
        ax.annotate(
            text, (1.0, place), xytext=(4, 0), xycoords="axes fraction", textcoords="offset points", va="center",
            fontsize=SMALL, color=colour, annotation_clip=False,
        )  # fmt: skip


def spread(at: Any, gap: float) -> Any:
    """The nearest places that are at least ``gap`` apart, in the same order, within 0 to 1 where they fit."""
    order = np.argsort(at, kind="stable")
    places = np.asarray(at, dtype=float)[order]
    for _ in range(200):
        gaps = np.diff(places)
        close = gaps < gap - 1e-9
        if not close.any():
            break
        move = np.where(close, (gap - gaps) / 2, 0.0)
        places[:-1] -= move
        places[1:] += move
    # None below the picture, the lowest first; then none above it, as far as there is room.
    for i, least in enumerate(gap * np.arange(len(places))):
        places[i] = max(places[i], least, places[i - 1] + gap if i else 0.0)
    places -= max(places[-1] - 1.0, 0.0) if len(places) else 0.0
    out = np.empty_like(places)
    out[order] = places
    return out


def noted(ax: Axes, look: Look, text: str) -> None:
    """A remark in small letters below the picture, such as that only some rows are drawn; after earlier ones."""
    for earlier in _notes(ax):
        said = earlier.get_text().replace("\n", " ")
        text = said if text in said else f"{said.rstrip('.')}; {text}"
        earlier.remove()
    ax.annotate(
        wrapped(text, room_of(ax), SMALL), (0.0, 0.0), xytext=(0, -_below(ax)), xycoords="axes fraction",
        textcoords="offset points", va="top", ha="left", fontsize=SMALL, color=look.muted, annotation_clip=False,
        label=NOTE,
    )  # fmt: skip


def _notes(ax: Axes) -> list[Any]:
    return [each for each in ax.texts if each.get_label() == NOTE]


def _below(ax: Axes) -> float:
    """Points from the axes down to a remark, below the numbers and the name of the axis."""
    return 18.0 + 13.0 * len(ax.get_xlabel().splitlines())


def compact(value: float, _: object = None) -> str:
    """A number of a small axis: 40k, 1.2M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{letter}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def halo(look: Look, width: float = 2.5) -> list[Any]:
    """An outline in the colour of the background, for text and lines that stand on other things."""
    return [withStroke(linewidth=width, foreground=look.face)]
