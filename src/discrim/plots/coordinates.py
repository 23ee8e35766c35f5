"""Discriminant coordinates, projections, eigenvalues and ellipses."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.patches import Ellipse
from numpy.typing import NDArray
from scipy import special

from discrim.errors import DataError, ParameterError, name_list
from discrim.inference.discriminant import wilks_tests
from discrim.plots.boundaries import Answers, draw_borders, extra_keys, fill_answers, grid_size, strengths_of
from discrim.plots.given import checked, names_in, numbers_in
from discrim.plots.labels import label_points
from discrim.plots.lettering import all_shortened
from discrim.plots.plane import (
    DiscriminantPlane,
    Moments,
    discriminant_plane,
    means_of_rows,
    moments_of,
    moments_of_rows,
    two_axes,
)
from discrim.plots.plane import directions as discriminant_directions
from discrim.plots.rows import MOST_ROWS, Points, column_names, fitted_classes, lacks, points_of, two_columns
from discrim.plots.scatter import class_keys, scatter_classes
from discrim.plots.style import (
    SMALL,
    WIDTH,
    Look,
    canvas,
    halo,
    keyed,
    noted,
    panels,
    spread,
    titled,
)
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Columns whose loadings are drawn, the longest.
MOST_LOADINGS = 8
# Classes that have ellipses: those of more would hide each other.
MOST_ELLIPSES = 7
GRID = 160
# Its name, p numbers, and the thresholds on the projection where there are some.
Direction = tuple[str, Floats, list[float] | None]
# Places along both axes, and the answers on their grid.
Drawn = tuple[Floats, Floats, Answers]
# Width over height of a picture with equal scales.
SHAPE = 1.3


@checked
def discriminants(
    model: Any, X: Any = None, y: Any = None, *, axes: tuple[int, int] = (0, 1), loadings: bool | None = None,
    shade: Literal["class", "posterior"] | None = "class", ax: Axes | None = None, style: str | None = None,
) -> Axes:  # fmt: skip
    """Discriminant coordinates: rows, class means, ellipses that hold 95% of a Gaussian class, borders.

    Any fitted classifier of three or more classes and any number of columns can be drawn: the plane is the model's own,
    else that of its statistic, else that of the rows X, y. Without rows the picture shows what the model remembers.

    Parameters
    ----------
    model : fitted classifier
    X, y : rows to draw
    axes : which two coordinates, from 0; of more than seven classes the ellipses are left out
    loadings : bool
        Arrows for the columns, along their correlations with the coordinates within classes; by default where there
        are no rows.
    shade : 'class', 'posterior' or None
        Areas and borders of the answers at the points of this plane (other coordinates are 0): filled evenly, the
        deeper the surer the model is, or not at all.

    Cost: 25,600 predictions.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.discriminants(LinearDiscriminantAnalysis().fit(X, y), X, y).get_xlabel()
    'LD1 (99.1% of the separation)'
    """
    classes = fitted_classes(model)
    if len(classes) == 2:
        raise ParameterError(
            "Two classes have a single discriminant coordinate. Draw it with plots.projection(model, X, y)."
        )
    plane = discriminant_plane(model, X, y)
    if plane.scalings.shape[1] == 1:
        raise ParameterError(
            "The model has a single discriminant coordinate. Draw it with plots.projection(model, X, y)."
        )
    pair = two_axes(axes, plane)
    ax, look = canvas(ax, style)
    rows = None if X is None else points_of(X, y, classes=classes)
    z = None if rows is None else plane.project(rows.x)[:, pair]
    if rows is not None and z is not None:
        scatter_classes(ax, look, z, rows.codes, classes if rows.labelled else [""])
    _roomy(ax, z, plane.means[:, pair])
    with_loadings = loadings or (loadings is None and X is None)
    few = len(classes) <= MOST_ELLIPSES
    _class_shapes(ax, look, plane, pair, classes, named=few or not with_loadings)
    extra = _plane_answers(ax, look, answers_in(ax, model, X, plane, pair), shade) if shade is not None else []
    titled(ax, None, *(_axis_name(plane, a) for a in pair))
    if with_loadings:
        _draw_loadings(ax, look, plane, pair)
    keyed(ax, look, [*class_keys(look, classes), *extra])
    if plane.remark:
        noted(ax, look, plane.remark)
    if rows is not None and rows.sampled:
        noted(ax, look, rows.sampled)
    return ax


@checked
def separation(model: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
    """How far the classes are apart: ``projection`` of two classes, ``discriminants`` of more, with their options.

    Examples
    --------
    >>> from discrim import GaussianNB, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.separation(GaussianNB().fit(X, y), X, y)
    """
    if len(fitted_classes(model)) == 2 or discriminant_plane(model, X, y).scalings.shape[1] == 1:
        return projection(model, X, y, **options)
    return discriminants(model, X, y, **options)


@checked
def projection(
    model: Any, X: Any = None, y: Any = None, *, directions: Any = None, ax: Axes | None = None,
    style: str | None = None,
) -> Any:  # fmt: skip
    """Rows of two classes projected on the model's direction, a histogram for each class, and the threshold.

    The title of each panel has J = (difference of the means)^2 / (sum of the variances), which Fisher's direction makes
    largest. Without rows the Gaussians of the model's statistic are drawn.

    Parameters
    ----------
    model : fitted classifier of two classes, or of more that differ in a single direction, as in one column
        Its direction is that of its linear rule, else that in which the class means are furthest apart.
    X, y : rows to draw
    directions : directions to compare, each in a panel below
        A dict of name to p numbers, or names out of 'means' (difference of the class means) and 'pca' (first
        principal component). The threshold is midway between the projected means.

    Cost: reads at most 20,000 rows.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> model = LinearDiscriminantAnalysis().fit(X[50:], y[50:])
    >>> len(plots.projection(model, X[50:], y[50:], directions=["means", "pca"]))
    3
    """
    classes = fitted_classes(model)
    if len(classes) != 2 and (directions is not None or discriminant_plane(model, X, y).scalings.shape[1] > 1):
        raise ParameterError(
            f"A projection separates two classes; the model has {name_list(classes.tolist())}. "
            "Draw several with plots.discriminants(model, X, y)."
        )
    rows = None if X is None else points_of(X, y, classes=classes, most=MOST_ROWS)
    if rows is not None and not rows.labelled:
        raise ParameterError("The histograms of classes need labels: pass y as well.")
    shown: list[Direction] = [_own_direction(model, X, y)]
    shown += _other_directions(directions, rows)
    if ax is not None and len(shown) > 1:
        raise ParameterError(f"There are {len(shown)} panels to draw; leave 'ax' out, or 'directions'.")
    if ax is None and len(shown) > 1:
        axes, look = panels(len(shown), style, across=1, size=(WIDTH, 0.4 + 1.75 * len(shown)))
    else:
        ax, look = canvas(ax, style, (WIDTH, 3.0))
        axes = [ax]
    for one, (name, direction, cuts) in zip(axes, shown, strict=True):
        shown_one = (name, direction / np.linalg.norm(direction), cuts)
        if rows is not None:
            _histograms(one, look, rows, len(classes), shown_one)
            continue
        moments = moments_of(model)
        if moments is None:
            raise lacks(model, "means and variances of the classes", "Pass rows and their labels: (model, X, y).")
        _densities(one, look, moments, shown_one)
    keyed(axes[0], look, class_keys(look, classes))
    toward = ", in direction of the second class" if len(classes) == 2 else ""
    axes[-1].set_xlabel(f"projected value{toward}")
    if rows is not None and rows.sampled:
        noted(axes[-1], look, rows.sampled)
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


@checked
def eigenvalues(model: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """How much each discriminant coordinate separates, and Wilks' test that it and those after it add nothing.

    For models that know the class means and the pooled covariance. Cost: an eigenvalue problem of p x p.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> len(plots.eigenvalues(LinearDiscriminantAnalysis().fit(X, y)).patches)
    2
    """
    classes = fitted_classes(model)
    moments = moments_of(model)
    if moments is None:
        raise lacks(model, "means and covariances of the classes (statistic_)")
    _, values = discriminant_directions(moments)
    if not len(values):
        raise DataError(
            "No coordinate separates the classes: the rows do not vary within them, as with a single row of each. "
            "Fit the model on more rows."
        )
    n, p = float(moments.weight.sum()), moments.mean.shape[1]
    tests = wilks_tests(values, n, p, len(classes))
    ax, look = canvas(ax, style, (WIDTH, 1.2 + 0.42 * max(len(values), 2)))
    at = np.arange(len(values))
    ax.barh(at, values, height=0.62, color=look.colour(0), zorder=2)
    for i, value in enumerate(values):
        p_value = tests.p_value[i]
        test = "" if np.isnan(p_value) else f", p {'< 0.001' if p_value < 0.001 else f'= {p_value:.3f}'}"
        ax.annotate(
            f"{value / values.sum():.1%}{test}", (value, i), xytext=(5, 0), textcoords="offset points", va="center",
            fontsize=SMALL, color=look.ink,
        )  # fmt: skip
    ax.set_yticks(at, [f"LD{i + 1}" for i in at])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.45 * values.max())
    titled(ax, None, "variance between classes / variance within")
    noted(ax, look, "p: Wilks' test of this dimension and those below")
    return ax


@checked
def ellipses(
    model: Any, X: Any = None, y: Any = None, *, columns: Any = None, levels: Any = (0.5, 0.95),
    ax: Axes | None = None, style: str | None = None,
) -> Axes:  # fmt: skip
    """Class means with ellipses of equal Mahalanobis distance in two columns, which hold these shares of a class.

    The marginal Gaussian of the two columns, however many there are: of the model's statistic (one shape for all
    classes where it pools them, as LDA does), else of the rows X, y.

    Examples
    --------
    >>> from discrim import QuadraticDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.ellipses(QuadraticDiscriminantAnalysis().fit(X, y), X, y, columns=(2, 3))
    """
    classes = fitted_classes(model)
    rows = None if X is None else points_of(X, y, classes=classes)
    names = column_names(model, X)
    pair = list(two_columns(columns, names, ", or draw all columns together: plots.discriminants(model, X, y)"))
    moments, two = moments_of(model), pair
    if moments is None and rows is not None and rows.labelled:
        moments, two = moments_of_rows(rows.x[:, pair], rows.codes, len(classes)), [0, 1]
    if moments is None:
        raise lacks(model, "means and covariances of the classes", "Pass rows and their labels: (model, X, y).")
    levels = np.ravel(numbers_in("levels", levels, "shares between 0 and 1"))
    if not len(levels) or not ((levels > 0) & (levels < 1)).all():
        raise ParameterError.bad_value("levels", levels.tolist(), "shares between 0 and 1")
    ax, look = canvas(ax, style)
    if rows is not None:
        scatter_classes(ax, look, rows.x[:, pair], rows.codes, classes if rows.labelled else [""])
    for k in range(len(classes)):
        for level in levels:
            draw_ellipse(ax, look, moments.mean[k, two], moments.of_class(k)[np.ix_(two, two)], k, level)
        ax.plot(*moments.mean[k, two], "+", color=look.ink, markersize=9, markeredgewidth=2, zorder=5)
    ax.autoscale_view()
    titled(ax, None, names[pair[0]], names[pair[1]])
    keyed(ax, look, class_keys(look, classes))
    noted(ax, look, f"ellipses hold {' and '.join(f'{level:.0%}' for level in levels)} of a Gaussian class")
    if rows is not None and rows.sampled:
        noted(ax, look, rows.sampled)
    return ax


def linear_function(model: Any) -> tuple[Floats, float]:
    """w and b of a linear rule of two classes, w'x + b > 0 for the second."""
    coef, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if coef is None or intercept is None:
        raise lacks(model, "linear rule (coef_ and intercept_)")
    coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=float)
    coef = np.atleast_2d(coef)
    if len(coef) != 1:
        raise ParameterError(f"This picture is for two classes; the model has {name_list(fitted_classes(model))}.")
    if not coef.any():
        raise ParameterError("All coefficients are zero, so that there is no direction to draw.")
    return coef[0], float(np.ravel(intercept)[0])


