"""Cross-validation: posteriors of rows by models that never saw them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import has_fit_parameter

from discrim.block import Block
from discrim.engines.keyed import is_large
from discrim.errors import ParameterError
from discrim.evaluation.confusion_matrix import confusion
from discrim.evaluation.folds_of_scan import judged
from discrim.evaluation.resampling import HeldOut, Trial, log_losses
from discrim.families.recipe import Recipe
from discrim.models.beyond import posteriors_of
from discrim.models.shell import recipe_of
from discrim.sources import Scan, check_structure, check_weights, code_labels, in_memory, open_rows, require_labels
from discrim.sources.rows import as_rows_are, check_labelled
from discrim.statistics.folds import Folds, fold_numbers
from discrim.typing import Floats, Index

NEEDS_ROWS = "This classifier needs its rows there: give it some of them, or use compare, which judges by a sample."


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Out-of-fold predictions.

    ``posterior`` is n x K with columns as ``classes``, ``predicted`` the labels and ``y`` the true ones, ``folds`` the
    number of the fold that held each row out. ``error`` is the share of wrong predictions and ``log_loss`` the mean of
    -log posterior of the true class, both weighted where rows are. ``route`` says how it was computed:
    'statistics' (merged fold statistics), 'closed form' (leave-one-out) or 'refits'.

    A row that is never held out has the fold -1, posteriors NaN and no prediction (None).
    A class that is absent from a training part has the posterior zero there. Its rows are ``unseen``, and count in the
    log loss with a posterior of 1 / (n + 1), whatever the model. A classifier without ``predict_proba`` has the
    posterior one for the predicted class, and no ``log_loss`` (NaN).

    Of a scan that is too large to be held in memory ``error`` and ``log_loss`` are those of all ``n_rows`` rows;
    ``posterior``, ``predicted``, ``folds`` and ``y`` are of 200,000 of them, drawn by a hash of the row number.
    """

    posterior: Floats
    predicted: NDArray[Any]
    classes: NDArray[Any]
    folds: NDArray[np.int32]
    error: float
    log_loss: float
    route: str
    y: NDArray[Any]
    unseen: NDArray[np.bool_]
    n_rows: int | None = None

    @classmethod
    def of_scan(cls, recipe: Recipe[Any], rows: Scan, cv: Any) -> CrossValidation:
        """Of a scan that is too large to be held in memory."""
        found, route = judged(recipe, rows, cv)
        block, held = found.block, found.held
        error = found.wrong / found.weight
        predicted, y = block.classes[held.best], block.classes[block.codes]
        loss = (found.loss + found.unseen_weight * np.log(found.rows + 1.0)) / found.weight
        log_loss = float(loss) if held.has_posterior else np.nan
        known = held.posterior, predicted, block.classes, found.folds, error, log_loss, route, y, found.unseen
        return cls(*known, found.rows)

    @classmethod
    def of(cls, block: Block, folds: Folds, held: HeldOut) -> CrossValidation:
        weight = np.ones(len(block)) if block.weight is None else block.weight
        never = folds.number < 0
        if never.any():
            weight = np.where(never, 0.0, weight)
        error = float(np.average(held.best != block.codes, weights=weight))
        unseen = held.unseen(block.codes)
        losses = log_losses(held.posterior, block.codes, unseen)
        log_loss = float(np.average(losses, weights=weight)) if held.has_posterior else np.nan
        predicted, y = block.classes[held.best], block.classes[block.codes]
        if never.any():
            held.posterior[never] = np.nan
            predicted = predicted.astype(object)
            predicted[never] = None
        return cls(held.posterior, predicted, block.classes, folds.number, error, log_loss, held.route, y, unseen)

    def plot(self, **options: Any) -> Any:
        """True labels against out-of-fold predictions, as matplotlib axes: ``discrim.plots.confusion``."""
        held_out = self.folds >= 0
        return confusion(self.y[held_out], self.predicted[held_out].astype(self.y.dtype)).plot(**options)

    def __repr__(self) -> str:
        size = len(np.unique(self.folds[self.folds >= 0]))
        figures = f"error={self.error:.4g}, log_loss={self.log_loss:.4g}"
        if self.n_rows is not None:
            figures = f"{self.n_rows:,} rows, {figures}"
        return f"CrossValidation({size} folds, {figures}, by {self.route})"


