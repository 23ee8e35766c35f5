"""Probabilities of a class along a column, and what residuals say of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import special

from discrim.errors import DiscrimError, ParameterError, name_list
from discrim.plots.coordinates import answers_at
from discrim.plots.diagnostics import one_column
from discrim.plots.given import checked
from discrim.plots.labels import label_points
from discrim.plots.rows import (
    MOST_POINTS,
    RASTERISED,
    Points,
    fitted_classes,
    lacks,
    points_of,
    sample,
)
from discrim.plots.scatter import class_keys, curve_of_class
from discrim.plots.style import canvas, keyed, noted, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows that are named in a picture of influence.
NAMED = 5
# Pearson residuals beyond which the scale is logarithmic.
FAR = 30.0


@checked
def effect(
    model: Any, X: Any, y: Any = None, *, column: Any = None, scale: Literal["probability", "link"] = "probability",
    level: float = 0.95, ax: Axes | None = None, style: str | None = None,
) -> Axes:  # fmt: skip
    """The probability of the classes along one column, others held at their means: a curve with rug and band.

    For two classes the curve is that of the second; the labels y stand as ticks at 0 and 1. A logistic regression that
    was fitted by maximum likelihood has a band of pointwise Wald intervals.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``
    X, y : rows; y may be left out
    column : name or number, where X has several
    scale : 'probability', or 'link' for log odds (two classes), where a logistic regression is a straight line
    level : of the band

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import LogisticRegression, datasets, plots
    >>> X, y = datasets.load_challenger().xy
    >>> axes = plots.effect(LogisticRegression(C=np.inf).fit(X, y), X, y)
    """
    classes = fitted_classes(model)
    if not hasattr(model, "predict_proba"):
        raise lacks(model, "method predict_proba")
    if scale not in {"probability", "link"} or (scale == "link" and len(classes) != 2):
        raise ParameterError.bad_value("scale", scale, "'probability', or 'link' for two classes")
    rows = points_of(X, y, classes=classes)
    j = one_column(column, rows)
    ax, look = canvas(ax, style)
    reach = 0.05 * (np.ptp(rows.x[:, j]) or 1.0)
    at = np.linspace(rows.x[:, j].min() - reach, rows.x[:, j].max() + reach, 241)
    x = np.tile(rows.x.mean(axis=0), (len(at), 1))
    x[:, j] = at
    posterior = answers_at(model, X, x).posterior
    assert posterior is not None
    if len(classes) > 2:
        for k in range(len(classes)):
            ax.plot(at, posterior[:, k], linewidth=1.8, **curve_of_class(look, k, len(classes)))
        _rug(ax, look, rows, j, len(classes))
        keyed(ax, look, class_keys(look, classes))
        ax.set_ylim(0, 1.02)
        titled(ax, None, rows.names[j], "probability")
    else:
        turn = special.logit if scale == "link" else np.asarray
        band = _band(model, x, level)
        if band is not None:
            low, high = band if scale == "link" else (special.expit(band[0]), special.expit(band[1]))
            ax.fill_between(at, low, high, color=look.tint(0), linewidth=0, zorder=1)
        with np.errstate(divide="ignore"):
            ax.plot(at, turn(posterior[:, 1]), color=look.ink, linewidth=1.8, zorder=3)
        middle = 0.0 if scale == "link" else 0.5
        ax.axhline(middle, color=look.line, linewidth=0.9, zorder=0)
        if scale == "probability":
            _ticks(ax, look, rows, j)
            ax.set_ylim(-0.06, 1.06)
        titled(ax, None, rows.names[j], f"log odds of {classes[1]}" if scale == "link" else f"P({classes[1]})")
        if rows.labelled and scale == "probability":
            keyed(ax, look, class_keys(look, classes))
    others = rows.x.shape[1] - 1
    said = [f"{rows.sampled}."] if rows.sampled else []
    if others:
        said.insert(0, f"The other {f'{others} columns are' if others > 1 else 'column is'} held at the mean.")
    if said:
        noted(ax, look, " ".join(said))
    ax.margins(x=0)
    return ax


@checked
def residuals(model: Any, X: Any, y: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Deviance residuals of two classes against the log odds, with means of groups, which should be near zero.

    A residual is sign(y - p) sqrt(-2 log P(true class)). Each mean of a group has an interval of two standard errors:
    where many of them miss zero, the log odds are not the right function of the columns.

    Examples
    --------
    >>> from discrim import LogisticRegression, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> axes = plots.residuals(LogisticRegression().fit(X[50:], y[50:]), X[50:], y[50:])
    """
    classes = fitted_classes(model)
    if len(classes) != 2:
        raise ParameterError(f"Residuals are drawn for two classes; the model has {name_list(classes.tolist())}.")
    if not hasattr(model, "predict_proba"):
        raise lacks(model, "method predict_proba")
    rows = points_of(X, y, classes=classes)
    p = np.clip(np.asarray(answers_at(model, X, rows.x).posterior)[:, 1], 1e-15, 1 - 1e-15)
    truth = rows.codes == 1
    residual = np.where(truth, np.sqrt(-2 * np.log(p)), -np.sqrt(-2 * np.log1p(-p)))
    odds = special.logit(p)
    ax, look = canvas(ax, style)
    for k in range(2):
        own = rows.codes == k
        ax.scatter(
            odds[own], residual[own], s=12, marker=look.marker(k), color=look.colour(k), alpha=0.6, linewidths=0,
            rasterized=len(odds) > RASTERISED, zorder=2,
        )  # fmt: skip
    ax.axhline(0, color=look.muted, linewidth=0.8, zorder=1)
    groups = np.array_split(np.argsort(odds), int(np.clip(np.sqrt(len(odds)) / 1.5, 3, 25)))
    gap = np.where(truth, 1 - p, -p)
    for group in groups:
        if len(group) > 1:
            # On the scale of the residuals, whose own mean is not zero: Pearson's are, where the model holds.
            pearson = gap[group].sum() / np.sqrt((p[group] * (1 - p[group])).sum())
            ax.errorbar(
                odds[group].mean(), pearson, 2.0, color=look.ink, fmt="s", markersize=4, elinewidth=1.0, zorder=4,
                alpha=0.9,
            )  # fmt: skip
    titled(ax, None, f"log odds of {classes[1]}", "deviance residual")
    keyed(ax, look, class_keys(look, classes))
    remark = "squares: standardised mean of a group, +- 2; should cover 0"
    noted(ax, look, remark + (f". {rows.sampled}" if rows.sampled else ""))
    return ax


