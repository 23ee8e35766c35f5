"""Where a model decides for which class, in a plane of two columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from discrim.errors import ParameterError
from discrim.plots.given import checked
from discrim.plots.lettering import shortened
from discrim.plots.rows import Points, alike, fitted_classes, lacks, points_of, two_columns
from discrim.plots.scatter import class_keys, scatter_classes
from discrim.plots.style import Look, canvas, keyed, noted, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Others = Literal["hold", "marginal"]
# Points of the grid along each axis; and rows over which other columns are averaged.
GRID = 200
AVERAGED, COARSE = 40, 100
MOST_NUMBERS = 10_000_000
HATCHES = ("////", "xxxx", "....")
# Colour and dashes, as matplotlib writes them.
FORMAT = re.compile(r"(k|C\d+|)(--|-\.|-|:|)")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


@checked
def regions(
    model: Any, X: Any, y: Any = None, *, columns: Any = None, others: Others | None = None,
    shade: Literal["class", "posterior"] = "class", ax: Axes | None = None, style: str | None = None,
) -> Axes:  # fmt: skip
    """Which class the fitted model answers at every point of a plane, with the rows X.

    Answers that are no class, such as those of a scheme where several models or none say yes, are hatched and named.

    Parameters
    ----------
    model : fitted classifier, of any library
    X, y : the rows to draw; y may be left out
    columns : the two columns of the plane, by name or number, where X has more
    others : what the model is given for the other columns
        'hold': the mean of each over X; 'marginal': the average answer over rows of X with their own values.
    shade : 'class' fills regions evenly; 'posterior' the deeper, the surer the model is

    Cost: 40,000 predictions ('marginal': 400,000).

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> axes = plots.regions(model, X, y, columns=(2, 3), others="hold")
    """
    if shade not in {"class", "posterior"}:
        raise ParameterError.bad_value("shade", shade, "'class' or 'posterior'")
    plane = _plane(model, X, y, columns, others)
    ax, look = canvas(ax, style)
    answers = plane.answers(model)
    fill_answers(ax, look, plane.a, plane.b, answers, strengths_of(answers, shade))
    draw_borders(ax, plane.a, plane.b, answers, {"colors": look.ink, "linewidths": 1.0})
    rows = plane.points
    codes = rows.codes if rows.labelled else answers.at(plane)
    scatter_classes(ax, look, plane.z, codes, [*answers.classes.tolist(), *answers.extra])
    titled(ax, None, rows.names[plane.pair[0]], rows.names[plane.pair[1]])
    _frame(ax, plane)
    keyed(ax, look, [*class_keys(look, answers.classes), *extra_keys(look, answers)])
    for text in plane.remarks:
        noted(ax, look, text)
    return ax


@checked
def borders(
    models: Mapping[str, Any], X: Any, y: Any = None, *, columns: Any = None, others: Others | None = None,
    formats: Mapping[str, str] | None = None, ax: Axes | None = None, style: str | None = None,
) -> Axes:  # fmt: skip
    """The borders of several fitted models over the same rows, a kind of line for each: {"LDA": lda, "QDA": qda}.

    In the place of a model may stand a hyperplane of two columns, such as ``model.hyperplane()``. ``columns`` and
    ``others`` are as in ``regions``. ``formats`` are of lines by name, {"LDA": "k--", "QDA": "C3-"}: k is the ink, and
    C0, C1, ... are the colours of the classes. Cost: as ``regions``, for each model.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, datasets, plots
    >>> X, y = datasets.load_iris().xy
    >>> models = {"LDA": LinearDiscriminantAnalysis(), "QDA": QuadraticDiscriminantAnalysis()}
    >>> axes = plots.borders({name: model.fit(X[:, 2:], y) for name, model in models.items()}, X[:, 2:], y)
    """
    models = named_models(models)
    ax, look = canvas(ax, style)
    lines, plane, known = [], None, None
    for i, (name, model) in enumerate(models.items()):
        plane = _plane(model, X, y, columns, others)
        usual = look.ink if i == 0 else look.colour(i + 2), DASHES[i % len(DASHES)]
        colour, dash = line_of(look, formats, name, usual)
        if _is_hyperplane(model):
            draw_line(ax, model.w, model.b, {"color": colour, "linewidth": 1.6, "linestyle": dash, "zorder": 2})
        else:
            known = plane
            lined = {"colors": [colour], "linewidths": 1.6, "linestyles": [dash]}
            draw_borders(ax, plane.a, plane.b, plane.answers(model), lined)
        lines.append(Line2D([], [], color=colour, linestyle=dash, linewidth=1.6, label=shortened(name, 28)))
    # The codes of the rows are those of a model's classes, where there is one.
    plane = known or plane
    assert plane is not None
    rows = plane.points
    scatter_classes(ax, look, plane.z, rows.codes, rows.classes)
    titled(ax, None, rows.names[plane.pair[0]], rows.names[plane.pair[1]])
    _frame(ax, plane)
    keyed(ax, look, [*(class_keys(look, rows.classes) if rows.labelled else ()), *lines])
    for text in plane.remarks:
        noted(ax, look, text)
    return ax


def line_of(look: Look, formats: Any, name: str, usual: tuple[str, Any]) -> tuple[str, Any]:
    """Colour and dashes of a line: the usual ones, unless a format such as "k--" or "C2:" is given for its name."""
    given = {} if formats is None else formats
    wanted = given.get(name, "") if isinstance(given, Mapping) else None
    found = FORMAT.fullmatch(wanted) if isinstance(wanted, str) else None
    if found is None:
        raise ParameterError.bad_value(
            "formats", formats, "a dict of name to format, such as {'LDA': 'k-', 'QDA': 'C3--'}"
        )
    colour, dash = found.groups()
    chosen = usual[0] if not colour else look.ink if colour == "k" else look.colour(int(colour[1:]))
    return chosen, {"": usual[1], "-": DASHES[0], "--": DASHES[1], ":": DASHES[2], "-.": DASHES[3]}[dash]


def named_models(models: Any) -> dict[str, Any]:
    """Several things to compare by name; one alone goes without."""
    if isinstance(models, Mapping):
        if not models:
            raise ParameterError("There is nothing to draw; pass a dict such as {'LDA': model}.")
        return {str(name): model for name, model in models.items()}
    if isinstance(models, (list, tuple)):
        if not models:
            raise ParameterError("There is nothing to draw; the list is empty.")
        return {f"{i + 1}": model for i, model in enumerate(models)}
    return {"": models}


@dataclass(frozen=True, eq=False)
class Plane:
    """Two columns of a table, and what the others are where the model is asked."""

    X: Any
    points: Points
    pair: tuple[int, int]
    a: Floats
    b: Floats
    others: Others | None

    @property
    def z(self) -> Floats:
        return self.points.x[:, list(self.pair)]

    @property
    def remarks(self) -> list[str]:
        width = self.points.x.shape[1] - 2
        said = {"hold": "held at the mean", "marginal": "averaged over rows"}
        if self.others is None:
            return [self.points.sampled] if self.points.sampled else []
        many = "The other column is" if width == 1 else f"The other {width} columns are"
        return [f"{many} {said[self.others]}." + (f" {self.points.sampled}." if self.points.sampled else "")]

    def answers(self, model: Any) -> Answers:
        """What the model says at every point of the grid."""
        a, b = np.meshgrid(self.a, self.b)
        base = np.tile(self.points.x.mean(axis=0), (a.size, 1))
        base[:, self.pair[0]], base[:, self.pair[1]] = a.ravel(), b.ravel()
        if self.others != "marginal":
            return Answers.of(model, self.X, base)
        rows = np.random.default_rng(0).permutation(len(self.points.x))[:AVERAGED]
        parts = []
        for row in self.points.x[rows]:
            moved = np.tile(row, (a.size, 1))
            moved[:, self.pair[0]], moved[:, self.pair[1]] = a.ravel(), b.ravel()
            parts.append(Answers.of(model, self.X, moved))
        return Answers.averaged(parts)


@dataclass(frozen=True, eq=False)
class Answers:
    """At each point: the ``code`` of the answer (classes first, then ``extra`` answers), margins of the classes if the
    answer follows from them, and how sure the model is of it (NaN where it does not say).
    """

    classes: NDArray[Any]
    extra: list[Any]
    code: NDArray[np.intp]
    scores: Floats | None
    sure: Floats
    posterior: Floats | None

    @classmethod
    def of(cls, model: Any, X: Any, x: Floats) -> Answers:
        classes = fitted_classes(model)
        table = alike(X, x)
        said = np.asarray(model.predict(table))
        known = {label: k for k, label in enumerate(classes.tolist())}
        extra = [label for label in np.unique(said).tolist() if label not in known]
        known.update({label: len(classes) + i for i, label in enumerate(extra)})
        values, inverse = np.unique(said, return_inverse=True)
        code = np.array([known[value] for value in values.tolist()], dtype=np.intp)[inverse]
        posterior = np.asarray(model.predict_proba(table)) if hasattr(model, "predict_proba") else None
        scores = _scores(model, table, len(classes))
        follows = scores is not None and not extra and bool((scores.argmax(axis=1) == code).mean() > 0.9999)
        sure = np.full(len(x), np.nan) if posterior is None else posterior.max(axis=1)
        return cls(classes, extra, code, scores if follows else None, sure, posterior)

    @classmethod
    def averaged(cls, parts: list[Answers]) -> Answers:
        """The class of the largest mean posterior; of a model without posteriors, the most frequent answer."""
        classes = parts[0].classes
        # An answer that is no class counts for none of them.
        votes = np.vstack([np.eye(len(classes)), np.zeros((max(len(p.extra) for p in parts), len(classes)))])
        shares = [votes[part.code] if part.posterior is None else part.posterior for part in parts]
        mean = np.asarray(np.mean(shares, axis=0), dtype=np.float64)
        return cls(classes, [], mean.argmax(axis=1), mean, mean.max(axis=1), mean)

    def at(self, plane: Plane) -> NDArray[np.intp]:
        """The answer at the point of the grid nearest to each row."""
        i = np.abs(plane.b[:, None] - plane.z[:, 1]).argmin(axis=0)
        j = np.abs(plane.a[:, None] - plane.z[:, 0]).argmin(axis=0)
        return np.asarray(self.code.reshape(len(plane.b), len(plane.a))[i, j])


def _scores(model: Any, table: Any, size: int) -> Floats | None:
    """n x K scores of which the largest usually is the answer."""
    for name in ("decision_function", "predict_log_proba", "predict_proba"):
        if hasattr(model, name):
            scores = np.asarray(getattr(model, name)(table), dtype=np.float64)
            if scores.ndim == 1:
                scores = np.column_stack([-scores, scores])
            if scores.shape[1] == size and np.isfinite(scores).all():
                return scores
    return None


def _is_hyperplane(thing: Any) -> bool:
    return hasattr(thing, "w") and hasattr(thing, "b") and not hasattr(thing, "predict")


def _plane(model: Any, X: Any, y: Any, columns: Any, others: Others | None) -> Plane:
    classes = None if _is_hyperplane(model) else fitted_classes(model)
    if classes is not None and not hasattr(model, "predict"):
        raise lacks(model, "method predict")
    rows = points_of(X, y, classes=classes)
    width = rows.x.shape[1]
    if classes is None and (len(model.w) != 2 or width != 2):
        raise ParameterError(
            f"A hyperplane is drawn in two columns; it has {len(model.w)} and X has {width}. Pass the model instead, "
            "with columns=(a, b) and others=."
        )
    a, b = two_columns(
        columns, rows.names,
        " and say others='hold' or others='marginal', or draw all columns together: plots.discriminants(model, X, y)",
    )  # fmt: skip
    if others is not None and not (isinstance(others, str) and others in {"hold", "marginal"}):
        raise ParameterError.bad_value("others", others, "'hold' or 'marginal'")
    if width > 2 and others is None:
        raise ParameterError(
            f"The model has {width} columns and the picture two. Say what the others are: others='hold' holds them at "
            f"their means, others='marginal' averages the answers over rows."
        )
    fine = grid_size(GRID, width) if others != "marginal" or width == 2 else grid_size(COARSE, width)
    grids = [_grid(rows.x[:, j], fine) for j in (a, b)]
    return Plane(X, rows, (a, b), grids[0], grids[1], others if width > 2 else None)


def grid_size(most: int, columns: int) -> int:
    """Points along each side: fewer where a row has thousands of numbers, so that a picture takes no gigabytes."""
    return int(np.clip(np.sqrt(MOST_NUMBERS / columns), 40, most))


def _grid(values: Floats, size: int) -> Floats:
    low, high = float(values.min()), float(values.max())
    reach = 0.08 * (high - low) or 1.0
    return np.linspace(low - reach, high + reach, size)


def strengths_of(answers: Answers, shade: str) -> Floats:
    """How deep the colour of an answer is at each point."""
    if shade == "class":
        return np.full(answers.code.shape, 0.2)
    if np.isnan(answers.sure).any():
        raise ParameterError("shade='posterior' needs a model with predict_proba. Leave it at 'class'.")
    least = 1.0 / len(answers.classes)
    return np.asarray(0.03 + 0.36 * np.clip((answers.sure - least) / (1.0 - least), 0, 1))


def fill_answers(ax: Any, look: Look, a: Floats, b: Floats, answers: Answers, strengths: Floats | float) -> None:
    """Areas in the colours of the classes, one bitmap over the background; answers that are no class are hatched."""
    shape = len(b), len(a)
    faces = np.array(
        [look.tint(k, 1.0) for k in range(len(answers.classes))] + [look.tint(6, 1.0)] * len(answers.extra)
    )
    deeper = np.array([look.depth(k) for k in range(len(answers.classes))] + [1.0] * len(answers.extra))
    depth = np.minimum(deeper[answers.code] * strengths, 0.9)[:, None]
    ax.imshow(
        np.hstack([faces[answers.code], depth]).reshape(*shape, 4), extent=(a[0], a[-1], b[0], b[-1]), origin="lower",
        aspect=ax.get_aspect(), interpolation="nearest", zorder=0,
    )  # fmt: skip
    for i in range(len(answers.extra)):
        here = (answers.code == len(answers.classes) + i).astype(float).reshape(shape)
        hatched = ax.contourf(a, b, here, levels=[0.5, 1.5], colors="none", hatches=[HATCHES[i % 3]], zorder=1)
        hatched.set(edgecolor=look.muted, linewidth=0)


def draw_borders(ax: Any, a: Floats, b: Floats, answers: Answers, look: dict[str, Any]) -> None:
    """Lines between the answers, each once, so that dashes stay dashes."""
    shape = len(b), len(a)
    code = answers.code.reshape(shape)
    touching = _neighbours(code)
    for k, m in touching:
        if answers.scores is None:
            height = np.where(code == k, 0.5, -0.5)
        else:
            height = (answers.scores[:, k] - answers.scores[:, m]).reshape(shape)
        # Where a third answer holds there is no border of these two.
        near = binary_dilation((code == k) | (code == m), iterations=1)
        ax.contour(a, b, np.ma.masked_array(height, ~near), levels=[0.0], zorder=2, **look)


def draw_line(ax: Any, w: Floats, b: float, look: dict[str, Any]) -> None:
    """w'x + b = 0 across the axes, whose limits stay."""
    foot = -b * w / (w @ w)
    ax.axline(tuple(foot), tuple(foot + np.array([-w[1], w[0]]) / np.linalg.norm(w)), **look)


def _neighbours(code: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Pairs of answers that are next to each other somewhere on the grid."""
    beside = [(code[:, 1:], code[:, :-1]), (code[1:], code[:-1])]
    pairs = {pair for p, q in beside for pair in zip(p[p != q].tolist(), q[p != q].tolist(), strict=True)}
    return sorted({(min(pair), max(pair)) for pair in pairs})


def _frame(ax: Axes, plane: Plane) -> None:
    ax.set_xlim(plane.a[0], plane.a[-1])
    ax.set_ylim(plane.b[0], plane.b[-1])


def extra_keys(look: Look, answers: Answers) -> list[Patch]:
    return [
        Patch(facecolor=look.tint(6, 0.2), edgecolor=look.muted, hatch=HATCHES[i % 3], linewidth=0,
              label="no class" if len(answers.extra) == 1 and not isinstance(label, str) else f"no class: {label}")
        for i, label in enumerate(answers.extra)
    ]  # fmt: skip
