"""Names of points, put where they do not touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discrim.plots.lettering import text_width
from discrim.plots.style import SMALL, Look, halo

# Height of a line, in parts of the size of its font.
HIGH = 1.5
Box = tuple[float, float, float, float]
# Where a label stands beside its point, the best place first: offset in points, and alignment.
PLACES = (
    (0, 8, "center", "bottom"), (0, -8, "center", "top"), (8, 0, "left", "center"), (-8, 0, "right", "center"),
    (6, 6, "left", "bottom"), (-6, 6, "right", "bottom"), (6, -6, "left", "top"), (-6, -6, "right", "top"),
    (0, 19, "center", "bottom"), (0, -19, "center", "top"),
)  # fmt: skip


def label_points(
    ax: Any, look: Look, points: Any, texts: Sequence[str], *, bold: bool = False, crowded: bool = False
) -> None:
    """A text beside each point, above it where that is free of other labels and within the axes.

    Where points are ``crowded``, those without a free place go without; a legend names them.
    """
    place = ax.get_position()
    size = np.array([ax.figure.get_figwidth() * place.width, ax.figure.get_figheight() * place.height]) * 72
    at = (ax.transData + ax.transAxes.inverted()).transform(np.asarray(points, dtype=float).reshape(-1, 2)) * size
    taken: list[Box] = []
    for point, where, text in zip(points, at, texts, strict=True):
        wide, high = text_width(text, SMALL, bold=bold), HIGH * SMALL
        boxes = [_box(where, dx, dy, ha, va, wide, high) for dx, dy, ha, va in PLACES]
        costs = [sum(_shared(box, other) for other in taken) + _outside(box, size) for box in boxes]
        best = int(np.argmin(costs))
        if crowded and costs[best] > 0:
            continue
        taken.append(boxes[best])
        dx, dy, ha, va = PLACES[best]
        ax.annotate(
            text, tuple(point), xytext=(dx, dy), textcoords="offset points", ha=ha, va=va, fontsize=SMALL,
            color=look.ink, fontweight="bold" if bold else "normal", path_effects=halo(look), zorder=7,
        )  # fmt: skip


def _box(at: Any, dx: float, dy: float, ha: str, va: str, wide: float, high: float) -> Box:
    left = at[0] + dx - {"left": 0.0, "center": 0.5, "right": 1.0}[ha] * wide
    low = at[1] + dy - {"bottom": 0.0, "center": 0.5, "top": 1.0}[va] * high
    return left, low, left + wide, low + high


def _shared(a: Box, b: Box) -> float:
    """The area that two boxes have in common."""
    return max(min(a[2], b[2]) - max(a[0], b[0]), 0.0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0.0)


def _outside(box: Box, size: Any) -> float:
    """The area of a box that lies beyond the axes."""
    return (box[2] - box[0]) * (box[3] - box[1]) - _shared(box, (0.0, 0.0, float(size[0]), float(size[1])))
