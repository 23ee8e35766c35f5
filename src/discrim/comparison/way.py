"""How a model of a comparison gets its columns: as they are, filled, or standardised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from discrim.comparison.prepared import PreparedClassifier
from discrim.comparison.rows import ComparedRows
from discrim.comparison.sizes import family_of
from discrim.errors import ParameterError
from discrim.evaluation.held_out import HeldOut
from discrim.evaluation.refits import put_answers
from discrim.families.recipe import Recipe
from discrim.families.rule import Output, score_rows
from discrim.models.shell import Classifier, recipe_of
from discrim.sources import Scan


def reads_mixed(recipe: Recipe[Any] | None) -> bool:
    """Does the model take categories and missing values as they are?"""
    return recipe is not None and recipe.reads == "mixed"


@dataclass(frozen=True)
class Way:
    """``fills`` gaps, marked by ``indicators`` or not; ``standardises``; or neither: the table as it came."""

    fills: bool = False
    standardises: bool = False
    indicators: bool = True

    @classmethod
    def of(cls, model: Any, rows: ComparedRows, *, standardise: bool = False) -> Way:
        """What this model needs; somebody else's gets the table as it came.

        Covariances of classes have no room for marks of gaps: where a column is always there, they have no variance.
        """
        marks = family_of(model) != "own"
        if standardise:
            return cls(bool(rows.missing), standardises=True, indicators=marks)
        fills = bool(rows.missing) and isinstance(model, Classifier) and not reads_mixed(recipe_of(model))
        return cls(fills, indicators=marks)

    @classmethod
    def filling(cls, rows: ComparedRows) -> Way:
        return cls(bool(rows.missing))

    @property
    def prepares(self) -> bool:
        return self.fills or self.standardises

    def run(self, model: Any, rows: ComparedRows, folds: Iterable[int], held: HeldOut) -> None:
        """The answers for these folds by models that are fitted anew, on columns as their training rows say."""
        assert rows.numbers is not None
        _check_weights(model, rows)
        x = rows.numbers.x
        for f in folds:
            train, test = rows.fold_of.train(f), rows.fold_of.test(f)
            ready = rows.prepared_by(train, standardise=self.standardises, indicators=self.indicators)
            weights = {} if rows.weight is None else {"sample_weight": rows.weight[train]}
            fitted = clone(model).fit(ready.apply(x[train]), rows.labels[train], **weights)
            z = ready.apply(x[test])
            recipe = recipe_of(fitted)
            if recipe is not None and not reads_mixed(recipe):
                known, rule = np.searchsorted(rows.classes, fitted.classes_), fitted.solution().rule
                posterior = score_rows(rule, z, Output.POSTERIOR)[0] if rule.has_posterior else None
                held.put(test, known, posterior, score_rows(rule, z, Output.BEST)[0])
            else:
                put_answers(held, fitted, z, test, rows.classes)

    def fit_all(self, model: Any, rows: ComparedRows) -> Any:
        """The model for all rows: it takes rows as they were given to the comparison."""
        numbers = isinstance(rows.given, Scan) and not isinstance(model, Classifier)
        weights = {} if rows.weight is None or isinstance(rows.given, Scan) else {"sample_weight": rows.weight}
        if rows.words is not None:
            return clone(model).fit(rows.X, rows.y, **weights)
        if self.prepares or rows.left_out or numbers:
            model = PreparedClassifier(
                clone(model),
                standardise=self.standardises,
                impute=self.prepares or numbers,
                indicators=self.indicators,
                without=tuple(rows.left_out),
            )
        return clone(model).fit(rows.given, rows.y, **weights)


def _check_weights(model: Any, rows: ComparedRows) -> None:
    if rows.weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise ParameterError(f"{type(model).__name__}.fit takes no sample_weight; leave the weights out.")
