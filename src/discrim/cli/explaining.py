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

# Words of a text that are shown.
MOST_WORDS = 20


def explained(question: Question, row: int) -> Summary:
    """What the columns of this row, of which the first is 1, say for the best class against the next."""
    model = question.model
    if not hasattr(model, "contributions"):
        raise DataError(
            f"{type(model).__name__} has no contributions of columns. Linear and quadratic rules and naive Bayes have."
        )
    table, place = _batch_with(question, row)
    part = OneRow(table, place)
    contributions = model.contributions(question.as_rows(part))[0]
    answers = question.of_rows(part)
    assert answers.values is not None
    values = answers.values[0] if answers.values.shape[1] > 1 else np.array([0.0, answers.values[0, 0]])
    second, best = np.argsort(values, kind="stable")[-2:]
    odds = np.log(values[best]) - np.log(values[second]) if question.has_posterior else values[best] - values[second]
    gains, what = contributions[best] - contributions[second], "value"
    if question.reads_text:
        shown, what = _of_words(model.counts_, part.texts_of(question.features()[0]), gains), "occurs"
    else:
        names = _names_of(model, len(gains))
        by_column = _by_column(question.features(), names, gains)
        order = sorted(by_column, key=lambda name: -abs(by_column[name]))
        shown = {name: (_value(part, name), float(by_column[name])) for name in order}
    rest = float(odds - sum(gain for _, gain in shown.values()))
    facts = {
        "Class": f"{model.classes_[best]}",
        "Against": f"{model.classes_[second]}",
        "Log odds": float(odds),
        **({"Posterior": float(values[best])} if question.has_posterior else {}),
    }
    rows = [*map(list, shown.values()), ["", rest]]
    main = Table("Contributions to the log odds", [*shown, "(constant)"], [what, "contribution"], rows)
    return Summary(f"Row {row} of '{question.data}'", facts, [main])


def _of_words(counts: Any, text: str, gains: Floats) -> dict[str, tuple[str, float]]:
    """How often the words of a text occur and what they contribute, the largest first; then those it has not."""
    found = counts.transform([text]).tocsr()
    places = found.indices[np.argsort(-np.abs(gains[found.indices]), kind="stable")]
    names, often = counts.get_feature_names_out(), found.toarray()[0]
    shown = {f"{names[j]}": (f"{often[j]:.6g}", float(gains[j])) for j in places[:MOST_WORDS]}
    further = places[MOST_WORDS:]
    if len(further):
        shown[f"({plural(len(further), 'further word')})"] = ("", float(gains[further].sum()))
    absent = float(gains.sum() - gains[places].sum())
    return {**shown, "(words that do not occur)": ("", absent)} if absent else shown


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

    def texts_of(self, name: str) -> str:
        """The document in this column; a missing one has no word."""
        value = np.asarray(self.labels(name, 0, 1), dtype=object)[0]
        return value if isinstance(value, str) else ""


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
