"""The baseline of a comparison: its row of the table."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from sklearn.utils.validation import validate_data

from discrim.block import Block
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.majority import MajorityClassifier, shares_of
from discrim.comparison.trials import Tried
from discrim.evaluation.cross_validation import result_of
from discrim.evaluation.held_out import HeldOut

BASELINE = "Baseline"


def try_baseline(rows: ComparedRows) -> Tried:
    """The shares of all rows: with those of the training part, a fold with more of a class would be held against it."""
    start = perf_counter()
    model = MajorityClassifier()
    model.classes_ = rows.classes
    model.class_prior_ = shares_of(rows.codes, len(rows.classes), rows.weight)
    shape = getattr(rows.given, "shape", None)
    if shape is not None and rows.words is None:
        validate_data(model, rows.given, reset=True, skip_check_array=True)
    held = HeldOut(rows.n, len(rows.classes))
    held.posterior[:] = model.class_prior_
    held.best[:] = int(model.class_prior_.argmax())
    marked = Block(np.empty((rows.n, 0)), rows.codes, rows.classes, rows.weight)
    result = result_of(marked, rows.fold_of, held, "statistics")
    taken = perf_counter() - start
    note = f"always answers '{rows.classes[held.best[0]]}', with the shares of the classes as probabilities"
    return Tried(BASELINE, note, result, None, model, None, taken, taken)
