"""Cross-validation: posteriors of rows by models that never saw them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from discrim.errors import DataError, ParameterError
from discrim.evaluation.closed_forms import leave_one_out_scores
from discrim.models.base import OnePassClassifier
from discrim.models.scoring import Output, apply_rule
from discrim.models.tuning import fold_statistics, in_memory, training_statistics
from discrim.solvers.sphering import IllConditionedError
from discrim.sources import Block, Scan, code_labels, open_rows
from discrim.statistics import ClassMoments

Floats = NDArray[np.float64]
Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Out-of-fold predictions.

    ``posterior`` is n x K with columns as ``classes``, ``predicted`` the labels, ``folds`` the number of the fold
    that held each row out. ``error`` is the share of wrong predictions and ``log_loss`` the mean of
    -log posterior of the true class, both weighted where rows are. ``route`` says how it was computed:
    'statistics' (merged fold statistics), 'closed form' (leave-one-out) or 'refits'.
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
        return f"CrossValidation({size} folds, error={self.error:.4g}, log_loss={self.log_loss:.4g}, by {self.route})"


def cross_validate(
    model: Any, X: Any, y: Any = None, cv: Any = 10, *, sample_weight: Any = None, groups: Any = None
) -> CrossValidation:
    """Predict every row by a model fitted without it; the result is exactly that of refitting.

    ``cv`` is a number of (stratified) folds, "loo" for leaving out one row at a time, or a splitter that holds out
    every row once. The one-pass models read the rows twice whatever the number of folds, by merging the statistics
    of the other folds, or use closed forms for "loo". Any other scikit-learn classifier is refitted.
    """
    block = _block(model, X, y, sample_weight)
    if isinstance(cv, str) and cv != "loo":
        raise ParameterError.bad_value("cv", cv, "a number of folds, 'loo' or a splitter")
    problem = _Problem(model, X, block)
    if isinstance(cv, str):
        return problem.result(*problem.leave_one_out(), np.arange(len(block), dtype=np.int32))
    splitter = check_cv(cv, y=block.codes, classifier=True)
    splits = list(splitter.split(np.zeros((len(block), 1)), block.codes, groups))
    fold = _fold_numbers(splits, len(block))
    return problem.result(*problem.folds(splits, fold), fold)


@dataclass(frozen=True)
class _Problem:
    """A model and the rows that it is to be tried on."""

    model: Any
    X: Any
    block: Block

    def folds(self, splits: Splits, fold: NDArray[np.int32]) -> tuple[Floats, NDArray[np.intp], str]:
        model = self.model
        if isinstance(model, OnePassClassifier) and not model._needs_rows() and self._is_complement(splits):
            merged = self._by_statistics(fold)
            if merged is not None:
                return *merged, "statistics"
        return *self._by_refits(iter(splits)), "refits"

    def leave_one_out(self) -> tuple[Floats, NDArray[np.intp], str]:
        n = len(self.block)
        scores = leave_one_out_scores(self.model, self.block) if isinstance(self.model, OnePassClassifier) else None
        rows = np.arange(n)
        if scores is None:
            return *self._by_refits((np.delete(rows, i), rows[i : i + 1]) for i in range(n)), "refits"
        undefined = np.flatnonzero(np.isnan(scores).any(axis=1))
        posterior = _softmax(scores)
        best = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)
        if len(undefined):
            again = self._by_refits((np.delete(rows, i), rows[i : i + 1]) for i in undefined)
            posterior[undefined], best[undefined] = again[0][undefined], again[1][undefined]
        return posterior, best, "closed form"

    def result(
        self, posterior: Floats, best: NDArray[np.intp], route: str, fold: NDArray[np.int32]
    ) -> CrossValidation:
        block = self.block
        weight = np.ones(len(block)) if block.weight is None else block.weight
        own = posterior[np.arange(len(block)), block.codes]
        loss = -np.log(np.clip(own, np.finfo(float).tiny, None))
        error = float(np.average(best != block.codes, weights=weight))
        log_loss = float(np.average(loss, weights=weight))
        return CrossValidation(posterior, block.classes[best], block.classes, fold, error, log_loss, route)

    def _is_complement(self, splits: Splits) -> bool:
        """Does every training part hold all rows that are not held out?"""
        return all(len(train) + len(test) == len(self.block) for train, test in splits)

    def _by_statistics(self, fold: NDArray[np.int32]) -> tuple[Floats, NDArray[np.intp]] | None:
        """Every fold's model from the merged statistics of the others; None where the scatter is too ill for that."""
        block = self.block
        x = np.asarray(block.x)
        size = len(block.classes)
        train_rows = len(block) - np.bincount(fold).max()
        if self.model._thin_for_wide and train_rows <= x.shape[1]:
            return None
        posterior, best = np.zeros((len(block), size)), np.zeros(len(block), dtype=np.intp)
        parts = fold_statistics(block, x, fold, self.model._depth(size))
        for f, statistic in enumerate(training_statistics(parts)):
            model = clone(self.model)
            model.n_features_in_, model._design = x.shape[1], open_rows(x).design
            known = statistic.weight > 0
            try:
                model._rule = model._solve(_present(statistic, known), None, reread=True)
            except IllConditionedError:
                return None
            model._unsolved, model.statistic_, model.classes_ = None, statistic, np.flatnonzero(known)
            test = np.flatnonzero(fold == f)
            posterior[np.ix_(test, np.flatnonzero(known))] = model._apply(x[test], Output.POSTERIOR)
            best[test] = np.flatnonzero(known)[model._apply(x[test], Output.BEST)]
        return posterior, best

    def _by_refits(self, splits: Iterator[tuple[Any, Any]]) -> tuple[Floats, NDArray[np.intp]]:
        block = self.block
        posterior, best = np.zeros((len(block), len(block.classes))), np.zeros(len(block), dtype=np.intp)
        frame = _row_selector(self.X, block)
        for train, test in splits:
            model = clone(self.model)
            labels = block.classes[block.codes[train]]
            weights = {} if block.weight is None else {"sample_weight": block.weight[train]}
            model.fit(frame(train), labels, **weights)
            known = np.searchsorted(block.classes, model.classes_)
            best[test] = np.searchsorted(block.classes, model.predict(frame(test)))
            if hasattr(model, "predict_proba"):
                posterior[np.ix_(test, known)] = model.predict_proba(frame(test))
            else:
                posterior[test, best[test]] = 1.0
        return posterior, best


