"""Choosing among settings: the losses of a whole grid on held-out rows, and the choice from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from discrim.block import Block
from discrim.errors import DataError, ParameterError, RowsNeededError, plural
from discrim.families.recipe import (
    Chosen,
    Grid,
    InFolds,
    Passes,
    Reduction,
    Search,
    Selection,
    Shape,
    overflow,
    spanned,
)
from discrim.parallel import blas_threads
from discrim.statistics.folds import Folds, fold_numbers, of_folds, of_others
from discrim.statistics.likelihood import add_arrays
from discrim.typing import Codes, Floats


def tune(grid: Grid, search: Search, shape: Shape, passes: Passes | None, before: Chosen | None) -> Chosen:
    """The setting of least error over folds, or by leaving out one row at a time, and the table it was chosen from.

    The rows are read once to reduce and once to score, whatever the number of settings. Without rows, what an earlier
    fit chose is kept.
    """
    if passes is None:
        if before is not None:
            return before
        raise RowsNeededError(f"'{search.how}' needs the rows themselves: use fit first, or give numbers.")
    if passes.large:
        return _tune_large(grid, search, shape, passes)
    block = passes.block()
    shape = Shape(shape.columns, block.classes, len(block), shape.spanned_from)
    why_not = grid.impossible(shape)
    if why_not:
        raise ParameterError(why_not)
    with blas_threads(min(len(block), shape.width)):
        if shape.wide and grid.rotation_invariant:
            block, shape = spanned(block, shape)
        if search.how == "loo":
            table = grid.left_out(block, shape)
            if table is None:
                raise ParameterError("There is no closed form for 'loo' here; use 'cv'.")
        else:
            table = _fold_table(grid, shape, block, complementary_folds(search.cv, block.codes))
    best = choose(table, search.selection, grid)
    return Chosen(grid.settings[best], {**grid.results(table, best), "method": search.how})


def _tune_large(grid: Grid, search: Search, shape: Shape, passes: Passes) -> Chosen:
    """The same in two passes, with folds that are a hash of the number of a row."""
    folds = search.cv
    if search.how != "cv" or isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise ParameterError(
            "There are too many rows to be held in memory. Settings are then chosen by how='cv' with a number of folds."
        )
    parts = fold_statistics(grid.reduction, int(folds), passes)
    classes = parts[0].classes
    shape = Shape(shape.columns, classes, sum(int(part.rows.sum()) for part in parts))
    why_not = grid.impossible(shape)
    if why_not:
        raise ParameterError(why_not)
    others = list(of_others(parts, grid.reduction.merge))
    if grid.by_statistic:
        error = np.concatenate(
            [grid.mean_losses(state, shape, [part]) for state, part in zip(others, parts, strict=True)], axis=1
        )
        weight = np.array([part.weight.sum() for part in parts])
        table = {**table_of(error, np.zeros_like(error), weight), "fold_error": error}
    else:
        of = partial(_losses_in_folds, grid, others, shape)
        error, log_loss, weight = passes.reduce_folds(int(folds), of, add_arrays, title="settings")
        filled = np.where(weight > 0.0, weight, 1.0)
        table = table_of(error / filled, log_loss / filled, weight[0])
    best = choose(table, search.selection, grid)
    return Chosen(grid.settings[best], {**grid.results(table, best), "method": search.how})


def fold_statistics(reduction: Reduction[Any], folds: int, passes: Passes) -> list[Any]:
    """The statistics of the folds of large rows, in one pass, all with all classes."""
    states = passes.reduce_folds(folds, *in_folds(reduction), title="statistics by fold")
    lacking = sum(state is None for state in states)
    if lacking:
        raise DataError(f"{plural(lacking, 'fold has', 'folds have')} no row. Ask for fewer with cv.")
    if not all(state.finite for state in states):
        raise passes.fault() or overflow(states[0])
    classes = np.unique(np.concatenate([state.classes for state in states]))
    return [state.including(classes) for state in states]


def in_folds(reduction: Reduction[Any]) -> tuple[Callable[[InFolds], list[Any]], Callable[..., list[Any]]]:
    """How each fold's state is made of a block and merged: a list over the folds, None where one has no row."""
    return partial(_of_each, reduction), partial(_merge_each, reduction)


def _of_each(reduction: Reduction[Any], parts: InFolds) -> list[Any]:
    return [None if part is None else reduction.of(part) for part in parts]


def _merge_each(reduction: Reduction[Any], states: Sequence[list[Any]]) -> list[Any]:
    met = [[state for state in each if state is not None] for each in zip(*states, strict=True)]
    return [reduction.merge(each) if each else None for each in met]


