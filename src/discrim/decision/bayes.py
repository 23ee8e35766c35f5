"""The Bayes rule for densities that are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array

from discrim.decision.costs import cheapest, checked_costs, expected_costs
from discrim.decision.known_densities import Interval, Risk, exact_risk, intervals, log_density, sampled_risk
from discrim.errors import DataError, ParameterError, plural
from discrim.families.priors import log_priors, resolve_priors
from discrim.typing import Floats

# Draws of each class for a risk in several dimensions.
DRAWS = 100_000


class BayesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The rule that nobody can beat, where the densities of the classes are known.

    **Model.** x | class k has the density f_k, class k the probability pi_k; action j costs L[k, j] for class k.

    **Rule.** argmin_j sum_k L[k, j] pi_k f_k(x); without costs the largest pi_k f_k(x).

    Nothing is learned: ``fit`` is there for scikit-learn's sake. Where no density is positive the priors decide.

    Parameters
    ----------
    densities : dict of label: density, or list of densities of the classes 0, 1, ...
        A density has ``logpdf`` or ``pdf``: a frozen distribution of scipy.stats, of one dimension or several, or
        any object; one in several dimensions tells their number by ``dim``.
    priors : K numbers in the order of the densities, by default equal
    costs, actions : as in CostSensitiveClassifier

    Attributes
    ----------
    classes_, priors_, costs_, actions_ : in the order of the densities

    Examples
    --------
    >>> from scipy import stats
    >>> from discrim.decision import BayesClassifier
    >>> rule = BayesClassifier({1: stats.norm(-1, 1), 2: stats.norm(1, 1 / 3)})
    >>> rule.predict([[0.1], [0.5], [3.0]])
    array([1, 2, 1])
    >>> [(round(r.low, 3), round(r.high, 3), r.action) for r in rule.regions()]
    [(-inf, 0.335, 1), (0.335, 2.165, 2), (2.165, inf, 1)]
    >>> round(float(rule.risk()), 4)
    0.0567
    """

    def __init__(self, densities: Any, priors: Any = None, costs: Any = None, actions: Any = None) -> None:
        self.densities = densities
        self.priors = priors
        self.costs = costs
        self.actions = actions

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002 - nothing is left to learn
        """Check the parameters."""
        _ = self.priors_, self.costs_
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        if isinstance(self.densities, Mapping):
            return np.array(list(self.densities))
        return np.arange(len(self.densities))

    @property
    def priors_(self) -> Floats:
        size = len(self._densities)
        return resolve_priors(self.priors, np.ones(size))

    @property
    def costs_(self) -> Floats:
        return checked_costs(self.costs, self.classes_, self.actions)[0]

    @property
    def actions_(self) -> NDArray[Any]:
        return checked_costs(self.costs, self.classes_, self.actions)[1]

    @property
    def n_features_in_(self) -> int:
        """The dimension of the densities."""
        found = {int(getattr(density, "dim", 1)) for density in self._densities}
        if len(found) > 1:
            raise ParameterError(f"The 'densities' parameter mixes {' and '.join(map(str, sorted(found)))} dimensions.")
        return found.pop()

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log pi_k f_k(x), n x K."""
        x = np.asarray(check_array(X, dtype=np.float64), dtype=np.float64)
        p = self.n_features_in_
        if x.shape[1] != p:
            raise DataError(f"X has {plural(x.shape[1], 'column')}, the densities have {plural(p, 'dimension')}.")
        return log_priors(self.priors_) + np.column_stack([log_density(f, x) for f in self._densities])

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors, n x K."""
        scores = self.predict_joint_log_proba(X)
        nowhere = np.isneginf(scores).all(axis=1)
        scores[nowhere] = log_priors(self.priors_)
        return np.asarray(special.softmax(scores, axis=1))

    def expected_cost(self, X: Any) -> Floats:
        """Expected cost of every action, n x A."""
        return expected_costs(self.predict_proba(X), self.costs_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The action of least expected cost."""
        return np.asarray(self.actions_[self._numbers(X)])

    def regions(self, span: tuple[float, float] | None = None) -> list[Interval]:
        """In one dimension: the intervals of the line and the action on each, ends to the last digits.

        They are searched for at quantiles of all densities and up to a million spreads beyond; ``span`` is the range
        to search in where densities do not tell their quantiles (``ppf``). An interval that holds less than a
        thousandth of every class may be missed.
        """
        self._one_dimension("regions")
        actions = self.actions_.tolist()
        found = intervals(self._numbers, self._densities, span)
        return [Interval(low, high, actions[j]) for low, high, j in found]

    def risk(self, rule: Any = None, *, span: tuple[float, float] | None = None, seed: int = 0) -> Risk:
        """Expected cost of a rule when rows come from these densities; without costs, its probability of error.

        ``rule`` is this classifier itself, any fitted classifier, or a function from rows (n x p) to actions. In one
        dimension it is exact: the intervals on which the rule answers the same, and the probability of each under
        each class. In several it is the mean over draws of each class, with its standard error.
        """
        numbers = self._numbers if rule is None else self._numbers_of(rule)
        if self.n_features_in_ == 1:
            found = intervals(numbers, self._densities, span)
            return exact_risk(found, self._densities, self.priors_, self.costs_)
        return sampled_risk(numbers, self._densities, self.priors_, self.costs_, (DRAWS, seed))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def _densities(self) -> list[Any]:
        listed = list(self.densities.values()) if isinstance(self.densities, Mapping) else list(self.densities)
        if not listed or not all(hasattr(f, "logpdf") or hasattr(f, "pdf") for f in listed):
            raise ParameterError.bad_value(
                "densities", self.densities, "a dict or list of objects with 'logpdf' or 'pdf', one for each class"
            )
        return listed

    def _numbers(self, X: Any) -> NDArray[np.intp]:
        return cheapest(self.predict_proba(X), self.costs_)

    def _numbers_of(self, rule: Any) -> Any:
        answer = rule.predict if hasattr(rule, "predict") else rule
        place = {label: j for j, label in enumerate(self.actions_.tolist())}

        def numbers(X: Floats) -> NDArray[np.intp]:
            given = np.asarray(answer(X)).ravel().tolist()
            strange = [label for label in dict.fromkeys(given) if label not in place]
            if strange:
                raise DataError(f"The rule answers {strange[0]!r}, which is none of the actions {list(place)}.")
            return np.array([place[label] for label in given], dtype=np.intp)

        return numbers

    def _one_dimension(self, what: str) -> None:
        if self.n_features_in_ != 1:
            raise ParameterError(f"{what} are intervals, for densities of one dimension; these have more.")
