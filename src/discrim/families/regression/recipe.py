"""What the recipes by regression on class indicators share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discrim.block import Block
from discrim.families.gaussian.held_out import is_ill
from discrim.families.gaussian.naive import LEAST_LEFT
from discrim.families.gaussian.recipe import MomentsRecipe, Statistic
from discrim.families.recipe import Grid, LeftOut, Reduction, Remark, Shape, Solved
from discrim.families.regression.normal_equations import (
    Regression,
    indicator_regression,
    intercepts,
    signed_regression,
    squared_errors,
)
from discrim.families.rule import LinearRule
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats


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
    def needs_units(self) -> bool:
        return True

    @abstractmethod
    def solutions(self, problem: Regression, alphas: Floats) -> Floats:
        """Coefficients (alphas x p x m) of m targets, of two classes the second."""

    def path(self, statistic: Statistic, shape: Shape, alphas: Floats) -> tuple[Floats, Floats]:
        """The same from a statistic, and the intercepts (alphas x m)."""
        problem = signed_regression(self.weighed(statistic)[0], shape.eps, centred=self.fit_intercept)
        coef = self.solutions(problem, alphas)
        return coef, intercepts(problem, coef)


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

    def results(self, table: Mapping[str, Floats], best: int) -> dict[str, Any]:
        return {"alphas": self.alphas, "squared_error": table["fold_error"], **self.settings[best]}


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
