"""Choosing alpha for naive Bayes of counts: rows predicted without themselves, for all alphas from one statistic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.families.rule import LinearRule
from discrim.families.sparse_scores import score_sparse
from discrim.parallel import run
from discrim.solvers.counts import Complement, Family
from discrim.solvers.grid_counts import GridScores, LeftOutScores
from discrim.solvers.leave_one_out_counts import counts_scores, log_priors_left
from discrim.sources import Rows, in_memory_sparse
from discrim.statistics import ClassCounts, merge_counts
from discrim.statistics.folds import Folds, fold_numbers, of_others
from discrim.typing import Floats

# The values tried where none are given.
GRID = np.geomspace(1e-3, 10.0, 20)
# Values tried between the neighbours of the best one.
FINER = 7
# Numbers that the statistics of folds may have together, and rows that are scored at once.
MOST_NUMBERS = 1 << 24
ROWS = 1024


def choose_alpha(model: Any, statistic: ClassCounts, rows: Rows) -> float:
    """The alpha whose held-out predictions are best; keeps all that were tried and their losses."""
    if getattr(model, "beta", None) is not None:
        raise ParameterError(f"alpha='{model.alpha}' chooses a and b of the Beta prior: leave 'beta' out.")
    block = in_memory_sparse(rows)
    given = model.alphas is not None
    alphas = np.unique(np.asarray(model.alphas, dtype=np.float64)) if given else GRID
    if model.alpha == "loo":
        losses = _leave_one_out(model, block, statistic, alphas)
        if not given:
            best = int(np.argmin(losses[0]))
            finer = np.geomspace(alphas[max(best - 1, 0)], alphas[min(best + 1, len(alphas) - 1)], FINER + 2)
            more = np.setdiff1d(finer[1:-1], alphas)
            more_losses = _leave_one_out(model, block, statistic, more)
            parts = [np.concatenate(pair) for pair in zip(losses, more_losses, strict=True)]
            alphas = np.concatenate([alphas, more])
            order = np.argsort(alphas)
            alphas, losses = alphas[order], (parts[0][order], parts[1][order])
    else:
        losses = _folds(model, block, alphas)
    model.alphas_ = alphas
    log_loss, error = losses
    setattr(model, f"{model.alpha}_log_loss_", log_loss)
    setattr(model, f"{model.alpha}_error_", error)
    return float(alphas[np.argmin(log_loss)])


def leave_one_out_scores(model: Any, block: Block, statistic: ClassCounts, alpha: Any) -> Floats:
    """Scores n x K with the classes' priors, each row by the model without it; -inf for a class that is gone."""
    family: Family = model._family()
    prior = _left_out_priors(model, block, statistic)
    # What a class that is gone would have scored does not matter.
    return np.where(np.isneginf(prior), -np.inf, counts_scores(family, block, statistic, alpha) + prior)


def _left_out_priors(model: Any, block: Block, statistic: ClassCounts) -> Floats:
    """What the classes' priors add to the scores of each row without it, n x K."""
    gone = np.ones(len(block)) if block.weight is None else block.weight
    added = np.asarray(model.class_alpha, dtype=np.float64)
    left = log_priors_left(block.codes, statistic.weight, gone, added)
    learned = model.fit_prior and model.class_prior is None
    prior = model._score_prior(left if learned else model._log_prior(statistic.weight))
    return np.where(np.isneginf(left), -np.inf, prior)


def held_out(block: Block, folds: Folds) -> list[Block]:
    """The rows of each fold, copied together."""
    return run(lambda f: block.take(folds.test(f)), len(folds.parts))


def fold_counts(model: Any, tests: Sequence[Block]) -> list[ClassCounts]:
    """The statistic of each held-out part, all with the classes of the block."""
    threshold = model._family().threshold
    return run(lambda f: ClassCounts.of(tests[f], threshold), len(tests))


def _leave_one_out(model: Any, block: Block, statistic: ClassCounts, alphas: Floats) -> tuple[Floats, Floats]:
    if len(block) < 2:
        raise DataError("Leaving one row out needs at least two rows; found 1 sample.")
    # A class of one row is gone when it leaves, whatever alpha is.
    weight = _counting(block, statistic.rows[block.codes] > 1)
    if LeftOutScores.can_serve(model._family(), block, statistic):
        losses = _left_out_at_once(model, block, statistic, alphas, weight)
    else:
        each = (leave_one_out_scores(model, block, statistic, alpha)[:, :, None] for alpha in alphas)
        losses = np.concatenate([_losses(scores, block.codes, weight) for scores in each], axis=1)
    losses /= max(float(weight.sum()), 1e-300)
    return losses[0], losses[1]


