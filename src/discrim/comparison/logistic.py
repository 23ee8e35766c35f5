"""Logistic regression in a comparison: C chosen inside the folds, every fit begun where a near one ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from discrim.block import Block
from discrim.comparison.preparation import Preparation
from discrim.comparison.rows import ComparedRows
from discrim.comparison.tuning import Groups, PairLosses, Setting, Tuned, choose
from discrim.errors import warn
from discrim.evaluation.held_out import HeldOut
from discrim.families.logistic.penalty_path import fold_path
from discrim.families.logistic.recipe import LogisticRecipe
from discrim.families.one_block import OneBlock
from discrim.families.rule import Output
from discrim.models import LogisticRegression, LogisticRegressionCV
from discrim.models.logistic.cv_options import read_options
from discrim.parallel import one_blas_thread, run
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats

# For standardised columns; for words times a power of ten near one over the variance of their counts.
STRENGTHS = 10.0 ** np.arange(-3, 3)
# With a weak penalty, and up to so many coefficients, Newton's method needs less than the many steps of the other.
WEAK, NEWTON_SIZE = 10.0, 400
MOST_STEPS = 1000


def cross_validate_logistic(rows: ComparedRows, groups: Groups) -> tuple[HeldOut, Tuned]:
    """C by the log loss on held-out groups; then one fit a fold.

    Cost: a path a pair and a fit a fold, which begins at the solution of a pair that its fold is part of.
    """
    tuned, paths = _tuned_with_paths(rows, groups)
    held = HeldOut(rows.n, len(rows.classes))
    for f in range(len(rows.fold_of.parts)):
        pair = next(i for i, pair in enumerate(groups.pairs) if groups.of_fold[f] in pair)
        _fit_fold(rows, f, tuned, paths[pair][tuned.by_fold[f]], held)
    return held, tuned


def tune_logistic(rows: ComparedRows, groups: Groups, by_error: bool) -> Tuned:  # noqa: ARG001 - one criterion
    """C by the log loss on held-out groups."""
    return _tuned_with_paths(rows, groups)[0]


def is_standardised(rows: ComparedRows) -> bool:
    """All columns but words: counts of words are in one unit, and dividing by it would blow up the rare ones."""
    return rows.words is None


def _tuned_with_paths(rows: ComparedRows, groups: Groups) -> tuple[Tuned, list[Floats]]:
    """The paths over C are those of ``LogisticRegressionCV`` with the pairs of groups as its folds."""
    typical = 1.0 if is_standardised(rows) else _typical_strength(rows)
    strengths = typical * STRENGTHS
    model: Any = LogisticRegressionCV(
        Cs=strengths, l1_ratios=(0,), scoring="neg_log_loss", max_iter=MOST_STEPS, use_legacy_attributes=False
    )
    terms = read_options(model)[0].terms[0]
    problem = LogisticRecipe(terms[0], most=MOST_STEPS, tol=1e-4, classes=rows.classes)

    def of_pair(i: int) -> tuple[Floats, PairLosses, bool]:
        g, h = groups.pairs[i]
        train = np.flatnonzero((groups.of_row != g) & (groups.of_row != h))
        ready = _ready(rows, train)
        block = _block(rows, train, ready)
        steps = fold_path(OneBlock(block), problem, terms)
        path = np.array([step.theta for step in steps])
        parts = [_block(rows, np.flatnonzero(groups.of_row == k), ready) for k in (g, h)]
        losses = np.array([[_loss(part, theta) for theta in path] for part in parts])
        return path, (losses, np.zeros_like(losses)), all(step.converged for step in steps)

    with one_blas_thread():
        found = run(of_pair, len(groups.pairs))
    failed = sum(not converged for _, _, converged in found)
    if failed:
        warn(f"Paths of {failed} of {len(found)} parts of the rows did not converge.", ConvergenceWarning)
    settings = tuple(_setting(C, typical, rows) for C in strengths)
    tuned = choose(groups, settings, [losses for _, losses, _ in found], standardised=is_standardised(rows))
    return tuned, [path for path, _, _ in found]


def _ready(rows: ComparedRows, train: NDArray[np.intp]) -> Preparation | None:
    return rows.prepared_by(train, standardise=True) if is_standardised(rows) else None


def _block(rows: ComparedRows, index: NDArray[np.intp], ready: Preparation | None) -> Block:
    assert rows.numbers is not None
    x = rows.numbers.x[index]
    weight = None if rows.weight is None else rows.weight[index]
    return Block(x if ready is None else ready.apply(x), rows.codes[index], rows.classes, weight)


def _setting(C: float, typical: float, rows: ComparedRows) -> Setting:
    size = (rows.width + 1) * (len(rows.classes) if len(rows.classes) > 2 else 1)
    newton = WEAK * typical <= C and size <= NEWTON_SIZE
    return {"C": float(C), "solver": "newton" if newton else "auto", "max_iter": MOST_STEPS}


def _fit_fold(rows: ComparedRows, f: int, tuned: Tuned, start: Floats, held: HeldOut) -> None:
    train, test = rows.fold_of.train(f), rows.fold_of.test(f)
    known = np.unique(rows.codes[train]).astype(np.intp)
    ready = _ready(rows, train)
    fitted, judged = _block(rows, train, ready), _block(rows, test, ready)
    model: Any = LogisticRegression(**tuned.best(f), inference=False)
    if len(known) == len(rows.classes):
        model.set_params(warm_start=True)
        model.classes_, model.coef_, model.intercept_ = rows.classes, start[:, 1:], start[:, 0]
    model.fit(fitted.x, rows.labels[train], fitted.weight)
    held.put(test, known, model._apply(judged.x, Output.POSTERIOR), model._apply(judged.x, Output.BEST))


def _loss(block: Block, theta: Floats) -> float:
    """The sum of -log posterior of the own class; ``theta`` is K x (1 + p), one row for two classes."""
    eta = np.asarray(block.x @ theta[:, 1:].T) + theta[:, 0]
    eta = np.column_stack([np.zeros(len(eta)), eta]) if eta.shape[1] == 1 else eta
    top = eta.max(axis=1)
    loss = np.log(np.exp(eta - top[:, None]).sum(axis=1)) + top - eta[np.arange(len(eta)), block.codes]
    return float(loss.sum() if block.weight is None else block.weight @ loss)


def _typical_strength(rows: ComparedRows) -> float:
    """A power of ten near one over the mean variance of a word's counts."""
    assert rows.numbers is not None
    s = ClassMoments.of(replace(rows.numbers, codes=np.zeros(rows.n, np.int32), classes=np.zeros(1)), Depth.DIAGONAL)
    variance = float(np.mean(s.scatter[0])) / s.total_weight
    return float(10.0 ** -np.round(np.log10(variance))) if variance > 0 else 1.0
