"""What the schemes of two-class problems share: the problems, how all of them are fitted, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted, validate_data

from discrim.atomic import learning_copy
from discrim.decision.wrapping import MetaClassifier, asked, checked_table, fit_arguments, remember_columns
from discrim.engines import KeptPasses, RowPasses
from discrim.errors import DataError, DiscrimWarning, warn
from discrim.exports.exporting import answering_of
from discrim.families.recipe import Passes, Shape, collected
from discrim.families.rule import Described, Output, Rule
from discrim.models.parameters import Check
from discrim.models.scoring import apply_rule
from discrim.models.shell import check_parameters, recipe_of
from discrim.sources import Scan, check_structure, check_weights, code_labels, recode, require_labels
from discrim.store.estimators import SavedEstimator, is_fitted
from discrim.store.fields import Fields, Flag, Incoming, Many, damaged
from discrim.store.kinds import Of
from discrim.store.values import Labels
from discrim.typing import Codes, Floats

# Entries that the scatter of all classes may have together.
MOST_NUMBERS = 1 << 26
# Scores that are held at once.
MOST_SCORES = 1 << 25


@dataclass(frozen=True, eq=False)
class Problem:
    """Which classes are positive (1), which negative (0), and which are left out (-1): ``sides``, of length K.

    ``titles`` are the names of the two sides in a warning, for problems that should give one.
    """

    sides: NDArray[np.intp]
    titles: tuple[str, str] | None = None

    @property
    def only(self) -> int | None:
        """The side that is alone, or None where there are two."""
        found = np.unique(self.sides[self.sides >= 0])
        return int(found[0]) if len(found) == 1 else None


# How the classes are split into problems.
Split = Callable[[NDArray[Any]], Sequence[Problem]]


class Scheme(MetaClassifier):
    """A classifier of many classes made of classifiers of two."""

    _routed: ClassVar[tuple[str, ...]] = ("fit", "partial_fit")
    _constraints: ClassVar[Mapping[str, Check]] = {}

    learned: ClassVar[Fields] = {
        "estimators_": Many(Of(BaseEstimator), "b", list), "classes_": Labels("K"), "same_columns": Flag(),
    }  # fmt: skip

    n_jobs: int | None
    estimators_: Any

    def is_learned(self) -> bool:
        return "estimators_" in self.__dict__

    def check_learned(self, file: Incoming) -> None:  # noqa: ARG002 - schemes know how many models they have
        """Give the models their common columns again, so that they are applied in one read."""
        for model in self.estimators_:
            if not is_fitted(model):
                raise damaged("estimators_", "has a model that was not fitted")
            self.check_columns(getattr(model, "n_features_in_", None))
        if self.__dict__.pop("same_columns"):
            for model in self.estimators_:
                model.share_columns(self.estimators_[0])

    @property
    def same_columns(self) -> bool:
        """Do the models have their columns together?"""
        first = getattr(self.estimators_[0], "columns_", None)
        return first is not None and all(getattr(model, "columns_", None) is first for model in self.estimators_)

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _fit_arguments(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check the parameters, forget an earlier fit, and return what goes to the estimators."""
        check_parameters(self, self._constraints)
        self.__dict__.pop("estimators_", None)
        require_labels(type(self).__name__, X, y)
        return fit_arguments(self, fit_params)

    def _fit_split(
        self, X: Any, y: Any, arguments: Mapping[str, Any], split: Split, labels: tuple[int, int] = (0, 1)
    ) -> tuple[Floats, Codes | None]:
        """Set ``classes_`` and ``estimators_``: from one pass where the estimator allows it, else one fit a problem.

        ``labels`` are those of the two sides. The weights of the classes are returned, and the codes of the rows after
        fits one by one.
        """
        sample_weight = arguments.get("sample_weight")
        if set(arguments) <= {"sample_weight", "checkpoint"} and shares(self.estimator):
            kept = None if arguments.get("checkpoint") is None else (arguments["checkpoint"], self)
            together = fit_together(self.estimator, (X, y, sample_weight), split, labels, kept)
            if together is not None:
                whole, self.estimators_ = together
                self.classes_ = whole.classes
                remember_columns(self, self.estimators_[0])
                return whole.weight, None
        if isinstance(X, Scan):
            raise DataError(
                f"{type(self).__name__} reads a scan only for estimators that share one pass (discriminant "
                "analysis, naive Bayes, least squares, ridge, lasso, without tuning). Pass a table in memory."
            )
        X = checked_table(X, y)
        classes, codes = code_labels(y)
        problems = split(classes)
        self._know_columns(X)
        parts = self._parts(X, codes, arguments, problems)
        self.estimators_ = self._in_parallel(
            delayed(fit_column)(self.estimator, part, np.asarray(labels)[sides], given, problem.titles)
            for problem, (part, sides, given) in zip(problems, parts, strict=True)
        )
        self.classes_ = classes
        if not hasattr(self, "n_features_in_"):
            remember_columns(self, self.estimators_[0])
        return np.bincount(codes, check_weights(sample_weight, len(codes))).astype(np.float64), codes

    def _update_split(
        self, X: Any, y: Any, classes: Any, params: Mapping[str, Any], split: Split
    ) -> tuple[bool, Floats]:
        """One call of ``partial_fit``: whether it is the first, and the weights of the classes among its rows.

        The first sets ``classes_`` and ``estimators_``; later ones must agree with it.
        """
        arguments = fit_arguments(self, params, "partial_fit")
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise DataError("classes must be passed on the first call to partial_fit.")
        listed = self.classes_ if classes is None else code_labels(classes)[0]
        if first:
            self.classes_ = listed
        elif not np.array_equal(self.classes_, listed):
            raise DataError(f"`classes={classes!r}` is not the same as on last call to partial_fit: {self.classes_!r}")
        problems = split(self.classes_)
        if first:
            self.estimators_ = [clone(self.estimator) for _ in problems]
        X = checked_table(X, y)
        found, codes = code_labels(y)
        if len(np.setdiff1d(found, self.classes_)):
            raise DataError(f"Mini-batch contains {found} while {self._batch} must be subset of {self.classes_}")
        codes = recode(found, self.classes_)[codes]
        validate_data(self, X, reset=first, skip_check_array=True)
        parts = self._parts(X, codes, arguments, problems)
        self.estimators_ = self._in_parallel(
            delayed(_update)(model, *part) for model, part in zip(self.estimators_, parts, strict=True)
        )
        weight = check_weights(arguments.get("sample_weight"), len(codes))
        return first, np.bincount(codes, weight, self.n_classes_).astype(np.float64)

    # What the message about unknown labels in ``partial_fit`` calls the labels, as scikit-learn has it.
    _batch: ClassVar[str] = "classes"

    def _parts(
        self, X: Any, codes: Codes, arguments: Mapping[str, Any], problems: Sequence[Problem]
    ) -> Iterator[tuple[Any, NDArray[np.intp], Mapping[str, Any]]]:
        """The rows of each problem, their sides, and the arguments that belong to them."""
        pairwise = get_tags(self.estimator).input_tags.pairwise
        for problem in problems:
            sides = problem.sides[codes]
            if (problem.sides >= 0).all():
                yield X, sides, arguments
                continue
            rows = np.flatnonzero(sides >= 0)
            part = _safe_indexing(X, rows)
            if pairwise:
                part = _safe_indexing(part, rows, axis=1)
            yield part, sides[rows], _check_method_params(X, arguments, rows)

    def _in_parallel(self, tasks: Iterator[Any]) -> list[Any]:
        return list(Parallel(n_jobs=self.n_jobs, verbose=getattr(self, "verbose", 0))(tasks))

    def _all_scores(self, X: Any) -> Floats:
        """The scores of the positive side of each model, n x B; linear rules are applied in one read of the rows."""
        joint = self._joint_scores(X, odds=False)
        return np.column_stack([side_scores(model, X) for model in self.estimators_]) if joint is None else joint

    def _all_probabilities(self, X: Any) -> Floats:
        """The probability of the positive side of each model, n x B."""
        joint = self._joint_scores(X, odds=True)
        if joint is None:
            return np.column_stack([asked(model, "predict_proba", X)[:, 1] for model in self.estimators_])
        return np.asarray(special.expit(joint))

    def _joint_scores(self, X: Any, *, odds: bool) -> Floats | None:
        check_is_fitted(self, "estimators_")
        check_structure(X)
        rule = self._joint_rule(odds=odds)
        return None if rule is None else apply_rule(rule, self.estimators_[0].rows_of(X), Output.SCORES)

    def _fits_in_memory(self, X: Any) -> bool:
        """Are the scores of all models small enough to be held at once, and found in one read?"""
        count = X.n_rows if isinstance(X, Scan) else _num_samples(X)
        small = count is not None and count * len(self.estimators_) <= MOST_SCORES
        return small and self._joint_rule(odds=False) is not None

    def _joint_rule(self, *, odds: bool) -> Rule | None:
        """One rule whose b-th score is that of model b, or its log odds; None where they cannot be joined."""
        models, first = self.estimators_, self.estimators_[0]
        if any(recipe_of(model) is None or model.columns_ is not first.columns_ for model in models):
            return None
        if not odds and not hasattr(first, "decision_function"):
            # The score of a side is then its probability.
            return None
        rules = [model.solution().rule for model in models]
        # The scores of a rule are log posteriors.
        joint: Rule | None = rules[0].joined(rules, (-1.0, 1.0) if odds else first.margin_weights)
        return joint

    def _described(self, kind: str, **fields: Any) -> Described:
        """How rows are answered, as a plain description: the models of two classes, and one rule for all."""
        check_is_fitted(self, "estimators_")
        joint, odds = (self._joint_rule(odds=odds) for odds in (False, True))
        return kind, {
            "classes": self.classes_,
            "parts": [answering_of(model) for model in self.estimators_],
            "joint": None if joint is None else joint.described(),
            "joint_odds": None if odds is None else odds.described(),
            "threshold": side_threshold(self.estimators_[0]),
            **fields,
        }

    def _know_columns(self, X: Any) -> None:
        """Number and names of the columns, where X has them."""
        remember_columns(self, None)
        if hasattr(X, "shape") or (isinstance(X, (list, tuple)) and np.ndim(X) == 2):
            validate_data(self, X, reset=True, skip_check_array=True)