def _left_out_at_once(model: Any, block: Block, s: ClassCounts, alphas: Floats, weight: Floats) -> Floats:
    """Sums of log losses and of errors over the rows, 2 x alphas; the rows are read once for all alphas."""
    grid, prior = LeftOutScores(model._family(), block, s, alphas), _left_out_priors(model, block, s)

    def task(i: int) -> Floats:
        part = slice(i * ROWS, min((i + 1) * ROWS, len(block)))
        scores = grid.of(part.start, part.stop) + prior[part, :, None]
        return _losses(scores, block.codes[part], weight[part])

    return np.asarray(sum(run(task, -(-len(block) // ROWS))))


def _folds(model: Any, block: Block, alphas: Floats) -> tuple[Floats, Floats]:
    """Held-out losses of every alpha; rows are read once to count, and once an alpha to score."""
    folds = fold_numbers(model.cv, block.codes)
    if not folds.complementary:
        raise ParameterError(
            "The 'cv' parameter leaves some rows out of both training and test part; "
            "use a splitter that trains on all rows that it does not hold out."
        )
    tests = held_out(block, folds)
    trained = of_others(fold_counts(model, tests), merge_counts)
    first = next(trained)
    # Folds are scored side by side as long as their statistics fit in memory together.
    step = max(MOST_NUMBERS // max(first.count.size, 1), 1)
    sums, total = np.zeros((2, len(alphas))), 0.0
    folds_left = zip(tests, chain([first], trained), strict=True)
    while batch := list(islice(folds_left, step)):

        def of_fold(i: int, batch: list[tuple[Block, ClassCounts]] = batch) -> tuple[Floats, float]:
            return _of_fold(model, *batch[i], alphas)

        for losses, weight in run(of_fold, len(batch)):
            sums += losses
            total += weight
    sums /= max(total, 1e-300)
    return sums[0], sums[1]


def _of_fold(model: Any, test: Block, s: ClassCounts, alphas: Floats) -> tuple[Floats, float]:
    """Sums of losses over the rows of a fold (2 x alphas) by the statistic of the others, and their weight."""
    family: Family = model._family()
    # A row whose class is not in the training part is lost, whatever alpha is.
    weight = _counting(test, s.rows[test.codes] > 0)
    offset = np.where(s.rows > 0, model._score_prior(model._log_prior(s.weight)), -np.inf)
    if isinstance(family, Complement) and family.norm:
        losses = _one_by_one(family, s, alphas, test, offset, weight)
    else:
        losses = _all_at_once(GridScores(family, s, alphas), test, offset, weight)
    return losses, float(weight.sum())


def _all_at_once(grid: GridScores, test: Block, offset: Floats, weight: Floats) -> Floats:
    """Sums of log losses and of errors over the rows, 2 x alphas."""
    x: Any = test.x
    size = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
    losses = np.zeros((2, len(grid.alphas)))
    # Few rows at a time, so that their scores stay in cache.
    for start in range(0, len(test), ROWS):
        stop = min(start + ROWS, len(test))
        scores = grid.of(x, start, stop, size[start:stop]) + offset[:, None]
        losses += _losses(scores, test.codes[start:stop], weight[start:stop])
    return losses


def _one_by_one(family: Family, s: ClassCounts, alphas: Floats, test: Block, offset: Floats, weight: Floats) -> Floats:
    losses = []
    for alpha in alphas:
        solution = family.solve(s, alpha)
        scores = np.empty((len(test), len(offset)))
        rule = LinearRule(solution.coef, solution.constant + offset, np.zeros(s.count.shape[1]), family.threshold)
        score_sparse(rule, test.x, 0, scores)
        losses.append(_losses(scores[:, :, None], test.codes, weight)[:, 0])
    return np.stack(losses, axis=1)


def _counting(block: Block, fair: NDArray[np.bool_]) -> Floats:
    """The weights of the rows that count."""
    return fair.astype(np.float64) if block.weight is None else np.where(fair, block.weight, 0.0)


def _losses(scores: Floats, codes: NDArray[np.int32], weight: Floats) -> Floats:
    """Weighted sums of -log posterior of the true class and of wrong predictions, for scores n x K x alphas."""
    own = scores[np.arange(len(codes)), codes]
    top = scores.max(axis=1)
    wrong = scores.argmax(axis=1) != codes[:, None]
    counts = weight > 0
    with np.errstate(invalid="ignore"):
        loss = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - own
    return np.stack([weight[counts] @ loss[counts], weight[counts] @ wrong[counts]])