def draw_ellipse(ax: Axes, look: Look, mean: Floats, sigma: Floats, k: int, level: float) -> None:
    """The ellipse that holds this share of a Gaussian class."""
    values, vectors = np.linalg.eigh(sigma)
    lengths = 2.0 * np.sqrt(np.maximum(values, 0.0) * special.chdtri(2, 1.0 - level))
    angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
    ax.add_patch(
        Ellipse(
            (float(mean[0]), float(mean[1])), float(lengths[1]), float(lengths[0]), angle=angle, fill=False,
            edgecolor=look.colour(k), linewidth=1.4, zorder=4,
        )
    )  # fmt: skip


def _class_shapes(
    ax: Axes, look: Look, plane: DiscriminantPlane, pair: list[int], classes: NDArray[Any], *, named: bool
) -> None:
    """Ellipses, and the means with their labels; of many classes those for which there is room."""
    for k in range(len(classes)):
        mean = plane.means[k, pair]
        if len(classes) <= MOST_ELLIPSES:
            draw_ellipse(ax, look, mean, plane.covariance(k, pair), k, 0.95)
        ax.plot(
            *mean, marker=look.marker(k), color=look.colour(k), markersize=9, markeredgecolor=look.face,
            markeredgewidth=1.2, linestyle="", zorder=6,
        )  # fmt: skip
    few = len(classes) <= MOST_ELLIPSES
    if named:
        short = all_shortened(classes.tolist(), 18 if few else 10)
        label_points(ax, look, plane.means[:, pair], short, bold=True, crowded=not few)


