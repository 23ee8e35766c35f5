"""One candidate on the folds of a comparison: by the cheapest route that gives what refitting gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from discrim.errors import DataError, DiscrimError
from discrim.evaluation.comparison.candidates import Candidate
from discrim.evaluation.comparison.logistic import cross_validate_logistic
from discrim.evaluation.comparison.rows import ComparedRows
from discrim.evaluation.comparison.tuning import (
    ALPHAS,
    GAMMAS,
    Groups,
    Setting,
    Tuned,
    can_be_grouped,
    group_folds,
    tune_lasso,
    tune_rda,
    tune_ridge,
)
from discrim.evaluation.cross_validation import CrossValidation, kind_of_trial, result_of
from discrim.evaluation.held_out import HeldOut
from discrim.evaluation.one_pass import MOST_NUMBERS, OnePassTrial
from discrim.models import LassoClassifier, LogisticRegressionCV, RegularizedDiscriminantAnalysis
from discrim.models.base import OnePassClassifier
from discrim.models.classifier import Classifier
from discrim.sources import Block, Scan

TUNERS: dict[str, Callable[[ComparedRows, Groups, bool], Tuned]] = {
    "rda": tune_rda,
    "ridge": tune_ridge,
    "lasso": tune_lasso,
}
# What tunes itself by folds of its own, where the folds of the comparison cannot be used for it.
SELF_TUNED: dict[str, Callable[[], Any]] = {
    "rda": lambda: RegularizedDiscriminantAnalysis("cv", "cv", alphas=ALPHAS, gammas=GAMMAS, cv=5),
    "lasso": lambda: LassoClassifier("cv", cv=5),
    "logistic": lambda: LogisticRegressionCV(
        Cs=6, l1_ratios=(0,), cv=5, scoring="neg_log_loss", use_legacy_attributes=False
    ),
}


@dataclass(frozen=True, eq=False)
class Tried:
    """What became of a candidate: its out-of-fold answers and the fit of all rows, or a ``note`` why there are none.

    ``margin`` are out-of-fold scores of the second of two classes, for models without posteriors. ``fit_time`` is the
    time of one fit of all rows with the setting that was chosen, ``total_time`` that of the whole trial.
    """

    name: str
    note: str = ""
    result: CrossValidation | None = None
    margin: Any = None
    model: Any = None
    setting: Setting | None = None
    fit_time: float = np.nan
    total_time: float = np.nan

    @property
    def has_posterior(self) -> bool:
        return self.result is not None and not np.isnan(self.result.log_loss)


def try_candidate(candidate: Candidate, rows: ComparedRows, *, by_error: bool) -> Tried:
    """Out-of-fold answers with tuning inside the folds, then the fit of all rows; an error becomes a note."""
    if candidate.why_not:
        return Tried(candidate.name, candidate.why_not)
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            held, route, model, setting = _held_out(candidate, rows, by_error=by_error)
            begin = perf_counter()
            fitted = _fit_all(model, rows)
            end = perf_counter()
        # A model of anybody's may raise anything; the comparison goes on without it.
        except Exception as error:  # noqa: BLE001
            kind = "" if isinstance(error, DiscrimError) else f"{type(error).__name__}: "
            return Tried(candidate.name, kind + _first_line(str(error)))
    if setting is None:
        setting = _told_setting(fitted)
    marked = Block(np.empty((rows.n, 0)), rows.codes, rows.classes, rows.weight)
    result = result_of(marked, rows.fold_of, held, route)
    note = _first_line(str(caught[0].message)) if caught else ""
    return Tried(candidate.name, note, result, held.margin, fitted, setting, end - begin, end - start)


def _held_out(candidate: Candidate, rows: ComparedRows, *, by_error: bool) -> tuple[HeldOut, str, Any, Setting | None]:
    """The out-of-fold answers, how they were found, and the model for all rows with its setting."""
    if candidate.tuning and not can_be_grouped(rows):
        make = SELF_TUNED.get(candidate.tuning)
        return *_run(candidate.model if make is None else make(), rows), None
    if candidate.tuning == "logistic":
        held, tuned = cross_validate_logistic(rows, group_folds(rows))
        route = "refits"
    elif candidate.tuning:
        groups = group_folds(rows)
        _check_size(candidate.tuning, rows, groups)
        tuned = TUNERS[candidate.tuning](rows, groups, by_error)
        held, route = _run_tuned(candidate.model, rows, tuned)
    else:
        return *_run(candidate.model, rows), None
    return held, route, clone(candidate.model).set_params(**tuned.best()), tuned.best()


def _run_tuned(model: Any, rows: ComparedRows, tuned: Tuned) -> tuple[HeldOut, str]:
    """Each fold by the model with the setting of that fold: as many runs as there are different settings."""
    held, route = HeldOut(rows.n, len(rows.classes)), ""
    for number in np.unique(tuned.by_fold):
        one, route, _ = _run(clone(model).set_params(**tuned.settings[number]), rows)
        own = np.isin(rows.fold_of.number, np.flatnonzero(tuned.by_fold == number))
        held.posterior[own], held.best[own] = one.posterior[own], one.best[own]
    return held, route


def _run(model: Any, rows: ComparedRows) -> tuple[HeldOut, str, Any]:
    """Ours on the coded columns, where these are there; anybody else's on the table as it came."""
    own_code = isinstance(model, Classifier) and rows.block is not None
    if isinstance(model, OnePassClassifier) and rows.block is not None and rows.dense and not _expands(model):
        held, route = OnePassTrial.sharing(model, rows.block, rows.design, rows.statistics).run(rows.fold_of)
        return held, route, model
    kind = kind_of_trial(model)
    coded = own_code and kind.__name__ != "AdditiveTrial" and not _expands(model)
    if coded:
        assert rows.block is not None
        trial = kind(model, rows.block.x, rows.labels, rows.weight)
    else:
        trial = kind(model, rows.X, rows.y, rows.weight)
    return *trial.run(rows.fold_of), model


def _expands(model: Any) -> bool:
    """Does the model make columns of its own from those that it is given?"""
    return getattr(model, "basis", None) is not None


def _fit_all(model: Any, rows: ComparedRows) -> Any:
    if isinstance(rows.X, Scan) and not isinstance(model, Classifier):
        assert rows.block is not None
        weights = {} if rows.weight is None else {"sample_weight": rows.weight}
        return clone(model).fit(rows.block.x, rows.labels, **weights)
    weights = {} if rows.weight is None or isinstance(rows.X, Scan) else {"sample_weight": rows.weight}
    return clone(model).fit(rows.X, rows.y, **weights)


def _check_size(tuning: str, rows: ComparedRows, groups: Groups) -> None:
    width = min(rows.width, rows.n) if tuning != "lasso" else rows.width
    numbers = groups.count * width**2 * (len(rows.classes) if tuning == "rda" else 1)
    if numbers > MOST_NUMBERS:
        raise DataError(
            f"{rows.width:,} columns are too many to tune it from the statistics of {groups.count} groups of folds. "
            "Give the model with numbers instead."
        )


def _told_setting(model: Any) -> Setting | None:
    """What a model that tunes itself has chosen."""
    own = {"alpha": "alpha_", "gamma": "gamma_", "shrinkage": "shrinkage_", "C": "C_", "psi": "psi_"}
    if hasattr(model, "best_params_"):
        return dict(model.best_params_)
    found = {name: getattr(model, at) for name, at in own.items() if np.ndim(getattr(model, at, [])) == 0}
    return found or None


def _first_line(text: str) -> str:
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())
