"""Costs of actions, and the action that costs least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discrim.decision.wrapping import Wrapper, codes_of
from discrim.errors import ParameterError, name_list, plural
from discrim.exports.exporting import answering_of
from discrim.families.rule import Described
from discrim.sources import check_weights
from discrim.store.fields import Array, Fields
from discrim.store.values import Labels
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
    costs : K x A matrix, rows as ``classes_``; or a dict from (true label, predicted label) to a cost, where pairs that
        are not given cost 1, and 0 where the labels are equal; None for 1 where the answer is wrong and 0 where it is
        right
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
    >>> CostSensitiveClassifier(LinearDiscriminantAnalysis(), {("virginica", "versicolor"): 5}).fit(X, y).costs_
    array([[0., 1., 1.],
           [1., 0., 1.],
           [1., 5., 0.]])
    """

    learned: ClassVar[Fields] = {**Wrapper.learned, "costs_": Array("K a"), "actions_": Labels("a")}

    costs_: Floats
    actions_: NDArray[Any]

    def __init__(self, estimator: Any, costs: Any = None, actions: Any = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.actions = actions

    def predict(self, X: Any) -> NDArray[Any]:
        """The action of least expected cost, the first of several."""
        posterior = self.predict_proba(X)
        return np.asarray(self.actions_[cheapest(posterior, self.costs_)])

    def expected_cost(self, X: Any) -> Floats:
        """What each action would cost on average for rows like these, n x A, columns as ``actions_``."""
        return np.asarray(self.predict_proba(X) @ self.costs_)

    def mean_cost(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """What the actions taken for these rows cost on average, given their classes."""
        posterior = self.predict_proba(X)
        taken = cheapest(posterior, self.costs_)
        codes = codes_of(y, self.classes_, len(taken))
        return float(np.average(self.costs_[codes, taken], weights=check_weights(sample_weight, len(codes))))

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        check_is_fitted(self, "estimator_")
        return "costs", {"inner": answering_of(self.estimator_), "costs": self.costs_, "actions": self.actions_}

    def _decide(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> None:  # noqa: ARG002 - nothing to learn
        self.costs_, self.actions_ = checked_costs(self.costs, self.classes_, self.actions)


def checked_costs(costs: Any, classes: NDArray[Any], actions: Any = None) -> tuple[Floats, NDArray[Any]]:
    """L, K x A: the cost L[k, j] of action j where the class is k; and the names of the actions.

    Without costs every wrong class costs 1; a dict from (class, predicted class) to a cost changes some of them.
    Without names the actions are the classes.
    """
    size = len(classes)
    if costs is None or isinstance(costs, Mapping):
        if actions is not None:
            raise ParameterError("The 'actions' parameter names the columns of 'costs', which must be a matrix then.")
        costs = _costs_of_pairs({} if costs is None else costs, classes)
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError.bad_value("costs", costs, "a matrix of numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != size or not matrix.shape[1]:
        found = " x ".join(map(str, matrix.shape)) or "a single number"
        raise ParameterError(
            f"The 'costs' parameter is {found}; it needs a row for each of the {plural(size, 'class', 'classes')} "
            f"({name_list(classes)}) and a column for each action."
        )
    if not np.isfinite(matrix).all():
        raise ParameterError("The 'costs' parameter holds NaN or infinity; costs are finite numbers.")
    return matrix, _action_names(actions, matrix.shape[1], classes)


def cheapest(posterior: Floats, costs: Floats) -> NDArray[np.intp]:
    """The number of the action of least expected cost for each row; the first of several.

    What a class costs at most is taken off its costs first, which changes every action by the same: with costs of
    0 and 1 what is left to compare are the posteriors themselves, to the last bit.
    """
    return np.asarray((posterior @ (costs - costs.max(axis=1, keepdims=True))).argmin(axis=1))


def _action_names(actions: Any, count: int, classes: NDArray[Any]) -> NDArray[Any]:
    if actions is None:
        if count != len(classes):
            raise ParameterError(
                f"The 'costs' parameter has {plural(count, 'action')} for {plural(len(classes), 'class', 'classes')}. "
                "Name them: actions=[...], one name for each column."
            )
        return classes
    listed = list(actions) if not isinstance(actions, str) else [actions]
    names = np.asarray(listed) if len({type(name) for name in listed}) == 1 else np.array(listed, dtype=object)
    if names.shape != (count,) or len(set(listed)) != count:
        raise ParameterError.bad_value(
            "actions", actions, f"{plural(count, 'different name')}, one for each column of 'costs'"
        )
    return names


def _costs_of_pairs(costs: Mapping[Any, Any], classes: NDArray[Any]) -> NDArray[Any]:
    place = {label: k for k, label in enumerate(classes.tolist())}
    matrix = (1.0 - np.eye(len(classes))).astype(object)
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ParameterError.bad_value("costs", costs, "keyed by pairs (true label, predicted label)")
        unknown = [label for label in pair if label not in place]
        if unknown:
            raise ParameterError(
                f"The 'costs' parameter has the label {name_list(unknown)}; the classes are {name_list(classes, 20)}."
            )
        matrix[place[pair[0]], place[pair[1]]] = cost
    return matrix
