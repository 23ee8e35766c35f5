"""Cross-validation of naive Bayes for mixed columns: from merged statistics, or by refitting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from discrim.block import MixedBlock, join_mixed
from discrim.evaluation.held_out import HeldOut
from discrim.families.rule import Output
from discrim.models.additive import AdditiveClassifier, answers
from discrim.models.parameters import check_parameters
from discrim.statistics.folds import Folds, of_others
from discrim.typing import Index


class AdditiveTrial:
    """A model and the rows that it is to be tried on, read into memory and coded once."""

    def __init__(self, model: AdditiveClassifier[Any], X: Any, y: Any, sample_weight: Any) -> None:
        check_parameters(model, model._constraints)
        self._probe: Any = clone(model)
        rows = self._probe._open(X, y, sample_weight, reset=True)
        self.block: MixedBlock = join_mixed(self._probe._each(rows, lambda block: block))

    def run(self, folds: Folds) -> tuple[HeldOut, str]:
        """The held-out predictions, and how they were found."""
        held = HeldOut(len(self.block), len(self.block.classes))
        numbers = range(len(folds.parts))
        if folds.complementary:
            parts = [self._of(folds.test(f)) for f in numbers]
            statistics: Iterable[Any]
            statistics, route = of_others(parts, self._probe._combine), "statistics"
        else:
            statistics, route = (self._of(folds.train(f)) for f in numbers), "refits"
        for f, statistic in enumerate(statistics):
            self._predict(statistic, folds.test(f), held)
        return held, route

    def _of(self, rows: Index) -> Any:
        # A class without rows in this part is not known to its model.
        return self._probe._of_block(self.block.take(rows).present())

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
