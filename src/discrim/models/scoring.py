"""Rules applied to rows, wherever these are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discrim.block import Block
from discrim.engines import reduce, reduce_blocks
from discrim.errors import DataError, DiscrimWarning
from discrim.families.recipe import Sum
from discrim.families.rule import Output, Rule, Scored, float_type, score_rows
from discrim.later import cached_property
from discrim.sources import Design, Rows, Scan, find_non_finite
from discrim.sources.design import comes_from, is_dask
from discrim.sources.rows import as_rows_are, non_finite_in
from discrim.sources.structure import check_structure
from discrim.store.files import from_bytes, to_bytes

T = TypeVar("T")
# What to say of scores that overflow.
OVERFLOW = (
    "The scores of some rows overflow: X holds NaN, infinity, or values too large to be squared. "
    "Clean the rows, or scale the columns before fitting."
)
# Rows as a model takes them, of a table of Arrow.
RowsOf = Callable[[Any], Any]
Answer = TypeVar("Answer", bound=Callable[..., Any])


def apply_rule(rule: Rule, rows: Rows, output: Output) -> NDArray[Any]:
    """n x K scores or posteriors in the dtype of the rows, or n class numbers.

    Cost: n p K for linear and diagonal rules, n p^2 K / 2 for quadratic ones.
    """
    return _over_blocks(rule, rows, lambda x: score_rows(rule, x, output))


def score_margin(rule: Rule, rows: Rows, weights: tuple[float, float] = (-1.0, 1.0)) -> NDArray[Any]:
    """The scores of two classes by these weights, as a rule their difference, taken in double precision."""

    def of(x: Any) -> Scored:
        quick = rule.margin(x, weights)
        if quick is not None:
            return quick.astype(float_type(x), copy=False), True
        scores, finite = score_rows(rule, x, Output.SCORES, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            # The score of a class that cannot occur is -inf, which zero must not be multiplied by.
            margin = scores @ np.array(weights) if weights[0] else weights[1] * scores[:, 1]
            return margin.astype(float_type(x)), finite

    return _over_blocks(rule, rows, of)


def _over_blocks(rule: Rule, rows: Rows, of: Callable[[Any], Scored]) -> NDArray[Any]:
    unread: Block | None = getattr(rows, "unread", None) if rule.keeps_sparse else None
    if unread is not None:
        try:
            result, finite = of(unread.x)
        except ValueError:
            check_structure(unread.x)  # says which column is outside
            raise
    elif rows.whole is not None:
        result, finite = of(rows.whole.x)
    else:
        # Text takes long to be coded, so that blocks of it are read and scored side by side.
        aside = rule.reads == "mixed"
        parts = each_block(rows, of) if aside else [of(block.x) for block in rows.blocks()]
        result = np.concatenate([values for values, _ in parts])
        finite = all(fine for _, fine in parts)
    if not finite:
        raise unscored(rows)
    return result


def each_block(rows: Rows, of: Callable[[Any], T]) -> list[T]:
    """``of`` the rows of every block, in order, on all threads."""
    return reduce_blocks(rows, lambda block: [of(block.x)], lambda parts: list(chain.from_iterable(parts)))


def labels_of(model: Any, best: NDArray[Any]) -> NDArray[Any]:
    """The labels of the best classes; a linear rule has a function for the second class before that is met."""
    return np.asarray(model.classes_.take(best, mode="clip"))


def unscored(rows: Rows) -> DataError:
    """What to say where some rows have no finite score."""
    return non_finite_error(rows) or DataError(OVERFLOW)


def non_finite_error(rows: Rows) -> DataError | None:
    """The error that names the columns with NaN or infinity, as the user knows them; None if there are none."""
    return find_non_finite(rows) if rows.rereadable else None


def also_of_parts(method: Answer) -> Answer:
    """The method, which gives a Dask array for a Dask frame or array: its parts are answered where they are."""

    @wraps(method)
    def answers(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if type(X) is np.ndarray or others or named or not (is_dask(X) or _documents_of_dask(self, X)):
            return method(self, X, *others, **named)
        from discrim.sources.dask_parts import answers_of_parts, columns_of_parts

        check_is_fitted(self, "classes_")
        if hasattr(self, "refuse_columns"):
            self.refuse_columns(columns_of_parts(X))
        answer = partial(_answer, self, method.__name__)
        if method.__name__ == "predict":
            several = getattr(self, "multilabel_", False)  # labels of a row
            return answers_of_parts(X, answer, len(self.classes_) if several else None, self.classes_.dtype)
        alone = method.__name__ == "decision_function" and len(self.classes_) == 2
        return answers_of_parts(X, answer, None if alone else len(self.classes_), np.float64)

    return answers  # type: ignore[return-value]


def _documents_of_dask(model: Any, X: Any) -> bool:
    """Is X a Dask series, and takes the model one column of documents?"""
    return comes_from(X, "dask.dataframe", "Series") and model.__sklearn_tags__().input_tags.one_d_array


def _answer(model: Any, method: str, part: Any) -> Any:
    return getattr(model, method)(part)


class OfParts(ClassifierMixin):  # type: ignore[misc]
    """What a classifier says of rows that lie elsewhere, or of scans: its score, and columns of a Spark frame."""

    classes_: NDArray[Any]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The weighted share of rows whose label is predicted; of a labelled ``scan``, without holding it in memory."""
        if is_dask(X):
            X, y, sample_weight = as_rows_are(X, y, sample_weight)
        if not isinstance(X, Scan):
            return float(super().score(X, y, sample_weight))
        if y is not None or sample_weight is not None or not X.labelled:
            raise DataError("A scan brings its own labels. Name their column: scan(data, target=...).")
        right, total = reduce(self.rows_of(X), Sum(partial(_right, self), _added), title="scoring")
        if not total:
            raise DataError("The weight of every row is zero; at least one needs a positive weight.")
        return float(right / total)

    def rows_of(self, X: Any) -> Rows:
        """Rows as ``predict`` reads them."""
        raise NotImplementedError

    def fitted_rule(self) -> Rule:
        """How rows are scored."""
        raise NotImplementedError

    @property
    def columns_(self) -> Design:
        """The columns that the model was fitted on."""
        raise NotImplementedError

    def transform_spark(self, frame: Any) -> Any:
        """The Spark frame with the columns ``prediction`` and, for models with posteriors, ``probability_CLASS``.

        Executors need discrim with its core packages; the rows stay where they are, and the model travels as the bytes
        of its file.
        """
        check_is_fitted(self, "classes_")
        return spark_answers(self, frame)


