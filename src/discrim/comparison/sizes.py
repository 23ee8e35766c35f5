"""How many numbers the rule of a fitted classifier has: what "simpler" means in a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.comparison.majority import MajorityClassifier
from discrim.comparison.prepared import unwrapped
from discrim.models.shell import recipe_of


def rule_size(model: Any) -> float:
    """Free numbers of the log-odds of the classes against one of them; NaN where nobody knows.

    A linear rule has (K - 1)(p + 1), Gaussian naive Bayes (K - 1)(2 p + 1), a quadratic rule
    (K - 1)(1 + p + p (p + 1) / 2). Coefficients that are zero do not count. It is the size of what predicts, not of
    what was estimated on the way: LDA and logistic regression have the same.
    """
    model = unwrapped(model)
    if not hasattr(model, "classes_"):
        return np.nan
    recipe = recipe_of(model)
    if recipe is not None:
        return recipe.rule_size(model.solution())
    if isinstance(model, MajorityClassifier):
        return float(len(model.classes_) - 1)
    others = len(model.classes_) - 1
    if hasattr(model, "feature_log_prob_"):
        return float(others * (np.shape(model.feature_log_prob_)[-1] + 1))
    coef = getattr(model, "coef_", None)
    if coef is None:
        return np.nan
    dense = coef.toarray() if hasattr(coef, "toarray") else np.atleast_2d(np.asarray(coef))
    # Of K functions of a softmax, or of K indicators, one follows from the others.
    share = others / len(dense) if len(dense) > 1 else 1.0
    return float(np.ceil(np.count_nonzero(dense) * share)) + min(len(dense), others)


def family_of(model: Any) -> str:
    """'equal' for one covariance matrix of all classes, 'own' for one a class, '' for models without."""
    model = unwrapped(model)
    recipe = recipe_of(model)
    assumed = () if recipe is None else recipe.assumptions
    return next((kind for kind in ("equal", "own") if f"{kind} covariances" in assumed), "")


def is_regularised(model: Any) -> bool:
    """Does a penalty, shrinkage or a prior hold the numbers of the rule back?"""
    model = unwrapped(model)
    recipe = recipe_of(model)
    if recipe is not None:
        return recipe.regularised(model.solution())
    # What a cross-validated penalty came to, in scikit-learn's words.
    return bool(np.isfinite(np.max(getattr(model, "C_", np.inf))))
