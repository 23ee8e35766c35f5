"""All two-class problems of a scheme from one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.decision.multiclass.problems import Fitting, Problem, constant
from discrim.decision.wrapping import remember_columns
from discrim.engines import reduce, reduce_blocks
from discrim.errors import DataError
from discrim.families.gaussian.covariance import IllConditionedError
from discrim.families.recipe import Recipe, Shape, overflow
from discrim.models import LeastSquaresClassifier, RidgeClassifier
from discrim.models.base import OnePassClassifier, Statistic, combine
from discrim.models.parameters import check_parameters
from discrim.models.scoring import non_finite_error
from discrim.models.shell import recipe_of
from discrim.parallel import blas_threads, one_blas_thread
from discrim.sources import Rows
from discrim.statistics import ClassFactors, ClassMoments, Depth

SHARING = {LeastSquaresClassifier, RidgeClassifier}
# Numbers that the scatter of all classes may take together.
MOST_NUMBERS = 1 << 26


def shares(estimator: Any) -> bool:
    """Does the estimator need the rows only through weights, means and scatter of the classes?"""
    recipe = recipe_of(estimator)
    if recipe is not None:
        return not recipe.needs_rows
    return type(estimator) in SHARING and not estimator._needs_rows()


def fit_together(
    how: Fitting, X: Any, y: Any, problems: Callable[[NDArray[Any]], Sequence[Problem]]
) -> tuple[NDArray[Any], list[Any]] | None:
    """The classes, and one fitted model a problem, each from the merged statistics of its classes.

    What is reduced over the rows is the statistic of every class, once. A problem renames the classes to its two sides
    and merges them: with S_k the scatter of class k, n_k its weight and mu_k its mean, a side has
    S = sum S_k + sum n_k (mu_k - mu)(mu_k - mu)'. None where that would take too much memory.
    """
    recipe = recipe_of(how.estimator)
    if recipe is not None:
        return _fit_recipe(how, recipe, X, y, problems)
    probe = clone(how.estimator)
    check_parameters(probe, probe._constraints)
    rows = probe._open(X, y, how.arguments.get("sample_weight"), reset=True)
    known = None if rows.classes is None else problems(rows.classes)
    depth = _depth(probe, known)
    p = rows.design.n_out
    size = {Depth.DIAGONAL: p, Depth.POOLED: p * p, Depth.FULL: p * p * _count(rows)}[depth]
    if size > MOST_NUMBERS:
        return None
    whole = _collect(probe, rows, depth, thin=False)
    listed = problems(whole.classes)
    try:
        return whole.classes, _models(how, probe, whole, listed, reread=rows.rereadable)
    except IllConditionedError:
        # Also where a problem has fewer rows than columns.
        whole = _collect(probe, rows, depth, thin=True)
        return whole.classes, _models(how, probe, whole, listed, reread=False)


def _fit_recipe(
    how: Fitting, recipe: Recipe[Any], X: Any, y: Any, problems: Callable[[NDArray[Any]], Sequence[Problem]]
) -> tuple[NDArray[Any], list[Any]] | None:
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
    solved = recipe.solve(recipe.adopt(statistic), shape, _Relabelled(passes, problem.sides, how.labels))
    return clone(how.estimator).from_solution(solved, columns)


class _ByClass:
    """``Passes`` that remember what they were asked for, so that all problems share it."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self.again = rows, rows.rereadable
        self._known: dict[Any, Any] = {}

    def reduce(self, reduction: Any) -> Any:
        if reduction not in self._known:
            self._known[reduction] = reduce(self._rows, reduction)
        return self._known[reduction]

    def block(self) -> Block:
        """Asked for by nobody: a model that needs its rows has every problem fitted by itself."""
        raise DataError("The problems of a multi-class scheme share statistics, not rows.")


@dataclass(frozen=True, eq=False)
class _Relabelled:
    """``Passes`` over the rows of one problem, under the labels of its two sides."""

    passes: _ByClass
    sides: NDArray[np.intp]
    labels: Sequence[int]

    @property
    def again(self) -> bool:
        return self.passes.again

    def reduce(self, reduction: Any) -> Any:
        return reduction.narrow(self.passes.reduce(reduction.by_class()).relabel(self.sides, self.labels))

    def block(self) -> Block:
        return self.passes.block()


def _models(how: Fitting, probe: Any, whole: Statistic, problems: Sequence[Problem], *, reread: bool) -> list[Any]:
    return [_model(how, probe, whole, problem, reread=reread) for problem in problems]


def _model(how: Fitting, probe: Any, whole: Statistic, problem: Problem, *, reread: bool) -> Any:
    if problem.only is not None:
        fixed: Any = constant(how, how.labels[problem.only], problem.titles).fit(())
        remember_columns(fixed, probe)
        return fixed
    model = clone(how.estimator)
    remember_columns(model, probe)
    model._design = probe._design
    statistic = model._to_depth(whole.relabel(problem.sides, how.labels))
    model._unsolved, model.statistic_, model.classes_ = None, statistic, statistic.classes
    with blas_threads(min(int(statistic.rows.sum()), statistic.n_features)):
        model._rule = model._solve(statistic, None, reread=reread and isinstance(statistic, ClassMoments))
    return model


def _depth(probe: OnePassClassifier, problems: Sequence[Problem] | None) -> Depth:
    """The scatter that a two-class model needs, kept for every class; one for all will do where no class stays away."""
    needed = probe._depth(2)
    if needed is Depth.POOLED and not (problems is not None and all(problem.whole for problem in problems)):
        return Depth.FULL
    return needed


def _collect(probe: Any, rows: Rows, depth: Depth, *, thin: bool) -> Statistic:
    """The statistic of every class."""
    statistic: Statistic
    wide = probe._thin_for_wide and rows.n_rows is not None and rows.n_rows <= rows.design.n_out
    if thin or wide:
        with one_blas_thread():
            statistic = reduce_blocks(rows, partial(_of_block, ClassFactors, depth), combine)
    else:
        size = 8 * rows.design.n_out * (1 if depth is Depth.DIAGONAL else rows.design.n_out)
        state = size if depth is Depth.POOLED else size * _count(rows)
        statistic = reduce_blocks(rows, partial(_of_block, ClassMoments, depth), combine, state_bytes=state)
    if not statistic.finite:
        raise non_finite_error(rows) or overflow()
    return statistic


def _of_block(kind: type[Any], depth: Depth, block: Block) -> Statistic:
    statistic: Statistic = kind.of(block, depth)
    return statistic


def _count(rows: Rows) -> int:
    return 2 if rows.classes is None else len(rows.classes)
