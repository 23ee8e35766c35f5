"""Cross-validation: posteriors of rows by models that never saw them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.evaluation.held_out import HeldOut
from discrim.evaluation.refits import OrdinaryTrial
from discrim.evaluation.resampling import Trial
from discrim.models.shell import recipe_of
from discrim.statistics.folds import Folds, fold_numbers
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Out-of-fold predictions.

    ``posterior`` is n x K with columns as ``classes``, ``predicted`` the labels, ``folds`` the number of the
    fold that held each row out. ``error`` is the share of wrong predictions and ``log_loss`` the mean of
    -log posterior of the true class, both weighted where rows are. ``route`` says how it was computed:
    'statistics' (merged fold statistics), 'closed form' (leave-one-out) or 'refits'.

    A class that is absent from a training part has the posterior zero there. A classifier without
    ``predict_proba`` has one for the predicted class, and no ``log_loss`` (NaN).
    """

    posterior: Floats
    predicted: NDArray[Any]
    classes: NDArray[Any]
    folds: NDArray[np.int32]
    error: float
    log_loss: float
    route: str

    def __repr__(self) -> str:
        size = len(np.unique(self.folds))
        figures = f"error={self.error:.4g}, log_loss={self.log_loss:.4g}"
        return f"CrossValidation({size} folds, {figures}, by {self.route})"


def cross_validate(
    model: Any, X: Any, y: Any = None, cv: Any = 10, *, sample_weight: Any = None, groups: Any = None
) -> CrossValidation:
    """Predict every row by a model fitted without it; the result is that of refitting, to rounding.

    ``cv`` is a number of (stratified) folds, "loo" for leaving out one row at a time, or a splitter that
    holds out every row once; ``groups`` is handed to it. The one-pass models read the rows twice whatever
    the number of folds, by merging the statistics of the other folds, or use closed forms for "loo". Any
    other scikit-learn classifier is refitted. The rows of a ``scan`` are read into memory.
    """
    trial = kind_of_trial(model)(model, X, y, sample_weight)
    folds = fold_numbers(cv, trial.block.codes, groups)
    return result_of(trial.block, folds, *trial.run(folds))


def kind_of_trial(model: Any) -> Any:
    """Who tries a model on rows ``(model, X, y, sample_weight)``."""
    recipe = recipe_of(model)
    if recipe is not None:
        return partial(Trial.of, recipe)
    return OrdinaryTrial


def result_of(block: Block, folds: Folds, held: HeldOut, route: str) -> CrossValidation:
    weight = np.ones(len(block)) if block.weight is None else block.weight
    error = float(np.average(held.best != block.codes, weights=weight))
    own = held.posterior[np.arange(len(block)), block.codes]
    # The loss of a row whose class got no probability at all stays finite, so that means still compare.
    losses = -np.log(np.maximum(own, np.finfo(float).tiny))
    log_loss = float(np.average(losses, weights=weight)) if held.has_posterior else np.nan
    predicted = block.classes[held.best]
    return CrossValidation(held.posterior, predicted, block.classes, folds.number, error, log_loss, route)
