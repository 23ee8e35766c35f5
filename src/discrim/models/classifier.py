"""What all classifiers share: rows in, a rule, answers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, validate_data

from discrim.inference.summary import Summary
from discrim.models.parameters import Check
from discrim.models.scoring import Output, apply_rule, score_margin
from discrim.solvers.rules import Rule
from discrim.sources import Design, MappedScan, Rows, Scan, open_rows
from discrim.sources.rows import check_labelled


class Classifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier whose answers follow from a rule on the columns of a design."""

    _constraints: ClassVar[Mapping[str, Check]] = {}

    classes_: NDArray[Any]
    n_features_in_: int
    _rule: Rule
    _design: Design

    @abstractmethod
    def _check_solved(self) -> Self:
        """Itself, if there is a rule; else the error that says why not."""

    @abstractmethod
    def _summarise(self) -> Summary: ...

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n."""
        if len(self._check_solved().classes_) == 2:
            return score_margin(self._rule, self._open(X, None, None, reset=False, labelled=False))
        scores = self._apply(X, Output.SCORES)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score."""
        best = self._apply(X, Output.BEST)
        return np.asarray(self.classes_.take(best))

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Posterior probabilities, n x K, columns as ``classes_``."""
        return self._apply(X, Output.POSTERIOR)

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the posteriors, exact where these underflow."""
        return self._apply(X, Output.LOG_POSTERIOR)

    def summary(self) -> Summary:
        """What was learned, for reading: prints as text, renders in a notebook, converts to a frame."""
        self._check_solved()
        return self._summarise()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _renamed(self, names: list[str]) -> Self:
        """A copy whose columns have these names."""
        other = copy(self)
        other._design = self._design.renamed(names)
        return other

    @property
    def _names(self) -> list[str]:
        """Names of the columns of the design, categories expanded."""
        return self._design.names_out

    @property
    def _eps(self) -> float:
        return float(np.finfo(self._design.dtype).eps)

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        self._check_solved()
        return apply_rule(self._rule, self._open(X, None, None, reset=False, labelled=False), output)

    def _open(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, labelled: bool = True) -> Rows:
        """The rows of X, checked against the columns that the model knows."""
        if isinstance(X, Scan):
            return self._open_scan(X, y, sample_weight, reset=reset, labelled=labelled)
        if labelled and y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
            check_array(X, ensure_all_finite=False)  # raises, and tells how to reshape
        # Opened first where columns are new, so that a bad table is told by its columns' names.
        rows = open_rows(X, y, sample_weight) if reset else None
        plain = type(X) is np.ndarray and X.dtype.kind == "f"
        if not (plain and (reset or (X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_")))):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        if rows is None:
            return open_rows(X, y, sample_weight, design=self._design)
        self._design = rows.design
        return rows

    def _open_scan(self, X: Scan, y: Any, sample_weight: Any, *, reset: bool, labelled: bool) -> Rows:
        rows = open_rows(X, y, sample_weight, design=None if reset else self._design)
        if labelled:
            check_labelled(rows)
        if reset:
            self._design = rows.design
            self.n_features_in_ = rows.design.n_in
            self.__dict__.pop("feature_names_in_", None)
            # The columns of a basis have names for the summary, but come without them from arrays and frames.
            if not isinstance(rows, MappedScan):
                self.feature_names_in_ = np.array(rows.design.names_in, dtype=object)
        return rows