def cross_validate(
    model: Any, X: Any, y: Any = None, cv: Any = 10, *, sample_weight: Any = None, groups: Any = None
) -> CrossValidation:
    """Predict every row by a model fitted without it; the result is that of refitting, to rounding.

    ``cv`` is a number of (stratified) folds, "loo" for leaving out one row at a time, or a splitter that
    holds out every row once; ``groups`` is handed to it. The one-pass models read the rows twice whatever
    the number of folds, by merging the statistics of the other folds, or use closed forms for "loo". Any
    other scikit-learn classifier is refitted. The rows of a ``scan`` are read into memory, up to 67 million values.
    With more, folds are a hash of the row number, and the rows are read in passes: two for models of one pass, and
    those of a fit for each fold, and one, for the others.
    """
    rows = _large_scan(model, X, y, sample_weight)
    if rows is not None:
        recipe = recipe_of(model)
        if recipe is None or groups is not None:
            raise ParameterError(
                "The scan is too large to be held in memory. "
                + ("Rows are dealt by a hash of their numbers; leave groups out." if recipe else NEEDS_ROWS)
            )
        return CrossValidation.of_scan(recipe, rows, cv)
    trial = trial_of(model, X, y, sample_weight)
    folds = fold_numbers(cv, trial.block.codes, groups)
    return CrossValidation.of(trial.block, folds, trial.run(folds))


def _large_scan(model: Any, X: Any, y: Any, sample_weight: Any) -> Scan | None:
    """The rows, where they are a scan that is too large to be held in memory."""
    X, y, sample_weight = as_rows_are(X, y, sample_weight) if not isinstance(X, np.ndarray) else (X, y, sample_weight)
    if not isinstance(X, Scan) or y is not None or not is_large(X):
        return None
    check_labelled(X)
    rows = model.open_rows(X, y, sample_weight) if recipe_of(model) is not None else X
    assert isinstance(rows, Scan)
    return rows


def trial_of(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Trial | RefitTrial:
    """A model and the rows to try it on, read and coded."""
    recipe = recipe_of(model)
    return RefitTrial.of(model, X, y, sample_weight) if recipe is None else Trial.of(recipe, model, X, y, sample_weight)


@dataclass(frozen=True, eq=False)
class RefitTrial:
    """A classifier of which only ``fit`` and ``predict`` are known, and rows ``X`` to try it on.

    ``block`` has their labels and weights.
    """

    model: Any
    X: Any
    block: Block

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any = None) -> RefitTrial:
        if not is_classifier(model):
            raise ParameterError.bad_value("model", model, "a scikit-learn classifier")
        if isinstance(X, Scan):
            if y is None:
                check_labelled(X)
            block = in_memory(open_rows(X, y, sample_weight), first_read=True)
            X = np.asarray(block.x)
        else:
            if y is None and hasattr(model, "separated"):  # its formula names them
                X, y = model.separated(X)
            require_labels("cross_validate", X, y)
            check_structure(X)
            check_consistent_length(X, y)
            classes, codes = code_labels(y)
            block = Block(np.empty((len(codes), 0)), codes, classes, check_weights(sample_weight, len(codes)))
        check_takes_weights(model, block)
        return cls(model, X, block)

    def take(self, rows: Index) -> tuple[Any, NDArray[Any]]:
        """These rows and their labels."""
        return _safe_indexing(self.X, rows), self.block.classes[self.block.codes[rows]]

    def fit(self, rows: Index) -> Any:
        weights = {} if self.block.weight is None else {"sample_weight": self.block.weight[rows]}
        return clone(self.model).fit(*self.take(rows), **weights)

    def error(self, fitted: Any, rows: Index) -> float:
        """Share of these rows that the model misclassifies."""
        X, y = self.take(rows)
        return float(np.mean(fitted.predict(X) != y))

    def run(self, folds: Folds) -> HeldOut:
        held = HeldOut(len(self.block), len(self.block.classes))
        for f in range(len(folds.parts)):
            test = folds.test(f)
            put_predictions(held, self.fit(folds.train(f)), self.take(test)[0], test, self.block.classes)
        return held


def put_predictions(held: HeldOut, model: Any, X: Any, test: Index, classes: NDArray[Any]) -> None:
    """What a fitted classifier predicts for the rows ``test``, which are X."""
    known = np.searchsorted(classes, model.classes_)
    best = np.searchsorted(model.classes_, model.predict(X))
    posteriors = posteriors_of(model)
    held.put(test, known, None if posteriors is None else posteriors(X), best)
    if posteriors is None and len(known) == len(classes) == 2 and hasattr(model, "decision_function"):
        held.margin[test] = model.decision_function(X)


def check_takes_weights(model: Any, block: Block) -> None:
    """Refuse weights for a model that would ignore them."""
    if block.weight is not None and not _takes_weights(model):
        raise ParameterError(f"{type(model).__name__}.fit takes no sample_weight; leave the weights out.")


def _takes_weights(model: Any) -> bool:
    """Does ``fit`` take ``sample_weight``, or hand it on to an estimator inside that does?"""
    if has_fit_parameter(model, "sample_weight"):
        return True
    hands_on = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(model.fit).parameters.values())
    return hands_on and hasattr(model, "estimator") and _takes_weights(model.estimator)
