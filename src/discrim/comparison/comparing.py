"""Which model? All that fit the data, on the same folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

from sklearn.base import clone, is_classifier

from discrim.comparison.arrangements import how_often, in_order_of_time, only_held_out, repeated
from discrim.comparison.baseline import BASELINE, try_baseline
from discrim.comparison.cautions import (
    dependences,
    few_rows,
    leaks,
    of_interest,
    of_leave_one_out,
    poor_probabilities,
    predict_alone,
    rare_classes,
    with_notes,
)
from discrim.comparison.clock import PATIENCE, Clock, OutOfTimeError
from discrim.comparison.compared_rows import ComparedRows, read_rows
from discrim.comparison.decided import Missing, Wanted
from discrim.comparison.given import Given
from discrim.comparison.metrics import Costs, Metric, check_metric, decided, judge, refuse_area_of_single_rows
from discrim.comparison.nested import check_nested, nested_error
from discrim.comparison.plan import check_budget, economies, plan
from discrim.comparison.reference import REFERENCE, check_reference, try_reference
from discrim.comparison.result import Comparison
from discrim.comparison.scanned import goes_by_scan, read_scanned, refuse_in_memory
from discrim.comparison.scores import ONE_POINT, REFER, Row, gain_over, score_rows
from discrim.comparison.selection import Corrected, corrected_error
from discrim.comparison.trials import Candidate, Tried, try_candidate
from discrim.comparison.verdict import Choice, choose, said_of_nested, verdict_of
from discrim.engines.progress import Progress
from discrim.errors import DataError, DiscrimError, InterruptedWarning, ParameterError, known_names, name_list, warn
from discrim.inference.assumptions import AssumptionChecks, checks_of_rows
from discrim.models.registry import Entry, all_entries
from discrim.sources import Scan, open_rows
from discrim.text import Documents

# Parameters by names that other libraries, and the command, have for them.
MEANT = {
    "target": "Give the labels as y; for a column of a table or a file: compare(scan(X, target='name')).",
    **dict.fromkeys(("folds", "n_folds", "n_splits"), "Give the number of folds as cv."),
    **dict.fromkeys(("seed", "random_seed"), "Give the seed as random_state."),
    **dict.fromkeys(("weights", "weight", "weight_column"), "Give the weights as sample_weight."),
    **dict.fromkeys(("scoring", "scorer"), "Give what decides as metric."),
    **dict.fromkeys(("drop", "exclude"), "Give the columns to leave out as without."),
}


@known_names(MEANT)
def compare(
    X: Any,
    y: Any = None,
    models: Any = None,
    *,
    cv: Any = 10,
    metric: Metric = "error",
    sample_weight: Any = None,
    budget: float | None = 60,
    repeats: int = 1,
    nested: bool | int = False,
    groups: Any = None,
    time: Any = None,
    missing: Missing = "impute",
    types: Mapping[str, str] | None = None,
    without: Sequence[str] | None = None,
    positive: Any = None,
    reference: str | None = "boosting",
    random_state: Any = 0,
) -> Comparison:
    """Cross-validate all models that fit the data on the same folds, and choose one.

    Every row is predicted by models that have not seen it, and parameters are tuned inside the training parts: alpha
    and gamma of regularised discriminant analysis, the penalties of ridge, lasso and logistic regression. For that,
    folds are put into at most ten groups; a setting is judged on one group by a model without that group and without
    the one it is chosen for. With 1,000 rows or more in a group one such judgement is made, with fewer up to nine.
    Ridge and lasso are judged by the squared error of the indicators, logistic regression by log loss, regularised
    discriminant analysis by ``metric`` if that is the error, else by log loss.

    Columns of a table that are not features are left out, and ``remarks`` says which and why: row numbers, identifiers,
    dates, and strings of which most rows have one of their own. A column of strings that are nearly all numbers is read
    as numbers, with the others missing. A scan with ``features`` keeps all of them; arrays are taken as they are.

    Columns are prepared inside the folds, by the training rows alone. Where a penalty would depend on units, columns
    are standardised (counts of words are not: they have one unit). Missing values are filled in by the mean of a
    column or its most frequent level. A column with five of them or more, which are more frequent in some classes than
    in others (chi-squared test at 5%), gets a further one that marks them, for all models but those with a covariance
    matrix for each class; naive Bayes of mixed columns uses them as they are,
    and your own classifiers do if they can.
    The preparation is part of ``best``, which takes rows as they are given here.

    The choice. The table has a baseline, which always predicts the most frequent class. Models that are not better by a
    one-sided paired test at 5%, adjusted for their number by the largest statistic under random signs (max-T), are
    excluded; if that leaves none, the baseline is chosen, and the verdict says so. Of the others those stay whose
    paired difference from the best is within one standard error, and within one point of error. Of these the lowest log
    loss wins, and within 2% of it the smaller and more regularised rule. The same holds for a tie without a single
    error, where log losses only show which model is most confident.

    p-values are those of the difference from the best model, two-sided and adjusted for all pairs in the same way: of
    equal models hardly one in twenty tables has any below 0.05. For a function as the metric they are those of the
    corrected resampled t-test, Holm-adjusted. Areas under the curve compare rows of one fold only.

    Intervals are of level 95% for the model that is fitted to all rows. The held-out losses of two rows depend on each
    other, since each is in the training part of the other: for a rule of d free numbers from n rows the variance is
    taken as 1 + 2 d / n times, at most twice, that of independent rows, and as twice for models that are not better
    than the baseline. ``docs/coverage.md`` has how often they cover.

    The error of a model that was chosen for its small error is too small. ``corrected`` is the error to expect of the
    chosen rule, by a bootstrap of the choice over the held-out rows (nothing is fitted again), with its interval. With
    ``groups`` it draws whole groups, and all intervals and tests go by the variance between groups.

    Parameters
    ----------
    X, y : rows and labels as every ``fit`` takes them; or a ``scan``; or ``documents`` with labels, whose words are
        counted once, for all folds together and without using the labels
        A scan of more than 67 million values, or one of Dask or Spark, is not held in memory. Folds are then a hash of
        the seed and the number of a row. One pass collects the statistics of every fold, so that models of a statistic
        learn from all rows of the other folds; all models are judged on some 200,000 rows that the hash draws, each by
        models that have not seen it. Models that need rows learn from those of the sample there, and settings are
        chosen by it. ``best`` is fitted to all rows, and ``remarks`` say what was done.
    models : list, dictionary of names to classifiers, or None for the library's own
        Entries are names ("LDA", "QDA", "RDA", "Logistic", ..., or class names), any scikit-learn classifiers, which
        are refitted for every fold, or "default" for all that None stands for, as in ``["default", SVC()]``.
    cv : number of folds, "loo", a splitter, or a list of (train, test) that holds out every row once
        A number of folds is dealt by a shuffle of the rows of each class, so that their order does not matter; equal
        rows stay in one fold, unless they would fill half of it. Where all classes have fewer rows than folds there
        are as many folds as rows in the largest class. With two folds, or training parts that leave rows out, models
        are tuned by five folds of their training part.
    metric : 'error', 'balanced_error', 'log_loss', 'auc', 'brier', a matrix of costs, or a function
        The balanced error is the mean of the errors of the classes. Costs are those of the class of a row (a line, in
        the order of the labels) by the one that is predicted (a column), or a dictionary by pairs of labels, where
        pairs that are left out cost 1; models with posteriors then decide by the least expected cost, and so does
        ``best``. A function is called as ``metric(y, predicted, posterior)`` of out-of-fold predictions; less is
        better.
    sample_weight : array of n weights, or None
    budget : seconds that the comparison may take, or None
        Models, grids and subsamples are chosen for it beforehand, by a formula with fixed constants, so that the same
        call gives the same table: with many rows settings are chosen by some of them, and what does not fit is left out
        with its estimate. A clock stops what takes twice as long as planned, and the result says so.
    repeats : how many times folds are dealt, with other seeds
        Figures are means over them, which takes the chance of one dealing out of them; the rows are no more than they
        are, and intervals know that. Needs ``cv`` as a number. Cost: as many comparisons.
    nested : True, False, or how often outer folds are dealt; True is ten times
        The whole of this comparison (columns, settings, choice) is made again without each of five outer folds, which
        its choice then predicts: an error on rows that nothing of the choice has seen. Its interval, of Bates, Hastie
        and Tibshirani (2024), knows how much figures of a comparison miss their target. ``nested`` of the result has
        both, and how often each model was chosen. Price: five further comparisons for each dealing, so 50 for True,
        each of four fifths of the rows with this ``budget``; of m models and k folds that is 5 m (k + 1) fits for each
        dealing, not counting those of tuning.
    groups : array of n, name of a column, or None
        Rows of one group stay together: none is in a training part and its test part, in tuning neither. There are
        never more folds than groups. A splitter gets them, and one that splits a group is an error. A column of groups
        or of times is no feature.
    time : array of n values that can be ordered (numbers, dates), name of a column, or None
        Folds are then stretches of time, and every row is predicted by models of earlier rows only. The first stretch
        is never held out: its rows are in no figure, and in ``comparison["LDA"]`` they have the fold -1.
    reference : 'boosting' or None
        Whether scikit-learn's ``HistGradientBoostingClassifier`` is tried on the same folds, to see what a more
        flexible model would gain. It is never chosen, and not run where its fits would take more than about 20 s.
    missing : 'impute', 'drop' or 'error'
        Missing values are filled in, or rows that have any, or no label, are left out, or they are an error that names
        the columns.
    types : dictionary of names of columns to 'number' or 'category', or None
        What columns are, where the table does not show it: codes of a category that are written as numbers, dates as
        numbers of days, or an identifier that is to take part as it is.
    without : list of names of columns to leave out, or None; x0, x1, ... of an array
    positive : the class of interest of two; None is the second in order
        Curves, calibration and the report are of it; where it is named, the verdict says how much of it is found.
    random_state : seed of the shuffle; None takes another one each time

    A model that cannot be used is listed with the reason. After Ctrl-C the models that are done are compared, with an
    ``InterruptedWarning``. A terminal shows the progress.

    Examples
    --------
    >>> import discrim
    >>> X, y = discrim.datasets.load_iris().xy
    >>> found = discrim.compare(X, y, ["LDA", "QDA", "Gaussian NB"])
    >>> found.chosen
    'QDA'
    >>> found.best.score(X, y)
    0.98
    """
    start, with_reference = perf_counter(), check_reference(reference)
    budget, wanted = check_budget(budget), Wanted(missing, types or {}, without or (), positive)
    clock = Clock(budget)
    if isinstance(y, str):
        raise DataError(f"y is the text {y!r}; it must be the labels. For a column: compare(scan(X, target={y!r})).")
    if y is None and not isinstance(X, (Scan, Documents)):
        X, y = _by_formula(models, X)
    rows: ComparedRows
    if goes_by_scan(X):
        refuse_in_memory(y=y, sample_weight=sample_weight, groups=groups, time=time, repeats=repeats, nested=nested)
        rows, clock = read_scanned(X, cv, random_state, wanted), Clock(budget)
    else:
        rows = read_rows(Given(X, y, sample_weight, groups, time), cv, random_state, wanted)
    rows = replace(rows, clock=clock)
    left_out = [*wanted.without, *([groups] if isinstance(groups, str) else [])]
    once_more = partial(
        compare, models=models, cv=cv, metric=metric, budget=budget, repeats=repeats, missing=missing, types=types,
        without=left_out, positive=positive, reference=None, random_state=random_state,
    )  # fmt: skip
    metric = check_metric(metric, rows.classes)
    refuse_area_of_single_rows(metric, rows)
    rows = in_order_of_time(rows, cv)
    again, dealings = repeated(rows, cv, repeats), check_nested(nested, rows, metric, cv)
    candidates = plan(candidates_for(models, rows), rows, None if budget is None else budget / (1 + len(again)))
    rows = replace(rows, remarks=(*rows.remarks, *economies(candidates, budget)))
    trials, not_run = _try_everything(candidates, [rows, *again], metric, with_reference=with_reference)
    finish = partial(
        _judged, trials, not_run, rows, metric, once_more, (start, dealings, how_often(repeats, rows.dealt))
    )
    try:
        return finish()
    except KeyboardInterrupt:
        # The models are done: they are judged once more, without what takes long. A second Ctrl-C ends it.
        done = sum(tried.name not in (BASELINE, REFERENCE) for tried in trials)
        clock.stopped = clock.stopped or f"Stopped by the user: all {done} models were done."
        warn(clock.stopped, InterruptedWarning)
        return finish()


def _judged(
    trials: list[Tried],
    not_run: dict[str, str],
    rows: ComparedRows,
    metric: Metric,
    once_more: Callable[..., Comparison],
    known: tuple[float, int, str],
) -> Comparison:
    """The comparison of models that were tried; ``known`` are its start, dealings of outer folds, and how rows are."""
    (start, dealings, dealt), stopped = known, rows.clock.stopped
    if stopped:
        rows = replace(rows, remarks=(*rows.remarks, stopped))
    judged, places = only_held_out(rows)
    by_name = {tried.name: tried.at(places) for tried in trials}
    table = score_rows(list(by_name.values()), not_run, judged, metric)
    choice = choose(table, metric)
    corrected = _corrected(choice, table, by_name, judged, metric)
    gain = None
    if any(row.role == REFER and math.isfinite(row.value_interval[0]) for row in table):
        gain = gain_over(by_name[choice.row.name], by_name[REFERENCE], judged, metric)
    outer = None if stopped else nested_error(once_more, rows, metric, dealings)
    checks = _checks(rows)
    alone = predict_alone(rows)
    cautions = [*said_of_nested(outer, metric), *leaks(rows, alone)]
    cautions += of_interest(choice.row, by_name[choice.row.name], judged)
    cautions += rare_classes(choice.row, judged, metric)
    verdict = verdict_of(table, choice, corrected, checks, rows, metric, gain, cautions)
    remarks = (*rows.remarks, *dependences(rows), *few_rows(judged), *of_leave_one_out(rows))
    remarks = (*remarks, *poor_probabilities(table, by_name))
    rows = replace(rows, remarks=remarks, dealt=dealt, why=with_notes(rows, alone))
    everything = {tried.name: tried for tried in trials}
    seconds = perf_counter() - start
    return Comparison(table, everything, choice.row, corrected, verdict, checks, rows, metric, seconds, outer)


def _by_formula(models: Any, X: Any) -> tuple[Any, Any]:
    """The table and its labels, where one of the models has a formula that names them."""
    each = models.values() if isinstance(models, Mapping) else models if isinstance(models, (list, tuple)) else [models]
    named = (model for model in each if hasattr(model, "separated"))
    found: tuple[Any, Any] = next((model.separated(X) for model in named), (X, None))
    return found


def _corrected(
    choice: Choice, table: list[Row], trials: dict[str, Tried], rows: ComparedRows, metric: Metric
) -> Corrected | None:
    """Of a metric that is a mean over rows; of the baseline nothing was chosen."""
    if choice.reason == "baseline" or callable(metric) or metric == "auc":
        return None
    models = [row.name for row in table if row.usable]
    values, log_losses = (
        {name: one.parts for name in models if (one := judge(trials[name], rows, kind)) is not None}
        for kind in (metric, "log_loss")
    )
    most = ONE_POINT if metric == "error" else math.inf
    return corrected_error(values, log_losses, rows, most, metric, choice.row)


def _try_everything(
    candidates: list[Candidate], dealt: list[ComparedRows], metric: Metric, *, with_reference: bool
) -> tuple[list[Tried], dict[str, str]]:
    """The models, the baseline and the reference, decided as the metric asks; and why others could not be tried."""
    rows, *again = dealt
    trials, not_run = _try_all(candidates, rows, by_error=metric == "error", again=again)
    if not trials:
        name, why = next(iter(not_run.items()))
        raise DataError(f"None of the {len(not_run)} models could be used. {name}: {why}")
    trials.append(try_baseline(rows, metric.matrix if isinstance(metric, Costs) else None))
    if with_reference:
        trees = _reference(rows, again, len(trials) - 1)
        if isinstance(trees, Tried):
            trials.append(trees)
        else:
            not_run[REFERENCE] = trees
    return [decided(tried, rows, metric) for tried in trials], not_run


def _reference(rows: ComparedRows, again: Sequence[ComparedRows], done: int) -> Tried | str:
    """It, or why it was not run; all ``done`` models are kept whatever happens to it."""
    clock = rows.clock
    if clock.stopped:
        return clock.why_stopped
    try:
        return try_reference(rows, again)
    except KeyboardInterrupt:
        clock.stopped = f"Stopped by the user: all {done} models were done, and the reference was not."
        warn(clock.stopped, InterruptedWarning)
        return clock.why_stopped


def _try_all(
    candidates: list[Candidate], rows: ComparedRows, *, by_error: bool, again: Sequence[ComparedRows] = ()
) -> tuple[list[Tried], dict[str, str]]:
    """The models that could be tried, on these folds and on those that were dealt ``again``; why others could not."""
    trials, not_run = list[Tried](), dict[str, str]()
    clock = rows.clock
    with Progress("comparing", len(candidates), "models", clock=True) as progress:
        clock.progress = progress
        for i, candidate in enumerate(candidates):
            clock.model = candidate.name
            progress.left = sum(later.seconds for later in candidates[i:])
            try:
                tried = _try_on_all(candidate, [rows, *again], by_error=by_error)
            except (KeyboardInterrupt, OutOfTimeError) as stop:
                if not trials:
                    if isinstance(stop, KeyboardInterrupt):
                        raise
                    raise DataError(
                        f"No model was done within {PATIENCE:.0f} times the budget of {clock.seconds:g} s. Give more "
                        "time (budget=None sets no limit), fewer rows, or name the models."
                    ) from None
                by_clock = f"the clock, after {clock.elapsed:.0f} s with a budget of {clock.seconds or 0.0:g} s"
                by = "the user" if isinstance(stop, KeyboardInterrupt) else by_clock
                clock.stopped = f"Stopped by {by}: {len(trials)} of {len(candidates)} models were done."
                not_run |= {left.name: left.why_not or clock.why_stopped for left in candidates[i:]}
                warn(clock.stopped, InterruptedWarning)
                break
            if isinstance(tried, Tried):
                trials.append(tried)
            else:
                not_run[candidate.name] = tried
            progress.add(1)
        clock.progress = None
    return trials, not_run


def _try_on_all(candidate: Candidate, dealt: Sequence[ComparedRows], *, by_error: bool) -> Tried | str:
    """On each of several sets of folds; fitted to all rows with the setting of the first."""
    found = list[Tried]()
    for rows in dealt:
        tried = try_candidate(candidate, rows, by_error=by_error)
        if isinstance(tried, str):
            return tried
        found.append(tried)
    return replace(found[0], again=tuple(found[1:]), total_time=sum(tried.total_time for tried in found))


def candidates_for(wanted: Any, rows: ComparedRows) -> list[Candidate]:
    """The models that ``compare`` was asked for, by unique names; the default ones where it was asked for none."""
    if wanted is None:
        wanted = ["default"]
    if isinstance(wanted, str) or hasattr(wanted, "fit"):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise ParameterError.bad_value("models", wanted, "a list or a dictionary of classifiers, or None")
    items: list[tuple[str | None, Any]]
    items = list(wanted.items()) if isinstance(wanted, Mapping) else [(None, item) for item in wanted]
    if not items:
        raise ParameterError("The 'models' parameter is empty; leave it out for the library's own models.")
    found: dict[str, Candidate] = {}
    for given, item in items:
        for one in _of_item(item, rows):
            start = name = str(given or one.name)
            number = 2
            while name in found or name in (BASELINE, REFERENCE):
                name, number = f"{start} ({number})", number + 1
            found[name] = replace(one, name=name)
    return list(found.values())


def _of_item(item: Any, rows: ComparedRows) -> list[Candidate]:
    if isinstance(item, str):
        known = all_entries()
        if item == "default":
            default = (entry for entry in known.values() if (entry.words if rows.of_words else entry.offered(rows)))
            return [_candidate(entry, rows) for entry in default]
        entry = known.get(item) or next((one for one in known.values() if one.kind.__name__ == item), None)
        if entry is None:
            raise ParameterError.bad_value(
                "models", item, f"'default', a classifier, or one of {name_list(known, most=len(known))}"
            )
        return [_candidate(entry, rows)]
    if isinstance(item, type):
        raise ParameterError(f"The 'models' parameter has the class {item.__name__}; give a model, {item.__name__}().")
    if not (hasattr(item, "fit") and hasattr(item, "predict") and is_classifier(item)):
        raise ParameterError.bad_value("models", item, "made of classifiers, or of names of the library's models")
    return [Candidate(type(item).__name__, clone(item))]


def _candidate(entry: Entry, rows: ComparedRows) -> Candidate:
    return Candidate(entry.name, entry.make(rows), entry.tuning, entry.why_not(rows), entry.work)


def _checks(rows: ComparedRows) -> AssumptionChecks:
    """Of the coded columns, with missing values filled in."""
    filled = rows.filled
    if filled is None or not rows.dense:
        return AssumptionChecks([])
    try:
        return checks_of_rows(open_rows(filled.x, rows.labels, rows.weight, design=rows.design))
    except DiscrimError:
        return AssumptionChecks([])
