"""Coefficients and errors along a strength of regularisation, and the balls of the penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from discrim.errors import ParameterError, name_list, plural
from discrim.plots.given import checked, names_in, numbers_in
from discrim.plots.lettering import all_shortened
from discrim.plots.rows import column_names, lacks
from discrim.plots.style import SMALL, WIDTH, canvas, end_labels, keyed, noted, panels, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Names at the ends of paths: those of the largest coefficients.
MOST_LABELS = 10


@checked
def path(
    thing: Any, coef: Any = None, *, names: Any = None, function: int = 0, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """Coefficients against the strength of the penalty, with the names of the largest at the right.

    Parameters
    ----------
    thing : what ``logistic_path`` gives, a model with ``path_`` or ``coefs_paths_``, or L strengths
    coef : L x p coefficients, or L x K x p, where ``thing`` are strengths
    names : p names of columns, where they are not known
    function : which of several linear functions is drawn

    Examples
    --------
    >>> from discrim import datasets, logistic_path, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.path(logistic_path(X[50:], y[50:])).get_xlabel()
    'strength of the penalty (logarithmic, falling)'
    """
    strengths, values, known = _path_of(thing, coef)
    names = (known if names is None else names_in("names", names)) or [f"x{j}" for j in range(values.shape[-1])]
    if values.ndim == 3:
        if not 0 <= function < values.shape[1]:
            raise ParameterError.bad_value(
                "function", function, f"the number of a function, from 0 to {values.shape[1] - 1}"
            )
        values = values[:, function]
    if len(names) != values.shape[1] or len(values) != len(strengths):
        raise ParameterError(
            f"There are {plural(len(strengths), 'strength')} and {plural(len(names), 'name')} for coefficients of the "
            f"shape {values.shape}."
        )
    order = np.argsort(-strengths)
    strengths, values = strengths[order], values[order]
    strengths, values = strengths[strengths > 0], values[strengths > 0]
    ax, look = canvas(ax, style)
    moving = np.flatnonzero(values.any(axis=0))
    largest = moving[np.argsort(-np.abs(values[-1, moving]), kind="stable")][:MOST_LABELS]
    rest = np.setdiff1d(moving, largest)
    if len(rest):
        ax.plot(strengths, values[:, rest], color=look.line, linewidth=0.7, zorder=1, rasterized=len(rest) > 200)
    for i, j in enumerate(largest):
        ax.plot(strengths, values[:, j], color=look.colour(i), linewidth=1.6, zorder=2)
    ax.axhline(0, color=look.muted, linewidth=0.7, zorder=0)
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.margins(x=0)
    for name, text in (("lambda_min_", "least"), ("lambda_1se_", "1 s.e.")):
        _mark(ax, look, thing, name, text)
    titled(ax, None, "strength of the penalty (logarithmic, falling)", "coefficient")
    short = all_shortened([names[j] for j in largest], 14)
    end_labels(ax, [(float(values[-1, j]), short[i], look.colour(i)) for i, j in enumerate(largest)])
    if len(rest):
        noted(ax, look, f"named: the {len(largest)} largest of {len(moving):,} columns with a coefficient")
    return ax


@checked
def tuning(model: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Cross-validated error over the settings that a fit tried: a curve for one setting, a surface for two.

    For models with ``cv_results_`` (shrinkage of LDA, RDA, shrunken centroids, lasso), and cross-validated paths. The
    band is one standard error, the point the setting that was chosen.

    Examples
    --------
    >>> from discrim import RegularizedDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.tuning(RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv").fit(X, y))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('gamma', 'alpha')
    """
    settings, error, spread, chosen, what = _results_of(model)
    varied = {name: values for name, values in settings.items() if len(values) > 1}
    if not varied:
        raise lacks(model, "settings that were tried (several values in cv_results_)", "Fit it with 'cv'.")
    if len(varied) == 1:
        ((name, values),) = varied.items()
        return _tuning_curve((name, values, error.ravel(), None if spread is None else spread.ravel()),
                             chosen.get(name), what, ax, style)  # fmt: skip
    if len(varied) > 2:
        raise ParameterError(f"A picture shows one or two settings; {name_list(varied)} were tried.")
    down, across = varied
    ax, look = canvas(ax, style)
    surface = np.squeeze(error)
    scale: list[Any] = [look.colour(0), look.tint(0, 0.25), look.tint(1, 0.35), look.colour(1)]
    tones = LinearSegmentedColormap.from_list("error", scale)
    order = np.argsort(varied[across])
    rows = np.argsort(varied[down])
    image = ax.pcolormesh(
        _edges(varied[across][order]), _edges(varied[down][rows]), surface[rows][:, order], cmap=tones, shading="flat",
        rasterized=True,
    )  # fmt: skip
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=look.muted, labelcolor=look.ink, labelsize=SMALL)
    bar.set_label(what, color=look.ink, fontsize=SMALL)
    best = np.unravel_index(np.argmin(surface), surface.shape)
    at = (chosen.get(across, varied[across][best[1]]), chosen.get(down, varied[down][best[0]]))
    ax.plot(*at, "o", color=look.face, markeredgecolor=look.ink, markersize=9, markeredgewidth=1.6, zorder=5)
    titled(ax, None, across, down)
    noted(ax, look, f"point: chosen, {across} {float(at[0]):.3g} and {down} {float(at[1]):.3g}")
    return ax


