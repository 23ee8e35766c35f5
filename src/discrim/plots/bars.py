"""What weighs how much in a model: coefficients, surviving columns, telling words, informative columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy import special

from discrim.errors import DiscrimError, ParameterError
from discrim.plots.given import checked
from discrim.plots.lettering import all_fitting, all_shortened, shortened
from discrim.plots.rows import MOST_ROWS, column_names, fitted_classes, lacks, points_of
from discrim.plots.style import SMALL, WIDTH, Look, canvas, keyed, noted, room_of, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Columns and classes that are drawn; of more, those that weigh most.
MOST, MOST_CLASSES = 20, 6


@checked
def coefficients(
    model: Any, X: Any = None, *, level: float = 0.95, most: int = MOST, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """Coefficients as a forest: a point for each column, with an interval where the model has standard errors.

    Parameters
    ----------
    model : fitted linear classifier
    X : rows; with them coefficients are per standard deviation of each column, and can be compared
    level : of the intervals, estimate -+ z standard errors of ``model.summary()``
    most : columns to draw; of more, those furthest from zero (in standard errors, where there are some)

    Cost: that of ``summary()``.

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import LogisticRegression, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> model = LogisticRegression(C=np.inf).fit(X[50:], y[50:])
    >>> plots.coefficients(model, X).get_xlabel()
    'coefficient per standard deviation, with 95% interval'
    """
    classes = fitted_classes(model)
    if not 0 < level < 1:
        raise ParameterError.bad_value("level", level, "a number between 0 and 1, such as 0.95")
    names = column_names(model, X)
    coef, error, functions = _estimates(model, names, classes)
    labels = functions[: len(coef)]
    if X is not None:
        scale = points_of(X, most=MOST_ROWS).x.std(axis=0)
        coef, error = coef * scale, None if error is None else error * scale
    order, infinite = _most_telling(coef, error, most)
    if not len(order):
        raise ParameterError(
            "All coefficients are infinite or not determined, as where the classes are separated, so that there is no "
            "forest to draw. Fit the model with a penalty, or draw plots.separation(model, X, y)."
        )
    ax, look = canvas(ax, style, (WIDTH, _height(len(order), len(labels))))
    z = float(special.ndtri(0.5 * (1.0 + level)))
    offsets = (np.arange(len(labels)) - 0.5 * (len(labels) - 1)) * (0.7 / len(labels))
    for k in range(len(labels)):
        at = np.arange(len(order)) + offsets[k]
        value = np.where(np.isfinite(coef[k, order]), coef[k, order], np.nan)
        if error is not None and np.isfinite(error[k]).any():
            half = z * np.where(np.isfinite(error[k, order]), error[k, order], 0.0)
            ax.hlines(at, value - half, value + half, color=look.colour(k), linewidth=1.6, zorder=2)
        ax.plot(value, at, linestyle="", marker=look.marker(k), color=look.colour(k), markersize=5, zorder=3)
    _named_rows(ax, look, [names[j] for j in order])
    ax.axvline(0.0, color=look.muted, linewidth=0.8, zorder=1)
    scaled = " per standard deviation" if X is not None else ""
    known = error is not None and bool(np.isfinite(error[:, order]).any())
    titled(ax, None, f"coefficient{scaled}{f', with {level:.0%} interval' if known else ''}")
    keyed(ax, look, _keys(look, labels) if len(labels) > 1 else [])
    noted(ax, look, _direction_said(functions, len(labels), [str(label) for label in classes.tolist()]))
    _say_left_out(ax, look, len(order), len(names), infinite)
    return ax


def _direction_said(functions: list[str], shown: int, classes: list[str]) -> str:
    """What a coefficient above zero speaks for, and how many of the functions are drawn."""
    rest = [label for label in classes if label not in functions]
    against = shortened(rest[0], 30) if len(rest) == 1 else "the others"
    if len(functions) == 1:
        return f"above 0: for {shortened(functions[0], 30)}"
    drawn = f"; drawn: {shown} of {len(functions)} classes" if shown < len(functions) else ""
    return f"each class against {against}{drawn}"


@checked
def surviving(model: Any, *, most: int = 2 * MOST, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Shrunken centroids: how far each class deviates in the columns that are left, as bars from a common line.

    Examples
    --------
    >>> from discrim import NearestCentroid, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.surviving(NearestCentroid(shrink_threshold=1.0).fit(X, y))
    """
    classes = fitted_classes(model)
    deviations = getattr(model, "deviations_", None)
    if deviations is None:
        raise lacks(model, "deviations of class centroids (deviations_)", "Shrunken nearest centroids have them.")
    deviations, names = np.asarray(deviations, dtype=float), column_names(model)
    left = np.flatnonzero(deviations.any(axis=0))
    if not len(left):
        raise ParameterError("No column is left at this threshold. Fit the model with a smaller one.")
    order = left[np.argsort(-np.abs(deviations[:, left]).max(axis=0), kind="stable")][:most]
    shown = min(len(classes), MOST_CLASSES)
    ax, look = canvas(ax, style, (WIDTH, max(1.3 + 0.19 * len(order), 2.6)))
    reach = 1.15 * np.abs(deviations[:, order]).max()
    at = np.arange(len(order))
    for k in range(shown):
        middle = 2 * reach * k
        ax.barh(at, deviations[k, order], left=middle, height=0.7, color=look.colour(k), zorder=2)
        ax.axvline(middle, color=look.muted, linewidth=0.8, zorder=3)
    _named_rows(ax, look, [names[j] for j in order])
    ax.set_xlim(-reach, 2 * reach * (shown - 1) + reach)
    ax.set_xticks(2 * reach * np.arange(shown), all_fitting(classes[:shown].tolist(), room_of(ax) / shown - 5, SMALL))
    titled(ax, f"{len(left):,} of {len(names):,} columns are left", "deviation of the class from all rows, shrunken")
    hidden = [f"{len(order)} columns that deviate most"] if len(order) < len(left) else []
    hidden += [f"{shown} of {len(classes)} classes"] if shown < len(classes) else []
    if hidden:
        noted(ax, look, f"drawn: {', '.join(hidden)}")
    return ax


