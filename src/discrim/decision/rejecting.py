"""Answers only where they are sure enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discrim.decision.wrapping import Wrapper, codes_of, spare_label, with_spare
from discrim.errors import DataError, ParameterError, name_list
from discrim.evaluation import proportion_interval
from discrim.evaluation.answers import checked_posterior, cumulated, weights_of
from discrim.evaluation.proportions import ProportionMethod
from discrim.exports.exporting import answering_of
from discrim.families.rule import Described
from discrim.models.parameters import Check, number
from discrim.store.fields import Array, Fields
from discrim.store.values import Value
from discrim.typing import Floats


@dataclass(eq=False, repr=False)
class RejectingClassifier(Wrapper):
    """The most probable class where it is probable enough, else no answer.

    **Model.** A wrong answer costs 1, none costs d = ``reject_cost``, a right one nothing.

    **Rule.** The most probable class if its posterior is at least 1 - d, else reject (Chow 1970): the least expected
    cost of K + 1 actions. With d >= 1 - 1/K no row is rejected, with d = 0 all but those whose class is certain.
    ``thresholds`` put another bound than 1 - d on each class.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    reject_cost : float from 0 to 1
    thresholds : dict or K numbers as ``classes_``: the least posterior with which a class is answered; classes that a
        dict does not name keep 1 - reject_cost
    reject_label : the answer where there is none; by default 'reject' for labels of text, and for numbers the
        integer below all classes and zero (-1 for classes 0, 1, 2)

    Attributes
    ----------
    estimator_, classes_
    thresholds_ : K numbers
    reject_label_

    ``score`` counts a rejected row as wrong; ``performance`` reports coverage and error of the others.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision import RejectingClassifier
    >>> X, y = datasets.load_iris().xy
    >>> model = RejectingClassifier(LinearDiscriminantAnalysis(), reject_cost=0.1).fit(X, y)
    >>> found = model.performance(X, y)
    >>> print(f"{found.coverage:.3f} answered, {found.error:.4f} of them wrong")
    0.940 answered, 0.0000 of them wrong
    """

    _constraints: ClassVar[Mapping[str, Check]] = {"reject_cost": number(0, 1)}

    learned: ClassVar[Fields] = {
        **Wrapper.learned, "thresholds_": Array("K", low=0.0, high=1.0), "reject_label_": Value(),
    }  # fmt: skip

    thresholds_: Floats = field(init=False)

    estimator: Any
    reject_cost: float = 0.1
    _: KW_ONLY
    thresholds: Any = None
    reject_label: Any = None

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, or ``reject_label_``."""
        best, rejected = self._answers(X)
        return with_spare(self.classes_, self.reject_label_, best, ~rejected)

    def rejects(self, X: Any) -> NDArray[np.bool_]:
        """Which rows get no answer."""
        return self._answers(X)[1]

    def performance(self, X: Any, y: Any, sample_weight: Any = None) -> RejectionPerformance:
        """How many rows are answered, and how many of these answers are wrong."""
        best, rejected = self._answers(X)
        codes = codes_of(y, self.classes_, len(best))
        weight = weights_of(sample_weight, len(codes))
        wrong = float(weight[~rejected & (best != codes)].sum())
        return RejectionPerformance(float(weight.sum()), float(weight[~rejected].sum()), wrong, float(self.reject_cost))

    def accuracy_rejection(self, X: Any, y: Any, sample_weight: Any = None) -> AccuracyRejection:
        """Accuracy against coverage for every threshold on the largest posterior."""
        return accuracy_rejection(y, self.predict_proba(X), classes=self.classes_, sample_weight=sample_weight)

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        check_is_fitted(self, "estimator_")
        inner = answering_of(self.estimator_)
        return "rejection", {"inner": inner, "thresholds": self.thresholds_, "spare": self.reject_label_}

    def _answers(self, X: Any) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        posterior = self.predict_proba(X)
        best = posterior.argmax(axis=1)
        # K equal posteriors come out as 1/K but for rounding, and must not fall under a threshold of 1/K.
        slack = 4.0 * np.finfo(posterior.dtype if posterior.dtype.kind == "f" else float).eps
        return best, posterior[np.arange(len(best)), best] < self.thresholds_[best] - slack

    def _decide(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> None:  # noqa: ARG002 - nothing to learn
        self.thresholds_ = self._checked_thresholds()
        self.reject_label_ = spare_label("reject_label", self.reject_label, self.classes_, "reject")

    def _checked_thresholds(self) -> Floats:
        size, given = len(self.classes_), self.thresholds
        values = np.full(size, 1.0 - float(self.reject_cost))
        if given is None:
            return values
        if isinstance(given, Mapping):
            place = {label: k for k, label in enumerate(self.classes_.tolist())}
            if any(label not in place for label in given):
                raise ParameterError.bad_value(
                    "thresholds", given, f"keyed by classes, which are {name_list(self.classes_)}"
                )
            for label, value in given.items():
                values[place[label]] = value
        elif np.shape(given) == (size,):
            values = np.array(given, dtype=np.float64)
        else:
            raise ParameterError.bad_value("thresholds", given, f"a dict or {size} numbers, one for each class")
        if not ((values >= 0) & (values <= 1)).all():
            raise ParameterError.bad_value("thresholds", given, "made of numbers from 0 to 1")
        return values


@dataclass(frozen=True)
class RejectionPerformance:
    """Weights of all rows ``n``, of those ``answered``, and of the ``wrong`` ones among these."""

    n: float
    answered: float
    wrong: float
    reject_cost: float

    @property
    def coverage(self) -> float:
        """Share of rows that are answered."""
        return self.answered / self.n

    @property
    def error(self) -> float:
        """Share of the answers that are wrong; NaN where there is none."""
        return self.wrong / self.answered if self.answered > 0 else float("nan")

    @property
    def cost(self) -> float:
        """Mean cost: 1 for a wrong answer, ``reject_cost`` for none."""
        return (self.wrong + self.reject_cost * (self.n - self.answered)) / self.n

    def error_ci(self, level: float = 0.95, method: ProportionMethod = "wilson") -> tuple[float, float]:
        """Binomial interval for the error."""
        return proportion_interval(self.wrong, self.answered, level, method)


@dataclass(frozen=True, eq=False)
class AccuracyRejection:
    """What ``accuracy_rejection`` gives, from the surest rows alone to all rows.

    Answering where the largest posterior is at least ``thresholds[i]`` answers the share ``coverage[i]`` of the rows,
    of which ``accuracy[i]`` are right; ``error`` is the rest.
    """

    thresholds: Floats
    coverage: Floats
    accuracy: Floats

    @property
    def error(self) -> Floats:
        return 1.0 - self.accuracy

    def cost(self, reject_cost: float) -> Floats:
        """Mean cost at each threshold, where an error costs 1 and no answer ``reject_cost``."""
        return self.coverage * self.error + reject_cost * (1.0 - self.coverage)

    def plot(self, **options: Any) -> Any:
        """The error against the share of answers, as matplotlib axes: ``discrim.plots.rejection`` with its options."""
        from discrim import plots

        return plots.rejection(self, **options)


def accuracy_rejection(y: Any, posterior: Any, *, classes: Any = None, sample_weight: Any = None) -> AccuracyRejection:
    """The curve of labels and posteriors, n x K with columns as ``classes`` (by default those in y). Cost: one sort.

    Examples
    --------
    >>> curve = accuracy_rejection([0, 0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> curve.coverage
    array([0.25, 0.5 , 0.75, 1.  ])
    >>> curve.accuracy
    array([1.  , 1.  , 1.  , 0.75])
    """
    _, codes, p = checked_posterior(y, posterior, classes)
    weight = weights_of(sample_weight, len(codes))
    if not weight.sum() > 0:
        raise DataError("There are no rows with a weight to compare.")
    best = p.argmax(axis=1)
    values, answered, right = cumulated(-p[np.arange(len(best)), best], weight, weight * (best == codes))
    accuracy = np.where(answered > 0, right / np.where(answered > 0, answered, 1.0), np.nan)
    return AccuracyRejection(-values, answered / answered[-1], accuracy)
