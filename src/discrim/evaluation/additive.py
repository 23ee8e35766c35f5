"""Cross-validation of naive Bayes for mixed columns: from merged statistics, or by refitting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from discrim.evaluation.held_out import HeldOut, Index
from discrim.models.additive import AdditiveClassifier, answers
from discrim.models.parameters import check_parameters
from discrim.models.scoring import Output
from discrim.models.tuning import Folds
from discrim.sources import MixedBlock, join_blocks


class AdditiveTrial:
    """A model and the rows that it is to be tried on, read into memory and coded once."""

    def __init__(self, model: AdditiveClassifier[Any], X: Any, y: Any, sample_weight: Any) -> None:
        check_parameters(model, model._constraints)
        self._probe: Any = clone(model)
        rows = self._probe._open(X, y, sample_weight, reset=True)
        self.block: MixedBlock = join_blocks(self._probe._each(rows, lambda block: block))

    def run(self, folds: Folds) -> tuple[HeldOut, str]:
        """The held-out predictions, and how they were found."""
        held = HeldOut(len(self.block), len(self.block.classes))
        numbers = range(len(folds.parts))
        if folds.complementary:
            parts = [self._of(folds.test(f)) for f in numbers]
            statistics: Iterable[Any]
            statistics, route = _others(parts, self._probe._combine), "statistics"
        else:
            statistics, route = (self._of(folds.train(f)) for f in numbers), "refits"
        for f, statistic in enumerate(statistics):
            self._predict(statistic, folds.test(f), held)
        return held, route

    def _of(self, rows: Index) -> Any:
        part = self.block.take(rows)
        # A class without rows in this part is not known to its model.
        present, codes = np.unique(part.codes, return_inverse=True)
        return self._probe._of_block(replace(part, codes=codes.astype(np.int32), classes=part.classes[present]))

    def _predict(self, statistic: Any, test: Index, held: HeldOut) -> None:
        known = np.searchsorted(self.block.classes, statistic.classes)
        model: Any = clone(self._probe)
        model._design, model.n_features_in_, model._unsolved = self._probe._design, self._probe.n_features_in_, None
        given = model.class_prior
        if given is not None and len(known) < len(self.block.classes) == len(given):
            # Of a class that does not occur nothing is known; the others share its prior.
            left = np.asarray(given, dtype=np.float64)[known]
            model.class_prior = left / left.sum() if left.sum() > 0 else left
        model.classes_ = statistic.classes
        model._rule, _ = model._solved(statistic, None)
        scores = model._scores(self.block.take(test))
        best = scores.argmax(axis=0)
        held.put(test, known, answers(scores, Output.POSTERIOR), best)


def _others(parts: list[Any], combine: Callable[[list[Any]], Any]) -> Iterator[Any]:
    """For each part the statistic of all others, by merging from both ends: nothing is subtracted."""
    after = parts[-1:]
    for part in parts[-2:0:-1]:
        after.append(combine([part, after[-1]]))
    before: list[Any] = []
    for part in parts:
        yield combine([*before, *after[-1:]])
        before = [combine([*before, part])]
        del after[-1:]
