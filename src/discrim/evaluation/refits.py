"""Cross-validation of any scikit-learn classifier: one fit a fold."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import has_fit_parameter

from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.evaluation.held_out import HeldOut
from discrim.models.beyond import posteriors_of
from discrim.sources import Scan, check_structure, check_weights, code_labels, in_memory, open_rows
from discrim.sources.rows import check_labelled
from discrim.statistics.folds import Folds
from discrim.typing import Index


class OrdinaryTrial:
    """A classifier of which nothing is known but ``fit`` and ``predict``, and rows to try it on."""

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any) -> None:
        if not is_classifier(model):
            raise ParameterError.bad_value("model", model, "a scikit-learn classifier")
        self.model = model
        self.block: Block
        self._take: Callable[[Index], Any]
        if isinstance(X, Scan):
            if y is None:
                check_labelled(X)
            self.block = in_memory(open_rows(X, y, sample_weight), first_read=True)
            x = np.asarray(self.block.x)
            self._take = lambda rows: x[rows]
        else:
            if y is None:
                raise DataError("cross_validate requires y to be passed, but the target y is None.")
            check_structure(X)
            check_consistent_length(X, y)
            classes, codes = code_labels(y)
            weight = check_weights(sample_weight, len(codes))
            self.block = Block(np.empty((len(codes), 0)), codes, classes, weight)
            self._take = lambda rows: _safe_indexing(X, rows)
        if self.block.weight is not None and not takes_weights(model):
            raise ParameterError(f"{type(model).__name__}.fit takes no sample_weight; leave the weights out.")

    def run(self, folds: Folds) -> tuple[HeldOut, str]:
        block = self.block
        held = HeldOut(len(block), len(block.classes))
        for f in range(len(folds.parts)):
            train, test = folds.train(f), folds.test(f)
            weights = {} if block.weight is None else {"sample_weight": block.weight[train]}
            model = clone(self.model).fit(self._take(train), block.classes[block.codes[train]], **weights)
            put_answers(held, model, self._take(test), test, block.classes)
        return held, "refits"


def put_answers(held: HeldOut, model: Any, X: Any, test: Index, classes: NDArray[Any]) -> None:
    """What a fitted classifier says of the rows ``test``, which are X."""
    known = np.searchsorted(classes, model.classes_)
    best = np.searchsorted(model.classes_, model.predict(X))
    posteriors = posteriors_of(model)
    held.put(test, known, None if posteriors is None else posteriors(X), best)
    if posteriors is None and len(known) == len(classes) == 2 and hasattr(model, "decision_function"):
        held.margin[test] = model.decision_function(X)


def takes_weights(model: Any) -> bool:
    """Does ``fit`` take ``sample_weight``, or hand it on to an estimator inside that does?"""
    if has_fit_parameter(model, "sample_weight"):
        return True
    hands_on = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(model.fit).parameters.values())
    return hands_on and hasattr(model, "estimator") and takes_weights(model.estimator)