class Constant(SavedEstimator, BaseEstimator):  # type: ignore[misc]
    """The answer where a problem has rows of one side only; it gives a warning where the sides have titles."""

    def __init__(self, answer: int = 1, titles: tuple[str, str] | None = None) -> None:
        self.answer = answer
        self.titles = titles

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - the answer is known
        if self.titles is not None:
            warn(f"Label {self.titles[self.answer]} is present in all training examples.", DiscrimWarning)
        if sparse.issparse(X) or np.ndim(X) == 2:
            validate_data(self, X, reset=True, skip_check_array=True)
        self.classes_ = np.array([self.answer])
        return self

    def is_learned(self) -> bool:
        return "classes_" in self.__dict__

    def check_learned(self, file: Incoming) -> None:  # noqa: ARG002 - it has no letters
        """The answer is one of the sides."""
        if not isinstance(self.answer, int) or not -1 <= self.answer <= 1:
            raise damaged("answer", "is none of the sides")
        self.classes_ = np.array([self.answer])

    def predict(self, X: Any) -> NDArray[np.intp]:
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and not isinstance(X, Scan):
            validate_data(self, X, reset=False, skip_check_array=True)
        rows = int(X.n_rows) if isinstance(X, Scan) and X.n_rows is not None else int(_num_samples(X))
        return np.full(rows, self.answer)

    decision_function = predict

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        return "constant", {"answer": self.answer}

    def predict_proba(self, X: Any) -> Floats:
        positive = float(self.answer > 0)
        return np.tile([1.0 - positive, positive], (len(self.predict(X)), 1))


