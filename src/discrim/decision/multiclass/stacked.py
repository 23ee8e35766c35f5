"""Scores of all two-class models together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils.validation import _num_samples

from discrim.decision.multiclass.problems import side_scores
from discrim.decision.wrapping import posteriors
from discrim.models import LeastSquaresClassifier, LinearDiscriminantAnalysis, RidgeClassifier
from discrim.models.scoring import Output, apply_rule
from discrim.solvers.rules import LinearRule
from discrim.sources import Scan, check_structure
from discrim.typing import Floats

# Per model: the weights of the two regression functions in its score, and what makes their difference a log odds.
LINEAR: dict[type, tuple[tuple[float, float], float]] = {
    LinearDiscriminantAnalysis: ((-1.0, 1.0), 1.0),
    LeastSquaresClassifier: ((-1.0, 1.0), 2.0),
    RidgeClassifier: ((0.0, 1.0), 1.0),
}
# Scores that are held at once.
MOST_SCORES = 1 << 25


def all_scores(models: Sequence[Any], X: Any) -> Floats:
    """How much speaks for the positive side of each model, n x B; linear rules are applied in one read of the rows."""
    check_structure(X)
    rule = _joint_rule(models, odds=False)
    if rule is None:
        return np.column_stack([side_scores(model, X) for model in models])
    return _applied(rule, models[0], X)


def all_probabilities(models: Sequence[Any], X: Any) -> Floats:
    """The probability of the positive side of each model, n x B."""
    check_structure(X)
    rule = _joint_rule(models, odds=True)
    if rule is None:
        return np.column_stack([posteriors(model, X)[:, 1] for model in models])
    return np.asarray(special.expit(_applied(rule, models[0], X)))


def fits_in_memory(models: Sequence[Any], X: Any) -> bool:
    """Are the scores of all models small enough to be held at once, and found in one read?"""
    count = X.n_rows if isinstance(X, Scan) else _num_samples(X)
    return count is not None and count * len(models) <= MOST_SCORES and _joint_rule(models, odds=False) is not None


def _applied(rule: LinearRule, first: Any, X: Any) -> Floats:
    return apply_rule(rule, first._open(X, None, None, reset=False, labelled=False), Output.SCORES)


def _joint_rule(models: Sequence[Any], *, odds: bool) -> LinearRule | None:
    """One linear rule whose b-th score is that of model b, or its log odds; None where some model is not linear."""
    first = models[0]
    if not all(type(model) in LINEAR and isinstance(getattr(model, "_rule", None), LinearRule) for model in models):
        return None
    if any(model._design is not first._design or model._check_solved() is not model for model in models):
        return None
    (low, high), to_odds = LINEAR[type(first)]
    if odds:
        low, high = -to_odds, to_odds
    origin = first._rule.origin
    coef = np.stack([low * m._rule.coef[0] + high * m._rule.coef[1] for m in models])
    with np.errstate(invalid="ignore"):  # a class without weight has the offset -inf: such models are asked one by one
        offset = np.array([low * m._rule.offset[0] + high * m._rule.offset[1] for m in models])
    offset += np.array([c @ (origin - m._rule.origin) for c, m in zip(coef, models, strict=True)])
    return LinearRule(coef, offset, origin) if np.isfinite(offset).all() else None
