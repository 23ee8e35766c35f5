"""Cross-validation of naive Bayes of counts: from merged statistics or in closed form, on rows that stay sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from discrim.block import Block
from discrim.evaluation.held_out import HeldOut
from discrim.families.rule import Output
from discrim.models.counts_base import CountsClassifier
from discrim.models.parameters import check_parameters
from discrim.models.smoothing import (
    fold_counts,
    held_out,
    leave_one_out_scores,
)
from discrim.sources import Design, in_memory_sparse, open_rows
from discrim.statistics import ClassCounts, merge_counts
from discrim.statistics.folds import Folds, of_others
from discrim.typing import Index


class CountsTrial:
    """A model of counts and the rows that it is to be tried on, read into memory and coded once."""

    def __init__(self, model: CountsClassifier, X: Any, y: Any, sample_weight: Any) -> None:
        check_parameters(model, model._constraints)
        probe = clone(model)
        rows = probe._open(X, y, sample_weight, reset=True)
        self.model = model
        self.block = in_memory_sparse(rows, first_read=True)
        self._statistic: ClassCounts = probe._collect(rows if rows.rereadable else self._opened(self.block), None)

    def run(self, folds: Folds) -> tuple[HeldOut, str]:
        """The held-out predictions, and how they were found."""
        if isinstance(self.model.alpha, str) or getattr(self.model, "tune_intercept", False):
            return self._refit(folds), "refits"
        if folds.one_at_a_time:
            model = self._blank(np.arange(len(self.block.classes)))
            if self._always_positive(model):
                alpha = model._check_alpha()
                return HeldOut.of_scores(leave_one_out_scores(model, self.block, self._statistic, alpha)), "closed form"
        if folds.complementary:
            return self._merge_statistics(folds), "statistics"
        return self._refit(folds), "refits"

    def _merge_statistics(self, folds: Folds) -> HeldOut:
        held = HeldOut(len(self.block), len(self.block.classes))
        for f, s in enumerate(of_others(fold_counts(self.model, held_out(self.block, folds)), merge_counts)):
            # A class is known by its rows, though their weights be zero.
            known = self._classes_in(folds.train(f))
            model = self._blank(known)
            model._learn(s.select(np.isin(np.arange(len(s.classes)), known)), None)
            self._predict(model._check_solved(), folds.test(f), known, held)
        return held

    def _refit(self, folds: Folds) -> HeldOut:
        held = HeldOut(len(self.block), len(self.block.classes))
        for f in range(len(folds.parts)):
            train = folds.train(f)
            known = self._classes_in(train)
            model, rows = self._blank(known), self._opened(self.block.take(train))
            model._learn(model._collect(rows, None), rows)
            self._predict(model, folds.test(f), known, held)
        return held

    def _always_positive(self, model: CountsClassifier) -> bool:
        """Is every probability positive, whatever row has left?"""
        priors = (model._check_alpha(),) if getattr(model, "beta", None) is None else model._family().beta  # type: ignore[union-attr]
        return all((np.asarray(part) > 0).all() for part in priors or ())

    def _classes_in(self, rows: Index) -> Index:
        return np.flatnonzero(np.bincount(self.block.codes[rows], minlength=len(self.block.classes)))

    def _blank(self, known: Index) -> Any:
        """The model before it is fitted to coded rows of the classes ``known``."""
        model: Any = clone(self.model)
        x, size = self.block.x, len(self.block.classes)
        model.n_features_in_, model._design = x.shape[1], Design.unnamed(x.shape[1], x.dtype)
        for name in ("class_prior", "class_alpha"):
            given = getattr(model, name)
            if np.ndim(given) == 1 and len(known) < size == len(given):
                # Of a class that does not occur nothing is known; the others share its prior.
                setattr(model, name, np.asarray(given, dtype=np.float64)[known])
        return model

    def _predict(self, model: Any, test: Index, known: Index, held: HeldOut) -> None:
        rows = self.block.x[test]
        held.put(test, known, model._apply(rows, Output.POSTERIOR), model._apply(rows, Output.BEST))

    @staticmethod
    def _opened(block: Block) -> Any:
        design = Design.unnamed(block.x.shape[1], block.x.dtype)
        return open_rows(block.x, block.classes[block.codes], block.weight, design=design)
