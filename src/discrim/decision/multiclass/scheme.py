"""What the schemes of two-class problems share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import validate_data

from discrim.decision.multiclass.problems import Fitting, Problem, fit_apart
from discrim.decision.multiclass.shared import fit_together, shares
from discrim.decision.wrapping import checked_table, remember_columns, with_inner_tags
from discrim.errors import DataError
from discrim.sources import Scan, code_labels

# How the classes are split into problems; a scheme may need to know them first.
Split = Callable[[NDArray[Any]], Sequence[Problem]]


class Scheme(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of many classes made of classifiers of two."""

    estimator: Any
    n_jobs: int | None
    estimators_: Any
    classes_: NDArray[Any]

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def get_metadata_routing(self) -> Any:
        mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="partial_fit", callee="partial_fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        return with_inner_tags(super().__sklearn_tags__(), self.estimator)

    def _fit_split(self, how: Fitting, X: Any, y: Any, split: Split) -> None:
        """Set ``classes_`` and ``estimators_``: from one pass where the estimator allows it, else one fit a problem."""
        if set(how.arguments) <= {"sample_weight"} and shares(how.estimator):
            together = fit_together(how, X, y, split)
            if together is not None:
                self.classes_, self.estimators_ = together
                remember_columns(self, self.estimators_[0])
                return
        if isinstance(X, Scan):
            raise DataError(
                f"{type(self).__name__} reads a scan only for estimators that share one pass (discriminant "
                "analysis, naive Bayes, least squares, ridge, without tuning). Pass a table in memory."
            )
        X = checked_table(X, y)
        classes, codes = code_labels(y)
        problems = split(classes)
        self._know_columns(X)
        self.estimators_ = fit_apart(how, X, codes, problems)
        self.classes_ = classes
        if not hasattr(self, "n_features_in_"):
            remember_columns(self, self.estimators_[0])

    def _know_columns(self, X: Any) -> None:
        """Number and names of the columns, where X tells them."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if hasattr(X, "shape") or (isinstance(X, (list, tuple)) and np.ndim(X) == 2):
            validate_data(self, X, reset=True, skip_check_array=True)


def first_part(scheme: Any, classes: Any) -> bool:
    """Is this the first call of ``partial_fit``? It sets ``classes_``; later ones must agree with it."""
    if not hasattr(scheme, "classes_"):
        if classes is None:
            raise DataError("classes must be passed on the first call to partial_fit.")
        scheme.classes_ = code_labels(classes)[0]
        return True
    if classes is not None and not np.array_equal(scheme.classes_, code_labels(classes)[0]):
        raise DataError(f"`classes={classes!r}` is not the same as on last call to partial_fit: {scheme.classes_!r}")
    return False
