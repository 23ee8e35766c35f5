"""What a model says column by column, and whether its probabilities are those of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import special, stats

from discrim.errors import DataError, ParameterError, name_list
from discrim.plots.boundaries import DASHES
from discrim.plots.coordinates import answers_at
from discrim.plots.given import checked
from discrim.plots.lettering import all_shortened, shortened
from discrim.plots.rows import (
    MOST_ROWS,
    RASTERISED,
    Points,
    alike,
    column_names,
    column_numbers,
    fitted_classes,
    lacks,
    points_of,
)
from discrim.plots.scatter import class_keys
from discrim.plots.style import canvas, end_labels, keyed, noted, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Values of the second column at which an interaction is drawn.
QUANTILES = (0.1, 0.5, 0.9)
MOST_VALUES = 5
MOST_TERMS = 8
ADDITIVE = "Linear rules and naive Bayes have them."


@checked
def terms(
    model: Any, X: Any, *, columns: Any = None, ax: Axes | None = None, style: str | None = None
) -> Axes:  # fmt: skip
    """What each column adds to the log odds of two classes: straight lines for linear rules, curves for naive Bayes.

    Columns are drawn in standard deviations from their means, where every curve is 0.

    Parameters
    ----------
    model : fitted, with ``contributions``: linear rules and naive Bayes
    X : rows, for the range of each column
    columns : those to draw, by name or number; by default the eight whose curves reach furthest

    Examples
    --------
    >>> from discrim import GaussianNB, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> len(plots.terms(GaussianNB().fit(X[50:], y[50:]), X[50:]).lines)
    5
    """
    classes = _two_classes(model, "Terms of log odds")
    rows = points_of(X, most=MOST_ROWS)
    mean, deviation, names = rows.x.mean(axis=0), rows.x.std(axis=0), column_names(model, X)
    chosen = [j for j in (range(len(mean)) if columns is None else column_numbers(columns, names)) if deviation[j]]
    if not chosen:
        raise ParameterError("The columns have a single value each, so that there is no curve to draw.")
    curves = {}
    for j in chosen:
        at = np.linspace(rows.x[:, j].min(), rows.x[:, j].max(), 121)
        curves[j] = (at - mean[j]) / deviation[j], _term(model, X, mean, j, at)
    if columns is None:
        chosen = sorted(curves, key=lambda j: -float(np.ptp(curves[j][1])))[:MOST_TERMS]
    ax, look = canvas(ax, style)
    ax.axhline(0, color=look.line, linewidth=0.9, zorder=0)
    labels, short = [], all_shortened([names[j] for j in chosen], 16)
    for i, j in enumerate(chosen):
        ax.plot(*curves[j], color=look.colour(i), linestyle=DASHES[i % len(DASHES)], linewidth=1.8, zorder=2)
        labels.append((float(curves[j][1][-1]), short[i], look.colour(i)))
    ax.margins(x=0)
    titled(ax, None, "standard deviations from the mean", f"adds to the log odds of {shortened(classes[1])}")
    end_labels(ax, labels)
    if len(chosen) < len(mean):
        noted(ax, look, f"drawn: {len(chosen)} of {len(mean):,} columns")
    return ax


@checked
def partial_residuals(
    model: Any, X: Any, y: Any, *, column: Any = None, ax: Axes | None = None, style: str | None = None
) -> Axes:
    """What a column adds to the log odds of two classes, with partial residuals: is the line the right function of it?

    A partial residual is the column's term plus (y - p) / (p (1 - p)). Squares are their means over groups of rows,
    weighted by p (1 - p); where they leave the line in a bow, the column needs another term, such as its square.

    Parameters
    ----------
    model : fitted, with ``contributions`` and ``predict_proba``
    X, y : rows
    column : name or number, where X has several

    Examples
    --------
    >>> from discrim import LogisticRegression, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.partial_residuals(LogisticRegression().fit(X[50:], y[50:]), X[50:], y[50:], column=2)
    """
    classes = _two_classes(model, "Partial residuals")
    rows = points_of(X, y, classes=classes)
    j = one_column(column, rows)
    posterior = _posterior(model, X, rows)
    term = _term(model, X, rows.x.mean(axis=0), j, rows.x[:, j])
    p = np.clip(posterior[:, 1], 1e-6, 1 - 1e-6)
    weight = p * (1 - p)
    partial = term + ((rows.codes == 1) - p) / weight
    ax, look = canvas(ax, style)
    values = rows.x[:, j]
    for k in range(2):
        own = rows.codes == k
        ax.scatter(
            values[own], partial[own], s=12, marker=look.marker(k), color=look.colour(k), alpha=0.6, linewidths=0,
            rasterized=len(values) > RASTERISED, zorder=2,
        )  # fmt: skip
    order = np.argsort(values, kind="stable")
    ax.plot(values[order], term[order], color=look.ink, linewidth=1.8, zorder=3)
    for group in np.array_split(order, int(np.clip(np.sqrt(len(order)) / 1.5, 3, 25))):
        if len(group):
            at, height = (float(np.average(part[group], weights=weight[group])) for part in (values, partial))
            ax.plot([at], [height], "s", color=look.ink, markersize=4, zorder=4)
    outside = _view(ax, term, partial)
    titled(ax, None, rows.names[j], f"adds to the log odds of {shortened(classes[1])}")
    keyed(ax, look, class_keys(look, classes))
    said = ["squares: means of groups"]
    said += [f"{outside:,} residuals lie outside of the picture"] if outside else []
    said += [rows.sampled] if rows.sampled else []
    noted(ax, look, "; ".join(said))
    return ax


@checked
def quantile_residuals(
    model: Any, X: Any, y: Any, *, random_state: int = 0, ax: Axes | None = None, style: str | None = None
) -> Axes:
    """Randomised quantile residuals against the normal distribution: on the line where the probabilities are right.

    Dunn and Smyth's residual of a row of class k is the normal quantile of a number drawn evenly between the
    probability of the classes before k and that of those up to k. The band holds each ordered residual with
    probability 95%.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``, of two or more classes
    X, y : rows, better not those that the model was fitted to
    random_state : seed of the draws

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.quantile_residuals(LinearDiscriminantAnalysis().fit(X, y), X, y)
    """
    classes = fitted_classes(model)
    rows = points_of(X, y, classes=classes)
    if not rows.labelled:
        raise ParameterError("Residuals need labels: pass y as well.")
    posterior = _posterior(model, X, rows)
    after = np.cumsum(posterior, axis=1)[np.arange(len(rows.x)), rows.codes]
    own = posterior[np.arange(len(rows.x)), rows.codes]
    u = after - own * np.random.default_rng(random_state).uniform(size=len(own))
    residual = np.sort(special.ndtri(np.clip(u, 1e-12, 1 - 1e-12)))
    n = len(residual)
    rank = np.arange(1, n + 1)
    normal = special.ndtri((rank - 0.375) / (n + 0.25))
    low, high = (special.ndtri(special.betaincinv(rank, n + 1 - rank, q)) for q in (0.025, 0.975))
    ax, look = canvas(ax, style)
    ax.fill_between(normal, low, high, color=look.tint(6, 0.25), linewidth=0, zorder=0)
    ax.plot(normal[[0, -1]], normal[[0, -1]], color=look.muted, linewidth=1.0, zorder=1)
    ax.plot(normal, residual, ".", color=look.colour(0), markersize=5, zorder=2, rasterized=n > RASTERISED)
    titled(ax, None, "normal quantile", "quantile residual")
    p_value = float(stats.kstest(residual, "norm").pvalue)
    said = f"band: 95% of each; Kolmogorov-Smirnov p = {p_value:.3f}"
    noted(ax, look, said + (f"; {rows.sampled}" if rows.sampled else ""))
    return ax


@checked
def interaction(
    model: Any, X: Any, *, columns: Any, scale: Literal["probability", "link"] = "probability", ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """The probability of the second class along one column, a curve for each of several values of another.

    On the link scale the curves of a model without interaction are parallel. Other columns are held at their means.

    Parameters
    ----------
    model : fitted classifier of two classes with ``predict_proba``, also a pipeline that makes products of columns
    X : rows
    columns : two, by name or number: along which, and whose values
        The values are the 10%, 50% and 90% quantiles; of a column of up to five values, these.
    scale : 'probability' or 'link', the log odds

    Examples
    --------
    >>> from discrim import LogisticRegression, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.interaction(LogisticRegression().fit(X[50:], y[50:]), X[50:], columns=(2, 3))
    """
    classes = _two_classes(model, "Interactions")
    if scale not in {"probability", "link"}:
        raise ParameterError.bad_value("scale", scale, "'probability' or 'link'")
    rows = points_of(X, most=MOST_ROWS)
    pair = column_numbers(columns, rows.names)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise ParameterError.bad_value("columns", columns, "two different columns, by name or number")
    known = np.unique(rows.x[:, pair[1]])
    values = known if len(known) <= MOST_VALUES else np.quantile(rows.x[:, pair[1]], QUANTILES)
    along = rows.x[:, pair[0]]
    at = np.linspace(along.min(), along.max(), 161)
    ax, look = canvas(ax, style)
    labels = []
    for i, value in enumerate(values):
        x = np.tile(rows.x.mean(axis=0), (len(at), 1))
        x[:, pair[0]], x[:, pair[1]] = at, value
        posterior = answers_at(model, X, x).posterior
        if posterior is None:
            raise lacks(model, "method predict_proba")
        with np.errstate(divide="ignore"):
            height = special.logit(posterior[:, 1]) if scale == "link" else posterior[:, 1]
        ax.plot(at, height, color=look.colour(i), linestyle=DASHES[i % len(DASHES)], linewidth=1.8, zorder=2)
        labels.append((float(height[-1]), f"{shortened(rows.names[pair[1]], 12)} = {value:.3g}", look.colour(i)))
    ax.margins(x=0)
    name = shortened(classes[1])
    titled(ax, None, rows.names[pair[0]], f"log odds of {name}" if scale == "link" else f"P({name})")
    end_labels(ax, labels)
    if rows.x.shape[1] > 2:
        others = rows.x.shape[1] - 2
        noted(ax, look, f"The other {f'{others} columns are' if others > 1 else 'column is'} held at the mean.")
    return ax


def one_column(column: Any, rows: Points) -> int:
    """The column of a picture that shows one; which it is is never guessed."""
    if column is None:
        if len(rows.names) == 1:
            return 0
        raise ParameterError(
            f"X has {len(rows.names)} columns ({name_list(rows.names)}) and this picture shows one: say column=."
        )
    found = column_numbers(column, rows.names)
    if len(found) != 1:
        raise ParameterError.bad_value("column", column, "one column, by name or number")
    return found[0]


def _two_classes(model: Any, what: str) -> Any:
    classes = fitted_classes(model)
    if len(classes) != 2:
        raise ParameterError(f"{what} are drawn for two classes; the model has {name_list(classes.tolist())}.")
    return classes


def _posterior(model: Any, X: Any, rows: Points) -> Floats:
    posterior = answers_at(model, X, rows.x).posterior
    if posterior is None:
        raise lacks(model, "method predict_proba")
    return posterior


def _term(model: Any, X: Any, mean: Floats, j: int, at: Floats) -> Floats:
    """What column j adds to the log odds of the second class at these values, and not at its mean."""
    if not hasattr(model, "contributions"):
        raise lacks(model, "terms of its columns (contributions)", ADDITIVE)
    x = np.tile(mean, (1 + len(at), 1))
    x[1:, j] = at
    try:
        parts = np.asarray(model.contributions(alike(X, x)))
    except DataError as error:
        raise lacks(model, "terms of its columns", ADDITIVE) from error
    if parts.shape[2] != x.shape[1]:
        raise ParameterError(f"The model made {parts.shape[2]} columns of {x.shape[1]}; pass those that it made.")
    others = np.delete(parts, j, axis=2)
    if not np.allclose(others, others[0], atol=1e-9 * float(np.abs(parts).max())):
        raise lacks(
            model, "terms of its columns, since what one adds depends on others",
            f"{ADDITIVE} Draw plots.effect or plots.interaction.",
        )  # fmt: skip
    added = parts[:, 1, j] - parts[:, 0, j]
    return np.asarray(added[1:] - added[0])


def _view(ax: Axes, term: Floats, partial: Floats) -> int:
    """Limits that hold the line and nine in ten residuals; how many lie outside."""
    low, high = np.quantile(partial, [0.05, 0.95])
    low, high = min(low, term.min()), max(high, term.max())
    room = 0.25 * (high - low) or 1.0
    ax.set_ylim(low - room, high + room)
    return int(((partial < low - room) | (partial > high + room)).sum())
