"""A classifier together with the preparation of its columns: what ``compare`` gives as ``best`` where it made any."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from discrim.atomic import all_or_nothing
from discrim.block import Block
from discrim.comparison.preparation import Columns, Preparation, learn_preparation, leave_out
from discrim.errors import DataError
from discrim.inference.summary import Summary
from discrim.models.around import AroundModel, model_has
from discrim.sources import Rows, Scan, find_non_finite, in_memory, open_rows
from discrim.sources.design import as_table
from discrim.sources.text_columns import design_of_table


@dataclass(eq=False, repr=False)
class PreparedClassifier(AroundModel):
    """A classifier on columns that were made ready for it; it takes the rows as they are, in the user's units.

    **Preparation.** Categories become indicators. A gap is filled by the mean of its column, or by the most frequent
    level of a category; a column with five gaps or more gets a further one, "name missing", that marks them. With
    ``standardise`` every column has mean 0 and standard deviation 1 in the rows of ``fit``. A gap in a column that had
    none in ``fit`` is filled in the same way.

    **Model.** That of ``model``, on the prepared columns.

    Parameters
    ----------
    model : a classifier
    standardise : bool
    impute : bool
        False hands the table to the model as it is, with its categories and gaps.
    indicators : bool, whether gaps are marked by columns of their own
    without : names of columns that are left out

    Attributes
    ----------
    model_ : the fitted model; its coefficients are those of the prepared columns, in the order of ``names_``
    preparation_ : what was learned of the columns: ``fill``, ``centre``, ``scale``
    names_ : names of the prepared columns
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np, discrim
    >>> X, y = discrim.datasets.load_iris().xy
    >>> X[3, 1] = np.nan
    >>> found = discrim.compare(X, y, ["LDA"])
    >>> found.best.predict(X[:2]).tolist(), found.best.model_.coef_.shape
    (['setosa', 'setosa'], (3, 4))
    """

    classes_: NDArray[Any] = field(init=False)
    model_: Any = field(init=False)
    preparation_: Preparation | None = field(init=False)
    names_: list[str] = field(init=False)
    n_features_in_: int = field(init=False)

    model: Any
    _: KW_ONLY
    standardise: bool = False
    impute: bool = True
    indicators: bool = True
    without: Sequence[str] = ()

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, which is held in memory."""
        table = self._reduced(X)
        if not (self.impute or self.standardise):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            model = clone(self.model).fit(table, y, **weights)
            preparation, names, design = None, list(getattr(model, "_names", [])), None
        else:
            rows = open_with_gaps(table, y, sample_weight)
            block = numbers_of_rows(rows)
            columns = Columns.of(rows.design, block.x if self.indicators else None)
            preparation = learn_preparation(block.x, block.weight, columns, standardise=self.standardise)
            weights = {} if block.weight is None else {"sample_weight": block.weight}
            model = clone(self.model).fit(preparation.apply(block.x), block.classes[block.codes], **weights)
            names, design = columns.names_out, rows.design
        self.model_, self.preparation_, self.names_, self._design = model, preparation, names, design
        self.classes_ = model.classes_
        if isinstance(X, Scan):
            self.n_features_in_, self.feature_names_in_ = len(X.features), np.array(X.features, dtype=object)
        else:
            validate_data(self, X, reset=True, skip_check_array=True)
        return self

    @available_if(model_has("summary"))  # type: ignore[untyped-decorator]
    def summary(self) -> Summary:
        """The summary of the model, with the names of the prepared columns."""
        summary: Summary = super().summary()
        if self.preparation_ is not None and self.standardise:
            summary = copy(summary)
            summary.facts = {**summary.facts, "Units": "standard deviations of the columns"}
        return summary

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def _reduced(self, X: Any) -> Any:
        """The table without the columns that are left out."""
        return leave_out(X, self.without) if len(self.without) else X

    def _names_made(self) -> list[str] | None:
        return None if self.preparation_ is None else self.names_

    def _answers(self, X: Any, method: str) -> NDArray[Any]:
        check_is_fitted(self, "model_")
        table = self._reduced(X)
        if not isinstance(X, Scan):
            validate_data(self, X, reset=False, skip_check_array=True)
        if self.preparation_ is None:
            return np.asarray(getattr(self.model_, method)(table))
        rows = open_rows(table, design=self._design)
        blocks = [rows.whole] if rows.whole is not None else rows.blocks()
        ready = self.preparation_
        return np.concatenate([np.asarray(getattr(self.model_, method)(ready.apply(block.x))) for block in blocks])


def open_with_gaps(X: Any, y: Any = None, sample_weight: Any = None) -> Rows:
    """Rows whose gaps are filled in later: even a category with one level has an indicator that shows them."""
    if isinstance(X, Scan):
        return open_rows(X.with_design(X.discover(gaps=True)), y, sample_weight)
    table = as_table(X)
    design = None if table is None or not table.n_rows or not table.names else design_of_table(table, gaps=True)
    return open_rows(X, y, sample_weight, design=design)


def numbers_of_rows(rows: Rows) -> Block:
    """All rows as one block of numbers with NaN for gaps; an error that names columns with infinite values.

    Sparse rows stay sparse if they have no gaps.
    """
    block = in_memory(rows, "any", first_read=True)
    values = block.x if isinstance(block.x, np.ndarray) else block.x.data
    if np.isinf(values).any():
        raise find_non_finite(rows) or DataError("X holds infinite values.")
    return block.kept("dense") if np.isnan(values).any() else block


def unwrapped(model: Any) -> Any:
    """The model inside of a preparation, or itself."""
    return model.model_ if isinstance(model, PreparedClassifier) else model
