"""The most frequent class, always: what a model of a comparison has to beat."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from discrim.inference.summary import Summary, Table
from discrim.sources import Scan, check_weights, code_labels


class MajorityClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The most frequent class for every row, whatever its columns say; its posteriors are the shares of the classes.

    Attributes
    ----------
    classes_, class_prior_ : the labels and their shares

    Examples
    --------
    >>> from discrim.comparison.majority import MajorityClassifier
    >>> model = MajorityClassifier().fit([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    >>> model.predict([[1.0]]).tolist()
    ['b']
    """

    classes_: NDArray[Any]
    class_prior_: NDArray[np.float64]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count the labels y, or those of a ``scan``."""
        if isinstance(X, Scan):
            labels = [block.classes[block.codes] for block in X.blocks()]
            weights = [block.weight for block in X.blocks()] if X.weight is not None else None
            y = np.concatenate(labels)
            sample_weight = None if weights is None else np.concatenate([np.asarray(w) for w in weights])
        classes, codes = code_labels(y)
        shares = shares_of(codes, len(classes), check_weights(sample_weight, len(codes)))
        if not isinstance(X, Scan):
            validate_data(self, X, reset=True, skip_check_array=True)
        self.classes_, self.class_prior_ = classes, shares
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class, for every row."""
        posterior = self.predict_proba(X)
        return np.asarray(self.classes_[posterior.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The shares of the classes, for every row."""
        check_is_fitted(self, "classes_")
        n = sum(len(block) for block in X.blocks()) if isinstance(X, Scan) else _num_samples(X)
        return np.tile(self.class_prior_, (n, 1))

    def summary(self) -> Summary:
        """The shares of the classes."""
        check_is_fitted(self, "classes_")
        names = [str(label) for label in self.classes_]
        table = Table("Classes", names, ["share"], self.class_prior_[:, None])
        return Summary("The most frequent class, always", {"Classes": len(names)}, [table])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def shares_of(codes: NDArray[np.int32], classes: int, weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Of every class in the weight of all rows."""
    counts = np.bincount(codes, weight, minlength=classes)
    return np.asarray(counts / counts.sum(), dtype=np.float64)
