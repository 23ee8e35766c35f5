"""Regression on class indicators: least squares, ridge, and what recipes with a penalty share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from discrim.block import Block
from discrim.errors import DataError, ParameterError, UnfinishedWarning
from discrim.families.gaussian.covariance import Sphering
from discrim.families.gaussian.leave_one_out import is_ill
from discrim.families.gaussian.naive import LEAST_LEFT
from discrim.families.gaussian.recipe import MomentsRecipe, Statistic, about_columns, rank_tolerance
from discrim.families.recipe import Grid, LeftOut, Passes, Reduction, Remark, Search, Shape, Solved, collected
from discrim.families.regression.conjugate import sparse_ridge
from discrim.families.regression.normal_equations import (
    Regression,
    indicator_regression,
    least_squares,
    positive_ridge,
    ridge,
    ridge_path,
    second_of_two,
    signed_regression,
    squared_errors,
)
from discrim.families.rule import LinearRule
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.statistics.moments import mean_and_gaps
from discrim.typing import Floats

# Penalties that are tried, in units of the sum of squares of a standardised column, the largest first.
RIDGE_STRENGTHS: Floats = np.asarray(10.0 ** np.arange(1, -7, -1.0), dtype=np.float64)
# Values that sparse rows may have once they are dense: half a gigabyte.
DENSE = 1 << 26


@dataclass(frozen=True, eq=False)
class RegressionRecipe(MomentsRecipe):
    """The class whose regression function is largest.

    A regression function f of an indicator can leave [0, 1], so posteriors are softmax(2 f): equal to f in value and
    slope where two classes meet, between 0 and 1 everywhere, and in the order of f; zero for a class without weight.
    Scores are 2 f, or what differs from it by a constant.
    """

    def depth(self) -> Depth:
        return Depth.POOLED if self.priors is None else Depth.FULL

    def weighed(self, statistic: Statistic) -> tuple[Statistic, tuple[Remark, ...]]:
        """Classes counted so that their shares are the given priors; and what there is to say of these."""
        if self.priors is None:
            return statistic, ()
        priors, remarks = self.class_priors(statistic.weight)
        present = statistic.weight > 0
        factors = np.where(present, priors * statistic.total_weight / np.where(present, statistic.weight, 1.0), 0.0)
        return statistic.reweighted(factors), remarks

    def rule_of(self, functions: LinearRule, statistic: Statistic) -> LinearRule:
        """Scores from functions of every class; one that cannot occur must not win or take a share."""
        possible = statistic.weight > 0
        if self.priors is not None:
            possible &= np.asarray(self.priors, dtype=np.float64) > 0
        if possible.all():
            return functions
        return LinearRule(functions.coef, np.where(possible, functions.offset, -np.inf), functions.origin)

    def rule_size(self, solved: Solved) -> float:
        """Of K functions one follows from the others; coefficients that are zero do not count."""
        coef = np.atleast_2d(solved.attributes["coef_"])
        others = len(solved.statistic.classes) - 1
        share = others / len(coef) if len(coef) > 1 else 1.0
        return float(np.ceil(np.count_nonzero(coef) * share)) + min(len(coef), others)


@dataclass(frozen=True, eq=False)
class PenalisedRecipe(RegressionRecipe):
    """Targets +1 for a class and -1 for the others, with a penalty ``alpha`` on the coefficients."""

    alpha: Any = 1.0
    fit_intercept: bool = True

    @property
    def has_left_out(self) -> bool:
        """Is leaving out one row at a time a closed form?"""
        return False

    @property
    def needs_units(self) -> bool:
        return True

    @abstractmethod
    def solutions(self, problem: Regression, alphas: Floats) -> Floats:
        """Coefficients (alphas x p x m) of m targets, of two classes the second."""

    def path(self, statistic: Statistic, shape: Shape, alphas: Floats) -> tuple[Floats, Floats]:
        """The same from a statistic, and the intercepts (alphas x m)."""
        problem = signed_regression(self.weighed(statistic)[0], shape.eps, centred=self.fit_intercept)
        coef = self.solutions(problem, alphas)
        return coef, problem.intercepts(coef)


@dataclass(frozen=True, eq=False)
class PenaltyGrid(Grid):
    """Alphas, the largest first: models from the statistic of the training rows, errors from that of the others."""

    by_statistic: ClassVar[bool] = True
    ties: ClassVar[Literal["log loss", "first"]] = "first"

    recipe: PenalisedRecipe
    alphas: Floats
    summed: Reduction[Any]

    @property
    def settings(self) -> Sequence[Mapping[str, Any]]:
        return [{"alpha": float(alpha)} for alpha in self.alphas]

    @property
    def reduction(self) -> Reduction[Any]:
        return self.summed

    @property
    def rotation_invariant(self) -> bool:
        return self.recipe.rotation_invariant

    def mean_losses(self, statistic: Any, shape: Shape, held_out: Sequence[Any]) -> Floats:
        coef, intercept = self.recipe.path(statistic, shape, self.alphas)
        return np.stack([squared_errors(part, coef, intercept) for part in held_out], axis=1)

    def left_out(self, block: Block, shape: Shape) -> Mapping[str, Floats] | None:  # noqa: ARG002 - all is in the rows
        """Squared errors of the targets, all alphas from one singular value decomposition of the centred rows.

        With H the hat matrix, the error of row i without it is (y_i - fit_i) / (1 - h_i). O(n p min(n, p)).
        """
        if not self.recipe.has_left_out:
            return None
        x, classes = np.asarray(block.dense(), dtype=np.float64), len(block.classes)
        weight = np.ones(len(x)) if block.weight is None else block.weight
        targets = second_of_two(2.0 * np.eye(classes)[block.codes] - 1.0)
        base, root = np.zeros(len(x)), np.sqrt(weight)[:, None]
        if self.recipe.fit_intercept:
            x, targets = (each - np.average(each, axis=0, weights=weight) for each in (x, targets))
            base = weight / weight.sum()
        u, s, _ = np.linalg.svd(root * x, full_matrices=False)
        shrunken = s**2 / (s**2 + self.alphas[:, None])
        leverage, projected = base + shrunken @ (u**2).T, u.T @ (root * targets)
        residual = root * targets - u @ (shrunken[..., None] * projected)
        errors = np.square(residual / (1.0 - leverage)[..., None]).mean(axis=-1)
        mean = errors.sum(axis=1) / weight.sum()
        deviation = np.sqrt(np.maximum(np.square(errors).sum(axis=1) / weight.sum() - mean**2, 0.0))
        none = np.zeros_like(mean)
        return {"mean_error": mean, "std_error": deviation / np.sqrt(len(x)), "mean_log_loss": none}

    def results(self, table: Mapping[str, Floats], best: int) -> dict[str, Any]:
        error = table["fold_error"] if "fold_error" in table else table["mean_error"][:, None]
        return {"alphas": self.alphas, "squared_error": error, **self.settings[best]}


class LeastSquaresDetails(NamedTuple):
    """What standard errors are made from: the normal equations, their solution, and the regression functions."""

    problem: Regression
    sphering: Sphering
    functions: LinearRule


@dataclass(frozen=True, eq=False)
class LeastSquaresRecipe(RegressionRecipe):
    """b_k = T^-1 n_k (mu_k - mu), b_k0 = n_k / n - b_k'mu with the total scatter T."""

    tol: float = 1e-4

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002 - as of every recipe
        counted, remarks = self.weighed(statistic)
        problem = indicator_regression(counted, shape.eps)
        coef, sphering = least_squares(problem, rank_tolerance(self.tol), reread=reread)
        functions = problem.functions(coef)
        twice = LinearRule(2.0 * functions.coef, 2.0 * functions.offset, functions.origin)
        dtype = shape.columns.dtype
        attributes = {"coef_": functions.coef.astype(dtype), "intercept_": functions.intercept.astype(dtype)}
        if statistic.rows.sum() > statistic.n_features:
            text = "are constant or determined by the others; they are handled by the pseudo-inverse."
            remarks += about_columns(shape, sphering.dependent, text)
        details = LeastSquaresDetails(problem, sphering, functions)
        return Solved(self.rule_of(twice, statistic), statistic, attributes, remarks=remarks, details=details)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - the statistic has it all
        statistic = solved.statistic
        if self.priors is not None or statistic.rows.sum() <= statistic.n_features + 1:
            return None
        return held_out_smoother(statistic, 0.0)


