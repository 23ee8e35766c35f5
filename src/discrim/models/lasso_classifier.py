"""Classification by least squares with an L1 penalty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError, warn
from discrim.families.rule import LinearRule, Output
from discrim.inference.summary import Summary, Table
from discrim.models.base import Statistic
from discrim.models.indicator_base import IndicatorClassifier
from discrim.models.parameters import Check, array_like, boolean, either, none, number, one_of
from discrim.models.registry import Entry, Facts, dense_numbers, enter
from discrim.models.unfinished import UnfinishedWarning
from discrim.parallel import blas_threads
from discrim.solvers.lasso import alpha_grid, lasso, lasso_path
from discrim.solvers.regression import Regression, indicator_regression, least_squares
from discrim.sources import Rows, in_memory
from discrim.statistics import ClassFactors, ClassMoments, Depth, merge_moments
from discrim.statistics.folds import fold_numbers, of_folds, of_others
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class LassoPath:
    """Solutions for ``alphas`` that fall: ``coef`` is alphas x m x p and ``intercept`` alphas x m, m functions."""

    alphas: Floats
    coef: Floats
    intercept: Floats


class LassoClassifier(IndicatorClassifier):
    """Least squares on targets +1 for a class and -1 for the others, with an L1 penalty that leaves columns out.

    **Model.** E(2 1{class k} - 1 | x) = b_k0 + b_k'x, with many entries of b_k zero.

    **Statistic.** Class weights n_k, means mu_k and the pooled centred scatter S, as for least squares: they hold X'X
    and X'y, and the penalty is applied when they are read.

    **Estimate.** argmin |y - b_0 - X b|^2 / (2 n) + alpha |b|_1 for each target y, scikit-learn's scaling of the
    penalty, by coordinate descent on X'X / n.

    **Rule.** The largest regression function; for two classes the sign of the one.

    Cost: one read of X with n p^2 / 2 multiplications, then p for each change of a coefficient, whatever n is. The
    whole path and cross-validation start from the same statistics.

    Parameters
    ----------
    alpha : float, the strength of the penalty, or 'cv' to choose it by the squared error on held-out folds
    fit_intercept : bool
    cv : number of folds or splitter, for alpha='cv'
    priors : array of K numbers, the shares that the classes are given; None for their own

    Attributes
    ----------
    coef_, intercept_ : 1 x p and 1 for two classes, else K x p and K
    alpha_ : the strength that was used
    path_ : LassoPath over a hundred strengths, made when it is first asked for
    cv_results_ : for alpha='cv', ``alphas`` and ``squared_error`` (alphas x folds)
    classes_, statistic_

    Examples
    --------
    >>> from discrim.models.lasso_classifier import LassoClassifier
    >>> from discrim import datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = LassoClassifier(alpha=0.1).fit(X, y)
    >>> (model.coef_ == 0).sum(axis=1)
    array([3, 2, 3])
    """

    _constraints: ClassVar[dict[str, Check]] = {
        "alpha": either(number(0), one_of("cv")),
        "fit_intercept": boolean(),
        "priors": either(none(), array_like()),
    }

    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    alpha_: float
    cv_results_: dict[str, Any]
    # The targets are 2 Y - 1: regression functions of them are twice those of indicators.
    _indicator_scale = 0.5

    def __init__(
        self, alpha: float | str = 0.01, *, fit_intercept: bool = True, cv: Any = 10, priors: Any = None
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.priors = priors

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Regression functions n x K; for two classes (n,), positive for the second."""
        scores = self._apply(X, Output.SCORES)
        return scores[:, 1] if len(self.classes_) == 2 else scores[:, 0] if len(self.classes_) == 1 else scores

    @property
    def path_(self) -> LassoPath:
        self._check_solved()
        if "_path" not in self.__dict__:
            with blas_threads(self.statistic_.n_features):
                self._path = self._whole_path()
        return self._path

    def _depth(self, classes: int | None = None) -> Depth:  # noqa: ARG002 - the same for any number
        return Depth.POOLED if self.priors is None else Depth.FULL

    def _needs_rows(self) -> bool:
        return self.alpha == "cv"

    def _solve(self, statistic: Statistic, rows: Rows | None, *, reread: bool) -> LinearRule:
        self.__dict__.pop("_path", None)
        problem = self._normal_equations(statistic)
        cross = second_of_two(problem.cross)
        self.alpha_ = self._chosen_alpha(rows, cross)
        if self.alpha_ == 0:
            coef = least_squares(problem, 0.0, reread=reread)[0]
        else:
            solution = lasso(problem.spread, cross, self.alpha_)
            coef = _opposed(solution.coef, problem.cross.shape[1])
            if not solution.converged:
                self._warn()
        level = 2.0 * problem.level - 1.0 if self.fit_intercept else np.zeros(coef.shape[1])
        rule = LinearRule(np.ascontiguousarray(coef.T), level, problem.origin)
        own = slice(1, None) if len(level) == 2 else slice(None)
        self.coef_ = rule.coef[own].astype(self._design.dtype)
        self.intercept_ = rule.intercept[own].astype(self._design.dtype)
        return rule

    def _normal_equations(self, statistic: Statistic) -> Regression:
        """Those of the targets 2 Y - 1: centred, X'Y counts twice."""
        found = indicator_regression(self._with_priors(statistic), self._eps, centred=self.fit_intercept)
        cross = 2.0 * found.cross
        if not self.fit_intercept:
            cross = cross - found.cross.sum(axis=1, keepdims=True)
        return Regression(found.spread, cross, found.level, found.origin, found.weight)

    def _chosen_alpha(self, rows: Rows | None, cross: Floats) -> float:
        if not isinstance(self.alpha, str):
            self.__dict__.pop("cv_results_", None)
            return float(self.alpha)
        if rows is None and hasattr(self, "cv_results_"):
            # The parts of a stream are not kept: what an earlier fit chose is kept instead.
            return self.alpha_
        if rows is None:
            raise DataError("alpha='cv' needs the rows themselves: use fit, or give a number.")
        alphas = alpha_grid(cross)
        errors, weights = self._held_out_errors(in_memory(rows), alphas)
        mean = errors @ (weights / weights.sum())
        self.cv_results_ = {"alphas": alphas, "squared_error": errors, "alpha": float(alphas[mean.argmin()])}
        return float(alphas[mean.argmin()])

    def _held_out_errors(self, block: Block, alphas: Floats) -> tuple[Floats, Floats]:
        """Squared errors (alphas x folds) on held-out rows, and the weights of the folds.

        The models follow from the merged statistics of the other folds, and their errors from the fold's own: the rows
        are read once.
        """
        folds = fold_numbers(self.cv, block.codes)
        if not folds.complementary:
            raise ParameterError("The 'cv' parameter leaves some rows out of both training and test part.")
        x, depth = np.asarray(block.x), self._depth(len(block.classes))
        parts: list[Any]
        train: Iterable[Statistic]
        if len(x) <= x.shape[1]:
            parts = [ClassFactors.of(block.take(folds.test(f)), depth) for f in range(len(folds.parts))]
            train = (ClassFactors.of(block.take(folds.train(f)), depth) for f in range(len(folds.parts)))
        else:
            moments: Any = of_folds(replace(block, x=x), folds, partial(ClassMoments.of, depth=depth))
            of_moments: Any = merge_moments
            parts, train = moments, of_others(moments, of_moments)
        errors = np.empty((len(alphas), len(parts)))
        for f, statistic in enumerate(train):
            problem = self._normal_equations(statistic)
            coef, _ = lasso_path(problem.spread, second_of_two(problem.cross), alphas)
            level = second_of_two((2.0 * problem.level - 1.0) * self.fit_intercept)
            errors[:, f] = squared_errors(parts[f], coef, level - np.einsum("j,ajm->am", problem.origin, coef))
        return errors, np.array([part.total_weight for part in parts])

    def _whole_path(self) -> LassoPath:
        problem = self._normal_equations(self.statistic_)
        cross = second_of_two(problem.cross)
        alphas = alpha_grid(cross)
        coef, converged = lasso_path(problem.spread, cross, alphas)
        if not converged:
            self._warn()
        level = second_of_two((2.0 * problem.level - 1.0) * self.fit_intercept)
        intercept = level - np.einsum("j,ajm->am", problem.origin, coef)
        return LassoPath(alphas, coef.transpose(0, 2, 1), intercept)

    @staticmethod
    def _warn() -> None:
        warn(
            "Coordinate descent did not converge: alpha is too small for columns that are nearly dependent, or more "
            "than the rows. The coefficients are those of a larger alpha. Use one, or leave some columns out.",
            UnfinishedWarning,
        )

    def _summarise(self) -> Summary:
        names = ["(Intercept)", *self._names]
        coef = np.vstack([self.intercept_, self.coef_.T])
        labels = [str(label) for label in self.classes_[-coef.shape[1] :]]
        used = int((self.coef_ != 0).any(axis=0).sum())
        facts = {"Rows": int(self.statistic_.rows.sum()), "Columns": len(self._names), "Columns used": used,
                 "alpha": f"{self.alpha_:.4g}"}  # fmt: skip
        table = Table("Coefficients", names, labels, coef)
        return Summary("Lasso on class indicators", facts, [table], names=names, coef=coef)


