"""The answers of a model beside the classes of the rows: figures with intervals, as a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.cli.answering import Question
from discrim.cli.judged_rows import Kept, Truth, read_truth, said_of_sample
from discrim.cli.tables import as_path, named_target, which_column
from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.evaluation import Confusion, multiclass_auc, roc
from discrim.inference.summary import Summary, Table
from discrim.sources import scan
from discrim.sources.opening import open_reader
from discrim.typing import Floats

# Rows of a class below which an area has no standard error.
FEWEST = 2


@dataclass(frozen=True)
class Judged:
    """What ``judged`` gives."""

    figures: dict[str, Any]
    summary: Summary
    remarks: list[str]


@dataclass(frozen=True)
class Scored:
    """The rows that a curve is made of: their labels, what speaks for the positive class, and that class."""

    labels: NDArray[Any]
    score: Floats
    positive: str
    remark: str


def scored_by_model(question: Question, target: str | None, positive: str | None) -> Scored:
    """Rows whose class the model knows, with its posterior; with more than two classes all others are one."""
    target = named_target(question, target)
    truth = read_truth(replace(question, besides=[target]), target, None)
    names = [str(label) for label in truth.classes[: truth.n_known]]
    k = place_of(positive, names)
    if truth.values is None:
        raise DataError(f"{type(question.model).__name__} has neither posteriors nor scores, and so no curve.")
    return Scored(against_others(truth.codes, k, names), truth.score_of(k), names[k], truth.remark)


def scored_by_column(
    data: str, target: str | None, score: str | None, positive: str | None, sep: str | None
) -> Scored:  # fmt: skip
    """Two columns of a table, and no other: the labels, and numbers."""
    data = as_path(data)
    columns = open_reader(data, sep).head.names
    for option, value, what in (("--target", target, "the classes"), ("--score", score, "the scores")):
        if value is None:
            raise ParameterError(which_column(option, what, columns))
    rows = scan(data, features=[str(score)], target=target, sep=sep)
    if rows.texts:
        raise DataError(f"The column '{score}' of '{data}' holds text, and scores are numbers.")
    known: dict[Any, int] = {}
    kept, n = Kept(2), 0
    for block in rows.blocks():
        places = np.array([known.setdefault(label, len(known)) for label in block.classes.tolist()])
        kept.add(
            [places[block.codes], np.asarray(block.dense()[:, 0], dtype=np.float64)], np.ones(len(block), dtype=bool)
        )
        n += len(block)
    codes, values = kept.columns()
    classes, place = np.unique(np.array(list(known)), return_inverse=True)
    names = [str(label) for label in classes]
    k = place_of(positive, names)
    return Scored(against_others(place[codes], k, names), values, names[k], said_of_sample(len(values), n))


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
    confusion = Confusion(truth.table, truth.classes, truth.informative)
    remarks = []
    if truth.n_unknown:
        remarks.append(
            f"{plural(truth.n_unknown, 'row')} of classes that the model does not know "
            f"({name_list(truth.classes[truth.n_known :])}) count as errors, and neither for the log loss nor the area."
        )
    if truth.values is not None and truth.remark:
        remarks.append(truth.remark)
    own, printed = confusion.summary(), dict[str, Any]()
    majority = 1.0 - float(truth.table.sum(axis=1).max()) / confusion.n
    figures = {
        "rows": truth.n, "error": confusion.error, "error_interval": confusion.error_ci(),
        "baseline_error": majority, "balanced_error": confusion.balanced_error, "kappa": confusion.kappa,
    }  # fmt: skip
    if question.has_posterior:
        figures["log_loss"] = printed["Log loss"] = truth.log_loss
    tables = list(own.tables)
    if truth.values is not None:
        areas, rows = _areas(truth)
        figures |= areas
        printed["AUC"] = _with_interval(areas)
        if rows is not None:
            tables.append(rows)
    facts = {**own.facts, "Rows": f"{truth.n:,}", "Error of the baseline": majority, **printed}
    return Judged(figures, Summary(f"Evaluation on '{question.data}'", facts, tables), remarks)


def _areas(truth: Truth) -> tuple[dict[str, Any], Table | None]:
    """The area under the curve of two classes; of more, Hand and Till's, and that of each class against the rest."""
    codes, weight = truth.codes, truth.weight
    present = np.flatnonzero(np.bincount(codes, minlength=truth.n_known))
    if len(present) < 2:
        return {"auc": float("nan"), "auc_interval": None}, None
    curves = {int(k): roc(codes == k, truth.score_of(int(k)), positive=True, sample_weight=weight) for k in present}
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
        found["auc"] = multiclass_auc(codes, values, classes=np.arange(truth.n_known))
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
