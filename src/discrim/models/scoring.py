"""Rules applied to rows, wherever these are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discrim.engines import reduce_blocks
from discrim.errors import DataError
from discrim.families.rule import Output, Rule, Scored, float_type, score_rows
from discrim.sources import Rows, find_non_finite
from discrim.sources.design import is_dask

T = TypeVar("T")
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
    if rows.whole is not None:
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


def unscored(rows: Rows) -> DataError:
    """What to say where some rows have no finite score."""
    return non_finite_error(rows) or DataError(
        "The scores of some rows overflow: X holds NaN, infinity, or values too large to be squared. "
        "Clean the rows, or scale the columns before fitting."
    )


def non_finite_error(rows: Rows) -> DataError | None:
    """The error that names the columns with NaN or infinity, as the user knows them; None if there are none."""
    return find_non_finite(rows) if rows.rereadable else None


def also_of_parts(method: Answer) -> Answer:
    """The method, which gives a Dask array for a Dask frame or array: its parts are answered where they are."""

    @wraps(method)
    def answers(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if type(X) is np.ndarray or not is_dask(X) or others or named:
            return method(self, X, *others, **named)
        from discrim.sources.dask_parts import answers_of_parts

        check_is_fitted(self, "classes_")
        answer = partial(_answer, self, method.__name__)
        if method.__name__ == "predict":
            return answers_of_parts(X, answer, None, self.classes_.dtype)
        alone = method.__name__ == "decision_function" and len(self.classes_) == 2
        return answers_of_parts(X, answer, None if alone else len(self.classes_), np.float64)

    return answers  # type: ignore[return-value]


def _answer(model: Any, method: str, part: Any) -> Any:
    return getattr(model, method)(part)


def spark_answers(model: Any, frame: Any) -> Any:
    """The Spark frame with the answers of the model as further columns."""
    from discrim.sources.spark_parts import column_type, with_answers

    names = [f"probability_{label}" for label in model.classes_] if hasattr(model, "predict_proba") else []
    types = {"prediction": column_type(model.classes_), **dict.fromkeys(names, "double")}
    needed = list(getattr(model, "feature_names_in_", frame.columns))
    return with_answers(frame, needed, partial(_answers_of, model, bool(names)), types)


def _answers_of(model: Any, chances: bool, table: Any) -> list[NDArray[Any]]:
    named = hasattr(model, "feature_names_in_")
    rows = table if named else np.column_stack([column.to_numpy() for column in table.columns])
    return [model.predict(rows), *(model.predict_proba(rows).T if chances else ())]
