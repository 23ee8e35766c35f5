"""A threshold of its own, chosen apart from the direction of the score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.decision.costs import checked_costs
from discrim.decision.wrapping import Wrapper, asked, checked_table, coded_labels, fit_arguments, offered
from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.evaluation import Confusion, cross_validate, proportion_interval
from discrim.evaluation.answers import cumulated
from discrim.evaluation.cross_validation import RefitTrial
from discrim.evaluation.proportions import ProportionMethod
from discrim.exports.exporting import answering_of
from discrim.families.rule import Described
from discrim.models.beyond import posteriors_of
from discrim.models.parameters import Check, either, none, number, one_of
from discrim.sources import Scan, require_labels
from discrim.statistics.folds import fold_numbers
from discrim.store.fields import Fields, Incoming, Number, Optional, Whole
from discrim.store.kinds import Of, stored
from discrim.typing import Codes, Floats

CRITERIA = ("error", "cost", "sensitivity", "specificity")
Loss = Callable[[Floats, Floats, Floats, Floats], Any]


@stored("threshold performance", confusion=Of(Confusion), cost=Number(finite=False))
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
        return proportion_interval(table[k, k], table[k].sum(), level, method)


@dataclass(eq=False, repr=False)
class ThresholdClassifier(Wrapper):
    """Two classes separated by a threshold that is chosen by a criterion.

    **Model.** A score s(x) that grows with the evidence for the positive class: its posterior, or the decision
    function where the estimator has no posteriors.

    **Estimate.** All thresholds that differ on the rows are compared, after one sort; with a number of folds on
    scores of models that did not see the row, with cv="train" on the training rows. The criterion is

    - 'error': least share of errors; 'cost': least mean cost by ``costs``;
    - 'sensitivity': smallest false positive rate among thresholds that find at least the share ``target`` of the
      positives; 'specificity': most positives found where at least ``target`` of the negatives are left alone;
    - a function of four arrays (tn, fp, fn, tp) over the thresholds, whose smallest value is taken.

    Of equally good thresholds the one nearest to the usual one (1/2, or 0 for a decision function) is taken.

    **Rule.** Positive where s(x) > ``threshold_``.

    ``apparent_`` is how the threshold performs on the scores that it was chosen on, which is too optimistic.
    ``estimate_`` is not: each fold is judged by a threshold that was chosen on the held-out scores of the others.
    (Those come from models that saw the fold as training rows; nothing is fitted twice over.)

    Cost: a cross-validation, without refitting for the one-pass models, and a sort a fold.

    Parameters
    ----------
    estimator : classifier of two classes with ``predict_proba`` or ``decision_function``; frozen, its scores of
        the rows are taken as they are
    criterion : {'error', 'cost', 'sensitivity', 'specificity'} or function
    target : float from 0 to 1, for 'sensitivity' and 'specificity'
    costs : 2 x 2 matrix, rows the class and columns the answer, both as ``classes_``, or a dict from (true label,
        predicted label) to a cost as in ``CostSensitiveClassifier``; for 'cost'
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

    learned: ClassVar[Fields] = {
        **Wrapper.learned, "threshold_": Number(finite=False), "_column": Whole(high=1),
        "apparent_": Of(ThresholdPerformance), "estimate_": Optional(Of(ThresholdPerformance)),
    }  # fmt: skip

    threshold_: float = field(init=False)
    apparent_: ThresholdPerformance = field(init=False)
    estimate_: ThresholdPerformance | None = field(init=False)

    estimator: Any
    criterion: Any = "error"
    _: KW_ONLY
    target: float | None = None
    costs: Any = None
    positive: Any = None
    cv: Any = 10

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the estimator to all rows, and choose the threshold; ``sample_weight`` is passed by name."""
        if self.criterion in ("sensitivity", "specificity") and self.target is None:
            raise ParameterError(f"criterion='{self.criterion}' needs a target, for example target=0.9.")
        if self.criterion == "cost" and self.costs is None:
            raise ParameterError("criterion='cost' needs costs: a 2 x 2 matrix, rows the class, columns the answer.")
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

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        check_is_fitted(self, "estimator_")
        return "threshold", {
            "inner": answering_of(self.estimator_),
            "threshold": self.threshold_,
            "column": self._column,
            "by_posterior": self._by_posterior,
        }

    def _decide(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> None:
        classes, codes, weight = coded_labels(X, y, sample_weight)
        if len(classes) != 2:
            raise DataError(
                f"A threshold separates two classes; y has {plural(len(classes), 'class', 'classes')} "
                f"({name_list(classes)}). Only binary classification is supported."
            )
        if not np.array_equal(classes, inner.classes_):
            raise DataError(f"The estimator has the classes {name_list(inner.classes_)}; y has {name_list(classes)}.")
        if self.positive is not None and self.positive not in classes.tolist():
            raise ParameterError.bad_value("positive", self.positive, f"one of the labels {name_list(classes)}")
        self._column = 1 if self.positive is None else classes.tolist().index(self.positive)
        self.positive_ = classes[self._column]
        costs = checked_costs(self.costs, classes)[0]
        # Counts are of negatives first; the matrix is in the order of the classes.
        costs = costs if self._column else costs[::-1, ::-1]
        is_positive, usual = codes == self._column, 0.5 if self._by_posterior else 0.0
        score, folds = self._held_out_scores(inner, X, y, codes, weight)
        target = 0.0 if self.target is None else float(self.target)

        def choose(part: Any = slice(None)) -> float:
            cuts = CutPoints.of(score[part], is_positive[part], weight[part], usual)
            return cuts.best(self.criterion, target, costs, usual)

        self.threshold_ = choose()
        self.apparent_ = self._performance(score > self.threshold_, is_positive, weight, costs)
        self.estimate_ = None
        if folds is not None:
            answers = np.zeros(len(score), dtype=bool)
            for f in np.unique(folds):
                answers[folds == f] = score[folds == f] > choose(folds != f)
            self.estimate_ = self._performance(answers, is_positive, weight, costs)

    def _held_out_scores(
        self, inner: Any, X: Any, y: Any, codes: Codes, weight: Floats
    ) -> tuple[Floats, NDArray[np.int32] | None]:
        """Scores of the rows, and the fold that held each out; None for the folds where the model has seen all rows."""
        if isinstance(self.cv, str) and self.cv == "train":
            return self._scores(inner, X), None
        if isinstance(self.estimator, FrozenEstimator):
            return self._scores(inner, X), fold_numbers(self.cv, codes).number
        weights = None if (weight == 1).all() else weight
        if self._by_posterior:
            given = None if isinstance(X, Scan) else weights
            checked = cross_validate(self.estimator, X, y, self.cv, sample_weight=given)
            return np.asarray(checked.posterior[:, self._column]), checked.folds
        folds = fold_numbers(self.cv, codes)
        margin = RefitTrial.of(self.estimator, X, y, weights).run(folds).margin
        return margin if self._column else -margin, folds.number

    def check_learned(self, file: Incoming) -> None:
        """Raise where the estimator inside has other than two classes."""
        super().check_learned(file)
        file.bind("2", len(self.classes_), "classes_")
        self.positive_ = self.classes_[self._column]

    @property
    def _by_posterior(self) -> bool:
        return posteriors_of(self.estimator) is not None

    def _scores(self, inner: Any, X: Any) -> Floats:
        if self._by_posterior:
            return np.asarray(asked(inner, "predict_proba", X)[:, self._column], dtype=np.float64)
        score = np.asarray(asked(inner, "decision_function", X), dtype=np.float64)
        return score if self._column else -score

    def _performance(
        self, answers: NDArray[np.bool_], is_positive: NDArray[np.bool_], weight: Floats, costs: Floats
    ) -> ThresholdPerformance:
        flat = 2 * is_positive.astype(np.intp) + answers
        table = np.bincount(flat, weight, 4).reshape(2, 2).astype(np.float64)
        order = self.classes_[[1 - self._column, self._column]]
        return ThresholdPerformance(Confusion(table, order), float((costs * table).sum() / table.sum()))


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
        values, *sums = cumulated(score, weight * is_positive, weight * ~is_positive)
        fn, tn = (np.append(0.0, part) for part in sums)
        if fn[-1] <= 0 or tn[-1] <= 0:
            raise DataError(
                "Choosing a threshold needs rows of both classes; one of them has no rows here, or none with a "
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
