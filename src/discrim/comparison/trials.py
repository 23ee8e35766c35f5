"""One candidate on the folds of a comparison: by the cheapest route that gives what refitting gives."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from discrim.block import Block
from discrim.comparison.candidates import Candidate
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.prepared import PreparedClassifier, unwrapped
from discrim.comparison.sizes import family_of
from discrim.comparison.spanned import run_wide, standardised
from discrim.comparison.tuning import (
    Groups,
    Setting,
    Tuned,
    can_be_grouped,
    group_folds,
    tune_grid,
)
from discrim.errors import DataError, DiscrimError, ParameterError
from discrim.evaluation.cross_validation import CrossValidation, kind_of_trial, put_answers, result_of
from discrim.evaluation.held_out import HeldOut
from discrim.evaluation.resampling import MOST_NUMBERS, Trial
from discrim.families.recipe import Recipe, Shape, Turned
from discrim.families.rule import Output, score_rows
from discrim.models.shell import Classifier, RecipeClassifier, recipe_of
from discrim.sources import Scan
from discrim.typing import Index

# Folds of a training part, where the folds of the comparison cannot be used for tuning.
INNER_FOLDS = 5
# What a column without a name is called in messages.
PLACE = r"x(\d+)"


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
            outcome = _held_out(candidate, rows, by_error=by_error)
            begin = perf_counter()
            fitted = outcome.way.fit_all(outcome.model, rows)
            end = perf_counter()
        # A model of anybody's may raise anything; the comparison goes on without it.
        except Exception as error:  # noqa: BLE001
            kind = "" if isinstance(error, DiscrimError) else f"{type(error).__name__}: "
            return Tried(candidate.name, kind + _note(str(error), rows))
    setting = outcome.setting if outcome.setting is not None else _own_setting(unwrapped(fitted))
    marked = Block(np.empty((rows.n, 0)), rows.codes, rows.classes, rows.weight)
    result = result_of(marked, rows.fold_of, outcome.held, outcome.route)
    note = _note(str(caught[0].message), rows) if caught else ""
    return Tried(candidate.name, note, result, outcome.held.margin, fitted, setting, end - begin, end - start)


class _Outcome(NamedTuple):
    """The out-of-fold answers and how they were found; the model for all rows, its setting and its columns."""

    held: HeldOut
    route: str
    model: Any
    setting: Setting | None
    way: Way


def _held_out(candidate: Candidate, rows: ComparedRows, *, by_error: bool) -> _Outcome:
    if not candidate.tuning and rows.dealer.grouped and _sought(candidate.model):
        return _nested(candidate, rows, by_error=by_error)
    if not candidate.tuning:
        held, route, way = _run(candidate.model, rows)
        return _Outcome(held, route, candidate.model, None, way)
    if not can_be_grouped(rows):
        return _nested(candidate, rows, by_error=by_error)
    groups = group_folds(rows)
    _check_size(candidate, rows, groups)
    tuned = _tune(candidate, rows, groups, by_error=by_error)
    held, route = _run_tuned(candidate.model, rows, tuned)
    way = Way.of(candidate.model, rows, standardise=tuned.standardised)
    return _Outcome(held, route, clone(candidate.model).set_params(**tuned.best()), tuned.best(), way)


def _tune(candidate: Candidate, rows: ComparedRows, groups: Groups, *, by_error: bool) -> Tuned:
    recipe = recipe_of(candidate.model)
    if recipe is None:
        raise ParameterError("it is to be tuned by the grid of its recipe, and has none")
    return tune_grid(recipe, rows, groups, by_error)


def _nested(candidate: Candidate, rows: ComparedRows, *, by_error: bool) -> _Outcome:
    """Tuning by folds of each training part by itself, where the folds of the comparison do not add up to all rows."""
    held = HeldOut(rows.n, len(rows.classes))
    for f in range(len(rows.fold_of.parts)):
        model, _, way = _tuned_on(candidate, rows, rows.fold_of.train(f), by_error=by_error)
        way.run(model, rows, [f], held)
    model, setting, way = _tuned_on(candidate, rows, np.arange(rows.n), by_error=by_error)
    return _Outcome(held, "refits", model, setting, way)


def _tuned_on(
    candidate: Candidate, rows: ComparedRows, train: Index, *, by_error: bool
) -> tuple[Any, Setting | None, Way]:
    """The model with the setting that inner folds of these rows choose; as it is where they are too few for that."""
    folds = rows.dealer.take(train).inner(INNER_FOLDS)
    if folds is None or len(np.unique(rows.codes[train])) < 2:
        return candidate.model, None, Way.of(candidate.model, rows, standardise=bool(candidate.tuning))
    part = rows.take(train, folds)
    if not candidate.tuning:
        way = Way.of(candidate.model, rows)
        return *_chosen_by_groups(candidate.model, part, way), way
    tuned = _tune(candidate, part, group_folds(part), by_error=by_error)
    way = Way.of(candidate.model, rows, standardise=tuned.standardised)
    return clone(candidate.model).set_params(**tuned.best()), tuned.best(), way


def _sought(model: Any) -> list[str]:
    """The parameters that a model chooses by itself, and can choose by folds that it is given."""
    recipe = recipe_of(model)
    search, given = None if recipe is None else recipe.search(), model.get_params(deep=False)
    if search is None or "cv" not in given:
        return []
    return [name for name, value in given.items() if isinstance(value, str) and value == search.how]


def _chosen_by_groups(model: Any, part: ComparedRows, way: Way) -> tuple[Any, Setting]:
    """The model with the settings that these folds choose: its own ways hold out rows, not groups."""
    assert part.numbers is not None
    folds = [(part.fold_of.train(f), part.fold_of.test(f)) for f in range(len(part.fold_of.parts))]
    weights = {} if part.weight is None else {"sample_weight": part.weight}
    x, sought = part.numbers.x, _sought(model)
    if way.prepares:
        x = part.prepared_by(np.arange(part.n), standardise=way.standardises, indicators=way.indicators).apply(x)
    fitted = clone(model).set_params(**dict.fromkeys(sought, "cv"), cv=folds).fit(x, part.labels, **weights)
    setting = {name: fitted.chosen.settings[name] for name in sought}
    return clone(model).set_params(**setting), setting


def _run_tuned(model: Any, rows: ComparedRows, tuned: Tuned) -> tuple[HeldOut, str]:
    """Each fold by the model with the setting of that fold: as many runs as there are different settings."""
    held, route = HeldOut(rows.n, len(rows.classes)), ""
    for number in np.unique(tuned.by_fold):
        one = clone(model).set_params(**tuned.settings[number])
        folds = np.flatnonzero(tuned.by_fold == number)
        part, route = _run_folds(one, rows, folds, standardise=tuned.standardised)
        own = np.isin(rows.fold_of.number, folds)
        held.posterior[own], held.best[own] = part.posterior[own], part.best[own]
        held.has_posterior &= part.has_posterior
    return held, route


def _run_folds(model: Any, rows: ComparedRows, folds: Index, *, standardise: bool) -> tuple[HeldOut, str]:
    """These folds at least, by merged statistics where that can be."""
    if not standardise:
        held, route, _ = _run(model, rows)
        return held, route
    recipe = recipe_of(model)
    if rows.block is not None and rows.dense:
        found = None if recipe is None else standardised(recipe, rows, folds)
        if found is not None:
            return found, "statistics"
    held = HeldOut(rows.n, len(rows.classes))
    if not run_wide(recipe, rows, folds, held):
        Way.of(model, rows, standardise=True).run(model, rows, folds, held)
    return held, "refits"


def _run(model: Any, rows: ComparedRows) -> tuple[HeldOut, str, Way]:
    """Ours on the coded columns; anybody else's on the table as it came, or coded where it cannot take gaps."""
    way, recipe = Way.of(model, rows), recipe_of(model)
    readable = recipe is not None and (recipe.reads in ("sparse", "any") or (recipe.reads == "dense" and rows.dense))
    if recipe is not None and readable and rows.block is not None:
        block, shape = rows.block.kept(recipe.reads), Shape(rows.design, rows.classes, rows.n)
        held, route = Trial(recipe, block, shape, rows.statistics).run(rows.fold_of)
        return held, route, way
    kind = kind_of_trial(model)
    if way.prepares and isinstance(model, Classifier):
        return _run_prepared(model, rows, way)
    coded = isinstance(model, Classifier) and rows.block is not None
    if coded and not reads_mixed(recipe):
        assert rows.block is not None
        trial = kind(model, rows.block.x, rows.labels, rows.weight)
        return *trial.run(rows.fold_of), way
    try:
        return *kind(model, rows.X, rows.y, rows.weight).run(rows.fold_of), way
    except Exception:
        if isinstance(model, Classifier) or not rows.missing:
            raise
        return _run_prepared(model, rows, Way.filling(rows))