def _roomy(ax: Axes, z: Floats | None, means: Floats) -> None:
    """Limits that hold the points, the means and their ellipses, and are not too narrow for equal scales."""
    shown = np.vstack([means - 2.7, means + 2.7] + ([] if z is None else [z]))
    low, high = shown.min(axis=0) - 0.3, shown.max(axis=0) + 0.3
    wide, tall = high - low
    middle = 0.5 * (low + high)
    half = 0.5 * np.array([max(wide, SHAPE * tall), max(tall, wide / SHAPE)])
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_aspect("equal", adjustable="box", anchor="NW")


def answers_in(ax: Axes, model: Any, X: Any, plane: DiscriminantPlane, pair: list[int]) -> Drawn:
    """What the model says in view of the axes."""
    size = grid_size(GRID, len(plane.origin))
    a, b = np.linspace(*ax.get_xlim(), size), np.linspace(*ax.get_ylim(), size)
    z = np.zeros((size * size, plane.scalings.shape[1]))
    z[:, pair[0]], z[:, pair[1]] = (part.ravel() for part in np.meshgrid(a, b))
    return a, b, answers_at(model, X, plane.origin + z @ plane.back.T)


def _plane_answers(ax: Axes, look: Look, drawn: Drawn, shade: str) -> list[Any]:
    """Areas and borders of the answers; what the legend says of those that are no class."""
    a, b, answers = drawn
    fill_answers(ax, look, a, b, answers, 0.8 * strengths_of(answers, shade))
    draw_borders(ax, a, b, answers, {"colors": look.muted, "linewidths": 0.9})
    return extra_keys(look, answers)


