"""The most frequent class, always: what the models of a comparison have to beat."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from discrim.block import Block
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.trials import Tried
from discrim.decision.costs import cheapest
from discrim.evaluation.cross_validation import CrossValidation
from discrim.evaluation.resampling import HeldOut
from discrim.inference.summary import Summary, Table
from discrim.sources import Scan, check_weights, code_labels, in_memory, open_rows
from discrim.store.estimators import SavedEstimator
from discrim.store.fields import Array, Fields
from discrim.store.values import Labels
from discrim.typing import Floats

BASELINE = "Baseline"
# Draws of rows that show how far a class leads by chance.
REPLICATES = 400


class MajorityClassifier(SavedEstimator, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The most frequent class for every row, whatever its columns say; its posteriors are the shares of the classes.

    Attributes
    ----------
    classes_, class_prior_ : the labels and their shares

    Examples
    --------
    >>> from discrim.comparison.baseline import MajorityClassifier
    >>> model = MajorityClassifier().fit([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    >>> model.predict([[1.0]]).tolist()
    ['b']
    """

    learned: ClassVar[Fields] = {"classes_": Labels("K"), "class_prior_": Array("K", low=0.0, high=1.0)}

    classes_: NDArray[Any]
    class_prior_: Floats
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count the labels y, or those of a ``scan``."""
        if isinstance(X, Scan):
            return self.named_as(X).fit_labels(in_memory(open_rows(X, y, sample_weight)))
        classes, codes = code_labels(y)
        weight = check_weights(sample_weight, len(codes))
        validate_data(self, X, reset=True, skip_check_array=True)
        return self.fit_labels(Block(np.empty((len(codes), 0)), codes, classes, weight))

    def fit_labels(self, labelled: Block) -> Self:
        counts = np.bincount(labelled.codes, labelled.weight, minlength=len(labelled.classes))
        self.classes_, self.class_prior_ = labelled.classes, counts / counts.sum()
        return self

    def named_as(self, X: Scan) -> Self:
        """With the names of these columns, which new rows are looked for by."""
        self.n_features_in_, self.feature_names_in_ = len(X.features), np.array(X.features, dtype=object)
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


def try_baseline(rows: ComparedRows, costs: Floats | None = None) -> Tried:
    """The shares of all rows: with those of the training part, a fold with more of a class would be held against it.

    Under ``costs`` the class of the least expected cost is predicted, which need not be the most frequent one.
    """
    start = perf_counter()
    model = MajorityClassifier().fit_labels(rows.data)
    if isinstance(rows.table, Scan):
        model.named_as(rows.table)
    elif hasattr(rows.table, "shape") and rows.words is None:
        validate_data(model, rows.table, reset=True, skip_check_array=True)
    held = HeldOut(rows.n, len(rows.classes), "statistics")
    held.posterior[:] = model.class_prior_
    prior = model.class_prior_
    held.best[:] = int(prior.argmax()) if costs is None else int(cheapest(prior[None], costs)[0])
    result = CrossValidation.of(rows.data, rows.folds, held)
    taken = perf_counter() - start
    note = f"always predicts '{rows.classes[held.best[0]]}', with the class frequencies as probabilities"
    return Tried(BASELINE, note, result, None, model, None, taken, taken)


def error_on_new_rows(shares: Floats, n: float) -> float:
    """The error to expect of always predicting the class that was the most frequent of n rows.

    Of several classes that are about as frequent, the one that leads in these rows leads by chance. As in
    ``corrected_error`` rows are drawn with replacement, the leading class is chosen again, and the rows that were not
    drawn judge it: of the n_k rows of a class n_k (1 - 1 / n_k)^m are left after m draws of it, on average.
    """
    own = np.maximum(shares * n, 1e-300)
    drawn = np.random.default_rng(0).multinomial(max(round(n), 1), shares, size=REPLICATES)
    left = np.where(own > 1.0, own * np.exp(drawn * np.log1p(-1.0 / np.maximum(own, 1.0 + 1e-9))), drawn == 0)
    kept = left.sum(axis=1) > 0
    found = left[kept, drawn[kept].argmax(axis=1)]
    return float(1.0 - found.sum() / left[kept].sum()) if kept.any() else float(1.0 - shares.max())