@checked
def influence(model: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Leverage against Pearson residuals; areas are Cook's distances, and the five largest have their row numbers.

    For models with ``leverage()``, ``residuals()`` and ``cooks_distance()``, as logistic regression has them.

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import LogisticRegression, datasets, plots
    >>> X, y = datasets.load_challenger().xy
    >>> len(plots.influence(LogisticRegression(C=np.inf).fit(X, y)).texts)
    6
    """
    needed = ("leverage", "residuals", "cooks_distance")
    if not all(callable(getattr(model, name, None)) for name in needed):
        raise lacks(model, "leverage, residuals and Cook's distances", "A fitted logistic regression has them.")
    leverage, residual = np.asarray(model.leverage()), np.asarray(model.residuals("pearson"))
    cook = np.asarray(model.cooks_distance())
    residual = residual if residual.ndim == 1 else np.sqrt((residual**2).sum(axis=1))
    finite = np.isfinite(residual) & np.isfinite(cook)
    place = np.flatnonzero(finite)
    largest = place[np.argsort(-cook[place], kind="stable")][:NAMED]
    shown = np.union1d(place[sample(len(place), MOST_POINTS)], largest)
    ax, look = canvas(ax, style)
    area = 8 + 220 * cook[shown] / max(float(cook[place].max()), 1e-300)
    ax.scatter(
        leverage[shown], residual[shown], s=area, color=look.colour(0), alpha=0.5, linewidths=0.4, edgecolors=look.face,
        rasterized=len(shown) > RASTERISED, zorder=2,
    )  # fmt: skip
    ax.axhline(0, color=look.muted, linewidth=0.8, zorder=1)
    ax.set_xlim(left=0)
    ax.margins(x=0.12, y=0.14)
    if np.abs(residual[shown]).max() > FAR:
        # A row that the model held for impossible would flatten all others.
        ax.set_yscale("symlog", linthresh=3.0)
    label_points(ax, look, np.column_stack([leverage, residual])[largest], [f"{i}" for i in largest])
    titled(ax, None, "leverage", "Pearson residual")
    remark = f"area: Cook's distance, largest {cook[place].max():.3g}; numbers: rows, from 0"
    noted(
        ax, look, remark + (f"; {len(shown):,} of {len(leverage):,} rows drawn" if len(shown) < len(leverage) else "")
    )
    return ax


def _band(model: Any, x: Floats, level: float) -> tuple[Floats, Floats] | None:
    """Ends of pointwise intervals of the log odds, where the model knows the covariance of its coefficients."""
    if not 0 < level < 1:
        raise ParameterError.bad_value("level", level, "a number between 0 and 1, such as 0.95")
    try:
        covariance, summary = np.asarray(model.vcov, dtype=float), model.summary()
        coef = np.asarray(summary.coef, dtype=float)
    except (DiscrimError, AttributeError, TypeError, ValueError):
        return None
    design = np.column_stack([np.ones(len(x)), x]) if len(coef) == x.shape[1] + 1 else x
    if design.shape[1] != len(coef) or not np.isfinite(covariance).all() or not np.isfinite(coef).all():
        return None
    eta = design @ coef
    half = float(special.ndtri(0.5 * (1 + level))) * np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design))
    return eta - half, eta + half


def _ticks(ax: Axes, look: Any, rows: Points, j: int) -> None:
    """Rows as ticks at 0 and 1, by label."""
    if not rows.labelled:
        return
    for k in range(2):
        values = rows.x[rows.codes == k, j]
        ax.plot(
            values, np.full(len(values), -0.03 if k == 0 else 1.03), "|", color=look.colour(k), markersize=9,
            markeredgewidth=1.2, alpha=0.7, rasterized=len(values) > RASTERISED, zorder=4,
        )  # fmt: skip


def _rug(ax: Axes, look: Any, rows: Points, j: int, size: int) -> None:
    if rows.labelled:
        for k in range(size):
            values = rows.x[rows.codes == k, j]
            ax.plot(
                values, np.full(len(values), 0.012 + min(0.022, 0.2 / size) * k), "|", color=look.colour(k),
                markersize=5, alpha=0.6, rasterized=len(values) > RASTERISED,
            )  # fmt: skip
