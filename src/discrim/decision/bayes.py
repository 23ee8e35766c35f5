"""The Bayes rule for densities that are known: its regions and its risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array

from discrim.decision.costs import cheapest, checked_costs
from discrim.decision.densities import Densities
from discrim.errors import DataError, ParameterError, plural
from discrim.families.priors import log_priors, resolve_priors
from discrim.store.estimators import SavedEstimator
from discrim.store.fields import Fields
from discrim.typing import Floats

Decide = Callable[[Floats], NDArray[np.intp]]
Piece = tuple[float, float, int]

# Points of the line at which a rule is evaluated before the ends between them are searched for.
LEVELS = 2001
TAIL = 1e-14
# Steps outwards beyond the outermost quantile, each twice as long as the one before. Still farther out, where
# log densities are rounded to integers, their differences say nothing.
OUTWARDS = 20
# Draws of each class for a risk in several dimensions.
DRAWS = 100_000


class BayesClassifier(SavedEstimator, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The best possible rule, where the densities of the classes are known.

    **Model.** x | class k has the density f_k, class k the probability pi_k; action j costs L[k, j] for class k.

    **Rule.** argmin_j sum_k L[k, j] pi_k f_k(x); without costs the largest pi_k f_k(x).

    Nothing is learned: ``fit`` exists for scikit-learn only. Where no density is positive the priors decide. Model
    files hold rules of the distributions of scipy.stats.

    Parameters
    ----------
    densities : dict of label: density, or list of densities of the classes 0, 1, ...
        A density has ``logpdf`` or ``pdf``: a frozen distribution of scipy.stats, of one dimension or several, or
        any object; one in several dimensions has their number as ``dim``.
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

    own_fields: ClassVar[Fields] = {"densities": Densities()}

    def __init__(self, densities: Any, priors: Any = None, costs: Any = None, actions: Any = None) -> None:
        self.densities = densities
        self.priors = priors
        self.costs = costs
        self.actions = actions

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002 - nothing is left to learn
        """Check the parameters."""
        _ = self.priors_, self.costs_
        return self

    def is_learned(self) -> bool:
        """All there is to know is given."""
        return True

    def check_parameters(self, names: set[str]) -> None:  # noqa: ARG002 - they go together
        """Raise where densities, priors and costs cannot be used."""
        self.fit()

    @property
    def classes_(self) -> NDArray[Any]:
        if isinstance(self.densities, Mapping):
            return np.array(list(self.densities))
        return np.arange(len(self.densities))

    @property
    def priors_(self) -> Floats:
        return resolve_priors(self.priors, np.ones(len(self._densities)))

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
        return np.asarray(self.predict_proba(X) @ self.costs_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The action of least expected cost."""
        return np.asarray(self.actions_[self._actions(X)])

    def regions(self, span: tuple[float, float] | None = None) -> list[Interval]:
        """In one dimension: the intervals of the line and the action on each, ends to the last digits.

        They are searched for at quantiles of all densities and up to a million spreads beyond; ``span`` is the range
        to search in where densities have no quantiles (``ppf``). An interval that holds less than a
        thousandth of every class may be missed.
        """
        if self.n_features_in_ != 1:
            raise ParameterError("regions are intervals, for densities of one dimension; these have more.")
        actions = self.actions_.tolist()
        found = intervals(self._actions, self._densities, span)
        return [Interval(low, high, actions[j]) for low, high, j in found]

    def risk(self, rule: Any = None, *, span: tuple[float, float] | None = None, seed: int = 0) -> Risk:
        """Expected cost of a rule when rows come from these densities; without costs, its probability of error.

        ``rule`` is this classifier itself, any fitted classifier, or a function from rows (n x p) to actions. In one
        dimension it is exact: the intervals on which the rule answers the same, and the probability of each under
        each class. In several it is the mean over draws of each class, with its standard error.
        """
        decide = self._actions if rule is None else self._rule_of(rule)
        if self.n_features_in_ > 1:
            return self._sampled_risk(decide, seed)
        pieces, costs = intervals(decide, self._densities, span), self.costs_
        by_class = np.array(
            [
                sum(costs[k, j] * _probability(density, low, high) for low, high, j in pieces)
                for k, density in enumerate(self._densities)
            ]
        )
        return Risk(float(self.priors_ @ by_class), by_class)

    def _sampled_risk(self, decide: Decide, seed: int) -> Risk:
        generator, priors = np.random.default_rng(seed), self.priors_
        costs = [self.costs_[k, decide(_draw(f, generator))] for k, f in enumerate(self._densities)]
        means, variances = np.mean(costs, axis=1), np.var(costs, axis=1, ddof=1) / DRAWS
        return Risk(float(priors @ means), means, float(np.sqrt(priors**2 @ variances)))

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

    def _actions(self, X: Any) -> NDArray[np.intp]:
        return cheapest(self.predict_proba(X), self.costs_)

    def _rule_of(self, rule: Any) -> Any:
        answer = rule.predict if hasattr(rule, "predict") else rule
        place = {label: j for j, label in enumerate(self.actions_.tolist())}

        def decide(X: Floats) -> NDArray[np.intp]:
            given = np.asarray(answer(X)).ravel().tolist()
            strange = [label for label in dict.fromkeys(given) if label not in place]
            if strange:
                raise DataError(f"The rule answers {strange[0]!r}, which is none of the actions {list(place)}.")
            return np.array([place[label] for label in given], dtype=np.intp)

        return decide


