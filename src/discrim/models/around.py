"""A classifier around a model: it makes the columns, and the model answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discrim.exports.exporting import Exported
from discrim.inference.summary import Summary
from discrim.models.scoring import also_of_parts, as_it_is, spark_answers
from discrim.models.shell import Classifier
from discrim.models.stored import summary_of
from discrim.store.estimators import SavedEstimator
from discrim.store.fields import Incoming, Optional, Outgoing, damaged
from discrim.store.kinds import Of

SUMMARY = Optional(Of(Summary))


def model_has(name: str) -> Callable[[Any], bool]:
    """Has the model this method, fitted or not? One that is None will be of the library."""

    def has(self: Any) -> bool:
        model = getattr(self, "model_", self.model)
        return model is None or hasattr(model, name)

    return has


class AroundModel(SavedEstimator, Exported, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose ``model``, fitted as ``model_``, learns from columns that are made of the rows."""

    classes_: NDArray[Any]
    model: Any
    model_: Any

    @also_of_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        return self._answers(X, "predict")

    @available_if(model_has("predict_proba"))  # type: ignore[untyped-decorator]
    @also_of_parts
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Posterior probabilities, n x K, columns as ``classes_``."""
        return self._answers(X, "predict_proba")

    @available_if(model_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    @also_of_parts
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the posteriors."""
        return self._answers(X, "predict_log_proba")

    @available_if(model_has("decision_function"))  # type: ignore[untyped-decorator]
    @also_of_parts
    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores of the model."""
        return self._answers(X, "decision_function")

    @available_if(model_has("summary"))  # type: ignore[untyped-decorator]
    def summary(self) -> Summary:
        """The summary of the model, with the names of the columns that were made for it."""
        check_is_fitted(self, "model_")
        known: Summary | None = self.__dict__.get("_kept_summary")
        summary: Summary = self._named().summary() if known is None else known
        return summary

    @available_if(model_has("plot"))  # type: ignore[untyped-decorator]
    def plot(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """The picture of the model, with the names of the columns that were made for it; of rows X, y as ``fit`` takes
        them, or of what the model remembers.
        """
        check_is_fitted(self, "model_")
        return self._named().plot(None if X is None else self._columns_made(X), y, **options)

    @available_if(model_has("contributions"))  # type: ignore[untyped-decorator]
    def contributions(self, X: Any) -> NDArray[Any]:
        """What each column that was made of the rows adds to the score of each class, n x K x p."""
        return self._answers(X, "contributions")

    def transform_spark(self, frame: Any) -> Any:
        """The Spark frame with the columns ``prediction`` and, for models with posteriors, ``probability_CLASS``.

        The rows stay where they are, and the model travels as the bytes of its file.
        """
        check_is_fitted(self, "model_")
        return spark_answers(self, frame, self._needed_of(frame), as_it_is)

    def _needed_of(self, frame: Any) -> list[str]:
        """The columns of a Spark frame that answers are made from."""
        return list(frame.columns)

    def _named(self) -> Any:
        """The model, with the names of its columns where they are known."""
        names = self._names_made()
        return self.model_.renamed(names) if isinstance(self.model_, Classifier) and names is not None else self.model_

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:
        """What was learned, and the summary with the names that the columns have here."""
        found = super().write_learned(out, at)
        return {**found, "summary": SUMMARY.write(summary_of(self), out, f"{at}.summary")}

    def take_learned(self, node: Any, file: Incoming, at: str) -> None:
        """Take over what a file has."""
        if not isinstance(node, dict) or "summary" not in node:
            raise damaged(at, "has no summary")
        rest = dict(node)
        self._kept_summary = SUMMARY.read(rest.pop("summary"), file.inside({}), f"{at}.summary")
        super().take_learned(rest, file, at)
        self.classes_ = self.model_.classes_

    def _answers(self, X: Any, method: str) -> NDArray[Any]:
        """What ``method`` of the model says of the columns made of X."""
        raise NotImplementedError

    def _columns_made(self, X: Any) -> Any:
        """The columns made of the rows, all at once."""
        raise NotImplementedError

    def _names_made(self) -> list[str] | None:
        """The names of the columns that were made; None where they have none."""
        raise NotImplementedError
