"""Likelihood-ratio tests: terms left out one at a time, and one model against a smaller one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from discrim.errors import DataError, ParameterError, name_list
from discrim.families.logistic.firth import firth
from discrim.families.logistic.objective import Objective, Solution, newton
from discrim.families.logistic.positive import solve_positive
from discrim.inference.fitted import NEAR, Fitted
from discrim.inference.summary import Table
from discrim.typing import Mask

# Share of a column's curvature that the columns before it must leave, lest it is a combination of them.
COLLINEAR = 1e-10
# A gain below this is rounding.
GAIN = 1e-7


class Smaller(NamedTuple):
    """The fit with some terms only. ``parameters`` counts its coefficients."""

    solution: Solution
    parameters: int


def restricted(
    fitted: Fitted, terms: Sequence[str], start: Solution | None = None, *, same_prior: bool = False
) -> Smaller:
    """The same likelihood with the coefficients of all other terms held at 0, from where ``start`` points to.

    With ``same_prior`` Firth's correction remains that of all terms, so that values can be compared; else it is that
    of the smaller model. Cost: two or three passes.
    """
    objective = fitted.problem("Comparing models")
    if fitted.coordinates.basis is not None:
        return _restricted_in_basis(fitted, objective, terms)
    start = fitted.solution if start is None else start
    free = _free_with(fitted, terms)
    theta = np.where(free | ~fitted.free, start.theta, 0.0)
    moved = np.flatnonzero((theta != start.theta) & fitted.free)
    index = np.flatnonzero(free)
    if len(moved) and len(index) and not fitted.infinite_estimates:
        # What the held coefficients explained is taken over by the others, as far as the last curvature shows.
        hessian = start.at.hessian if start.at.hessian.size else fitted.information
        takes_over = hessian[np.ix_(index, moved)] @ start.theta.flat[moved]
        theta.flat[index] += solve_positive(hessian[np.ix_(index, index)], takes_over)
    estimated = fitted.free if same_prior else None
    return Smaller(fitted.solve(objective, theta, free, estimated=estimated, close=NEAR), int(free.sum()))


def _restricted_in_basis(fitted: Fitted, objective: Objective, terms: Sequence[str]) -> Smaller:
    """The same where theta belongs to combinations z = B'x of the columns: those that the terms' columns span.

    The columns are x = M'z with M the pseudo-inverse of B, so that an orthonormal basis N of the terms' part of M gives
    their combinations N'z.
    """
    coordinates = fitted.coordinates
    assert coordinates.basis is not None
    columns = [j for name, places in fitted.terms if name in set(terms) for j in places]
    mixing = np.linalg.pinv(coordinates.basis)[:, columns]
    length = np.linalg.norm(mixing, axis=0)
    q, r, _ = linalg.qr(mixing / np.where(length > 0, length, 1.0), mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diagonal(r)) > COLLINEAR))
    objective = objective.with_coordinates(replace(coordinates, turned=coordinates.basis @ q[:, :rank]))
    free = np.broadcast_to(fitted.free.any(axis=-1, keepdims=True), objective.shape).copy()
    solve = firth if fitted.penalty == "firth" else newton
    return Smaller(solve(objective, np.zeros(objective.shape), free=free), int(free.sum()))


def drop1(fitted: Fitted, test: str | None = "chisq") -> Table:
    """Every term left out in turn: deviance, AIC, and the likelihood-ratio test of the term.

    LRT = 2 (smallest value without the term - smallest value), chi^2 with as many degrees of freedom as coefficients
    were lost. After Firth's correction the values are those of the penalised likelihood.
    """
    if test not in ("chisq", None):
        raise ParameterError.bad_value("test", test, "'chisq' or None")
    fitted.need_likelihood("drop1()")
    names = [name for name, _ in fitted.terms]
    rows = [[np.nan, fitted.deviance, fitted.criterion(fitted.solution.loss, fitted.parameters), np.nan, np.nan]]
    shown = [name for name in names if not fitted.margins.get(name)]
    for name in shown:
        solution, parameters = restricted(fitted, [other for other in names if other != name], same_prior=True)
        df, lrt, p_value = _likelihood_ratio(fitted, solution, parameters)
        aic = fitted.criterion(solution.loss, parameters)
        rows.append([df, fitted.deviance_of(solution), aic, lrt, p_value])
    columns = ["Df", "Deviance", "AIC", "LRT", "Pr(>Chi)"][: 3 if test is None else 5]
    values = np.array(rows)[:, : len(columns)]
    p_columns = () if test is None else ("Pr(>Chi)",)
    return Table("Single term deletions", ["<none>", *shown], columns, values, digits=6, p_columns=p_columns)


def sequential(fitted: Fitted) -> Table:
    """The terms taken in one by one, in their order: what each adds to those before it, with its test."""
    fitted.need_likelihood("anova()")
    names = [name for name, _ in fitted.terms]
    fits = [restricted(fitted, names[:i], same_prior=True) for i in range(len(names))]
    fits.append(Smaller(fitted.solution, int(fitted.parameters)))
    values = [[np.nan, np.nan, *_residual(fitted, fits[0]), np.nan]]
    for before, after in pairwise(fits):
        df, lrt, p_value = _gained(after.parameters - before.parameters, before.solution, after.solution)
        values.append([df, lrt, *_residual(fitted, after), p_value])
    columns = ["Df", "Deviance", "Resid. Df", "Resid. Dev", "Pr(>Chi)"]
    title = "Analysis of deviance, terms added first to last"
    return Table(title, ["NULL", *names], columns, np.array(values), digits=6, p_columns=("Pr(>Chi)",))


def _residual(fitted: Fitted, fit: Smaller) -> tuple[float, float]:
    return fitted.observations - fit.parameters, fitted.deviance_of(fit.solution)


def anova(fitted: Fitted, smaller: Fitted | Sequence[str]) -> Table:
    """The smaller model, given fitted or by its terms, against this one: the likelihood-ratio test of what it lacks.

    A fitted model that has more parameters is the larger one, and this the smaller.
    """
    fitted.need_likelihood("anova()")
    if isinstance(smaller, Fitted):
        if smaller.parameters > fitted.parameters:
            table = anova(smaller, fitted)
            return Table(
                table.title, ["this", "larger"], table.columns, table.values, digits=6, p_columns=("Pr(>Chi)",)
            )
        _check_nested(fitted, smaller)
        if fitted.penalty == "firth":
            # Each fit has a correction of its own; only under the same one can likelihoods be compared.
            return anova(fitted, [name for name, _ in smaller.terms])
        solution, parameters = smaller.solution, smaller.parameters
    else:
        _check_terms(fitted, smaller)
        solution, parameters = restricted(fitted, smaller, same_prior=True)
    n = fitted.observations
    values = [
        [n - parameters, fitted.deviance_of(solution), np.nan, np.nan, np.nan],
        [n - fitted.parameters, fitted.deviance, *_likelihood_ratio(fitted, solution, parameters)],
    ]
    columns = ["Resid. Df", "Resid. Dev", "Df", "Deviance", "Pr(>Chi)"]
    return Table("Analysis of deviance", ["smaller", "this"], columns, values, digits=6, p_columns=("Pr(>Chi)",))


def _check_terms(fitted: Fitted, terms: Sequence[str]) -> None:
    """Refuse terms that the model does not have."""
    known = [name for name, _ in fitted.terms]
    if isinstance(terms, str):
        raise ParameterError.bad_value("smaller", terms, "a fitted model or a list of terms")
    unknown = [term for term in terms if term not in known]
    if unknown:
        raise ParameterError(f"The model has no term {name_list(unknown)}. Its terms are {name_list(known, 20)}.")


def _likelihood_ratio(fitted: Fitted, smaller: Solution, parameters: float) -> tuple[float, float, float]:
    """Degrees of freedom, statistic and p-value of the test against a smaller model; NaN where nothing was tested."""
    return _gained(fitted.parameters - parameters, smaller, fitted.solution)


def _gained(df: float, smaller: Solution, larger: Solution) -> tuple[float, float, float]:
    # Rounding may leave a negative zero, or less, for a term that explains nothing.
    statistic = max(2.0 * (smaller.value - larger.value), 0.0)
    return df, statistic, float(special.chdtrc(df, statistic)) if df > 0 else np.nan


def _free_with(fitted: Fitted, terms: Sequence[str]) -> Mask:
    """The entries of theta that these terms leave free.

    A column that was aliased may be needed once the column that stood for it is gone.
    """
    size, first = fitted.coordinates.size, int(fitted.coordinates.intercept)
    wanted = np.arange(size) < first
    for name, columns in fitted.terms:
        if name in set(terms):
            wanted[np.asarray(columns, dtype=np.intp) + first] = True
    if fitted.aliased.any():
        wanted = _independent(fitted, np.flatnonzero(wanted))
        rows = fitted.free.any(axis=-1, keepdims=True)
        return np.asarray(np.broadcast_to(wanted, fitted.free.shape) & rows)
    return np.asarray(fitted.free & wanted)


def _independent(fitted: Fitted, candidates: NDArray[np.intp]) -> Mask:
    """Which of these columns are no combination of those before them, by a Cholesky factorisation in their order."""
    size = fitted.coordinates.size
    one_class = int(np.argmax(fitted.free.reshape(-1, size).any(axis=1)))
    block = fitted.information[one_class * size : (one_class + 1) * size, one_class * size : (one_class + 1) * size]
    rest = block[np.ix_(candidates, candidates)].copy()
    diagonal = np.diagonal(rest).copy()
    chosen = np.zeros(size, bool)
    for i, column in enumerate(candidates):
        if rest[i, i] > COLLINEAR * diagonal[i]:
            chosen[column] = True
            rest -= np.outer(rest[i], rest[i]) / rest[i, i]
    return chosen


def _check_nested(fitted: Fitted, smaller: Fitted) -> None:
    """The same rows, and no column that the larger model lacks."""
    strange = [name for name in smaller.names if name not in set(fitted.names)]
    if strange:
        raise DataError(
            f"The smaller model has {name_list(strange)}, which this model lacks: they are not nested, or not by their "
            "names. Write both with the same columns."
        )
    if not np.array_equal(fitted.classes, smaller.classes):
        raise DataError(
            f"The smaller model has the classes {name_list(smaller.classes)}, this one "
            f"{name_list(fitted.classes)}. Fit both on the same rows."
        )
    both = (fitted.rows, fitted.weight, fitted.null_loss), (smaller.rows, smaller.weight, smaller.null_loss)
    if not np.allclose(*both, rtol=1e-7, atol=0.0):
        raise DataError("The smaller model was fitted on other rows, labels, weights or offsets. Fit both on the same.")
    if fitted.penalty != smaller.penalty:
        raise DataError(
            f"The smaller model is fitted by '{smaller.penalty}', this one by '{fitted.penalty}'. Fit both alike."
        )


class _Move(NamedTuple):
    """One term more or less: what it is called, what it leads to, and how that is rated."""

    name: str
    terms: frozenset[str]
    fit: Smaller
    score: float


def stepwise(fitted: Fitted, criterion: str = "aic", direction: str = "both") -> tuple[list[str], Table]:
    """From all terms ("both", "backward") or from none ("forward"), the best move until no move is better.

    A move leaves out one term, or takes one in; it is rated by -2 log-likelihood + k parameters with k = 2 (AIC) or
    log(rows) (BIC). "both" may take a term back. The terms that were kept, in the model's order, and the table of the
    steps that led there are returned.

    Cost: two or three passes for each term at each step.
    """
    if criterion not in ("aic", "bic"):
        raise ParameterError.bad_value("criterion", criterion, "'aic' or 'bic'")
    if direction not in ("both", "backward", "forward"):
        raise ParameterError.bad_value("direction", direction, "'both', 'backward' or 'forward'")
    fitted.need_likelihood("step()")
    price = 2.0 if criterion == "aic" else float(np.log(fitted.rows))
    names = [name for name, _ in fitted.terms]

    def rated(name: str, terms: frozenset[str], fit: Smaller) -> _Move:
        return _Move(name, terms, fit, fitted.criterion(fit.solution.loss, fit.parameters, price))

    def moves(here: _Move) -> list[_Move]:
        found = []
        for name in names:
            inside, terms = name in here.terms, here.terms ^ {name}
            if direction == ("forward" if inside else "backward") or not _allowed(fitted, name, here.terms):
                continue
            fit = restricted(fitted, sorted(terms), here.fit.solution)
            if inside or fit.parameters > here.fit.parameters:
                found.append(rated(f"{'-' if inside else '+'} {name}", terms, fit))
        return found

    if direction == "forward":
        here = rated("", frozenset(), restricted(fitted, []))
    else:
        here = rated("", frozenset(names), Smaller(fitted.solution, int(fitted.parameters)))
    path = [here]
    while True:
        possible = moves(here)
        # Terms whose columns the others determine cost nothing to leave out.
        spare = [m for m in possible if m.terms < here.terms and m.fit.parameters == here.fit.parameters]
        best = spare[-1] if spare else min(possible, key=lambda move: move.score, default=here)
        if not spare and best.score >= here.score - GAIN:
            break
        here = best
        path.append(here)
    return [name for name in names if name in here.terms], _table(fitted, path, criterion)


def _allowed(fitted: Fitted, name: str, terms: frozenset[str]) -> bool:
    """May this term be left out, or taken in? Not while one that contains it is there, or one in it is not."""
    if name in terms:
        return not terms.intersection(fitted.margins.get(name, ()))
    return all(part in terms for part, larger in fitted.margins.items() if name in larger)


def _table(fitted: Fitted, path: list[_Move], criterion: str) -> Table:
    parameters = np.array([move.fit.parameters for move in path], dtype=float)
    deviance = np.array([fitted.deviance_of(move.fit.solution) for move in path])
    df, change = np.abs(np.diff(parameters, prepend=np.nan)), np.diff(deviance, prepend=np.nan)
    scores = [move.score for move in path]
    columns = ["Df", "Deviance", "Resid. Df", "Resid. Dev", criterion.upper()]
    values = np.column_stack([df, change, fitted.observations - parameters, deviance, scores])
    return Table("Steps", [move.name for move in path], columns, values, digits=7)