def _losses_in_folds(grid: Grid, others: Sequence[Any], shape: Shape, parts: InFolds) -> Floats:
    """Sums of error, log loss and weight (3 x settings x folds) over the rows of a block."""
    sums = np.zeros((3, len(grid.settings), len(parts)))
    for f, part in enumerate(parts):
        if part is None:
            continue
        block = part.among(np.asarray(shape.classes))
        own = np.ones(len(block)) if block.weight is None else block.weight
        for settings, rows, wrong, loss in grid.losses(others[f], shape, block):
            sums[0, settings, f] += wrong @ own[rows]
            sums[1, settings, f] += loss @ own[rows]
        sums[2, :, f] += own.sum()
    return sums


def complementary_folds(cv: Any, codes: Codes) -> Folds:
    """The folds of ``cv``, if the training part of each has all rows that are not held out."""
    folds = fold_numbers(cv, codes)
    if not folds.complementary:
        raise ParameterError(
            "The 'cv' parameter leaves some rows out of both training and test part; "
            "use a splitter that trains on all rows that it does not hold out."
        )
    return folds


def _fold_table(grid: Grid, shape: Shape, block: Block, folds: Folds) -> dict[str, Floats]:
    reduction = grid.reduction
    parts = of_folds(block, folds, reduction.of)
    others = of_others(parts, reduction.merge)
    if not grid.by_statistic:
        return table_of(*fold_losses(grid, others, shape, block, folds))
    each = [grid.mean_losses(state, shape, [part]) for state, part in zip(others, parts, strict=True)]
    error, weight = np.concatenate(each, axis=1), np.array([part.weight.sum() for part in parts])
    return {**table_of(error, np.zeros_like(error), weight), "fold_error": error}


def fold_losses(
    grid: Grid, statistics: Iterable[Any], shape: Shape, block: Block, folds: Folds
) -> tuple[Floats, Floats, Floats]:
    """Error and log loss (settings x folds) and weight (folds) of the rows of every fold.

    ``statistics`` are those of the training parts. Losses are means over the rows of a fold; a setting that is
    impossible in a fold is NaN there. Scores are reduced as they are made.
    """
    error = np.zeros((len(grid.settings), len(folds.parts)))
    log_loss, weight = np.zeros_like(error), np.zeros(len(folds.parts))
    for f, statistic in enumerate(statistics):
        test = block.take(folds.test(f))
        own = np.ones(len(test)) if test.weight is None else test.weight
        for settings, rows, wrong, loss in grid.losses(statistic, shape, test):
            error[settings, f] += wrong @ own[rows]
            log_loss[settings, f] += loss @ own[rows]
        weight[f] = own.sum()
    filled = np.where(weight > 0.0, weight, 1.0)
    return error / filled, log_loss / filled, weight


def table_of(error: Floats, log_loss: Floats, weight: Floats) -> dict[str, Floats]:
    """Means over the folds of every setting, and the standard error of the mean error.

    Means are weighted by w_f = n_f/n, and the standard error of a mean error e is sqrt(sum_f w_f (e_f - e)^2/(F - 1)),
    which for equal folds is the usual one.
    """
    used = weight > 0.0
    share = weight[used] / weight.sum()
    mean = error[:, used] @ share
    spread = np.square(error[:, used] - mean[:, None]) @ share
    return {
        "mean_error": mean,
        "std_error": np.sqrt(spread / max(int(used.sum()) - 1, 1)),
        "mean_log_loss": log_loss[:, used] @ share,
    }


def choose(table: Mapping[str, Floats], selection: Selection, grid: Grid) -> int:
    """The number of the chosen setting; settings are in order, the most regularised first.

    "min" takes the smallest error, among equals the smallest log loss (where ties of the grid go by it), among those
    the most regularised; "one-se" the most regularised setting whose error is within one standard error of the
    smallest. A setting that is NaN in some fold is out.
    """
    mean, log_loss = table["mean_error"], table["mean_log_loss"]
    feasible = np.isfinite(mean) & np.isfinite(log_loss)
    if not feasible.any():
        raise ParameterError(grid.no_setting)
    best = int(np.argmin(np.where(feasible, mean, np.inf)))
    # Sums over folds in another order differ in the last digits; such errors are equal.
    slack = 1e-12 * (1.0 + np.abs(mean[best]))
    if selection == "one-se":
        allowed = feasible & (mean <= mean[best] + table["std_error"][best] + slack)
    else:
        allowed = feasible & (mean <= mean[best] + slack)
        if grid.ties == "log loss":
            least = log_loss[allowed].min()
            allowed &= log_loss <= least + 1e-12 * (1.0 + abs(least))
    return int(np.argmax(allowed))
