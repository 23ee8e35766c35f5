"""Cross-validation over a grid of penalties where the rows are too many to be held in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError
from discrim.families.logistic.elastic_net import path_scores
from discrim.families.logistic.recipe import LogisticRecipe
from discrim.families.recipe import InFolds, Passes, row_losses
from discrim.families.rule import as_one
from discrim.models.logistic.cv_grid import CHUNK, LEAST, PLAIN, GridResult, PenaltyGrid
from discrim.statistics.likelihood import add_arrays
from discrim.typing import Floats


def folds_of_scan(cv: Any) -> int:
    """How many folds, which are a hash of the number of a row."""
    folds = 5 if cv is None else cv
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise ParameterError.bad_value("cv", cv, "a number of folds, for rows that are too many to be held in memory")
    return int(folds)


def validated_in_passes(
    given: Passes, rows: Passes, recipe: LogisticRecipe, classes: NDArray[Any], grid: PenaltyGrid, cv: Any, scoring: Any
) -> GridResult:
    """All fits, each in passes that leave its fold out and begin where the one before ended, and a pass for the scores.

    The strongest penalty comes first. ``rows`` are those ``given`` with their class weights, which scores do not have.
    """
    folds = folds_of_scan(cv)
    if scoring not in PLAIN:
        raise ParameterError.bad_value(
            "scoring", scoring, "'accuracy' or 'neg_log_loss', for rows that are too many to be held in memory"
        )
    fits = [
        [rows.settled(partial(_path, rows.outside(f, folds), recipe, terms)) for terms in grid.terms]
        for f in range(folds)
    ]
    theta = np.array([[[theta for theta, _, _ in path] for path in fold] for fold in fits])
    judge = _Scores(theta.reshape(folds, -1, *theta.shape[3:]), classes, scoring)
    sums = given.reduce_folds(folds, judge.of, add_arrays, title="scores")
    if not sums[-1].all():
        raise ParameterError(f"One of the {folds} folds has no row. Ask for fewer with cv.")
    return GridResult(
        grid,
        theta,
        np.array([[[steps for _, steps, _ in path] for path in fold] for fold in fits], dtype=np.int32),
        np.array([[[ended for _, _, ended in path] for path in fold] for fold in fits], dtype=bool),
        (sums[:-1] / sums[-1]).T.reshape(theta.shape[:3]),
        recipe.intercept,
        int(sums[-1].sum()),
    )


def _path(rows: Passes, recipe: LogisticRecipe, terms: Any) -> list[tuple[Floats, int, bool]]:
    """Coefficients, steps and whether these were enough, for every penalty in the order that they came in."""
    order = np.argsort([-(each.lasso + each.ridge) for each in terms], kind="stable")
    found: dict[int, tuple[Floats, int, bool]] = {}
    start: Floats | None = None
    for i in order.tolist():
        solved = replace(recipe, penalty=terms[i], start=start, class_weight=None).fit(rows.shape, rows)
        theta = as_one(solved.attributes["coef_"], solved.attributes["intercept_"])
        found[i] = theta, int(solved.attributes["n_iter_"][0]), solved.details.solution.converged
        start = theta[0] if len(theta) == 1 else theta
    return [found[i] for i in range(len(terms))]


@dataclass(frozen=True, eq=False)
class _Scores:
    """Sums of the scores of every setting (rows) over the rows of each fold (columns), and how many rows these are."""

    theta: Floats
    classes: NDArray[Any]
    scoring: str

    def of(self, parts: InFolds) -> Floats:
        sums = np.zeros((self.theta.shape[1] + 1, len(parts)))
        for f, part in enumerate(parts):
            for start in range(0, 0 if part is None else len(part), CHUNK):
                assert part is not None
                rows = part.rows(start, min(start + CHUNK, len(part))).among(self.classes)
                wrong, loss = row_losses(path_scores(self.theta[f], rows), rows.codes)
                plain = 1.0 - wrong if self.scoring == "accuracy" else -np.clip(loss, -np.log1p(-LEAST), -np.log(LEAST))
                sums[:-1, f] += plain.sum(axis=1)
                sums[-1, f] += len(rows)
        return sums