@checked
def telling(model: Any, *, most: int = 8, ax: Axes | None = None, style: str | None = None) -> Axes:
    """The words, or counted columns, that speak most for each class: log odds against the other classes, with interval.

    For models whose summary has log odds ratios, such as naive Bayes of counts.

    Examples
    --------
    >>> from discrim import MultinomialNB, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.telling(MultinomialNB().fit(X, y)).get_xlabel()
    'log odds ratio, class against the others'
    """
    classes = fitted_classes(model)
    table = _table_with(model, ("class", "log odds ratio", "lower", "upper"))
    if table is None or len(table.index) == 0:
        raise lacks(model, "log odds ratios of its columns", "Naive Bayes of counts and of levels has them.")
    place = [list(table.columns).index(name) for name in ("class", "log odds ratio", "lower", "upper")]
    rows: list[tuple[str, int, tuple[float, float, float]]] = []
    shown = classes[:MOST_CLASSES].tolist()
    for k, label in enumerate(shown):
        own = [(str(name), [v[i] for i in place[1:]]) for name, v in zip(table.index, table.values, strict=True)
               if str(v[place[0]]) == str(label)]  # fmt: skip
        rows += [(name, k, (float(v[0]), float(v[1]), float(v[2]))) for name, v in own[: max(most, 1)] if v[0] > 0]
    ax, look = canvas(ax, style, (WIDTH, max(1.1 + 0.19 * len(rows), 2.4)))
    for i, (_, k, (value, low, high)) in enumerate(rows):
        ax.hlines(i, low, high, color=look.colour(k), linewidth=1.6, zorder=2)
        ax.plot([value], [i], linestyle="", marker=look.marker(k), color=look.colour(k), markersize=5, zorder=3)
    _named_rows(ax, look, [name for name, *_ in rows])
    ax.axvline(0.0, color=look.muted, linewidth=0.8, zorder=1)
    titled(ax, None, "log odds ratio, class against the others")
    keyed(ax, look, _keys(look, [str(label) for label in shown]))
    if len(shown) < len(classes):
        noted(ax, look, f"drawn: {len(shown)} of {len(classes)} classes")
    return ax


@checked
def informative(model: Any, *, most: int = MOST, ax: Axes | None = None, style: str | None = None) -> Axes:
    """How many bits each column tells about the class by itself, for models whose summary has them.

    Examples
    --------
    >>> from discrim import MixedNB, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.informative(MixedNB().fit(X, y)).get_xlabel()
    'bits about the class, each column by itself'
    """
    fitted_classes(model)
    table = _table_with(model, ("bits",))
    if table is None:
        raise lacks(model, "information of its columns in bits", "Naive Bayes of mixed columns has it.")
    at = list(table.columns).index("bits")
    bits = np.array([float(row[at]) for row in table.values])
    names = [str(name) for name in table.index]
    order = np.argsort(-bits, kind="stable")[:most]
    ax, look = canvas(ax, style, (WIDTH, max(1.0 + 0.22 * len(order), 2.0)))
    ax.barh(np.arange(len(order)), bits[order], height=0.66, color=look.colour(0), zorder=2)
    _named_rows(ax, look, [names[j] for j in order])
    titled(ax, None, "bits about the class, each column by itself")
    _say_left_out(ax, look, len(order), len(names), 0)
    return ax


