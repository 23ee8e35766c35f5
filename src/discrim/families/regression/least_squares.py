"""Least squares on class indicators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from discrim.families.gaussian.covariance import Sphering
from discrim.families.gaussian.recipe import Statistic, about_columns, rank_tolerance
from discrim.families.recipe import LeftOut, Passes, Shape, Solved
from discrim.families.regression.normal_equations import Regression, indicator_regression, least_squares
from discrim.families.regression.recipe import RegressionRecipe, held_out_smoother
from discrim.families.rule import LinearRule


class LeastSquaresDetails(NamedTuple):
    """What standard errors are made from: the normal equations, their solution, and the regression functions."""

    problem: Regression
    sphering: Sphering
    functions: LinearRule


@dataclass(frozen=True, eq=False)
class LeastSquaresRecipe(RegressionRecipe):
    """b_k = T^-1 n_k (mu_k - mu), b_k0 = n_k / n - b_k'mu with the total scatter T."""

    tol: float = 1e-4

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002
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