class Interval(NamedTuple):
    """Where a rule takes one action: low <= x <= high."""

    low: float
    high: float
    action: Any


@dataclass(frozen=True, eq=False)
class Risk:
    """Expected cost of a rule: ``value``, and ``by_class`` for rows of each class; ``std_error`` is 0 where exact."""

    value: float
    by_class: Floats
    std_error: float = 0.0

    def __float__(self) -> float:
        return self.value


def log_density(density: Any, x: Floats) -> Floats:
    """log f of rows n x p; -inf where the density is zero."""
    rows = x[:, 0] if x.shape[1] == 1 else x
    if hasattr(density, "logpdf"):
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(density.logpdf(rows), dtype=np.float64).reshape(len(x))
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(density.pdf(rows), dtype=np.float64)).reshape(len(x))


def intervals(decide: Decide, densities: Sequence[Any], span: tuple[float, float] | None) -> list[Piece]:
    """Pieces (low, high, action) of the line from -inf to inf on which the rule ``decide`` takes one action.

    Between two points with different answers the end is found by halving until no number lies between.
    """
    grid = _grid(densities, span)
    answer = decide(grid[:, None])
    pieces: list[Piece] = []
    low = -np.inf
    for i in np.flatnonzero(np.diff(answer)):
        left, right = float(grid[i]), float(grid[i + 1])
        # A third action may lie in between: each end found is where the answer on its left stops.
        now = int(answer[i])
        while now != answer[i + 1]:
            end, after = _end(decide, left, right, now)
            pieces.append((low, end, now))
            low, left, now = end, after, int(decide(np.array([[after]]))[0])
    return [*pieces, (low, np.inf, int(answer[-1]))]


def _end(decide: Decide, left: float, right: float, now: int) -> tuple[float, float]:
    """The last number with the answer ``now`` that halving finds, and the next after it."""
    while True:
        middle = left + 0.5 * (right - left)
        if not left < middle < right:
            return left, right
        if int(decide(np.array([[middle]]))[0]) == now:
            left = middle
        else:
            right = middle


def _grid(densities: Sequence[Any], span: tuple[float, float] | None) -> Floats:
    if span is not None:
        low, high = float(span[0]), float(span[1])
        if not (np.isfinite([low, high]).all() and low < high):
            raise ParameterError.bad_value("span", span, "two finite numbers, the smaller first")
        return np.linspace(low, high, LEVELS)
    levels = np.concatenate([[TAIL, 1e-9, 1e-6], np.linspace(0, 1, LEVELS)[1:-1], [1 - 1e-6, 1 - 1e-9]])
    inside = np.unique(np.concatenate([_quantiles(f)(levels) for f in densities]))
    inside = inside[np.isfinite(inside)]
    width = max(float(inside[-1] - inside[0]), np.finfo(float).tiny)
    beyond = width * 2.0 ** np.arange(-4, OUTWARDS)
    return np.unique(np.concatenate([inside[0] - beyond, inside, inside[-1] + beyond]))


def _quantiles(density: Any) -> Callable[[Floats], Any]:
    for name in ("ppf", "icdf"):
        if hasattr(density, name):
            return getattr(density, name)  # type: ignore[no-any-return]
    raise ParameterError(
        f"{type(density).__name__} has no quantiles (ppf). Give the range to search in: span=(low, high)."
    )


def _probability(density: Any, low: float, high: float) -> float:
    if hasattr(density, "cdf"):
        if hasattr(density, "sf") and low > -np.inf and density.cdf(low) > 0.5:
            return float(density.sf(low) - density.sf(high))
        return float(density.cdf(high) - density.cdf(low))
    from scipy import integrate

    return float(integrate.quad(lambda t: float(np.exp(log_density(density, np.array([[t]]))[0])), low, high)[0])


def _draw(density: Any, generator: np.random.Generator) -> Floats:
    if not hasattr(density, "rvs"):
        raise ParameterError(f"{type(density).__name__} cannot be drawn from: a risk in several dimensions needs rvs.")
    return np.asarray(density.rvs(size=DRAWS, random_state=generator), dtype=np.float64).reshape(DRAWS, -1)
