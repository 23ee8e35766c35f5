"""Cross-validation of the one-pass models: from merged statistics, in closed form, or by refitting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.evaluation.held_out import HeldOut
from discrim.evaluation.resampling import MOST_NUMBERS, FoldStates
from discrim.families.gaussian.covariance import IllConditionedError
from discrim.families.rule import Output
from discrim.models.base import OnePassClassifier
from discrim.models.parameters import check_parameters
from discrim.parallel import blas_threads
from discrim.sources import Column, Design, find_non_finite, in_memory, open_rows
from discrim.statistics import ClassMoments, Depth, MomentsOf, merge_moments
from discrim.statistics.folds import Folds, of_folds, of_others
from discrim.typing import Index


class OnePassTrial:
    """A one-pass model and the rows that it is to be tried on, read into memory and coded once."""

    def __init__(self, model: OnePassClassifier, X: Any, y: Any, sample_weight: Any) -> None:
        check_parameters(model, model._constraints)
        probe = clone(model)
        rows = probe._open(X, y, sample_weight, reset=True)
        self.model = model
        self.block = in_memory(rows, first_read=True)
        self.x: NDArray[Any] = np.asarray(self.block.x)
        self._shared: FoldStates | None = None
        self._design = probe._design
        if self._design.named or self._design.n_in != self.x.shape[1]:
            # Categories and products of columns are columns of their own from here on.
            self._design = Design([Column(name) for name in probe._names], self.x.dtype)
        if not np.isfinite(self.x.sum()):
            error = find_non_finite(rows if rows.rereadable else open_rows(self.x, design=self._design))
            if error is not None:
                raise error

    @classmethod
    def sharing(cls, model: OnePassClassifier, block: Block, design: Design, shared: FoldStates | None) -> Self:
        """The same for rows that are coded and finite, with statistics that other models use too."""
        check_parameters(model, model._constraints)
        trial = cls.__new__(cls)
        trial.model, trial.block, trial._design, trial._shared = model, block, design, shared
        trial.x = np.asarray(block.x)
        return trial

    def run(self, folds: Folds) -> tuple[HeldOut, str]:
        """The held-out predictions, and how they were found."""
        with blas_threads(min(self.x.shape)):
            return self._run(folds)

    def _run(self, folds: Folds) -> tuple[HeldOut, str]:
        if folds.one_at_a_time:
            # Read late: it knows all models, and most of them are not needed.
            from discrim.evaluation.closed_forms import leave_one_out_scores

            scores = leave_one_out_scores(self.model, self.block)
            if scores is not None:
                held = HeldOut.of_scores(scores)
                undefined = np.flatnonzero(np.isnan(scores).any(axis=1))
                self._refit(held, folds, folds.number[undefined])
                return held, "closed form"
        if folds.complementary and not self.model._needs_rows():
            merged = self._merge_statistics(folds)
            if merged is not None:
                return merged, "statistics"
        held = HeldOut(len(self.block), len(self.block.classes))
        self._refit(held, folds, range(len(folds.parts)))
        return held, "refits"

    def run_standardised(self, folds: Folds, numbers: Index) -> HeldOut | None:
        """Some folds, by a model on columns that are standardised by its training rows: from statistics, or not at all.

        None where there are more columns than training rows, or the statistics have too few digits.
        """
        x, size = self.x, len(self.block.classes)
        depth, fewest = self.model._depth(size), len(x) - int(np.bincount(folds.number).max())
        many = len(folds.parts) * numbers_of(depth, size, x.shape[1]) > MOST_NUMBERS
        if not folds.complementary or self.model._needs_rows() or fewest <= x.shape[1] or many:
            return None
        held, wanted = HeldOut(len(x), size), set(numbers.tolist())
        with blas_threads(x.shape[1]):
            try:
                for f, s in enumerate(self._training(x, folds, depth)):
                    if f not in wanted:
                        continue
                    known, test = self._classes_in(folds.train(f)), folds.test(f)
                    part = s.select(np.isin(np.arange(size), known))
                    centre, scale = part.units()
                    scaled = part.in_units(centre, scale)
                    model = self._solved(scaled, known, x.shape[1])
                    z = (x[test] - centre) / scale
                    held.put(test, known, model._apply(z, Output.POSTERIOR), model._apply(z, Output.BEST))
            except IllConditionedError:
                return None
        return held

    def _merge_statistics(self, folds: Folds) -> HeldOut | None:
        """Every fold's model from the statistics of the others; None where these have too few digits."""
        x, size = self.x, len(self.block.classes)
        depth, fewest = self.model._depth(size), len(x) - int(np.bincount(folds.number).max())
        wide = self.model._thin_for_wide and fewest <= x.shape[1]
        width = min(x.shape) if wide else x.shape[1]
        if len(folds.parts) * numbers_of(depth, size, width) > MOST_NUMBERS:
            return None
        if wide:
            from discrim.evaluation.wide import rotated_rows

            narrow = rotated_rows(self.model, x)
            if narrow is None:
                return None
            x = narrow
        held = HeldOut(len(x), size)
        try:
            for f, s in enumerate(self._training(x, folds, depth)):
                known = self._classes_in(folds.train(f))
                model = self._solved(s.select(np.isin(np.arange(size), known)), known, x.shape[1])
                self._predict(model, x, folds.test(f), known, held)
        except IllConditionedError:
            return None
        return held

    def _solved(self, statistic: ClassMoments, known: Index, width: int) -> Any:
        """The model of rows of the classes ``known`` by their statistic."""
        model = self._blank(known, width)
        model.statistic_, model.classes_ = statistic, statistic.classes
        model._rule = model._solve(statistic, None, reread=True)
        return model

    def _training(self, x: NDArray[Any], folds: Folds, depth: Depth) -> Iterable[ClassMoments]:
        if self._shared is not None and x is self.x:
            return self._shared.training(MomentsOf(depth))
        parts = of_folds(replace(self.block, x=x), folds, partial(ClassMoments.of, depth=depth))
        return of_others(parts, merge_moments)

    def _refit(self, held: HeldOut, folds: Folds, numbers: Iterable[int]) -> None:
        """Fit anew without each of these folds, and fill in the predictions for it."""
        block = self.block
        for f in numbers:
            train = folds.train(f)
            known = self._classes_in(train)
            model = self._blank(known, self.x.shape[1])
            weight = None if block.weight is None else block.weight[train]
            rows = open_rows(self.x[train], block.classes[block.codes[train]], weight, design=model._design)
            model._learn(model._reduce(rows, thin=False), rows)
            self._predict(model, self.x, folds.test(f), known, held)

    def _classes_in(self, rows: Index) -> Index:
        return np.flatnonzero(np.bincount(self.block.codes[rows], minlength=len(self.block.classes)))

    def _blank(self, known: Index, width: int) -> Any:
        """The model before it is fitted to coded rows of the classes ``known``."""
        model: Any = clone(self.model)
        model.n_features_in_, model._unsolved = width, None
        model._design = self._design if width == self._design.n_in else Design.unnamed(width, np.float64)
        if getattr(model, "basis", None) is not None:
            model.basis = None
        given = getattr(model, "priors", None)
        if given is not None and len(known) < len(self.block.classes) == len(given):
            # Of a class that does not occur nothing is known; the others share its prior.
            left = np.asarray(given, dtype=np.float64)[known]
            model.priors = left / left.sum() if left.sum() > 0 else left
        return model

    @staticmethod
    def _predict(model: Any, x: NDArray[Any], test: Index, known: Index, held: HeldOut) -> None:
        rows = x[test]
        held.put(test, known, model._apply(rows, Output.POSTERIOR), model._apply(rows, Output.BEST))


def numbers_of(depth: Depth, classes: int, p: int) -> int:
    """How many numbers a statistic has."""
    return {Depth.DIAGONAL: classes * p, Depth.POOLED: p * p, Depth.FULL: classes * p * p}[depth]
