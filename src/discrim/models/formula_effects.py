"""Average marginal effects of the columns of a table on what a model of a formula predicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discrim.basis.formula import FormulaBasis
from discrim.block import UNLABELLED, Block
from discrim.errors import ParameterError
from discrim.inference.conjugate import tails
from discrim.inference.covariance import StandardErrors
from discrim.inference.discriminant import coefficient_table
from discrim.inference.fitted import Fitted
from discrim.inference.predictions import check_determined, sum_of_probabilities
from discrim.inference.summary import Table
from discrim.typing import Floats, Index

# Steps of a derivative, in standard deviations of the column: the error is the fourth power.
STEP = 1e-3
# Five points from the first one on: where that is the row itself, two before it, or four before it.
STENCILS = {
    0: np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0,
    -2: np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0,
    -4: np.array([3.0, -16.0, 36.0, -48.0, 25.0]) / 12.0,
}
REMARK = "Of a category the difference of the probability between two levels, all else as it is."

Frames = Callable[[], Iterable[Any]]


@dataclass
class _Column:
    """What is known of a column of numbers, or how often each level of a category is met."""

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    levels: dict[Any, float] = field(default_factory=dict)

    def meet(self, values: Any, w: Floats, *, category: bool) -> None:
        if category:
            for level, weight in zip(values.tolist(), w.tolist(), strict=True):
                self.levels[level] = self.levels.get(level, 0.0) + weight
            return
        x = np.asarray(values, dtype=np.float64)
        total = self.weight + float(w.sum())
        mean = float(w @ x) / max(float(w.sum()), 1e-300)
        self.squares += float(w @ (x - mean) ** 2)
        self.squares += (mean - self.mean) ** 2 * self.weight * (total - self.weight) / max(total, 1e-300)
        self.mean += (mean - self.mean) * (total - self.weight) / max(total, 1e-300)
        self.weight, self.low, self.high = total, min(self.low, float(x.min())), max(self.high, float(x.max()))

    @property
    def step(self) -> float:
        spread = float(np.sqrt(self.squares / max(self.weight, 1e-300)))
        return STEP * (spread if spread > 0 else max(abs(self.mean), 1.0))


def formula_effects(
    basis: FormulaBasis, fitted: Fitted, errors: StandardErrors, frames: Frames, at: str, level: float
) -> Table:
    """d probability / d column of numbers, and differences between levels, averaged over the rows of the fit.

    A column may be in several terms: what is differentiated is the prediction as a function of the column, by five
    points that stay within its range.
    """
    if not (isinstance(at, str) and at in ("overall", "mean")):
        raise ParameterError.bad_value("at", at, "'overall' or 'mean'")
    upper = tails(level)[1]
    check_determined(fitted, "marginal_effects()")
    weight, offset = _of_rows(fitted)
    categories = basis.categories_
    known, start = dict[str, _Column](), 0
    for frame in frames():
        w = weight[start : start + len(frame)]
        start += len(frame)
        for name in frame.columns:
            column = known.setdefault(name, _Column())
            column.meet(frame[name].to_numpy()[w > 0], w[w > 0], category=name in categories)
    if at == "mean":
        row = {name: max(c.levels, key=c.levels.__getitem__) if c.levels else c.mean for name, c in known.items()}
        offset = np.array([np.average(offset, weights=weight)])
        frames, weight = (lambda: [basis.frame_of({name: [value] for name, value in row.items()})]), np.ones(1)
    look = _Look(basis, fitted, errors, frames, weight / weight.sum(), offset)
    found: dict[str, tuple[Floats, Floats]] = {}
    for name in basis.used_:
        if name in categories:
            levels, base = categories[name]
            of_base = look.with_level(name, base)
            for other in (one for one in levels if one != base):
                own = look.with_level(name, other)
                lost = np.nan if look.undefined(name, [base, other]) else 0.0
                found[f"{name}: {other} - {base}"] = own[0] - of_base[0] + lost, own[1] - of_base[1] + lost
        elif name not in basis.stepped_:
            low, high = known[name].low, known[name].high
            lost = np.nan if look.undefined(name, [low, high if high > low else low + 1.0]) else 0.0
            effect, spread = look.slope(name, known[name])
            found[name] = effect + lost, spread + lost
    return _table(fitted, errors, found, at, upper)


def _table(
    fitted: Fitted, errors: StandardErrors, found: dict[str, tuple[Floats, Floats]], at: str, upper: float
) -> Table:
    K = len(fitted.classes)
    shown = [1] if K == 2 else range(K)
    names = [name if K == 2 else f"{fitted.classes[k]}:{name}" for k in shown for name in found]
    estimate = np.array([effect[k] for k in shown for effect, _ in found.values()])
    error = np.array([np.linalg.norm(spread[k]) for k in shown for _, spread in found.values()])
    statistic, p_value = coefficient_table(estimate, error, errors.df)
    half, letter = errors.quantile(upper) * error, "z" if errors.df is None else "t"
    columns = ["dy/dx", "Std. Error", f"{letter} value", f"Pr(>|{letter}|)", "lower", "upper"]
    of = f"of class '{fitted.classes[1]}'" if K == 2 else "of each class"
    rows = "average of all rows" if at == "overall" else "at the mean row"
    values = np.column_stack([estimate, error, statistic, p_value, estimate - half, estimate + half])
    remark = " ".join([REMARK] * any(": " in name for name in found) + [fitted.caveat] * bool(fitted.caveat))
    title = f"Marginal effects on the probability {of}, {rows}"
    return Table(title, names, columns, values, p_columns=(columns[3],), starred=not fitted.caveat, remark=remark)


def _of_rows(fitted: Fitted) -> tuple[Floats, Floats]:
    """Weights and offsets of the rows of the fit, in their order."""
    blocks = list(fitted.problem("marginal_effects()").rows.blocks())
    weight = np.concatenate([np.ones(len(b)) if b.weight is None else b.weight for b in blocks])
    offset = np.concatenate([np.zeros(len(b)) if b.offset is None else b.offset for b in blocks])
    return weight, offset


@dataclass(frozen=True, eq=False)
class _Look:
    """Predictions of the rows with a column changed: sums over ``share`` of probabilities, with their gradients."""

    basis: FormulaBasis
    fitted: Fitted
    errors: StandardErrors
    frames: Frames
    share: Floats
    offset: Floats

    def with_level(self, name: str, level: Any) -> tuple[Floats, Floats]:
        return self._sum(lambda frame: [(_changed(frame, name, level), np.ones(len(frame)))])

    def slope(self, name: str, column: _Column) -> tuple[Floats, Floats]:
        h = column.step

        def points(frame: Any) -> list[tuple[Any, Floats]]:
            x = frame[name].to_numpy().astype(np.float64)
            first = np.full(len(x), -2)
            if column.high > column.low:
                first[x - 2 * h < column.low] = 0
                first[x + 2 * h > column.high] = -4
            return [(_changed(frame, name, x + (first + j) * h), _factor(first, j) / h) for j in range(5)]

        return self._sum(points)

    def undefined(self, name: str, values: list[Any]) -> bool:
        """Does a column that others determine change with it? Then the effect could as well be theirs."""
        aliased = np.flatnonzero(self.fitted.aliased[1:])
        if not len(aliased):
            return False
        made = [
            self.basis.of_frame(_changed(frame, name, value))[:, aliased] for frame in self.frames() for value in values
        ]
        return not all(np.array_equal(one, made[i - i % len(values)]) for i, one in enumerate(made))

    def _sum(self, points: Callable[[Any], list[tuple[Any, Floats]]]) -> tuple[Floats, Floats]:
        effect, spread, start = np.zeros(1), np.zeros((1, 1)), 0
        for frame in self.frames():
            rows = slice(start, start + len(frame))
            start += len(frame)
            for changed, factor in points(frame):
                x = self.basis.of_frame(changed)
                block = Block(x, np.zeros(len(x), np.int32), UNLABELLED, None, self.offset[rows])
                own = sum_of_probabilities(self.fitted, self.errors, block, self.share[rows] * factor)
                effect, spread = effect + own[0], spread + own[1]
        return effect, spread


def _factor(first: Index, j: int) -> Floats:
    return np.select([first == start for start in STENCILS], [factors[j] for factors in STENCILS.values()])


def _changed(frame: Any, name: str, values: Any) -> Any:
    return frame.assign(**{name: values})