def _estimates(model: Any, names: list[str], classes: NDArray[Any]) -> tuple[Floats, Floats | None, list[str]]:
    """Coefficients K' x p with their standard errors, and what the K' functions are of."""
    reported = _with_errors(model, len(names))
    if reported is not None:
        coef, error = reported
        # Reported are the classes but the reference, which the names begin with.
        labels = [str(label) for label in classes[1:]] if len(coef) == 1 else _function_names(model, len(names))
        return coef, error, labels
    found: Any = getattr(model, "coef_", None)
    if found is None:
        raise lacks(model, "coefficients (coef_)", "Draw its classes with plots.discriminants or plots.regions.")
    coef = np.atleast_2d(np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=float))
    if coef.shape[1] != len(names):
        raise ParameterError(f"The model has {coef.shape[1]} coefficients and {len(names)} columns; they must agree.")
    labels = [str(label) for label in (classes[1:] if len(coef) == 1 else classes)]
    return coef[:MOST_CLASSES], None, labels


def _with_errors(model: Any, p: int) -> tuple[Floats, Floats] | None:
    """From the summary, where it has as many standard errors as the model has coefficients."""
    if not hasattr(model, "summary"):
        return None
    try:
        summary = model.summary()
        coef, error = np.asarray(summary.coef, dtype=float), np.asarray(summary.std_error, dtype=float)
        names = list(summary.names)
    except (DiscrimError, AttributeError, TypeError, ValueError):
        return None
    slopes = [i for i, name in enumerate(names) if not str(name).endswith("(Intercept)")]
    if coef.ndim != 1 or len(coef) != len(names) or len(slopes) % p or not slopes:
        return None
    return coef[slopes].reshape(-1, p)[:MOST_CLASSES], error[slopes].reshape(-1, p)[:MOST_CLASSES]


def _function_names(model: Any, p: int) -> list[str]:
    names = [str(name) for name in model.summary().names if not str(name).endswith("(Intercept)")]
    return [name.rsplit(":", 1)[0] for name in names[::p]]


def _most_telling(coef: Floats, error: Floats | None, most: int) -> tuple[NDArray[np.intp], int]:
    """The columns to draw, the most telling first, and how many are left out because they are infinite."""
    usable = np.isfinite(coef).any(axis=0)
    weight = np.abs(np.where(np.isfinite(coef), coef, 0.0))
    if error is not None and np.isfinite(error).any():
        weight = weight / np.where(np.isfinite(error) & (error > 0), error, np.inf)
    order = np.argsort(-np.where(usable, weight.max(axis=0), -1.0), kind="stable")
    return order[: min(max(int(most), 1), int(usable.sum()))], int((~usable).sum())


def _height(rows: int, series: int) -> float:
    return max(1.1 + 0.24 * rows * (1.0 + 0.35 * (series - 1)), 2.0)


def _named_rows(ax: Axes, look: Look, names: list[str]) -> None:
    ax.set_yticks(np.arange(len(names)), all_shortened(names, 22), fontsize=SMALL, color=look.ink)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", color=look.line, linewidth=0.5, zorder=0)
    ax.set_axisbelow(True)


def _keys(look: Look, labels: list[str]) -> list[Line2D]:
    return [
        Line2D([], [], linestyle="", marker=look.marker(k), color=look.colour(k), markersize=5, label=label)
        for k, label in enumerate(all_shortened(labels, 24))
    ]


def _say_left_out(ax: Axes, look: Look, shown: int, columns: int, infinite: int) -> None:
    said = [f"{infinite} infinite or not determined"] if infinite else []
    if shown < columns - infinite:
        said.append(f"the {shown} of {columns:,} columns that matter most")
    if said:
        noted(ax, look, "; ".join(said))


def _table_with(model: Any, columns: tuple[str, ...]) -> Any:
    """The first table of the summary that has these columns."""
    tables = getattr(model.summary(), "tables", ()) if hasattr(model, "summary") else ()
    return next((table for table in tables if set(columns) <= set(table.columns)), None)