def _block(model: Any, X: Any, y: Any, sample_weight: Any) -> Block:
    """All rows as one block; X as the model will see it."""
    if isinstance(X, Scan):
        if not X.labelled:
            raise DataError("The scan names no target. Say which column holds the labels: scan(data, target=...).")
        return in_memory(X)
    if y is None:
        raise DataError("Labels y are needed to cross-validate.")
    if isinstance(model, OnePassClassifier):
        probe = clone(model)
        return in_memory(probe._open(X, y, sample_weight, reset=True))
    classes, codes = code_labels(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return Block(np.empty((len(codes), 0)), codes, classes, weight)


def _row_selector(X: Any, block: Block) -> Any:
    """A function that takes rows of X by number, whatever X is."""
    if isinstance(X, Scan):
        return lambda rows: np.asarray(block.x)[rows]
    from sklearn.utils import _safe_indexing

    return lambda rows: _safe_indexing(X, rows)


def _fold_numbers(splits: Splits, n: int) -> NDArray[np.int32]:
    fold = np.full(n, -1, dtype=np.int32)
    for f, (_, test) in enumerate(splits):
        if (fold[test] >= 0).any():
            raise ParameterError("The 'cv' parameter holds some rows out twice; use a splitter that holds each out once.")
        fold[test] = f
    if (fold < 0).any():
        raise ParameterError(f"The 'cv' parameter never holds out {(fold < 0).sum()} of the rows; hold each out once.")
    return fold


def _present(statistic: ClassMoments, known: NDArray[np.bool_]) -> ClassMoments:
    """The statistic of the classes that occur, numbered as they are in the whole."""
    from dataclasses import replace

    labelled = replace(statistic, classes=np.arange(len(known)))
    return labelled._only(known)


def _softmax(scores: Floats) -> Floats:
    top = np.where(np.isnan(scores), -np.inf, scores).max(axis=1, keepdims=True)
    e = np.exp(scores - top)
    return np.asarray(e / e.sum(axis=1, keepdims=True))