def answers_at(model: Any, X: Any, x: Floats) -> Answers:
    """What a model says of rows that were made up, in the kind of table that it was fitted on."""
    with warnings.catch_warnings():
        # Names of columns are not at hand where no table is.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return Answers.of(model, X, x) if X is not None else Answers.of(model, np.empty((0, 0)), x)


def _draw_loadings(ax: Axes, look: Look, plane: DiscriminantPlane, pair: list[int]) -> None:
    """Arrows from the middle; names stand at the side to which they point, moved apart."""
    loading = plane.loadings[:, pair]
    longest = np.argsort(-np.hypot(*loading.T))[:MOST_LOADINGS]
    longest = longest[np.hypot(*loading[longest].T) > 0]
    (a0, a1), (b0, b1) = ax.get_xlim(), ax.get_ylim()
    middle = np.array([0.5 * (a0 + a1), 0.5 * (b0 + b1)])
    size = 0.40 * min(a1 - a0, b1 - b0) / np.hypot(*loading[longest].T).max()
    ends = middle + size * loading[longest]
    short = all_shortened([plane.names[j] for j in longest], 14)
    for side in (-1, 1):
        of = np.flatnonzero(np.where(ends[:, 0] >= middle[0], 1, -1) == side)
        if not len(of):
            continue
        heights = b0 + (b1 - b0) * spread((ends[of, 1] - b0) / (b1 - b0), 0.065)
        for i, height in zip(of, heights, strict=True):
            ax.annotate(
                "", tuple(ends[i]), tuple(middle), zorder=5,
                arrowprops={"arrowstyle": "-|>", "color": look.ink, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
            ax.annotate(
                short[i], (ends[i, 0], height), xytext=(4 * side, 0),
                textcoords="offset points", ha="left" if side > 0 else "right", va="center", fontsize=SMALL,
                color=look.ink, path_effects=halo(look), zorder=7,
            )  # fmt: skip
    if len(longest) < len(loading):
        most = "with the largest weights" if plane.moments is None else "that correlate most"
        noted(ax, look, f"arrows: the {len(longest)} of {len(loading)} columns {most}")


def _axis_name(plane: DiscriminantPlane, a: int) -> str:
    share = plane.share[a]
    return f"LD{a + 1}" if np.isnan(share) else f"LD{a + 1} ({share:.1%} of the separation)"


def _own_direction(model: Any, X: Any, y: Any) -> tuple[str, Floats, list[float]]:
    """The direction of a linear rule and its threshold; else where the answer changes along the discriminant."""
    linear = getattr(model, "coef_", None) is not None and getattr(model, "intercept_", None) is not None
    if linear and len(model.classes_) == 2:
        w, b = linear_function(model)
        return "the model's direction", w, [-b / float(np.linalg.norm(w))]
    plane = discriminant_plane(model, X, y)
    sign = np.sign(plane.means[1, 0] - plane.means[0, 0])
    a, back = sign * plane.scalings[:, 0], sign * plane.back[:, 0]
    centres = sign * plane.means[:, 0]
    z = np.linspace(centres.min() - 4.0, centres.max() + 4.0, 2001)
    code = answers_at(model, X, plane.origin + z[:, None] * back).code
    changes = 0.5 * (z[1:] + z[:-1])[np.diff(code) != 0]
    cuts = (plane.origin + changes[:, None] * back) @ a / np.linalg.norm(a)
    return "the discriminant direction", a, cuts.tolist()


def _other_directions(wanted: Any, rows: Points | None) -> list[Direction]:
    """Directions by name; without a threshold of their own."""
    if wanted is None:
        return []
    if isinstance(wanted, Mapping):
        return [(str(name), _as_direction(w, rows), None) for name, w in wanted.items()]
    if rows is None:
        raise ParameterError("Other directions are found from rows: pass X and y as well.")
    _, mean = means_of_rows(rows.x, rows.codes, 2)
    found: list[Direction] = []
    for name in names_in("directions", wanted):
        if name == "means":
            found.append(("difference of the means", mean[1] - mean[0], None))
        elif name == "pca":
            w = np.linalg.svd(rows.x - rows.x.mean(axis=0), full_matrices=False)[2][0]
            found.append(("first principal component", w * np.sign(w @ (mean[1] - mean[0]) or 1), None))
        else:
            raise ParameterError.bad_value("directions", name, "'means', 'pca' or a dict of name to numbers")
    return found


def _as_direction(w: Any, rows: Points | None) -> Floats:
    """Numbers, as many as there are columns, not all zero."""
    found = np.ravel(numbers_in("directions", w, "'means', 'pca' or a dict of name to numbers"))
    width = len(found) if rows is None else rows.x.shape[1]
    if len(found) != width or not np.isfinite(found).all() or not found.any():
        raise ParameterError.bad_value("directions", w, f"a dict of name to {width} finite numbers, not all zero")
    return found


def _histograms(ax: Axes, look: Look, rows: Points, size: int, shown: Direction) -> None:
    """Rows on a direction, a histogram for each class."""
    name, w, cuts = shown
    z = rows.x @ w
    _, centres = means_of_rows(z, rows.codes, size)
    variances = np.array([z[rows.codes == k].var() for k in range(size)])
    edges = np.linspace(z.min(), z.max(), int(np.clip(2.2 * np.sqrt(len(z)), 12, 40)) + 1).tolist()
    for k in range(size):
        ax.hist(
            z[rows.codes == k], edges, color=look.tint(k, 0.55), edgecolor=look.face, linewidth=0.4, alpha=0.85,
            zorder=2 + k,
        )  # fmt: skip
    ax.set_ylabel("rows")
    _cut_and_said(ax, look, (name, centres, variances), cuts)


def _densities(ax: Axes, look: Look, moments: Moments, shown: Direction) -> None:
    """The Gaussian of each class on a direction."""
    name, w, cuts = shown
    centres = moments.mean @ w
    variances = np.array([w @ moments.of_class(k) @ w for k in range(len(centres))])
    low, high = (centres - 3.5 * np.sqrt(variances)).min(), (centres + 3.5 * np.sqrt(variances)).max()
    at = np.linspace(low, high, 300)
    for k in range(len(centres)):
        height = np.exp(-0.5 * (at - centres[k]) ** 2 / variances[k]) / np.sqrt(2 * np.pi * variances[k])
        height *= moments.weight[k] / moments.weight.sum()
        ax.fill_between(at, height, color=look.tint(k, 0.45), linewidth=0, zorder=2)
        ax.plot(at, height, color=look.colour(k), linewidth=1.4, zorder=3)
    ax.set_yticks([])
    ax.set_ylabel("density")
    _cut_and_said(ax, look, (name, centres, variances), cuts)


def _cut_and_said(ax: Axes, look: Look, on: tuple[str, Floats, Floats], cuts: list[float] | None) -> None:
    """The thresholds, midway between the classes where none are given, and what the panel shows."""
    name, centres, variances = on
    ax.set_ylim(bottom=0)
    for cut in [float(centres.mean())] if cuts is None else cuts:
        ax.axvline(cut, color=look.ink, linewidth=1.4, zorder=5)
    said = f"{name[0].upper()}{name[1:]}"
    if len(centres) == 2:
        separation = (centres[1] - centres[0]) ** 2 / variances.sum() if variances.sum() > 0 else np.inf
        said += f": J = {separation:.3g}"
    titled(ax, said)
