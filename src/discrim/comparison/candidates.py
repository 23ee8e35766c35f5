"""Which models are tried: the library's own that fit the data, those that are named, and anybody's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from discrim import models
from discrim.comparison.rows import ComparedRows
from discrim.errors import ParameterError, name_list, plural

# Rows a column below which the plain covariance is worth shrinking.
CROWDED = 20
# Columns up to which the coordinate descent of every fold is a matter of seconds.
LASSO_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model under the name it has in the table.

    ``tuning`` names the way in which its parameters are chosen inside the folds: 'rda', 'ridge', 'lasso', 'logistic',
    or '' for none. ``why_not`` says why the data do not fit it.
    """

    name: str
    model: Any
    tuning: str = ""
    why_not: str = ""


def candidates_for(wanted: Any, rows: ComparedRows) -> list[Candidate]:
    """The models that ``compare`` was asked for, by unique names; the default ones where it was asked for none."""
    if wanted is None:
        return _defaults(rows)
    if isinstance(wanted, str) or hasattr(wanted, "fit"):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise ParameterError.bad_value("models", wanted, "a list or a dictionary of classifiers, or None")
    items: list[tuple[str | None, Any]]
    items = list(wanted.items()) if isinstance(wanted, Mapping) else [(None, item) for item in wanted]
    if not items:
        raise ParameterError("The 'models' parameter is empty; leave it out for the library's own models.")
    found: list[Candidate] = []
    for name, item in items:
        for one in _of_item(item, rows):
            found.append(Candidate(_unique(str(name or one.name), found), one.model, one.tuning, one.why_not))
    return found


def _of_item(item: Any, rows: ComparedRows) -> list[Candidate]:
    if isinstance(item, str):
        if item == "default":
            return _defaults(rows)
        name = item if item in KNOWN else _by_class_name(item)
        if name is None:
            raise ParameterError.bad_value(
                "models", item, f"'default', a classifier, or one of {name_list(KNOWN, most=len(KNOWN))}"
            )
        return [_candidate(name, rows)]
    if isinstance(item, type):
        raise ParameterError(f"The 'models' parameter has the class {item.__name__}; give a model, {item.__name__}().")
    if not (hasattr(item, "fit") and hasattr(item, "predict") and is_classifier(item)):
        raise ParameterError.bad_value("models", item, "made of classifiers, or of names of the library's models")
    return [Candidate(type(item).__name__, clone(item))]


def _by_class_name(name: str) -> str | None:
    return next((key for key, known in KNOWN.items() if type(known.make()).__name__ == name), None)


def _unique(name: str, found: list[Candidate]) -> str:
    taken, number, start = {one.name for one in found}, 2, name
    while name in taken:
        name, number = f"{start} ({number})", number + 1
    return name


def _defaults(rows: ComparedRows) -> list[Candidate]:
    if rows.words is not None:
        return [_candidate(name, rows) for name in FOR_WORDS]
    return [_candidate(name, rows) for name, known in KNOWN.items() if known.offered(rows)]


def _candidate(name: str, rows: ComparedRows) -> Candidate:
    known = KNOWN[name]
    return Candidate(name, known.make(), known.tuning, known.why_not(rows))


def _no_numbers(rows: ComparedRows) -> str:
    if rows.numbers is None:
        return f"columns of numbers are needed: {rows.no_numbers}"
    if not rows.dense:
        why = (
            "counts of words are sparse" if rows.words else f"{rows.n:,} x {rows.width:,} is too large to be made dense"
        )
        return f"dense columns are needed; {why}"
    return ""


def _no_matrix(rows: ComparedRows) -> str:
    return f"columns of numbers are needed: {rows.no_numbers}" if rows.numbers is None else ""


def _no_class_covariance(rows: ComparedRows) -> str:
    sizes = np.bincount(rows.codes)
    k = int(sizes.argmin())
    if rows.dense and sizes[k] <= rows.width:
        return (
            f"class '{rows.classes[k]}' has {plural(int(sizes[k]), 'row')} for {rows.width:,} columns, too few for a "
            "covariance matrix of its own"
        )
    return _no_numbers(rows)


def _no_common_covariance(rows: ComparedRows) -> str:
    degrees = rows.n - len(rows.classes)
    if rows.dense and degrees <= rows.width:
        return (
            f"{rows.n:,} rows of {len(rows.classes)} classes are too few for a covariance matrix of {rows.width:,} "
            "columns; its shrunken form is for these"
        )
    return _no_numbers(rows)


def _too_wide_for_lasso(rows: ComparedRows) -> str:
    if rows.dense and rows.width > LASSO_COLUMNS:
        return f"more than {LASSO_COLUMNS:,} columns make its path long; logistic_path is for these"
    return _no_numbers(rows)


def _not_counts(rows: ComparedRows) -> str:
    gaps = "counts without missing values are needed" if rows.missing else ""
    return _no_matrix(rows) or gaps or ("" if rows.counts else "counts are needed: whole numbers of at least 0")


def _not_binary(rows: ComparedRows) -> str:
    fits = rows.counts == "binary" or rows.words is not None  # of words it asks only whether they are there
    gaps = "columns without missing values are needed" if rows.missing else ""
    return _no_matrix(rows) or gaps or ("" if fits else "columns of zeros and ones are needed")


def _is_mixed(rows: ComparedRows) -> bool:
    return bool(rows.categories) or rows.block is None


def _crowded(rows: ComparedRows) -> bool:
    return rows.n < CROWDED * rows.width


@dataclass(frozen=True)
class Known:
    """How to make one of the library's models, and when it does not fit. They are listed in the order of their cost."""

    make: Callable[[], Any]
    tuning: str = ""
    why_not: Callable[[ComparedRows], str] = _no_numbers
    offered: Callable[[ComparedRows], bool] = lambda _: True


# By cost: the first ones take a fraction of the time of the last.
KNOWN: dict[str, Known] = {
    "Gaussian NB": Known(models.GaussianNB, offered=lambda rows: not _is_mixed(rows)),
    "Mixed NB": Known(models.MixedNB, why_not=lambda _: "", offered=_is_mixed),
    "Multinomial NB": Known(
        lambda: models.MultinomialNB(alpha="loo"), why_not=_not_counts, offered=lambda rows: rows.counts == "counts"
    ),
    "Complement NB": Known(
        lambda: models.ComplementNB(alpha="cv"), why_not=_not_counts, offered=lambda rows: rows.counts == "counts"
    ),
    "Bernoulli NB": Known(
        lambda: models.BernoulliNB(alpha="loo"), why_not=_not_binary, offered=lambda rows: rows.counts == "binary"
    ),
    "LDA": Known(models.LinearDiscriminantAnalysis, why_not=_no_common_covariance),
    "LDA, shrunken": Known(
        lambda: models.LinearDiscriminantAnalysis(shrinkage="auto", solver="lsqr"), offered=_crowded
    ),
    "Bayesian LDA": Known(models.BayesianLinearDiscriminantAnalysis),
    "Ridge": Known(lambda: models.RidgeClassifier(methods="all"), "ridge"),
    "QDA": Known(models.QuadraticDiscriminantAnalysis, why_not=_no_class_covariance),
    "Bayesian QDA": Known(models.BayesianQuadraticDiscriminantAnalysis),
    "Lasso": Known(models.LassoClassifier, "lasso", _too_wide_for_lasso),
    "RDA": Known(models.RegularizedDiscriminantAnalysis, "rda"),
    "Logistic": Known(models.LogisticRegression, "logistic", _no_matrix),
}
FOR_WORDS = ("Multinomial NB", "Complement NB", "Bernoulli NB", "Logistic")
