"""The answers of a model beside the classes of the rows: figures with intervals, as a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.cli.answering import Question
from discrim.cli.tables import named_target
from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.evaluation import Confusion, log_loss, multiclass_auc, roc
from discrim.inference.summary import Summary, Table
from discrim.sources import code_labels
from discrim.sources.design import one_column
from discrim.sources.labels import ContinuousLabelsError
from discrim.typing import Codes, Floats

# Rows of a class below which an area has no standard error.
FEWEST = 2


@dataclass(frozen=True)
class Truth:
    """Classes of all rows as codes into ``classes``, first those that the model knows; what the model says of them."""

    classes: NDArray[Any]
    n_known: int
    codes: Codes
    predicted: Codes
    values: Floats | None
    weight: Floats | None

    def score_of(self, k: int) -> Floats:
        """What speaks for class k."""
        assert self.values is not None
        if self.values.shape[1] == 1:
            return self.values[:, 0] if k else -self.values[:, 0]
        return np.asarray(self.values[:, k])


@dataclass(frozen=True)
class Judged:
    """What ``judged`` gives."""

    figures: dict[str, Any]
    summary: Summary
    remarks: list[str]


def read_truth(question: Question, target: str, weight: str | None) -> Truth:
    """The classes of the rows and what the model says of them, in one pass."""
    known = {label: k for k, label in enumerate(question.model.classes_.tolist())}
    n_known, codes, predicted, values, weights = len(known), [], [], [], []
    for answers in question.answers("evaluating"):
        table = answers.table
        try:
            classes, own = code_labels(table.labels(target, 0, table.n_rows), column=target)
        except ContinuousLabelsError:
            raise DataError(
                f"The column '{target}' of '{question.data}' holds numbers with fractions, and the model knows the "
                f"classes {name_list(list(known)[:n_known])}. Which column holds the classes? Pass it as --target."
            ) from None
        codes.append(np.array([known.setdefault(label, len(known)) for label in classes.tolist()])[own])
        said, place = np.unique(answers.predicted, return_inverse=True)
        # A model that may refuse an answer has a label for that which is none of its classes.
        predicted.append(np.array([known.setdefault(label, len(known)) for label in said.tolist()])[place])
        if answers.values is not None:
            values.append(answers.values)
        if weight is not None:
            weights.append(one_column(table, weight, 0, table.n_rows))
    classes = np.empty(len(known), dtype=object)
    classes[:] = list(known)
    found = Truth(
        classes, n_known, np.concatenate(codes).astype(np.int32), np.concatenate(predicted).astype(np.int32),
        np.concatenate(values) if values else None, np.concatenate(weights) if weights else None,
    )  # fmt: skip
    if not (found.codes < n_known).any():
        raise DataError(
            f"No row of '{question.data}' is of a class that the model knows: the column '{target}' holds "
            f"{name_list(classes[n_known:])}, and the model knows {name_list(classes[:n_known])}."
        )
    return found


def labels_and_posterior(question: Question, target: str | None, positive: str | None) -> tuple[Any, Floats, Any]:
    """Of the rows whose class the model knows: labels, what speaks for the positive class, and that class.

    With more than two classes all others are one.
    """
    target = named_target(question, target)
    truth = read_truth(replace(question, besides=[target]), target, None)
    names = [str(label) for label in truth.classes[: truth.n_known]]
    k = place_of(positive, names)
    if truth.values is None:
        raise DataError(f"{type(question.model).__name__} has neither posteriors nor scores, and so no curve.")
    kept = truth.codes < truth.n_known
    return against_others(truth.codes[kept], k, names), truth.score_of(k)[kept], names[k]


def place_of(positive: str | None, names: Sequence[str]) -> int:
    """Which class is the positive one; of two it is the last."""
    if positive is None and len(names) > 2:
        raise ParameterError(
            f"There are {len(names)} classes: name one by --positive. They are {name_list(names, 20)}."
        )
    if positive is not None and positive not in names:
        raise ParameterError(f"There is no class '{positive}'. The classes are {name_list(names, 20)}.")
    return len(names) - 1 if positive is None else names.index(positive)


def against_others(codes: NDArray[Any], k: int, names: Sequence[str]) -> NDArray[Any]:
    """The names of two classes: k, and the other one or all others; an error where one of them has no row."""
    found = np.unique(codes)
    if k not in found or len(found) < 2:
        present = name_list([names[j] for j in found])
        raise DataError(f"A curve needs rows of '{names[k]}' and of another class; the rows are of {present}.")
    return np.where(codes == k, names[k], names[1 - k] if len(names) == 2 else "others")


def judged(question: Question, target: str | None, weight: str | None) -> Judged:
    """The figures of a model on a table that has the classes of its rows."""
    target = named_target(question, target)
    question = replace(question, besides=[target] if weight is None else [target, weight])
    truth = read_truth(question, target, weight)
    size = len(truth.classes)
    flat = truth.codes.astype(np.int64) * size + truth.predicted
    table = np.bincount(flat, truth.weight, size * size).reshape(size, size).astype(np.float64)
    confusion = Confusion(table, truth.classes)
    kept = truth.codes < truth.n_known
    remarks = []
    if not kept.all():
        remarks.append(
            f"{plural(int((~kept).sum()), 'row')} of classes that the model does not know "
            f"({name_list(truth.classes[truth.n_known :])}) count as errors, and neither for the log loss nor the area."
        )
    own, printed = confusion.summary(), dict[str, Any]()
    majority = 1.0 - float(table.sum(axis=1).max()) / confusion.n
    figures = {
        "rows": len(truth.codes), "error": confusion.error, "error_interval": confusion.error_ci(),
        "baseline_error": majority, "balanced_error": confusion.balanced_error, "kappa": confusion.kappa,
    }  # fmt: skip
    if question.has_posterior:
        assert truth.values is not None
        labels, posterior = truth.classes[truth.codes[kept]].tolist(), truth.values[kept]
        loss = log_loss(
            np.array(labels), posterior, classes=question.model.classes_,
            sample_weight=None if truth.weight is None else truth.weight[kept],
        )  # fmt: skip
        figures["log_loss"] = printed["Log loss"] = loss
    tables = list(own.tables)
    if truth.values is not None:
        areas, rows = _areas(truth, kept)
        figures |= areas
        printed["AUC"] = _with_interval(areas)
        if rows is not None:
            tables.append(rows)
    facts = {**own.facts, "Rows": f"{len(truth.codes):,}", "Error of the baseline": majority, **printed}
    return Judged(figures, Summary(f"Evaluation on '{question.data}'", facts, tables), remarks)


def _areas(truth: Truth, kept: NDArray[np.bool_]) -> tuple[dict[str, Any], Table | None]:
    """The area under the curve of two classes; of more, Hand and Till's, and that of each class against the rest."""
    codes = truth.codes[kept]
    weight = None if truth.weight is None else truth.weight[kept]
    present = np.flatnonzero(np.bincount(codes, minlength=truth.n_known))
    if len(present) < 2:
        return {"auc": float("nan"), "auc_interval": None}, None
    curves = {
        int(k): roc(codes == k, truth.score_of(int(k))[kept], positive=True, sample_weight=weight) for k in present
    }
    intervals = {k: _interval(curve, weighted=weight is not None) for k, curve in curves.items()}
    if truth.n_known == 2:
        return {"auc": curves[1].auc, "auc_interval": intervals[1]}, None
    rows = [[f"{curve.auc:.4f}", _written(intervals[k])] for k, curve in curves.items()]
    names = [str(truth.classes[k]) for k in curves]
    table = Table("Area under the ROC curve, each class against the others", names, ["AUC", "95%"], rows)
    found: dict[str, Any] = {
        "auc": float("nan"),
        "auc_interval": None,
        "auc_of_classes": {str(truth.classes[k]): curve.auc for k, curve in curves.items()},
    }
    values = truth.values
    if values is not None and np.allclose(values.sum(axis=1), 1.0):
        found["auc"] = multiclass_auc(codes, values[kept], classes=np.arange(truth.n_known))
    return found, table


def _interval(curve: Any, *, weighted: bool) -> tuple[float, float] | None:
    few = min(curve.n_positive, curve.n_negative) < FEWEST
    return None if few or weighted else curve.auc_ci()


def _with_interval(areas: dict[str, Any]) -> str:
    if np.isnan(areas["auc"]):
        return "rows of two classes are needed" if "auc_of_classes" not in areas else "see below"
    interval = f" (95% {_written(areas['auc_interval'])})" if areas["auc_interval"] else ""
    return f"{areas['auc']:.4f}{interval}{' (mean over pairs of classes)' if 'auc_of_classes' in areas else ''}"


def _written(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"
