"""One candidate on the folds of a comparison: by the cheapest route that gives what refitting gives."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from discrim.comparison.clock import OutOfTimeError
from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.prepared import PreparedClassifier, Steps, unwrapped
from discrim.comparison.tuning import FULL, Effort, Setting, Tuned, steps_for, tune
from discrim.errors import DiscrimError
from discrim.evaluation.cross_validation import CrossValidation, check_takes_weights, put_predictions, trial_of
from discrim.evaluation.resampling import HeldOut, Trial
from discrim.families.recipe import Shape, Turned
from discrim.families.rule import Output, score_rows
from discrim.models.registry import Size, Work
from discrim.models.shell import Classifier, RecipeClassifier, recipe_of
from discrim.parallel import blas_threads
from discrim.sources import Scan
from discrim.typing import Index

# Folds of a training part, where the folds of the comparison cannot be used for tuning.
INNER_FOLDS = 5
# What a column without a name is called in messages.
PLACE = r"x(\d+)"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model under the name it has in the table.

    ``tuning`` says how its parameters are chosen inside the folds, '' if they are not. ``why_not`` says why the data do
    not suit it. ``work`` estimates its seconds, where that is known; ``effort`` is what the budget allows, and takes
    about so many ``seconds``.
    """

    name: str
    model: Any
    tuning: str = ""
    why_not: str = ""
    work: Callable[[Size], Work] | None = None
    effort: Effort = FULL
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Tried:
    """The out-of-fold predictions of a candidate and its fit of all rows; a ``note`` is the first warning.

    ``margin`` are out-of-fold scores of the second of two classes, for models without posteriors. ``fit_time`` is the
    time of one fit of all rows with the setting that was chosen, ``total_time`` that of the whole trial. ``again`` are
    the same on further folds, where the comparison repeats them.
    """

    name: str
    note: str
    result: CrossValidation
    margin: Any
    model: Any
    setting: Setting | None
    fit_time: float
    total_time: float
    again: tuple[Tried, ...] = ()

    def at(self, places: Index | None) -> Tried:
        """The predictions of these rows alone, which were all held out."""
        if places is None:
            return self
        kept = self.result
        result = replace(
            kept, posterior=kept.posterior[places], folds=kept.folds[places], y=kept.y[places],
            predicted=kept.predicted[places].astype(kept.classes.dtype), unseen=kept.unseen[places],
        )  # fmt: skip
        return replace(self, result=result, margin=None if self.margin is None else self.margin[places])

    @property
    def has_posterior(self) -> bool:
        return not np.isnan(self.result.log_loss)


def try_candidate(candidate: Candidate, rows: ComparedRows, *, by_error: bool) -> Tried | str:
    """Out-of-fold predictions with tuning inside the folds, then the fit of all rows; or why there are none."""
    if candidate.why_not:
        return candidate.why_not
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            held, model, setting, steps = _held_out(candidate, rows, by_error=by_error)
            begin = perf_counter()
            fitted = _fit_all(model, rows, steps)
            end = perf_counter()
        except OutOfTimeError:
            raise
        # Models from elsewhere may raise anything; the comparison goes on without them.
        except Exception as error:  # noqa: BLE001 - as said
            kind = "" if isinstance(error, DiscrimError) else f"{type(error).__name__}: "
            return kind + _note(str(error) or "it could not be fitted to a training part", rows)
    setting = setting if setting is not None else _own_setting(unwrapped(fitted))
    result = CrossValidation.of(rows.data, rows.folds, held)
    note = _note(str(caught[0].message), rows) if caught else ""
    return Tried(candidate.name, note, result, held.margin, fitted, setting, end - begin, end - start)


def _held_out(
    candidate: Candidate, rows: ComparedRows, *, by_error: bool
) -> tuple[HeldOut, Any, Setting | None, Steps]:
    """Out-of-fold predictions; the model for all rows, its setting if one was chosen, and the steps for its columns."""
    model, effort = candidate.model, candidate.effort
    rows.clock.at()
    if not candidate.tuning and not (rows.dealer.grouped and _sought(model)):
        held, steps = _run(model, rows.trained_on(effort.trained))
        return held, model, None, steps
    if candidate.tuning and rows.folds.complementary and len(rows.folds.parts) >= 3:
        tuned = tune(recipe_of(model), rows, by_error=by_error, effort=effort)
        held = _run_tuned(model, rows.trained_on(effort.trained), tuned)
        return held, clone(model).set_params(**tuned.best), tuned.best, tuned.steps
    # The folds of the comparison do not add up to all rows: folds of each training part by itself.
    held = HeldOut(rows.n, len(rows.classes))
    for f in range(len(rows.folds.parts)):
        model, _, steps = _tuned_on(candidate, rows, rows.folds.train(f), by_error=by_error)
        _refit(model, rows, steps, [f], held)
    return held, *_tuned_on(candidate, rows, np.arange(rows.n), by_error=by_error)


