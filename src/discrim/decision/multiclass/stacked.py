"""Scores of all two-class models together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils.validation import _num_samples

from discrim.decision.multiclass.problems import side_scores
from discrim.decision.wrapping import posteriors
from discrim.families.rule import Output, Rule
from discrim.models.scoring import apply_rule
from discrim.models.shell import recipe_of
from discrim.sources import Scan, check_structure
from discrim.typing import Floats

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


def _applied(rule: Rule, first: Any, X: Any) -> Floats:
    return apply_rule(rule, first.rows_of(X), Output.SCORES)


def _joint_rule(models: Sequence[Any], *, odds: bool) -> Rule | None:
    """One rule whose b-th score is that of model b, or its log odds; None where each has to be asked by itself."""
    first = models[0]
    if any(recipe_of(model) is None or model.columns_ is not first.columns_ for model in models):
        return None
    if not odds and not hasattr(first, "decision_function"):
        # What speaks for a side is then its probability.
        return None
    rules = [model.solution().rule for model in models]
    # The scores of a rule are log posteriors.
    joint: Rule | None = rules[0].joined(rules, (-1.0, 1.0) if odds else first.margin_weights)
    return joint
