"""Leave-one-out in closed form, for the models that have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.models import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)
from discrim.models.base import OnePassClassifier
from discrim.models.bayesian_prior import prior_units
from discrim.models.priors import resolve_priors
from discrim.models.tuning import rotated
from discrim.solvers.leave_one_out import lda_scores, qda_scores, rho_of
from discrim.solvers.leave_one_out_nb import nb_scores
from discrim.solvers.leave_one_out_rda import rda_scores
from discrim.solvers.leave_one_out_smoother import linear_smoother_loo
from discrim.solvers.naive import total_variances
from discrim.solvers.regression import indicator_regression
from discrim.solvers.regularized import Grid, Moments, class_covariances
from discrim.solvers.sphering import ILL_CONDITIONED
from discrim.solvers.student_leave_one_out import FixedPrior, log_priors_left, separate_scores, shared_scores
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.means import grand_mean
from discrim.typing import Floats

# A row without which less than this share of a variance is left, or of 1 - leverage, is refitted: what the
# closed form has then to subtract takes the digits with it.
_LEAST_LEFT = 1e-5


def leave_one_out_scores(model: OnePassClassifier, block: Block) -> Floats | None:
    """Scores n x K (log posteriors up to a constant) of each row by the model without it.

    None where there is no closed form for these parameters; a row of NaN where it fails for this row.
    """
    form = _FORMS.get(type(model))
    if form is None or block.weight is not None or model._needs_rows():
        return None
    return form(model, np.asarray(block.x), block)


def regularised_setting(model: Any) -> tuple[float, float] | None:
    """The (alpha, gamma) of regularised discriminant analysis that ``model`` is, or None if it is none."""
    if type(model) is RegularizedDiscriminantAnalysis:
        numbers = not isinstance(model.alpha, str) and not isinstance(model.gamma, str)
        return (float(model.alpha), float(model.gamma)) if numbers else None
    if type(model) not in {LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis}:
        return None
    if model.predict_method != "plug-in":
        return None
    shrinkage = 0.0 if model.shrinkage is None else model.shrinkage
    if model.covariance_estimator is not None or isinstance(shrinkage, str):
        return None
    if type(model) is QuadraticDiscriminantAnalysis:
        return None if model.reg_param else (1.0, 1.0 - float(shrinkage))
    weighs_classes = model.solver != "svd" and model.priors is not None
    return None if weighs_classes or model.rank is not None else (0.0, 1.0 - float(shrinkage))


def given_priors(model: Any, weight: Floats) -> Floats | None:
    """The priors that the user fixed; None where they are the shares of the classes."""
    return None if model.priors is None else resolve_priors(model.priors, weight)


def _discriminant(model: Any, x: NDArray[Any], block: Block) -> Floats | None:
    if getattr(model, "predict_method", "plug-in") == "predictive":
        return _geisser(model, x, block)
    setting = regularised_setting(model)
    alone = bool((np.bincount(block.codes) == 1).any())
    needs_two = type(model) is not LinearDiscriminantAnalysis
    if setting is None or (needs_two and len(block.classes) - alone < 2):
        return None
    if setting == (0.0, 1.0):
        return _lda(model, x, block)
    if setting == (1.0, 1.0):
        return _qda(model, x, block)
    return _regularised(model, x, block, *setting)


def _geisser(model: Any, x: NDArray[Any], block: Block) -> Floats | None:
    """Prediction without a prior scale: the scatters must have digits to spare."""
    shared = type(model) is LinearDiscriminantAnalysis
    if (np.bincount(block.codes) == 1).any() or not _plain(model):
        return None
    s = ClassMoments.of(block, Depth.POOLED if shared else Depth.FULL)
    if any(_ill(scatter) for scatter in s.scatter.reshape(-1, *s.scatter.shape[-2:])):
        return None
    logs = log_priors_left(s.weight, given_priors(model, s.weight), 0.0)
    of = shared_scores if shared else separate_scores
    prior = FixedPrior(0.0, 0.0, x.shape[1])
    return of(x, block.codes, Moments(s.weight, s.mean, s.scatter), prior, logs)


def _plain(model: Any) -> bool:
    """Is the covariance the scatter itself, as the other ways to predict need it?"""
    extras = (
        model.covariance_estimator,
        model.shrinkage,
        getattr(model, "reg_param", None),
        getattr(model, "rank", None),
    )
    return not any(extras) and not (type(model) is LinearDiscriminantAnalysis and model._weighs_classes())


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
    if psi == 0 and any(_ill(scatter) for scatter in s.scatter.reshape(-1, p, p)):
        return None
    logs = log_priors_left(s.weight, given_priors(model, s.weight), model.class_prior_alpha)
    of = shared_scores if model._shared else separate_scores
    return of(z, block.codes, Moments(s.weight, s.mean, s.scatter), FixedPrior(psi, nu, p), logs)


def _lda(model: Any, x: NDArray[Any], block: Block) -> Floats | None:
    if len(x) <= x.shape[1] + len(block.classes):
        return None
    s = ClassMoments.of(block, Depth.POOLED)
    if _ill(s.scatter):
        return None
    return lda_scores(x, block.codes, s.weight, s.mean, s.scatter, given_priors(model, s.weight), model.normalization)


def _qda(model: Any, x: NDArray[Any], block: Block) -> Floats | None:
    s = ClassMoments.of(block, Depth.FULL)
    if s.rows.min() <= x.shape[1] + 1 or any(_ill(scatter) for scatter in s.scatter):
        return None
    moments = Moments(s.weight, s.mean, s.scatter)
    return qda_scores(x, block.codes, moments, given_priors(model, s.weight), model.normalization)


def _regularised(model: Any, x: NDArray[Any], block: Block, alpha: float, gamma: float) -> Floats | None:
    if model.target == "diagonal" and gamma < 1:
        return None
    n_columns = x.shape[1]
    if len(x) <= n_columns:
        if gamma == 1:
            return None
        x = rotated(x)
    s = ClassMoments.of(Block(x, block.codes, block.classes), Depth.FULL)
    sigma = class_covariances(s.weight, s.scatter, alpha, model.normalization)
    if gamma == 1 and any(_ill(matrix) for matrix in sigma):
        return None
    grid = Grid(np.array([alpha]), np.array([gamma]), model.target, model.normalization, n_columns=n_columns)
    moments = Moments(s.weight, s.mean, s.scatter)
    by_gamma = next(rda_scores(x, block.codes, moments, grid, given_priors(model, s.weight)))
    return np.asarray(by_gamma[0])


def _nb(model: GaussianNB, x: NDArray[Any], block: Block) -> Floats | None:
    if model.normalization != "mle":
        return None
    s = ClassMoments.of(block, Depth.DIAGONAL)
    priors = given_priors(model, s.weight)
    scores = nb_scores(x, block.codes, s.weight, s.mean, s.scatter, priors, model.var_smoothing)
    origin, total = grand_mean(s.weight, s.mean), len(x) * total_variances(s.weight, s.mean, s.scatter)
    rho = rho_of(s.weight)[block.codes][:, None]
    lost = rho * np.square(x - s.mean[block.codes]) > (1.0 - _LEAST_LEFT) * s.scatter[block.codes]
    lost |= np.square(x - origin) > (1.0 - 1.0 / len(x)) * (1.0 - _LEAST_LEFT) * total
    scores[lost.any(axis=1)] = np.nan
    return scores


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
    if _ill(sigma):
        return None
    lower = np.linalg.cholesky(sigma)
    z = np.linalg.solve(lower, (x - problem.origin).T)
    leverage = (1.0 + np.einsum("in,in->n", z, z)) / problem.weight
    fitted = problem.level + z.T @ np.linalg.solve(lower, problem.cross)
    indicators = np.eye(len(block.classes))[block.codes]
    scores = 2.0 * linear_smoother_loo(indicators, fitted, leverage)
    scores[1.0 - leverage < _LEAST_LEFT] = np.nan
    # The model without the only row of a class does not know the class.
    scores[(indicators == 1) & (statistic.rows == 1)] = -np.inf
    return scores


def _ill(scatter: Floats) -> bool:
    """Is the scaled scatter too close to singular for a formula that uses its squares?"""
    scale = np.sqrt(np.diagonal(scatter))
    if not (scale > 0).all():
        return True
    values = np.linalg.eigvalsh(scatter / scale[:, None] / scale[None, :])
    return bool(values[0] <= ILL_CONDITIONED * values[-1])


_FORMS: dict[type, Callable[..., Floats | None]] = {
    BayesianLinearDiscriminantAnalysis: _bayesian,
    BayesianQuadraticDiscriminantAnalysis: _bayesian,
    LinearDiscriminantAnalysis: _discriminant,
    QuadraticDiscriminantAnalysis: _discriminant,
    RegularizedDiscriminantAnalysis: _discriminant,
    GaussianNB: _nb,
    LeastSquaresClassifier: _least_squares,
    RidgeClassifier: _ridge,
}
