"""Choosing alpha and gamma: the error surface over a grid, from one pass over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError
from discrim.solvers.leave_one_out_rda import loo_supported, rda_loss
from discrim.solvers.regularized import Grid, Moments
from discrim.solvers.regularized_search import choose_from, cross_validated_loss, choose
from discrim.sources import Block, Rows
from discrim.statistics import ClassMoments, Depth, merge_moments

Floats = NDArray[np.float64]

# The values tried where a parameter is to be chosen.
DEFAULT_GRID = np.linspace(0.0, 1.0, 11)


def search(rows: Rows, grid: Grid, *, how: str, cv: Any, priors: Floats | None, selection: str) -> dict[str, Any]:
    """The chosen ``alpha`` and ``gamma`` and the whole error surface, as ``cv_results_`` keeps it.

    The rows are read once to reduce and once to score, whatever the size of the grid.
    """
    block = in_memory(rows)
    wide = block.x.shape[0] <= block.x.shape[1]
    if wide and grid.target == "diagonal":
        raise ParameterError(
            "With more columns than rows only the target 'identity' can be tuned; set target='identity', "
            "or give numbers for the shrinkage."
        )
    x = rotated(np.asarray(block.x)) if wide else np.asarray(block.x, dtype=np.float64)
    if wide:
        grid = Grid(grid.alphas, grid.gammas, grid.target, grid.normalization, n_columns=block.x.shape[1])
    if how == "loo":
        table = _leave_one_out(x, block, grid, priors)
        a, g = choose_from(grid, table, selection)
    else:
        a, g, table = _folds(x, block, grid, cv, priors, selection)
    return {"alphas": grid.alphas, "gammas": grid.gammas, **table, "alpha": float(grid.alphas[a]),
            "gamma": float(grid.gammas[g]), "method": how}  # fmt: skip


def in_memory(rows: Rows) -> Block:
    """All rows as one dense block."""
    if rows.whole is not None and isinstance(rows.whole.x, np.ndarray):
        return rows.whole
    if not rows.rereadable:
        raise DataError("These rows can be read only once. Give numbers instead of 'cv' or 'loo'.")
    return _stack(list(rows.blocks()))


def _stack(blocks: list[Block]) -> Block:
    from discrim.sources import recode

    classes = np.unique(np.concatenate([block.classes for block in blocks]))
    codes = [recode(block.classes, classes)[block.codes] for block in blocks]
    x = np.vstack([b.x.toarray() if not isinstance(b.x, np.ndarray) else b.x for b in blocks])
    weight = None
    if blocks[0].weight is not None:
        weight = np.concatenate([block.weight for block in blocks if block.weight is not None])
    return Block(x, np.concatenate(codes).astype(np.int32), classes, weight)


def fold_numbers(cv: Any, x: Any, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The fold in which each row is held out; the folds must hold out every row once."""
    from sklearn.model_selection import check_cv

    splitter = check_cv(cv, y=codes, classifier=True)
    fold = np.full(len(codes), -1, dtype=np.int32)
    for f, (_, test) in enumerate(splitter.split(np.zeros((len(codes), 1)), codes)):
        if (fold[test] >= 0).any():
            raise ParameterError("The 'cv' parameter holds some rows out twice; use folds that hold each out once.")
        fold[test] = f
    if (fold < 0).any():
        raise ParameterError("The 'cv' parameter leaves some rows in every training part; hold each out once.")
    return fold


def training_statistics(parts: list[ClassMoments]) -> list[ClassMoments]:
    """For each fold the statistic of all others, by merging from both ends: nothing is subtracted."""
    size = len(parts)
    before: list[ClassMoments | None] = [None]
    after: list[ClassMoments | None] = [None]
    for i in range(size - 1):
        left, right = before[-1], after[-1]
        before.append(parts[i] if left is None else left.merge(parts[i]))
        after.append(parts[size - 1 - i] if right is None else right.merge(parts[size - 1 - i]))
    after.reverse()
    both = [[s for s in pair if s is not None] for pair in zip(before, after, strict=True)]
    return [merge_moments(pair) for pair in both]


def fold_statistics(block: Block, x: NDArray[Any], fold: NDArray[np.int32], depth: Depth) -> list[ClassMoments]:
    """The statistic of each held-out part, all with the classes of the block."""
    parts = []
    for f in range(int(fold.max()) + 1):
        rows = np.flatnonzero(fold == f)
        weight = None if block.weight is None else block.weight[rows]
        parts.append(ClassMoments.of(Block(x[rows], block.codes[rows], block.classes, weight), depth))
    return parts


def _folds(
    x: NDArray[Any], block: Block, grid: Grid, cv: Any, priors: Floats | None, selection: str
) -> tuple[int, int, dict[str, Any]]:
    fold = fold_numbers(cv, x, block.codes)
    train = training_statistics(fold_statistics(block, x, fold, Depth.FULL))
    moments = Moments(*(np.stack([getattr(s, name) for s in train]) for name in ("weight", "mean", "scatter")))
    with np.errstate(divide="ignore"):
        given = None if priors is None else np.log(priors)
    losses = cross_validated_loss(moments, x, block.codes, fold, grid, given, block.weight)
    return choose(grid, *losses, selection=selection)


def _leave_one_out(x: NDArray[Any], block: Block, grid: Grid, priors: Floats | None) -> dict[str, Any]:
    if block.weight is not None or not loo_supported(grid):
        raise ParameterError(
            "'loo' needs rows without weights and the target 'identity'; use 'cv', which has neither restriction."
        )
    whole = ClassMoments.of(Block(x, block.codes, block.classes), Depth.FULL)
    return rda_loss(x, block.codes, Moments(whole.weight, whole.mean, whole.scatter), grid, priors)


def rotated(x: NDArray[Any]) -> Floats:
    """Coordinates of the rows in the space that they span: distances and traces stay the same."""
    centred = np.asarray(x, dtype=np.float64) - x.mean(axis=0, dtype=np.float64)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    keep = values > values[-1] * 1e-13
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))
