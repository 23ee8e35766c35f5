"""Penalties of logistic regression that are tried together: a path over C, each fit begun where the last one ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from discrim.block import Block
from discrim.families.logistic.fit import PenaltyTerms, Problem
from discrim.families.logistic.penalty_path import fold_path
from discrim.families.one_block import OneBlock
from discrim.families.recipe import Grid, Losses, Reduction, Shape, row_losses
from discrim.typing import Floats

# Times a power of ten near one over the variance of a column.
STRENGTHS = 10.0 ** np.arange(-3, 3)
# With a weak penalty, and up to so many coefficients, Newton's method needs less than the many steps of the other.
WEAK, NEWTON_SIZE = 10.0, 400
MOST_STEPS = 1000


@dataclass(frozen=True, eq=False)
class StrengthGrid(Grid):
    """Values of C, the smallest first, with the ridge alone."""

    criterion: ClassVar[Literal["error", "log loss"]] = "log loss"

    problem: Problem
    typical: float
    rows: Reduction[Block]
    size: int

    @classmethod
    def of(cls, problem: Problem, block: Block, rows: Reduction[Block]) -> StrengthGrid:
        """For rows like those of this block."""
        size = (block.x.shape[1] + 1) * (len(block.classes) if len(block.classes) > 2 else 1)
        return cls(replace(problem, most=MOST_STEPS), _typical_strength(block), rows, size)

    @property
    def settings(self) -> Sequence[Mapping[str, Any]]:
        return [self._setting(float(C)) for C in self.typical * STRENGTHS]

    @property
    def reduction(self) -> Reduction[Block]:
        return self.rows

    def losses(self, statistic: Block, shape: Shape, block: Block) -> Iterator[Losses]:  # noqa: ARG002 - as the rows
        terms = [PenaltyTerms(0.0, 1.0 / C) for C in self.typical * STRENGTHS]
        problem = replace(self.problem, penalty=terms[0], classes=statistic.classes)
        path = np.stack([step.theta for step in fold_path(OneBlock(statistic), problem, terms)])
        eta = np.asarray(block.x @ path[..., 1:].reshape(-1, path.shape[-1] - 1).T).T
        eta = eta.reshape(*path.shape[:2], len(block)) + path[..., :1]
        scores = np.concatenate([np.zeros_like(eta), eta], axis=1) if eta.shape[1] == 1 else eta
        yield slice(0, len(path)), slice(0, len(block)), *row_losses(scores, block.codes)

    def _setting(self, C: float) -> Mapping[str, Any]:
        newton = WEAK * self.typical <= C and self.size <= NEWTON_SIZE
        return {"C": C, "solver": "newton" if newton else "auto", "max_iter": MOST_STEPS}


def _typical_strength(block: Block) -> float:
    """A power of ten near one over the mean variance of a column, which is 1 for columns of variance 1."""
    variances = _variances(block)
    variances = variances[variances > 0]
    return float(10.0 ** -np.round(np.log10(variances.mean()))) if len(variances) else 1.0


def _variances(block: Block) -> Floats:
    if sparse.issparse(block.x):
        squares = np.asarray(block.x.multiply(block.x).mean(axis=0)).ravel()
        return np.asarray(squares - np.asarray(block.x.mean(axis=0)).ravel() ** 2)
    return np.asarray(block.x.var(axis=0, dtype=float))
