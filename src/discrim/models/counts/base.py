"""What the models of counts share: their parameters, and what is asked of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discrim.errors import warn
from discrim.families.counts.recipe import LEAST_ALPHA, CountsRecipe, checked_alpha
from discrim.families.counts.rule import LimitRule
from discrim.families.rule import Output
from discrim.inference.conjugate import DirichletPosterior
from discrim.models.beyond import beyond_sklearn
from discrim.models.parameters import Check, array_like, boolean, either, none, number, numbers, one_of
from discrim.models.scoring import apply_rule
from discrim.models.shell import RecipeClassifier
from discrim.typing import Floats

# Constraints on the parameters that all of them have.
SHARED: dict[str, Check] = {
    "alpha": either(number(0), array_like(), one_of("loo", "cv")),
    "force_alpha": boolean(),
    "fit_prior": boolean(),
    "class_prior": either(none(), array_like()),
    "class_alpha": either(number(0), numbers(0)),
    "alphas": either(none(), numbers(LEAST_ALPHA)),
}


class CountsClassifier(RecipeClassifier):
    """A classifier whose statistic is the sums of the columns in each class."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    class_alpha: Any
    alphas: Any
    cv: Any
    class_count_: Floats
    class_log_prior_: Floats
    feature_count_: Floats
    feature_log_prob_: Floats
    alpha_: Any

    _constraints: ClassVar[dict[str, Check]] = SHARED

    @abstractmethod
    def recipe(self) -> CountsRecipe:
        """The model that these parameters describe."""

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: any number of parts gives what one fit of all rows gives.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it
        are an error.
        """
        recipe = self.recipe()
        if recipe.search() is not None and self.chosen is None:
            raise recipe.needs_rows_error()
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """log P(class k) + log P(row | class k), n x K."""
        rule, rows = self.solution().rule, self.rows_of(X)
        if not isinstance(rule, LimitRule):
            return apply_rule(rule, rows, Output.SCORES)
        scores, never = np.split(apply_rule(rule.both, rows, Output.SCORES), 2, axis=1)
        return np.where(never == 0, scores, np.where(never > 0, -np.inf, np.inf)).astype(scores.dtype)

    # The models without a parameter ``methods`` never have it: scikit-learn's checks would hand them negative numbers.
    @beyond_sklearn
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n."""
        return super().decision_function(X)

    def class_posterior(self) -> DirichletPosterior:
        """What is known of the classes' probabilities: Dirichlet(class_alpha + n_k)."""
        self._check_solved()
        return DirichletPosterior(self.class_count_ + np.asarray(self.class_alpha, dtype=np.float64))

    def _check_alpha(self) -> Any:
        """What is added to the counts: scikit-learn's classes have it under this name, and its tests ask for it."""
        alpha, remarks = checked_alpha(self.alpha, self.force_alpha, getattr(self, "n_features_in_", 0))
        for remark in remarks:
            warn(*remark)
        return alpha

    def _shared(self) -> dict[str, Any]:
        """The parameters that all recipes of counts have."""
        named = {name: getattr(self, name) for name in (*SHARED, "cv")}
        return {**named, "model": type(self).__name__}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.input_tags.positive_only = True
        return tags