def fit_column(
    estimator: Any, X: Any, y: NDArray[Any], arguments: Mapping[str, Any], titles: tuple[str, str] | None
) -> Any:
    """One estimator for labels y, which are of one side or both."""
    found = np.unique(y)
    if len(found) == 1:
        return Constant(int(found[0]), titles).fit(X)
    return clone(estimator).fit(X, y, **arguments)


def _update(model: Any, X: Any, y: NDArray[Any], arguments: Mapping[str, Any]) -> Any:
    return learning_copy(model).partial_fit(X, y, classes=np.array([0, 1]), **arguments) if len(y) else model


def shares(estimator: Any) -> bool:
    """Does the estimator need the rows only through a statistic of every class?"""
    recipe = recipe_of(estimator)
    return recipe is not None and not recipe.needs_rows


def fit_together(
    estimator: Any,
    data: tuple[Any, Any, Any],
    split: Split,
    labels: tuple[int, int],
    kept: tuple[Any, Any] | None = None,
) -> tuple[Any, list[Any]] | None:
    """The statistic of all classes, and one fitted model a problem, each from the merged statistics of its classes.

    ``data`` are X, y and weights; ``kept`` the path of a checkpoint and the scheme that is fitted. What is reduced over
    the rows is the statistic of every class, once. A problem renames the classes to its two sides and merges them: with
    S_k the scatter of class k, n_k its weight and mu_k its mean, a side has S = sum S_k + sum n_k (mu_k - mu)(mu_k -
    mu)'. None where that would take too much memory.
    """
    recipe = recipe_of(estimator)
    assert recipe is not None
    rows = estimator.open_rows(*data)
    opened = RowPasses(rows) if kept is None else KeptPasses(rows, recipe.reads, *kept)
    with opened.fitting():
        return _solved_together(estimator, data[0], opened, split, labels)


