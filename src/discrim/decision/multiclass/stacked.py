"""Scores of all two-class models together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import _num_samples

from discrim.decision.wrapping import asked
from discrim.families.rule import Output, Rule
from discrim.models.scoring import apply_rule
from discrim.models.shell import recipe_of
from discrim.sources import Scan, check_structure
from discrim.typing import Floats

# Scores that are held at once.
MOST_SCORES = 1 << 25


def all_scores(models: Sequence[Any], X: Any) -> Floats:
    """The scores of the positive side of each model, n x B; linear rules are applied in one read of the rows."""
    check_structure(X)
    rule = _joint_rule(models, odds=False)
    if rule is None:
        return np.column_stack([side_scores(model, X) for model in models])
    return apply_rule(rule, models[0].rows_of(X), Output.SCORES)


def all_probabilities(models: Sequence[Any], X: Any) -> Floats:
    """The probability of the positive side of each model, n x B."""
    check_structure(X)
    rule = _joint_rule(models, odds=True)
    if rule is None:
        return np.column_stack([asked(model, "predict_proba", X)[:, 1] for model in models])
    return np.asarray(special.expit(apply_rule(rule, models[0].rows_of(X), Output.SCORES)))


def fits_in_memory(models: Sequence[Any], X: Any) -> bool:
    """Are the scores of all models small enough to be held at once, and found in one read?"""
    count = X.n_rows if isinstance(X, Scan) else _num_samples(X)
    return count is not None and count * len(models) <= MOST_SCORES and _joint_rule(models, odds=False) is not None


def _joint_rule(models: Sequence[Any], *, odds: bool) -> Rule | None:
    """One rule whose b-th score is that of model b, or its log odds; None where they cannot be joined."""
    first = models[0]
    if any(recipe_of(model) is None or model.columns_ is not first.columns_ for model in models):
        return None
    if not odds and not hasattr(first, "decision_function"):
        # The score of a side is then its probability.
        return None
    rules = [model.solution().rule for model in models]
    # The scores of a rule are log posteriors.
    joint: Rule | None = rules[0].joined(rules, (-1.0, 1.0) if odds else first.margin_weights)
    return joint


def side_scores(estimator: Any, X: Any) -> Floats:
    """The score of the positive side: the decision function, else its probability, else a regression."""
    if is_regressor(estimator):
        return np.asarray(estimator.predict(X))
    if hasattr(estimator, "decision_function"):
        return np.ravel(estimator.decision_function(X))
    return np.asarray(estimator.predict_proba(X)[:, 1])


def side_threshold(estimator: Any) -> float:
    """The score above which the answer is the positive side."""
    return 0.0 if hasattr(estimator, "decision_function") and is_classifier(estimator) else 0.5


def answers_and_scores(estimator: Any, X: Any) -> tuple[NDArray[Any], Floats]:
    """The answers 0 and 1, and the scores of the positive side."""
    scores = side_scores(estimator, X)
    if recipe_of(estimator) is not None and estimator.solution().rule.by_score:
        return (scores > side_threshold(estimator)).astype(np.intp), scores
    return np.asarray(estimator.predict(X)), scores
