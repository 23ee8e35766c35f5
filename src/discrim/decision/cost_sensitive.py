"""Decisions where errors do not all cost the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discrim.decision.costs import cheapest, checked_costs, expected_costs
from discrim.decision.wrapping import Wrapper
from discrim.errors import DataError, plural
from discrim.sources import check_weights, recode
from discrim.typing import Floats


class CostSensitiveClassifier(Wrapper):
    """The action of least expected cost under the posteriors of another classifier.

    **Model.** Taking action j where the class is k costs L[k, j]; the class is k with probability p_k(x), as
    ``estimator`` has learned it.

    **Rule.** argmin_j sum_k L[k, j] p_k(x), Bayes' rule for these costs. Where every error costs the same that is the
    most probable class; for two classes it moves the threshold on p_2 from 1/2 to
    (L12 - L11) / (L12 - L11 + L21 - L22).

    The posteriors must mean what they say: costs that are far apart make decisions by small probabilities. There may be
    more or fewer actions than classes, for example "treat", "test" and "send home" for two diagnoses.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    costs : K x A matrix, rows as ``classes_``; None for 1 where the answer is wrong and 0 where it is right
    actions : names of the A columns; None where they are the classes

    Attributes
    ----------
    estimator_, classes_ : the fitted classifier and its classes
    costs_, actions_ : the matrix L and the names of its columns

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision import CostSensitiveClassifier
    >>> X, y = datasets.load_iris().xy
    >>> costs = [[0, 5, 1], [5, 0, 1], [5, 5, 1]]
    >>> actions = ["setosa", "versicolor", "look again"]
    >>> model = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs, actions).fit(X, y)
    >>> model.predict(X[[0, 50, 100]]).tolist()
    ['setosa', 'versicolor', 'look again']
    """

    costs_: Floats
    actions_: NDArray[Any]

    def __init__(self, estimator: Any, costs: Any = None, actions: Any = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.actions = actions

    def predict(self, X: Any) -> NDArray[Any]:
        """The action of least expected cost, the first of several."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.actions_[cheapest(self.predict_proba(X), self.costs_)])

    def expected_cost(self, X: Any) -> Floats:
        """What each action would cost on average for rows like these, n x A, columns as ``actions_``."""
        return expected_costs(self.predict_proba(X), self.costs_)

    def mean_cost(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """What the actions taken for these rows cost on average, given their classes."""
        check_is_fitted(self, "estimator_")
        taken = cheapest(self.predict_proba(X), self.costs_)
        codes = recode(y, self.classes_)
        if len(codes) != len(taken):
            raise DataError(f"X has {plural(len(taken), 'row')}, y has {plural(len(codes), 'label')}.")
        return float(np.average(self.costs_[codes, taken], weights=check_weights(sample_weight, len(codes))))

    def _decide(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> None:  # noqa: ARG002 - nothing to learn
        self.costs_, self.actions_ = checked_costs(self.costs, self.classes_, self.actions)
