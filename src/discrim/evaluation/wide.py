"""More columns than training rows: models that a rotation leaves as they are, solved in the rows' space."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.evaluation.closed_forms import given_priors, regularised_setting
from discrim.models import RidgeClassifier
from discrim.models.priors import log_priors
from discrim.models.tuning import rotated
from discrim.solvers.regularized import Grid, Moments, grid_scores
from discrim.solvers.regularized_search import estimated_log_priors
from discrim.statistics import ClassMoments, Depth, merge_moments
from discrim.statistics.folds import Folds, of_folds, of_others
from discrim.typing import Floats


def rotated_fold_scores(model: Any, block: Block, folds: Folds) -> Floats | None:
    """Held-out scores n x K of a discriminant model that is shrunk towards a multiple of the identity.

    None for any other model, or where a class has no inverse covariance.
    """
    setting = regularised_setting(model)
    if setting is None or setting[1] == 1 or model.target != "identity":
        return None
    alpha, gamma = setting
    x = rotated(np.asarray(block.x))
    p = block.x.shape[1]
    grid = Grid(np.array([alpha]), np.array([gamma]), "identity", model.normalization, n_columns=p)
    scores = np.empty((len(x), len(block.classes)))
    for f, s in enumerate(
        of_others(of_folds(replace(block, x=x), folds, partial(ClassMoments.of, depth=Depth.FULL)), merge_moments)
    ):
        test = folds.test(f)
        priors = given_priors(model, s.weight)
        logs = estimated_log_priors(s.weight) if priors is None else log_priors(priors)
        scores[test] = grid_scores(Moments(s.weight, s.mean, s.scatter), x[test], grid, logs)[0, 0]
    return None if np.isnan(scores).any() else scores


def rotated_rows(model: Any, x: NDArray[Any]) -> Floats | None:
    """The rows in as many columns as they span; None where ``model`` would give other answers on these."""
    if type(model) is not RidgeClassifier or not model.fit_intercept or model.positive:
        return None
    return rotated(x) if (np.asarray(model.alpha) > 0).all() else None
