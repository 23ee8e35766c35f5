"""Logistic regression as a recipe: a few passes over rows that may be anywhere, and the warnings about a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from discrim.block import Block, Reads, join
from discrim.errors import DataError, ParameterError, SeparationWarning, name_list
from discrim.families.first_look import Overview, look
from discrim.families.logistic.elastic_net import StrengthGrid, fit_sparse
from discrim.families.logistic.fit import Problem, SmoothFit, choose_route, fit_smooth
from discrim.families.logistic.objective import codes_in, fitted_rule, user_coefficients
from discrim.families.logistic.separation import Separation
from discrim.families.recipe import Columns, OneBlock, Passes, Recipe, Reduction, Remark, Shape, Solved, Sum, Turned
from discrim.families.rule import LinearRule
from discrim.later import cached_property
from discrim.parallel import one_blas_thread
from discrim.statistics.likelihood import add_arrays
from discrim.typing import Floats

# Values of a scan that are kept as a sample to start from, and rows that show where the columns lie.
SAMPLE_VALUES = 4_000_000
FIRST_LOOK = 20_000
# Multiplications of a product of matrices that the linear algebra library leaves to one thread by itself.
ALONE = 200_000
State = TypeVar("State")
T = TypeVar("T")
# scikit-learn's words for a solver that was stopped early, where they are not those of the others.
STOPPED = {
    "liblinear": "Liblinear failed to converge, increase the number of iterations",
    "newton-cholesky": "Newton solver did not converge after {steps} iterations",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
}


@dataclass(frozen=True, eq=False)
class LogisticRecipe(Problem, Recipe[Block]):
    """Maximum likelihood, penalised or not. No statistic is enough for it: what is kept of the rows are the rows."""

    class_weight: Any = None

    one_pass: ClassVar[bool] = False
    reads: ClassVar[Reads] = "any"

    def reduction(self, shape: Shape, like: Block | None = None) -> Reduction[Block]:  # noqa: ARG002 - rows are rows
        return Sum(_itself, join, size=(shape.n_rows or 0) * shape.width)

    def estimate(self, statistic: Block, shape: Shape, passes: Passes | None) -> Solved:
        return self.fit(shape, OneBlock(statistic) if passes is None else passes)

    def grid(self, statistic: Block) -> StrengthGrid:
        return StrengthGrid.of(self, statistic, self.reduction(Shape(Turned(statistic.x.shape[1]))))

    @property
    def needs_rows(self) -> bool:
        return True

    @property
    def needs_units(self) -> bool:
        return self.penalty.name != "none"

    def fit(self, shape: Shape, passes: Passes) -> Solved:
        rows, problem, view = self.opened(passes)
        # The products of few long rows are left to the threads of the linear algebra library.
        free = _is_small(rows) or choose_route(rows, problem) == "row-space"
        with nullcontext() if free else one_blas_thread():
            if problem.penalty.lasso:
                fit = fit_sparse(rows, problem, view or look(rows, FIRST_LOOK))
            else:
                fit = fit_smooth(rows, problem, view)
        empty = _weightless(rows, problem, view)
        if empty:
            separation = without_weightless(fit.separation, empty, intercept=self.intercept)
            fit = replace(fit, empty=empty, separation=separation)
        return self._solved(fit, shape)

    def opened(self, passes: Passes) -> tuple[Passes, Problem, Overview | None]:
        """The rows with their weights, the problem with its classes, and what a first pass over a scan has seen."""
        classes, view = passes.shape.classes, None
        if classes is None:
            if not passes.again:
                raise DataError(
                    "Logistic regression reads its rows several times, and this stream can be read once. "
                    "Write it to a file and scan that."
                )
            width = max(passes.shape.width, 1)
            view = look(passes, max(SAMPLE_VALUES // width, 20 * width))
            classes = view.classes
            if view.everything:
                # All of it was small enough to be kept: no need to read it again.
                passes, view = passes.over(view.sample), None
        if len(classes) < 2:
            raise DataError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{classes.tolist()[0]!r}"
            )
        block = passes.whole if view is None else view.sample
        if block is not None and block.offset is not None and len(classes) > 2:
            raise ParameterError(f"An offset is for two classes; y has {len(classes)}.")
        problem = replace(self, classes=classes)
        if problem.bias_reduction == "flac" and problem.softmax:
            raise ParameterError(
                f"bias_reduction='flac' is for two classes; y has {len(classes)}. Use 'flic', or 'firth'."
            )
        if problem.solver == "liblinear" and problem.softmax:
            raise ParameterError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use "
                "another solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest "
                "scheme."
            )
        if self.start is not None:
            size = passes.shape.width + 1
            fits = self.start.shape == ((len(classes), size) if problem.softmax else (size,))
            problem = problem if fits else replace(problem, start=None)
        if self.class_weight is None:
            return passes, problem, view
        known = None if view is None else view.class_weights
        factors = _class_factors(self.class_weight, passes, classes, known)
        rows = Reweighted(passes, classes, factors)
        if view is not None:
            weights = None if known is None else known * factors
            view = replace(view, sample=rows.weighed(view.sample), class_weights=weights)
        return rows, problem, view

    def _solved(self, fit: SmoothFit, shape: Shape) -> Solved:
        problem = fit.problem
        coordinates, penalised = fit.objective.coordinates, self.penalty.name != "none"
        user = user_coefficients(fit.theta, coordinates, softmax=problem.softmax, penalised=penalised)
        # liblinear knows double precision only.
        shown = user if self.solver == "liblinear" else user.astype(shape.columns.dtype, copy=False)
        attributes = {
            "classes_": problem.classes,
            "coef_": shown[:, 1:].copy(),
            "intercept_": shown[:, 0].copy(),
            "n_iter_": np.array([min(fit.solution.iterations, self.most)], dtype=np.int32),
            "solver_": fit.solver,
            # The coefficients that the rule is of.
            "_rule_of": shown.astype(np.float64),
        }
        remarks = tuple(_remarks(fit, shape.columns))
        rule = fitted_rule(user, fit.theta, coordinates)
        return Solved(rule, None, attributes, remarks=remarks, details=fit)

    def rule_size(self, solved: Solved) -> float:
        """Of the K linear functions of softmax one follows from the others; zeros do not count."""
        assert isinstance(solved.rule, LinearRule)
        coef = solved.rule.coef
        others, used = len(coef) - 1, float(np.count_nonzero(coef))
        return others + (np.ceil(used * others / len(coef)) if coef[0].any() else used)

    def regularised(self, solved: Solved) -> bool:  # noqa: ARG002 - the same for all rows
        return self.penalty.name != "none"


class Reweighted(Passes):
    """Passes over ``inner`` rows whose weights are multiplied by the ``factors`` of their ``classes``."""

    def __init__(self, inner: Passes, classes: NDArray[Any], factors: Floats) -> None:
        self.inner, self.classes, self.factors = inner, classes, factors

    @property
    def again(self) -> bool:
        return self.inner.again

    @property
    def shape(self) -> Shape:
        return replace(self.inner.shape, classes=self.classes)

    @cached_property
    def whole(self) -> Block | None:
        return None if self.inner.whole is None else self.weighed(self.inner.whole)

    def count(self) -> int | None:
        return self.inner.count()

    def outside(self, fold: int, folds: int) -> Passes:
        return Reweighted(self.inner.outside(fold, folds), self.classes, self.factors)

    def settled(self, make: Callable[[], T]) -> T:
        return self.inner.settled(make)

    def reduce(self, reduction: Reduction[State], *, title: str = "reading") -> State:
        if self.whole is not None:
            return self.inner.over(self.whole).reduce(reduction, title=title)
        size = reduction.numbers(self.shape)
        of = Sum(lambda block: reduction.of(self.weighed(block)), reduction.merge, size, reduction.uses_blas)
        return self.inner.reduce(of, title=title)

    def blocks(self) -> Iterator[Block]:
        return map(self.weighed, self.inner.blocks())

    def block(self) -> Block:
        return self.weighed(self.inner.block())

    def over(self, block: Block) -> Passes:
        return self.inner.over(block)

    def fault(self) -> DataError | None:
        return self.inner.fault()

    def weighed(self, block: Block) -> Block:
        """The block with its weights multiplied; of groups, failures and successes by their own factors."""
        codes, share = codes_in(block, self.classes), block.share
        factor = self.factors[codes]
        if share is not None:
            failures, successes = self.factors[0] * (1.0 - share), self.factors[1] * share
            factor = failures + successes
            share = np.where(factor > 0, successes / np.where(factor > 0, factor, 1.0), 0.0)
        weight = factor * (1.0 if block.weight is None else block.weight)
        return replace(block, codes=codes, classes=self.classes, weight=weight, share=share)


def _class_factors(class_weight: Any, rows: Passes, classes: NDArray[Any], weights: Floats | None) -> Floats:
    """The factor of every class; "balanced" gives all the same weight. ``weights`` are theirs, where they are known."""
    labels = classes.tolist()
    if isinstance(class_weight, dict):
        strange = [label for label in class_weight if label not in set(labels)]
        # A part of the rows may lack a class. But where others have no weight, the names are probably wrong.
        if strange and any(label not in class_weight for label in labels):
            raise ParameterError(
                f"class_weight names the classes {written(strange)}, which are not in y: it has {written(labels)}."
            )
        given = [class_weight.get(label, 1.0) for label in labels]
        for label, weight in zip(labels, given, strict=True):
            if not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
                raise ParameterError.bad_value(f"class_weight[{label!r}]", weight, "a finite number of at least 0")
        return np.array(given, float)
    if weights is None:
        weights = rows.reduce(Sum(partial(class_weights, classes), add_arrays))
    return np.asarray(weights.sum() / (len(labels) * np.where(weights > 0, weights, 1.0)))


def class_weights(classes: NDArray[Any], block: Block) -> Floats:
    """The weight of every class in a block."""
    if block.share is None:
        codes = codes_in(block, classes)
        return np.bincount(codes, weights=block.weight, minlength=len(classes)).astype(float)
    w = np.ones(len(block)) if block.weight is None else block.weight
    return np.array([w @ (1.0 - block.share), w @ block.share])


def written(labels: list[Any], most: int = 20) -> str:
    """Labels as they would be typed, so that 1 and '1' look different."""
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(map(repr, labels[:most])) + more


def _itself(block: Block) -> Block:
    return block


def _is_small(rows: Passes) -> bool:
    """Is no product of these rows worth a second thread?"""
    block = rows.whole
    if block is None or not isinstance(block.x, np.ndarray):
        return False
    n, p = block.x.shape
    return bool(n * p * (min(n, p) + 1) <= ALONE)


def _weightless(rows: Passes, problem: Problem, view: Overview | None) -> list[int]:
    """The places of classes whose rows all have the weight zero; of large frames only what the first look has seen."""
    totals, whole = None if view is None else view.class_weights, rows.whole
    if totals is None and whole is not None and (whole.weight is not None or whole.share is not None):
        totals = class_weights(problem.classes, whole)
    return [] if totals is None else np.flatnonzero(totals == 0).tolist()


def _remarks(fit: SmoothFit, columns: Columns) -> Iterator[Remark]:
    """Which classes are without weight, which others are separated, and whether the solver ended too early."""
    found, empty, problem = fit.separation, fit.empty, fit.problem
    classes = problem.classes
    separated = found is not None and found.separated
    if empty:
        yield Remark(_without_weight(classes[list(empty)].tolist()), SeparationWarning)
    if found is not None and separated and not set(found.classes.tolist()) <= set(empty):
        named = named_separation(found, ["(Intercept)", *columns.names_out], classes)
        yield Remark(separation_message(named, len(classes)), SeparationWarning)
    if not separated and not fit.solution.converged:
        name = fit.solver if problem.solver == "auto" else problem.solver
        yield Remark(_stopped_early(name, fit.solution.iterations, problem.most), ConvergenceWarning)


@dataclass(frozen=True)
class Named:
    """Whether the classes are separated, in the user's names.

    ``complete``: every row is strictly on its side. ``columns``: those whose coefficients are infinite. ``direction``:
    like the coefficients, intercept first (a row a class for more than two), the way in which they go to infinity.
    ``classes``: those that are kept apart.
    """

    separated: bool
    complete: bool
    columns: list[str]
    direction: Floats
    classes: list[Any]


def named_separation(found: Separation | None, names: Sequence[str], classes: NDArray[Any]) -> Named:
    """The solver's answer with the names of columns and classes."""
    if found is None or not found.separated:
        shape = (len(names),) if len(classes) == 2 else (len(classes), len(names))
        return Named(False, False, [], np.zeros(shape), [])
    columns = [names[j] for j in found.columns]
    return Named(True, found.complete, columns, found.direction, classes[found.classes].tolist())


