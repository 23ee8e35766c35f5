"""How well models predict: ROC, precision and recall, confusion, calibration, costs, rejection, learning, comparison.

The functions take what ``discrim.roc`` and its relatives give, one or several by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from discrim.errors import DiscrimError, ParameterError, plural
from discrim.plots.boundaries import DASHES, line_of, named_models
from discrim.plots.given import checked, names_in, numbers_in
from discrim.plots.lettering import all_shortened, shortened
from discrim.plots.rows import lacks
from discrim.plots.style import SMALL, WIDTH, Look, canvas, end_labels, halo, keyed, mixed, noted, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Corners of a curve that are drawn; of more, an even part that nobody can tell from all.
MOST_CORNERS = 1500
# Curves that have a band of their own: more would hide each other.
MOST_BANDS = 2
# Curves with a colour and a name.
MOST_CURVES = 6
MOST_CELLS = 12
SQUARE = (4.6, 4.5)
# A share of positives below which its name stands above its line.
LOW = 0.08
# Points that the name of a class takes along an axis.
ROW = 10.0
# Rows are answered in the order of their certainty: the error of the first few is left to chance.
FIRST = 0.02


@checked
def roc(
    curves: Any, *, band: bool = True, formats: Mapping[str, str] | None = None, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """ROC curves with their areas, and a pointwise 95% band where there are one or two curves without weights.

    Of more than six curves the others are grey.

    Parameters
    ----------
    curves : what ``discrim.roc`` gives, or a dict of name to such curves
    band : bool, bootstrap within classes, 2,000 draws
    formats : of lines by name, {"LDA": "k-", "QDA": "C1--"}, as in ``borders``

    Cost: that of the band, some 20 ms a curve.

    Examples
    --------
    >>> import discrim
    >>> curve = discrim.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> discrim.plots.roc({"toy": curve}).get_legend().get_texts()[0].get_text()
    'toy: AUC 0.750'
    """
    named = _having(named_models(curves), ("fpr", "tpr", "auc"), "fpr, tpr and auc", "Pass what discrim.roc gives.")
    ax, look = canvas(ax, style, SQUARE)
    ax.plot([0, 1], [0, 1], color=look.line, linewidth=1.0, zorder=1)
    keys = []
    _draw_rest(ax, look, named, ("fpr", "tpr"))
    for i, (name, curve) in list(enumerate(named.items()))[:MOST_CURVES]:
        colour, dash = line_of(look, formats, name, (look.colour(i), DASHES[i % len(DASHES)]))
        if band and len(named) <= MOST_BANDS:
            _roc_band(ax, look, curve, colour)
        fpr, tpr = thinned(curve.fpr, curve.tpr)
        ax.plot(fpr, tpr, color=colour, linestyle=dash, linewidth=1.8, zorder=3)
        label = f"{shortened(name, 22)}: AUC {curve.auc:.3f}" if name else _area_said(curve)
        keys.append(Line2D([], [], color=colour, linestyle=dash, linewidth=1.8, label=label))
    _unit_square(ax)
    titled(ax, None, "false positive rate", "true positive rate")
    keyed(ax, look, keys, inside="lower right")
    return ax


@checked
def precision_recall(curves: Any, *, band: bool = True, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Precision against recall, with the precision of a score that knows nothing, which is the share of positives.

    ``curves`` are what ``discrim.evaluation.precision_recall`` gives, one or several by name; ``band`` draws pointwise
    Wilson intervals where there are one or two.

    Examples
    --------
    >>> import discrim
    >>> curve = discrim.evaluation.precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> axes = discrim.plots.precision_recall(curve)
    """
    named = _having(
        named_models(curves), ("precision", "recall", "average_precision"), "precision and recall",
        "Pass what discrim.evaluation.precision_recall gives.",
    )  # fmt: skip
    ax, look = canvas(ax, style, SQUARE)
    keys = []
    _draw_rest(ax, look, named, ("recall", "precision"))
    for i, (name, curve) in list(enumerate(named.items()))[:MOST_CURVES]:
        colour, dash = look.colour(i), DASHES[i % len(DASHES)]
        place = _even(len(curve.recall))
        recall = np.concatenate([[0.0], np.asarray(curve.recall)[place]])
        precision = np.asarray(curve.precision)[place]
        if band and len(named) <= MOST_BANDS and hasattr(curve, "band"):
            low, high = (np.asarray(end)[place] for end in curve.band())
            ax.fill_between(recall[1:], low, high, color=look.tint(i), alpha=0.7, linewidth=0, step="pre", zorder=1)
        ax.step(
            recall, np.concatenate([precision[:1], precision]), where="pre", color=colour, linestyle=dash,
            linewidth=1.8, zorder=3,
        )  # fmt: skip
        label = f"{shortened(name, 20) + ': ' if name else ''}average precision {curve.average_precision:.3f}"
        keys.append(Line2D([], [], color=colour, linestyle=dash, linewidth=1.8, label=label))
    prevalence = getattr(next(iter(named.values())), "prevalence", None)
    if prevalence is not None:
        ax.axhline(prevalence, color=look.line, linewidth=1.0, zorder=1)
        low = prevalence < LOW
        ax.annotate(
            f"share of positives, {prevalence:.2g}", (0.98, prevalence), xytext=(0, 14 if low else -3),
            textcoords="offset points", ha="right", va="bottom" if low else "top", fontsize=SMALL, color=look.muted,
            path_effects=halo(look), zorder=5,
        )  # fmt: skip
    _unit_square(ax)
    titled(ax, None, "recall", "precision")
    keyed(ax, look, keys)
    return ax


