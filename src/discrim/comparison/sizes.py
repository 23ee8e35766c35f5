"""How many numbers the rule of a fitted classifier has: what "simpler" means in a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.comparison.majority import MajorityClassifier
from discrim.comparison.prepared import unwrapped
from discrim.models import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LassoClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)
from discrim.statistics import ClassMoments, Depth

QUADRATIC = (QuadraticDiscriminantAnalysis, BayesianQuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis)
LINEAR = (LinearDiscriminantAnalysis, BayesianLinearDiscriminantAnalysis)


def rule_size(model: Any) -> float:
    """Free numbers of the log-odds of the classes against one of them; NaN where nobody knows.

    A linear rule has (K - 1)(p + 1), Gaussian naive Bayes (K - 1)(2 p + 1), a quadratic rule
    (K - 1)(1 + p + p (p + 1) / 2). Coefficients that are zero do not count. It is the size of what predicts, not of
    what was estimated on the way: LDA and logistic regression have the same.
    """
    model = unwrapped(model)
    if not hasattr(model, "classes_"):
        return np.nan
    if isinstance(model, MajorityClassifier):
        return float(len(model.classes_) - 1)
    others, p = len(model.classes_) - 1, _columns(model)
    if isinstance(model, RegularizedDiscriminantAnalysis) and model.alpha_ == 0:
        return float(others * (p + 1))
    if isinstance(model, QUADRATIC):
        return float(others * (1 + p + p * (p + 1) // 2))
    if isinstance(model, LINEAR):
        return float(others * (p + 1))
    if isinstance(model, GaussianNB):
        return float(others * (2 * p + 1))
    if hasattr(model, "feature_log_prob_"):
        return float(others * (np.shape(model.feature_log_prob_)[-1] + 1))
    if hasattr(model, "likelihoods_"):
        return float(others * (1 + _numbers_a_class(model)))
    coef = getattr(model, "coef_", None)
    if coef is None:
        return np.nan
    dense = coef.toarray() if hasattr(coef, "toarray") else np.atleast_2d(np.asarray(coef))
    # Of K functions of a softmax, or of K indicators, one follows from the others.
    share = others / len(dense) if len(dense) > 1 else 1.0
    return float(np.ceil(np.count_nonzero(dense) * share)) + min(len(dense), others)


def _columns(model: Any) -> int:
    """Those that vary within classes; the others have no say."""
    statistic = getattr(model, "statistic_", None)
    if not isinstance(statistic, ClassMoments):
        return len(model._names) if hasattr(model, "_names") else int(getattr(model, "n_features_in_", 0))
    if statistic.depth is Depth.DIAGONAL:
        return int(np.count_nonzero(statistic.scatter.sum(axis=0)))
    return int(np.count_nonzero(np.diagonal(statistic.pooled().scatter)))


def family_of(model: Any) -> str:
    """'equal' for one covariance matrix of all classes, 'own' for one a class, '' for models without."""
    model = unwrapped(model)
    return "own" if isinstance(model, QUADRATIC) else "equal" if isinstance(model, LINEAR) else ""


def is_regularised(model: Any) -> bool:
    """Does a penalty, shrinkage or a prior hold the numbers of the rule back?"""
    model = unwrapped(model)
    if isinstance(model, (BayesianLinearDiscriminantAnalysis, BayesianQuadraticDiscriminantAnalysis)):
        return True
    if isinstance(model, RegularizedDiscriminantAnalysis):
        return bool(model.gamma_ < 1)
    if isinstance(model, (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)):
        return model.shrinkage is not None or bool(getattr(model, "reg_param", 0))
    if isinstance(model, (RidgeClassifier, LassoClassifier)):
        return bool(np.any(np.asarray(model.alpha_ if isinstance(model, LassoClassifier) else model.alpha) > 0))
    return isinstance(model, LogisticRegression) and bool(np.isfinite(getattr(model, "C", 1.0)))


def _numbers_a_class(model: Any) -> int:
    """Of naive Bayes of mixed columns: two for a measurement, one for a count, one less than the levels else."""
    numeric = sum(2 if kind in {"gaussian", "student-t", "kernel"} else 1 for kind in model.likelihoods_.values())
    levels = model.statistic_.counts.levels or ()
    return numeric + sum(max(len(known) - 2, 0) for known in levels)
