"""Rows as points, by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from discrim.errors import ParameterError, plural
from discrim.plots.given import checked, names_in
from discrim.plots.lettering import all_fitting, all_shortened
from discrim.plots.rows import ALONG_ONE, RASTERISED, column_numbers, names_of, part_of, points_of, two_columns
from discrim.plots.style import SMALL, WIDTH, Look, canvas, compact, figure_key, keyed, noted, panels, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# Columns that a matrix of pairs shows.
MOST_COLUMNS = 6
# Points are small where they are many: up to so many, a share of the usual area.
SIZES = ((10, 4.0), (60, 1.6), (RASTERISED, 1.0), (1500, 0.6), (np.inf, 0.35))


@checked
def points(
    X: Any, y: Any = None, *, columns: Any = None, names: Any = None, title: str | None = None, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """Rows in two of their columns, a colour and a shape for each class.

    Of more than 4,000 rows a random part is drawn, rows with missing values are not, and the picture says so. ``names``
    are those of the columns, where X has none. Cost: reads the rows that it draws.

    Examples
    --------
    >>> from discrim import datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.points(X, y, columns=(2, 3)).get_xlabel()
    'x2'
    """
    named = _named(X, names)
    pair = list(two_columns(columns, named, ", or draw all pairs with plots.pairs(X, y)"))
    rows = points_of(part_of(X, pair), y, complete=True)
    ax, look = canvas(ax, style)
    scatter_classes(ax, look, rows.x, rows.codes, rows.classes)
    titled(ax, title, *(named[j] for j in pair))
    if rows.labelled:
        keyed(ax, look, class_keys(look, rows.classes))
    if rows.sampled:
        noted(ax, look, rows.sampled)
    return ax


@checked
def pairs(X: Any, y: Any = None, *, columns: Any = None, names: Any = None, style: str | None = None) -> NDArray[Any]:
    """All pairs of columns as a matrix of scatter plots, with the densities of the classes on the diagonal.

    Up to six columns; of more, say which. ``names`` are those of the columns, where X has none. Gives the
    axes, p x p. Cost: reads the rows that it draws.

    Examples
    --------
    >>> from discrim import datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.pairs(X, y).shape
    (4, 4)
    """
    names = _named(X, names)
    chosen = list(range(len(names))) if columns is None else column_numbers(columns, names)
    if not 2 <= len(chosen) <= MOST_COLUMNS:
        instead = "Name those that matter with columns=[...]." if len(names) > 1 else ALONG_ONE
        raise ParameterError(
            f"A matrix of pairs shows 2 to {MOST_COLUMNS} columns; here {'is' if len(chosen) == 1 else 'are'} "
            f"{plural(len(chosen), 'column')}. {instead}"
        )
    size, rows = len(chosen), points_of(part_of(X, chosen), y, most=1500, complete=True)
    grid, look = panels(size * size, style, across=size, size=(WIDTH, WIDTH + 0.3), solved=False)
    # A name is not longer than the side of its panel.
    short = all_fitting([names[j] for j in chosen], 0.8 * WIDTH * 72 / size - 4, SMALL)
    matrix = np.array(grid, dtype=object).reshape(size, size)
    for i in range(size):
        for j in range(size):
            ax = matrix[i, j]
            if i == j:
                densities(ax, look, rows.x[:, i], rows.codes, len(rows.classes))
            else:
                scatter_classes(ax, look, rows.x[:, [j, i]], rows.codes, rows.classes, size=7)
            ax.tick_params(labelbottom=i == size - 1, labelleft=j == 0 and i != j, labelsize=SMALL - 0.5)
            for axis in (ax.xaxis,) if i == j else (ax.xaxis, ax.yaxis):
                axis.set_major_locator(MaxNLocator(nbins=3, prune=None if size < 5 else "both"))
                axis.set_major_formatter(compact)
            if i == size - 1:
                _inward(ax)
                ax.set_xlabel(short[j], fontsize=SMALL)
            if j == 0:
                ax.set_ylabel(short[i], fontsize=SMALL)
    figure = matrix[0, 0].figure
    above = figure_key(figure, look, class_keys(look, rows.classes), "upper left") if rows.labelled else 0.0
    figure.set_figheight(figure.get_figheight() + above)
    # Fixed places: a layout of so many axes that is solved for takes seconds.
    figure.subplots_adjust(
        left=0.15, right=0.985, bottom=0.115 if rows.sampled else 0.085, wspace=0.09, hspace=0.09,
        top=1 - (0.14 + above) / figure.get_figheight(),
    )  # fmt: skip
    figure.align_ylabels(matrix[:, 0])
    if rows.sampled:
        figure.text(0.985, 0.012, rows.sampled, ha="right", fontsize=SMALL, color=look.muted)
    return matrix


def _inward(ax: Any) -> None:
    """Numbers near an end of the horizontal axis are written within it, away from those of the next panel."""
    low, high = ax.get_xlim()
    for place, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True):
        share = (place - low) / (high - low)
        label.set_horizontalalignment("left" if share < 0.15 else "right" if share > 0.85 else "center")


def _named(X: Any, names: Any) -> list[str]:
    """The names of the columns, those that are given before those of the table."""
    known = names_of(X)
    if names is None:
        return known
    given = names_in("names", names)
    if len(given) != len(known):
        raise ParameterError(f"There are {plural(len(given), 'name')} for {plural(len(known), 'column')} of X.")
    return given


def scatter_classes(
    ax: Axes, look: Look, z: Floats, codes: Any, classes: Sequence[Any] | NDArray[Any], *, size: float = 18
) -> None:
    """Points of n x 2 coordinates; small and faint where they are many, one bitmap where an SVG would grow."""
    crowd = len(z) > RASTERISED
    area = size * next(share for most, share in SIZES if len(z) <= most)
    for k in range(len(classes)):
        own = codes == k
        if not own.any():
            continue
        ax.scatter(
            z[own, 0], z[own, 1], s=area, marker=look.marker(k), color=look.colour(k), alpha=0.45 if crowd else 0.8,
            linewidths=0.0 if crowd else 0.5, edgecolors=look.face, rasterized=crowd, zorder=3,
        )  # fmt: skip


def class_keys(look: Look, classes: Any) -> list[Line2D]:
    """Entries of a legend: colour, shape and label of each class."""
    return [
        Line2D([], [], linestyle="", marker=look.marker(k), color=look.colour(k), markersize=5, label=label)
        for k, label in enumerate(all_shortened(np.asarray(classes).tolist(), 24))
    ]


def curve_of_class(look: Look, k: int, size: int) -> dict[str, Any]:
    """How a curve of a class is drawn: with its shape too, where there are more classes than colours."""
    marks = {"marker": look.marker(k), "markersize": 4, "markevery": (5 * k % 40, 40)}
    return {"color": look.colour(k), **(marks if size > len(look.palette) else {})}


def densities(ax: Axes, look: Look, values: Floats, codes: Any, classes: int) -> None:
    """A smooth density of each class, weighted by its share."""
    low, high = values.min(), values.max()
    reach = 0.08 * (high - low or 1.0)
    at = np.linspace(low - reach, high + reach, 160)
    for k in range(classes):
        own = values[codes == k]
        if len(own) > 1:
            height = density(own, at) * len(own) / len(values)
            ax.fill_between(at, height, color=look.tint(k, 0.35), linewidth=0, zorder=2)
            ax.plot(at, height, color=look.colour(k), linewidth=1.2, zorder=3)
    ax.set_ylim(bottom=0)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)


def density(values: Floats, at: Floats) -> Floats:
    """A Gaussian kernel density with Silverman's width, of binned values. Cost: grid x bins, whatever the rows."""
    spread = min(values.std(ddof=1), np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.349 or np.inf)
    width = 0.9 * (spread if np.isfinite(spread) and spread > 0 else at[-1] - at[0]) * len(values) ** -0.2
    counts, edges = np.histogram(values, bins=512, range=(at[0], at[-1]))
    middle = 0.5 * (edges[1:] + edges[:-1])
    kernel = np.exp(-0.5 * ((at[:, None] - middle) / width) ** 2) / (width * np.sqrt(2 * np.pi))
    return np.asarray(kernel @ counts / len(values))