def _tuned_on(
    candidate: Candidate, rows: ComparedRows, train: Index, *, by_error: bool
) -> tuple[Any, Setting | None, Steps]:
    """The model with the setting that inner folds of these rows choose; as it is where they are too few for that."""
    model, recipe = candidate.model, recipe_of(candidate.model)
    folds = rows.dealer.take(train).inner(INNER_FOLDS)
    steps = steps_for(recipe, rows, standardise=bool(candidate.tuning))
    if folds is None or len(np.unique(rows.codes[train])) < 2:
        return model, None, steps
    part = rows.take(train, folds)
    if candidate.tuning:
        tuned = tune(recipe, part, by_error=by_error)
        setting, steps = tuned.best, tuned.steps
    else:
        setting = _chosen_by_groups(model, part, steps)
    return clone(model).set_params(**setting), setting, steps


def _sought(model: Any) -> list[str]:
    """The parameters that a model chooses by itself, and can choose by folds that it is given."""
    recipe = recipe_of(model)
    search, given = None if recipe is None else recipe.search(), model.get_params(deep=False)
    if search is None or "cv" not in given:
        return []
    return [name for name, value in given.items() if isinstance(value, str) and value == search.how]


def _chosen_by_groups(model: Any, part: ComparedRows, steps: Steps) -> Setting:
    """The settings that these folds choose: by itself the model would hold out rows, not groups."""
    folds = [(part.folds.train(f), part.folds.test(f)) for f in range(len(part.folds.parts))]
    weights = {} if part.weight is None else {"sample_weight": part.weight}
    x, sought = part.data.x, _sought(model)
    if steps.any:
        x = part.prepared_by(np.arange(part.n), steps).apply(x)
    fitted = clone(model).set_params(**dict.fromkeys(sought, "cv"), cv=folds).fit(x, part.labels, **weights)
    return {name: fitted.chosen.settings[name] for name in sought}


def _run_tuned(model: Any, rows: ComparedRows, tuned: Tuned) -> HeldOut:
    """Each fold by the model with the setting of that fold: as many runs as there are different settings."""
    held = HeldOut(rows.n, len(rows.classes))
    for number in np.unique(tuned.by_fold):
        one = clone(model).set_params(**tuned.settings[number])
        folds = np.flatnonzero(tuned.by_fold == number)
        part = _run_standardised(one, rows, folds, tuned.steps) if tuned.steps.standardise else _run(one, rows)[0]
        own = np.isin(rows.folds.number, folds)
        held.posterior[own], held.best[own] = part.posterior[own], part.best[own]
        held.has_posterior &= part.has_posterior
        held.absent += part.absent
        held.route = part.route
    return held


def _run_standardised(model: Any, rows: ComparedRows, folds: Index, steps: Steps) -> HeldOut:
    """These folds on standardised columns: by merged statistics or in few rotated columns where that can be."""
    recipe, shape = recipe_of(model), Shape(rows.design, rows.classes, rows.n)
    if recipe is not None and rows.block is not None and rows.dense:
        with blas_threads(rows.width):
            found = Trial(recipe, rows.block, shape, rows.statistics).merged(rows.folds, folds, standardise=True)
        if found is not None:
            return found
    held = HeldOut(rows.n, len(rows.classes))
    if recipe is None or not rows.wide or not recipe.rotation_invariant:
        return _refit(model, rows, steps, folds, held)
    for f in folds:
        rows.clock.at(f"fold {f + 1}/{len(rows.folds.parts)}")
        z = rows.spanned(rows.folds.train(f), steps)
        shape = Shape(Turned(z.shape[1]), rows.classes, rows.n, spanned_from=rows.prepared_width(steps))
        Trial(recipe, replace(rows.data, x=z), shape).refit(rows.folds, [f], held)
    return held


