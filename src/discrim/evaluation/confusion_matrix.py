"""The confusion matrix with its margins and rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, plural
from discrim.evaluation.answers import informative_rows, weights_of
from discrim.evaluation.proportions import ProportionMethod, proportion_interval
from discrim.inference.summary import Summary, Table
from discrim.later import cached_property
from discrim.sources import code_labels
from discrim.store.fields import Array, Number, Optional
from discrim.store.kinds import stored
from discrim.store.values import Labels
from discrim.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


@stored("confusion", table=Array("K K"), classes=Labels("K"), rows=Optional(Number()))
@dataclass(frozen=True, eq=False)
class Confusion:
    """What ``confusion`` gives: ``table[j, k]`` is the weight of rows of class j that were predicted as class k.

    Per class: ``recall`` (the share of its rows that were predicted correctly, for two classes the sensitivity),
    ``specificity`` (the share of other rows that were not predicted as it), ``precision`` (the share of rows predicted
    as it that are of it) and ``f1``, the harmonic mean of precision and recall. NaN where the denominator is zero.
    """

    table: Floats
    classes: NDArray[Any]
    # Where weights are no counts: as many rows as carry the same information.
    rows: float | None = None

    @property
    def n(self) -> float:
        return float(self.table.sum())

    @property
    def error(self) -> float:
        """Share of rows that were misclassified."""
        return float(1.0 - np.trace(self.table) / self.n)

    def error_ci(self, level: float = 0.95, method: ProportionMethod = "wilson") -> tuple[float, float]:
        """Binomial interval for the error; where weights are no counts, for (sum w)^2 / sum w^2 rows."""
        n = self.n if self.rows is None else self.rows
        return proportion_interval(self.error * n, n, level, method)

    @cached_property
    def recall(self) -> Floats:
        return _share(np.diagonal(self.table), self.table.sum(axis=1))

    @cached_property
    def precision(self) -> Floats:
        return _share(np.diagonal(self.table), self.table.sum(axis=0))

    @cached_property
    def specificity(self) -> Floats:
        others = self.n - self.table.sum(axis=1)
        wrong = self.table.sum(axis=0) - np.diagonal(self.table)
        return _share(others - wrong, others)

    @cached_property
    def f1(self) -> Floats:
        both = self.table.sum(axis=0) + self.table.sum(axis=1)
        return _share(2.0 * np.diagonal(self.table), both)

    @property
    def balanced_error(self) -> float:
        """Mean over the classes that occur of the share of their rows that were missed."""
        return float(1.0 - np.nanmean(self.recall))

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond what the margins alone would give, as a share of what is possible."""
        by_chance = float(self.table.sum(axis=0) @ self.table.sum(axis=1)) / self.n**2
        return (1.0 - self.error - by_chance) / (1.0 - by_chance) if by_chance < 1 else float("nan")

    def plot(self, **options: Any) -> Any:
        """The matrix, as matplotlib axes: ``discrim.plots.confusion`` with its options."""
        from discrim import plots

        return plots.confusion(self, **options)

    def summary(self) -> Summary:
        labels = [str(label) for label in self.classes]
        low, high = self.error_ci()
        facts = {
            "Rows": self.n,
            "Error": f"{self.error:.4g} (95% {low:.4g} to {high:.4g})",
            "Balanced error": self.balanced_error,
            "Kappa": self.kappa,
        }
        counts = np.vstack([np.column_stack([self.table, self.table.sum(axis=1)]), [*self.table.sum(axis=0), self.n]])
        rates = np.column_stack([self.recall, self.specificity, self.precision, self.f1])
        tables = [
            Table("True class (rows) and predicted class (columns)", [*labels, "all"], [*labels, "all"], counts),
            Table("Rates", labels, ["recall", "specificity", "precision", "f1"], rates),
        ]
        return Summary("Confusion matrix", facts, tables, names=labels)

    def to_frame(self) -> pd.DataFrame:
        """The counts as a frame, true classes down, predicted classes across."""
        return self.summary().to_frame().iloc[:-1, :-1]

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def confusion(y: Any, predicted: Any, *, sample_weight: Any = None) -> Confusion:
    """Compare labels with predictions; classes are those that occur in either.

    Examples
    --------
    >>> found = confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> found.table
    array([[1., 1.],
           [0., 2.]])
    >>> found.error
    0.25
    """
    truth, answer = np.asarray(y), np.asarray(predicted)
    if truth.ndim != 1 or truth.shape != answer.shape:
        raise DataError(
            f"y has {plural(truth.size, 'label')} and predicted has {answer.size}; pass two 1-D arrays of equal length."
        )
    if (truth.dtype.kind in "US") != (answer.dtype.kind in "US") and "O" not in {truth.dtype.kind, answer.dtype.kind}:
        raise DataError(
            f"The labels are {truth.dtype.name} and the predictions {answer.dtype.name}. Convert both to one type."
        )
    classes, codes = code_labels(np.concatenate([truth, answer]))
    size, n = len(classes), len(truth)
    flat = codes[:n].astype(np.int64) * size + codes[n:]
    weight = weights_of(sample_weight, n)
    table = np.bincount(flat, weight, size * size).reshape(size, size)
    if table.sum() <= 0:
        raise DataError("There are no rows with a weight to compare.")
    return Confusion(table.astype(np.float64), classes, informative_rows(weight))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
