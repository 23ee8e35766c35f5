"""The grid of regularised discriminant analysis, of which LDA and QDA with shrinkage are edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discrim.block import Block
from discrim.errors import ParameterError
from discrim.families.gaussian.leave_one_out_regularized import loo_supported, rda_loss
from discrim.families.gaussian.regularized import Grid as Settings
from discrim.families.gaussian.regularized import Moments, Normalization, Target, score_blocks
from discrim.families.recipe import Grid, Losses, Reduction, Shape, row_losses
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.typing import Floats

# The values tried where a parameter is to be chosen.
DEFAULT_VALUES = np.linspace(0.0, 1.0, 11)


@dataclass(frozen=True, eq=False)
class GaussianGrid(Grid):
    """alphas x gammas, from one eigendecomposition a class and alpha.

    ``names`` says what a setting is called: alpha and gamma, or the shrinkage 1 - gamma.
    """

    no_setting: ClassVar[str] = (
        "No setting of alpha and gamma gives every class a covariance matrix with an inverse in every "
        "training part. Add values of gamma below 1 to the grid (for example 0.5), use "
        "target='identity' if a column is constant, or use fewer folds."
    )

    alphas: Floats
    gammas: Floats
    target: Target = "identity"
    normalization: Normalization = "mle"
    priors: Floats | None = None
    names: Literal["alpha, gamma", "shrinkage"] = "alpha, gamma"

    @property
    def settings(self) -> list[dict[str, Any]]:
        if self.names == "shrinkage":
            return [{"shrinkage": float(1.0 - gamma)} for gamma in self.gammas]
        return [{"alpha": float(alpha), "gamma": float(gamma)} for alpha in self.alphas for gamma in self.gammas]

    @property
    def reduction(self) -> Reduction[ClassMoments]:
        return MomentsOf(Depth.FULL)

    def impossible(self, shape: Shape) -> str:
        if shape.wide and self.target == "diagonal":
            return (
                "With more columns than rows only the target 'identity' can be tuned; set target='identity', "
                "or give numbers for the shrinkage."
            )
        return ""

    @property
    def rotation_invariant(self) -> bool:
        return self.target == "identity"

    def losses(self, statistic: ClassMoments, shape: Shape, block: Block) -> Iterator[Losses]:
        with np.errstate(divide="ignore"):
            shares = statistic.weight / statistic.weight.sum() if self.priors is None else self.priors
            logs = np.log(shares)
        moments = Moments(statistic.weight, statistic.mean, statistic.scatter)
        width = len(self.gammas)
        for alphas, rows, scores in score_blocks(moments, block.dense(), self._values(shape), logs):
            wrong, loss = row_losses(scores, block.codes[rows])
            flat = slice(alphas.start * width, min(alphas.stop, len(self.alphas)) * width)
            yield flat, rows, wrong.reshape(-1, wrong.shape[-1]), loss.reshape(-1, loss.shape[-1])

    def left_out(self, block: Block, shape: Shape) -> Mapping[str, Floats]:
        grid = self._values(shape)
        if block.weight is not None or not loo_supported(grid):
            raise ParameterError(
                "'loo' needs rows without weights and the target 'identity'; use 'cv', which needs neither."
            )
        whole = ClassMoments.of(block, Depth.FULL)
        moments = Moments(whole.weight, whole.mean, whole.scatter)
        table = rda_loss(block.dense(), block.codes, moments, grid, self.priors)
        return {name: values.ravel() for name, values in table.items()}

    def results(self, table: Mapping[str, Floats], best: int) -> dict[str, Any]:
        shape = len(self.alphas), len(self.gammas)
        a, g = divmod(best, shape[1])
        surfaces = {name: values.reshape(shape) for name, values in table.items()}
        chosen = {"alpha": float(self.alphas[a]), "gamma": float(self.gammas[g])}
        return {"alphas": self.alphas, "gammas": self.gammas, **surfaces, **chosen}

    def _values(self, shape: Shape) -> Settings:
        """The same as the algebra knows it."""
        return Settings(self.alphas, self.gammas, self.target, self.normalization, shape.spanned_from)
