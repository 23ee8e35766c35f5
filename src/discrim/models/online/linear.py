"""A classifier whose answers follow from ``coef_`` and ``intercept_``, also where somebody has written to them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discrim.errors import DataError
from discrim.families.logistic.objective import as_one, written_rule
from discrim.families.rule import Output
from discrim.inference.summary import Summary, Table
from discrim.models.scoring import non_finite_error
from discrim.models.shell import Classifier, SparseCoefficients
from discrim.sources import Design
from discrim.typing import Floats


def _has_probabilities(self: LinearClassifier) -> bool:
    self._check_probabilities()
    return True


class LinearClassifier(SparseCoefficients, Classifier):
    """Scores w_k'x + b_k of the coefficients as they are now."""

    n_iter_: int
    _rule_of: Floats

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores w_k'x + b_k, n x K; for two classes that of the second, n."""
        self._check_solved()
        rows = self.rows_of(X)
        if rows.whole is None or not sparse.issparse(rows.whole.x):
            return super().decision_function(X)
        # A product with few entries: rows are not made dense.
        x, written = rows.whole.x, self._rule_of
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray(x @ written[:, 1:].T) + written[:, 0]
        if not np.isfinite(scores).all():
            raise non_finite_error(rows) or DataError("The scores of some rows overflow. Scale the columns.")
        scores = scores.astype(x.dtype)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_.take(np.minimum(best, len(self.classes_) - 1)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities n x K, where the loss has a meaning as such."""
        return self._probabilities(self.decision_function(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the probabilities; -inf where one is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _check_probabilities(self) -> None:
        raise AttributeError(
            f"{type(self).__name__} gives margins, not probabilities. Use SGDClassifier(loss='log_loss'), or wrap it "
            "in sklearn.calibration.CalibratedClassifierCV."
        )

    def _probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Of the scores n x K, or n for two classes."""
        raise NotImplementedError

    @property
    def coef_(self) -> Any:
        """Weights in the user's units: 1 x p for two classes, else K x p."""
        return self._coefficient("_coef")

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self.__dict__["_coef"] = value

    @property
    def intercept_(self) -> Any:
        return self._coefficient("_intercept")

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self.__dict__["_intercept"] = value

    def _coefficient(self, name: str) -> Any:
        if name not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no coefficients yet: call fit first.")
        return self.__dict__[name]

    def _written(self, coef: Floats, intercept: Floats, dtype: np.dtype[Any]) -> dict[str, Any]:
        """The attributes that say these coefficients, in the precision of the rows."""
        with np.errstate(over="ignore"):
            coef, intercept = coef.astype(dtype), intercept.astype(dtype)
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise DataError(f"The coefficients are too large for the precision {dtype.name}. Scale the columns.")
        both = as_one(coef, intercept)
        return {"_coef": coef, "_intercept": intercept, "_rule": written_rule(both), "_rule_of": both}

    def _check_solved(self) -> Self:
        check_is_fitted(self, "coef_")
        if "_design" not in self.__dict__:
            self.n_features_in_ = int(self.coef_.shape[-1])
            self._design = Design.unnamed(self.n_features_in_, np.float64)
        both = as_one(self.coef_, self.intercept_)
        if not np.array_equal(both, self.__dict__.get("_rule_of", ())):
            self._rule, self._rule_of = written_rule(both), both
        return self

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        if output is Output.SCORES:
            return super()._apply(X, output)
        raise NotImplementedError("Scores that are margins have no softmax.")

    def _updates(self) -> int:
        """Steps that have changed the coefficients."""
        raise NotImplementedError

    def _summarise(self) -> Summary:
        names = ["(Intercept)", *self._names]
        slopes = as_one(self.coef_, self.intercept_)
        labels = [str(label) for label in self.classes_[-len(slopes) :]]
        facts = {"Epochs": self.n_iter_, "Updates": self._updates(), "Columns": len(self._names)}
        table = Table("Coefficients", names, labels, slopes.T)
        return Summary(type(self).__name__, facts, [table], names=names, coef=slopes.T, iterations=self.n_iter_)
