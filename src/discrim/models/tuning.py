"""Choosing alpha and gamma: the error surface over a grid, from one pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.engines import blas_threads
from discrim.errors import DataError, ParameterError, plural
from discrim.solvers.leave_one_out_rda import loo_supported, rda_loss
from discrim.solvers.regularized import Grid, Moments
from discrim.solvers.regularized_search import Selection, choose, choose_from, cross_validated_loss
from discrim.sources import Block, Rows, recode
from discrim.statistics import ClassMoments, Depth, merge_moments

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

# The values tried where a parameter is to be chosen.
DEFAULT_GRID = np.linspace(0.0, 1.0, 11)


def search(rows: Rows, grid: Grid, *, how: str, cv: Any, priors: Floats | None, selection: Selection) -> dict[str, Any]:
    """The chosen ``alpha`` and ``gamma`` and the whole error surface, as ``cv_results_`` keeps it.

    The rows are read once to reduce and once to score, whatever the size of the grid.
    """
    block = in_memory(rows)
    x = np.asarray(block.x, dtype=np.float64)
    n, p = x.shape
    if n <= p and grid.target == "diagonal":
        raise ParameterError(
            "With more columns than rows only the target 'identity' can be tuned; set target='identity', "
            "or give numbers for the shrinkage."
        )
    with blas_threads(min(n, p)):
        if n <= p:
            x, grid = rotated(x), replace(grid, n_columns=p)
        if how == "loo":
            table = _leave_one_out(x, block, grid, priors)
            a, g = choose_from(grid, table, selection)
        else:
            a, g, table = _folds(x, block, grid, cv, priors, selection)
    chosen = {"alpha": float(grid.alphas[a]), "gamma": float(grid.gammas[g]), "method": how}
    return {"alphas": grid.alphas, "gammas": grid.gammas, **table, **chosen}


def chosen_shrinkage(model: Any, rows: Rows | None, alpha: float) -> Any:
    """The shrinkage of LDA (alpha = 0) or QDA (alpha = 1): a float, a name that needs more of the data, or None.

    Sets ``shrinkage_`` where it is one number, and ``cv_results_`` where it was chosen.
    """
    wanted = model.shrinkage
    if wanted in ("cv", "loo"):
        if rows is None and hasattr(model, "cv_results_"):
            # The parts of a stream are not kept: what an earlier fit chose is kept instead.
            return float(model.shrinkage_)
        if rows is None:
            raise DataError(f"shrinkage='{wanted}' needs the rows themselves: use fit.")
        priors = None if model.priors is None else np.asarray(model.priors, dtype=np.float64)
        grid = Grid(np.array([alpha]), 1.0 - DEFAULT_GRID[::-1], model.target, model.normalization)
        model.cv_results_ = search(rows, grid, how=wanted, cv=model.cv, priors=priors, selection=model.selection)
        model.shrinkage_ = 1.0 - model.cv_results_["gamma"]
        return float(model.shrinkage_)
    for name in ("shrinkage_", "cv_results_"):
        model.__dict__.pop(name, None)
    if wanted is None or isinstance(wanted, str):
        return wanted
    model.shrinkage_ = float(wanted)
    return model.shrinkage_


def in_memory(rows: Rows, *, first_read: bool = False) -> Block:
    """All rows as one dense block."""
    if rows.whole is not None and isinstance(rows.whole.x, np.ndarray):
        return rows.whole
    if not rows.rereadable and not first_read:
        raise DataError(
            "These rows can be read only once, and 'cv', 'loo' and covariance estimators read them again. "
            "Give a number instead, or a table or a file instead of the stream."
        )
    return _stack(list(rows.blocks()))


def _stack(blocks: list[Block]) -> Block:
    classes = np.unique(np.concatenate([block.classes for block in blocks]))
    codes = [recode(block.classes, classes)[block.codes] for block in blocks]
    x = np.vstack([b.x if isinstance(b.x, np.ndarray) else b.x.toarray() for b in blocks])
    extra = (_joined([getattr(block, name) for block in blocks]) for name in ("weight", "offset", "share"))
    return Block(x, np.concatenate(codes).astype(np.int32), classes, *extra)


def _joined(parts: list[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


@dataclass(frozen=True, eq=False)
class Folds:
    """``number`` is the fold in which each row is held out.

    ``parts`` has the training rows of each fold; None where these are all the others.
    """

    number: NDArray[np.int32]
    parts: tuple[Index | None, ...]

    @property
    def complementary(self) -> bool:
        """Does every training part have all rows that are not held out?"""
        return all(part is None for part in self.parts)

    @property
    def one_at_a_time(self) -> bool:
        return self.complementary and len(self.parts) == len(self.number)

    def test(self, f: int) -> Index:
        return np.flatnonzero(self.number == f)

    def train(self, f: int) -> Index:
        part = self.parts[f]
        return np.flatnonzero(self.number != f) if part is None else part


def fold_numbers(cv: Any, codes: NDArray[np.int32], groups: Any = None) -> Folds:
    """What ``cv`` (a number of folds, 'loo' or a splitter) holds out; every row must be held out once."""
    # Takes a tenth of a second to import, and most fits do not need it.
    from sklearn.model_selection import LeaveOneOut, check_cv

    n = len(codes)
    if isinstance(cv, str) and cv != "loo":
        raise ParameterError.bad_value("cv", cv, "a number of folds, 'loo' or a splitter")
    if isinstance(cv, (str, LeaveOneOut)):
        if n < 2:
            raise DataError("Leaving one row out needs at least two rows; found 1.")
        return Folds(np.arange(n, dtype=np.int32), (None,) * n)
    try:
        splitter = check_cv(cv, y=codes, classifier=True)
        return _held_out(splitter.split(np.zeros((n, 1)), codes, groups), n)
    except ParameterError:
        raise
    except (TypeError, ValueError, IndexError) as error:
        raise ParameterError(f"The 'cv' parameter cannot split these {plural(n, 'row')}: {error}") from error


def _held_out(splits: Iterator[tuple[Any, Any]], n: int) -> Folds:
    number = np.full(n, -1, dtype=np.int32)
    parts: list[Index | None] = []
    hint = "use a splitter that holds each row out once"
    for f, (train, test) in enumerate(splits):
        if not len(train):
            raise ParameterError(f"The 'cv' parameter leaves no row to train on; {hint}.")
        others, taken = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        others[test], taken[train] = False, True
        if (number[test] >= 0).any() or others.sum() != n - len(test):
            raise ParameterError(f"The 'cv' parameter holds some rows out twice; {hint}.")
        number[test] = f
        all_others = len(train) == n - len(test) and np.array_equal(taken, others)
        parts.append(None if all_others else np.asarray(train, dtype=np.intp))
    if (number < 0).any():
        raise ParameterError(f"The 'cv' parameter never holds out {(number < 0).sum()} of the rows; {hint}.")
    return Folds(number, tuple(parts))


def training_statistics(parts: list[ClassMoments]) -> Iterator[ClassMoments]:
    """For each fold the statistic of all others, by merging from both ends: nothing is subtracted."""
    after = parts[-1:]
    for part in parts[-2:0:-1]:
        after.append(part.merge(after[-1]))
    before: list[ClassMoments] = []
    for part in parts:
        yield merge_moments([*before, *after[-1:]])
        before = [merge_moments([*before, part])]
        del after[-1:]


def fold_statistics(block: Block, x: NDArray[Any], folds: Folds, depth: Depth) -> list[ClassMoments]:
    """The statistic of each held-out part, all with the classes of the block."""
    parts = []
    for f in range(len(folds.parts)):
        rows = folds.test(f)
        weight = None if block.weight is None else block.weight[rows]
        parts.append(ClassMoments.of(Block(x[rows], block.codes[rows], block.classes, weight), depth))
    return parts


def _folds(
    x: Floats, block: Block, grid: Grid, cv: Any, priors: Floats | None, selection: Selection
) -> tuple[int, int, dict[str, Any]]:
    folds = fold_numbers(cv, block.codes)
    if not folds.complementary:
        raise ParameterError(
            "The 'cv' parameter leaves some rows out of both training and test part; "
            "use a splitter that trains on all rows that it does not hold out."
        )
    train = list(training_statistics(fold_statistics(block, x, folds, Depth.FULL)))
    stacked = (np.stack([getattr(s, name) for s in train]) for name in Moments._fields)
    moments = Moments(*stacked)
    with np.errstate(divide="ignore"):
        given = None if priors is None else np.log(priors)
    losses = cross_validated_loss(moments, x, block.codes, folds.number, grid, given, block.weight)
    return choose(grid, *losses, selection=selection)


def _leave_one_out(x: Floats, block: Block, grid: Grid, priors: Floats | None) -> dict[str, Any]:
    if block.weight is not None or not loo_supported(grid):
        raise ParameterError(
            "'loo' needs rows without weights and the target 'identity'; use 'cv', which needs neither."
        )
    whole = ClassMoments.of(Block(x, block.codes, block.classes), Depth.FULL)
    return rda_loss(x, block.codes, Moments(whole.weight, whole.mean, whole.scatter), grid, priors)


def rotated(x: NDArray[Any]) -> Floats:
    """Coordinates of the rows in the space that they span: distances and traces stay the same."""
    centred = np.asarray(x, dtype=np.float64) - x.mean(axis=0, dtype=np.float64)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    keep = values > values[-1] * 1e-13
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))