def second_of_two(values: Floats) -> Floats:
    """Of two classes the second: the first is its opposite."""
    return values[..., 1:] if values.shape[-1] == 2 else values


def _opposed(coef: Floats, classes: int) -> Floats:
    return np.column_stack([-coef, coef]) if classes == 2 else coef


def squared_errors(part: Any, coef: Floats, intercept: Floats) -> Floats:
    """Mean squared errors of b_0 + b'x (coef alphas x p x m) for the targets of the rows behind a statistic.

    The mean of (y - b_0 - b'x)^2 is the square of its mean plus the variance of y - b'x, which the normal equations
    of those rows tell.
    """
    there = indicator_regression(part, 0.0)
    level, cross = second_of_two(2.0 * there.level - 1.0), second_of_two(2.0 * there.cross)
    bias = level - intercept - np.einsum("j,ajm->am", there.origin, coef)
    explained = np.einsum("jm,ajm->am", cross, coef)
    flat = coef.transpose(1, 0, 2).reshape(coef.shape[1], -1)
    quadratic = (flat * there.spread.times(flat)).sum(axis=0).reshape(explained.shape)
    variance = np.maximum(1.0 - level**2 - 2.0 * explained + quadratic, 0.0)
    return np.asarray((bias**2 + variance).sum(axis=1))


# Columns up to which the coordinate descent of every fold is a matter of seconds.
MOST_COLUMNS = 1000


def _too_wide(rows: Facts) -> str:
    if rows.dense and rows.width > MOST_COLUMNS:
        return f"more than {MOST_COLUMNS:,} columns make its path long; logistic_path is for these"
    return dense_numbers(rows)


enter(Entry("Lasso", LassoClassifier, lambda _: LassoClassifier(), cost=12, tuning="lasso", why_not=_too_wide))