@checked
def confusion(table: Any, classes: Any = None, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """A confusion matrix: true classes down, answers across; counts, and shades by the share of the true class.

    Parameters
    ----------
    table : what ``discrim.confusion`` gives, or K x K counts with the true classes as rows
    classes : K labels, where the table has none

    Examples
    --------
    >>> import discrim
    >>> axes = discrim.plots.confusion(discrim.confusion(["a", "a", "b"], ["a", "b", "b"]))
    >>> [text.get_text() for text in axes.texts]
    ['1', '1', '0', '1']
    """
    counts = numbers_in("table", getattr(table, "table", table), "K x K counts, or what discrim.confusion gives")
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size or (counts < 0).any():
        raise ParameterError(
            f"A confusion matrix has as many rows as columns; this table has the shape {counts.shape}."
        )
    known = getattr(table, "classes", classes)
    labels = [str(label) for label in (range(len(counts)) if known is None else names_in("classes", known))]
    if len(labels) != len(counts):
        raise ParameterError(f"There are {len(labels)} classes for a table of {len(counts)} rows.")
    size = len(counts)
    ax, look = canvas(ax, style, (WIDTH, WIDTH) if size > 5 else (4.4, 3.9))
    total = counts.sum(axis=1, keepdims=True)
    share = counts / np.where(total > 0, total, 1.0)
    image = np.array([[mixed(look.colour(0 if i == j else 1), look.face, 0.85 * share[i, j] ** 0.7)
                       for j in range(size)] for i in range(size)])  # fmt: skip
    ax.imshow(image, interpolation="nearest", zorder=0)
    if size <= MOST_CELLS:
        for i in range(size):
            for j in range(size):
                deep = 0.85 * share[i, j] ** 0.7 > 0.55
                ax.text(
                    j, i, f"{counts[i, j]:,.0f}" if counts[i, j] == round(counts[i, j]) else f"{counts[i, j]:.3g}",
                    ha="center", va="center", fontsize=SMALL if size > 6 else SMALL + 1,
                    color=look.face if deep else look.ink,
                )  # fmt: skip
    room = 10 if size > 5 else 14
    turned = max(map(len, labels)) * size > 40
    short = all_shortened(labels, room)
    every = int(np.ceil(size * ROW / (0.7 * ax.figure.get_figwidth() * 72)))  # type: ignore[union-attr]
    named = range(0, size, every)
    ax.set_xticks(named, short[::every], rotation=90 if turned else 0)
    ax.set_yticks(named, short[::every])
    ax.set_anchor("NW")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    shades = "" if size <= MOST_CELLS else "; shades: share of the true class"
    wrong = 1 - np.trace(counts) / counts.sum() if counts.any() else np.nan
    thinned_out = f"; one in {every} is named" if every > 1 else ""
    titled(ax, f"{wrong:.1%} wrong of {counts.sum():,.0f}{shades}{thinned_out}", "answer", "true class")
    return ax


@checked
def calibration(curves: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Observed frequencies against predicted probabilities, with intervals; on the diagonal probabilities are right.

    ``curves`` are what ``discrim.evaluation.calibration`` gives, one or several by name. Larger points stand for more
    rows.

    Examples
    --------
    >>> import discrim
    >>> curve = discrim.evaluation.calibration([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], bins=2)
    >>> axes = discrim.plots.calibration(curve)
    """
    named = _having(
        named_models(curves), ("predicted", "observed", "lower", "upper", "weight"), "predicted and observed",
        "Pass what discrim.evaluation.calibration gives.",
    )  # fmt: skip
    ax, look = canvas(ax, style, SQUARE)
    ax.plot([0, 1], [0, 1], color=look.muted, linewidth=0.9, zorder=1)
    keys = []
    for i, (name, curve) in enumerate(named.items()):
        predicted, observed = np.asarray(curve.predicted), np.asarray(curve.observed)
        below, above = np.maximum(observed - curve.lower, 0), np.maximum(curve.upper - observed, 0)
        ax.errorbar(
            predicted, observed, [below, above], color=look.colour(i), linewidth=1.2, elinewidth=1.0, linestyle="-",
            zorder=3,
        )  # fmt: skip
        area = 12 + 70 * np.asarray(curve.weight) / np.max(curve.weight)
        ax.scatter(predicted, observed, s=area, color=look.colour(i), marker=look.marker(i), zorder=4, linewidths=0)
        label = f"{shortened(name, 20) + ': ' if name else ''}mean distance {curve.error:.3f}"
        keys.append(Line2D([], [], color=look.colour(i), marker=look.marker(i), markersize=5, label=label))
    _unit_square(ax)
    titled(ax, None, "predicted probability", "observed frequency")
    keyed(ax, look, keys)
    return ax


@checked
def threshold_costs(
    curve: Any, *, costs: tuple[float, float] = (1.0, 1.0), ax: Axes | None = None, style: str | None = None
) -> Axes:
    """The mean cost at every threshold of a score, with its two parts; the cheapest threshold is marked.

    Parameters
    ----------
    curve : what ``discrim.roc`` gives
    costs : of a false positive and of a false negative

    Examples
    --------
    >>> import discrim
    >>> curve = discrim.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> axes = discrim.plots.threshold_costs(curve, costs=(1, 5))
    """
    named = _having({"": curve}, ("fpr", "tpr", "thresholds", "n_positive", "n_negative"), "thresholds of a score",
                    "Pass what discrim.roc gives.")  # fmt: skip
    curve = named[""]
    false_positive, false_negative = _two_costs(costs)
    share = curve.n_positive / (curve.n_positive + curve.n_negative)
    at = np.asarray(curve.thresholds, dtype=float)[1:]
    alarms = false_positive * (1 - share) * np.asarray(curve.fpr)[1:]
    misses = false_negative * share * (1 - np.asarray(curve.tpr)[1:])
    total = alarms + misses
    best = int(total.argmin())
    ax, look = canvas(ax, style)
    place = _even(len(at), keep=best)
    for values, name, k, width in (
        (alarms, "false positives", 0, 1.3), (misses, "false negatives", 1, 1.3), (total, "together", 2, 2.0)
    ):  # fmt: skip
        colour = look.ink if k == 2 else look.colour(k)
        ax.plot(at[place], values[place], color=colour, linewidth=width, linestyle=DASHES[(k + 1) % 3], label=name)
    least = f"least: {total[best]:.3g} at {at[best]:.3g}"
    ax.plot(at[best], total[best], "o", color=look.ink, markersize=6, zorder=5, label=least)
    ax.set_ylim(0, 1.08 * max(total.max(), 1e-12))
    ax.margins(x=0.02)
    titled(ax, None, "threshold: positive where the score is at least this", "mean cost of a row")
    keyed(ax, look)
    return ax


@checked
def cost_curves(curves: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Drummond and Holte's cost curves: the expected cost of the best threshold, whatever classes and errors weigh.

    Across stands p C(-|+) / (p C(-|+) + (1 - p) C(+|-)) for the share p of positives; up the expected cost divided by
    that of having everything wrong. Below the grey triangle a rule is better than always the same answer.

    Examples
    --------
    >>> import discrim
    >>> curve = discrim.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> axes = discrim.plots.cost_curves({"toy": curve})
    """
    named = _having(named_models(curves), ("fpr", "tpr"), "fpr and tpr", "Pass what discrim.roc gives.")
    ax, look = canvas(ax, style)
    across = np.linspace(0, 1, 201)
    trivial = np.minimum(across, 1 - across)
    ax.fill_between(across, trivial, 0.55, color=look.line, alpha=0.5, linewidth=0, zorder=0)
    for i, (name, curve) in enumerate(named.items()):
        place = _even(len(curve.fpr))
        fpr, fnr = np.asarray(curve.fpr)[place, None], 1 - np.asarray(curve.tpr)[place, None]
        cost = (fnr * across + fpr * (1 - across)).min(axis=0)
        ax.plot(across, cost, color=look.colour(i), linestyle=DASHES[i % len(DASHES)], linewidth=1.8, label=name)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 0.55)
    titled(ax, None, "weight of the positives", "expected cost (share of the largest)")
    keyed(ax, look, None if any(named) else [])
    noted(ax, look, "grey: no better than always the same answer")
    return ax


@checked
def rejection(
    curves: Any, *, reject_cost: float | None = None, ax: Axes | None = None, style: str | None = None
) -> Axes:
    """Error among the rows that are answered, against the share of rows that is: the surest rows come first.

    ``curves`` are what ``discrim.decision.accuracy_rejection`` gives, one or several by name. ``reject_cost`` marks
    where the mean cost is least, with 1 for an error and this for no answer.

    Examples
    --------
    >>> import discrim
    >>> curve = discrim.decision.accuracy_rejection([0, 0, 1], [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> axes = discrim.plots.rejection(curve, reject_cost=0.2)
    """
    named = _having(named_models(curves), ("coverage", "accuracy", "thresholds"), "coverage and accuracy",
                    "Pass what discrim.decision.accuracy_rejection gives.")  # fmt: skip
    ax, look = canvas(ax, style)
    highest = 0.0
    for i, (name, curve) in enumerate(named.items()):
        place = _even(len(curve.coverage))
        coverage, error = np.asarray(curve.coverage)[place], 1 - np.asarray(curve.accuracy)[place]
        ax.plot(coverage, error, color=look.colour(i), linestyle=DASHES[i % len(DASHES)], linewidth=1.8, label=name)
        highest = max(highest, float(error[coverage >= FIRST].max()))
        if reject_cost is not None:
            best = int(np.argmin(coverage * error + reject_cost * (1 - coverage)))
            ax.plot(coverage[best], error[best], "o", color=look.colour(i), markersize=6, zorder=5)
            ax.annotate(
                f"{coverage[best]:.0%} answered", (coverage[best], error[best]), xytext=(0, 8),
                ha="right" if coverage[best] > 0.5 else "left", textcoords="offset points", fontsize=SMALL,
                color=look.ink, path_effects=halo(look),
            )  # fmt: skip
    ax.set_xlim(0, 1.01)
    ax.set_ylim(0, 1.15 * highest or 1.0)
    titled(ax, None, "share of rows that are answered", "error among these")
    keyed(ax, look, None if any(named) else [])
    if reject_cost is not None:
        noted(ax, look, f"points: least mean cost where no answer costs {reject_cost:g} and an error 1")
    return ax


@checked
def learning_curve(curves: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Errors against the number of training rows: out of fold (solid) and on the training rows (dashed).

    ``curves`` are what ``discrim.evaluation.learning_curve`` gives, one or several by name; bands are one standard
    error.

    Examples
    --------
    >>> import discrim
    >>> X, y = discrim.datasets.load_iris().xy
    >>> curve = discrim.evaluation.learning_curve(discrim.LinearDiscriminantAnalysis(), X, y)
    >>> axes = discrim.plots.learning_curve(curve)
    """
    named = _having(named_models(curves), ("sizes", "train_error", "test_error"), "sizes and errors",
                    "Pass what discrim.evaluation.learning_curve gives.")  # fmt: skip
    ax, look = canvas(ax, style)
    labels = []
    for i, (name, curve) in enumerate(named.items()):
        sizes = np.asarray(curve.sizes, dtype=float)
        spread = getattr(curve, "test_std_error", None)
        if spread is not None and len(named) <= MOST_BANDS:
            ax.fill_between(
                sizes, curve.test_error - spread, curve.test_error + spread, color=look.tint(i), linewidth=0, zorder=1
            )
        ax.plot(sizes, curve.test_error, "o-", color=look.colour(i), markersize=3.5, linewidth=1.8, zorder=3)
        ax.plot(sizes, curve.train_error, "--", color=look.colour(i), linewidth=1.2, zorder=2)
        ends = zip((curve.test_error, curve.train_error), ("out of fold", "training"), strict=True)
        labels += [
            (float(e[-1]), f"{shortened(name, 14) + ', ' if name else ''}{what}", look.colour(i)) for e, what in ends
        ]
    ax.set_xscale("log")
    _plain_log(ax)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    titled(ax, None, "training rows", "error")
    end_labels(ax, labels)
    return ax


@checked
def compared(comparison: Any, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """The models of a comparison by out-of-fold error, with 95% intervals; the chosen one is filled.

    Models in grey are significantly worse than the best, or a reference that is never chosen. ``comparison`` is what
    ``discrim.compare`` gives, or has ``rows`` with name, error and error_interval.

    Examples
    --------
    >>> from discrim import compare, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> plots.compared(compare(X, y, models=["LDA", "QDA"], cv=3)).get_xlabel()
    'out-of-fold error, 95% interval'
    """
    rows = [row for row in getattr(comparison, "rows", ()) if not np.isnan(getattr(row, "error", np.nan))]
    if not rows:
        raise lacks(comparison, "models with errors (rows)", "Pass what discrim.compare gives.")
    chosen = getattr(comparison, "chosen", None)
    ax, look = canvas(ax, style, (WIDTH, 1.1 + 0.27 * len(rows)))
    for i, row in enumerate(rows):
        same = bool(getattr(row, "indistinguishable", False)) or row.name == chosen
        colour = look.colour(0) if same else look.muted
        ax.hlines(i, *row.error_interval, color=colour, linewidth=1.6, zorder=2)
        ax.plot(
            row.error, i, "o", color=colour, markersize=7 if row.name == chosen else 5, zorder=3,
            markerfacecolor=colour if row.name == chosen else look.face,
        )  # fmt: skip
    remarks = [
        " (chosen)" if row.name == chosen else " (reference)" if getattr(row, "role", "") == "reference" else ""
        for row in rows
    ]
    short = all_shortened([row.name for row in rows], 24)
    names = [name + remark for name, remark in zip(short, remarks, strict=True)]
    ax.set_yticks(range(len(rows)), names, fontsize=SMALL)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}" if round(100 * value, 6) % 1 == 0 else f"{value:.1%}")
    titled(ax, None, "out-of-fold error, 95% interval")
    noted(ax, look, "grey: significantly worse than the best, or never chosen")
    return ax


@checked
def lines(
    series: Any, *, x: str | None = None, y: str | None = None, log: bool = False, ax: Axes | None = None,
    style: str | None = None,
) -> Axes:  # fmt: skip
    """Curves by name, each with its name at the right end: errors over a setting, coefficients by step, any numbers.

    Parameters
    ----------
    series : dict of name to (places, values), or to values alone, whose places are 0, 1, ...; NaN leaves a gap
    x, y : names of the axes
    log : draw the places on a logarithmic scale

    Examples
    --------
    >>> from discrim import plots
    >>> axes = plots.lines({"training": ([1, 2, 3], [0.3, 0.2, 0.1]), "test": ([1, 2, 3], [0.4, 0.3, 0.3])}, y="error")
    """
    named = {name: _places(name, value) for name, value in named_models(series).items()}
    ax, look = canvas(ax, style)
    labels = []
    for i, (name, (at, values)) in enumerate(named.items()):
        ax.plot(
            at, values, color=look.colour(i), linestyle=DASHES[i % len(DASHES)], linewidth=1.7,
            marker=look.marker(i) if len(at) <= 40 else "", markersize=4, zorder=2,
        )  # fmt: skip
        finite = np.flatnonzero(np.isfinite(values))
        if name and len(finite):
            labels.append((float(values[finite[-1]]), shortened(name, 20), look.colour(i)))
    if log:
        ax.set_xscale("log")
    elif all((at == np.round(at)).all() for at, _ in named.values()):
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    titled(ax, None, x, y)
    end_labels(ax, labels)
    return ax


def _places(name: str, value: Any) -> tuple[Floats, Floats]:
    """Two lists of numbers of equal length."""
    pair = value if isinstance(value, tuple) and len(value) == 2 else (np.arange(np.size(value)), value)
    try:
        at, values = (np.asarray(part, dtype=float) for part in pair)
    except (TypeError, ValueError):
        at = values = np.empty((0, 0))
    if at.ndim != 1 or at.shape != values.shape or not len(at):
        raise ParameterError(f"The series {name!r} must be numbers, or places and values of equal length.")
    place = _even(len(at))
    return at[place], values[place]


def thinned(x: Any, y: Any) -> tuple[Floats, Floats]:
    """At most MOST_CORNERS points of a curve of which both coordinates grow, evenly along it."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) <= MOST_CORNERS:
        return x, y
    way = x + y
    place = np.searchsorted(way, np.linspace(way[0], way[-1], MOST_CORNERS))
    place = np.unique(np.minimum(place, len(x) - 1))
    return x[place], y[place]


def _even(count: int, keep: int = 0) -> Any:
    """Places of at most MOST_CORNERS of so many points, the last and ``keep`` among them."""
    return np.unique(np.append(np.linspace(0, count - 1, min(count, MOST_CORNERS)).round().astype(int), keep))


def _having(named: dict[str, Any], needed: tuple[str, ...], what: str, instead: str) -> dict[str, Any]:
    for curve in named.values():
        if not all(hasattr(curve, name) for name in needed):
            raise lacks(curve, what, instead)
    return named


def _two_costs(costs: Any) -> tuple[float, float]:
    values = np.ravel(numbers_in("costs", costs, "two numbers: of a false positive, of a false negative"))
    if len(values) != 2 or not (values >= 0).all() or not values.any() or not np.isfinite(values).all():
        raise ParameterError.bad_value(
            "costs", costs, "two numbers of at least 0: of a false positive, of a false negative"
        )
    return float(values[0]), float(values[1])


def _roc_band(ax: Axes, look: Look, curve: Any, colour: str) -> None:
    try:
        specificity, low, high = curve.band()
    except (DiscrimError, AttributeError):  # weighted rows, or a curve of another library
        return
    ax.fill_between(1 - specificity, low, high, color=mixed(colour, look.face, 0.24), alpha=0.7, linewidth=0, zorder=1)


def _area_said(curve: Any) -> str:
    try:
        low, high = curve.auc_ci()
    except (DiscrimError, AttributeError):
        return f"AUC {curve.auc:.3f}"
    return f"AUC {curve.auc:.3f} ({low:.3f} to {high:.3f})"


def _draw_rest(ax: Axes, look: Look, named: dict[str, Any], of: tuple[str, str]) -> None:
    """Curves after the first few: grey and without a name of their own, so that the first can be distinguished."""
    rest = list(named.values())[MOST_CURVES:]
    for curve in rest:
        place = _even(len(getattr(curve, of[0])))
        across, up = (np.asarray(getattr(curve, each))[place] for each in of)
        ax.plot(across, up, color=look.muted, alpha=0.6, linewidth=0.8, zorder=2)
    if rest:
        noted(ax, look, f"grey: {plural(len(rest), 'further curve')}")


def _unit_square(ax: Axes) -> None:
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_aspect("equal", adjustable="box", anchor="NW")


def _plain_log(ax: Axes) -> None:
    """Ticks that are plain numbers: 20, 50, 100."""
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
