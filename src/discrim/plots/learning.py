"""Learning step by step: boundaries on their way, descent on contours, losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from numpy.typing import NDArray

from discrim.errors import ParameterError, plural
from discrim.losses import LOSSES, find_loss
from discrim.plots.boundaries import DASHES, draw_line, named_models
from discrim.plots.given import checked, numbers_in
from discrim.plots.lettering import all_shortened, shortened
from discrim.plots.rows import MOST_POINTS, RASTERISED, Points, column_names, fitted_classes, lacks, points_of
from discrim.plots.scatter import class_keys, scatter_classes
from discrim.plots.style import (
    SMALL,
    WIDTH,
    Look,
    canvas,
    end_labels,
    figure_key,
    keyed,
    noted,
    panels,
    titled,
)
from discrim.typing import Floats

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

# Frames of an animation; of more steps an even part. Rows in each.
MOST_FRAMES, MOVING = 60, 1000
MOST_COEFFICIENTS = 8


@checked
def steps(
    model: Any,
    X: Any,
    y: Any,
    *,
    at: Any = None,
    count: int = 6,
    style: str | None = None,
) -> NDArray[Any]:
    """The boundary of a linear learner at several steps, a panel each: rows, line, normal, rows on the wrong side.

    Parameters
    ----------
    model : fitted with ``trace``, on two columns and two classes; or such a trace
    X, y : the rows that it learned from
    at : steps to show (positions in the trace); by default ``count`` of them, the first and the last among them

    Gives the axes.

    Examples
    --------
    >>> from discrim import RosenblattPerceptron, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> model = RosenblattPerceptron(rule="batch", trace="step").fit(X[:100, 2:], y[:100])
    >>> len(plots.steps(model, X[:100, 2:], y[:100], count=4))
    4
    """
    trace, rows = _moving(model, X, y)
    at = _positions(at, len(trace.step), _counted("count", count, MOST_FRAMES))
    across = 2 if len(at) in {2, 4} else 3
    height = (2.6 if across == 2 else 1.8) * -(-len(at) // across)
    axes, look = panels(len(at), style, across=across, size=(WIDTH, 0.25 + height))
    for ax, i in zip(axes, at, strict=True):
        _frame(ax, look, trace, rows, i)
        ax.set_xticks([])
        ax.set_yticks([])
    if rows.sampled:
        noted(axes[(len(axes) - 1) // across * across], look, rows.sampled)
    figure_key(axes[0].figure, look, class_keys(look, rows.classes), "outside upper left")
    return np.array(axes, dtype=object)


@checked
def animate(
    model: Any, X: Any, y: Any, path: str | os.PathLike[str], *, at: Any = None, seconds: float = 6.0,
    style: str | None = None,
) -> Path:  # fmt: skip
    """Write the steps of a linear learner as an animation: ``path`` ends in .gif, or in .html, which has buttons.

    ``model``, X, y and ``at`` are as in ``steps``; by default all steps are shown, of more than 60 an even part. Gives
    the path.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from discrim import RosenblattPerceptron, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> model = RosenblattPerceptron(rule="batch", trace="step").fit(X[:100, 2:], y[:100])
    >>> plots.animate(model, X[:100, 2:], y[:100], Path(tempfile.mkdtemp()) / "perceptron.gif").suffix
    '.gif'
    """
    target = _movie_path(path)
    trace, rows = _moving(model, X, y, MOVING)
    frames = _positions(at, len(trace.step), MOST_FRAMES)

    def draw(ax: Any, look: Look, i: int) -> None:
        _frame(ax, look, trace, rows, i)
        if rows.sampled:
            noted(ax, look, rows.sampled)

    return _write_movie(target, draw, frames, seconds, style)


@checked
def downhill(
    weights: Any, loss: Callable[[Floats], Any], *, count: int = 6, style: str | None = None
) -> NDArray[Any]:  # fmt: skip
    """Descent of one weight, a panel for each of its first steps: the loss, the tangent, and the step that it leads to.

    Parameters
    ----------
    weights : n weights, one after each step
    loss : function of an array of weights
    count : panels

    Gives the axes.

    Examples
    --------
    >>> from discrim import plots
    >>> w = [4.0]
    >>> for _ in range(6):
    ...     w.append(w[-1] - 0.2 * 2 * (w[-1] - 1))
    >>> len(plots.downhill(w, lambda w: (w - 1) ** 2))
    6
    """
    way = _one_weight(weights)
    count = _counted("count", count, MOST_FRAMES)
    size = min(count, len(way))
    axes, look = panels(size, style, across=3, size=(WIDTH, 0.25 + 1.8 * -(-size // 3)))
    for i, ax in enumerate(axes):
        _slope(ax, look, way, loss, i)
    return np.array(axes, dtype=object)


@checked
def animate_descent(
    weights: Any, loss: Callable[[Floats], Any], path: str | os.PathLike[str], *, seconds: float = 6.0,
    style: str | None = None,
) -> Path:  # fmt: skip
    """Write the descent of one weight as an animation, a .gif or a .html; ``weights`` and ``loss`` as in ``downhill``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from discrim import plots
    >>> way = [4.0, 2.8, 2.08, 1.65]
    >>> plots.animate_descent(way, lambda w: (w - 1) ** 2, Path(tempfile.mkdtemp()) / "descent.gif").suffix
    '.gif'
    """
    target, way = _movie_path(path), _one_weight(weights)
    frames = _positions(None, len(way), MOST_FRAMES)
    return _write_movie(target, lambda ax, look, i: _slope(ax, look, way, loss, i), frames, seconds, style)


def _movie_path(path: Any) -> Path:
    target = Path(path)
    if target.suffix not in {".gif", ".html"}:
        raise ParameterError.bad_value("path", str(path), "a file that ends in .gif or .html")
    return target


def _positions(at: Any, size: int, count: int) -> list[int]:
    """Places in a trace: those that are given, else ``count`` of all, evenly."""
    if at is None:
        even: list[int] = np.unique(np.linspace(0, size - 1, min(max(count, 1), size)).round().astype(int)).tolist()
        return even
    chosen = np.ravel(np.asarray(at)).tolist()
    if not chosen or not all(isinstance(i, int) and -size <= i < size for i in chosen):
        raise ParameterError.bad_value("at", chosen, f"positions in a trace of {plural(size, 'point')}")
    return [i % size for i in chosen]


def _write_movie(
    path: Path, draw: Callable[[Any, Look, int], None], frames: list[int], seconds: float, style: str | None
) -> Path:
    (ax,), look = panels(1, style, size=(4.2, 3.6))

    def update(i: int) -> list[Any]:
        ax.clear()
        draw(ax, look, i)
        return []

    rate = max(round(len(frames) / max(seconds, 0.1)), 1)
    figure: Any = ax.figure
    movie = FuncAnimation(figure, update, frames=frames, init_func=list, interval=1000 / rate)
    if path.suffix == ".gif":
        movie.save(path, PillowWriter(fps=rate), dpi=90, savefig_kwargs={"facecolor": look.face})
    else:
        page = f"<!doctype html><meta charset='utf-8'><title>Steps</title>{movie.to_jshtml(fps=rate)}"
        path.write_text(page, encoding="utf-8")
    return path


def _counted(name: str, value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise ParameterError.bad_value(name, value, f"a whole number from 1 to {most}")
    return int(value)


def _one_weight(weights: Any) -> Floats:
    try:
        way = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        way = np.empty((0, 0))
    if way.ndim != 1 or len(way) < 2 or not np.isfinite(way).all():
        raise ParameterError(
            f"The descent of one weight has two or more finite numbers; these have the shape {way.shape}. "
            "Draw two weights with plots.descent(paths, loss)."
        )
    return way


def _slope(ax: Any, look: Look, way: Floats, loss: Callable[[Floats], Any], i: int) -> None:
    """The loss around the way, the weight after i steps with its tangent, and the next one."""
    low, high = float(way.min()), float(way.max())
    reach = max(0.45 * (high - low), 1e-9)
    # Both sides of where the way ends, so that the valley is seen.
    low, high = min(low, 2 * way[-1] - high), max(high, 2 * way[-1] - low)
    at = np.linspace(low - 0.1 * reach, high + 0.1 * reach, 201)
    ax.plot(at, np.asarray(loss(at), dtype=float), color=look.muted, linewidth=1.4, zorder=1)
    w, small = float(way[i]), 1e-4 * reach
    height, slope = (float(value) for value in _tangent(loss, w, small))
    ends = np.array([w - 0.5 * reach, w + 0.5 * reach])
    limits = ax.get_ylim()
    ax.plot(ends, height + slope * (ends - w), color=look.colour(0), linewidth=1.5, zorder=2)
    if i + 1 < len(way):
        ax.annotate(
            "", (way[i + 1], height), (w, height), zorder=3,
            arrowprops={"arrowstyle": "-|>", "color": look.colour(1), "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
    ax.plot([w], [height], "o", color=look.colour(1), markersize=7, zorder=4)
    ax.set_ylim(*limits)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(f"step {i}: w = {w:.3g}", loc="left", fontsize=SMALL, color=look.ink)


def _tangent(loss: Callable[[Floats], Any], w: float, small: float) -> tuple[Any, Any]:
    """Value and slope, by central differences."""
    below, here, above = np.asarray(loss(np.array([w - small, w, w + small])), dtype=float)
    return here, (above - below) / (2 * small)


@checked
def descent(
    paths: Any, loss: Callable[[Floats, Floats], Any] | None = None, *, names: tuple[str, str] = ("w1", "w2"),
    most: int = 200, ax: Axes | None = None, style: str | None = None,
) -> Axes:  # fmt: skip
    """Ways of two weights down a loss, on its contours: a learning rate that is low, right, too high.

    Parameters
    ----------
    paths : n x 2 weights, a trace or a model with one; or a dict of name to such
    loss : function of two arrays of weights, whose contours are drawn
    most : steps of each that are drawn; a way that leaves the picture is cut off there

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import plots
    >>> way = [np.array([4.0, 1.0])]
    >>> for _ in range(20):
    ...     way.append(way[-1] - 0.15 * np.array([1.0, 10.0]) * way[-1])
    >>> axes = plots.descent({"rate 0.15": way}, lambda a, b: a**2 / 2 + 5 * b**2)
    """
    ways = {name: _weights(way)[: most + 1] for name, way in named_models(_one_way(paths)).items()}
    ax, look = canvas(ax, style)
    # A way that diverges must not make the others small: the picture holds three times what the first points span.
    starts = np.vstack([way[:1] for way in ways.values()])
    usual = np.median(np.abs(np.vstack([way[: len(way) // 2 + 2] for way in ways.values()])), axis=0)
    limit = 3.0 * np.maximum(usual, np.abs(starts).max(axis=0))
    inside = np.vstack([way[(np.abs(way) <= limit).all(axis=1)] for way in ways.values()])
    low, high = inside.min(axis=0), inside.max(axis=0)
    room = 0.12 * np.where(high > low, high - low, 1.0)
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])
    if loss is not None:
        a, b = np.meshgrid(np.linspace(*ax.get_xlim(), 160), np.linspace(*ax.get_ylim(), 160))
        height = np.asarray(loss(a, b), dtype=float)
        levels = height.min() + (height.max() - height.min()) * np.linspace(0.06, 0.97, 11) ** 2
        ax.contour(a, b, height, levels=levels, colors=look.line, linewidths=0.9, zorder=1)
    for i, (name, way) in enumerate(ways.items()):
        ax.plot(
            *way.T, marker=look.marker(i), color=look.colour(i), linewidth=1.3, markersize=3.6, zorder=2 + i,
            label=shortened(name, 30),
        )  # fmt: skip
    ax.plot(*starts.T, "o", color=look.ink, markersize=5, zorder=9, linestyle="")
    titled(ax, None, *names)
    keyed(ax, look, ax.lines[: len(ways)] if any(ways) else [])
    return ax


@checked
def convergence(
    models: Any, *, what: Literal["loss", "mistakes", "norm", "coefficients"] = "loss", ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """A number along the way of one or several learners: the loss, rows on the wrong side, or the length of w; or all
    coefficients of one.

    ``models`` are fitted with ``trace``, or are traces; several by name. Where a perceptron came back to weights that
    it had before, or has a bound on its updates, the picture says so.

    Examples
    --------
    >>> from discrim import GradientDescentClassifier, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.convergence(GradientDescentClassifier(trace=True, max_iter=50, tol=0.1).fit(X, y))
    """
    if what not in {"loss", "mistakes", "norm", "coefficients"}:
        raise ParameterError.bad_value("what", what, "'loss', 'mistakes', 'norm' or 'coefficients'")
    named = named_models(models)
    if what == "coefficients":
        return _coefficients(named, ax, style)
    ax, look = canvas(ax, style)
    labels, remarks = [], []
    unit = "step"
    for i, (name, model) in enumerate(named.items()):
        trace = trace_of(model)
        unit = str(getattr(trace, "unit", unit))
        flat = np.asarray(trace.coef, dtype=float).reshape(len(trace.step), -1)
        values = np.linalg.norm(flat, axis=1) if what == "norm" else np.asarray(getattr(trace, what), dtype=float)
        few = len(values) <= 40
        ax.plot(
            trace.step, values, marker="o" if few else "", color=look.colour(i), linestyle=DASHES[i % len(DASHES)],
            markersize=3.5, linewidth=1.6,
        )  # fmt: skip
        labels.append((float(values[-1]), shortened(name, 18), look.colour(i)))
        remarks += _endings(model, name)
    if what != "norm":
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]) if what == "mistakes" else None)
    titled(ax, None, unit, {"loss": "loss", "mistakes": "rows on the wrong side", "norm": "length of w"}[what])
    if any(named):
        end_labels(ax, labels)
    if remarks:
        noted(ax, look, " ".join(remarks))
    return ax


def _coefficients(named: dict[str, Any], ax: Any, style: str | None) -> Axes:
    """Constant and coefficients by step, the furthest from zero with their names."""
    if len(named) != 1:
        raise ParameterError(f"Coefficients are drawn of one learner; there are {len(named)}. Draw what='norm'.")
    ((name, model),) = named.items()
    trace = trace_of(model)
    coef, constant = np.asarray(trace.coef, dtype=float), np.asarray(trace.intercept, dtype=float)
    if coef.ndim != 2:
        raise ParameterError(f"Coefficients are drawn of two classes; the trace has the shape {coef.shape}.")
    names = ["constant", *(column_names(model) if hasattr(model, "fit") else [f"x{j}" for j in range(coef.shape[1])])]
    values = np.column_stack([constant.reshape(len(coef), -1)[:, 0], coef])
    order = np.sort(np.argsort(-np.abs(values[-1]), kind="stable")[:MOST_COEFFICIENTS])
    ax, look = canvas(ax, style)
    for i, j in enumerate(order):
        ax.plot(
            trace.step, values[:, j], marker=look.marker(i) if len(values) <= 40 else "", color=look.colour(i),
            linestyle=DASHES[i % len(DASHES)], markersize=3.5, linewidth=1.6,
        )  # fmt: skip
    ax.axhline(0, color=look.line, linewidth=0.8, zorder=0)
    titled(ax, None, str(getattr(trace, "unit", "step")), "coefficient")
    short = all_shortened([names[j] for j in order])
    ends = [(float(values[-1, j]), short[i], look.colour(i)) for i, j in enumerate(order)]
    end_labels(ax, ends)
    remarks = _endings(model, name)
    if len(order) < len(names):
        remarks.append(f"Drawn: the {len(order)} of {len(names):,} furthest from zero.")
    if remarks:
        noted(ax, look, " ".join(remarks))
    return ax  # type: ignore[no-any-return]


@checked
def losses(
    names: Sequence[str] = ("perceptron", "squared", "log", "hinge"), *, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """Losses over the margin r h: what a row costs, on its right side (right of 0) and on its wrong one.

    The grey steps are the 0/1 error. ``names`` are losses of ``discrim.losses``.

    Examples
    --------
    >>> from discrim import plots
    >>> len(plots.losses(["hinge", "log"]).lines)
    4
    """
    chosen = [find_loss(name) for name in ([names] if isinstance(names, str) else names)]
    if not chosen:
        raise ParameterError(f"Name some losses, out of {', '.join(LOSSES)}.")
    ax, look = canvas(ax, style)
    margin = np.linspace(-2, 3, 501)
    ax.step([-2, 0, 3], [1, 1, 0], where="pre", color=look.muted, linewidth=2.2, alpha=0.6, zorder=1)
    labels = [(0.0, "0/1 error", look.muted)]
    for i, loss in enumerate(chosen):
        # The cost of a row of the second class; its target is the upper one.
        values = loss.value(margin, np.full_like(margin, loss.targets[1]))
        ax.plot(margin, values, color=look.colour(i), linewidth=1.8, linestyle=DASHES[i % len(DASHES)], zorder=2)
        labels.append((float(values[-1]), loss.name.replace("_", " "), look.colour(i)))
    ax.axvline(0, color=look.line, linewidth=0.8, zorder=0)
    ax.set_xlim(-2, 3)
    ax.set_ylim(-0.05, 3.2)
    titled(ax, None, "margin r h", "loss")
    end_labels(ax, labels)
    return ax


def trace_of(model: Any) -> Any:
    """The trace of a fitted model, or what is one already."""
    if all(hasattr(model, name) for name in ("step", "coef", "intercept")) and not hasattr(model, "fit"):
        return model
    found = getattr(model, "trace_", None)
    if found is None:
        parts = getattr(model, "learned_", None) or []
        found = parts[0].trace if len(parts) == 1 else None
    if found is None:
        raise lacks(model, "trace of two classes", "Fit it with trace=True (perceptron: trace='step').")
    return found


def _moving(model: Any, X: Any, y: Any, most: int = MOST_POINTS) -> tuple[Any, Points]:
    trace = trace_of(model)
    classes = fitted_classes(model) if hasattr(model, "fit") else None
    rows = points_of(X, y, classes=classes, most=most)
    coef = np.asarray(trace.coef)
    if coef.ndim != 2 or coef.shape[1] != 2 or rows.x.shape[1] != 2 or len(rows.classes) != 2:
        raise ParameterError(
            f"The steps of a line are drawn for two columns and two classes; here are {rows.x.shape[1]} and "
            f"{len(rows.classes)}. Draw plots.convergence(model) instead."
        )
    return trace, rows


def _frame(ax: Any, look: Look, trace: Any, rows: Points, i: int) -> None:
    """Rows, those that are wrong ringed, and the line of this step with its normal."""
    w, b = np.asarray(trace.coef[i], dtype=float), float(np.ravel(trace.intercept[i])[0])
    scatter_classes(ax, look, rows.x, rows.codes, rows.classes, size=14)
    side = np.where(rows.codes == 1, 1.0, -1.0)
    wrong = side * (rows.x @ w + b) <= 0
    ax.scatter(
        *rows.x[wrong].T, s=46, facecolors="none", edgecolors=look.ink, linewidths=0.8, zorder=4,
        rasterized=len(rows.x) > RASTERISED,
    )  # fmt: skip
    low, high = rows.x.min(axis=0), rows.x.max(axis=0)
    room = 0.12 * (high - low)
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])
    _line_with_normal(ax, look, w, b)
    said = f"{wrong.mean():.1%}" if rows.sampled else f"{int(wrong.sum())}"
    ax.set_title(f"{trace.unit} {trace.step[i]}: {said} wrong", loc="left", fontsize=SMALL, color=look.ink)


def _line_with_normal(ax: Any, look: Look, w: Floats, b: float) -> None:
    """The line, and w as an arrow from it; a word where there is no line to be seen."""
    (a0, a1), (b0, b1) = ax.get_xlim(), ax.get_ylim()
    corners = np.array([[a0, b0], [a0, b1], [a1, b0], [a1, b1]]) @ w + b
    if not w.any() or (corners > 0).all() or (corners < 0).all():
        said = "the line lies outside" if w.any() else "w = 0: no line yet"
        ax.set_xlabel(said, loc="left", fontsize=SMALL, color=look.muted)
        return
    draw_line(ax, w, b, {"color": look.ink, "linewidth": 1.6, "zorder": 5})
    middle = np.array([0.5 * (a0 + a1), 0.5 * (b0 + b1)])
    foot = middle - (middle @ w + b) * w / (w @ w)
    tip = foot + 0.16 * min(a1 - a0, b1 - b0) * w / np.linalg.norm(w)
    ax.annotate(
        "", tuple(tip), tuple(foot), zorder=6, annotation_clip=True,
        arrowprops={"arrowstyle": "-|>", "color": look.colour(3), "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


def _one_way(paths: Any) -> Any:
    """A single way in the place of several is not to be taken for a list of ways."""
    if isinstance(paths, Mapping):
        return paths
    return {"": paths}


def _weights(way: Any) -> Floats:
    values = way
    if hasattr(way, "coef") or hasattr(way, "fit"):
        values = np.asarray(trace_of(way).coef)
    values = numbers_in("paths", values, "n x 2 weights, a trace or a model with one, or a dict of name to such")
    if values.ndim != 2 or values.shape[1] != 2 or not len(values):
        raise ParameterError(f"A way has two weights at each step (n x 2); this one has the shape {values.shape}.")
    finite = np.isfinite(values).all(axis=1)
    return values if finite.all() else values[: int(np.argmin(finite))]


def _endings(model: Any, name: str) -> list[str]:
    """What a perceptron's theorem, or its return to earlier weights, says."""
    parts = getattr(model, "learned_", None) or []
    if len(parts) != 1:
        return []
    part, who = parts[0], f"{name}: " if name else ""
    if getattr(part, "cycling", False):
        return [f"{who}the weights came back after {plural(part.cycle, 'epoch')}."]
    bound = getattr(part, "bound", None)
    return [] if bound is None else [f"{who}{plural(part.updates, 'update')}, of at most {bound:,.0f}."]
