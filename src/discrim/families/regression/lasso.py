"""Least squares on class indicators with an L1 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.errors import UnfinishedWarning, warn
from discrim.families.gaussian.covariance import Within
from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import Passes, Remark, Search, Shape, Solved
from discrim.families.regression.normal_equations import Regression, least_squares, second_of_two, signed_regression
from discrim.families.regression.recipe import PenalisedRecipe, PenaltyGrid
from discrim.later import cached_property
from discrim.parallel import blas_threads
from discrim.statistics import ClassFactors, FactorsOf, MomentsOf
from discrim.store.fields import Array
from discrim.store.kinds import stored
from discrim.typing import Floats

# Penalties that are tried where alpha is not chosen by the fit itself, as parts of a round number.
STRENGTHS: Floats = np.asarray(10.0 ** -np.linspace(0.0, 3.5, 15), dtype=np.float64)
UNFINISHED = Remark(
    "Coordinate descent did not converge: alpha is too small for columns that are nearly dependent, or more "
    "than the rows. The coefficients are those of a larger alpha. Use one, or leave some columns out.",
    UnfinishedWarning,
)
# The last sweep moves no fitted value by more than the root of this, for targets whose mean square is one.
CLOSE = 1e-22
# Sweeps for one alpha. From a solution nearby a few are enough; more do not help where alpha is below the rounding of
# the products that the columns have with each other.
SWEEPS = 1000
# Columns up to which coordinate descent works on all of Sigma at once.
DIRECT = 500
# Columns that join the working set at a time, beside those that have a coefficient.
JOIN = 100
# The way to an alpha that cannot be solved from zero goes down by this factor.
STEP = 10.0**-0.25


@stored("lasso path", alphas=Array("a"), coef=Array("a m p"), intercept=Array("a m"))
@dataclass(frozen=True, eq=False)
class LassoPath:
    """Solutions for ``alphas`` that fall: ``coef`` is alphas x m x p and ``intercept`` alphas x m, m functions."""

    alphas: Floats
    coef: Floats
    intercept: Floats


@dataclass(frozen=True, eq=False)
class LassoRecipe(PenalisedRecipe):
    """argmin |y - b_0 - X b|^2 / (2 n) + alpha |b|_1 for targets +1 and -1; alpha='cv' is chosen by squared error."""

    cv: Any = 10

    def search(self) -> Search | None:
        return Search("cv", self.cv) if isinstance(self.alpha, str) else None

    def grid(self, statistic: Statistic) -> PenaltyGrid:
        """From where no column is left; fewer and rounder values where alpha is not chosen by the fit itself."""
        problem = signed_regression(self.weighed(statistic)[0], 0.0, centred=self.fit_intercept)
        cross = second_of_two(problem.cross)
        if self.search() is not None:
            alphas = alpha_grid(cross)
        else:
            alphas = float(10.0 ** np.ceil(np.log10(float(np.abs(cross).max(initial=0.0)) or 1.0))) * STRENGTHS
        kind = FactorsOf if isinstance(statistic, ClassFactors) else MomentsOf
        return PenaltyGrid(self, alphas, kind(self.depth()))

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002 - as of every recipe
        counted, remarks = self.weighed(statistic)
        problem = signed_regression(counted, shape.eps, centred=self.fit_intercept)
        alpha, two = float(self.alpha), problem.cross.shape[1] == 2
        if alpha == 0:
            coef = least_squares(problem, 0.0, reread=reread)[0]
        else:
            coef, converged = lasso(problem.spread, second_of_two(problem.cross), alpha)
            coef = np.column_stack([-coef, coef]) if two else coef
            remarks += () if converged else (UNFINISHED,)
        functions = problem.functions(coef)
        own, dtype = slice(1, None) if two else slice(None), shape.columns.dtype
        attributes = {
            "coef_": functions.coef[own].astype(dtype),
            "intercept_": functions.intercept[own].astype(dtype),
            "alpha_": alpha,
        }
        rule = self.rule_of(functions, statistic)
        return Solved(rule, statistic, attributes, remarks=remarks, details=LassoDetails(problem))

    def regularised(self, solved: Solved) -> bool:
        return bool(solved.attributes["alpha_"] > 0)

    def solutions(self, problem: Regression, alphas: Floats) -> Floats:
        return lasso_path(problem.spread, second_of_two(problem.cross), alphas)[0]


@dataclass(frozen=True, eq=False)
class LassoDetails:
    """The normal equations, and the path that they lead to, found when it is first asked for."""

    problem: Regression

    @cached_property
    def path(self) -> LassoPath:
        problem, cross = self.problem, second_of_two(self.problem.cross)
        alphas = alpha_grid(cross)
        with blas_threads(len(cross)):
            coef, converged = lasso_path(problem.spread, cross, alphas)
        if not converged:
            warn(*UNFINISHED)
        return LassoPath(alphas, coef.transpose(0, 2, 1), problem.intercepts(coef))


def lasso(spread: Within, cross: Floats, alpha: float) -> tuple[Floats, bool]:
    """argmin_b b'Sigma b / 2 - c'b + alpha |b|_1 for every column c of ``cross`` (p x m), and whether all converged.

    Where one did not, it has the coefficients of the least larger alpha at which it does. With Sigma = X'X / n and
    c = X'y / n, columns centred, this is |y - X b|^2 / (2 n) + alpha |b|_1. A column whose
    variance is rounding gets no coefficient. The descent runs in columns of unit variance, where alpha becomes a
    penalty for each of them, so that their units do not matter to it. Cost: p for each change of a coefficient with up
    to 500 columns; with more, Sigma is looked at only where coefficients are, and times a vector some ten times.
    """
    coef, converged = np.zeros_like(cross), True
    problem = _Scaled.of(spread)
    for k in range(cross.shape[1]):
        coef[:, k], done = _from_zero(problem, cross[:, k], alpha)
        converged &= done
    return coef, converged


def lasso_path(spread: Within, cross: Floats, alphas: Floats) -> tuple[Floats, bool]:
    """Coefficients (alphas x p x m) for falling alphas, each from the last; whether all converged.

    The first alpha that cannot be solved ends the path: it and the smaller ones have the coefficients of the one
    before. With more columns than rows that happens where alpha is so small that every row is fitted to rounding.
    """
    coefs, converged = np.zeros((len(alphas), *cross.shape)), True
    problem = _Scaled.of(spread)
    for k in range(cross.shape[1]):
        b, done = np.zeros(len(cross)), True
        for i, alpha in enumerate(alphas):
            if done:
                b, done = problem.solve(cross[:, k], float(alpha), b)
            coefs[i, :, k] = b
        converged &= done
    return coefs, converged


def _from_zero(problem: _Scaled, target: Floats, alpha: float) -> tuple[Floats, bool]:
    """Directly, or where that takes too long, along a path of falling alphas."""
    b, done = problem.solve(target, alpha, np.zeros_like(target))
    # Above the largest slope all coefficients are zero.
    step = float(np.abs(target[problem.varies]).max(initial=0.0))
    while not done and step > alpha:
        step = max(step * STEP, alpha)
        b, reached = problem.solve(target, step, b)
        if not reached:
            return b, False
        done = step == alpha
    return b, done


@dataclass(frozen=True)
class _Scaled:
    """Sigma in columns of unit variance, of those that vary: ``size`` are the deviations, ``spread`` what is left."""

    spread: Within
    size: Floats
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, spread: Within) -> _Scaled:
        varies = spread.diagonal > spread.noise**2
        size = np.sqrt(spread.diagonal[varies])
        return cls(spread.of_columns(varies).scaled(1.0 / size), size, varies)

    def solve(self, target: Floats, alpha: float, start: Floats) -> tuple[Floats, bool]:
        """Coefficients in the units of the columns, from those of another alpha; these again where it fails."""
        c, penalty = target[self.varies] / self.size, alpha / self.size
        b = start[self.varies] * self.size
        if len(c) <= DIRECT:
            done = _on(self.spread, c, penalty, np.arange(len(c)), b)
        else:
            done = _by_working_set(self.spread, c, penalty, b)
        if not done:
            return start, False
        coef = np.zeros_like(target)
        coef[self.varies] = b / self.size
        return coef, True


def alpha_grid(cross: Floats, count: int = 100, ratio: float = 1e-3) -> Floats:
    """Falling by equal factors from the least alpha at which all coefficients are zero to ``ratio`` of it."""
    top = float(np.abs(cross).max(initial=0.0)) or 1.0
    return np.asarray(np.geomspace(top, ratio * top, count))


def _on(spread: Within, target: Floats, penalty: Floats, columns: NDArray[np.intp], b: Floats) -> bool:
    """Coordinate descent over some columns, in place; the other coefficients of b are zero."""
    mask = np.zeros(len(target), bool)
    mask[columns] = True
    hessian = np.ascontiguousarray(spread.of_columns(mask).dense())
    theta, q = b[mask], int(mask.sum())
    _, _, converged = kernels.gram_descent(
        hessian, np.zeros(q), -target[mask], theta, penalty[mask], np.zeros(q), None, CLOSE, SWEEPS
    )
    b[mask] = theta
    return bool(converged)


def _by_working_set(spread: Within, target: Floats, penalty: Floats, b: Floats) -> bool:
    """Columns join where the slope is larger than the penalty although they have no coefficient, the steepest first."""
    working = np.flatnonzero(b)
    # Coefficients that were found for another alpha.
    converged = not len(working) or _on(spread, target, penalty, working, b)
    while converged:
        over = np.abs(target - spread.times(b)) - penalty
        over[working] = 0.0
        # What is over by less than rounding would only come and go.
        outside = np.flatnonzero(over > 1e-12)
        if not len(outside):
            break
        steepest = outside[np.argsort(over[outside])[::-1][: max(JOIN, len(working))]]
        working = np.union1d(working, steepest)
        converged = _on(spread, target, penalty, working, b)
    return converged
