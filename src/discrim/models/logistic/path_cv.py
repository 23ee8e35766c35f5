"""Cross-validation of a path: what each lambda costs on rows that were left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, name_list
from discrim.families.logistic.path_problem import PathProblem, Steps, problem_of
from discrim.families.recipe import OneBlock
from discrim.parallel import one_blas_thread, run, thread_count
from discrim.statistics.folds import Folds, fold_numbers
from discrim.typing import Floats

# As cv.glmnet: probabilities are held this far from 0 and 1 when a deviance is told.
LEAST_PROBABILITY = 1e-5
# As the gap of a path, where nothing is told of a fold but its deviances: this leaves them six digits or more.
FOLD_GAP = 1e-15
# Rows a fold below which rows, not folds, are what the standard error is taken over.
FEW = 3


def cross_validated(
    problem: PathProblem, lambdas: Floats, cv: Any, gap: float | None
) -> tuple[Floats, Floats, NDArray[np.int32]]:
    """Mean deviance a row on left-out folds, its standard error, and the fold of each row.

    As cv.glmnet: the mean over folds is weighted by their weights, and the error is that of this mean. Every fold
    scales its columns anew. Folds run side by side, each on one thread. Cost: a path a fold.
    """
    block = problem.rows.whole
    assert block is not None
    folds, gap = folds_of(cv, block), FOLD_GAP if gap is None else gap
    with one_blas_thread():
        # A path often returns to Python, where more threads than cores only wait for each other.
        deviances = run(lambda f: _left_out(problem, folds, f, lambdas, gap), len(folds.parts), workers=thread_count())
    weight = np.ones(len(block)) if block.weight is None else block.weight
    if len(block) < FEW * len(folds.parts):
        each, size = np.empty((len(block), len(lambdas))), weight
        for f, deviance in enumerate(deviances):
            each[folds.test(f)] = deviance
        count = len(block)
    else:
        parts = [weight[folds.test(f)] for f in range(len(folds.parts))]
        size, count = np.array([part.sum() for part in parts]), len(parts)
        each = np.stack([part @ deviance / part.sum() for part, deviance in zip(parts, deviances, strict=True)])
    mean = size @ each / size.sum()
    error = np.sqrt(size @ (each - mean) ** 2 / size.sum() / (count - 1))
    return mean, error, folds.number


def folds_of(cv: Any, block: Block) -> Folds:
    """``cv`` as a number of folds, a splitter, a list of (train, test), or the fold of each row."""
    if hasattr(cv, "__len__") and len(cv) == len(block) and np.isscalar(next(iter(cv))):
        from sklearn.model_selection import PredefinedSplit

        cv = PredefinedSplit(np.unique(cv, return_inverse=True)[1])
    return fold_numbers(cv, block.codes)


def _left_out(problem: PathProblem, folds: Folds, f: int, lambdas: Floats, gap: float) -> Floats:
    """Deviances (rows of the fold x L) by paths that did not see them."""
    block = problem.rows.whole
    assert block is not None
    kept = block.take(folds.train(f))
    weight = np.bincount(kept.codes, kept.weight, len(block.classes))
    if not weight.all():
        lost = name_list(block.classes[weight == 0])
        raise DataError(f"Fold {f} holds out every row of {lost} that counts. Use fewer or stratified folds.")
    train = problem_of(OneBlock(kept), problem.l1_ratio)
    train = train.with_columns(standardize=problem.standardize, intercept=problem.intercept)
    steps = train.follow(train.follower(gap=gap), lambdas)
    return deviances_of(steps, block.take(folds.test(f)))


def deviances_of(steps: Steps, block: Block) -> Floats:
    """-2 log probability of each row's class, n x L."""
    eta = linear_predictors(steps.coef, steps.intercept, block)
    if eta.ndim == 3:
        top = eta.max(axis=2, keepdims=True)
        own = np.exp(eta - top)[np.arange(len(block)), :, block.codes] / np.exp(eta - top).sum(axis=2)
        return np.asarray(-2.0 * np.log(np.clip(own, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)))
    # 2 log(1 + exp(-margin)), in one array from here on.
    most = np.log(1.0 / LEAST_PROBABILITY - 1.0)
    eta *= np.where(block.codes == 1, -1.0, 1.0)[:, None]
    np.exp(np.clip(eta, -most, most, out=eta), out=eta)
    eta += 1.0
    np.log(eta, out=eta)
    eta *= 2.0
    return eta


def linear_predictors(coef: Floats, intercept: Floats, block: Block) -> Floats:
    """n x L, or n x L x K."""
    flat = coef.reshape(-1, coef.shape[-1])
    eta = np.asarray(block.x @ flat.T).reshape(len(block), *intercept.shape)
    eta += intercept
    if block.offset is not None:
        eta += block.offset[:, None]
    return eta
