"""More columns than rows: standardised rows in as many columns as they span, for models that a rotation suits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.comparison.rows import ComparedRows
from discrim.evaluation.held_out import HeldOut
from discrim.models import RegularizedDiscriminantAnalysis, RidgeClassifier
from discrim.models.scoring import Output
from discrim.models.tuning import rotated
from discrim.solvers.regularized import Grid, Moments, grid_scores
from discrim.solvers.regularized_search import estimated_log_priors
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats, Index

# Rows up to which the coordinates of all training parts are kept for the next model.
KEPT_ROWS = 300


def is_wide(rows: ComparedRows) -> bool:
    return rows.dense and rows.n <= rows.width


def spanned(rows: ComparedRows, train: Index) -> Floats:
    """All rows, standardised as the rows ``train`` say, in at most n columns; distances are the same. O(n^2 p)."""
    assert rows.numbers is not None
    key = train.tobytes()
    if key in rows.spans:
        return rows.spans[key]
    z = rotated(rows.prepared_by(train, standardise=True).apply(rows.numbers.x))
    if rows.n <= KEPT_ROWS:
        rows.spans[key] = z
    return z


def moments_of(rows: ComparedRows, index: Index, z: NDArray[Any], depth: Depth) -> ClassMoments:
    """The statistic of rows ``index``, whose columns are z."""
    weight = None if rows.weight is None else rows.weight[index]
    return ClassMoments.of(Block(z, rows.codes[index], rows.classes, weight), depth)


def run_wide(model: Any, rows: ComparedRows, folds: Iterable[int], held: HeldOut) -> bool:
    """The answers of ridge or regularised discriminant analysis for these folds; False where it has to be refitted."""
    if not is_wide(rows) or not isinstance(model, (RidgeClassifier, RegularizedDiscriminantAnalysis)):
        return False
    for f in folds:
        train, test = rows.fold_of.train(f), rows.fold_of.test(f)
        z = spanned(rows, train)
        known = np.unique(rows.codes[train]).astype(np.intp)
        if isinstance(model, RidgeClassifier):
            weights = {} if rows.weight is None else {"sample_weight": rows.weight[train]}
            fitted = clone(model).fit(z[train], rows.labels[train], **weights)
            held.put(test, known, fitted._apply(z[test], Output.POSTERIOR), fitted._apply(z[test], Output.BEST))
            continue
        s = moments_of(rows, train, z[train], Depth.FULL)
        grid = Grid(np.array([model.alpha]), np.array([model.gamma]), "identity", n_columns=rows.width)
        scores = grid_scores(Moments(s.weight, s.mean, s.scatter), z[test], grid, estimated_log_priors(s.weight))[0, 0]
        if np.isnan(scores).any():
            return False
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        every = np.arange(len(rows.classes))
        held.put(test, every, e / e.sum(axis=1, keepdims=True), scores.argmax(axis=1))
    return True