@dataclass(frozen=True, eq=False)
class RidgeRecipe(PenalisedRecipe):
    """b_k = (T + alpha I)^-1 2 n_k (mu_k - mu) with the total scatter T, for targets +1 and -1; the intercept is free.

    ``class_weight`` is a dictionary or 'balanced'; with ``positive`` no coefficient is negative. alpha='cv' or 'loo' is
    the one of ``alphas`` with the least squared error.
    """

    cv: Any = 10
    alphas: Any = None
    class_weight: Any = None
    solver: str = "auto"
    positive: bool = False
    tol: float = 1e-4
    max_iter: int | None = None

    def depth(self) -> Depth:
        return super().depth() if self.class_weight is None else Depth.FULL

    def search(self) -> Search | None:
        return Search(self.alpha, self.cv) if isinstance(self.alpha, str) else None

    @property
    def has_left_out(self) -> bool:
        return not self.positive and self.class_weight is None and self.priors is None

    def fit(self, shape: Shape, passes: Passes) -> Solved:
        block = passes.whole
        if block is None or self.search() is not None or not self.stays_sparse(block):
            return super().fit(shape, passes)
        statistic = collected(passes, MomentsOf(Depth.DIAGONAL))
        counted, remarks = self.weighed(statistic)
        share = counted.weight / np.where(statistic.weight > 0, statistic.weight, 1.0)
        weight = share[block.codes] if block.weight is None else share[block.codes] * block.weight
        mean, apart = mean_and_gaps(counted) if self.fit_intercept else (np.zeros(shape.width), counted.mean)
        two = slice(1, None) if len(share) == 2 else slice(None)
        level = 2.0 * counted.weight / counted.total_weight - 1.0 if self.fit_intercept else np.zeros(len(share))
        targets = (2.0 * np.eye(len(share)) - 1.0 - level)[block.codes][:, two]
        squares = counted.squares.sum(axis=0) + counted.weight @ apart**2
        alphas, most = self._alphas(len(share))[two], self.max_iter or 10 * min(block.x.shape)
        tol = max(self.tol, 8.0 * shape.eps)
        coef, steps = sparse_ridge(block.x, weight, targets, mean, squares, alphas, tol=tol, most=most)
        if steps == most:
            text = f"Conjugate gradients did not converge in {most} iterations. Raise max_iter, tol or alpha."
            remarks = (*remarks, Remark(text, UnfinishedWarning))
        coef = np.hstack([-coef, coef]) if len(share) == 2 else coef
        functions = LinearRule(np.ascontiguousarray(coef.T), level, mean)
        if functions.keeps_sparse:
            # Looked at once, and not at every prediction.
            functions = LinearRule(functions.coef, functions.intercept, np.zeros_like(mean))
        return replace(self._solved(functions, statistic, shape, "sparse_cg", steps), remarks=remarks)

    def stays_sparse(self, block: Block) -> bool:
        """Are some hundred products with sparse rows cheaper than one Gram matrix, or is that too large?

        In nanoseconds, about 200 nnz K against n p for dense rows and n p min(n, p) / 30 for their products.
        """
        closed = self.positive or self.solver in ("cholesky", "svd")
        if isinstance(block.x, np.ndarray) or closed or not (np.asarray(self.alpha) > 0).all():
            return False
        n, p = block.x.shape
        products = 200.0 * block.x.nnz * max(len(block.classes) - 1, 1)
        return n * p > DENSE or products < n * p * (1.0 + min(n, p) / 30.0)

    def adopt(self, statistic: Statistic) -> Statistic:
        if statistic.depth is Depth.DIAGONAL:
            raise DataError(
                "Ridge regression on sparse rows by conjugate gradients keeps the variances of the columns only; "
                "partial_fit, forget and merge need their covariances too. For these, fit with solver='cholesky'."
            )
        return super().adopt(statistic)

    @property
    def rotation_invariant(self) -> bool:
        penalised = self.search() is not None or bool((np.asarray(self.alpha) > 0).all())
        return self.fit_intercept and not self.positive and penalised

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002 - as of every recipe
        if self.solver == "lbfgs" and not self.positive:
            raise ParameterError("'lbfgs' solver can be used only when positive=True. Use another solver.")
        counted, remarks = self.weighed(statistic)
        problem = signed_regression(counted, shape.eps, centred=self.fit_intercept)
        functions = problem.functions(self._coefficients(problem, reread=reread))
        solver = "lbfgs" if self.positive else "cholesky"
        return replace(self._solved(functions, statistic, shape, solver, 1), remarks=remarks)

    def _solved(self, functions: LinearRule, statistic: Statistic, shape: Shape, solver: str, steps: int) -> Solved:
        dtype, two = shape.columns.dtype, len(statistic.classes) == 2
        intercept = functions.intercept[1:] if two else functions.intercept
        attributes = {
            "coef_": (functions.coef[1] if two else functions.coef).astype(dtype),
            "intercept_": intercept.astype(dtype) if self.fit_intercept else 0.0,
            "alpha_": self.alpha,
            "solver_": solver,
            "n_iter_": steps,
        }
        return Solved(self.rule_of(functions, statistic), statistic, attributes)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - the statistic has it all
        plain = self.fit_intercept and not self.positive and self.class_weight is None and self.priors is None
        if not plain or np.ndim(self.alpha):
            return None
        return held_out_smoother(solved.statistic, float(self.alpha))

    def grid(self, statistic: Statistic) -> PenaltyGrid | None:
        """Around the sum of squares of a standardised column, which is the weight of the rows.

        A fit that chooses by itself has columns of any units, and goes by their mean sum of squares.
        """
        if self.positive:
            if self.search() is None:
                return None
            raise ParameterError(f"alpha={self.alpha!r} is not available with positive=True; give a number.")
        if self.search() is None:
            size = statistic.total_weight
        elif self.alphas is None:
            problem = signed_regression(self.weighed(statistic)[0], 0.0, centred=self.fit_intercept)
            size = problem.weight * float(problem.spread.diagonal.mean()) or 1.0
        else:
            return PenaltyGrid(self, np.unique(np.asarray(self.alphas, float))[::-1], MomentsOf(self.depth()))
        alphas = float(10.0 ** np.round(np.log10(size))) * RIDGE_STRENGTHS
        return PenaltyGrid(self, alphas, MomentsOf(self.depth()))

    def regularised(self, solved: Solved) -> bool:
        return bool(np.any(np.asarray(solved.attributes["alpha_"]) > 0))

    def solutions(self, problem: Regression, alphas: Floats) -> Floats:
        return second_of_two(ridge_path(problem, alphas))

    def _coefficients(self, problem: Regression, *, reread: bool) -> Floats:
        alphas = self._alphas(problem.cross.shape[1])
        if self.positive:
            columns = [positive_ridge(problem, k, float(a)) for k, a in enumerate(alphas)]
            if len(columns) == 2:
                columns[0] = -columns[1]
            return np.column_stack(columns)
        if (alphas == alphas[0]).all():
            return ridge(problem, float(alphas[0]), reread=reread)
        return np.column_stack([ridge(problem, float(a), reread=reread)[:, k] for k, a in enumerate(alphas)])

    def _alphas(self, classes: int) -> Floats:
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        targets = 1 if classes == 2 else classes
        if len(alphas) not in (1, targets) or (alphas < 0).any():
            raise ParameterError.bad_value("alpha", self.alpha, f"one number or {targets} numbers, none negative")
        return np.full(classes, alphas[0]) if len(alphas) == 1 else alphas

    def weighed(self, statistic: Statistic) -> tuple[Statistic, tuple[Remark, ...]]:
        counted, remarks = super().weighed(statistic)
        if self.class_weight is None:
            return counted, remarks
        if self.class_weight == "balanced":
            present = counted.weight > 0
            factors = counted.total_weight / (present.sum() * np.where(present, counted.weight, 1.0))
        else:
            # Read late: few give weights by class.
            from sklearn.utils.class_weight import compute_class_weight

            factors = compute_class_weight(self.class_weight, classes=counted.classes, y=counted.classes)
        return counted.reweighted(np.asarray(factors, dtype=np.float64)), remarks


