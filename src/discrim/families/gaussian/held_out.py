"""Which closed form gives the leave-one-out scores of a Gaussian model, and where none does."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.block import Block
from discrim.families.gaussian.covariance import EPS, ILL_CONDITIONED
from discrim.families.gaussian.grid import GaussianGrid
from discrim.families.gaussian.leave_one_out import gaussian_scores, log_priors_without, student_scores
from discrim.families.gaussian.quadratic import class_matrices
from discrim.families.recipe import LeftOut, Shape, Solved
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats


def held_out_gaussian(recipe: Any, setting: tuple[float, float], solved: Solved, shape: Shape) -> LeftOut | None:
    """LDA and QDA by rank-one changes; with shrinkage as regularised discriminant analysis."""
    s, (alpha, gamma) = solved.statistic, setting
    if leaves_one_class(s):
        return None
    if gamma < 1:
        if recipe.target == "diagonal":
            return None
    elif not isinstance(s, ClassMoments):
        return None
    elif recipe.shared or alpha == 1:
        s, priors = s.pooled() if recipe.shared else s, recipe.fixed_priors(s.weight)
        if is_ill(s.scatter):
            return None
        return lambda block: gaussian_scores(block.dense(), block.codes, s, priors, recipe.normalization)
    elif any(is_ill(own.values) for own in class_matrices(s, recipe.normalization, EPS, alpha).within):
        return None

    def scores(block: Block) -> Floats:
        of = ClassMoments.of(block, Depth.FULL)
        grid = GaussianGrid(
            np.array([alpha]), np.array([gamma]), recipe.target, recipe.normalization,
            recipe.fixed_priors(of.weight), n_columns=shape.spanned_from,
        )  # fmt: skip
        return np.asarray(next(grid.scores_without_each(block.dense(), block.codes, of))[:, 0].T)

    return scores


def held_out_predictive(recipe: Any, s: Any) -> LeftOut | None:
    """Geisser's prediction, without a prior scale: the scatters must have digits to spare."""
    if not isinstance(s, ClassMoments) or (s.rows == 1).any():
        return None
    s = s.pooled() if recipe.shared else s
    if is_ill(s.scatter):
        return None
    logs = log_priors_without(s.weight, recipe.fixed_priors(s.weight))
    return lambda block: student_scores(block.dense(), block.codes, s, 0.0, 0.0, s.n_features, logs)


def is_ill(scatter: Any) -> bool:
    """Is a scaled scatter (p x p, or several) too close to singular for a formula that uses its squares?"""
    scale = np.sqrt(np.diagonal(scatter, axis1=-2, axis2=-1))
    if not (scale > 0).all():
        return True
    values = np.linalg.eigvalsh(scatter / scale[..., :, None] / scale[..., None, :])
    return bool((values[..., 0] <= ILL_CONDITIONED * values[..., -1]).any())


def leaves_one_class(s: Any) -> bool:
    """Would a single class be left without the only row of another?"""
    return bool(len(s.classes) - (s.rows == 1).any() < 2)
