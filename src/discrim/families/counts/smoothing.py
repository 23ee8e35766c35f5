"""Choosing alpha for naive Bayes of counts: rows predicted without themselves, for all alphas from one statistic."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.families.counts.distributions import Complement, Distribution
from discrim.families.counts.grid import GridScores, LeftOutScores
from discrim.families.counts.leave_one_out import leave_one_out_scores, left_out_priors
from discrim.families.recipe import Chosen, Passes
from discrim.families.rule import LinearRule
from discrim.families.sparse_scores import score_sparse
from discrim.parallel import run
from discrim.statistics import ClassCounts, merge_counts
from discrim.statistics.folds import fold_numbers, of_others
from discrim.typing import Floats

if TYPE_CHECKING:
    from discrim.families.counts.recipe import CountsRecipe

# The values tried where none are given.
GRID = np.geomspace(1e-3, 10.0, 20)
# Values tried between the neighbours of the best one.
FINER = 7
# Numbers that the statistics of folds may have together, and rows that are scored at once.
MOST_NUMBERS = 1 << 24
ROWS = 1024


def choose_alpha(recipe: CountsRecipe, statistic: ClassCounts, passes: Passes) -> Chosen:
    """The alpha whose held-out predictions have the least log loss, with all that were tried and their losses."""
    block = passes.block()
    given = recipe.alphas is not None
    alphas = np.unique(np.asarray(recipe.alphas, dtype=np.float64)) if given else GRID
    if recipe.alpha == "cv":
        log_loss, error = _folds(recipe, block, alphas)
    else:
        log_loss, error = _leave_one_out(recipe, block, statistic, alphas)
        if not given:
            more = _finer(alphas, int(np.argmin(log_loss)))
            added = _leave_one_out(recipe, block, statistic, more)
            alphas = np.concatenate([alphas, more])
            order = np.argsort(alphas)
            alphas = alphas[order]
            log_loss, error = (np.concatenate(pair)[order] for pair in zip((log_loss, error), added, strict=True))
    found = {"alphas_": alphas, f"{recipe.alpha}_log_loss_": log_loss, f"{recipe.alpha}_error_": error}
    return Chosen({"alpha": float(alphas[np.argmin(log_loss)])}, found)


def _finer(alphas: Floats, best: int) -> Floats:
    """Values between the neighbours of the best one."""
    within = np.geomspace(alphas[max(best - 1, 0)], alphas[min(best + 1, len(alphas) - 1)], FINER + 2)
    return np.setdiff1d(within[1:-1], alphas)


def _leave_one_out(recipe: CountsRecipe, block: Block, statistic: ClassCounts, alphas: Floats) -> tuple[Floats, Floats]:
    if len(block) < 2:
        raise DataError("Leaving one row out needs at least two rows; found 1 sample.")
    # A class of one row is gone when it leaves, whatever alpha is.
    weight = _counting(block, statistic.rows[block.codes] > 1)
    if LeftOutScores.can_serve(recipe.distribution, block, statistic):
        losses = _left_out_at_once(recipe, block, statistic, alphas, weight)
    else:
        each = (leave_one_out_scores(recipe, block, statistic, alpha)[:, :, None] for alpha in alphas)
        losses = np.concatenate([_losses(scores, block.codes, weight) for scores in each], axis=1)
    losses /= max(float(weight.sum()), 1e-300)
    return losses[0], losses[1]


def _left_out_at_once(recipe: CountsRecipe, block: Block, s: ClassCounts, alphas: Floats, weight: Floats) -> Floats:
    """Sums of log losses and of errors over the rows, 2 x alphas; the rows are read once for all alphas."""
    family: Any = recipe.distribution
    grid, prior = LeftOutScores(family, block, s, alphas), left_out_priors(recipe, block, s)

    def task(i: int) -> Floats:
        part = slice(i * ROWS, min((i + 1) * ROWS, len(block)))
        scores = grid.of(part.start, part.stop) + prior[part, :, None]
        return _losses(scores, block.codes[part], weight[part])

    return np.asarray(sum(run(task, -(-len(block) // ROWS))))


def _folds(recipe: CountsRecipe, block: Block, alphas: Floats) -> tuple[Floats, Floats]:
    """Held-out losses of every alpha; rows are read once to count, and once an alpha to score."""
    folds = fold_numbers(recipe.cv, block.codes)
    if not folds.complementary:
        raise ParameterError(
            "The 'cv' parameter leaves some rows out of both training and test part; "
            "use a splitter that trains on all rows that it does not hold out."
        )
    tests = run(lambda f: block.take(folds.test(f)), len(folds.parts))
    threshold = recipe.distribution.threshold
    trained = of_others(run(lambda f: ClassCounts.of(tests[f], threshold), len(tests)), merge_counts)
    first = next(trained)
    # Folds are scored side by side as long as their statistics fit in memory together.
    step = max(MOST_NUMBERS // max(first.count.size, 1), 1)
    sums, total = np.zeros((2, len(alphas))), 0.0
    folds_left = zip(tests, chain([first], trained), strict=True)
    while batch := list(islice(folds_left, step)):

        def of_fold(i: int, batch: list[tuple[Block, ClassCounts]] = batch) -> tuple[Floats, float]:
            return _of_fold(recipe, *batch[i], alphas)

        for losses, weight in run(of_fold, len(batch)):
            sums += losses
            total += weight
    sums /= max(total, 1e-300)
    return sums[0], sums[1]


def _of_fold(recipe: CountsRecipe, test: Block, s: ClassCounts, alphas: Floats) -> tuple[Floats, float]:
    """Sums of losses over the rows of a fold (2 x alphas) by the statistic of the others, and their weight."""
    family = recipe.distribution
    # A row whose class is not in the training part is lost, whatever alpha is.
    weight = _counting(test, s.rows[test.codes] > 0)
    offset = np.where(s.rows > 0, recipe.score_prior(recipe.log_prior(s.weight)), -np.inf)
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


def _one_by_one(
    family: Distribution, s: ClassCounts, alphas: Floats, test: Block, offset: Floats, weight: Floats
) -> Floats:
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
