"""A threshold of its own, chosen apart from the direction of the score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.decision.costs import checked_costs
from discrim.decision.wrapping import Wrapper, asked, checked_table, coded_labels, fit_arguments, offered, posteriors
from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.evaluation import Confusion, cross_validate, proportion_interval
from discrim.evaluation.proportions import ProportionMethod
from discrim.models.beyond import posteriors_of
from discrim.models.parameters import Check, check_parameters, either, none, number, one_of
from discrim.sources import Scan, require_labels
from discrim.statistics.folds import Folds, fold_numbers
from discrim.typing import Floats

CRITERIA = ("error", "cost", "sensitivity", "specificity")
Loss = Callable[[Floats, Floats, Floats, Floats], Any]


class ThresholdClassifier(Wrapper):
    """Two classes told apart by a threshold that is chosen for what it does.

    **Model.** A score s(x) that grows with the evidence for the positive class: its posterior, or the decision
    function where the estimator has no posteriors.

    **Estimate.** All thresholds that differ on the rows are compared, after one sort; with a number of folds on
    scores of models that did not see the row, with cv="train" on the training rows. The criterion is

    - 'error': least share of errors; 'cost': least mean cost by ``costs``;
    - 'sensitivity': least share of false alarms among thresholds that find at least the share ``target`` of the
      positives; 'specificity': most positives found where at least ``target`` of the negatives are left alone;
    - a function of four arrays (tn, fp, fn, tp) over the thresholds, whose smallest value is taken.

    Of equally good thresholds the one nearest to the usual one (1/2, or 0 for a decision function) is taken.

    **Rule.** Positive where s(x) > ``threshold_``.

    ``apparent_`` tells what the threshold does on the scores that it was chosen on, and promises too much.
    ``estimate_`` is honest: each fold is judged by a threshold that was chosen on the held-out scores of the others.
    (Those come from models that saw the fold as training rows; nothing is fitted twice over.)

    Cost: a cross-validation, without refitting for the one-pass models, and a sort a fold.

    Parameters
    ----------
    estimator : classifier of two classes with ``predict_proba`` or ``decision_function``; frozen, its scores of
        the rows are taken as they are
    criterion : {'error', 'cost', 'sensitivity', 'specificity'} or function
    target : float from 0 to 1, for 'sensitivity' and 'specificity'
    costs : 2 x 2 matrix, rows the class and columns the answer, both as ``classes_``, for 'cost'
    positive : label of the positive class; by default the second
    cv : number of folds, 'loo', a splitter, or 'train'

    Attributes
    ----------
    estimator_, classes_ : fitted to all rows
    threshold_, positive_
    apparent_, estimate_ : ``ThresholdPerformance``; ``estimate_`` is None with cv='train'

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision import ThresholdClassifier
    >>> X, y = datasets.load_iris().xy
    >>> X, y = X[50:, :2], y[50:]
    >>> model = ThresholdClassifier(LinearDiscriminantAnalysis(), "sensitivity", target=0.9).fit(X, y)
    >>> print(f"{model.estimate_.sensitivity:.2f} {model.estimate_.specificity:.2f}")
    0.90 0.38
    """

    _constraints: ClassVar[Mapping[str, Check]] = {
        "criterion": either(one_of(*CRITERIA), (callable, "a function")),
        "target": either(none(), number(0, 1)),
    }

    _methods = ("predict_proba", "decision_function")

    threshold_: float
    apparent_: ThresholdPerformance
    estimate_: ThresholdPerformance | None

    def __init__(
        self,
        estimator: Any,
        criterion: Any = "error",
        *,
        target: float | None = None,
        costs: Any = None,
        positive: Any = None,
        cv: Any = 10,
    ) -> None:
        self.estimator = estimator
        self.criterion = criterion
        self.target = target
        self.costs = costs
        self.positive = positive
        self.cv = cv

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the estimator to all rows, and choose the threshold; ``sample_weight`` is passed by name."""
        check_parameters(self, self._constraints)
        self._check_criterion()
        require_labels(type(self).__name__, X, y)
        strange = [name for name in fit_arguments(self, fit_params) if name != "sample_weight"]
        if strange:
            raise ParameterError(
                f"ThresholdClassifier.fit takes no '{strange[0]}': the fits without a fold could not be given theirs."
            )
        return super().fit(checked_table(X, y), y, **fit_params)

    def predict(self, X: Any) -> NDArray[Any]:
        """The positive class where its score is above ``threshold_``."""
        check_is_fitted(self, "estimator_")
        above = self._scores(self.estimator_, X) > self.threshold_
        return np.asarray(self.classes_[np.where(above, self._column, 1 - self._column)])

    @offered("decision_function")
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Of the estimator inside, not shifted by the threshold."""
        check_is_fitted(self, "estimator_")
        return asked(self.estimator_, "decision_function", X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _decide(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> None:
        classes, codes, weight = coded_labels(X, y, sample_weight)
        if len(classes) != 2:
            raise DataError(
                f"A threshold tells two classes apart; y has {plural(len(classes), 'class', 'classes')} "
                f"({name_list(classes)}). Only binary classification is supported."
            )
        if not np.array_equal(classes, inner.classes_):
            raise DataError(f"The estimator knows the classes {name_list(inner.classes_)}; y has {name_list(classes)}.")
        self._column = self._positive_column(classes)
        self.positive_ = classes[self._column]
        costs = checked_costs(self.costs, classes)[0]
        # Counts are of negatives first; the matrix is in the order of the classes.
        costs = costs if self._column else costs[::-1, ::-1]
        self._choose(_Rows(inner, X, y, codes == self._column, weight), costs)

    def _choose(self, rows: _Rows, costs: Floats) -> None:
        usual = 0.5 if self._by_posterior else 0.0
        target = 0.0 if self.target is None else float(self.target)
        is_positive, weight = rows.is_positive, rows.weight

        def choose(score: Floats, part: Any = slice(None)) -> float:
            cuts = CutPoints.of(score[part], is_positive[part], weight[part], usual)
            return cuts.best(self.criterion, target, costs, usual)

        folds = None
        if isinstance(self.cv, str) and self.cv == "train":
            score = self._scores(rows.inner, rows.X)
        else:
            folds = fold_numbers(self.cv, is_positive.astype(np.int32))
            score = self._held_out_scores(rows, folds)
        self.threshold_ = choose(score)
        self.apparent_ = self._performance(score > self.threshold_, is_positive, weight, costs)
        self.estimate_ = None
        if folds is not None:
            answers = np.zeros(len(score), dtype=bool)
            for f in range(len(folds.parts)):
                test = folds.test(f)
                answers[test] = score[test] > choose(score, folds.number != f)
            self.estimate_ = self._performance(answers, is_positive, weight, costs)

    def _held_out_scores(self, rows: _Rows, folds: Folds) -> Floats:
        X, y, weight = rows.X, rows.y, rows.weight
        if isinstance(self.estimator, FrozenEstimator):
            return self._scores(rows.inner, X)
        weights = None if (weight == 1).all() else weight
        if self._by_posterior:
            checked = cross_validate(
                self.estimator, X, y, _Given(folds), sample_weight=None if isinstance(X, Scan) else weights
            )
            return np.asarray(checked.posterior[:, self._column])
        from sklearn.model_selection import cross_val_predict

        given = {} if weights is None else {"sample_weight": weights}
        score = cross_val_predict(self.estimator, X, y, cv=_Given(folds), method="decision_function", params=given)
        return np.asarray(score if self._column else -score, dtype=np.float64)

    @property
    def _by_posterior(self) -> bool:
        return posteriors_of(self.estimator) is not None

    def _scores(self, inner: Any, X: Any) -> Floats:
        if self._by_posterior:
            return np.asarray(posteriors(inner, X)[:, self._column], dtype=np.float64)
        score = np.asarray(asked(inner, "decision_function", X), dtype=np.float64)
        return score if self._column else -score

    def _performance(
        self, answers: NDArray[np.bool_], is_positive: NDArray[np.bool_], weight: Floats, costs: Floats
    ) -> ThresholdPerformance:
        flat = 2 * is_positive.astype(np.intp) + answers
        table = np.bincount(flat, weight, 4).reshape(2, 2).astype(np.float64)
        order = self.classes_[[1 - self._column, self._column]]
        return ThresholdPerformance(Confusion(table, order), float((costs * table).sum() / table.sum()))

    def _positive_column(self, classes: NDArray[Any]) -> int:
        if self.positive is None:
            return 1
        at = [k for k, label in enumerate(classes.tolist()) if label == self.positive]
        if not at:
            raise ParameterError.bad_value("positive", self.positive, f"one of the labels {name_list(classes)}")
        return at[0]

    def _check_criterion(self) -> None:
        if self.criterion in ("sensitivity", "specificity") and self.target is None:
            raise ParameterError(f"criterion='{self.criterion}' needs a target, for example target=0.9.")
        if self.criterion == "cost" and self.costs is None:
            raise ParameterError("criterion='cost' needs costs: a 2 x 2 matrix, rows the class, columns the answer.")


@dataclass(frozen=True, eq=False)
class _Rows:
    """The fitted estimator, and the rows that a threshold is chosen on."""

    inner: Any
    X: Any
    y: Any
    is_positive: NDArray[np.bool_]
    weight: Floats


class _Given:
    """A splitter of folds that are known."""

    def __init__(self, folds: Folds) -> None:
        self._folds = folds

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        return len(self._folds.parts)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Any:  # noqa: ARG002
        return ((self._folds.train(f), self._folds.test(f)) for f in range(len(self._folds.parts)))


@dataclass(frozen=True, eq=False)
class ThresholdPerformance:
    """What a threshold does: ``confusion`` with the negative class first, and the mean ``cost``.

    Without costs that is the error.
    """

    confusion: Confusion
    cost: float

    @property
    def error(self) -> float:
        return self.confusion.error

    @property
    def sensitivity(self) -> float:
        """Share of the positives that are found."""
        return float(self.confusion.recall[1])

    @property
    def specificity(self) -> float:
        """Share of the negatives that are left alone."""
        return float(self.confusion.recall[0])

    def error_ci(self, level: float = 0.95, method: ProportionMethod = "wilson") -> tuple[float, float]:
        """Binomial interval for the error."""
        return self.confusion.error_ci(level, method)

    def sensitivity_ci(self, level: float = 0.95, method: ProportionMethod = "wilson") -> tuple[float, float]:
        return self._share_ci(1, level, method)

    def specificity_ci(self, level: float = 0.95, method: ProportionMethod = "wilson") -> tuple[float, float]:
        return self._share_ci(0, level, method)

    def __repr__(self) -> str:
        shown = (
            (name, getattr(self, name), getattr(self, f"{name}_ci")())
            for name in ("error", "sensitivity", "specificity")
        )
        parts = [f"{name} {value:.4g} (95% {low:.4g} to {high:.4g})" for name, value, (low, high) in shown]
        return f"ThresholdPerformance({', '.join(parts)})"

    def _share_ci(self, k: int, level: float, method: ProportionMethod) -> tuple[float, float]:
        table = self.confusion.table
        low, high = proportion_interval(table[k, k], table[k].sum(), level, method)
        return float(low), float(high)


@dataclass(frozen=True, eq=False)
class CutPoints:
    """All rules "positive where the score is above t" that differ on some rows, t ascending from -inf to inf.

    ``tn``, ``fp``, ``fn`` and ``tp`` are the weights of true negatives to true positives of each. A ``points[i]`` lies
    in the middle between two scores, or at the usual threshold where that lies between them.
    """

    points: Floats
    tn: Floats
    fp: Floats
    fn: Floats
    tp: Floats

    @classmethod
    def of(cls, score: Floats, is_positive: NDArray[np.bool_], weight: Floats, usual: float) -> CutPoints:
        """Cost: one sort."""
        values, place = np.unique(score, return_inverse=True)
        fn, tn = (
            np.concatenate([[0.0], np.cumsum(np.bincount(place, weight * of, len(values)))])
            for of in (is_positive, ~is_positive)
        )
        if fn[-1] <= 0 or tn[-1] <= 0:
            raise DataError(
                "A threshold needs rows of both classes to be chosen by; one of them has none here, or none with a "
                "positive sample_weight."
            )
        return cls(_points(values, usual), tn, tn[-1] - tn, fn, fn[-1] - fn)

    def best(self, criterion: str | Loss, target: float, costs: Floats, usual: float) -> float:
        """The point of least loss; of several the one nearest to the usual threshold."""
        first, second = self.losses(criterion, target, costs)
        tied = first <= first.min() + 1e-12 * abs(first.min())
        tied &= second <= second[tied].min()
        places = np.flatnonzero(tied)
        return float(self.points[places[np.abs(self.points[places] - usual).argmin()]])

    def losses(self, criterion: str | Loss, target: float, costs: Floats) -> tuple[Floats, Floats]:
        """What is made small, and what decides between points where that is equal."""
        nothing = np.zeros(len(self.points))
        if criterion == "error":
            return self.fp + self.fn, nothing
        if criterion == "cost":
            table = np.array([[self.tn, self.fp], [self.fn, self.tp]])
            return np.einsum("kj,kji->i", costs, table), nothing
        if criterion == "sensitivity":
            return np.where(_reaches(self.tp, self.tp[0], target), self.fp, np.inf), self.fn
        if criterion == "specificity":
            return np.where(_reaches(self.tn, self.tn[-1], target), self.fn, np.inf), self.fp
        assert callable(criterion)
        return self._called(criterion), nothing

    def _called(self, criterion: Loss) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.asarray(criterion(self.tn, self.fp, self.fn, self.tp), dtype=np.float64)
        if loss.shape != self.points.shape:
            raise ParameterError(
                "The 'criterion' parameter must return one number for each cut point when it is called with arrays "
                f"(tn, fp, fn, tp) of {len(self.points)} numbers; it returned the shape {loss.shape}."
            )
        loss = np.where(np.isnan(loss), np.inf, loss)
        if np.isposinf(loss).all():
            raise ParameterError("The 'criterion' parameter returned NaN or infinity for every cut point.")
        return loss


def _points(values: Floats, usual: float) -> Floats:
    """A score equal to a point counts as negative, so a point is at least the score before it."""
    middle = values[:-1] + 0.5 * (values[1:] - values[:-1])
    middle = np.where(middle < values[1:], middle, values[:-1])
    points = np.concatenate([[-np.inf], middle, [np.inf]])
    points[np.searchsorted(values, usual, side="right")] = usual
    return points


def _reaches(part: Floats, whole: float, target: float) -> NDArray[np.bool_]:
    return np.asarray(part >= (target - 1e-12) * whole)