@checked
def penalties(
    optimum: Any = (1.6, 0.5), curvature: Any = ((1.0, 0.5), (0.5, 0.9)), *, size: float = 0.8,
    style: str | None = None,
) -> NDArray[Any]:  # fmt: skip
    """Why L1 sets weights to zero: contours of a squared error over two weights, with the ball of L1 and of L2.

    Parameters
    ----------
    optimum : two weights of the least error
    curvature : 2 x 2, positive definite; for least squares X'X / n
    size : of the balls, |w|_1 <= size and |w|_2 <= size

    Gives two axes. The point on each ball is the constrained minimum.

    Examples
    --------
    >>> from discrim import plots
    >>> len(plots.penalties())
    2
    """
    w, H = numbers_in("optimum", optimum, "two numbers"), numbers_in("curvature", curvature, "2 x 2 numbers")
    if (
        w.shape != (2,)
        or H.shape != (2, 2)
        or not np.isfinite([*w, *H.ravel()]).all()
        or (np.linalg.eigvalsh(H) <= 0).any()
    ):
        raise ParameterError("The optimum must be two numbers and the curvature a positive definite 2 x 2 matrix.")
    axes, look = panels(2, style, size=(WIDTH, 3.3))
    angles = np.linspace(0, 2 * np.pi, 7201)
    circle = size * np.column_stack([np.cos(angles), np.sin(angles)])
    diamond = circle / np.abs(circle / size).sum(axis=1, keepdims=True)
    reach = 1.25 * max(np.abs(w).max(), size)
    grid = np.linspace(-reach, reach, 161)
    a, b = np.meshgrid(grid, grid)
    gap = np.stack([a - w[0], b - w[1]], axis=-1)
    error = np.einsum("...i,ij,...j->...", gap, H, gap)
    for ax, ball, name in zip(axes, (diamond, circle), ("L1: lasso", "L2: ridge"), strict=True):
        values = np.einsum("ni,ij,nj->n", ball - w, H, ball - w)
        inside = (np.abs(w).sum() if ball is diamond else np.hypot(*w)) <= size
        best = w if inside else ball[values.argmin()]
        best = np.where(np.abs(best) < 1e-3 * size, 0.0, best)
        ax.add_patch(Polygon(ball, closed=True, facecolor=look.tint(0, 0.3), edgecolor=look.colour(0), linewidth=1.4))
        least = float(values.min())
        levels = sorted({least * f for f in (0.12, 0.45, 1.0, 1.8)} if not inside else {0.1, 0.4, 0.9})
        ax.contour(a, b, error, levels=levels, colors=look.muted, linewidths=0.9)
        ax.plot(*w, "x", color=look.ink, markersize=7, markeredgewidth=1.8)
        ax.plot(*best, "o", color=look.colour(1), markersize=7, zorder=5)
        ax.axhline(0, color=look.line, linewidth=0.8, zorder=0)
        ax.axvline(0, color=look.line, linewidth=0.8, zorder=0)
        ax.set_aspect("equal")
        ax.set_xlim(-0.6 * reach, reach)
        ax.set_ylim(-0.7 * reach, 0.9 * reach)
        titled(ax, f"{name}: ({best[0]:.2f}, {best[1]:.2f})", "first weight", "second weight")
    noted(axes[0], look, "cross: least error; point: within the ball")
    return np.array(axes, dtype=object)


