"""What the models of mixed columns share: how they read them, and what each column contributes."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from discrim.families.mixed.recipe import AdditiveRecipe
from discrim.families.mixed.rule import AdditiveRule
from discrim.families.rule import Output
from discrim.models.scoring import each_block, unscored
from discrim.models.shell import RecipeClassifier
from discrim.sources import Scan, Schema, is_query, open_mixed, require_labels, scan
from discrim.sources.rows import check_labelled
from discrim.typing import Floats


class MixedClassifier(RecipeClassifier):
    """A naive Bayes model whose columns are numbers or levels."""

    _design: Schema  # type: ignore[assignment]

    @abstractmethod
    def recipe(self) -> AdditiveRecipe[Any]:
        """The model that these parameters describe."""

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """log pi_k + log likelihood of the row in class k, n x K."""
        return self._apply(X, Output.SCORES)

    def contributions(self, X: Any) -> Floats:
        """What each column adds to the score of each class, n x K x p: log p(x_j | class k).

        With ``class_log_prior_`` they sum to ``predict_joint_log_proba``; differences between two classes are the
        terms of their log odds. A missing value adds nothing.
        """
        rule, rows = self._additive, self.rows_of(X)
        parts = each_block(rows, lambda x: (rule.contributions(x), not np.isinf(x.numbers).any()))
        if not all(finite for _, finite in parts):
            raise unscored(rows)
        return np.concatenate([part for part, _ in parts])

    def _read(self, X: Any, y: Any, sample_weight: Any, *, design: Any = None, labelled: bool = True) -> Any:
        X = scan(X) if is_query(X, y, sample_weight) else X
        if labelled:
            require_labels(type(self).__name__, X, y)
        if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
            check_array(X, ensure_all_finite=False)  # raises, and says how to reshape
        if design is not None and not isinstance(X, Scan):
            validate_data(self, X, reset=False, skip_check_array=True)
        recipe = self.recipe()
        check = None if design is None else partial(recipe.checked, columns=design, like=self.statistic_)
        rows = open_mixed(X, y, sample_weight, schema=design, check=check)
        if labelled:
            check_labelled(rows)
        if design is not None:
            return rows
        levelled = recipe.levelled(rows.design)
        return rows.reading(levelled, partial(recipe.checked, columns=rows.design.reading(levelled), like=None))

    @property
    def _additive(self) -> AdditiveRule:
        rule = self.solution().rule
        assert isinstance(rule, AdditiveRule)
        return rule
