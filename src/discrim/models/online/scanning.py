"""Learning from a scan: rows that need not fit in memory, in one or more passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.engines import RowPasses
from discrim.engines.progress import Progress
from discrim.errors import DataError, ParameterError
from discrim.families.first_look import look
from discrim.kernels import reference_online as names
from discrim.models.online.training import (
    LARGEST,
    as_random_state,
    class_gains,
    refuse_one_class,
    targets_of,
)
from discrim.models.scoring import non_finite_error
from discrim.online.buffer import shuffled
from discrim.online.epochs import Course, Plan, Watch
from discrim.online.learning import Learning
from discrim.online.rows import OnlineRows
from discrim.online.scaling import FIRST_LOOK
from discrim.sources import Scan, recode

if TYPE_CHECKING:
    from discrim.models.online.base import OnlineClassifier


def fit_scan(model: OnlineClassifier, rows: Scan) -> OnlineClassifier:
    """Passes over the file until nothing improves; rows are shuffled through a buffer of bounded size.

    A first pass reads the labels alone. A stream that can be read once is learned in one pass; classes join it as
    they come.
    """
    if model.early_stopping:
        raise ParameterError("early_stopping needs rows held out of memory; with a scan, leave it out.")
    if not rows.rereadable:
        return learn_scan(model, rows, None)
    classes, counts = _labels(rows)
    refuse_one_class(classes)
    # Files are often sorted: where columns are to be scaled, the sample is of all rows.
    first = look(RowPasses(rows), FIRST_LOOK).sample if model._scales else next(iter(rows.blocks()))
    model._begin(Block(first.x, recode(first.classes[first.codes], classes), classes, first.weight), None, None)
    course = model._read_through(rows, counts)
    model._tell(course, int(counts.sum()))
    return model


def learn_scan(model: OnlineClassifier, rows: Scan, declared: NDArray[Any] | None) -> OnlineClassifier:
    """Every row once, in the order of the file; new classes join unless they were declared."""
    total = 0
    with Progress("learning", rows.n_rows) as progress:
        for block in rows.blocks():
            model._learn_part(rows, block, declared)
            total += len(block)
            progress.add(len(block))
    refuse_one_class(model.classes_)
    return model


def _labels(rows: Scan) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes and how many rows each has: a pass over one column beside the labels."""
    found: dict[Any, int] = {}
    for block in rows.with_features(rows.features[:1]).blocks():
        for label, count in zip(block.classes.tolist(), np.bincount(block.codes).tolist(), strict=True):
            found[label] = found.get(label, 0) + count
        dtype = block.classes.dtype
    labels = sorted(found)
    return np.array(labels, dtype=dtype if dtype.kind != "U" else None), np.array([found[label] for label in labels])


def passes(model: OnlineClassifier, rows: Scan, counts: NDArray[np.int64]) -> Course:
    """Epochs over the file."""
    codes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    targets = targets_of(class_gains(model.class_weight, model.classes_, codes))
    weights, plan = model._weights, Plan(model.max_iter, model.tol, model.n_iter_no_change)
    learning: Learning = replace(model._learning_now(), told=model.tol is not None and model.max_iter > 1)
    rng = as_random_state(model.random_state)
    watches = [Watch(plan) for _ in range(len(weights))]
    course = Course()
    weights.begin(learning)
    n = int(counts.sum())
    with Progress("learning", None) as progress:
        while not all(watch.stopped for watch in watches):
            weights.memory[:, names.LOSS] = 0.0
            parts: Iterator[OnlineRows] = (model._prepared(block) for block in rows.blocks())
            seeded = np.random.RandomState(rng.randint(LARGEST))
            for part in shuffled(parts, seeded) if model.shuffle else parts:
                part.learn(None, learning, weights, targets)
                progress.add(len(part))
            for k, watch in enumerate(watches):
                watch.see(weights.memory[k, names.LOSS] / n, learning, weights.memory[k])
            if not weights.finite:
                raise non_finite_error(rows) or DataError(
                    f"Floating-point under-/overflow occurred at epoch #{watches[0].epochs}. Scaling input data "
                    "with StandardScaler or MinMaxScaler might help."
                )
    weights.settle()
    course.epochs = [max(watch.epochs, 1) for watch in watches]
    course.converged = max(course.epochs) < plan.max_iter or plan.tol is None
    return course
