"""Leave-one-out in closed form, for the models that have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.gaussian.held_out import LEAST_LEFT, is_ill
from discrim.families.recipe import rotated
from discrim.models import LeastSquaresClassifier, RidgeClassifier
from discrim.models.base import OnePassClassifier
from discrim.solvers.leave_one_out_smoother import linear_smoother_loo
from discrim.solvers.regression import indicator_regression
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats


def leave_one_out_scores(model: OnePassClassifier, block: Block) -> Floats | None:
    """Scores n x K (log posteriors up to a constant) of each row by the model without it.

    None where there is no closed form for these parameters; a row of NaN where it fails for this row.
    """
    form = _FORMS.get(type(model))
    if form is None or block.weight is not None or model._needs_rows():
        return None
    return form(model, np.asarray(block.x), block)


def _least_squares(model: LeastSquaresClassifier, x: NDArray[Any], block: Block) -> Floats | None:
    if model.priors is not None or len(x) <= x.shape[1] + 1:
        return None
    return _smoother(x, block, 0.0)


def _ridge(model: RidgeClassifier, x: NDArray[Any], block: Block) -> Floats | None:
    simple = model.fit_intercept and not model.positive and model.solver != "lbfgs"
    if not simple or model.class_weight is not None or model.priors is not None or np.ndim(model.alpha):
        return None
    return _smoother(x, block, float(model.alpha))


def _smoother(x: NDArray[Any], block: Block, alpha: float) -> Floats | None:
    """Held-out indicators from the leverages of the whole fit, doubled as the models' posteriors are."""
    if len(x) <= x.shape[1]:
        x = rotated(x)
    statistic = ClassMoments.of(Block(x, block.codes, block.classes), Depth.POOLED)
    problem = indicator_regression(statistic, float(np.finfo(float).eps))
    sigma = problem.spread.dense() + alpha / problem.weight * np.eye(x.shape[1])
    if is_ill(sigma):
        return None
    lower = np.linalg.cholesky(sigma)
    z = np.linalg.solve(lower, (x - problem.origin).T)
    leverage = (1.0 + np.einsum("in,in->n", z, z)) / problem.weight
    fitted = problem.level + z.T @ np.linalg.solve(lower, problem.cross)
    indicators = np.eye(len(block.classes))[block.codes]
    scores = 2.0 * linear_smoother_loo(indicators, fitted, leverage)
    scores[1.0 - leverage < LEAST_LEFT] = np.nan
    # The model without the only row of a class does not know the class.
    scores[(indicators == 1) & (statistic.rows == 1)] = -np.inf
    return scores


_FORMS: dict[type, Callable[..., Floats | None]] = {
    LeastSquaresClassifier: _least_squares,
    RidgeClassifier: _ridge,
}
