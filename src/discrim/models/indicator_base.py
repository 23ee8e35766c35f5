"""What the classifiers by regression on indicators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.families.priors import resolve_priors
from discrim.families.rule import LinearRule, Output
from discrim.models.base import OnePassClassifier, Statistic
from discrim.models.scoring import apply_rule


class IndicatorClassifier(OnePassClassifier):
    """The class whose regression function is largest.

    A regression function can leave [0, 1], so posteriors are softmax(2 f): equal to f in value and slope where
    two classes meet, between 0 and 1 everywhere, and in the order of f; zero for a class without weight.
    """

    priors: Any
    _rule: LinearRule
    # What turns the rule's scores into fitted indicators, up to a constant.
    _indicator_scale: float = 1.0

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        if output is Output.SCORES:
            return super()._apply(X, output)
        self._check_solved()
        factor, rule = 2.0 * self._indicator_scale, self._rule
        possible = self.statistic_.weight > 0
        if self.priors is not None:
            possible &= np.asarray(self.priors, dtype=np.float64) > 0
        # A class that cannot occur has a regression function too, which must not win or take a share.
        squashed = LinearRule(factor * rule.coef, np.where(possible, factor * rule.offset, -np.inf), rule.origin)
        return apply_rule(squashed, self._open(X, None, None, reset=False, labelled=False), output)

    def _with_priors(self, statistic: Statistic) -> Statistic:
        """Classes counted so that their shares are the given priors."""
        if self.priors is None:
            return statistic
        priors = resolve_priors(self.priors, statistic.weight)
        present = statistic.weight > 0
        factors = np.where(present, priors * statistic.total_weight / np.where(present, statistic.weight, 1.0), 0.0)
        return statistic.reweighted(factors)
