"""Cross-validation over a grid of penalties: the fits of all folds, their scores, and the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError, plural
from discrim.families.logistic.elastic_net_gram import Fitted
from discrim.families.logistic.fit import Problem
from discrim.families.logistic.penalty_path import fold_path
from discrim.families.one_block import OneBlock
from discrim.families.recipe import Selection
from discrim.models.logistic.cv_options import PenaltyGrid
from discrim.models.logistic.cv_scores import Judge
from discrim.parallel import one_blas_thread, run
from discrim.typing import Floats, Index

Folds = list[tuple[Index, Index]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class GridResult:
    """For every fold, l1_ratio and C: ``theta`` (F x R x C x K x (1 + p), intercept first) and its score."""

    grid: PenaltyGrid
    theta: Floats
    iterations: NDArray[np.int32]
    converged: NDArray[np.bool_]
    scores: Floats
    intercept: bool
    rows: int

    def chosen(self, selection: Selection) -> tuple[int, int]:
        """The places of the l1_ratio and the C of the best mean score; of equals the first C, then the first l1_ratio.

        "one-se" takes the smallest C whose mean is within a standard error of the best, with its best l1_ratio.
        """
        mean = np.where(np.isnan(self.scores).any(axis=0), -np.inf, self.scores.mean(axis=0)).T
        c, r = np.unravel_index(int(mean.argmax()), mean.shape)
        if selection == "one-se" and len(self.scores) > 1:
            error = self.scores[:, r, c].std(ddof=1) / np.sqrt(len(self.scores))
            near = np.flatnonzero((mean >= mean[c, r] - error).any(axis=1))
            c = near[self.grid.Cs[near].argmin()]
            r = mean[c].argmax()
        return int(r), int(c)

    def start(self, r: int, c: int) -> Floats | None:
        """The mean over the folds, to begin the fit of all rows with; None where that costs more than it saves."""
        theta = self.theta[:, r, c].mean(axis=0)
        if self.rows <= theta.shape[-1]:
            return None
        return np.asarray(theta[0] if len(theta) == 1 else theta)

    def best_of_folds(self) -> list[tuple[int, int]]:
        """The places of l1_ratio and C with the best score of each fold."""
        shape = self.scores.shape[:0:-1]
        best = [np.unravel_index(int(scores.T.argmax()), shape) for scores in self.scores]
        return [(int(r), int(c)) for c, r in best]


def cross_validated(block: Block, problem: Problem, grid: PenaltyGrid, folds: Folds, judge: Judge) -> GridResult:
    """All fits and their scores. Folds run side by side, each on one thread; scorers of others are asked in order."""
    _check_weights(block, folds, judge)

    def fit_fold(f: int) -> tuple[list[list[Fitted]], Floats | None]:
        train, test = folds[f]
        part = OneBlock(block.take(train))
        paths = [fold_path(part, problem, terms) for terms in grid.terms]
        return paths, judge.of(paths, block.take(test), test) if judge.plain else None

    with one_blas_thread():
        found = run(fit_fold, len(folds))
    scores = [
        score if score is not None else judge.of(paths, block.take(test), test)
        for (paths, score), (_, test) in zip(found, folds, strict=True)
    ]
    steps = [[step for path in paths for step in path] for paths, _ in found]
    shape = (len(folds), len(grid.terms), len(grid.Cs))
    theta = np.array([[step.theta for step in fold] for fold in steps])
    return GridResult(
        grid,
        theta.reshape(*shape, *theta.shape[2:]),
        np.array([[step.iterations for step in fold] for fold in steps], dtype=np.int32).reshape(shape),
        np.array([[step.converged for step in fold] for fold in steps], dtype=bool).reshape(shape),
        np.stack(scores),
        problem.intercept,
        len(block),
    )


def _check_weights(block: Block, folds: Folds, judge: Judge) -> None:
    for f, (train, test) in enumerate(folds):
        learned = block.weight is None or bool(block.weight[train].any())
        if not (learned and judge.weighs(test)):
            raise DataError(
                f"Fold {f} has no weight to {'be scored on' if learned else 'learn from'}: the weights or trials of "
                f"its {plural(len(test if learned else train), 'row')} are all zero. Use fewer or shuffled folds, or "
                "leave such rows out."
            )


def folds_of(cv: Any, block: Block, successes: Any, parameters: dict[str, Any]) -> Folds:
    """Training and test rows of each fold, as a number of folds, a splitter or a list says it.

    Rows that are groups have no class to be stratified by; a splitter sees their numbers of ``successes`` (None where
    rows are single observations).
    """
    # Takes a tenth of a second to import, and most fits do not need it.
    from sklearn.model_selection import check_cv

    y = block.classes[block.codes] if successes is None else np.asarray(successes)
    try:
        splits = list(check_cv(cv, y=y, classifier=successes is None).split(block.x, y, **parameters))
    except (TypeError, ValueError, IndexError) as error:
        raise ParameterError(f"The 'cv' parameter cannot split these {plural(len(block), 'row')}: {error}") from error
    numbers = np.arange(len(block))
    return [(numbers[train], numbers[test]) for train, test in splits]


def attributes_of(
    result: GridResult, classes: NDArray[Any], setting: tuple[float, Any], *, legacy: bool
) -> dict[str, Any]:
    """What scikit-learn tells of the search, in its present or its older shapes.

    ``setting`` is the C and l1_ratio of the model.
    """
    C, l1_ratio = setting
    paths = result.theta[..., 1:]
    if result.intercept:
        paths = np.concatenate([paths, result.theta[..., :1]], axis=-1)
    told = {"Cs_": result.grid.Cs, "l1_ratios_": np.asarray([None] if result.grid.given is None else result.grid.given)}
    if not legacy:
        given = 0.0 if l1_ratio is None else l1_ratio
        more = {"C_": C, "l1_ratio_": float(given), "coefs_paths_": paths, "scores_": result.scores}
        return {**told, **more, "n_iter_": result.iterations}
    labels = classes[1:] if len(classes) == 2 else classes
    # Folds x Cs x l1_ratios, without the last where no l1_ratios were given.
    place: Any = (slice(None), slice(None), 0) if result.grid.given is None else ...
    scores, iterations, paths = (np.swapaxes(each, 1, 2)[place] for each in (result.scores, result.iterations, paths))
    return {
        **told,
        "C_": np.full(len(labels), C),
        "l1_ratio_": np.array([l1_ratio] * len(labels)),
        "coefs_paths_": {label: paths[..., k, :] for k, label in enumerate(labels)},
        "scores_": dict.fromkeys(labels, scores),
        "n_iter_": iterations[None],
    }


def averaged(result: GridResult) -> tuple[Floats, float, float]:
    """The mean over the folds of coefficients, C and l1_ratio, each fold with its own best setting."""
    best = result.best_of_folds()
    theta = np.mean([result.theta[f, r, c] for f, (r, c) in enumerate(best)], axis=0)
    grid = result.grid
    return theta, float(np.mean([grid.Cs[c] for _, c in best])), float(np.mean([grid.l1_ratios[r] for r, _ in best]))
