"""Leave-one-out in closed form, for the models that have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.models import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)
from discrim.models.base import OnePassClassifier
from discrim.models.priors import resolve_priors
from discrim.models.tuning import rotated
from discrim.solvers.leave_one_out import lda_scores, qda_scores
from discrim.solvers.leave_one_out_nb import nb_scores
from discrim.solvers.leave_one_out_rda import rda_scores
from discrim.solvers.leave_one_out_smoother import linear_smoother_loo
from discrim.solvers.regression import indicator_regression
from discrim.solvers.regularized import Grid, Moments
from discrim.solvers.sphering import ILL_CONDITIONED
from discrim.sources import Block
from discrim.statistics import ClassMoments, Depth

Floats = NDArray[np.float64]


def leave_one_out_scores(model: OnePassClassifier, block: Block) -> Floats | None:
    """Scores n x K (log posteriors up to a constant) of each row by the model without it.

    None where there is no closed form for these parameters; a row of NaN where it fails for this row.
    """
    if block.weight is not None or model._needs_rows():
        return None
    for kind, form in _FORMS.items():
        if type(model) is kind:
            return form(model, np.asarray(block.x), block)
    return None


def _priors(model: Any, statistic: ClassMoments) -> Floats | None:
    return None if model.priors is None else resolve_priors(model.priors, statistic.weight)


def _lda(model: LinearDiscriminantAnalysis, x: NDArray[Any], block: Block) -> Floats | None:
    weighs_classes = model.solver != "svd" and model.priors is not None
    shrinkage = 0.0 if model.shrinkage is None else model.shrinkage
    if model.covariance_estimator is not None or model.rank is not None or weighs_classes or isinstance(shrinkage, str):
        return None
    if shrinkage > 0:
        return _regularised(model, x, block, 0.0, 1.0 - float(shrinkage))
    if len(x) <= x.shape[1] + len(block.classes):
        return None
    statistic = ClassMoments.of(block, Depth.POOLED)
    if _ill(statistic.scatter):
        return None
    return lda_scores(
        x, block.codes, statistic.weight, statistic.mean, statistic.scatter, _priors(model, statistic),
        model.normalization,
    )  # fmt: skip


def _qda(model: QuadraticDiscriminantAnalysis, x: NDArray[Any], block: Block) -> Floats | None:
    shrinkage = 0.0 if model.shrinkage is None else model.shrinkage
    if model.covariance_estimator is not None or model.reg_param or isinstance(shrinkage, str):
        return None
    if shrinkage > 0:
        return _regularised(model, x, block, 1.0, 1.0 - float(shrinkage))
    statistic = ClassMoments.of(block, Depth.FULL)
    if statistic.rows.min() <= x.shape[1] + 1 or any(_ill(scatter) for scatter in statistic.scatter):
        return None
    moments = Moments(statistic.weight, statistic.mean, statistic.scatter)
    return qda_scores(x, block.codes, moments, _priors(model, statistic), model.normalization)


def _rda(model: RegularizedDiscriminantAnalysis, x: NDArray[Any], block: Block) -> Floats | None:
    return _regularised(model, x, block, float(model.alpha), float(model.gamma))


def _regularised(model: Any, x: NDArray[Any], block: Block, alpha: float, gamma: float) -> Floats | None:
    if model.target == "diagonal" and gamma < 1:
        return None
    n_columns = x.shape[1]
    if len(x) <= n_columns:
        if gamma == 1:
            return None
        x = rotated(x)
    statistic = ClassMoments.of(Block(x, block.codes, block.classes), Depth.FULL)
    if gamma == 1 and _ill(statistic.scatter.sum(axis=0)):
        return None
    grid = Grid(np.array([alpha]), np.array([gamma]), model.target, model.normalization, n_columns=n_columns)
    moments = Moments(statistic.weight, statistic.mean, statistic.scatter)
    return np.asarray(next(iter(rda_scores(x, block.codes, moments, grid, _priors(model, statistic))))[0])


def _nb(model: GaussianNB, x: NDArray[Any], block: Block) -> Floats | None:
    if model.normalization != "mle":
        return None
    s = ClassMoments.of(block, Depth.DIAGONAL)
    return nb_scores(x, block.codes, s.weight, s.mean, s.scatter, _priors(model, s), model.var_smoothing)


def _least_squares(model: LeastSquaresClassifier, x: NDArray[Any], block: Block) -> Floats | None:
    if model.priors is not None or len(x) <= x.shape[1] + 1:
        return None
    return _smoother(x, block, 0.0, model._indicator_scale * 2.0)


def _ridge(model: RidgeClassifier, x: NDArray[Any], block: Block) -> Floats | None:
    simple = model.fit_intercept and not model.positive and model.class_weight is None and model.priors is None
    if not simple or np.ndim(model.alpha):
        return None
    return _smoother(x, block, float(model.alpha), 2.0)


def _smoother(x: NDArray[Any], block: Block, alpha: float, scale: float) -> Floats | None:
    """Held-out indicators from the leverages of the whole fit; ``scale`` makes them log posteriors."""
    if len(x) <= x.shape[1]:
        x = rotated(x)
    statistic = ClassMoments.of(Block(x, block.codes, block.classes), Depth.POOLED)
    problem = indicator_regression(statistic, float(np.finfo(float).eps))
    sigma = problem.spread.dense() + alpha / problem.weight * np.eye(x.shape[1])
    if _ill(sigma):
        return None
    lower = np.linalg.cholesky(sigma)
    z = np.linalg.solve(lower, (x - problem.origin).T)
    leverage = (1.0 + np.einsum("in,in->n", z, z)) / problem.weight
    fitted = problem.level + z.T @ np.linalg.solve(lower, problem.cross)
    indicators = np.eye(len(block.classes))[block.codes]
    return scale * linear_smoother_loo(indicators, fitted, leverage)


def _ill(scatter: Floats) -> bool:
    """Is the scaled scatter too close to singular for a formula that uses its squares?"""
    scale = np.sqrt(np.diagonal(scatter))
    if not (scale > 0).all():
        return True
    values = np.linalg.eigvalsh(scatter / scale[:, None] / scale[None, :])
    return bool(values[0] <= ILL_CONDITIONED * values[-1])


_FORMS: dict[type, Callable[..., Floats | None]] = {
    LinearDiscriminantAnalysis: _lda,
    QuadraticDiscriminantAnalysis: _qda,
    RegularizedDiscriminantAnalysis: _rda,
    GaussianNB: _nb,
    LeastSquaresClassifier: _least_squares,
    RidgeClassifier: _ridge,
}
