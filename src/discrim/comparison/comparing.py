"""Which model? All that fit the data, on the same folds."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from discrim.comparison.baseline import try_baseline
from discrim.comparison.candidates import Candidate, candidates_for
from discrim.comparison.choice import choose
from discrim.comparison.compared_rows import ComparedRows, read_rows
from discrim.comparison.result import Comparison
from discrim.comparison.scores import Metric, check_metric, row_losses, score_rows
from discrim.comparison.trials import Tried, try_candidate
from discrim.comparison.verdict import verdict_of
from discrim.engines.progress import Progress
from discrim.errors import DataError, DiscrimError, InterruptedWarning, warn
from discrim.inference.assumptions import AssumptionChecks, checks_of_rows
from discrim.sources import open_rows

STOPPED = "not run: stopped by the keyboard"


def compare(
    X: Any,
    y: Any = None,
    models: Any = None,
    *,
    cv: Any = 10,
    metric: Metric = "error",
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = 0,
) -> Comparison:
    """Cross-validate all models that fit the data on the same folds, and choose one.

    The answers of every row come from models that have not seen it, and parameters are tuned inside the training
    parts: alpha and gamma of regularised discriminant analysis, the penalties of ridge, lasso and logistic regression.
    For that, folds are put into at most ten groups; a setting is judged on one group by a model without that group and
    without the one it is chosen for. With 1,000 rows or more in a group one such judgement is made, with fewer up to
    nine. Ridge and lasso are judged by the squared error of the indicators, logistic regression by log loss,
    regularised discriminant analysis by ``metric`` if that is the error, else by log loss.

    Columns of a table that are no features are left out, and ``remarks`` says which and why: row numbers, identifiers,
    dates, and strings of which most rows have one of their own. A column of strings that are nearly all numbers is read
    as numbers, with the others missing. A scan with ``features`` keeps all of them; arrays are taken as they are.

    Columns are prepared inside the folds, by the training rows alone. Where a penalty would depend on units, columns
    are standardised (counts of words are not: they have one unit). Missing values are filled in by the mean of a
    column or its most frequent level, and a column with five of them or more gets a further one that marks them, for
    all models but those with a covariance matrix for each class; naive Bayes of mixed columns takes them as they are,
    and a classifier of yours does if it can.
    The preparation is part of ``best``, which takes rows as they are given here.

    The choice. The table has a baseline, which always gives the most frequent class. Models that are not better by a
    one-sided paired test at 5%, with Holm's correction, are out; if that leaves none, the baseline is taken, and the
    verdict says so. Of the others those stay whose paired difference from the best is within one standard error, and
    within one point of error. Of these the lowest log loss wins, and within 2% of it the smaller and more regularised
    rule. The same holds for a tie without a single error, where log losses tell who is boldest. For the area under the
    curve, or a function as the metric, it is the simplest of the models that a test cannot tell from the best.

    p-values against the best are McNemar's for the error, DeLong's for the area under the curve of two classes, else
    those of the corrected resampled t-test, all with Holm's correction.

    Parameters
    ----------
    X, y : rows and labels as every ``fit`` takes them; or a ``scan``, whose rows are held in memory; or ``documents``
        with labels, whose words are counted once, for all folds together and without a look at the labels
    models : list, dictionary of names to classifiers, or None for the library's own
        Entries are names ("LDA", "QDA", "RDA", "Logistic", ..., or class names), any scikit-learn classifiers, which
        are refitted for every fold, or "default" for all that None stands for, as in ``["default", SVC()]``.
    cv : number of folds, "loo", a splitter, or a list of (train, test) that holds out every row once
        A number of folds is dealt by a shuffle of the rows of each class, so that their order does not matter; equal
        rows stay in one fold, unless they would fill half of it. Where all classes have fewer rows than folds there
        are as many folds as rows in the largest class. With two folds, or training parts that leave rows out, models
        are tuned by five folds of their training part.
    metric : 'error', 'log_loss', 'auc', 'brier', or a function
        ``metric(y, predicted, posterior)`` of out-of-fold answers, of which less is better.
    sample_weight : array of n weights, or None
    groups : array of n, or None
        Rows of one group stay together: none is in a training part and its test part, in tuning neither. There are
        never more folds than groups. A splitter gets them, and one that splits a group is an error.
    random_state : seed of the shuffle; None takes another one each time

    A model that cannot be used is listed with the reason. After Ctrl-C the models that are done are compared, with an
    ``InterruptedWarning``. A terminal shows how far it is.

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
    start = perf_counter()
    metric = check_metric(metric)
    rows = read_rows(X, y, sample_weight, cv, groups, random_state)
    trials = _try_all(candidates_for(models, rows), rows, by_error=metric == "error")
    if not any(tried.result is not None for tried in trials):
        raise DataError(f"None of the {len(trials)} models could be used. {trials[0].name}: {trials[0].note}")
    trials.append(try_baseline(rows))
    table = score_rows(trials, rows, metric)
    checks = _checks(rows)
    choice = choose(table, row_losses(trials, rows, metric), metric)
    by_name = {tried.name: tried for tried in trials}
    words = verdict_of(table, choice, checks, rows, metric)
    return Comparison(table, by_name, choice.row, words, checks, rows, metric, perf_counter() - start)


def _try_all(candidates: list[Candidate], rows: ComparedRows, *, by_error: bool) -> list[Tried]:
    trials: list[Tried] = []
    with Progress("comparing", len(candidates), "models", clock=True) as progress:
        for candidate in candidates:
            progress.title = f"comparing {candidate.name}"[:32]
            progress.add(0)
            try:
                trials.append(try_candidate(candidate, rows, by_error=by_error))
            except KeyboardInterrupt:
                if not any(tried.result is not None for tried in trials):
                    raise
                trials += [Tried(left.name, STOPPED) for left in candidates[len(trials) :]]
                done = sum(tried.result is not None for tried in trials)
                warn(f"The comparison was stopped; {done} of {len(candidates)} models were done.", InterruptedWarning)
                break
            progress.add(1)
    return trials


def _checks(rows: ComparedRows) -> AssumptionChecks:
    """Of the coded columns, with missing values filled in."""
    filled = rows.filled
    if filled is None or not rows.dense:
        return AssumptionChecks([])
    try:
        return checks_of_rows(open_rows(filled.x, rows.labels, rows.weight, design=rows.design))
    except DiscrimError:
        return AssumptionChecks([])
