"""Choosing alpha and gamma: the error surface over a grid, from one pass over the rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.parallel import blas_threads
from discrim.solvers.leave_one_out_rda import loo_supported, rda_loss
from discrim.solvers.regularized import Grid, Moments
from discrim.solvers.regularized_search import Selection, choose, choose_from, cross_validated_loss
from discrim.sources import Rows, in_memory
from discrim.statistics import ClassMoments, Depth, merge_moments
from discrim.statistics.folds import fold_numbers, of_folds, of_others
from discrim.typing import Floats

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


def _folds(
    x: Floats, block: Block, grid: Grid, cv: Any, priors: Floats | None, selection: Selection
) -> tuple[int, int, dict[str, Any]]:
    folds = fold_numbers(cv, block.codes)
    if not folds.complementary:
        raise ParameterError(
            "The 'cv' parameter leaves some rows out of both training and test part; "
            "use a splitter that trains on all rows that it does not hold out."
        )
    train = list(
        of_others(of_folds(replace(block, x=x), folds, partial(ClassMoments.of, depth=Depth.FULL)), merge_moments)
    )
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
