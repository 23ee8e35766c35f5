"""What the schemes of two-class problems share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import validate_data

from discrim.decision.multiclass.problems import Fitting, Problem, constant, fit_apart
from discrim.decision.wrapping import checked_table, remember_columns, with_inner_tags
from discrim.engines import RowPasses, reduce
from discrim.errors import DataError
from discrim.families.recipe import Passes, Recipe, Shape, collected
from discrim.models.shell import recipe_of
from discrim.sources import Rows, Scan, code_labels

# How the classes are split into problems; a scheme may need to know them first.
Split = Callable[[NDArray[Any]], Sequence[Problem]]
# Numbers that the scatter of all classes may take together.
MOST_NUMBERS = 1 << 26


class Scheme(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of many classes made of classifiers of two."""

    estimator: Any
    n_jobs: int | None
    estimators_: Any
    classes_: NDArray[Any]

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def get_metadata_routing(self) -> Any:
        mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="partial_fit", callee="partial_fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        return with_inner_tags(super().__sklearn_tags__(), self.estimator)

    def _fit_split(self, how: Fitting, X: Any, y: Any, split: Split) -> None:
        """Set ``classes_`` and ``estimators_``: from one pass where the estimator allows it, else one fit a problem."""
        if set(how.arguments) <= {"sample_weight"} and shares(how.estimator):
            together = fit_together(how, X, y, split)
            if together is not None:
                self.classes_, self.estimators_ = together
                remember_columns(self, self.estimators_[0])
                return
        if isinstance(X, Scan):
            raise DataError(
                f"{type(self).__name__} reads a scan only for estimators that share one pass (discriminant "
                "analysis, naive Bayes, least squares, ridge, lasso, without tuning). Pass a table in memory."
            )
        X = checked_table(X, y)
        classes, codes = code_labels(y)
        problems = split(classes)
        self._know_columns(X)
        self.estimators_ = fit_apart(how, X, codes, problems)
        self.classes_ = classes
        if not hasattr(self, "n_features_in_"):
            remember_columns(self, self.estimators_[0])

    def _know_columns(self, X: Any) -> None:
        """Number and names of the columns, where X tells them."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if hasattr(X, "shape") or (isinstance(X, (list, tuple)) and np.ndim(X) == 2):
            validate_data(self, X, reset=True, skip_check_array=True)


def first_part(scheme: Any, classes: Any) -> bool:
    """Is this the first call of ``partial_fit``? It sets ``classes_``; later ones must agree with it."""
    if not hasattr(scheme, "classes_"):
        if classes is None:
            raise DataError("classes must be passed on the first call to partial_fit.")
        scheme.classes_ = code_labels(classes)[0]
        return True
    if classes is not None and not np.array_equal(scheme.classes_, code_labels(classes)[0]):
        raise DataError(f"`classes={classes!r}` is not the same as on last call to partial_fit: {scheme.classes_!r}")
    return False


def shares(estimator: Any) -> bool:
    """Does the estimator need the rows only through a statistic of every class?"""
    recipe = recipe_of(estimator)
    return recipe is not None and not recipe.needs_rows


def fit_together(
    how: Fitting, X: Any, y: Any, problems: Callable[[NDArray[Any]], Sequence[Problem]]
) -> tuple[NDArray[Any], list[Any]] | None:
    """The classes, and one fitted model a problem, each from the merged statistics of its classes.

    What is reduced over the rows is the statistic of every class, once. A problem renames the classes to its two sides
    and merges them: with S_k the scatter of class k, n_k its weight and mu_k its mean, a side has
    S = sum S_k + sum n_k (mu_k - mu)(mu_k - mu)'. None where that would take too much memory.
    """
    recipe = recipe_of(how.estimator)
    assert recipe is not None
    rows = how.estimator.open_rows(X, y, how.arguments.get("sample_weight"))
    columns = how.estimator.columns_of(X, rows)
    shape = Shape(rows.design, rows.classes, rows.n_rows)
    reduction = recipe.reduction(shape).by_class()
    if reduction is None or reduction.numbers(shape) > MOST_NUMBERS:
        return None
    passes = _ByClass(rows)
    whole = collected(passes, reduction)
    listed = problems(whole.classes)
    return whole.classes, [_solved(how, recipe, columns, whole, passes, problem) for problem in listed]


def _solved(
    how: Fitting, recipe: Recipe[Any], columns: dict[str, Any], whole: Any, passes: _ByClass, problem: Problem
) -> Any:
    if problem.only is not None:
        fixed: Any = constant(how, how.labels[problem.only], problem.titles).fit(())
        remember_columns(fixed, SimpleNamespace(**columns))
        return fixed
    shape = Shape(columns["_design"], np.array(how.labels), int(whole.rows[problem.sides >= 0].sum()))
    statistic = whole.relabel(problem.sides, how.labels)
    solved = recipe.solve(recipe.adopt(statistic), shape, _Relabelled(passes, shape, problem.sides, how.labels))
    return clone(how.estimator).from_solution(solved, columns)


class _ByClass(RowPasses):
    """Passes that remember what they were asked for, so that all problems share it."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self._known: dict[Any, Any] = {}

    def reduce(self, reduction: Any, *, title: str = "reading") -> Any:
        if reduction not in self._known:
            self._known[reduction] = reduce(self.rows, reduction, title=title)
        return self._known[reduction]


@dataclass(frozen=True, eq=False)
class _Relabelled(Passes):
    """Passes over the rows of one problem, under the labels of its two sides."""

    passes: _ByClass
    problem: Shape
    sides: NDArray[np.intp]
    labels: Sequence[int]

    @property
    def shape(self) -> Shape:
        return self.problem

    @property
    def again(self) -> bool:
        return self.passes.again

    def reduce(self, reduction: Any, *, title: str = "reading") -> Any:
        whole = self.passes.reduce(reduction.by_class(), title=title)
        return reduction.narrow(whole.relabel(self.sides, self.labels))