def _right(model: OfParts, block: Block) -> tuple[float, float]:
    """The weight of the rows that are predicted as they are labelled, and of all."""
    weight = np.ones(len(block)) if block.weight is None else block.weight
    best, finite = score_rows(model.fitted_rule(), block.x, Output.BEST)
    if not finite:
        raise non_finite_in([block], model.columns_) or DataError(OVERFLOW)
    return float(weight[labels_of(model, best) == block.classes[block.codes]].sum()), float(weight.sum())


def _added(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(right for right, _ in parts), sum(total for _, total in parts)


def spark_answers(model: Any, frame: Any, needed: Sequence[str] | None = None, rows_of: RowsOf | None = None) -> Any:
    """The Spark frame with the answers of the model as further columns.

    ``needed`` are the columns that it takes, by default those that it was fitted on; ``rows_of`` makes rows of them.
    """
    from discrim.sources.spark_parts import column_type, with_answers

    names = [f"probability_{label}" for label in model.classes_] if hasattr(model, "predict_proba") else []
    types = {"prediction": column_type(model.classes_), **dict.fromkeys(names, "double")}
    named = hasattr(model, "feature_names_in_")
    if needed is None:
        needed = list(model.feature_names_in_ if named else frame.columns)
    rows_of = rows_of or (as_it_is if named else as_numbers)
    return with_answers(frame, needed, Shipped.of(model, rows_of), types)


def as_it_is(table: Any) -> Any:
    """A table of Arrow for a model that finds its columns by name."""
    return table


def as_numbers(table: Any) -> Any:
    """Its columns as an array."""
    return np.column_stack([column.to_numpy() for column in table.columns])


def as_documents(table: Any) -> Any:
    """Its only column as strings."""
    return table.column(0).to_pylist()


@dataclass(frozen=True)
class Shipped:
    """A model on its way to executors, as the bytes of its file; it is read once for each partition."""

    content: bytes
    rows_of: RowsOf

    @classmethod
    def of(cls, model: Any, rows_of: RowsOf) -> Shipped:
        with warnings.catch_warnings():
            # What a file warns of does not matter to predictions.
            warnings.simplefilter("ignore", DiscrimWarning)
            return cls(to_bytes(model), rows_of)

    @cached_property
    def model(self) -> Any:
        return from_bytes(bytearray(self.content))

    def __call__(self, table: Any) -> list[NDArray[Any]]:
        """The predictions for a table of Arrow, and the probabilities class by class."""
        rows = self.rows_of(table)
        chances = self.model.predict_proba(rows).T if hasattr(self.model, "predict_proba") else ()
        return [self.model.predict(rows), *chances]