def _solved_together(
    estimator: Any, X: Any, opened: RowPasses, split: Split, labels: tuple[int, int]
) -> tuple[Any, list[Any]] | None:
    recipe, rows = estimator.recipe(), opened.rows
    columns = estimator.columns_of(X, rows)
    shape = Shape(rows.design, rows.classes, rows.n_rows)
    reduction = recipe.reduction(shape).by_class()
    if reduction is None or reduction.numbers(shape) > MOST_NUMBERS:
        return None
    passes = _ByClass(opened)
    whole = collected(passes, reduction)

    def solved(problem: Problem) -> Any:
        if problem.only is not None:
            fixed: Any = Constant(labels[problem.only], problem.titles).fit(())
            remember_columns(fixed, SimpleNamespace(**columns))
            return fixed
        own = Shape(columns["_design"], np.array(labels), int(whole.rows[problem.sides >= 0].sum()))
        statistic = recipe.adopt(whole.relabel(problem.sides, labels))
        solution = recipe.solve(statistic, own, _Relabelled(passes, own, problem.sides, labels))
        return clone(estimator).from_solution(solution, columns)

    return whole, [solved(problem) for problem in split(whole.classes)]


class _ByClass(Passes):
    """Passes that remember their reductions, so that all problems share them."""

    # Attributes in the place of the properties of ``Passes``.
    shape: Any = None
    again: Any = None

    def __init__(self, inner: RowPasses) -> None:
        self.shape, self.again = inner.shape, inner.again
        self._inner, self._known = inner, dict[Any, Any]()

    def reduce(self, reduction: Any, *, title: str = "reading") -> Any:
        if reduction not in self._known:
            self._known[reduction] = self._inner.reduce(reduction, title=title)
        return self._known[reduction]

    def fault(self) -> DataError | None:
        return self._inner.fault()


class _Relabelled(Passes):
    """Passes over the rows of one problem, under the labels of its two sides."""

    # Attributes in the place of the properties of ``Passes``.
    shape: Any = None
    again: Any = None

    def __init__(self, passes: _ByClass, shape: Shape, sides: NDArray[np.intp], labels: Sequence[int]) -> None:
        self.shape, self.again = shape, passes.again
        self._passes, self._sides, self._labels = passes, sides, labels

    def reduce(self, reduction: Any, *, title: str = "reading") -> Any:
        whole = self._passes.reduce(reduction.by_class(), title=title)
        return reduction.narrow(whole.relabel(self._sides, self._labels))


def side_scores(estimator: Any, X: Any) -> Floats:
    """The score of the positive side: the decision function, else its probability, else a regression."""
    if is_regressor(estimator):
        return np.asarray(estimator.predict(X))
    if hasattr(estimator, "decision_function"):
        return np.ravel(estimator.decision_function(X))
    return np.asarray(estimator.predict_proba(X)[:, 1])


def side_threshold(estimator: Any) -> float:
    """The score above which the answer is the positive side."""
    return 0.0 if hasattr(estimator, "decision_function") and is_classifier(estimator) else 0.5


def answers_and_scores(estimator: Any, X: Any) -> tuple[NDArray[Any], Floats]:
    """The answers 0 and 1, and the scores of the positive side."""
    scores = side_scores(estimator, X)
    if recipe_of(estimator) is not None and estimator.solution().rule.by_score:
        return (scores > side_threshold(estimator)).astype(np.intp), scores
    return np.asarray(estimator.predict(X)), scores
