"""Scores of all two-class models together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils.validation import _num_samples

from discrim.decision.multiclass.problems import side_scores
from discrim.decision.wrapping import posteriors
from discrim.families.rule import LinearRule, Output
from discrim.models import LeastSquaresClassifier, RidgeClassifier
from discrim.models.scoring import apply_rule
from discrim.models.shell import recipe_of
from discrim.sources import Scan, check_structure
from discrim.typing import Floats

# Per model: the weights of the two regression functions in its score, and what makes their difference a log odds.
LINEAR: dict[type, tuple[tuple[float, float], float]] = {
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
    return apply_rule(rule, first.rows_of(X), Output.SCORES)


def _joint_rule(models: Sequence[Any], *, odds: bool) -> LinearRule | None:
    """One linear rule whose b-th score is that of model b, or its log odds; None where some model is not linear."""
    first = models[0]
    if not odds and recipe_of(first) is not None and not hasattr(first, "decision_function"):
        # What speaks for a side is then its probability.
        return None
    rules = [_linear_rule(model) for model in models]
    if None in rules or any(model.columns_ is not first.columns_ for model in models):
        return None
    known = [rule for rule in rules if rule is not None]
    # The scores of a recipe's rule are log posteriors.
    (low, high), to_odds = LINEAR.get(type(first), ((-1.0, 1.0), 1.0))
    if odds:
        low, high = -to_odds, to_odds
    origin, threshold = known[0].origin, known[0].threshold
    coef = np.stack([low * rule.coef[0] + high * rule.coef[1] for rule in known])
    with np.errstate(invalid="ignore"):  # a class without weight has the offset -inf: such models are asked one by one
        offset = np.array([low * rule.offset[0] + high * rule.offset[1] for rule in known])
    offset += np.array([c @ (origin - rule.origin) for c, rule in zip(coef, known, strict=True)])
    return LinearRule(coef, offset, origin, threshold) if np.isfinite(offset).all() else None


def _linear_rule(model: Any) -> LinearRule | None:
    if recipe_of(model) is not None:
        rule = model.solution().rule
    elif type(model) in LINEAR:
        rule = model._check_solved()._rule
    else:
        return None
    return rule if isinstance(rule, LinearRule) and len(rule.coef) == 2 else None
