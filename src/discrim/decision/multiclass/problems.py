"""The two-class problems of a scheme, each fitted by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from discrim.errors import DiscrimWarning, warn
from discrim.models.shell import recipe_of
from discrim.sources import Scan
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """Which classes are positive (1), which negative (0), and which stay away (-1): ``sides``, K numbers.

    ``titles`` are what a warning calls the two sides, where it should say something.
    """

    sides: NDArray[np.intp]
    titles: tuple[str, str] | None = None

    @property
    def whole(self) -> bool:
        return bool((self.sides >= 0).all())

    @property
    def only(self) -> int | None:
        """The side that is alone, or None where there are two."""
        found = np.unique(self.sides[self.sides >= 0])
        return int(found[0]) if len(found) == 1 else None


class Constant(BaseEstimator):  # type: ignore[misc]
    """The answer where a problem has rows of one side only."""

    def __init__(self, answer: int = 1) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - the answer is known
        if sparse.issparse(X) or np.ndim(X) == 2:
            validate_data(self, X, reset=True, skip_check_array=True)
        self.classes_ = np.array([self.answer])
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        return np.full(self._rows(X), self.answer)

    def decision_function(self, X: Any) -> NDArray[np.intp]:
        return self.predict(X)

    def predict_proba(self, X: Any) -> Floats:
        positive = float(self.answer > 0)
        return np.tile([1.0 - positive, positive], (self._rows(X), 1))

    def _rows(self, X: Any) -> int:
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and not isinstance(X, Scan):
            validate_data(self, X, reset=False, skip_check_array=True)
        return int(X.n_rows) if isinstance(X, Scan) and X.n_rows is not None else int(_num_samples(X))


@dataclass(frozen=True)
class Fitting:
    """How problems are fitted: the estimator, the numbers of the two sides, what goes to ``fit``, and on how many jobs.

    A scheme whose estimator takes a matrix of similarities passes ``pairwise``.
    """

    estimator: Any
    labels: tuple[int, int]
    arguments: Mapping[str, Any]
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def pairwise(self) -> bool:
        return bool(get_tags(self.estimator).input_tags.pairwise)


def fit_apart(how: Fitting, X: Any, codes: NDArray[Any], problems: Sequence[Problem]) -> list[Any]:
    """One estimator a problem, each fitted to the rows of its classes."""
    tasks = (delayed(_fit_one)(how, X, codes, problem) for problem in problems)
    return list(Parallel(n_jobs=how.n_jobs, verbose=how.verbose)(tasks))


def fit_column(how: Fitting, X: Any, y: NDArray[Any], titles: tuple[str, str] | None) -> Any:
    """One estimator for labels y, which are of one side or both."""
    found = np.unique(y)
    if len(found) == 1:
        return constant(how, int(found[0]), titles).fit(X)
    return clone(how.estimator).fit(X, y, **how.arguments)


def constant(how: Fitting, label: int, titles: tuple[str, str] | None) -> Constant:
    """Say that there is one side only, where the sides have titles, and give the answer."""
    if titles is not None:
        title = titles[how.labels.index(label)]
        warn(f"Label {title} is present in all training examples.", DiscrimWarning)
    return Constant(label)


def _fit_one(how: Fitting, X: Any, codes: NDArray[Any], problem: Problem) -> Any:
    sides = problem.sides[codes]
    if problem.whole:
        return fit_column(how, X, np.asarray(how.labels)[sides], problem.titles)
    rows = np.flatnonzero(sides >= 0)
    part = _safe_indexing(X, rows)
    if how.pairwise:
        part = _safe_indexing(part, rows, axis=1)
    taken = {name: part_of(value, rows, len(codes)) for name, value in how.arguments.items()}
    narrow = Fitting(how.estimator, how.labels, taken)
    return fit_column(narrow, part, np.asarray(how.labels)[sides[rows]], problem.titles)


def part_of(value: Any, rows: NDArray[np.intp], n: int) -> Any:
    """The entries of these rows where there is one a row, else the value itself."""
    same_length = (hasattr(value, "shape") and value.shape and value.shape[0] == n) or (
        isinstance(value, (list, tuple)) and len(value) == n
    )
    return _safe_indexing(value, rows) if same_length else value


def side_scores(estimator: Any, X: Any) -> Floats:
    """How much speaks for the positive side: the decision function, else its probability, else a regression."""
    if is_regressor(estimator):
        return np.asarray(estimator.predict(X))
    if hasattr(estimator, "decision_function"):
        return np.ravel(estimator.decision_function(X))
    return np.asarray(estimator.predict_proba(X)[:, 1])


def side_threshold(estimator: Any) -> float:
    """The score above which the positive side is meant."""
    return 0.0 if hasattr(estimator, "decision_function") and is_classifier(estimator) else 0.5


def answers_and_scores(estimator: Any, X: Any) -> tuple[NDArray[Any], Floats]:
    """The answers 0 and 1, and the scores of the positive side."""
    scores = side_scores(estimator, X)
    if recipe_of(estimator) is not None and estimator.solution().rule.by_score:
        return (scores > side_threshold(estimator)).astype(np.intp), scores
    return np.asarray(estimator.predict(X)), scores
