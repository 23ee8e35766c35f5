"""The graph of a model whose columns are independent of each other within a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discrim.errors import ParameterError
from discrim.plots.given import checked
from discrim.plots.lettering import all_fitting
from discrim.plots.rows import column_names, fitted_classes, lacks
from discrim.plots.style import SMALL, TEXT, WIDTH, Look, canvas, noted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Nodes of columns, fewer if their names are long; of more the first ones and the last.
MOST_NODES, FEW_NODES = 6, 5
# Points that the outline of a node takes beside its name, and the gap to the next.
OUTLINE = 16.0


@checked
def graph(model: Any, *, target: str = "Y", ax: Axes | None = None, style: str | None = None) -> Axes:
    """The graphical model of naive Bayes: an arrow from the class to each column, and none between columns.

    Parameters
    ----------
    model : fitted naive Bayes, or the names of the columns, of which "…" stands for several
    target : the name of the class

    Examples
    --------
    >>> from discrim import GaussianNB, datasets, plots
    >>> len(plots.graph(GaussianNB().fit(*datasets.load_iris().xy)).texts)
    9
    """
    names = [str(name) for name in model] if isinstance(model, (list, tuple)) else _independent_columns(model)
    if not names:
        raise ParameterError("There is no column to draw an arrow to; pass names, or a fitted naive Bayes model.")
    ax, look = canvas(ax, style, (WIDTH, 2.6))
    ax.set_axis_off()
    most = MOST_NODES if max(map(len, names)) < 8 else FEW_NODES
    shown: list[str | None] = [None if name == "…" else name for name in names]
    if len(names) > most:
        shown = [*names[: most - 2], None, names[-1]]
    ax.set_xlim(-0.55, len(shown) - 0.45)
    ax.set_ylim(-0.45, 1.3)
    middle = 0.5 * (len(shown) - 1)
    said = [name for name in shown if name is not None]
    room = (WIDTH * 72 - OUTLINE) / (len(shown) + 0.1) - OUTLINE
    short = dict(zip(said, all_fitting(said, room, SMALL), strict=True))
    _node(ax, look, middle, 1.0, target, 1)
    for i, name in enumerate(shown):
        if name is None:
            ax.text(i, 0.0, "…", ha="center", va="center", fontsize=TEXT + 4, color=look.ink)
            continue
        ax.annotate(
            "", (i, 0.17), (middle, 0.86), zorder=1,
            arrowprops={"arrowstyle": "-|>", "color": look.muted, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        _node(ax, look, float(i), 0.0, short[name], 0)
    if len(names) > most:
        noted(ax, look, f"drawn: {most - 1} of {len(names):,} columns")
    return ax


def _node(ax: Any, look: Look, x: float, y: float, name: str, k: int) -> None:
    ax.text(
        x, y, name, ha="center", va="center", fontsize=SMALL if len(name) > 3 else TEXT + 2, color=look.ink, zorder=3,
        bbox={"boxstyle": "round,pad=0.55,rounding_size=0.9", "facecolor": look.face, "edgecolor": look.colour(k),
              "linewidth": 1.6},
    )  # fmt: skip


def _independent_columns(model: Any) -> list[str]:
    """Names of the columns, where the recipe says that they are independent within the classes."""
    fitted_classes(model)
    ask = getattr(model, "ask_recipe", None)
    if ask is None or not ask(_is_naive):
        raise lacks(model, "columns that are independent within the classes", "Naive Bayes has them; or pass names.")
    return column_names(model)


def _is_naive(recipe: Any, solved: Any, shape: Any) -> bool:
    """Says how rows are distributed, and either assumes independent columns or has no covariances at all."""
    if recipe.population(solved, shape) is None:
        return False
    return bool(np.isin("independent", recipe.assumptions)) or "normal" not in recipe.assumptions
