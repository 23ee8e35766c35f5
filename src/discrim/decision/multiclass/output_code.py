"""Classes as words of a code, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.decision.multiclass.codes import bch_code, exhaustive_code, given_code
from discrim.decision.multiclass.problems import Fitting, Problem
from discrim.decision.multiclass.scheme import Scheme
from discrim.decision.multiclass.stacked import all_scores
from discrim.decision.wrapping import fit_arguments
from discrim.errors import DataError, ParameterError
from discrim.models.parameters import Check, array_like, check_parameters, either, number, one_of, seed, with_method
from discrim.sources import Scan


class OutputCodeClassifier(Scheme):
    """A word of bits for each class, a two-class model for each bit, and the class whose word is nearest.

    **Rule.** The smallest Euclidean distance between the scores of the models and the word of the class. Words that
    differ in d bits survive (d - 1) / 2 wrong models.

    Cost: for the Gaussian, least-squares and ridge models one pass over the rows for all bits; the result is that of so
    many fits. Other estimators are fitted bit by bit.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``
    code_size : float above 0; a random code has int(K code_size) bits, a BCH code at least so many before
        columns that repeat others are left out
    random_state : seed of the random words
    n_jobs : for the estimators that are fitted one by one
    code : {'random', 'exhaustive', 'bch'}, or a K x B matrix of 0 and 1 or -1 and 1
        'exhaustive' has every split of the classes once (up to 11 classes), 'bch' words that are far apart.

    Attributes
    ----------
    estimators_ : one for each bit
    classes_, n_classes_
    code_book_ : K x B, of -1 and 1 where the estimator has a decision function, else of 0 and 1

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision.multiclass import OutputCodeClassifier
    >>> X, y = datasets.load_iris().xy
    >>> model = OutputCodeClassifier(LinearDiscriminantAnalysis(), code="exhaustive").fit(X, y)
    >>> model.code_book_
    array([[ 1., -1.,  1.],
           [-1.,  1.,  1.],
           [-1., -1., -1.]])
    """

    _constraints: ClassVar[dict[str, Check]] = {
        "estimator": with_method("fit"),
        "code_size": (lambda size: number(0)[0](size) and size > 0, "a finite number above 0"),
        "random_state": seed(),
        "code": either(one_of("random", "exhaustive", "bch"), array_like()),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        code_size: float = 1.5,
        random_state: Any = None,
        n_jobs: int | None = None,
        code: Any = "random",
    ) -> None:
        self.estimator = estimator
        self.code_size = code_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.code = code

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit a model to each bit; ``sample_weight`` and what else is passed by name go to them."""
        check_parameters(self, self._constraints)
        self.__dict__.pop("estimators_", None)
        scored = hasattr(self.estimator, "decision_function")
        if not scored and not hasattr(self.estimator, "predict_proba"):
            raise ParameterError(
                f"The 'estimator' parameter is {self.estimator!r}; it must have decision_function or predict_proba."
            )
        arguments = fit_arguments(self, fit_params)
        if y is None and not isinstance(X, Scan):
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        labels = (-1, 1) if scored else (0, 1)
        self.__dict__.pop("code_book_", None)

        def split(classes: NDArray[Any]) -> Sequence[Problem]:
            if not hasattr(self, "code_book_"):
                bits = self._bits(len(classes))
                self.code_book_ = np.asarray(labels, dtype=np.float64)[bits]
            return [Problem((column > 0).astype(np.intp)) for column in self.code_book_.T]

        how = Fitting(self.estimator, labels, arguments, self.n_jobs)
        self._fit_split(how, X, y, split)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class whose word is nearest to the scores."""
        check_is_fitted(self, "estimators_")
        scores = all_scores(self.estimators_, X)
        # |s - c|^2 without |s|^2, which is the same for all classes.
        distance = np.einsum("kb,kb->k", self.code_book_, self.code_book_) - 2.0 * scores @ self.code_book_.T
        return np.asarray(self.classes_[distance.argmin(axis=1)])

    def get_metadata_routing(self) -> Any:
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=mapping)

    def _bits(self, classes: int) -> NDArray[Any]:
        if not isinstance(self.code, str):
            return given_code(self.code, classes)
        generator = check_random_state(self.random_state)
        count = int(classes * self.code_size)
        if classes == 1:
            return np.ones((1, max(count, 1)), dtype=np.int8)
        if self.code == "exhaustive":
            return exhaustive_code(classes)
        if count < 1:
            raise ParameterError.bad_value("code_size", self.code_size, f"at least 1/{classes} for {classes} classes")
        if self.code == "bch":
            return bch_code(classes, count, generator)
        return np.asarray(generator.uniform(size=(classes, count)) > 0.5).astype(np.int8)