def _run_prepared(model: Any, rows: ComparedRows, way: Way) -> tuple[HeldOut, str, Way]:
    held = HeldOut(rows.n, len(rows.classes))
    way.run(model, rows, range(len(rows.fold_of.parts)), held)
    return held, "refits", way


def _check_size(candidate: Candidate, rows: ComparedRows, groups: Groups) -> None:
    recipe = recipe_of(candidate.model)
    if recipe is None:
        return
    # Rows that are fewer than the columns are turned into the space that they span, where that may be.
    shape = Shape(Turned(min(rows.width, rows.n)), rows.classes)
    if groups.count * recipe.reduction(shape).numbers(shape) > MOST_NUMBERS:
        raise DataError(
            f"{rows.width:,} columns are too many to tune it from the statistics of {groups.count} groups of folds. "
            "Give the model with numbers instead."
        )


def _own_setting(model: Any) -> Setting | None:
    """What a model that tunes itself has chosen."""
    if isinstance(model, RecipeClassifier) and model.chosen is not None:
        return model.chosen.settings
    own = {"alpha": "alpha_", "gamma": "gamma_", "shrinkage": "shrinkage_", "C": "C_", "psi": "psi_"}
    if hasattr(model, "best_params_"):
        return dict(model.best_params_)
    found = {name: getattr(model, at) for name, at in own.items() if np.ndim(getattr(model, at, [])) == 0}
    return found or None