def held_out_smoother(statistic: Statistic, alpha: float) -> LeftOut | None:
    """Twice the held-out indicators, from the leverages of the fit of all rows; None where these lack digits.

    Fitted values are H Y with a hat matrix H that does not depend on Y. The fit without row i then has the residual
    (y_i - fit_i) / (1 - h_i) there, exactly, for least squares and for a ridge penalty that stays as it is when rows
    leave, with the intercept inside H. A row that decides a coefficient alone, or nearly so, is NaN.
    """
    if not isinstance(statistic, ClassMoments):
        return None
    problem = indicator_regression(statistic, float(np.finfo(float).eps))
    sigma = problem.spread.dense() + alpha / problem.weight * np.eye(statistic.n_features)
    if is_ill(sigma):
        return None
    lower = np.linalg.cholesky(sigma)

    def scores(block: Block) -> Floats:
        z = np.linalg.solve(lower, (block.dense() - problem.origin).T)
        leverage = (1.0 + np.einsum("in,in->n", z, z)) / problem.weight
        fitted = problem.level + z.T @ np.linalg.solve(lower, problem.cross)
        indicators = np.eye(len(block.classes))[block.codes]
        ratio = leverage / np.where(1.0 - leverage >= LEAST_LEFT, 1.0 - leverage, np.nan)
        found = np.asarray(2.0 * (fitted - ratio[:, None] * (indicators - fitted)))
        # The model without the only row of a class does not know the class.
        found[(indicators == 1) & (statistic.rows == 1)] = -np.inf
        return found

    return scores
