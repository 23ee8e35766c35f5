"""What the recipes by regression on class indicators share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discrim.families.gaussian.recipe import MomentsRecipe, Statistic
from discrim.families.recipe import Remark, Solved
from discrim.families.rule import LinearRule
from discrim.statistics import Depth
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


def linear_functions(coef: Floats, level: Floats, origin: Floats) -> LinearRule:
    """level_k + b_k'(x - origin) for the columns b_k of ``coef``."""
    return LinearRule(np.ascontiguousarray(coef.T), level, origin)
