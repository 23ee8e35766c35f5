"""Least squares on class indicators with an L1 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.errors import DataError, UnfinishedWarning, warn
from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import Chosen, Passes, Remark, Search, Shape, Solved
from discrim.families.regression.descent import alpha_grid, lasso, lasso_path
from discrim.families.regression.normal_equations import (
    Regression,
    intercepts,
    least_squares,
    second_of_two,
    signed_regression,
)
from discrim.families.regression.penalties import PenaltyGrid
from discrim.families.regression.recipe import RegressionRecipe, linear_functions
from discrim.later import cached_property
from discrim.parallel import blas_threads
from discrim.statistics import ClassFactors, FactorsOf, MomentsOf
from discrim.typing import Floats

# Penalties that are tried where none is to be chosen by the fit itself, as parts of a round number.
STRENGTHS: Floats = np.asarray(10.0 ** -np.linspace(0.0, 3.5, 15), dtype=np.float64)
UNFINISHED = Remark(
    "Coordinate descent did not converge: alpha is too small for columns that are nearly dependent, or more "
    "than the rows. The coefficients are those of a larger alpha. Use one, or leave some columns out.",
    UnfinishedWarning,
)


@dataclass(frozen=True, eq=False)
class LassoPath:
    """Solutions for ``alphas`` that fall: ``coef`` is alphas x m x p and ``intercept`` alphas x m, m functions."""

    alphas: Floats
    coef: Floats
    intercept: Floats


@dataclass(frozen=True, eq=False)
class LassoRecipe(RegressionRecipe):
    """argmin |y - b_0 - X b|^2 / (2 n) + alpha |b|_1 for targets +1 and -1; alpha='cv' is chosen by squared error."""

    alpha: Any = 0.01
    fit_intercept: bool = True
    cv: Any = 10

    @property
    def needs_units(self) -> bool:
        return True

    def search(self) -> Search | None:
        return Search("cv", self.cv) if isinstance(self.alpha, str) else None

    def grid(self, statistic: Statistic) -> PenaltyGrid:
        """From where no column is left; somebody else who chooses gets fewer and rounder numbers."""
        cross = second_of_two(self._normal_equations(self.weighed(statistic)[0], 0.0).cross)
        if self.search() is not None:
            alphas = alpha_grid(cross)
        else:
            alphas = float(10.0 ** np.ceil(np.log10(float(np.abs(cross).max(initial=0.0)) or 1.0))) * STRENGTHS
        kind = FactorsOf if isinstance(statistic, ClassFactors) else MomentsOf
        return PenaltyGrid(self, alphas, kind(self.depth()))

    def solve(
        self, statistic: Statistic, shape: Shape, passes: Passes | None = None, before: Chosen | None = None
    ) -> Solved:
        if self.search() is not None and passes is None and before is None:
            self.check(statistic)
            raise DataError("alpha='cv' needs the rows themselves: use fit, or give a number.")
        return super().solve(statistic, shape, passes, before)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002
        counted, remarks = self.weighed(statistic)
        problem = self._normal_equations(counted, shape.eps)
        alpha, two = float(self.alpha), problem.cross.shape[1] == 2
        if alpha == 0:
            coef = least_squares(problem, 0.0, reread=reread)[0]
        else:
            solution = lasso(problem.spread, second_of_two(problem.cross), alpha)
            coef = np.column_stack([-solution.coef, solution.coef]) if two else solution.coef
            remarks += () if solution.converged else (UNFINISHED,)
        functions = linear_functions(coef, problem.level, problem.origin)
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

    def path(self, statistic: Statistic, shape: Shape, alphas: Floats) -> tuple[Floats, Floats]:
        """Coefficients (alphas x p x m) and intercepts (alphas x m) of the targets, of two classes the second."""
        problem = self._normal_equations(self.weighed(statistic)[0], shape.eps)
        coef, _ = lasso_path(problem.spread, second_of_two(problem.cross), alphas)
        return coef, intercepts(problem, coef)

    def _normal_equations(self, counted: Statistic, eps: float) -> Regression:
        return signed_regression(counted, eps, centred=self.fit_intercept)


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
        return LassoPath(alphas, coef.transpose(0, 2, 1), intercepts(problem, coef))