def separation_message(found: Named, classes: int) -> str:
    """Which of so many classes are separated, what is infinite, and what helps."""
    one = len(found.classes) == 1
    who = f"{'Class' if one else 'The classes'} {written(found.classes)} {'is' if one else 'are'}"
    how = "completely separated" if found.complete else "separated"
    whom = "" if len(found.classes) == classes else " from the others"
    single = len(found.columns) == 1
    return (
        f"{who} {how}{whom}: the {'estimate' if single else 'estimates'} of {name_list(found.columns)} "
        f"{'is' if single else 'are'} infinite, and predictions come from where the solver stopped. Use "
        "bias_reduction='firth', a finite C, or leave the columns out; see separation_."
    )


def without_weightless(found: Separation | None, empty: Sequence[int], *, intercept: bool) -> Separation | None:
    """Of classes without weight only the intercept is infinite: it takes their probability to 0 with any slopes."""
    if found is None or not found.separated or not empty or not intercept:
        return found
    direction, undetermined = np.zeros(found.direction.shape), np.zeros(found.undetermined.shape, bool)
    undetermined[..., 1:] = True
    if direction.ndim == 1:
        direction[0] = -1.0 if 1 in empty else 1.0
        torn = False
    else:
        others = np.setdiff1d(np.arange(len(direction)), empty)
        among = found.direction[others] - found.direction[others[0]]
        among[np.abs(among) <= 1e-9 * np.abs(found.direction).max()] = 0.0
        torn = bool(among.any())
        direction[others], direction[list(empty), 0] = among, -1.0
        undetermined[others] = found.undetermined[others] if torn else False
    return replace(
        found,
        complete=found.complete and (torn or direction.ndim == 1),
        direction=direction,
        classes=found.classes if torn else np.array(empty, dtype=np.intp),
        infinite=np.sign(direction).astype(np.int8),
        undetermined=undetermined,
    )


def _without_weight(labels: list[Any]) -> str:
    """What to say of classes without weight."""
    who = f"Class {written(labels)} has" if len(labels) == 1 else f"Classes {written(labels)} have"
    its = "its probability is" if len(labels) == 1 else "their probabilities are"
    return (
        f"{who} no weight: {its} estimated as 0 or small, and nothing else can be learned there. Leave these rows out, "
        "or give them weight."
    )


def _stopped_early(solver: str, steps: int, most: int) -> str:
    """Programs look for scikit-learn's words in it."""
    others = f"{solver} failed to converge after {steps} steps. Increase the number of iterations"
    return f"{STOPPED.get(solver, others).format(steps=steps)}: max_iter is {most}."
