"""Leave-one-out in closed form, for the models that have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.gaussian.held_out import LEAST_LEFT, is_ill
from discrim.families.gaussian.leave_one_out_student import FixedPrior, log_priors_left, separate_scores, shared_scores
from discrim.families.gaussian.regularized import Moments
from discrim.families.priors import resolve_priors
from discrim.families.recipe import rotated
from discrim.models import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    LeastSquaresClassifier,
    RidgeClassifier,
)
from discrim.models.base import OnePassClassifier
from discrim.models.bayesian_prior import prior_units
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


def given_priors(model: Any, weight: Floats) -> Floats | None:
    """The priors that the user fixed; None where they are the shares of the classes."""
    return None if model.priors is None else resolve_priors(model.priors, weight)


def _bayesian(model: Any, x: NDArray[Any], block: Block) -> Floats | None:
    """Only where the prior stays the same without a row."""
    chosen = isinstance(model.psi, str) or isinstance(model.nu, str)
    alone = bool((np.bincount(block.codes) == 1).any())
    n, p = x.shape
    fixed = bool(np.ndim(model.psi)) or model.target == "identity" or model.psi == 0
    if chosen or not fixed or len(block.classes) - alone < 2:
        return None
    psi, nu = (1.0 if np.ndim(model.psi) else float(model.psi)), p + 2.0 if model.nu is None else float(model.nu)
    z = np.asarray(x, dtype=np.float64)
    if psi > 0:
        z = prior_units(model, ClassMoments.of(block, Depth.DIAGONAL), np.zeros(p))[0].rows(z)
    if n <= p:
        if psi == 0:
            return None
        z = rotated(z)
    s = ClassMoments.of(Block(z, block.codes, block.classes), model._depth())
    if psi == 0 and any(is_ill(scatter) for scatter in s.scatter.reshape(-1, p, p)):
        return None
    logs = log_priors_left(s.weight, given_priors(model, s.weight), model.class_prior_alpha)
    of = shared_scores if model._shared else separate_scores
    return of(z, block.codes, Moments(s.weight, s.mean, s.scatter), FixedPrior(psi, nu, p), logs)


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
    BayesianLinearDiscriminantAnalysis: _bayesian,
    BayesianQuadraticDiscriminantAnalysis: _bayesian,
    LeastSquaresClassifier: _least_squares,
    RidgeClassifier: _ridge,
}
