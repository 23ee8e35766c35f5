"""Penalties that are tried together, judged by the squared error on held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import Grid, Reduction, Shape
from discrim.families.regression.normal_equations import squared_errors
from discrim.typing import Floats


class Penalised(Protocol):
    """What is asked of a recipe with a penalty alpha."""

    @property
    def rotation_invariant(self) -> bool: ...

    def path(self, statistic: Statistic, shape: Shape, alphas: Floats) -> tuple[Floats, Floats]:
        """Coefficients (alphas x p x m) and intercepts (alphas x m) of m targets."""


@dataclass(frozen=True, eq=False)
class PenaltyGrid(Grid):
    """Alphas, the largest first: models from the statistic of the training rows, errors from that of the others."""

    by_statistic: ClassVar[bool] = True
    ties: ClassVar[Literal["log loss", "first"]] = "first"

    recipe: Penalised
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