def _path_of(thing: Any, coef: Any) -> tuple[Floats, Floats, list[str]]:
    """Strengths (L), coefficients (L x p or L x K x p), names."""
    if coef is not None:
        strengths = np.ravel(numbers_in("thing", thing, "L strengths of the penalty, where 'coef' is given"))
        values = numbers_in("coef", coef, "L x p or L x K x p numbers")
        if values.ndim not in {2, 3}:
            raise ParameterError(f"Coefficients must be L x p or L x K x p; these have the shape {values.shape}.")
        return strengths, values, []
    if hasattr(thing, "lambdas") and hasattr(thing, "coef"):
        design = getattr(thing, "design", None)
        return np.asarray(thing.lambdas), np.asarray(thing.coef), list(getattr(design, "names_out", ()))
    own = getattr(thing, "path_", None)
    if own is not None and hasattr(own, "alphas"):
        return np.asarray(own.alphas), np.asarray(own.coef), column_names(thing)
    paths = getattr(thing, "coefs_paths_", None)
    if paths:
        names = column_names(thing)
        mean = [np.asarray(values).mean(axis=0) for values in paths.values()]
        if mean[0].ndim == 2:  # Cs x (p + 1), the mean over folds
            stacked = np.stack([values[:, : len(names)] for values in mean], axis=1)
            return 1.0 / np.asarray(thing.Cs_, dtype=float), stacked, names
    raise lacks(
        thing, "path of coefficients", "Pass logistic_path(X, y), a fitted lasso, or strengths and coefficients."
    )


def _results_of(model: Any) -> tuple[dict[str, Floats], Floats, Floats | None, dict[str, float], str]:
    """Values tried by name, errors over them with standard errors, the values chosen, and what is measured."""
    if getattr(model, "cv_mean", None) is not None:
        settings = {"lambda": np.asarray(model.lambdas)}
        return (
            settings,
            np.asarray(model.cv_mean),
            np.asarray(model.cv_se),
            {"lambda": model.lambda_min_},
            "deviance of a row",
        )
    results = getattr(model, "cv_results_", None)
    if not results:
        raise lacks(
            model, "settings that were tried (cv_results_)", "Fit it with a parameter that is chosen, such as 'cv'."
        )
    lists = [name for name in ("alphas", "gammas", "thresholds") if name in results]
    settings = {name[:-1]: np.atleast_1d(np.asarray(results[name], dtype=float)) for name in lists}
    scalars = {name.removeprefix("shrink_"): float(value) for name, value in results.items()
               if isinstance(value, (int, float, np.number))}  # fmt: skip
    if "mean_error" in results:
        return settings, np.asarray(results["mean_error"]), np.asarray(results["std_error"]), scalars, "error"
    squared = np.asarray(results["squared_error"])
    spread = squared.std(axis=1, ddof=1) / np.sqrt(squared.shape[1])
    return settings, squared.mean(axis=1), spread, scalars, "squared error"


def _tuning_curve(
    tried: tuple[str, Floats, Floats, Floats | None], chosen: float | None, what: str, ax: Any, style: str | None
) -> Axes:
    name, values, error, spread = tried
    ax, look = canvas(ax, style)
    order = np.argsort(values)
    values, error = values[order], error[order]
    if spread is not None:
        ax.fill_between(
            values, error - spread[order], error + spread[order], color=look.tint(0), linewidth=0, zorder=1,
            label="one standard error",
        )  # fmt: skip
    ax.plot(values, error, "o-" if len(values) <= 40 else "-", color=look.colour(0), markersize=3.5, linewidth=1.6)
    chosen = float(values[error.argmin()]) if chosen is None else chosen
    height = float(np.interp(chosen, values, error))
    ax.plot([chosen], [height], "o", color=look.colour(1), markersize=7, zorder=5, label=f"chosen: {chosen:.3g}")
    if values[0] > 0 and values[-1] / values[0] > 30:
        ax.set_xscale("log")
    ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))
    titled(ax, None, name, what)
    keyed(ax, look)
    return ax  # type: ignore[no-any-return]


def _mark(ax: Axes, look: Any, thing: Any, name: str, text: str) -> None:
    """A line at the strength that cross-validation chose."""
    if getattr(thing, "cv_mean", None) is None:
        return
    at = getattr(thing, name)
    ax.axvline(at, color=look.muted, linewidth=0.9, linestyle=(0, (3, 2)), zorder=0)
    ax.annotate(
        text, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(2, -2), textcoords="offset points", va="top",
        fontsize=SMALL, color=look.muted,
    )  # fmt: skip


def _edges(values: Floats) -> Floats:
    """Borders of cells around these values."""
    middle = 0.5 * (values[1:] + values[:-1])
    return np.concatenate([[values[0] - (middle[0] - values[0])], middle, [2 * values[-1] - middle[-1]]])
