"""The geometry of linear rules: a half-space, spheres, Voronoi cells, the lines of a scheme, maps of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from numpy.typing import NDArray

from discrim.errors import ParameterError, name_list
from discrim.plots.boundaries import Answers, draw_borders, draw_line, regions
from discrim.plots.coordinates import answers_at, draw_ellipse, linear_function
from discrim.plots.given import checked
from discrim.plots.lettering import all_shortened
from discrim.plots.plane import directions, discriminant_plane, moments_of_rows, sphering_matrix
from discrim.plots.rows import (
    RASTERISED,
    Points,
    alike,
    fitted_classes,
    lacks,
    names_of,
    part_of,
    points_of,
    two_columns,
)
from discrim.plots.scatter import class_keys, curve_of_class, scatter_classes
from discrim.plots.style import SMALL, WIDTH, Look, canvas, figure_key, halo, keyed, noted, panels, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 200
# Columns whose ranges differ by more than this have no common unit, in which equal scales would say something.
UNLIKE = 2.5


@checked
def half_space(
    model: Any, X: Any, y: Any = None, *, point: Any = None, ax: Axes | None = None, style: str | None = None
) -> Axes:
    """A linear rule of two classes in two columns: its line, its normal w, its offset, signed distances of points.

    Parameters
    ----------
    model : fitted linear classifier (``coef_``, ``intercept_``) of two columns
    X, y : rows
    point : the point whose distance to the line is shown, or several (n x 2); by default the row furthest from it

    Both axes have the same scale, so that right angles look like ones.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.half_space(LinearDiscriminantAnalysis().fit(X[50:, 2:], y[50:]), X[50:, 2:], y[50:])
    """
    w, b = linear_function(model)
    rows = points_of(X, y, classes=fitted_classes(model))
    if len(w) != 2 or rows.x.shape[1] != 2:
        raise ParameterError(
            f"A half-space is drawn in two columns; the model has {len(w)}. Draw plots.projection(model, X, y) instead."
        )
    ax, look = canvas(ax, style)
    length = float(np.linalg.norm(w))
    normal, foot = w / length, -b * w / length**2
    distance = (rows.x @ w + b) / length
    shown_points = _points_named(rows.x[np.abs(distance).argmax()] if point is None else point)
    shown = np.vstack([rows.x, shown_points])
    low, high = shown.min(axis=0), shown.max(axis=0)
    room = 0.14 * (high - low).max() + 1e-12
    # The origin belongs to the picture where it is near enough not to shrink the rest.
    if (
        (np.abs(foot) < 2 * np.abs(shown).max()).all()
        and ((low - (high - low)) < 0).all()
        and ((high + (high - low)) > 0).all()
    ):
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    scatter_classes(ax, look, rows.x, rows.codes, rows.classes)
    _same_scales(ax, low - room, high + room)
    draw_line(ax, w, b, {"color": look.ink, "linewidth": 1.8, "zorder": 4})
    for p, d in zip(shown_points, (shown_points @ w + b) / length, strict=True):
        _distance(ax, look, p, p - d * normal, f"distance {d:.3g}" if len(shown_points) == 1 else f"{d:+#.3g}")
    start = _on_view(ax, foot, normal)
    tip = start + 0.22 * (ax.get_ylim()[1] - ax.get_ylim()[0]) * normal
    ax.annotate(
        "", tuple(tip), tuple(start), zorder=6,
        arrowprops={"arrowstyle": "-|>", "color": look.colour(3), "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    _said(ax, look, tip, "w", look.colour(3))
    titled(ax, None, *rows.names)
    keyed(ax, look, class_keys(look, rows.classes) if rows.labelled else [])
    noted(
        ax,
        look,
        f"offset of the line from the origin: {-b / length:.3g}" + (f"; {rows.sampled}" if rows.sampled else ""),
    )
    return ax


@checked
def feet(
    X: Any, y: Any, direction: Any, *, columns: Any = None, threshold: float | None = None, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """Rows of two columns, a direction w, and the feet of the rows and of the class means on the line along it.

    The line lies beside the rows. Its title has the variances of w'x within and between classes, whose sum is that of
    all rows.

    Parameters
    ----------
    X, y : labelled rows
    direction : two numbers
    columns : the two columns, where X has more
    threshold : a cut on w'x (with w of length 1), drawn at right angles to the direction

    Examples
    --------
    >>> from discrim import datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.feet(X, y, (1, 1), columns=(2, 3)).get_title(loc="left")
    'variance within 0.153, between 2.97'
    """
    names = names_of(X)
    pair = list(two_columns(columns, names, ""))
    rows = points_of(part_of(X, pair), y)
    if not rows.labelled:
        raise ParameterError("Feet of class means need labels: pass y as well.")
    w = _direction(direction, 2)
    moments = moments_of_rows(rows.x, rows.codes, len(rows.classes))
    ax, look = canvas(ax, style)
    along, across = rows.x @ w, rows.x @ np.array([-w[1], w[0]])
    base = across.min() - 0.12 * np.ptp(across) - 0.04 * np.ptp(along)
    normal = np.array([-w[1], w[0]])

    def on_line(values: Any) -> Floats:
        return np.asarray(np.outer(values, w) + base * normal)

    scatter_classes(ax, look, rows.x, rows.codes, rows.classes, size=12)
    ends = on_line([along.min(), along.max()])
    low, high = _around(np.vstack([rows.x, ends]), 0.07)
    _same_scales(ax, low, high)
    ax.plot(*ends.T, color=look.muted, linewidth=1.0, zorder=1)
    tip = on_line([along.max() + 0.02 * np.ptp(along)])[0]
    ax.annotate(
        "", tuple(tip), tuple(tip - 0.16 * np.ptp(along) * w), zorder=6,
        arrowprops={"arrowstyle": "-|>", "color": look.ink, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    turned = MarkerStyle("|").rotated(rad=float(np.arctan2(w[1], w[0])))
    for k, mean in enumerate(moments.mean):
        own = along[rows.codes == k]
        ax.plot(
            *on_line(own).T, linestyle="", marker=turned, color=look.colour(k), markersize=7, alpha=0.55, zorder=2,
            rasterized=len(own) > RASTERISED,
        )  # fmt: skip
        drop = np.array([mean, on_line([mean @ w])[0]])
        ax.plot(*drop.T, color=look.colour(k), linewidth=1.0, linestyle=":", zorder=2)
        ax.plot(
            *drop.T, linestyle="", marker=look.marker(k), color=look.colour(k), markersize=8,
            markeredgecolor=look.ink, markeredgewidth=1.0, zorder=5,
        )  # fmt: skip
    if threshold is not None:
        draw_line(
            ax, w, -float(threshold), {"color": look.ink, "linewidth": 1.4, "linestyle": (0, (5, 2)), "zorder": 3}
        )
    within, between = (float(w @ part @ w) for part in (moments.within, moments.between))
    titled(ax, f"variance within {within:.3g}, between {between:.3g}", *(names[j] for j in pair))
    keyed(ax, look, class_keys(look, rows.classes))
    if rows.sampled:
        noted(ax, look, rows.sampled)
    return ax


@checked
def sphering(X: Any, y: Any, *, columns: Any = None, style: str | None = None) -> NDArray[Any]:
    """Discriminant analysis in four steps: the rows; sphered within classes; turned to the axes of the centroids; and
    the directions mapped back to the columns.

    Ellipses hold 95% of the pooled Gaussian; sphered, they are circles. Gives four axes.

    Parameters
    ----------
    X, y : labelled rows
    columns : the two columns, where X has more

    Examples
    --------
    >>> from discrim import datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> len(plots.sphering(X, y, columns=(0, 1)))
    4
    """
    rows = points_of(X, y)
    if not rows.labelled or len(rows.classes) < 2:
        raise ParameterError("Sphering within classes needs labels y of at least two classes.")
    pair = list(two_columns(columns, rows.names, ", or draw all columns together: plots.discriminants(model, X, y)"))
    x = rows.x[:, pair]
    moments = moments_of_rows(x, rows.codes, len(rows.classes))
    sphere = sphering_matrix(moments.within)
    sphered = (x - moments.centre) @ sphere
    centres = (moments.mean - moments.centre) @ sphere
    weighted = np.sqrt(moments.weight)[:, None] * centres
    axis = np.linalg.svd(weighted, full_matrices=True)[2]
    scalings, _ = directions(moments)
    axes, look = panels(4, style, size=(WIDTH, 5.4))
    identity = np.eye(2)
    parts = (
        ("1. The rows", x, moments.mean, moments.within), ("2. Sphered within classes", sphered, centres, identity),
        ("3. Turned to the centroids", sphered @ axis.T, centres @ axis.T, identity),
        ("4. Directions, mapped back", x, moments.mean, moments.within),
    )  # fmt: skip
    for ax, (title, points, means, sigma) in zip(axes, parts, strict=True):
        scatter_classes(ax, look, points, rows.codes, rows.classes, size=8)
        for k, mean in enumerate(means):
            draw_ellipse(ax, look, mean, sigma, k, 0.95)
            ax.plot(*mean, "+", color=look.ink, markersize=9, markeredgewidth=2, zorder=6)
        low, high = _around(points, 0.08)
        if max(high - low) < UNLIKE * min(high - low):
            _same_scales(ax, low, high)
        ax.set_title(title, loc="left", fontsize=SMALL, color=look.ink)
        ax.tick_params(labelsize=SMALL)
        ax.locator_params(nbins=4)
    for a in scalings.T:
        reach = 0.3 * a * (np.ptp(x, axis=0) / np.maximum(np.abs(a), 1e-300)).min()
        for sign in (-1, 1):
            axes[3].annotate(
                "", tuple(moments.centre + sign * reach), tuple(moments.centre), zorder=7,
                arrowprops={"arrowstyle": "-|>", "color": look.ink, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
    for ax in (axes[0], axes[3]):
        titled(ax, None, *(rows.names[j] for j in pair))
    if rows.sampled:
        noted(axes[2], look, rows.sampled)
    figure_key(axes[0].figure, look, class_keys(look, rows.classes), "outside upper left")
    return np.array(axes, dtype=object)


@checked
def voronoi(
    model: Any, X: Any = None, y: Any = None, *, sphered: bool = True, columns: Any = None, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """The nearest centroid (areas) against the model's own borders (lines): in sphered coordinates, or as columns come.

    Sphered, which is the plane of the first two discriminant coordinates, LDA with equal priors has exactly the cells
    of the centroids; in two columns with correlation, ``sphered=False``, it has not.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.voronoi(LinearDiscriminantAnalysis().fit(X, y), X, y)
    """
    classes = fitted_classes(model)
    rows = None if X is None else points_of(X, y, classes=classes)
    if sphered:
        plane = discriminant_plane(model, X, y)
        if plane.scalings.shape[1] < 2:
            raise ParameterError(
                "The classes differ in a single discriminant coordinate, and cells of a plane need two. Draw "
                "plots.projection(model, X, y)."
            )
        points = None if rows is None else plane.project(rows.x)[:, :2]
        centres, names = plane.means[:, :2], ("LD1", "LD2")
    else:
        if rows is None or not rows.labelled:
            raise ParameterError("Cells of columns as they come need rows and labels: pass X and y.")
        pair = list(two_columns(columns, rows.names, ", or leave sphered=True"))
        if rows.x.shape[1] != 2:
            raise ParameterError("Cells of two columns need a model of two columns. Fit one, or leave sphered=True.")
        points = rows.x[:, pair]
        centres = moments_of_rows(points, rows.codes, len(classes)).mean
        names = (rows.names[pair[0]], rows.names[pair[1]])
    ax, look = canvas(ax, style)
    shown = np.vstack(
        [centres - (2.7 if sphered else 0), centres + (2.7 if sphered else 0)] + ([] if points is None else [points])
    )
    _same_scales(ax, *_around(shown, 0.06))
    a, b = np.linspace(*ax.get_xlim(), GRID), np.linspace(*ax.get_ylim(), GRID)
    z = np.column_stack([part.ravel() for part in np.meshgrid(a, b)])
    nearest = ((z[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
    faces = np.array([(*look.tint(k, 1.0), 0.2 * look.depth(k)) for k in range(len(classes))])
    ax.imshow(faces[nearest].reshape(GRID, GRID, 4), extent=(a[0], a[-1], b[0], b[-1]), origin="lower",
              interpolation="nearest", zorder=0)  # fmt: skip
    if sphered:
        full = np.zeros((len(z), plane.scalings.shape[1]))
        full[:, :2] = z
        answers = answers_at(model, X, plane.origin + full @ plane.back.T)
    else:
        answers = Answers.of(model, X, z if pair == [0, 1] else z[:, ::-1])
    draw_borders(ax, a, b, answers, {"colors": look.ink, "linewidths": 1.5})
    if points is not None and rows is not None:
        scatter_classes(ax, look, points, rows.codes, classes if rows.labelled else [""], size=12)
    ax.plot(*centres.T, "+", color=look.ink, markersize=11, markeredgewidth=2.2, zorder=6, linestyle="")
    titled(ax, None, *names)
    line = Line2D([], [], color=look.ink, linewidth=1.5, label="border of the model")
    keyed(ax, look, [*class_keys(look, classes), line])
    noted(ax, look, "areas: nearest centroid" + (f"; {rows.sampled}" if rows is not None and rows.sampled else ""))
    return ax


@checked
def scheme(
    model: Any, X: Any, y: Any = None, *, columns: Any = None, others: Any = None, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """A multi-class scheme with the border of each of its two-class models: one against the rest, one against one.

    Regions are what the scheme answers; where it answers no class they are hatched. ``columns`` and ``others`` are as
    in ``regions``.

    Examples
    --------
    >>> from discrim import LeastSquaresClassifier, OneVsRestClassifier, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> model = OneVsRestClassifier(LeastSquaresClassifier(), rule="positive-only").fit(X[:, :2], y)
    >>> axes = plots.scheme(model, X[:, :2], y)
    """
    inner = list(getattr(model, "estimators_", ()))
    if not inner or not all(hasattr(each, "predict") for each in inner):
        raise lacks(model, "two-class models inside (estimators_)", "Draw plots.regions(model, X, y).")
    ax = regions(model, X, y, columns=columns, others=others, ax=ax, style=style)
    rows = points_of(X, y)
    pair = two_columns(columns, rows.names, "")
    a, b = np.linspace(*ax.get_xlim(), GRID), np.linspace(*ax.get_ylim(), GRID)
    x = np.tile(rows.x.mean(axis=0), (GRID * GRID, 1))
    x[:, pair[0]], x[:, pair[1]] = (part.ravel() for part in np.meshgrid(a, b))
    for i, each in enumerate(inner):
        height = _two_sides(each, alike(X, x))
        dash = ("--", ":", "-.")[i % 3]
        if (height > 0).any() and (height < 0).any():
            ax.contour(
                a, b, height.reshape(GRID, GRID), levels=[0.0], colors=[ax.xaxis.label.get_color()], linewidths=1.5,
                linestyles=[dash], zorder=4,
            )  # fmt: skip
    return ax


@checked
def scores(
    model: Any, X: Any, y: Any = None, *, direction: Any = None, ax: Axes | None = None, style: str | None = None
) -> Axes:
    """The score of each class along a line through the rows: where one class never has the largest, it is masked.

    Parameters
    ----------
    model : fitted classifier with ``decision_function`` (or posteriors)
    X, y : rows; they stand below as ticks
    direction : p numbers; by default the first principal component. The line goes through the mean.

    Examples
    --------
    >>> from discrim import LeastSquaresClassifier, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.scores(LeastSquaresClassifier().fit(X, y), X, y)
    """
    classes = fitted_classes(model)
    rows = points_of(X, y, classes=classes)
    centre = rows.x.mean(axis=0)
    if direction is None:
        w = np.linalg.svd(rows.x - centre, full_matrices=False)[2][0]
        w = w * (np.sign(w.sum()) or 1.0)
    else:
        w = _direction(direction, len(centre))
    along = (rows.x - centre) @ w
    at = np.linspace(along.min(), along.max(), 301)
    answers = answers_at(model, X, centre + at[:, None] * w)
    values = answers.scores if answers.scores is not None else answers.posterior
    if values is None:
        raise lacks(model, "scores of the classes (decision_function or predict_proba)")
    ax, look = canvas(ax, style)
    low, high = float(values.min()), float(values.max())
    for k in range(len(classes)):
        ax.plot(at, values[:, k], linewidth=1.8, zorder=3, **curve_of_class(look, k, len(classes)))
        if rows.labelled:
            own = along[rows.codes == k]
            level = low - (0.06 + min(0.05, 0.6 / len(classes)) * k) * (high - low)
            ax.plot(own, np.full(len(own), level), "|", color=look.colour(k), markersize=5, alpha=0.6,
                    rasterized=len(own) > 600)  # fmt: skip
    for change in np.flatnonzero(np.diff(answers.code)):
        ax.axvline(0.5 * (at[change] + at[change + 1]), color=look.muted, linewidth=0.9, zorder=1)
    ax.margins(x=0)
    name = "first principal component" if direction is None else "the direction"
    titled(ax, None, f"along {name}, from the mean", "score")
    keyed(ax, look, class_keys(look, classes))
    masked = [str(label) for k, label in enumerate(classes.tolist()) if not (answers.code == k).any()]
    said = [f"never the largest on this line: {name_list(masked)}"] if masked else []
    if said or rows.sampled:
        noted(ax, look, "; ".join([*said, rows.sampled or ""]).rstrip("; "))
    return ax


@checked
def feature_map(pipeline: Any, X: Any, y: Any, *, style: str | None = None) -> NDArray[Any]:
    """A linear rule on functions of the columns: the rows as they are, with the regions, and the rows as the rule sees
    them, where its border is straight.

    Parameters
    ----------
    pipeline : fitted, whose last step is a linear classifier of two classes; the steps before give two or three columns
    X, y : rows of one or two columns

    Gives two axes; the second has three dimensions for three columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from discrim import LogisticRegression, plots
    >>> X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> model = make_pipeline(PolynomialFeatures(interaction_only=True, include_bias=False), LogisticRegression(C=10))
    >>> len(plots.feature_map(model.fit(X, y), X, y))
    2
    """
    if not hasattr(pipeline, "steps") or len(pipeline.steps) < 2:
        raise lacks(pipeline, "steps before a classifier", "Pass a fitted pipeline.")
    rows = points_of(X, y, classes=fitted_classes(pipeline))
    made = pipeline[:-1].transform(alike(X, rows.x))
    z = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=float)
    if rows.x.shape[1] > 2 or z.shape[1] not in {2, 3}:
        raise ParameterError(
            f"A map is drawn from one or two columns to two or three; this one goes from {rows.x.shape[1]} to "
            f"{z.shape[1]}."
        )
    w, b = linear_function(pipeline[-1])
    # Space needs the whole width; below each other, in reach of a phone.
    flat = z.shape[1] == 2
    axes, look = panels(2, style, across=2 if flat else 1, size=(WIDTH, 3.0 if flat else 6.8))
    left, right = axes
    if rows.x.shape[1] == 2:
        regions(pipeline, X, y, ax=left, style=look.name)
    else:
        scatter_classes(left, look, np.column_stack([rows.x[:, 0], np.zeros(len(rows.x))]), rows.codes, rows.classes)
        left.set_yticks([])
        left.spines["left"].set_visible(False)
        titled(left, None, rows.names[0])
        keyed(left, look, class_keys(look, rows.classes))
    names = _names_made(pipeline[:-1], z.shape[1])
    if flat:
        scatter_classes(right, look, z, rows.codes, rows.classes)
        low, high = _around(z, 0.1)
        right.set_xlim(low[0], high[0])
        right.set_ylim(low[1], high[1])
        draw_line(right, w, b, {"color": look.ink, "linewidth": 1.6, "zorder": 4})
        titled(right, None, *names)
    else:
        right = _space(right, look, z, rows, w, b, names)
    return np.array([left, right], dtype=object)


def _space(flat: Any, look: Look, z: Floats, rows: Points, w: Floats, b: float, names: list[str]) -> Any:
    """Axes of three dimensions in the place of others, with the plane of the rule."""
    figure, place = flat.figure, flat.get_subplotspec()
    flat.remove()
    ax: Any = figure.add_subplot(place, projection="3d")
    ax.set_facecolor(look.face)
    for k in range(len(rows.classes)):
        own = z[rows.codes == k]
        ax.scatter(*own.T, s=34, color=look.colour(k), marker=look.marker(k), depthshade=False)
    low, high = _around(z, 0.05)
    j = int(np.abs(w).argmax())
    others = [i for i in range(3) if i != j]
    u, v = np.meshgrid(*(np.linspace(low[i], high[i], 12) for i in others))
    surface: list[Any] = [None, None, None]
    height = -(b + w[others[0]] * u + w[others[1]] * v) / w[j]
    surface[others[0]], surface[others[1]] = u, v
    surface[j] = np.where((height >= low[j]) & (height <= high[j]), height, np.nan)
    ax.plot_surface(*surface, color=look.tint(6, 0.6), alpha=0.45, linewidth=0)
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), names, strict=True):
        axis.set_pane_color((*look.tint(0, 0.0), 1.0))
        axis.line.set_color(look.muted)
        axis.set_tick_params(colors=look.muted, labelcolor=look.ink, labelsize=SMALL, pad=-2)
        axis.set_label_text(name, fontsize=SMALL, color=look.ink)
        axis.labelpad = -3
    ax.set_box_aspect(None, zoom=1.05)
    ax.locator_params(nbins=3)
    ax.grid(visible=False)
    return ax


def _names_made(steps: Any, size: int) -> list[str]:
    try:
        return all_shortened(steps.get_feature_names_out(), 14)
    except (AttributeError, ValueError, TypeError):
        return [f"z{i + 1}" for i in range(size)]


def _direction(direction: Any, size: int) -> Floats:
    """As a vector of length 1."""
    try:
        w = np.ravel(np.asarray(direction, dtype=float))
    except (TypeError, ValueError):
        w = np.empty(0)
    if len(w) != size or not np.isfinite(w).all() or not w.any():
        raise ParameterError.bad_value("direction", direction, f"{size} numbers, not all zero")
    return np.asarray(w / np.linalg.norm(w))


def _points_named(point: Any) -> Floats:
    """n x 2."""
    try:
        points = np.atleast_2d(np.asarray(point, dtype=float))
    except (TypeError, ValueError):
        points = np.empty((0, 0))
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
        raise ParameterError.bad_value("point", point, "two numbers, or rows of two numbers")
    return points


def _distance(ax: Any, look: Look, point: Floats, foot: Floats, text: str) -> None:
    """A point, its foot on the line, and a number."""
    colour = look.colour(2)
    ax.plot(*np.array([point, foot]).T, color=colour, linewidth=1.6, zorder=5)
    ax.plot(*point, "o", markersize=8, markerfacecolor="none", markeredgecolor=colour, markeredgewidth=1.6, zorder=6)
    # Scales are equal: what is at right angles in numbers is so on the page.
    away = (point - foot) / max(float(np.linalg.norm(point - foot)), 1e-300)
    beside = np.array([-away[1], away[0]]) * (1.0 if away[0] >= 0 else -1.0)
    if text.startswith("distance"):
        _said(ax, look, foot + 0.65 * (point - foot), text, colour, beside, 8.0)
    else:
        _said(ax, look, point, text, colour, away if away.any() else beside, 8.0)


def _two_sides(model: Any, table: Any) -> Floats:
    """A score of a two-class model that is above zero on its second side."""
    if hasattr(model, "decision_function"):
        return np.ravel(np.asarray(model.decision_function(table), dtype=float))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(table), dtype=float)[:, -1] - 0.5
    return np.asarray(model.predict(table), dtype=float) - 0.5


def _around(points: Floats, share: float) -> tuple[Floats, Floats]:
    low, high = points.min(axis=0), points.max(axis=0)
    room = share * np.where(high > low, high - low, 1.0)
    return low - room, high + room


def _same_scales(ax: Any, low: Floats, high: Floats) -> None:
    """Limits that hold this box, on equal scales, not too narrow."""
    wide, tall = high - low
    middle = 0.5 * (low + high)
    half = 0.5 * np.array([max(wide, 1.2 * tall), max(tall, wide / 1.35)])
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_aspect("equal", adjustable="box", anchor="NW")


def _on_view(ax: Any, foot: Floats, normal: Floats) -> Floats:
    """A point of the line in view, away from its middle, from which the normal starts."""
    along = np.array([-normal[1], normal[0]])
    (a0, a1), (b0, b1) = ax.get_xlim(), ax.get_ylim()
    t = np.linspace(-4, 4, 4001) * max(a1 - a0, b1 - b0) + (np.array([0.5 * (a0 + a1), 0.5 * (b0 + b1)]) - foot) @ along
    line = foot + t[:, None] * along
    inside = (line[:, 0] > a0) & (line[:, 0] < a1) & (line[:, 1] > b0) & (line[:, 1] < b1)
    if not inside.any():
        return np.asarray(foot)
    view = line[inside]
    return np.asarray(view[int(0.3 * len(view))])


def _said(ax: Any, look: Look, at: Floats, text: str, colour: str, toward: Any = (0.8, 0.6), away: float = 6.0) -> None:
    """A text that begins so many points from a place, in a direction."""
    x, y = toward
    ax.annotate(
        text, tuple(at), xytext=(away * x, away * y), textcoords="offset points", fontsize=SMALL, color=colour,
        fontweight="bold", path_effects=halo(look), zorder=8,
        ha="center" if abs(x) < 0.3 else "left" if x > 0 else "right",
        va="center" if abs(y) < 0.3 else "bottom" if y > 0 else "top",
    )  # fmt: skip
