"""Ridge regression on class indicators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.errors import ParameterError
from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import LeftOut, Passes, Remark, Shape, Solved
from discrim.families.regression.normal_equations import (
    Regression,
    positive_ridge,
    ridge,
    ridge_path,
    second_of_two,
    signed_regression,
)
from discrim.families.regression.recipe import PenalisedRecipe, PenaltyGrid, held_out_smoother
from discrim.statistics import Depth, MomentsOf
from discrim.typing import Floats

# Penalties that are tried, in units of the sum of squares of a standardised column, the largest first.
STRENGTHS: Floats = np.asarray(10.0 ** np.arange(1, -7, -1.0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class RidgeRecipe(PenalisedRecipe):
    """b_k = (T + alpha I)^-1 2 n_k (mu_k - mu) with the total scatter T, for targets +1 and -1; the intercept is free.

    ``class_weight`` is a dictionary or 'balanced'; with ``positive`` no coefficient is negative.
    """

    class_weight: Any = None
    solver: str = "auto"
    positive: bool = False

    def depth(self) -> Depth:
        return super().depth() if self.class_weight is None else Depth.FULL

    @property
    def rotation_invariant(self) -> bool:
        return self.fit_intercept and not self.positive and bool((np.asarray(self.alpha) > 0).all())

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002
        if self.solver == "lbfgs" and not self.positive:
            raise ParameterError("'lbfgs' solver can be used only when positive=True. Use another solver.")
        counted, remarks = self.weighed(statistic)
        problem = signed_regression(counted, shape.eps, centred=self.fit_intercept)
        functions = problem.functions(self._coefficients(problem, reread=reread))
        dtype, two = shape.columns.dtype, len(statistic.classes) == 2
        intercept = functions.intercept[1:] if two else functions.intercept
        attributes = {
            "coef_": (functions.coef[1] if two else functions.coef).astype(dtype),
            "intercept_": intercept.astype(dtype) if self.fit_intercept else 0.0,
            "solver_": "lbfgs" if self.positive else "cholesky",
            "n_iter_": 1,
        }
        return Solved(self.rule_of(functions, statistic), statistic, attributes, remarks=remarks)

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - the statistic has it all
        plain = self.fit_intercept and not self.positive and self.class_weight is None and self.priors is None
        if not plain or np.ndim(self.alpha):
            return None
        return held_out_smoother(solved.statistic, float(self.alpha))

    def grid(self, statistic: Statistic) -> PenaltyGrid | None:
        """Around the sum of squares of a standardised column, which is the weight of the rows."""
        if self.positive:
            return None
        alphas = float(10.0 ** np.round(np.log10(statistic.total_weight))) * STRENGTHS
        return PenaltyGrid(self, alphas, MomentsOf(self.depth()))

    def regularised(self, solved: Solved) -> bool:  # noqa: ARG002 - determined by the parameters
        return bool(np.any(np.asarray(self.alpha) > 0))

    def solutions(self, problem: Regression, alphas: Floats) -> Floats:
        return second_of_two(ridge_path(problem, alphas))

    def _coefficients(self, problem: Regression, *, reread: bool) -> Floats:
        alphas = self._alphas(problem.cross.shape[1])
        if self.positive:
            columns = [positive_ridge(problem, problem.cross[:, k], float(a)) for k, a in enumerate(alphas)]
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
