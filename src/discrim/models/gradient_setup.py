"""What gradient descent stands on: rows in fair units, a safe rate, and words for how it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.engines import RowPasses
from discrim.errors import DataError, ParameterError, UnfinishedWarning, name_list, plural, warn
from discrim.families.first_look import Overview, look
from discrim.families.logistic.objective import Coordinates
from discrim.online.descent import Descent, Schedule
from discrim.online.loss_sums import Criterion
from discrim.sources import Rows, Scan, find_non_finite, in_memory
from discrim.sources.arrays import ArrayRows
from discrim.typing import Floats

# Rows that are looked at to learn units and lengths, and the numbers of them that are multiplied for a rate.
SAMPLE = 20_000
SAMPLE_NUMBERS = 4_000_000
# Numbers of X up to which scaled rows are kept beside the user's.
KEPT = 1 << 24
# Products that find the longest direction of the rows.
PRODUCTS = 30


@dataclass(frozen=True)
class Ground:
    """Rows as the descent reads them.

    ``rows`` are scaled already where ``scaled``; ``coordinates`` tell how, in any case. ``bend`` is the largest
    eigenvalue of the mean z z' and ``length`` the mean, ``longest`` the largest |z|^2, constants included.
    """

    rows: Rows
    classes: NDArray[Any]
    coordinates: Coordinates
    scaled: bool
    bend: float
    length: float
    longest: float
    n_rows: int
    mean_weight: float


def survey(rows: Rows, *, intercept: bool, scale: bool, by_length: bool, known: Coordinates | None = None) -> Ground:
    """One look at the rows; with ``known`` coordinates these are kept."""
    if not rows.rereadable:
        raise DataError(
            "Gradient descent reads its rows again and again, and this stream can be read once. "
            "Give a table or a file, or hand the parts to partial_fit."
        )
    view = look(RowPasses(rows), SAMPLE)
    if not (np.isfinite(view.mean).all() and np.isfinite(view.deviation).all()):
        raise find_non_finite(rows) or DataError("The squares of X overflow. Scale the columns.")
    coordinates = known or _coordinates(view, intercept=intercept, scale=scale)
    bend, length, longest = _lengths(view.sample, coordinates, by_length=by_length)
    kept, mean_weight = _kept(rows), _mean_weight(rows, view)
    scaled = kept is not None and isinstance(kept.x, np.ndarray)
    if kept is not None and isinstance(kept.x, np.ndarray):
        rows = ArrayRows(rows.design, replace(kept, x=_scaled(kept.x, coordinates)), labelled=True)
    return Ground(rows, view.classes, coordinates, scaled, bend, length, longest, view.n_rows, mean_weight)


def schedule_for(
    rate: str, eta0: float | None, ground: Ground, criterion: Criterion, batch: int | None
) -> tuple[Schedule, float]:
    """The rates, and the one that is safe for all rows: 1 / L, L a bound of the curvature of the mean loss.

    A loss with kinks has no such bound; there steps begin with 3 / sqrt(mean |z|^2) and fall with the root of their
    number: no slope is longer than mean |z|, so that weights of a useful size are soon reached.
    """
    curvature = criterion.curvature
    steepest = ground.bend if batch is None else ground.bend + (ground.longest - ground.bend) / batch
    steep = np.sqrt(ground.length) / 3.0 if curvature is None else curvature * steepest
    safe = float(1.0 / max(steep, np.finfo(float).tiny))
    first = safe if eta0 is None else eta0
    if rate == "inverse":
        return Schedule(first, 1.0), safe
    if rate == "optimal" and curvature is None:
        return Schedule(first, 0.5), safe
    if rate == "optimal" and batch is not None:
        return Schedule(first, 1.0, max(ground.n_rows / batch, 1.0)), safe
    return Schedule(first), safe


def check_classes(classes: NDArray[Any], model: str) -> None:
    if len(classes) < 2:
        raise DataError(
            f"{model} needs rows of at least two classes; found one class, {name_list(classes.tolist())}, in y."
        )


def declared_classes(classes: Any, seen: NDArray[Any]) -> NDArray[Any]:
    """The classes of all parts that will come, sorted; those of the first part where none are declared."""
    if classes is None:
        return seen
    declared = np.unique(np.asarray(classes))
    strange = [label for label in seen.tolist() if label not in declared.tolist()]
    if strange:
        raise ParameterError(f"y holds labels that `classes` does not: {name_list(strange)}. Declare them too.")
    return declared


def warn_of_end(end: Descent, *, steps: int, unit: str, rate: float, tol: float) -> None:
    """Say why it stopped, unless it converged."""
    if end.end == "converged":
        return
    done = plural(steps, unit)
    if end.end == "diverged":
        rose = f"from {end.first:.3g} to {end.worst:.3g}" if np.isfinite(end.worst) else "beyond all bounds"
        text = (
            f"Gradient descent diverged: the loss rose {rose} within {done}, at the rate {rate:.3g}. The best weights "
            "so far are kept. Use a smaller eta0, learning_rate='optimal', or scale=True where columns differ in size."
        )
    elif end.end == "wrong":
        text = (
            f"After {done} some rows are still wrong, and it gets no better: there may be no hyperplane that has them "
            "all right. The weights with the fewest wrong rows are kept."
        )
    elif end.end == "stuck":
        text = (
            f"After {done} no step lowers the loss any more, though its slope is {end.slope:.2g} and tol is {tol:g}: "
            "a kink of the loss, or rounding. learning_rate='optimal' gets along with kinks."
        )
    else:
        slope = f"; the largest slope is {end.slope:.2g} and tol is {tol:g}" if np.isfinite(end.slope) else ""
        text = f"Gradient descent stopped after {done} before it had converged{slope}. Increase max_iter, or tol."
    warn(text, UnfinishedWarning)


def _coordinates(view: Overview, *, intercept: bool, scale: bool) -> Coordinates:
    """Columns centred and of variance one; sparse ones, and without an intercept, of mean square one."""
    p = len(view.mean)
    if not scale:
        return Coordinates(np.zeros(p), np.ones(p), intercept)
    mean, deviation = view.mean, view.deviation
    if sparse.issparse(view.sample.x):
        mean, deviation = np.zeros(p), _root_mean_square(view.sample)
    elif not intercept:
        mean, deviation = np.zeros(p), np.sqrt(deviation**2 + view.mean**2)
    varies = deviation > 1e-13 * np.abs(view.mean)
    return Coordinates(mean, np.where(varies & (deviation > 0), deviation, 1.0), intercept)


def _lengths(sample: Block, coordinates: Coordinates, *, by_length: bool) -> tuple[float, float, float]:
    take = max(SAMPLE_NUMBERS // max(sample.x.shape[1], 1), 1)
    x, constant = sample.x[:take], float(coordinates.intercept)
    z: Any = x @ sparse.diags_array(1.0 / coordinates.scale) if sparse.issparse(x) else _scaled(x, coordinates)
    squares = np.einsum("ij,ij->i", z, z) if isinstance(z, np.ndarray) else np.asarray((z * z).sum(axis=1)).ravel()
    if not np.isfinite(squares).all():
        raise DataError("The squares of X overflow. Scale the columns.")
    weight = np.ones(len(squares)) if sample.weight is None else sample.weight[:take]
    factor = 1.0 / np.where(squares > 0, squares, 1.0) if by_length else np.ones(len(squares))
    total = max(float(weight.sum()), np.finfo(float).tiny)
    lengths = factor * (squares + constant)
    # In units of the longest row nothing overflows that is squared once more.
    unit = float(np.sqrt(max(squares.max(initial=0.0), constant))) or 1.0
    z, one = z / unit, constant / unit
    v = np.random.default_rng(0).standard_normal(z.shape[1] + 1)
    bend = 0.0
    for _ in range(PRODUCTS):
        v = v / max(float(np.linalg.norm(v)), np.finfo(float).tiny)
        score = (weight * factor / total) * (z @ v[:-1] + one * v[-1])
        v = np.append(z.T @ score, one * score.sum())
        bend = float(np.linalg.norm(v))
    counted = lengths[weight > 0]
    return 1.05 * bend * unit**2, float(weight @ lengths) / total, float(counted.max(initial=0.0))


def _root_mean_square(sample: Block) -> Floats:
    """Of the columns of sparse rows, weighted as these are."""
    x: Any = sample.x
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    return np.asarray(np.sqrt((x * x).T @ weight / max(float(weight.sum()), np.finfo(float).tiny)))


def _scaled(x: NDArray[Any], coordinates: Coordinates) -> Floats:
    return np.ascontiguousarray((np.asarray(x, float) - coordinates.shift) / coordinates.scale)


def _kept(rows: Rows) -> Block | None:
    """All rows as one block, where they lie in memory and are not too many."""
    if isinstance(rows, Scan) or (rows.n_rows or 0) * rows.design.n_out > KEPT:
        return None
    return rows.whole if rows.whole is not None else in_memory(rows)


def _mean_weight(rows: Rows, view: Overview) -> float:
    if rows.whole is not None:
        weight = rows.whole.weight
        return 1.0 if weight is None else float(weight.mean())
    weight = view.class_weights
    return 1.0 if weight is None else float(weight.sum()) / max(view.n_rows, 1)
