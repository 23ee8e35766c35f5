"""Logistic regression as a recipe: a few passes over rows that may be anywhere."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discrim.block import Block, Reads, join
from discrim.errors import DataError, ParameterError
from discrim.families.first_look import Overview, look
from discrim.families.logistic.class_weight import Reweighted, class_factors, class_weights
from discrim.families.logistic.fit import Problem, SmoothFit, fit_smooth, fit_sparse, fits_row_space
from discrim.families.logistic.objective import fitted_rule, user_coefficients
from discrim.families.logistic.penalty_path import StrengthGrid
from discrim.families.logistic.remarks import remarks_of, without_weightless
from discrim.families.recipe import OneBlock, Passes, Recipe, Reduction, Shape, Solved, Sum, Turned
from discrim.families.rule import LinearRule
from discrim.parallel import one_blas_thread
from discrim.typing import Floats

# Numbers of a scan that are kept as a sample to start from, and rows that show where the columns lie.
SAMPLE_NUMBERS = 4_000_000
FIRST_LOOK = 20_000
# Multiplications of a product of matrices that the linear algebra library leaves to one thread by itself.
ALONE = 200_000


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
        free = _is_small(rows) or fits_row_space(rows, problem)
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
            view = look(passes, max(SAMPLE_NUMBERS // width, 20 * width))
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
        factors = class_factors(self.class_weight, passes, classes, known)
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
        }
        remarks = tuple(remarks_of(fit, shape.columns))
        rule = fitted_rule(user, fit.theta, coordinates)
        return Solved(rule, None, attributes, remarks=remarks, details=fit)

    def rule_size(self, solved: Solved) -> float:
        rule = solved.rule
        assert isinstance(rule, LinearRule)
        return coefficients_of(rule.coef)

    def regularised(self, solved: Solved) -> bool:  # noqa: ARG002 - the same for all rows
        return self.penalty.name != "none"


def coefficients_of(coef: Floats) -> float:
    """Free numbers of K linear functions: of softmax one follows from the others; zeros do not count."""
    others = len(coef) - 1
    used = np.count_nonzero(coef[1:]) if not coef[0].any() else np.ceil(np.count_nonzero(coef) * others / len(coef))
    return float(used) + others


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
