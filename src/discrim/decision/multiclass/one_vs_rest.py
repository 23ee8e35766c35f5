"""One class against all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import MultiOutputMixin
from sklearn.utils.parallel import delayed

from discrim.atomic import all_or_nothing
from discrim.decision.multiclass.scheme import Problem, Scheme, fit_column, side_threshold
from discrim.decision.wrapping import offered, remember_columns, spare_label, with_spare
from discrim.errors import ParameterError
from discrim.families.rule import Described
from discrim.models.parameters import Check, one_of, with_method
from discrim.models.scoring import also_of_parts
from discrim.sources import check_structure
from discrim.store.fields import Fields, Flag, Incoming, Text
from discrim.typing import Floats


@dataclass(eq=False, repr=False)
class OneVsRestClassifier(MultiOutputMixin, Scheme):  # type: ignore[misc]
    """A two-class model for each class against all others.

    **Rule.** 'argmax': the class whose model gives the largest score. 'positive-only': the class whose model alone says
    yes; where none or several do the answer is ``ambiguous_label_``. Such regions exist for any three classes, and
    show where the scheme forces an answer. 'all-but-last': the models of the first K - 1 classes decide, and where none
    of them says yes it is the last class; only where several do is the answer ``ambiguous_label_``.

    With y as an n x m matrix of zeros and ones every column is a problem by itself, and a row may have several labels.

    Cost: for the Gaussian, Bayesian, count, least-squares, ridge and lasso models one pass over the rows, whose class
    statistics are merged into the K problems; the result is that of K fits. Other estimators are fitted K times.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``, or regressor
    n_jobs, verbose : for the estimators that are fitted one by one
    rule : {'argmax', 'positive-only', 'all-but-last'}
    ambiguous_label : the answer where no class or several say yes; by default 'ambiguous' for labels of text, and for
        numbers the integer below all classes and zero. A pair (none, several) keeps the two apart.

    Attributes
    ----------
    estimators_ : one for each class; for two classes one, for the second
    classes_, n_classes_, label_binarizer_, multilabel_
    ambiguous_label_

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision.multiclass import OneVsRestClassifier
    >>> X, y = datasets.load_iris().xy
    >>> model = OneVsRestClassifier(LinearDiscriminantAnalysis(), rule="positive-only").fit(X, y)
    >>> int((model.predict(X) == model.ambiguous_label_).sum())
    29
    """

    learned: ClassVar[Fields] = {
        **Scheme.learned, "label_type": Text(("binary", "multiclass", "multilabel-indicator")), "sparse_labels": Flag(),
    }  # fmt: skip

    _constraints: ClassVar[Mapping[str, Check]] = {
        "estimator": with_method("fit"),
        "rule": one_of("argmax", "positive-only", "all-but-last"),
    }

    estimator: Any
    _: KW_ONLY
    n_jobs: int | None = None
    verbose: int = 0
    rule: str = "argmax"
    ambiguous_label: Any = None

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the two-class models; ``sample_weight`` and what else is passed by name go to them."""
        arguments = self._fit_arguments(X, y, fit_params)
        if y is not None and (sparse.issparse(y) or np.asarray(y).ndim > 1):
            self._fit_columns(X, y, arguments)
        else:
            self._fit_split(X, y, arguments, _one_against_rest)
            self._know_labels()
        return self

    @offered("partial_fit")
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, **partial_fit_params: Any) -> Self:
        """Update the two-class models with more rows; ``classes`` must list all classes at the first call."""
        if self._update_split(X, y, classes, partial_fit_params, _one_against_rest)[0]:
            self._know_labels()
        return self

    @property
    def label_type(self) -> str:
        """What y was, in scikit-learn's words."""
        return str(self.label_binarizer_.y_type_)

    @property
    def sparse_labels(self) -> bool:
        """Was y sparse?"""
        return bool(self.label_binarizer_.sparse_input_)

    def check_learned(self, file: Incoming) -> None:
        """Make what turns labels into indicators."""
        super().check_learned(file)
        kind, thin = self.__dict__.pop("label_type"), self.__dict__.pop("sparse_labels")
        size = len(self.classes_)
        file.bind("b", 1 if size == 2 and kind != "multilabel-indicator" else size, "estimators_")
        self._know_labels()
        self.label_binarizer_.__dict__.update(y_type_=kind, sparse_input_=thin)

    @also_of_parts
    def predict(self, X: Any) -> NDArray[Any] | Any:
        """The class of each row; for several labels the n x m indicators, sparse where y was."""
        scores = self._all_scores(X)
        if self.label_binarizer_.y_type_ != "multiclass":
            chosen = scores > side_threshold(self.estimators_[0])
            return self.label_binarizer_.inverse_transform(sparse.csc_array(chosen.astype(int)))
        best = scores.argmax(axis=1)
        if self.rule == "argmax":
            return np.asarray(self.classes_[best])
        positive = scores > side_threshold(self.estimators_[0])
        if self.rule == "all-but-last":
            positive[:, -1] = ~positive[:, :-1].any(axis=1)
        count, first = positive.sum(axis=1), positive.argmax(axis=1)
        if not isinstance(self.ambiguous_label_, tuple):
            return with_spare(self.classes_, self.ambiguous_label_, first, count == 1)
        none, several = self.ambiguous_label_
        known = with_spare(self.classes_, none, first, count > 0)
        return np.where(count > 1, np.asarray(several, dtype=object if known.dtype == object else None), known)

    @offered("predict_proba")
    @also_of_parts
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the positive sides, n x K; for one label a row they are divided by their sum."""
        positive = self._all_probabilities(X)
        if len(self.estimators_) == 1:
            positive = np.hstack([1.0 - positive, positive])
        if self.multilabel_:
            return positive
        total = positive.sum(axis=1, keepdims=True)
        return positive / np.where(total > 0, total, 1.0)

    @offered("decision_function")
    @also_of_parts
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores of the two-class models, n x K; for two classes (n,)."""
        scores = self._all_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        several = self.label_binarizer_.y_type_ not in {"multiclass", "binary"}
        offers, spare = hasattr(self, "predict_proba"), self.ambiguous_label_
        return self._described("one against rest", several_labels=several, rule=self.rule, spare=spare, offers=offers)

    @property
    def multilabel_(self) -> bool:
        """May a row have several labels?"""
        return bool(self.label_binarizer_.y_type_.startswith("multilabel"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags

    def _fit_columns(self, X: Any, y: Any, arguments: Mapping[str, Any]) -> None:
        """A problem for each column of indicators."""
        check_structure(X)
        check_structure(y, "y")
        self._know_labels(y)
        columns = sparse.csc_array(self.label_binarizer_.transform(y)).toarray().T
        self.estimators_ = self._in_parallel(
            delayed(fit_column)(self.estimator, X, column, arguments, (f"not {label}", str(label)))
            for label, column in zip(self.classes_[-len(columns) :], columns, strict=True)
        )
        remember_columns(self, self.estimators_[0])

    def _know_labels(self, y: Any = None) -> None:
        """How answers are labelled: by the indicators y, or by the classes."""
        from sklearn.preprocessing import LabelBinarizer

        self.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(self.classes_ if y is None else y)
        if y is not None:
            self.classes_ = self.label_binarizer_.classes_
        given = self.ambiguous_label
        if isinstance(given, tuple) and (len(given) != 2 or given[0] == given[1]):
            wanted = "one label, or a pair of different labels: for none and for several"
            raise ParameterError.bad_value("ambiguous_label", given, wanted)
        parts = given if isinstance(given, tuple) else (given,)
        found = tuple(spare_label("ambiguous_label", part, self.classes_, "ambiguous") for part in parts)
        self.ambiguous_label_ = found if len(found) == 2 else found[0]


def _one_against_rest(classes: NDArray[Any]) -> Sequence[Problem]:
    """K problems; one where there are two classes, and one without a positive side where there is one."""
    labels, sides = classes, np.eye(len(classes), dtype=np.intp)
    if len(classes) <= 2:
        labels, sides = classes[-1:], np.arange(len(classes))[None]
    return [Problem(side, (f"not {label}", str(label))) for label, side in zip(labels, sides, strict=True)]
