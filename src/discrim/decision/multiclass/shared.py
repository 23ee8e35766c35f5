"""All two-class problems of a scheme from one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.decision.multiclass.problems import Fitting, Problem, constant
from discrim.decision.wrapping import remember_columns
from discrim.engines import RowPasses, reduce
from discrim.families.recipe import Passes, Recipe, Shape, overflow
from discrim.models.scoring import non_finite_error
from discrim.models.shell import recipe_of
from discrim.sources import Rows

# Numbers that the scatter of all classes may take together.
MOST_NUMBERS = 1 << 26


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
    whole = passes.reduce(reduction)
    if not whole.finite:
        raise non_finite_error(rows) or overflow(whole)
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