def _run(model: Any, rows: ComparedRows) -> tuple[HeldOut, Steps]:
    """Ours on the coded columns; any other on the table as it came, or coded where it cannot take gaps."""
    recipe, ours = recipe_of(model), isinstance(model, Classifier)
    mixed = recipe is not None and recipe.reads == "mixed"
    steps = steps_for(recipe, rows, standardise=False)
    if ours and not mixed and rows.block is not None:
        if recipe is None or (recipe.reads == "dense" and not rows.dense):
            return trial_of(model, rows.block.x, rows.labels, rows.weight).run(rows.folds), steps
        shape = Shape(rows.design, rows.classes, rows.n)
        return Trial(recipe, rows.block.kept(recipe.reads), shape, rows.statistics).run(rows.folds), steps
    as_it_came = replace(steps, fill=False)
    if mixed or not (ours and steps.fill):
        try:
            own = isinstance(rows.X, Scan)  # which brings its weights
            return trial_of(model, rows.X, rows.y, None if own else rows.weight).run(rows.folds), as_it_came
        except Exception:
            # A formula needs the columns by their names.
            if ours or not rows.missing or hasattr(model, "separated"):
                raise
    held = HeldOut(rows.n, len(rows.classes))
    return _refit(model, rows, steps, range(len(rows.folds.parts)), held), steps


def _refit(model: Any, rows: ComparedRows, steps: Steps, folds: Iterable[int], held: HeldOut) -> HeldOut:
    """The predictions for these folds by models that are refitted, on columns prepared by their training rows."""
    check_takes_weights(model, rows.data)
    x = rows.data.x
    for f in folds:
        rows.clock.at(f"fold {f + 1}/{len(rows.folds.parts)}")
        train, test = rows.folds.train(f), rows.folds.test(f)
        part = x[train]
        ready = rows.prepared_by(train, steps, part)
        weights = {} if rows.weight is None else {"sample_weight": rows.weight[train]}
        fitted = clone(model).fit(ready.apply(part, own=True), rows.labels[train], **weights)
        z, recipe = ready.apply(x[test]), recipe_of(fitted)
        if recipe is None or recipe.reads == "mixed":
            put_predictions(held, fitted, z, test, rows.classes)
        else:
            known, rule = np.searchsorted(rows.classes, fitted.classes_), fitted.solution().rule
            posterior = score_rows(rule, z, Output.POSTERIOR)[0] if rule.has_posterior else None
            held.put(test, known, posterior, score_rows(rule, z, Output.BEST)[0])
    return held


def _fit_all(model: Any, rows: ComparedRows, steps: Steps) -> Any:
    """The model for all rows: it takes rows as they were given to the comparison."""
    found = rows.fitted(model, steps)
    if found is not None:
        return found
    numbers = isinstance(rows.given, Scan) and not isinstance(model, Classifier)
    weights = {} if rows.weight is None or isinstance(rows.given, Scan) else {"sample_weight": rows.weight}
    if rows.words is not None:
        return clone(model).fit(rows.X, rows.y, **weights)
    if steps.any or rows.left_out or numbers or rows.reading.names:
        model = PreparedClassifier(
            clone(model),
            standardise=steps.standardise,
            impute=steps.any or numbers,
            indicators=steps.indicators,
            without=tuple(rows.left_out),
            reading=rows.reading if rows.reading.names else None,
        )
    return clone(model).fit(rows.given, rows.y, **weights)


def _own_setting(model: Any) -> Setting | None:
    """What a model that tunes itself has chosen."""
    if isinstance(model, RecipeClassifier) and model.chosen is not None:
        return model.chosen.settings
    if hasattr(model, "best_params_"):
        return dict(model.best_params_)
    names = ("alpha", "gamma", "shrinkage", "C", "psi")
    found = {name: getattr(model, f"{name}_") for name in names if np.ndim(getattr(model, f"{name}_", [])) == 0}
    return found or None


def _note(text: str, rows: ComparedRows) -> str:
    """The first paragraph on one line; columns that a model knows by their places have their names."""
    first, names = " ".join(text.split("\n\n", maxsplit=1)[0].split()), rows.marked.names_out
    if any(re.fullmatch(PLACE, name) for name in names):
        return first
    known = dict(enumerate(names))
    return re.sub(f"'{PLACE}'", lambda found: f"'{known.get(int(found[1]), found[0][1:-1])}'", first)
