"""Is there anything to learn? The error under shuffled labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discrim.engines.progress import Progress
from discrim.errors import ParameterError
from discrim.evaluation.cross_validation import CrossValidation, cross_validate, result_of
from discrim.evaluation.resampling import Trial
from discrim.evaluation.table_rows import TableRows
from discrim.families.recipe import Recipe
from discrim.models.shell import recipe_of
from discrim.statistics.folds import fold_numbers
from discrim.typing import Floats, Index


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """The cross-validated ``observed`` loss, those of shuffled labels, and the share of these that is no larger.

    ``p_value`` counts the labels as they are among the shuffles, (1 + #{shuffled <= observed}) / (1 + shuffles), so
    that it is valid for any number of them.
    """

    observed: float
    shuffled: Floats
    p_value: float
    criterion: str

    def __repr__(self) -> str:
        return (
            f"PermutationTest({self.criterion} {self.observed:.4g}; {len(self.shuffled)} shuffles have "
            f"{self.shuffled.mean():.4g} on average, p = {self.p_value:.4g})"
        )


def permutation_test(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 10,
    shuffles: int = 199,
    criterion: str = "error",
    random_state: int = 0,
) -> PermutationTest:
    """Cross-validate with the labels as they are, and with labels that are shuffled among the rows.

    One-pass models need two reads of the rows in memory a shuffle, since folds are merged instead of refitted; any
    other classifier is refitted. ``criterion`` is 'error' or 'log_loss'.
    """
    if criterion not in {"error", "log_loss"}:
        raise ParameterError.bad_value("criterion", criterion, "'error' or 'log_loss'")
    if not isinstance(shuffles, (int, np.integer)) or shuffles < 1:
        raise ParameterError.bad_value("shuffles", shuffles, "an integer of at least 1")
    recipe = recipe_of(model)
    size, of = _by_table(model, X, y, cv) if recipe is None else _by_recipe(recipe, model, X, y, cv)
    rng = np.random.default_rng(random_state)
    observed = float(getattr(of(np.arange(size)), criterion))
    found = np.empty(int(shuffles))
    with Progress("shuffling", len(found), "shuffles") as progress:
        for b in range(len(found)):
            found[b] = getattr(of(rng.permutation(size)), criterion)
            progress.add(1)
    # Losses that are equal but for rounding are ties.
    no_larger = int((found <= observed + 1e-12 * abs(observed)).sum())
    return PermutationTest(observed, found, (1 + no_larger) / (1 + len(found)), criterion)


# The number of rows, and the cross-validation of the rows with the labels of others: a permutation says whose.
Shuffled = tuple[int, Callable[[Index], CrossValidation]]


def _by_recipe(recipe: Recipe[Any], model: Any, X: Any, y: Any, cv: Any) -> Shuffled:
    """The rows are read and coded once."""
    trial = Trial.of(recipe, model, X, y, None)

    def of(order: Index) -> CrossValidation:
        shuffled = replace(trial, block=replace(trial.block, codes=trial.block.codes[order]))
        folds = fold_numbers(cv, shuffled.block.codes)
        return result_of(shuffled.block, folds, *shuffled.run(folds))

    return len(trial.block), of


def _by_table(model: Any, X: Any, y: Any, cv: Any) -> Shuffled:
    rows = TableRows(X, y)
    table, labels = rows.take(np.arange(rows.n))
    return rows.n, lambda order: cross_validate(model, table, labels[order], cv=cv)