def _note(text: str, rows: ComparedRows) -> str:
    """The first paragraph on one line; columns that a model knows by their places have their names."""
    first, names = " ".join(text.split("\n\n", maxsplit=1)[0].split()), rows.columns.names_out
    if any(re.fullmatch(PLACE, name) for name in names):
        return first
    return re.sub(f"'{PLACE}'", lambda found: f"'{names[int(found[1])]}'", first)


def reads_mixed(recipe: Recipe[Any] | None) -> bool:
    """Does the model take categories and missing values as they are?"""
    return recipe is not None and recipe.reads == "mixed"


@dataclass(frozen=True)
class Way:
    """``fills`` gaps, marked by ``indicators`` or not; ``standardises``; or neither: the table as it came."""

    fills: bool = False
    standardises: bool = False
    indicators: bool = True

    @classmethod
    def of(cls, model: Any, rows: ComparedRows, *, standardise: bool = False) -> Way:
        """What this model needs; somebody else's gets the table as it came.

        Covariances of classes have no room for marks of gaps: where a column is always there, they have no variance.
        """
        marks = family_of(model) != "own"
        if standardise:
            return cls(bool(rows.missing), standardises=True, indicators=marks)
        fills = bool(rows.missing) and isinstance(model, Classifier) and not reads_mixed(recipe_of(model))
        return cls(fills, indicators=marks)

    @classmethod
    def filling(cls, rows: ComparedRows) -> Way:
        return cls(bool(rows.missing))

    @property
    def prepares(self) -> bool:
        return self.fills or self.standardises

    def run(self, model: Any, rows: ComparedRows, folds: Iterable[int], held: HeldOut) -> None:
        """The answers for these folds by models that are fitted anew, on columns as their training rows say."""
        assert rows.numbers is not None
        _check_weights(model, rows)
        x = rows.numbers.x
        for f in folds:
            train, test = rows.fold_of.train(f), rows.fold_of.test(f)
            ready = rows.prepared_by(train, standardise=self.standardises, indicators=self.indicators)
            weights = {} if rows.weight is None else {"sample_weight": rows.weight[train]}
            fitted = clone(model).fit(ready.apply(x[train]), rows.labels[train], **weights)
            z = ready.apply(x[test])
            recipe = recipe_of(fitted)
            if recipe is not None and not reads_mixed(recipe):
                known, rule = np.searchsorted(rows.classes, fitted.classes_), fitted.solution().rule
                posterior = score_rows(rule, z, Output.POSTERIOR)[0] if rule.has_posterior else None
                held.put(test, known, posterior, score_rows(rule, z, Output.BEST)[0])
            else:
                put_answers(held, fitted, z, test, rows.classes)

    def fit_all(self, model: Any, rows: ComparedRows) -> Any:
        """The model for all rows: it takes rows as they were given to the comparison."""
        numbers = isinstance(rows.given, Scan) and not isinstance(model, Classifier)
        weights = {} if rows.weight is None or isinstance(rows.given, Scan) else {"sample_weight": rows.weight}
        if rows.words is not None:
            return clone(model).fit(rows.X, rows.y, **weights)
        if self.prepares or rows.left_out or numbers:
            model = PreparedClassifier(
                clone(model),
                standardise=self.standardises,
                impute=self.prepares or numbers,
                indicators=self.indicators,
                without=tuple(rows.left_out),
            )
        return clone(model).fit(rows.given, rows.y, **weights)


def _check_weights(model: Any, rows: ComparedRows) -> None:
    if rows.weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise ParameterError(f"{type(model).__name__}.fit takes no sample_weight; leave the weights out.")
