"""The log odds of two classes as a sum over columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discrim.cli.answering import Question
from discrim.errors import DataError, plural
from discrim.inference.summary import Summary, Table
from discrim.sources.design import Table as Rows
from discrim.typing import Floats


def explained(question: Question, row: int) -> Summary:
    """What the columns of this row, of which the first is 1, say for the best class against the next."""
    model = question.model
    if question.reads_text:
        raise DataError(
            "The model learned from words, and contributions are those of columns; see its summary instead."
        )
    features = question.features()
    if not hasattr(model, "contributions"):
        raise DataError(f"{type(model).__name__} has no contributions of columns. Linear rules and naive Bayes have.")
    table, place = _batch_with(question, row)
    part = OneRow(table, place)
    contributions = model.contributions(question.as_rows(part))[0]
    answers = question.of_rows(part)
    assert answers.values is not None
    values = answers.values[0] if answers.values.shape[1] > 1 else np.array([0.0, answers.values[0, 0]])
    second, best = np.argsort(values, kind="stable")[-2:]
    odds = np.log(values[best]) - np.log(values[second]) if question.has_posterior else values[best] - values[second]
    names = _names_of(model, contributions.shape[1])
    by_column = _by_column(features, names, contributions[best] - contributions[second])
    order = sorted(by_column, key=lambda name: -abs(by_column[name]))
    shown = [[_value(part, name), float(by_column[name])] for name in order]
    rest = float(odds - sum(by_column.values()))
    facts = {
        "Class": f"{model.classes_[best]}",
        "Against": f"{model.classes_[second]}",
        "Log odds": float(odds),
        **({"Posterior": float(values[best])} if question.has_posterior else {}),
    }
    rows = [*shown, ["", rest]]
    main = Table("Contributions to the log odds", [*order, "(constant)"], ["value", "contribution"], rows)
    return Summary(f"Row {row} of '{question.data}'", facts, [main])


class OneRow(Rows):
    """One row of a table, as a table."""

    def __init__(self, table: Rows, place: int) -> None:
        self._table, self._place = table, place
        self.names, self.n_rows = table.names, 1

    def kind(self, name: str) -> Any:
        return self._table.kind(name)

    def numbers(self, names: Sequence[str], start: int, stop: int, dtype: type[Any]) -> Any:
        return self._table.numbers(names, self._place + start, self._place + stop, dtype)

    def texts(self, name: str, start: int, stop: int) -> Any:
        return self._table.texts(name, self._place + start, self._place + stop)

    def labels(self, name: str, start: int, stop: int) -> Any:
        return self._table.labels(name, self._place + start, self._place + stop)


def _batch_with(question: Question, row: int) -> tuple[Rows, int]:
    """The batch that has this row, and its place there."""
    done = 0
    for table in question.batches(1 << 12):
        if done + table.n_rows >= row:
            return table, row - 1 - done
        done += table.n_rows
    raise DataError(f"'{question.data}' has {plural(done, 'row')}; there is no row {row}.")


def _names_of(model: Any, count: int) -> list[str]:
    """Those of the columns that the model learned from, where it has names for so many."""
    for names in (getattr(model, "names_", None), getattr(getattr(model, "columns_", None), "names_out", None)):
        if names is not None and len(names) == count:
            return list(names)
    return list(model.feature_names_in_)


def _by_column(features: list[str], names: Sequence[str], contributions: Floats) -> dict[str, float]:
    """Indicators of levels and of missing values count for the column that they were made of."""
    found = dict.fromkeys(features, 0.0)
    for name, value in zip(names, contributions.tolist(), strict=True):
        own = (
            name if name in found else name.removesuffix(" missing").rpartition("[")[0] or name.removesuffix(" missing")
        )
        found[own] = found.get(own, 0.0) + value
    return found


def _value(table: Rows, name: str) -> str:
    if table.kind(name) == "text":
        values, codes = table.texts(name, 0, 1)
        return "" if codes[0] < 0 else str(values[codes[0]])
    number = float(table.numbers([name], 0, 1, np.float64)[0, 0])
    return "" if np.isnan(number) else f"{number:.6g}"
