"""Every pair of classes by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from discrim.atomic import all_or_nothing
from discrim.decision.multiclass.scheme import Problem, Scheme, answers_and_scores, side_threshold
from discrim.decision.wrapping import asked, checked_table, offered, offered_posteriors, spare_label, with_spare
from discrim.errors import DataError
from discrim.families.rule import Described
from discrim.models.beyond import METHODS, offers_all
from discrim.models.parameters import Check, one_of, with_method
from discrim.models.scoring import also_of_parts
from discrim.models.shell import RecipeClassifier
from discrim.sources import Scan, check_structure
from discrim.store.fields import Array, Fields, Incoming
from discrim.typing import Floats

LARGE = 1e300
# Rules that leave some rows without a class.
STRICT = ("all-positive", "majority")
# Probabilities of pairs are kept this far from 0 and 1: certain pairs can contradict each other in a circle.
LEAST = 1e-10
# Numbers of the systems that are solved at once.
BATCH = 1 << 20
MOST_STEPS = 1000


@dataclass(eq=False, repr=False)
class OneVsOneClassifier(Scheme):
    """A two-class model for each pair of classes, fitted to the rows of these two.

    **Rule.** 'votes': the class that wins most pairs; ties are broken by the sum of the scores h_ij for the class.
    'scores': the largest sum of scores. 'all-positive': the class that wins all its pairs; where there is none the
    answer is ``unassigned_label_``. 'majority': the class that wins most pairs, and ``unassigned_label_`` where several
    win equally many.

    **Posteriors.** Probabilities of the pairs are coupled to one a class: 'wu-lin-weng' (2004, second method) or
    'hastie-tibshirani' (1998). Their order can differ from the votes.

    Cost: for the Gaussian, Bayesian, count, least-squares, ridge and lasso models one pass over the rows for all
    K (K - 1) / 2 pairs; the result is that of so many fits. Other estimators are fitted pair by pair.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``, or regressor
    n_jobs : for the estimators that are fitted one by one
    rule : {'votes', 'scores', 'all-positive', 'majority'}
    unassigned_label : the answer of 'all-positive' where no class wins all, and of 'majority' for ties; by default
        'unassigned' for labels of text, and for numbers the integer below all classes and zero
    coupling : {'wu-lin-weng', 'hastie-tibshirani'}
    methods : {'scikit-learn', 'all'}
        'all' adds ``predict_proba``, which scikit-learn's class lacks: with it, clients that prefer probabilities to
        ``decision_function`` would put their threshold on something else.

    Attributes
    ----------
    estimators_ : in the order (0, 1), (0, 2), ..., (1, 2), ...; the second of a pair is the positive side
    classes_, n_classes_, unassigned_label_
    class_weight_ : sums of the rows' weights
    pairwise_indices_ : columns of each pair where X is a matrix of similarities, else None

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision.multiclass import OneVsOneClassifier
    >>> X, y = datasets.load_iris().xy
    >>> model = OneVsOneClassifier(LinearDiscriminantAnalysis(), methods="all").fit(X, y)
    >>> model.predict_proba(X[[70]]).round(2)
    array([[0.  , 0.44, 0.56]])
    """

    learned: ClassVar[Fields] = {**Scheme.learned, "class_weight_": Array("K", low=0.0)}

    class_weight_: Floats = field(init=False)

    _batch = "it"
    _constraints: ClassVar[Mapping[str, Check]] = {
        "estimator": with_method("fit"),
        "rule": one_of("votes", "scores", *STRICT),
        "coupling": one_of("wu-lin-weng", "hastie-tibshirani"),
        "methods": METHODS,
    }

    estimator: Any
    _: KW_ONLY
    n_jobs: int | None = None
    rule: str = "votes"
    unassigned_label: Any = None
    coupling: str = "wu-lin-weng"
    methods: Literal["scikit-learn", "all"] = "scikit-learn"

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit a model to each pair; ``sample_weight`` and what else is passed by name go to them, by their rows."""
        arguments = self._fit_arguments(X, y, fit_params)
        self.class_weight_, codes = self._fit_split(X, y, arguments, _pairs)
        self.pairwise_indices_ = None
        if codes is not None and get_tags(self.estimator).input_tags.pairwise:
            pairs = combinations(range(self.n_classes_), 2)
            self.pairwise_indices_ = [np.flatnonzero((codes == i) | (codes == j)) for i, j in pairs]
        self._label_unassigned()
        return self

    @offered("partial_fit")
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, **partial_fit_params: Any) -> Self:
        """Update the models with more rows; ``classes`` must list all classes at the first call."""
        first, weight = self._update_split(X, y, classes, partial_fit_params, _pairs)
        self.class_weight_ = weight if first else self.class_weight_ + weight
        self.pairwise_indices_ = None
        self._label_unassigned()
        return self

    def check_learned(self, file: Incoming) -> None:
        """Raise where there is no model for some pair."""
        super().check_learned(file)
        file.bind("b", len(_pairs(self.classes_)), "estimators_")
        self.pairwise_indices_ = None
        self._label_unassigned()

    @also_of_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, by ``rule``."""
        check_is_fitted(self, "estimators_")
        if self.n_classes_ == 2 and self.rule not in STRICT:
            # As scikit-learn has it: a score that is squashed to less than a half meets the threshold of the model.
            above = self.decision_function(X) > side_threshold(self.estimators_[0])
            return np.asarray(self.classes_[above.astype(int)])
        votes, sums = self._votes(X)
        if self.rule in STRICT:
            most = votes.max(axis=1)
            clear = most == self.n_classes_ - 1 if self.rule == "all-positive" else (votes == most[:, None]).sum(1) == 1
            return with_spare(self.classes_, self.unassigned_label_, votes.argmax(axis=1), clear)
        return np.asarray(self.classes_[self._ranked(votes, sums).argmax(axis=1)])

    @also_of_parts
    def decision_function(self, X: Any) -> Floats:
        """Votes plus the sum of scores, n x K, squashed below a third so that it breaks ties only; with rule='scores'
        the sums themselves. For two classes (n,).
        """
        check_is_fitted(self, "estimators_")
        ranked = self._ranked(*self._votes(X))
        return ranked[:, 1] if self.n_classes_ == 2 else ranked

    @available_if(lambda self: offers_all(self) and hasattr(self, "_posteriors"))  # type: ignore[untyped-decorator]
    @also_of_parts
    def predict_proba(self, X: Any) -> Floats:
        """Coupled probabilities, n x K; where the estimators have probabilities."""
        return self._posteriors(X)

    @offered_posteriors
    def _posteriors(self, X: Any) -> Floats:
        check_is_fitted(self, "estimators_")
        if self.pairwise_indices_ is None:
            positive = self._all_probabilities(X)
        else:
            positive = np.column_stack([asked(m, "predict_proba", part)[:, 1] for m, part in self._views(X)])
        if self.n_classes_ == 2:
            return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
        return couple(pair_matrix(positive, self.n_classes_), self.coupling, self.class_weight_)

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        if self.__dict__.get("pairwise_indices_") is not None:
            raise DataError("A model of similarities between rows cannot be exported: it needs its training rows.")
        offers, spare = hasattr(self, "predict_proba"), self.unassigned_label_
        coupling = {"coupling": self.coupling, "least": LEAST}
        return self._described("one against one", rule=self.rule, offers=offers, spare=spare, **coupling)

    def _ranked(self, votes: Floats, sums: Floats) -> Floats:
        if self.rule == "scores":
            return sums
        return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))

    def _votes(self, X: Any) -> tuple[Floats, Floats]:
        """Pairs won and sums of scores, n x K each."""
        votes: Floats | None = None
        pairs = combinations(range(self.n_classes_), 2)
        for (i, j), (answers, scores) in zip(pairs, self._duels(X), strict=True):
            # Classes without weight score infinity, for and against which cannot be added.
            scores = np.clip(scores, -LARGE, LARGE)
            if votes is None:
                votes, sums = np.zeros((2, len(answers), self.n_classes_))
            votes[:, i] += answers == 0
            votes[:, j] += answers == 1
            sums[:, i] -= scores
            sums[:, j] += scores
        assert votes is not None
        return votes, sums

    def _duels(self, X: Any) -> Iterator[tuple[NDArray[Any], Floats]]:
        """Answers and scores, pair by pair."""
        views = self._views(X)
        if self.pairwise_indices_ is None and self._fits_in_memory(X):
            scores = self._all_scores(X)
            return ((column > 0, column) for column in scores.T)
        return (answers_and_scores(model, part) for model, part in views)

    def _views(self, X: Any) -> list[tuple[Any, Any]]:
        """Each model with the rows as it knows them."""
        check_structure(X)
        if not isinstance(X, Scan) and not isinstance(self.estimators_[0], RecipeClassifier):
            validate_data(self, checked_table(X), reset=False, skip_check_array=True)
        if self.pairwise_indices_ is None:
            return [(model, X) for model in self.estimators_]
        parts = (_safe_indexing(X, columns, axis=1) for columns in self.pairwise_indices_)
        return list(zip(self.estimators_, parts, strict=True))

    def _label_unassigned(self) -> None:
        self.unassigned_label_ = spare_label("unassigned_label", self.unassigned_label, self.classes_, "unassigned")


def _pairs(classes: NDArray[Any]) -> Sequence[Problem]:
    if len(classes) == 1:
        raise DataError("OneVsOneClassifier can not be fit when only one class is present.")
    first, second = np.triu_indices(len(classes), 1)
    pair, sides = np.arange(len(first)), np.full((len(first), len(classes)), -1)
    sides[pair, first], sides[pair, second] = 0, 1
    return [Problem(row) for row in sides]


def couple(pairs: Floats, method: str, weight: Floats) -> Floats:
    """Probabilities n x K from ``pairs`` n x K x K, where r_ij is that of class i among i and j, r_ji = 1 - r_ij.

    'wu-lin-weng': p minimises sum_(i<j) (r_ji p_i - r_ij p_j)^2 with sum p = 1 (their second method): one linear
    system a row. 'hastie-tibshirani': p makes p_i / (p_i + p_j) closest to r_ij in mean Kullback-Leibler distance,
    the pairs weighed by n_ij = n_i + n_j of the class weights: rescaled in turn until it stands still.
    """
    r = np.clip(pairs, LEAST, 1.0 - LEAST)
    k = r.shape[1]
    r[:, np.arange(k), np.arange(k)] = 0.0
    step = max(BATCH // (k + 1) ** 2, 1)
    parts = [r[start : start + step] for start in range(0, len(r), step)]
    if method == "wu-lin-weng":
        return np.concatenate([_least_squares(part) for part in parts])
    return np.concatenate([_rescaled(part, weight) for part in parts])


def pair_matrix(positive: Floats, classes: int) -> Floats:
    """r, n x K x K, from the probabilities of the second class of each pair (0, 1), (0, 2), ..., (1, 2), ...."""
    i, j = np.triu_indices(classes, 1)
    r = np.zeros((len(positive), classes, classes))
    r[:, j, i], r[:, i, j] = positive, 1.0 - positive
    return r


def _least_squares(r: Floats) -> Floats:
    """Q p + b = 0, sum p = 1 with Q_ii = sum_j r_ji^2 and Q_ij = -r_ij r_ji."""
    n, k, _ = r.shape
    system = np.ones((n, k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    system[:, np.arange(k), np.arange(k)] = np.einsum("nji,nji->ni", r, r)
    system[:, k, k] = 0.0
    right: NDArray[Any] = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _rescaled(r: Floats, weight: Floats) -> Floats:
    pair_weight = weight[:, None] + weight[None, :]
    np.fill_diagonal(pair_weight, 0.0)
    wins = np.einsum("ij,nij->ni", pair_weight, r)
    p = wins / wins.sum(axis=1, keepdims=True)
    for _ in range(MOST_STEPS):
        # A pair of vanishing probabilities shares as it did.
        sums = np.maximum(p[:, :, None] + p[:, None, :], np.finfo(float).tiny)
        new = wins / np.einsum("ij,nij->ni", pair_weight, 1.0 / sums)
        new /= new.sum(axis=1, keepdims=True)
        moved = np.abs(new - p).max()
        p = new
        if moved < 1e-12:
            break
    return np.asarray(p)
