"""What a model says of rows whose classes are known, read in one pass and in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.cli.answering import Answers, Question
from discrim.engines.keyed import SEED, keys_of
from discrim.errors import DataError, name_list
from discrim.evaluation import log_loss
from discrim.evaluation.answers import weights_of
from discrim.sources import code_labels
from discrim.sources.design import one_column
from discrim.sources.labels import ContinuousLabelsError
from discrim.typing import Codes, Floats

# Numbers that are kept for curves, and rows that are kept in any case.
MOST_KEPT, LEAST_ROWS = 1 << 22, 5000
# Classes that the model does not know: a column of more is not the one of the classes.
MOST_UNKNOWN = 1000


@dataclass(frozen=True)
class Truth:
    """What became of all rows, and for curves the rows that were kept of those whose class the model knows.

    ``classes`` are first those that the model knows, then others that were met; ``table`` has the weight of rows of
    each class (row) that were predicted as each (column), ``informative`` as many rows as carry the same information,
    where weights are no counts. ``codes``, ``values`` and ``weight`` are of ``kept`` rows.
    """

    classes: NDArray[Any]
    n_known: int
    n: int
    n_unknown: int
    table: Floats
    informative: float | None
    log_loss: float
    codes: Codes
    values: Floats | None
    weight: Floats | None

    def score_of(self, k: int) -> Floats:
        """What speaks for class k, of the rows that were kept."""
        assert self.values is not None
        if self.values.shape[1] == 1:
            return self.values[:, 0] if k else -self.values[:, 0]
        return np.asarray(self.values[:, k])

    @property
    def remark(self) -> str:
        """Which rows curves are made of, where these are not all; else empty."""
        return said_of_sample(len(self.codes), self.n - self.n_unknown)


def said_of_sample(kept: int, n: int) -> str:
    """Which rows a curve is made of, where these are not all; else empty."""
    return f"areas and curves are those of {kept:,} rows, drawn by a hash of the row number." if kept < n else ""


class Kept:
    """Some columns of rows, of all of them as long as these are few, then of those with the smallest keys.

    The key of a row is a hash of its number, so that the sample does not depend on how the rows are read.
    """

    def __init__(self, width: int) -> None:
        self.most = max(MOST_KEPT // max(width, 1), LEAST_ROWS)
        self._read, self._held, self._limit = 0, 0, np.uint64(2**64 - 1)
        self._parts: list[list[NDArray[Any]]] = []

    def add(self, columns: list[NDArray[Any]], wanted: NDArray[np.bool_]) -> None:
        """Columns of the rows that come next, of which some are wanted."""
        keys = keys_of(SEED, self._read, len(wanted))
        self._read += len(wanted)
        small = wanted & (keys <= self._limit)
        self._parts.append([column[small] for column in (keys, *columns)])
        self._held += int(small.sum())
        if self._held > 2 * self.most:
            self._thin()

    def columns(self) -> list[NDArray[Any]]:
        """Those of the rows that were kept, in the order of the rows."""
        self._thin()
        return self._parts[0][1:]

    def _thin(self) -> None:
        joined = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        if len(joined[0]) > self.most:
            self._limit = np.partition(joined[0], self.most - 1)[self.most - 1]
            small = joined[0] <= self._limit
            joined = [column[small] for column in joined]
        self._parts, self._held = [joined], len(joined[0])


def read_truth(question: Question, target: str, weight: str | None) -> Truth:
    """The classes of the rows and what the model says of them, in one pass."""
    known = {label: k for k, label in enumerate(question.model.classes_.tolist())}
    sums = _Sums(known, len(known))
    kept = Kept(len(question.names) + 1)
    for answers in question.answers("evaluating"):
        codes = _codes(question, target, answers, known, sums.n_known)
        weights = None
        if weight is not None:
            weights = weights_of(one_column(answers.table, weight, 0, len(codes)), len(codes))
        sums.add(answers, codes, weights, proper=question.has_posterior)
        columns: list[NDArray[Any]] = [codes.astype(np.int32)]
        if answers.values is not None:
            columns.append(answers.values)
        kept.add([*columns, *([] if weights is None else [weights])], codes < sums.n_known)
    classes = np.empty(len(known), dtype=object)
    classes[:] = list(known)
    if sums.n_unknown == sums.n:
        raise DataError(
            f"No row of '{question.data}' is of a class that the model knows: the column '{target}' holds "
            f"{name_list(classes[sums.n_known :])}, and the model knows {name_list(classes[: sums.n_known])}."
        )
    if sums.weight <= 0.0:
        raise DataError(f"No row of '{question.data}' has a weight above zero in the column '{weight}'.")
    codes, *rest = kept.columns()
    weights = rest.pop() if weight is not None else None
    return Truth(
        classes, sums.n_known, sums.n, sums.n_unknown, sums.square(len(known)), sums.informative, sums.log_loss,
        codes, rest[0] if rest else None, weights,
    )  # fmt: skip


def _codes(question: Question, target: str, answers: Answers, known: dict[Any, int], n_known: int) -> NDArray[Any]:
    """The places of the classes of some rows in ``known``, which takes in those that it lacks."""
    table = answers.table
    try:
        classes, own = code_labels(table.labels(target, 0, table.n_rows), column=target)
    except ContinuousLabelsError:
        raise DataError(
            f"The column '{target}' of '{question.data}' holds numbers with fractions, and the model knows the "
            f"classes {name_list(list(known)[:n_known])}. Which column holds the classes? Pass it as --target."
        ) from None
    codes = np.array([known.setdefault(label, len(known)) for label in classes.tolist()])[own]
    if len(known) > n_known + MOST_UNKNOWN:
        raise DataError(
            f"The column '{target}' of '{question.data}' has more than {MOST_UNKNOWN:,} classes that the model does "
            f"not know, such as {name_list(list(known)[n_known : n_known + 3])}; it knows "
            f"{name_list(list(known)[:n_known])}. Which column holds the classes? Pass it as --target."
        )
    return codes


class _Sums:
    """What is summed over the rows."""

    def __init__(self, known: dict[Any, int], n_known: int) -> None:
        self.known, self.n_known, self.n, self.n_unknown = known, n_known, 0, 0
        self._table = np.zeros((0, 0))
        self._loss, self._judged = 0.0, 0.0
        self.weight, self._squares, self._whole = 0.0, 0.0, True

    def add(self, answers: Answers, codes: NDArray[Any], weights: Floats | None, *, proper: bool) -> None:
        """Some rows; ``proper`` where the values of the answers are posteriors."""
        known = self.known
        said, place = np.unique(answers.predicted, return_inverse=True)
        # A model that may refuse an answer has a label for that which is none of its classes.
        predicted = np.array([known.setdefault(label, len(known)) for label in said.tolist()])[place]
        size = len(known)
        self._table = self.square(size)
        self._table += np.bincount(codes * size + predicted, weights, size * size).reshape(size, size)
        there = codes < self.n_known
        self.n += len(codes)
        self.n_unknown += int((~there).sum())
        w = np.ones(len(codes)) if weights is None else weights
        judged = float(w[there].sum())
        if proper and judged > 0.0:
            assert answers.values is not None
            classes = np.arange(self.n_known)
            loss = log_loss(codes[there], answers.values[there], classes=classes, sample_weight=w[there])
            self._loss += judged * loss
            self._judged += judged
        self.weight += float(w.sum())
        self._squares += float(w @ w)
        self._whole &= weights is None or bool((w == np.floor(w)).all())

    def square(self, size: int) -> Floats:
        """The confusions of so many classes."""
        more = size - len(self._table)
        return np.pad(self._table, ((0, more), (0, more)))

    @property
    def log_loss(self) -> float:
        return self._loss / self._judged if self._judged else float("nan")

    @property
    def informative(self) -> float | None:
        return None if self._whole else self.weight**2 / self._squares
