"""Logistic regression in a comparison: C chosen inside the folds, every fit begun where a near one ended."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.evaluation.comparison.rows import ComparedRows
from discrim.evaluation.comparison.tuning import Groups, PairLosses, Setting, Tuned, choose, typical_size
from discrim.evaluation.held_out import HeldOut
from discrim.models import LogisticRegression, LogisticRegressionCV
from discrim.models.scoring import Output
from discrim.sources import Block

Floats = NDArray[np.float64]

# Times a power of ten near one over the variance of a column.
STRENGTHS = 10.0 ** np.arange(-3, 3)
# With a weak penalty, and up to so many coefficients, Newton's method needs less than the many steps of the other.
WEAK, NEWTON_SIZE = 10.0, 400
MOST_STEPS = 1000


def cross_validate_logistic(rows: ComparedRows, groups: Groups) -> tuple[HeldOut, Tuned]:
    """C by the log loss on held-out groups; then one fit a fold.

    The paths over C are those of ``LogisticRegressionCV`` with the pairs of groups as its folds. Cost: a path a pair
    and a fit a fold, which begins at the solution of a pair that its fold is part of.
    """
    assert rows.block is not None
    x, labels, weight = rows.block.x, rows.labels, rows.weight
    typical = _typical_strength(rows.block)
    strengths = typical * STRENGTHS
    splits = [_split(groups, pair) for pair in groups.pairs]
    cv = LogisticRegressionCV(
        Cs=strengths,
        l1_ratios=(0,),
        cv=splits,
        scoring="neg_log_loss",
        refit=False,
        max_iter=MOST_STEPS,
        use_legacy_attributes=False,
    ).fit(x, labels, weight)
    paths = cv.coefs_paths_[:, 0]
    losses = [_losses(rows, groups, pair, path) for pair, path in zip(groups.pairs, paths, strict=True)]
    tuned = choose(groups, tuple(_setting(C, typical, rows) for C in strengths), losses)
    held = HeldOut(rows.n, len(rows.classes))
    for f in range(len(rows.fold_of.parts)):
        pair = next(i for i, pair in enumerate(groups.pairs) if groups.of_fold[f] in pair)
        _fit_fold(rows, f, tuned, paths[pair, tuned.by_fold[f]], held)
    return held, tuned


def _setting(C: float, typical: float, rows: ComparedRows) -> Setting:
    size = (rows.width + 1) * (len(rows.classes) if len(rows.classes) > 2 else 1)
    newton = WEAK * typical <= C and size <= NEWTON_SIZE
    return {"C": float(C), "solver": "newton" if newton else "auto", "max_iter": MOST_STEPS}


def _fit_fold(rows: ComparedRows, f: int, tuned: Tuned, start: Floats, held: HeldOut) -> None:
    assert rows.block is not None
    x, labels = rows.block.x, rows.labels
    train, test = rows.fold_of.train(f), rows.fold_of.test(f)
    known = np.unique(rows.codes[train]).astype(np.intp)
    model: Any = LogisticRegression(**tuned.best(f), inference=False)
    if len(known) == len(rows.classes):
        model.set_params(warm_start=True)
        model.classes_, model.coef_, model.intercept_ = rows.classes, start[:, :-1], start[:, -1]
    model.fit(x[train], labels[train], None if rows.weight is None else rows.weight[train])
    held.put(test, known, model._apply(x[test], Output.POSTERIOR), model._apply(x[test], Output.BEST))


def _split(groups: Groups, pair: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    out = (groups.of_row == pair[0]) | (groups.of_row == pair[1])
    return np.flatnonzero(~out), np.flatnonzero(out)


def _losses(rows: ComparedRows, groups: Groups, pair: tuple[int, int], path: Floats) -> PairLosses:
    """Sums of -log posterior on both groups for every C; ``path`` is Cs x K x (p + 1), one row for two classes."""
    assert rows.block is not None
    found = np.zeros((2, len(path)))
    for side, group in enumerate(pair):
        own = np.flatnonzero(groups.of_row == group)
        x, w = rows.block.x[own], np.ones(len(own)) if rows.weight is None else rows.weight[own]
        for c, theta in enumerate(path):
            eta = x @ theta[:, :-1].T + theta[:, -1]
            eta = np.column_stack([np.zeros(len(own)), eta]) if eta.shape[1] == 1 else eta
            top = eta.max(axis=1)
            loss = np.log(np.exp(eta - top[:, None]).sum(axis=1)) + top - eta[np.arange(len(own)), rows.codes[own]]
            found[side, c] = w @ loss
    return found, np.zeros_like(found)


def _typical_strength(block: Block) -> float:
    """A power of ten near one over the variance of a typical column, so that units do not matter much."""
    x = block.x
    if isinstance(x, np.ndarray):
        variance = typical_size(x.var(axis=0, dtype=np.float64))
    else:
        variance = float(np.mean(np.asarray(x.multiply(x).mean(axis=0)) - np.asarray(x.mean(axis=0)) ** 2))
    return float(10.0 ** -np.round(np.log10(variance))) if variance > 0 else 1.0
